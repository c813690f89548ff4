"""Malformed answers of an origin: each is refused, cut, or delivered in good form; and none is taken for the answer to
somebody else's request."""

import json

import harness
import wire
from mutation import Mutator

WORDS = [
    b"\r\n", b"\n", b"\r\n\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", b"0\r\n\r\n", b"5\r\nhello\r\n", b"HTTP/1.0",
    b"204", b"304", b"101", b"Upgrade: x\r\n", b"Set-Cookie: a=b\r\n", b"Content-Encoding: gzip\r\n", b"Connection: Content-Length\r\n",
]
PLAIN = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a, b\"\r\nContent-Length: 0\r\n\r\n",
]
METHODS = ["GET", "HEAD", "POST", "GET"]


class Bad(wire.Origin):
    """Answers `/bad` with the bytes it was given, and everything else as a good origin does, on the same connections."""

    def __init__(self):
        self.bad = b""
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            seen = connection.read_request()
            if seen.target.startswith("/bad"):
                connection.send(self.bad)
                # now and then the connection stays open, for whoever would send another request on it
                if len(self.bad) % 8:
                    return
            else:
                connection.send(wire.response(body=seen.target.encode()))


def start(binary, folder, corpora):
    world = harness.World(binary, folder, {"timeouts": {**harness.TIMEOUTS, "idle": "300ms", "response": "300ms"}})
    strict = json.loads((corpora / "Strictness/responses.json").read_text())
    mutator = Mutator(PLAIN + [case["send"].encode("latin-1") for case in strict], WORDS)

    def attack(_, stack):
        origin = Bad()
        stack.callback(origin.close)

        def one(number):
            origin.bad = mutator.input(number)
            method = METHODS[number % len(METHODS)]
            body = b"hello" if method == "POST" else b""
            read = harness.say(world.address, wire.request(method, f"{origin.url}/bad/{number}", body=body))
            found = harness.answers(read, [method])
            if len(found) > 1:
                raise harness.Violation(f"{len(found)} answers to one request; the origin sent {origin.bad[:500]!r}")
            good = harness.answers(harness.say(world.address, wire.request("GET", f"{origin.url}/good/{number}")))
            if [(status, body) for status, _, body in good] != [(200, f"/good/{number}".encode())]:
                raise harness.Violation(f"the next request was answered {good!r}; the origin had sent {origin.bad[:500]!r}")
            return f"{found[0][0] // 100}xx" if found else "closed"

        return one

    return world, attack
