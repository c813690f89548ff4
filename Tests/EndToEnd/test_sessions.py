"""Where sessions come from that requests do not carry: clients' own logins, and a login of Usher's own."""

import concurrent.futures
import json
import signal
import threading
import time

import pytest
import yaml

import programs
from tenant import COOKIE, JSON, Tenant
from wire import Connection, request


@pytest.fixture
def tenant(origin):
    server = Tenant(origin)
    yield server
    assert server.faults == []


def ask(usher, tenant, path, fields=(), method="GET", body=b""):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request(method, tenant.shop + path, fields, body), method)


def user(got):
    return json.loads(got.body)["user"]


# clients' own logins


def sign_in(usher, tenant, name, fields=()):
    """As an app does, through the proxy."""
    url = f"{tenant.am}/json/authenticate"
    with Connection(("127.0.0.1", usher.port)) as client:
        step = json.loads(client.exchange(request("POST", url, [*fields, *JSON]), "POST").body)
        for callback, value in zip(step["callbacks"], (name, "secret")):
            callback["input"][0]["value"] = value
        got = client.exchange(request("POST", url, [*fields, *JSON], json.dumps(step).encode()), "POST")
    assert got.status == 200
    return json.loads(got.body)["tokenId"]


def sign_out(usher, tenant, token, fields=()):
    with Connection(("127.0.0.1", usher.port)) as client:
        got = client.exchange(
            request("POST", f"{tenant.am}/json/sessions/?_action=logout", [("Cookie", f"{COOKIE}={token}"), *fields, *JSON], b"{}"), "POST")
    assert got.status == 200


def test_a_session_is_learned_for_its_client_alone(start, tenant):
    usher = start({"workers": 2, **tenant.config(session="learned", learned={"by": "header:X-Tester"})})
    ada, bob = [("X-Tester", "ada")], [("X-Tester", "bob")]
    assert ask(usher, tenant, "/open", ada).status == 302
    token = sign_in(usher, tenant, "ada", ada)
    sign_in(usher, tenant, "bob", bob)
    assert user(ask(usher, tenant, "/open", ada)) == "ada"
    assert user(ask(usher, tenant, "/open", bob)) == "bob"
    # whoever does not say who it is, or says another name, has nobody's
    for fields in ([], [("X-Tester", "eve")], [("X-Tester", "")]):
        assert ask(usher, tenant, "/open", fields).status == 302
    # what a request carries comes first
    own = tenant.sign_in("carol")
    assert user(ask(usher, tenant, "/open", [*ada, ("Cookie", f"{COOKIE}={own}")])) == "carol"
    # a transaction, and an upgrade that puts another session in its place
    assert user(ask(usher, tenant, "/each/1", ada)) == "ada"
    got = ask(usher, tenant, "/strong/1", ada)
    assert user(got) == "ada" and got.all("set-cookie") == []
    assert user(ask(usher, tenant, "/strong/2", ada)) == "ada" and tenant.upgrades == 1
    log = "\n".join(usher.lines + usher.errors)
    assert token not in log and tenant.asked[-1][1] not in log
    # with a logout it is over
    sign_out(usher, tenant, tenant.asked[-1][1], ada)
    assert ask(usher, tenant, "/open", ada).status == 302
    assert user(ask(usher, tenant, "/open", bob)) == "bob"


@pytest.mark.parametrize("shown", [
    lambda token: [("Cookie", f'{COOKIE}="{token}"')], lambda token: [("Cookie", f"{COOKIE}=other"), (COOKIE, token)]],
    ids=["in quotes", "beside another"])
def test_a_logout_ends_what_it_shows_however(start, tenant, shown):
    usher = start(tenant.config(session="learned"))
    fields = shown(sign_in(usher, tenant, "ada"))
    assert user(ask(usher, tenant, "/open")) == "ada"
    with Connection(("127.0.0.1", usher.port)) as client:
        url = f"{tenant.am}/json/sessions?_action=logout"
        assert client.exchange(request("POST", url, [*fields, *JSON], b"{}"), "POST").status == 200
    assert ask(usher, tenant, "/open").status == 302


def test_addresses_are_told_apart(start, tenant):
    usher = start(tenant.config(session="learned"), listen=("127.0.0.1:0",))
    sign_in(usher, tenant, "ada")
    assert user(ask(usher, tenant, "/open")) == "ada"
    # nothing is learned of another server's answers
    other = start({**tenant.config(session="learned"), "am": [{"url": f"{tenant.am}2"}]})
    sign_in(other, tenant, "ada")
    assert ask(other, tenant, "/open").status == 302


def test_an_id_token_goes_along_where_asked_for(start, tenant):
    usher = start(tenant.config(present={"id_token": True}))
    token = tenant.sign_in("ada")
    with Connection(("127.0.0.1", usher.port)) as client:
        got = client.exchange(
            request(
                "POST", f"{tenant.am}/oauth2/access_token", [("Content-Type", "application/x-www-form-urlencoded")],
                b"grant_type=authorization_code&code=c1&client_id=app"), "POST")
    assert got.status == 200
    got = ask(usher, tenant, "/each/1?_idtoken=stale&x=1", [("Cookie", f"{COOKIE}={token}")])
    assert got.status == 200
    target = json.loads(got.body)["target"]
    assert target == "/each/1?x=1&_txid=t-1&_idtoken=id.of.c1"
    assert "id.of.c1" not in "\n".join(usher.lines + usher.errors)


# a login of Usher's own

LOGIN = {"session": "login", "login": {"tree": "Robot"}}


def logins(tenant):
    return [call for call in tenant.calls if call[0].endswith("/authenticate") and call[1].get("authIndexValue") == ["Robot"]]


def test_one_login_serves_all(start, tenant):
    usher = start({"workers": 2, **tenant.config(**LOGIN)})
    tenant.gate = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(ask, usher, tenant, f"/each/{number}") for number in range(10)]
        programs.eventually(lambda: logins(tenant), "somebody logs in")
        tenant.gate.set()
        answers = [one.result(30) for one in asked]
    assert [got.status for got in answers] == [200] * 10 and {user(got) for got in answers} == {"robot"}
    assert len(logins(tenant)) == 1 and all(not got.all("set-cookie") for got in answers)
    # what needs an upgrade gets it, and whoever comes next has the upgraded session
    answers = [ask(usher, tenant, f"/strong/{number}") for number in range(3)]
    assert [got.status for got in answers] == [200] * 3 and tenant.upgrades == 1 and len(logins(tenant)) == 1
    log = "\n".join(usher.lines + usher.errors)
    assert "s3cret-robot" not in log and not any(token in log for token in tenant.sessions)
    # it goes to the resource alone
    got = ask(usher, tenant, "/open", [("Cookie", "a=b")])
    assert tenant.asked[-1][2].get("cookie").startswith("a=b; " + COOKIE)


def test_a_session_that_was_won_a_moment_ago_is_not_replaced(start, tenant):
    usher = start(tenant.config(**LOGIN))
    assert ask(usher, tenant, "/open").status == 200
    tenant.sessions.clear()
    answers = [ask(usher, tenant, "/open") for _ in range(5)]
    assert [got.status for got in answers] == [302] * 5 and len(logins(tenant)) == 1


def test_its_time_begins_anew_before_its_end(start, tenant):
    """A session of four seconds is due a second before its end."""
    tenant.idle = 4
    usher = start(tenant.config(**LOGIN))
    assert ask(usher, tenant, "/open").status == 200

    def resets():
        assert ask(usher, tenant, "/open").status == 200
        return [c for c in tenant.calls if c[1].get("_action") == ["getSessionInfoAndResetIdleTime"]]

    programs.eventually(resets, "the idle time begins anew")
    assert len(logins(tenant)) == 1


def test_a_session_that_ends_anyway_is_replaced(start, tenant):
    tenant.life = 4
    usher = start(tenant.config(**LOGIN))

    def logged_in():
        assert ask(usher, tenant, "/open").status == 200
        return len(logins(tenant)) == 2

    programs.eventually(logged_in, "another login")
    assert not [c for c in tenant.calls if c[1].get("_action") == ["getSessionInfoAndResetIdleTime"]]


def test_a_refused_login_is_not_repeated(start, tenant):
    tenant.refuses_logins = True
    usher = start({"workers": 2, **tenant.config(**LOGIN)})
    answers = [ask(usher, tenant, f"/open/{number}") for number in range(5)]
    assert [got.status for got in answers] == [302] * 5 and len(logins(tenant)) == 1
    assert "the request goes out without" in " ".join(usher.said("/open/0", "authenticate"))


@pytest.mark.parametrize("workers, logout", [(1, True), (2, True), (1, False)])
def test_a_drain_ends_the_session_at_am(binary, write_config, tenant, workers, logout):
    config = tenant.config(session="login", login={"tree": "Robot", "logout": logout})
    usher = programs.Usher(binary, write_config({"workers": workers, **config}))
    assert ask(usher, tenant, "/open").status == 200
    (session,) = tenant.sessions
    assert usher.stop() == 0 and tenant.logouts == ([session] if logout else [])


def test_a_reload_ends_what_it_drops(start, tenant):
    config = tenant.config(session="login", login={"tree": "Robot", "logout": True})
    usher = start(config)
    assert ask(usher, tenant, "/open").status == 200
    (session,) = tenant.sessions
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
    assert ask(usher, tenant, "/open").status == 200 and tenant.logouts == []
    usher.config.write_text(json.dumps({"version": 1, **tenant.config()}))
    usher.process.send_signal(signal.SIGHUP)
    programs.eventually(lambda: tenant.logouts == [session], "the session is ended")
    assert ask(usher, tenant, "/open").status == 302


def test_an_am_that_says_nothing_delays_the_end_by_little(binary, write_config, tenant):
    usher = programs.Usher(binary, write_config(tenant.config(session="login", login={"tree": "Robot", "logout": True})))
    assert ask(usher, tenant, "/open").status == 200
    hold = tenant.holds_logouts = threading.Event()
    began = time.monotonic()
    assert usher.stop() == 0 and time.monotonic() - began < 10
    hold.set()


# told without a network


def test_explain_and_check_say_where_it_comes_from(call, write_config, tenant):
    path = write_config(tenant.config(session="login", login={"tree": "Robot", "logout": True}))
    message = f"GET {tenant.shop}/x HTTP/1.1\r\nHost: shop.localhost\r\n\r\n"
    told = call("explain", "--config", path, "--request", "-", given=message).stdout
    assert "Session      of a login of Usher's own by the tree Robot in realm /" in told and "s3cret-robot" not in told
    own = message.replace("\r\n\r\n", f"\r\nCookie: {COOKIE}=x\r\n\r\n")
    assert json.loads(call("explain", "--config", path, "--json", "--request", "-", given=own).stdout)["session"] == "cookie"
    listed = call("check", "--explain", path).stdout
    assert "session: the request's own, else of a login of Usher's own" in listed and "s3cret-robot" not in listed


def test_cases_name_it(call, tmp_path, write_config, tenant):
    write_config(tenant.config(session="learned"), "usher.yaml")
    cases = {"config": "usher.yaml", "cases": [
        {"name": "none of its own", "request": {"url": f"{tenant.shop}/x"}, "expect": {"session": "learned"}},
        {"name": "its own", "request": {"url": f"{tenant.shop}/x", "headers": {COOKIE: "s"}}, "expect": {"session": "header"}}]}
    path = tmp_path / "cases.yaml"
    path.write_text(yaml.safe_dump(cases))
    done = call("test", path)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr
