"""Usher as the second device of the sandbox's users: codes and pushes in step-ups that nobody attends."""

import json
import signal
import stat
import threading

import pytest

import programs
import shop
from wire import Connection, request

PUSHES = "http://usher.proxy/devices/push"


@pytest.fixture
def household(own_sandbox, start, state):
    """An Usher and a sandbox whose transactions ask for a tree, with pushes from one to the other."""
    def run(tree, *devices, **authorization):
        # each has to know the other's port: the proxy learns the sandbox's by a reload
        usher = start({}, state=state)
        sandbox = own_sandbox(
            "--transaction", tree, "--push-url", PUSHES, "--push-proxy", f"127.0.0.1:{usher.port}")
        config = {**shop.config(sandbox, **authorization), "devices": list(devices)}
        usher.config.write_text(json.dumps({"version": 1, **config}))
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: any("generation 2 " in line for line in usher.errors), "the reload")
        return usher, sandbox

    return run


def ask(through, usher, sandbox, path="/order", user="demo"):
    token = shop.login(sandbox, user)
    return through(usher).get(
        f"{sandbox.shop}{path}", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=30, allow_redirects=False)


def said(usher, path):
    return " | ".join(event["text"] for event in usher.flow(path).events)


# codes

@pytest.mark.parametrize("tree", ["OathDevice", "OathCounter"])
def test_a_device_registers_and_answers_with_its_codes(household, through, tree):
    usher, sandbox = household(tree, {"user": "demo"})
    answer = ask(through, usher, sandbox, "/first")
    assert answer.status_code == 200, said(usher, "/first")
    assert answer.json()["transactionUses"] == 1
    assert "the device demo is registered for one-time passwords" in said(usher, "/first")


def test_a_device_outlives_its_process_and_tells_nobody_its_secret(household, start, through, state, call):
    usher, sandbox = household("OathCounter", {"user": ["demo"], "name": "phone"})
    assert ask(through, usher, sandbox, "/first").status_code == 200
    kept = state / "kept"
    programs.eventually(lambda: (kept / "devices.json").exists() and (kept / "counters.json").exists(), "the files")
    again = start(usher.config.read_text(), state=state)
    answer = ask(through, again, sandbox, "/second")
    assert answer.status_code == 200, said(again, "/second")
    assert "registered" not in said(again, "/second")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    for file in kept.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    listed = json.loads(call("devices", "--json").stdout)
    assert [(one["user"], one["device"], one["factor"]) for one in listed] == [("demo", "phone", "oath")]
    words = call("devices").stdout + json.dumps(listed) + "\n".join(usher.lines + usher.errors + again.lines)
    assert "secret" not in words and "otpauth" not in words
    assert call("devices", "forget", "none").returncode == 1
    assert call("devices", "forget", listed[0]["id"]).returncode == 0
    assert json.loads(call("devices", "--json").stdout) == []


def test_a_device_is_its_users_alone(household, through):
    usher, sandbox = household("OathCounter", {"user": "user1"})
    assert ask(through, usher, sandbox, "/own", "user1").status_code == 200
    answer = ask(through, usher, sandbox, "/other", "demo")
    assert answer.status_code == 401 and shop.advice(answer)
    assert "registered" not in said(usher, "/other")


# pushes

def test_a_push_is_approved(household, through):
    usher, sandbox = household("PushDevice", {"user": "demo", "push": "approve"})
    answer = ask(through, usher, sandbox, "/first")
    assert answer.status_code == 200, said(usher, "/first")
    assert "the device demo is registered for pushes" in said(usher, "/first")
    assert "the device demo approves the push" in said(usher, "/first")
    assert ask(through, usher, sandbox, "/second").status_code == 200
    assert "registered" not in said(usher, "/second")
    assert sum("a device registers" in line for line in sandbox.lines) == 1


def test_a_push_is_answered_after_its_delay(household, through):
    usher, sandbox = household("PushDevice", {"user": "demo", "push": "approve", "delay": "1s"})
    answer = ask(through, usher, sandbox, "/slow")
    assert answer.status_code == 200, said(usher, "/slow")
    assert answer.elapsed.total_seconds() >= 0.99


def test_a_push_is_denied(household, through):
    usher, sandbox = household("PushDevice", {"user": "demo", "push": "deny"})
    answer = ask(through, usher, sandbox, "/denied")
    assert answer.status_code == 401 and shop.advice(answer)
    assert "the device demo denies the push" in said(usher, "/denied")
    assert any("the push was denied" in line for line in sandbox.lines)


def test_a_push_that_is_ignored_ends_with_the_hold(household, through):
    usher, sandbox = household("PushDevice", {"user": "demo", "push": "ignore"}, hold="2s")
    answer = ask(through, usher, sandbox, "/ignored")
    assert answer.status_code == 401 and shop.advice(answer)
    assert "longer than authorization.hold" in said(usher, "/ignored")
    assert not any("a device answers" in line for line in sandbox.lines)


def test_a_number_is_chosen(household, through):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "approve"})
    answer = ask(through, usher, sandbox, "/number")
    assert answer.status_code == 200, said(usher, "/number")
    assert "the device demo chooses a number of the push" in said(usher, "/number")


def test_a_wrong_number_is_chosen(household, through):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "approve", "number": "wrong"})
    answer = ask(through, usher, sandbox, "/wrong")
    assert answer.status_code == 401 and shop.advice(answer)
    assert any("a wrong number" in line for line in sandbox.lines)


def test_users_at_once_each_with_a_device(household, through):
    usher, sandbox = household("PushNumber", {"user": "user*", "push": "approve"})
    answers = {}

    def run(user):
        answers[user] = [ask(through, usher, sandbox, f"/{user}/{turn}", user) for turn in range(3)]

    threads = [threading.Thread(target=run, args=(f"user{number}",)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == 6
    for user, all_of_them in answers.items():
        for answer in all_of_them:
            assert answer.status_code == 200, said(usher, f"/{user}/")
            assert answer.json()["user"] == user and answer.json()["transactionUses"] == 1


# deliveries

def test_what_is_no_push_is_not_taken(household):
    usher, _ = household("PushDevice", {"user": "demo", "push": "approve"})

    def deliver(body, method="POST", fields=()):
        fields = [("Content-Length", str(len(body))), *fields]
        with Connection(("127.0.0.1", usher.port)) as client:
            return client.exchange(request(method, PUSHES, fields, body), method)

    token = "eyJhbGciOiJIUzI1NiJ9.eyJ1Ijoibm9ib2R5IiwiYyI6IkFBIn0.AAAA"
    assert deliver(b"").status == 400
    assert deliver(b"{").status == 400
    assert deliver(b"{}").status == 400
    assert deliver(json.dumps({"messageId": "AUTHENTICATE:1", "message": "x"}).encode()).status == 400
    assert deliver(json.dumps({"messageId": "AUTHENTICATE:1", "message": token}).encode()).status == 404
    assert deliver(b"x" * (17 << 10)).status == 413
    assert deliver(b"{}", "PUT").status == 405


def test_a_push_that_was_caught_is_worth_nothing(own_sandbox, start, state, through, origin):
    """The test stands where the push service does, and delivers by hand."""
    service = origin()
    sandbox = own_sandbox("--transaction", "PushDevice", "--push-url", f"{service.url}/pushes")
    usher = start({**shop.config(sandbox), "devices": [{"user": "demo", "push": "approve"}]}, state=state)

    def deliver(push):
        with Connection(("127.0.0.1", usher.port)) as client:
            body = json.dumps(push).encode()
            return client.exchange(request("POST", PUSHES, [("Content-Type", "application/json")], body), "POST").status

    def step_up(path):
        """One step-up to its end; the push that it came to."""
        count, answers = len(service.requests), []
        asking = threading.Thread(target=lambda: answers.append(ask(through, usher, sandbox, path)))
        asking.start()
        programs.eventually(lambda: len(service.requests) > count, "the push")
        push = json.loads(service.requests[-1].body)
        assert deliver(push) == 200
        asking.join(30)
        assert answers and answers[0].status_code == 200, said(usher, path)
        return push

    caught = step_up("/first")
    # under other ids it neither waits for an answer nor takes the places of those to come
    for number in range(10):
        assert deliver({**caught, "messageId": f"AUTHENTICATE:{number}"}) == 200
    step_up("/second")
    assert sum("a device answers" in line for line in sandbox.lines) == 2


def test_without_such_devices_nothing_is_taken(start):
    usher = start({})
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("POST", PUSHES, [("Content-Length", "2")], b"{}"), "POST").status == 405
