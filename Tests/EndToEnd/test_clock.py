"""The clock of the calendar is set while the daemon runs: dates follow it, and nothing else does."""

import datetime
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import threading
import time

import pytest

import people
import programs
import wire
from wire import Connection, request, response

HERE = pathlib.Path(__file__).resolve().parent
HOUR, YEAR = 3600, 365 * 86_400


class Clock:
    """Of one process, which may be set."""

    def __init__(self, library, file):
        self.file = file
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "USHER_TEST_CLOCK": str(file)}

    def set(self, ahead):
        # in place: whoever has it mapped sees it
        with open(self.file, "r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("l", ahead))


@pytest.fixture(scope="session")
def clock_library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("clang") or programs.missing("needs a C compiler")
    built = tmp_path_factory.mktemp("clock") / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", built, HERE / "clock.c", "-ldl"], check=True)
    return built


@pytest.fixture
def clock(clock_library, tmp_path):
    return Clock(clock_library, tmp_path / "clock")


def told(manager, seconds):
    """How many words for the watchdog come in that time."""
    manager.settimeout(0.2)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            count += manager.recv(4096) == b"WATCHDOG=1"
        except TimeoutError:
            pass
    return count


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 20 * YEAR], ids=["forward", "back", "far"])
def test_nothing_but_dates_follows_it(binary, write_config, state, tmp_path, origin, clock, jump):
    go = threading.Event()

    def answer(asked):
        if asked.target.endswith("slow"):
            assert go.wait(wire.TIMEOUT)
        return response(body=b"good")

    server = origin(answer)
    config = {"workers": 1, "timeouts": {"response": "20s", "idle": "30s", "drain": "5s"}}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        usher = programs.Usher(
            binary, write_config(config), state=state,
            environment={**clock.environment, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"})
        person = people.Person(binary, state)
        with Connection(("127.0.0.1", usher.port)) as kept, Connection(("127.0.0.1", usher.port)) as slow:
            assert kept.exchange(request("GET", f"{server.url}/")).status == 200
            slow.send(request("GET", f"{server.url}/slow"))
            programs.eventually(lambda: len(server.requests) == 2, "the request at the origin")
            before = usher.flow("/").access["time"]
            clock.set(jump)
            # the watch goes on as before: no word too few, and none in a hurry
            assert 2 <= told(manager, 2.5) <= 7
            answer = kept.exchange(request("GET", f"{server.url}/behind"))
            assert answer.status == 200
            go.set()
            assert slow.read_response().body == b"good"
        after = usher.flow("/behind").access
        moved = (moment(after["time"]) - moment(before)).total_seconds()
        assert abs(moved - jump) < 30 and after["ms"] < 5_000
        assert usher.flow("/slow").access["ms"] < 10_000
        status = person.asks("GET", "/v1/status")[1]
        assert 0 <= status["uptime_s"] < 60 and status["workers"][0]["stalls"] == 0
        assert person.says("reload").returncode == 0
        assert usher.stop() == 0
    assert not any("has been blocked" in line or "stuck" in line for line in usher.errors)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_an_authority_that_has_expired_is_named(start, state, clock):
    """Until it is seen to, the daemon goes on with what it has; one that starts says so and ends."""
    usher = start(
        {"tls": {"intercept": ["x.test"], "ca": {"constrain_to": ["x.test"]}}}, state=state, environment=clock.environment)
    person = people.Person(usher.command[0], state)
    clock.set(20 * YEAR)
    done = person.says("reload")
    assert done.returncode == 1 and "has expired; usher ca rotate creates another" in done.stderr, done
    second = subprocess.run(
        usher.command, capture_output=True, text=True, timeout=60,
        env={**person.environment, **clock.environment, "USHER_TRACEABLE": "1"})
    assert second.returncode == 1 and "has expired; usher ca rotate creates another" in second.stderr
    assert json.loads(person.says("status", "--json").stdout)["configuration"]["generation"] == 1
