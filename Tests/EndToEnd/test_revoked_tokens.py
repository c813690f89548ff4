"""Tokens that AM is told of when nobody has use for them any more (RFC 7009)."""

import base64
import threading
import time
import urllib.parse

import pytest

import programs
from grants import BASE, REDIRECT, SECRET, Api, Grants
from wire import Connection, request, response

FORM = ("Content-Type", "application/x-www-form-urlencoded")


class Revoking(Grants):
    """Keeps what comes to its revocation endpoint, and may be slow or broken there."""

    def __init__(self, **more):
        super().__init__(**more)
        self.revocations, self.refusal, self.held = [], None, None

    def __call__(self, got):
        if got.target != f"{BASE}/token/revoke":
            return super().__call__(got)
        form = dict(urllib.parse.parse_qsl(got.body.decode(), keep_blank_values=True))
        with self.lock:
            self.revocations.append((form, self.shows(got, form)))
        if self.held:
            self.held.wait(30)
        return self.refusal or super().__call__(got)


class World:
    def __init__(self, binary, write_config, origin, state, entry, grants=None, **config):
        self.grants = grants or Revoking(secret=SECRET)
        self.api = Api(self.grants)
        self.am, self.resource = origin(self.grants), origin(self.api)
        self.grants.url, self.api.url = self.am.url, self.resource.url
        entries = entry if isinstance(entry, list) else [entry]
        self.usher = programs.Usher(binary, write_config({
            "workers": 2, "am": [{"url": f"{self.am.url}/am"}],
            "tokens": [{"resources": f"{self.resource.url}/{number or '*'}", **one} for number, one in enumerate(entries)],
            **config}), state=state)

    def send(self, method, url, fields=(), **options):
        with Connection(("127.0.0.1", self.usher.port)) as client:
            return client.exchange(request(method, url, fields, **options))

    def get(self, who="ada", session=None, path="/x"):
        cookie = [("Cookie", f"iPlanetDirectoryPro={session}")] if session else []
        return self.send("GET", f"{self.resource.url}{path}", [("X-Client", who), *cookie])

    def exchange(self, who="ada"):
        form = {"grant_type": "authorization_code", "client_id": "shop", "redirect_uri": REDIRECT, "client_secret": SECRET,
                "code": self.grants.code(who)}
        return self.send("POST", f"{self.am.url}{BASE}/access_token", [("X-Client", who), FORM],
                         body=urllib.parse.urlencode(form).encode())

    def logout(self, who="ada"):
        return self.send("POST", f"{self.am.url}/am/json/realms/root/sessions/?_action=logout", [
            ("X-Client", who), ("Content-Type", "application/json")], body=b"{}")

    def stop(self):
        """Ends the daemon; how long that took."""
        begun = time.monotonic()
        assert self.usher.stop() == 0, self.usher.errors
        return time.monotonic() - begun

    @property
    def revoked(self):
        return sorted(form["token"] for form, _ in self.grants.revocations)

    @property
    def complaints(self):
        return [line for line in self.usher.errors + self.usher.lines if "not revoked" in line]


@pytest.fixture
def world(binary, write_config, origin, state):
    made = []

    def make(entry, **more):
        made.append(World(binary, write_config, origin, state, entry, **more))
        return made[-1]

    yield make
    for one in made:
        if one.usher.process.poll() is None:
            assert one.usher.stop() == 0, one.usher.errors


def credentials(**more):
    return {"bearer": "client_credentials", "client": {"id": "shop", "secret": SECRET}, "revoke": "at_end", **more}


def code(**more):
    return {"bearer": "code", "client": {"id": "shop", "secret": SECRET}, "redirect_uri": REDIRECT,
            "client_by": "header:X-Client", "revoke": "at_end", **more}


def learned(**more):
    return {"bearer": "learned", "client_by": "header:X-Client", **more}


@pytest.mark.parametrize("refreshes", [True, False])
def test_the_end_revokes_what_was_had(world, refreshes):
    play = world(credentials(), grants=Revoking(secret=SECRET, refreshes=refreshes))
    assert play.get().body == b"shop"
    play.stop()
    (form, shown), = play.grants.revocations
    assert form == {"token": "r1", "token_type_hint": "refresh_token"} if refreshes else {
        "token": "a1", "token_type_hint": "access_token"}
    assert shown == ("shop", SECRET) and not play.complaints


def test_each_session_has_its_own_revoked_and_only_the_newest(world):
    play = world(code())
    for who, session in [("ada", "SESSION-A"), ("bob", "SESSION-B")]:
        assert play.get(who, session).body == who.encode()
    play.grants.expire()
    assert play.get("ada", "SESSION-A").body == b"ada"
    play.stop()
    assert play.revoked == ["r2", "r3"]


@pytest.mark.parametrize("entry, revoked", [
    (learned(), []), (learned(revoke="at_logout"), []), (learned(revoke="at_end"), ["r1"]),
    (credentials(revoke="never"), []),
])
def test_what_is_not_asked_for_is_not_done(world, entry, revoked):
    play = world(entry)
    if entry["bearer"] == "learned":
        assert play.exchange().status == 200
    assert play.get().status == 200
    play.stop()
    assert play.revoked == revoked
    if revoked:
        # with what the client showed
        assert play.grants.revocations[0][1] == ("shop", SECRET)


def test_an_end_without_tokens_asks_nobody(world):
    play = world(credentials())
    play.stop()
    assert not play.grants.requests


@pytest.mark.parametrize("when", ["at_logout", "at_end"])
def test_who_signs_out_has_the_tokens_of_its_session_revoked(world, when):
    play = world(code(revoke=when))
    for who, session in [("ada", "SESSION-A"), ("bob", "SESSION-B")]:
        assert play.get(who, session).body == who.encode()
    assert play.logout("ada").status == 200
    programs.eventually(lambda: play.revoked == ["r1"], "the revocation")
    assert play.get("bob", "SESSION-B").body == b"bob" and len(play.grants.forms("authorization_code")) == 2
    told = " | ".join(event["text"] for flow in [play.usher.flow("_action=logout")] for event in flow.events)
    assert "AM is told that its token is of use to nobody" in told and "r1" not in told
    play.stop()
    assert play.revoked == (["r1", "r2"] if when == "at_end" else ["r1"])


def test_what_was_renewed_in_a_clients_name_is_revoked_with_its_logout(world):
    play = world(learned(revoke="at_logout"))
    play.exchange("ada")
    play.exchange("bob")
    play.grants.expire()
    assert play.get("ada").body == b"ada"
    assert play.logout("ada").status == 200
    programs.eventually(lambda: play.revoked == ["r3"], "the revocation")
    assert play.get("bob").body == b"bob"


@pytest.mark.alone
def test_am_that_hangs_holds_no_logout_and_no_end(world):
    play = world(code())
    assert play.get("ada", "SESSION-A").body == b"ada" and play.get("bob", "SESSION-B").body == b"bob"
    play.grants.held = threading.Event()
    begun = time.monotonic()
    assert play.logout("ada").status == 200 and time.monotonic() - begun < 2
    assert play.stop() < 10
    play.grants.held.set()
    assert [line for line in play.complaints if "AM takes too long" in line]


def test_the_end_is_held_no_longer_than_5_s_by_many(world):
    grants = Revoking(secret=SECRET)
    grants.sessions = {f"S{number}": f"user{number}" for number in range(200)}
    play = world(code(), grants=grants)
    for number in range(200):
        assert play.get("ada", f"S{number}").status == 200
    grants.held = threading.Event()
    assert play.stop() < 10
    grants.held.set()
    line, = play.complaints
    assert "there was no time left" in line and "times" in line


def test_many_are_revoked_at_once(world):
    grants = Revoking(secret=SECRET)
    grants.sessions = {f"S{number}": f"user{number}" for number in range(200)}
    play = world(code(), grants=grants)
    for number in range(200):
        assert play.get("ada", f"S{number}").status == 200
    assert play.stop() < 5
    assert len(set(play.revoked)) == 200 and not play.complaints


@pytest.mark.parametrize("refusal, words", [
    (response(503), "AM responded with 503"),
    (response(401, body=b'{"error": "invalid_client"}'), "AM responded with 401 (invalid_client)"),
])
def test_what_fails_is_told_in_one_line(world, refusal, words):
    play = world([credentials(), code()])
    assert play.get().status == 200
    play.grants.refusal = refusal
    play.stop()
    line, = play.complaints
    assert words in line and SECRET not in line


def test_an_am_that_is_gone_is_told_of_in_one_line(world):
    play = world(code())
    assert play.get("ada", "SESSION-A").body == b"ada" and play.get("bob", "SESSION-B").body == b"bob"
    play.am.close()
    assert play.stop() < 10
    line, = play.complaints
    assert "(2 times)" in line


def test_interceptors_have_a_part_in_it_and_may_not_lead_it_away(world, origin):
    thief = origin(Revoking())
    play = world(credentials(), interceptors=[
        {"name": "mark", "when": {"action": "REVOKE_TOKEN"}, "request": [{"set_header": {"X-Mark": "yes"}}]}])
    assert play.get().status == 200
    play.stop()
    assert [got.get("x-mark") for got in play.grants.requests if got.target.endswith("/revoke")] == ["yes"]
    play = world(credentials(), interceptors=[
        {"name": "away", "when": {"action": "REVOKE_TOKEN"}, "request": [{"set_host": f"127.0.0.1:{thief.port}"}]}])
    assert play.get().status == 200
    play.stop()
    assert not thief.requests and not play.grants.revocations and len(play.complaints) == 1
