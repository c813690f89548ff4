"""The journal on the disk: what outlives the daemon, what is removed, and disks that do not do as they are told."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest

import looked
import people
import programs
from wire import Connection, request

DISK = {"disk": {}}


class World:
    def __init__(self, binary, write_config, origin, state):
        self.binary, self.write_config, self.folder = binary, write_config, state
        self.origin = origin(looked.answer)
        self.person = people.Person(binary, state)
        self.file = state / "kept" / "journal.db"
        self.running = []
        self.config = {"workers": 1, "journal": dict(DISK)}

    @property
    def usher(self):
        return self.running[-1]

    def begin(self, **journal):
        self.config["journal"] |= journal
        self.running.append(programs.Usher(
            self.binary, self.write_config(self.config), state=self.folder,
            environment={"SPILL_TOKEN": "0123456789abcdef0123"}))
        return self

    def end(self, how=signal.SIGTERM):
        assert self.usher.stop(how) == (0 if how == signal.SIGTERM else -how), self.usher.errors

    def get(self, path, fields=(), usher=None):
        with Connection(("127.0.0.1", (usher or self.usher).port)) as client:
            answer = client.exchange(request("GET", f"http://127.0.0.1:{self.origin.port}{path}", fields))
            assert answer.status == 200
            return answer

    def many(self, count, path="/json"):
        with Connection(("127.0.0.1", self.usher.port)) as client:
            for number in range(count):
                url = f"http://127.0.0.1:{self.origin.port}{path}?n={number}"
                assert client.exchange(request("GET", url)).status == 200

    def listed(self, *terms, limit=1000, count=0):
        """What `usher flows` lists, once there are so many."""
        def look():
            done = self.person.says("flows", "--json", "--limit", limit, *terms)
            assert done.returncode == 0, done.stderr
            flows = [json.loads(line) for line in done.stdout.splitlines()]
            return len(flows) >= count and (flows,)

        return programs.eventually(look, f"{count} flows")[0]

    def status(self):
        return self.person.asks("GET", "/v1/status")[1]["journal"]

    def written(self, count):
        """Waits until so many flows are on the disk."""
        programs.eventually(lambda: self.status()["disk"]["flows"] >= count, f"{count} flows on the disk")

    def rows(self, query="SELECT count(*) FROM flows"):
        with contextlib.closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as database:
            return database.execute(query).fetchall()

    def said(self, words):
        return [line for line in self.usher.errors if words in line]


@pytest.fixture
def world(binary, write_config, origin, state):
    world = World(binary, write_config, origin, state)
    yield world
    for usher in world.running:
        if usher.process.poll() is None:
            assert usher.stop() == 0, usher.errors


def test_a_restart_keeps_flows(world):
    world.begin().get("/json", [("Cookie", "iPlanetDirectoryPro=AQIC5wM2LY4SfczFxI9lMv4PgF7l")])
    world.get("/gzip")
    before = world.listed(count=2)
    assert [flow["sequence"] for flow in before] == [1, 2]
    world.written(2)
    world.end()
    assert oct(world.file.stat().st_mode & 0o777) == "0o600" and not list(world.folder.glob("kept/*-wal"))
    world.begin().get("/session", [("Cookie", "iPlanetDirectoryPro=AQIC5other2LY4SfczFxI9lMv4PgF7l")])
    flows = world.listed(count=3)
    assert [flow["sequence"] for flow in flows] == [1, 2, 3], "numbers go on"
    # ids begin anew: those of the first run have its number before them
    assert [flow["id"] for flow in flows[:2]] == ["1" + flow["id"].rjust(12, "0") for flow in before]
    assert [{**flow, "id": ""} for flow in flows[:2]] == [{**flow, "id": ""} for flow in before]
    whole = json.loads(world.person.says("flow", flows[1]["id"], "--json").stdout)
    assert whole["response"]["body"]["text"] == "unpacked " * 100
    aliases = [
        next(field["value"] for field in
             json.loads(world.person.says("flow", flow["id"], "--json").stdout)["request"]["fields"]
             if field["name"] == "Cookie")
        for flow in (flows[0], flows[2])]
    assert len(set(aliases)) == 2 and all("session#" in alias for alias in aliases), "no number is given twice"
    assert [flow["id"] for flow in world.listed("path=/gzip")] == [flows[1]["id"]]
    assert [flow["sequence"] for flow in world.listed(limit=2)] == [2, 3]
    world.written(3)
    status = world.person.says("status").stdout
    assert "; on disk 3 flows in" in status


def test_flows_of_an_earlier_run_are_sent_again_and_exported(world, tmp_path):
    world.begin().get("/json")
    world.listed(count=1)
    world.written(1)
    world.end()
    world.begin()
    id = world.listed(count=1)[0]["id"]
    done = world.person.says("replay", id, "--json")
    assert done.returncode == 0, done.stderr
    assert world.person.says("flow", id[:9]).returncode == 0
    world.listed(count=2)
    file = tmp_path / "all.har"
    assert world.person.says("export", "--har", file).returncode == 0
    entries = json.loads(file.read_text())["log"]["entries"]
    assert len(entries) == 2 and entries[0]["_flow"] == id


def test_more_than_memory_holds(world):
    world.begin(memory="64KiB").many(300)
    world.written(300)
    status = world.status()
    assert status["flows"] < 200 and status["disk"]["flows"] == 300 and status["disk"]["dropped"] == 0
    assert [flow["sequence"] for flow in world.listed()] == list(range(1, 301))
    assert len(world.listed("query.n=~^1.$")) == 10
    assert [flow["sequence"] for flow in world.listed(limit=250)] == list(range(51, 301))


def test_the_oldest_make_room(world):
    world.begin(disk={"size": "1MiB"})
    # what cannot be pressed
    with Connection(("127.0.0.1", world.usher.port)) as client:
        for number in range(1200):
            fields = [("X-Filler", os.urandom(1500).hex())]
            url = f"http://127.0.0.1:{world.origin.port}/json"
            assert client.exchange(request("GET", url, fields)).status == 200
    programs.eventually(
        lambda: 0 < world.status()["disk"]["bytes"] <= 1 << 20 and world.rows("SELECT max(sequence) FROM flows") == [(1200,)],
        "the file's size")
    world.end()
    assert world.file.stat().st_size < 3 << 20
    (oldest, count), = world.rows("SELECT min(sequence), count(*) FROM flows")
    assert oldest > 1 and count == 1200 - oldest + 1, "the newest stay, without a gap"


@pytest.mark.parametrize("turn", range(3))
def test_killed_while_it_writes(world, turn):
    world.begin()
    stop = threading.Event()
    sent = []

    def load():
        # it ends with the daemon
        with contextlib.suppress(Exception):
            with Connection(("127.0.0.1", world.usher.port)) as client:
                while not stop.is_set():
                    url = f"http://127.0.0.1:{world.origin.port}/json?n={len(sent)}"
                    assert client.exchange(request("GET", url, [("X-Filler", "x" * 3000)])).status == 200
                    sent.append(url)

    loader = threading.Thread(target=load)
    loader.start()
    world.written(200 + 137 * turn)
    known = world.status()["disk"]["flows"]
    world.end(signal.SIGKILL)
    stop.set()
    loader.join(30)
    assert not loader.is_alive()
    world.begin()
    flows = world.listed(limit=10_000)
    sequences = [flow["sequence"] for flow in flows]
    assert sequences == list(range(1, len(flows) + 1)), "no gap"
    assert known <= len(flows) <= len(sent) + 1
    assert world.rows("PRAGMA integrity_check") == [("ok",)]
    assert not world.said("damaged")
    world.get("/json")
    programs.eventually(lambda: world.listed(limit=1)[0]["sequence"] == len(flows) + 1, "the next number")


def test_a_damaged_file_is_put_aside(world):
    world.begin().get("/json")
    world.written(1)
    world.end()
    world.file.write_bytes(b"no journal " * 1000)
    world.begin().get("/gzip")
    world.written(1)
    assert len(world.said("it was moved to")) == 1 and world.file.with_name("journal.db.old").exists()
    assert [flow["url"].rsplit("/", 1)[1] for flow in world.listed()] == ["gzip"]


def test_no_secret_lies_there(world):
    secret = "AQIC5wM2LY4SfczFxI9lMv4PgF7l"
    world.begin().get("/session?access_token=a.secret-of-somebody-0123456789", [
        ("Cookie", f"iPlanetDirectoryPro={secret}"), ("Authorization", "Bearer another-secret-0123456789")])
    world.written(1)
    world.end()
    database = sqlite3.connect(world.file)
    rows = database.execute("SELECT packed FROM flows").fetchall()
    database.close()
    assert rows
    for name in world.folder.glob("kept/journal*"):
        held = name.read_bytes()
        for row, in rows:
            unpacked = subprocess.run(["zstd", "-dc"], input=row, capture_output=True, check=True).stdout
            assert b"session#" in unpacked
            held += unpacked
        for word in (secret, "secret-of-somebody", "another-secret"):
            assert word.encode() not in held, name


def test_one_process_at_a_time(world, tmp_path):
    world.begin().get("/json")
    world.written(1)
    other = programs.Usher(
        world.binary, world.write_config({**world.config, "admin": {"socket": str(tmp_path / "other.sock")}}, "other.yaml"),
        state=world.folder)
    world.running.insert(0, other)
    other.wait_for(lambda: any("another usher uses" in line for line in other.errors), "the line")
    world.get("/json", usher=other)
    world.written(1)
    assert world.rows() == [(1,)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_full_disk(world):
    kept = world.folder / "kept"
    kept.mkdir(parents=True, mode=0o700)
    os.chmod(world.folder, 0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1200k,mode=0700", "tmpfs", str(kept)], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    try:
        world.begin().get("/json")
        world.written(1)
        (kept / "filler").write_bytes(b"x" * (200 << 10))
        with contextlib.suppress(OSError):
            with open(kept / "filler2", "wb", buffering=0) as filler:
                while True:
                    filler.write(b"x" * 4096)
        with Connection(("127.0.0.1", world.usher.port)) as client:
            for _ in range(500):
                fields = [("X-Filler", os.urandom(1500).hex())]
                url = f"http://127.0.0.1:{world.origin.port}/json"
                assert client.exchange(request("GET", url, fields)).status == 200, "requests go on"
        world.usher.wait_for(lambda: world.said("only in memory for now"), "the line")
        assert world.listed(limit=1), "and so do answers"
        for name in ("filler", "filler2"):
            (kept / name).unlink()
        world.usher.wait_for(lambda: world.said("on disk again"), "its end", seconds=30)
        assert len(world.said("only in memory for now")) == 1 and len(world.said("on disk again")) == 1
        world.get("/json")
        programs.eventually(lambda: world.rows("SELECT max(sequence) FROM flows") == [(502,)], "what comes behind it")
        world.end()
    finally:
        world.running and world.usher.process.poll() is None and world.usher.stop()
        subprocess.run(["umount", str(kept)], check=True)


def test_a_folder_that_nobody_may_write_to(world):
    world.folder.mkdir(mode=0o700)
    (world.folder / "kept").write_text("a file where a folder has to be")
    world.begin().get("/json")
    world.usher.wait_for(lambda: world.said("only in memory for now"), "the line")
    assert [flow["sequence"] for flow in world.listed(count=1)] == [1]
    assert world.status()["disk"]["open"] is False
    (world.folder / "kept").unlink()
    world.usher.wait_for(lambda: world.said("on disk again"), "its end", seconds=30)
    assert len(world.said("only in memory for now")) == 1
    world.get("/gzip")
    world.written(1)


def test_an_upgrade_that_fails_changes_nothing(world):
    cookie = [("Cookie", "iPlanetDirectoryPro=AQIC5wM2LY4SfczFxI9lMv4PgF7l")]
    world.begin().get("/json", cookie)
    world.written(1)
    before = world.listed(count=1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        admin = {"listen": "127.0.0.1:%d" % taken.getsockname()[1], "token": "${env.SPILL_TOKEN}"}
        world.write_config(world.config | {"admin": admin})
        assert world.person.says("upgrade").returncode == 1
    world.get("/gzip", cookie)
    world.written(2)
    later = world.listed(count=2)
    assert [flow["id"] for flow in later if flow["sequence"] == 1] == [before[0]["id"]]
    stories = [json.loads(world.person.says("flow", flow["id"], "--json").stdout) for flow in later]
    shown = {field["value"] for one in stories for field in one["request"]["fields"] if field["name"] == "Cookie"}
    assert shown == {"iPlanetDirectoryPro=session#1"}


def test_a_reload_begins_and_ends_it(world):
    del world.config["journal"]["disk"]
    world.begin().get("/json")
    world.listed(count=1)
    assert world.status()["disk"] is None
    world.config["journal"]["disk"] = {"age": "1h"}
    world.write_config(world.config)
    assert world.person.says("reload").returncode == 0
    world.get("/gzip")
    world.written(1)
    world.listed(count=2)
    del world.config["journal"]["disk"]
    world.write_config(world.config)
    assert world.person.says("reload").returncode == 0
    assert world.status()["disk"] is None
    world.get("/json")
    assert [flow["sequence"] for flow in world.listed(count=3)] == [1, 2, 3]
