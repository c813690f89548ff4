"""What concerns one connection and what concerns all: Connection, Via, Date, Expect, Host."""

import email.utils
import time

import pytest

import wire
from wire import Connection, Origin, request, response

RULES = {"interceptors": [{
    "name": "env",
    "request": [{"set_header": {"X-Env": "staging"}}, {"set_cookie": {"name": "route", "value": "b"}}],
    "response": [{"set_header": {"X-Frame-Options": "DENY"}}, {"set_cookie": {"name": "seen", "value": "1"}}]}]}


def test_connection_takes_nothing_of_interceptors_away(start, origin):
    """Neither a client nor an origin decides over what the configuration adds."""
    usher = start(RULES)
    answer = response(body=b"ok", fields=[
        ("Connection", "X-Frame-Options, Set-Cookie, X-Hop"), ("X-Hop", "1"), ("Set-Cookie", "own=1")])
    server = origin(lambda _: answer)
    with Connection(("127.0.0.1", usher.port)) as client:
        got = client.exchange(request("GET", f"{server.url}/", [
            ("Connection", "X-Env, Cookie, X-Hop, Authorization"), ("X-Env", "mine"), ("X-Hop", "1"),
            ("Authorization", "Bearer own"), ("Cookie", "own=1")]))
    seen = server.requests[0]
    assert seen.all("x-env") == ["staging"]
    assert seen.all("cookie") == ["route=b"]
    assert seen.get("authorization") is None
    assert seen.get("x-hop") is None
    assert got.all("x-frame-options") == ["DENY"]
    assert [value.split(";")[0] for value in got.all("set-cookie")] == ["seen=1"]
    assert got.get("x-hop") is None


def test_a_list_of_options_without_end_is_refused_at_once(connect, origin):
    server = origin()
    answer = connect().exchange(
        request("GET", f"{server.url}/", [("Connection", ",".join(["a"] * 15000))]))
    assert answer.status == 400
    assert "tooManyConnectionOptions" in answer.get("proxy-status")
    assert server.requests == []


@pytest.mark.parametrize("asked", ["1.0", "1.1"])
@pytest.mark.parametrize("answered", ["1.0", "1.1"])
def test_via_names_the_version_that_was_received(connect, origin, asked, answered):
    server = origin(lambda _: response(body=b"ok").replace(b"HTTP/1.1", f"HTTP/{answered}".encode()))
    got = connect().exchange(request("GET", f"{server.url}/", version=asked))
    assert server.requests[0].get("via").startswith(f"{asked} ")
    assert got.get("via").startswith(f"{answered} ")


def test_an_answer_without_a_date_gets_one(connect, origin):
    server = origin()
    got = connect().exchange(request("GET", f"{server.url}/"))
    assert len(got.all("date")) == 1
    assert abs(email.utils.parsedate_to_datetime(got.get("date")).timestamp() - time.time()) < wire.TIMEOUT
    # of Usher's own answers, too
    got = connect().exchange(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert got.status == 400 and len(got.all("date")) == 1


def test_a_date_stays_as_it_is(connect, origin):
    server = origin(lambda _: response(body=b"ok", fields=[("Date", "Sat, 01 Jan 2000 00:00:00 GMT")]))
    got = connect().exchange(request("GET", f"{server.url}/"))
    assert got.all("date") == ["Sat, 01 Jan 2000 00:00:00 GMT"]


def test_an_empty_host_is_replaced(connect, origin):
    server = origin()
    assert connect().exchange(request("GET", f"{server.url}/", [("Host", "")])).status == 200
    assert server.requests[0].all("host") == [server.authority]
    # inside a tunnel nothing else names the host
    client = connect()
    client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost:\r\n\r\n")
    assert client.read_head().status == 200
    assert client.exchange(b"GET / HTTP/1.1\r\nHost:\r\n\r\n").status == 400


def test_an_empty_port_is_the_default(start, origin):
    """Through another proxy, so that nobody needs port 80."""
    server = origin()
    usher = start({"destinations": {"via": [{"host": "*", "proxy": server.url}]}})
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", "http://shop.example:/x")).status == 200
    assert (server.requests[0].target, server.requests[0].get("host")) == ("http://shop.example/x", "shop.example")


class Hesitant(Origin):
    """Reads the head, says 100 (or what it is told) and then reads the body."""

    def __init__(self, interim=b"HTTP/1.1 100 Continue\r\n\r\n"):
        self.heads = []
        self.bodies = []
        self.interim = interim
        super().__init__(self._serve)

    def _serve(self, connection):
        head = connection.read_head()
        self.heads.append(head)
        connection.send(self.interim)
        self.bodies.append(connection.read_body(head))
        connection.send(response(body=b"done"))


@pytest.mark.parametrize("length", [[("Content-Length", "5")], [("Transfer-Encoding", "chunked")]])
def test_expect_reaches_the_origin_of_a_streamed_body(connect, origin, length):
    server = origin(Hesitant())
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), *length]))
    assert client.read_head().status == 100
    assert server.heads[0].all("expect") == ["100-continue"]
    client.send(b"hello" if length[0][0] == "Content-Length" else b"5\r\nhello\r\n0\r\n\r\n")
    assert client.read_response().body == b"done"
    assert server.bodies == [b"hello"]


def test_a_client_that_does_not_wait_sends_all_the_same(connect, origin):
    server = origin(Hesitant(interim=b""))
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), ("Content-Length", "5")]))
    # its own patience is the bound: nobody says 100 here
    client.send(b"hello")
    assert client.read_response().body == b"done"
    assert server.bodies == [b"hello"]


def test_an_origin_refuses_an_expectation_before_the_body(connect, origin):
    def refuses(connection):
        connection.read_head()
        connection.send(response(417, body=b"no"))
        connection.read_rest()

    server = origin(Origin(refuses))
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), ("Content-Length", "5")]))
    got = client.read_response()
    assert (got.status, got.body, got.get("connection")) == (417, b"no", "close")


def test_another_expectation_is_passed_on(connect, origin):
    server = origin()
    client = connect()
    assert client.exchange(request("POST", f"{server.url}/", [("Expect", "x-quick")], b"hello")).status == 200
    assert client.exchange(request("GET", f"{server.url}/", [("Expect", "x-quick")])).status == 200
    assert [seen.all("expect") for seen in server.requests] == [["x-quick"], ["x-quick"]]
