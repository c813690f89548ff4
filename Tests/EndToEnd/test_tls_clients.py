"""Clients that people's programs are made of, through TLS that is opened, each told in its own way whom to trust."""

import base64
import json
import os
import subprocess

import pytest
import requests

import origins
import programs
import wire
from test_real_clients import CLIENTS, python_with_aiohttp, run, tool


@pytest.fixture
def site(secure_origin):
    return secure_origin(origins.Site)


@pytest.fixture
def trust(opener):
    """The environment in which OpenSSL, Node and Go trust the proxy."""
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**clean, "SSL_CERT_FILE": str(opener.ca), "NODE_EXTRA_CA_CERTS": str(opener.ca)}


def curl(options, url, count=1):
    done = subprocess.run(
        [tool("curl"), "-q", "-sS", "--noproxy", "", "--max-time", "20", *map(str, options), *[url] * count,
         "-w", "%{http_code} %{http_version} %{num_connects}\n", *["-o", "/dev/null"] * count],
        capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_curl_keeps_its_connection(opener, site):
    status, lines, errors = curl(["-x", opener.url, "--cacert", opener.ca], f"{site.url}/get", 20)
    assert status == 0, errors
    # the tunnel and what is in it count as one
    assert lines == ["200 2 1"] + ["200 2 0"] * 19
    assert len(site.handshakes) == 1


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_in_each_version(opener, site, version):
    options = ["-x", opener.url, "--cacert", opener.ca, f"--tlsv{version}", "--tls-max", version]
    assert curl(options, f"{site.url}/get")[1] == ["200 2 1"]


def test_curl_without_the_authority_refuses(opener, site, certificates):
    status, _, errors = curl(["-x", opener.url, "--cacert", certificates.trust], f"{site.url}/get")
    assert status == 60, errors


def test_requests(opener, site, through):
    client = through(opener)
    client.verify = str(opener.ca)
    for _ in range(20):
        assert client.get(f"{site.url}/get", timeout=10).text == "hello"
    body = b"p" * 100_000
    for data in (body, (body[start:start + 9_999] for start in range(0, len(body), 9_999))):
        assert client.post(f"{site.url}/echo", data=data, timeout=10).content == body
    assert len(client.get(f"{site.url}/chunked", timeout=10).content) == 200_000
    assert len(site.handshakes) == 1
    client.verify = True
    client.close()
    with pytest.raises(requests.exceptions.SSLError):
        client.get(f"{site.url}/get", timeout=10)


def test_node_https(opener, site, trust):
    run([tool("node"), CLIENTS / "https.js"], opener, site, trust)


def test_node_fetch(opener, site, trust):
    body = b"f" * 100_000
    done = subprocess.run(
        [tool("node"), CLIENTS / "fetch.js", "connect", opener.url, "POST", f"{site.url}/echo", "{}"], input=body,
        capture_output=True, timeout=60, env=trust)
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert (answer["status"], base64.b64decode(answer["body"])) == (200, body)
    assert "usher" in site.requests[0].get("via")


def test_java(opener, site, tmp_path):
    """It offers h2 by ALPN and is content without."""
    tool("javac")
    store = tmp_path / "trust.p12"
    subprocess.run(
        [tool("keytool"), "-importcert", "-noprompt", "-alias", "usher", "-file", opener.ca, "-keystore", store,
         "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True, timeout=60)
    run([tool("java"), f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit",
         CLIENTS / "Client.java"], opener, site)


def test_go(opener, site, trust, tmp_path):
    program = tmp_path / "client"
    built = subprocess.run(
        [tool("go"), "build", "-o", program, CLIENTS / "client.go"], capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    run([program], opener, site, trust)


def test_aiohttp(opener, site, trust):
    """With an event stream that must not wait, and a WebSocket."""
    python = python_with_aiohttp()
    if not python:
        programs.missing("no Python here has aiohttp")
    run([python, CLIENTS / "client_aiohttp.py"], opener, site, trust)
    assert site.seen.empty()


# a proxy that is reached over TLS itself


@pytest.fixture
def shielded(opening, certificates):
    """A proxy at an https URL, which also opens tunnels."""
    identity = certificates.server("listener", names=["proxy.localhost", "localhost", "127.0.0.1"])
    usher = opening(
        listen=("https://127.0.0.1:0",), listener={"certificate": str(identity), "key": "${file:%s}" % identity})
    usher.url = f"https://127.0.0.1:{usher.port}"
    return usher


def test_curl_through_an_https_proxy(shielded, site, origin, certificates):
    plain = origin()
    proxy = ["-x", shielded.url, "--proxy-cacert", certificates.trust]
    assert curl(proxy, f"{plain.url}/")[1] == ["200 1.1 1"]
    # TLS in TLS
    status, lines, errors = curl([*proxy, "--cacert", shielded.ca], f"{site.url}/get", 5)
    assert (status, lines) == (0, ["200 2 1"] + ["200 2 0"] * 4), errors
    # whoever does not trust its certificate does not use it
    assert curl(["-x", shielded.url, "--proxy-cacert", shielded.ca], f"{plain.url}/")[0] == 60


def test_a_tunnel_through_an_https_proxy_is_relayed(opening, secure_origin, certificates):
    """Unopened: the two layers of TLS are different parties' own."""
    identity = certificates.server("listener", names=["127.0.0.1"])
    usher = opening(
        listen=("https://127.0.0.1:0",), intercept=[],
        listener={"certificate": str(identity), "key": "${file:%s}" % identity})
    server = secure_origin(origins.Site)
    status, lines, errors = curl(
        ["-x", f"https://127.0.0.1:{usher.port}", "--proxy-cacert", certificates.trust, "--cacert", certificates.trust],
        f"{server.url}/chunked")
    assert (status, lines) == (0, ["200 1.1 1"]), errors


def test_an_https_proxy_by_its_own_authority(opening, origin):
    """Without a certificate of its own for it."""
    usher = opening(listen=("https://127.0.0.1:0",))
    server = origin()
    status, lines, errors = curl(
        ["-x", f"https://127.0.0.1:{usher.port}", "--proxy-cacert", usher.ca], f"{server.url}/")
    assert (status, lines) == (0, ["200 1.1 1"]), errors


def test_it_is_announced_as_what_it_is(opening, origin):
    usher = opening(listen=("https://127.0.0.1:0", "127.0.0.1:0"))
    secure, plain = usher.listeners
    assert f"usher: listening on https://127.0.0.1:{secure}" in usher.errors
    assert f"usher: listening on 127.0.0.1:{plain}" in usher.errors
    # the set-up lines of its pages name it too
    with wire.Connection(("127.0.0.1", plain)) as client:
        page = client.exchange(wire.request("GET", "http://usher.proxy/")).body.decode()
    assert f"https://127.0.0.1:{secure}" in page


def test_who_refuses_the_proxys_own_certificate_is_told_what_helps(opening, origin, certificates):
    usher = opening(listen=("https://127.0.0.1:0",))
    proxy = ["-x", f"https://127.0.0.1:{usher.port}", "--proxy-cacert", certificates.trust]
    assert curl(proxy, f"{origin().url}/")[0] == 60

    def note():
        return [record["text"] for record in usher.records() if record.get("event") == "note"]

    [text] = usher.wait_for(note, "the note of the refusal")
    assert "the proxy itself" in text and "tls.listener" in text and "tls.except" not in text


def test_plain_http_at_an_https_proxy(shielded, origin):
    """It is told what is wrong, in the words that it understands."""
    with wire.Connection(("127.0.0.1", shielded.port)) as client:
        answer = client.exchange(wire.request("GET", f"{origin().url}/"))
        assert answer.status == 400
        assert "https://" in answer.body.decode()
        assert client.is_at_end()
