"""How Usher faces origins over TLS: what it shows, what it insists on, and what it is told to forgo."""

import base64

import pytest

import certificates as certificates_module
import origins
import upstream
import wire
from inside import get, opened


def ask(usher, server):
    with opened(usher, server.authority) as client:
        return client.exchange(get(server.authority))


def identity(certificates, form):
    """The ways to say who the app is."""
    locked = certificates_module.PASSWORD.decode()
    return {
        "PEM": {"certificate": str(certificates.app_certificate), "key": "${file:%s}" % certificates.app_key},
        "PEM with a password": {
            "certificate": str(certificates.app_certificate), "key": "${file:%s}" % certificates.app_locked_key,
            "password": "${env.APP_PASSWORD}"},
        "p12": {"certificate": str(certificates.app_p12), "password": "${env.APP_PASSWORD}"},
    }[form], {"APP_PASSWORD": locked}


@pytest.mark.parametrize("version", ["1.2", "1.3"])
@pytest.mark.parametrize("form", ["PEM", "PEM with a password", "p12"])
def test_a_client_certificate_is_shown_where_it_belongs(opening, secure_origin, certificates, form, version):
    entry, environment = identity(certificates, form)
    usher = opening(
        environment=environment, client_certificates=[{"host": "origin.localhost", **entry}])
    server = secure_origin(clients=certificates.client_trust, only=version)
    assert ask(usher, server).status == 200
    assert server.handshakes[0].client == "app"
    # and nowhere else
    other = secure_origin(clients=certificates.client_trust, only=version, name="other.wild.localhost")
    assert ask(usher, other).status == 502
    assert certificates_module.PASSWORD.decode() not in "\n".join(usher.lines + usher.errors)


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_a_session_with_an_origin_is_resumed(opener, secure_origin, version):
    server = secure_origin(origins.Server, origins.ends(b"ok", 2), only=version)
    for _ in range(3):
        assert ask(opener, server).status == 200
    assert [seen.reused for seen in server.handshakes] == [False, True, True]


def test_a_session_that_an_origin_forgot_is_no_fault(opener, secure_origin, certificates):
    """It is offered, refused, and a whole handshake done."""
    server = secure_origin(origins.Server, origins.ends(b"ok", 2))
    assert ask(opener, server).status == 200
    # its tickets' keys are in the context
    server.context = origins.context(certificates.good)
    assert ask(opener, server).status == 200
    assert [seen.reused for seen in server.handshakes] == [False, False]


def test_a_resumed_session_does_not_pass_for_another_name(opening, secure_origin, certificates):
    """What one name's certificate was good for says nothing about another at the same address."""
    usher = opening()
    server = secure_origin(identity=certificates.server("one-name", names=["origin.localhost"]))
    assert ask(usher, server).status == 200
    server.authority = f"other.wild.localhost:{server.port}"
    assert ask(usher, server).status == 502


def test_verification_is_given_up_for_one_host_alone(opening, secure_origin, certificates):
    usher = opening(upstream={"hosts": [{"host": "origin.localhost", "verify": False}]})
    for name in ("expired", "self-signed", "wrong-host"):
        assert ask(usher, secure_origin(identity=certificates.bad(name))).status == 200
    server = secure_origin(identity=certificates.bad("expired"), name="other.wild.localhost")
    assert ask(usher, server).status == 502
    # and that is said at the start
    said = [line for line in usher.errors if "origin.localhost" in line and "verif" in line]
    assert said, usher.errors


def test_pins(opening, secure_origin, certificates):
    """They add to verification: a chain that is trusted and holds no such key is refused."""
    digest = base64.b64encode(certificates.key_digest(certificates.good)).decode()
    right = opening(upstream={"hosts": [{"host": "origin.localhost", "pins": [f"sha256/{digest}"]}]})
    assert ask(right, secure_origin()).status == 200
    assert ask(right, secure_origin(identity=certificates.bad("expired"))).status == 502
    wrong = opening(upstream={"hosts": [{"host": "origin.localhost", "pins": ["sha256/" + "A" * 43 + "="]}]})
    answer = ask(wrong, secure_origin())
    assert answer.status == 502
    assert "error=tls_certificate_error" in answer.get("proxy-status")
    assert "pins" in answer.body.decode()
    assert ask(wrong, secure_origin(name="other.wild.localhost")).status == 200


def test_the_least_version_of_one_host(opening, secure_origin):
    usher = opening(upstream={"hosts": [{"host": "origin.localhost", "minimum": "1.3"}]})
    assert ask(usher, secure_origin(only="1.2")).status == 502
    assert ask(usher, secure_origin(only="1.3")).status == 200
    assert ask(usher, secure_origin(only="1.2", name="other.wild.localhost")).status == 200


def test_without_the_root_nothing_is_trusted(opening, secure_origin):
    usher = opening(upstream={"extra_trust": []})
    answer = ask(usher, secure_origin())
    assert answer.status == 502 and "extra_trust" in answer.body.decode()


def test_an_absolute_https_url_is_fetched_over_tls(opener, secure_origin):
    """Some clients leave the origin's TLS to the proxy."""
    server = secure_origin()
    with wire.Connection(("127.0.0.1", opener.port)) as client:
        answer = client.exchange(wire.request("GET", f"{server.url}/absolute"))
    assert (answer.status, answer.body) == (200, b"ok")
    assert server.handshakes[0].name == "origin.localhost"


def test_an_origin_behind_another_proxy(opening, secure_origin, origin):
    """TLS is with the origin, through the tunnel that the other proxy makes."""
    up = origin(upstream.Proxy())
    usher = opening({"destinations": {"via": [{"host": "*", "proxy": up.url}]}})
    server = secure_origin()
    assert ask(usher, server).status == 200
    assert [asked.line for asked in up.requests] == [f"CONNECT {server.authority} HTTP/1.1"]
    assert server.handshakes[0].name == "origin.localhost"
