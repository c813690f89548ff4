"""usher explain of requests in HTTP/2: what is understood, what is said of it, and that it is what the daemon does."""

import json
import subprocess

import pytest

OPEN = """\
version: 1
tls: { intercept: ["*.test"], ca: { constrain_to: [test] } }
interceptors:
  - name: tag
    when: { host: shop.test }
    request: [{ set_header: { X-Tag: "1" } }]
"""

FIELDS = """\
:method: POST
:scheme: https
:authority: shop.test
:path: /x?y=1
cookie: a=1
cookie: b=2
content-type: text/plain

hello
"""


@pytest.fixture
def explain(binary, write_config):
    def run(given, *more, config=OPEN):
        return subprocess.run(
            [str(binary), "explain", "--config", str(write_config(config)), *more], input=given, capture_output=True,
            text=True, timeout=30)

    return run


def lower(pairs):
    return {name.lower(): value for name, value in pairs}


def test_fields_as_browsers_show_them(explain):
    told = json.loads(explain(FIELDS, "--json").stdout)
    assert told["protocol"] == "HTTP/2"
    assert (told["request"]["method"], told["request"]["url"]) == ("POST", "https://shop.test/x?y=1")
    forwarded = lower(told["forwarded"]["headers"])
    assert forwarded["via"] == "2.0 usher" and forwarded["x-tag"] == "1" and forwarded["cookie"] == "a=1; b=2"
    # nothing said how long the body is, and HTTP/1 has to know
    assert forwarded["transfer-encoding"] == "chunked" and told["forwarded"]["body"] == "hello\n"
    text = explain(FIELDS).stdout.splitlines()
    assert "Protocol     HTTP/2" in text and "+ X-Tag: 1" in text, text


def test_the_answer_of_a_stream(explain, tmp_path):
    answer = tmp_path / "answer.http"
    answer.write_text("HTTP/2 200\nserver: x\n\nhello")
    told = json.loads(explain(FIELDS, "--response", str(answer), "--json").stdout)
    assert (told["received"]["status"], told["received"]["body"]) == (200, "hello")
    assert lower(told["received"]["headers"])["via"] == "1.1 usher"


@pytest.mark.parametrize("url, options, protocol, words", [
    ("https://shop.test/", "--http2", "HTTP/2", "Protocol     HTTP/2"),
    ("https://shop.test/", "--http2-prior-knowledge", "HTTP/2", "Protocol     HTTP/2"),
    ("https://shop.test/", "--http1.1", "HTTP/1.1", None),
    ("http://shop.test/", "--http2", "HTTP/1.1", "Protocol     HTTP/1.1: clients use it with a proxy for http URLs"),
])
def test_curl(explain, url, options, protocol, words):
    command = f"curl {options} -d a=1 {url}"
    told = json.loads(explain(command, "--json").stdout)
    assert told["protocol"] == protocol and told["forwarded"]["body"] == "a=1"
    assert lower(told["forwarded"]["headers"])["via"] == ("2.0 usher" if protocol == "HTTP/2" else "1.1 usher")
    said = [line for line in explain(command).stdout.splitlines() if line.startswith("Protocol")]
    assert said == ([words] if words else [])


def test_a_tunnel_in_a_stream(explain):
    done = explain(":method: CONNECT\n:authority: a.test:443\n")
    assert "Not forwarded: this opens a tunnel" in done.stdout and "Protocol     HTTP/2" in done.stdout, done.stdout
    done = explain(":method: CONNECT\n:authority: a.test:25\n", config=OPEN + "destinations: { connect_ports: [443] }\n")
    assert "status 403" in done.stdout, done.stdout


def test_where_clients_are_not_offered_it(explain):
    config = OPEN + "http2: { clients: false }\n"
    done = explain("curl --http2 https://shop.test/", config=config)
    assert "Protocol     HTTP/1.1: http2.clients is false, and HTTP/2 is not offered" in done.stdout, done.stdout
    told = json.loads(explain("curl --http2 https://shop.test/", "--json", config=config).stdout)
    assert told["protocol"] == "HTTP/1.1" and lower(told["forwarded"]["headers"])["via"] == "1.1 usher"
    # who does not ask is not understood
    done = explain(FIELDS.replace(":scheme: https", ":scheme: http"), config=config)
    assert "Not forwarded: response of usher with status 505: " in done.stdout, done.stdout


@pytest.mark.parametrize("line, words", [
    (":path: /x?y=1", "without :path: a pseudo-field that the message needs is missing"),
    (":scheme: https", "without :scheme"), (":authority: shop.test", "without :authority"),
])
def test_what_is_missing(explain, line, words):
    done = explain(FIELDS.replace(line + "\n", ""))
    assert done.returncode == 2 and words in done.stderr and not done.stdout, done.stderr


@pytest.mark.parametrize("old, new, words", [
    (":path: /x?y=1", ":path: /x#top", "line 4, :path: /x#top: the request target holds a character that a URL may not hold"
     " (remove the fragment, from # on, which clients do not send)"),
    (":path: /x?y=1", ":path: /x\n:path: /y", "line 5, :path: /y: a pseudo-field stands there twice"),
    (":authority: shop.test", ":authority: me:pw@shop.test", "line 3, :authority: "),
    ("content-type", "Content-Type", "line 7, Content-Type: text/plain: a field name holds a capital letter"),
    ("content-type", "transfer-encoding", "a field speaks of the connection"),
])
def test_what_breaks_a_rule(explain, old, new, words):
    done = explain(FIELDS.replace(old, new))
    assert done.returncode == 2 and words in done.stderr and not done.stdout, done.stderr


def test_a_case_in_http2(binary, write_config, tmp_path):
    config = write_config(OPEN)
    cases = tmp_path / "cases.yaml"
    cases.write_text(f"""\
config: {config}
cases:
  - name: tagged in a stream
    request: curl --http2 https://shop.test/x
    origin: {{ status: 200, body: hello }}
    expect:
      applied: tag
      sent: {{ headers: {{ X-Tag: "1", Via: "2.0 usher" }} }}
      received: {{ status: 200, body: hello }}
      connection: open
""")
    done = subprocess.run([str(binary), "test", str(cases)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
