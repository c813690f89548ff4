"""Malformed ClientHellos, in a tunnel that is to be opened and at a listener that speaks TLS: an alert, a handshake or an
end, and no waiting for ever."""

import harness
import wire
from mutation import Mutator


def start(binary, folder, corpora):
    world = harness.World(
        binary, folder,
        {"tls": {"intercept": ["*"], "on_refusal": "fail"}, "destinations": {"allow": ["127.0.0.1"], "deny": ["*"]}},
        listen=("127.0.0.1:0", "https://127.0.0.1:0"))
    # the first byte of a seed says how the fuzz target splits it
    mutator = Mutator(
        [path.read_bytes()[1:] for path in sorted((corpora / "ClientHello").iterdir())], [b"\x16\x03\x01", b"\x00\x00", b"\xff\xff"])
    # the tunnel's origin is there: CONNECT waits for it
    connect = f"CONNECT {world.good.authority} HTTP/1.1\r\nHost: {world.good.authority}\r\n\r\n".encode()

    def attack(_, stack):
        def one(number):
            data = mutator.input(number)
            # most go at once; with some the handshake has to wait for what never comes
            leaves = number % 16 != 0
            if number % 3 == 0:
                read = harness.say(("127.0.0.1", world.usher.listeners[1]), data, close=leaves)
            else:
                read = harness.say(world.address, data, close=leaves, connect=connect)
            if not read:
                return "closed"
            kinds = {0x15: "alert", 0x16: "handshake", 0x48: "HTTP"}
            if read[0] not in kinds:
                raise harness.Violation(f"neither TLS nor HTTP came: {read[:100].hex()} to {data[:200].hex()}")
            return kinds[read[0]]

        return one

    return world, attack
