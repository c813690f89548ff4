"""What AM asks in a step-up is answered by the configuration: one-time passwords, pages that wait, forms, by user."""

import base64
import concurrent.futures
import hashlib
import hmac
import json
import re
import stat
import struct
import threading
import time

import pytest

import programs
import shop
import wire
from test_authorization_failures import JSON, ask, check_note, check_original, fake_shop, gateway
from wire import response

SECRET = b"12345678901234567890"
SECRET_TEXT = base64.b32encode(SECRET).decode()
CONTENT = b'{"tokenId":"secret.token.*AAJT*","realm":"/"}'
REFUSED = b'{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"errorCode":"107"}}'


def code(counter):
    """RFC 4226."""
    digest = hmac.new(SECRET, struct.pack(">Q", counter), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def callback(kind, inputs=("",), number=1, **output):
    return {
        "type": kind, "output": [{"name": name, "value": value} for name, value in output.items()],
        "input": [{"name": f"IDToken{number}{name}", "value": ""} for name in inputs]}


def page(*callbacks, **more):
    return response(200, JSON, json.dumps({"authId": "e.a.s", "callbacks": list(callbacks), **more}).encode())


def told(seen):
    """What came back: the values of each callback's inputs."""
    return [[one["value"] for one in each.get("input", [])] for each in json.loads(seen.body)["callbacks"]]


def begin(start, origin, server, answers, state=None, **authorization):
    """A proxy, with `server` for its AM, in front of a resource that wants a transaction."""
    gate = gateway(origin, "http://am.localhost/am/")
    am = origin(server)
    usher = start(fake_shop(gate, am, answers=answers, **authorization), state=state)
    return usher, f"{gate.url}/x"


def granted(usher, url):
    answer = ask(usher, url)
    assert (answer.status, answer.body) == (200, b"granted"), usher.said("/x", "note")


# one-time passwords


class OneTime:
    """An AM that takes each password once: those that `accepts` says, in rising order."""

    PROMPT = callback("PasswordCallback", prompt="One Time Password")

    def __init__(self, accepts):
        self.accepts = accepts
        self.last = -1
        self.taken = []
        self.refused = 0
        self.lock = threading.Lock()

    def __call__(self, seen):
        if not seen.body:
            return page(self.PROMPT)
        given = told(seen)[0][0]
        with self.lock:
            for counter in self.accepts():
                if counter > self.last and code(counter) == given:
                    self.last = counter
                    self.taken.append(counter)
                    return response(200, JSON, CONTENT)
            self.refused += 1
        return response(401, JSON, REFUSED)


def clock(period):
    """The password of now, and of just before."""
    return lambda: [int(time.time()) // period + step for step in (-1, 0)]


def test_a_password_by_the_clock_is_told_once(start, origin):
    server = OneTime(clock(2))
    usher, url = begin(start, origin, server, [
        {"callback": "PasswordCallback", "prompt": "*one*time*", "totp": {"secret": SECRET_TEXT, "period": "2s"}}],
        hold="20s")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(granted, usher, url) for _ in range(3)]:
            done.result()
    assert server.refused == 0 and len(set(server.taken)) == 3
    assert any("was given to AM already; the next one comes in" in line for line in usher.lines)
    log = "\n".join(usher.lines + usher.errors)
    assert SECRET_TEXT not in log
    assert not any(re.search(rf"\b{code(counter)}\b", log) for counter in server.taken)


def test_as_an_authenticator_is_given_it(start, origin):
    server = OneTime(clock(30))
    uri = f"otpauth://totp/AM:demo@example.com?secret={SECRET_TEXT}&issuer=AM&algorithm=SHA1&digits=6&period=30"
    usher, url = begin(start, origin, server, [{"callback": "PasswordCallback", "totp": uri}])
    granted(usher, url)


def test_a_password_by_a_counter_goes_on_after_a_restart(binary, write_config, origin, state):
    server = OneTime(lambda: range(100))
    answers = [{"callback": "PasswordCallback", "hotp": SECRET_TEXT}]
    usher, url = begin(
        lambda config, state: programs.Usher(binary, write_config(config), state=state), origin, server, answers, state)
    granted(usher, url)
    granted(usher, url)
    kept = state / "kept/counters.json"
    programs.eventually(lambda: kept.exists() and "hotp" in kept.read_text(), "the counter on the disk")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert SECRET_TEXT not in kept.read_text()
    assert usher.stop() == 0
    again = programs.Usher(binary, usher.config, state=state)
    try:
        granted(again, url)
    finally:
        assert again.stop() == 0
    assert server.taken == [0, 1, 2] and server.refused == 0


def test_two_processes_tell_no_password_twice(start, origin, state):
    """As `usher run` beside a daemon: each goes on behind what the other has told."""
    server = OneTime(lambda: range(100))
    answers = [{"callback": "PasswordCallback", "hotp": SECRET_TEXT}]
    first, url = begin(start, origin, server, answers, state)
    second = start(first.config.read_text(), state=state)
    kept, before = state / "kept/counters.json", b""
    for usher in [first, second] * 3:
        granted(usher, url)
        # it is on the disk within moments
        before = programs.eventually(
            lambda: kept.exists() and kept.read_bytes() != before and kept.read_bytes(), "the counter on the disk")
    assert server.taken == list(range(6)) and server.refused == 0


def test_a_password_that_am_refuses_is_not_followed_by_all_others(start, origin):
    server = OneTime(lambda: [])
    words = iter(["Wrong", "Wrong again", "Still wrong", "Last try"])
    asked = []

    def answer(seen):
        if seen.body:
            asked.append(told(seen)[0][0])
        return page(callback("PasswordCallback", prompt=next(words)))

    usher, url = begin(start, origin, answer, [{"callback": "PasswordCallback", "hotp": SECRET_TEXT}])
    check_original(ask(usher, url))
    assert len(asked) == 2 and server.refused == 0
    check_note(usher, "/x", "asks again for PasswordCallback")


# pages that wait


WAITING = {"type": "PollingWaitCallback", "output": [
    {"name": "waitTime", "value": "100"}, {"name": "message", "value": "Look at your phone"}]}
BUTTONS = {"type": "ConfirmationCallback", "output": [
    {"name": "options", "value": ["Exit"]}, {"name": "optionType", "value": -1}],
    "input": [{"name": "IDToken2", "value": 100}]}


class Waiting:
    def __init__(self, times):
        self.times = times
        self.polls = 0
        self.pressed = None

    def __call__(self, seen):
        if seen.body:
            pressed = told(seen)[1][0]
            if pressed != 100:
                self.pressed = pressed
                return response(200, JSON, CONTENT)
            self.polls += 1
        return page(WAITING, BUTTONS) if self.polls < self.times else response(200, JSON, CONTENT)


def test_am_is_asked_until_it_is_content(start, origin):
    server = Waiting(12)
    usher, url = begin(start, origin, server, [], limits={"steps": 2}, hold="30s")
    granted(usher, url)
    assert server.polls == 12


def test_asking_has_a_limit(start, origin):
    server = Waiting(1000)
    usher, url = begin(start, origin, server, [], limits={"polls": 3}, hold="30s")
    check_original(ask(usher, url))
    assert server.polls == 3
    check_note(usher, "/x", "it was asked 3 times, as often as authorization.limits.polls allows")


def test_a_page_that_waits_is_left(start, origin):
    server = Waiting(1000)
    usher, url = begin(start, origin, server, [
        {"callback": "PollingWaitCallback", "prompt": "*phone*", "exit": "exit", "after": "250ms"}], hold="30s")
    granted(usher, url)
    assert server.polls == 3 and server.pressed == 0


# forms


def test_a_form_of_everything(start, origin):
    form = [
        callback("KbaCreateCallback", ["question", "answer"], 1, predefinedQuestions=["First school?", "First pet?"]),
        callback("ConsentMappingCallback", number=2, name="m1", message="Share?"),
        callback("TermsAndConditionsCallback", number=3, version="2"),
        callback("DeviceProfileCallback", number=4, metadata=True, location=False),
        callback("SelectIdPCallback", number=5, providers=[{"provider": "acme"}, {"provider": "localAuthentication"}]),
        callback("DeviceBindingCallback", ["jws", "deviceName", "deviceId", "clientError"], 6, challenge="x"),
        callback("TextInputCallback", number=7, prompt="Nickname", defaultText="box-1"),
        callback("MyOwnCallback", ["colour"], 8),
        {"type": "TextOutputCallback", "output": [{"name": "message", "value": "<script>"}, {"name": "messageType", "value": "4"}]},
    ]
    seen = []

    def server(request):
        if not request.body:
            return page(*form)
        seen.append(told(request))
        return response(200, JSON, CONTENT)

    usher, url = begin(start, origin, server, [
        {"callback": "KbaCreateCallback", "question": "*pet*", "answer": "Rex"},
        {"callback": "ConsentMappingCallback", "name": "m1", "value": "true"},
        {"callback": "TermsAndConditionsCallback", "value": "true"},
        {"callback": "DeviceProfileCallback", "device": {
            "identifier": "proxy-1", "metadata": {"platform": {"name": "linux"}}, "location": {"latitude": 1.5, "longitude": 2}}},
        {"callback": "SelectIdPCallback", "choose": "local*"},
        {"callback": "DeviceBindingCallback", "inputs": {"clientError": "Unsupported"}},
        {"callback": "TextInputCallback", "default": True},
        {"callback": "MyOwnCallback", "inputs": {"colour": "red"}},
    ])
    granted(usher, url)
    profile = json.loads(seen[0][3][0])
    assert profile == {"identifier": "proxy-1", "metadata": {"platform": {"name": "linux"}}}
    assert seen[0][:3] == [["First pet?", "Rex"], [True], [True]]
    assert seen[0][4:] == [["localAuthentication"], ["", "", "", "Unsupported"], ["box-1"], ["red"], []]


def test_a_value_that_am_does_not_take_is_told_with_its_policies(start, origin):
    policy = json.dumps({"policyRequirement": "LENGTH_BASED", "params": {"min-password-length": 12}})

    def server(seen):
        failed = [policy] if seen.body else []
        return page(callback("ValidatedCreatePasswordCallback", ["", "validateOnly"], prompt="New password", failedPolicies=failed))

    usher, url = begin(start, origin, server, [{"callback": "ValidatedCreatePasswordCallback", "value": "too-short"}])
    check_original(ask(usher, url))
    check_note(usher, "/x", r"\"New password\", which violates its policies: LENGTH_BASED \(min-password-length 12\)")
    assert "too-short" not in "\n".join(usher.lines)


@pytest.mark.parametrize("number, body, words", [(number, *case) for number, case in enumerate([
    (page(callback("IdPCallback", ["token", "token_type"], provider="acme")), "identity provider of acme; answer it with inputs"),
    (page(callback("ReCaptchaCallback", recaptchaSiteKey="s")), "answer it with value: TEXT"),
    (page({"type": "RedirectCallback", "output": [{"name": "redirectUrl", "value": "https://idp.example.com/?x"}]}),
     "sends the user's browser to idp.example.com, where Usher does not go"),
    (page(callback("NewCallback", ["colour"])), "Usher does not know NewCallback.*it has colour"),
    (page(*[callback("NameCallback")] * 300), "300 callbacks, more than the 256 allowed"),
    (page(callback("NameCallback"), padding="x" * (1 << 20)), "(larger|more) than"),
    (response(200, JSON, json.dumps({"authId": "a" * (1 << 19), "callbacks": []}).encode()), "authId has more than 256 KiB"),
    (response(401, JSON, b'{"authId":"a","callbacks":[{"type":"HttpCallback"}]}'), "take a tree without HTTP Basic"),
])], ids=lambda value: value if isinstance(value, int) else "")
def test_what_nobody_answers_ends_in_words(start, origin, number, body, words):
    usher, url = begin(start, origin, lambda seen: body, [])
    check_original(ask(usher, url))
    check_note(usher, "/x", words)
    assert len(usher.said("/x", "note", "step-up failed")) == 1


# by user


class Users:
    """An AM that knows whose session it is, and wants that user's PIN."""

    def __init__(self, users):
        self.users = users
        self.questions = 0
        self.wrong = []

    def __call__(self, seen):
        user = self.users.get(re.search(rf"{shop.COOKIE}=([^;]+)", seen.get("cookie")).group(1))
        if "getSessionInfo" in seen.target:
            self.questions += 1
            assert seen.target.startswith("/am/json/realms/root/sessions?")
            if not user:
                return response(401, JSON, b'{"code":401}')
            return response(200, JSON, json.dumps({"username": user, "realm": "/"}).encode())
        if not seen.body:
            return page(callback("PasswordCallback", prompt="PIN"))
        if told(seen)[0][0] == f"pin of {user}":
            return response(200, JSON, CONTENT)
        self.wrong.append((user, told(seen)))
        return response(401, JSON, REFUSED)


def test_answers_for_users_and_groups(start, origin):
    server = Users({"A": "alice", "B": "bob", "T1": "test-1", "T2": "test-2", "Z": "zoe"})
    usher, url = begin(start, origin, server, [
        {"user": "alice", "answers": [{"callback": "PasswordCallback", "value": "pin of alice"}]},
        {"user": ["BOB", "carol"], "callback": "PasswordCallback", "value": "pin of bob"},
        {"user": "test-1", "answers": [{"callback": "PasswordCallback", "prompt": "PIN", "value": "pin of test-1"}]},
        {"user": "test-*", "callback": "PasswordCallback", "value": "pin of test-2"}])

    def get(session, more=""):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            return client.exchange(wire.request("GET", url + more, [("Cookie", f"{shop.COOKIE}={session}")]))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for answer in pool.map(get, ["A", "B", "T1", "T2"] * 5):
            assert answer.status == 200
    assert not server.wrong and server.questions == 20
    check_original(get("Z", "/zoe"))
    check_note(usher, "/zoe", "no answer is configured for PasswordCallback")
    check_original(get("unknown", "/unknown"))
    check_note(usher, "/unknown", "AM does not name the session's user")
    assert "SESSION_INFO" in "\n".join(usher.lines)


def test_nobody_is_asked_for_where_no_answer_depends_on_it(start, origin):
    server = Users({"secret.token.*AAJT*": "alice"})
    usher, url = begin(start, origin, server, [
        {"callback": "PasswordCallback", "value": "pin of alice"},
        {"user": "bob", "callback": "PasswordCallback", "prompt": "other", "value": "x"}])
    granted(usher, url)
    assert server.questions == 0
