"""Interceptors that are built in, but for those that log in for a cookie; and how a configuration's are listed."""

import json

import pytest

from wire import Connection, request, response


@pytest.fixture
def play(start):
    def begin(*interceptors):
        usher = start({"workers": 1, "interceptors": list(interceptors)})
        return usher, Connection(("127.0.0.1", usher.port))

    return begin


@pytest.mark.parametrize("send, brings, expected", [
    ("missing", None, ["Basic YTpi"]),
    ("missing", "Bearer x", ["Bearer x"]),
    ("always", "Bearer x", ["Basic YTpi"]),
    ("challenged", None, [None, "Basic YTpi"]),
    ("challenged", "Bearer x", ["Bearer x", "Basic YTpi"]),
])
def test_basic_authentication(play, origin, send, brings, expected):
    def serve(got):
        if got.get("authorization") == "Basic YTpi":
            return response(body=b"it")
        return response(401, fields=[("WWW-Authenticate", 'Digest realm="x", Basic realm="a, b"')])

    server = origin(serve)
    _, client = play({
        "name": "basic", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"}, "basic_auth": {"user": "a", "password": "b", "send": send}})
    got = client.exchange(
        request("POST", f"{server.url}/", [("Authorization", brings)] if brings else [], b"body"))
    assert [one.get("authorization") for one in server.requests] == expected
    assert got.status == (200 if expected[-1].startswith("Basic") else 401)
    assert {one.body for one in server.requests} == {b"body"}


def test_a_challenge_is_answered_once(play, origin):
    server = origin(lambda got: response(401, fields=[("WWW-Authenticate", "Basic realm=x")], body=b"no"))
    _, client = play({
        "name": "basic", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"},
        "basic_auth": {"user": "a", "password": "b", "send": "challenged"}})
    got = client.exchange(request("GET", f"{server.url}/"))
    assert (got.status, got.body) == (401, b"no") and len(server.requests) == 2


def test_what_a_busy_server_turns_away_is_sent_again(play, origin):
    answers = [response(429), response(503), response(body=b"it")]
    server = origin(lambda got: answers[min(len(server.requests), 3) - 1])
    _, client = play({"name": "busy", "replay": {"after": "20ms"}})
    assert client.exchange(request("GET", f"{server.url}/")).status == 200 and len(server.requests) == 3
    _, client = play({"name": "busy", "replay": {"status": 429, "after": "20ms"}})
    server.requests.clear()
    assert client.exchange(request("GET", f"{server.url}/")).status == 503 and len(server.requests) == 2


LIST = """version: 1
interceptors:
  - { name: agent, percent: 30, user_agent: Shop/2 }
  - name: couch
    when: { host: db.example.com, not: { path: "/public/*" } }
    session_cookie: { user: "${credential.robot}", password: "${credential.robot}" }
  - name: edit
    when: { any: [{ action: AUTHENTICATE, tree: "~^Log" }, { header: { X-Key: "${credential.robot}" } }], status: [4xx, 503] }
    response: [{ set_header: { A: b } }, { delay: 1s }]
  - { name: turned-away, replay: { times: 1 } }
"""


@pytest.fixture
def listed(call, write_config, tmp_path):
    (tmp_path / "robot").write_text("hunter2")
    path = write_config(LIST)

    def run(*options):
        return call("check", path, "--explain", *options, CREDENTIALS_DIRECTORY=str(tmp_path))

    return run


def test_T53_the_interceptors_of_a_configuration(listed):
    done = listed()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split("  ") for line in done.stdout.split("\n\n", 1)[1].splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells == [
        ["INTERCEPTOR", "KIND", "CONCERNS", "DOES"],
        ["agent", "user_agent", "everything (percent: 30)", "sets the header User-Agent"],
        ["couch", "session_cookie", "host db.example.com and not (path /public/*)",
         "logs in at /_session for the cookie AuthSession, only https to port 443"],
        ["edit", "edits",
         "(action AUTHENTICATE and tree ~^Log or header X-Key) and status 4xx or 503", "response: set_header, delay"],
        ["turned-away", "replay", "status 429 or 503", "sends refused requests again, once at most"],
    ]
    assert "hunter2" not in done.stdout and "\x1b" not in done.stdout


def test_T53_one_of_them_is_taken_out(call, write_config):
    """What is built in stands in the list like everything else."""
    path = write_config("\n".join(line for line in LIST.splitlines() if "couch" not in line and "db.example" not in line
                                  and "session_cookie" not in line), "less.yaml")
    done = call("check", path, "--explain", "--json", CREDENTIALS_DIRECTORY=str(path.parent))
    report = json.loads(done.stdout)
    # the list needs no secrets, and says which are missing
    notes = [one["message"] for one in report["diagnostics"] if one["severity"] == "note"]
    assert done.returncode == 0 and [note for note in notes if "credential" in note and "robot" in note], done.stdout
    (path.parent / "robot").write_text("hunter2")
    done = call("check", path, "--explain", "--json", CREDENTIALS_DIRECTORY=str(path.parent))
    assert not json.loads(done.stdout)["diagnostics"]
    assert [one["name"] for one in json.loads(done.stdout)["interceptors"]] == ["agent", "edit", "turned-away"]


def test_the_interceptors_as_json(listed):
    report = json.loads(listed("--json").stdout)
    assert [one["name"] for one in report["interceptors"]] == ["agent", "couch", "edit", "turned-away"]
    assert report["interceptors"][1] == {
        "name": "couch", "kind": "session_cookie", "concerns": "host db.example.com and not (path /public/*)",
        "does": "logs in at /_session for the cookie AuthSession, only https to port 443"}


def test_a_configuration_without_interceptors(call, write_config):
    assert call("check", write_config({}), "--explain").stdout.endswith("good\n\nno interceptors\n")
