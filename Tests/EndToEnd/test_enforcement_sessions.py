"""AM is asked with the session that Usher shows, where requests carry none."""

import concurrent.futures
import json

import pytest

import programs
import shop
import wire
from test_enforcement import config, resource, session_of  # noqa: F401

SIGN_IN = {"tree": "Login", "answers": [
    {"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}]}


@pytest.fixture
def ask(start, sandbox, resource, through):  # noqa: F811
    """An app that has no session: ask(path) → requests' response; `usher` begins the proxy."""
    def make(path, **options):
        return through(make.usher).get(resource.url + path, timeout=30, allow_redirects=False, **options)

    def begin(**authorization):
        make.usher = start(config(sandbox, resource, {"cache": "0s"}, **authorization))

    make.begin = begin
    return make


def log_out(sandbox, token):
    """Behind the proxy's back."""
    answer = shop.direct().post(
        f"{sandbox.direct}/am/json/realms/root/sessions?_action=logout", timeout=10,
        headers={"Cookie": f"{shop.COOKIE}={token}", "Accept-API-Version": "resource=3.1"})
    assert answer.status_code == 200, answer.text


def test_a_session_of_ushers_own(ask, sandbox, resource):  # noqa: F811
    ask.begin(session="login", login=SIGN_IN)
    for path in ["/shop/open", "/shop/pay"]:
        answer = ask(path)
        assert answer.status_code == 200 and "Set-Cookie" not in answer.headers, answer.text
    first, second = (session_of(message) for message in resource.requests)
    assert first == second
    # AM forgets it, and nobody says so: one more login, once what was won is not quite new any more
    log_out(sandbox, first)
    programs.eventually(lambda: ask("/shop/open").status_code == 200, "another login", 20)
    third = session_of(resource.requests[2])
    assert third != first
    # a stronger one takes its place for all who come
    assert ask("/shop/upgrade/x").status_code == 200
    stronger = session_of(resource.requests[3])
    assert stronger != third
    assert ask("/shop/open").status_code == 200
    assert session_of(resource.requests[4]) == stronger
    # one that the app has itself comes first
    own = shop.login(sandbox, "user1")
    assert ask("/shop/open", headers={"Cookie": f"{shop.COOKIE}={own}"}).status_code == 200
    assert session_of(resource.requests[5]) == own


def test_a_login_that_is_refused(ask, resource):  # noqa: F811
    wrong = {**SIGN_IN, "answers": [SIGN_IN["answers"][0], {"callback": "PasswordCallback", "value": "wrong"}]}
    ask.begin(session="login", login=wrong)
    answer = ask("/shop/open")
    assert answer.status_code == 403 and "no session" in answer.text and resource.requests == []


def test_sessions_that_are_learned(ask, sandbox, resource):  # noqa: F811
    ask.begin(session="learned", learned={"by": "header:X-Tester"})
    assert ask("/shop/open", headers={"X-Tester": "ada"}).status_code == 403
    url = f"{sandbox.am}/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login"
    fields = [("X-Tester", "ada"), ("Content-Type", "application/json"),
              ("Accept-API-Version", "protocol=1.0,resource=2.1")]
    with wire.Connection(("127.0.0.1", ask.usher.port)) as client:
        step = json.loads(client.exchange(wire.request("POST", url, fields, b"{}")).body)
        while "authId" in step:
            for callback in step["callbacks"]:
                callback["input"][0]["value"] = "user2" if callback["type"] == "NameCallback" else "changeit"
            step = json.loads(client.exchange(wire.request("POST", url, fields, json.dumps(step).encode())).body)
    assert ask("/shop/open", headers={"X-Tester": "ada"}).status_code == 200
    assert session_of(resource.requests[0]) == step["tokenId"]
    for name in ["bob", ""]:
        assert ask("/shop/open", headers={"X-Tester": name}).status_code == 403
    assert len(resource.requests) == 1


def test_many_need_the_same_upgrade(start, sandbox, resource, through):  # noqa: F811
    """One upgrade, and the new session for all: also for those of whom AM is asked when the old one is gone."""
    usher = start(config(sandbox, resource, {"cache": "0s"}))
    token = shop.login(sandbox)
    # the agent's own login is behind it then
    fields = {"Cookie": f"{shop.COOKIE}={token}"}
    assert through(usher).get(f"{resource.url}/shop/open", timeout=30, headers=fields).status_code == 200
    before = shop.status(sandbox)["sessions"]["created"]

    def ask(number):
        return through(usher).get(
            f"{resource.url}/shop/upgrade/{number}", timeout=30, headers=fields)

    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        assert [answer.status_code for answer in pool.map(ask, range(5))] == [200] * 5
    # and one that comes a moment later
    assert ask(5).status_code == 200
    assert len({session_of(message) for message in resource.requests[1:]}) == 1
    assert shop.status(sandbox)["sessions"]["created"] == before + 1
