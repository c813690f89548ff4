"""The page that the daemon serves: by which link, to whom, and what its routes answer."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import urllib.parse

import pytest

import admin
import people
import programs
import shop
import wire
from looked import Site

FILES = {"index.html": "<!doctype html><title>Usher</title>", "app.js": "'use strict'", "app.css": "body{}"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


class Page:
    """A browser's place at the page of a daemon."""

    def __init__(self, person, *options):
        done = person.says("ui", "--no-browser", "--json", *options)
        assert done.returncode == 0, done.stderr
        link = urllib.parse.urlsplit(json.loads(done.stdout)["url"])
        self.port, self.key, self.token = link.port, link.fragment.removeprefix("key="), None
        assert link.hostname == "127.0.0.1" and link.query == ""

    def asks(self, method, path, body=None, token=True, **fields):
        """Status, fields and bytes of one request; the fields of a page's script come with it."""
        fields = {"Sec-Fetch-Site": "same-origin", **{name.replace("_", "-"): value for name, value in fields.items()}}
        if token and self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            fields["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def enters(self, key=None, **fields):
        status, _, body = self.asks("POST", "/v1/page/login", {"key": key or self.key}, token=False, **fields)
        if status == 200:
            self.token = json.loads(body)["token"]
        return status

    def json(self, method, path, body=None):
        status, fields, text = self.asks(method, path, body)
        return status, json.loads(text)


@pytest.fixture
def installed(binary, tmp_path):
    """The program with the files of a page beside it."""
    web = tmp_path / "share/usher/web"
    web.mkdir(parents=True)
    for name, text in FILES.items():
        (web / name).write_text(text)
    (web / "secret.txt").write_text("not of the page")
    program = tmp_path / "bin/usher"
    program.parent.mkdir()
    try:
        os.link(os.path.realpath(binary), program)
    except OSError:
        shutil.copy(binary, program)
    return program


@pytest.fixture
def served(installed, write_config, state):
    usher = programs.Usher(installed, write_config({"workers": 1}), state=state)
    yield usher, people.Person(installed, state)
    assert usher.stop() == 0, usher.errors


@pytest.fixture
def site(binary, start, origin, through, state):
    return Site(binary, start, origin, through, state, {})


def test_the_files(served):
    usher, person = served
    page = Page(person)
    for name, text in FILES.items():
        status, fields, body = page.asks("GET", "/" if name == "index.html" else f"/{name}")
        assert (status, body.decode()) == (200, text), name
        assert {name: fields[name] for name in HEADERS} == HEADERS
        assert "Set-Cookie" not in fields
    assert page.asks("GET", "/app.js")[1]["Content-Type"] == "text/javascript; charset=utf-8"
    for path in ("/secret.txt", "/index.html", "/../share/usher/web/app.js", "/%2e%2e/secret.txt", "/app.js/"):
        assert page.asks("GET", path)[0] == 401, path
    # a navigation from a terminal or a bookmark
    assert page.asks("GET", "/", Sec_Fetch_Site="none")[0] == 200
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(wire.request("GET", "http://usher.proxy/app.js"))
        assert answer.status == 404 and FILES["app.js"].encode() not in answer.body, "the proxy's own page never has it"


def test_a_page_that_is_not_built_says_how(start, state):
    usher = start({"workers": 1}, state=state)
    page = Page(people.Person(usher.command[0], state))
    if any(os.path.exists(f"{parent}/web/index.html") for parent in [str(usher.command[0]).partition("/.build/")[0] + "/.build"]):
        pytest.skip("it is built here")
    status, fields, body = page.asks("GET", "/")
    assert status == 200 and fields["Content-Type"].startswith("text/plain") and b"scripts/web" in body


def test_a_link_works_once(served):
    usher, person = served
    page = Page(person)
    assert page.asks("GET", "/v1/status")[0] == 401
    assert page.enters("x" * 32) == 403
    assert page.enters() == 200
    assert page.json("GET", "/v1/status")[0] == 200
    first = page.token
    assert page.enters() == 403, "a key works once"
    other = Page(person)
    assert other.port == page.port and other.key != page.key and other.enters() == 200
    assert usher.process.poll() is None and page.asks("GET", "/v1/status")[0] == 200
    # a reload keeps it
    assert person.says("reload").returncode == 0
    assert page.asks("GET", "/v1/status")[0] == 200 and page.token == first
    for path, body in (("/v1/page/login", {}), ("/v1/page/login", {"key": 1}), ("/v1/page/login", {"key": "x", "y": 1})):
        assert page.json("POST", path, body)[0] == 422


def test_links_have_a_limit_and_their_port(served):
    usher, person = served
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = person.says("ui", "--no-browser", "--port", taken.getsockname()[1])
        assert done.returncode == 1 and "another program uses that port" in done.stderr
        free = taken.getsockname()[1]
    page = Page(person, "--port", free)
    assert page.port == free
    done = person.says("ui", "--no-browser", "--port", usher.port)
    assert done.returncode == 1 and f"the page is at port {free}" in done.stderr
    assert person.says("ui", "--port", "0").returncode == 2
    for _ in range(15):
        assert person.asks("POST", "/v1/page/links")[0].status == 200
    answer, problem = person.asks("POST", "/v1/page/links")
    assert answer.status == 429 and "unused" in problem["detail"] and 0 < int(answer.headers["Retry-After"]) <= 120
    assert page.enters() == 200 and person.asks("POST", "/v1/page/links", {"port": free})[0].status == 200
    for odd in ({"port": 0}, {"port": "x"}, {"ports": 1}):
        assert person.asks("POST", "/v1/page/links", odd)[0].status == 422


def test_what_the_command_prints(served):
    _, person = served
    done = person.says("ui", "--no-browser", SSH_CONNECTION="192.0.2.1 1 192.0.2.2 22")
    first, hint = done.stdout.splitlines()
    assert first.startswith("The page: http://127.0.0.1:") and first.endswith("(valid for 2 minutes, once)")
    port = urllib.parse.urlsplit(first.split()[2]).port
    assert hint.endswith(f"ssh -L {port}:127.0.0.1:{port} host")
    done = person.says("ui", "--no-browser", SSH_CONNECTION="")
    assert len(done.stdout.splitlines()) == 1


def test_no_browser_is_opened_without_a_desktop(served, tmp_path):
    _, person = served
    opener = tmp_path / "xdg-open"
    opener.write_text(f"#!/bin/sh\necho \"$1\" >{tmp_path}/opened\n")
    opener.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WAYLAND_DISPLAY": ""}
    assert person.says("ui", DISPLAY="", **path).returncode == 0
    assert person.says("ui", "--no-browser", DISPLAY=":1", **path).returncode == 0
    assert not (tmp_path / "opened").exists()
    done = person.says("ui", DISPLAY=":1", **path)
    assert done.returncode == 0
    # other users see the arguments of programs
    file = pathlib.Path((tmp_path / "opened").read_text().strip())
    assert f'content="0;url={done.stdout.split()[2]}"' in file.read_text() and file.stat().st_mode & 0o777 == 0o600


def test_without_a_daemon(binary, state):
    state.mkdir()
    person = people.Person(binary, state)
    status, ui = person.says("status"), person.says("ui")
    assert (ui.returncode, ui.stderr) == (status.returncode, status.stderr) and "no daemon responds" in ui.stderr


@pytest.mark.parametrize("fields", [
    {"Host": "attacker.test"}, {"Host": "127.0.0.2"}, {"Origin": "http://attacker.test"}, {"Origin": "null"},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://localhost"},
])
def test_other_origins_get_nothing(served, fields):
    _, person = served
    page = Page(person)
    assert page.enters(**fields) in (403, 421)
    for path in ("/", "/app.js", "/v1/status"):
        assert page.asks("GET", path, **fields)[0] in (403, 421), path
    assert page.enters() == 200, "the key was not used up"
    # a link that a person follows from elsewhere opens the page, which holds nothing yet
    followed = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document", "Sec_Fetch_Site": "cross-site"}
    if not {"Host", "Origin"} & set(fields):
        assert page.asks("GET", "/", token=False, **followed)[0] == 200
        assert page.asks("GET", "/v1/status", **followed)[0] == 403
    assert page.asks("GET", "/v1/status", **fields)[0] in (403, 421)
    assert page.asks("GET", "/v1/status", Origin=f"http://127.0.0.1:{page.port}")[0] == 200


def test_the_page_at_the_admin_port(installed, write_config, state):
    usher = programs.Usher(installed, write_config(admin.CONFIG), state=state, environment={"ADMIN_TOKEN": admin.TOKEN})
    port, page = admin.Port(usher), Page(people.Person(installed, state))
    status, fields, body = port.curl("/", token=None)
    assert (status, body.decode()) == (200, FILES["index.html"]) and "content-security-policy" in fields
    # neither does the page's key work here, nor the token of one at the other
    assert port.json("/v1/page/login", "--json", json.dumps({"key": page.key}), token=None)[0] == 403
    assert port.json("/v1/page/links", "-X", "POST")[0] == 403
    assert page.enters() == 200
    assert port.curl("/v1/status", token=page.token)[0] == 401
    assert page.asks("GET", "/v1/status", token=False, Authorization=f"Bearer {admin.TOKEN}")[0] == 401
    assert usher.stop() == 0


def test_no_client_of_the_proxy_gets_there(served):
    usher, person = served
    page = Page(person)
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(wire.request("GET", f"http://127.0.0.1:{page.port}/"))
        assert answer.status >= 400 and FILES["index.html"].encode() not in answer.body


def test_an_upgrade_closes_it(installed, write_config, state):
    usher = programs.Usher(installed, write_config({"workers": 1}), state=state)
    person = people.Person(installed, state)
    page = Page(person)
    assert page.enters() == 200
    done = person.says("upgrade")
    assert done.returncode == 0, done.stderr
    next_page = Page(person)
    assert next_page.asks("GET", "/")[0] == 200 and next_page.enters() == 200
    if next_page.port != page.port:
        with pytest.raises(ConnectionRefusedError):
            page.asks("GET", "/")
    pid = next_page.json("GET", "/v1/status")[1]["pid"]
    assert pid != usher.process.pid and usher.stop() == 0
    os.kill(pid, signal.SIGTERM)
    programs.eventually(lambda: not os.path.exists(f"/proc/{pid}"), "the new process ends")


def test_secrets_are_shown_to_the_owner_and_noted(binary, write_config, origin, state):
    config = {"workers": 1, "journal": {"reveal": True}, "state": {"key": "${env.KEY}"}}
    usher = programs.Usher(
        binary, write_config(config), environment={"KEY": "a key of thirty-two bytes or more"}, state=state)
    server = origin(lambda _: wire.response(body=b"hi"))
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.exchange(wire.request("GET", f"http://127.0.0.1:{server.port}/", [("Authorization", "Bearer a-token-0123456789")]))
    page = Page(people.Person(binary, state))
    assert page.enters() == 200
    flows = programs.eventually(lambda: page.json("GET", "/v1/flows")[1]["flows"], "the flow")
    id = flows[0]["id"]
    assert b"a-token-0123456789" not in page.asks("GET", f"/v1/flows/{id}")[2]
    assert b"a-token-0123456789" in page.asks("GET", f"/v1/flows/{id}?reveal=true")[2]
    assert b"a-token-0123456789" in page.asks("GET", f"/v1/flows/{id}/copy?as=curl&reveal=true")[2]
    noted = f"usher: the secrets of flow {id} are shown on the page"
    usher.wait_for(lambda: list(usher.errors).count(noted) == 2, "the notes")
    # an edited replay fills them in as well, but only for the same host
    edits = {"headers": [["Authorization", "Bearer token#1"], ["X-New", "1"]]}
    assert page.json("POST", f"/v1/flows/{id}/replay", {"edits": edits})[0] == 200
    asked = server.requests[-1]
    assert ("Authorization", "Bearer a-token-0123456789") in [tuple(field) for field in asked.fields]
    count = len(server.requests)
    status, problem = page.json("POST", f"/v1/flows/{id}/replay", {"edits": {"url": f"http://localhost:{server.port}/"}})
    assert status == 422 and "may go only to 127.0.0.1" in problem["detail"] and len(server.requests) == count
    assert usher.stop() == 0


def test_replay_with_edits(site):
    site.client.post(site.url + "/json?a=1", data=b"first", headers={"X-Mine": "1"}, timeout=10)
    id = site.flows(count=1)[0]["id"]
    path = f"/v1/flows/{id}/replay"
    edits = {"method": "PUT", "url": f"{site.url}/chunked?b=2", "headers": [["X-Mine", "2"], ["X-Mine", "3"]], "body": "second"}
    answer, done = site.person.asks("POST", path, {"edits": edits})
    assert answer.status == 200 and done["status"] == 200
    asked = site.origin.requests[-1]
    assert asked.line.startswith("PUT ") and asked.target.endswith("/chunked?b=2") and asked.body == b"second"
    assert [value for name, value in map(tuple, asked.fields) if name == "X-Mine"] == ["2", "3"]
    for odd in ({"method": "A B"}, {"method": "GET / HTTP/1.1\r\nX:"}, {"url": "nowhere"}, {"headers": [["X:", "1"]]}, {"headers": [["X", "a\nb"]]},
                {"headers": [["X"]]}, {"headers": {}}, {"body": 1}, {"verb": "GET"}):
        assert site.person.asks("POST", path, {"edits": odd})[0].status == 422, odd
    assert site.person.asks("POST", path, {"edits": {"headers": [["Cookie", "a=session#7"]]}})[0].status == 422
    assert site.person.asks("POST", path, {"force": "yes"})[0].status == 422
    assert site.person.asks("POST", path, {"force": True})[0].status == 200


@pytest.mark.parametrize("method, path, body", [
    ("POST", "/json?a=1", '{"a": "${env.HOME}"}'), ("~null", "/json/*,~('$" + 60 * "x", '"\x7f\x85\u2028\ufeff\uffff"'),
], ids=["plain", "odd"])
def test_copies(site, tmp_path, method, path, body):
    site.client.request(
        method, site.url + path, data=body.encode(), headers={"Content-Type": "application/json"}, timeout=10)
    id = site.flows(count=1)[0]["id"]
    page = Page(site.person)
    assert page.enters() == 200

    def copy(form):
        status, fields, body = page.asks("GET", f"/v1/flows/{id}/copy?as={form}")
        assert status == 200 and fields["Content-Type"] == "text/plain; charset=utf-8"
        return body.decode()

    for form in ("curl", "http", "test", "rule"):
        assert site.person.says("flow", id, f"--{form}").stdout.replace("\r\n", "\n").strip() == copy(form).replace("\r\n", "\n").strip()
    cases = tmp_path / "cases.yaml"
    cases.write_text(copy("test"))
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\n")
    done = site.person.says("test", "--config", config, cases)
    assert done.returncode == 0, done.stdout + done.stderr
    config.write_text("version: 1\n" + copy("rule"))
    done = site.person.says("check", config)
    assert done.returncode == 0, done.stdout + done.stderr
    done = site.person.says("explain", "--config", config, "--json", given=copy("http"))
    assert json.loads(done.stdout)["interceptors"][0]["matched"] is True
    assert page.asks("GET", f"/v1/flows/{id}/copy")[0] == 400
    assert page.asks("GET", f"/v1/flows/{id}/copy?as=wget")[0] == 400


def test_rates(site):
    for path in ("/json", "/missing", "/json"):
        site.get(path)
    with site.client.get("http://127.0.0.1:1/", timeout=10) as refused:
        assert refused.status_code == 502

    def counted():
        rates = site.person.asks("GET", "/v1/rates")[1]
        found = rates["points"][-1]["actions"]
        return found[0] if found and found[0]["requests"] >= 4 else None

    rate = programs.eventually(counted, "four requests")
    assert (rate["action"], rate["requests"], rate["errors"], rate["step_ups"]) == ("", 4, 1, 0)
    assert 0 <= rate["p50_ms"] <= rate["p95_ms"] <= rate["p99_ms"] <= 30_000


def test_explanations(start, state):
    usher = start({"interceptors": [{"name": "marks", "when": {"host": "a.test"}, "request": [{"set_header": {"X": "1"}}]}]}, state=state)
    page = Page(people.Person(usher.command[0], state))
    assert page.enters() == 200
    status, told = page.json("POST", "/v1/explain", {"request": "curl http://a.test/x"})
    assert status == 200 and told["interceptors"][0]["matched"] is True and ["X", "1"] in told["forwarded"]["headers"]
    done = page.json("POST", "/v1/explain", {"request": "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n", "response": "HTTP/1.1 204 None\n\n"})
    assert done[0] == 200 and done[1]["response"]["status"] == 204
    for odd in ({}, {"request": 1}, {"request": "curl"}, {"request": "GET http://a.test/", "response": 1},
                {"request": "curl http://a.test/", "answer": "x"}):
        status, problem = page.json("POST", "/v1/explain", odd)
        assert status == 422 and problem["detail"], odd


def test_catalogues(site):
    answer, faults = site.person.asks("GET", "/v1/faults")
    assert answer.status == 200 and faults == json.loads(site.person.says("faults", "--json").stdout)
    keys = {key["key"]: key for key in site.person.asks("GET", "/v1/filter")[1]["keys"]}
    assert "AUTHENTICATE" in keys["action"]["values"] and "header." in keys and "values" not in keys["path"]
    for key in keys.values():
        value = {"port": "1", "path": "/", "flow": "1", "parent": "1", "session": "s-4f2a", "slower": "1s", "larger": "1B", "since": "1m", "until": "1m"}.get(key["key"])
        for value in key.get("values") or [value or "x"]:
            name = key["key"] + ("x" if key["key"].endswith(".") else "")
            answer, told = site.person.asks("GET", f"/v1/flows?filter={name}%3D{urllib.parse.quote(value)}")
            assert answer.status == 200, told
    assert "did you mean status" in site.person.asks("GET", "/v1/flows?filter=statu%3D200")[1]["detail"]


def test_waiting_step_ups_are_followed(start, sandbox, state):
    usher = start(shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s"), state=state)
    person = people.Person(usher.command[0], state)
    page = Page(person)
    assert page.enters() == 200
    stream = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
    stream.request("GET", "/v1/transactions/stream", headers={"Authorization": f"Bearer {page.token}"})
    answer = stream.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"

    def event():
        lines = []
        while True:
            line = answer.readline().decode()
            if line == "\n" and lines:
                break
            if line not in ("\n", ":\n"):
                lines.append(line.rstrip("\n"))
        assert lines[0] == "event: transactions"
        return json.loads(lines[1].removeprefix("data: "))

    assert event() == {"transactions": [], "most": 1000}
    app = people.App(usher, sandbox, shop.login(sandbox), "/one")
    waiting = event()["transactions"]
    assert len(waiting) == 1 and waiting[0]["id"] == person.sees(1)[0]["id"]
    assert person.asks("POST", f"/v1/transactions/{waiting[0]['id']}/deny")[0].status == 200
    assert event()["transactions"] == []
    app.answer()
    app.close()
    stream.close()
