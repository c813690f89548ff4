"""Interceptors that are written in Swift: a package of its own runs the program with them, by every verb."""

import concurrent.futures
import json
import os
import pathlib
import subprocess

import pytest
import yaml

import shop
import test_cookbook
from wire import Connection, request, response

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "Tests/SwiftInterceptors"
PAGE = (ROOT / "docs/swift-interceptors.md").read_text()
START = "/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Login"

pytestmark = pytest.mark.limit(900)


@pytest.fixture(scope="session")
def binary():
    """The example's program, built as its reader would build it."""
    given = os.environ.get("USHER_EXAMPLE")
    if given:
        return given
    # into what is built already: the library is the same
    command = ["swift", "build", "--package-path", PACKAGE, "--scratch-path", ROOT / ".build"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    shown = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True)
    return f"{shown.stdout.strip()}/MyUsher"


def rule(name, form="request", code=None, **more):
    return {"name": name, form: [{"swift": code or name}], **more}


@pytest.fixture
def play(start, origin):
    """Starts the program with these interceptors in front of a server that is AM and application at once."""
    def begin(*interceptors, answer=lambda _: response(body=b"ok"), **more):
        server = origin(answer)
        usher = start({
            "am": [{"url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"]}],
            "interceptors": list(interceptors), **more})

        def client():
            return Connection(("127.0.0.1", usher.port))

        own = client()

        def send(target="/", method="GET", fields=(), body=b"", host="app.localhost", by=own):
            before = len(server.requests)
            got = by.exchange(request(method, f"http://{host}:{server.port}{target}", fields, body))
            return (server.requests[before] if len(server.requests) > before else None), got

        send.usher, send.server, send.client = usher, server, client
        return send

    return begin


# MARK: what the page shows

def test_the_page_shows_the_example():
    for name in ("Package", "ForceAuth", "FreshToken"):
        path = next(PACKAGE.rglob(f"{name}.swift"))
        assert path.read_text() in PAGE, path


CONFIGURATION, EXAMPLES = test_cookbook.read(PAGE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example(example, call, tmp_path):
    (tmp_path / "usher.yaml").write_text(CONFIGURATION + example.text)
    (tmp_path / "cases.yaml").write_text("config: usher.yaml\n" + example.cases)
    done = call("test", tmp_path / "cases.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    count = len(yaml.safe_load(example.cases)["cases"])
    assert done.stdout.splitlines()[-1] == f"{count} passed, 0 failed"


# MARK: verbs

def test_check_tells_of_those_that_are_registered(call, write_config):
    good = write_config({"interceptors": [rule("a", code="force-auth")]})
    done = call("check", good)
    assert done.returncode == 0
    assert '"tea" is registered, but no interceptor runs it' in done.stdout
    assert '"force-auth" is registered' not in done.stdout
    done = call("check", write_config({"interceptors": [rule("a", code="forceauth")]}, "bad.yaml"))
    assert done.returncode == 1
    assert 'no interceptor is registered under "forceauth"; known: force-auth, fresh-token' in done.stdout
    assert 'did you mean "force-auth"?' in done.stdout


@pytest.mark.parametrize("code, words", [
    ("force-auth", "set URL"), ("twice", "added header X-Completed"), ("stuck", "came to nothing within 50 ms")])
def test_explain_runs_it(call, write_config, code, words):
    edit = {"swift": {"name": code, "deadline": "50ms"}} if code != "force-auth" else {"swift": code}
    config = write_config({
        "am": [{"url": "http://am.test/am"}], "interceptors": [{"name": "mine", "request": [edit]}]})
    done = call("explain", "--config", config, f"curl -X POST http://am.test{START.replace('realms/root/realms/alpha/', '')}")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout and f"swift{':' if code == 'stuck' else ''} {code}" in done.stdout


def test_run_knows_them(call, write_config, origin):
    server = origin(lambda _: response(body=b"ok"))
    config = write_config({"interceptors": [rule("tea")]})
    done = call(
        "run", "--config", config, "--", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
        f"http://app.localhost:{server.port}/")
    assert done.stdout == "418" and server.requests == []


def test_a_usual_program_knows_none(write_config):
    usual = os.environ.get("USHER_BINARY")
    if not usual:
        pytest.skip("USHER_BINARY names no program")
    done = subprocess.run(
        [usual, "check", write_config({"interceptors": [rule("tea")]})], capture_output=True, text=True)
    assert done.returncode == 1 and "this program registers none" in done.stdout


# MARK: real traffic

def test_a_request_is_changed_under_its_action_alone(play):
    send = play(rule("mine", code="force-auth"))
    seen, got = send(START, "POST", [("Content-Type", "application/json"), ("Accept-Language", "de")], b"{}", "am.localhost")
    assert seen.target == START + "&ForceAuth=true" and seen.all("accept-language") == ["en-GB"]
    assert seen.body == b"{}" and got.status == 200
    seen, _ = send("/x?a=%7e", host="app.localhost")
    assert seen.target == "/x?a=%7e" and seen.get("accept-language") is None


def test_when_and_percent_hold_for_it(play):
    send = play(rule("never", code="tea", percent=0), rule("there", code="tea", when={"path": "/tea"}))
    assert send("/")[1].status == 200
    seen, got = send("/tea")
    assert seen is None and (got.status, got.body) == (418, b"short")


def test_a_token_is_got_once_for_all(play):
    good = ["Bearer t1"]

    def answer(asked):
        return response(200 if asked.get("authorization") == good[0] else 401, body=b"here")

    send = play(
        {"name": "token", "request": [{"swift": "fresh-token"}], "response": [{"swift": "fresh-token"}]}, answer=answer)
    assert send("/")[1].status == 200
    good[0] = "Bearer t2"
    clients = [send.client() for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda one: one.exchange(
            request("POST", f"http://app.localhost:{send.server.port}/many", (), b"body")), clients))
    assert [one.status for one in got] == [200] * 8
    many = [one for one in send.server.requests if one.target == "/many"]
    assert {one.get("authorization") for one in many} <= {"Bearer t1", "Bearer t2"}
    assert all(one.body == b"body" for one in many) and len(many) <= 16
    good[0] = "Bearer none"
    seen = len(send.server.requests)
    assert send("/refused")[1].status == 401 and len(send.server.requests) == seen + 2


def test_a_response_is_changed_with_its_body(play):
    send = play(
        rule("mine", "response", "no-address"),
        answer=lambda _: response(body=b"name\naddress: here\nend", fields=[("Content-Type", "text/plain")]))
    _, got = send("/")
    assert got.body == b"name\nend" and got.get("content-length") == "8"
    assert got.get("x-seen") == "1 GET"


# MARK: what goes wrong costs its own exchange

@pytest.mark.parametrize("form", ["request", "response"])
def test_T47_one_that_throws(play, form):
    send = play(rule("mine", form, "throws", when={"path": "/bad"}))
    for _ in range(3):
        seen, got = send("/bad")
        assert got.status == 502 and "mine" in got.get("proxy-status") and "NotToday" in got.get("proxy-status")
        assert (seen is None) == (form == "request")
        assert send("/")[1].status == 200
    assert send.usher.flow("/bad").access["status"] == 502


def test_T48_one_that_never_completes(play):
    send = play({
        "name": "mine", "when": {"path": "/bad"}, "request": [{"swift": {"name": "stuck", "deadline": "300ms"}}]})
    other = send.client()
    slow = send.client()
    slow.send(request("GET", f"http://app.localhost:{send.server.port}/bad"))
    assert send("/", by=other)[1].status == 200, "nobody else waits"
    got = slow.read_response()
    assert got.status == 504
    assert "interceptor mine (swift: stuck) came to nothing within 300 ms" in got.get("proxy-status")
    assert slow.exchange(request("GET", f"http://app.localhost:{send.server.port}/")).status == 200
    assert send.usher.flow("/bad").access["status"] == 504


def test_a_client_that_leaves(play):
    send = play(
        {"name": "mine", "when": {"path": "/bad"}, "request": [{"swift": {"name": "stuck", "deadline": "1h"}}]},
        timeouts={"half_closed": "50ms"})
    gone = send.client()
    gone.send(request("GET", f"http://app.localhost:{send.server.port}/bad"))
    gone.close()
    assert send.usher.flow("/bad")
    assert send("/")[1].status == 200


def test_T49_one_that_completes_twice(play):
    send = play(rule("mine", code="twice"))
    seen, got = send("/")
    assert seen.get("x-completed") == "first" and got.status == 200
    line = "interceptor mine (swift: twice) completed more than once; the first time counts"
    send.usher.wait_for(
        lambda: any(line in one for one in send.usher.lines + send.usher.errors), "a word of the second time")


def test_calls_of_its_own_pass_it(start, sandbox, through):
    config = shop.config(sandbox)
    config["interceptors"] = [
        rule("mine", code="force-auth"), rule("later", code="twice", when={"action": "START_AUTHENTICATE"})]
    usher = start(config)
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    answer = through(usher).get(f"{sandbox.shop}/code", headers=headers, timeout=15)
    assert answer.status_code == 200, answer.text
    changes = [event["text"] for event in usher.flow("/code").events if event["event"] == "interceptor"]
    assert any("swift force-auth" in text and "Accept-Language" in text for text in changes), changes
    assert any("swift twice" in text and "X-Completed" in text for text in changes), changes
