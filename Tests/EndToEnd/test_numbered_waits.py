"""Waits and budgets of interceptors, case by case, by the origin's clock: docs/semantics.md says what holds under the same
numbers."""

import os
import select
import socket
import threading
import time
from email.utils import formatdate

import pytest

import programs
from script import BUSY, OK, Script
from test_pipeline import serve_once
from test_reload_binds import Waiting
from wire import Connection, Origin, chunked, request, response

DEFAULTS = {"times": 3, "after": "250ms", "backoff": 2}


def replay(**retry):
    return [{"name": "replay", "when": {"status": [429, 503]}, "response": [{"retry": {**DEFAULTS, **retry}}]}]


def said(usher, url, pattern):
    return usher.said(url, "interceptor", pattern)


def test_T19_an_origin_that_comes_up_late(play):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        usher, client = play(
            [{"name": "patience", "when": {"error": "refused"}, "error": [{"retry": {"times": 100, "after": "50ms"}}]}],
            limits={"retries": 100})
        client.send(request("GET", f"http://127.0.0.1:{listener.getsockname()[1]}/t19"))
        late = threading.Timer(0.12, serve_once, [listener])
        late.start()
        assert client.read_response().body == b"late"
        late.join()
    assert usher.flow("/t19").access["attempts"] >= 3
    assert len(said(usher, "/t19", "sent again in 50 ms")) == usher.flow("/t19").access["attempts"] - 1


def test_T19_the_third_attempt_by_a_clock_of_its_own(call, write_config, tmp_path):
    write_config({"interceptors": [
        {"name": "patience", "when": {"error": "refused"}, "error": [{"retry": {"times": 9, "after": "60ms"}}]},
        {"name": "no", "when": {"error": "reset"}, "error": [{"abort": "it is no reset"}]}]})
    (tmp_path / "cases.yaml").write_text("""
        config: usher.yaml
        cases:
          - name: it is late
            request: curl http://shop.example.com/
            origin: [{ error: refused }, { error: refused }, { body: late }]
            expect: { took: 120ms, applied: patience, not_applied: no, received: { body: late } }
        """)
    done = call("test", tmp_path / "cases.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_T21_waits_grow(play, origin):
    script = Script(BUSY, BUSY, OK)
    server = origin(script)
    _, client = play(replay())
    assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    first, second = script.waits
    assert first >= 0.25 and second >= 0.5


def test_T22_the_last_answer_is_delivered(play, origin):
    script = Script(BUSY)
    server = origin(script)
    usher, client = play(replay())
    got = client.exchange(request("GET", f"{server.url}/t22"))
    assert (got.status, got.body) == (429, b"busy") and len(script.seen) == 4
    assert sum(script.waits) >= 1.75
    assert said(usher, "/t22", "replay: not sent again: it has had all its 3")


@pytest.mark.parametrize("limit, least", [
    pytest.param(9, 0.511, id="T23"), pytest.param(2, 0.003, id="T24")])
def test_T23_T24_the_budget_of_all(play, origin, limit, least):
    script = Script(BUSY)
    server = origin(script)
    _, client = play(replay(times=10, after="1ms"), limits={"retries": limit})
    assert client.exchange(request("GET", f"{server.url}/")).status == 429
    assert len(script.seen) == limit + 1 and sum(script.waits) >= least


@pytest.mark.parametrize("heeds", [True, False], ids=["heeded", "ignored"])
def test_T25_retry_after(play, origin, heeds):
    script = Script(response(429, [("Retry-After", "1")]), OK)
    server = origin(script)
    _, client = play(replay(after="1ms", retry_after=heeds))
    assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    assert (script.waits[0] >= 1) == heeds


@pytest.mark.parametrize("value, retry, least, most", [
    (lambda: formatdate(time.time() + 3, usegmt=True), {"after": "1ms"}, 1.5, None),
    (lambda: "Wed, 01 Jan 2031 00:00:00 GMT", {"after": "1ms", "cap": "300ms"}, 0.3, 60),
    (lambda: "-5", {"after": "200ms"}, 0.2, 60), (lambda: "soon", {"after": "200ms"}, 0.2, 60),
    (lambda: "999999", {"after": "1ms", "cap": "300ms"}, 0.3, 60),
], ids=["date", "late date", "negative", "words", "long"])
def test_T26_retry_after_in_other_words(play, origin, value, retry, least, most):
    script = Script(lambda _: response(429, [("Retry-After", value())]), OK)
    server = origin(script)
    _, client = play(replay(**retry))
    assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"
    assert script.waits[0] >= least and (most is None or script.waits[0] < most)


def test_T26_what_is_asked_for_past_the_deadline(play, origin):
    script = Script(response(429, [("Retry-After", "999999")], b"busy"))
    server = origin(script)
    usher, client = play(replay())
    assert client.exchange(request("GET", f"{server.url}/t26")).body == b"busy" and len(script.seen) == 1
    assert said(usher, "/t26", "past what timeouts.attempts allows")


def threads(usher):
    return len(os.listdir(f"/proc/{usher.process.pid}/task"))


def test_T27_others_do_not_wait(play, origin):
    script = Script(BUSY)
    server, quick = origin(script), origin()
    usher, waiting = play(replay(after="10s"))
    before = threads(usher)
    waiting.send(request("GET", f"{server.url}/t27"))
    programs.eventually(lambda: script.seen, "it is asked")
    others = [Connection(("127.0.0.1", usher.port)) for _ in range(49)]
    for other in others:
        other.send(request("GET", f"{quick.url}/quick"))
    assert [other.read_response().status for other in others] == [200] * 49
    assert threads(usher) == before and len(script.seen) == 1
    # the one still waits, with its next attempt to come
    assert not usher.flows("/t27")
    usher.flow("/quick", 49)
    assert max(flow.access["ms"] for flow in usher.flows("/quick")) < 9000
    for other in others:
        other.close()
    waiting.close()
    usher.flow("/t27")


@pytest.mark.parametrize("leaves", ["close", "reset"])
def test_T28_a_client_that_leaves_in_a_wait(play, origin, leaves):
    script = Script(BUSY)
    server = origin(script)
    usher, client = play(replay(times=1, after="400ms"))
    assert client.exchange(request("GET", f"{server.url}/before")).status == 429
    idle, seen = usher.descriptors(), len(script.seen)
    for turn in range(5):
        with Connection(("127.0.0.1", usher.port)) as gone:
            gone.send(request("GET", f"{server.url}/t28/{turn}"))
            programs.eventually(lambda turn=turn: len(script.seen) == seen + turn + 1, "it is asked")
            (gone.close if leaves == "close" else gone.reset)()
        # its end comes with the client's, and not with the wait's
        assert usher.flow(f"/t28/{turn}").access["attempts"] == 1
    # another waits as long as any of them would have
    assert client.exchange(request("GET", f"{server.url}/after")).status == 429
    assert [seen.target for seen in script.seen].count("/after") == 2 and len(script.seen) == seen + 7
    programs.eventually(lambda: usher.descriptors() <= idle, "descriptors are as many as before")


@pytest.mark.parametrize("leaves", ["close", "reset"])
def test_T29_a_client_that_leaves_in_flight(play, origin, leaves):
    server, quick = origin(Waiting()), origin()
    again = [{"retry": {"times": 3, "after": "1ms"}}]
    usher, client = play([{"name": "again", "when": {"path": "/t29"}, "response": again, "error": again}])
    client.send(request("GET", f"{server.url}/t29"))
    assert server.asked.wait(programs.DEADLINE)
    (client.close if leaves == "close" else client.reset)()
    # once this is answered its one loop has heard of the other's end
    with Connection(("127.0.0.1", usher.port)) as other:
        assert other.exchange(request("GET", f"{quick.url}/other")).status == 200
        server.go.set()
        assert usher.flow("/t29").access["attempts"] == 1
        assert other.exchange(request("GET", f"{quick.url}/other")).status == 200
    assert [seen.target for seen in server.requests] == ["/t29"]


def refused(**retry):
    return [{"name": "again", "when": {"status": 401}, "response": [{"retry": {"methods": "any", "after": "1ms", **retry}}]}]


def test_T30_a_body_goes_out_again_as_it_came(play, origin):
    script = Script(response(401), OK)
    server = origin(script)
    _, client = play(refused())
    body = os.urandom(1 << 20)
    assert client.exchange(request("POST", f"{server.url}/", [], body)).body == b"ok"
    assert [seen.body for seen in script.seen] == [body, body]


def test_T31_a_body_past_the_bound(play, origin):
    script = Script(response(401, body=b"who are you"))
    server = origin(script)
    usher, client = play(refused(), limits={"buffered_body": "4KiB"})
    got = client.exchange(request(
        "POST", f"{server.url}/t31", [("Transfer-Encoding", "chunked")], chunked(b"x" * 10_000, 1000)))
    assert (got.status, got.body) == (401, b"who are you") and len(script.seen) == 1
    assert script.seen[0].body == b"x" * 10_000
    assert said(usher, "/t31", "not sent again: the request's body is larger than the 4096 bytes")


def test_T32_an_origin_that_answers_without_reading(play, origin):
    bodies, ends = [], []

    def serve(connection):
        head = connection.read_head()
        if not ends:
            ends.append("")
            connection.send(response(401))
            # nothing of the body is read before the proxy has let go of the connection
            programs.eventually(lambda: bodies, "it is sent again")
            ends[0] = connection.end()
            return
        bodies.append(connection.read_body(head))
        connection.send(OK)

    server = origin(Origin(serve))
    _, client = play(refused())
    body = os.urandom(1 << 20)
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), ("Content-Length", str(len(body)))]))
    assert client.read_head().status == 100
    assert client.exchange(body).body == b"ok" and bodies == [body]
    programs.eventually(lambda: ends[0], "the connection of the first attempt has ended")


def test_T46_one_budget_with_the_attempts_of_usher_itself(play, origin):
    """A connection that was kept and has gone stale is an attempt that nobody asked for."""
    asked = []

    def serve(connection):
        asked.append(connection.read_request().target)
        if asked == ["/first"]:
            connection.send(OK)
            asked.append(connection.read_request().target)
        connection.reset()

    server = origin(Origin(serve))
    _, client = play(
        [{"name": "again", "error": [{"retry": {"times": 3, "after": "1ms"}}]}], limits={"retries": 3})
    assert client.exchange(request("GET", f"{server.url}/first")).body == b"ok"
    assert client.exchange(request("GET", f"{server.url}/t46")).status == 502
    assert asked.count("/t46") == 4


def open_at(server):
    """How many connections of the proxy have not ended, as the origin's end of each knows at this moment."""
    ended = select.POLLRDHUP | select.POLLHUP | select.POLLERR | select.POLLNVAL
    open_ones = 0
    for descriptor in [connection.socket.fileno() for connection in list(server.accepted)]:
        # -1 where its thread has closed it
        if descriptor >= 0:
            poll = select.poll()
            poll.register(descriptor, select.POLLRDHUP)
            open_ones += not any(events & ended for _, events in poll.poll(0))
    return open_ones


def test_T52_no_more_connections_than_requests(play, origin):
    """A thousand exchanges, each sent twice, by four clients."""
    counts = []

    def answer(seen):
        counts.append(open_at(server))
        return BUSY if seen.get("x-second") is None else OK

    server = origin(answer)
    usher, _ = play(
        [{"name": "second", "request": [{"set_header": {"X-Second": "${state.second}"}}], "response": [
            {"set_state": {"second": "1"}}, {"retry": {"times": 1, "after": "1ms"}}]}],
        limits={"idle_per_origin": 4})

    def ask():
        with Connection(("127.0.0.1", usher.port)) as client:
            for _ in range(250):
                assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"

    failures = []

    def run():
        try:
            ask()
        except BaseException as failure:  # noqa: BLE001 a thread's failure belongs to the test
            failures.append(failure)

    clients = [threading.Thread(target=run) for _ in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert not failures and len(server.requests) == 2000
    assert max(counts) <= 4
