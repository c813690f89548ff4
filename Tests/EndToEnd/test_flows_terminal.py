"""Flows at a terminal: columns, colours, and following."""

import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import termios

import pytest

import programs
from looked import Site


@pytest.fixture
def site(binary, start, origin, through, state):
    def make(config=None):
        return Site(binary, start, origin, through, state, config)

    return make


class Terminal:
    """A command that believes to be at a terminal."""

    def __init__(self, person, arguments, columns=100, **variables):
        pid, self.master = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(
                person.binary, [str(person.binary), *map(str, arguments)],
                {**person.environment, "TERM": "xterm", "TZ": "UTC", **variables})
        self.pid = pid
        self.seen = b""
        self.status = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def read(self, seconds=10):
        """More of what it shows; nothing at its end."""
        if not select.select([self.master], [], [], seconds)[0]:
            raise AssertionError(f"nothing more came:\n{self.seen}")
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.seen += data
        return data

    def all(self):
        while self.read():
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.seen.decode()

    def until(self, text):
        while text.encode() not in self.seen:
            assert self.read(), self.seen
        return self.seen.decode()


def test_nothing_steers_a_terminal(site):
    place = site()
    place.get("/steering?x=%1b")
    id = place.flows(count=1)[0]["id"]
    for form in ([], ["--json"], ["--curl"]):
        text = place.person.says("flow", id, *form).stdout
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), (form, text)
    text = place.person.says("flows").stdout
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    with Terminal(place.person, ["flow", id, "--http"]) as terminal:
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", terminal.all())


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_columns_fit_the_terminal(site, columns):
    place = site()
    place.get("/json/" + "long/" * 60)
    place.get("/missing")
    place.flows(count=2)
    with Terminal(place.person, ["flows"], columns) as terminal:
        text = terminal.all()
    assert terminal.status == 0
    assert "\x1b[32m200" in text and "\x1b[33m404" in text and "\x1b[1mTIME" in text
    lines = re.sub("\x1b\\[[0-9]*m", "", text).replace("\r", "").splitlines()
    assert max(len(line) for line in lines) <= columns, lines
    assert "…" in lines[1]
    with Terminal(place.person, ["flows"], columns, NO_COLOR="1") as terminal:
        assert "\x1b" not in terminal.all()


def test_following(site):
    place = site()
    place.get("/json")
    place.flows(count=1)
    with Terminal(place.person, ["flows", "-f"], 160) as terminal:
        terminal.until("/json")
        place.get("/missing")
        assert "404" in terminal.until("/missing")
        place.get("/empty")
        terminal.until("/empty")
        os.kill(terminal.pid, signal.SIGINT)
        terminal.all()
        assert terminal.status == 0
    follower = programs.Program(
        [place.person.binary, "flows", "-f", "--json", "--limit", "0", "status=4xx"], place.person.environment)
    programs.eventually(lambda: follower.process.poll() is None, "it runs")
    def told():
        place.get("/missing")
        place.get("/json")
        return follower.lines
    programs.eventually(told, "an event")
    assert all(json.loads(line)["status"] == 404 for line in follower.lines)
    assert follower.stop() == 0


def test_a_follower_ends_with_the_daemon_and_with_its_reader(binary, write_config, origin, through, state):
    place = Site(binary, lambda config, state: programs.Usher(binary, write_config(config), state=state), origin, through, state)
    follower = programs.Program([place.person.binary, "flows", "-f", "--limit", "0"], place.person.environment)
    follower.wait_for(lambda: any("TIME" in line for line in follower.lines), "the heading")
    piped = subprocess.Popen(
        ["sh", "-c", f"{shlex.quote(str(place.person.binary))} flows -f --json --limit 0 | head -n 1"],
        stdout=subprocess.PIPE, env=place.person.environment)
    def ended():
        place.get("/json")
        return piped.poll() is not None
    programs.eventually(ended, "the pipe's end")
    assert json.loads(piped.stdout.read())["status"] == 200
    assert place.usher.stop() == 0
    assert follower.process.wait(15) == 1
    follower.wait_for(lambda: any("has stopped" in line or "sends nothing" in line for line in follower.errors), "why")
