"""usher explain: how a request is given, where it may lead, and all that is said of it as JSON."""

import json
import os
import pty
import subprocess

import pytest

CONFIG = """\
version: 1
tls: { intercept: ["*.test"], except: [left.test], ca: { constrain_to: [test] } }
destinations:
  deny: [denied.test, 10.0.0.0/8]
  via: [{ host: far.test, proxy: "http://up.test:3128" }]
interceptors:
  - name: stop
    when: { path: /stop }
    request: [{ respond: { status: 418 } }]
  - name: later
    when: { status: 200 }
    response: [{ respond: { status: 200 } }]
  - name: empty-post
    when: { method: POST }
    request: [{ set_header: { X-Post: "1" } }]
authorization:
  am: http://am.test/am
  resources: ["http://shop.test/api/*"]
am: [{ url: "http://am.test/am" }]
"""


@pytest.fixture
def arguments(binary, write_config):
    return [str(binary), "explain", "--config", str(write_config(CONFIG))]


@pytest.fixture
def explain(arguments):
    def run(given, *more):
        return subprocess.run([*arguments, *more], input=given, capture_output=True, text=True, timeout=30)

    return run


@pytest.mark.parametrize("url, entry", [
    ("http://denied.test/", "denied.test"), ("https://denied.test/", "denied.test"), ("http://10.1.2.3/", "10.0.0.0/8"),
])
def test_a_destination_that_is_denied(explain, url, entry):
    done = explain(f"curl {url}")
    assert "Not forwarded: response of usher with status 403: the configuration forbids" in done.stdout, done.stdout
    assert f"destinations.deny holds {entry}" in done.stdout
    told = json.loads(explain(f"curl {url}", "--json").stdout)
    assert told["forwarded"] is None and told["sent"] == []
    answered = told["answered"]
    assert (answered["status"], answered["by"], answered["interceptor"]) == (403, "usher", None)
    assert entry in answered["reason"]


def test_a_wrong_host_in_a_tunnel(explain):
    done = explain("GET https://a.test/x HTTP/1.1\nHost: b.test\n")
    assert "status 421: the request's Host is b.test" in done.stdout, done.stdout
    assert "  GET https://a.test/x" in explain("curl https://a.test/x").stdout


def test_data_without_data(explain):
    told = json.loads(explain("curl -d '' http://shop.test/", "--json").stdout)
    assert told["request"]["method"] == "POST" and ["Content-Length", "0"] in told["request"]["headers"]
    assert ["X-Post", "1"] in told["forwarded"]["headers"]


def test_everything_is_in_the_json_too(explain):
    told = json.loads(explain("curl http://shop.test/api/x", "--json").stdout)
    assert told["resource"] == "http://shop.test/api/*"
    assert told["answered"] is None and told["route"] is None and told["unopened"] is None
    assert json.loads(explain("curl http://far.test/", "--json").stdout)["route"] == "the upstream proxy up.test:3128"
    assert json.loads(explain("curl https://left.test/", "--json").stdout)["unopened"] == "tls.except"
    assert json.loads(explain("curl https://a.example/", "--json").stdout)["unopened"] == "tls.intercept"
    told = json.loads(explain("curl http://shop.test/stop", "--json").stdout)
    assert told["answered"] == {"status": 418, "by": "interceptor", "interceptor": "stop", "reason": None}


def test_words_of_a_tunnel_and_of_what_was_answered_before(explain):
    assert "not opened (tls.except)" in explain("curl https://left.test/").stdout
    text = explain("curl http://shop.test/stop").stdout
    assert "later: its condition tests the response, and stop ended the phase first" in text
    assert "later: its condition tests the response" in explain("curl http://shop.test/").stdout


def test_a_command_as_an_argument(explain, arguments):
    done = explain("", "curl -d a=b http://shop.test/")
    assert done.returncode == 0 and "  POST http://shop.test/" in done.stdout, done.stderr
    done = explain("", "curl http://shop.test/", "--request", "-")
    assert done.returncode not in (0, 1) and "give one" in done.stderr
    answer = "HTTP/1.1 200 OK\n\nhello"
    done = explain(answer, "curl http://shop.test/", "--response", "-", "--json")
    assert json.loads(done.stdout)["response"]["body"] == "hello", done.stderr


def test_a_terminal_is_told_what_is_waited_for(arguments):
    master, slave = pty.openpty()
    process = subprocess.Popen(arguments, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(slave)
    try:
        # behind what is said of the configuration
        assert any(b"paste the request" in line for line in iter(process.stderr.readline, b""))
        os.write(master, b"curl http://shop.test/\n\x04")
        out, _ = process.communicate(timeout=30)
        assert b"GET http://shop.test/" in out and process.returncode == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)


@pytest.mark.parametrize("command", [["check", "--print-schema"], ["check", "--print-edits"], ["version"]])
def test_output_that_cannot_be_written(binary, command):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(binary), *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert done.returncode == 1 and "cannot be written: No space left on device" in done.stderr
