"""What AM is told where a person gives a part of it: how often, when, and what it costs."""

import concurrent.futures
import json

import pytest

import people
import programs
from test_answers import CONTENT, REFUSED, SECRET_TEXT, begin, callback, page, told
from test_authorization_failures import JSON, ask
from wire import response

APPROVE = {
    "type": "ConfirmationCallback", "output": [{"name": "prompt", "value": ""}, {"name": "optionType", "value": 0}],
    "input": [{"name": "IDToken2", "value": 0}]}


class Refusing:
    """An AM that shows a page for a person when it does not take a password."""

    def __init__(self, *pages):
        self.pages = pages
        self.told = []

    def __call__(self, seen):
        if not seen.body:
            return page(self.pages[0])
        self.told.append(told(seen))
        return page(*self.pages[1:])


@pytest.fixture
def run(start, origin, state, binary):
    """run(server, answers, …) → the daemon, its URL, and who sits beside it."""
    def begins(server, answers, **authorization):
        usher, url = begin(
            lambda config, state: start(config, state=state, environment={"XDG_RUNTIME_DIR": ""}), origin, server,
            [*answers, {"otherwise": "ask"}], state, **authorization)
        return usher, url, people.Person(binary, state)

    return begins


def test_a_password_that_is_refused_by_a_page_counts(run):
    """Nobody is there to say anything to that page."""
    server = Refusing(
        callback("PasswordCallback", prompt="Password"),
        {"type": "TextOutputCallback", "output": [{"name": "message", "value": "Wrong password"}]}, APPROVE)
    usher, url, person = run(
        server, [{"callback": "PasswordCallback", "value": "wrong"}], hold="500ms",
        lockout={"refusals": 2, "hold": "1h"})
    for number in range(4):
        assert ask(usher, f"{url}/{number}").status == 401
    assert len(server.told) == 2
    assert usher.said("/x/3", "note", "AM refused these answers 2 times in a row")
    assert all(one["refusals"] == 2 for one in json.loads(person.says("lockout", "--json").stdout)["logins"])


def test_a_pause_spends_no_one_time_password(binary, write_config, origin, state):
    def am(seen):
        return response(401, JSON, REFUSED) if seen.body else page(callback("PasswordCallback", prompt="Code"))

    usher, url = begin(
        lambda config, state: programs.Usher(
            binary, write_config(config), state=state, environment={"XDG_RUNTIME_DIR": ""}), origin, am,
        [{"callback": "PasswordCallback", "hotp": SECRET_TEXT}, {"otherwise": "ask"}], state, hold="2s",
        lockout={"refusals": 1, "hold": "1h"})
    assert ask(usher, url).status == 401
    kept = state / "kept/counters.json"
    programs.eventually(lambda: kept.exists() and "hotp" in kept.read_text(), "the counter on the disk")
    spent = json.loads(kept.read_text())["documents"]
    for number in range(3):
        assert ask(usher, f"{url}/{number}").status == 401
    assert usher.said("/x/2", "note", "AM refused these answers once")
    assert usher.stop() == 0
    assert json.loads(kept.read_text())["documents"] == spent


def test_a_person_sees_what_is_approved(run, binary):
    """What the page says stands in the list, and before the question."""
    def am(seen):
        if seen.body:
            return response(200, JSON, CONTENT)
        message = {"type": "TextOutputCallback", "output": [
            {"name": "message", "value": "Transfer 500 to X?"}, {"name": "messageType", "value": "0"}]}
        return page(message, APPROVE, header="Payment")

    usher, url, person = run(am, [], hold="30s")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, usher, url)
        one = person.sees()[0]
        assert (one["header"], one["messages"]) == ("Payment", ["Transfer 500 to X?"])
        assert "Payment / Transfer 500 to X?" in person.says("transactions").stdout
        with people.Terminal(binary, person, "answer", one["id"]) as terminal:
            terminal.reads(b"ConfirmationCallback: ")
            shown = terminal.shown
            assert b"Payment" in shown and b"Transfer 500 to X?" in shown and b"0  Yes" in shown
            terminal.types(b"yes\r")
            terminal.reads(b"is answered")
            assert terminal.ends() == 0
        assert waiting.result().status == 200
