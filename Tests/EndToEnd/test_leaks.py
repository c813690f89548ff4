"""Nothing piles up: descriptors and memory return to where they were."""

import random
import ssl

import pytest

import hello
import inside
import origins
import programs
from wire import Connection, Origin, request, response


def test_connections_that_end_in_every_way_leave_no_descriptor(plain_usher, origin):
    def serve(connection):
        while True:
            seen = connection.read_request()
            if "hangup" in seen.target:
                return
            if "half" in seen.target:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                return
            connection.send(response(body=b"ok"))

    server = origin(Origin(serve))
    with Connection(("127.0.0.1", plain_usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/warm"))
    source = random.Random(1)
    before = plain_usher.descriptors()
    for _ in range(300):
        client = Connection(("127.0.0.1", plain_usher.port))
        kind = source.randrange(8)
        if kind == 0:
            client.exchange(request("GET", f"{server.url}/fine"))
        elif kind == 1:
            client.send(request("GET", f"{server.url}/unread"))
        elif kind == 2:
            client.send(b"GET http://half-a-head")
        elif kind == 3:
            client.send(request("POST", f"{server.url}/body", [("Content-Length", "1000")], b"half"))
        elif kind == 4:
            client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n\0binary")
        elif kind == 5:
            client.exchange(request("GET", f"{server.url}/hangup"))
        elif kind == 6:
            client.send(request("GET", f"{server.url}/half"))
        if source.random() < 0.3:
            client.reset()
        else:
            client.close()
    # a pool of idle connections to the one origin may remain
    programs.eventually(lambda: plain_usher.descriptors() <= before + 10, f"descriptors go back to {before}")
    with Connection(("127.0.0.1", plain_usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/after")).status == 200


def test_memory_does_not_grow_with_requests(plain_usher, origin):
    server = origin(lambda seen: response(body=seen.body))
    body = bytes(20_000)

    def run(count):
        with Connection(("127.0.0.1", plain_usher.port)) as client:
            for _ in range(count):
                assert len(client.exchange(request("POST", f"{server.url}/", body=body)).body) == len(body)

    run(500)
    before = plain_usher.resident()
    run(1500)
    assert plain_usher.resident() - before < 4 << 20


def test_idle_connections_cost_little(plain_usher, origin):
    server = origin()
    held = []
    before = plain_usher.resident()
    for _ in range(400):
        client = Connection(("127.0.0.1", plain_usher.port))
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
        held.append(client)
    grown = plain_usher.resident() - before
    for client in held:
        client.close()
    assert grown < 400 * (32 << 10)


class Mix:
    """Clients of a proxy that opens their tunnels, which end in every way that there is."""

    def __init__(self, usher, certificates, server, bad, rude):
        self.usher, self.server, self.bad, self.rude = usher, server, bad, rude
        self.trusting = inside.trusting(usher)
        self.distrusting = inside.context(certificates.trust)
        self.source = random.Random(1)
        self.greeting = hello.records(hello.message())

    def complete(self, name="origin.localhost"):
        with inside.opened(self.usher, self.server.authority, self.trusting, name) as client:
            answer = client.exchange(inside.get(f"{name}:{self.server.port}"))
            assert answer.status == 200
            self.part(client)

    def part(self, client):
        """With close_notify, without, or with a reset."""
        how = self.source.randrange(3)
        if how == 0:
            client.socket.unwrap()
        elif how == 1:
            client.reset()

    def of_many_hosts(self):
        self.complete(f"h{self.source.randrange(60)}.wild.localhost")

    def unread(self):
        with inside.opened(self.usher, self.server.authority, self.trusting) as client:
            client.send(inside.get(self.server.authority))
            client.reset()

    def refuse(self):
        with pytest.raises(ssl.SSLCertVerificationError):
            inside.opened(self.usher, self.server.authority, self.distrusting)

    def leave(self):
        with inside.tunnel(self.usher, self.server.authority) as client:
            client.send(self.greeting[:self.source.randrange(len(self.greeting) + 1)])
            if self.source.random() < 0.5:
                client.reset()

    def garble(self):
        with inside.tunnel(self.usher, self.server.authority) as client:
            client.send(hello.records(b"\x01" + hello.vector(self.source.randbytes(200), 3)))
            client.read_rest()

    def of_a_bad_origin(self):
        with inside.opened(self.usher, self.bad.authority, self.trusting) as client:
            assert client.exchange(inside.get(self.bad.authority)).status == 502
            self.part(client)

    def of_an_origin_that_leaves(self):
        with inside.opened(self.usher, self.rude, self.trusting) as client:
            assert client.exchange(inside.get(self.rude)).status == 502

    def run(self, count):
        ways = [
            self.complete, self.of_many_hosts, self.unread, self.refuse, self.leave, self.garble, self.of_a_bad_origin,
            self.of_an_origin_that_leaves]
        for _ in range(count):
            self.source.choice(ways)()


    def at_rest(self):
        """Descriptors when there is no client, and the pool is empty."""
        self.complete()
        programs.eventually(lambda: self.server.failures, "the origin's connection is given up")
        return self.usher.descriptors()

    def is_level(self, descriptors):
        programs.eventually(lambda: self.usher.descriptors() <= descriptors, f"descriptors go back to {descriptors}")
        self.complete()


@pytest.fixture
def mix(opening, secure_origin, origin, certificates):
    usher = opening({"timeouts": {"idle": "3s", "pool_idle": "300ms"}, "limits": {"leaf_certificates": 50}})
    rude = origin(Origin(origins.HALF))
    return Mix(
        usher, certificates, secure_origin(), secure_origin(identity=certificates.bad("expired")),
        f"{origins.NAME}:{rude.port}")


def test_opened_tunnels_that_end_in_every_way_leave_no_descriptor(mix):
    before = mix.at_rest()
    mix.run(400)
    mix.is_level(before)


def test_memory_does_not_grow_with_opened_tunnels(mix):
    before = mix.at_rest()
    mix.run(500)
    settled = mix.usher.resident()
    mix.run(2000)
    mix.is_level(before)
    grown = mix.usher.resident() - settled
    assert grown < 4 << 20, f"{grown >> 10} KiB"
