"""Messages and their parts."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


class Headers:
    """The lines of a head, with their order, spelling and repetitions. Names compare without case."""

    def __init__(self, lines: list[tuple[str, str]] | None = None) -> None:
        self.lines = list(lines or [])

    def __contains__(self, name: str) -> bool:
        return any(known.lower() == name.lower() for known, _ in self.lines)

    def __getitem__(self, name: str) -> str:
        for known, value in self.lines:
            if known.lower() == name.lower():
                return value
        raise KeyError(name)

    def __setitem__(self, name: str, value: str) -> None:
        """Changes the first line of the name and removes the others."""
        places = [place for place, (known, _) in enumerate(self.lines) if known.lower() == name.lower()]
        if not places:
            self.add(name, value)
            return
        self.lines[places[0]] = (self.lines[places[0]][0], value)
        for place in reversed(places[1:]):
            del self.lines[place]

    def __delitem__(self, name: str) -> None:
        self.lines = [line for line in self.lines if line[0].lower() != name.lower()]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.lines)

    def get(self, name: str, default: str | None = None) -> str | None:
        return self[name] if name in self else default

    def all(self, name: str) -> list[str]:
        return [value for known, value in self.lines if known.lower() == name.lower()]

    def add(self, name: str, value: str) -> None:
        self.lines.append((name, value))


@dataclasses.dataclass(frozen=True)
class Action:
    """What a request means to AM. The type of other requests is empty."""

    type: str
    payload: dict[str, Any] | None = None
    realm: str | None = None


@dataclasses.dataclass
class Message:
    headers: Headers
    #: None without `needs="body"`.
    body: bytes | None
    #: Texts that this interceptor keeps for the exchange.
    state: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def text(self) -> str | None:
        return None if self.body is None else self.body.decode()

    @text.setter
    def text(self, text: str) -> None:
        self.body = text.encode()

    @property
    def json(self) -> Any:
        return None if self.body is None else json.loads(self.body)

    @json.setter
    def json(self, value: Any) -> None:
        self.body = json.dumps(value).encode()


@dataclasses.dataclass
class Request(Message):
    method: str = "GET"
    url: str = ""

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the URL; assign a map to change them."""
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @query.setter
    def query(self, values: dict[str, str]) -> None:
        self.url = urlunsplit(urlsplit(self.url)._replace(query=urlencode(values)))


@dataclasses.dataclass
class Response(Message):
    status: int = 200


#: The folder for bodies that are too large for a frame, if Usher gave one.
_FOLDER = os.environ.get("USHER_SCRIPT_FILES")
_MOST_IN_FRAME = int(os.environ.get("USHER_SCRIPT_FILE_ABOVE", "0"))


def _message(given: dict[str, Any], state: dict[str, str]) -> dict[str, Any]:
    body = given.get("body")
    if "file" in given:
        given["body"] = pathlib.Path(_FOLDER or "", given.pop("file")).read_bytes()
    elif body is not None:
        given["body"] = base64.b64decode(body)
    return {
        "headers": Headers([(name, value) for name, value in given["headers"]]), "state": state, "body": given.get("body")}


def request(given: dict[str, Any], state: dict[str, str]) -> Request:
    return Request(**_message(given, state), method=given["method"], url=given["url"])


def response(given: dict[str, Any], state: dict[str, str]) -> Response:
    return Response(**_message(given, state), status=given["status"])


def changes(message: Message, given: dict[str, Any]) -> dict[str, Any]:
    """What is different from the message that came."""
    now = written(message)
    return {name: value for name, value in now.items() if value != given.get(name)}


def written(message: Message) -> dict[str, Any]:
    parts: dict[str, Any] = {"headers": [list(line) for line in message.headers]}
    if message.body is not None:
        parts["body"] = as_bytes(message.body)
    match message:
        case Request(method=method, url=url):
            parts.update(method=method, url=url)
        case Response(status=status):
            parts.update(status=status)
    return parts


def as_bytes(body: Any) -> bytes:
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError(f"a body is a bytes-like object, not {type(body).__name__}")
    return bytes(body)


def has_folder() -> bool:
    return _FOLDER is not None


def packed(answer: dict[str, Any], files: bool) -> dict[str, Any]:
    """The answer with its body as it goes out: in the answer's file, or in base64."""
    for owner, name in ((answer, "request"), (answer, "response"), (answer, "respond"), (answer.get("retry", {}), "request")):
        if "body" not in owner.get(name, {}):
            continue
        part = dict(owner[name])
        body = part.pop("body")
        if files and len(body) > _MOST_IN_FRAME:
            part["file"] = str(answer["id"])
            pathlib.Path(_FOLDER or "", part["file"]).write_bytes(body)
        else:
            part["body"] = base64.b64encode(body).decode()
        owner[name] = part
    return answer
