"""The admin API of a daemon: JSON over its Unix socket, or over TCP with a token."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

USUAL_TIMEOUT = 15.0
# pytest shows the line of the test instead
__tracebackhide__ = True


class UsherError(Exception):
    """The daemon refused a request, or cannot be reached."""

    def __init__(self, words: str, status: int | None = None, faults: Iterable[Mapping[str, Any]] = ()) -> None:
        self.status = status
        self.faults = [dict(fault) for fault in faults]
        # the words are about the first one
        super().__init__("\n".join([words, *(_line(fault) for fault in self.faults[1:])]))


def _line(fault: Mapping[str, Any]) -> str:
    place = ":".join(str(fault[key]) for key in ("file", "line", "column") if key in fault)
    return f"  {place}: {fault.get('message', '')}" if place else f"  {fault.get('message', '')}"


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Control:
    """Asks one daemon. Each request has a connection of its own, so that threads may share this."""

    def __init__(self, socket: str | os.PathLike[str] | None = None, url: str | None = None, token: str = "") -> None:
        """Give either `socket`, or `url` with `token`."""
        self.socket = os.fspath(socket) if socket else None
        self.url = url
        self.token = token
        if not self.socket and not url:
            raise ValueError("Control takes a socket, or a url and a token")

    def ask(
        self, method: str, path: str, body: object = None, query: Iterable[tuple[str, object]] = (),
        timeout: float = USUAL_TIMEOUT,
    ) -> Any:
        """The JSON of the response; raises UsherError for any status but 2xx."""
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        terms = urlencode([(name, str(value)) for name, value in query], quote_via=quote)
        connection = self._connection(timeout)
        try:
            connection.request(method, f"{path}?{terms}" if terms else path, data, headers)
            response = connection.getresponse()
            text = response.read()
        except OSError as error:
            raise UsherError(f"usher does not answer at {self.socket or self.url}: {error}") from error
        finally:
            connection.close()
        return self._read(response.status, text)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self.socket:
            return _SocketConnection(self.socket, timeout)
        parts = urlsplit(self.url or "")
        if parts.scheme != "http" or not parts.hostname:
            raise UsherError(f"USHER_URL has to be an http URL such as http://127.0.0.1:3130, not {self.url}")
        return http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)

    @staticmethod
    def _read(status: int, text: bytes) -> Any:
        try:
            answer = json.loads(text) if text else None
        except ValueError:
            raise UsherError(f"usher answered {status} with something that is not JSON", status) from None
        if 200 <= status < 300:
            return answer
        problem = answer if isinstance(answer, dict) else {}
        raise UsherError(str(problem.get("detail", f"usher answered {status}")), status, problem.get("faults", ()))


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")
