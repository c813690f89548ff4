"""HTTP/2 where somebody takes nothing, or is far away: how much waits for whom, and what others have meanwhile."""

import select
import socket
import threading

import pytest

import frames
import programs
import relay
import wire

STALLED = 40
SMALL, FAR, UPLOAD = 300_000, 32 << 20, 128 << 20
# of one direction, in seconds
DELAY = 0.01
# paths that the codes of RFC 7541 make no shorter: they stand in the fields as they are
STALLS, LATE, DISTANT = "/XX", "/ZZ", "/*X"


class Responses(wire.Origin):
    """Speaks HTTP/2 without TLS. `STALLS` is answered without end once `gathers` have asked for it on one connection, `LATE` once
    `goes_on` is set, with `SMALL` bytes as anything else is, and `DISTANT` with `FAR` bytes."""

    def __init__(self, gathers=1):
        self.gathers = gathers
        self.goes_on = threading.Event()
        # bytes of bodies, requests that wait, the most that a stream might have sent at once, connections that have ended
        self.sent = self.late = self.widest = self.ends = 0
        super().__init__(self._serve)

    def _serve(self, connection):
        peer = frames.Peer(connection, server=True)
        stalled, late, left = [], [], {}
        try:
            while True:
                if connection.buffer or select.select([connection.socket], [], [], 0.01)[0]:
                    came = peer.any()
                    if came is None:
                        return
                    if came.kind == frames.RESET:
                        left.pop(came.stream, None)
                    if came.kind == frames.HEADERS:
                        peer.send(frames.headers(came.stream, [(":status", "200")]))
                        if STALLS.encode() in came.payload:
                            stalled.append(came.stream)
                        elif LATE.encode() in came.payload:
                            late.append(came.stream)
                            self.late += 1
                        else:
                            left[came.stream] = FAR if DISTANT.encode() in came.payload else SMALL
                if len(stalled) >= self.gathers:
                    left |= dict.fromkeys(stalled, 1 << 40)
                    stalled = []
                if self.goes_on.is_set():
                    left |= dict.fromkeys(late, SMALL)
                    late = []
                for stream in list(left):
                    self.widest = max(self.widest, peer.initial + peer.granted[stream])
                    count = min(max(peer.room(stream), 0), left[stream], 1 << 20)
                    self.sent += peer.fill(stream, bytes(count), end=count == left[stream])
                    left[stream] -= count
                    if not left[stream]:
                        del left[stream]
        finally:
            self.ends += 1


def asking(usher, url):
    """A client that takes little more than it reads."""
    client = wire.Connection(("127.0.0.1", usher.port))
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.send(wire.request("GET", url))
    return client


def get(usher, url):
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(wire.request("GET", url))
        return answer.status, len(answer.body)


def is_still(count):
    """Whether something has begun, and has come to a stop."""
    before = count()
    threading.Event().wait(0.3)
    return 0 < before == count()


def test_forty_clients_that_take_nothing_stop_no_other(start, origin):
    server = origin(Responses(STALLED))
    usher = start({"workers": 1, "limits": {"per_client": 60}, "http2": {"cleartext": [server.authority]}})
    first = asking(usher, f"{server.url}{LATE}")
    programs.eventually(lambda: server.late == 1, "the first has its stream")
    stalled = [asking(usher, f"{server.url}{STALLS}") for _ in range(STALLED)]
    programs.eventually(lambda: is_still(lambda: server.sent), "all that may be sent has been sent")
    server.goes_on.set()
    answer = first.read_response()
    assert (answer.status, len(answer.body), len(server.accepted)) == (200, SMALL, 1)
    assert get(usher, f"{server.url}/other") == (200, SMALL)
    assert len(server.accepted) == 1
    for one in (first, *stalled):
        one.reset()


def test_forty_tunnels_that_are_not_taken_stop_nothing_else_of_their_client(start, origin):
    ends = threading.Event()
    server = wire.Origin(lambda connection: ends.wait())
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    origin(server)
    web = origin(wire.Answering(lambda request: wire.response(body=b"%d" % len(request.body))))
    usher = start({"workers": 1, "limits": {"per_client": 60}})
    client = frames.prior_knowledge(usher)
    tunnels = range(1, 2 * STALLED, 2)
    client.send(*(frames.connect(stream, server.authority) for stream in tunnels))
    told = set()
    while told < set(tunnels):
        came = client.next()
        if came.kind == frames.HEADERS:
            assert frames.is_ok(came)
            told.add(came.stream)

    def fill():
        """True where none of them takes more."""
        if sum(client.fill(stream, bytes(max(client.room(stream), 0))) for stream in tunnels):
            return False
        if not select.select([client.connection.socket], [], [], 0.3)[0]:
            return True
        client.any()
        return False

    # how much of it the kernel takes differs from run to run, up to megabytes each
    while not fill():
        pass
    assert client.room(99) > 0, "they have used up the connection's window"
    client.send(frames.request(99, web.authority, "/", "POST", end=False))
    client.upload(99, bytes(SMALL))
    assert client.until(frames.DATA, 99).payload == b"%d" % SMALL
    client.connection.reset()
    ends.set()


@pytest.fixture
def far(origin, start):
    """An origin at the end of a long way, Usher, and the URL."""
    server = origin(Responses())
    way = relay.Relay(("127.0.0.1", server.port), delay=DELAY).start()
    place = f"127.0.0.1:{way.port}"
    usher = start({"workers": 1, "http2": {"cleartext": [place]}, "timeouts": {"response": "2s"}})
    yield server, usher, f"http://{place}"
    way.close()


def begun(server, usher, url):
    """A client whose stream's window has grown, and how much it has taken."""
    client = wire.Connection(("127.0.0.1", usher.port))
    # else the kernel may hold all of it
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    client.send(wire.request("GET", f"{url}{DISTANT}"))
    assert client.read_head().get("transfer-encoding") == "chunked"
    taken = 0
    while server.widest < 256 << 10:
        size = int(client.read_until(b"\r\n"), 16)
        assert client.read(size + 2) == bytes(size) + b"\r\n"
        taken += size
    return client, taken


@pytest.mark.alone
def test_a_download_over_a_long_way_has_a_larger_window(far):
    server, usher, url = far
    assert get(usher, f"{url}/other") == (200, SMALL)
    before = usher.resident()
    client, taken = begun(server, usher, url)
    programs.eventually(lambda: is_still(lambda: server.sent), "all that may be sent has been sent")
    assert server.sent < FAR
    # what waits, in a queue that has doubled its room
    assert usher.resident() - before < 16 << 20
    # it stops nothing else on its connection
    assert get(usher, f"{url}/other") == (200, SMALL)
    while size := int(client.read_until(b"\r\n"), 16):
        assert client.read(size + 2) == bytes(size) + b"\r\n"
        taken += size
    assert taken == FAR
    client.reset()
    assert (len(server.accepted), server.ends) == (1, 0)


def test_who_leaves_a_download_over_a_long_way_leaves_the_connection_to_others(far):
    server, usher, url = far
    client, _ = begun(server, usher, url)
    client.reset()
    assert [get(usher, f"{url}/other") for _ in range(2)] == [(200, SMALL)] * 2
    assert (len(server.accepted), server.ends) == (1, 0)


class Taking(wire.Origin):
    """Takes one upload, of which it lets the rest lie from `stops` on until `goes_on` is set, and says how much it was."""

    def __init__(self, stops):
        self.stops = stops
        self.taken = 0
        self.goes_on = threading.Event()
        super().__init__(self._serve)

    def _serve(self, connection):
        length = int(connection.read_head().get("content-length"))
        while self.taken < length:
            if self.taken >= self.stops:
                assert self.goes_on.wait(30)
            self.taken += len(connection.read(min(1 << 20, length - self.taken)))
        connection.send(wire.response(body=b"%d" % self.taken))


@pytest.mark.alone
def test_an_upload_over_a_long_way_has_a_window_of_its_own(start, origin):
    server = origin(Taking(24 << 20))
    other = origin(wire.Answering(lambda request: wire.response(body=b"%d" % len(request.body))))
    usher = start({"workers": 1, "timeouts": {"response": "2s"}})
    way = relay.Relay(("127.0.0.1", usher.port), delay=DELAY).start()
    assert get(usher, f"{other.url}/") == (200, 1)
    before = usher.resident()
    client = frames.Peer(wire.Connection(("127.0.0.1", way.port)))
    length = [("content-length", str(UPLOAD))]
    client.send(frames.request(1, server.authority, "/", "POST", length, end=False))
    piece, sent, widest = bytes(1 << 20), 0, 0

    def fill():
        """True where no more may be sent."""
        nonlocal sent, widest
        widest = max(widest, client.initial + client.granted[1])
        if count := client.fill(1, piece[:UPLOAD - sent], end=UPLOAD - sent <= len(piece)):
            sent += count
            return False
        if not client.connection.buffer and not select.select([client.connection.socket], [], [], 0.5)[0]:
            return True
        assert client.any() is not None
        return False

    while not fill():
        pass
    assert 256 << 10 <= widest < 5 << 20
    assert server.taken < 25 << 20 and sent < UPLOAD
    # what waits, in a queue that has doubled its room
    assert usher.resident() - before < 16 << 20
    # it stops nothing else on its connection
    client.send(frames.request(3, other.authority, "/", "POST", end=False))
    client.upload(3, bytes(SMALL))
    assert client.until(frames.DATA, 3).payload == b"%d" % SMALL
    server.goes_on.set()
    while sent < UPLOAD:
        fill()
    assert client.until(frames.DATA, 1).payload == b"%d" % UPLOAD
    client.connection.close()
    way.close()
