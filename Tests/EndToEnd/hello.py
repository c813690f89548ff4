"""The ClientHello by hand (RFC 8446 §4.1.2): what a client asked for, and hellos that no library would send."""

import collections
import os
import socket
import struct

Hello = collections.namedtuple("Hello", "name protocols versions")
SERVER_NAME, GROUPS, SIGNATURES, ALPN, VERSIONS, KEY_SHARE, PADDING = 0, 10, 13, 16, 43, 51, 21


def peek(connection):
    """The ClientHello that a socket's peer sends first; nothing is taken from the socket. None for anything else."""
    def first(count):
        # until so much has come, or the end
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
        data = connection.recv(count, socket.MSG_PEEK)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        return data

    head = first(5)
    if len(head) < 5 or head[0] != 22:
        return None
    return parse(first(5 + struct.unpack("!H", head[3:5])[0])[9:])


def parse(body):
    """Reads the message behind its four bytes of type and length."""
    place = 34
    place += 1 + body[place]
    place += 2 + struct.unpack("!H", body[place:place + 2])[0]
    place += 1 + body[place]
    found = {}
    place += 2
    while place + 4 <= len(body):
        kind, length = struct.unpack("!HH", body[place:place + 4])
        found[kind] = body[place + 4:place + 4 + length]
        place += 4 + length
    name = found.get(SERVER_NAME)
    protocols, rest = [], found.get(ALPN, b"\0\0")[2:]
    while rest:
        protocols.append(rest[1:1 + rest[0]].decode())
        rest = rest[1 + rest[0]:]
    versions = found.get(VERSIONS, b"\0")[1:]
    return Hello(
        name and name[5:].decode(), protocols,
        [struct.unpack("!H", versions[at:at + 2])[0] for at in range(0, len(versions), 2)])


def extension(kind, content):
    return struct.pack("!HH", kind, len(content)) + content


def vector(content, width=2):
    return len(content).to_bytes(width, "big") + content


def message(name="origin.localhost", protocols=(), padding=0, versions=(0x0303,)):
    """A ClientHello of TLS 1.2 that a server can answer, as a handshake message."""
    extensions = extension(GROUPS, vector(b"\x00\x17\x00\x1d")) + extension(SIGNATURES, vector(b"\x04\x03\x08\x04\x04\x01"))
    extensions += extension(VERSIONS, vector(b"".join(struct.pack("!H", v) for v in versions), 1))
    if name is not None:
        extensions += extension(SERVER_NAME, vector(b"\0" + vector(name.encode())))
    if protocols:
        extensions += extension(ALPN, vector(b"".join(vector(p.encode(), 1) for p in protocols)))
    if padding:
        extensions += extension(PADDING, bytes(padding))
    suites = b"\xc0\x2b\xc0\x2f\xc0\x2c\xc0\x30"
    body = b"\x03\x03" + os.urandom(32) + b"\0" + vector(suites) + b"\x01\x00" + vector(extensions)
    return b"\x01" + vector(body, 3)


def records(content, size=1 << 14, kind=22):
    """`content` as records of at most `size` bytes each."""
    pieces = [content[start:start + size] for start in range(0, len(content), size)]
    return b"".join(bytes([kind]) + b"\x03\x01" + vector(piece) for piece in pieces)
