"""Requests and responses through the proxy: forms, fields, connections, bodies."""

import re
import socket
import threading
import time

import pytest

import programs
import wire
from wire import Connection, Origin, chunked, request, response


def test_absolute_form_reaches_the_origin_in_origin_form(connect, origin):
    server = origin()
    answer = connect().exchange(request("GET", f"{server.url}/a%20b/../c?d=e&f", [("Accept", "*/*"), ("X-A", "1")]))
    assert (answer.status, answer.body) == (200, b"ok")
    seen = server.requests[0]
    assert seen.line == "GET /a%20b/../c?d=e&f HTTP/1.1"
    assert seen.all("host") == [server.authority]
    assert seen.get("x-a") == "1"


def test_the_target_decides_not_the_host_field(connect, origin):
    server = origin()
    assert connect().exchange(request("GET", f"{server.url}/", [("Host", "other.example")])).status == 200
    assert server.requests[0].all("host") == [server.authority]


def test_url_without_a_path(connect, origin):
    server = origin()
    client = connect()
    assert client.exchange(request("GET", server.url)).status == 200
    assert client.exchange(request("GET", server.url + "?q")).status == 200
    assert client.exchange(request("OPTIONS", server.url)).status == 200
    # RFC 9112 §3.2.4: OPTIONS for the server as a whole
    assert [seen.target for seen in server.requests] == ["/", "/?q", "*"]


def test_hop_by_hop_fields_stay_on_their_connection(connect, origin):
    server = origin(lambda _: response(fields=[
        ("Connection", "keep-alive, X-Hop"), ("Keep-Alive", "timeout=5"), ("X-Hop", "1"), ("X-Stays", "2"),
        ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Via", "1.0 inner")]))
    answer = connect().exchange(request("GET", f"{server.url}/", [
        ("Connection", "keep-alive, x-drop, X-Drop-Too"), ("X-Drop", "1"), ("x-drop-too", "2"), ("Keep-Alive", "300"),
        ("Proxy-Connection", "keep-alive"), ("TE", "trailers"), ("Proxy-Authorization", "Basic YTpi"),
        ("Upgrade", "h2c"), ("X-Stays", "3"), ("Via", "1.1 outer")]))
    seen = server.requests[0]
    for name in ("x-drop", "x-drop-too", "keep-alive", "proxy-connection", "te", "proxy-authorization", "upgrade"):
        assert seen.get(name) is None, name
    assert "x-drop" not in (seen.get("connection") or "").lower()
    assert seen.get("x-stays") == "3"
    assert answer.get("x-hop") is None
    assert answer.get("keep-alive") is None
    assert answer.get("x-stays") == "2"
    assert answer.all("set-cookie") == ["a=1", "b=2"]
    # RFC 9110 §7.6.3: added behind those that are there, in both directions
    # under a name that tells this process from others of its kind
    assert re.fullmatch("1.1 outer, 1.1 usher-[0-9a-f]+", ", ".join(seen.all("via")))
    assert re.fullmatch("1.0 inner, 1.1 usher-[0-9a-f]+", ", ".join(answer.all("via")))


def test_field_bytes_that_are_not_ascii_survive(connect, origin):
    server = origin(lambda seen: response(fields=[("X-Back", seen.get("x-latin"))]))
    answer = connect().exchange(request("GET", f"{server.url}/", [("X-Latin", "caf\xe9 \xff")]))
    assert server.requests[0].get("x-latin") == "caf\xe9 \xff"
    assert answer.get("x-back") == "caf\xe9 \xff"


def test_a_client_connection_carries_many_requests(connect, origin):
    server = origin(lambda seen: response(body=seen.target.encode()))
    client = connect()
    for number in range(5):
        assert client.exchange(request("GET", f"{server.url}/{number}")).body == b"/%d" % number


def test_pipelined_requests_are_answered_in_order(connect, origin):
    server = origin(lambda seen: response(body=seen.target.encode() + seen.body))
    client = connect()
    client.send(
        request("GET", f"{server.url}/1") + request("POST", f"{server.url}/2", body=b"body")
        + request("GET", f"{server.url}/3"))
    assert [client.read_response().body for _ in range(3)] == [b"/1", b"/2body", b"/3"]


@pytest.mark.parametrize("version, fields, stays", [
    ("1.1", [], True), ("1.1", [("Connection", "close")], False), ("1.0", [], False),
    ("1.0", [("Connection", "keep-alive")], True),
])
def test_keep_alive_is_what_the_client_asks_for(connect, origin, version, fields, stays):
    server = origin()
    client = connect()
    assert client.exchange(request("GET", f"{server.url}/", fields, version=version)).body == b"ok"
    if stays:
        assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    else:
        assert client.is_at_end()


def test_origin_connections_are_pooled_across_clients(connect, origin):
    server = origin()
    for _ in range(3):
        client = connect()
        for _ in range(3):
            assert client.exchange(request("GET", f"{server.url}/")).status == 200
        client.close()
    assert len(server.requests) == 9
    assert len(server.accepted) == 1


def test_a_pooled_connection_that_died_is_replaced(connect, origin):
    def one_answer_each(connection):
        connection.read_request()
        connection.send(response(body=b"ok"))  # promises to stay, then leaves

    server = origin(Origin(one_answer_each))
    client = connect()
    for _ in range(4):
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    assert len(server.accepted) == 4


def test_an_origin_that_says_close_is_not_reused(connect, origin):
    server = origin(lambda _: response(fields=[("Connection", "close")], body=b"ok"))
    client = connect()
    for _ in range(2):
        assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    assert len(server.accepted) == 2


BODY = bytes(range(256)) * 4096 + b"end"


@pytest.mark.parametrize("body", [b"", b"x", BODY[:65536], BODY], ids=len)
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_request_bodies_arrive_byte_for_byte(connect, origin, body, coding):
    server = origin(lambda seen: response(body=str(len(seen.body)).encode()))
    if coding == "chunked":
        data = request("POST", f"{server.url}/", [("Transfer-Encoding", "chunked")], chunked(body, 1000))
    else:
        data = request("POST", f"{server.url}/", [("Content-Length", str(len(body)))], body)
    client = connect()
    assert client.exchange(data).body == str(len(body)).encode()
    assert server.requests[0].body == body
    assert client.exchange(request("GET", f"{server.url}/")).status == 200


@pytest.mark.parametrize("path, count", [
    ("bytes/0", 0), ("bytes/1", 1), ("bytes/3000000", 3_000_000), ("chunked/0/1", 0), ("chunked/10/1", 10),
    ("chunked/3000000/4096", 3_000_000), ("chunked/3000000/1000000", 3_000_000), ("close", 1000),
])
def test_response_bodies_arrive_byte_for_byte(connect, sandbox, path, count):
    client = connect()
    answer = client.exchange(request("GET", f"{sandbox.direct}/plain/{path}"))
    assert answer.status == 200
    assert answer.body == (bytes(range(251)) * (count // 251 + 1))[:count]


@pytest.mark.parametrize("method, status", [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_answers_without_a_body_end_at_their_head(connect, origin, method, status):
    length = b"" if status == 204 else b"Content-Length: 5\r\n"
    server = origin(lambda _: b"HTTP/1.1 %d X\r\n%s\r\n" % (status, length))
    client = connect()
    for _ in range(2):
        assert client.exchange(request(method, f"{server.url}/"), method).status == status
    assert len(server.accepted) == 1


def test_an_old_client_gets_no_chunked_body(connect, sandbox):
    client = connect()
    answer = client.exchange(request("GET", f"{sandbox.direct}/plain/chunked/5000/100", version="1.0"))
    assert answer.get("transfer-encoding") is None
    assert len(answer.body) == 5000
    assert client.is_at_end()


def test_a_client_that_expects_100_gets_it_before_it_sends(connect, origin):
    def serve(connection):
        connection.read_head()
        connection.send("HTTP/1.1 100 Continue\r\n\r\n")
        connection.send(response(body=connection.read(5)))

    server = origin(Origin(serve))
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), ("Content-Length", "5")]))
    assert client.read_head().status == 100
    client.send("hello")
    assert client.read_response().body == b"hello"


def test_trailing_answer_parts_come_as_they_are_made(connect, origin):
    """A stream of events must not wait for its end."""
    more = threading.Event()

    def serve(connection):
        connection.read_request()
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        assert more.wait(wire.TIMEOUT)
        connection.send("6\r\nsecond\r\n0\r\n\r\n")

    server = origin(Origin(serve))
    client = connect()
    client.send(request("GET", f"{server.url}/"))
    client.read_head()
    assert client.read_until(b"first").endswith(b"first")
    more.set()
    assert client.read_until(b"0\r\n\r\n").endswith(b"second\r\n0\r\n\r\n")


def _most_of_a_socket(direction):
    with open(f"/proc/sys/net/ipv4/tcp_{direction}mem") as limits:
        return int(limits.read().split()[2])


# what the kernel lets sockets hold: what the proxy receives, what it and the sender send, and what the proxy may add to it
HELD = _most_of_a_socket("r") + 2 * _most_of_a_socket("w") + (4 << 20)
TOTAL = 2 * HELD


def _holds_little(target):
    """The kernel enlarges a receiver's buffer by itself, unless it was told a size."""
    target.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)


def _send_counted(target, sent):
    piece = bytes(1 << 16)
    target.settimeout(wire.TIMEOUT * 3)
    while sent[0] < TOTAL:
        target.sendall(piece)
        sent[0] += len(piece)


def _settled(sent):
    """The count once it has stopped growing."""
    last, since = -1, time.monotonic()

    def still():
        nonlocal last, since
        if sent[0] != last:
            last, since = sent[0], time.monotonic()
        return time.monotonic() - since > 0.5

    programs.eventually(still, "the sender is held back", 30)
    return sent[0]


@pytest.mark.alone
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_a_slow_reader_holds_the_origin_back(plain_usher, connect, origin, coding):
    sent = [0]

    def serve(connection):
        connection.read_request()
        if coding == "length":
            connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {TOTAL}\r\n\r\n")
        else:
            connection.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{TOTAL:x}\r\n")
        _send_counted(connection.socket, sent)
        if coding == "chunked":
            connection.send("\r\n0\r\n\r\n")

    server = origin(Origin(serve))
    before = plain_usher.resident()
    client = connect()
    _holds_little(client.socket)
    client.send(request("GET", f"{server.url}/"))
    client.read_head()
    held = _settled(sent)
    assert plain_usher.resident() - before < 8 << 20
    assert held < HELD
    received = len(client.buffer)
    client.buffer = b""
    if coding == "length":
        while received < TOTAL:
            piece = client.socket.recv(1 << 20)
            assert piece, f"closed after {received} bytes"
            received += len(piece)
        assert received == TOTAL
    else:
        tail = b""
        while not tail.endswith(b"\r\n0\r\n\r\n"):
            piece = client.socket.recv(1 << 20)
            assert piece, f"closed after {received} bytes"
            received += len(piece)
            tail = (tail + piece)[-7:]
        assert received >= TOTAL
    assert plain_usher.resident() - before < 8 << 20


@pytest.mark.alone
def test_a_slow_origin_holds_the_client_back(plain_usher, connect, origin):
    go = threading.Event()
    received = [0]

    def serve(connection):
        connection.read_head()
        received[0] = len(connection.buffer)
        assert go.wait(60)
        while received[0] < TOTAL:
            received[0] += len(connection.socket.recv(1 << 20))
        connection.send(response(body=b"all"))

    server = origin(Origin(serve))
    _holds_little(server.listener)
    before = plain_usher.resident()
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Content-Length", str(TOTAL))]))
    sent = [0]
    sender = threading.Thread(target=_send_counted, args=(client.socket, sent), daemon=True)
    sender.start()
    held = _settled(sent)
    assert plain_usher.resident() - before < 8 << 20
    assert held < HELD
    go.set()
    sender.join(60)
    assert client.read_response().body == b"all"
    assert received[0] == TOTAL


def test_an_origin_that_answers_early_is_heard(connect, origin):
    """413 before the body is in: the answer must come through although the upload cannot end."""
    def serve(connection):
        connection.read_head()
        connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        connection.half_close()
        connection.read_rest()

    server = origin(Origin(serve))
    client = connect()
    client.send(request("POST", f"{server.url}/", [("Content-Length", "1000000")]))
    client.send(b"x" * 1000)
    assert client.read_head().status == 413


def test_an_answer_that_is_cut_off_is_not_passed_as_whole(connect, origin):
    def serve(connection):
        connection.read_request()
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")

    server = origin(Origin(serve))
    client = connect()
    client.send(request("GET", f"{server.url}/"))
    assert client.read_head().get("content-length") == "1000"
    assert client.end() == "reset"
    assert b"only this".startswith(client.buffer)


def test_ipv6_origin_and_listener(start, origin):
    server = origin(host="::1")
    usher = start(listen=("127.0.0.1:0", "[::1]:0"))
    for number, host in enumerate(("127.0.0.1", "::1")):
        with Connection((host, usher.listeners[number])) as client:
            assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    assert server.requests[0].get("host") == server.authority


def test_a_name_under_localhost_is_this_machine(connect, sandbox):
    assert connect().exchange(request("GET", f"{sandbox.plain}/echo")).status == 200


def test_two_workers_serve_many_clients(start, origin, through):
    server = origin(lambda seen: response(body=seen.target.encode()))
    usher = start({"workers": 2})
    wrong = []

    def run(name):
        client = through(usher)
        for number in range(20):
            path = f"/{name}/{number}"
            if client.get(server.url + path, timeout=10).text != path:
                wrong.append(path)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert len(server.requests) == 320


def test_the_access_log_tells_what_went_through(plain_usher, connect, origin):
    server = origin(lambda _: response(201, body=b"12345"))
    connect().exchange(request("POST", f"{server.url}/logged?a=b", body=b"123"))
    access = plain_usher.flow("/logged").access
    assert access["method"] == "POST"
    assert access["url"] == f"{server.url}/logged?a=REDACTED"
    assert access["status"] == 201
    assert access["request_bytes"] >= 3
    assert access["response_bytes"] >= 5
    assert access["attempts"] == 1
    assert access["ms"] >= 0
    assert access["client"].startswith("127.0.0.1")
    assert "proxy_error" not in access
    assert "action" not in access


def test_many_sockets_at_once(plain_usher, origin):
    """Two hundred clients that say nothing do not keep others from being served."""
    server = origin()
    idle = [socket.create_connection(("127.0.0.1", plain_usher.port), wire.TIMEOUT) for _ in range(200)]
    try:
        with Connection(("127.0.0.1", plain_usher.port)) as client:
            assert client.exchange(request("GET", f"{server.url}/")).status == 200
    finally:
        for quiet in idle:
            quiet.close()
