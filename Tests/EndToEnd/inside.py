"""A client's side of intercepted TLS: the configuration that opens tunnels, and connections through them."""

import socket
import ssl

import wire


def config(certificates, rest=None, **tls):
    """Opens every tunnel and trusts the test world's root alone."""
    upstream = {"trust": "none", "extra_trust": [str(certificates.trust)], **tls.pop("upstream", {})}
    return {"workers": 1, **(rest or {}), "tls": {"intercept": ["*"], "upstream": upstream, **tls}}


def context(trust, only=None, protocols=()):
    """A client that trusts the certificates of that file alone."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(trust)
    if only:
        made.minimum_version = made.maximum_version = only
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


class Refused(AssertionError):
    """The proxy made no tunnel."""

    def __init__(self, answer):
        super().__init__(answer.head + answer.body)
        self.status = answer.status


def tunnel(usher, authority):
    """A connection on which a tunnel to that place is open."""
    connection = wire.Connection(("127.0.0.1", usher.port))
    connection.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
    answer = connection.read_head()
    if answer.status != 200:
        with connection:
            raise Refused(answer._replace(body=connection.read_body(answer)))
    return connection


def secured(connection, context, name, **options):
    """TLS on an open connection; its end without close_notify raises `ssl.SSLEOFError`."""
    connection.socket = context.wrap_socket(
        connection.socket, server_hostname=name, suppress_ragged_eofs=False, **options)
    return connection


def opened(usher, authority, context=None, name=None, **options):
    """A tunnel to that place with TLS in it; the name asked for is the tunnel's unless given."""
    host = authority.rpartition(":")[0].strip("[]")
    return secured(tunnel(usher, authority), context or trusting(usher), name or host, **options)


def trusting(usher, **options):
    """A client that trusts the proxy's own authority."""
    return context(usher.ca, **options)


def get(authority, path="/", fields=(), method="GET", body=b""):
    """An origin-form request as bytes."""
    fields = [("Host", authority), *fields, *([("Content-Length", str(len(body)))] if body else [])]
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n"
    return head.encode() + body


def leaf(connection):
    """The certificate that was shown, in DER."""
    return connection.socket.getpeercert(binary_form=True)


def handshake_in_pieces(connection, context, name, size):
    """TLS on an open connection whose handshake is sent `size` bytes at a time; gives a function that sends data and one
    that reads what has come."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine = context.wrap_bio(incoming, outgoing, server_hostname=name)
    connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def flush():
        data = outgoing.read()
        for start in range(0, len(data), size):
            connection.send(data[start:start + size])

    def step(act):
        while True:
            try:
                return act()
            except ssl.SSLWantReadError:
                flush()
                data = connection.socket.recv(65536)
                if not data:
                    raise EOFError("closed before there was an answer") from None
                incoming.write(data)
            finally:
                flush()

    step(engine.do_handshake)
    return lambda data: step(lambda: engine.write(data)), lambda: step(lambda: engine.read(65536))
