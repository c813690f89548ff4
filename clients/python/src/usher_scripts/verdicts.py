"""Outcomes in place of a changed message: raise or return one."""

from __future__ import annotations

from typing import Any

from .messages import Request, as_bytes, written


class Verdict(Exception):
    def members(self) -> dict[str, Any]:
        raise NotImplementedError


class Respond(Verdict):
    """The client gets this response."""

    def __init__(
        self, status: int = 200, headers: dict[str, str] | list[tuple[str, str]] | None = None, body: bytes | str = b"",
    ) -> None:
        super().__init__(status)
        lines = headers.items() if isinstance(headers, dict) else headers or []
        content = body.encode() if isinstance(body, str) else body
        self._response = {"status": status, "headers": [list(line) for line in lines], "body": as_bytes(content)}

    def members(self) -> dict[str, Any]:
        return {"respond": self._response}


class Abort(Verdict):
    """The exchange ends with 502 and this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def members(self) -> dict[str, Any]:
        return {"abort": self.reason}


class Retry(Verdict):
    """In the response phase: the request goes out again, changed if one is given."""

    def __init__(self, request: Request | None = None, *, after: float = 0) -> None:
        """- after: seconds."""
        super().__init__(after)
        self.request = request
        self.after = after

    def members(self) -> dict[str, Any]:
        retry: dict[str, Any] = {"after": round(self.after * 1000)}
        if self.request is not None:
            retry["request"] = written(self.request)
        return {"retry": retry}
