"""Loops that stand still, and what the service manager hears meanwhile."""

import json
import os
import re
import resource
import signal
import socket
import threading
import time

import pytest

import faults
import people
import programs
import wire
from wire import Connection, request, response


@pytest.fixture
def manager(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(wire.TIMEOUT)
        yield manager


@pytest.fixture
def stalling(binary, write_config):
    """Only a debug build can be told to stand still."""
    if not faults.plans(binary, write_config({"workers": 1}, "plans.yaml")):
        pytest.skip("a release build has no fault plan")


def watched(tmp_path, interval=1_000_000, **more):
    return {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": str(interval), **more}


def test_the_watchdog_is_fed(binary, write_config, manager, tmp_path):
    usher = programs.Usher(binary, write_config({"workers": 2}), environment=watched(tmp_path))
    said = [manager.recv(4096) for _ in range(5)]
    assert said[0].startswith(b"READY=1") and said[1:] == [b"WATCHDOG=1"] * 4
    assert usher.stop() == 0


def test_another_process_s_watchdog_is_not(binary, write_config, manager, tmp_path):
    usher = programs.Usher(
        binary, write_config({"workers": 1}), environment=watched(tmp_path, 200_000, WATCHDOG_PID="1"))
    assert manager.recv(4096).startswith(b"READY=1")
    assert usher.stop() == 0
    assert manager.recv(4096) == b"STOPPING=1"


def test_a_loop_that_stands_still_is_told_and_starves_the_watchdog(binary, write_config, manager, tmp_path, origin, state, stalling):
    """A call of one loop takes three seconds. The line names what the loop is at, and the watchdog hears nothing."""
    server = origin()
    usher = programs.Usher(
        binary, write_config({"workers": 1}), state=state,
        environment=watched(tmp_path, 2_000_000, USHER_FAULT="recv:1:STALL"))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        usher.wait_for(
            lambda: any(re.match(r"usher: worker 0 has been blocked for 1\.\d s: it handles data of a client", line) for line in usher.errors),
            "what the loop is at")
        status = people.Person(binary, state).asks("GET", "/v1/status")[1]
        assert status["workers"][0]["stalls"] == 1 and "has been blocked" in status["faults"][-1]["text"]
        assert client.read_response().status == 200
    usher.wait_for(lambda: any("worker 0 runs again after" in line for line in usher.errors), "the end of it")
    # from a second before the line until it turns again no word went out
    manager.settimeout(0.1)
    words = 0
    try:
        while True:
            words += b"WATCHDOG" in manager.recv(4096)
    except TimeoutError:
        pass
    assert words < 8
    assert usher.stop() == 0


def test_a_loop_that_never_turns_again_is_left_to_the_service_manager(binary, write_config, manager, tmp_path, origin, stalling):
    server = origin()
    usher = programs.Usher(
        binary, write_config({"workers": 2}), environment=watched(tmp_path, 400_000, USHER_FAULT="recv:1:HANG"))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        usher.wait_for(lambda: any("has been blocked for" in line for line in usher.errors), "the line")
    manager.settimeout(0.5)
    with pytest.raises(TimeoutError):
        while True:
            manager.recv(4096)
    usher.process.kill()
    usher.stop()


def test_a_process_that_stood_still_blames_no_loop(start):
    usher = start({"workers": 1})
    usher.process.send_signal(signal.SIGSTOP)
    threading.Event().wait(1.6)
    usher.process.send_signal(signal.SIGCONT)
    threading.Event().wait(0.6)
    assert not any("has been blocked" in line for line in usher.errors)


# descriptors


def spent(pid):
    """Seconds of CPU."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.alone
def test_where_descriptors_run_out_accepting_pauses(start, origin):
    """Those who wait cost nothing, and are served as soon as others have gone."""
    usher = start({"workers": 1, "limits": {"per_client": 4096}})
    server = origin()
    resource.prlimit(usher.process.pid, resource.RLIMIT_NOFILE, (64, 64))
    held = [Connection(("127.0.0.1", usher.port)) for _ in range(120)]
    try:
        usher.wait_for(
            lambda: any(json.loads(line).get("text", "").startswith("a connection could not be accepted")
                        for line in usher.lines if line.startswith("{")) or any("could not be accepted" in line for line in usher.lines + usher.errors),
            "the word")
        before, began = spent(usher.process.pid), time.monotonic()
        threading.Event().wait(1.5)
        used = (spent(usher.process.pid) - before) / (time.monotonic() - began)
        assert used < 0.25, f"{used:.0%} of a core while it waits"
    finally:
        for one in held[:110]:
            one.close()
    # one that waited is served now
    assert held[115].exchange(request("GET", f"{server.url}/")).status == 200
    for one in held[110:]:
        one.close()
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
