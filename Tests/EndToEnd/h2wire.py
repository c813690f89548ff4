"""HTTP/2 by hand, as far as a client needs it that asks for one thing after another (RFC 9113)."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GO_AWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def block(scheme, authority, path, fields=()):
    """A GET's fields, each a literal that nobody has to remember (RFC 7541 §6.2.2)."""
    packed = bytes([0x82, 0x87 if scheme == "https" else 0x86])
    for name, value in ((4, path), (1, authority)):
        packed += bytes([name, len(value)]) + value.encode()
    for name, value in fields:
        packed += bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    return packed


class Client:
    """On a connected socket, in TLS or not, one request after another."""

    def __init__(self, connected):
        self.socket = connected
        self.buffer = b""
        self.stream = -1
        # goes out with the next request: in two pieces the kernel would hold one back
        self.owed = b""
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def read(self, count):
        while len(self.buffer) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError(f"closed after {len(self.buffer)} of {count} bytes")
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def get(self, block):
        """The body that answers it."""
        self.stream += 2
        self.socket.sendall(self.owed + frame(HEADERS, END_STREAM | END_HEADERS, self.stream, block))
        body = b""
        while True:
            head = self.read(9)
            kind, flags, stream = struct.unpack("!BBI", head[3:])
            payload = self.read(int.from_bytes(head[:3], "big"))
            if kind in (SETTINGS, PING) and not flags & ACK:
                self.socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
            assert kind != GO_AWAY, payload
            if stream != self.stream:
                continue
            assert kind in (DATA, HEADERS, WINDOW_UPDATE), f"a frame of kind {kind}: {payload!r}"
            if kind == DATA:
                body += payload
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                break
        # the next one finds as much room as this one did
        self.owed = frame(WINDOW_UPDATE, 0, 0, struct.pack("!I", len(body))) if body else b""
        return body
