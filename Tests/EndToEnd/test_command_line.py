"""The verbs, their output and their exit statuses: 0 done, 1 the answer is no, 2 wrong use."""

import json
import os
import re
import signal
import socket
import subprocess

import pytest

import programs
from wire import Connection, request, response


@pytest.fixture
def run(binary):
    def call(*arguments, given=None, environment=None):
        return subprocess.run(
            [binary, *map(str, arguments)], input=given, capture_output=True, text=True, timeout=30, env=environment)

    return call


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version(run, arguments):
    done = run(*arguments)
    assert done.returncode == 0
    assert re.search(r"usher \d+\.\d+", done.stdout)
    assert re.search(r"libevent 2\.", done.stdout) and re.search(r"c-ares 1\.", done.stdout)
    assert re.search(r"PCRE2 10\.", done.stdout)
    assert re.search(r"OpenSSL 3\.", done.stdout)


@pytest.mark.parametrize("arguments", [
    ["frobnicate"], ["check", "--nope"], ["serve", "--listen"], ["explain", "--colour"], ["serve", "--listen", "nowhere"],
])
def test_wrong_use(run, arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr
    assert not done.stdout


def test_every_verb_has_help(run):
    for verb in ("init", "serve", "check", "run", "env", "ca", "doctor", "explain", "test", "sandbox", "version"):
        done = run(verb, "--help")
        assert done.returncode == 0
        assert "USAGE" in done.stdout.upper()


GOOD = """\
version: 1
listen: ["127.0.0.1:3128"]
am:
  - url: https://am.example.com/am
    realms: [/, /alpha]
interceptors:
  - name: force
    when: { action: START_AUTHENTICATE, tree: Login }
    request: [{ set_query: { ForceAuth: "true" } }]
limits: { header: 32KiB }
timeouts: { connect: 5s, idle: 1m }
"""


def test_check_of_a_good_configuration(run, write_config):
    done = run("check", write_config(GOOD))
    assert done.returncode == 0, done.stdout + done.stderr


FAULTS = [
    (GOOD.replace("interceptors:", "intercepters:"), "6:1", "interceptors"),
    (GOOD.replace("when:", "wen:"), "8:5", "when"),
    (GOOD.replace("set_query", "set_qery"), "9:17", "set_query"),
    (GOOD.replace("START_AUTHENTICATE", "START_AUTHENTICAT"), "8:21", "START_AUTHENTICATE"),
    (GOOD.replace("32KiB", "lots"), "10:19", "32KiB|size|bytes"),
    (GOOD.replace("connect: 5s", "connect: 5 parsecs"), "11:22", "duration|5s|250ms"),
    (GOOD.replace("https://am.example.com/am", "am.example.com"), "4:10", "http"),
    (GOOD.replace("version: 1", "version: 2"), "1:10", "1"),
    (GOOD.replace('"127.0.0.1:3128"', "nowhere"), "2:10", "address|port"),
    (GOOD.replace("realms: [/", "realms: {/"), "5:", ""),
    (GOOD + "authorization: { am: https://other.example.com/am, resources: [] }\n", "12:22", "am"),
]


@pytest.mark.parametrize("text, place, word", FAULTS, ids=[place for _, place, _ in FAULTS])
def test_check_names_a_fault_and_its_place(run, write_config, text, place, word):
    path = write_config(text)
    done = run("check", path)
    assert done.returncode == 1
    found = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(f"{path}:{place}")]
    assert found, done.stdout + done.stderr
    assert re.search(word, found[0])


def test_check_names_every_fault(run, write_config):
    text = GOOD.replace("when:", "wen:").replace("32KiB", "lots").replace("connect: 5s", "conect: 5s")
    done = run("check", write_config(text))
    assert done.returncode == 1
    output = done.stdout + done.stderr
    for line in (8, 10, 11):
        assert f"usher.yaml:{line}:" in output


def test_a_file_that_is_not_there(run, tmp_path):
    done = run("check", tmp_path / "none.yaml")
    assert done.returncode == 1
    assert "none.yaml" in done.stdout + done.stderr


@pytest.mark.parametrize("verb", [["explain", "--request", "-"], ["serve"], ["ca", "show"]])
def test_a_configuration_that_was_named_is_there(run, tmp_path, verb):
    """Only the usual file may be missing, and the defaults hold then."""
    done = run(*verb, "--config", str(tmp_path / "none.yaml"), given="curl http://h/")
    assert done.returncode == 1
    assert "none.yaml" in done.stderr and not done.stdout


@pytest.mark.parametrize("text, _place, _word", FAULTS[:4], ids=[place for _, place, _ in FAULTS[:4]])
def test_a_faulty_configuration_never_starts(run, write_config, text, _place, _word):
    done = run("serve", "--config", write_config(text), "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert "listening" not in done.stderr
    assert "usher.yaml:" in done.stderr


def test_a_taken_port_is_one_clear_line(run, write_config):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for arguments in (
            ["serve", "--config", write_config("version: 1\n"), "--listen", address], ["sandbox", "--listen", address],
        ):
            done = run(*arguments)
            assert done.returncode == 1
            lines = done.stderr.strip().splitlines()
            assert len(lines) == 1
            assert address in lines[0] and "in use" in lines[0]


def test_half_of_the_listeners_is_none(run, write_config):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(
            "serve", "--config", write_config("version: 1\n"), "--listen", "127.0.0.1:0", "--listen",
            f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert "listening on" not in done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_to(binary, write_config, origin, how):
    server = origin()
    usher = programs.Usher(binary, write_config("version: 1\n"))
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/before-the-end"))
        assert usher.stop(how) == 0
    # what was logged is not lost
    assert usher.flows("/before-the-end")


def test_values_from_the_environment(binary, write_config, start, origin):
    server = origin()
    usher = start(
        'version: 1\ninterceptors:\n  - name: secret\n    request: [{ set_header: { X-Secret: "${env.SECRET}" } }]\n',
        environment={"SECRET": "from the environment"})
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(request("GET", f"{server.url}/"))
    assert server.requests[0].get("x-secret") == "from the environment"


def test_clients_from_elsewhere_are_not_served_by_default(run, write_config):
    """Listening on every address without saying who may come is a fault or refuses the others; never an open proxy."""
    done = run("check", write_config("version: 1\nclients: { allow: [any-one] }\n"))
    assert done.returncode == 1


# explain

START = "http://am.example.com/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Login"
EXPLAINED = GOOD.replace("https://am.example.com/am", "http://am.example.com/am")


def check_explanation(text):
    explained = json.loads(text)
    assert explained["action"] == "START_AUTHENTICATE"
    assert explained["payload"] == {"tree": "Login", "type": "service"}
    assert explained["realm"] == "/alpha"
    assert isinstance(explained["evidence"], str) and explained["evidence"]
    (verdict,) = explained["interceptors"]
    assert verdict["name"] == "force"
    assert verdict["matched"] is True
    assert isinstance(verdict["because"], str) and verdict["because"]
    assert explained["request"]["method"] == "POST"
    assert explained["request"]["url"] == START
    assert explained["forwarded"]["url"] == START + "&ForceAuth=true"
    assert all(len(pair) == 2 for pair in explained["request"]["headers"])
    return explained


def test_explain_a_message(run, write_config):
    message = (
        f"POST {START} HTTP/1.1\r\nHost: am.example.com\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        "X-Mine: 1\r\n\r\n{}")
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", "--json", given=message)
    assert done.returncode == 0, done.stderr
    explained = check_explanation(done.stdout)
    assert explained["request"]["body"] == "{}"
    assert ["X-Mine", "1"] in explained["request"]["headers"]


def test_explain_a_message_typed_by_hand(run, write_config, tmp_path):
    """Line ends of a text editor, in a file."""
    path = tmp_path / "request.http"
    path.write_text(f"POST {START} HTTP/1.1\nHost: am.example.com\nContent-Type: application/json\n\n{{}}")
    done = run("explain", "--config", write_config(EXPLAINED), "--request", path, "--json")
    assert done.returncode == 0, done.stderr
    check_explanation(done.stdout)


@pytest.mark.parametrize("command", [
    f"curl -X POST '{START}' -H 'Content-Type: application/json' -d '{{}}'",
    f'curl --data "{{}}" \\\n  --header "Content-Type: application/json" \\\n  "{START}"',
    f"curl -sS --data-raw '{{}}' -H 'Content-Type: application/json' --compressed {START.replace('&', chr(92) + '&')}",
])
def test_explain_a_curl_command(run, write_config, command):
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", "--json", given=command)
    assert done.returncode == 0, done.stderr
    check_explanation(done.stdout)


def test_explain_what_is_no_am_traffic(run, write_config):
    message = "GET http://app.example.com/a?b HTTP/1.1\r\nHost: app.example.com\r\n\r\n"
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", "--json", given=message)
    assert done.returncode == 0
    explained = json.loads(done.stdout)
    assert explained["action"] is None
    assert explained["payload"] is None
    assert explained["interceptors"][0]["matched"] is False
    assert explained["forwarded"]["url"] == explained["request"]["url"]


def test_explain_for_people(run, write_config):
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", given=f"curl -X POST '{START}'")
    assert done.returncode == 0
    assert "START_AUTHENTICATE" in done.stdout
    assert "force" in done.stdout


def test_explain_agrees_with_the_wire(run, write_config, start, origin):
    server = origin(lambda _: response(body=b"{}"))
    url = START.replace("am.example.com", f"am.localhost:{server.port}")
    config = EXPLAINED.replace("am.example.com", f"am.localhost:{server.port}")
    message = request("POST", url, [("Content-Type", "application/json")], b"{}").decode()
    done = run("explain", "--config", write_config(config), "--request", "-", "--json", given=message)
    usher = start(config)
    with Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(message)
    assert json.loads(done.stdout)["forwarded"]["url"].endswith(server.requests[0].target)


NARROW = """version: 1
tls: { intercept: [opened.test], ca: { constrain_to: [opened.test] } }
destinations:
  connect_ports: [443]
  via: [{ host: far.test, proxy: "http://me:${env.FAR}@up.test:3128" }]
limits: { body: 10B }
interceptors:
  - { name: stop, when: { path: /stop }, request: [{ respond: { status: 418 } }] }
  - { name: break, when: { path: /break }, request: [{ abort: not today }] }
"""


@pytest.mark.parametrize("given, words", [
    ("curl http://a.test/stop", "response of interceptor stop with status 418"),
    ("curl http://a.test/break", "status 502: interceptor break aborted: not today"),
    ("curl https://opened.test:8443/", "status 403: destinations.connect_ports permits CONNECT to 443 alone"),
    ("curl http://usher.proxy/", "response of usher with status 200"),
    ("curl http://usher.proxy/nothing", "status 404"),
    ("curl -d 'more than ten bytes' http://a.test/", "status 413: the request's body is larger than limits.body allows"),
    ("GET http://a.test/ HTTP/1.1\nHost: a.test\nVia: 1.1 usher\n", "status 508"),
    ("TRACE http://a.test/ HTTP/1.1\nHost: a.test\nMax-Forwards: 0\n", "status 200"),
    ("CONNECT opened.test:443 HTTP/1.1\nHost: opened.test\n", "this opens a tunnel"),
])
def test_explain_what_is_not_forwarded(run, write_config, given, words):
    for form in ([], ["--json"]):
        done = run(
            "explain", "--config", write_config(NARROW), *form, given=given,
            environment={**os.environ, "FAR": "s3cr3t-far"})
        assert done.returncode == 0, done.stderr
        if form:
            assert json.loads(done.stdout)["forwarded"] is None
        else:
            assert "Not forwarded: " in done.stdout and words in done.stdout


@pytest.mark.parametrize("given, words", [
    ("curl https://opened.test/x", ["Forwarded\n  GET https://opened.test/x\n"]),
    ("curl https://other.test/x", ["not opened (tls.intercept)", "  GET https://other.test/x\n"]),
    ("curl http://far.test/", ["through the upstream proxy up.test:3128", "Proxy-Authorization: REDACTED"]),
    ("GET /x HTTP/1.1\nHost: a.test:81\n", ["  GET http://a.test:81/x\n"]),
    ("OPTIONS * HTTP/1.1\nHost: a.test\n", ["  OPTIONS http://a.test\n"]),
    ("GET http://a.test/stopp HTTP/1.1\nHost: a.test\nContent-Length: 7\n", [" no  stop: path is /stopp"]),
])
def test_explain_what_is_forwarded(run, write_config, given, words):
    done = run("explain", "--config", write_config(NARROW), given=given, environment={**os.environ, "FAR": "s3cr3t-far"})
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in words) and "Not forwarded" not in done.stdout
    assert ("not opened" in done.stdout) == ("other.test" in given)


def test_explain_wants_no_password(run, write_config, tmp_path):
    users = tmp_path / "users"
    users.write_text("robot:$2y$05$abcdefghijklmnopqrstuuKrT2mzOvv8qX1dRjYJ4vCzvYQxJfK2K\n")
    users.chmod(0o600)
    config = write_config(f'version: 1\nclients: {{ basic: {{ users: "${{file:{users}}}" }} }}\n')
    done = run("explain", "--config", config, "--json", given="curl http://a.test/")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["forwarded"]["url"] == "http://a.test/"


def test_explain_of_a_body_that_is_cut_off(run, write_config):
    """Nothing but its body tells what this request is."""
    url = START.partition("?")[0]
    message = f"POST {url} HTTP/1.1\nHost: am.example.com\nTransfer-Encoding: chunked\n\n2\r\n{{"
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", "--json", given=message)
    assert done.returncode in (1, 2) and not done.stdout
    assert "body of the message is incomplete" in done.stderr


@pytest.mark.parametrize("given", ["", "nonsense", "GET / HTTP/1.1\r\n\r\n", "curl", "wget http://h/"])
def test_explain_of_what_is_no_request(run, write_config, given):
    done = run("explain", "--config", write_config(EXPLAINED), "--request", "-", "--json", given=given)
    assert done.returncode in (1, 2)
    assert done.stderr


# without secrets

ROBOT = """version: 1
listen: ["127.0.0.1:3128"]
admin: { listen: "127.0.0.1:3130", token: "${credential.admin-token}" }
am: [{ url: http://am.localhost:9080/am }]
interceptors:
  - { name: token, request: [{ set_header: { Authorization: "Bearer ${env.API_TOKEN}" } }] }
authorization:
  resources: ["http://shop.localhost:9080/*"]
  answers:
    - { callback: NameCallback, prompt: code, totp: "${file:totp}" }
    - { callback: NameCallback, value: "${env.ROBOT_USER}" }
    - { callback: PasswordCallback, value: "${env.ROBOT_PASSWORD}" }
"""
MISSING = ["the credential admin-token", "API_TOKEN is not set", "totp does not exist", "ROBOT_USER is not set", "ROBOT_PASSWORD is not set"]


def test_check_needs_no_secrets(call, write_config):
    config = write_config(ROBOT)
    done = call("check", config)
    notes = [line for line in done.stdout.splitlines() if ": note: " in line]
    assert done.returncode == 0 and done.stdout.endswith(": good\n"), done.stdout
    assert len(notes) == len(MISSING) and all(word in note for word, note in zip(MISSING, notes, strict=True)), notes
    assert all(note.endswith("; usher serve and usher run need it") for note in notes)
    severities = [one["severity"] for one in json.loads(call("check", "--json", config).stdout)["diagnostics"]]
    assert severities == ["note"] * len(MISSING)
    done = call("check", "--secrets", config)
    assert done.returncode == 1 and done.stdout.endswith(": 5 faults\n")
    # what is wrong besides is still told
    done = call("check", write_config(ROBOT + "nonsense: 1\n"))
    assert done.returncode == 1 and done.stdout.endswith(": 1 fault\n") and "nonsense" in done.stdout


def test_explain_needs_no_secrets(call, write_config):
    done = call("explain", "--config", write_config(ROBOT), "curl http://shop.localhost:9080/x")
    assert done.returncode == 0 and "API_TOKEN is not set" in done.stderr, done.stderr
    assert "Authorization" in done.stdout and "STANDIN" not in done.stdout


def test_env_needs_no_secrets(call, write_config):
    done = call("env", "--config", write_config(ROBOT))
    assert done.returncode == 0 and "http://127.0.0.1:3128" in done.stdout, done.stderr


def test_commands_to_the_daemon_need_no_secrets(call, start, state):
    usher = start(
        "version: 1\nadmin: { socket: own.sock }\ninterceptors: [{ name: a, request: [{ set_header: { A: \"${env.API_TOKEN}\" } }] }]\n",
        state=state, environment={"API_TOKEN": "of-the-api"})
    for verb in ("flows", "status", "lockout"):
        done = call(verb, "--config", usher.config, XDG_RUNTIME_DIR="")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", [["serve"], ["run"], ["doctor"]], ids=lambda verb: verb[0])
def test_who_serves_needs_them(call, write_config, verb):
    done = call(*verb, "--config", write_config(ROBOT), *(["--", "true"] if verb != ["serve"] else []))
    assert done.returncode == 1 and "ROBOT_PASSWORD is not set; set it for usher" in done.stderr
