"""Wrong answers are not repeated until AM locks the user out: not in one step-up, not over many, not at once."""

import concurrent.futures
import json
import signal
import threading

import pytest

import programs
import shop
import wire
from test_authorization_failures import JSON, ask, check_note, check_original, fake_shop, gateway
from wire import response


def callback(kind, prompt, number):
    return {
        "type": kind, "output": [{"name": "prompt", "value": prompt}],
        "input": [{"name": f"IDToken{number}", "value": ""}]}


def step(*callbacks, stage="Login"):
    return json.dumps({"authId": "e.a.s", "callbacks": list(callbacks), "stage": stage}).encode()


LOGIN = step(callback("NameCallback", "User Name", 1), callback("PasswordCallback", "Password", 2))
REFUSED = b'{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"errorCode":"107"}}'


class Server:
    """An AM with one right password, which counts what it is told."""

    def __init__(self, origin, password="right", refuse=lambda seen: response(401, JSON, REFUSED), wait=None):
        self.password = password
        self.refuse = refuse
        self.wait = wait
        self.wrong = 0
        self.right = 0
        self.lock = threading.Lock()
        self.origin = origin(self.answer)

    def answer(self, seen):
        if not seen.body:
            return response(200, JSON, LOGIN)
        if self.wait:
            self.wait()
        told = json.loads(seen.body)["callbacks"][1]["input"][0]["value"]
        with self.lock:
            if told == self.password:
                self.right += 1
            else:
                self.wrong += 1
        if told == self.password:
            return response(200, JSON, b'{"tokenId":"","successUrl":"/"}')
        return self.refuse(seen)


def begin(start, origin, server, password="wrong", grants=lambda seen: "_txid=" in seen.target, **authorization):
    gate = gateway(origin, "http://am.localhost/am/", grants)
    answers = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": password}]
    usher = start(fake_shop(gate, server.origin, answers=answers, **authorization))
    return usher, gate


def with_session(usher, url, token):
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(wire.request("GET", url, [("Cookie", f"{shop.COOKIE}={token}")]))


# in one step-up


@pytest.mark.parametrize("again", [
    LOGIN,
    step(callback("PasswordCallback", "Password", 1)),
    step({"type": "TextOutputCallback", "output": [{"name": "message", "value": "Wrong!"}]},
         callback("NameCallback", "User Name", 2), callback("PasswordCallback", "Password", 3)),
], ids=["the page", "the password alone", "a page with a word more"])
def test_what_am_asks_again_is_not_answered_again(start, origin, again):
    server = Server(origin, refuse=lambda seen: response(200, JSON, again))
    usher, gate = begin(start, origin, server)
    check_original(ask(usher, f"{gate.url}/again"))
    assert server.wrong == 1
    check_note(usher, "/again", "asks again for .*Callback .*which was answered: the answers are wrong, or belong to another")
    assert "wrong\"" not in "\n".join(usher.lines)


def test_a_prompt_that_counts_the_tries_is_the_same_prompt(start, origin):
    left = iter(range(9, 0, -1))
    server = Server(origin, refuse=lambda seen: response(200, JSON, step(
        callback("NameCallback", "User Name", 1), callback("PasswordCallback", f"Password ({next(left)} tries left)", 2))))
    usher, gate = begin(start, origin, server)
    check_original(ask(usher, f"{gate.url}/count"))
    assert server.wrong <= 2


def test_no_words_bring_about_a_third_try(start, origin):
    words = iter(["Wrong, three tries left", "Wrong, two tries left", "Last try", "Locked"])
    server = Server(origin, refuse=lambda seen: response(200, JSON, step(
        callback("NameCallback", next(words), 1), callback("PasswordCallback", next(words), 2))))
    usher, gate = begin(start, origin, server)
    check_original(ask(usher, f"{gate.url}/words"))
    assert server.wrong == 2


def test_a_slow_replay_holds_nobody_up(start, origin):
    """AM has taken the answers: how long the resource thinks about it is the resource's matter."""
    thinking = threading.Semaphore(0)
    go = threading.Event()

    def grants(seen):
        if "_txid=" in seen.target and "/slow" in seen.target:
            thinking.release()
            assert go.wait(wire.TIMEOUT)
        return "_txid=" in seen.target

    server = Server(origin)
    usher, gate = begin(start, origin, server, password="right", grants=grants, lockout={"refusals": 3, "hold": "1h"})
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(ask, usher, f"{gate.url}/slow/{number}") for number in range(3)]
        for _ in slow:
            assert thinking.acquire(timeout=wire.TIMEOUT)
        try:
            assert ask(usher, f"{gate.url}/quick").status == 200
        finally:
            go.set()
        assert [answer.result().status for answer in slow] == [200] * 3


def test_other_pages_are_answered(start, origin):
    """Another prompt, or the same on another stage, is another question; and so are the same buttons."""
    button = {
        "type": "ConfirmationCallback", "output": [{"name": "options", "value": ["Next"]}],
        "input": [{"name": "IDToken9", "value": 100}]}
    pages = iter([
        step(callback("PasswordCallback", "Password", 1), button), step(callback("PasswordCallback", "Code", 1), button),
        step(callback("PasswordCallback", "Code", 1), button, stage="Other"), b'{"tokenId":"","successUrl":"/"}'])
    am = origin(lambda seen: response(200, JSON, next(pages)))
    gate = gateway(origin, "http://am.localhost/am/")
    usher = start(fake_shop(gate, am, answers=[
        {"callback": "PasswordCallback", "prompt": "Code", "value": "b"}, {"callback": "PasswordCallback", "value": "a"},
        {"callback": "ConfirmationCallback", "choose": "Next"}]))
    assert ask(usher, f"{gate.url}/pages").status == 200
    assert len(am.requests) == 4


# over many requests


def test_refused_answers_hold_off(start, origin):
    server = Server(origin)
    usher, gate = begin(start, origin, server, lockout={"refusals": 2, "hold": "1h"})
    for number in range(5):
        check_original(ask(usher, f"{gate.url}/turn/{number}"))
    assert server.wrong == 2
    check_note(usher, "/turn/1", "401 with errorCode 107.: the answers are wrong, or belong to another user")
    for number in (2, 3, 4):
        check_note(usher, f"/turn/{number}", "refused these answers 2 times in a row, so they are not tried again for 3[56]")
    # nor is AM asked for its first page, nor the resource for another id
    assert len(server.origin.requests) == 4 and len(gate.requests) == 5


def test_many_at_once_are_no_more_than_may_fail(start, origin):
    server = Server(origin)
    usher, gate = begin(start, origin, server, lockout={"refusals": 3, "hold": "1h"})
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: ask(usher, f"{gate.url}/many/{number}"), range(200)))
    for answer in answers:
        check_original(answer)
    assert server.wrong == 3


def test_two_workers_count_together(start, origin):
    server = Server(origin)
    gate = gateway(origin, "http://am.localhost/am/")
    answers = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "wrong"}]
    usher = start({"workers": 2, **fake_shop(gate, server.origin, answers=answers)})
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        for answer in pool.map(lambda number: ask(usher, f"{gate.url}/both/{number}"), range(60)):
            check_original(answer)
    assert server.wrong == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_what_waits_for_others_goes_on_when_they_are_taken(start, origin, workers):
    """With right answers everybody is served, also where more come at once than may fail."""
    server = Server(origin)
    usher, gate = begin(
        lambda config: start({"workers": workers, **config}), origin, server, password="right", hold="20s",
        lockout={"refusals": 1, "hold": "1h"})
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda number: ask(usher, f"{gate.url}/good/{number}"), range(20)))
    assert [answer.status for answer in answers] == [200] * 20
    assert (server.right, server.wrong) == (20, 0)


def test_after_the_pause_one_tries_and_a_success_ends_it(start, origin):
    server = Server(origin, password="wrong at first")
    usher, gate = begin(start, origin, server, password="right", lockout={"refusals": 1, "hold": "200ms"})
    check_original(ask(usher, f"{gate.url}/first"))
    assert server.wrong == 1
    server.password = "right"
    # the pause ends by itself
    programs.eventually(lambda: ask(usher, f"{gate.url}/later").status == 200, "the pause ends")
    assert ask(usher, f"{gate.url}/after").status == 200
    assert server.wrong == 1


def test_every_pause_is_longer(start, origin):
    server = Server(origin)
    usher, gate = begin(start, origin, server, lockout={"refusals": 1, "hold": "1s"})
    check_original(ask(usher, f"{gate.url}/pause"))
    check_original(ask(usher, f"{gate.url}/held/1"))
    check_note(usher, "/held/1", "once, so they are not tried again for 1 s")

    def tried_twice():
        check_original(ask(usher, f"{gate.url}/pause"))
        return server.wrong == 2

    programs.eventually(tried_twice, "the first pause ends")
    check_original(ask(usher, f"{gate.url}/held/2"))
    check_note(usher, "/held/2", "2 times in a row, so they are not tried again for 2 s")


def test_clients_that_go_away_do_not_hide_the_refusal(start, origin):
    """What AM was told counts, whether or not anybody waits for its answer."""
    told, go = threading.Event(), threading.Event()

    def wait():
        told.set()
        go.wait(wire.TIMEOUT)

    server = Server(origin, wait=wait)
    usher, gate = begin(start, origin, server, lockout={"refusals": 2, "hold": "1h"})
    for turn in range(2):
        told.clear()
        client = wire.Connection(("127.0.0.1", usher.port))
        client.send(wire.request("GET", f"{gate.url}/gone/{turn}", [("Cookie", f"{shop.COOKIE}=secret.token.*AAJT*")]))
        assert told.wait(wire.TIMEOUT)
        client.reset()
        usher.flow(f"/gone/{turn}")
    go.set()
    check_original(ask(usher, f"{gate.url}/third"))
    check_note(usher, "/third", "not tried again")


def test_a_transaction_that_is_refused_with_a_200(start, origin):
    """AM says the same whether the login went well or not; that the resource asks again tells (docs/protocol.md#how-it-ends)."""
    server = Server(origin, refuse=lambda seen: response(200, JSON, b'{"tokenId":"","successUrl":"/"}'))
    usher, gate = begin(start, origin, server, grants=lambda seen: False, lockout={"refusals": 2, "hold": "1h"})
    for number in range(4):
        check_original(ask(usher, f"{gate.url}/silent/{number}"))
    assert server.wrong == 2
    check_note(usher, "/silent/1", "AM did not approve the transaction: the answers are wrong, or belong to another user")
    check_note(usher, "/silent/3", "not tried again")


def test_one_session_that_does_not_fit_holds_nobody_else_off(start, origin):
    """Answers that AM takes are right for somebody: a client with another user's session hurts itself alone."""
    server = Server(origin)
    right = server.answer

    def answer(seen):
        if "foreign" in (seen.get("cookie") or "") and seen.body:
            with server.lock:
                server.wrong += 1
            return response(401, JSON, REFUSED)
        return right(seen)

    server.origin.answer = answer
    usher, gate = begin(start, origin, server, password="right", lockout={"refusals": 3, "hold": "1h"})
    assert with_session(usher, f"{gate.url}/own", "own").status == 200
    for _ in range(6):
        assert with_session(usher, f"{gate.url}/foreign", "foreign").status == 401
    assert server.wrong == 3
    assert with_session(usher, f"{gate.url}/own", "own").status == 200


def test_other_answers_are_tried(start, origin):
    server = Server(origin)
    usher, gate = begin(start, origin, server, lockout={"refusals": 1, "hold": "1h"})
    for number in range(2):
        check_original(ask(usher, f"{gate.url}/before/{number}"))
    assert server.wrong == 1
    text = usher.config.read_text()
    usher.config.write_text(text.replace('"wrong"', '"right"'))
    usher.process.send_signal(signal.SIGHUP)
    programs.eventually(lambda: ask(usher, f"{gate.url}/after").status == 200, "the new answers are given")
    assert server.wrong == 1


def test_nothing_holds_off_where_nothing_is_to(start, origin):
    server = Server(origin)
    usher, gate = begin(start, origin, server, lockout={"refusals": 0})
    for number in range(6):
        check_original(ask(usher, f"{gate.url}/free/{number}"))
    assert server.wrong == 6
