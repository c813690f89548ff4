"""Origins that speak TLS, well and badly."""

import collections
import contextlib
import socket
import ssl

import hello
import web
import wire

NAME = "origin.localhost"
VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}

# what an origin saw of one handshake; `client` is the common name of the certificate that it was shown
Handshake = collections.namedtuple("Handshake", "version name protocols chosen client reused")


def context(identity, only=None, clients=None, protocols=("http/1.1",)):
    """How a server behaves: its certificate, the one version that it speaks, the authority of the clients that it wants."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # weak certificates and old versions are for the other side to refuse
    made.set_ciphers("DEFAULT:@SECLEVEL=0")
    made.load_cert_chain(identity)
    if only:
        made.minimum_version = made.maximum_version = VERSIONS[only]
    if clients:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(clients)
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


class Secure:
    """Makes a server of wire.py or web.py one that speaks TLS, reached as `origin.localhost`. Where a peer leaves without
    close_notify, `failures` holds an `ssl.SSLEOFError`."""

    scheme = "https"

    def __init__(self, context, *arguments, name=NAME, **options):
        self.context = context
        self.handshakes = []
        super().__init__(*arguments, **options)
        if name:
            self.authority = f"{name}:{self.port}"
            self.url = f"https://{self.authority}"

    def begin(self, connection):
        asked = hello.peek(connection.socket)
        connection.socket = self.context.wrap_socket(
            connection.socket, server_side=True, suppress_ragged_eofs=False)
        if asked is None:
            # Python makes no handshake with a peer that has gone
            raise ConnectionResetError("the client left before its ClientHello")
        self.handshakes.append(Handshake(
            connection.socket.version(), asked.name, asked.protocols, connection.socket.selected_alpn_protocol(),
            shown(connection.socket), connection.socket.session_reused))

    def left(self, connection):
        with contextlib.suppress(OSError):
            connection.socket.unwrap()


def shown(secured):
    subject = (secured.getpeercert() or {}).get("subject", ())
    return next((value for part in subject for name, value in part if name == "commonName"), None)


class Server(Secure, wire.Origin):
    pass


class Answering(Secure, wire.Answering):
    pass


class Site(Secure, web.Web):
    pass


# what comes after the handshake


def ends(body, length=None, notify=True):
    """Serves one answer, whose end is told by Content-Length or by the connection's end, and leaves: with close_notify or
    without."""
    def serve(connection):
        connection.read_request()
        told = "" if length is None else f"Content-Length: {length}\r\n"
        connection.send(f"HTTP/1.1 200 OK\r\n{told}Connection: close\r\n\r\n".encode() + body)
        if notify:
            connection.socket.unwrap()
    return serve


def tiny_records(connection):
    """An answer of which every byte is a record of its own."""
    while True:
        asked = connection.read_request()
        for byte in wire.response(body=asked.target.encode() * 20):
            connection.send(bytes([byte]))


# instead of a handshake: `serve` of a plain `wire.Origin`


def saying(data):
    """Waits for the client's first bytes, says something, and leaves when the client does."""
    def serve(connection):
        connection.socket.recv(1 << 16)
        connection.send(data)
        connection.read_rest()
    return serve


def leaving(data=b""):
    """Waits for the client's first bytes, says something, and leaves."""
    def serve(connection):
        connection.socket.recv(1 << 16)
        connection.send(data)
        connection.socket.shutdown(socket.SHUT_WR)
    return serve


def mute(connection):
    connection.read_rest()


PLAIN_HTTP = saying(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
GARBAGE = saying(bytes(range(128, 256)) * 3)
OVERSIZED = saying(b"\x16\x03\x03\xff\xff" + bytes(20_000))
# handshake_failure (RFC 8446 §6.2)
ALERT = saying(b"\x15\x03\x03\x00\x02\x02\x28")
# a ServerHello of TLS 1.0, as a server says it that never heard of a later one
OLD = saying(hello.records(b"\x02" + hello.vector(b"\x03\x01" + bytes(32) + b"\0" + b"\x00\x2f" + b"\0", 3)))
HALF = leaving(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")
