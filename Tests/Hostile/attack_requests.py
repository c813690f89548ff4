"""Malformed requests: each is refused or understood as the origin understands it. What the origin sees is counted against
what the client was answered, so that nothing is smuggled."""

import json

import harness
import wire
from mutation import Mutator

WORDS = [
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity\r\n", b"Connection: close\r\n", b"Connection: keep-alive, Host\r\n", b"Host: a\r\n",
    b"0\r\n\r\n", b"GET http://{origin}/evil HTTP/1.1\r\nHost: {origin}\r\n\r\n", b"HTTP/1.0", b"HTTP/1.1", b"chunked",
    b"Expect: 100-continue\r\n", b"Upgrade: websocket\r\n", b"TE: trailers\r\n", b"%00", b"..;/", b"5\r\nhello\r\n", b"#", b"?", b"://",
    b"Max-Forwards: 0\r\n", b"Via: 1.1 x\r\n", b"CONNECT {origin} HTTP/1.1\r\nHost: {origin}\r\n\r\n",
]
PLAIN = [
    b"GET http://{origin}/a?b=c HTTP/1.1\r\nHost: {origin}\r\nAccept: */*\r\nCookie: a=b\r\n\r\n",
    b"POST http://{origin}/a HTTP/1.1\r\nHost: {origin}\r\nContent-Length: 5\r\n\r\nhello",
    b"POST http://{origin}/a HTTP/1.1\r\nHost: {origin}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"GET http://{origin}/1 HTTP/1.1\r\nHost: {origin}\r\n\r\nGET http://{origin}/2 HTTP/1.1\r\nHost: {origin}\r\n\r\n",
    b"CONNECT {origin} HTTP/1.1\r\nHost: {origin}\r\n\r\nGET / HTTP/1.1\r\nHost: {origin}\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: {origin}\r\n\r\n",
    b"TRACE http://{origin}/a HTTP/1.1\r\nHost: {origin}\r\nMax-Forwards: 0\r\nCookie: secret\r\n\r\n",
]


def seeds(corpora):
    strict = json.loads((corpora / "Strictness/requests.json").read_text())
    return PLAIN + [case["send"].encode("latin-1") for case in strict]


class Strict(wire.Answering):
    """An origin that reads to the letter and tells of whatever it cannot read."""

    def __init__(self):
        self.unreadable = []
        super().__init__(lambda seen: wire.response(body=seen.line.encode("latin-1")))

    def _answer(self, connection):
        try:
            super()._answer(connection)
        except (ValueError, IndexError, AssertionError) as fault:
            self.unreadable.append(fault)


def start(binary, folder, corpora):
    world = harness.World(binary, folder, {})
    mutator = Mutator(seeds(corpora), WORDS)

    def attack(_, stack):
        origin = Strict()
        stack.callback(origin.close)

        def one(number):
            data = mutator.input(number).replace(b"{origin}", origin.authority.encode())
            before, unread = len(origin.requests), len(origin.unreadable)
            read = harness.say(world.address, data)
            # a tunnel that is relayed unopened says what the origin, or nobody, says
            is_tunnel = b"CONNECT" in data
            found = [] if is_tunnel else harness.answers(read)
            seen = len(origin.requests) - before
            if not is_tunnel:
                if len(origin.unreadable) > unread:
                    raise harness.Violation(f"the origin got what it cannot read: {origin.unreadable[-1]!r}; sent {data[:500]!r}")
                if seen > max(1, len(found)):
                    raise harness.Violation(f"{seen} requests reached the origin, {len(found)} were answered; sent {data[:500]!r}")
                if any(message.get("content-length") and message.get("transfer-encoding")
                       for message in origin.requests[before:]):
                    raise harness.Violation(f"two framings were sent on; sent {data[:500]!r}")
            if number % 500 == 0:
                del origin.requests[:]
            return f"{found[-1][0] // 100}xx" if found else "tunnel" if is_tunnel else "closed"

        return one

    return world, attack
