"""Clients that take their time: slow is not idle, and what is idle is given up."""

import socket
import threading
import time

import pytest

import programs
from wire import Connection, Origin, request, response

LARGE = bytes(32 << 20)  # more than the kernel holds for one connection


def slow_client(usher):
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", usher.port))
    return Connection(raw)


def test_a_slow_reader_is_not_an_idle_one(start, origin):
    """The kernel asks for more only when much of what it holds is gone; that may take longer than timeouts.idle."""
    usher = start({"workers": 1, "timeouts": {"idle": "500ms"}})
    server = origin(lambda seen: response(body=LARGE))
    client = slow_client(usher)
    client.send(request("GET", f"{server.url}/"))
    assert client.read_head().status == 200
    pause = threading.Event()
    for _ in range(60):
        pause.wait(0.05)
        client.read(1024)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    assert len(client.read(len(LARGE) - 60 * 1024)) == len(LARGE) - 60 * 1024
    client.close()


def test_a_body_behind_its_head_is_acknowledged_at_once(start, origin):
    """A client that sends head and body apart, without TCP_NODELAY, holds the body back until the head is acknowledged: up to
    40 ms, unless that is done at once."""
    usher = start({"workers": 1})
    server = origin(lambda seen: response(body=b"ok"))
    times = []
    raw = socket.create_connection(("127.0.0.1", usher.port))
    with Connection(raw) as client:
        for _ in range(60):
            began = time.monotonic()
            client.send(f"POST {server.url}/ HTTP/1.1\r\nHost: {server.authority}\r\nContent-Length: 4\r\n\r\n")
            client.send(b"body")
            assert client.read_response().body == b"ok"
            times.append(time.monotonic() - began)
    # the first ones of a connection are acknowledged at once in any case; what makes the machine slow says nothing
    assert sorted(times[20:])[10] < 0.02


def test_an_origin_that_takes_its_time_is_not_idle(start, origin):
    usher = start({"workers": 1, "timeouts": {"idle": "500ms"}})
    sizes = []

    def serve(connection):
        head = connection.read_head()
        pause = threading.Event()
        for _ in range(60):
            pause.wait(0.05)
            connection.read(1024)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        sizes.append(60 * 1024 + len(connection.read(len(LARGE) - 60 * 1024)))
        assert head.get("content-length") == str(len(LARGE))
        connection.send(response(body=b"ok"))

    server = origin(Origin(serve))
    # what it accepts takes this over
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("POST", f"{server.url}/", body=LARGE)).status == 200
    assert sizes == [len(LARGE)]


@pytest.mark.alone
def test_the_memory_that_slow_readers_hold(start, origin):
    usher = start({"workers": 1})
    server = origin(lambda seen: response(body=LARGE))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/warm"))
    before = usher.resident()
    clients = [slow_client(usher) for _ in range(10)]
    for client in clients:
        client.send(request("GET", f"{server.url}/"))
        assert client.read_head().status == 200
    programs.eventually(lambda: len(server.requests) >= 11, "all of them are being served")
    pause = threading.Event()
    for _ in range(20):
        pause.wait(0.05)
        for client in clients:
            client.read(1024)
        assert usher.resident() - before <= len(clients) * (512 << 10)
    for client in clients:
        client.close()
