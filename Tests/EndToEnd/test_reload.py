"""`usher reload`: what changed, what was refused and why, and that nobody who is served notices."""

import json
import signal
import threading

import pytest
import yaml

import looked
import people
import programs
from wire import Connection, request, response

MARK = "version: 1\ninterceptors:\n  - name: mark\n    request: [{{ set_header: {{ X-Mark: {value} }} }}]\n"


@pytest.fixture
def daemon(start, binary, state):
    usher = start(MARK.format(value="old"), state=state)
    return usher, people.Person(binary, state)


def test_it_says_what_changed(daemon):
    usher, person = daemon
    done = person.says("reload")
    assert (done.returncode, done.stdout) == (0, "generation 2: nothing changed\n")
    usher.config.write_text(MARK.format(value="new") + "limits: { header: 16KiB }\ntimeouts: { connect: 4s }\n")
    done = person.says("reload")
    assert (done.returncode, done.stdout) == (0, "generation 3: interceptors, limits.header, timeouts.connect changed\n")
    # comments and another way to write the same change nothing
    usher.config.write_text("# a word\n" + MARK.format(value='"new"').replace('"', "") + "limits:\n  header: 16KiB\ntimeouts: { connect: 4s }\n")
    report = json.loads(person.says("reload", "--json").stdout)
    assert report["state"] == "done" and report["changed"] == [] and report["generation"] == 4
    assert any(line.endswith("in force: interceptors, limits.header, timeouts.connect changed") for line in usher.errors)


def test_files_beside_it_count(start, binary, state, tmp_path):
    users = tmp_path / "users.htpasswd"
    users.write_text("a:$2y$05$abcdefghijklmnopqrstuuQxCBkRHSkbmjpjjnGHVEv1uEVzjTI4C\n")
    users.chmod(0o600)
    usher = start({"clients": {"allow": ["loopback"], "basic": {"users": "${file:users.htpasswd}"}}}, state=state)
    person = people.Person(binary, state)
    assert person.says("reload").stdout == "generation 2: nothing changed\n"
    users.write_text("b:$2y$05$abcdefghijklmnopqrstuuQxCBkRHSkbmjpjjnGHVEv1uEVzjTI4C\n")
    done = person.says("reload")
    assert done.stdout == f"generation 3: {users} changed\n", usher.errors


def test_what_has_to_wait_for_a_start_is_named_until_then(daemon):
    usher, person = daemon
    usher.config.write_text(MARK.format(value="old") + "workers: 3\nadmin: { socket: other.sock }\n")
    words = "workers and admin.socket take effect at the next start (or with usher upgrade)\n"
    socket = ["--socket", person.socket]
    assert person.says("reload", *socket).stdout == "generation 2: workers, admin.socket changed\n" + words
    # it is not forgotten with the next one
    assert person.says("reload", *socket).stdout == "generation 3: nothing changed\n" + words
    usher.config.write_text(MARK.format(value="old"))
    assert person.says("reload", *socket).stdout == "generation 4: workers, admin.socket changed\n"


def test_every_fault_is_told_with_its_place(daemon, origin):
    usher, person = daemon
    usher.config.write_text(MARK.format(value="new") + "nonsense: 1\ntimeouts: { connect: 5 }\n")
    done = person.says("reload")
    assert done.returncode == 1 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{usher.config}:5:1: error: ") and lines[1].startswith(f"{usher.config}:6:")
    assert lines[-1] == "usher: the configuration was not reloaded; generation 1 stays in use"
    report = person.says("reload", "--json")
    assert report.returncode == 1
    report = json.loads(report.stdout)
    assert report["state"] == "failed" and [fault["line"] for fault in report["faults"]] == [5, 6]
    server = origin()
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/"))
    assert server.requests[0].get("x-mark") == "old"
    status = json.loads(person.says("status", "--json").stdout)
    assert status["configuration"]["generation"] == 1
    assert status["configuration"]["last_failure"]["faults"][0]["line"] == 5
    assert "not reloaded at" in person.says("status").stdout


def test_a_signal_does_the_same(daemon):
    usher, person = daemon
    usher.process.send_signal(signal.SIGHUP)
    programs.eventually(
        lambda: json.loads(person.says("status", "--json").stdout)["configuration"]["generation"] == 2, "generation 2")
    answer, report = person.asks("GET", "/v1/reload")
    assert answer.status == 200 and report["by"] == "SIGHUP"
    assert person.asks("GET", "/v1/reload/7")[0].status == 404
    assert person.asks("GET", "/v1/reload/x")[0].status == 404


def test_the_journal_keeps_what_is_said_now(binary, start, origin, through, state):
    site = looked.Site(binary, start, origin, through, state)
    word = {"X-Ours": "a-word-of-our-own"}
    site.get("/a", headers=word)
    before = json.dumps(site.flow("/a"))
    assert word["X-Ours"] in before and "hello" in before
    config = yaml.safe_load(site.usher.config.read_text()) or {}
    site.usher.config.write_text(json.dumps(config | {"journal": {"secrets": ["X-Ours"], "bodies": "0B"}}))
    done = site.person.says("reload")
    assert done.returncode == 0, done.stderr
    site.get("/b", headers=word)
    after = json.dumps(site.flow("/b"))
    assert word["X-Ours"] not in after and "hello" not in after


def test_without_a_daemon_the_commands_say_so(binary, state):
    person = people.Person(binary, state)
    for command in ("reload", "status", "drain", "upgrade"):
        done = person.says(command)
        assert done.returncode == 1 and "no daemon responds" in done.stderr, done
        assert person.says(command, "extra").returncode == 2


def test_nobody_notices_reloads(start, binary, state, origin):
    """Each of many requests is answered while the configuration changes again and again."""
    usher = start(MARK.format(value="0"), state=state)
    person = people.Person(binary, state)
    server = origin(lambda _: response(body=b"good"))
    wanted, failures = 150, []

    def ask():
        with Connection(("127.0.0.1", usher.port)) as client:
            for _ in range(wanted):
                if client.exchange(request("GET", f"{server.url}/")).body != b"good":
                    failures.append("another body")

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for turn in range(10):
        usher.config.write_text(MARK.format(value=turn))
        person.asks("POST", "/v1/reload")
    for asker in askers:
        asker.join(60)
    assert not failures and len(server.requests) == 4 * wanted
    programs.eventually(lambda: person.asks("GET", "/v1/reload")[1]["state"] == "done", "the last reload")
    assert person.says("reload").stdout.startswith("generation ")
