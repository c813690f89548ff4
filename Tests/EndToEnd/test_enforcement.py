"""A resource that no Gateway stands before: the proxy asks AM, and lets through what AM allows."""

import concurrent.futures
import json
import urllib.parse

import pytest

import programs
import shop
import wire

AGENT = {"user": "policyadmin", "password": "changeit"}


def config(sandbox, resource, enforce=None, **authorization):
    """Everything below the resource's URL is for AM to decide on."""
    return shop.config(
        sandbox, resources=[{"url": f"{resource.url}/*", "enforce": "am"}],
        enforce={"application": "shop", "as": AGENT, **(enforce or {})}, **authorization)


@pytest.fixture
def resource(origin):
    """A resource that lets everybody in."""
    return origin(lambda request: wire.response(200, [("X-Seen", "yes")], b"seen"))


class App:
    """A user's app behind a proxy."""

    def __init__(self, usher, through, sandbox, resource, user="demo"):
        self.token = shop.login(sandbox, user)
        self.client = through(usher)
        self.resource = resource

    def ask(self, path, method="GET", headers=None, **options):
        headers = {"Cookie": f"theme=dark; {shop.COOKIE}={self.token}", **(headers or {})}
        return self.client.request(
            method, self.resource.url + path, headers=headers, timeout=30, allow_redirects=False, **options)


@pytest.fixture
def usher(start, sandbox, resource):
    return start(config(sandbox, resource))


@pytest.fixture
def app(usher, through, sandbox, resource):
    return App(usher, through, sandbox, resource)


def session_of(message):
    cookies = dict(pair.split("=", 1) for pair in message.get("Cookie").split("; "))
    return cookies[shop.COOKIE]


def questions(usher):
    """How often AM was asked."""
    return sum("EVALUATE_POLICY" in record.get("text", "") for record in usher.records())


def test_what_is_allowed_arrives_byte_for_byte(app, resource, usher):
    answer = app.ask(
        "/shop/open/a%20b?c=%2F&d", "POST", {"X-Odd": "k  ept", "Content-Type": "application/octet-stream"},
        data=bytes(range(256)) * 8000)
    assert answer.status_code == 200 and answer.text == "seen", answer.text
    [message] = resource.requests
    assert message.target == "/shop/open/a%20b?c=%2F&d" and message.body == bytes(range(256)) * 8000
    assert message.get("X-Odd") == "k  ept" and session_of(message) == app.token
    assert usher.flow("/shop/open").access["attempts"] == 1


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_transaction_for_each_access(app, resource, usher, method):
    for number in range(2):
        answer = app.ask("/shop/pay?amount=1", method, data=b"x" * 100 if method == "POST" else None)
        assert answer.status_code == 200, answer.text
        flow = usher.flow("/shop/pay", number + 1)
        # asked, stepped up, asked again
        assert sum("EVALUATE_POLICY" in event["text"] for event in flow.events) == 2
        assert sum(event["event"] == "advice" for event in flow.events) == 1
    assert [message.target for message in resource.requests] == ["/shop/pay?amount=1"] * 2
    log = "\n".join(usher.lines + usher.errors)
    assert "changeit" not in log and app.token not in log


def test_an_upgrade(app, resource):
    answer = app.ask("/shop/upgrade/vault")
    assert answer.status_code == 200, answer.text
    new = session_of(resource.requests[0])
    assert new != app.token and answer.cookies[shop.COOKIE] == new
    # with the new session nothing more is asked
    app.token = new
    assert app.ask("/shop/upgrade/vault").status_code == 200
    assert session_of(resource.requests[1]) == new


def test_both(app, resource):
    assert app.ask("/shop/both/vault").status_code == 200
    assert session_of(resource.requests[0]) != app.token


def test_what_no_policy_allows(app, resource, usher):
    for accept, kind in [("application/json", "application/problem+json"), ("*/*", "text/plain; charset=utf-8")]:
        answer = app.ask("/elsewhere", headers={"Accept": accept})
        assert answer.status_code == 403 and answer.headers["Content-Type"] == kind
        assert "error=http_request_denied" in answer.headers["Proxy-Status"] and "Usher-Flow" in answer.headers
        assert "AM does not allow GET" in answer.text
    assert resource.requests == []


def test_an_open_door_by_another_way(app, resource):
    for path in ["/shop/open/../pay", "/shop/open/%2e%2e/pay", "/shop//open", "/shop/open;/x", "/shop/open%2f..%2fpay"]:
        url = resource.url + path
        with wire.Connection(("127.0.0.1", int(urllib.parse.urlsplit(app.client.proxies["http"]).port))) as client:
            answer = client.exchange(wire.request("GET", url, [("Cookie", f"{shop.COOKIE}={app.token}")]))
        assert answer.status == 400, (path, answer)
    assert resource.requests == []


def test_without_a_session_or_with_one_that_is_over(app, resource):
    assert app.ask("/shop/open", headers={"Cookie": "theme=dark"}).status_code == 403
    app.token = "no.such.session"
    answer = app.ask("/shop/open")
    assert answer.status_code == 403 and "session" in answer.text
    assert resource.requests == []


def test_answers_that_are_wrong(start, sandbox, resource, through):
    wrong = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "wrong"}]
    app = App(start(config(sandbox, resource, answers=wrong)), through, sandbox, resource)
    answer = app.ask("/shop/pay")
    assert answer.status_code == 403 and "asks for more" in answer.text, answer.text
    assert resource.requests == []


def test_the_app_may_ask_for_itself(start, sandbox, resource, through):
    settings = config(sandbox, resource)
    del settings["authorization"]["enforce"]["as"]
    usher = start(settings)
    assert App(usher, through, sandbox, resource, "policyadmin").ask("/shop/open").status_code == 200
    # demo may not evaluate policies
    answer = App(usher, through, sandbox, resource).ask("/shop/open")
    assert answer.status_code == 403 and "does not let" in answer.text


def test_a_session_of_the_agents_own(start, sandbox, resource, through):
    agent = {"session": shop.login(sandbox, "policyadmin")}
    app = App(start(config(sandbox, resource, {"as": agent})), through, sandbox, resource)
    assert app.ask("/shop/open").status_code == 200
    other = App(start(config(sandbox, resource, {"as": {"session": "gone"}})), through, sandbox, resource)
    answer = other.ask("/shop/open")
    assert answer.status_code == 503 and "session that Usher asks with" in answer.text
    assert len(resource.requests) == 1


def test_an_agent_that_am_refuses(start, sandbox, resource, through):
    agent = {"as": {"user": "policyadmin", "password": "wrong"}}
    app = App(start(config(sandbox, resource, agent)), through, sandbox, resource)
    answer = app.ask("/shop/open")
    assert answer.status_code == 503 and "no session to ask with" in answer.text and resource.requests == []


def test_a_decision_is_kept_until_the_session_ends(app, usher, sandbox, resource):
    for _ in range(20):
        assert app.ask("/shop/open/kept").status_code == 200
    # what is logged of an exchange stands when its access line does
    usher.flow("/shop/open/kept", 20)
    assert questions(usher) == 1
    # another user's is another's
    other = app.token
    app.token = shop.login(sandbox, "user1")
    assert app.ask("/shop/open/kept").status_code == 200
    usher.flow("/shop/open/kept", 21)
    assert questions(usher) == 2
    app.token = other
    out = app.client.post(
        f"{sandbox.am}/json/realms/root/sessions?_action=logout", timeout=10,
        headers={"Cookie": f"{shop.COOKIE}={other}", "Accept-API-Version": "resource=3.1"})
    assert out.status_code == 200, out.text
    assert app.ask("/shop/open/kept").status_code == 403
    assert len(resource.requests) == 21


def test_many_at_once(start, sandbox, resource, through):
    usher = start(config(sandbox, resource, {"concurrency": 4, "cache": "0s"}, limits={"steps": 20}))
    apps = [App(usher, through, sandbox, resource, f"user{number}") for number in range(1, 6)]

    def ask(number):
        return apps[number % 5].ask(f"/shop/open/{number}").status_code

    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        assert list(pool.map(ask, range(300))) == [200] * 300
    assert len(resource.requests) == 300
    # one login served them all
    logins = sum("the login of authorization.enforce" in record.get("text", "") for record in usher.records())
    assert 1 <= logins <= 2, logins


def test_users_are_not_mixed_up(usher, sandbox, resource, through):
    apps = [App(usher, through, sandbox, resource) for _ in range(8)]

    def ask(app):
        return app.ask(f"/shop/pay/{app.token[:6]}").status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, apps)) == [200] * 8
    assert {session_of(message) for message in resource.requests} == {app.token for app in apps}


# an app that deals with advice itself


def approve(sandbox, token, advice):
    """What the app does with an advice of one transaction."""
    document = (
        '<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/>'
        f"<Value>{advice['TransactionConditionAdvice'][0]}</Value></AttributeValuePair></Advices>")
    url = f"{sandbox.direct}/am/json/realms/root/authenticate"
    headers = {
        "Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1",
        "Cookie": f"{shop.COOKIE}={token}"}
    client = shop.direct()
    step = client.post(
        url, params={"authIndexType": "composite_advice", "authIndexValue": document}, headers=headers,
        timeout=10).json()
    while "authId" in step:
        for callback in step["callbacks"]:
            callback["input"][0]["value"] = "demo" if callback["type"] == "NameCallback" else "changeit"
        step = client.post(url, json=step, headers=headers, timeout=10).json()
    return advice["TransactionConditionAdvice"][0]


def test_an_app_that_steps_up_itself(app, sandbox, resource, usher):
    headers = {"x-authenticate-response": "header"}
    first = app.ask("/shop/pay/own?a=1", headers=headers)
    assert first.status_code == 401 and "usher" in first.headers["Proxy-Status"]
    transaction = approve(sandbox, app.token, shop.advice(first))
    assert resource.requests == []
    again = app.ask(f"/shop/pay/own?a=1&_txid={transaction}", headers=headers)
    assert again.status_code == 200, again.text
    # what the app wrote is what the resource gets
    assert resource.requests[0].target == f"/shop/pay/own?a=1&_txid={transaction}"
    assert app.ask(f"/shop/pay/own?a=1&_txid={transaction}", headers=headers).status_code == 401
    assert len(resource.requests) == 1


@pytest.mark.parametrize("form", ["header", "redirect", "json"])
def test_in_the_form_that_it_understands(start, sandbox, resource, through, form):
    settings = config(sandbox, resource, translate=form)
    app = App(start(settings), through, sandbox, resource)
    answer = app.ask("/shop/pay/form")
    if form == "header":
        assert answer.status_code == 401 and "TransactionConditionAdvice" in shop.advice(answer)
    elif form == "redirect":
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
        assert answer.status_code == 307 and answer.headers["Location"].startswith(sandbox.am + "/?")
        assert query["authIndexType"] == ["composite_advice"] and "_txid=" in query["goto"][0]
    else:
        transaction = approve(sandbox, app.token, answer.json()["advices"])
        assert answer.status_code == 403 and answer.json()["actions"] == {}
        assert app.ask("/shop/pay/form", headers={"X-TxID": transaction}).status_code == 200
        assert resource.requests[0].get("X-TxID") == transaction
    assert len(resource.requests) == (1 if form == "json" else 0)


# an AM that is not there, or is not one


def decision(resource, actions=None, advices=None, ttl=0):
    return {
        "resource": resource, "actions": actions if actions is not None else {"GET": True}, "attributes": {},
        "advices": advices or {}, "ttl": ttl}


@pytest.mark.parametrize("answer", [
    None,
    lambda asked: wire.response(500, [], b"no"),
    lambda asked: wire.response(302, [("Location", asked)], b""),
    lambda asked: wire.response(200, [("Content-Type", "text/html")], b"<html>"),
    lambda asked: wire.response(200, [("Content-Type", "application/json")], b"[" + b" " * (10 << 20) + b"]"),
    lambda asked: [decision(asked + "/x")],
    lambda asked: [decision("*")],
    lambda asked: [decision(asked)] * 2000,
    lambda asked: [decision(f"{asked}/{number}") for number in range(2000)],
    lambda asked: [],
    lambda asked: {**decision(asked), "more": 1},
    lambda asked: [decision(asked, {}, {f"Advice{number}": ["x"] for number in range(2000)})],
    lambda asked: [decision(asked, {}, {"TransactionConditionAdvice": ["x" * 200_000]})],
    lambda asked: [decision(asked, {}, {"AuthenticateToServiceConditionAdvice": ["/elsewhere:Evil"]})],
    lambda asked: [decision(asked, {"GET": "true"}, ttl=9223372036854775807)],
], ids=lambda answer: None)
def test_nothing_opens_but_a_decision(start, origin, resource, through, answer):
    def am(request):
        if answer is None:
            return None
        made = answer(json.loads(request.body)["resources"][0])
        if isinstance(made, bytes):
            return made
        return wire.response(200, [("Content-Type", "application/json")], json.dumps(made).encode())

    server = origin(am)
    usher = start({
        "am": [{"url": f"{server.url}/am"}],
        "authorization": {
            "resources": [{"url": f"{resource.url}/*", "enforce": "am"}],
            "enforce": {"application": "shop", "as": {"session": "agent"}}}})
    answered = through(usher).get(
        f"{resource.url}/a", headers={"Cookie": f"{shop.COOKIE}=user"}, timeout=30, allow_redirects=False)
    assert answered.status_code in (403, 502, 503), answered.text
    assert "http_request_denied" in answered.headers["Proxy-Status"]
    assert resource.requests == []
    assert all(request.target.startswith("/am/json/") for request in server.requests)


def test_no_am_at_all(start, sandbox, resource, through, origin):
    gone = origin()
    port = gone.url
    gone.close()
    usher = start({
        "am": [{"url": f"{port}/am"}],
        "authorization": {
            "resources": [{"url": f"{resource.url}/*", "enforce": "am"}], "enforce": {"application": "shop"}}})
    answer = through(usher).get(f"{resource.url}/a", headers={"Cookie": f"{shop.COOKIE}=user"}, timeout=30)
    assert answer.status_code == 503 and "AM could not be asked" in answer.text and resource.requests == []


# what the commands say


def test_explain_and_check_tell(call, write_config, sandbox, resource):
    path = write_config(config(sandbox, resource))
    told = call(
        "explain", "--config", path, "--request", "-",
        given=f"GET {resource.url}/shop/pay?a=1 HTTP/1.1\nHost: {resource.url.split('/')[2]}\nCookie: {shop.COOKIE}=secret.session\n\n")
    assert told.returncode == 0, told.stderr
    assert "AM is asked first whether GET is allowed on" in told.stdout and "policy set shop" in told.stdout, told.stdout
    assert not [line for line in told.stdout.splitlines() if "AM is asked" in line and "secret.session" in line]
    bare = config(sandbox, resource)
    bare["authorization"]["resources"] = [{"url": "https://closed.example.com/*", "enforce": "am"}]
    del bare["authorization"]["enforce"]["application"]
    warned = call("check", write_config(bare))
    assert "so Usher cannot ask AM and refuses them" in warned.stderr + warned.stdout
    assert "enforce names no application" in warned.stderr + warned.stdout


def test_cases_answer_for_am(call, write_config, tmp_path):
    """In a case the answers come in the order in which they are asked for."""
    write_config({
        "am": [{"url": "http://am.example.com/am"}],
        "authorization": {
            "resources": [{"url": "http://shop.example.com/*", "enforce": "am"}], "enforce": {"application": "shop"}}})
    asked = "http://shop.example.com/a"
    cases = []
    for actions, status in [({"GET": True}, 200), ({}, 403)]:
        answers = [{"status": 200, "headers": {"Content-Type": "application/json"}, "json": [decision(asked, actions)]}]
        if status == 200:
            answers.append({"status": 200, "body": "seen"})
        cases.append({
            "name": f"ends with {status}",
            "request": f"GET {asked} HTTP/1.1\nHost: shop.example.com\nCookie: {shop.COOKIE}=user\n\n",
            "origin": answers, "expect": {"received": {"status": status}}})
    path = tmp_path / "cases.yaml"
    path.write_text(json.dumps({"config": "usher.yaml", "cases": cases}))
    tried = call("test", path)
    assert "2 passed, 0 failed" in tried.stdout, tried.stdout + tried.stderr
