"""http://usher.proxy/, through the proxy."""

import signal
import ssl

import pytest

import programs
from wire import Connection, request


@pytest.fixture
def usher(binary, write_config, state, call):
    assert call("ca", "show").returncode == 0
    program = programs.Usher(binary, write_config({}), environment={"STATE_DIRECTORY": str(state)})
    yield program
    assert program.stop() == 0


@pytest.fixture
def ask(usher):
    def run(path, method="GET", fields=()):
        with Connection(("127.0.0.1", usher.port)) as client:
            return client.exchange(request(method, f"http://usher.proxy{path}", fields), method)

    return run


def test_the_page(ask, usher, call):
    answer = ask("/")
    assert answer.status == 200
    assert answer.get("content-type") == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.get("content-security-policy")
    text = answer.body.decode()
    assert call("ca", "show").stdout.split("SHA-256")[1].split()[0] in text
    assert f"http://127.0.0.1:{usher.port}" in text
    access = usher.flow("usher.proxy/").access
    assert access["status"] == 200 and access["flow"] == answer.get("usher-flow")


def test_the_ca_in_every_form(ask, state):
    pem = ask("/ca.pem")
    assert pem.body == (state / "ca.pem").read_bytes()
    der = ask("/ca.cer")
    assert der.get("content-type") == "application/x-x509-ca-cert"
    assert der.body == ssl.PEM_cert_to_DER_cert(pem.body.decode())
    assert ask("/ca.p12").body[:1] == b"\x30"
    for path in ("/ca.pem", "/ca.cer", "/ca.p12"):
        assert b"PRIVATE" not in ask(path).body
        head = ask(path, "HEAD")
        assert int(head.get("content-length")) == len(ask(path).body)


def test_health(ask):
    assert ask("/health").body == b"ok\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_it_is_read_only(ask, method):
    answer = ask("/", method)
    assert answer.status == 405 and answer.get("allow") == "GET, HEAD"


@pytest.mark.parametrize("path", ["/nope", "/ca.key", "/../ca.key", "/%2e%2e/ca.key", "//", "/health/"])
def test_there_is_nothing_else(ask, path):
    answer = ask(path)
    assert answer.status == 404 and b"http://usher.proxy/" in answer.body


def test_inside_a_tunnel(usher):
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send("CONNECT usher.proxy:80 HTTP/1.1\r\nHost: usher.proxy:80\r\n\r\n")
        assert client.read_head().status == 200
        assert client.exchange("GET /health HTTP/1.1\r\nHost: usher.proxy\r\n\r\n").body == b"ok\n"
        # garbage is answered and the tunnel closed
        client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert client.read_response().status == 400
        assert client.is_at_end()


def test_asked_as_if_the_proxy_were_the_server(usher):
    with Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{usher.port}\r\n\r\n")
    assert answer.status == 400 and b"http://usher.proxy/" in answer.body


def test_without_a_ca_the_page_says_so(start, tmp_path):
    usher = start({}, environment={"STATE_DIRECTORY": str(tmp_path / "none")})
    with Connection(("127.0.0.1", usher.port)) as client:
        assert b"no CA yet" in client.exchange(request("GET", "http://usher.proxy/")).body
        assert client.exchange(request("GET", "http://usher.proxy/ca.pem")).status == 404
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["admin.sock"]


def test_a_reload_shows_the_new_ca(usher, ask, call, state):

    old = ask("/ca.pem").body
    assert call("ca", "rotate").returncode == 0
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
    assert programs.eventually(lambda: ask("/ca.pem").body != old, "the new CA")
    assert ask("/ca.pem").body == (state / "ca.pem").read_bytes()
