"""How many requests interceptors let through, at a time and in a time, over all workers."""

import concurrent.futures
import os
import signal
import threading
import time

import pytest

import programs
from inside import get, opened
from wire import Connection, request, response


class Gate:
    """An origin's answers, held back until they are let go; knows how many requests it has at a time."""

    def __init__(self):
        self.lock, self.open = threading.Lock(), threading.Event()
        self.now, self.most, self.seen = 0, 0, []

    def __call__(self, got):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.seen.append(got.target)
        self.open.wait(30)
        with self.lock:
            self.now -= 1
        return response(body=b"ok")


def limits(phase="request", when=None, **limit):
    return [{"name": "gate", **({"when": when} if when else {}), phase: [{"limit": limit}]}]


def ask(usher, url):
    """The status of an answer on a connection of its own, and the whole answer."""
    with Connection(("127.0.0.1", usher.port)) as connection:
        return connection.exchange(request("GET", url))


def at_once(usher, urls):
    with concurrent.futures.ThreadPoolExecutor(len(urls)) as pool:
        return list(pool.map(lambda url: ask(usher, url), urls))


def test_a_rate_over_all_workers(start, origin):
    server = origin()
    usher = start({"workers": 4, "interceptors": limits(rate="5/h")})
    answers = at_once(usher, [f"{server.url}/"] * 20)
    assert sorted(answer.status for answer in answers) == [200] * 5 + [429] * 15
    refused = next(answer for answer in answers if answer.status == 429)
    assert 700 <= int(refused.get("retry-after")) <= 720
    assert "error=http_request_denied" in refused.get("proxy-status")
    assert b"interceptor gate lets no more through than 5/h" in refused.body
    assert len(server.requests) == 5


@pytest.mark.alone
def test_waiting_for_a_rate(start, origin):
    server = origin()
    usher = start({"workers": 2, "interceptors": limits(rate="20/s", burst=1, wait="10s")})
    began = time.monotonic()
    assert [answer.status for answer in at_once(usher, [f"{server.url}/"] * 11)] == [200] * 11
    assert 0.45 <= time.monotonic() - began < 3


@pytest.mark.parametrize("workers", [1, 4])
def test_concurrency_over_all_workers(start, origin, workers):
    gate = Gate()
    server = origin(gate)
    usher = start({"workers": workers, "interceptors": limits(concurrency=3, wait="30s")})
    threading.Timer(0.5, gate.open.set).start()
    assert [answer.status for answer in at_once(usher, [f"{server.url}/{n}" for n in range(24)])] == [200] * 24
    assert gate.most == 3 and len(gate.seen) == 24


def test_over_the_limit_is_refused_at_once(start, origin):
    gate = Gate()
    server = origin(gate)
    usher = start({"interceptors": limits(concurrency=1, status=503, when={"path": "/slow*"})})
    with Connection(("127.0.0.1", usher.port)) as first:
        first.send(request("GET", f"{server.url}/slow"))
        programs.eventually(lambda: gate.seen, "it is asked")
        refused = ask(usher, f"{server.url}/slow")
        assert refused.status == 503 and refused.get("retry-after") == "1"
        gate.open.set()
        # whom no limit applies to passes
        assert ask(usher, f"{server.url}/other").status == 200
        assert first.read_response().status == 200
    assert ask(usher, f"{server.url}/slow").status == 200


@pytest.mark.alone
def test_the_wait_and_the_queue_have_bounds(start, origin):
    gate = Gate()
    server = origin(gate)
    usher = start({"workers": 2, "interceptors": limits(concurrency=1, wait="400ms", queue=2)})
    with Connection(("127.0.0.1", usher.port)) as first:
        first.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: gate.seen, "it is asked")
        began = time.monotonic()
        answers = at_once(usher, [f"{server.url}/"] * 6)
        assert [answer.status for answer in answers] == [429] * 6
        assert 0.4 <= time.monotonic() - began < 2
        gate.open.set()
        assert first.read_response().status == 200
    assert ask(usher, f"{server.url}/").status == 200


@pytest.mark.parametrize("leave", ["close", "reset"])
def test_whoever_leaves_gives_its_place_up(start, origin, leave):
    gate = Gate()
    server = origin(gate)
    usher = start({"workers": 2, "interceptors": limits(concurrency=1, wait="30s")})
    first = Connection(("127.0.0.1", usher.port))
    first.send(request("GET", f"{server.url}/first"))
    programs.eventually(lambda: gate.seen, "it is asked")
    waiting = [Connection(("127.0.0.1", usher.port)) for _ in range(3)]
    for number, connection in enumerate(waiting):
        connection.send(request("GET", f"{server.url}/{number}"))
    with Connection(("127.0.0.1", usher.port)) as last:
        last.send(request("GET", f"{server.url}/last"))
        for connection in [*waiting, first]:
            getattr(connection, leave)()
        gate.open.set()
        assert last.read_response().status == 200
    assert ask(usher, f"{server.url}/again").status == 200
    assert set(gate.seen) <= {"/first", "/last", "/again", "/0", "/1", "/2"}


def test_hosts_and_actions_have_their_own(start, origin):
    gate = Gate()
    server = origin(gate)
    usher = start({
        "actions": [{"name": "PAY", "when": {"path": "/pay"}}, {"name": "SHIP", "when": {"path": "/ship"}}],
        "interceptors": [{"name": "gate", "when": {"action": ["PAY", "SHIP"]},
                          "request": [{"limit": {"concurrency": 1, "per": "action"}}]}]})
    held = []
    for path in ("/pay", "/ship", "/other", "/other"):
        held.append(Connection(("127.0.0.1", usher.port)))
        held[-1].send(request("GET", f"{server.url}{path}"))
    programs.eventually(lambda: len(gate.seen) == 4, "all of them are asked")
    assert ask(usher, f"{server.url}/pay").status == 429
    gate.open.set()
    assert [connection.read_response().status for connection in held] == [200] * 4
    for connection in held:
        connection.close()


def test_inside_tunnels_and_on_one_connection(opening, secure_origin):
    server = secure_origin()
    usher = opening({"interceptors": limits(rate="3/h", per="host")})
    with opened(usher, server.authority) as client:
        client.send(get(server.authority) * 5)
        assert [client.read_response().status for _ in range(5)] == [200, 200, 200, 429, 429]


def test_a_reload_goes_on_counting(start, origin, write_config):
    gate = Gate()
    server = origin(gate)
    usher = start({"workers": 2, "interceptors": limits(concurrency=1)})
    with Connection(("127.0.0.1", usher.port)) as first:
        first.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: gate.seen, "it is asked")
        write_config({"workers": 2, "interceptors": limits(concurrency=1, status=503)}, usher.config.name)
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
        # the one under way began before, and counts
        assert ask(usher, f"{server.url}/").status == 503
        gate.open.set()
        assert first.read_response().status == 200
    assert ask(usher, f"{server.url}/").status == 200


@pytest.mark.alone
def test_what_is_tried_again_counts_again(start, origin):
    answers = iter([response(503), response(body=b"ok")])
    server = origin(lambda _: next(answers))
    usher = start({"interceptors": [
        {"name": "gate", "request": [{"limit": {"rate": "5/s", "burst": 1, "concurrency": 1, "wait": "5s"}}]},
        {"name": "again", "when": {"status": 503}, "response": [{"retry": {"after": "1ms"}}]}]})
    began = time.monotonic()
    assert ask(usher, f"{server.url}/").status == 200
    assert 0.15 <= time.monotonic() - began < 2
    told = [event["text"] for event in usher.flow("/").events]
    assert any("gate: waits for its turn" in text for text in told)
    assert any("gate: its turn came after" in text for text in told)


def test_nothing_is_left_behind(start, origin):
    """A crowd that comes, waits and goes in the middle: then all of the limit is free."""
    gate = Gate()
    gate.open.set()
    server = origin(gate)
    usher = start({"workers": 4, "interceptors": limits(concurrency=2, wait="30s", queue=1000)})

    def come(number):
        connection = Connection(("127.0.0.1", usher.port))
        connection.send(request("GET", f"{server.url}/{number}"))
        if number % 3 == 0:
            connection.reset()
            return None
        with connection:
            return connection.read_response().status

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(come, range(300)))
    assert set(statuses) == {None, 200} and gate.most <= 2
    assert os.path.exists(usher.config)
    assert [answer.status for answer in at_once(usher, [f"{server.url}/"] * 2)] == [200] * 2


def test_a_login_does_not_wait_for_the_request_that_waits_for_it(start, origin):
    server = origin(lambda got: response(body=b"{}", fields=[("Set-Cookie", "AuthSession=c; Path=/; Max-Age=600")])
                    if got.target == "/_session" else response(body=(got.get("cookie") or "").encode()))
    usher = start({"interceptors": [
        *limits(concurrency=1, wait="10s"),
        {"name": "couch", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"}, "session_cookie": {"user": "ada", "password": "${env.WORD}"}}]},
        environment={"WORD": "opensesame"})
    began = time.monotonic()
    answer = ask(usher, f"{server.url}/doc")
    assert answer.status == 200 and "AuthSession=c" in answer.body.decode() and time.monotonic() - began < 5
    assert [seen.target for seen in server.requests] == ["/_session", "/doc"]
