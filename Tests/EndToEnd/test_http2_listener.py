"""The proxy itself at an https URL, in HTTP/2: clients that reach it so."""

import json
import subprocess

import pytest

import inside
import origins
import programs
import web
import wire
from test_browser import browse, home, trust  # noqa: F401
from test_http2_browser import EXPECTED
from test_http2_clients import CLIENTS, exchanges, tool


@pytest.fixture
def shielded(start, certificates, tmp_path):
    """A proxy at an https URL, by a certificate of its own authority, which also opens tunnels."""
    config = inside.config(certificates, intercept=["*.localhost"], ca={"constrain_to": ["localhost", "127.0.0.1"]})
    usher = start(config, listen=("https://127.0.0.1:0",), state=tmp_path)
    usher.url = f"https://127.0.0.1:{usher.port}"
    return usher


@pytest.fixture
def plain_site(origin):
    return origin(web.Web())


@pytest.fixture
def site(secure_origin):
    return secure_origin(origins.Site)


def spoken(usher, part, count):
    return {(line["method"], line["protocol"], line["origin_protocol"], line["status"]) for line in exchanges(usher, part, count)}


def test_what_is_agreed_on(shielded):
    with wire.Connection(("127.0.0.1", shielded.port)) as client:
        inside.secured(client, inside.trusting(shielded, protocols=["h2", "http/1.1"]), "127.0.0.1")
        assert client.socket.selected_alpn_protocol() == "h2"


def test_many_tunnels_on_one_connection(shielded, site, plain_site):
    done = subprocess.run(
        [tool("node"), CLIENTS / "http2_tunnels.js", shielded.url, site.authority, str(shielded.ca), "20", f"{plain_site.url}/get"],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[200, "hello"]] * 40
    # Node speaks HTTP/1 inside
    assert spoken(shielded, f"{site.authority}/get", 20) == {("GET", "HTTP/1.1", "HTTP/1.1", 200)}
    assert spoken(shielded, f"{plain_site.authority}/get", 20) == {("GET", "HTTP/2", "HTTP/1.1", 200)}
    # all by one connection to the proxy
    assert len({line["client"] for line in exchanges(shielded, "/get", 40)}) == 1


def test_nghttp(shielded, plain_site):
    done = subprocess.run(
        [tool("nghttp"), "--timeout=20", "-y", "-H", ":scheme: http", "-H", f":authority: {plain_site.authority}", "--multiply=10",
         f"{shielded.url}/get"], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout == "hello" * 10, done.stderr
    assert spoken(shielded, f"{plain_site.authority}/get", 10) == {("GET", "HTTP/2", "HTTP/1.1", 200)}


def test_curl(shielded, site, plain_site):
    known = subprocess.run([tool("curl"), "--help", "all"], capture_output=True, text=True, check=True).stdout
    if "--proxy-http2" not in known:
        programs.left_out("this curl speaks no HTTP/2 to proxies")
    done = subprocess.run(
        [tool("curl"), "-q", "-sS", "--proxy-http2", "-x", shielded.url, "--proxy-cacert", shielded.ca, "--cacert", shielded.ca,
         "--max-time", "20", f"{site.url}/get", f"{plain_site.url}/get"], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout == "hellohello", done.stderr
    assert spoken(shielded, f"{site.authority}/get", 1) == {("GET", "HTTP/2", "HTTP/1.1", 200)}
    assert spoken(shielded, f"{plain_site.authority}/get", 1) == {("GET", "HTTP/2", "HTTP/1.1", 200)}


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_browser(shielded, site, plain_site, browse, home, scheme):  # noqa: F811
    place = site if scheme == "https" else plain_site
    trust(shielded.ca, home)
    browse(shielded, f"{place.url}/")
    assert place.told.get(timeout=60) == EXPECTED
    assert spoken(shielded, f"{place.authority}/chunked", 1) == {("GET", "HTTP/2", "HTTP/1.1", 200)}
    assert {status for _, _, _, status in spoken(shielded, f"{place.authority}/socket", 1)} == {101}
