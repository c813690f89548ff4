"""Proxies with scripts, whose processes belong to another user where the tests run as root."""

import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import pytest

import programs
from wire import Connection, request, response

ROOT = pathlib.Path(__file__).resolve().parents[2]
START = "/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Login"
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def folder():
    """A folder that another user may read."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="usher-scripts-"))
    path.chmod(0o755)
    for client in ("node", "python"):
        shutil.copytree(ROOT / "clients" / client, path / client)
    yield path
    shutil.rmtree(path)


class Usher(programs.Usher):
    """A proxy that reads its configuration again."""

    def wait_error(self, words):
        return self.wait_for(lambda: any(words in line for line in self.errors + self.lines), words)

    def reload(self, fails=False):
        before = len(self.errors)
        self.process.send_signal(signal.SIGHUP)
        words = "was not reloaded" if fails else "is in force"
        self.wait_for(lambda: any(words in line for line in list(self.errors)[before:]), words)


@pytest.fixture
def play(binary, origin, folder):
    """Starts the program with a script in front of a server that is AM and application at once."""
    running = []

    def begin(files, script, answer=lambda _: response(body=b"ok"), when=None, others=(), **more):
        for name, text in files.items():
            (folder / name).write_text(text)
        server = origin(answer)
        rule = {"name": "mine", "script": terms(script), **({"when": when} if when else {})}
        config = folder / "usher.yaml"

        def write(rule):
            config.write_text(json.dumps({
                "version": 1,
                "am": [{"url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"]}],
                "interceptors": [rule, *others], **more}))

        write(rule)
        usher = Usher(binary, config)
        running.append(usher)

        def client():
            return Connection(("127.0.0.1", usher.port))

        own = client()

        def send(target="/", method="GET", fields=(), body=b"", host="app.localhost", by=own):
            before = len(server.requests)
            got = by.exchange(request(method, f"http://{host}:{server.port}{target}", fields, body))
            return (server.requests[before] if len(server.requests) > before else None), got

        send.usher, send.server, send.client, send.rule, send.write = usher, server, client, rule, write
        return send

    yield begin
    for usher in running:
        assert usher.stop() == 0, "\n".join(usher.errors[-20:])


def terms(script):
    return {**({"user": "nobody"} if IS_ROOT and "run" in script else {}), **script}


def node(text, **more):
    return {"script.mjs": f"import * as usher from './node/lib/scripts.js'\n{text}\n"}, {"run": ["node", "script.mjs"], **more}


def serve(text, **more):
    return node(f"usher.serve({{ {text} }})", **more)


def python(text, **more):
    return {"script.py": text}, {"run": [sys.executable, "script.py"], "environment": {"PYTHONPATH": "python/src"}, **more}
