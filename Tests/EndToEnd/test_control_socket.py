"""The control socket: whose it is, who may ask, and what it does with whoever is no friend."""

import grp
import os
import pathlib
import resource
import select
import signal
import socket
import stat
import subprocess
import tempfile

import pytest

import people
import programs


@pytest.fixture
def daemon(start, binary, state):
    usher = start({}, state=state, environment={"XDG_RUNTIME_DIR": ""})
    return usher, people.Person(binary, state)


def serve(binary, write_config, state, config=None, name="second.yaml"):
    return programs.Usher(
        binary, write_config(config or {}, name), state=state, environment={"XDG_RUNTIME_DIR": ""})


def test_nothing_waits(daemon):
    _, person = daemon
    assert person.says("transactions").stdout == "no step-up waits for a person\n"
    assert person.says("lockout").stdout == "no login has a count\n"
    assert person.says("deny", "abcdef").returncode == 1


def test_whoever_asks_is_answered_though_clients_took_all_descriptors(daemon):
    usher, person = daemon
    limit = usher.descriptors() + 10
    resource.prlimit(usher.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    clients = [socket.create_connection(("127.0.0.1", usher.port)) for _ in range(40)]
    usher.wait_for(lambda: any("could not be accepted" in line for line in usher.lines + usher.errors), "the word")
    # more often than descriptors are kept for it
    for _ in range(8):
        assert person.asks("GET", "/v1/status")[0].status == 200
    for client in clients:
        client.close()


def test_what_somebody_gave_up_is_not_done(daemon):
    usher, person = daemon
    order = b"POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    usher.process.send_signal(signal.SIGSTOP)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(person.socket))
            client.sendall(order)
    finally:
        usher.process.send_signal(signal.SIGCONT)
    # this one came after it
    assert person.asks("GET", "/v1/status")[1]["configuration"]["generation"] == 1
    # who ends his side alone waits for the answer
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(person.socket))
        client.sendall(order)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100).startswith(b"HTTP/1.1 202")


def test_an_end_while_the_configuration_is_read_is_a_clean_one(binary, write_config, state):
    for attempt in range(12):
        usher = serve(binary, write_config, state)
        person = people.Person(binary, state)
        assert person.asks("POST", "/v1/reload")[0].status == 202
        # at another moment of the reading each time
        for _ in range(attempt):
            person.asks("GET", "/v1/status")
        assert usher.stop() == 0


def test_without_a_daemon_it_is_said(binary, state):
    person = people.Person(binary, state)
    for command in (["transactions"], ["answer", "abcdef", "x"], ["deny", "abcdef"], ["lockout"], ["lockout", "clear"]):
        done = person.says(*command)
        assert done.returncode == 1 and f"no daemon responds at {state}/admin.sock" in done.stderr, done
    other = person.says("transactions", "--socket", state / "other.sock")
    assert other.returncode == 1 and "other.sock" in other.stderr
    assert person.says("transactions", "extra").returncode == 2


def test_a_dead_daemons_file_is_replaced(binary, write_config, state):
    first = serve(binary, write_config, state)
    person = people.Person(binary, state)
    assert person.waiting() == []
    first.process.kill()
    first.process.wait()
    assert stat.S_ISSOCK(os.stat(person.socket).st_mode)
    second = serve(binary, write_config, state)
    assert person.waiting() == []
    assert second.stop() == 0
    assert not person.socket.exists()


def test_a_living_daemons_is_left_alone(daemon, binary, write_config, state):
    _, person = daemon
    beside = serve(binary, write_config, state)
    beside.wait_for(lambda: any("another usher is running" in line for line in beside.errors), "the word")
    assert beside.stop() == 0
    assert person.waiting() == [], "the first one's is still there"
    # where somebody named it, the daemon does not go without
    named = person.says(
        "serve", "--listen", "127.0.0.1:0", "--config",
        write_config({"admin": {"socket": str(person.socket)}}, "named.yaml"))
    assert named.returncode == 1 and "another usher is running" in named.stderr and "admin.socket" in named.stderr


def test_what_is_no_socket_is_left_alone(binary, write_config, state):
    state.mkdir(mode=0o700)
    (state / "admin.sock").write_text("mine")
    usher = serve(binary, write_config, state)
    usher.wait_for(lambda: any("is not a socket" in line for line in usher.errors), "the word")
    assert usher.stop() == 0
    assert (state / "admin.sock").read_text() == "mine"


def test_a_name_of_ones_own(binary, write_config, state, tmp_path):
    # longer than the kernel takes
    folder = tmp_path / ("d" * 60) / ("e" * 60)
    folder.mkdir(parents=True)
    config = {"admin": {"socket": str(folder / "own.sock")}}
    usher = serve(binary, write_config, state, config)
    person = people.Person(binary, state)
    path = write_config(config, "second.yaml")
    assert person.says("transactions", "--config", path).returncode == 0
    assert person.says("transactions", "--socket", folder / "own.sock").returncode == 0
    assert person.says("transactions", USHER_SOCKET=str(folder / "own.sock")).returncode == 0
    assert usher.stop() == 0
    assert not list(pathlib.Path(folder).iterdir())


def test_the_runtime_directory_comes_first(binary, write_config, state, tmp_path):
    runtime = tmp_path / "run"
    usher = programs.Usher(binary, write_config({}), state=state, environment={"RUNTIME_DIRECTORY": str(runtime)})
    assert (runtime / "admin.sock").is_socket() and not (state / "admin.sock").exists()
    person = people.Person(binary, state)
    assert person.says("transactions", RUNTIME_DIRECTORY=str(runtime)).returncode == 0
    assert usher.stop() == 0


def test_who_may_ask(daemon):
    _, person = daemon
    assert person.asks("GET", "/v1/transactions", Host="localhost:80")[0].status == 200
    for headers, status in (
            ({"Host": "attacker.test"}, 421), ({"Origin": "http://localhost"}, 403), ({"Sec-Fetch-Site": "none"}, 403)):
        answer, problem = person.asks("GET", "/v1/transactions", **headers)
        assert answer.status == problem["status"] == status
        assert answer.headers["Content-Type"] == "application/problem+json"
    for path in ("/v1/transactions/abcdef/answer", "/v1/transactions/abcdef/deny", "/v1/lockout/00000000"):
        answer, _ = person.asks("GET", path)
        assert answer.status == 405 and "GET" not in answer.headers["Allow"]
    assert person.asks("GET", "/nothing")[0].status == 404
    assert person.asks("POST", "/v1/transactions/abcdef/answer", {"x": "y" * 1_100_000})[0].status == 413


def test_the_proxys_port_does_not_lead_there(daemon, through):
    usher, _ = daemon
    client = through(usher)
    assert client.get("http://usher.proxy/v1/transactions", timeout=15).status_code == 404
    own = client.get(f"http://127.0.0.1:{usher.port}/v1/transactions", timeout=15)
    assert "transactions" not in own.text and own.status_code in (403, 502, 508)


def test_whoever_does_not_finish_is_not_waited_for(daemon):
    _, person = daemon
    slow = socket.socket(socket.AF_UNIX)
    slow.settimeout(30)
    slow.connect(str(person.socket))
    slow.sendall(b"POST /v1/transactions/abcdef/deny HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{")
    silent = socket.socket(socket.AF_UNIX)
    silent.settimeout(30)
    silent.connect(str(person.socket))
    said = b""
    while piece := slow.recv(4096):
        said += piece
    assert said.startswith(b"HTTP/1.1 408 ")
    assert silent.recv(1) == b""
    slow.close()
    silent.close()


def test_a_crowd_waits_for_its_turn(daemon):
    _, person = daemon
    idle = []
    for _ in range(40):
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(person.socket))
        idle.append(one)
    late = socket.socket(socket.AF_UNIX)
    late.settimeout(30)
    late.connect(str(person.socket))
    late.sendall(b"GET /v1/lockout HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    for one in idle:
        one.close()
    assert late.recv(100).startswith(b"HTTP/1.1 200 OK")
    late.close()


def test_a_request_in_pieces_and_several_on_one_connection(daemon):
    _, person = daemon
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(30)
    one.connect(str(person.socket))
    request = b"GET /v1/lockout HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for byte in request + request:
        one.send(bytes([byte]))
    said = b""
    while said.count(b'{"logins":[]}') < 2:
        piece = one.recv(4096)
        assert piece, said
        said += piece
    one.close()


def test_whoever_reads_nothing_is_read_no_further(daemon):
    _, person = daemon
    one = socket.socket(socket.AF_UNIX)
    one.connect(str(person.socket))
    one.setblocking(False)
    request = b"GET /v1/lockout HTTP/1.1\r\nHost: localhost\r\n\r\n"
    sent = 0
    while select.select([], [one], [], 2)[1]:
        # whole requests follow one another, wherever the kernel has cut them
        text = request * 64
        sent += one.send(text[sent % len(request):])
        assert sent < 2 << 20, "it is taken, and kept"
    # others are answered, and so is all that was taken
    assert person.waiting() == []
    one.setblocking(True)
    one.settimeout(30)
    count = sent // len(request)
    said = b""
    while said.count(b'{"logins":[]}') < count:
        piece = one.recv(65536)
        assert piece, said[-300:]
        said += piece
    one.close()


# whose it is


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may be several users")


@pytest.fixture
def shared():
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="usher-") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@ROOT
def test_the_group_of_the_socket(binary, write_config, state, shared):
    """Who is in it may ask, whoever is not is told of it."""
    folder = shared / "run"
    folder.mkdir(mode=0o755)
    usher = serve(binary, write_config, state, {
        "admin": {"socket": str(folder / "admin.sock"), "group": "games"}})
    group = grp.getgrnam("games").gr_gid
    path = folder / "admin.sock"
    assert (path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (group, 0o660)

    def status(groups):
        return subprocess.run(
            [binary, "status", "--socket", path], capture_output=True, text=True, timeout=30, user=65534, group=65534,
            extra_groups=groups, env={"USER": "operator"})

    assert status([group]).returncode == 0
    done = status([])
    assert done.returncode == 1 and "its group is games: sudo adduser operator games, and log in again" in done.stderr
    assert usher.stop() == 0


@ROOT
def test_a_group_that_cannot_come_to_it(binary, write_config, state):
    usher = serve(binary, write_config, state, {"admin": {"group": "games"}})
    assert any("members of the group games cannot enter" in line for line in usher.errors)
    assert usher.stop() == 0


def test_a_group_that_is_none(call, write_config):
    done = call("serve", "--config", write_config({"admin": {"group": "no-such-group"}}), "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "there is no group no-such-group; create it: addgroup --system no-such-group" in done.stderr


@ROOT
def test_a_group_that_the_daemon_is_not_in(binary, shared):
    state = shared / "own"
    state.mkdir()
    os.chown(state, 65534, 65534)
    (shared / "usher.yaml").write_text("version: 1\nadmin: { group: games }\n")
    done = subprocess.run(
        [binary, "serve", "--config", shared / "usher.yaml", "--listen", "127.0.0.1:0"],
        capture_output=True, text=True, timeout=30, user=65534, group=65534, extra_groups=[],
        env={"STATE_DIRECTORY": str(state)})
    assert done.returncode == 1 and "SupplementaryGroups=games" in done.stderr, done.stderr
    assert not list(state.glob("*.sock"))
