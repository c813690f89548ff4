"""Journeys, flows and reports as text for people."""

from __future__ import annotations

from collections.abc import Iterable

from .api import Flow, JourneyDetail, Report


def journey_text(detail: JourneyDetail) -> str:
    """One login step by step, as `usher journey` shows it."""
    journey = detail["journey"]
    who = f" as {journey['login']}" if journey["login"] else ""
    why = f": {journey['reason']}" if journey["reason"] else ""
    # the tree of a step-up is its whole advice
    tree = "step-up" if journey["type"] == "composite_advice" else journey["tree"] or "login"
    lines = [
        f"{journey['realm'] or ''} {tree}{who} → {journey['outcome']}{why} in {journey['duration_ms']} ms"
        f" (journey {journey['id']}, by {journey['by']})".strip()]
    for step in detail["steps"]:
        shown = "".join(f" “{text}”" for text in (step["stage"], step["header"]) if text)
        lines.append(_call(step["at_ms"], step["action"], step["status"], step["flow"], shown + _because(step["reason"])))
        lines += [
            f"              {asked['type']} “{asked['prompt']}”" + (f": {asked['answer']}" if asked["answer"] else "")
            for asked in step["callbacks"]]
    for call in detail["calls"]:
        won = f", won {', '.join(call['won'])}" if call["won"] else ""
        lines.append(_call(call["at_ms"], call["action"], call["status"], call["flow"], won + _because(call["error"])))
    for place in detail["resources"]:
        lines.append(f"  reached {place['origin']} {place['requests']} times")
    return "\n".join(lines)


def _call(at: int, action: str | None, status: int | None, flow: str, more: str) -> str:
    return f"  {at:6} ms  {action or '-'} → {status or 'no response'}{more} (flow {flow})"


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def flows_text(flows: Iterable[Flow]) -> str:
    """A line for each flow."""
    return "\n".join(
        f"  {flow['id']}  {flow['status'] or flow['error'] or '-'}  {flow['method']} {flow['url']}"
        + (f"  {flow['action']}" if flow["action"] else "") + (f"  [{', '.join(flow['marks'])}]" if flow["marks"] else "")
        for flow in flows)


def report_text(report: Report) -> str:
    """The expectations that are not met: why, in which flow, and how to repeat its request."""
    lines = [f"{report['unmet']} of {len(report['expectations'])} expectations unmet"]
    for entry in report["expectations"]:
        if entry["verdict"] == "met":
            continue
        lines.append(f"{entry['verdict']}: {entry['name']}: {entry['because']}")
        for failure in [*entry["failures"], *([entry["nearest"]] if entry["nearest"] else [])]:
            lines.append(f"  flow {failure['flow']}: {failure['request'] or ''} → {failure['status'] or 'no response'}")
            lines += [f"  {failure['curl']}"] if failure["curl"] else []
    return "\n".join(lines)
