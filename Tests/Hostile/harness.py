"""What every attack stands on: numbered inputs in a few threads for a bounded time, and what was found."""

import os
import collections
import contextlib
import json
import socket
import sys
import threading
import time
import traceback

import programs
import wire

THREADS = 4
# nothing that the proxy is told may keep its client waiting longer
PATIENCE = 8.0
TIMEOUTS = {
    "header": "1s", "idle": "2s", "response": "2s", "connect": "1s", "tls": "1s", "tunnel_idle": "2s", "half_closed": "1s"}
GROWN_MIB = 96
GROWN_DESCRIPTORS = 40


class Violation(Exception):
    """The proxy did what it must not."""


class Ledger:
    """The counts of one attack, and the inputs that it must not have come through."""

    def __init__(self, name, seconds, first, only=None):
        self.name, self.seconds, self.first, self.only = name, seconds, first, only
        self.outcomes = collections.Counter()
        self.violations = []
        self._lock = threading.Lock()
        self._next = first

    @property
    def inputs(self):
        return sum(self.outcomes.values())

    def take(self):
        with self._lock:
            number = self._next
            self._next += 1
            return number

    def count(self, outcome):
        with self._lock:
            self.outcomes[outcome] += 1

    def violated(self, number, words):
        with self._lock:
            self.violations.append((number, words))

    def run(self, attack):
        """Calls `attack(thread)(number)` with number after number until the time is over; it names the outcome."""
        end = time.monotonic() + self.seconds
        threads = [
            threading.Thread(target=self._work, args=(attack, index, end), daemon=True)
            for index in range(1 if self.only is not None else THREADS)]
        for thread in threads:
            thread.start()
        shown = sys.stderr.isatty()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)
                if shown:
                    print(f"\r{self.name:<15}{self.inputs:>8} inputs, {max(0, end - time.monotonic()):3.0f} s left ",
                          end="", file=sys.stderr, flush=True)
                if time.monotonic() > end + 4 * PATIENCE:
                    self.violated(0, "a thread of the run hangs")
                    return
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _work(self, attack, index, end):
        try:
            with contextlib.ExitStack() as stack:
                one = attack(index, stack)
                while time.monotonic() < end and len(self.violations) < 10:
                    number = self.take() if self.only is None else self.only
                    try:
                        self.count(one(number))
                    except Violation as found:
                        self.violated(number, str(found))
                    if self.only is not None:
                        return
        except Exception:
            self.violated(0, "the run itself failed: " + traceback.format_exc())


class World:
    """A proxy of its own for one attack, looked at before and after."""

    def __init__(self, binary, folder, config, listen=("127.0.0.1:0",)):
        path = folder / "usher.yaml"
        path.write_text(json.dumps({
            "version": 1, "workers": 1, "timeouts": TIMEOUTS, "log": {"access": "none"}, **config}))
        self.usher = programs.Usher(binary, path, listen=listen, state=folder)
        self.address = ("127.0.0.1", self.usher.port)
        self.good = wire.Answering(lambda seen: wire.response(body=b"good"))

    def settle(self):
        """Memory and descriptors are held against those after the first good requests."""
        for _ in range(20):
            self._ask()
        self.memory, self.descriptors = self.usher.resident(), self.usher.descriptors()

    def _ask(self):
        with wire.Connection(self.address) as client:
            answer = client.exchange(wire.request("GET", f"{self.good.url}/good"))
            if (answer.status, answer.body) != (200, b"good"):
                raise Violation(f"a good request was answered {answer.line!r}")

    def end(self, ledger):
        """The proxy lives, serves, holds no more than before, and ends when told to."""
        if self.usher.process.poll() is not None:
            ledger.violated(0, f"the proxy ended with {self.usher.process.returncode}:\n" + "\n".join(self.usher.errors[-30:]))
            return
        try:
            self._ask()
            programs.eventually(
                lambda: self.usher.descriptors() <= self.descriptors + GROWN_DESCRIPTORS, "descriptors are given back", 20)
            grown = (self.usher.resident() - self.memory) / (1 << 20)
            # a sanitizer's own memory hides the program's
            if grown > GROWN_MIB and not any(name in os.environ for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")):
                ledger.violated(0, f"memory grew by {grown:.0f} MiB")
        except (Violation, AssertionError, OSError, EOFError) as found:
            ledger.violated(0, f"afterwards: {found}")
        status = self.usher.stop()
        if status != 0:
            ledger.violated(0, f"the proxy ended with status {status}:\n" + "\n".join(self.usher.errors[-30:]))
        self.good.close()


def everything(connection):
    """All that comes until the end. A reset is an end as well; a time-out is not."""
    read = b""
    while True:
        try:
            piece = connection.socket.recv(65536)
        except TimeoutError:
            raise Violation(f"no end within {PATIENCE} s; read {read[:300]!r}") from None
        except ConnectionResetError:
            return read
        if not piece:
            return read
        read += piece


def say(address, data, close=True, connect=None):
    """What a proxy, or anybody, answers to these bytes and the end behind them, in a tunnel where `connect` asks for one."""
    with wire.Connection(address) as client:
        client.socket.settimeout(PATIENCE)
        if connect is not None:
            client.send(connect)
            head = client.read_until(b"\r\n\r\n")
            if b" 200 " not in head:
                raise Violation(f"CONNECT was answered {head[:200]!r}")
        # whoever is refused may be left before everything is said
        with contextlib.suppress(OSError):
            client.send(data)
            if close:
                client.socket.shutdown(socket.SHUT_WR)
        return everything(client)


def answers(read, methods=()):
    """Splits what came into (status, head, body) of final responses; raises where it is no HTTP/1. The last may be cut."""
    found = []
    methods = list(methods)
    while read:
        head, mark, rest = read.partition(b"\r\n\r\n")
        if not mark:
            raise Violation(f"an answer without an end of its head: {read[:200]!r}")
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise Violation(f"no status line: {lines[0]!r}")
        fields = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise Violation(f"a field that is none: {line!r}")
            fields.setdefault(name.lower(), []).append(value.strip())
        status = int(parts[1])
        if 100 <= status < 200 and status != 101:
            read = rest
            continue
        method = methods.pop(0) if methods else "GET"
        body, read = body_of(status, fields, rest, method)
        found.append((status, fields, body))
        if status == 101:
            break
    return found


def body_of(status, fields, rest, method):
    if "transfer-encoding" in fields and "content-length" in fields:
        raise Violation("an answer with two framings")
    if method == "HEAD" or status in (204, 304, 101):
        return b"", rest
    if fields.get("transfer-encoding") == ["chunked"]:
        return chunks(rest)
    lengths = fields.get("content-length", [])
    if len(lengths) > 1 or lengths and not lengths[0].isdigit():
        raise Violation(f"lengths {lengths}")
    if lengths:
        return rest[:int(lengths[0])], rest[int(lengths[0]):]
    return rest, b""


def chunks(rest):
    body = b""
    while True:
        line, mark, rest = rest.partition(b"\r\n")
        if not mark:
            # cut, which the client sees
            return body, b""
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:
            raise Violation(f"no chunk size: {line[:50]!r}") from None
        if size == 0:
            while rest:
                line, _, rest = rest.partition(b"\r\n")
                if not line:
                    break
            return body, rest
        body, rest = body + rest[:size], rest[size + 2:]
