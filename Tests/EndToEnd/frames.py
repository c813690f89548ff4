"""HTTP/2 by hand, where every frame matters (RFC 9113)."""

import collections

import wire

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITIZED = 1, 1, 4, 8, 32
PROTOCOL_ERROR, REFUSED = 1, 7

Frame = collections.namedtuple("Frame", "kind flags stream payload")


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def block(fields):
    """Literals that are never indexed, without Huffman; short ones alone."""
    coded = b""
    for name, value in fields:
        name, value = name.encode(), value.encode()
        assert len(name) < 127 and len(value) < 127
        coded += b"\x10" + bytes([len(name)]) + name + bytes([len(value)]) + value
    return coded


def headers(stream, fields, end=False, before=b"", flags=0):
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0) | flags, stream, before + block(fields))


def data(stream, payload, end=False):
    return frame(DATA, END_STREAM if end else 0, stream, payload)


def request(stream, authority, path="/", method="GET", fields=(), end=True, **more):
    pseudo = [(":method", method), (":scheme", "http"), (":authority", authority), (":path", path)]
    return headers(stream, [*pseudo, *fields], end, **more)


def connect(stream, authority, end=False):
    return headers(stream, [(":method", "CONNECT"), (":authority", authority)], end)


def is_ok(head):
    """Whether an answer's status is 200: by the static table (RFC 7541 appendix A), behind what says how large the other one may be."""
    return head.payload.lstrip(b"\x20")[:1] == b"\x88"


def reset(stream, code):
    return frame(RESET, 0, stream, code.to_bytes(4, "big"))


def goaway(last, code):
    return frame(GOAWAY, 0, 0, last.to_bytes(4, "big") + code.to_bytes(4, "big"))


def grants(came):
    """Room for as many bytes again as came in a frame."""
    count = len(came.payload).to_bytes(4, "big")
    return [frame(WINDOW, 0, stream, count) for stream in (0, came.stream)] if came.payload else []


class Peer:
    """Either end of a connection that speaks HTTP/2."""

    def __init__(self, connection, server=False, settings=b""):
        self.connection = connection
        # what the other side takes at once: in a stream to begin with, in each beyond that, and in all (RFC 9113 §6.9)
        self.initial = 65_535
        self.granted = collections.Counter({0: 65_535})
        if server:
            assert connection.read(len(PREFACE)) == PREFACE
        else:
            connection.send(PREFACE)
        connection.send(frame(SETTINGS, 0, 0, settings))

    def send(self, *frames):
        self.connection.send(b"".join(frames))

    def any(self):
        """The next frame. What it grants is kept; SETTINGS and PING are answered. None at the end."""
        try:
            head = self.connection.read(9)
            payload = self.connection.read(int.from_bytes(head[:3], "big"))
        except (EOFError, ConnectionResetError):
            return None
        came = Frame(head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload)
        if came.kind == WINDOW:
            self.granted[came.stream] += int.from_bytes(payload, "big")
        elif came.kind in (SETTINGS, PING) and not came.flags & ACK:
            for place in range(0, len(payload) if came.kind == SETTINGS else 0, 6):
                if payload[place:place + 2] == b"\0\4":
                    self.initial = int.from_bytes(payload[place + 2:place + 6], "big")
            self.send(frame(came.kind, ACK, 0, payload if came.kind == PING else b""))
        return came

    def next(self):
        """The next frame but those that are nobody's message. None at the end."""
        while True:
            came = self.any()
            if came is None or came.kind not in (SETTINGS, PING, WINDOW):
                return came

    def room(self, stream):
        return min(self.granted[0], self.initial + self.granted[stream])

    def fill(self, stream, payload, end=False):
        """Sends what there is room for; how many bytes these were."""
        done = 0
        while (count := min(self.room(stream), len(payload) - done, 16_384)) > 0:
            self.send(data(stream, payload[done:done + count], end and done + count == len(payload)))
            self.granted[0] -= count
            self.granted[stream] -= count
            done += count
        return done

    def upload(self, stream, payload, end=True):
        """Sends all of it, as the other side grants room; what else comes meanwhile is let go."""
        done = self.fill(stream, payload, end)
        while done < len(payload):
            assert self.any() is not None, f"the end came after {done} of {len(payload)} bytes"
            done += self.fill(stream, payload[done:], end)

    def until(self, kind, stream):
        """The next frame of that kind on that stream; those before it are let go."""
        while True:
            came = self.next()
            assert came is not None, f"no frame of kind {kind} came on stream {stream}"
            if (came.kind, came.stream) == (kind, stream):
                return came


def prior_knowledge(usher):
    """A client's connection that begins with HTTP/2."""
    return Peer(wire.Connection(("127.0.0.1", usher.port)))
