"""`usher upgrade`: another process takes over, and nobody is refused."""

import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import threading

import pytest

import people
import programs
import wire
from wire import Connection, request, response


def ended(pid):
    """Whether a process that is no child of this one has ended; one that nobody waits for counts."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def serve(binary, write_config, state):
    """Starts a daemon; whoever is its last successor is ended with the test, in order."""
    person = people.Person(binary, state)
    running = []

    def run(config=None, **options):
        running.append(programs.Usher(binary, write_config(config or {"workers": 2}), state=state, **options))
        return running[-1], person

    yield run
    for usher in running:
        if usher.process.poll() is None:
            usher.stop()
    answer = pathlib.Path(person.socket)
    if answer.exists():
        pid = person.asks("GET", "/v1/status")[1]["pid"]
        os.kill(pid, signal.SIGTERM)
        programs.eventually(lambda: ended(pid), "the end of the last process")
    assert not answer.exists()


def test_another_process_takes_over(serve, origin):
    usher, person = serve()
    server = origin()
    done = person.says("upgrade", "--json")
    assert done.returncode == 0, done
    state = json.loads(done.stdout)
    assert state["done"] is True and state["from"] == usher.process.pid != state["pid"]
    assert usher.process.wait(wire.TIMEOUT) == 0
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    status = person.asks("GET", "/v1/status")[1]
    assert status["pid"] == state["pid"] and status["listening"] == [f"127.0.0.1:{usher.port}"]
    # and once more: the new one can do what the old one could
    again = person.says("upgrade")
    assert again.returncode == 0 and f"process {state['pid']} finishes its exchanges" in again.stdout, again
    programs.eventually(lambda: ended(state["pid"]), "the end of the second process")
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    assert stat.S_ISSOCK(os.stat(person.socket).st_mode)
    assert [name for name in os.listdir(person.socket.parent) if "sock" in name] == ["admin.sock"]


def test_another_program_in_its_place_is_started(binary, write_config, state, tmp_path):
    program = tmp_path / "usher"
    shutil.copy2(binary, program)
    usher = programs.Usher(str(program), write_config({"workers": 1}), state=state)
    person = people.Person(binary, state)
    # as a package manager does it
    shutil.copy2(binary, tmp_path / "new")
    os.rename(tmp_path / "new", program)
    done = person.says("upgrade")
    assert done.returncode == 0, done
    assert usher.process.wait(wire.TIMEOUT) == 0
    assert not any("Optional" in line for line in usher.errors)
    pid = person.asks("GET", "/v1/status")[1]["pid"]
    os.kill(pid, signal.SIGTERM)
    programs.eventually(lambda: ended(pid), "the end of the other process")


def successor(pid):
    """The process that is to take its place, once it runs its own program: until then the old one waits for it."""
    def found():
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split():
                if b"USHER_HANDOVER=" in pathlib.Path(f"/proc/{child}/environ").read_bytes():
                    return int(child)
        return None

    return programs.eventually(found, "another process")


def test_a_successor_that_is_ended_is_told_of(serve):
    usher, person = serve()
    upgrade = programs.Program([person.binary, "upgrade"], {**person.environment})
    os.kill(successor(usher.process.pid), signal.SIGKILL)
    assert upgrade.process.wait(wire.TIMEOUT) == 1
    upgrade.wait_for(lambda: any("was ended by signal 9" in line for line in upgrade.errors), "why it failed")


def test_nothing_is_reloaded_while_nobody_knows_by_whom(binary, write_config, state):
    # one that takes a while to read
    rules = [{"name": f"r{number}", "when": {"path": f"/x{number}/*"}, "response": [{"set_header": {"X-A": "1"}}]} for number in range(1000)]
    config = write_config({"workers": 1, "limits": {"connections": 1011}, "interceptors": rules})
    old = config.read_text(encoding="utf-8")
    usher = programs.Usher(binary, config, state=state)
    person = people.Person(binary, state)
    upgrade = programs.Program([person.binary, "upgrade"], {**person.environment})
    new = successor(usher.process.pid)
    os.kill(new, signal.SIGSTOP)
    try:
        status, said = person.asks("POST", "/v1/reload")
        assert status.status == 409 and "upgrade is under way" in said["detail"]
        aside = config.with_suffix(".new")
        aside.write_text(old.replace("1011", "2022"), encoding="utf-8")
        os.rename(aside, config)
        usher.process.send_signal(signal.SIGHUP)
        assert person.asks("GET", "/v1/upgrade")[1]["state"] == "running"
    finally:
        os.kill(new, signal.SIGCONT)
    assert upgrade.process.wait(wire.TIMEOUT) == 0, upgrade.errors
    programs.eventually(
        lambda: person.asks("GET", "/v1/status")[1]["connections"]["most"] == 2022, "what was to be reloaded is in force")
    pid = person.asks("GET", "/v1/status")[1]["pid"]
    assert usher.process.wait(wire.TIMEOUT) == 0
    os.kill(pid, signal.SIGTERM)
    programs.eventually(lambda: ended(pid), "the end of the other process")


def test_the_command_ends_with_the_daemon(serve):
    usher, person = serve()
    upgrade = programs.Program([person.binary, "upgrade"], {**person.environment})
    new = successor(usher.process.pid)
    os.kill(new, signal.SIGSTOP)
    assert person.asks("GET", "/v1/upgrade")[1]["state"] == "running"
    usher.process.kill()
    os.kill(new, signal.SIGKILL)
    usher.process.wait()
    assert upgrade.process.wait(wire.TIMEOUT) == 1
    upgrade.wait_for(lambda: any("the daemon has stopped" in line for line in upgrade.errors), "that nobody is there")
    os.unlink(person.socket)


def test_no_connection_is_refused(serve, origin):
    usher, person = serve()
    server = origin(lambda _: response(body=b"good"))
    over, failures, count = threading.Event(), [], [0]

    def ask():
        while not over.is_set():
            try:
                with Connection(("127.0.0.1", usher.port)) as client:
                    if client.exchange(request("GET", f"{server.url}/", [("Connection", "close")])).body != b"good":
                        failures.append("another body")
                count[0] += 1
            except (OSError, EOFError) as failure:
                failures.append(failure)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(3):
            before = count[0]
            programs.eventually(lambda: count[0] > before + 50, "requests beside it")
            done = person.says("upgrade")
            assert done.returncode == 0, done
        before = count[0]
        programs.eventually(lambda: count[0] > before + 50, "requests behind it")
    finally:
        over.set()
        for asker in askers:
            asker.join(wire.TIMEOUT)
    assert failures == []


def test_what_is_under_way_ends_in_the_old_process(serve, origin):
    usher, person = serve()
    go = threading.Event()

    def answer(_):
        assert go.wait(wire.TIMEOUT)
        return response(body=b"to the end")

    server = origin(answer)
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/"))
        programs.eventually(lambda: server.requests, "the request at the origin")
        assert person.says("upgrade").returncode == 0
        # the old one is spoken to by another name until it is gone
        aside = f"{person.socket}-{usher.process.pid}"
        status = json.loads(person.says("status", "--json", "--socket", aside).stdout)
        assert status["pid"] == usher.process.pid and status["state"] == "draining"
        assert usher.process.poll() is None
        go.set()
        assert client.read_response().body == b"to the end"
    assert usher.process.wait(wire.TIMEOUT) == 0
    assert not os.path.exists(aside)


def test_where_the_new_one_cannot_serve_the_old_one_goes_on(serve, origin):
    usher, person = serve()
    server = origin()
    good = usher.config.read_text()
    usher.config.write_text(good[:-1] + ', "nonsense": 1}')
    done = person.says("upgrade")
    assert done.returncode == 1 and "nonsense" in done.stderr and f"process {usher.process.pid} continues" in done.stderr, done
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    status = person.asks("GET", "/v1/status")[1]
    assert status["pid"] == usher.process.pid and any("nonsense" in fault["text"] for fault in status["faults"])
    usher.config.write_text(good)
    assert person.says("upgrade").returncode == 0


def test_a_port_that_is_taken_is_told_and_nothing_lost(serve, origin):
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        usher, person = serve({"workers": 1, "listen": [f"127.0.0.1:{port}"]}, listen=())
        programs.eventually(lambda: usher.ports("usher", 1), "the listener")
        taken = other.getsockname()[1]
        usher.config.write_text(json.dumps({"version": 1, "listen": [f"127.0.0.1:{port}", f"127.0.0.1:{taken}"]}))
        done = person.says("upgrade", "--socket", person.socket)
        assert done.returncode == 1 and "another program uses that port" in done.stderr, done
    # what needs a start, an upgrade is one: a further port, and other workers
    usher.config.write_text(
        json.dumps({"version": 1, "workers": 3, "listen": [f"127.0.0.1:{port}", f"127.0.0.1:{taken}"]}))
    assert person.says("upgrade").returncode == 0
    status = person.asks("GET", "/v1/status")[1]
    assert status["listening"] == [f"127.0.0.1:{port}", f"127.0.0.1:{taken}"] and len(status["workers"]) == 3
    server = origin()
    for one in (port, taken):
        with Connection(("127.0.0.1", one)) as client:
            assert client.exchange(request("GET", f"{server.url}/")).status == 200


def test_the_service_manager_is_told_of_the_new_process(serve, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(wire.TIMEOUT)
        usher, person = serve(environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert manager.recv(4096).startswith(b"READY=1")
        assert person.says("upgrade").returncode == 0
        pid = person.asks("GET", "/v1/status")[1]["pid"]
        said = []
        programs.eventually(lambda: said.append(manager.recv(4096)) or f"MAINPID={pid}\nREADY=1".encode() in said, "the new process's id")
        # the end of the old one is not the end of the service
        assert usher.process.wait(wire.TIMEOUT) == 0
        assert not any(b"STOPPING" in word for word in said)
