"""`usher status` and `usher drain`: what is under way is shown, finished and said goodbye to."""

import json
import signal
import socket
import struct
import subprocess
import threading

import pytest

import people
import programs
import wire
from wire import Connection, request, response


@pytest.fixture
def daemon(binary, write_config, state):
    usher = programs.Usher(binary, write_config({"workers": 2, "timeouts": {"drain": "5s"}}), state=state)
    yield usher, people.Person(binary, state)
    if usher.process.poll() is None:
        usher.process.kill()
        usher.process.wait()


@pytest.fixture
def held(origin):
    """An origin that answers when it is told to."""
    go = threading.Event()

    def answer(_):
        assert go.wait(wire.TIMEOUT)
        return response(body=b"to the end")

    server = origin(answer)
    yield server, go
    go.set()


def test_status_says_how_it_does(daemon, origin, held):
    usher, person = daemon
    server = origin()
    slow, go = held
    with Connection(("127.0.0.1", usher.port)) as client, Connection(("127.0.0.1", usher.port)) as other:
        for _ in range(3):
            client.exchange(request("GET", f"{server.url}/"))
        other.send(request("GET", f"{slow.url}/"))

        def status():
            status = person.asks("GET", "/v1/status")[1]
            return status if status["exchanges"]["served"] == 3 and status["exchanges"]["under_way"] == 1 else None

        status = programs.eventually(status, "three served and one under way")
        assert status["pid"] == usher.process.pid and status["state"] == "serving"
        assert status["connections"]["open"] == 2 and status["connections"]["accepted"] == 2
        assert status["configuration"]["generation"] == 1 and status["configuration"]["by"] == "start"
        assert status["listening"] == [f"127.0.0.1:{usher.port}"] and status["memory_bytes"] > 1 << 20
        assert len(status["workers"]) == 2 and sum(worker["served"] for worker in status["workers"]) == 3
        shown = person.says("status").stdout
        assert "generation 1 of " in shown and "1 under way, 3 served" in shown and "2 of 4096" in shown
        go.set()
        assert other.read_response().status == 200


def test_a_drain_finishes_what_runs(daemon, held):
    usher, person = daemon
    server, go = held
    with Connection(("127.0.0.1", usher.port)) as client, Connection(("127.0.0.1", usher.port)) as idle:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        drain = programs.Program(
            [person.binary, "drain"], {**person.environment})
        drain.wait_for(lambda: any("1 exchange under way" in line for line in drain.errors), "what is left")
        assert idle.is_at_end()
        assert person.asks("GET", "/v1/status")[1]["state"] == "draining"
        assert person.asks("POST", "/v1/reload")[0].status == 409
        go.set()
        answer = client.read_response()
        # whoever keeps connections learns that this one ends
        assert answer.body == b"to the end" and answer.get("connection") == "close"
        assert client.is_at_end()
    assert usher.process.wait(wire.TIMEOUT) == 0
    drain.wait_for(lambda: "the daemon has stopped" in drain.lines, "the end")
    assert drain.process.wait(wire.TIMEOUT) == 0


def test_it_need_not_be_waited_for(daemon, held):
    usher, person = daemon
    server, go = held
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        done = person.says("drain", "--no-wait", "--json")
        assert done.returncode == 0 and json.loads(done.stdout)["state"] == "draining"
        assert usher.process.poll() is None
        # a second word does not end it at once, as a second signal does
        assert person.says("drain", "--no-wait").returncode == 0
        # nor does the first signal
        usher.process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            usher.process.wait(0.5)
        usher.process.send_signal(signal.SIGTERM)
        assert usher.process.wait(wire.TIMEOUT) == 0
        go.set()


def test_one_signal_behind_a_drain_cuts_nothing_off(daemon, held):
    usher, person = daemon
    server, go = held
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        assert person.says("drain", "--no-wait").returncode == 0
        usher.process.send_signal(signal.SIGTERM)
        assert person.asks("GET", "/v1/status")[1]["state"] == "draining"
        go.set()
        assert client.read_response().body == b"to the end"
    assert usher.process.wait(wire.TIMEOUT) == 0


def test_a_daemon_that_is_slow_to_answer_has_not_ended(binary, write_config, state, origin):
    usher = programs.Usher(binary, write_config({"workers": 1, "timeouts": {"drain": "2m"}}), state=state)
    person = people.Person(binary, state)
    go = threading.Event()
    # longer than the command waits for an answer
    server = origin(lambda _: (go.wait(6 * wire.TIMEOUT), response(body=b"to the end"))[1])
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        drain = programs.Program([person.binary, "drain"], {**person.environment})
        drain.wait_for(lambda: any("1 exchange under way" in line for line in drain.errors), "what is left")
        usher.process.send_signal(signal.SIGSTOP)
        try:
            drain.wait_for(lambda: any("did not respond" in line for line in drain.errors), "that it is slow")
            assert drain.process.poll() is None
        finally:
            usher.process.send_signal(signal.SIGCONT)
        go.set()
        client.read_response()
    assert usher.process.wait(wire.TIMEOUT) == 0
    assert drain.process.wait(wire.TIMEOUT) == 0


def test_a_daemon_that_hangs_up_is_about_to_end(call):
    status = json.dumps({"pid": 1, "connections": {"open": 0}, "exchanges": {"under_way": 0}}).encode()
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(wire.TIMEOUT)
        url = f"http://127.0.0.1:{door.getsockname()[1]}"

        def end():
            first, _ = door.accept()
            with first:
                first.recv(1 << 16)
                first.sendall(response(body=status, fields=[("Content-Type", "application/json")]))
            second, _ = door.accept()
            second.recv(1 << 16)
            second.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # nobody listens any more when that is seen
            door.close()
            second.close()

        daemon = threading.Thread(target=end)
        daemon.start()
        done = call("drain", USHER_URL=url, USHER_TOKEN="0123456789abcdef")
        daemon.join(wire.TIMEOUT)
    assert (done.returncode, done.stdout) == (0, "the daemon has stopped\n")
    assert done.stderr == "usher: 0 connections left, 0 exchanges under way\n"


def test_what_takes_too_long_is_cut_off(binary, write_config, state, held):
    usher = programs.Usher(binary, write_config({"workers": 1, "timeouts": {"drain": "300ms"}}), state=state)
    server, _ = held
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        done = people.Person(binary, state).says("drain")
        assert done.returncode == 0 and done.stdout == "the daemon has stopped\n"
    assert usher.process.wait(wire.TIMEOUT) == 0
    assert usher.stop() == 0


def test_a_tunnel_is_waited_for_and_then_cut(binary, write_config, state):
    usher = programs.Usher(binary, write_config({"workers": 1, "timeouts": {"drain": "500ms"}}), state=state)
    echo = wire.Origin(lambda connection: connection.send(connection.read(4)))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(f"CONNECT 127.0.0.1:{echo.port} HTTP/1.1\r\nHost: 127.0.0.1:{echo.port}\r\n\r\n")
        assert b" 200 " in client.read_until(b"\r\n\r\n")
        usher.process.send_signal(signal.SIGTERM)
        client.send(b"ping")
        assert client.read(4) == b"ping"
    assert usher.process.wait(wire.TIMEOUT) == 0
    usher.stop()
    echo.close()
