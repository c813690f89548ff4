"""What a plain kept-alive request costs the heap, once everything is warm: counted in the built program by a library that
is loaded before the C library. ALLOCATIONS_SHOW=20 shows the first ones with their backtraces."""

import json
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest

import programs
import wire
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


class Counter:
    """The number in the file that the library writes to."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 16)

    def value(self):
        return struct.unpack("Q", self.memory[:8])[0]

    def show(self, number):
        self.memory[8:] = struct.pack("q", number)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        programs.missing("there is no C compiler")
    built = tmp_path_factory.mktemp("allocations") / "allocations.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", built, HERE / "allocations.c", "-ldl"], check=True)
    return built


def is_current(program):
    """Built from the sources as they are."""
    if not program.exists():
        return False
    newest = max(path.stat().st_mtime for path in (ROOT / "Sources").rglob("*") if path.is_file())
    return program.stat().st_mtime >= newest


@pytest.mark.parametrize("journal", [False, True], ids=["alone", "journal"])
@pytest.mark.parametrize("build", ["release", "debug"])
def test_what_a_request_costs_the_heap(build, journal, binary, library, origin, write_config, tmp_path):
    if build == "release":
        if not is_current(RELEASE):
            programs.missing("there is no release build of these sources: make build")
        binary = RELEASE
    elif pathlib.Path(binary).resolve() == RELEASE.resolve():
        pytest.skip("the program under test is the release build")
    counter = Counter(tmp_path / "count")
    config = write_config({"workers": 1, "log": {"access": "json"}, "interceptors": INTERCEPTORS,
                           **({} if journal else {"journal": {"memory": "0B"}})})
    usher = programs.Usher(
        binary, config, environment={"LD_PRELOAD": str(library), "ALLOCATIONS": str(tmp_path / "count")})
    server = origin(lambda seen: wire.response(body=bytes(912)))
    data = request("GET", f"{server.url}/page", [("Accept", "*/*"), ("User-Agent", "counting/1.0")])
    try:
        assert counter.value() > 0, "the library is not in use"
        with Connection(("127.0.0.1", usher.port)) as client:
            for _ in range(WARM):
                assert client.exchange(data).status == 200
            counter.show(int(os.environ.get("ALLOCATIONS_SHOW", "0")))
            before = counter.value()
            for _ in range(COUNTED):
                client.exchange(data)
            each = (counter.value() - before) / COUNTED
    finally:
        assert usher.stop() == 0
    shown = [line for line in usher.errors if not line.startswith("usher: ")]
    if shown:
        print("\n".join(shown), file=sys.stderr)
    print(f"{build}: {each:.3f} allocations for each request")
    # what the journal keeps is made on a thread of its own
    ceiling = CEILINGS[build + (", journal" if journal else "")]
    assert each <= ceiling, f"{each:.2f} allocations for each request"
