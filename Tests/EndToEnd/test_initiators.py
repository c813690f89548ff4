"""Pages of other sites in a browser that goes through Usher: nothing is added to their requests, and nothing done for them."""

import pytest

from couch import Couch, couch
from granted import code, credentials, learned, world
from grants import SECRET, Grants
from tenant import COOKIE, Tenant
from test_sessions import LOGIN, ask, sign_in, user
from wire import Connection, request, response

EVIL = [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
APP = [("Origin", "https://app.example.com"), ("Sec-Fetch-Site", "same-site")]
FOREIGN = [
    EVIL, EVIL[:1], EVIL[1:], [("Origin", "null")], [("Origin", "https://evil.example")] * 2, APP,
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], [("Referer", "https://evil.example/")],
    [("Sec-Fetch-Site", ""), ("Referer", "https://evil.example/")], [*EVIL[:1], ("Connection", "Origin")]]
OWN = [[], [("Sec-Fetch-Site", "none")], [("Sec-Fetch-Site", "same-origin")]]


@pytest.fixture
def tenant(origin):
    server = Tenant(origin)
    yield server
    assert server.faults == []


def test_a_token_of_the_configuration(world):
    play = world(Grants(secret=SECRET), entry=credentials(origins="https://*.example.com"))
    listed = [page for page in FOREIGN if page is APP]
    for page in [page for page in FOREIGN if page is not APP]:
        assert play.get(fields=page).status == 401
    assert play.api.shown == [None] * 9 and not play.grants.calls
    for page in [*OWN, *listed, [("Origin", play.resource.url)]]:
        assert play.get(fields=page).body == b"shop"
    assert "not added: caused by a page of https://evil.example (origins)" in play.told(count=14)


def test_a_token_that_was_learned_stays_with_its_page(world):
    play = world(entry=learned())
    play.sign_in()
    for page in FOREIGN:
        assert play.get(fields=page).status == 401
    for page in OWN:
        assert play.get(fields=page).body == b"ada"


def test_no_token_is_had_by_one_of_two_sessions(world):
    play = world(entry=code())
    cookies = [("Cookie", f"{COOKIE}=SESSION-A; {COOKIE}=SESSION-B")]
    assert play.get(fields=cookies).status == 401 and play.api.shown == [None] and not play.grants.requests
    assert play.get(fields=[("Cookie", f"{COOKIE}=SESSION-A")]).body == b"ada"


class Reads(Grants):
    """Lets the pages of one app read what it answers."""

    def __call__(self, got):
        given = super().__call__(got)
        if got.get("origin") != APP[0][1]:
            return given
        return given.replace(b"\r\n", b"\r\nAccess-Control-Allow-Origin: https://app.example.com\r\n", 1)


def test_what_a_page_wins_is_its_own(world):
    play = world(Reads(), entry=learned())
    # a form that a page of another site posts: the attacker's code, and nobody may read the answer
    assert play.sign_in(user="eve", fields=EVIL).status == 200
    assert [play.get(fields=page).status for page in [*OWN, EVIL]] == [401] * 4
    assert play.sign_in(user="bob", fields=APP).status == 200
    assert play.get(fields=APP).body == b"bob"
    assert [play.get(fields=page).status for page in [*OWN, EVIL]] == [401] * 4
    # what no page won goes along with requests that no other page causes
    play.sign_in(user="ada")
    assert play.get().body == b"ada" and play.get(fields=APP).body == b"bob"


def test_sessions(start, tenant):
    usher = start(tenant.config(session="learned"))
    sign_in(usher, tenant, "ada")
    for page in FOREIGN:
        assert ask(usher, tenant, "/open", page).status == 302
    for page in [*OWN, [("Origin", tenant.shop)]]:
        assert user(ask(usher, tenant, "/open", page)) == "ada"


def test_a_login_that_a_page_of_another_site_has_made_is_not_learned(start, tenant):
    usher = start(tenant.config(session="learned"))
    sign_in(usher, tenant, "eve", EVIL)
    assert ask(usher, tenant, "/open").status == 302
    # AM's own page
    sign_in(usher, tenant, "ada", [("Origin", tenant.am.removesuffix("/am")), ("Sec-Fetch-Site", "same-origin")])
    assert user(ask(usher, tenant, "/open")) == "ada"


def test_the_session_of_the_robot(start, tenant):
    usher = start(tenant.config(**LOGIN, origins=["https://app.example.com"]))
    for page in FOREIGN:
        assert ask(usher, tenant, "/open", page).status == (200 if page is APP else 302)
    assert all(user(ask(usher, tenant, "/open", page)) == "robot" for page in OWN)


@pytest.mark.parametrize("more", [{}, {"translate": "json"}])
def test_nothing_is_stepped_up(start, tenant, more):
    usher = start(tenant.config(**more))
    own = [("Cookie", f"{COOKIE}={tenant.sign_in('ada')}")]
    plain = [(got.status, got.get("location")) for got in [ask(usher, tenant, "/each/1", [*own, *page], "POST", b"x") for page in FOREIGN]]
    assert {status for status, _ in plain} <= {302, 307, 401} and not [c for c in tenant.calls if c[0].endswith("/authenticate")]
    usher.flow("/each/1", len(FOREIGN))
    told = " | ".join(event["text"] for flow in usher.flows("/each/1") for event in flow.events)
    assert "caused by a page of https://evil.example (origins)" in told
    if not more:
        assert user(ask(usher, tenant, "/each/1", own, "POST", b"x")) == "ada"


def test_logins_of_interceptors(start, origin):
    database = Couch()
    server = origin(database)
    shown = []
    plain = origin(lambda got: shown.append(got.get("authorization")) or response(200))
    basic = {"name": "basic", "when": {"host": "127.0.0.1", "scheme": "http", "port": plain.port},
             "basic_auth": {"user": "ada", "password": "p", "send": "always"}}
    cookies = couch()
    cookies["when"] = {"host": "127.0.0.1", "scheme": "http", "port": server.port}
    usher = start({"interceptors": [basic, cookies]})
    preflight = [*APP, ("Access-Control-Request-Method", "POST")]
    with Connection(("127.0.0.1", usher.port)) as client:
        for page in FOREIGN:
            client.exchange(request("GET", f"{server.url}/db", page))
            client.exchange(request("GET", f"{plain.url}/x", page))
        client.exchange(request("OPTIONS", f"{plain.url}/x", preflight), "OPTIONS")
        assert not database.logins and shown == [None] * 11
        for page in OWN:
            assert client.exchange(request("GET", f"{server.url}/db", page)).status == 200
            client.exchange(request("GET", f"{plain.url}/x", page))
    assert len(database.logins) == 1 and None not in shown[11:]
