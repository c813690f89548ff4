"""Somebody who answers what a daemon asks: by commands, and by its control socket."""

import http.client
import json
import os
import pty
import select
import socket
import subprocess

import programs
import shop
import wire

SECRET = "changeit"


class ControlSocket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=15)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(15)
        self.sock.connect(self.path)


class Person:
    """Sits beside a daemon whose state directory this is."""

    def __init__(self, binary, state):
        self.binary = binary
        self.socket = state / "admin.sock"
        self.environment = {**os.environ, "STATE_DIRECTORY": str(state), "XDG_RUNTIME_DIR": "", "HOME": str(state)}
        self.environment.pop("RUNTIME_DIRECTORY", None)

    def says(self, *arguments, given="", **variables):
        """Runs a command to its end."""
        return subprocess.run(
            [self.binary, *map(str, arguments)], input=given, capture_output=True, text=True, timeout=60,
            env={**self.environment, **variables})

    def asks(self, method, path, body=None, **headers):
        """Status and JSON of one request at the socket."""
        connection = ControlSocket(self.socket)
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, json.loads(text)

    def waiting(self):
        return self.asks("GET", "/v1/transactions")[1]["transactions"]

    def sees(self, count=1):
        """What waits, as soon as so many do."""
        def found():
            waiting = self.waiting()
            return waiting if len(waiting) >= count else None

        return programs.eventually(found, f"{count} wait for a person")

    def answers(self, transaction, name="demo", password=SECRET):
        """Everything that it asks for."""
        texts = {"NameCallback": name, "PasswordCallback": password}
        answers = [{"callback": c["index"], "value": texts[c["type"]]} for c in transaction["callbacks"]]
        return self.asks("POST", f"/v1/transactions/{transaction['id']}/answer", {"answers": answers})


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, binary, person, *arguments):
        # its end stays open here, so that what was written just before the program ended can still be read
        self.ours, self.theirs = pty.openpty()
        self.shown = b""
        self.child = subprocess.Popen(
            [binary, *arguments], stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, env=person.environment,
            start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.theirs)
        os.close(self.ours)

    def reads(self, until):
        """Reads until that is shown."""
        while until not in self.shown:
            self.look()

    def look(self):
        ready, _, _ = select.select([self.ours], [], [], programs.DEADLINE)
        assert ready, self.shown
        self.shown += os.read(self.ours, 65536)

    def types(self, keys):
        """Types, and reads what is shown meanwhile: a terminal holds little of either."""
        while keys:
            readable, writable, _ = select.select([self.ours], [self.ours], [], programs.DEADLINE)
            assert readable or writable, self.shown
            if readable:
                self.look()
            else:
                keys = keys[os.write(self.ours, keys[:256]):]

    def ends(self):
        return self.child.wait(programs.DEADLINE)


class App(wire.Connection):
    """One request of an app that knows nothing of AM, and waits."""

    def __init__(self, usher, sandbox, token, path):
        super().__init__(("127.0.0.1", usher.port))
        self.send(wire.request("GET", f"{sandbox.shop}{path}", [("Cookie", f"{shop.COOKIE}={token}")]))

    def answer(self):
        return self.read_response()
