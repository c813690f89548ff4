"""A reload binds what is open already: each next exchange is judged by the configuration that is in force then."""

import json
import signal
import threading

import pytest

import inside
import origins
import programs
import wire
from test_inbound import ALICE, BOB, V1, basic, users  # noqa: F401

ELSEWHERE = {"clients": {"allow": ["127.0.0.9"]}}
LOOPBACK = {"destinations": {"deny": ["127.0.0.0/8"]}}


def reload(usher, config):
    before = len([line for line in usher.errors if "is in force" in line])
    usher.config.write_text(json.dumps({"version": 1, **config}))
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(
        lambda: len([line for line in usher.errors if "is in force" in line]) > before, "the new generation")


def connection(usher):
    return wire.Connection(("127.0.0.1", usher.port))


def left(server):
    """Waits until the proxy has closed a connection to the origin."""
    programs.eventually(lambda: any(isinstance(failure, EOFError) for failure in server.failures), "it is closed")


class Waiting(wire.Answering):
    """Answers when it is told to."""

    def __init__(self, **options):
        self.asked, self.go = threading.Event(), threading.Event()
        super().__init__(self._later, **options)

    def _later(self, request):
        self.asked.set()
        assert self.go.wait(wire.TIMEOUT)
        return wire.response(body=b"late")


@pytest.fixture
def base():
    return {"workers": 1}


# how large a head may be


@pytest.mark.parametrize("allowed", [1, 40], ids=["far less", "one less"])
def test_a_head_that_is_under_way(start, base, origin, allowed):
    server = origin()
    usher = start(base)
    url = f"http://localhost:{server.port}/"
    with connection(usher) as client:
        client.send(f"GET {url} HTTP/1.1\r\nHost: localhost:{server.port}\r\n" + "X: y\r\n" * 40)
        with connection(usher) as other:
            assert other.exchange(wire.request("GET", url)).status == 200
        reload(usher, {**base, "limits": {"header_fields": allowed}})
        client.send("X: y\r\n\r\n")
        assert client.read_response().status == 431
    assert len(server.requests) == 1


# where Usher may go


@pytest.mark.parametrize("deny", [["localhost"], ["127.0.0.0/8", "::1"]], ids=["name", "address"])
def test_a_destination_that_is_denied_now(start, base, origin, deny):
    server = origin()
    usher = start(base)
    url = f"http://localhost:{server.port}/"
    with connection(usher) as client:
        for _ in range(2):
            assert client.exchange(wire.request("GET", url)).status == 200
        assert len(server.accepted) == 1
        reload(usher, {**base, "destinations": {"deny": deny}})
        left(server)
        answer = client.exchange(wire.request("GET", url))
        assert answer.status == 403 and "error=destination_ip_prohibited" in answer.get("proxy-status")
    assert len(server.requests) == 2


@pytest.mark.parametrize("deny", [["origin.localhost"], ["127.0.0.0/8", "::1"]], ids=["name", "address"])
def test_inside_an_opened_tunnel(opening, certificates, secure_origin, deny):
    usher = opening()
    server = secure_origin()
    with inside.opened(usher, server.authority) as client:
        assert client.exchange(inside.get(server.authority)).status == 200
        reload(usher, inside.config(certificates, {"destinations": {"deny": deny}}))
        assert client.exchange(inside.get(server.authority)).status == 403
    assert len(server.requests) == 1


def test_inside_a_tunnel_that_carries_plain_http(start, base, origin):
    server = origin()
    usher = start(base)
    with inside.tunnel(usher, server.authority) as client:
        assert client.exchange(inside.get(server.authority)).status == 200
        reload(usher, {**base, **LOOPBACK})
        assert client.exchange(inside.get(server.authority)).status == 403
    assert len(server.requests) == 1


def test_an_exchange_under_way_is_finished_and_its_connection_serves_no_other(start, base, origin):
    server = origin(Waiting())
    usher = start(base)
    with connection(usher) as client:
        client.send(wire.request("GET", f"{server.url}/"))
        assert server.asked.wait(wire.TIMEOUT)
        reload(usher, {**base, **LOOPBACK})
        server.go.set()
        assert client.read_response().body == b"late"
        left(server)
        assert client.exchange(wire.request("GET", f"{server.url}/")).status == 403


def test_a_connection_that_carries_an_identity_ends_likewise(start, base, origin):
    server = origin(lambda request: wire.response(401, [("WWW-Authenticate", "NTLM")]))
    usher = start(base)
    with connection(usher) as client:
        assert client.exchange(wire.request("GET", f"{server.url}/")).status == 401
        reload(usher, {**base, **LOOPBACK})
        left(server)
        assert client.exchange(wire.request("GET", f"{server.url}/")).status == 403


def test_a_tunnel_that_is_relayed_goes_on(start, base, origin):
    """It is an exchange under way."""
    server = origin()
    usher = start(base)
    client = connection(usher)
    far = origin(wire.Origin(lambda there: [there.send(b"<" + there.read(4) + b">") for _ in range(2)]))
    with client:
        client.send(f"CONNECT {far.authority} HTTP/1.1\r\nHost: {far.authority}\r\n\r\n")
        assert client.read_head().status == 200
        client.send(b"\0one")
        assert client.read(6) == b"<\0one>"
        reload(usher, {**base, **LOOPBACK, **ELSEWHERE})
        client.send(b"\0two")
        assert client.read(6) == b"<\0two>"
    with connection(usher) as other:
        other.send(wire.request("GET", f"{server.url}/"))
        # closed over what it sends, the connection may end in a reset
        assert other.end() in ("closed", "reset") and other.buffer == b""


# who may use it


def test_a_client_that_is_not_admitted_any_more(start, base, origin):
    server, slow = origin(), origin(Waiting())
    usher = start(base)
    with connection(usher) as idle, connection(usher) as fresh, connection(usher) as busy, connection(usher) as halfway:
        assert idle.exchange(wire.request("GET", f"{server.url}/")).status == 200
        ask = wire.request("GET", f"{server.url}/")
        halfway.send(ask[:20])
        busy.send(wire.request("GET", f"{slow.url}/"))
        assert slow.asked.wait(wire.TIMEOUT)
        reload(usher, {**base, **ELSEWHERE})
        for client in (idle, fresh, halfway):
            assert client.is_at_end()
        slow.go.set()
        answer = busy.read_response()
        assert answer.body == b"late" and answer.get("connection") == "close"
        assert busy.is_at_end()
    assert len(server.requests) == 1


def test_a_client_inside_an_opened_tunnel_that_is_not_admitted_any_more(opening, certificates, secure_origin):
    usher = opening()
    server = secure_origin()
    with inside.opened(usher, server.authority) as client:
        assert client.exchange(inside.get(server.authority)).status == 200
        reload(usher, inside.config(certificates, ELSEWHERE))
        assert client.is_at_end()


def test_a_client_whom_a_balancer_named(start, base, users, origin):  # noqa: F811
    server = origin()
    balanced = {**base, "clients": {**users["clients"], "allow": ["203.0.113.0/24"], "proxy_protocol": ["127.0.0.0/8"]}}
    usher = start(balanced)
    ask = wire.request("GET", f"{server.url}/", [basic("alice", "wonder:land")])
    with connection(usher) as client, connection(usher) as silent:
        assert client.exchange(V1 + ask).status == 200
        # it stays who it is
        reload(usher, balanced)
        assert client.exchange(ask).status == 200
        # nobody believes that balancer any more
        reload(usher, {**balanced, "clients": {**balanced["clients"], "proxy_protocol": ["192.0.2.1"]}})
        assert client.is_at_end() and silent.is_at_end()


def test_the_rules_for_a_client_whom_a_balancer_has_yet_to_name(start, base, users, origin):  # noqa: F811
    balanced = {**base, "clients": {**users["clients"], "allow": ["203.0.113.0/24"], "proxy_protocol": ["127.0.0.0/8"]}}
    usher = start(balanced)
    with connection(usher) as client:
        client.send(V1[:10])
        usher.wait_for(lambda: True, "it runs")
        reload(usher, {**balanced, "clients": {**balanced["clients"], "allow": ["192.0.2.0/24"]}})
        client.send(V1[10:] + wire.request("GET", f"{origin().url}/", [basic("alice", "wonder:land")]))
        assert client.is_at_end()
    usher.wait_for(lambda: any("clients.allow" in line for line in usher.lines), "why")


@pytest.mark.parametrize("before, after", [
    (None, f"{ALICE}\n"), (f"{ALICE}\n", f"{BOB}\n"), (f"{ALICE}\n", ALICE.replace("wFuB00y", "wFuB00z") + "\n"),
], ids=["needed now", "user gone", "password changed"])
def test_a_tunnel_that_nobody_could_open_now(opening, certificates, secure_origin, tmp_path, before, after):
    path = tmp_path / "users.htpasswd"
    needs = {"clients": {"basic": {"users": "${file:users.htpasswd}"}}}
    if before:
        path.write_text(before)
        path.chmod(0o640)
    usher = opening(needs if before else None)
    server = secure_origin()
    client = connection(usher)
    field = "%s: %s\r\n" % basic("alice", "wonder:land")
    client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n{field}\r\n")
    assert client.read_head().status == 200
    with inside.secured(client, inside.trusting(usher), "origin.localhost"):
        assert client.exchange(inside.get(server.authority)).status == 200
        if before:
            # as long as nothing changes about that user it stays
            reload(usher, inside.config(certificates, needs))
            assert client.exchange(inside.get(server.authority)).status == 200
        path.write_text(after)
        path.chmod(0o640)
        reload(usher, inside.config(certificates, needs))
        assert client.is_at_end()


@pytest.mark.parametrize("change", [{"except": ["origin.localhost"]}, {"intercept": ["other.localhost"]}, {"ports": 1}])
def test_a_tunnel_that_would_not_be_opened_now(opening, certificates, secure_origin, change):
    usher = opening()
    server = secure_origin()
    with inside.opened(usher, server.authority) as client:
        assert client.exchange(inside.get(server.authority)).status == 200
        config = inside.config(certificates)
        if "ports" in change:
            config["destinations"] = {"connect_ports": [1]}
        else:
            config["tls"] |= change
        reload(usher, config)
        assert client.is_at_end()


# how far origins are trusted


def test_what_was_agreed_on_without_verification_is_worth_nothing_with_it(opening, certificates, secure_origin):
    """Neither the connection nor the session, which would spare the origin the proof."""
    unverified = {"upstream": {"hosts": [{"host": "origin.localhost", "verify": False}]}}
    usher = opening(**unverified)
    server = secure_origin(
        origins.Answering, lambda request: wire.response(200, [("Connection", "close")] * request.target.count("close")),
        identity=certificates.bad("expired"))
    with inside.opened(usher, server.authority) as client:
        for path in ("/close", "/close", "/"):
            assert client.exchange(inside.get(server.authority, path)).status == 200
        assert [seen.reused for seen in server.handshakes] == [False, True, True]
        reload(usher, inside.config(certificates))
        assert client.exchange(inside.get(server.authority)).status == 502
    assert len(server.requests) == 3
