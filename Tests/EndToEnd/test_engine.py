"""What the engine owes to both sides when one of them is slow, rude, or gone."""

import json
import os
import resource
import signal
import socket
import subprocess
import threading

import pytest

import programs
from wire import Connection, Origin, request, response

BIG = bytes(range(256)) * (256 << 8)  # 16 MiB: more than the kernel's buffers hold


def small_window(usher, size=4096):
    """A client whose kernel takes little, so that what it does not read waits in the proxy."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    raw.connect(("127.0.0.1", usher.port))
    return Connection(raw)


def tunnel(usher, server, first=b"\x00"):
    client = Connection(("127.0.0.1", usher.port))
    client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n".encode() + first)
    assert client.read_head().status == 200
    return client


def processor_time(program):
    with open(f"/proc/{program.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# clients that do not read


def stalled(start, origin, half_close):
    usher = start({"workers": 1, "timeouts": {"idle": "500ms"}})
    # fits into the proxy's own queue behind what the kernel holds, so the exchange itself is over soon
    server = origin(lambda seen: response(body=bytes(100_000)))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/"))
    before = usher.descriptors()
    clients = []
    for _ in range(5):
        client = small_window(usher)
        client.send(request("GET", f"{server.url}/") * 60)
        if half_close:
            client.half_close()
        clients.append(client)
    programs.eventually(lambda: len(server.requests) > 5, "the answers are on their way")
    programs.eventually(lambda: usher.descriptors() <= before + 5, "the proxy gives up clients that do not read")
    for client in clients:
        client.close()


def test_a_client_that_takes_nothing_is_given_up(start, origin):
    stalled(start, origin, half_close=False)


def test_a_client_that_takes_nothing_after_its_end_is_given_up(start, origin):
    stalled(start, origin, half_close=True)


@pytest.mark.alone
def test_pipelined_requests_wait_for_a_client_that_does_not_read(start, origin):
    usher = start({"workers": 1})
    server = origin(lambda seen: response(body=bytes(60_000)))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/warm"))
    before = usher.resident()
    client = small_window(usher)
    one = request("GET", f"{server.url}/")
    sender = threading.Thread(target=client.send, args=(one * 4000,), daemon=True)
    sender.start()
    seen = 0
    while True:
        # until the proxy asks for no more
        count = len(server.requests)
        if count and count == seen:
            break
        seen = count
        threading.Event().wait(0.3)
    assert seen < 400
    assert usher.resident() - before < 16 << 20
    for _ in range(4000):
        assert len(client.read_response().body) == 60_000
    sender.join(10)
    client.close()


@pytest.mark.alone
def test_a_slow_reader_gets_everything_and_memory_stays_bounded(start, origin):
    usher = start({"workers": 1})
    server = origin(lambda seen: response(body=BIG))
    before = usher.resident()
    client = small_window(usher, 64 << 10)
    client.send(request("GET", f"{server.url}/"))
    head = client.read_head()
    assert head.get("content-length") == str(len(BIG))
    for _ in range(10):
        client.read(1000)
    assert usher.resident() - before < 16 << 20
    assert len(client.read(len(BIG) - 10_000)) == len(BIG) - 10_000
    client.close()


# answers that are cut, or go on


def test_an_answer_that_ends_in_a_reset_is_not_passed_off_as_whole(plain_usher, origin):
    go = threading.Event()

    def serve(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + bytes(1000))
        go.wait(10)
        connection.reset()

    server = origin(Origin(serve))
    with Connection(("127.0.0.1", plain_usher.port)) as client:
        client.send(request("GET", f"{server.url}/cut"))
        client.read_head()
        client.read(1000)
        go.set()
        try:
            assert client.socket.recv(1) is None, "a clean end"
        except ConnectionResetError:
            pass


def test_bytes_behind_an_answer_are_never_the_next_answer(plain_usher, origin):
    """The second answer, sent without being asked, must not reach anybody."""
    def serve(connection):
        connection.read_request()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n"
        connection.send(head)
        connection.send(bytes(300_000) + response(body=b"smuggled") * 20_000)
        connection.read_rest()

    server = origin(Origin(serve))
    with Connection(("127.0.0.1", plain_usher.port)) as client:
        client.send(request("GET", f"{server.url}/1") + request("GET", f"{server.url}/2"))
        assert client.read_response().body == bytes(300_000)
        assert client.read_response().body == bytes(300_000)
    assert len(server.accepted) == 2


# tunnels


def test_an_upload_arrives_whole_when_the_origin_has_ended_first(plain_usher, origin):
    go = threading.Event()
    got = []

    def serve(connection):
        connection.read(1)
        connection.half_close()
        go.wait(10)
        got.append(len(connection.read_rest()))

    server = origin(Origin(serve))
    client = tunnel(plain_usher, server)
    assert client.is_at_end()
    sent = threading.Thread(target=lambda: (client.send(BIG), client.half_close()), daemon=True)
    sent.start()
    go.set()
    sent.join(20)
    programs.eventually(lambda: got, "the origin has read to the end")
    assert got == [len(BIG)]
    client.close()


def test_a_tunnel_whose_origin_is_reset_under_a_full_upload_ends(plain_usher, origin):
    go = threading.Event()

    def serve(connection):
        connection.read(1)
        go.wait(10)
        connection.reset()

    server = origin(Origin(serve))
    before = plain_usher.descriptors()
    client = tunnel(plain_usher, server)
    client.socket.setblocking(False)
    try:
        while True:
            client.socket.send(bytes(65536))
    except BlockingIOError:
        pass
    go.set()
    client.socket.settimeout(10)
    try:
        assert client.socket.recv(1) == b""
    except ConnectionResetError:
        pass
    # though the client itself has not closed
    programs.eventually(lambda: plain_usher.descriptors() <= before, "both sides of the tunnel are closed")
    client.close()


# descriptors


def test_a_flood_beyond_the_descriptor_limit_costs_no_processor_and_passes(start, origin):
    usher = start({"workers": 1, "log": {"access": "json"}})
    server = origin()
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    limit = usher.descriptors() + 10
    resource.prlimit(usher.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    clients = [Connection(("127.0.0.1", usher.port)) for _ in range(40)]
    usher.wait_for(lambda: [r for r in usher.records() if "error" in r], "the operator is told")
    before = processor_time(usher)
    threading.Event().wait(1)
    assert processor_time(usher) - before < 0.3
    for client in clients:
        client.close()
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200


# its own listeners


def test_its_own_listener_is_refused_by_every_name(plain_usher):
    for host in ("127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "localhost"):
        with Connection(("127.0.0.1", plain_usher.port)) as client:
            authority = f"{host}:{plain_usher.port}"
            answer = client.exchange(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
            assert answer.status >= 400, host


# the end


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_drain_delivers_what_is_queued(binary, write_config, origin):
    usher = programs.Usher(binary, write_config({"workers": 1}))
    server = origin(lambda seen: response(body=bytes(200_000)))
    client = small_window(usher)
    client.send(request("GET", f"{server.url}/"))
    head = client.read_head()
    usher.flow(f"{server.authority}/")
    usher.process.send_signal(signal.SIGTERM)
    # a sweep closes what is idle; this connection is not, as long as something is queued for it
    programs.eventually(lambda: refused(usher.port), "the listener is closed")
    threading.Event().wait(0.3)
    assert len(client.read_body(head)) == 200_000
    client.close()
    assert usher.process.wait(10) == 0


def test_an_unread_log_does_not_hold_up_the_end(binary, write_config, origin, tmp_path):
    server = origin()
    path = write_config({"workers": 1, "admin": {"socket": str(tmp_path / "admin.sock")}})
    process = subprocess.Popen(
        [binary, "serve", "--config", path, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    port = int(process.stderr.readline().rsplit(b":", 1)[1])
    with Connection(("127.0.0.1", port)) as client:
        for _ in range(1000):
            client.exchange(request("GET", f"{server.url}/"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(8) == 0
    process.stdout.close()
    process.stderr.close()


def test_a_busy_connection_takes_up_a_new_configuration(start, origin):
    rule = {"name": "mark", "response": [{"set_header": {"X-Mark": "new"}}]}
    usher = start({"workers": 1})
    asked, go = threading.Event(), threading.Event()

    def serve(connection):
        while True:
            seen = connection.read_request()
            if "slow" in seen.target:
                asked.set()
                go.wait(10)
            connection.send(response(body=b"ok"))

    server = origin(Origin(serve))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/slow"))
        assert asked.wait(10)
        usher.config.write_text(json.dumps({"version": 1, "workers": 1, "interceptors": [rule]}))
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: [e for e in usher.errors if "in force" in e], "the reload")
        go.set()
        assert client.read_response().get("x-mark") is None
        assert client.exchange(request("GET", f"{server.url}/")).get("x-mark") == "new"
