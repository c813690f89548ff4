"""As a service: readiness, sockets handed over, reload."""

import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile

import pytest

import people
import programs
import wire
from wire import Connection, request, response

MARK = "version: 1\ninterceptors:\n  - name: mark\n    request: [{{ set_header: {{ X-Mark: {value} }} }}]\n"


@pytest.mark.parametrize("abstract", [False, True], ids=["path", "abstract"])
def test_readiness_is_told_to_the_service_manager(binary, write_config, tmp_path, abstract):
    name = f"usher-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name if abstract else name)
        manager.settimeout(wire.TIMEOUT)
        usher = programs.Usher(
            binary, write_config("version: 1\n"), environment={"NOTIFY_SOCKET": "@" + name if abstract else name})
        assert b"READY=1" in manager.recv(4096)
        assert usher.stop() == 0
        assert b"STOPPING=1" in manager.recv(4096)


def test_the_service_manager_is_told_what_became_of_a_reload(binary, write_config, tmp_path):
    """`systemctl status` shows it: a file that was not taken is not forgotten with the journal."""
    config = write_config("version: 1\nworkers: 1\n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(wire.TIMEOUT)
        usher = programs.Usher(binary, config, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert manager.recv(4096) == b"READY=1\nSTATUS=serving with 1 worker by generation 1"
        for text, told in (
                ("version: 1\nworkers: 1\nnonsense: 1\n",
                 b"by generation 1; the configuration was not reloaded; generation 1 stays in use"),
                ("version: 1\nworkers: 1\n", b"by generation 2")):
            config.write_text(text)
            usher.process.send_signal(signal.SIGHUP)
            assert manager.recv(4096).startswith(b"RELOADING=1\n")
            assert manager.recv(4096) == b"READY=1\nSTATUS=serving with 1 worker " + told
        assert usher.stop() == 0


def test_a_service_manager_that_does_not_read_holds_nobody_up(binary, write_config, state, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(wire.TIMEOUT)
        usher = programs.Usher(
            binary, write_config("version: 1\nworkers: 1\n"), state=state, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        person = people.Person(binary, state)
        for count in range(20):
            assert person.says("reload").returncode == 0, count
        # the last word is heard once there is room
        programs.eventually(lambda: manager.recv(4096).endswith(b" by generation 21"), "the last of its words")
        assert usher.stop() == 0


def hand_over(binary, config, name="", **environment):
    """Starts the program as a socket unit does, with one listener.

    Returns the process and the listener's port; connections wait in its queue until the program is ready.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # descriptors begin at 3, and the process that gets them is named by its id
        script = f'exec 3<&"$1"; shift; LISTEN_FDS=1 LISTEN_FDNAMES={name} LISTEN_PID=$$ exec "$@"'
        child = subprocess.Popen(
            ["bash", "-c", script, "hand-over", str(listener.fileno()), binary, "serve", "--config", str(config)],
            pass_fds=[listener.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment})
        return child, listener.getsockname()[1]


def end(child):
    """Ends the program in good order. Returns what it said."""
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=wire.TIMEOUT)
    assert child.returncode == 0, errors
    return errors


def test_sockets_handed_over_are_served(binary, write_config, origin):
    server = origin()
    child, port = hand_over(binary, write_config("version: 1\nworkers: 2\n"))
    with Connection(("127.0.0.1", port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    assert str(port) in end(child)


def test_a_socket_with_a_name_speaks_tls(binary, write_config, origin, tmp_path):
    server = origin()
    child, port = hand_over(
        binary, write_config("version: 1\nworkers: 2\n"), name="https", STATE_DIRECTORY=str(tmp_path))
    raw = socket.create_connection(("127.0.0.1", port), wire.TIMEOUT)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(raw, server_hostname="localhost") as client:
        client.sendall(request("GET", f"{server.url}/"))
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert (tmp_path / "ca.pem").exists()
    end(child)


def test_a_reload_changes_what_follows(start, origin):
    server = origin()
    usher = start(MARK.format(value="old"))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/"))
        usher.config.write_text(MARK.format(value="new"))
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: [line for line in usher.errors if "generation 2" in line], "the new generation")
        # on a connection that stays, the next exchange has the new rules
        programs.eventually(
            lambda: client.exchange(request("GET", f"{server.url}/")).status == 200
            and server.requests[-1].get("x-mark") == "new", "the new rules apply")
    assert server.requests[0].get("x-mark") == "old"


def test_a_reload_of_a_faulty_file_changes_nothing(start, origin):
    server = origin()
    usher = start(MARK.format(value="old"))
    usher.config.write_text(MARK.format(value="new") + "nonsense: 1\n")
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: [line for line in usher.errors if "generation 1 stays" in line], "the old generation stays")
    assert any("usher-0.yaml:5:1" in line for line in usher.errors)
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/"))
    assert server.requests[0].get("x-mark") == "old"


def test_exchanges_under_way_end_before_the_program_does(binary, write_config, origin):
    usher = programs.Usher(binary, write_config("version: 1\n"))

    def answer(_):
        usher.process.send_signal(signal.SIGTERM)
        # no new clients from now on; this one is served to the end
        programs.eventually(lambda: not listens(usher.port), "the listener closes")
        return response(body=b"to the end")

    server = origin(answer)
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).body == b"to the end"
    assert usher.process.wait(wire.TIMEOUT) == 0
    assert usher.stop() == 0


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def test_its_memory_is_its_own(binary):
    """What may not be traced belongs to root, whoever runs it."""
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        config = pathlib.Path(folder, "usher.yaml")
        config.write_text("version: 1\nworkers: 1\n")
        command = [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"]
        try:
            program = programs.Program(command, {"USHER_TRACEABLE": "", "STATE_DIRECTORY": folder}, user=user)
        except PermissionError:
            pytest.skip("nobody may run the program where it is")
        program.ports("usher", 1)
        owner = os.stat(f"/proc/{program.process.pid}/fd").st_uid
        assert program.stop() == 0
    assert owner == 0


def test_where_nothing_can_be_kept_it_is_said_and_the_service_goes_on(binary, write_config, origin, tmp_path):
    server = origin()
    (tmp_path / "state").write_text("no folder")
    usher = programs.Usher(binary, write_config({"workers": 1}), state=tmp_path / "state")
    usher.wait_for(lambda: [line for line in usher.errors if "there is no control socket" in line], "the word")
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    assert usher.stop() == 0


def test_two_cannot_have_one_port(start, binary, write_config):
    first = start({"workers": 2})
    for workers in (1, 2):
        config = write_config({"workers": workers, "listen": [f"127.0.0.1:{first.port}"]}, "second.yaml")
        done = subprocess.run(
            [binary, "serve", "--config", config], capture_output=True, text=True, timeout=60,
            env={**os.environ, "XDG_RUNTIME_DIR": "", "STATE_DIRECTORY": str(config.parent / "other")})
        assert done.returncode == 1 and "another program uses that port: stop it, or choose another" in done.stderr, done
