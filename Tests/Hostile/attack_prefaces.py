"""Malformed headers of the PROXY protocol: the connection ends, or the request behind it is served."""

import harness
import wire
from mutation import Mutator

V2 = b"\r\n\r\n\x00\r\nQUIT\n"
SEEDS = [
    b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 3128\r\n", b"PROXY TCP6 2001:db8::1 2001:db8::2 4711 3128\r\n", b"PROXY UNKNOWN\r\n",
    V2 + b"\x21\x11\x00\x0c\xc0\x00\x02\x01\xc0\x00\x02\x02\x12\x67\x0c\x38",
    V2 + b"\x21\x21\x00\x24" + bytes(32) + b"\x12\x67\x0c\x38", V2 + b"\x20\x00\x00\x00",
    V2 + b"\x21\x11\x00\x13\xc0\x00\x02\x01\xc0\x00\x02\x02\x12\x67\x0c\x38\x04\x00\x04abcd",
]


def start(binary, folder, corpora):
    world = harness.World(binary, folder, {"clients": {"proxy_protocol": ["loopback"], "allow": ["0.0.0.0/0", "::/0"], "basic": {
        "users": _users(folder)}}})
    # the good requests of this world need the header and a password, too
    ask = b"GET %s/ HTTP/1.1\r\nHost: a\r\n\r\n" % world.good.url.encode()
    world._ask = lambda: _check(harness.answers(harness.say(world.address, SEEDS[0] + ask)))
    mutator = Mutator(SEEDS, [b"PROXY ", b" ", b"\r\n", V2, b"255.255.255.255", b"::", b"65536"])

    def attack(_, stack):
        def one(number):
            data = mutator.input(number, most=3)
            found = harness.answers(harness.say(world.address, data + ask))
            for status, _, _ in found:
                if status not in (400, 403, 405, 407, 408, 414, 421, 431, 501, 505):
                    raise harness.Violation(f"answered {status} without a password, after {data[:200]!r}")
            return f"{found[0][0]}" if found else "closed"

        return one

    return world, attack


def _users(folder):
    path = folder / "users.htpasswd"
    path.write_text("alice:$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y\n")
    path.chmod(0o600)
    return "${file:users.htpasswd}"


def _check(found):
    if [status for status, _, _ in found] != [407]:
        raise harness.Violation(f"a good header was answered {found!r}")
