"""Scripts that Usher asks about messages (docs/scripts.md)."""

from .cdt import Context, Interceptor, cdt
from .messages import Action, Headers, Request, Response
from .script import Script
from .verdicts import Abort, Respond, Retry, Verdict

__all__ = [
    "Abort", "Action", "Context", "Headers", "Interceptor", "Request", "Respond", "Response", "Retry", "Script", "Verdict", "cdt"]
