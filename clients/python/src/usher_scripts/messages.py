"""Messages and their parts."""

from __future__ import annotations

import base64
import dataclasses
import json
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


def _message(given: dict[str, Any], state: dict[str, str]) -> dict[str, Any]:
    body = given.get("body")
    return {
        "headers": Headers([(name, value) for name, value in given["headers"]]), "state": state,
        "body": None if body is None else base64.b64decode(body)}


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
        parts["body"] = base64.b64encode(message.body).decode()
    match message:
        case Request(method=method, url=url):
            parts.update(method=method, url=url)
        case Response(status=status):
            parts.update(status=status)
    return parts
