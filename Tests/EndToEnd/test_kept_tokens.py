"""Tokens that outlive the daemon, sealed in the state directory."""

import base64
import json
import os
import signal
import stat
import urllib.parse

import pytest

import programs
from grants import BASE, REDIRECT, SECRET, Api, Grants, Proofs
from wire import Connection, request

KEY = "a key of thirty-two bytes or more"
OTHER = "another key of thirty-two bytes or more"


class World:
    def __init__(self, binary, write_config, origin, folder, entry, grants=None, **config):
        self.binary, self.write_config, self.folder = binary, write_config, folder
        self.grants = grants or Grants(secret=SECRET)
        self.api = Api(self.grants)
        self.am, self.resource = origin(self.grants), origin(self.api)
        self.grants.url, self.api.url = self.am.url, self.resource.url
        self.config = {"workers": 2, "am": [{"url": f"{self.am.url}/am"}],
                       "tokens": [{"resources": f"{self.resource.url}/*", "keep": "sealed", **entry}], **config}
        self.usher, self.running = None, []
        self.kept = folder / "kept" / "tokens.json"

    def begin(self, how=signal.SIGTERM, environment=None, state=None):
        """Ends the daemon that runs, and begins another."""
        if self.usher:
            self.end(how)
        self.usher = programs.Usher(
            self.binary, self.write_config(self.config), environment=environment, state=state or self.folder)
        self.running.append(self.usher)
        return self

    def end(self, how=signal.SIGTERM):
        assert self.usher.stop(how) == (0 if how == signal.SIGTERM else -how), self.usher.errors

    def reload(self, **changes):
        self.config |= changes
        self.write_config(self.config)
        before = sum("generation" in line for line in self.usher.errors)
        self.usher.process.send_signal(signal.SIGHUP)
        self.usher.wait_for(lambda: sum("generation" in line for line in self.usher.errors) > before, "the reload")

    def send(self, method, url, fields=(), **options):
        with Connection(("127.0.0.1", self.usher.port)) as client:
            return client.exchange(request(method, url, fields, **options))

    def get(self, who="ada", fields=()):
        return self.send("GET", f"{self.resource.url}/x", [("X-Client", who), *fields])

    def exchange(self, who="ada"):
        form = {"grant_type": "authorization_code", "client_id": "shop", "redirect_uri": REDIRECT, "client_secret": SECRET,
                "code": self.grants.code(who)}
        return self.send("POST", f"{self.am.url}{BASE}/access_token", [
            ("X-Client", who), ("Content-Type", "application/x-www-form-urlencoded")],
            body=urllib.parse.urlencode(form).encode())

    def said(self, words):
        return self.usher.wait_for(lambda: [line for line in self.usher.errors if words in line], words)

    def on_disk(self, count=1):
        """The documents, once there are so many."""
        def found():
            documents = json.loads(self.kept.read_text())["documents"] if self.kept.exists() else {}
            return [documents] if len(documents) == count else None

        return programs.eventually(found, f"{count} documents in {self.kept}")[0]


@pytest.fixture
def world(binary, write_config, origin, state):
    made = []

    def make(entry, **more):
        made.append(World(binary, write_config, origin, state, entry, **more))
        return made[-1]

    yield make
    for one in made:
        for usher in one.running:
            if usher.process.poll() is None:
                assert usher.stop() == 0, usher.errors


def credentials(**more):
    return {"bearer": "client_credentials", "client": {"id": "shop", "secret": SECRET}, **more}


def learned(**more):
    return {"bearer": "learned", "client_by": "header:X-Client", **more}


def test_a_daemon_that_begins_anew_goes_on_with_its_tokens(world):
    play = world(learned()).begin()
    for who in ("ada", "bob"):
        assert play.exchange(who).status == 200
    assert play.get("ada").body == b"ada"
    play.begin()
    assert [play.get(who).body for who in ("bob", "ada")] == [b"bob", b"ada"] and play.get("eve").status == 401
    assert len(play.grants.calls) == 2
    # and renews them, with what the client showed
    play.grants.expire()
    assert play.get("ada").body == b"ada"
    play.begin()
    assert play.get("ada").body == b"ada" and len(play.grants.forms("refresh_token")) == 1
    play.grants.expire()
    assert play.get("ada").body == b"ada" and len(play.grants.forms("refresh_token")) == 2
    assert not play.usher.errors or all("listening" in line for line in play.usher.errors)


def test_what_was_spent_in_the_clients_name_is_known_over_restarts(world):
    play = world(learned()).begin()
    play.exchange("ada")
    play.grants.expire()
    assert play.get("ada").body == b"ada"
    play.begin()
    got = play.send("POST", f"{play.am.url}{BASE}/access_token", [
        ("X-Client", "ada"), ("Content-Type", "application/x-www-form-urlencoded")],
        body=urllib.parse.urlencode(
            {"grant_type": "refresh_token", "client_id": "shop", "client_secret": SECRET, "refresh_token": "r1"}).encode())
    assert got.status == 200 and [form["refresh_token"] for form in play.grants.forms("refresh_token")] == ["r1", "r2"]


def test_a_token_of_the_clients_own_credentials_and_its_key_last(world):
    grants = Grants(secret=SECRET, refreshes=False)
    grants.proofs = Proofs()
    play = world(credentials(dpop=True), grants=grants).begin()
    assert play.get().body == b"shop"
    play.begin()
    assert play.get().body == b"shop" and len(grants.calls) == 1
    assert len({bound for _, bound in grants.access.values()}) == 1


def test_a_token_by_a_session_lasts_for_that_session(world):
    play = world({"bearer": "code", "client": {"id": "shop", "secret": SECRET}, "redirect_uri": REDIRECT,
                  "client_by": "header:X-Client"}).begin()
    session = [("Cookie", "iPlanetDirectoryPro=SESSION-A")]
    assert play.get(fields=session).body == b"ada"
    play.begin()
    assert play.get(fields=session).body == b"ada" and len(play.grants.calls) == 1
    assert play.get(fields=[("Cookie", "iPlanetDirectoryPro=SESSION-B")]).body == b"bob" and len(play.grants.calls) == 2


def test_the_files_are_the_owners_alone_and_tell_nothing(world, state):
    play = world(learned()).begin()
    play.exchange("ada")
    (name, sealed), = play.on_disk().items()
    play.end()
    kept = state / "kept"
    assert sorted(path.name for path in kept.iterdir()) == ["lock", "tokens.json", "tokens.key", "tokens.lock"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir()} == {0o600}
    for secret in (b'"a1"', b'"r1"', b'"shop"', b'"ada"', SECRET.encode()):
        assert secret not in base64.b64decode(sealed) and secret not in play.kept.read_bytes()
    key = (kept / "tokens.key").read_text()
    assert len(key) == 44 and key not in "".join(play.usher.errors + play.usher.lines)


def test_a_crash_loses_nothing_that_was_written(world):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    play.on_disk()
    play.begin(how=signal.SIGKILL)
    assert play.get().body == b"shop" and len(play.grants.calls) == 1


def test_the_key_of_the_configuration_is_the_one(world, state):
    play = world(credentials(), state={"key": "${env.STATE_KEY}"}).begin(environment={"STATE_KEY": KEY})
    assert play.get().body == b"shop"
    assert not (state / "kept/tokens.key").exists()
    # with another one nothing opens, and nothing is lost
    play.begin(environment={"STATE_KEY": OTHER})
    line, = play.said("sealed with another key")
    assert str(play.kept) in line and "state.key" in line and "remove the file" in line and KEY not in line
    assert play.get().body == b"shop" and len(play.grants.calls) == 2
    play.on_disk(2)
    play.begin(environment={"STATE_KEY": KEY})
    assert play.get().body == b"shop" and len(play.grants.calls) == 2
    assert play.api.shown == ["Bearer a1", "Bearer a2", "Bearer a1"]


def test_a_key_that_a_reload_brings_seals_everything_anew(world, tmp_path, state):
    secret = tmp_path / "secret"
    secret.write_text(KEY + "\n")
    secret.chmod(0o600)
    play = world(credentials(), state={"key": "${file:%s}" % secret}).begin()
    assert play.get().body == b"shop"
    name, = play.on_disk()
    secret.write_text(OTHER + "\n")
    play.reload()
    programs.eventually(lambda: name not in play.on_disk(), "another key")
    play.begin()
    assert play.get().body == b"shop" and len(play.grants.calls) == 1


@pytest.mark.parametrize("damage, words", [
    (lambda kept: kept.write_text("{"), ["tokens.json is not JSON"]),
    (lambda kept: kept.chmod(0o644), ["tokens.json has secrets", "chmod 600"]),
])
def test_a_file_that_cannot_be_read_costs_a_line(world, state, damage, words):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    play.end()
    damage(play.kept)
    play.usher = None
    play.begin()
    line, = play.said(words[0])
    assert all(word in line for word in words)
    assert play.get().body == b"shop" and len(play.grants.calls) == 2


def test_a_document_that_is_damaged_costs_a_line(world):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    play.end()
    document = json.loads(play.kept.read_text())
    (name, sealed), = document["documents"].items()
    bad = bytearray(base64.b64decode(sealed))
    bad[20] ^= 1
    document["documents"][name] = base64.b64encode(bad).decode()
    play.kept.write_text(json.dumps(document))
    play.usher = None
    play.begin()
    line, = play.said("damaged")
    assert str(play.kept) in line and "remove the file" in line
    assert play.get().body == b"shop" and len(play.grants.calls) == 2


def test_a_key_that_others_may_read_is_not_used(world, state):
    play = world(credentials()).begin()
    play.end()
    (state / "kept/tokens.key").chmod(0o640)
    play.usher = None
    play.begin()
    line, = play.said("tokens are kept only in memory")
    assert "tokens.key" in line and "chmod 600" in line
    assert play.get().body == b"shop"


def test_two_daemons_do_not_spend_each_others_tokens(world, state):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    play.on_disk()
    first, play.usher = play.usher, None
    play.begin()
    line, = play.said("tokens are kept only in memory")
    assert "another usher" in line and "STATE_DIRECTORY" in line
    assert play.get().body == b"shop" and len(play.grants.calls) == 2
    assert first.stop() == 0
    play.begin()
    assert play.get().body == b"shop" and play.api.shown[-1] == "Bearer a1"


def test_an_entry_that_is_for_memory_alone_leaves_nothing(world):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    play.on_disk()
    entry, = play.config["tokens"]
    play.reload(tokens=[{**entry, "keep": "memory"}])
    play.on_disk(0)
    # what is in memory is kept from the next reload on that asks for it
    play.reload(tokens=[entry])
    play.on_disk()
    play.begin()
    assert play.get().body == b"shop" and len(play.grants.calls) == 1


def test_what_no_entry_asks_for_is_told_of_and_left(world):
    play = world(credentials()).begin()
    assert play.get().body == b"shop"
    entry, = play.config["tokens"]
    play.config["tokens"] = [{**entry, "keep": "memory"}]
    play.begin()
    line, = play.said("no entry of tokens has keep: sealed")
    assert str(play.kept) in line
    play.config["tokens"] = [{**entry, "scope": "read"}]
    play.begin()
    line, = play.said("of entries of tokens that were removed or changed")
    play.config["tokens"] = [entry]
    play.begin()
    assert play.get().body == b"shop" and len(play.grants.calls) == 1


def test_what_a_client_gives_up_is_gone_from_the_disk(world):
    play = world(learned()).begin()
    play.exchange("ada")
    play.on_disk()
    play.send("POST", f"{play.am.url}{BASE}/token/revoke", [
        ("X-Client", "ada"), ("Content-Type", "application/x-www-form-urlencoded")], body=b"client_id=shop&token=r1")
    play.on_disk(0)


def test_a_folder_that_cannot_be_written_to_costs_a_line(world, tmp_path):
    folder = tmp_path / "readonly"
    folder.mkdir()
    (folder / "kept").write_text("a file where a folder has to be")
    play = world(credentials()).begin(state=folder)
    line, = play.said("tokens are kept only in memory")
    assert str(folder) in line
    assert play.get().body == b"shop"
