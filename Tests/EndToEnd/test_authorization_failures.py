"""Whatever goes wrong on the way, the app gets the original answer, and the log says why."""

import base64
import json
import threading
import uuid

import pytest

import programs
import shop
import wire
from wire import Connection, Origin, request, response

STEP = json.dumps({"authId": "e.a.s", "callbacks": [
    {"type": "NameCallback", "output": [{"name": "prompt", "value": "User Name"}],
     "input": [{"name": "IDToken1", "value": ""}], "_id": 0}]}).encode()


def challenge(am_uri, transaction="a1b2c3d4-0001-4a00-8b00-000000000001"):
    advices = base64.b64encode(json.dumps({"TransactionConditionAdvice": [transaction]}).encode()).decode()
    return ("WWW-Authenticate", f'SSOADVICE realm="/",advices="{advices}",am_uri="{am_uri}"')


def gateway(origin, am_uri, grants=lambda seen: "_txid=" in seen.target):
    """A gateway that asks for a transaction until `grants` says yes."""
    return origin(lambda seen: response(200, body=b"granted") if grants(seen) else response(
        401, [challenge(am_uri), ("X-Original", "1")], b"original"))


def fake_shop(gate, am, **authorization):
    url = f"http://am.localhost:{am.port}/am"
    answers = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}]
    return {
        "am": [{"url": url}],
        "authorization": {
            "resources": [f"{gate.url}/*"], "am": url, "answers": answers, "hold": "5s", **authorization}}


SESSION = [("Cookie", f"a=b; {shop.COOKIE}=secret.token.*AAJT*")]
JSON = [("Content-Type", "application/json")]


def ask(usher, url, method="GET", fields=(), body=b""):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request(method, url, [*SESSION, *fields], body))


def check_original(answer):
    assert (answer.status, answer.body, answer.get("x-original")) == (401, b"original", "1")
    assert "SSOADVICE" in answer.get("www-authenticate")
    # it is the origin's answer, not one of the proxy's own
    assert answer.get("proxy-status") is None


def check_note(usher, url_part, pattern):
    assert usher.said(url_part, "note", pattern), [event for event in usher.flow(url_part).events]


def succeed(seen):
    """An AM that asks for a name, then is content."""
    return response(200, JSON, b'{"tokenId":"secret.token.*AAJT*","realm":"/"}' if seen.body else STEP)


# against the sandbox


def test_a_wrong_password(start, sandbox, through):
    usher = start(shop.config(sandbox, answers=[
        {"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "wrong"}]))
    mark = uuid.uuid4().hex
    token = shop.login(sandbox)
    answer = through(usher).get(
        f"{sandbox.shop}/{mark}", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=15, allow_redirects=False)
    assert answer.status_code == 401
    assert shop.advice(answer)
    assert usher.said(mark, "note"), usher.flow(mark).events
    # the session is as good as before
    open_answer = through(usher).get(
        f"{sandbox.shop}/open/x", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=15)
    assert open_answer.json()["user"] == "demo"


def test_no_answer_for_a_callback(start, sandbox, through):
    usher = start(shop.config(sandbox, answers=[{"callback": "NameCallback", "value": "demo"}]))
    mark = uuid.uuid4().hex
    answer = through(usher).get(
        f"{sandbox.shop}/{mark}", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, timeout=15,
        allow_redirects=False)
    assert answer.status_code == 401
    check_note(usher, mark, "PasswordCallback")


def test_no_session(start, sandbox, through):
    """The gateway sends to the sign-in page; that is no advice, and the app gets it as it is."""
    usher = start(shop.config(sandbox))
    answer = through(usher).get(f"{sandbox.shop}/none", timeout=15, allow_redirects=False)
    assert answer.status_code == 302
    assert "/am/?goto=" in answer.headers["Location"]


@pytest.mark.parametrize("client_handles, status", [("pass", 401), ("act", 200)])
def test_a_client_that_handles_advice_itself(start, sandbox, through, client_handles, status):
    usher = start(shop.config(sandbox, when_client_handles_advice=client_handles))
    answer = through(usher).get(
        f"{sandbox.shop}/self", timeout=15, headers={
            "Cookie": f"{shop.COOKIE}={shop.login(sandbox)}", "x-authenticate-response": "header"})
    assert answer.status_code == status
    if status == 401:
        assert shop.advice(answer)


def test_a_resource_that_is_not_listed(start, sandbox, through):
    usher = start(shop.config(sandbox, resources=[f"{sandbox.shop}/listed/*"]))
    answer = through(usher).get(
        f"{sandbox.shop}/unlisted", timeout=15, allow_redirects=False,
        headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"})
    # the redirect form: the header that asks for 401 was not added
    assert answer.status_code == 307


def test_a_body_beyond_the_limit_is_passed_and_not_replayed(start, sandbox, through):
    usher = start(shop.config(sandbox, body_limit="1KiB"))
    mark = uuid.uuid4().hex
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    client = through(usher)
    answer = client.post(
        f"{sandbox.shop}/{mark}", data=b"x" * 5000, headers=headers, timeout=15, allow_redirects=False)
    # too long to be replayed, so the header form was not asked for: the gateway answers as it does without a proxy
    assert answer.status_code == 307
    assert usher.flow(mark).access["attempts"] == 1
    check_note(usher, mark, "body_limit")
    # how long a chunked body is shows only on the way
    chunked = client.post(
        f"{sandbox.shop}/{mark}/chunked", data=iter([b"x" * 1000] * 5), headers=headers, timeout=15,
        allow_redirects=False)
    assert chunked.status_code == 307
    check_note(usher, f"{mark}/chunked", "body_limit")
    small = client.post(f"{sandbox.shop}/{mark}/small", data=b"x" * 1000, headers=headers, timeout=15)
    assert small.status_code == 200
    plain = client.post(f"{sandbox.shop}/open/{mark}", data=b"x" * 500_000, headers=headers, timeout=15)
    assert plain.json()["bodyLength"] == 500_000


# against servers that misbehave


def test_am_is_down(start, origin):
    am = origin()
    am.close()
    gate = gateway(origin, "http://am.localhost/am/")
    usher = start(fake_shop(gate, am))
    check_original(ask(usher, f"{gate.url}/down"))
    check_note(usher, "/down", "refused")
    assert len(gate.requests) == 1


AM_FAULTS = [
    ("garbage", lambda _: b"garbage\r\n\r\n"), ("hangs up", lambda _: None),
    ("500", lambda _: response(500, JSON, b"{}")), ("html", lambda _: response(200, [], b"<html>sorry</html>")),
    ("half a step", lambda _: response(200, JSON, STEP[:-10])),
    ("refused", lambda _: response(401, JSON, b'{"code":401,"reason":"Unauthorized","message":"Login failure"}')),
    ("transaction gone", lambda _: response(
        401, JSON, b'{"code":401,"reason":"Unauthorized","message":"x","detail":{"errorCode":"128"}}')),
    ("redirect", lambda _: response(302, [("Location", "http://evil.example/")])),
    ("asks for ever", lambda _: response(200, JSON, STEP)),
    ("an enormous step", lambda _: response(200, JSON, b'{"authId":"' + b"x" * 2_000_000 + b'"}')),
    ("an unknown callback", lambda _: response(200, JSON, STEP.replace(b"NameCallback", b"RetinaCallback"))),
]


AM_REASONS = {
    "garbage": "badStatusLine", "hangs up": "closed the connection without a response", "500": "AM responded with 500",
    "html": "not a JSON object", "half a step": "not a JSON object", "refused": "refused to authenticate",
    "transaction gone": "cannot read the transaction", "redirect": "AM responded with 302", "asks for ever": "AM asks again for",
    "an enormous step": "larger than", "an unknown callback": "RetinaCallback",
}


@pytest.mark.parametrize("name, answer", AM_FAULTS, ids=[case[0] for case in AM_FAULTS])
def test_am_misbehaves(start, origin, name, answer):
    am = origin(answer)
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/")
    usher = start(fake_shop(gate, am))
    check_original(ask(usher, f"{gate.url}/fault", "POST", body=b"the body"))
    check_note(usher, "/fault", f"the step-up failed: .*{AM_REASONS[name]}")
    # a transaction that AM does not know is asked for once more; nothing is ever replayed without one
    assert len(gate.requests) <= 2
    assert all(seen.body == b"the body" and "_txid" not in seen.target for seen in gate.requests)
    assert 1 <= len(am.requests) <= 20


def test_am_does_not_answer(start, origin):
    am = origin(Origin(lambda connection: connection.read_rest()))
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/")
    usher = start(fake_shop(gate, am, hold="400ms"))
    check_original(ask(usher, f"{gate.url}/slow"))
    check_note(usher, "/slow", "hold|time")


def test_a_gateway_that_is_never_content(start, origin):
    """One round each: the answer to the replay is delivered, whatever it asks."""
    am = origin(succeed)
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/", grants=lambda seen: False)
    usher = start(fake_shop(gate, am))
    check_original(ask(usher, f"{gate.url}/never"))
    assert [("_txid=" in seen.target) for seen in gate.requests] == [False, True]
    check_note(usher, "/never", "asks for another transaction after the last one allowed")


MALFORMED = [
    'SSOADVICE realm="/"', 'SSOADVICE advices="%%%"', 'SSOADVICE advices="e30="', "SSOADVICE", 'Bearer realm="x"',
    'SSOADVICE realm="/",advices="' + base64.b64encode(b'{"TransactionConditionAdvice":"no list"}').decode() + '"',
]


@pytest.mark.parametrize("value", MALFORMED)
def test_advice_that_is_none(start, origin, value):
    am = origin(succeed)
    gate = origin(lambda _: response(401, [("WWW-Authenticate", value)], b"original"))
    usher = start(fake_shop(gate, am))
    answer = ask(usher, f"{gate.url}/none")
    assert (answer.status, answer.body) == (401, b"original")
    assert answer.get("www-authenticate") == value
    assert not am.requests and len(gate.requests) == 1


def test_the_session_goes_to_the_configured_am_alone(start, origin):
    am = origin(succeed)
    evil = origin(succeed)
    gate = gateway(origin, f"http://evil.localhost:{evil.port}/am/")
    usher = start(fake_shop(gate, am))
    ask(usher, f"{gate.url}/evil")
    usher.flow("/evil")
    assert not evil.accepted
    assert am.requests
    for seen in am.requests:
        assert seen.target.startswith("/am/json/")


def test_what_the_calls_to_am_carry(start, origin):
    am = origin(succeed)
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/")
    usher = start(fake_shop(gate, am))
    answer = ask(usher, f"{gate.url}/carry?x=%2f+y", "POST", [("Authorization", "Bearer app")], b"app's own body")
    assert (answer.status, answer.body) == (200, b"granted")
    assert am.requests
    for seen in am.requests:
        assert "secret.token.*AAJT*" in (seen.get("cookie") or "") + (seen.get(shop.COOKIE) or "")
        assert seen.get("accept-api-version")
        assert "authIndexType=composite_advice" in seen.target or seen.body
        # what belongs to the application stays there
        assert "a=b" not in (seen.get("cookie") or "")
        assert seen.get("authorization") is None
        assert b"app's own" not in seen.body
    first, replay = gate.requests
    assert first.get("x-authenticate-response") == "header"
    assert replay.target == "/carry?x=%2f+y&_txid=a1b2c3d4-0001-4a00-8b00-000000000001"
    assert replay.body == first.body == b"app's own body"
    assert replay.all("authorization") == ["Bearer app"]
    assert replay.all("cookie") == first.all("cookie")


def test_a_client_that_goes_away_leaves_nothing(start, origin):
    asked, go = threading.Event(), threading.Event()

    def patient(seen):
        asked.set()
        go.wait(wire.TIMEOUT)
        return succeed(seen)

    am = origin(patient)
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/")
    usher = start(fake_shop(gate, am))
    assert ask(usher, f"{gate.url}/plain?_txid=x").status == 200
    idle = usher.descriptors()
    for turn in range(5):
        asked.clear()
        go.clear()
        client = Connection(("127.0.0.1", usher.port))
        client.send(request("GET", f"{gate.url}/gone/{turn}", SESSION))
        assert asked.wait(wire.TIMEOUT)
        if turn % 2:
            client.reset()
        else:
            client.close()
        flow = usher.flow(f"/gone/{turn}")
        go.set()
        assert flow.access["attempts"] == 1
    # nothing was replayed for a client that is not there
    assert not [seen for seen in gate.requests if "/gone/" in seen.target and "_txid" in seen.target]
    go.set()
    assert ask(usher, f"{gate.url}/next").status == 200
    # pooled connections to the two servers may stay, nothing may pile up
    programs.eventually(lambda: usher.descriptors() <= idle + 4, f"descriptors go back to {idle}")
