"""A script: its functions, and the socket that Usher passed to it."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from . import messages
from .messages import Action, Message, Request, Response
from .verdicts import Verdict

PROTOCOL = 1

Outcome = Verdict | None | Awaitable[Verdict | None]
RequestFunction = TypeVar("RequestFunction", bound=Callable[[Request, Action], Outcome])
ResponseFunction = TypeVar("ResponseFunction", bound=Callable[[Response, Request, Action], Outcome])


class Script:
    """Functions that change messages. They run in the order of their declaration, and may be asynchronous."""

    def __init__(self, needs: str = "head") -> None:
        self.needs = needs
        self._functions: dict[str, list[Callable[..., Outcome]]] = {}

    def request(self, function: RequestFunction) -> RequestFunction:
        """Decorates a function of a request and its action."""
        self._functions.setdefault("request", []).append(function)
        return function

    def response(self, function: ResponseFunction) -> ResponseFunction:
        """Decorates a function of a response, the request and its action."""
        self._functions.setdefault("response", []).append(function)
        return function

    @property
    def hello(self) -> dict[str, Any]:
        phases = [phase for phase in ("request", "response") if phase in self._functions]
        files = {"files": True} if self._files else {}
        return {"hello": {"protocol": PROTOCOL, "phases": phases, "needs": self.needs, **files}}

    @property
    def _files(self) -> bool:
        return self.needs == "body" and messages.has_folder()

    def run(self) -> None:
        """Answers until Usher closes the connection."""
        number = os.environ.get("USHER_SCRIPT_FD")
        if number is None:
            sys.exit("USHER_SCRIPT_FD is not set: start this program by script: { run: [...] } of Usher")
        if not self._functions:
            sys.exit("the script has no functions: decorate one with @script.request or @script.response")
        asyncio.run(self.serve(socket.socket(fileno=int(number))))

    async def serve(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        writer.write(frame(self.hello))
        tasks: set[asyncio.Task[None]] = set()
        try:
            while length := await reader.readline():
                text = await reader.readexactly(int(length) + 1)
                task = asyncio.create_task(self._write(json.loads(text), writer))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass

    async def _write(self, question: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        try:
            reply = frame(messages.packed(await self._answer(question), self._files))
        except Exception as error:
            traceback.print_exc()
            reply = frame({"id": question["id"], "error": str(error) or type(error).__name__})
        writer.write(reply)

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {"id": question["id"]}
        phase = question["phase"]
        if phase == "ping":
            return answer
        state = dict(question.get("state") or {})
        given = question["action"]
        action = Action(given["type"], given.get("payload"), given.get("realm"))
        request = messages.request(question["request"], state)
        message: Message = request
        arguments: tuple[Any, ...] = (request, action)
        if phase == "response":
            message = messages.response(question["response"], state)
            arguments = (message, request, action)
        try:
            verdict: Verdict | None = None
            for function in self._functions.get(phase, []):
                outcome = function(*arguments)
                verdict = await outcome if inspect.isawaitable(outcome) else outcome
                if verdict is not None:
                    break
        except Verdict as raised:
            verdict = raised
        if not isinstance(verdict, Verdict | None):
            raise TypeError(f"a function returned {type(verdict).__name__}; it changes what it gets, or returns a verdict or None")
        if message.state != (question.get("state") or {}):
            answer["state"] = message.state
        if verdict is not None:
            return {**answer, **verdict.members()}
        changes = messages.changes(message, question[phase])
        return {**answer, phase: changes} if changes else answer


def frame(value: dict[str, Any]) -> bytes:
    # half a character is no text
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")
    return b"%d\n%s\n" % (len(text), text)
