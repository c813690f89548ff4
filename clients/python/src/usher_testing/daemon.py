"""A running daemon: found by the environment, or started here."""

from __future__ import annotations

import os
import pathlib
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from .api import OpenedSession
from .control import Control, UsherError
from .session import Usher

Overlay = Mapping[str, Any] | str | os.PathLike[str]
START_TIMEOUT = 20.0


class Daemon:
    """Opens test sessions at one daemon."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self._folder = tempfile.TemporaryDirectory(prefix="usher-")
        self._ca_file: str | None = None
        self._knows_ca = False

    @classmethod
    def found(cls, environ: Mapping[str, str] = os.environ) -> Daemon | None:
        """The daemon of USHER_SOCKET, or of USHER_URL with USHER_TOKEN; None if neither is set."""
        if environ.get("USHER_SOCKET"):
            return cls(Control(socket=environ["USHER_SOCKET"]))
        if environ.get("USHER_URL"):
            return cls(Control(url=environ["USHER_URL"], token=environ.get("USHER_TOKEN", "")))
        return None

    def session(
        self, name: str = "test", overlay: Overlay | None = None, ttl: str | None = None, port: bool = False
    ) -> Usher:
        """Opens a session. `overlay` is a map, or the path of a YAML file; ${env.NAME} in it is read here."""
        body: dict[str, Any] = {"name": session_name(name), "ttl": ttl, "port": port or None}
        if isinstance(overlay, Mapping):
            body["overlay"] = dict(overlay)
        elif overlay is not None:
            body |= {"overlay": pathlib.Path(overlay).read_text(encoding="utf-8"), "file": os.fspath(overlay)}
        read = re.findall(r"\$\{env\.([^}]+)\}", str(body.get("overlay", "")))
        body["variables"] = {name: os.environ[name] for name in read if name in os.environ}
        opened: OpenedSession = self.control.ask(
            "POST", "/v1/sessions", {key: value for key, value in body.items() if value is not None})
        session = Usher(self.control, opened, None)
        session.ca_file = self._ca(session)
        return session

    def _ca(self, session: Usher) -> str | None:
        if not self._knows_ca:
            self._ca_file = self._fetched_ca()
            self._knows_ca = True
        return self._ca_file

    def _fetched_ca(self) -> str | None:
        """Asks the proxy for its CA, in a session of its own, and puts it behind those of the system."""
        opened: OpenedSession = self.control.ask("POST", "/v1/sessions", {"ttl": "1m"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": opened["proxy"]}))
        try:
            with opener.open("http://usher.proxy/ca.pem", timeout=15) as response:
                authority: bytes = response.read()
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise UsherError(f"the proxy does not give its CA: {error}") from error
        finally:
            self.control.ask("DELETE", f"/v1/sessions/{opened['id']}")
        usual = ssl.get_default_verify_paths().cafile
        known = pathlib.Path(usual).read_bytes() if usual and os.path.exists(usual) else b""
        path = pathlib.Path(self._folder.name, "ca-bundle.pem")
        path.write_bytes(known.rstrip() + b"\n" + authority)
        return str(path)


class ServedDaemon(Daemon):
    """A daemon that runs as long as this process wants it."""

    def __init__(self, config: str | os.PathLike[str], binary: str | None = None) -> None:
        """`binary` is the program: by default $USHER_BINARY, else `usher` in the path."""
        program = binary or os.environ.get("USHER_BINARY") or shutil.which("usher")
        if not program:
            raise UsherError("there is no program usher in the path; install it, or set USHER_BINARY")
        folder = tempfile.TemporaryDirectory(prefix="usher-")
        super().__init__(Control(socket=pathlib.Path(folder.name, "admin.sock")))
        self._state = folder
        self._errors = pathlib.Path(folder.name, "usher.err")
        with open(self._errors, "wb") as errors, open(pathlib.Path(folder.name, "usher.log"), "wb") as log:
            self._process = subprocess.Popen(
                [program, "serve", "--config", os.fspath(config), "--listen", "127.0.0.1:0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=errors,
                env={**os.environ, "STATE_DIRECTORY": folder.name, "RUNTIME_DIRECTORY": folder.name})
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self) -> None:
        end = time.monotonic() + START_TIMEOUT
        while True:
            try:
                self.control.ask("GET", "/ready")
                return
            except UsherError:
                if self._process.poll() is not None or time.monotonic() > end:
                    said = self._errors.read_text(encoding="utf-8", errors="replace").strip()
                    raise UsherError(f"usher serve did not start:\n{said}") from None
            time.sleep(0.02)

    def stop(self) -> None:
        """Lets requests under way finish, and ends it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(START_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._state.cleanup()


def session_name(text: str) -> str:
    """A name that no other session has, made of that of a test."""
    kept = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._").removeprefix("s-")
    return f"{kept[:55] or 'test'}-{secrets.token_hex(4)}"
