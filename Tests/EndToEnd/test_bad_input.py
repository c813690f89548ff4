"""Malformed messages: refused with the reason, never repaired, and never the end of the proxy."""

import random
import threading

import pytest

import wire
from wire import Connection, Origin, request

GET = b"GET http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n"
POST = b"POST http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n"

# name, the bytes, the status, a word of the reason
MALFORMED = [
    ("both framings", POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "together"),
    ("both framings, other order", POST + b"transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n", 400, "together"),
    ("two lengths", POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, "Content-Length"),
    ("the same length twice", POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400, "Content-Length"),
    ("a list of lengths", POST + b"Content-Length: 3, 3\r\n\r\nabc", 400, "Content-Length"),
    ("a signed length", POST + b"Content-Length: +3\r\n\r\nabc", 400, "Content-Length"),
    ("a negative length", POST + b"Content-Length: -3\r\n\r\n", 400, "Content-Length"),
    ("an enormous length", POST + b"Content-Length: 99999999999999999999\r\n\r\n", 400, "Content-Length"),
    ("an unknown coding", POST + b"Transfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding"),
    ("two codings", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "Transfer-Encoding"),
    ("chunked twice", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Transfer"),
    ("chunked in HTTP/1.0", POST.replace(b"/1.1", b"/1.0") + b"Transfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"),
    ("folding", GET + b"X-A: b\r\n c\r\n\r\n", 400, "folded"),
    ("folding of the first field", GET.replace(b"Host", b" Host") + b"\r\n", 400, "folded"),
    ("a bare LF in the head", GET + b"X-A: b\nX-B: c\r\n\r\n", 400, "LF"),
    ("a bare LF after the request line", GET.replace(b"1.1\r\n", b"1.1\n") + b"\r\n", 400, "LF"),
    ("a bare CR", GET + b"X-A: b\rX-B: c\r\n\r\n", 400, "CR"),
    ("NUL in a value", GET + b"X-A: b\0c\r\n\r\n", 400, "control"),
    ("NUL in a name", GET + b"X\0A: b\r\n\r\n", 400, "control"),
    ("NUL in the target", GET.replace(b"/ HTTP", b"/\0 HTTP") + b"\r\n", 400, "request line"),
    ("a space before the colon", GET + b"X-A : b\r\n\r\n", 400, "colon"),
    ("a tab before the colon", GET + b"X-A\t: b\r\n\r\n", 400, "colon"),
    ("an empty name", GET + b": b\r\n\r\n", 400, "name"),
    ("a line without a colon", GET + b"X-A\r\n\r\n", 400, "name"),
    ("a name with a parenthesis", GET + b"X(A): b\r\n\r\n", 400, "name"),
    ("no Host", b"GET http://ORIGIN/ HTTP/1.1\r\n\r\n", 400, "Host"),
    ("two Hosts", GET + b"Host: ORIGIN\r\n\r\n", 400, "Host"),
    ("a Host with a path", b"GET http://ORIGIN/ HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "Host"),
    ("a Host list", b"GET http://ORIGIN/ HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "Host"),
    ("origin form without Host", b"GET / HTTP/1.1\r\n\r\n", 400, "Host"),
    ("an unknown version", GET.replace(b"/1.1", b"/1.7") + b"\r\n", 505, "version"),
    ("what is nearly HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", 505, "version"),
    ("no version", b"GET http://ORIGIN/\r\n\r\n", 400, "request line"),
    ("two spaces", GET.replace(b"GET ", b"GET  ") + b"\r\n", 400, "request line"),
    ("a method that is no token", GET.replace(b"GET", b"G[T") + b"\r\n", 400, "method"),
    ("user information", GET.replace(b"http://", b"http://user:secret@") + b"\r\n", 400, "user name"),
    ("another scheme", GET.replace(b"http://", b"ftp://") + b"\r\n", 400, "scheme"),
    ("a fragment", GET.replace(b"/ HTTP", b"/a#b HTTP") + b"\r\n", 400, "character"),
    ("a port out of range", b"GET http://h:99999/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "port"),
    ("a bracket left open", b"GET http://[::1/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "host"),
    ("TLS on the plain port", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "request line"),
    ("a long target", GET.replace(b"/ HTTP", b"/" + b"a" * 20000 + b" HTTP") + b"\r\n", 414, "limits.url"),
    ("a large head", GET + b"X-A: " + b"a" * 40000 + b"\r\n\r\n", 431, "limits.header"),
    ("many fields", GET + b"X-A: b\r\n" * 200 + b"\r\n", 431, "limits.header_fields"),
]

CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BAD_CHUNKS = [
    ("no number", b"x\r\n"), ("a sign", b"-1\r\n"), ("a prefix", b"0x5\r\nhello\r\n"), ("a space", b"5 \r\nhello\r\n"),
    ("an overflow", b"fffffffffffffffff\r\n"), ("no size", b"\r\nhello"), ("a bare LF", b"5\nhello\r\n"),
    ("too much in a chunk", b"5\r\nhello!\r\n0\r\n\r\n"), ("a bare CR behind a chunk", b"5\r\nhello\rx"),
    ("a bad extension", b"5; a b\r\nhello\r\n"), ("a folded trailer", b"0\r\nA: b\r\n c\r\n\r\n"),
    ("a trailer with a bare LF", b"0\r\nA: b\n\r\n"),
]


def check_refused(client, status, word):
    answer = client.read_response()
    assert answer.status == status, answer.body
    assert word.lower() in answer.body.decode().lower()
    assert answer.get("proxy-status").startswith("usher; error=http_request_error; details=")
    assert word.lower() in answer.get("proxy-status").lower()
    assert answer.get("usher-flow")
    assert answer.get("connection") == "close"
    assert client.is_at_end()


@pytest.mark.parametrize("data, status, word", [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_a_malformed_request_is_refused(connect, origin, data, status, word):
    server = origin()
    client = connect()
    # what follows on the same connection must never be taken for a request
    client.send(data.replace(b"ORIGIN", server.authority.encode()) + request("GET", f"{server.url}/smuggled"))
    check_refused(client, status, word)
    assert not server.requests
    assert connect().exchange(request("GET", f"{server.url}/next")).status == 200
    assert [seen.target for seen in server.requests] == ["/next"]


@pytest.mark.parametrize("data", [case[1] for case in BAD_CHUNKS], ids=[case[0] for case in BAD_CHUNKS])
def test_a_malformed_chunk_ends_the_request(connect, origin, data):
    """The head may have gone to the origin; what it never sees is a complete request, nor the one behind."""
    complete = []

    def serve(connection):
        complete.append(connection.read_request())
        connection.send(wire.response())

    server = origin(Origin(serve))
    client = connect()
    client.send(CHUNKED.replace(b"ORIGIN", server.authority.encode()) + data + request("GET", f"{server.url}/smuggled"))
    answer = client.read_response()
    assert answer.status == 400
    assert "http_request_error" in answer.get("proxy-status")
    assert client.is_at_end()
    assert not complete


def test_a_request_in_single_bytes_is_a_request(connect, origin):
    server = origin()
    client = connect()
    for byte in request("POST", f"{server.url}/slow", [("Transfer-Encoding", "chunked")], b"3\r\nabc\r\n0\r\n\r\n"):
        client.send(bytes([byte]))
    assert client.read_response().status == 200
    assert server.requests[0].body == b"abc"


BAD_ANSWERS = [
    ("no status line", b"hello\r\n\r\n"), ("a bad status", b"HTTP/1.1 2x0 OK\r\n\r\n"),
    ("both framings", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    ("a bare LF", b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"),
    ("folding", b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"), ("a huge head", b"HTTP/1.1 200 OK\r\nA: " + b"b" * 40000),
    ("an unknown coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
]


@pytest.mark.parametrize("data", [case[1] for case in BAD_ANSWERS], ids=[case[0] for case in BAD_ANSWERS])
def test_a_malformed_answer_becomes_502(connect, origin, data):
    def serve(connection):
        connection.read_request()
        connection.send(data)
        connection.read_rest()

    server = origin(Origin(serve))
    answer = connect().exchange(request("GET", f"{server.url}/"))
    assert answer.status == 502
    assert "error=http_protocol_error" in answer.get("proxy-status")


def test_an_origin_that_hangs_up_becomes_502(connect, origin):
    server = origin(Origin(lambda connection: connection.read_request()))
    answer = connect().exchange(request("GET", f"{server.url}/"))
    assert answer.status == 502
    assert "error=connection_terminated" in answer.get("proxy-status")


@pytest.mark.parametrize("framing, piece", [
    (("Content-Length", "8000000"), bytes(80_000)), (("Transfer-Encoding", "chunked"), b"13880\r\n" + bytes(80_000) + b"\r\n"),
], ids=["length", "chunked"])
def test_a_body_that_is_too_large_is_read_to_its_end(start, origin, framing, piece):
    """Closed over what still comes, the connection would end in a reset, and the client never see the answer."""
    server = origin()
    usher = start({"limits": {"body": "100B"}})
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("POST", server.url, [framing]))
        for _ in range(100):
            client.send(piece)
        answer = client.read_response()
        assert answer.status == 413 and "limits.body" in answer.body.decode()
        client.half_close()
        assert client.end() == "closed"


def test_an_interim_answer_without_end_is_cut(start, origin):
    """An origin that sends 1xx for ever must not hold the exchange for ever; how many there may be is another limit."""
    def serve(connection):
        connection.read_request()
        while True:
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            threading.Event().wait(0.02)

    server = origin(Origin(serve))
    usher = start({"timeouts": {"response": "300ms"}})
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        # the client sees many of them, and then what became of it
        assert client.read_head().status == 103
        answer = client.read_response()
        assert answer.status == 504 and "timeouts.response" in answer.body.decode()


def test_noise_does_no_harm(plain_usher, connect, origin):
    """A thousand connections of bytes that are nearly HTTP."""
    server = origin()
    source = random.Random(9110)
    ends, answered = [], set()
    good = request("POST", f"{server.url}/", [("Transfer-Encoding", "chunked")], b"5\r\nhello\r\n0\r\n\r\n")
    for _ in range(1000):
        data = bytearray(good)
        for _ in range(source.randrange(1, 6)):
            place = source.randrange(len(data))
            data[place:place + source.randrange(3)] = source.choice(
                [b"", b"\r", b"\n", b"\0", b" ", b":", b"\r\n", b"\xff", bytes([source.randrange(256)])])
        with Connection(("127.0.0.1", plain_usher.port)) as client:
            if source.random() < 0.5:
                client.send(bytes(data))
                client.reset()
                continue
            try:
                client.send(bytes(data))
                client.half_close()
            except OSError:
                # refused before all of it was sent
                pass
            end = client.end()
            ends.append(end)
            # an answer, or an end; and what is answered is answered in HTTP
            if client.buffer:
                answer = client.read_response("POST")
                assert answer.status in (200, 400, 403, 405, 408, 411, 413, 414, 417, 431, 501, 502, 505), (
                    data, answer.line)
                answered.add(answer.status)
    # half of them waited for the end, and none in vain
    assert len(ends) > 400 and {200, 400} <= answered
    assert connect().exchange(request("GET", f"{server.url}/")).status == 200
