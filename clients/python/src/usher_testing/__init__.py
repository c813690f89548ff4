"""Tests of apps through Usher: a test session with faults, expectations, step-ups and flows of its own."""

from .control import Control, UsherError
from .daemon import Daemon
from .errors import NotSeen, Unmet
from .pending import Pending
from .session import Usher

__all__ = ["Control", "Daemon", "NotSeen", "Pending", "Unmet", "Usher", "UsherError"]
