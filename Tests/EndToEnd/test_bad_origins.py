"""Origins that must not be trusted or cannot be spoken with: each gives a 502 that says what is wrong and what may be
done about it."""

import re

import pytest

import origins
import programs
import wire
from inside import get, opened

EXTRA_TRUST, HOSTS = "tls.upstream.extra_trust", "tls.upstream.hosts"

# what is wrong with the certificate, what the answer says of it, the setting that it names
CERTIFICATES = [
    ("expired", "expired on", HOSTS),
    ("not-yet", "valid from", HOSTS),
    ("self-signed", "self-signed", EXTRA_TRUST),
    ("wrong-host", "it names elsewhere.test and not origin.localhost", HOSTS),
    ("stranger", "issuer", EXTRA_TRUST),
    ("no-intermediate", "issuer", EXTRA_TRUST),
    ("client-only", "purpose", HOSTS),
    ("weak-key", "a key that is too weak", HOSTS),
    ("sha1", "a digest that is too weak", HOSTS),
]

# what is said instead of a handshake, the error token, words of the answer
CONVERSATIONS = [
    ("plain HTTP", origins.PLAIN_HTTP, "tls_protocol_error", ["does not speak TLS"]),
    ("garbage", origins.GARBAGE, "tls_protocol_error", ["does not speak TLS"]),
    ("an oversized record", origins.OVERSIZED, "tls_protocol_error", []),
    ("an alert", origins.ALERT, "tls_alert_received", ["handshake_failure"]),
    ("a version too old", origins.OLD, "tls_protocol_error", ["no version of TLS that is allowed", "tls.upstream.minimum"]),
    ("half a handshake", origins.HALF, "tls_protocol_error", ["in the middle of the TLS handshake"]),
    ("nothing at all", origins.leaving(), "tls_protocol_error", ["in the middle of the TLS handshake"]),
]


def ask(usher, authority, path="/"):
    with opened(usher, authority) as client:
        return client.exchange(get(authority, path))


def check_refused(answer, token, words):
    assert answer.status == 502, answer
    assert answer.get("proxy-status").startswith("usher; ")
    assert f"error={token}" in answer.get("proxy-status")
    assert answer.get("usher-flow")
    body = answer.body.decode()
    for word in words:
        assert word in body, body


@pytest.mark.parametrize("name, words, setting", CERTIFICATES, ids=[case[0] for case in CERTIFICATES])
def test_a_bad_certificate(opener, secure_origin, certificates, name, words, setting):
    server = secure_origin(identity=certificates.bad(name))
    path = f"/bad-{name}"
    check_refused(
        ask(opener, server.authority, path), "tls_certificate_error", [words, setting, "origin.localhost"])
    assert not server.requests
    access = opener.flow(path).access
    assert (access["status"], access["proxy_error"]) == (502, "tls_certificate_error")


def test_every_fault_has_words_of_its_own(opener, secure_origin, certificates):
    names = ["expired", "not-yet", "self-signed", "wrong-host", "stranger", "client-only", "weak-key"]
    told = set()
    for name in names:
        server = secure_origin(identity=certificates.bad(name))
        told.add(ask(opener, server.authority).body.decode().replace(str(server.port), "").partition("usher-flow")[0])
    assert len(told) == len(names)


def test_a_revoked_certificate(opening, opener, secure_origin, certificates):
    """Where a list is configured; without one nothing tells."""
    server = secure_origin(identity=certificates.bad("revoked"))
    usher = opening(upstream={"crl": [str(certificates.revocations)]})
    check_refused(ask(usher, server.authority), "tls_certificate_error", ["revoked"])
    assert ask(usher, secure_origin().authority).status == 200
    assert ask(opener, server.authority).status == 200


@pytest.mark.parametrize("serve, token, words", [case[1:] for case in CONVERSATIONS], ids=[c[0] for c in CONVERSATIONS])
def test_a_handshake_that_fails(opener, origin, serve, token, words):
    server = origin(wire.Origin(serve))
    authority = f"origin.localhost:{server.port}"
    check_refused(ask(opener, authority), token, words)


def test_old_versions(opening, secure_origin):
    """A server that speaks TLS 1.0 alone sees ours, and says in an alert that it knows none of them."""
    usher = opening()
    check_refused(ask(usher, secure_origin(only="1.0").authority), "tls_alert_received", ["protocol", "minimum"])
    strict = opening(upstream={"minimum": "1.3"})
    assert ask(strict, secure_origin(only="1.3").authority).status == 200
    check_refused(ask(strict, secure_origin(only="1.2").authority), "tls_alert_received", ["protocol", "minimum"])


def test_an_origin_that_never_answers_the_handshake(opening, origin):
    usher = opening({"timeouts": {"tls": "300ms"}})
    server = origin(wire.Origin(origins.mute))
    answer = ask(usher, f"origin.localhost:{server.port}", "/mute")
    assert answer.status == 504
    assert "error=connection_timeout" in answer.get("proxy-status")
    assert "timeouts.tls" in answer.body.decode()
    assert usher.flow("/mute").access["ms"] < 5000


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_an_origin_that_wants_a_client_certificate(opener, secure_origin, certificates, version):
    """In TLS 1.3 the refusal comes after the handshake, in the answer's place."""
    server = secure_origin(clients=certificates.client_trust, only=version)
    check_refused(ask(opener, server.authority), "tls_alert_received", ["certificate", "tls.client_certificates"])
    assert not server.requests


def test_one_bad_origin_does_no_harm_to_another(opener, secure_origin, certificates):
    good, bad = secure_origin(), secure_origin(identity=certificates.bad("expired"))
    for _ in range(3):
        assert ask(opener, bad.authority).status == 502
        assert ask(opener, good.authority).status == 200


def test_an_origin_that_asks_for_renegotiation(opener, certificates):
    """It is told no, which ends this server in the middle of its answer; the client must not take that for the end."""
    server = programs.Program(
        ["openssl", "s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-key", certificates.good, "-cert", certificates.good,
         "-cert_chain", certificates.good], listens=True)

    def heard(pattern):
        return server.wait_for(
            lambda: next(filter(None, (re.search(pattern, line) for line in server.lines + server.errors)), None), pattern)

    try:
        authority = f"origin.localhost:{heard(r'ACCEPT .*:([0-9]+)').group(1)}"
        with opened(opener, authority) as client:
            client.send(get(authority, "/again"))
            heard("GET /again")
            server.say("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun\n")
            assert client.read_until(b"begun")
            server.say("R\n")
            heard("no renegotiation")
            with pytest.raises((EOFError, OSError)):
                client.read(990)
    finally:
        server.stop()
