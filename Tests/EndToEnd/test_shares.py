"""What one client may hold of the proxy, and what becomes of requests whose client has gone."""

import base64
import array
import contextlib
import fcntl
import os
import re
import signal
import socket
import subprocess
import termios
import threading

import pytest

import programs
import wire
from wire import Connection, Origin, request

ALICE = "alice:$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
PASSWORD = ("Proxy-Authorization", "Basic " + base64.b64encode(b"alice:wonder:land").decode())


def connection(usher):
    return Connection(("127.0.0.1", usher.port))


def named(usher, address):
    """A connection that a balancer made for that address."""
    client = connection(usher)
    family = "TCP6" if ":" in address else "TCP4"
    own = "::1" if ":" in address else "192.0.2.1"
    client.send(f"PROXY {family} {address} {own} 40000 3128\r\n")
    return client


def status(client, url, *fields):
    return client.exchange(request("GET", url, fields)).status


def is_let_in(usher, url):
    """Whether a new connection is served."""
    with connection(usher) as client:
        client.send(request("GET", url))
        try:
            return client.read_response().status == 200
        except OSError:
            return False


class Silent(Origin):
    """Reads a request and answers `answer` when it may; tells when the proxy has given it up."""

    def __init__(self, answer=wire.response(fields=[("Connection", "close")], body=b"late")):
        self.asked = threading.Semaphore(0)
        self.given_up = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.answer = answer
        super().__init__(self._serve)

    def _serve(self, connection):
        connection.read_request()
        self.asked.release()
        watch = threading.Thread(target=self._watch, args=(connection,), daemon=True)
        watch.start()
        self.may_answer.wait(wire.TIMEOUT)
        if self.may_answer.is_set():
            connection.send(self.answer)
        watch.join()

    def _watch(self, connection):
        with contextlib.suppress(TimeoutError):
            connection.end()
            self.given_up.release()


# shares


@pytest.mark.parametrize("workers", [1, 2])
def test_one_client_has_a_share_alone(start, origin, workers):
    server = origin()
    usher = start({
        "workers": workers, "limits": {"connections": 8, "per_client": 3},
        "clients": {"allow": ["loopback"], "proxy_protocol": ["127.0.0.2"]}})
    held = [connection(usher) for _ in range(3)]
    assert [status(client, server.url) for client in held] == [200] * 3
    with connection(usher) as excess:
        answer = excess.read_response()
        assert answer.status == 503
        assert "error=connection_limit_reached" in answer.get("proxy-status")
        assert "limits.per_client" in answer.body.decode()
    usher.wait_for(lambda: any("limits.per_client" in line for line in usher.lines), "a word in the log")
    # room that one has left, another takes
    held.pop().close()
    programs.eventually(lambda: is_let_in(usher, server.url), "a connection is let in again")


def test_a_balancer_is_not_the_client(start, origin):
    server = origin()
    usher = start({
        "workers": 2, "limits": {"per_client": 2},
        "clients": {"allow": ["loopback", "127.0.0.0/8"], "proxy_protocol": ["127.0.0.1"]}})
    # all of loopback is one client, whatever its address
    held = [named(usher, f"127.0.0.{number}") for number in (2, 3)]
    assert [status(client, server.url) for client in held] == [200] * 2
    with named(usher, "127.0.0.4") as excess:
        answer = excess.read_response()
        assert answer.status == 503 and "limits.per_client" in answer.body.decode()
        assert excess.end() == "closed"
    for client in held:
        client.close()


def test_addresses_behind_a_balancer_count_by_themselves(start, origin, tmp_path):
    server = origin()
    (tmp_path / "users.htpasswd").write_text(ALICE + "\n")
    (tmp_path / "users.htpasswd").chmod(0o600)
    usher = start({
        "workers": 2, "limits": {"per_client": 2}, "clients": {
            "allow": ["0.0.0.0/0", "::/0"], "proxy_protocol": ["127.0.0.1"],
            "basic": {"users": "${file:users.htpasswd}"}}})
    others = [named(usher, address) for address in ("203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.2")]
    assert [status(client, server.url) for client in others] == [407] * 4
    with named(usher, "203.0.113.1") as excess:
        assert excess.read_response().status == 503
    # one network of IPv6 is one client
    network = [named(usher, f"2001:db8::{number}") for number in (1, 2)]
    assert [status(client, server.url) for client in network] == [407] * 2
    with named(usher, "2001:db8::3") as excess:
        assert excess.read_response().status == 503
    with named(usher, "2001:db8:0:1::1") as other:
        assert status(other, server.url) == 407
    # who has shown a password is that user, wherever it comes from
    users = [named(usher, f"198.51.100.{number}") for number in (1, 2, 3)]
    assert [status(client, server.url, PASSWORD) for client in users[:2]] == [200, 200]
    refused = users[2].exchange(request("GET", f"{server.url}/refused", [PASSWORD]))
    assert refused.status == 503
    assert "the user alice" in refused.body.decode() and "limits.per_client" in refused.body.decode()
    assert users[2].end() == "closed"
    assert usher.flow("/refused").access["user"] == "alice"
    # and its address has room for others
    with named(usher, "198.51.100.1") as other:
        assert status(other, server.url) == 407
    users.pop(0).close()
    with named(usher, "198.51.100.9") as client:
        programs.eventually(lambda: status(client, server.url, PASSWORD) == 200, "the user's room is free again")


def test_an_exchange_whose_client_has_gone_counts(start, origin):
    server = origin(Silent())
    usher = start({"workers": 2, "limits": {"per_client": 5}, "timeouts": {"half_closed": "10m"}})
    for _ in range(5):
        with connection(usher) as client:
            client.send(request("GET", server.url))
        assert server.asked.acquire(timeout=wire.TIMEOUT)
    with connection(usher) as excess:
        assert excess.read_response().status == 503
    server.may_answer.set()
    programs.eventually(lambda: is_let_in(usher, server.url), "what was held is free again")


# goodbyes


def test_a_client_that_ends_gives_its_request_up(start, origin):
    server = origin(Silent())
    usher = start({"workers": 1, "timeouts": {"half_closed": "300ms"}})
    with connection(usher) as client:
        client.send(request("GET", f"{server.url}/gone"))
        assert server.asked.acquire(timeout=wire.TIMEOUT)
    assert server.given_up.acquire(timeout=wire.TIMEOUT), "the origin's connection stays open"
    assert usher.said("/gone", "note", "timeouts.half_closed")
    assert usher.flow("/gone").access["status"] == 504


def test_who_still_listens_is_told(start, origin):
    server = origin(Silent())
    usher = start({"workers": 1, "timeouts": {"half_closed": "300ms"}})
    with connection(usher) as client:
        client.send(request("GET", f"{server.url}/told"))
        client.half_close()
        answer = client.read_response()
        assert answer.status == 504 and "timeouts.half_closed" in answer.body.decode()
        assert client.end() == "closed"


@pytest.mark.parametrize("patience", ["0s", "10m"])
def test_a_client_that_closed_its_side_gets_its_answer(start, origin, patience):
    server = origin(Silent())
    usher = start({"workers": 1, "timeouts": {"half_closed": patience}})
    with connection(usher) as client:
        client.send(request("GET", f"{server.url}/waits"))
        client.half_close()
        assert server.asked.acquire(timeout=wire.TIMEOUT)
        # what is served meanwhile shows that the end was seen
        with connection(usher) as other:
            assert status(other, f"{usher.url}/") == 508
        server.may_answer.set()
        assert client.read_response().body == b"late"
        assert client.end() == "closed"


def test_a_body_that_still_goes_out_is_no_silence(start, origin):
    """The client has sent all of it and closed its side; the origin takes its time to read it."""
    size = 400_000

    def serve(connection):
        connection.read_head()
        taken = 0
        while taken < size:
            pause.wait(0.05)
            taken += len(connection.read(min(8192, size - taken)))
        connection.send(wire.response(fields=[("Connection", "close")], body=b"thanks"))
        connection.end()

    pause = threading.Event()
    server = Origin(serve)
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    server = origin(server)
    usher = start({"workers": 1, "timeouts": {"half_closed": "1s"}})
    with connection(usher) as client:
        client.send(request("POST", f"{server.url}/upload", body=b"x" * size))
        client.half_close()
        assert client.read_response().body == b"thanks"


def test_an_answer_that_has_begun_is_delivered(start, origin):
    """Its silence is counted by timeouts.idle, as ever."""
    begun, go = threading.Event(), threading.Event()

    def serve(connection):
        connection.read_request()
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        begun.set()
        assert go.wait(wire.TIMEOUT)
        connection.send("cd")
        connection.end()

    server = origin(Origin(serve))
    silent = origin(Silent())
    usher = start({"workers": 1, "timeouts": {"half_closed": "300ms"}})
    with connection(usher) as client, connection(usher) as other:
        client.send(request("GET", server.url))
        client.half_close()
        assert begun.wait(wire.TIMEOUT)
        assert client.read_head().status == 200
        # another one's goodbye is over, and so would this one's be
        other.send(request("GET", silent.url))
        other.half_close()
        assert other.read_response().status == 504
        go.set()
        assert client.read(4) == b"abcd"


def test_each_of_several_requests_has_its_time(start, origin):
    slow = Silent()
    fast, server = origin(), origin(slow)
    usher = start({"workers": 1, "timeouts": {"half_closed": "400ms"}})
    with connection(usher) as client:
        client.send(request("GET", fast.url) + request("GET", server.url) + request("GET", fast.url))
        client.half_close()
        assert client.read_response().status == 200
        assert client.read_response().status == 504
        assert client.end() == "closed" and client.buffer == b""
    assert server.given_up.acquire(timeout=wire.TIMEOUT)
    assert len(fast.requests) == 1


# what is held


def protected(server):
    """A resource for which a step-up may follow, so that what is sent to it is kept."""
    return {
        "am": [{"url": "http://am.test/am"}],
        "authorization": {"am": "http://am.test/am", "resources": [f"{server.url}/*"]}}


def test_bodies_that_are_kept_have_one_budget(start, origin):
    """What finds no room is sent on as it comes: only sending it again is not to be had."""
    begun = set()

    def serve(connection):
        head = connection.read_head()
        begun.add(head.target)
        connection.read(int(head.get("content-length")))
        connection.send(wire.response(fields=[("Connection", "close")], body=b"whole"))

    server = origin(Origin(serve))
    usher = start({
        "workers": 2, **protected(server), "limits": {"buffered": "256KiB", "buffered_body": "64KiB"}})
    body = bytes(60_000)

    def head(path):
        return request("POST", f"{server.url}{path}", [("Content-Length", str(len(body)))])

    # one client has half of it, which two take; which of them come first is the workers' matter
    paths = ["/first", "/second", "/third"]
    clients = [connection(usher) for _ in paths]
    for client, path in zip(clients, paths):
        client.send(head(path) + body[:-1])
    programs.eventually(lambda: begun, "one is sent on")
    # small ones have their place
    with connection(usher) as client:
        client.send(request("POST", f"{server.url}/small", body=b"x" * 1000))
        assert client.read_response().body == b"whole"
    # two that come at once may find no room beside the third's, but never all
    assert len(begun & set(paths)) < 3
    for client in clients:
        client.send(body[-1:])
        assert client.read_response().body == b"whole"
        client.close()
    assert 1 <= len([path for path in paths if usher.said(path, "note", "limits.buffered")]) < 3
    # and there is room again
    with connection(usher) as client:
        client.send(head("/again") + body)
        assert client.read_response().body == b"whole"
    assert not usher.said("/again", "note", "limits.buffered")


def test_no_body_is_kept_beyond_its_limit(start, origin):
    begun = threading.Event()

    def serve(connection):
        connection.read_head()
        begun.set()
        assert connection.read(20_000)
        connection.send(wire.response(body=b"whole"))

    server = origin(Origin(serve))
    usher = start({"workers": 1, **protected(server), "limits": {"buffered_body": "10KiB"}})
    with connection(usher) as client:
        # longer than that it is passed on as it comes: the origin hears of it before its end is here
        client.send(request("POST", f"{server.url}/long", [("Content-Length", "20000")]) + bytes(15_000))
        assert begun.wait(wire.TIMEOUT), "all of it was kept"
        client.send(bytes(5_000))
        assert client.read_response().body == b"whole"


# the end


def test_a_worker_that_is_stuck_does_not_hold_up_the_end(binary, write_config, origin):
    """A debug build can be told to hang in the middle of a call."""
    server = origin()
    config = write_config({"workers": 2, "timeouts": {"drain": "500ms"}})
    # the thread that hangs is left behind on purpose
    sanitizer = os.environ.get("TSAN_OPTIONS", "") + " report_thread_leaks=0"
    usher = programs.Usher(binary, config, environment={"USHER_FAULT": "connect:1:HANG", "TSAN_OPTIONS": sanitizer})
    with connection(usher) as client:
        client.send(request("GET", server.url))
        usher.wait_for(lambda: any(line.startswith("fault:") for line in usher.errors), "the fault (a debug build)")
        assert usher.stop() == 70
    assert any("timeouts.drain" in line and "worker" in line for line in usher.errors), usher.errors


def test_words_that_nobody_reads_do_not_hold_up_the_end(binary, write_config):
    """Standard output and error are one pipe, and full."""
    config = write_config({"workers": 1, "timeouts": {"drain": "500ms"}})
    with subprocess.Popen(
            [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, bufsize=0) as usher:
        try:
            fcntl.fcntl(usher.stdout, fcntl.F_SETPIPE_SZ, 4096)
            port = int(re.search(rb":(\d+)", usher.stdout.readline()).group(1))
            url = f"http://127.0.0.1:{port}/"
            with Connection(("127.0.0.1", port)) as client:
                assert [status(client, url + "x" * 500) for _ in range(200)] == [508] * 200
            held = array.array("i", [0])

            def is_full():
                fcntl.ioctl(usher.stdout, termios.FIONREAD, held)
                return held[0] == 4096

            programs.eventually(is_full, "the pipe is full")
            usher.terminate()
            assert usher.wait(programs.DEADLINE) == 0
        finally:
            usher.kill()


def test_errors_that_nobody_reads_do_not_hold_up_a_reload(binary, write_config, origin):
    """Standard error is a pipe of its own, and full: what the daemon has to say waits, and the daemon does not."""
    server = origin()
    config = write_config({"workers": 1})
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with open(reading, "rb", buffering=0) as errors, subprocess.Popen(
            [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"], stdout=subprocess.DEVNULL,
            stderr=writing) as usher:
        try:
            port = int(re.search(rb":(\d+)", errors.readline()).group(1))
            fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writing, b"x" * 512)
            # the daemon has the same pipe; it is to block where it can
            fcntl.fcntl(writing, fcntl.F_SETFL, 0)
            for denied, expected in [(["127.0.0.0/8"], 403), ([], 200), (["127.0.0.0/8"], 403)]:
                write_config({"workers": 1, "destinations": {"deny": denied}})
                usher.send_signal(signal.SIGHUP)

                def is_in_force(expected=expected):
                    with Connection(("127.0.0.1", port)) as client:
                        return status(client, server.url) == expected

                programs.eventually(is_in_force, f"the reload after which it is {expected}")
            usher.terminate()
            assert usher.wait(programs.DEADLINE) == 0
            os.close(writing)
            assert errors.read().startswith(b"x")
        finally:
            usher.kill()


def test_a_drain_ends_what_is_open(binary, write_config, origin):
    server = origin(Silent())
    usher = programs.Usher(binary, write_config({"workers": 1, "timeouts": {"drain": "500ms"}}))
    with connection(usher) as client:
        client.send(request("GET", f"{server.url}/open"))
        assert server.asked.acquire(timeout=wire.TIMEOUT)
        assert usher.stop() == 0
        assert client.end() == "reset"
