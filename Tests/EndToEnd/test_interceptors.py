"""What rules make of a request, seen by the server that receives it."""

import json
import re
import signal
import threading

import pytest

from wire import Connection, request, response

AUTHENTICATE = "/am/json/realms/root/realms/alpha/authenticate"
START = AUTHENTICATE + "?authIndexType=service&authIndexValue=Login"
STEP = json.dumps({"authId": "a.b.c", "callbacks": []}).encode()
JSON = [("Content-Type", "application/json")]


@pytest.fixture
def play(start, origin):
    """Starts a proxy with these interceptors in front of a server that is both AM (am.localhost) and application
    (app.localhost); gives a function that sends one request and returns what the server saw, and the answer."""
    def begin(interceptors, answer=None):
        server = origin(answer or (lambda _: response(body=b"{}", fields=[("Content-Type", "application/json")])))
        usher = start({
            "am": [{"url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"]}],
            "interceptors": interceptors})
        client = Connection(("127.0.0.1", usher.port))

        def send(method, target, fields=(), body=b"", host="am.localhost"):
            before = len(server.requests)
            got = client.exchange(request(method, f"http://{host}:{server.port}{target}", fields, body))
            seen = server.requests[before] if len(server.requests) > before else None
            return seen, got

        send.usher, send.server = usher, server
        return send

    return begin


FORCE_AUTH = {
    "name": "force-auth", "when": {"action": "START_AUTHENTICATE"},
    "request": [{"set_query": {"ForceAuth": "true"}}, {"add_header": {"Accept-Language": "en-GB"}}]}


def test_android_query_and_header_on_the_start_alone(play):
    send = play([FORCE_AUTH])
    seen, _ = send("POST", START, JSON, b"{}")
    assert seen.target == START + "&ForceAuth=true"
    assert seen.get("accept-language") == "en-GB"
    seen, _ = send("POST", AUTHENTICATE, JSON, STEP)
    assert seen.target == AUTHENTICATE
    assert seen.get("accept-language") is None
    assert seen.body == STEP
    seen, _ = send("POST", START, JSON, b"{}", host="app.localhost")
    assert seen.target == START


def test_ios_query_and_header_on_both_calls(play):
    rule = {**FORCE_AUTH, "when": {"action": ["START_AUTHENTICATE", "AUTHENTICATE"]}}
    rule["request"] = [{"set_query": {"ForceAuth": "true"}}, {"set_header": {"Accept-Language": "en-GB"}}]
    cookies = {
        "name": "cookies", "when": {"action": ["START_AUTHENTICATE", "AUTHENTICATE"]},
        "request": [{"set_header": {"Cookie": "member=gold; level=2"}}]}
    send = play([rule, cookies])
    for target, body in ((START, b"{}"), (AUTHENTICATE, STEP)):
        seen, _ = send("POST", target, [*JSON, ("Accept-Language", "de"), ("Cookie", "a=b")], body)
        assert seen.target.endswith("ForceAuth=true")
        assert seen.all("accept-language") == ["en-GB"]
        assert seen.all("cookie") == ["member=gold; level=2"]
        assert seen.body == body


def test_javascript_two_interceptors_in_order(play):
    append = {
        "name": "language", "when": {"action": "START_AUTHENTICATE"},
        "request": [{"add_header": {"Accept-Language": "en-GB"}}]}
    force = {
        "name": "force", "when": {"action": "START_AUTHENTICATE"}, "request": [{"set_query": {"ForceAuth": "true"}}]}
    send = play([force, append])
    seen, _ = send("POST", START + "&ForceAuth=false", [*JSON, ("Accept-Language", "de")], b"{}")
    assert re.findall(r"ForceAuth=\w+", seen.target) == ["ForceAuth=true"]
    assert ", ".join(seen.all("accept-language")) == "de, en-GB"
    assert send.usher.said("/authenticate", "action", "START_AUTHENTICATE")
    changes = send.usher.said("/authenticate", "interceptor")
    assert ["force" in text for text in changes][0], changes
    assert ["language" in text for text in changes][-1], changes


def test_later_interceptors_see_what_earlier_ones_did(play):
    send = play([
        {"name": "first", "request": [{"set_header": {"X-Step": "1"}}]},
        {"name": "second", "when": {"header": {"X-Step": "1"}}, "request": [{"set_header": {"X-Step": "2"}}]},
        {"name": "third", "when": {"header": {"X-Step": "1"}}, "request": [{"set_header": {"X-Wrong": "1"}}]},
    ])
    seen, _ = send("GET", "/any")
    assert seen.get("x-step") == "2"
    assert seen.get("x-wrong") is None


@pytest.mark.parametrize("cookie, host, target, sent", [
    ({}, "app.localhost", "/", True),
    ({"domain": "app.localhost"}, "app.localhost", "/", True),
    ({"domain": "localhost"}, "app.localhost", "/", True),
    ({"domain": "other.localhost"}, "app.localhost", "/", False),
    ({"domain": "pp.localhost"}, "app.localhost", "/", False),
    ({"domain": "example.com"}, "app.localhost", "/", False),
    ({"secure": True}, "app.localhost", "/", False),
    ({"http_only": True}, "app.localhost", "/", True),
    ({"path": "/in"}, "app.localhost", "/in/side", True),
    ({"path": "/in"}, "app.localhost", "/inside", False),
])
def test_a_cookie_goes_where_a_cookie_store_would_send_it(play, cookie, host, target, sent):
    send = play([{"name": "member", "request": [{"set_cookie": {"name": "member", "value": "gold", **cookie}}]}])
    seen, _ = send("GET", target, [("Cookie", "a=b; member=tin; c=d")], host=host)
    cookies = re.split("; ?", "; ".join(seen.all("cookie")))
    if sent:
        assert "member=gold" in cookies and "member=tin" not in cookies
    else:
        assert "member=gold" not in cookies
    assert "a=b" in cookies and "c=d" in cookies


def test_edits_of_headers_and_query(play):
    send = play([{"name": "edits", "request": [
        {"set_header": {"X-Set": "new"}}, {"add_header": {"X-Add": "2"}}, {"remove_header": ["X-Gone", "X-Many-*"]},
        {"set_query": {"set": "new value"}}, {"add_query": {"add": "2"}}, {"remove_query": "gone"}]}])
    seen, _ = send("GET", "/p?keep=%2f+x&set=1&gone=1&add=1&set=2&flag", [
        ("X-Set", "1"), ("X-Set", "2"), ("X-Add", "1"), ("X-Gone", "1"), ("X-Many-A", "1"), ("x-many-b", "2")])
    assert seen.target == "/p?keep=%2f+x&set=new%20value&add=1&flag&add=2"
    assert seen.all("x-set") == ["new"]
    assert seen.all("x-add") == ["1", "2"]
    assert not seen.all("x-gone") and not seen.all("x-many-a") and not seen.all("x-many-b")


def test_edits_of_method_and_url(play, origin):
    other = origin()
    send = play([
        {"name": "method", "when": {"path": "/method"}, "request": [{"set_method": "DELETE"}]},
        {"name": "path", "when": {"path": "/path"}, "request": [{"set_path": "/new/path"}]},
        {"name": "url", "when": {"path": "/url"}, "request": [{"set_url": f"{other.url}/moved?x=y"}]},
        {"name": "rewrite", "when": {"path": "/old/*"}, "request": [{"rewrite_url": {"~/old/(.*)$": "/new/$1"}}]},
    ])
    seen, _ = send("GET", "/method")
    assert seen.line.startswith("DELETE /method ")
    seen, _ = send("GET", "/path?q")
    assert seen.target.startswith("/new/path")
    seen, _ = send("GET", "/old/thing?q")
    assert seen.target == "/new/thing?q"
    seen, _ = send("GET", "/url")
    assert seen is None
    assert other.requests[0].target == "/moved?x=y"
    assert other.requests[0].all("host") == [other.authority]


@pytest.mark.parametrize("when, method, host, target, applies", [
    ({"host": "app.localhost"}, "GET", "app.localhost", "/", True),
    ({"host": "app.localhost"}, "GET", "am.localhost", "/", False),
    ({"host": "*.localhost"}, "GET", "am.localhost", "/", True),
    ({"path": "/a/*"}, "GET", "am.localhost", "/a/b/c?d", True),
    ({"path": "/a/*"}, "GET", "am.localhost", "/ab", False),
    ({"path": "~^/v[0-9]+/"}, "GET", "am.localhost", "/v12/x", True),
    ({"method": ["PUT", "PATCH"]}, "PATCH", "am.localhost", "/", True),
    ({"method": ["PUT", "PATCH"]}, "GET", "am.localhost", "/", False),
    ({"method": "GET", "path": "/x"}, "GET", "am.localhost", "/y", False),
    ({"not": {"method": "GET"}}, "POST", "am.localhost", "/", True),
    ({"any": [{"path": "/x"}, {"path": "/y"}]}, "GET", "am.localhost", "/y", True),
    ({"query": {"debug": "*"}}, "GET", "am.localhost", "/?debug=1", True),
    ({"query": {"debug": "*"}}, "GET", "am.localhost", "/?other=1", False),
    ({"action": "START_AUTHENTICATE", "tree": "Login"}, "POST", "am.localhost", START, True),
    ({"action": "START_AUTHENTICATE", "tree": "Other"}, "POST", "am.localhost", START, False),
    ({"action": "JOURNEY_START"}, "POST", "am.localhost", START, True),
    ({"action": "START_AUTHENTICATE"}, "POST", "app.localhost", START, False),
    ({"realm": "/alpha"}, "POST", "am.localhost", START, True),
])
def test_when(play, when, method, host, target, applies):
    send = play([{"name": "mark", "when": when, "request": [{"set_header": {"X-Mark": "1"}}]}])
    seen, _ = send(method, target, JSON, b"{}" if method != "GET" else b"", host=host)
    assert (seen.get("x-mark") == "1") == applies


def test_the_response_phase(play):
    send = play([
        {"name": "teapot", "when": {"status": 418}, "response": [
            {"set_status": 503}, {"set_header": {"Retry-After": "60"}}, {"remove_header": "X-Secret"},
            {"add_header": {"X-Add": "2"}}]},
        {"name": "server-faults", "when": {"status": "5xx"}, "response": [{"set_header": {"X-Never": "1"}}]},
    ], lambda seen: response(
        418 if "tea" in seen.target else 200, [("X-Secret", "s"), ("X-Add", "1"), ("X-Stays", "1")], b"body"))
    _, answer = send("GET", "/tea")
    assert (answer.status, answer.body) == (503, b"body")
    assert answer.get("retry-after") == "60"
    assert answer.get("x-secret") is None
    assert answer.all("x-add") == ["1", "2"]
    assert answer.get("x-stays") == "1"
    _, answer = send("GET", "/coffee")
    assert (answer.status, answer.get("x-secret")) == (200, "s")


def test_an_answer_in_the_origins_place(play):
    send = play([
        {"name": "maintenance", "when": {"path": "/legacy"}, "request": [
            {"respond": {"status": 503, "headers": {"Retry-After": "60"}, "json": {"error": "maintenance"}}}]},
        {"name": "later", "when": {"path": "/legacy"}, "response": [{"set_header": {"X-Later": "1"}}]},
    ])
    seen, answer = send("GET", "/legacy")
    assert seen is None
    assert answer.status == 503
    assert answer.get("retry-after") == "60"
    assert json.loads(answer.body) == {"error": "maintenance"}
    assert answer.get("x-later") is None
    assert "maintenance" in answer.get("proxy-status")
    seen, answer = send("GET", "/modern")
    assert seen and answer.status == 200


def test_what_is_in_the_body_decides(play):
    mark = lambda name: [{"set_header": {name: "1"}}]
    send = play([
        {"name": "payment", "when": {"path": "/pay", "json": {"/type": "payment", "/amount": 200}},
         "request": mark("X-Payment"), "response": mark("X-Payment")},
        {"name": "refresh", "when": {"form": {"grant_type": "refresh*"}}, "request": mark("X-Refresh")},
        {"name": "nobody", "when": {"json": {"/user": "*"}, "response_json": {"/user": "nobody"}},
         "response": mark("X-Nobody")},
    ], answer=lambda _: response(body=b'{"user": "nobody"}', fields=JSON))
    for path, body, marked in (
            ("/pay", b'{"amount": 2e2, "type": "payment"}', True), ("/pay", b'{"amount": "200", "type": "payment"}', True),
            ("/pay", b'{"amount": 201, "type": "payment"}', False), ("/other", b'{"amount": 200, "type": "payment"}', False)):
        seen, got = send("POST", path, JSON, body, host="app.localhost")
        assert seen.body == body
        assert (seen.get("x-payment"), got.get("x-payment")) == (("1", "1") if marked else (None, None))
    form = [("Content-Type", "application/x-www-form-urlencoded")]
    assert send("POST", "/t", form, b"a=b&grant_type=refresh_token", host="app.localhost")[0].get("x-refresh") == "1"
    assert send("POST", "/t", form, b"grant_type=password", host="app.localhost")[0].get("x-refresh") is None
    assert send("POST", "/u", JSON, b'{"user": null}', host="app.localhost")[1].get("x-nobody") == "1"
    assert send("POST", "/u", JSON, b'{}', host="app.localhost")[1].get("x-nobody") is None


def test_a_share_is_counted_across_connections(play):
    send = play([{"name": "some", "every": 2, "first": 4, "request": [{"set_header": {"X-Some": "1"}}]}])
    marks = [send("GET", "/a", host="app.localhost")[0].get("x-some") for _ in range(3)]
    client = Connection(("127.0.0.1", send.usher.port))
    for _ in range(3):
        client.exchange(request("GET", f"http://app.localhost:{send.server.port}/a"))
        marks.append(send.server.requests[-1].get("x-some"))
    assert marks == [None, "1", None, "1", None, None]


@pytest.mark.parametrize("target", [
    "/admin", "/%61dmin", "/adm%69n/x", "//admin", "/./admin", "/x/../admin", "/x/%2e%2e/admin", "/admin?x", "/%2e/admin",
    "/admin%2Fx"])
def test_no_spelling_of_a_path_gets_past_its_condition(play, target):
    closed = {"name": "closed", "when": {"path": "/%61dmin*"}, "request": [{"respond": {"status": 403}}]}
    send = play([closed])
    seen, answer = send("GET", target, host="app.localhost")
    assert seen is None and answer.status == 403
    for other in ["/public", "/x/admin", "/x%2F..%2Fadmin", "/admi%2fn", "/?/admin"]:
        seen, answer = send("GET", other, host="app.localhost")
        # what goes out is as the client wrote it
        assert answer.status == 200 and seen.target == other


def test_what_is_excluded_is_excluded_in_every_spelling(play):
    closed = {"name": "closed", "when": {"not": {"path": "/public/*"}}, "request": [{"respond": {"status": 403}}]}
    send = play([closed])
    for target, status in [("/public/x", 200), ("/%70ublic/x", 200), ("/public/../admin", 403), ("/public%2Fx", 403)]:
        assert send("GET", target, host="app.localhost")[1].status == status, target


# what is the log's, the clock's and the count's


def test_a_line_in_the_log_without_its_secrets(play):
    send = play([{
        "name": "tell",
        "request": [{"set_state": {"who": "${request.header.Cookie}"}},
                    {"log": "for ${request.header.X-Client}, ${request.header.Cookie}, ${state.who}, ${request.query.code}"}],
        "response": [{"log": "got ${response.status}, ${response.header.Set-Cookie}, ${response.json./token}"}]}],
        lambda _: response(200, [("Set-Cookie", "sid=s3cret"), *JSON], b'{"token":"s3cret"}'))
    fields = [("Cookie", "session=s3cret"), ("X-Client", "app/2")]
    send("GET", "/told?code=s3cret", fields, host="app.localhost")
    flow = send.usher.flow("/told")
    lines = [event["text"] for event in flow.events if event["text"].startswith("tell: ") and "REDACTED" in event["text"]]
    assert lines == ["tell: for app/2, REDACTED, REDACTED, REDACTED", "tell: got 200, REDACTED, REDACTED"]
    assert "s3cret" not in json.dumps(flow.events)


def test_a_time_out_of_one_interceptor(play):
    release = threading.Event()
    send = play([{"name": "quick", "when": {"path": "/slow"}, "request": [{"timeout": "200ms"}]}],
                lambda seen: release.wait(30) and response() or response())
    try:
        _, got = send("GET", "/slow", host="app.localhost")
        assert got.status == 504 and b"200 ms of interceptor quick" in got.body
    finally:
        release.set()


def test_counts_are_each_interceptors_own_and_begin_anew_with_a_reload(start, origin, write_config):
    server = origin(lambda _: response())
    config = {"workers": 2, "interceptors": [
        {"name": name, "first": 2, "request": [{"set_header": {f"X-{name}": "1"}}]} for name in ("a", "b")]}
    usher = start(config)

    def taken(count):
        marks = []
        for _ in range(count):
            with Connection(("127.0.0.1", usher.port)) as client:
                client.exchange(request("GET", f"{server.url}/"))
            seen = server.requests[-1]
            marks.append((seen.get("x-a"), seen.get("x-b")))
        return marks

    assert taken(3) == [("1", "1"), ("1", "1"), (None, None)]
    write_config(config, usher.config.name)
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
    assert taken(3) == [("1", "1"), ("1", "1"), (None, None)]
