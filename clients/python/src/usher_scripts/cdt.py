"""Interceptors in the manner of CDTDatastore."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Awaitable
from typing import Any

from .messages import Action, Request, Response
from .script import Script
from .verdicts import Abort, Retry, Verdict


@dataclasses.dataclass
class Context:
    request: Request
    #: None in the request phase.
    response: Response | None = None
    #: Kept for the exchange, and shared by all interceptors.
    state: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: What the last interceptor of the response phase leaves here decides.
    should_retry: bool = False


class Interceptor:
    """Override one of the methods, or both; they may be asynchronous. None ends the exchange."""

    def intercept_request(self, context: Context) -> Context | None | Awaitable[Context | None]:
        return context

    def intercept_response(self, context: Context) -> Context | None | Awaitable[Context | None]:
        return context


_KEY = "cdt"


def cdt(interceptors: list[Interceptor], needs: str = "body") -> Script:
    """A script of interceptors, which run in their order in both phases."""
    script = Script(needs=needs)

    def able(method: str) -> list[Interceptor]:
        return [one for one in interceptors if getattr(type(one), method) is not getattr(Interceptor, method)]

    async def walk(method: str, context: Context, message: Request | Response) -> Verdict | None:
        context.state = json.loads(message.state.get(_KEY, "{}"))
        for one in able(method):
            found = getattr(one, method)(context)
            if inspect.isawaitable(found):
                found = await found
            if found is None:
                return Abort(f"{method} of {type(one).__name__} returned None")
            if not isinstance(found, Context):
                raise TypeError(f"{method} of {type(one).__name__} returned {type(found).__name__}, which is no Context")
            context = found
        if context.state:
            message.state[_KEY] = json.dumps(context.state)
        else:
            message.state.pop(_KEY, None)
        # an interceptor may have made a new one
        now = context.request if isinstance(message, Request) else context.response
        for field in dataclasses.fields(message):
            if field.name != "state":
                setattr(message, field.name, getattr(now, field.name))
        return Retry() if context.should_retry and isinstance(message, Response) else None

    async def request(request: Request, action: Action) -> Verdict | None:
        return await walk("intercept_request", Context(request), request)

    async def response(response: Response, request: Request, action: Action) -> Verdict | None:
        return await walk("intercept_response", Context(request, response), response)

    if able("intercept_request"):
        script.request(request)
    if able("intercept_response"):
        script.response(response)
    return script
