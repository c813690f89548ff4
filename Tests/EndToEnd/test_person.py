"""Step-ups that a person answers: by command, by the control socket, too late, twice, and not at all."""

import json
import os
import select
import signal
import stat
import subprocess
import uuid

import pytest

import people
import programs
import shop


@pytest.fixture
def daemon(start, sandbox, binary, state):
    """Starts a daemon that asks a person; gives it with that person: daemon(**authorization)."""
    def begin(**authorization):
        more = {name: authorization.pop(name) for name in ("timeouts", "workers", "admin") if name in authorization}
        settings = {"answers": [{"otherwise": "ask"}], "hold": "30s", **authorization}
        usher = start(
            {**shop.config(sandbox, **settings), **more}, state=state, environment={"XDG_RUNTIME_DIR": ""})
        return usher, people.Person(binary, state)

    return begin


@pytest.fixture
def app(sandbox):
    """An app that asks for something: app(usher, path) → a connection on which the answer is waited for."""
    token = shop.login(sandbox)
    opened = []

    def ask(usher, path=None):
        opened.append(people.App(usher, sandbox, token, path or f"/{uuid.uuid4().hex}"))
        return opened[-1]

    yield ask
    for connection in opened:
        connection.close()


def test_a_person_answers_by_command(daemon, app):
    usher, person = daemon()
    mark = uuid.uuid4().hex
    waiting = app(usher, f"/{mark}?code=hidden")
    one = person.sees()[0]
    assert one["resource"].endswith(f"/{mark}?code=REDACTED") and one["client"] == "127.0.0.1"
    assert [c["type"] for c in one["callbacks"]] == ["NameCallback", "PasswordCallback"]
    assert [c["secret"] for c in one["callbacks"]] == [False, True]
    assert 0 < one["left_ms"] <= 30_000
    listed = person.says("transactions")
    assert listed.returncode == 0 and "\033" not in listed.stdout
    heading, line = listed.stdout.splitlines()
    assert heading.split() == ["ID", "WHO", "RESOURCE", "ASKS", "FOR", "LEFT"]
    assert line.startswith(one["id"]) and mark in line and "PasswordCallback" in line and line.endswith(" s")
    assert json.loads(person.says("transactions", "--json").stdout)["transactions"][0]["id"] == one["id"]

    first = person.says("answer", one["id"], "--callback", "NameCallback", "demo")
    assert (first.returncode, first.stdout.startswith("not answered yet: PasswordCallback")) == (0, True), first
    rest = person.says("answer", one["id"], given=f"{people.SECRET}\n")
    assert (rest.returncode, rest.stdout) == (0, f"{one['id']} is answered\n"), rest
    answer = waiting.answer()
    assert answer.status == 200 and json.loads(answer.body)["user"] == "demo"
    assert person.waiting() == []
    assert usher.said(mark, "authenticate", f"waits for a person as {one['id']}")
    assert not [line for line in usher.lines + usher.errors if people.SECRET in line]


def test_a_person_answers_with_curl(daemon, app):
    usher, person = daemon()
    waiting = app(usher)
    one = person.sees()[0]
    done = subprocess.run(
        ["curl", "-sS", "--unix-socket", str(person.socket), "-H", "Content-Type: application/json", "-d",
         json.dumps({"answers": [{"callback": "NameCallback", "value": "demo"},
                                 {"callback": "PasswordCallback", "value": people.SECRET}]}),
         f"http://localhost/v1/transactions/{one['id']}/answer"], capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["state"] == "answered", done
    assert waiting.answer().status == 200


def test_a_terminal_does_not_show_what_is_secret(daemon, app, binary):
    usher, person = daemon(answers=[{"callback": "NameCallback", "value": "demo"}, {"otherwise": "ask"}])
    waiting = app(usher)
    one = person.sees()[0]
    assert [c["type"] for c in one["callbacks"]] == ["PasswordCallback"]
    with people.Terminal(binary, person, "answer", one["id"]) as terminal:
        terminal.reads(b"PasswordCallback")
        terminal.reads(b": ")
        # a letter too many, taken back
        terminal.types(b"changeitt\x7f\r")
        terminal.reads(b"is answered")
        assert terminal.ends() == 0
    assert b"changeit" not in terminal.shown
    assert waiting.answer().status == 200


def test_who_denies_gives_the_original_answer_back(daemon, app):
    usher, person = daemon()
    waiting = app(usher)
    one = person.sees()[0]
    assert person.says("deny", one["id"]).returncode == 0
    answer = waiting.answer()
    assert answer.status == 401 and "SSOADVICE" in answer.get("www-authenticate")
    late = person.says("answer", one["id"], "x")
    assert late.returncode == 1 and "denied already" in late.stderr


def test_too_late(daemon, app):
    usher, person = daemon(hold="700ms")
    waiting = app(usher)
    one = person.sees()[0]
    assert waiting.answer().status == 401
    late = person.says("answer", one["id"], "--callback", "NameCallback", "demo")
    assert late.returncode == 1 and "too late" in late.stderr and "authorization.hold" in late.stderr
    assert person.answers(one)[0].status == 410


def test_twice_and_for_anothers(daemon, app):
    usher, person = daemon()
    waiting, other = app(usher), app(usher)
    one, two = person.sees(2)
    assert person.answers(one)[0].status == 200
    status, problem = person.answers(one)
    assert status.status == 409 and problem["detail"] == "it was answered already"
    assert status.headers["Content-Type"] == "application/problem+json"
    answered = [a for a in (waiting, other) if select.select([a.socket], [], [], programs.DEADLINE if a is waiting else 0)[0]]
    assert [a.answer().status for a in answered] == [200]
    # what the other does not ask for, and what nobody asks
    wrong = person.says("answer", two["id"], "--callback", "ChoiceCallback", "Yes")
    assert wrong.returncode == 1 and "not for ChoiceCallback" in wrong.stderr
    assert "no step-up of that id waits" in person.says("answer", "zzzzzz", "x").stderr
    assert "name the callback" in person.says("answer", two["id"], "x").stderr
    assert person.waiting()[0]["id"] == two["id"]


def test_a_wrong_answer_is_asked_for_once_more(daemon, app):
    usher, person = daemon()
    waiting = app(usher)
    first = person.sees()[0]
    assert person.answers(first, password="wrong")[0].status == 200
    # a page of its own: who answers the first again is told
    second = programs.eventually(
        lambda: [one for one in person.waiting() if one["id"] != first["id"]], "AM asks once more")[0]
    assert person.answers(first)[0].status == 409
    assert person.answers(second)[0].status == 200
    assert waiting.answer().status == 200


def test_a_client_that_leaves_frees_its_place(daemon, app):
    usher, person = daemon()
    gone = app(usher)
    one = person.sees()[0]
    gone.close()
    programs.eventually(lambda: not person.waiting(), "its place is free")
    late = person.says("answer", one["id"], "--callback", "NameCallback", "demo")
    assert late.returncode == 1 and "the app went away" in late.stderr


def test_a_reload_loses_nobody(daemon, app, write_config):
    usher, person = daemon()
    waiting = app(usher)
    one = person.sees()[0]
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
    assert person.waiting()[0]["id"] == one["id"]
    assert person.answers(one)[0].status == 200
    assert waiting.answer().status == 200


def test_a_drain_waits_for_the_person(sandbox, binary, write_config, state, app):
    config = {**shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="30s"), "timeouts": {"drain": "20s"}}
    usher = programs.Usher(binary, write_config(config), state=state, environment={"XDG_RUNTIME_DIR": ""})
    person = people.Person(binary, state)
    waiting = app(usher)
    one = person.sees()[0]
    assert stat.S_IMODE(os.stat(person.socket).st_mode) == 0o660
    usher.process.send_signal(signal.SIGTERM)
    # nobody new is let in, and who waits is still there
    programs.eventually(lambda: not listens(usher.port), "the drain begins")
    assert person.answers(one)[0].status == 200
    assert waiting.answer().status == 200
    waiting.close()
    assert usher.process.wait(programs.DEADLINE) == 0
    usher.stop()
    assert not person.socket.exists()
    assert "no daemon responds at" in person.says("transactions").stderr


def listens(port):
    try:
        people.wire.Connection(("127.0.0.1", port)).close()
        return True
    except ConnectionError:
        return False


def test_hundreds_wait_at_once(daemon, app):
    usher, person = daemon(workers=2)
    apps = [app(usher, f"/crowd/{number}") for number in range(220)]
    waiting = person.sees(220)
    assert len({one["id"] for one in waiting}) == 220
    for one in waiting[:200]:
        assert person.answers(one)[0].status == 200
    for one in waiting[200:]:
        assert person.asks("POST", f"/v1/transactions/{one['id']}/deny")[0].status == 200
    statuses = [one.answer().status for one in apps]
    assert sorted(statuses) == [200] * 200 + [401] * 20
    assert person.waiting() == []


def test_long_urls_hide_nobody(daemon, app):
    """A client may have its requests wait whose URLs are as long as they may be."""
    usher, person = daemon(workers=2)
    apps = [app(usher, f"/long/{number}/{'x' * 15_000}") for number in range(280)]
    person.sees(280)
    listed = person.says("transactions")
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 281
    last = person.waiting()[-1]
    assert last["shortened"] and len(last["resource"]) < 1000
    done = person.says("answer", last["id"], given=f"demo\n{people.SECRET}\n")
    assert done.stdout == f"{last['id']} is answered\n", done
    assert len(apps) == 280


def test_somebody_is_told(daemon, app, tmp_path):
    script, told = tmp_path / "tell", tmp_path / "told"
    script.write_text(f'#!/bin/sh\n{{ echo "$1"; env; }} > {told}.new && mv {told}.new {told}\n')
    script.chmod(0o755)
    usher, person = daemon(notify=[str(script), "$HOME; `id`"])
    app(usher, "/told")
    one = person.sees()[0]
    programs.eventually(told.exists, "the command runs")
    first, *rest = told.read_text().splitlines()
    assert first == "$HOME; `id`"
    variables = dict(line.split("=", 1) for line in rest if "=" in line)
    assert variables["USHER_TRANSACTION"] == one["id"] and variables["USHER_RESOURCE"].endswith("/told")
    assert variables["USHER_ASKS"] == "NameCallback, PasswordCallback"
    # what else this process was started with is not handed on
    assert "STATE_DIRECTORY" not in variables


def test_a_command_that_fails_is_told_of_once(daemon, app):
    usher, person = daemon(notify=["/nonexistent/tell"])
    for count in range(1, 4):
        app(usher)
        person.sees(count)
    usher.wait_for(lambda: any("authorization.notify: /nonexistent/tell" in line for line in usher.errors), "the word")
    assert sum("authorization.notify" in line for line in usher.errors) == 1


def test_the_lockout_is_shown_and_cleared(daemon, app):
    usher, person = daemon(
        answers=[{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "wrong"}],
        lockout={"refusals": 1, "hold": "1h"})
    assert app(usher).answer().status == 401
    shown = person.says("lockout")
    assert shown.returncode == 0 and "HELD OFF" in shown.stdout and "answers" in shown.stdout
    logins = json.loads(person.says("lockout", "--json").stdout)["logins"]
    assert {one["counts"] for one in logins} == {"answers", "session"}
    assert all(one["refusals"] == 1 and one["held_ms"] > 3_000_000 for one in logins)
    mark = uuid.uuid4().hex
    assert app(usher, f"/{mark}").answer().status == 401
    assert usher.said(mark, "note", "AM refused these answers once")
    assert "no count for that id" in person.says("lockout", "clear", "ffffffff").stderr
    for command in (["lockout", "clear", ""], ["deny", ""], ["answer", "", "x"]):
        done = person.says(*command)
        assert done.returncode == 2 and "the id is empty" in done.stderr
    assert person.asks("DELETE", "/v1/lockout/")[0].status == 404
    assert person.says("lockout", "clear", logins[0]["id"]).stdout == "1 cleared\n"
    assert person.says("lockout", "clear").stdout == "1 cleared\n"
    again = uuid.uuid4().hex
    assert app(usher, f"/{again}").answer().status == 401
    assert not usher.said(again, "note", "AM refused these answers once")


def test_explain_says_that_a_person_would_be_asked(daemon, sandbox, write_config):
    _, person = daemon()
    config = write_config(shop.config(sandbox, answers=[{"otherwise": "ask"}]), "explained.yaml")
    done = person.says("explain", "--config", config, f"curl {sandbox.shop}/x")
    assert "if no answer matches, a person is asked" in done.stdout, done
    told = json.loads(person.says("explain", "--config", config, "--json", f"curl {sandbox.shop}/x").stdout)
    assert told["asks_person"] is True


def test_the_proxy_of_one_command_has_a_socket_of_its_own(daemon, sandbox, binary, write_config, tmp_path):
    usher, person = daemon()
    config = write_config(shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="20s"), "run.yaml")
    script = tmp_path / "both.sh"
    token = shop.login(sandbox)
    script.write_text(f"""
        curl -sS -o {tmp_path}/body -w '%{{http_code}}' -H 'Cookie: {shop.COOKIE}={token}' {sandbox.shop}/run > {tmp_path}/code &
        until id=$({binary} transactions --json | sed -n 's/.*"id":"\\([a-z0-9]*\\)".*/\\1/p'); [ -n "$id" ]; do :; done
        {binary} answer --callback NameCallback $id demo
        {binary} answer $id {people.SECRET}
        wait
    """)
    done = person.says("run", "--config", config, "--", "sh", "-e", script)
    assert done.returncode == 0, done
    assert (tmp_path / "code").read_text() == "200", done
    assert person.waiting() == []
    assert [path.name for path in person.socket.parent.glob("*.sock")] == ["admin.sock"]
