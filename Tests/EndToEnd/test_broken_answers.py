"""What interceptors break on purpose, as clients see it."""

import ssl
import subprocess
import threading
import time

import pytest
import requests
import urllib3

import origins
import wire
from inside import get, opened
from wire import Connection, request, response

INSTEAD = ["empty", "garbage", "malformed_status", "malformed_header", "malformed_length", "malformed_chunk", "reset"]


def rules(fault, phase="request", **more):
    return [{"name": "chaos", "when": {"path": "/broken"}, phase: [{"fault": fault}], **more}]


@pytest.fixture
def client():
    """Raw connections to a proxy."""
    made = []

    def connect(usher):
        made.append(Connection(("127.0.0.1", usher.port)))
        return made[-1]

    yield connect
    for one in made:
        one.close()


def end(connection):
    """How the connection ends. Python's TLS tells a reset like any end that TLS was not told of."""
    try:
        return connection.end()
    except ssl.SSLEOFError:
        return "reset"


@pytest.mark.parametrize("phase", ["request", "response"])
@pytest.mark.parametrize("fault", INSTEAD)
def test_in_the_place_of_an_answer(start, origin, client, fault, phase):
    server = origin()
    usher = start({"interceptors": rules(fault, phase)})
    connection = client(usher)
    # answered before, on the same connection
    assert connection.exchange(request("GET", f"{server.url}/good")).body == b"ok"
    connection.send(request("GET", f"{server.url}/broken"))
    assert connection.end() == ("reset" if fault == "reset" else "closed")
    got = connection.buffer
    assert bool(got) == (fault not in ("empty", "reset"))
    assert [seen.target for seen in server.requests] == ["/good"] + (["/broken"] if phase == "response" else [])
    told = usher.said("/broken", "interceptor", "the client gets no response")
    assert len(told) == 1 and told[0].startswith("chaos: ")
    # whoever comes next is served
    assert client(usher).exchange(request("GET", f"{server.url}/good")).body == b"ok"


@pytest.mark.parametrize("fault", INSTEAD)
def test_inside_a_tunnel(opening, secure_origin, fault):
    server = secure_origin()
    usher = opening({"interceptors": rules(fault)})
    with opened(usher, server.authority) as connection:
        assert connection.exchange(get(server.authority, "/good")).body == b"ok"
        connection.send(get(server.authority, "/broken"))
        assert end(connection) == ("reset" if fault == "reset" else "closed")
        assert bool(connection.buffer) == (fault not in ("empty", "reset"))
    assert [seen.target for seen in server.requests] == ["/good"]


@pytest.mark.parametrize("fault, error", [
    ("reset", requests.exceptions.ConnectionError), ("empty", requests.exceptions.ConnectionError),
    ("garbage", requests.exceptions.ConnectionError), ("malformed_status", requests.exceptions.ConnectionError),
    ("malformed_chunk", requests.exceptions.ChunkedEncodingError),
    ({"truncate": "1B"}, requests.exceptions.ChunkedEncodingError),
    ({"reset_after": "1B"}, requests.exceptions.ChunkedEncodingError)], ids=str)
def test_python_sees_it(start, origin, through, fault, error):
    server = origin()
    usher = start({"interceptors": rules(fault, "response")})
    session = through(usher)
    assert session.get(f"{server.url}/good").text == "ok"
    if fault == {"truncate": "1B"} and urllib3.__version__.startswith("1."):
        # before 2.0 it did not compare a body with its Content-Length
        assert session.get(f"{server.url}/broken").text == "o"
    else:
        with pytest.raises(error):
            session.get(f"{server.url}/broken")
    assert session.get(f"{server.url}/good").text == "ok"


@pytest.mark.parametrize("fault, code", [
    ("reset", (56,)), ("empty", (52,)), ("garbage", (1,)), ("malformed_header", (8,)), ("malformed_length", (8,)),
    ("malformed_chunk", (56,)), ({"truncate": "1B"}, (18,)), ({"reset_after": "1B"}, (56,))], ids=str)
def test_curl_sees_it(start, origin, fault, code):
    server = origin()
    usher = start({"interceptors": rules(fault, "response")})
    done = subprocess.run(
        ["curl", "--silent", "--proxy", usher.url, f"{server.url}/broken"], capture_output=True, timeout=30)
    assert done.returncode in code, done


def test_only_some(start, origin, through):
    """One of three, twice at most, and for one Action alone."""
    server = origin()
    usher = start({
        "workers": 1, "actions": [{"name": "PAY", "when": {"path": "/pay"}}],
        "interceptors": [{
            "name": "chaos", "when": {"action": "PAY"}, "every": 3, "request": [{"fault": "empty"}]},
            {"name": "none", "percent": 0, "request": [{"fault": "reset"}]},
            {"name": "one", "when": {"path": "/once"}, "first": 1, "request": [{"fault": "empty"}]}]})
    session = through(usher)

    def works(path):
        try:
            return session.get(f"{server.url}{path}").ok
        except requests.exceptions.ConnectionError:
            return False

    assert [works("/pay") for _ in range(6)] == [True, True, False, True, True, False]
    assert [works("/once") for _ in range(3)] == [False, True, True]
    assert all(works("/other") for _ in range(5))


@pytest.mark.parametrize("fault", ["reset", "empty", {"reset_after": "3B"}, {"truncate": "3B"}], ids=str)
@pytest.mark.parametrize("secure", [False, True])
def test_what_was_answered_before_arrives_whole(start, opening, origin, secure_origin, client, fault, secure):
    """However slowly the client reads: three answers, more than the kernel holds, and then the end."""
    large = b"x" * 3_000_000
    given = (lambda seen: response(body=large if seen.target == "/large" else b"0123456789"))
    server = secure_origin(origins.Answering, given) if secure else origin(given)
    usher = (opening if secure else start)({"workers": 1, "interceptors": rules(fault, "response")})
    if secure:
        connection = opened(usher, server.authority)
        asked = [get(server.authority, path) for path in ("/large", "/small", "/broken", "/never")]
    else:
        connection = client(usher)
        asked = [request("GET", f"{server.url}{path}") for path in ("/large", "/small", "/broken", "/never")]
    connection.send(b"".join(asked))
    usher.wait_for(lambda: usher.flows("/large"), "the first is answered")
    assert connection.read_response().body == large
    assert connection.read_response().body == b"0123456789"
    resets = fault == "reset" or "reset_after" in fault
    assert end(connection) == ("reset" if resets else "closed")
    if isinstance(fault, dict):
        assert connection.buffer.endswith(b"\r\n\r\n012") and b"Content-Length: 10\r\n" in connection.buffer
    else:
        assert connection.buffer == b""
    connection.close()
    usher.wait_for(lambda: usher.flows("/broken"), "its end is told")
    assert not usher.flows("/never")


def test_a_body_that_is_cut_of_many_pieces(start, origin, client):
    """Of a chunked answer of a size that passes by otherwise: nothing behind the cut, and no last chunk."""
    body = bytes(range(256)) * 4096
    server = origin(lambda seen: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + wire.chunked(body, 10_000))
    usher = start({"interceptors": rules({"truncate": "500KB"}, "response")})
    connection = client(usher)
    connection.send(request("GET", f"{server.url}/broken"))
    head = connection.read_head()
    assert head.get("transfer-encoding") == "chunked"
    assert connection.end() == "closed"
    got = b""
    rest = connection.buffer
    while rest:
        size, rest = rest.split(b"\r\n", 1)
        assert int(size, 16) > 0
        got, rest = got + rest[:int(size, 16)], rest[int(size, 16) + 2:]
    assert got == body[:500_000]
    assert usher.said("/broken", "interceptor", "cut off after 500000 bytes")


@pytest.mark.alone
def test_a_close_that_comes_late(start, origin, client):
    for fields, body, told in [
            (b"Content-Length: 5\r\n", b"whole", b"whole"),
            (b"Transfer-Encoding: chunked\r\n", b"5\r\nwhole\r\n0\r\n\r\n", b"5\r\nwhole\r\n")]:
        server = origin(lambda seen: b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n" + body)
        usher = start({"interceptors": rules({"slow_close": "700ms"}, "response")})
        connection = client(usher)
        began = time.monotonic()
        connection.send(request("GET", f"{server.url}/broken"))
        head = connection.read_head()
        assert head.get("connection") == "close"
        assert connection.read(len(told)) == told
        assert time.monotonic() - began < 0.6
        rest = connection.read_rest()
        assert 0.7 <= time.monotonic() - began < 2 and told + rest == body


def test_a_client_that_still_sends(start, origin, client):
    """It is not reset for what it sends: the end is told, and what comes is thrown away."""
    server = origin()
    usher = start({"interceptors": rules("empty")})
    connection = client(usher)
    connection.send(f"POST {server.url}/broken HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    assert connection.is_at_end()
    connection.send(b"x" * 10_000)
    assert not server.requests


def test_many_at_once(start, origin):
    """Nobody else's answers are touched."""
    server = origin()
    usher = start({"interceptors": rules("reset")})
    failures = []

    def ask(number):
        for _ in range(20):
            with Connection(("127.0.0.1", usher.port)) as connection:
                connection.send(request("GET", f"{server.url}/good") + request("GET", f"{server.url}/broken"))
                if connection.read_response().body != b"ok" or connection.end() != "reset":
                    failures.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
