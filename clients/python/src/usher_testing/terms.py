"""Conditions and filters, written as text or as keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The keys of `when` that take a name after a dot, as in `header.X-Name=value`.
NAMED = ("header", "query", "cookie", "json", "form", "response_json")

Condition = str | Mapping[str, Any]
# pytest shows the line of the test instead
__tracebackhide__ = True


def when(condition: Condition, more: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The map under `when`: of `action=AUTHENTICATE by=app`, of such a map, and of keywords.

    `key!=value` excludes; commas separate alternatives, except in a regular expression.
    """
    if not isinstance(condition, str):
        return {**condition, **more}
    made: dict[str, Any] = {}
    refused: list[dict[str, Any]] = []
    for term in condition.split():
        key, equals, value = term.partition("=")
        if not equals or not key.removesuffix("!"):
            raise ValueError(f'"{term}" is not a condition; write key=value, as in action=AUTHENTICATE')
        if key.endswith("!"):
            refused.append({})
            _set(key[:-1], value, refused[-1])
        else:
            _set(key, value, made)
    if refused:
        made["not"] = refused[0] if len(refused) == 1 else {"any": refused}
    return {**made, **more}


def _set(key: str, text: str, into: dict[str, Any]) -> None:
    parts = [text] if text.startswith("~") else text.split(",")
    value: Any = parts[0] if len(parts) == 1 else parts
    group, dot, name = key.partition(".")
    if dot and group in NAMED:
        pointer = f"/{name}" if group.endswith("json") and not name.startswith("/") else name
        into.setdefault(group, {})[pointer] = value
    else:
        into[key] = value


def filters(terms: tuple[str, ...], keys: Mapping[str, Any]) -> list[tuple[str, object]]:
    """The parameters `filter` of a request for flows or journeys."""
    return [("filter", term) for term in [*terms, *(f"{key}={_text(value)}" for key, value in keys.items())]]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value)
