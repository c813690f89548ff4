"""usher test: cases against a configuration, without a network."""

import json
import re
import xml.etree.ElementTree as xml

import pytest

CONFIG = """\
version: 1
am: [{ url: "http://am.test/am", realms: [/] }]
interceptors:
  - name: english
    when: { action: START_AUTHENTICATE }
    request: [{ set_header: { Accept-Language: "${env.LANGUAGE}" } }, { set_query: { ForceAuth: "true" } }]
  - name: amount
    when: { method: POST, path: /withdraw }
    request: [{ set_json: { /amount: "200" } }, { remove_json: [/debug] }]
  - name: closed
    when: { host: legacy.test }
    request: [{ respond: { status: 503, headers: { Retry-After: "60" }, json: { error: closed } } }]
  - name: no-store
    when: { status: 200 }
    response: [{ set_header: { Cache-Control: no-store } }]
authorization:
  am: http://am.test/am
  resources: ["http://shop.test/api/*"]
  answers: [{ callback: NameCallback, value: robot }]
"""

LOGIN = "http://am.test/am/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login"

CASES = f"""\
config: usher.yaml
environment: {{ LANGUAGE: en-GB }}
cases:
  - name: a login asks for ForceAuth
    request: |
      POST {LOGIN} HTTP/1.1
      Host: am.test
      Content-Type: application/json

      {{}}
    origin: {{ status: 200, json: {{ authId: x, callbacks: [] }} }}
    expect:
      action: START_AUTHENTICATE
      tree: Login
      realm: /
      applied: [no-store, english]
      not_applied: closed
      sent:
        method: POST
        url: "*&ForceAuth=true"
        headers: {{ Accept-Language: en-GB, X-None: null, Via: "~usher$" }}
        body: "{{}}"
      received:
        status: 200
        headers: {{ Cache-Control: [no-store] }}
        json: {{ /authId: x, "": {{ callbacks: [], authId: x }} }}
        json_absent: [/tokenId]
  - name: the amount, by keys
    request:
      method: POST
      url: https://bank.test/withdraw
      json: {{ amount: "1000", debug: true }}
    expect:
      action: none
      sent: {{ json: {{ /amount: "200" }}, json_absent: /debug, headers: {{ Content-Length: "16" }} }}
  - name: a curl command, answered here
    request: curl https://legacy.test/
    expect:
      sent: none
      received: {{ status: 503, headers: {{ Retry-After: "60" }}, json: {{ /error: closed }} }}
  - name: nobody is there
    request: curl http://a.test/
    origin: {{ error: refused }}
    expect: {{ received: {{ status: 502, headers: {{ Proxy-Status: "*connection_refused*" }} }} }}
  - name: a step-up, from the advice to the replay
    request: curl -b iPlanetDirectoryPro=S http://shop.test/api/cart
    origin:
      - |
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: SSOADVICE realm="/",am_uri="http://am.test/am/",advices="eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0LTQ3MTEiXX0="
      - json:
          authId: a1
          callbacks:
            - {{ type: NameCallback, output: [{{ name: prompt, value: User }}], input: [{{ name: IDToken1, value: "" }}] }}
      - json: {{ tokenId: S, successUrl: / }}
      - {{ status: 200, body: cart }}
    expect:
      sent:
        - {{ url: http://shop.test/api/cart }}
        - {{ url: "http://am.test/am/json/*composite_advice*" }}
        - {{ json: {{ /authId: a1, /callbacks/0/input/0/value: robot }} }}
        - {{ url: "http://shop.test/api/cart?_txid=t-4711" }}
      received: {{ status: 200, body: cart }}
"""


@pytest.fixture
def test(call, tmp_path):
    (tmp_path / "usher.yaml").write_text(CONFIG)

    def run(cases, *more, **variables):
        path = tmp_path / "cases.yaml"
        path.write_text(cases)
        return call("test", path, *more, **variables)

    return run


def test_all_of_them_pass(test):
    done = test(CASES)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "5 passed, 0 failed" and len(lines) == 6
    assert re.fullmatch(r"pass  .*cases\.yaml:4: a login asks for ForceAuth", lines[0])


def one(expect, request="curl http://a.test/x", origin="{ status: 200, json: { a: 1, b: [1, 2] } }"):
    return (
        "config: usher.yaml\nenvironment: { LANGUAGE: en }\ncases:\n"
        f"  - name: it\n    request: {request}\n    origin: {origin}\n    expect:\n      {expect}\n")


@pytest.mark.parametrize("expect, subject, expected, actual", [
    ("action: LOGOUT", "action", "LOGOUT", "none"),
    ("applied: [amount]", "applied", "amount", "no-store"),
    ("applied: []", "applied", None, "no-store"),
    ("not_applied: no-store", "not_applied", None, "no-store"),
    ("sent: none", "sent", "none", "GET http://a.test/x"),
    ("sent: [{}, {}]", "sent", "2 messages", "GET http://a.test/x"),
    ("sent: { url: http://a.test/y }", "sent.url", "http://a.test/y", "http://a.test/x"),
    ("sent: { method: POST }", "sent.method", "POST", "GET"),
    ("sent: { headers: { User-Agent: wget } }", "sent.headers.User-Agent", "wget", "curl"),
    ("sent: { headers: { User-Agent: null } }", "sent.headers.User-Agent", "(none)", "curl"),
    ("sent: { headers: { X: 1 } }", "sent.headers.X", "1", "(none)"),
    ("sent: { body: a }", "sent.body", "a", ""),
    ("received: { status: 404 }", "received.status", "404", "200"),
    ("received: { headers: { Cache-Control: [no-store, private] } }", "received.headers.Cache-Control", "private", None),
    ("received: { json: { /a: 2 } }", "received.json /a", "2", "1"),
    ("received: { json: { /c: 2 } }", "received.json /c", "2", "(none)"),
    ("received: { json: { /b: [2] } }", "received.json /b", None, "1"),
    ("received: { json_absent: [/a] }", "received.json /a", "(none)", "1"),
    ("received: { whole: false }", "received.whole", "cut short", "complete"),
    ("took: 5ms", "took", "5ms", "0ms"),
    ("received: { body: '~^x' }", "received.body", "~^x", '{"a":1,"b":[1,2]}'),
])
def test_what_is_otherwise_is_shown(test, expect, subject, expected, actual):
    done = test(one(expect))
    assert done.returncode == 1 and not done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"FAIL  .*cases\.yaml:4: it", lines[0])
    assert re.fullmatch(rf"      .*cases\.yaml:8:\d+: {re.escape(subject)}", lines[1])
    changes = [line.strip() for line in lines[2:]]
    if expected is not None:
        assert any(line == f"- {expected}" or line == f"-   {expected}" for line in changes), done.stdout
    if actual:
        assert any(line.lstrip("+ ").rstrip(",") == actual for line in changes if line.startswith("+")) or any(
            line.rstrip(",").endswith(actual) for line in changes), done.stdout
    assert lines[-1] == "0 passed, 1 failed"
    (case,) = json.loads(test(one(expect), "--json").stdout)["cases"]
    assert not case["passed"] and case["failures"][0]["subject"] == subject


def test_answers_that_nobody_asked_for(test):
    done = test(one("received: { status: 200 }", origin="[{ status: 200 }, { status: 201 }]"))
    assert done.returncode == 1 and "- 2 responses" in done.stdout and "+ 1 request" in done.stdout


def test_an_answer_that_nobody_gives(test):
    done = test(one("received: { status: 200 }", origin="[]"))
    assert done.returncode == 1 and "nothing: " in done.stdout


def test_why_an_interceptor_did_not_apply(test):
    done = test(one("applied: [amount, no-store]"))
    assert "(amount: method is GET, wanted POST)" in done.stdout


def test_secrets_are_not_shown(test):
    done = test(
        one("sent: { headers: { Accept-Language: x } }", request=f"curl -d {{}} {LOGIN}").replace("en }", "s3cr3t-words }"))
    assert done.returncode == 1 and "s3cr3t" not in done.stdout and "REDACTED" in done.stdout


def test_secrets_of_the_cases_are_not_shown_either(test):
    done = test(one('sent: { headers: { X: "${env.WANTED}" } }'), WANTED="s3cr3t-words")
    assert done.returncode == 1 and "s3cr3t" not in done.stdout and "REDACTED" in done.stdout


def test_an_answer_that_is_cut_short(test):
    origin = "{ headers: { Content-Length: 9 }, body: half }"
    assert test(one("received: { whole: false, body: half }", origin=origin)).returncode == 0
    assert "+ cut short" in test(one("received: { body: half }", origin=origin)).stdout


def test_waits_take_no_time_and_are_counted(test):
    advice = (
        'HTTP/1.1 401 Unauthorized\\r\\nWWW-Authenticate: SSOADVICE realm=\\"/\\",am_uri=\\"http://am.test/am/\\",'
        'advices=\\"eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0LTQ3MTEiXX0=\\"\\r\\n\\r\\n')
    polls = (
        "{ json: { authId: a, callbacks: [{ type: PollingWaitCallback, output: [{ name: waitTime, value: '5000' }] }] } }")
    origin = f'["{advice}", {polls}, {{ json: {{ tokenId: S }} }}, {{ body: cart }}]'
    request = "curl -b iPlanetDirectoryPro=S http://shop.test/api/cart"
    done = test(one("{ took: 5s, received: { body: cart } }", request, origin))
    assert done.returncode == 0, done.stdout


VERDICTS = """\
version: 1
interceptors:
  - { name: slow, when: { path: /slow }, request: [{ delay: 800ms }] }
  - name: again
    when: { path: /again, status: 503 }
    response: [{ retry: { times: 2, after: 250ms, backoff: 2 } }]
  - name: anew
    when: { path: /anew, error: refused }
    error: [{ retry: { times: 1, after: 50ms } }]
  - name: excuse
    when: { path: /excuse, error: [timeout, reset] }
    error: [{ respond: { status: 200, json: { offline: true } } }]
"""


def test_what_waits_repeats_and_excuses(test, tmp_path):
    (tmp_path / "verdicts.yaml").write_text(VERDICTS)
    done = test("""\
config: verdicts.yaml
cases:
  - name: a delay
    request: curl http://a.test/slow
    origin: { status: 200 }
    expect: { took: 800ms, applied: slow, received: { status: 200 } }
  - name: an origin that recovers
    request: curl http://a.test/again
    origin: [{ status: 503 }, { status: 503 }, { status: 200, body: ok }]
    expect: { took: 750ms, applied: again, sent: [{}, {}, {}], received: { body: ok } }
  - name: an origin that does not
    request: curl http://a.test/again
    origin: { status: 503, body: busy }
    expect: { took: 750ms, sent: [{}, {}, {}], received: { status: 503, body: busy } }
  - name: nobody is there at first
    request: curl http://a.test/anew
    origin: [{ error: refused }, { status: 200 }]
    expect: { took: 50ms, applied: anew, received: { status: 200 } }
  - name: nobody answers
    request: curl http://a.test/excuse
    origin: { error: reset }
    expect: { applied: excuse, received: { status: 200, json: { /offline: true } } }
  - name: another error
    request: curl http://a.test/excuse
    origin: { error: dns }
    expect: { applied: [], received: { status: 502 } }
""")
    assert done.returncode == 0, done.stdout + done.stderr


def test_explain_tells_of_what_comes_in_place_of_an_answer(call, tmp_path):
    config = tmp_path / "verdicts.yaml"
    config.write_text(VERDICTS)
    answer = tmp_path / "answer"
    answer.write_text("HTTP/1.1 503 Busy\n\n")
    done = call("explain", "--config", config, "--response", answer, given="curl http://a.test/again")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("excuse: its condition tests the error") == 1
    for line in ("Interceptors of the response, attempt 3", "Sent again", "Received"):
        assert line in done.stdout.splitlines(), done.stdout
    told = json.loads(
        call("explain", "--config", config, "--response", answer, "--json", given="curl http://a.test/again").stdout)
    again = next(one for one in told["interceptors"] if one["name"] == "again")
    assert [phase["attempt"] for phase in again["phases"]] == [1, 2, 3] and len(told["sent"]) == 3


def test_junit(test, tmp_path):
    path = tmp_path / "out.xml"
    done = test(CASES + one("action: 'a<b&c'").partition("cases:\n")[2], "--junit", path)
    assert done.returncode == 1
    suites = xml.parse(path).getroot()
    assert suites.attrib == {"tests": "6", "failures": "1"}
    (suite,) = suites
    assert suite.get("tests") == "6" and suite.get("failures") == "1" and len(suite) == 6
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "action" and "- a<b&c\n+ none" in failure.text


@pytest.mark.parametrize("text, place, words", [
    ("", "1:1", "the file is empty"),
    ("config: usher.yaml\ncases: []\n", "2:8", "the file has no case"),
    ("config: usher.yaml\n", "1:1", 'lacks the key "cases"'),
    (one("recieved: { status: 200 }"), "8:7", 'did you mean "received"'),
    (one("received: { stauts: 200 }"), "8:19", 'did you mean "status"'),
    (one("sent: { json: { x: 1 } }"), "8:23", "JSON pointer"),
    (one("sent: some"), "8:13", "none, or the keys of a message"),
    (one("applied: [amuont]"), "8:7", 'no interceptor is named "amuont"'),
    (one("{}"), "8:7", "expect is empty"),
    (one("action: none", request="nonsense"), "5:14", "not an HTTP request"),
    (one("action: none", request="{ url: http://a.test/, body: x, json: 1 }"), "5:14", "one body"),
    (one("action: none", request="{ url: http://a.test/, file: none.txt }"), "5:43", "does not exist"),
    (one("action: none", origin="{ error: refusd }"), "6:22", 'did you mean "refused"'),
    (one("action: none", origin="nonsense"), "6:13", "not an HTTP response"),
    (one("sent: { url: '~(' }"), "8:20", "not a valid regular expression"),
])
def test_a_file_of_cases_that_is_no_good(test, text, place, words):
    done = test(text)
    assert done.returncode == 2, done.stdout
    assert f"cases.yaml:{place}: error: " in done.stderr and words in done.stderr, done.stderr


def test_the_configuration(test, tmp_path, call):
    assert test(CASES.replace("config: usher.yaml\n", "")).returncode == 2
    other = tmp_path / "other.yaml"
    other.write_text("version: 1\nwrong: 1\n")
    done = test(CASES, "--config", other)
    assert done.returncode == 1 and "other.yaml:2:1: error" in done.stderr
    assert call("test", tmp_path / "none.yaml").returncode == 2
    assert call("test").returncode == 2


def test_a_folder_of_cases(test, tmp_path, call):
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in ("b.yaml", "a.yaml"):
        (folder / name).write_text(CASES.replace("config: usher.yaml", "config: ../usher.yaml"))
    done = call("test", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "10 passed, 0 failed"
    assert done.stdout.index("a.yaml") < done.stdout.index("b.yaml")
