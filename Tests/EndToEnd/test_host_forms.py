"""One host has many spellings. Whatever the configuration says of it counts for all of them."""

import base64

import pytest

import certificates as certificates_module
import inside
import origins
import wire
from wire import request

SPELLINGS = ["origin.localhost", "origin.localhost.", "ORIGIN.Localhost", "Origin.LOCALHOST."]


def ask(usher, server, host, scheme="https"):
    """As a client that leaves the origin's TLS to the proxy."""
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request("GET", f"{scheme}://{host}:{server.port}/"))


def inner(usher, server, host):
    """In a tunnel whose TLS is opened. No name in a ClientHello has the dot (RFC 6066 section 3)."""
    authority = f"{host}:{server.port}"
    with inside.opened(usher, authority, name=host.rstrip(".")) as client:
        return client.exchange(inside.get(authority))


WAYS = pytest.mark.parametrize("ask", [ask, inner], ids=["whole URL", "tunnel"])
HOSTS = pytest.mark.parametrize("host", SPELLINGS)


@HOSTS
@WAYS
def test_pins_hold_for_every_spelling(opening, secure_origin, ask, host):
    usher = opening(upstream={"hosts": [{"host": "origin.localhost", "pins": ["sha256/" + "A" * 43 + "="]}]})
    server = secure_origin()
    answer = ask(usher, server, host)
    assert answer.status == 502
    assert "pins" in answer.body.decode()


def test_pins_with_a_dot_hold_without(opening, secure_origin, certificates):
    digest = base64.b64encode(certificates.key_digest(certificates.good)).decode()
    wrong = {"host": "Origin.localhost.", "pins": ["sha256/" + "A" * 43 + "="]}
    server = secure_origin()
    assert ask(opening(upstream={"hosts": [wrong]}), server, "origin.localhost").status == 502
    right = {**wrong, "pins": [f"sha256/{digest}"]}
    assert ask(opening(upstream={"hosts": [right]}), server, "origin.localhost.").status == 200


@HOSTS
@WAYS
def test_the_least_version_holds_for_every_spelling(opening, secure_origin, ask, host):
    usher = opening(upstream={"hosts": [{"host": "origin.localhost", "minimum": "1.3"}]})
    assert ask(usher, secure_origin(only="1.2"), host).status == 502
    assert ask(usher, secure_origin(only="1.3"), host).status == 200


@HOSTS
@WAYS
def test_what_is_not_verified_is_said_of_one_host(opening, secure_origin, certificates, ask, host):
    usher = opening(upstream={"hosts": [{"host": "*", "verify": False}, {"host": "origin.localhost", "minimum": "1.3"}]})
    server = secure_origin(identity=certificates.bad("expired"))
    assert ask(usher, server, host).status == 200
    assert server.handshakes[0].name == "origin.localhost"


@HOSTS
def test_a_client_certificate_is_shown_to_every_spelling(opening, secure_origin, certificates, host):
    entry = {"certificate": str(certificates.app_certificate), "key": "${file:%s}" % certificates.app_key}
    usher = opening(client_certificates=[{"host": "origin.localhost", **entry}])
    server = secure_origin(clients=certificates.client_trust)
    assert ask(usher, server, host).status == 200
    assert server.handshakes[0].client == "app"


@HOSTS
@pytest.mark.parametrize("name", ["origin.localhost", None], ids=["SNI", "no SNI"])
def test_what_is_excepted_stays_closed(opening, secure_origin, certificates, host, name):
    usher = opening(**{"except": ["origin.localhost"]})
    server = secure_origin()
    # nothing but the origin's own certificate satisfies this client
    trusting = inside.context(certificates.trust)
    trusting.check_hostname = name is not None
    with inside.secured(inside.tunnel(usher, f"{host}:{server.port}"), trusting, name) as client:
        assert client.exchange(inside.get(server.authority)).status == 200


@HOSTS
def test_what_is_intercepted_is_opened(opening, secure_origin, host):
    usher = opening(intercept=["origin.localhost"])
    server = secure_origin()
    assert inner(usher, server, host).status == 200
    assert server.handshakes[0].name == "origin.localhost"


@HOSTS
def test_what_is_denied_is_refused(start, origin, host):
    usher = start({"destinations": {"allow": ["*"], "deny": ["origin.localhost"]}})
    server = origin()
    assert ask(usher, server, host, "http").status == 403
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(f"CONNECT {host}:{server.port} HTTP/1.1\r\nHost: {host}\r\n\r\n").status == 403
    assert server.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1."])
def test_an_address_with_a_dot_is_that_address(start, origin, host):
    server = origin()
    assert ask(start({"destinations": {"deny": ["127.0.0.0/8"]}}), server, host, "http").status == 403
    assert ask(start(), server, host, "http").status == 200


@pytest.mark.parametrize("host", ["[::1]", "[0:0:0:0:0:0:0:1]", "[0::0001]"])
def test_an_ipv6_address_has_one_form(start, origin, host):
    usher = start({"interceptors": [
        {"name": "v6", "when": {"host": "::1"}, "request": [{"set_header": {"X-Seen": "1"}}]}]})
    server = origin(host="::1")
    assert ask(usher, server, host, "http").status == 200
    assert server.requests[0].get("x-seen") == "1"


@HOSTS
def test_rules_cookies_and_servers_know_every_spelling(start, origin, host):
    server = origin()
    usher = start({
        "am": [{"url": f"http://Origin.localhost.:{server.port}/am"}],
        "interceptors": [{
            "name": "known", "when": {"host": ["origin.localhost."]},
            "request": [{"set_cookie": {"name": "a", "value": "b", "domain": "origin.localhost"}}]}]})
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"http://{host}:{server.port}/am/oauth2/userinfo"))
    assert server.requests[0].get("cookie") == "a=b"
    assert usher.flow("/am/oauth2/userinfo").access["action"] == "USER_INFO"


def test_the_tunnel_and_the_request_inside_may_spell_it_differently(opener, secure_origin):
    server = secure_origin()
    with inside.opened(opener, f"origin.localhost.:{server.port}", name="origin.localhost") as client:
        assert client.exchange(inside.get(f"Origin.LOCALHOST:{server.port}")).status == 200
        assert client.exchange(inside.get(f"other.localhost:{server.port}")).status == 421


def test_spellings_share_a_connection_and_bytes_stay_as_they_came(connect, origin):
    server = origin()
    client = connect()
    for host in SPELLINGS:
        assert client.exchange(request("GET", f"http://{host}:{server.port}/")).status == 200
    assert [seen.get("host") for seen in server.requests] == [f"{host}:{server.port}" for host in SPELLINGS]
    assert len(server.accepted) == 1


def test_own_pages_know_their_name(start):
    usher = start()
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        for host in ["usher.proxy", "Usher.Proxy."]:
            assert client.exchange(request("GET", f"http://{host}/")).status == 200


@pytest.mark.parametrize("host, word", [
    ("a..localhost", "emptyLabel"), ("localhost..", "emptyLabel"), (".localhost", "emptyLabel"), (".", "emptyLabel"),
    ("%6Cocalhost", "percentInHost"), ("b\xfccher.localhost", "nonASCIIHost"), ("[127.0.0.1]", "badAddress"),
    ("[fe80::1%eth0]", "badAddress"), ("a" * 64 + ".localhost", "hostTooLong"),
    (".".join(["a" * 60] * 5) + ".localhost", "hostTooLong")])
def test_what_is_no_host_is_refused(connect, host, word):
    for data in (
            f"GET http://{host}/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            f"GET http://localhost/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
            f"CONNECT {host}:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        client = connect()
        answer = client.exchange(data)
        assert answer.status == 400, answer.body
        assert word in answer.get("proxy-status")
        assert client.is_at_end()


def test_a_name_in_unicode_is_configured_and_reached_by_its_a_label(start, origin):
    usher = start({"interceptors": [{
        "name": "known", "when": {"host": "bücher.localhost"}, "request": [{"set_header": {"X-Seen": "1"}}]}]})
    server = origin()
    assert ask(usher, server, "xn--bcher-kva.localhost", "http").status == 200
    assert server.requests[0].get("x-seen") == "1"


def test_a_name_without_an_ascii_form_is_told_with_its_place(call, write_config):
    path = write_config({"tls": {"intercept": ["b\u200fücher.example"]}})
    done = call("check", path)
    assert done.returncode == 1
    assert "tls.intercept[0]: the host has no valid ASCII form for DNS (IDNA)" in done.stderr + done.stdout


def test_curl_commands_may_name_hosts_in_unicode(call, write_config):
    path = write_config({})
    done = call("explain", "--config", path, given="curl https://bücher.example/x")
    assert done.returncode == 0, done.stderr
    assert "https://xn--bcher-kva.example/x" in done.stdout
