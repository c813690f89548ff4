"""Journeys that an app runs itself, seen by Usher's devices: what they register is kept, and their pushes are answered."""

import base64
import hashlib
import hmac
import json
import struct
import threading
import urllib.parse

import programs
import shop
from test_devices import household, said  # noqa: F401

HEADERS = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}


class App:
    """An app that signs in at AM, through the proxy or past it."""

    def __init__(self, client, sandbox, tree, user="demo", session=None):
        self.client, self.user = client, user
        self.url = f"{sandbox.am}/json/realms/root/authenticate"
        self.headers = HEADERS | ({"Cookie": f"{shop.COOKIE}={session}"} if session else {})
        self.answer = client.post(
            self.url, params={"authIndexType": "service", "authIndexValue": tree}, headers=self.headers, timeout=20)
        self.step = self.answer.json()

    def types(self):
        return [callback["type"] for callback in self.step.get("callbacks", [])]

    def go_on(self, **values):
        """Sends the page back, with values by callback types."""
        for callback in self.step["callbacks"]:
            if callback["type"] in values:
                callback["input"][0]["value"] = values[callback["type"]]
        self.answer = self.client.post(self.url, json=self.step, headers=self.headers, timeout=20)
        self.step = self.answer.json()
        return self.answer

    def sign_in(self):
        return self.go_on(NameCallback=self.user, PasswordCallback="changeit")

    def poll(self, until=15):
        """Asks again as a waiting page says, until it is another one."""
        if "PollingWaitCallback" in self.types():
            programs.eventually(
                lambda: self.go_on() is not None and "PollingWaitCallback" not in self.types(), "another page", until)
        return self.answer

    def uri(self):
        return next(
            output["value"] for callback in self.step["callbacks"] if callback["type"] == "HiddenValueCallback"
            for output in callback["output"] if output["name"] == "value")


def code(uri, counter):
    """RFC 4226."""
    secret = urllib.parse.parse_qs(urllib.parse.urlparse(uri).query)["secret"][0]
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", counter), hashlib.sha1).digest()
    number = struct.unpack(">I", digest[digest[-1] & 15:][:4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def listed(call):
    return [(one["user"], one["device"], one["factor"]) for one in json.loads(call("devices", "--json").stdout)]


def test_codes_that_an_app_registers_serve_step_ups(household, through, call):
    usher, sandbox = household("OathCounter", {"user": "demo", "seen": True})
    app = App(through(usher), sandbox, "OathLogin")
    app.sign_in()
    uri = app.uri()
    app.go_on(ConfirmationCallback=0)
    # the app gives the first code itself, and Usher the next one
    assert app.go_on(NameCallback=code(uri, 0), ConfirmationCallback=0).status_code == 200
    token = app.step["tokenId"]
    programs.eventually(lambda: listed(call) == [("demo", "demo", "oath")], "the device")
    answer = through(usher).get(
        f"{sandbox.shop}/order", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=30, allow_redirects=False)
    assert answer.status_code == 200, said(usher, "/order")


def test_nothing_is_kept_where_am_does_not_go_on(household, through, call):
    usher, sandbox = household("OathCounter", {"user": "demo", "seen": True})
    app = App(through(usher), sandbox, "OathLogin")
    app.sign_in()
    assert "otpauth" in app.uri()
    again = App(through(usher), sandbox, "Login")
    again.sign_in()
    assert again.step["tokenId"]
    assert listed(call) == []


def test_a_push_device_is_registered_and_answers(household, through, call):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "approve", "seen": True})
    app = App(through(usher), sandbox, "PushLogin")
    app.sign_in()
    assert "pushauth" in app.uri()
    assert app.poll().status_code == 200, app.step
    assert app.step["tokenId"]
    programs.eventually(lambda: listed(call) == [("demo", "demo", "push")], "the device")
    # once more, and a step-up of Usher's own with the same device
    again = App(through(usher), sandbox, "PushLogin")
    again.sign_in()
    assert again.poll().status_code == 200
    answer = through(usher).get(
        f"{sandbox.shop}/order", headers={"Cookie": f"{shop.COOKIE}={again.step['tokenId']}"}, timeout=30,
        allow_redirects=False)
    assert answer.status_code == 200, said(usher, "/order")
    assert sum("a device registers" in line for line in sandbox.lines) == 1


def test_users_at_once_each_with_an_app(household, through, call):
    usher, sandbox = household("PushNumber", {"user": "user*", "push": "approve", "seen": True})
    ends = {}

    def run(user):
        for _ in range(3):
            app = App(through(usher), sandbox, "PushLogin", user=user)
            app.sign_in()
            app.poll(30)
            ends.setdefault(user, []).append(app.step.get("tokenId"))

    threads = [threading.Thread(target=run, args=(f"user{number}",)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ends) == [f"user{number}" for number in range(1, 7)]
    assert all(len(tokens) == 3 and all(tokens) for tokens in ends.values()), ends
    programs.eventually(
        lambda: sorted(listed(call)) == [(user, "user*", "push") for user in sorted(ends)], "a device for each")


def test_a_session_tells_whose_journey_it_is(household, through, call):
    usher, sandbox = household("PushDevice", {"user": "user1", "name": "phone", "push": "approve", "seen": True})
    session = shop.login(sandbox, "user1")
    app = App(through(usher), sandbox, "PushDevice", session=session)
    assert app.poll().status_code == 200, app.step
    assert app.step["tokenId"]
    programs.eventually(lambda: listed(call) == [("user1", "phone", "push")], "the device")


def test_a_push_is_denied_in_an_apps_journey(household, through):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "deny", "seen": True})
    app = App(through(usher), sandbox, "PushLogin")
    app.sign_in()
    assert app.poll().status_code == 401


def test_whoever_is_not_configured_registers_nothing(household, through, call):
    usher, sandbox = household("PushNumber", {"user": "user1", "push": "approve", "seen": True})
    app = App(through(usher), sandbox, "PushLogin", user="demo")
    app.sign_in()
    before = app.step["authId"]
    app.go_on()
    assert "pushauth" in app.uri() and app.step["authId"] != before
    assert listed(call) == []
    assert not any("a device registers" in line for line in sandbox.lines)


def test_without_seen_an_apps_journey_is_its_own(household, through, call):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "approve"})
    app = App(through(usher), sandbox, "PushLogin")
    app.sign_in()
    app.go_on()
    assert "pushauth" in app.uri()
    assert listed(call) == []
    assert not any("a device registers" in line for line in sandbox.lines)


def test_a_journey_past_the_proxy_is_not_answered(household, through):
    usher, sandbox = household("PushNumber", {"user": "demo", "push": "approve", "seen": True})
    app = App(through(usher), sandbox, "PushLogin")
    app.sign_in()
    assert app.poll().status_code == 200
    other = App(shop.direct(sandbox), type("Direct", (), {"am": f"{sandbox.direct}/am"}), "PushLogin")
    other.sign_in()
    for _ in range(5):
        other.go_on()
    assert "PollingWaitCallback" in other.types()
    # nor does another user's journey take that push
    third = App(through(usher), sandbox, "Poll", user="user1")
    third.sign_in()
    third.poll()
    assert sum("a device answers" in line for line in sandbox.lines) == 1


def test_a_journey_is_seen_where_am_is_opened(secure_sandbox, start, state, through, call):
    """The device serves the user's name whatever it is called here."""
    usher = start({
        **shop.config(secure_sandbox), "devices": [{"user": "user*", "name": "phone", "seen": True}],
        "tls": {
            "intercept": ["*.localhost"], "ca": {"constrain_to": ["localhost"]},
            "upstream": {"trust": "none", "extra_trust": [str(secure_sandbox.ca)]}}}, state=state)
    client = through(usher)
    client.verify = str(usher.ca)
    app = App(client, secure_sandbox, "OathLogin", user="user7")
    app.sign_in()
    uri = app.uri()
    app.go_on(ConfirmationCallback=0)
    assert app.go_on(NameCallback=code(uri, 0), ConfirmationCallback=0).status_code == 200
    programs.eventually(lambda: listed(call) == [("user7", "phone", "oath")], "the device")
    assert "otpauth" not in "".join(usher.lines + usher.errors)
