"""HTTP/2 frame by frame: what one stream does wrong, and what an origin says when it ends one."""

import base64
import contextlib
import hashlib
import threading

import pytest

import frames
import programs
import scrape
import wire


class Origin(wire.Origin):
    """Speaks HTTP/2 without TLS: `serve(peer)`, after the preface."""

    def __init__(self, serve, settings=b""):
        super().__init__(lambda connection: serve(frames.Peer(connection, server=True, settings=settings)))


@pytest.fixture
def new_origin(origin):
    return lambda serve, settings=b"": origin(Origin(serve, settings))


def knowing(start, server):
    return start({"http2": {"cleartext": [server.authority]}, "workers": 1})


def get(usher, server, path="/", method="GET"):
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(wire.request(method, f"{server.url}{path}"))


# a client's fault

# coded by Huffman it would be longer, so it stands in a head as it is
WRONG_PATH = "/~~~"
WRONG = {
    "shorter": [frames.data(1, b"12345", end=True)],
    "longer": [frames.data(1, b"123456789012345", end=True)],
    "shorter, with trailers": [frames.data(1, b"12345"), frames.headers(1, [("x-sum", "5")], end=True)],
    "longer in the second piece": [frames.data(1, b"12345"), frames.data(1, b"678901")],
}


def post(client, server, pieces, reached):
    client.send(frames.request(1, server.authority, WRONG_PATH, "POST", [("content-length", "10")], end=False))
    # the origin has begun to read it
    assert reached.wait(wire.TIMEOUT)
    client.send(*pieces, frames.request(3, server.authority, "/right"))


@pytest.mark.parametrize("wrong", WRONG)
def test_a_body_of_another_length_completes_no_request(start, origin, wrong):
    reached, done = threading.Event(), threading.Event()
    came = []

    def serve(connection):
        if connection.read_head().target == "/right":
            return connection.send(wire.response(body=b"right"))
        reached.set()
        connection.end()
        came.append(connection.buffer)
        done.set()

    server = origin(wire.Origin(serve))
    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    post(client, server, WRONG[wrong], reached)
    seen = {}
    while {1, 3} - set(seen):
        one = client.next()
        seen.setdefault(one.stream, one)
    assert seen[1].kind == frames.RESET and int.from_bytes(seen[1].payload, "big") == frames.PROTOCOL_ERROR
    # the other stream has its answer
    assert seen[3].kind == frames.HEADERS and frames.is_ok(seen[3])
    assert done.wait(wire.TIMEOUT) and len(came[0]) < 10


@pytest.mark.parametrize("name, why", [
    ("authorization", "a trailer is a field that may stand in the head alone (badTrailerField"), ("cookie", "(badTrailerField"),
    ("host", "(badTrailerField"), (":path", "(misplacedPseudoField"), ("X-Sum", "(upperCaseName")])
def test_the_record_says_what_is_wrong_with_trailers(start, origin, name, why):
    server = origin(lambda _: wire.response(body=b"ok"))
    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    client.send(
        frames.request(1, server.authority, "/sent", "POST", end=False), frames.data(1, b"12"),
        frames.headers(1, [(name, "x")], end=True))
    assert int.from_bytes(client.until(frames.RESET, 1).payload, "big") == frames.PROTOCOL_ERROR
    notes = [event["text"] for event in usher.flow("/sent").events if event["event"] == "note"]
    assert any(why in note for note in notes) and not any("cancelled" in note for note in notes)


@pytest.mark.parametrize("wrong", WRONG)
def test_nor_does_it_at_an_origin_that_speaks_http2(start, new_origin, wrong):
    ends = []
    reached, done = threading.Event(), threading.Event()

    def serve(peer):
        wrong_stream = None
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS and WRONG_PATH.encode() in came.payload:
                wrong_stream = came.stream
                reached.set()
            elif came.kind == frames.HEADERS and came.stream != wrong_stream:
                peer.send(frames.headers(came.stream, [(":status", "200")], end=True))
            if came.stream == wrong_stream and came.kind != frames.RESET and came.flags & frames.END_STREAM:
                ends.append(came)
            if came.stream == wrong_stream and came.kind == frames.RESET:
                done.set()

    server = new_origin(serve)
    usher = knowing(start, server)
    client = frames.prior_knowledge(usher)
    post(client, server, WRONG[wrong], reached)
    assert int.from_bytes(client.until(frames.RESET, 1).payload, "big") == frames.PROTOCOL_ERROR
    assert done.wait(wire.TIMEOUT) and ends == []


def test_a_request_that_waits_for_itself_ends_alone(start, origin):
    server = origin()
    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    itself = (0x80000001).to_bytes(4, "big") + b"\x10"
    client.send(frames.request(1, server.authority, WRONG_PATH, before=itself, flags=frames.PRIORITIZED))
    assert int.from_bytes(client.until(frames.RESET, 1).payload, "big") == frames.PROTOCOL_ERROR
    other = (0).to_bytes(4, "big") + b"\x10"
    client.send(frames.request(3, server.authority, "/right", before=other, flags=frames.PRIORITIZED))
    assert frames.is_ok(client.until(frames.HEADERS, 3))
    assert [asked.target for asked in server.requests] == ["/right"]


# what an origin says

ENDINGS = {
    "INTERNAL_ERROR": (lambda stream: frames.reset(stream, 2), "connection_terminated", "RST_STREAM: INTERNAL_ERROR"),
    "PROTOCOL_ERROR": (lambda stream: frames.reset(stream, 1), "http_protocol_error", "RST_STREAM: PROTOCOL_ERROR"),
    "unknown": (lambda stream: frames.reset(stream, 0x1F), "connection_terminated", "RST_STREAM: 0x1f"),
    "refused": (lambda stream: frames.reset(stream, 7), "connection_terminated", "REFUSED_STREAM"),
    "goaway": (lambda stream: frames.goaway(stream, 11), "connection_terminated", "GOAWAY: ENHANCE_YOUR_CALM"),
    "goaway at once": (lambda stream: frames.goaway(0, 0), "connection_terminated", "REFUSED_STREAM"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_says_what_the_origin_said(start, new_origin, ending):
    said, token, words = ENDINGS[ending]

    def serve(peer):
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS:
                peer.send(said(came.stream))
                if "goaway" in ending:
                    peer.connection.half_close()

    server = new_origin(serve)
    usher = knowing(start, server)
    answer = get(usher, server, method="POST")
    status = answer.get("proxy-status")
    assert answer.status == 502 and token in status and words in status, status
    assert usher.flow(f"{server.authority}/").access["proxy_error"] == token


def test_a_cut_answer_says_so_in_the_log(start, new_origin):
    def serve(peer):
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS:
                peer.send(
                    frames.headers(came.stream, [(":status", "200"), ("content-length", "10")]),
                    frames.data(came.stream, b"12345"), frames.reset(came.stream, 2))

    server = new_origin(serve)
    usher = knowing(start, server)
    with pytest.raises((EOFError, ConnectionResetError)):
        get(usher, server)
    usher.wait_for(lambda: any("RST_STREAM: INTERNAL_ERROR" in line for line in usher.lines), "the log says why")


# what a client may have, and what is counted


def test_a_clients_streams_count_over_all_its_connections(start, origin):
    came = threading.Semaphore(0)
    goes_on = threading.Event()

    def answer(_):
        came.release()
        assert goes_on.wait(wire.TIMEOUT)
        return wire.response(body=b"ok")

    server = origin(wire.Answering(answer))
    usher = start({"workers": 1, "limits": {"per_client": 3}, "http2": {"streams": 3}})
    clients = [frames.prior_knowledge(usher) for _ in range(2)]
    for client in clients:
        client.send(*(frames.request(stream, server.authority, f"/{stream}") for stream in (1, 3)))
        for _ in range(2):
            assert came.acquire(timeout=wire.TIMEOUT)
    # the first of each connection, and three more
    clients[0].send(frames.request(5, server.authority, "/5"))
    assert came.acquire(timeout=wire.TIMEOUT)
    clients[1].send(frames.request(5, server.authority, "/5"))
    refusal = clients[1].until(frames.DATA, 5)
    assert b"http2.streams" in refusal.payload
    goes_on.set()
    for client, streams in zip(clients, ((1, 3, 5), (1, 3))):
        ended = set()
        while set(streams) - ended:
            one = client.next()
            if one.kind == frames.DATA and one.flags & frames.END_STREAM:
                ended.add(one.stream)
    # what has ended has made room
    clients[1].send(*(frames.request(stream, server.authority, "/again") for stream in (7, 9, 11)))
    for _ in range(3):
        assert came.acquire(timeout=wire.TIMEOUT)


def test_trailers_behind_a_body_of_no_length_go_on(start, new_origin):
    def serve(peer):
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS:
                peer.send(
                    frames.headers(came.stream, [(":status", "200"), ("content-length", "0")]),
                    frames.headers(came.stream, [("x-sum", WRONG_PATH)], end=True))

    server = new_origin(serve)
    usher = knowing(start, server)
    client = frames.prior_knowledge(usher)
    client.send(frames.request(1, server.authority))
    assert frames.is_ok(client.until(frames.HEADERS, 1))
    trailers = client.until(frames.HEADERS, 1)
    assert trailers.flags & frames.END_STREAM and WRONG_PATH.encode() in trailers.payload
    answer = get(usher, server)
    assert (answer.status, answer.get("content-length"), answer.body) == (200, "0", b"")


def test_what_is_counted(start, new_origin, origin, state):
    refused = []

    def serve(peer):
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS and not refused:
                refused.append(came)
                peer.send(frames.reset(came.stream, frames.REFUSED))
            elif came.kind == frames.HEADERS and WRONG_PATH.encode() not in came.payload:
                peer.send(frames.headers(came.stream, [(":status", "200")], end=True))

    server = new_origin(serve)
    old = origin()
    usher = start({"http2": {"cleartext": [server.authority], "streams": 2}, "workers": 1}, state=state)
    # refused once, and sent again
    assert get(usher, server, "/refused").status == 200
    client = frames.prior_knowledge(usher)
    client.send(frames.request(1, old.authority, "/old"))
    client.until(frames.HEADERS, 1)
    client.send(frames.request(3, server.authority, "/new"))
    client.until(frames.HEADERS, 3)
    client.send(*(frames.request(stream, server.authority, WRONG_PATH) for stream in (5, 7, 9)))
    assert int.from_bytes(client.until(frames.RESET, 9).payload, "big") == frames.REFUSED

    def counted():
        figures = scrape.scrape(state)
        of = lambda name, **labels: figures.of(f"usher_{name}", **labels)  # noqa: E731
        return of("http2_streams_open", side="client") == of("http2_streams_open", side="origin") == 2 and of(
            "http2_streams_refused_total", side="client") == 1 and figures

    figures = programs.eventually(counted, "streams are counted")
    assert figures.of("usher_http2_connections_total", side="client") == 1
    assert figures.of("usher_http2_connections_total", side="origin") >= 1
    assert figures.of("usher_http2_streams_refused_total", side="origin") >= 1
    assert figures.of("usher_requests_by_protocol_total", side="client", protocol="http2") == 2
    assert figures.of("usher_requests_by_protocol_total", side="client", protocol="http1") == 1
    assert figures.of("usher_requests_by_protocol_total", side="origin", protocol="http1") == 1
    assert figures.of("usher_requests_by_protocol_total", side="origin", protocol="http2") == 2
    with contextlib.suppress(OSError):
        for _ in range(300):
            client.send(frames.frame(frames.PING, 0, 0, bytes(8)))
    while client.next() is not None:
        pass
    programs.eventually(
        lambda: scrape.scrape(state).of("usher_http2_floods_total", side="client") == 1, "a flood is counted")
    assert scrape.check(scrape.scrape(state).text) == ""


# WebSockets at origins that speak HTTP/2

# likewise
KEY = "+" * 22 + "=="
ACCEPT = base64.b64encode(hashlib.sha1(KEY.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
TAKES_UPGRADES = (8).to_bytes(2, "big") + (1).to_bytes(4, "big")


class Socket(wire.Origin):
    """Takes an extended CONNECT, says hello and sends back what comes."""

    def __init__(self, settings=TAKES_UPGRADES, status="200"):
        self.heads = []
        self.settings = settings
        self.status = status
        self.ended = threading.Event()
        super().__init__(self._serve)

    def _serve(self, connection):
        peer = frames.Peer(connection, server=True, settings=self.settings)
        # what there was no room for yet, and whose client says no more
        waiting, over = {}, set()
        while (came := peer.any()) is not None:
            if came.kind == frames.HEADERS and self.status == "200":
                self.heads.append(came.payload)
                peer.send(frames.headers(came.stream, [(":status", "200")]))
                waiting[came.stream] = b"hello "
            elif came.kind == frames.HEADERS:
                self.heads.append(came.payload)
                peer.send(frames.headers(came.stream, [(":status", self.status)], end=True))
            elif came.kind == frames.DATA:
                peer.send(*frames.grants(came))
                waiting[came.stream] += came.payload
                if came.flags & frames.END_STREAM:
                    over.add(came.stream)
            elif came.kind == frames.RESET:
                waiting.pop(came.stream, None)
                self.ended.set()
            for stream in list(waiting):
                waiting[stream] = waiting[stream][peer.fill(stream, waiting[stream]):]
                if stream in over and not waiting[stream]:
                    peer.send(frames.data(stream, b"", end=True))
                    del waiting[stream]
                    self.ended.set()


def upgrade(server, key=KEY):
    return (
        f"GET {server.url}/socket HTTP/1.1\r\nHost: {server.authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n")


def test_an_upgrade_becomes_a_stream(start, origin):
    server = origin(Socket())
    usher = knowing(start, server)
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(upgrade(server) + "early ")
        head = client.read_head()
        assert head.status == 101 and head.get("upgrade") == "websocket" and head.get("connection") == "upgrade"
        # HTTP/2 has no such proof, and clients of HTTP/1 insist
        assert head.get("sec-websocket-accept") == ACCEPT
        assert client.read(12) == b"hello early "
        client.send(b"x" * 300_000)
        assert client.read(300_000) == b"x" * 300_000
        client.half_close()
        assert client.is_at_end()
    assert server.ended.wait(wire.TIMEOUT)
    asked = server.heads[0]
    assert b"CONNECT" in asked and b"++++" not in asked
    access = usher.flow(f"{server.authority}/socket").access
    assert (access["status"], access["protocol"], access["origin_protocol"]) == (101, "HTTP/1.1", "HTTP/2")
    assert (access["request_bytes"], access["response_bytes"]) == (300_006, 300_012)


def test_it_goes_beside_others(start, origin):
    server = origin(Socket())
    usher = knowing(start, server)
    with wire.Connection(("127.0.0.1", usher.port)) as one, wire.Connection(("127.0.0.1", usher.port)) as other:
        for client in (one, other):
            client.send(upgrade(server))
            assert client.read_head().status == 101 and client.read(6) == b"hello "
        one.close()
        other.send(b"still here")
        assert other.read(10) == b"still here"
    assert len(server.accepted) == 1


def test_a_stream_becomes_a_stream(start, origin):
    server = origin(Socket())
    usher = knowing(start, server)
    client = frames.prior_knowledge(usher)
    pseudo = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", server.authority)]
    client.send(frames.headers(1, [*pseudo, (":path", "/socket"), ("sec-websocket-version", "13")]))
    assert frames.is_ok(client.until(frames.HEADERS, 1))
    came = b""
    client.send(frames.data(1, b"frames"))
    while came != b"hello frames":
        came += client.until(frames.DATA, 1).payload
    client.send(frames.data(1, b"", end=True))
    assert client.until(frames.DATA, 1).flags & frames.END_STREAM
    assert server.ended.wait(wire.TIMEOUT)


def test_an_origin_that_goes_ends_the_tunnel(start, new_origin):
    def serve(peer):
        while (came := peer.next()) is not None:
            if came.kind == frames.HEADERS:
                peer.send(frames.headers(came.stream, [(":status", "200")]), frames.data(came.stream, b"hello "))
            elif came.kind == frames.DATA:
                return peer.send(frames.reset(came.stream, 2))

    server = new_origin(serve, TAKES_UPGRADES)
    usher = knowing(start, server)
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(upgrade(server))
        assert client.read_head().status == 101 and client.read(6) == b"hello "
        client.send(b"x")
        assert client.end() in ("closed", "reset")


@pytest.mark.parametrize("takes", [True, False])
def test_where_the_origin_refuses_it(start, origin, takes):
    server = origin(Socket(status="403") if takes else Socket(settings=b""))
    usher = knowing(start, server)
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(upgrade(server))
        answer = client.read_response()
    if takes:
        assert answer.status == 403
    else:
        assert answer.status == 502 and "took no Upgrade" in answer.get("proxy-status") and server.heads == []


def test_a_client_that_goes_ends_the_stream(start, origin):
    server = origin(Socket())
    usher = knowing(start, server)
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(upgrade(server))
        assert client.read_head().status == 101
        client.reset()
        assert server.ended.wait(wire.TIMEOUT)
