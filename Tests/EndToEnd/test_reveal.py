"""Secrets that the journal keeps sealed, and who gets to see them."""

import json
import socket

import pytest

import looked
import people
import programs
from wire import Connection, request

KEY = "a key of thirty-two bytes or more"
SESSION = "AQIC5wM2LY4SfczFxI9lMv4PgF7l"
DOOR = "the-token-of-the-admin-port"
TOKEN = "a-token-of-somebody-0123456789"


@pytest.fixture
def world(binary, write_config, origin, state):
    class World:
        running = []
        config = {"workers": 1, "journal": {"reveal": True, "disk": {}}, "state": {"key": "${env.KEY}"},
                  "am": [{"url": "http://am.test/am"}]}

        def __init__(self):
            self.origin = origin(looked.answer)
            self.person = people.Person(binary, state)

        def begin(self):
            self.running.append(programs.Usher(binary, write_config(self.config), environment={"KEY": KEY, "TOKEN": DOOR}, state=state))

        def end(self):
            assert self.running[-1].stop() == 0

        def get(self, path="/json", more=()):
            with Connection(("127.0.0.1", self.running[-1].port)) as client:
                answer = client.exchange(request("GET", f"http://127.0.0.1:{self.origin.port}{path}", [
                    ("Cookie", f"iPlanetDirectoryPro={SESSION}"), ("Authorization", f"Bearer {TOKEN}"), *more]))
                assert answer.status == 200

        def listed(self, count=1):
            def look():
                flows = self.person.asks("GET", "/v1/flows")[1]["flows"]
                return len(flows) >= count and flows
            return programs.eventually(look, f"{count} flows")

        def fields(self, id, *options):
            done = self.person.says("flow", id, "--json", *options)
            assert done.returncode == 0, done.stderr
            return {field["name"]: field["value"] for field in json.loads(done.stdout)["request"]["fields"]}

    world = World()
    world.running = []
    yield world
    for usher in world.running:
        if usher.process.poll() is None:
            assert usher.stop() == 0, usher.errors


def test_what_is_revealed(world, tmp_path, state):
    world.begin()
    world.get()
    id = world.listed()[0]["id"]
    hidden, shown = world.fields(id), world.fields(id, "--reveal")
    assert hidden["Cookie"] == "iPlanetDirectoryPro=session#1" and hidden["Authorization"] == "Bearer token#1"
    assert shown["Cookie"] == f"iPlanetDirectoryPro={SESSION}" and shown["Authorization"] == f"Bearer {TOKEN}"
    file = tmp_path / "all.har"
    assert world.person.says("export", "--har", file).returncode == 0 and SESSION not in file.read_text()
    assert world.person.says("export", "--har", file, "--reveal").returncode == 0
    assert SESSION in file.read_text() and TOKEN in file.read_text()
    done = world.person.says("replay", id, "--json")
    assert done.returncode == 0, done.stderr
    world.listed(2)
    assert SESSION not in world.person.says("flows", "--json").stdout
    programs.eventually(lambda: world.person.asks("GET", "/v1/status")[1]["journal"]["disk"]["flows"] >= 2, "the disk")
    world.end()
    for name in state.glob("kept/journal*"):
        held = name.read_bytes()
        assert SESSION.encode() not in held and TOKEN.encode() not in held, name
    world.begin()
    assert world.fields(id, "--reveal")["Cookie"] == f"iPlanetDirectoryPro={SESSION}", "after a restart"
    done = world.person.says("replay", id, "--json")
    assert done.returncode == 0, done.stderr


def test_without_it_nothing_is_revealed(world):
    del world.config["journal"]["reveal"]
    world.begin()
    world.get()
    id = world.listed()[0]["id"]
    done = world.person.says("flow", id, "--reveal")
    assert done.returncode == 1 and "journal.reveal" in done.stderr and "state.key" in done.stderr
    assert world.person.says("replay", id).returncode == 1


def test_the_key_is_needed(world, call, write_config):
    del world.config["state"]
    done = call("check", write_config(world.config), KEY=KEY)
    assert done.returncode == 1 and "journal.reveal requires state.key" in done.stderr + done.stdout


def test_the_port_shows_none(world):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world.config["admin"] = {"listen": f"127.0.0.1:{port}", "token": "${env.TOKEN}"}
    world.begin()
    world.get()
    id = world.listed()[0]["id"]
    with Connection(("127.0.0.1", port)) as client:
        for path in (f"/v1/flows/{id}?reveal=true", "/v1/flows.har?reveal=true"):
            answer = client.exchange(request("GET", path, [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {DOOR}")]))
            assert answer.status == 403, answer
    answer, body = world.person.asks("GET", f"/v1/flows/{id}?reveal=true")
    assert answer.status == 200 and SESSION in json.dumps(body)


def test_an_alias_that_a_client_writes(world):
    """It is what a client wrote, beside a secret of its own and without one, and never somebody else's secret."""
    world.begin()
    world.get()
    place = f"http://127.0.0.1:{world.origin.port}/json"
    for fields, body in (
        ([("X-Lure", "session#1")], b""),
        ([("X-Lure", "session#1"), ("Authorization", "Bearer another-token-0123456789"), ("Content-Type", "application/json")],
         b'{"comment":"session#1","next":"https://a/?x=session%231&y=%5C&code=abcdefghijklmn1","\\u0063ode":"session\\u00231 x"}'),
    ):
        with Connection(("127.0.0.1", world.running[-1].port)) as client:
            client.exchange(request("POST", place, [*fields, ("Content-Length", str(len(body)))]) + body)
    flows = world.listed(3)
    for flow in flows[:2]:
        whole = json.loads(world.person.says("flow", flow["id"], "--json", "--reveal").stdout)
        assert SESSION not in json.dumps(whole)
        assert {field["name"]: field["value"] for field in whole["request"]["fields"]}["X-Lure"] == "session#1"
        assert world.fields(flow["id"])["X-Lure"] == "session##1", "no alias"
        done = world.person.says("replay", flow["id"], "--force")
        assert done.returncode == 0, done.stderr
    sent = [flow for flow in world.listed(5) if flow["id"] not in {old["id"] for old in flows}]
    for flow in sent:
        whole = json.loads(world.person.says("flow", flow["id"], "--json", "--reveal").stdout)
        assert SESSION not in json.dumps(whole)
        assert {field["name"]: field["value"] for field in whole["request"]["fields"]}["X-Lure"] == "session#1"
