"""Interceptors that log in for a cookie. The numbers are those of numbered_cases.md."""

import json
import threading
import time
import urllib.parse

import pytest

import inside
import origins
import programs
from couch import PASSWORD, Couch, couch
from crowd import crowd
from wire import Connection, request, response


@pytest.fixture
def play(start):
    def begin(*interceptors, workers=1, **more):
        usher = start({"workers": workers, "interceptors": list(interceptors), **more})
        return usher, Connection(("127.0.0.1", usher.port))

    return begin


def words(usher, path, count=1):
    usher.flow(path, count)
    return " | ".join(event["text"] for flow in usher.flows(path) for event in flow.events)


def test_T33_T42_the_first_request_logs_in_and_the_second_need_not(play, origin):
    """The form decodes to exactly what is configured."""
    database = Couch()
    server = origin(database)
    usher, client = play(couch())
    for _ in range(2):
        got = client.exchange(request("GET", f"{server.url}/db?x=1"))
        assert (got.status, got.body) == (200, b"it")
    assert database.lines == ["POST /_session", "GET /db?x=1", "GET /db?x=1"]
    login = database.logins[0]
    assert urllib.parse.parse_qs(login.body.decode(), strict_parsing=True) == {"name": ["ada"], "password": [PASSWORD]}
    assert login.get("content-type") == "application/x-www-form-urlencoded"
    assert [got.get("cookie") for got in database.asked] == ["AuthSession=c1"] * 2
    told = words(usher, "/db")
    assert "SESSION_LOGIN" in told and "lasts 600 s" in told and "p&a" not in told and "c1" not in told


def test_the_clients_cookies_stay_beside_it(play, origin):
    database = Couch()
    server = origin(database)
    _, client = play(couch())
    got = client.exchange(request("GET", f"{server.url}/db", [("Cookie", "a=b; AuthSession=mine"), ("Cookie", "c=d")]))
    assert got.status == 200 and database.asked[0].get("cookie") == "a=b; AuthSession=c1; c=d"


@pytest.mark.parametrize("attributes, logins", [("; Max-Age=299", 2), ("; Max-Age=301", 1), ("", 1)])
def test_T34_a_cookie_that_is_to_end_is_renewed(play, origin, attributes, logins):
    database = Couch(attributes)
    server = origin(database)
    _, client = play(couch())
    for _ in range(2):
        assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    assert len(database.logins) == logins


@pytest.mark.parametrize("refusal, renews", [
    (response(401, body=b"no"), True),
    (response(401), True),
    (response(403, body=b'{"error":"credentials_expired","reason":"x"}'), True),
    (response(403, body=b'{"error":"forbidden"}'), False),
    (response(403), False),
])
def test_T35_a_cookie_that_is_refused_is_renewed(play, origin, refusal, renews):
    database = Couch()
    database.refusal = refusal
    server = origin(database)
    _, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.expire()
    got = client.exchange(request("GET", f"{server.url}/db"))
    if renews:
        assert got.status == 200 and len(database.logins) == 2
        assert [one.get("cookie") for one in database.asked] == ["AuthSession=c1", "AuthSession=c1", "AuthSession=c2"]
    else:
        assert got.status == 403 and len(database.logins) == 1
    assert client.exchange(request("GET", f"{server.url}/db")).status == (200 if renews else 403)


@pytest.mark.alone
def test_T36_a_login_that_is_refused_is_not_tried_for_a_while(play, origin):
    database = Couch()
    database.login_answers = [response(401, body=b"{}")]
    server = origin(database)
    usher, client = play(couch(cool_down="300ms"))
    began = time.monotonic()
    for _ in range(2):
        assert client.exchange(request("GET", f"{server.url}/db")).status == 401
    assert len(database.logins) == 1 and len(database.asked) == 2
    assert time.monotonic() - began < 0.3, "too slow a machine for this to tell anything"
    assert "refused the login with 401" in words(usher, "/db")
    programs.eventually(lambda: time.monotonic() - began > 0.35, "the end of the cool-down")
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    assert len(database.logins) == 2


def test_a_login_that_is_refused_may_refuse_the_request(play, origin):
    database = Couch()
    database.login_answers = [response(403)]
    server = origin(database)
    _, client = play(couch(refused="refuse"))
    got = client.exchange(request("GET", f"{server.url}/db"))
    assert got.status == 502 and b"couch" in got.body and b"refused the login with 403" in got.body
    assert "error=http_request_denied" in got.get("proxy-status") and not database.asked


def test_T37_a_login_that_failed_is_tried_by_the_next(play, origin):
    database = Couch()
    database.login_answers = [response(500), response(body=b'{"ok":true}')]
    server = origin(database)
    usher, client = play(couch())
    assert [client.exchange(request("GET", f"{server.url}/db")).status for _ in range(3)] == [401, 401, 200]
    assert len(database.logins) == 3
    told = words(usher, "/db")
    assert "responded with 500" in told and "set no cookie AuthSession" in told


def test_T38_what_is_refused_with_any_cookie_is_refused_once(play, origin):
    database = Couch()
    database.refuses = lambda got: True
    server = origin(database)
    _, client = play(couch())
    got = client.exchange(request("GET", f"{server.url}/db"))
    assert (got.status, got.body) == (401, b'{"error":"unauthorized"}')
    assert database.lines == ["POST /_session", "GET /db", "POST /_session", "GET /db"]


def test_T39_one_login_for_all(play, origin):
    """25 clients with 50 requests each; the cookie expires once, in the middle."""
    database = Couch()
    server = origin(database)
    usher, _ = play(couch(), workers=2)
    statuses = crowd(usher, f"{server.url}/db", database.expire)
    assert statuses == [200] * 1250
    assert len(database.logins) == 2


def test_who_waits_for_a_login_that_fails_shares_that(play, origin):
    database = Couch()
    database.gate = threading.Event()
    database.more = [("Connection", "close")]
    database.attributes = "; Max-Age=0"
    server = origin(database)
    usher, first = play(couch())
    second = Connection(("127.0.0.1", usher.port))
    first.send(request("GET", f"{server.url}/one"))
    programs.eventually(lambda: database.logins, "the login")
    second.send(request("GET", f"{server.url}/two"))
    # what came before this has been looked at, for there is one worker
    assert Connection(("127.0.0.1", usher.port)).exchange(request("GET", "http://usher.proxy/")).status == 200
    assert len(database.logins) == 1 and not database.asked
    database.gate.set()
    assert first.read_response().status == 401 and second.read_response().status == 401
    assert len(database.logins) == 1


def test_who_logs_in_may_go_away(play, origin):
    database = Couch()
    database.gate = threading.Event()
    server = origin(database)
    usher, first = play(couch(), timeouts={"half_closed": "100ms"})
    first.send(request("GET", f"{server.url}/one"))
    programs.eventually(lambda: database.logins, "the login")
    second = Connection(("127.0.0.1", usher.port))
    second.send(request("GET", f"{server.url}/two"))
    first.close()
    programs.eventually(lambda: len(database.logins) == 2, "another login")
    database.gate.set()
    assert second.read_response().status == 200


def test_T40_an_answer_may_set_the_cookie_anew(play, origin):
    """The client keeps the other cookie, which is its own; a comma in a date divides nothing."""
    database = Couch()
    server = origin(database)
    usher, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    anew = [("Set-Cookie", "other=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/"),
            ("Set-Cookie", "AuthSession=fresh; Max-Age=900; Path=/")]
    database.valid = "none"
    database.refusal = response(fields=anew, body=b"set")
    got = client.exchange(request("GET", f"{server.url}/db"))
    # whose session it is does not go on to the client
    assert got.body == b"set" and got.all("set-cookie") == [anew[0][1]]
    database.valid = "AuthSession=fresh"
    assert client.exchange(request("GET", f"{server.url}/db", [("Cookie", "other=1")])).body == b"it"
    assert database.asked[-1].get("cookie") == "other=1; AuthSession=fresh" and len(database.logins) == 1


def test_T41_a_secure_cookie_is_not_sent_in_the_clear(play, origin):
    database = Couch("; Max-Age=600; Secure")
    server = origin(database)
    usher, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 401
    assert all(got.get("cookie") is None for got in database.asked)
    assert "AuthSession stays behind: it is secure and the request is not https" in words(usher, "/db")


def test_T43_a_server_under_a_prefix(play, origin):
    database = Couch()
    server = origin(database)
    _, client = play(couch(login="/prefix/_session"))
    assert client.exchange(request("GET", f"{server.url}/prefix/db")).status == 200
    assert database.lines == ["POST /prefix/_session", "GET /prefix/db"]


def test_other_names_and_another_place(play, origin):
    database = Couch()
    server, page = origin(database), origin(database)
    _, client = play(couch(
        login=f"{page.url}/login/_session", fields={"name": "j_username", "password": "j_password"}))
    # the cookie is the page's, and a host has one for all its ports (RFC 6265 §8.5)
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    assert len(page.requests) == 1
    assert set(urllib.parse.parse_qs(page.requests[0].body.decode())) == {"j_username", "j_password"}


def test_T44_other_interceptors_have_a_part_in_the_login(play, origin):
    """Under its own Action; whoever logs in has none."""
    database = Couch()
    server = origin(database)
    _, client = play(
        {"name": "agent", "user_agent": "Shop/2"}, couch(),
        {"name": "mark", "when": {"action": "SESSION_LOGIN"}, "request": [{"set_header": {"X-Login": "yes"}}]})
    assert client.exchange(request("GET", f"{server.url}/db", [("User-Agent", "app")])).status == 200
    login, asked = database.logins[0], database.asked[0]
    assert (login.get("user-agent"), login.get("x-login"), login.get("cookie")) == ("Shop/2", "yes", None)
    assert (asked.get("user-agent"), asked.get("x-login")) == ("Shop/2", None)


def test_T44_a_login_goes_by_way_of_the_upstream_proxy(play, origin, start):
    database = Couch()
    server = origin(database)
    upstream = start({"workers": 1})
    _, client = play(couch(), destinations={"via": [{"host": "127.0.0.1", "proxy": f"http://127.0.0.1:{upstream.port}"}]})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    assert [got.get("via") is not None and "usher" in got.get("via") for _, got in database.heads] == [True, True]
    upstream.wait_for(lambda: upstream.flows("/_session") and upstream.flows("/db"), "both in the log")


def test_a_login_is_never_sent_elsewhere(play, origin):
    database, other = Couch(), Couch()
    server, thief = origin(database), origin(other)
    usher, client = play(
        {"name": "thief", "when": {"action": "SESSION_LOGIN"}, "request": [{"set_host": f"127.0.0.1:{thief.port}"}]}, couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 401
    assert not other.heads and not database.logins
    assert "which is not its origin" in words(usher, "/db")


def test_T30_T32_a_body_is_sent_again_whole(play, origin):
    """The body that 100-continue held back, too."""
    database = Couch()
    server = origin(database)
    _, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.expire()
    body = bytes(range(256)) * 3000
    asked = request("POST", f"{server.url}/db", [("Expect", "100-continue"), ("Content-Length", str(len(body)))])
    client.send(asked)
    assert client.read_head().status == 100
    assert client.exchange(body).status == 200
    assert [one.body for one in database.asked[1:]] == [body, body]


def test_T31_a_body_over_the_limit_is_not_sent_again(play, origin):
    database = Couch()
    server = origin(database)
    usher, client = play(couch(), limits={"buffered_body": "4KiB"})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.expire()
    chunks = b"".join(b"400\r\n" + b"x" * 1024 + b"\r\n" for _ in range(8)) + b"0\r\n\r\n"
    got = client.exchange(request("POST", f"{server.url}/large", [("Transfer-Encoding", "chunked")], chunks))
    assert got.status == 401 and len(database.asked) == 2
    assert "body was not kept" in words(usher, "/large")
    # the next one logs in before it goes out
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    assert database.lines[-2:] == ["POST /_session", "GET /db"]


def test_T45_two_steps_with_a_key(play, origin):
    """Both steps of the login with an API key."""
    tokens = []

    def identity(got):
        tokens.append(got)
        return response(body=b'{"access_token":"t\\"0","expires_in":3600}', fields=[("Content-Type", "application/json")])

    sessions = []

    def database(got):
        if got.line.split()[1] == "/_iam_session":
            sessions.append(got)
            if len(sessions) == 1:
                return response(500)
            return response(fields=[("Set-Cookie", "IAMSession=i; Max-Age=3600")])
        return response(body=b"it") if got.get("cookie") == "IAMSession=i" else response(401)

    server, service = origin(database), origin(identity)
    usher, client = play({
        "name": "iam", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"},
        "iam_cookie": {"key": "k&y", "identity": f"{service.url}/identity/token"}})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 401
    assert "/_iam_session responded with 500" in words(usher, "/db")
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    form = urllib.parse.parse_qs(tokens[0].body.decode())
    assert form["apikey"] == ["k&y"] and form["grant_type"] == ["urn:ibm:params:oauth:grant-type:apikey"]
    assert json.loads(sessions[-1].body) == {"access_token": 't"0'}
    assert len(tokens) == 2 and "IDENTITY_TOKEN" in words(usher, "/db")


def test_logins_inside_an_opened_tunnel(opening, secure_origin):
    database = Couch("; Max-Age=600; Secure; HttpOnly")
    server = secure_origin(origins.Answering, database)
    usher = opening({"interceptors": [{
        "name": "couch", "when": {"host": origins.NAME, "port": "*"}, "session_cookie": {"user": "a", "password": PASSWORD}}]})
    client = inside.secured(inside.tunnel(usher, server.authority), inside.context(usher.ca), origins.NAME)
    for _ in range(2):
        assert client.exchange(f"GET /db HTTP/1.1\r\nHost: {server.authority}\r\n\r\n").status == 200
    assert database.lines == ["POST /_session", "GET /db", "GET /db"]
    assert {shake.name for shake in server.handshakes} == {origins.NAME}
