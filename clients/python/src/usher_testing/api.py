"""What the admin API answers; scripts/client-types writes this file from /v1/openapi.json."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class SessionRule(TypedDict):
    name: str
    rule: dict[str, Any] | None
    """As it was added; null for one of the overlay."""


class SessionWarning(TypedDict):
    message: str
    file: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]


class Session(TypedDict):
    id: str
    name: str | None
    began: str
    ends: str
    port: str | None
    """The URL of its own port."""
    rules: list[SessionRule]
    warnings: list[SessionWarning]
    robot: str | None
    """The test user that it has borrowed."""


class OpenedSessionHeader(TypedDict):
    name: str
    value: str


class OpenedSession(TypedDict):
    id: str
    name: str | None
    began: str
    ends: str
    port: str | None
    rules: list[SessionRule]
    warnings: list[SessionWarning]
    robot: str | None
    password: NotRequired[str]
    """The robot's password."""
    proxy: str
    """The URL for HTTP_PROXY, with the session's key."""
    header: OpenedSessionHeader
    """The field that names the session in requests without proxy credentials."""


class FlowInterceptor(TypedDict):
    name: str
    did: list[Literal["applied", "failed", "answered", "aborted", "delayed", "throttled", "retried", "not_retried", "waited", "refused", "logged_in", "reset", "empty", "garbage", "malformed_status", "malformed_header", "malformed_length", "malformed_chunk", "truncated", "reset_after", "slow_close"]]


class Flow(TypedDict):
    id: str
    sequence: int
    began: str
    duration_ms: int
    client: str
    user: str | None
    session: str | None
    action: str | None
    realm: str | None
    tree: str | None
    type: str | None
    method: str
    url: str
    status: int | None
    content_type: str | None
    error: str | None
    request_bytes: int
    response_bytes: int
    attempts: int
    marks: list[Literal["request_changed", "response_changed", "step_up", "fault", "slowed", "local", "incomplete", "tunnel", "call", "attempt"]]
    interceptors: list[FlowInterceptor]
    """The interceptors that had an effect, with their effects."""
    parent: str | None


class FlowDetailRequestBody(TypedDict):
    bytes: int
    """The size on the wire. The stored body is decoded."""
    cut: bool
    """true: the body was longer than what is stored."""
    text: NotRequired[str]
    base64: NotRequired[str]


class FlowDetailRequest(TypedDict):
    method: str
    url: str
    version: str
    fields: list[OpenedSessionHeader]
    body: FlowDetailRequestBody


class FlowDetailAnswer(TypedDict):
    status: int
    version: str
    fields: list[OpenedSessionHeader]
    body: FlowDetailRequestBody


class FlowDetailTimingM(TypedDict):
    waiting: int | None
    resolving: int | None
    connecting: int | None
    securing: int | None
    answering: int | None
    receiving: int | None


class FlowDetailEvent(TypedDict):
    at_ms: int
    event: str
    text: str
    interceptor: NotRequired[str]
    did: NotRequired[Literal["applied", "failed", "answered", "aborted", "delayed", "throttled", "retried", "not_retried", "waited", "refused", "logged_in", "reset", "empty", "garbage", "malformed_status", "malformed_header", "malformed_length", "malformed_chunk", "truncated", "reset_after", "slow_close"]]
    phase: NotRequired[str]


class FlowDetail(TypedDict):
    flow: Flow
    request: FlowDetailRequest
    sent: FlowDetailRequest | None
    """The request as sent, if it differs."""
    answer: FlowDetailAnswer | None
    """The response as received, if the delivered one differs."""
    response: FlowDetailAnswer | None
    timing_ms: FlowDetailTimingM
    """The time of each phase, in milliseconds."""
    events: list[FlowDetailEvent]
    calls: list[Any]
    """Usher's own calls for this flow, and its earlier attempts."""


class FilterKey(TypedDict):
    key: str
    about: str
    values: NotRequired[list[str]]


class NamedFault(TypedDict):
    name: str
    concerns: str
    sees: str
    remedy: str


class RatesPointAction(TypedDict):
    action: str
    """Empty for requests without an Action."""
    requests: int
    errors: int
    """Requests with a 5xx, an error of the proxy, or no response."""
    step_ups: int
    """Responses that asked for a step-up."""
    p50_ms: int
    """In milliseconds."""
    p95_ms: int
    """In milliseconds."""
    p99_ms: int
    """In milliseconds."""


class RatesPoint(TypedDict):
    at: str
    """The beginning, in UTC."""
    actions: list[RatesPointAction]


class Rates(TypedDict):
    interval_s: int
    points: list[RatesPoint]


class Journey(TypedDict):
    id: str
    sequence: int
    began: str
    duration_ms: int
    """The time from the first call of the login to its last."""
    am_ms: int
    """The part of that time in AM."""
    app_ms: int
    """The part of that time between the calls, spent by the person or the app."""
    outcome: Literal["running", "suspended", "abandoned", "succeeded", "failed", "unknown"]
    reason: str | None
    """The reason for the failure, as AM reports it."""
    client: str
    user: str | None
    login: str | None
    """The name that was entered."""
    realm: str | None
    tree: str | None
    type: str | None
    by: Literal["app", "usher"]
    parent: str | None
    """The flow that needed this login."""
    complete: bool
    """false: earlier calls are not in the journal."""
    session: str | None
    steps: int
    calls: int
    tokens: int
    origins: int
    """The number of origins that got its credentials."""
    requests: int
    ended_by: str | None
    """The flow that ended the session."""


class JourneyDetailStepCallback(TypedDict):
    type: str
    prompt: str
    answer: str | None
    """The answer. Aliases replace secrets."""
    choices: list[str]
    """The labels of a choice."""


class JourneyDetailStep(TypedDict):
    flow: str
    action: str | None
    at_ms: int
    duration_ms: int
    am_ms: int
    pause_ms: int
    """The time since the previous call."""
    status: int | None
    ending: Literal["asks", "suspends", "succeeds", "refuses", "fails", "unread"]
    reason: str | None
    repeated: bool
    """true: the same authId was sent before."""
    attempts: int
    """The number of times that Usher sent the call."""
    stage: str | None
    header: str | None
    callbacks: list[JourneyDetailStepCallback]
    """AM's callbacks, with the answers of the next call."""


JourneyDetailCall = TypedDict("JourneyDetailCall", {
    "flow": "str",
    "action": "str | None",
    "at_ms": "int",
    "duration_ms": "int",
    "status": "int | None",
    "error": "str | None",
    "with": "str | None",
    "won": "list[str]",
})


class JourneyDetailToken(TypedDict):
    kind: Literal["session", "code", "access_token", "refresh_token", "id_token"]
    alias: str
    flow: str
    at_ms: int


class JourneyDetailResourceStatus(TypedDict):
    status: int | None
    count: int


class JourneyDetailResource(TypedDict):
    origin: str
    first: str
    requests: int
    paths: int
    """The number of different paths. 1000 means 1000 or more."""
    statuses: list[JourneyDetailResourceStatus]


class JourneyDetailFrom(TypedDict):
    session: str
    journey: str | None


class JourneyDetailFor(TypedDict):
    flow: str
    method: str
    url: str
    status: int | None


class JourneyDetailLeftOut(TypedDict):
    steps: int
    calls: int
    tokens: int
    requests: int


JourneyDetail = TypedDict("JourneyDetail", {
    "journey": "Journey",
    "steps": "list[JourneyDetailStep]",
    "calls": "list[JourneyDetailCall]",
    "tokens": "list[JourneyDetailToken]",
    "resources": "list[JourneyDetailResource]",
    "from": "JourneyDetailFrom | None",
    "stepped_up_by": "list[str]",
    "for": "JourneyDetailFor | None",
    "left_out": "JourneyDetailLeftOut",
    "flows_lost": "bool",
})


class TransactionCallbackChoice(TypedDict):
    number: int
    label: str


class TransactionCallback(TypedDict):
    index: int
    type: str
    prompt: str
    form: str
    secret: bool
    choices: list[TransactionCallbackChoice]
    parts: list[str]
    policies: list[str]


class Transaction(TypedDict):
    id: str
    client: str
    user: str | None
    session: str | None
    method: str
    resource: str
    am: str
    realm: str
    tree: str | None
    stage: str
    header: str
    messages: list[str]
    waited_ms: int
    left_ms: int
    kind: Literal["suspended", "callbacks"]
    message: NotRequired[str]
    callbacks: list[TransactionCallback]
    shortened: bool


class ReportExpectationFailure(TypedDict):
    flow: str
    because: str
    request: str | None
    status: int | None
    curl: str | None


class ReportExpectation(TypedDict):
    name: str
    verdict: Literal["met", "unmet", "pending"]
    expected: str
    wanted: str
    counted: int
    failed: int
    because: str | None
    place: str | None
    pack: str | None
    source: str | None
    flows: list[str]
    failures: list[ReportExpectationFailure]
    nearest: ReportExpectationFailure | None
    """The flow that failed the fewest terms."""


class Report(TypedDict):
    met: bool
    """true: all expectations are met."""
    flows: int
    """The number of flows judged."""
    unmet: int
    expectations: list[ReportExpectation]
