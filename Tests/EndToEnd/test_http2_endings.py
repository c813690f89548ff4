"""HTTP/2 where somebody ends, stalls or goes in the middle: what others have goes on, and nothing that was cut looks whole."""

import collections
import select
import socket
import threading

import pytest

import frames
import programs
import wire

LINGERING = 0.05


class Quiet(wire.Origin):
    """Takes `first`, and then nothing for as long as it is not let."""

    def __init__(self, first=2):
        self.goes_on, self.cut, self.began = threading.Event(), threading.Event(), threading.Event()
        self.first = first
        self.got = collections.Counter()
        super().__init__(self._serve)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    def _serve(self, connection):
        connection.read(self.first)
        self.began.set()
        connection.half_close()
        looks = select.poll()
        looks.register(connection.socket, 0)
        while not self.goes_on.is_set():
            # where both have ended, that is told as a hang-up
            if any(events & select.POLLERR for _, events in looks.poll(20)):
                return self.cut.set()
            threading.Event().wait(0.02)
        while piece := connection.socket.recv(65_536):
            self.got["bytes"] += len(piece)
        self.got["ends"] += 1


def tunnelled(usher, server):
    """A client with a tunnel in stream 1, of whose bytes the origin has taken the first."""
    client = frames.prior_knowledge(usher)
    client.send(frames.connect(1, server.authority))
    client.upload(1, b"go", end=False)
    assert frames.is_ok(client.until(frames.HEADERS, 1)) and server.began.wait(wire.TIMEOUT)
    return client


def test_what_waits_for_an_origin_outlives_both_ends_of_its_tunnel(start, origin):
    """The origin has ended before, and the client ends while Usher holds the last of it."""
    server = origin(Quiet())
    usher = start({"workers": 1})
    client = tunnelled(usher, server)
    uploading = threading.Thread(target=client.upload, args=(1, bytes(6_000_000)))
    uploading.start()
    # so much is more than the kernels hold
    programs.eventually(lambda: client.room(1) <= 0, "the tunnel is full")
    server.goes_on.set()
    uploading.join(wire.TIMEOUT)
    programs.eventually(lambda: server.got["ends"], "the origin reads the end")
    assert server.got["bytes"] == 6_000_000


FAREWELLS = pytest.mark.parametrize(
    "farewell", [[], [frames.goaway(0, 0)], [frames.reset(1, 0)]], ids=["closes", "goaway", "reset"])


def leave(client, *farewell):
    client.send(frames.data(1, b"", end=True), *farewell)
    client.connection.half_close()
    # a PING is answered no more
    client.connection.end()


@FAREWELLS
def test_a_client_that_ended_in_order_may_go(start, origin, farewell):
    server = origin(Quiet())
    usher = start({"workers": 1})
    client = tunnelled(usher, server)
    client.upload(1, bytes(60_000), end=False)
    leave(client, *farewell)
    usher.wait_for(lambda: [one for one in usher.records() if one.get("method") == "CONNECT"], "the tunnel is over", 5)
    server.goes_on.set()
    programs.eventually(lambda: server.got["ends"], "the origin reads the end")
    assert server.got["bytes"] == 60_000


@FAREWELLS
def test_a_client_that_ended_in_order_may_go_from_a_full_tunnel(start, origin, farewell):
    server = origin(Quiet())
    client = tunnelled(start({"workers": 1}), server)
    sent = client.fill(1, bytes(6_000_000))
    # until nothing moves any more
    while client.connection.buffer or select.select([client.connection.socket], [], [], 1)[0]:
        client.any()
        sent += client.fill(1, bytes(6_000_000))
    leave(client, *farewell)
    server.goes_on.set()
    programs.eventually(lambda: server.got["ends"], "the origin reads the end")
    assert server.got["bytes"] == sent


@pytest.mark.parametrize("spoken", ["1", "2"])
def test_a_client_that_goes_from_a_full_tunnel_is_noticed(start, origin, spoken):
    server = origin(Quiet())
    usher = start({"workers": 1, "limits": {"per_client": 2}})
    if spoken == "1":
        client = wire.Connection(("127.0.0.1", usher.port))
        client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\ngo")
        assert client.read_head().status == 200 and server.began.wait(wire.TIMEOUT)
        client.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            client.socket.sendall(bytes(20_000_000))
        client.reset()
    else:
        client = tunnelled(usher, server)
        client.connection.socket.settimeout(1)
        # until nothing moves any more
        with pytest.raises(TimeoutError):
            client.upload(1, bytes(20_000_000))
        client.send(frames.reset(1, 8))
    # what was cut off must not look whole (RFC 9113 §8.5)
    assert server.cut.wait(wire.TIMEOUT)


SHORT = [b"$ ", b">", b"\xff\xfd\x18", b"abc\x04", b"\0\0\6"]


@pytest.mark.parametrize("ends", [False, True], ids=["stays", "ends"])
@pytest.mark.parametrize("spoken", ["1", "2"])
def test_a_server_that_speaks_first_is_heard(start, origin, spoken, ends):
    goes = threading.Event()

    def serving(words):
        def serve(connection):
            connection.send(words)
            if not ends:
                goes.wait(wire.TIMEOUT)
        return wire.Origin(serve)

    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    for stream, words in enumerate(SHORT):
        server = origin(serving(words))
        if spoken == "1":
            with wire.Connection(("127.0.0.1", usher.port)) as one:
                one.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
                assert one.read_head().status == 200
                assert one.read(len(words)) == words
        else:
            stream = 2 * stream + 1
            client.send(frames.connect(stream, server.authority))
            assert client.until(frames.DATA, stream).payload == words
    goes.set()


@pytest.mark.parametrize("pieces", [[], [b"hello"], [b""]], ids=["at once", "behind bytes", "alone"])
def test_connect_may_be_all_that_a_client_says(start, origin, pieces):
    def serve(connection):
        got = b""
        while piece := connection.socket.recv(65_536):
            got += piece
        connection.send(b"echo:" + got)

    server = origin(wire.Origin(serve))
    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    client.send(
        frames.connect(1, server.authority, end=not pieces),
        *[frames.data(1, piece, end=place == len(pieces) - 1) for place, piece in enumerate(pieces)])
    assert frames.is_ok(client.until(frames.HEADERS, 1))
    assert client.until(frames.DATA, 1).payload == b"echo:" + b"".join(pieces)


def test_connect_that_fails_is_answered_though_its_client_has_ended(start):
    usher = start({"workers": 1})
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = frames.prior_knowledge(usher)
        client.send(frames.connect(1, f"127.0.0.1:{unused.getsockname()[1]}", end=True))
        head = client.until(frames.HEADERS, 1)
    assert not frames.is_ok(head)


def flood_of_interims(connection):
    connection.read_head()
    while True:
        connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 100)


def flood_of_interim_streams(connection):
    peer = frames.Peer(connection, server=True)
    while (came := peer.next()) is not None:
        if came.kind == frames.HEADERS:
            break
    while True:
        peer.send(*[frames.headers(came.stream, [(":status", "103"), ("link", "</a.css>; rel=preload")])] * 100)


@pytest.mark.parametrize("flood", [flood_of_interims, flood_of_interim_streams], ids=["1", "2"])
def test_interim_responses_have_a_limit(start, origin, flood):
    server = origin(wire.Origin(flood))
    usher = start({"workers": 1, "http2": {"cleartext": [server.authority] if flood is flood_of_interim_streams else []}})
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(wire.request("GET", f"{server.url}/"))
        while (head := client.read_head()).status == 103:
            pass
    assert head.status == 502
    usher.wait_for(lambda: any("tooManyInterim" in one.get("text", "") for one in usher.records()), "why")


def test_a_drain_leaves_a_slow_reader_its_answer(binary, write_config, origin):
    """The answer is whole before its request is."""
    body = bytes(300_000)

    def serve(connection):
        connection.read_head()
        connection.send(wire.response(body=body))
        connection.end()

    server = origin(wire.Origin(serve))
    usher = programs.Usher(binary, write_config({"workers": 1}))
    client = frames.prior_knowledge(usher)
    client.send(frames.request(1, server.authority, "/", "POST", end=False), frames.data(1, b"begun"))
    client.until(frames.HEADERS, 1)
    usher.process.terminate()
    got = 0
    while got < len(body):
        came = client.until(frames.DATA, 1)
        got += len(came.payload)
        # a slow reader: this takes a second in all
        threading.Event().wait(LINGERING)
        if got < len(body):
            client.send(*frames.grants(came))
    assert usher.stop() == 0


class Endless(wire.Origin):
    """Speaks HTTP/2 without TLS. Answers `PATH` with as much as it may send, and anything else with 50 kB."""

    # the codes of RFC 7541 make it no shorter: it stands in the fields as it is
    PATH = "/XX"

    def __init__(self):
        self.sent = 0
        super().__init__(self._serve)

    def _serve(self, connection):
        peer = frames.Peer(connection, server=True)
        waiting = {}
        while (came := peer.any()) is not None:
            if came.kind == frames.HEADERS:
                waiting[came.stream] = None if self.PATH.encode() in came.payload else bytes(50_000)
                peer.send(frames.headers(came.stream, [(":status", "200")]))
            for stream, left in list(waiting.items()):
                count = peer.fill(stream, left if left is not None else bytes(max(peer.room(stream), 0)), end=left is not None)
                self.sent += count
                if left is not None:
                    waiting[stream] = left[count:]
                    if count == len(left):
                        del waiting[stream]


def test_clients_that_take_nothing_stop_no_others_at_an_origin(start, origin):
    server = origin(Endless())
    usher = start({"workers": 1, "http2": {"cleartext": [server.authority]}})
    stalled = []
    for _ in range(6):
        one = wire.Connection(("127.0.0.1", usher.port))
        one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.send(wire.request("GET", f"{server.url}{server.PATH}"))
        stalled.append(one)

    def is_still():
        before = server.sent
        threading.Event().wait(0.2)
        return before > 0 and server.sent == before

    programs.eventually(is_still, "all that may be sent has been sent")
    for _ in range(3):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            answer = client.exchange(wire.request("GET", f"{server.url}/other"))
            assert (answer.status, len(answer.body)) == (200, 50_000)
    for one in stalled:
        one.reset()


def test_tunnels_that_origins_have_closed_take_nothing(start, origin):
    server = origin(wire.Origin(lambda connection: None))
    usher = start({"workers": 1})
    client = frames.prior_knowledge(usher)
    normal = usher.descriptors()
    for stream in range(1, 101, 2):
        client.send(frames.connect(stream, server.authority))
    ended, given_up = set(), set()
    while len(given_up) < 50:
        came = client.next()
        if came.kind == frames.DATA and came.flags & frames.END_STREAM:
            ended.add(came.stream)
        elif came.kind == frames.RESET:
            given_up.add(came.stream)
    assert ended == given_up
    # the client says nothing, and its connection stays; fifty tunnels would have as many descriptors and more
    programs.eventually(lambda: usher.descriptors() <= normal + 10, "descriptors go back")
    client.connection.close()
