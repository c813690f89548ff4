"""`usher run -- COMMAND`: a proxy for one command."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import inside
import origins
import programs
import shop
import test_inbound
from wire import response

CLIENTS = pathlib.Path(__file__).parent / "clients"


@pytest.fixture
def running(binary, state):
    """Starts `usher run` and does not wait for it."""
    started = []

    def run(*arguments, **options):
        environment = {**os.environ, "STATE_DIRECTORY": str(state)}
        child = subprocess.Popen(
            [binary, "run", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment, **options)
        started.append(child)
        return child

    yield run
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.mark.parametrize("status", [0, 1, 3, 77, 255])
def test_the_status_is_the_commands(call, status):
    assert call("run", "--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_command_that_is_killed(call, number):
    assert call("run", "--", "sh", "-c", f"kill -{int(number)} $$").returncode == 128 + number


def test_its_traffic_goes_through(call, origin, tmp_path):
    server = origin(lambda seen: response(body=b"from the origin"))
    log = tmp_path / "access.log"
    done = call("run", "--log", log, "--", "curl", "-sS", f"{server.url}/x")
    assert (done.returncode, done.stdout) == (0, "from the origin"), done.stderr
    assert "usher" in server.requests[0].get("via")
    access = [json.loads(line) for line in log.read_text().splitlines()][-1]
    assert access["url"] == f"{server.url}/x" and access["status"] == 200


def test_many_programs_find_it(call, origin):
    server = origin(lambda seen: response(body=b"ok"))
    script = f"import requests; print(requests.get('{server.url}/requests').text)"
    assert call("run", "--", sys.executable, "-c", script).stdout == "ok\n"
    script = f"import urllib.request as u; print(u.urlopen('{server.url}/urllib').read().decode())"
    assert call("run", "--", sys.executable, "-c", script).stdout == "ok\n"
    assert all(seen.get("via") for seen in server.requests) and len(server.requests) == 2


def test_opened_tls_is_trusted(call, write_config, secure_origin, certificates, tmp_path):
    """Every kind of program believes the proxy, and what is not opened is still believed by its own root."""
    server = secure_origin(origins.Answering, lambda seen: response(body=b"inside"))
    url = f"https://{server.authority}/x"
    log = tmp_path / "access.log"
    config = write_config(inside.config(certificates))
    commands = [
        ["curl", "-sS", url], [sys.executable, "-c", f"import requests; print(requests.get('{url}').text)"],
        [sys.executable, "-c", f"import urllib.request as u; print(u.urlopen('{url}').read().decode())"],
    ]
    if shutil.which("java"):
        commands.append(["java", str(CLIENTS / "Fetch.java"), url])
    for command in commands:
        done = call("run", "--config", config, "--log", log, "--", *command)
        assert done.stdout.strip() == "inside", done.stderr
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert [r["status"] for r in seen if r.get("url") == url] == [200] * len(commands)
    unopened = write_config({"tls": {"upstream": {"extra_trust": [str(certificates.trust)]}}}, "unopened.yaml")
    assert call("run", "--config", unopened, "--", "curl", "-sS", url).stdout == "inside"


def test_input_and_output_are_the_commands_own(call):
    done = call("run", "--", "cat", given="through\n")
    assert (done.stdout, done.returncode) == ("through\n", 0)
    done = call("run", "--quiet", "--", "sh", "-c", "echo out; echo err >&2")
    assert done.stdout == "out\n"
    # the second run has a CA already, and nothing to say
    assert done.stderr == "err\n"


def test_what_the_command_inherits(call):
    """No signal ignored or blocked, no limit raised, and no descriptor of the proxy."""
    script = "grep -E 'SigBlk|SigIgn' /proc/self/status; ulimit -n; ls /proc/self/fd"

    def told(output):
        words = output.split()
        # what lies above are the C library's own, which it has ignored in whatever it starts
        return [int(words[1], 16), int(words[3], 16) & 0x7FFFFFFF, *words[4:]]

    ours = subprocess.run(["sh", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    done = call("run", "--", "sh", "-c", script, given="")
    assert told(done.stdout) == told(ours.stdout)


def test_variables(call, state):
    done = call("run", "--", "sh", "-c", "env", NO_PROXY="example.com", MINE="kept")
    variables = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", variables["HTTPS_PROXY"])
    assert variables["https_proxy"] == variables["HTTPS_PROXY"]
    assert variables["NO_PROXY"] == "" and variables["MINE"] == "kept"
    assert variables["SSL_CERT_FILE"] == str(next(state.glob("ca-bundle-*.pem")))


ROBOT = """version: 1
am: [{ url: http://am.example.com/am }]
authorization:
  am: http://am.example.com/am
  resources: ["http://shop.example.com/api/*"]
  answers:
    - { callback: NameCallback, value: "${env.ROBOT_USER}" }
    - { callback: PasswordCallback, value: "${env.ROBOT_PASSWORD}${credential.suffix}" }
interceptors:
  - { name: home, request: [{ set_header: { X-Home: "${env.HOME}" } }] }
"""


@pytest.fixture
def robot(write_config, tmp_path):
    """A configuration with a robot's password, and the environment that it reads."""
    (tmp_path / "suffix").write_text("-suffix")
    variables = {
        "ROBOT_USER": "robot", "ROBOT_PASSWORD": "pass-phrase", "CREDENTIALS_DIRECTORY": str(tmp_path), "MINE": "kept"}
    return write_config(ROBOT), variables


@pytest.mark.parametrize("passing, gets", [
    ([], set()), (["ROBOT_USER"], {"ROBOT_USER"}), (["ROBOT_USER", "ROBOT_PASSWORD"], {"ROBOT_USER", "ROBOT_PASSWORD"})],
    ids=["none", "one", "two"])
def test_a_command_does_not_get_the_robots_password(call, robot, passing, gets):
    config, variables = robot
    named = [word for name in passing for word in ("--pass-env", name)]
    done = call("run", "--config", config, *named, "--", "env", **variables)
    assert done.returncode == 0, done.stderr
    names = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    secrets = {"ROBOT_USER", "ROBOT_PASSWORD", "CREDENTIALS_DIRECTORY"}
    assert names.keys() & secrets == gets
    assert names["MINE"] == "kept" and names["HOME"] and names["PATH"]
    assert ("pass-phrase" in done.stdout) == ("ROBOT_PASSWORD" in gets)


def test_doctors_command_does_not_get_it_either(call, robot):
    config, variables = robot
    script = 'echo "pass=$ROBOT_PASSWORD user=$ROBOT_USER"'
    done = call("doctor", "--config", config, "--pass-env", "ROBOT_USER", "--", "sh", "-c", script, **variables)
    assert "pass= user=robot\n" in done.stdout
    assert "did not get the variables that the configuration reads: CREDENTIALS_DIRECTORY, ROBOT_PASSWORD" in done.stdout
    assert "pass-phrase" not in done.stdout


@pytest.mark.parametrize("name", ["", "A=b"])
def test_a_variable_is_passed_by_its_name(call, name):
    done = call("run", "--pass-env", name, "--", "true")
    assert done.returncode == 2 and "--pass-env" in done.stderr


def test_arguments_stay_as_they_are(call):
    done = call("run", "--", "printf", "%s\n", "--config", "a b", "", "--", "'\"$x")
    assert done.stdout == "--config\na b\n\n--\n'\"$x\n"


@pytest.mark.parametrize("command, status, words", [
    (["no-such-command-here"], 127, "command not found in PATH"), (["/no/such/file"], 127, "No such file"),
    (["/etc/passwd"], 126, "Permission denied"), (["/"], 126, "denied"),
])
def test_what_cannot_be_run(call, command, status, words):
    done = call("ca", "show")
    done = call("run", "--", *command)
    assert done.returncode == status
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_faulty_configuration(call, write_config):
    done = call("run", "--config", write_config("version: 1\nnope: 1\n"), "--", "echo", "ran")
    assert done.returncode == 1 and "nope" in done.stderr and not done.stdout


def test_a_log_that_cannot_be_written(call, tmp_path):
    done = call("run", "--log", tmp_path / "no" / "log", "--", "echo", "ran")
    assert done.returncode == 1 and not done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on(running, number):
    script = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n")
    child = running("--", sys.executable, "-c", script)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(number)
    assert child.wait(programs.DEADLINE) == 42


def test_two_at_once_do_not_meet(running):
    children = [running("--", "sh", "-c", "echo $HTTP_PROXY; read line") for _ in range(2)]
    proxies = {child.stdout.readline() for child in children}
    assert len(proxies) == 2


def test_open_tunnels_do_not_hold_up_the_end(call, origin, tmp_path):
    """The command leaves a child behind that keeps its connection."""
    server = origin(lambda seen: response(body=b"x"))
    script = (
        "import os, socket, sys\n"
        "proxy = os.environ['http_proxy'].removeprefix('http://').split(':')\n"
        "s = socket.create_connection((proxy[0], int(proxy[1])))\n"
        f"s.sendall(b'CONNECT {server.authority} HTTP/1.1\\r\\nHost: {server.authority}\\r\\n\\r\\n')\n"
        "assert b' 200 ' in s.recv(1000)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for fd in (0, 1, 2): os.close(fd)\n"
        "    s.recv(1)\n"
        "    os._exit(0)\n")
    assert call("run", "--", sys.executable, "-c", script).returncode == 0


def test_the_configurations_listeners_and_passwords_are_not_for_it(call, write_config, origin, tmp_path):
    server = origin(lambda seen: response(body=b"ok"))
    users = tmp_path / "users"
    users.write_text(f"{test_inbound.ALICE}\n")
    users.chmod(0o600)
    config = write_config({
        "listen": ["192.0.2.1:1"], "clients": {"allow": ["192.0.2.0/24"], "basic": {"users": f"${{file:{users}}}"}}})
    done = call("run", "--config", config, "--", "curl", "-sS", server.url)
    assert done.stdout == "ok", done.stderr


# what is told of the traffic


def test_a_line_at_the_end(call, origin):
    server = origin(lambda seen: response(body=b"ok"))
    call("ca", "show")
    script = f"curl -sS {server.url}/a {server.url}/b; curl -sS http://127.0.0.1:1/; exit 3"
    done = call("run", "--", "sh", "-c", script)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "usher: 3 requests, 1 fault"
    done = call("run", "--", "sh", "-c", f"curl -sS {server.url}/a")
    assert (done.stdout, done.stderr) == ("ok", "usher: 1 request\n")
    done = call("run", "--quiet", "--", "sh", "-c", f"curl -sS {server.url}/a")
    assert (done.stdout, done.stderr) == ("ok", "")


def test_step_ups_are_counted(call, write_config, sandbox):
    session = shop.login(sandbox)
    answers = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}]
    for given, words in ((answers, "usher: 2 requests, 2 step-ups"), ([], "usher: 2 requests, 2 step-ups (2 failed)")):
        config = write_config(shop.config(sandbox, answers=given))
        url = f"{sandbox.shop}/pay"
        done = call("run", "--config", config, "--", "curl", "-sS", "-b", f"{shop.COOKIE}={session}", url, url)
        assert done.stderr.splitlines()[-1] == words


def test_an_unopened_tunnel_is_traffic(call, write_config, secure_origin, certificates):
    server = secure_origin(origins.Answering, lambda seen: response(body=b"inside"))
    config = write_config({"tls": {"upstream": {"extra_trust": [str(certificates.trust)]}}})
    url = f"https://{server.authority}/x"
    done = call("run", "--require-traffic", "--config", config, "--", "curl", "-sS", url)
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == "usher: 0 requests, 1 unopened tunnel"
    config = write_config(inside.config(certificates))
    done = call("run", "--config", config, "--", "curl", "-sS", url)
    assert done.stderr.splitlines()[-1] == "usher: 1 request"


def test_a_command_that_goes_past_the_proxy(call):
    done = call("run", "--", "true")
    assert done.returncode == 0 and done.stderr.splitlines()[-1].startswith("usher: nothing came through the proxy")
    done = call("run", "--require-traffic", "--", "node", "--version")
    assert done.returncode == 1 and "node did not use it (Node supports a proxy from" in done.stderr
    done = call("run", "--quiet", "--require-traffic", "--", "true")
    assert done.returncode == 1 and "nothing came through" in done.stderr
    # its own failure comes first
    assert call("run", "--require-traffic", "--", "sh", "-c", "exit 7").returncode == 7


def test_commands_inside_speak_to_its_proxy(call, binary, origin):
    """Flows and their stories, while the command runs; whatever daemon a variable names."""
    server = origin(lambda seen: response(body=b"ok"))
    script = (
        f"curl -sS {server.url}/one >/dev/null\n"
        f"for i in $(seq 300); do {binary} flows path=/one --json | grep -q . && break; sleep 0.1; done\n"
        f"{binary} flows --json path=/one; stat -c %a $USHER_SOCKET")
    done = call("run", "--", "sh", "-c", script, USHER_URL="http://127.0.0.1:1")
    flow, mode = done.stdout.splitlines()
    assert json.loads(flow)["url"] == f"{server.url}/one" and mode == "660", done.stderr


def test_the_socket_goes_with_the_command(call, state):
    done = call("run", "--", "sh", "-c", "test -S $USHER_SOCKET && stat -c %a $(dirname $USHER_SOCKET)", XDG_RUNTIME_DIR="")
    assert (done.returncode, done.stdout) == (0, "700\n"), done.stderr
    assert not list(state.glob("*.sock"))


def test_what_went_through_is_written(call, origin, tmp_path):
    server = origin(lambda seen: response(body=b"ok"))
    urls = [f"{server.url}/{number}" for number in range(3)]
    har, flows = tmp_path / "t.har", tmp_path / "flows.txt"
    done = call("run", "--har", har, "--flows", flows, "--", "curl", "-sS", *urls)
    assert (done.returncode, done.stdout) == (0, "ok" * 3), done.stderr
    assert [entry["request"]["url"] for entry in json.loads(har.read_text())["log"]["entries"]] == urls
    rows = flows.read_text().splitlines()
    assert rows[0].startswith("TIME") and [row.rpartition("/")[2] for row in rows[1:]] == ["0", "1", "2"]
    done = call("run", "--flows", "-", "--", "curl", "-sS", "-o", "/dev/null", urls[0])
    assert len(done.stdout.splitlines()) == 2 and urls[0].removeprefix("http://") in done.stdout


def test_a_file_that_cannot_be_written_is_told_of_at_once(call, tmp_path):
    for option in ("--har", "--flows"):
        done = call("run", option, tmp_path / "no" / "file", "--", "echo", "ran")
        assert done.returncode == 1 and not done.stdout


TOKEN = "0123456789abcdef"


def test_the_configurations_port_answers_about_it(running, call, write_config, origin, monkeypatch):
    server = origin(lambda seen: response(body=b"ok"))
    monkeypatch.setenv("ADMIN_TOKEN", TOKEN)
    config = write_config({"admin": {"listen": "127.0.0.1:0", "token": "${env.ADMIN_TOKEN}"}})
    child = running("--config", config, "--", "sh", "-c", f"curl -sS {server.url}/asked; echo; read line")
    assert child.stdout.readline() == "ok\n"
    lines = iter(child.stderr.readline, "")
    port = next(match for match in map(re.compile(r"serving the admin API on (\S+)").search, lines) if match).group(1)
    asking = {"USHER_URL": f"http://{port}", "USHER_TOKEN": TOKEN}
    assert call("flows", "--wait", "1", "path=/asked", **asking).returncode == 0
    # another one cannot have the port, and runs without it
    taken = write_config({"admin": {"listen": port, "token": "${env.ADMIN_TOKEN}"}}, "taken.yaml")
    done = call("run", "--config", taken, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n") and "this command's proxy runs without it" in done.stderr
    child.communicate("\n", timeout=programs.DEADLINE)
    assert child.returncode == 0


def test_flows_are_kept_on_the_disk_and_told_by_run(call, binary, write_config, origin, tmp_path):
    server = origin(lambda seen: response(body=b"ok"))
    config = write_config({"journal": {"disk": {"size": "10MiB"}}})
    har, flows = tmp_path / "t.har", tmp_path / "flows.txt"
    for name in ("first", "second"):
        done = call("run", "--config", config, "--har", har, "--flows", flows, "--", "curl", "-sS", f"{server.url}/{name}")
        assert done.returncode == 0, done.stderr
        assert [e["request"]["url"] for e in json.loads(har.read_text())["log"]["entries"]] == [f"{server.url}/{name}"]
        assert [row.rpartition("/")[2] for row in flows.read_text().splitlines()[1:]] == [name]
    done = call("run", "--config", config, "--", binary, "flows", "--json")
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [f"{server.url}/first", f"{server.url}/second"]


def test_what_is_kept_nowhere_cannot_be_written(call, write_config):
    none = write_config({"journal": {"memory": "0B"}}, "none.yaml")
    assert call("run", "--config", none, "--", "echo", "ran").stdout == "ran\n"
    done = call("run", "--config", none, "--har", "x.har", "--", "echo", "ran")
    assert done.returncode == 2 and "journal.memory" in done.stderr and not done.stdout
