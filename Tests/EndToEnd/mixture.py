"""Clients whose tunnels are opened, and which end in every way that there is."""

import collections
import random
import ssl

import hello
import inside
import origins
import programs
import wire


class Mixture:
    """Goes through a proxy that `inside.config` made, to origins of its own."""

    def __init__(self, usher, certificates, seed=1):
        self.usher = usher
        self.server = origins.Answering(origins.context(certificates.good))
        self.bad = origins.Answering(origins.context(certificates.bad("expired")))
        leaver = wire.Origin(origins.HALF)
        self.leaver = f"{origins.NAME}:{leaver.port}"
        self.started = [self.server, self.bad, leaver]
        self.trusting = inside.trusting(usher)
        self.distrusting = inside.context(certificates.trust)
        self.source = random.Random(seed)
        self.greeting = hello.records(hello.message())
        self.ways = [
            self.complete, self.of_many_hosts, self.unread, self.refuse, self.leave, self.garble, self.of_a_bad_origin,
            self.of_an_origin_that_leaves]
        self.counts = collections.Counter()

    def close(self):
        for server in self.started:
            server.close()

    def run(self, count):
        for _ in range(count):
            way = self.source.choice(self.ways)
            way()
            self.counts[way.__name__] += 1

    # what may happen

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
        try:
            inside.opened(self.usher, self.server.authority, self.distrusting).close()
        except ssl.SSLCertVerificationError:
            return
        raise AssertionError("a certificate was accepted that is not trusted")

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
        with inside.opened(self.usher, self.leaver, self.trusting) as client:
            assert client.exchange(inside.get(self.leaver)).status == 502

    # level

    def at_rest(self):
        """Descriptors when there is no client, and the pool is empty."""
        self.complete()
        programs.eventually(lambda: self.server.failures, "the origin's connection is given up")
        return self.usher.descriptors()

    def is_level(self, descriptors):
        programs.eventually(lambda: self.usher.descriptors() <= descriptors, f"descriptors go back to {descriptors}")
        self.complete()
