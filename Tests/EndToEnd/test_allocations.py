"""What a plain kept-alive request costs the heap, once everything is warm: counted in the built program by a library that
is loaded before the C library. ALLOCATIONS_SHOW=20 shows the first ones with their backtraces."""

import json
import os
import pathlib
import socket
import sys

import pytest

import h2wire
import heap
import programs
import wire
from test_http2 import NewOrigin
from wire import Connection, request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RELEASE = ROOT / ".build/release/usher"
CEILINGS = json.loads((HERE / "allocations.json").read_text())
WARM, COUNTED = 300, 2000

# twenty of the kinds that people write, none of which applies
INTERCEPTORS = [
    {"name": f"rule {number}", "when": when, "request": [{"set_header": {"X-Mark": "1"}}]}
    for number, when in enumerate(
        [{"action": "LOGOUT"}, {"host": "api.example.com"}, {"path": "/admin/*"}, {"method": "DELETE"},
         {"header": {"X-Debug": "*"}}] * 4)]


def is_current(program):
    """Built from the sources as they are."""
    if not program.exists():
        return False
    newest = max(path.stat().st_mtime for path in (ROOT / "Sources").rglob("*") if path.is_file())
    return program.stat().st_mtime >= newest


@pytest.fixture(params=["release", "debug"])
def build(request, binary):
    """The name of a build, and its program."""
    if request.param == "release":
        if not is_current(RELEASE):
            programs.missing("there is no release build of these sources: make build")
        return request.param, RELEASE
    if pathlib.Path(binary).resolve() == RELEASE.resolve():
        pytest.skip("the program under test is the release build")
    return request.param, binary


@pytest.fixture
def counting(build, heap_library, write_config, tmp_path):
    """Starts a program whose allocations are counted: counting(configuration); gives it and `count(exchange)`."""
    running = []

    def run(config, **options):
        counter = heap.Counter(heap_library, tmp_path / "count")
        usher = programs.Usher(
            build[1], write_config({"workers": 1, "log": {"access": "json"}, "interceptors": INTERCEPTORS, **config}),
            environment=counter.environment, **options)
        running.append(usher)
        assert counter.count() > 0, "the library is not in use"

        def count(exchange):
            """Of each exchange, once everything is warm."""
            for _ in range(WARM):
                exchange()
            counter.show(int(os.environ.get("ALLOCATIONS_SHOW", "0")))
            before = counter.count()
            for _ in range(COUNTED):
                exchange()
            return (counter.count() - before) / COUNTED

        return usher, count

    yield run
    for usher in running:
        assert usher.stop() == 0
        shown = [line for line in usher.errors if not line.startswith("usher: ")]
        if shown:
            print("\n".join(shown), file=sys.stderr)


def within(each, *names):
    ceiling = CEILINGS[", ".join(names)]
    print(f"{', '.join(names)}: {each:.3f} allocations for each request, of {ceiling}")
    assert each <= ceiling, f"{each:.2f} allocations for each request"


@pytest.mark.parametrize("journal", [False, True], ids=["alone", "journal"])
def test_what_a_request_costs_the_heap(build, journal, counting, origin):
    usher, count = counting({} if journal else {"journal": {"memory": "0B"}})
    server = origin(lambda seen: wire.response(body=bytes(912)))
    data = request("GET", f"{server.url}/page", [("Accept", "*/*"), ("User-Agent", "counting/1.0")])
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(data).status == 200
        each = count(lambda: client.exchange(data))
    # what the journal keeps is made on a thread of its own
    within(each, build[0], *(["journal"] if journal else []))


FIELDS = [("accept", "*/*"), ("user-agent", "counting/1.0")]


def test_what_a_request_in_http2_costs_the_heap(build, counting, origin):
    """By prior knowledge, to an origin that speaks HTTP/1."""
    usher, count = counting({"journal": {"memory": "0B"}})
    server = origin(lambda seen: wire.response(body=bytes(912)))
    asked = h2wire.block("http", server.authority, "/page", FIELDS)
    with h2wire.Client(socket.create_connection(("127.0.0.1", usher.port), wire.TIMEOUT)) as client:
        assert len(client.get(asked)) == 912
        each = count(lambda: client.get(asked))
    within(each, build[0], "http2")


def test_what_a_request_in_http2_on_both_sides_costs_the_heap(build, counting):
    """Without TLS, of which each record costs OpenSSL some of its own."""
    server = NewOrigin()
    try:
        usher, count = counting({"journal": {"memory": "0B"}, "http2": {"cleartext": [server.authority]}})
        asked = h2wire.block("http", server.authority, "/get", FIELDS)
        with h2wire.Client(socket.create_connection(("127.0.0.1", usher.port), wire.TIMEOUT)) as client:
            assert client.get(asked) == b"hello"
            each = count(lambda: client.get(asked))
    finally:
        server.stop()
    within(each, build[0], "http2 on both sides")
