"""The daemon with its first system call of a kind failing, then its second, until a scenario runs through unharmed."""

import pytest

import programs
import shop
import wire
from wire import Connection, Origin, request

FAULTS = [
    ("recv", "ECONNRESET"), ("send", "EPIPE"), ("send", "EAGAIN"), ("socket", "EMFILE"), ("connect", "ENOBUFS"),
    ("accept", "EMFILE"), ("event_add", "ENOSPC"),
]

# signals, the supervisor's mailbox, the worker's mailboxes and its sweep, a listener
START_EVENTS = 8


def struck(usher):
    return any(line.startswith("fault:") for line in list(usher.errors))


def get(client, server, sandbox):
    client.send(request("GET", f"{server.url}/"))
    return client.read_response().status


def post(client, server, sandbox):
    body = bytes(300_000)
    client.send(request("POST", f"{server.url}/", body=body))
    return client.read_response().status


def tunnel(client, server, sandbox):
    client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
    status = client.read_head().status
    if status == 200:
        # no method that the proxy knows: relayed unopened
        client.send("BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        client.read_response()
    return status


def step_up(client, server, sandbox):
    """A resource that takes a transaction for each access."""
    token = shop.login(sandbox)
    return client.exchange(request("GET", f"{sandbox.shop}/item", [("Cookie", f"{shop.COOKIE}={token}")])).status


def try_it(usher, scenario, server, sandbox):
    """The scenario's status, None where the connection ended before an answer."""
    try:
        with Connection(("127.0.0.1", usher.port)) as client:
            return scenario(client, server, sandbox)
    except (EOFError, OSError):
        return None


@pytest.mark.parametrize("call, code", FAULTS, ids=[f"{call} {code}" for call, code in FAULTS])
@pytest.mark.parametrize("scenario", [get, post, tunnel, step_up], ids=["get", "post", "tunnel", "step-up"])
def test_every_failure_ends_in_an_answer_or_a_close(
    binary, write_config, origin, sandbox, scenario, call, code):
    server = origin(lambda seen: wire.response(body=seen.body or b"ok"))
    config = write_config({
        "workers": 1, "timeouts": {"idle": "3s", "connect": "2s", "response": "3s"},
        **shop.config(sandbox, hold="5s")})
    clean = programs.Usher(binary, config)
    assert try_it(clean, scenario, server, sandbox) == 200
    assert try_it(clean, get, server, sandbox) == 200
    normal = clean.descriptors()
    assert clean.stop() == 0
    # those of the start itself come first: the kinds that the scenarios share with it are counted from there
    first = 1 if call != "event_add" else START_EVENTS + 1
    for number in range(first, first + 200):
        usher = programs.Usher(binary, config, environment={"USHER_FAULT": f"{call}:{number}:{code}"})
        try:
            seen = [try_it(usher, what, server, sandbox) for what in (scenario, get, get)]
            assert usher.process.poll() is None, usher.errors
            programs.eventually(lambda: usher.descriptors() <= normal, f"descriptors go back to {normal}")
        finally:
            ended = usher.stop()
        assert ended == 0, (number, usher.errors)
        # one failure is one exchange at most: an answer of the proxy's own, the resource's own, or none
        harmed = [status for status in seen if status != 200]
        assert len(harmed) <= struck(usher) and set(harmed) <= {None, 401, 502, 503, 504}, (seen, usher.errors)
        if not struck(usher):
            break
    if number == first:
        pytest.skip("a release build has no fault plan")


def test_a_daemon_that_cannot_watch_its_sources_does_not_start(binary, write_config):
    config = write_config({"workers": 1})
    for number in range(1, START_EVENTS + 1):
        program = programs.Program(
            [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"],
            {"USHER_FAULT": f"event_add:{number}:ENOSPC"})
        program.wait_for(lambda: [e for e in program.errors if "event_add" in e], "the reason")
        assert program.process.wait(programs.DEADLINE) == 1
        assert any("No space left" in line for line in program.errors)
