"""usher explain with an answer: what becomes of both, why, and how near the others came."""

import json
import os
import pty
import subprocess

import pytest

CONFIG = """\
version: 1
am: [{ url: "http://am.test/am" }]
interceptors:
  - name: far
    when: { host: other.test, path: /no, method: PUT }
    request: [{ set_header: { X-Far: "1" } }]
  - name: near
    when: { host: shop.test, path: /no, method: GET }
    request: [{ set_header: { X-Near: "1" } }]
  - name: tag
    when: { host: shop.test }
    request: [{ set_query: { tag: "${env.TAG}" } }]
  - name: price
    when: { status: 200, content_type: application/json }
    response: [{ set_json: { /price: "2" } }, { remove_header: Server }]
  - name: login
    when: { tree: Login }
    request: [{ set_header: { X-Tree: "1" } }]
  - name: gone
    when: { status: 404 }
    response: [{ respond: { status: 410, text: gone } }]
authorization:
  am: http://am.test/am
  resources: ["http://shop.test/api/*"]
"""

ANSWER = 'HTTP/2 200 \nserver: old\ncontent-type: application/json\n\n{"name": "tea", "price": "1"}'


@pytest.fixture
def explain(binary, write_config, tmp_path):
    def run(given, answer=None, *more, **variables):
        arguments = [binary, "explain", "--config", write_config(CONFIG), *more]
        if answer is not None:
            path = tmp_path / "answer.http"
            path.write_text(answer)
            arguments += ["--response", path]
        return subprocess.run(
            [str(argument) for argument in arguments], input=given, capture_output=True, text=True, timeout=30,
            env={**os.environ, "TAG": "s3cr3t-tag", **variables})

    return run


def test_the_answer_is_edited_as_it_would_be(explain):
    done = explain("curl http://shop.test/x", ANSWER, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["response"]["status"] == told["received"]["status"] == 200
    assert json.loads(told["response"]["body"]) == {"name": "tea", "price": "1"}
    assert json.loads(told["received"]["body"]) == {"name": "tea", "price": "2"}
    headers = {name.lower(): value for name, value in told["received"]["headers"]}
    assert "server" not in headers and int(headers["content-length"]) == len(told["received"]["body"])
    verdicts = {verdict["name"]: verdict for verdict in told["interceptors"]}
    assert list(verdicts) == ["far", "near", "tag", "price", "login", "gone"]
    assert [verdict["matched"] for verdict in verdicts.values()] == [False, False, True, True, False, False]
    assert verdicts["near"]["misses"] == ["path is /x, wanted /no"]
    assert len(verdicts["far"]["misses"]) == 3
    (phase,) = verdicts["price"]["phases"]
    assert phase["phase"] == "response" and phase["did"] == ["set JSON /price, removed header Server"]
    assert [sent["call"] for sent in told["sent"]] == [False]


def test_what_is_shown_to_a_person(explain):
    done = explain("curl http://shop.test/x", ANSWER)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "\x1b" not in text and "s3cr3t-tag" not in text
    for line in (
        "   no  near: path is /x, wanted /no (everything else matches)", "Interceptors of the response",
        "- GET http://shop.test/x", "+ GET http://shop.test/x?tag=REDACTED", "- server: old", '-   "price": "1"',
        '+   "price": "2"', "Received",
    ):
        assert line in text.splitlines(), text
    order = [text.index(f"{name}: ") for name in ("  yes  tag", "   no  near", "   no  far")]
    assert order == sorted(order)


def test_an_interceptor_answers_in_the_response_phase(explain):
    done = explain("curl http://shop.test/x", "HTTP/1.1 404 Not Found\n\n")
    assert "response of interceptor gone with status 410" in done.stdout
    told = json.loads(explain("curl http://shop.test/x", "HTTP/1.1 404 Not Found\n\n", "--json").stdout)
    assert told["forwarded"] and told["received"]["status"] == 410 and told["received"]["body"] == "gone"


def test_an_advice_shows_the_call_that_it_leads_to(explain):
    advice = (
        'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: SSOADVICE realm="/",am_uri="http://am.test/am/",'
        'advices="eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0LTQ3MTEiXX0="\n\n')
    request = "curl -b iPlanetDirectoryPro=S http://shop.test/api/x"
    told = json.loads(explain(request, advice, "--json").stdout)
    assert [sent["call"] for sent in told["sent"]] == [False, True]
    assert told["received"] is None and any(event["kind"] == "advice" for event in told["events"])
    text = explain(request, advice).stdout
    assert "Call to AM" in text and "asks for TransactionConditionAdvice" in text


def test_a_tree_that_nothing_tells(explain):
    done = explain("curl -X POST http://am.test/am/json/authenticate -d '{\"authId\": \"a\", \"callbacks\": []}'")
    assert "Tree         not known\n" in done.stdout and "nothing tells the tree, wanted Login" in done.stdout
    begun = "curl -X POST http://am.test/am/json/authenticate -d '{}'"
    assert "Tree         the default (service)\n" in explain(begun).stdout


def test_without_an_answer_nothing_is_said_of_one(explain):
    told = json.loads(explain("curl http://shop.test/x", None, "--json").stdout)
    assert told["response"] is None and told["received"] is None
    assert "Received" not in explain("curl http://shop.test/x").stdout


@pytest.mark.parametrize("answer", ["", "hello", "GET / HTTP/1.1\n\n"])
def test_what_is_no_answer(explain, answer):
    done = explain("curl http://shop.test/x", answer)
    assert done.returncode == 2 and "not an HTTP response" in done.stderr and not done.stdout


def test_standard_input_is_one_of_them(explain):
    done = explain("curl http://shop.test/x", None, "--response", "-")
    assert done.returncode == 2 and "name a file" in done.stderr


@pytest.mark.parametrize("variables, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal(binary, write_config, tmp_path, variables, coloured):
    request = tmp_path / "request"
    request.write_text("curl http://shop.test/x")
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    master, slave = pty.openpty()
    subprocess.run(
        [binary, "explain", "--config", str(write_config(CONFIG)), "--request", str(request)], stdout=slave, timeout=30,
        env={**environment, "TAG": "some-tag", "TERM": "xterm", **variables}, check=True)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    assert (b"\x1b[32m+ GET http://shop.test/x?tag=some-tag" in text or b"\x1b[32m+ GET" in text) == coloured
    assert b"+ GET http://shop.test/x" in text


@pytest.mark.parametrize("allow, deny, url, words", [
    (["*.localhost", "loopback"], [], "http://foreign.example/", "allowed where foreign.example leads to an address in loopback"),
    (["*.localhost", "loopback"], ["*"], "http://app.localhost/", None),
    (["*.localhost", "loopback"], ["*"], "http://127.0.0.1/", None),
    (["*"], ["private"], "http://foreign.example/", "refused where foreign.example leads to an address in private"),
    (["foreign.example"], ["private"], "http://foreign.example/", None),
    (["*"], ["link-local", "metadata"], "http://foreign.example/", None)])
def test_what_hangs_on_an_address(call, write_config, allow, deny, url, words):
    config = write_config({"destinations": {"allow": allow, "deny": deny}})
    done = call("explain", "--config", config, given=f"curl {url}")
    assert done.returncode == 0, done.stderr
    told = json.loads(call("explain", "--config", config, "--json", given=f"curl {url}").stdout)
    assert told["forwarded"]
    assert ("Forwarded if the address is permitted" in done.stdout) == (words is not None)
    assert (told["address"] is None) if words is None else (words in told["address"] and words in done.stdout)


@pytest.mark.parametrize("url, entry", [
    ("http://foreign.example/", "*"), ("http://app.localhost/", None), ("http://127.0.0.1/", None)])
def test_a_name_that_is_denied_is_not_forwarded(call, write_config, url, entry):
    config = write_config({"destinations": {"allow": ["*.localhost", "loopback"], "deny": ["*"]}})
    done = call("explain", "--config", config, given=f"curl {url}")
    told = json.loads(call("explain", "--config", config, "--json", given=f"curl {url}").stdout)
    assert (told["forwarded"] is None) == (entry is not None) and ("Forwarded" in done.stdout) == (entry is None)
    assert (f"destinations.deny holds {entry}" in done.stdout) == (entry is not None)
