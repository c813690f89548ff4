"""CONNECT: bytes that nobody reads, and plain HTTP that is treated as HTTP."""

import hashlib
import os
import socket
import threading

import pytest

import programs
import wire
from wire import Connection, Origin, request, response


def tunnel(client, authority, first=b""):
    """Opens a tunnel; what is sent along with the request goes in the same write."""
    client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode() + first)
    answer = client.read_head()
    assert 200 <= answer.status < 300, answer.head
    assert answer.get("content-length") is None and answer.get("transfer-encoding") is None
    return client


# the first bytes of TLS and of a binary protocol: nothing that HTTP could begin with
FIRST = [b"\x16\x03\x01\x02\x00\x01\x00", b"\x00\x01\x02\xff"]


@pytest.mark.parametrize("first", FIRST, ids=["tls", "binary"])
@pytest.mark.parametrize("with_request", [False, True], ids=["after 200", "with CONNECT"])
def test_bytes_go_both_ways_untouched(connect, origin, first, with_request):
    sent = os.urandom(3 << 20)
    answer = os.urandom(2 << 20)
    got = []

    def serve(connection):
        got.append(connection.read(len(first) + len(sent)))
        connection.send(answer)
        assert connection.is_at_end()

    server = origin(Origin(serve))
    client = tunnel(connect(), server.authority, first if with_request else b"")
    if not with_request:
        client.send(first)
    client.send(sent)
    assert hashlib.sha256(client.read(len(answer))).digest() == hashlib.sha256(answer).digest()
    assert got[0] == first + sent


def test_both_directions_at_once(connect, origin):
    """A big echo: neither side may stop the other for good."""
    data = b"\x00" + os.urandom(8 << 20)

    def echo(connection):
        while piece := connection.socket.recv(65536):
            connection.send(piece)

    server = origin(Origin(echo))
    client = tunnel(connect(), server.authority)
    sender = threading.Thread(target=client.send, args=(data,), daemon=True)
    sender.start()
    assert client.read(len(data)) == data
    sender.join(wire.TIMEOUT)


def test_half_close_travels_to_the_origin(connect, origin):
    def serve(connection):
        count = len(connection.read_rest())
        connection.send(b"\x00counted %d" % count)

    server = origin(Origin(serve))
    client = tunnel(connect(), server.authority)
    client.send(b"\x00" * 1000)
    client.half_close()
    assert client.read_rest() == b"\x00counted 1000"


def test_half_close_travels_to_the_client(connect, origin):
    after = []

    def serve(connection):
        connection.read(1)
        connection.send(b"\x01bye")
        connection.half_close()
        after.append(connection.read_rest())

    server = origin(Origin(serve))
    client = tunnel(connect(), server.authority, b"\x00")
    assert client.read_rest() == b"\x01bye"
    client.send(b"still here")
    client.half_close()
    programs.eventually(lambda: after, "the origin has seen the end")
    assert after[0] == b"still here"


def test_a_server_that_speaks_first_is_heard(connect, origin):
    def serve(connection):
        connection.send(b"220 mail.example ready\r\n")
        assert connection.read_until(b"\r\n") == b"EHLO client\r\n"
        connection.send(b"250 hello\r\n")

    server = origin(Origin(serve))
    client = tunnel(connect(), server.authority)
    assert client.read_until(b"\r\n") == b"220 mail.example ready\r\n"
    client.send(b"EHLO client\r\n")
    assert client.read_until(b"\r\n") == b"250 hello\r\n"


def test_a_tunnel_to_an_ipv6_origin(connect, origin):
    server = origin(Origin(lambda connection: connection.send(connection.read(4)), host="::1"))
    client = tunnel(connect(), server.authority, b"\x00abc")
    assert client.read(4) == b"\x00abc"


def test_a_tunnel_is_logged_when_it_ends(plain_usher, connect, origin):
    server = origin(Origin(lambda connection: connection.send(connection.read(4) * 2)))
    client = tunnel(connect(), server.authority, b"\x00abc")
    client.read(8)
    client.close()
    access = plain_usher.flow(server.authority).access
    assert access["method"] == "CONNECT"
    assert access["status"] == 200
    assert access["response_bytes"] >= 8


# plain HTTP inside


def test_plain_http_inside_is_treated_as_http(connect, origin):
    server = origin(lambda seen: response(body=seen.target.encode() + seen.body))
    client = tunnel(connect(), server.authority)
    for number in range(3):
        answer = client.exchange(
            f"POST /inside/{number} HTTP/1.1\r\nHost: {server.authority}\r\nConnection: keep-alive\r\n"
            "Keep-Alive: 5\r\nContent-Length: 4\r\n\r\nbody")
        assert answer.body == b"/inside/%dbody" % number
        assert "usher" in answer.get("via")
    assert len(server.requests) == 3
    for seen in server.requests:
        assert "usher" in seen.get("via")
        assert seen.get("keep-alive") is None
        assert seen.get("host") == server.authority


def test_each_request_inside_has_its_own_access_line(plain_usher, connect, origin):
    server = origin()
    client = tunnel(connect(), server.authority)
    client.exchange(f"GET /line HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
    assert plain_usher.flow("/line").access["url"] == f"http://{server.authority}/line"


def test_interceptors_see_what_is_inside(start, origin):
    server = origin()
    usher = start({"interceptors": [{"name": "mark", "request": [{"set_header": {"X-Mark": "1"}}]}]})
    with Connection(("127.0.0.1", usher.port)) as client:
        tunnel(client, server.authority)
        client.exchange(f"GET / HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
    assert server.requests[0].get("x-mark") == "1"


def test_a_bad_request_inside_is_refused(connect, origin):
    server = origin()
    client = tunnel(connect(), server.authority)
    client.send(
        f"POST / HTTP/1.1\r\nHost: {server.authority}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")
    answer = client.read_response()
    assert answer.status == 400
    assert "http_request_error" in answer.get("proxy-status")
    assert client.is_at_end()
    assert not server.requests


# no tunnel


@pytest.mark.parametrize("authority, error", [
    ("nosuch.invalid:80", "dns_error"), ("127.0.0.1:{closed}", "connection_refused"),
])
def test_a_tunnel_that_cannot_be_opened_says_why(connect, authority, error):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    client = connect()
    authority = authority.format(closed=closed)
    answer = client.exchange(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
    assert answer.status == 502
    assert f"error={error}" in answer.get("proxy-status")


@pytest.mark.parametrize("line", ["CONNECT /path", "CONNECT host", "CONNECT http://host:80/", "CONNECT host:0"])
def test_a_malformed_tunnel_is_refused(connect, line):
    client = connect()
    assert client.exchange(f"{line} HTTP/1.1\r\nHost: host:80\r\n\r\n").status == 400
    assert client.is_at_end()


def test_request_after_the_tunnel_of_another(connect, origin):
    """A tunnel that ended leaves nothing in the pool that a later request could get."""
    server = origin()
    client = tunnel(connect(), server.authority, b"\x00garbage")
    client.close()
    other = connect()
    assert other.exchange(request("GET", f"{server.url}/")).status == 200
