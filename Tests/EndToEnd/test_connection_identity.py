"""Connections that carry an identity: whoever's it is, no other client gets them."""

import contextlib

import pytest

import inside
import origins
import programs
import upstream
import wire

PUBLIC = "/public"


class Integrated(wire.Origin):
    """Authenticates connections, as NTLM does: a challenge, two more rounds, and from then on the connection is somebody's."""

    def __init__(self, scheme="NTLM", stays=None):
        self.scheme_name = scheme
        # what it says of the connection once it is somebody's
        self.stays = stays
        self.seen = []
        super().__init__(self._serve)

    def _serve(self, connection):
        user, rounds = None, 0
        number = len(self.accepted)
        while True:
            message = connection.read_request()
            scheme, _, credentials = (message.get("authorization") or "").partition(" ")
            self.seen.append((number, credentials, user))
            if scheme == self.scheme_name and credentials == "type1":
                rounds = 1
                connection.send(wire.response(401, [("WWW-Authenticate", f"{scheme} type2")]))
            elif scheme == self.scheme_name and credentials.startswith("type3:") and rounds == 1:
                user = credentials.removeprefix("type3:")
                connection.send(wire.response(200, self.stays or [], body=user.encode()))
            elif scheme == self.scheme_name and credentials.startswith("at-once:"):
                # one round is enough for a ticket
                user = credentials.removeprefix("at-once:")
                connection.send(wire.response(200, self.stays or [], body=user.encode()))
            elif user or message.target.endswith(PUBLIC):
                connection.send(wire.response(body=(user or "nobody").encode()))
            else:
                connection.send(wire.response(401, [("WWW-Authenticate", self.scheme_name)]))


class Client:
    """A client's connection to the proxy, or a tunnel through it."""

    def __init__(self, usher, server, in_tunnel=False):
        self.server = server
        self.in_tunnel = in_tunnel
        self.connection = inside.tunnel(usher, server.authority) if in_tunnel else wire.Connection(("127.0.0.1", usher.port))

    def ask(self, credentials=None, path="/"):
        fields = [("Authorization", credentials)] if credentials else []
        if self.in_tunnel:
            return self.connection.exchange(inside.get(self.server.authority, path, fields))
        return self.connection.exchange(wire.request("GET", f"{self.server.url}{path}", fields))

    def sign_in(self, name, scheme="NTLM", between=lambda: None):
        assert self.ask().status == 401
        between()
        assert self.ask(f"{scheme} type1").get("www-authenticate") == f"{scheme} type2"
        between()
        answer = self.ask(f"{scheme} type3:{name}")
        assert (answer.status, answer.body.decode()) == (200, name)

    def close(self):
        self.connection.close()


@pytest.fixture
def usher(start):
    return start({"workers": 1})


@pytest.fixture
def integrated(origin):
    return lambda *arguments, **options: origin(Integrated(*arguments, **options))


@pytest.fixture
def client():
    with contextlib.ExitStack() as opened:
        yield lambda *arguments, **options: opened.enter_context(
            contextlib.closing(Client(*arguments, **options)))


@pytest.mark.parametrize("in_tunnel", [False, True], ids=["plain", "tunnel"])
@pytest.mark.parametrize("scheme", ["NTLM", "Negotiate"])
def test_nobody_inherits_who_signed_in(usher, integrated, client, scheme, in_tunnel):
    server = integrated(scheme)
    alice = client(usher, server, in_tunnel)
    alice.sign_in("alice", scheme)
    for _ in range(2):
        mallory = client(usher, server, in_tunnel)
        assert mallory.ask().status == 401
    # and she stays who she is
    assert alice.ask().body == b"alice"


def test_others_in_between_do_not_break_the_handshake(usher, integrated, client):
    server = integrated()

    def passing():
        other = client(usher, server)
        assert other.ask(path=PUBLIC).body == b"nobody"
        assert other.ask().status == 401

    alice = client(usher, server)
    alice.sign_in("alice", between=passing)
    assert alice.ask().body == b"alice"
    assert len({number for number, credentials, _ in server.seen if credentials}) == 1


def test_two_at_a_time_are_two(usher, integrated, client):
    server = integrated()
    alice, bob = client(usher, server), client(usher, server)
    assert alice.ask().status == 401 and bob.ask().status == 401
    assert alice.ask("NTLM type1").status == 401 and bob.ask("NTLM type1").status == 401
    assert alice.ask("NTLM type3:alice").body == b"alice"
    assert bob.ask("NTLM type3:bob").body == b"bob"
    assert alice.ask().body == b"alice" and bob.ask().body == b"bob"


def test_a_credential_goes_on_no_connection_that_others_used(usher, integrated, client):
    """One that comes unasked, and an origin that asks for none."""
    server = integrated("Negotiate")
    other = client(usher, server)
    assert other.ask(path=PUBLIC).body == b"nobody"
    alice = client(usher, server)
    assert alice.ask("Negotiate at-once:alice", PUBLIC).body == b"alice"
    assert len(server.accepted) == 2
    assert other.ask(path=PUBLIC).body == b"nobody"
    assert alice.ask(path=PUBLIC).body == b"alice"


def test_the_origin_may_say_so_by_another_field(usher, integrated, client):
    server = integrated("Secret", stays=[("Persistent-Auth", "true")])
    alice = client(usher, server)
    assert alice.ask("Secret at-once:alice").body == b"alice"
    assert client(usher, server).ask().status == 401
    assert alice.ask().body == b"alice"


def test_it_ends_with_the_client(usher, integrated, client):
    server = integrated()
    alice = client(usher, server)
    alice.sign_in("alice")
    [held] = server.accepted
    assert held.socket.fileno() >= 0
    alice.close()
    programs.eventually(lambda: any(isinstance(failure, EOFError) for failure in server.failures), "it is closed")


def test_it_says_that_it_keeps_connections_apart(usher, integrated, client):
    """A client that sees a proxy on the way asks for that (RFC 4559 §6)."""
    server = integrated()
    alice = client(usher, server)
    assert alice.ask().get("proxy-support") == "Session-Based-Authentication"
    assert alice.ask(path=PUBLIC).get("proxy-support") is None


def test_in_an_opened_tunnel(opening, secure_origin):
    def answer(request):
        who = (request.get("authorization") or "").removeprefix("NTLM ")
        if not who:
            return wire.response(401, [("WWW-Authenticate", "NTLM")])
        return wire.response(body=who.encode())

    usher = opening()
    server = secure_origin(origins.Answering, answer)
    for name in ("alice", "bob"):
        with inside.opened(usher, server.authority) as connection:
            for _ in range(2):
                ask = inside.get(server.authority, fields=[("Authorization", f"NTLM {name}")])
                assert connection.exchange(ask).body == name.encode()
    # one for each of them, used twice
    assert len(server.accepted) == 2


def test_by_another_proxy_the_connection_to_it_is_the_clients(start, origin):
    """Such a connection would serve requests to every origin."""
    proxy = origin(upstream.Proxy(
        lambda request: wire.response(body=b"signed in" if request.get("authorization") else b"anonymous")))
    usher = start({"workers": 1, "destinations": {"via": [{"host": "*", "proxy": f"http://{proxy.authority}"}]}})
    with wire.Connection(("127.0.0.1", usher.port)) as alice, wire.Connection(("127.0.0.1", usher.port)) as bob:
        ask = wire.request("GET", "http://one.test/", [("Authorization", "Negotiate x")])
        assert alice.exchange(ask).body == b"signed in"
        assert bob.exchange(wire.request("GET", "http://two.test/")).body == b"anonymous"
        assert len(proxy.accepted) == 2
        # her own goes on serving her, for every origin
        assert alice.exchange(wire.request("GET", "http://three.test/")).body == b"anonymous"
        assert len(proxy.accepted) == 2


# the name that TLS asks for is part of who the other side is


def test_two_names_at_one_address_share_neither_connection_nor_session(opening, secure_origin, certificates):
    usher = opening()
    server = secure_origin(identity=certificates.server("both-names", names=["a.wild.localhost", "b.wild.localhost"]))
    place = f"127.0.0.1:{server.port}"
    for name in ("a.wild.localhost", "b.wild.localhost", "a.wild.localhost"):
        authority = f"{name}:{server.port}"
        with inside.opened(usher, place, name=name) as client:
            assert client.exchange(inside.get(authority)).status == 200
    # the third went out on the connection of the first
    assert [(seen.name, seen.reused) for seen in server.handshakes] == [
        ("a.wild.localhost", False), ("b.wild.localhost", False)]


def test_what_one_name_may_be_resumed_by_is_no_use_to_another(opening, secure_origin, certificates):
    usher = opening()
    server = secure_origin(
        origins.Answering, lambda request: wire.response(200, [("Connection", "close")], b"ok"),
        identity=certificates.server("both-names", names=["a.wild.localhost", "b.wild.localhost"]))
    for name in ("a.wild.localhost", "b.wild.localhost", "a.wild.localhost"):
        with inside.opened(usher, f"127.0.0.1:{server.port}", name=name) as client:
            assert client.exchange(inside.get(f"{name}:{server.port}")).status == 200
    assert [(seen.name, seen.reused) for seen in server.handshakes] == [
        ("a.wild.localhost", False), ("b.wild.localhost", False), ("a.wild.localhost", True)]
