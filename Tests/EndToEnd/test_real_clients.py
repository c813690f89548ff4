"""Clients that people's programs are made of, each as it comes: twenty requests on a kept connection, a body with a length
and one in chunks there and back, an answer in chunks. What the machine does not have is left out, and said."""

import pathlib
import shutil
import subprocess

import pytest

import programs
import web

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"


def python_with_aiohttp():
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", "import aiohttp"], capture_output=True).returncode == 0:
            return python
    return None


def tool(*names):
    for name in names:
        if shutil.which(name):
            return name
    programs.missing(f"{names[0]} is not installed")


@pytest.fixture
def site(origin):
    return origin(web.Web())


def run(command, usher, site, environment=None):
    done = subprocess.run(
        [*map(str, command), str(usher.port), site.url], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr[-2000:]
    # all of it came through the proxy
    assert site.requests
    for request in site.requests:
        assert "usher" in (request.get("via") or ""), request.line
    assert sum(request.target == "/get" for request in site.requests) >= 20


def test_java(plain_usher, site):
    """It offers h2c on plain requests, which must not travel."""
    tool("javac")
    run([tool("java"), CLIENTS / "Client.java"], plain_usher, site)
    assert not any(request.get("upgrade") for request in site.requests)


def test_aiohttp(plain_usher, site):
    """With an event stream that must not wait, and a WebSocket."""
    python = python_with_aiohttp()
    if not python:
        programs.missing("no Python here has aiohttp")
    run([python, CLIENTS / "client_aiohttp.py"], plain_usher, site)
    assert site.seen.empty()


def test_node_http(plain_usher, site):
    run([tool("node"), CLIENTS / "http.js"], plain_usher, site)


def test_go(plain_usher, site, tmp_path):
    program = tmp_path / "client"
    built = subprocess.run(
        [tool("go"), "build", "-o", program, CLIENTS / "client.go"], capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    run([program], plain_usher, site)


def test_rust(plain_usher, site, tmp_path):
    program = tmp_path / "client"
    built = subprocess.run(
        [tool("rustc"), "-O", "-o", program, CLIENTS / "client.rs"], capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    run([program], plain_usher, site)


def test_curl_keeps_its_connection(plain_usher, site):
    done = subprocess.run(
        [tool("curl"), "-q", "-sS", "-x", plain_usher.url, "--max-time", "20", *[f"{site.url}/get"] * 20,
         "-w", "%{num_connects}\n", "-o", "/dev/null", *["-o", "/dev/null"] * 19],
        capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert [int(line) for line in done.stdout.split()] == [1] + [0] * 19


def test_requests(plain_usher, site, through):
    client = through(plain_usher)
    for _ in range(20):
        assert client.get(f"{site.url}/get", timeout=10).text == "hello"
    body = b"p" * 100_000
    for data in (body, (body[start:start + 9_999] for start in range(0, len(body), 9_999))):
        assert client.post(f"{site.url}/echo", data=data, timeout=10).content == body
    assert len(client.get(f"{site.url}/chunked", timeout=10).content) == 200_000
