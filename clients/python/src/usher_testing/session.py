"""One test session of a daemon: what a test does with Usher."""

from __future__ import annotations

import json
import os
import pathlib
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .api import Flow, Journey, JourneyDetail, OpenedSession, Report
from .control import USUAL_TIMEOUT, Control, UsherError, segment
from .environment import proxy_variables
from .errors import NotSeen, Unmet
from .pending import Pending
from .terms import Condition, filters, when
from .text import flows_text, journey_text, report_text

if TYPE_CHECKING:
    import httpx
    import requests

Found = TypeVar("Found")
# pytest shows the line of the test instead
__tracebackhide__ = True
PAUSE = 0.05


class Usher:
    """A test session: a proxy URL with rules, counts, sessions, tokens, flows and expectations of its own."""

    def __init__(self, control: Control, opened: OpenedSession, ca_file: str | None) -> None:
        self._control = control
        self.id = opened["id"]
        self.name = opened["name"]
        #: The proxy's URL with the session's key.
        self.proxy_url = opened["proxy"]
        #: The URL of a port of its own, if one was asked for.
        self.port_url = opened["port"]
        #: The header that names the session where a client can send no proxy credentials.
        self.header = (opened["header"]["name"], opened["header"]["value"])
        #: The CAs to trust, those of the system and Usher's; None if no host is intercepted.
        self.ca_file = ca_file
        self._path = f"/v1/sessions/{segment(self.id)}"

    def __repr__(self) -> str:
        return f"<Usher {self.id} {self.name or ''}>"

    def __enter__(self) -> Usher:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None:
                self.verify()
        finally:
            self.close()

    def close(self) -> None:
        """Ends the session. Its flows stay in the journal."""
        try:
            self._control.ask("DELETE", self._path)
        except UsherError as error:
            # its time is over, or the test closed it
            if error.status != 404:
                raise

    # clients

    def requests(self) -> requests.Session:
        """A session of requests that goes through the proxy."""
        import requests

        client = requests.Session()
        client.trust_env = False
        client.proxies = {"http": self.proxy_url, "https": self.proxy_url}
        client.verify = self.ca_file or True
        return client

    def httpx(self, **options: Any) -> httpx.Client:
        """A client of httpx that goes through the proxy; it takes the options of httpx.Client."""
        import ssl

        import httpx

        verify = ssl.create_default_context(cafile=self.ca_file)
        return httpx.Client(**{"proxy": self.proxy_url, "verify": verify, "trust_env": False, **options})

    @property
    def env(self) -> dict[str, str]:
        """The environment of this process, with the variables that lead programs through the proxy."""
        return {**os.environ, **proxy_variables(self.proxy_url, self.ca_file)}

    @property
    def proxy(self) -> dict[str, str]:
        """The option `proxy` of a browser's context in Playwright.

        Browsers send no credentials unasked, so the session needs a port of its own.
        """
        if not self.port_url:
            raise ValueError("a browser needs a session with a port of its own: @pytest.mark.usher(port=True)")
        return {"server": self.port_url}

    # rules and faults

    def rule(self, condition: Condition = "", **members: Any) -> str:
        """Adds an interceptor before all others: `request=[{"delay": "1s"}]`, `first=2`, and so on. Gives its name."""
        rule: dict[str, Any] = {"when": when(condition), **members}
        if not rule["when"]:
            del rule["when"]
        added = self._control.ask("POST", f"{self._path}/rules", rule)
        return str(added["name"])

    def remove(self, name: str) -> None:
        """Removes a rule or a fault that was added."""
        self._control.ask("DELETE", f"{self._path}/rules/{segment(name)}")

    def fault(
        self, what: str, *, times: int | None = None, every: int | None = None, percent: int | None = None,
        seed: int | None = None, status: int | None = None, json: object = None, text: str | None = None,
        headers: Mapping[str, str] | None = None, delay: str | None = None, **condition: Any,
    ) -> str:
        """Makes something fail for the app, and gives the name of the rule.

        `what` is the name of a fault (`usher faults` lists them), `"am"` for the app's calls to AM, or a condition such as
        `"host=api.example.com path=/pay"`. Keywords such as `action` narrow it. The last two need `status` (with `json` or
        `text`, and `headers`) or `delay`. It happens for `times` exchanges, every nth, or a percentage of them.
        """
        sampling = {"first": times, "every": every, "percent": percent, "seed": seed}
        members: dict[str, Any] = {key: value for key, value in sampling.items() if value is not None}
        edits: list[dict[str, Any]] = [{"delay": delay}] if delay else []
        if status is not None:
            answer = {"status": status, "json": json, "text": text, "headers": headers}
            edits.append({"respond": {key: value for key, value in answer.items() if value is not None}})
        if what != "am" and "=" not in what:
            if edits:
                raise ValueError(f"the fault {what} has its own response; status and delay go with a condition")
            return self.rule(when("", condition), fault=what, **members)
        if not edits:
            raise ValueError("fault needs a status or a delay, or the name of a fault")
        terms = {"by": "app", **({} if "action" in condition else {"action": "*"})} if what == "am" else what
        return self.rule(when(terms, condition), request=edits, **members)

    # expectations

    def expect(
        self, condition: Condition = "", *, count: int | str | None = None, name: str | None = None,
        each: Condition | None = None, step_up: bool | None = None, before: str | None = None, after: str | None = None,
        within: str | None = None, per: str | None = None, use: str | Iterable[str] | None = None, **more: Any,
    ) -> None:
        """Adds an expectation, which is judged when the test is over: an entry of `expect` in a configuration.

        `count` is a number, `">=2"`, `"2-4"` or `"never"`; `step_up` says whether each message came by a step-up; `use` names
        packs of rules. Further keywords belong to the condition.
        """
        entry: dict[str, Any] = {
            "name": name, "count": None if count is None else str(count), "step_up": step_up, "before": before, "after": after,
            "within": within, "per": per, "use": use if use is None or isinstance(use, str) else list(use),
            "each": None if each is None else when(each), "when": when(condition, more) or None}
        self._control.ask(
            "POST", f"{self._path}/expectations", {key: value for key, value in entry.items() if value is not None})

    def report(self, timeout: float = 5.0) -> Report:
        """How the traffic so far meets the expectations. Waits for messages that have not come yet."""
        wait = int(timeout * 1000)
        report: Report = self._control.ask(
            "GET", f"{self._path}/report", query=[("wait", wait)], timeout=timeout + USUAL_TIMEOUT)
        return report

    def verify(self, timeout: float = 5.0) -> None:
        """Raises Unmet with the report if an expectation is not met."""
        report = self.report(timeout)
        if not report["met"]:
            raise Unmet(report_text(report))

    # step-ups

    def pending(self, timeout: float = 5.0) -> Pending:
        """The oldest step-up of this session that waits for a person, as soon as there is one."""

        def found() -> Pending | None:
            waiting = self._control.ask("GET", "/v1/transactions")["transactions"]
            own = [one for one in waiting if one["session"] == self.id]
            return Pending(self._control, own[0]) if own else None

        return self._eventually(found, timeout, "no step-up waits for a person")

    # what happened

    def flows(self, *terms: str, at_least: int = 1, timeout: float = 5.0, **keys: Any) -> list[Flow]:
        """The flows of this session that match filters of `usher flows`, oldest first.

        Waits until there are `at_least` so many, because a flow is there only when it is over.
        """
        asked = [*filters(terms, keys), ("filter", f"session={self.id}")]
        waiting: list[tuple[str, object]] = [("wait", at_least), ("timeout", int(timeout * 1000))] if at_least else []
        try:
            found = self._control.ask(
                "GET", "/v1/flows", query=[*asked, ("limit", 1000), *waiting], timeout=timeout + USUAL_TIMEOUT)["flows"]
        except UsherError as error:
            if error.status != 504:
                raise
            words = " ".join(str(value) for _, value in asked[:-1]) or "flows"
            raise NotSeen(f"{error}: {words}; the session has\n{self.summary()}") from None
        ordered: list[Flow] = sorted(found, key=_order)
        return ordered

    def flow(self, id: str) -> dict[str, Any]:
        """All of one flow: its messages, events and times."""
        found: dict[str, Any] = self._control.ask("GET", f"/v1/flows/{segment(id)}")
        return found

    def journeys(self, *terms: str, **keys: Any) -> list[Journey]:
        """The logins of this session so far that match filters of `usher journeys`, oldest first."""
        asked = [*filters(terms, keys), ("filter", f"session={self.id}")]
        found: list[Journey] = self._control.ask("GET", "/v1/journeys", query=[*asked, ("limit", 1000)])["journeys"]
        return sorted(found, key=_order)

    def journey(self, *terms: str, timeout: float = 5.0, **keys: Any) -> JourneyDetail:
        """The newest login of this session that matches, as soon as there is one: `journey(outcome="succeeded")`."""
        listed = self._eventually(lambda: self.journeys(*terms, **keys), timeout, "no login matches")
        return self._detail(listed[-1])

    def _detail(self, journey: Journey) -> JourneyDetail:
        detail: JourneyDetail = self._control.ask("GET", f"/v1/journeys/{segment(journey['id'])}")
        return detail

    def summary(self) -> str:
        """The session's logins step by step, and its last flows, as text."""
        # it comes when the journal has what was answered so far
        self.report(timeout=0)
        logins = [journey_text(self._detail(journey)) for journey in self.journeys()[-10:]]
        return "\n".join([*logins, flows_text(self.flows(at_least=0)[-30:]) or "  no flows"])

    def write_har(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the session's flows as an HTTP Archive."""
        archive: dict[str, Any] = {}
        entries: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            query = [("filter", f"session={self.id}"), ("filter", "calls=yes"), ("after", after)]
            archive = self._control.ask("GET", "/v1/flows.har", query=query)
            entries += archive["log"]["entries"]
            after = archive["log"].pop("_next", None)
        archive["log"]["entries"] = sorted(entries, key=lambda entry: str(entry["startedDateTime"]))
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(archive), encoding="utf-8")
        return target

    def _eventually(self, found: Callable[[], Found | None], timeout: float, otherwise: str) -> Found:
        end = time.monotonic() + timeout
        while True:
            value = found()
            if value:
                return value
            if time.monotonic() > end:
                raise NotSeen(f"{otherwise} within {timeout} s; the session has\n{self.summary()}")
            time.sleep(PAUSE)


def _order(one: Flow | Journey) -> tuple[str, int]:
    """By the beginning: the journal numbers what ends."""
    return one["began"], one["sequence"]
