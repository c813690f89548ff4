"""gRPC as Google's own library speaks it: calls of every kind through CONNECT, with TLS that is opened and without."""

import os
import subprocess

import pytest

import origins
import programs
from test_http2_clients import CLIENTS, exchanges, python

MARK = [{"name": "mark", "request": [{"set_header": {"X-Added": "yes"}}]}]


class Server(programs.Program):
    """clients/grpc_server.py."""

    def __init__(self, identity=None):
        super().__init__([python(), CLIENTS / "grpc_server.py", *([identity] if identity else [])])
        self.port = int(self.wait_for(lambda: self.lines and self.lines[0], "the port"))
        self.authority = f"{origins.NAME if identity else '127.0.0.1'}:{self.port}"


@pytest.fixture
def server():
    """Starts servers: server(identity)."""
    running = []

    def run(identity=None):
        running.append(Server(identity))
        return running[-1]

    yield run
    for program in running:
        program.stop()


def call(usher, place, *authority, proxy=None):
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run(
        [python(), CLIENTS / "client_grpc.py", proxy or usher.url, place.authority, *map(str, authority)], env=clean,
        capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr[-3000:]
    place.wait_for(lambda: place.lines.count("given up") == 2, "the server is told that both calls are given up")


def spoke(usher, place):
    lines = exchanges(usher, f"{place.authority}/test.Calls/", 62)
    assert {(line["protocol"], line["origin_protocol"], line["method"]) for line in lines} == {("HTTP/2", "HTTP/2", "POST")}
    # a failure of gRPC is no failure of HTTP
    assert {line["status"] for line in lines} == {200}


def test_over_tls_that_is_opened(opening, server, certificates):
    usher, place = opening({"interceptors": MARK}), server(certificates.good)
    call(usher, place, usher.ca)
    spoke(usher, place)


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "unnamed"])
def test_without_tls(opening, server, is_named):
    place = server()
    # what a client begins with inside a tunnel says enough of the origin where nothing else does
    usher = opening({"interceptors": MARK, "http2": {"cleartext": [place.authority] if is_named else []}})
    call(usher, place)
    spoke(usher, place)


def test_by_prior_knowledge(start, server):
    place = server()
    usher = start({"workers": 1, "http2": {"cleartext": [place.authority]}, "interceptors": MARK})
    call(usher, place, proxy=f"h2c://127.0.0.1:{usher.port}")
    spoke(usher, place)


def relayed(usher, place):
    assert usher.flow(place.authority).access["method"] == "CONNECT"
    assert len(usher.flows(place.authority)) == 1


def test_over_tls_that_is_not_opened(opening, server, certificates):
    usher, place = opening(intercept=[]), server(certificates.good)
    call(usher, place, certificates.trust)
    relayed(usher, place)


def test_without_tls_where_no_tls_is_opened(start, server):
    # it makes no difference whether the server or the client is heard first
    usher, place = start({"workers": 1}), server()
    call(usher, place)
    spoke(usher, place)


def test_without_tls_where_clients_are_not_spoken_to_so(start, server):
    usher, place = start({"workers": 1, "http2": {"clients": False}}), server()
    call(usher, place)
    relayed(usher, place)
