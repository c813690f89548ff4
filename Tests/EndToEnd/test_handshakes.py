"""Clients in the handshake with a proxy that opens their tunnels: the odd, the broken, those that refuse, those that
come again; and how connections end."""

import re
import socket
import ssl
import subprocess
import threading

import pytest

import hello
import inside
import origins
import programs
import wire
from inside import get, opened

TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
ALERT, HANDSHAKE = 0x15, 0x16


def test_a_hello_in_single_bytes(opener, secure_origin):
    server = secure_origin()
    with inside.tunnel(opener, server.authority) as connection:
        send, receive = inside.handshake_in_pieces(connection, inside.trusting(opener), "origin.localhost", 1)
        send(get(server.authority, "/pieces"))
        assert receive().startswith(b"HTTP/1.1 200")


def test_a_hello_spread_over_many_records(opener, secure_origin):
    with inside.tunnel(opener, secure_origin().authority) as connection:
        connection.send(hello.records(hello.message(), 8))
        assert connection.read(1)[0] == HANDSHAKE


def test_a_hello_larger_than_a_record(opener, secure_origin):
    """Larger than anybody needs: refused or answered, but not waited on for ever, and whoever comes next is served."""
    server = secure_origin()
    with inside.tunnel(opener, server.authority) as connection:
        connection.send(hello.records(hello.message(padding=40_000)))
        connection.half_close()
        assert connection.read_rest()[:1] in (b"", bytes([ALERT]), bytes([HANDSHAKE]))
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200


BROKEN = [
    ("a hello that is garbage", hello.records(b"\x01" + hello.vector(bytes(range(200)), 3))),
    ("another message", hello.records(b"\x10" + hello.vector(bytes(100), 3))),
    ("a hello of no length", hello.records(b"\x01\x00\x00\x00")),
    ("an alert", b"\x15\x03\x01\x00\x02\x02\x28"),
    ("an oversized record", b"\x16\x03\x01\xff\xff" + bytes(70_000)),
    ("an empty record", b"\x16\x03\x01\x00\x00" * 40),
    ("lengths beyond the end", hello.records(hello.message()[:4] + b"\xff" * 200)),
    ("no version that is spoken", hello.records(hello.message(versions=(0x0301,)))),
]


@pytest.mark.parametrize("data", [case[1] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_no_hello_ends_the_connection(opener, secure_origin, data):
    server = secure_origin()
    with inside.tunnel(opener, server.authority) as connection:
        try:
            connection.send(data)
            connection.half_close()
        except OSError:
            pass
        rest = connection.read_rest()
    # nothing, or an alert: ours, or the origin's where it was left to it
    assert rest[:1] in (b"", bytes([ALERT]))
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200


def test_a_broken_record_after_the_handshake(opener, secure_origin):
    server = secure_origin()
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200
        raw = wire.Connection(socket.socket(fileno=client.socket.detach()))
    with raw:
        raw.send(b"\x17\x03\x03\x00\x40" + bytes(64))
        # what it sent behind the broken record is unread, so a reset is in order
        assert raw.end() in ("closed", "reset")
        assert raw.buffer[:1] in (b"", bytes([ALERT]), b"\x17")
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200


@pytest.mark.parametrize("begun", [b"", hello.records(hello.message())[:40], hello.records(hello.message())],
                         ids=["nothing", "half a hello", "a hello"])
def test_a_client_that_stops_in_the_handshake(opening, secure_origin, begun):
    usher = opening({"timeouts": {"tls": "300ms", "tunnel_idle": "1s"}})
    server = secure_origin()
    # a worker that answers has everything open that it needs
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 400
    normal = usher.descriptors()
    with inside.tunnel(usher, server.authority) as connection:
        connection.send(begun)
        connection.read_rest()
    access = usher.flow(server.authority).access
    assert access["ms"] >= 250
    programs.eventually(lambda: usher.descriptors() <= normal, "nothing is left open")


def refuse(usher, authority, certificates, only=None):
    """A client that trusts only others."""
    with pytest.raises(ssl.SSLCertVerificationError):
        opened(usher, authority, inside.context(certificates.trust, only=only))


@pytest.mark.parametrize("version", [TLS12, TLS13], ids=["1.2", "1.3"])
def test_a_client_that_refuses_the_certificate_is_told_apart(opening, secure_origin, certificates, version):
    usher = opening()
    server = secure_origin()
    refuse(usher, server.authority, certificates, version)
    flow = usher.flow(server.authority)
    assert flow.access["proxy_error"] == "tls_alert_received"
    text = " ".join(event["text"] for event in flow.events)
    assert "unknown_ca" in text or "unknown ca" in text
    # the remedy
    assert "usher.proxy" in text or "usher ca" in text
    assert not server.requests


def test_an_ordinary_end_is_no_refusal(opening, secure_origin):
    usher = opening()
    server = secure_origin()
    with opened(usher, server.authority) as client:
        client.exchange(get(server.authority, "/fine"))
        client.socket.unwrap()
    usher.flow("/fine")
    assert not any(record.get("proxy_error") for record in usher.records())


def test_a_host_that_is_refused_again_and_again_is_left_alone(opening, secure_origin, certificates):
    usher = opening(on_refusal="tunnel")
    server, other = secure_origin(), secure_origin(name="other.wild.localhost")
    for _ in range(3):
        refuse(usher, server.authority, certificates)
    usher.flow(server.authority, 3)
    with opened(usher, server.authority, inside.context(certificates.trust)) as client:
        assert client.exchange(get(server.authority)).status == 200
    # no other host is concerned
    with opened(usher, other.authority) as client:
        assert client.exchange(get(other.authority)).status == 200
    text = " ".join(event["text"] for event in usher.flow(server.authority, 4).events)
    assert "on_refusal" in text


def test_without_that_option_it_is_refused_for_ever(opening, secure_origin, certificates):
    usher = opening()
    server = secure_origin()
    for _ in range(5):
        refuse(usher, server.authority, certificates)


# the end


def test_both_sides_are_told_of_the_end(opener, secure_origin):
    server = secure_origin()
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority, fields=[("Connection", "close")])).status == 200
        # without close_notify this raises
        assert client.is_at_end()
        client.socket.unwrap()


def test_an_origin_is_told_of_the_end(opener, secure_origin):
    server = secure_origin(origins.Answering, lambda seen: wire.response(fields=[("Connection", "close")]))
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200
    failure = programs.eventually(lambda: server.failures, "the origin has seen the end")[0]
    assert isinstance(failure, EOFError), failure


def test_a_client_that_ends_first_is_answered(opener, secure_origin):
    server = secure_origin()
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200
        # waits for the other side's
        client.socket.unwrap()


@pytest.mark.parametrize("length, notify", [(None, True), (5, True), (5, False)],
                         ids=["until close_notify", "with a length", "with a length alone"])
def test_an_answer_that_is_complete_ends_well(opener, secure_origin, length, notify):
    server = secure_origin(origins.Server, origins.ends(b"hello", length, notify))
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).body == b"hello"


@pytest.mark.parametrize("length", [None, 5000], ids=["until the end", "with a length"])
@pytest.mark.parametrize("size", [5, 3000], ids=str)
def test_an_answer_that_is_cut_short_does_not_end_well(opener, secure_origin, length, size):
    """What the origin did not finish must not look complete: not by close_notify and not by a last chunk."""
    server = secure_origin(origins.Server, origins.ends(b"x" * size, length, notify=False))
    with opened(opener, server.authority) as client:
        client.send(get(server.authority, "/cut"))
        try:
            answer = client.read_response()
            # nothing had gone out yet
            assert answer.status == 502
            assert "http_response_incomplete" in answer.get("proxy-status")
        except (ssl.SSLEOFError, ConnectionResetError):
            pass
        except EOFError:
            # a clean end within a message that told its length is no complete message either
            assert length


# coming again


@pytest.mark.parametrize("version", [TLS12, TLS13], ids=["1.2", "1.3"])
def test_a_session_is_resumed(opener, secure_origin, version):
    server = secure_origin()
    context = inside.trusting(opener, only=version)
    sessions = []
    for number in range(3):
        options = {"session": sessions[-1]} if sessions else {}
        with opened(opener, server.authority, context, **options) as client:
            assert client.exchange(get(server.authority)).status == 200
            assert client.socket.session_reused == bool(number)
            sessions.append(client.socket.session)
            client.socket.unwrap()
    if version == TLS13:
        # tickets are for one use (RFC 8446 §C.4)
        assert len({session.id for session in sessions}) == 3


def test_a_session_of_one_host_opens_no_other(opener, secure_origin):
    """It is resumed for its own name alone."""
    server = secure_origin()
    context = inside.trusting(opener, only=TLS12)
    with opened(opener, server.authority, context) as client:
        client.exchange(get(server.authority))
        session = client.socket.session
    with opened(opener, server.authority, context, name="other.wild.localhost", session=session) as client:
        assert not client.socket.session_reused


def openssl_client(usher, server, *options, said="Q\n"):
    """`openssl s_client` through the proxy: what it printed."""
    done = subprocess.run(
        ["openssl", "s_client", "-proxy", f"127.0.0.1:{usher.port}", "-connect", server.authority,
         "-servername", "origin.localhost", "-CAfile", usher.ca, *options],
        input=said, capture_output=True, text=True, timeout=30)
    return done.stdout + done.stderr


def test_openssl_reconnects_with_its_session(opener, secure_origin):
    printed = openssl_client(opener, secure_origin(), "-reconnect", "-tls1_2")
    assert len(re.findall(r"^Reused, ", printed, re.MULTILINE)) == 5, printed
    assert "Verify return code: 0 (ok)" in printed


def test_a_client_is_not_renegotiated_with(opener, secure_origin):
    server = secure_origin()
    printed = openssl_client(opener, server, "-tls1_2", said="R\n")
    assert "RENEGOTIATING" in printed
    assert "no renegotiation" in printed, printed
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200


def test_many_clients_that_leave_in_the_handshake(opening, secure_origin):
    """Whatever they leave at, nothing of them stays."""
    usher = opening()
    server = secure_origin()
    with opened(usher, server.authority) as client:
        client.exchange(get(server.authority))
    programs.eventually(lambda: len(server.handshakes) == 1, "the first one is served")
    data = hello.records(hello.message())
    normal = usher.descriptors()

    def leave(count, reset):
        connection = inside.tunnel(usher, server.authority)
        connection.send(data[:count])
        connection.reset() if reset else connection.close()

    threads = [
        threading.Thread(target=leave, args=(count, reset)) for reset in (True, False) for count in range(1, len(data), 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(wire.TIMEOUT)
    programs.eventually(lambda: usher.descriptors() <= normal, "nothing is left open")
    with opened(usher, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200
