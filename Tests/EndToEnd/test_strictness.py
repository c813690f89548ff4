"""The corpus of ways to be misread (Tests/Corpora/Strictness), through the built program: what is refused reaches no
origin, what passes has one reading there, and what one client's origin says reaches no other client."""

import json
import pathlib
import re
import threading

import pytest

import programs
import wire
from wire import Connection, Origin, request, response

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "Corpora/Strictness"
REQUESTS = json.loads((CORPUS / "requests.json").read_text())
RESPONSES = json.loads((CORPUS / "responses.json").read_text())


def by_name(cases):
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def data(text, authority):
    """Every character is one byte; `{origin}` is the origin's address, `{20000*a}` so many of that letter."""
    text = text.replace("{origin}", authority)
    return re.sub(r"\{(\d+)\*(.)\}", lambda found: int(found[1]) * found[2], text).encode("latin-1")


class Recording(Origin):
    """Keeps every byte that comes, and answers each request that is whole."""

    def __init__(self):
        self.requests = []
        self.whole = threading.Condition()
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            message = connection.read_request()
            with self.whole:
                self.requests.append(message)
                self.whole.notify_all()
            connection.send(response(body=b"ok"))

    def wait_for(self, count):
        with self.whole:
            assert self.whole.wait_for(lambda: len(self.requests) >= count, wire.TIMEOUT), self.requests


@by_name([case for case in REQUESTS if "refused" in case])
def test_a_request_is_refused(plain_usher, connect, origin, case):
    server = origin(Recording())
    client = connect()
    # what follows on the same connection must never be taken for a request
    client.send(data(case["send"], server.authority) + request("GET", f"{server.url}/smuggled"))
    answer = client.read_response()
    assert answer.status == case["status"], answer.body
    assert answer.get("proxy-status").startswith("usher; error=http_request_error; details=")
    assert case["refused"] in answer.get("proxy-status")
    assert answer.get("connection") == "close"
    assert client.is_at_end()
    assert connect().exchange(request("GET", f"{server.url}/next")).status == 200
    assert [seen.target for seen in server.requests] == ["/next"]


@by_name([case for case in REQUESTS if "forwarded" in case])
def test_a_request_has_one_reading(connect, origin, case):
    server = origin(Recording())
    expected = case["forwarded"]
    client = connect()
    client.send(data(case["send"], server.authority))
    for one in expected:
        assert client.read_response(one["line"].split()[0]).status == 200
    client.close()
    assert connect().exchange(request("GET", f"{server.url}/next")).status == 200
    server.wait_for(len(expected) + 1)
    for one, seen in zip([*expected, {"line": "GET /next HTTP/1.1"}], server.requests, strict=True):
        assert seen.line == one["line"]
        assert seen.body == data(one.get("body", ""), server.authority)
        for name, value in one.get("with", {}).items():
            assert seen.all(name) == [data(value, server.authority).decode("latin-1")]
        for name in one.get("without", []):
            assert not seen.all(name)


@by_name(RESPONSES)
def test_an_answer_reaches_nobody_else(connect, origin, case):
    method = case.get("method", "GET")

    def serve(connection):
        while True:
            if connection.read_request().target == "/first":
                connection.send(data(case["send"], server.authority))
                if "ends" in case or case.get("cut") == "incomplete":
                    return
            else:
                connection.send(response(body=b"clean"))

    server = origin(Origin(serve))
    client = connect()
    client.send(request(method, f"{server.url}/first"))
    if "refused" in case:
        answer = client.read_response(method)
        assert answer.status == 502
        assert "error=http_protocol_error" in answer.get("proxy-status")
        assert case["refused"] in answer.get("proxy-status")
    elif "cut" in case:
        # a plain end would make it pass for whole
        with pytest.raises(ConnectionResetError):
            client.read_response(method)
    else:
        answer = client.read_response(method)
        assert (answer.status, answer.body) == (case["status"], data(case["body"], server.authority))
        for name in case.get("without", []):
            assert not answer.all(name)
        # nothing follows: the next answer on this connection is the next request's
        if "ends" not in case:
            assert client.exchange(request("GET", f"{server.url}/same")).body == b"clean"
    other = connect().exchange(request("GET", f"{server.url}/other"))
    assert (other.status, other.body) == (200, b"clean")
    if case.get("reused"):
        assert len(server.accepted) == 1


LATE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"


@pytest.mark.parametrize("method, first", [
    ("GET", response(body=b"ok")), ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
    ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\n"),
    ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")])
def test_an_answer_that_comes_unasked_is_thrown_away(connect, origin, method, first):
    """The answer of a smuggled request comes late, when the connection is idle again."""
    answered, gone = threading.Event(), threading.Event()

    def serve(connection):
        if connection.read_request().target == "/first":
            connection.send(first)
            assert answered.wait(wire.TIMEOUT)
            connection.send(LATE)
            # the proxy closes a connection that speaks unasked
            assert connection.read_rest() == b""
            gone.set()
        else:
            connection.send(response(body=b"clean"))

    server = origin(Origin(serve))
    client = connect()
    assert client.exchange(request(method, f"{server.url}/first"), method).status in (200, 204)
    answered.set()
    assert gone.wait(wire.TIMEOUT)
    assert connect().exchange(request("GET", f"{server.url}/other")).body == b"clean"
    assert client.exchange(request("GET", f"{server.url}/same")).body == b"clean"


def test_a_body_that_an_origin_ignores_poisons_nobody(connect, origin):
    """GET with a body that is a request, to an origin that pays no heed to Content-Length of GET."""
    served = []

    def serve(connection):
        while True:
            head = connection.read_head()
            served.append(head.target)
            connection.send(response(body=b"evil" if head.target == "/smuggled" else b"fine"))

    server = origin(Origin(serve))
    smuggled = request("GET", f"{server.url}/smuggled").replace(server.url.encode(), b"")
    assert connect().exchange(request("GET", f"{server.url}/", body=smuggled)).body == b"fine"
    programs.eventually(lambda: "/smuggled" in served, "the origin takes the body for a request")
    for count in range(5):
        assert connect().exchange(request("GET", f"{server.url}/{count}")).body == b"fine"


@pytest.mark.parametrize("authority", ["127.0.0.1:1", "nowhere.invalid:80"])
def test_bytes_for_a_tunnel_that_was_refused_are_no_request(connect, origin, authority):
    server = origin(Recording())
    client = connect()
    client.send(
        f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode()
        + request("GET", f"{server.url}/smuggled"))
    assert client.read_response("CONNECT").status >= 400
    assert client.is_at_end()
    assert not server.requests
