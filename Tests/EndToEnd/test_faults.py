"""The daemon with its first system call of a kind failing, then its second, until a scenario runs through unharmed."""

import pytest

import faults
import programs
import shop
import wire
from wire import Connection, request


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


BULK = bytes(range(251)) * 1600


def bulk_tunnel(client, server, sandbox):
    """So much, both ways, that it is not read here."""
    client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
    status = client.read_head().status
    if status == 200:
        client.send(f"BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: {len(BULK)}\r\n\r\n".encode() + BULK)
        assert client.read_response().body == BULK
    return status


def bulk_post(client, server, sandbox):
    client.send(request("POST", f"{server.url}/", body=BULK))
    answer = client.read_response()
    assert answer.status != 200 or answer.body == BULK
    return answer.status


def step_up(client, server, sandbox):
    """A resource that takes a transaction for each access."""
    token = shop.login(sandbox)
    return client.exchange(request("GET", f"{sandbox.shop}/item", [("Cookie", f"{shop.COOKIE}={token}")])).status


def connecting(scenario, server, sandbox):
    """The scenario on a connection of its own."""
    def run(usher):
        with Connection(("127.0.0.1", usher.port)) as client:
            return scenario(client, server, sandbox)
    return run


@faults.calls(faults.CALLS)
@pytest.mark.parametrize("scenario", [get, post, tunnel, step_up], ids=["get", "post", "tunnel", "step-up"])
def test_every_failure_ends_in_an_answer_or_a_close(
    binary, write_config, origin, sandbox, scenario, call, code):
    server = origin(lambda seen: wire.response(body=seen.body or b"ok"))
    config = write_config({"workers": 1, "timeouts": faults.TIMEOUTS, **shop.config(sandbox, hold="5s")})
    scenarios = [connecting(what, server, sandbox) for what in (scenario, get, get)]
    # one failure is one exchange at most: an answer of the proxy's own, the resource's own, or none
    faults.run(binary, config, call, code, scenarios, [200] * 3, {None, 401, 502, 503, 504})


@faults.calls(faults.PASSING_CALLS)
@pytest.mark.parametrize("scenario", [bulk_tunnel, bulk_post], ids=["tunnel", "post"])
def test_bytes_that_pass_unseen_arrive_whole_or_not_at_all(
    binary, write_config, origin, sandbox, scenario, call, code):
    server = origin(lambda seen: wire.response(body=seen.body or b"ok"))
    config = write_config({"workers": 1, "timeouts": faults.TIMEOUTS})
    scenarios = [connecting(what, server, sandbox) for what in (scenario, get, get)]
    faults.run(binary, config, call, code, scenarios, [200] * 3)


def test_a_daemon_that_cannot_watch_its_sources_does_not_start(binary, write_config, tmp_path):
    config = write_config({"workers": 1})
    for number in range(1, faults.START_EVENTS + 1):
        program = programs.Program(
            [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"],
            {"USHER_FAULT": f"event_add:{number}:ENOSPC", "STATE_DIRECTORY": str(tmp_path / "state"),
             "XDG_RUNTIME_DIR": ""})
        try:
            program.wait_for(lambda: [e for e in program.errors if "event_add" in e], "the reason")
            assert program.process.wait(programs.DEADLINE) == 1
            assert any("No space left" in line for line in program.errors)
        finally:
            program.process.kill()
            program.process.wait()
