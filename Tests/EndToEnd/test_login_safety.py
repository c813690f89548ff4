"""What logins of interceptors show to whom, and what becomes of requests where they go wrong."""

import gzip
import json

import pytest

from couch import Couch, couch
from test_logins import play, words  # noqa: F401
from wire import Connection, request, response


@pytest.mark.parametrize("edit", [{"set_host": "localhost:{port}"}, {"rewrite_url": {"~127.0.0.1:[0-9]+": "localhost:{port}"}}])
@pytest.mark.parametrize("own", [
    {"session_cookie": {"user": "a", "password": "b"}}, {"iam_cookie": {"key": "k", "identity": "http://127.0.0.1:1/"}},
    {"basic_auth": {"user": "a", "password": "b"}}, {"basic_auth": {"user": "a", "password": "b", "send": "challenged"}}])
def test_what_others_redirect_takes_no_secret_along(play, origin, edit, own):
    thief = origin(lambda got: response(401, fields=[("WWW-Authenticate", "Basic realm=x")]))
    server = origin()
    moved = json.loads(json.dumps(edit).replace("{port}", str(thief.port)))
    usher, client = play(
        {"name": "own", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"}, **own}, {"name": "move", "request": [moved]})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 401
    assert not server.requests and len(thief.requests) == 1
    assert thief.requests[0].get("authorization") is None and thief.requests[0].get("cookie") is None
    if own.get("basic_auth", {}).get("send") != "challenged":
        assert "no host, scheme and port" in words(usher, "/db")


def test_what_is_not_to_be_asked_is_not(play, origin):
    """A port or a scheme that is left out is left out wherever others send the request."""
    thief, server = origin(), origin()
    _, client = play(
        {"name": "own", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*", "not": {"port": thief.port}}, "basic_auth": {
            "user": "a", "password": "b"}},
        {"name": "move", "when": {"path": "/moved"}, "request": [{"set_host": f"127.0.0.1:{thief.port}"}]})
    assert client.exchange(request("GET", f"{server.url}/moved")).status == 200
    assert thief.requests[0].get("authorization") is None
    assert client.exchange(request("GET", f"{server.url}/here")).status == 200
    assert server.requests[0].get("authorization")


def test_a_host_that_only_the_field_names_gets_no_secret(play, origin):
    """Behind a shared front end it is the field that decides who gets the request."""
    server = origin()
    _, client = play(
        {"name": "own", "when": {"host": ["127.0.0.1", "shop.example.com"], "scheme": "http", "port": "*"}, "basic_auth": {"user": "a", "password": "b"}},
        {"name": "thief", "when": {"path": "/thief"}, "request": [{"set_header": {"Host": "thief.example.com"}}]},
        {"name": "shop", "when": {"path": "/shop"}, "request": [{"set_header": {"Host": "shop.example.com"}}]})
    for path, isShown in [("/thief", False), ("/shop", True), ("/", True)]:
        assert client.exchange(request("GET", f"{server.url}{path}")).status == 200
        assert (server.requests[-1].get("authorization") is not None) == isShown, path


def test_a_trace_shows_no_secret(play, origin):
    database = Couch()
    server = origin(database)
    _, client = play(couch(), {
        "name": "basic", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"}, "basic_auth": {"user": "a", "password": "b", "send": "always"}})
    assert client.exchange(request("TRACE", f"{server.url}/db")).status == 401
    assert not database.logins and database.asked[0].get("authorization") is None


@pytest.mark.parametrize("refusal, status", [
    (response(401, body=b"x" * 100_000), 401),
    (response(403, body=gzip.compress(b'{"error":"credentials_expired"}', mtime=0), fields=[("Content-Encoding", "gzip")]), 200),
    (response(403, body=b'\xef\xbb\xbf{"error":"credentials_expired"}', fields=[("Content-Type", "text/plain")]), 200)])
def test_refusals_in_odd_bodies(play, origin, refusal, status):
    database = Couch()
    database.refusal = refusal
    server = origin(database)
    _, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.expire()
    # one that is too large to be kept is delivered, and the next request logs in
    assert client.exchange(request("GET", f"{server.url}/db")).status == status
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200 and len(database.logins) == 2


def test_a_cookie_that_is_good_outlasts_a_login_that_fails(play, origin):
    database = Couch("; Max-Age=200")
    server = origin(database)
    _, client = play(couch(refused="refuse"))
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.login_answers = [response(503)] * 5
    for _ in range(3):
        assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    # it is not tried by every request either
    assert len(database.logins) == 2


def test_a_clients_own_login_is_its_own(play, origin):
    database = Couch()
    server = origin(database)
    usher, client = play(couch())
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    got = client.exchange(request("POST", f"{server.url}/_session", [("Cookie", "a=b")], b"name=alice&password=x"))
    assert got.get("set-cookie").startswith("AuthSession=c2") and database.logins[-1].get("cookie") == "a=b"
    # one that is refused is tried once: whoever counts wrong passwords counts it once
    database.login_answers = [response(401, body=b"no")]
    assert client.exchange(request("POST", f"{server.url}/_session", [], b"name=alice&password=y")).body == b"no"
    assert len(database.logins) == 3
    other = Connection(("127.0.0.1", usher.port))
    database.valid = "AuthSession=c1"
    assert other.exchange(request("GET", f"{server.url}/db")).status == 200
    assert database.asked[-1].get("cookie") == "AuthSession=c1"


def test_a_cookie_that_stays_behind_may_refuse_the_request(play, origin):
    database = Couch("; Secure")
    server = origin(database)
    _, client = play(couch(refused="refuse"))
    got = client.exchange(request("GET", f"{server.url}/db"))
    assert got.status == 502 and b"stays behind" in got.body and not database.asked


def test_no_further_attempt_goes_out_without_a_cookie(play, origin):
    database = Couch()
    server = origin(database)
    _, client = play(couch(refused="refuse"), {"name": "again", "replay": {"status": 401, "after": "1ms"}})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    database.expire()
    database.login_answers = [response(401)] * 5
    assert client.exchange(request("GET", f"{server.url}/db")).status == 502
    # the request whose cookie was refused, and none after it
    assert len(database.asked) == 2


def test_a_client_that_closed_its_side_gets_its_answer(play, origin):
    database = Couch()
    server = origin(database)
    _, client = play(couch())
    client.send(request("GET", f"{server.url}/db"))
    client.half_close()
    assert client.read_response().body == b"it"


def test_a_resource_that_refuses_everything_makes_no_storm_of_logins(play, origin):
    database = Couch()
    database.refuses = lambda got: got.target == "/denied"
    server = origin(database)
    _, client = play(couch())
    for _ in range(10):
        assert client.exchange(request("GET", f"{server.url}/denied")).status == 401
    assert len(database.logins) == 2
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200 and len(database.logins) == 2


def test_a_secret_keeps_to_the_scheme_and_the_port_that_are_named(play, origin):
    database, other = Couch(), Couch()
    server, neighbour = origin(database), origin(other)
    _, client = play({**couch(), "when": {"host": "127.0.0.1", "scheme": "http", "port": str(server.port)}}, {
        "name": "move", "when": {"path": "/moved"}, "request": [{"set_host": f"127.0.0.1:{neighbour.port}"}]})
    assert client.exchange(request("GET", f"{server.url}/db")).status == 200
    for path in ("moved", "db"):
        base = server if path == "moved" else neighbour
        assert client.exchange(request("GET", f"{base.url}/{path}")).status == 401
    assert not other.logins and all(seen.get("cookie") is None for seen in other.asked)
