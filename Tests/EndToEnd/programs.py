"""The programs under test: started on free ports, read by their own output, stopped at the end."""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

import pytest

DEADLINE = 15.0
# a debug build lets others of its user see how many descriptors it has
TRACEABLE = {"USHER_TRACEABLE": "1"}


def missing(what):
    """Leaves a test out where a person runs it without something; where everything was seen to, that is a failure."""
    (pytest.fail if os.environ.get("USHER_TESTS_COMPLETE") else pytest.skip)(what)


def left_out(what):
    """Leaves a test out that needs something large, wherever it runs; the summary says so."""
    pytest.skip(what)


def eventually(condition, what, seconds=DEADLINE):
    """The first true value of `condition`, asked again and again; fails with `what` when none comes in time."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"did not happen within {seconds} s: {what}")
        pause.wait(0.01)


class Program:
    """A child whose output is kept line by line while it runs, and which may be told things."""

    def __init__(self, command, environment=None, listens=False, user=None, output=None):
        """`output` takes standard output in the place of `lines`."""
        self.command = [str(part) for part in command]
        self.lines = []
        self.errors = []
        self._changed = threading.Condition()
        self._open = 1 if output else 2
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE if listens else subprocess.DEVNULL, stdout=output or subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", env={**os.environ, **TRACEABLE, **(environment or {})}, user=user)
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.errors)) if pair[0]
        ]
        for reader in self._readers:
            reader.start()

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def _read(self, stream, into):
        for line in stream:
            with self._changed:
                into.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def wait_for(self, find, what, seconds=DEADLINE):
        """Waits until `find()`, asked after every new line, gives something true."""
        with self._changed:
            if not self._changed.wait_for(lambda: find() or self._open == 0, seconds) or not find():
                raise AssertionError(
                    f"{what}: not seen from {self.command[0]}\n" + "\n".join(self.lines[-20:] + self.errors[-20:]))
            return find()

    def ports(self, prefix, count):
        """The ports of the first `count` listeners, from lines like `usher: listening on 127.0.0.1:3128`."""
        pattern = re.compile(rf"^{prefix}: listening on .*:(\d+)\b")

        def found():
            matches = [pattern.match(line) for line in list(self.errors)]
            ports = [int(match.group(1)) for match in matches if match]
            return ports if len(ports) >= count else None

        return self.wait_for(found, f"{count} line(s) '{prefix}: listening on'")

    def stop(self, how=signal.SIGTERM):
        """Ends the program; its exit status, negative for a signal that killed it."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.command[0]} did not end on {how!r}") from None
        for reader in self._readers:
            reader.join(DEADLINE)
        return status

    # what /proc says

    def resident(self):
        """Resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) * 1024

    def descriptors(self):
        """Of a release build root alone may know."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def held(port):
    """How many connections to that port have an end that a client has not closed yet (proc(5): ESTABLISHED, CLOSE_WAIT)."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    return sum(int(row[2].rpartition(":")[2], 16) == port and row[3] in ("01", "08") for row in rows)


Flow = collections.namedtuple("Flow", "access events")


class Usher(Program):
    def __init__(self, binary, config, listen=("127.0.0.1:0",), environment=None, state=None, output=None):
        """`state` is the folder for what it keeps, its authority above all; else it has one that goes with it."""
        self.config = config
        environment = {"XDG_RUNTIME_DIR": "", **(environment or {})}
        if not state and "STATE_DIRECTORY" not in environment:
            self._folder = tempfile.TemporaryDirectory(prefix="usher-")
            state = self._folder.name
        if state:
            environment["STATE_DIRECTORY"] = str(state)
            self.ca = pathlib.Path(state) / "ca.pem"
        command = [binary, "serve", "--config", config]
        for address in listen:
            command += ["--listen", address]
        super().__init__(command, environment, output=output)
        self.listeners = self.ports("usher", len(listen))
        self.port = self.listeners[0]
        self.url = f"http://127.0.0.1:{self.port}"

    def records(self):
        return [json.loads(line) for line in list(self.lines) if line.startswith("{")]

    def flows(self, url_part):
        """The finished exchanges whose URL holds that text, each with the events that came before its access line."""
        records = self.records()
        return [
            Flow(access, [r for r in records if "event" in r and r["flow"] == access["flow"]])
            for access in records if "url" in access and url_part in access["url"]
        ]

    def flow(self, url_part, count=1):
        """The newest of at least `count` finished exchanges with that URL."""
        def found():
            flows = self.flows(url_part)
            return flows[-1] if len(flows) >= count else None

        return self.wait_for(found, f"access line {count} for {url_part}")

    def said(self, url_part, event, pattern=""):
        """The texts of one kind of event in the newest exchange with that URL, where they match."""
        return [
            e["text"] for e in self.flow(url_part).events
            if e["event"] == event and re.search(pattern, e["text"], re.IGNORECASE)
        ]


class Sandbox(Program):
    def __init__(self, binary, *switches, address="127.0.0.1:0", ca=None):
        """`ca` is the file that its authority is written to; with one it speaks HTTPS."""
        super().__init__([
            binary, "sandbox", "--listen", address, *(["--tls", "--ca-file", ca] if ca else []), *switches])
        self.port = self.ports("sandbox", 1)[0]
        self.host = "[::1]" if "[" in address else "127.0.0.1"
        self.ca = ca
        scheme = "https" if ca else "http"
        self.direct = f"{scheme}://{self.host}:{self.port}"
        self.am = f"{scheme}://am.localhost:{self.port}/am"
        self.shop = f"{scheme}://shop.localhost:{self.port}/shop"
        self.plain = f"{scheme}://plain.localhost:{self.port}/plain"
