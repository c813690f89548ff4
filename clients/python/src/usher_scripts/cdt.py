"""Interceptors in the manner of CDTDatastore."""

from __future__ import annotations

import dataclasses
import json
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
    """Override one of the methods, or both. None ends the exchange."""

    def intercept_request(self, context: Context) -> Context | None:
        return context

    def intercept_response(self, context: Context) -> Context | None:
        return context


_KEY = "cdt"


def cdt(interceptors: list[Interceptor], needs: str = "body") -> Script:
    """A script of interceptors, which run in their order in both phases."""
    script = Script(needs=needs)

    def able(method: str) -> list[Interceptor]:
        return [one for one in interceptors if getattr(type(one), method) is not getattr(Interceptor, method)]

    def walk(method: str, context: Context, kept: dict[str, str]) -> Verdict | None:
        context.state = json.loads(kept.get(_KEY, "{}"))
        for one in able(method):
            found = getattr(one, method)(context)
            if found is None:
                return Abort(f"{method} of {type(one).__name__} returned None")
            context = found
        if context.state:
            kept[_KEY] = json.dumps(context.state)
        return Retry() if context.should_retry and context.response is not None else None

    def request(request: Request, action: Action) -> Verdict | None:
        return walk("intercept_request", Context(request), request.state)

    def response(response: Response, request: Request, action: Action) -> Verdict | None:
        return walk("intercept_response", Context(request, response), response.state)

    if able("intercept_request"):
        script.request(request)
    if able("intercept_response"):
        script.response(response)
    return script
