"""Test sessions: each has rules, counts and a proxy URL of its own, and nobody else sees them."""

import base64
import concurrent.futures
import json
import re
import ssl

import pytest
import requests

import inside
import programs
import shop
import wire
from admin import CONFIG, TOKEN, Port
from staging import answering, staging  # noqa: F401


@pytest.mark.parametrize("way", ["credentials", "port", "field"])
def test_each_way_to_name_a_session(staging, way):
    here = staging()
    session = here.opened("--port", "--overlay", here.overlay(answering(418, "/tea")))
    field = {session["header"]["name"]: session["header"]["value"]}
    proxy = {"credentials": session["proxy"], "port": session["port"], "field": None}[way]
    fields = field if way == "field" else {}
    assert here.get("/tea", proxy, headers=fields).status_code == 418
    assert here.get("/tea").status_code == 200, "without the session the rule does not apply"
    echoed = here.get("/echo", proxy, headers=fields).text.lower()
    assert "usher-session" not in echoed and "proxy-authorization" not in echoed
    assert here.usher.flow("/echo").access.get("session") == session["id"]
    here.usher.flow("/tea", count=2)
    assert {f.access.get("session") for f in here.usher.flows("/tea")} == {session["id"], None}


def test_a_closed_session_is_refused_in_every_way(staging):
    here = staging()
    session = here.opened("--port", "--name", "over")
    kept = wire.Connection(("127.0.0.1", here.usher.port))
    word = base64.b64encode(session["header"]["value"].encode()).decode()
    ask = wire.request("GET", here.place + "/kept", [("Proxy-Authorization", f"Basic {word}")])
    assert kept.exchange(ask).status == 200
    assert here.session("stop", "over").stdout == "closed over\n"
    answer = kept.exchange(ask)
    assert answer.status == 407 and b"there is no test session" in answer.body
    kept.close()
    assert here.get("/x", headers={"Usher-Session": session["header"]["value"]}).status_code == 403
    with pytest.raises(requests.exceptions.RequestException):
        here.get("/x", session["port"])
    gone = here.session("show", "over")
    assert gone.returncode == 1 and 'there is no open test session "over"' in gone.stderr


def test_a_session_ends_by_itself(staging):
    here = staging()
    session = here.opened("--ttl", "1s")
    programs.eventually(
        lambda: json.loads(here.session("list", "--json").stdout)["sessions"] == [], "the end of the session")
    assert here.get("/x", session["proxy"]).status_code == 407


def test_rules_come_and_go_while_it_runs(staging):
    here = staging()
    session = here.opened("--name", "t", "--overlay", here.overlay(
        {"interceptors": [{"name": "twice", "first": 2, "when": {"path": "/twice"},
                           "request": [{"respond": {"status": 299}}]}]}))
    proxy = session["proxy"]
    assert here.get("/twice", proxy).status_code == 299
    added = here.session("rule", "t", "add", "path=/pay method!=POST", "respond 429 { \"a\": 1 }", "--times", "1")
    assert added.stdout == "added rule-1\n", added.stderr
    assert here.get("/pay", proxy).json() == {"a": 1}
    assert here.get("/pay", proxy).status_code == 200
    # the count of the other rule has gone on
    assert [here.get("/twice", proxy).status_code for _ in range(2)] == [299, 200]
    assert here.get("/pay").status_code == 200
    listed = json.loads(here.session("rule", "t", "list", "--json").stdout)["rules"]
    assert [rule["name"] for rule in listed] == ["rule-1", "twice"]
    assert here.session("rule", "t", "remove", "rule-1").returncode == 0
    wrong = here.session("rule", "t", "remove", "rule-1")
    assert wrong.returncode == 1 and 'there is no added rule "rule-1"' in wrong.stderr


@pytest.mark.parametrize(("condition", "edit", "words"), [
    ("pth=/x", "respond 429", 'did you mean "path"?'),
    ("path", "respond 429", "write key=value"),
    ("path=/x", "respnd 429", "did you mean respond?"),
    ("path=/x", "respond 99", "takes a number from 200 to 599"),
    ("action=AUTHENTICAT", "respond 429", "AUTHENTICATE"),
])
def test_a_rule_that_is_wrong_names_the_remedy(staging, condition, edit, words):
    here = staging()
    here.opened("--name", "t")
    done = here.session("rule", "t", "add", condition, edit)
    assert done.returncode in (1, 2) and words in done.stderr, done.stderr


def test_an_overlay_with_faults_opens_nothing_and_names_all(staging):
    here = staging()
    overlay = here.overlay("interceptors:\n  - name: a\n    request: [{ respnd: {} }]\n  - nme: b\nlisten: 1\n")
    done = here.session("start", "--overlay", overlay)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) >= 3 and all(f"{overlay}:" in line for line in lines[:3]), done.stderr
    assert 'did you mean "respond"' in done.stderr and json.loads(
        here.session("list", "--json").stdout)["sessions"] == []


def test_an_overlay_reads_this_environment_and_no_file_of_the_daemon(staging, tmp_path):
    here = staging()
    secret = tmp_path / "secret"
    secret.write_text("of the daemon")
    text = "interceptors:\n  - name: a\n    request: [{ respond: { text: '%s' } }]\n"
    session = here.opened("--overlay", here.overlay(text % "hello ${env.WHO}"), WHO="world-of-tests")
    assert here.get("/", session["proxy"]).text == "hello world-of-tests"
    for reference in ["${env.ADMIN_TOKEN}", "${file:%s}" % secret, "${credential.x}"]:
        done = here.session("start", "--overlay", here.overlay(text % reference))
        assert done.returncode == 1 and "of the daemon" not in done.stderr and TOKEN not in done.stderr


def test_a_reload_keeps_sessions_and_their_rules(staging, write_config):
    here = staging()
    session = here.opened("--name", "t", "--overlay", here.overlay(answering(418, "/tea")))
    here.session("rule", "t", "add", "path=/pay", "respond 429")
    config = json.loads(open(here.usher.config).read())
    config["interceptors"] = [{"name": "new", "when": {"path": "/new"}, "request": [{"respond": {"status": 299}}]}]
    write_config(config, "usher-0.yaml")
    here.usher.process.send_signal(1)
    programs.eventually(lambda: here.get("/new", session["proxy"]).status_code == 299, "the new configuration")
    assert here.get("/tea", session["proxy"]).status_code == 418
    assert here.get("/pay", session["proxy"]).status_code == 429


def test_a_tunnel_belongs_to_its_session(staging, certificates, opening, secure_origin, call):
    usher = opening(dict(CONFIG), environment={"ADMIN_TOKEN": TOKEN})
    admin = Port(usher)
    status, session = admin.json(
        "/v1/sessions", "-d", json.dumps({"overlay": answering(418, "/tea")}), "-H", "Content-Type: application/json")
    assert status == 201
    server = secure_origin()
    word = base64.b64encode(session["header"]["value"].encode()).decode()
    context = inside.trusting(usher)
    for fields, expected in [(f"Proxy-Authorization: Basic {word}\r\n", 418), ("", 200)]:
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            authority = f"localhost:{server.port}"
            client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{fields}\r\n")
            assert client.read_head().status == 200
            inside.secured(client, context, "localhost")
            for _ in range(2):
                client.send(f"GET /tea HTTP/1.1\r\nHost: {authority}\r\n\r\n")
                assert client.read_response().status == expected


@pytest.mark.parametrize("spoken", [b"", b"not HTTP"], ids=["waiting", "relayed"])
def test_a_tunnel_ends_with_its_session(staging, spoken):
    here = staging()
    session = here.opened("--port")
    port = int(session["port"].rsplit(":", 1)[1])
    with wire.Connection(("127.0.0.1", port)) as client:
        authority = f"127.0.0.1:{here.origin.port}"
        client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
        assert client.read_head().status == 200
        client.send(spoken)
        here.session("stop", session["id"])
        client.end()


def test_flows_are_found_by_their_session(staging):
    here = staging()
    one, two = here.opened("--name", "one"), here.opened("--name", "two")
    for session, count in [(one, 2), (two, 1)]:
        for number in range(count):
            here.get(f"/{session['name']}/{number}", session["proxy"])
    here.get("/none")
    for session, count in [(one, 2), (two, 1)]:
        def listed():
            return here.admin.json(f"/v1/flows?filter=session%3D{session['id']}")[1]["flows"]
        programs.eventually(lambda: len(listed()) == count, "the flows of the session")
        assert all(f"/{session['name']}/" in flow["url"] and flow["session"] == session["id"] for flow in listed())


@pytest.mark.parametrize("way", ["field", "credentials"])
def test_a_flow_does_not_show_the_key_of_its_session(staging, way):
    here = staging()
    session = here.opened()
    if way == "field":
        here.get("/x", headers={"Usher-Session": session["header"]["value"]})
    else:
        here.get("/x", session["proxy"])
    [flow] = programs.eventually(
        lambda: here.admin.json(f"/v1/flows?filter=session%3D{session['id']}")[1]["flows"], "the flow")
    shown = here.admin.json(f"/v1/flows/{flow['id']}")[1]
    names = [field["name"].lower() for field in shown["request"]["fields"]]
    assert "host" in names and not {"usher-session", "proxy-authorization"} & set(names)


def test_a_session_that_is_not_there_is_wrong_use(staging, call):
    here = staging()
    here.opened("--name", "basket")
    ended = call(
        "verify", "--session", "baskets", "action=LOGOUT count=1", USHER_URL=here.admin.url, USHER_TOKEN=TOKEN)
    assert ended.returncode == 2 and "basket" in ended.stderr


def test_a_name_is_unique_and_an_id_needs_its_key(staging):
    here = staging()
    session = here.opened("--name", "t")
    again = here.session("start", "--name", "t")
    assert again.returncode == 1 and "a session named t is open" in again.stderr
    other = here.opened()
    mixed = session["id"] + ":" + other["header"]["value"].split(":")[1]
    assert here.get("/x", headers={"Usher-Session": mixed}).status_code == 403
    shown = here.session("show", "t", "--json").stdout
    assert session["header"]["value"].split(":")[1] not in shown


@pytest.mark.parametrize("body", [
    '{"name": "-x"}', '{"name": "s-1"}', '{"ttl": "10"}', '{"ttl": "25h"}', '{"overlay": 1}', '{"prt": true}',
    '{"port": 1}', '{"variables": {"A": 1}}', '{"name": null}', '{"overlay": null}',
])
def test_a_wish_that_is_wrong_is_refused(staging, body):
    here = staging()
    status, answer = here.admin.json("/v1/sessions", "-d", body, "-H", "Content-Type: application/json")
    assert status == 422 and answer["detail"]


# expectations


def test_a_session_judges_its_own_traffic(staging, tmp_path):
    here = staging({"expect": [{"name": "no errors", "when": {"status": "5xx"}, "count": "never"}]})
    overlay = here.overlay({"expect": [{"name": "paid", "when": {"path": "/pay", "method": "POST"}, "count": 1}]})
    one, two = here.opened("--name", "one", "--overlay", overlay), here.opened("--name", "two", "--overlay", overlay)
    requests.post(here.place + "/pay", proxies={"http": one["proxy"]}, timeout=30)
    here.get("/pay", two["proxy"])
    met = here.session("verify", "one", "--junit", tmp_path / "one.xml")
    assert met.returncode == 0 and "1 flow, 2 met, 0 unmet" in met.stdout, met.stdout + met.stderr
    unmet = here.session("verify", "two", "--junit", tmp_path / "two.xml")
    assert unmet.returncode == 1
    # the nearest miss, the deciding term, and a line to repeat it
    assert "method is GET" in unmet.stdout and re.search(rf"curl .*{here.place}/pay", unmet.stdout)
    assert 'failures="0"' in (tmp_path / "one.xml").read_text()
    assert 'failures="1"' in (tmp_path / "two.xml").read_text()


def test_a_report_is_not_behind_what_was_answered(staging):
    """Nothing is waited for: each answered request is in the next report, and in the list of flows."""
    here = staging()
    session = here.opened("--name", "t")
    assert here.session("expect", "t", "path=/each count>=1").stdout == "added path /each\n"
    for count in range(1, 30):
        here.get("/each", session["proxy"])
        report = here.admin.json("/v1/sessions/t/report")[1]
        assert report["flows"] == count and report["met"]
        assert len(here.admin.json(f"/v1/flows?filter=session%3D{session['id']}")[1]["flows"]) == count


def test_a_report_waits_for_what_is_missing(staging):
    here = staging()
    session = here.opened("--name", "t")
    here.session("expect", "t", "name=late path=/late count=1")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        report = pool.submit(here.session, "verify", "t", "--wait", "30s")
        here.get("/late", session["proxy"])
        assert report.result(60).returncode == 0
    here.session("expect", "t", "name=never path=/never count=1")
    done = here.session("verify", "t", "--wait", "300ms")
    assert done.returncode == 1 and "PENDING  never" in done.stdout


@pytest.mark.parametrize(("line", "words"), [
    ("use=am-clients", "am-client"), ("path=/x cuont=1", "unknown key"), ("path", "write key=value"),
    ("path=/x before=nobody", "nobody"),
])
def test_an_expectation_that_is_wrong_names_the_remedy(staging, line, words):
    here = staging()
    here.opened("--name", "t")
    done = here.session("expect", "t", line)
    assert done.returncode in (1, 2) and words in done.stderr, done.stderr


def test_nothing_to_judge_is_no_success(staging):
    here = staging()
    here.opened("--name", "t")
    done = here.session("verify", "t")
    assert done.returncode == 2 and "the session has no expectation" in done.stderr


def test_of_several_expectations_all_are_added_or_none(staging):
    here = staging()
    here.opened("--name", "t")
    assert here.session("expect", "t", "name=a path=/a count=1", "use=am-client").returncode == 0
    again = here.session("expect", "t", "name=b path=/b count=1", "use=am-client")
    assert again.returncode == 1 and "nothing was added" in again.stderr
    assert "  b  " not in here.session("verify", "t").stdout


def test_without_a_journal_nothing_can_be_expected(staging):
    here = staging({"journal": {"memory": "0B"}})
    here.opened("--name", "t")
    done = here.session("expect", "t", "path=/x count=1")
    assert done.returncode == 1 and "journal" in done.stderr


def test_a_fault_by_name_is_switched_on_and_off(staging, sandbox):
    here = staging({"am": [{"url": f"http://127.0.0.1:{sandbox.port}/am"}]})
    session = here.opened("--name", "t")
    url = f"http://127.0.0.1:{sandbox.port}/am/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login"
    def sign_in(proxy):
        return requests.post(url, proxies={"http": proxy}, timeout=30, headers={"Accept-API-Version": "resource=2.1"})
    assert here.session("fault", "t", "am-tree-unknown", "on", "--times", "1").returncode == 0
    assert sign_in(session["proxy"]).status_code == 400
    assert sign_in(session["proxy"]).status_code == 200, "it was for one exchange"
    here.session("fault", "t", "am-tree-unknown", "off")
    here.session("fault", "t", "am-tree-unknown", "on")
    assert sign_in(session["proxy"]).status_code == 400
    assert sign_in(here.usher.url).status_code == 200
    assert here.session("fault", "t", "am-tree-unknown", "off").returncode == 0
    assert sign_in(session["proxy"]).status_code == 200
    wrong = here.session("fault", "t", "am-tre-unknown", "on")
    assert wrong.returncode == 1 and "am-tree-unknown" in wrong.stderr


def test_an_environment_binds_sessions_too(staging):
    here = staging({"environments": [
        {"hosts": "127.0.0.1", "label": "staging", "allow": ["observe", "edit"], "rate": "2/h"}]})
    sessions = [here.opened("--name", name, "--overlay", here.overlay(answering(418, "/tea"))) for name in ("a", "b")]
    answer = here.get("/tea", sessions[0]["proxy"])
    assert answer.status_code == 403 and "environment staging does not allow mock" in answer.text
    statuses = [here.get("/", session["proxy"]).status_code for session in sessions] + [here.get("/").status_code]
    assert statuses == [200, 200, 429], "its rate counts over all sessions"


def test_requests_of_two_sessions_wait_at_a_limit_apart(staging):
    """Each session has a limit of its own, and who waits there is woken when its own place is free."""
    here = staging({"workers": 1, "interceptors": [
        {"name": "gate", "request": [{"limit": {"concurrency": 1, "wait": "60s"}}]}]})
    sessions = [here.opened() for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = [pool.submit(here.get, "/x", session["proxy"]) for session in sessions * 4]
        assert [answer.result(30).status_code for answer in answers] == [200] * 16


def test_secrets_of_an_added_rule_are_not_shown(staging):
    here = staging()
    session = here.opened("--overlay", here.overlay("interceptors: []\n# ${env.PIN}\n"), PIN="hunter2-hunter2")
    rule = {"request": [{"set_header": {"X-Pin": "${env.PIN}"}}, {"log": "pin ${env.PIN}"}],
            "when": {"host": "127.0.0.1"}}
    status, answer = here.admin.json(
        f"/v1/sessions/{session['id']}/rules", "-d", json.dumps(rule), "-H", "Content-Type: application/json")
    assert status == 201, answer
    assert "hunter2-hunter2" in here.get("/x", session["proxy"]).text
    flow = here.admin.json(f"/v1/flows?filter=session%3D{session['id']}")[1]["flows"][0]["id"]
    assert "hunter2" not in json.dumps(here.admin.json(f"/v1/flows/{flow}")[1]["events"])
    assert "hunter2" not in json.dumps(here.usher.flow("/x").access) + "".join(here.usher.lines)


# robots


def test_two_sessions_step_up_as_two_users(staging, sandbox):
    here = staging({
        **shop.config(sandbox, answers=[]), "robots": [{"user": user, "password": "changeit"} for user in ("user1", "user2")]})
    sessions = [here.opened("--robot", "--name", name) for name in ("one", "two")]
    assert [(s["robot"], s["password"]) for s in sessions] == [("user1", "changeit"), ("user2", "changeit")]
    more = here.session("start", "--robot")
    assert more.returncode == 1 and "all 2 robots are lent" in more.stderr

    def pay(session):
        app = requests.Session()
        app.trust_env = False
        app.cookies.set(shop.COOKIE, shop.login(sandbox, session["robot"]))
        return app.get(f"{sandbox.shop}/pay", proxies={"http": session["proxy"]}, timeout=30).status_code

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(pay, sessions * 4)) == [200] * 8
    assert "changeit" not in here.session("show", "one", "--json").stdout
    here.session("stop", "one")
    assert here.opened("--robot")["robot"] == "user1", "it came back"


def test_a_session_without_robots_to_lend_is_refused(staging):
    done = staging().session("start", "--robot")
    assert done.returncode == 1 and "the configuration has no robots" in done.stderr
