"""The main job: an app without any knowledge of AM gets the protected resource."""

import json
import os
import threading
import uuid

import pytest

import programs
import shop


@pytest.fixture(scope="module")
def usher(binary, sandbox, tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "usher.yaml"
    path.write_text(json.dumps({"version": 1, **shop.config(sandbox)}))
    program = programs.Usher(binary, path)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture
def app(usher, sandbox, through):
    """An app behind the proxy, signed in as demo: app(method, path, …) → requests' response."""
    client = through(usher)
    token = shop.login(sandbox)

    def ask(method, path, headers=None, **options):
        headers = {"Cookie": f"{shop.COOKIE}={token}", **(headers or {})}
        return client.request(
            method, sandbox.shop + path, headers=headers, timeout=15, allow_redirects=False, **options)

    ask.token = token
    return ask


def test_without_the_proxy_there_is_only_advice(sandbox):
    url, headers = shop.at_shop(sandbox, "/order")
    headers |= {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}", "x-authenticate-response": "header"}
    for method in ("GET", "POST"):
        answer = shop.direct().request(method, url, headers=headers, timeout=10)
        assert answer.status_code == 401
        assert "TransactionConditionAdvice" in shop.advice(answer)


def test_get(app):
    answer = app("GET", "/order/7?from=A&to=a%20b+c")
    assert answer.status_code == 200, answer.text
    echo = answer.json()
    assert echo["user"] == "demo"
    assert echo["transactionUses"] == 1
    assert echo["url"].endswith("/shop/order/7?from=A&to=a%20b+c")
    assert shop.echoed_cookie(echo) == app.token
    assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("body", [b"", b'{"amount":200}', bytes(range(256)) * 40, os.urandom(900_000)], ids=len)
def test_post_arrives_byte_for_byte(app, body):
    answer = app("POST", "/pay", {"Content-Type": "application/octet-stream", "X-Mine": "kept"}, data=body)
    assert answer.status_code == 200, answer.text
    echo = answer.json()
    assert echo["method"] == "POST"
    assert shop.echoed_body(echo) == body
    assert ["X-Mine", "kept"] in echo["fields"]
    assert ["Content-Type", "application/octet-stream"] in echo["fields"]


def test_a_chunked_post_is_replayed_too(app):
    answer = app("POST", "/pay", data=iter([b"one ", b"two ", b"three"]))
    assert answer.status_code == 200, answer.text
    assert shop.echoed_body(answer.json()) == b"one two three"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods(app, method):
    answer = app(method, "/thing", data=b"x")
    assert answer.status_code == 200, answer.text
    assert answer.json()["method"] == method


def test_every_access_is_a_transaction_of_its_own(app):
    answers = [app("GET", "/again").json() for _ in range(3)]
    assert len({echo["access"] for echo in answers}) == 3
    assert all(echo["transactionUses"] == 1 for echo in answers)


def test_a_session_that_must_be_stronger(app):
    answer = app("GET", "/upgrade/vault")
    assert answer.status_code == 200, answer.text
    # the old session is gone; what reached the resource is the new one
    assert shop.echoed_cookie(answer.json()) not in (None, app.token)


def test_both_an_upgrade_and_a_transaction(app):
    answer = app("GET", "/both/vault")
    assert answer.status_code == 200, answer.text
    assert answer.json()["transactionUses"] == 1


def test_what_needs_no_advice_is_asked_once(app, usher):
    mark = uuid.uuid4().hex
    assert app("GET", f"/open/{mark}").status_code == 200
    assert usher.flow(mark).access["attempts"] == 1


def test_the_log_tells_the_story_and_no_secret(app, usher):
    mark = uuid.uuid4().hex
    assert app("GET", f"/story/{mark}").status_code == 200
    flow = usher.flow(mark)
    assert flow.access["status"] == 200
    assert flow.access["attempts"] == 2
    kinds = [event["event"] for event in flow.events]
    for kind in ("advice", "authenticate", "replay"):
        assert kind in kinds, kinds
    assert kinds.index("advice") < kinds.index("authenticate") < kinds.index("replay")
    log = "\n".join(usher.lines + usher.errors)
    assert "changeit" not in log
    assert app.token not in log


def test_ten_clients_at_once_each_with_its_own_session(usher, sandbox, through):
    """Every answer must be the asker's own: body, path, session and transaction."""
    wrong = []
    accesses = []
    tokens = [shop.login(sandbox) for _ in range(10)]
    assert len(set(tokens)) == 10
    ready = threading.Barrier(10)

    def run(number):
        try:
            client = through(usher)
            ready.wait(30)
            for turn in range(5):
                mark = f"{number}-{turn}-{uuid.uuid4().hex}"
                answer = client.request(
                    "POST" if turn % 2 else "GET", f"{sandbox.shop}/busy/{mark}",
                    headers={"Cookie": f"{shop.COOKIE}={tokens[number]}"}, data=mark.encode() if turn % 2 else None,
                    timeout=30, allow_redirects=False)
                echo = answer.json()
                accesses.append(echo["access"])
                if (
                    answer.status_code != 200 or mark not in echo["url"] or echo["transactionUses"] != 1
                    or shop.echoed_cookie(echo) != tokens[number]
                    or shop.echoed_body(echo) != (mark.encode() if turn % 2 else b"")
                ):
                    wrong.append((number, turn, answer.status_code, echo))
        except Exception as failure:  # noqa: BLE001 a thread's failure belongs to the test
            wrong.append((number, repr(failure)))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert len(set(accesses)) == 50


def test_two_workers_do_the_job_as_well(start, sandbox, through):
    usher = start({"workers": 2, **shop.config(sandbox)})
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    for _ in range(8):
        # a new connection each time, so that both workers get some
        assert through(usher).get(f"{sandbox.shop}/w", headers=headers, timeout=15).status_code == 200


def test_other_realms(start, sandbox, through):
    """The session's realm is the gateway's, and the advice names it."""
    usher = start(shop.config(sandbox))
    client = shop.direct()
    url = f"{sandbox.direct}/am/json/realms/root/realms/alpha/authenticate"
    headers = {"X-OpenAM-Username": "demo", "X-OpenAM-Password": "changeit", "Accept-API-Version": "resource=2.1"}
    token = client.post(url, headers=headers, timeout=10).json()["tokenId"]
    answer = through(usher).get(f"{sandbox.shop}/a", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=15)
    assert answer.status_code == 200, answer.text
    assert answer.json()["realm"] == "/alpha"


def test_the_redirect_form(start, sandbox, through):
    """Where the header is not offered, the Gateway redirects to AM: the same advice in another dress."""
    usher = start(shop.config(sandbox, offer_header=False))
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    answer = through(usher).post(
        f"{sandbox.shop}/dressed?a=b", headers=headers, data=b"body", timeout=15, allow_redirects=False)
    assert answer.status_code == 200, answer.headers
    assert (answer.json()["body"], answer.json()["transactionUses"]) == ("body", 1)


def test_interceptors_see_the_calls_that_the_proxy_makes(start, sandbox, through):
    """A step-up's own calls have Actions, and rules apply to them as to an app's."""
    usher = start({
        **shop.config(sandbox), "interceptors": [
            {"name": "agent", "when": {"action": ["START_AUTHENTICATE", "AUTHENTICATE"]},
             "request": [{"set_header": {"X-Agent": "1"}}]},
            {"name": "mark", "when": {"path": "/shop/*"}, "request": [{"set_header": {"X-Mark": "1"}}]}]})
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    answer = through(usher).get(f"{sandbox.shop}/rules", headers=headers, timeout=15)
    assert answer.status_code == 200
    # the replay starts again from what the client sent, and passes the rules once
    assert [pair for pair in answer.json()["fields"] if pair[0] == "X-Mark"] == [["X-Mark", "1"]]
    changes = [event["text"] for event in usher.flow("/rules").events if event["event"] == "interceptor"]
    assert any("agent" in text for text in changes), changes
