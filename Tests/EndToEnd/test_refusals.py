"""Certificates that clients refuse, with `on_refusal: tunnel`: each client's word counts for itself alone."""

import ssl

import pytest

import inside
import wire
from test_inbound import basic, users  # noqa: F401


def header(address):
    family = "TCP6" if ":" in address else "TCP4"
    far = "2001:db8::ffff" if ":" in address else "192.0.2.1"
    return f"PROXY {family} {address} {far} 40000 3128\r\n"


def tunnel(usher, authority, address, user=("alice", "wonder:land")):
    connection = wire.Connection(("127.0.0.1", usher.port))
    field = "%s: %s\r\n" % basic(*user)
    connection.send(f"{header(address)}CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{field}\r\n")
    assert connection.read_head().status == 200
    return connection


@pytest.fixture
def usher(opening, users):  # noqa: F811
    return opening(
        {"clients": {**users["clients"], "allow": ["203.0.113.0/24", "2001:db8::/32"], "proxy_protocol": ["127.0.0.0/8"]}},
        on_refusal="tunnel")


def refuse(usher, server, certificates, *who):
    with pytest.raises(ssl.SSLCertVerificationError):
        inside.secured(
            tunnel(usher, server.authority, *who), inside.context(certificates.trust), "origin.localhost")


def is_opened(usher, server, certificates, *who):
    """Whether the client is shown Usher's certificate, or the origin's own."""
    trust = inside.context(usher.ca)
    trust.load_verify_locations(certificates.trust)
    with inside.secured(tunnel(usher, server.authority, *who), trust, "origin.localhost") as client:
        assert client.exchange(inside.get(server.authority)).status == 200
        issuer = dict(part for parts in client.socket.getpeercert()["issuer"] for part in parts)
        return issuer["commonName"].startswith("Usher CA")


@pytest.mark.parametrize("refusing, others", [
    (["203.0.113.9"], [("203.0.113.10",), ("2001:db8::1",), ("203.0.113.9", ("bob", "pä"))]),
    # one client has all of a /64
    (["2001:db8:0:7::1", "2001:db8:0:7::2", "2001:db8:0:7:ffff::3"], [("2001:db8:0:8::1",), ("203.0.113.9",)]),
], ids=["IPv4", "IPv6"])
def test_three_of_one_client_end_it_for_that_client_alone(usher, secure_origin, certificates, refusing, others):
    server = secure_origin()
    for number in range(3):
        refuse(usher, server, certificates, refusing[number % len(refusing)])
    usher.flow(server.authority, 3)
    assert not is_opened(usher, server, certificates, refusing[0])
    for who in others:
        assert is_opened(usher, server, certificates, *who), who
    # one that accepts in between does not reset another's count
    assert not is_opened(usher, server, certificates, refusing[-1])


def test_an_acceptance_begins_anew(usher, secure_origin, certificates):
    server = secure_origin()
    for round in range(2):
        for _ in range(2):
            refuse(usher, server, certificates, "203.0.113.9")
        usher.flow(server.authority, 2 + 3 * round)
        assert is_opened(usher, server, certificates, "203.0.113.9")
