"""What interceptors do beyond heads: bodies, waits, further attempts, and what they say where no answer came."""

import gzip
import json
import socket
import threading
import time

import programs
import pytest
from script import BUSY, OK, Script
from wire import Connection, request, response


def test_bodies_in_both_directions(play, origin):
    server = origin(lambda got: response(
        body=gzip.compress(b'{"address": "secret", "name":  "Ada"}'),
        fields=[("Content-Type", "application/json"), ("Content-Encoding", "gzip")]))
    _, client = play([{
        "name": "edit", "request": [{"set_json": {"/amount": "200"}}, {"remove_json": ["/debug"]}],
        "response": [{"remove_json": ["/address"]}, {"set_header": {"Cache-Control": "no-store"}}]}])
    for framed in [
            [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
            [("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]]:
        body = gzip.compress(b'{"amount":1,  "debug":true, "n":1.50}')
        if len(framed) == 3:
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        got = client.exchange(request("POST", f"{server.url}/pay", framed, body))
        seen = server.requests[-1]
        assert gzip.decompress(seen.body) == b'{"amount":"200", "n":1.50}'
        assert int(seen.get("content-length")) == len(seen.body) and seen.get("transfer-encoding") is None
        assert gzip.decompress(got.body) == b'{"name":  "Ada"}' and got.get("cache-control") == "no-store"


def test_a_body_over_the_limit(play, origin):
    server = origin()
    large = json.dumps({"a": "x" * 5000}).encode()
    fields = [("Content-Type", "application/json")]
    for handling, status in [("pass", 200), ("refuse", 502)]:
        usher, client = play(
            [{"name": "edit", "over_limit": handling, "request": [{"set_json": {"/b": 1}}]}],
            limits={"buffered_body": "4KiB"})
        before = len(server.requests)
        got = client.exchange(request("POST", f"{server.url}/", fields, large))
        assert got.status == status
        if status == 200:
            assert server.requests[-1].body == large
        else:
            assert len(server.requests) == before and b"larger than the 4096 bytes" in got.body
        usher.wait_for(lambda: usher.flows("/"), "the log")
        assert any("larger than the 4096 bytes" in event["text"] for event in usher.flows("/")[-1].events)


def test_a_turn_is_for_whoever_is_answered(play):
    """Who goes away before the request is whole takes nobody's answer along."""
    url = "http://mock.example.com/x"
    usher, client = play([{
        "name": "turn", "when": {"host": "mock.example.com"}, "request": [{"respond": [{"status": 503}, {"status": 200}]}]}])
    with Connection(("127.0.0.1", usher.port)) as gone:
        gone.send(request("POST", url, [("Content-Length", "5")]) + b"he")
        # one loop: it has read this before what comes next
        assert client.exchange(request("GET", "http://usher.proxy/")).status == 200
        gone.reset()
    assert [client.exchange(request("POST", url, [], b"a")).status for _ in range(2)] == [503, 200]


def test_attempts_until_it_goes_well(play, origin):
    script = Script(BUSY, BUSY, OK)
    server = origin(script)
    _, client = play([{
        "name": "again", "when": {"status": 429},
        "response": [{"retry": {"times": 3, "after": "250ms", "backoff": 2}}]}])
    got = client.exchange(request("PUT", f"{server.url}/", [], b"x" * 100_000))
    assert got.status == 200 and got.body == b"ok"
    assert [len(one.body) for one in script.seen] == [100_000] * 3
    assert script.waits[0] >= 0.25 and script.waits[1] >= 0.5
    # the connection goes on as any other
    assert client.exchange(request("GET", f"{server.url}/")).body == b"ok"


def test_others_do_not_wait(play, origin):
    script = Script(BUSY)
    server, quick = origin(script), origin()
    usher, client = play([{
        "name": "again", "when": {"status": 429}, "response": [{"retry": {"times": 1, "after": "10s"}}]}])
    client.send(request("GET", f"{server.url}/busy"))
    programs.eventually(lambda: script.seen, "it is asked")
    began = time.monotonic()
    with Connection(("127.0.0.1", usher.port)) as other:
        for _ in range(50):
            assert other.exchange(request("GET", f"{quick.url}/")).status == 200
    assert time.monotonic() - began < 5
    client.close()
    usher.wait_for(lambda: usher.flows("/busy"), "its end is told")
    assert len(script.seen) == 1


def test_an_origin_that_comes_up_late(play):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        _, client = play([{
            "name": "patience", "when": {"error": "refused"}, "error": [{"retry": {"times": 100, "after": "50ms"}}]}],
            limits={"retries": 100})
        client.send(request("GET", f"http://127.0.0.1:{listener.getsockname()[1]}/"))
        late = threading.Timer(0.2, serve_once, [listener])
        late.start()
        assert client.read_response().body == b"late"
        late.join()


def serve_once(listener):
    listener.listen()
    accepted, _ = listener.accept()
    with Connection(accepted) as connection:
        connection.read_request()
        connection.send(response(body=b"late"))


def test_what_is_said_where_no_answer_came(play):
    _, client = play([{
        "name": "sorry", "when": {"error": ["connect", "dns"]},
        "error": [{"respond": {"status": 503, "json": {"error": "down"}, "headers": {"Retry-After": "5"}}}]}])
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        got = client.exchange(request("GET", f"http://127.0.0.1:{closed.getsockname()[1]}/"))
    assert got.status == 503 and json.loads(got.body) == {"error": "down"} and got.get("retry-after") == "5"


@pytest.mark.alone
def test_delay_and_throttle(play, origin):
    server = origin(lambda _: response(body=b"x" * 20_000))
    _, client = play([
        {"name": "late", "when": {"path": "/late"}, "request": [{"delay": "300ms"}]},
        {"name": "later", "when": {"path": "/later"}, "response": [{"delay": "300ms"}]},
        {"name": "thin", "when": {"path": "/thin"}, "response": [{"throttle": "20KB"}]},
        {"name": "up", "when": {"path": "/up"}, "request": [{"throttle": "20KB"}]}])
    for path, body, least, most in [
            ("/late", b"", 0.3, 0.6), ("/later", b"", 0.3, 0.6), ("/thin", b"", 0.8, 1.6), ("/up", b"y" * 20_000, 0.8, 1.6)]:
        began = time.monotonic()
        got = client.exchange(request("POST", f"{server.url}{path}", [], body))
        took = time.monotonic() - began
        assert got.status == 200 and len(got.body) == 20_000 and server.requests[-1].body == body
        assert least <= took < most, (path, took)


def test_an_answer_to_head_keeps_its_length(play, origin):
    server = origin(lambda _: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1234\r\n\r\n")
    _, client = play([{"name": "late", "response": [{"delay": "50ms"}]}])
    got = client.exchange(request("HEAD", f"{server.url}/"), method="HEAD")
    assert got.get("content-length") == "1234"
    assert client.exchange(request("HEAD", f"{server.url}/"), method="HEAD").status == 200


def test_answers_in_turn(play, origin):
    server = origin()
    _, client = play([{"name": "turns", "request": [{"respond": [
        {"status": 503, "times": 2, "headers": {"Retry-After": "1"}}, {"status": 429, "text": "${request.query.n}"},
        {"json": {"ok": True}}]}]}])
    got = [client.exchange(request("POST", f"{server.url}/?n={number}", [], b"body")) for number in range(5)]
    assert [one.status for one in got] == [503, 503, 429, 200, 200] and not server.requests
    assert got[2].body == b"2" and got[0].get("retry-after") == "1" and json.loads(got[4].body) == {"ok": True}


@pytest.mark.parametrize("edit", [{"respond": {"status": 503}}, {"abort": "why"}])
def test_a_connection_survives_an_answer_made_here(play, origin, edit):
    server = origin()
    _, client = play([{"name": "ends", "when": {"method": "POST"}, "request": [edit]}], limits={"buffered_body": "4KiB"})
    status = 503 if "respond" in edit else 502
    for framing, body in [
            ([], b"x" * 4096), ([("Transfer-Encoding", "chunked")], b"3\r\nabc\r\n0\r\n\r\n"), ([], b"")]:
        assert client.exchange(request("POST", f"{server.url}/", framing, body)).status == status
    assert client.exchange(request("GET", f"{server.url}/")).status == 200 and len(server.requests) == 1
    # who asks whether to send the body is told at once, and what is too much is not read
    client.send(request("POST", f"{server.url}/", [("Expect", "100-continue"), ("Content-Length", "5")]))
    answer = client.read_head()
    assert answer.status == status and answer.get("connection") == "close"
    _, client = play([{"name": "ends", "request": [edit]}], limits={"buffered_body": "4KiB"})
    assert client.exchange(request("POST", f"{server.url}/", [], b"x" * 5000)).get("connection") == "close"
