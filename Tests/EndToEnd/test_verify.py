"""`usher verify` and `usher run --expect`: recorded traffic is judged by expectations and packs of rules."""

import json
import sys
import threading
import xml.etree.ElementTree

import pytest

import people
import shop
from looked import Site
from wire import response


@pytest.fixture
def site(binary, start, origin, through, state):
    def make(config=None):
        return Site(binary, start, origin, through, state, config)

    return make


def report(done):
    return {entry["name"]: entry for entry in json.loads(done.stdout)["expectations"]}


def test_terms_of_a_command_line(site):
    place = site()
    place.get("/json")
    place.get("/missing")
    place.flows(count=2)
    done = place.person.says("verify", "path=/json count=1", "status=5xx count=never", "path=/missing status=404")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1] == "2 flows, 3 met, 0 unmet"
    done = place.person.says("verify", "--json", "name=missing status=404 count=never", "name=twice path=/json count=2")
    assert done.returncode == 1
    missing, twice = report(done)["missing"], report(done)["twice"]
    id = place.flows("path=/missing")[0]["id"]
    assert (missing["verdict"], missing["because"]) == ("unmet", "status is 404")
    assert missing["failures"][0]["flow"] == id and f" {place.url}/missing " in missing["failures"][0]["curl"]
    assert (twice["verdict"], twice["counted"]) == ("pending", 1)
    text = place.person.says("verify", "path=/nowhere method=GET").stdout
    assert "PENDING" in text and "nearest flow" in text and "path is /" in text, text


def test_what_is_wrong_with_a_term_is_said_with_its_place(site):
    place = site()
    for given, said in [
            ("acton=LOGOUT", 'expectation:1:1: error: unknown key "acton" in expect.when; did you mean "action"?'),
            ("path=/a count=often", "expectation:1:9: error: expect.count takes a count"),
            ("use=am-clients", 'did you mean "am-client"?'), ("path", "expectation:1:1: error: \"path\" is not a term"),
            ("path=/a after=LOGUOT", 'did you mean "LOGOUT"?')]:
        done = place.person.says("verify", given)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    done = place.person.says("verify", "--pack", "oauth-best-practise")
    assert done.returncode == 2 and 'did you mean "oauth-best-practice"?' in done.stderr
    assert "there is nothing to verify" in place.person.says("verify").stderr


def test_it_waits_for_what_is_pending(site):
    place = site()
    place.get("/json")
    place.flows(count=1)
    # it comes while the command waits, or before
    thread = threading.Thread(target=place.get, args=("/missing",))
    thread.start()
    done = place.person.says("verify", "--wait", "30s", "path=/missing")
    thread.join()
    assert done.returncode == 0, done.stdout
    done = place.person.says("verify", "--wait", "10ms", "path=/nowhere")
    assert done.returncode == 1 and "PENDING" in done.stdout


def test_an_archive_is_judged_like_the_flows(site, call, tmp_path):
    place = site()
    place.get("/json", headers={"Authorization": "Bearer abcdefgh-ijklmnop-0123456789"})
    place.get("/session?access_token=abcdefgh-ijklmnop-0123456789")
    place.flows(count=2)
    terms = [
        'name=bearer header.authorization="Bearer *"', "name=get method=GET count=2",
        "name=both query.access_token=* response_json./name=x"]
    archive = tmp_path / "flows.har"
    assert place.person.says("export", "--har", archive).returncode == 0
    live = report(place.person.says("verify", "--json", "--pack", "oauth-best-practice", *terms))
    read = report(call("verify", "--json", "--pack", "oauth-best-practice", *terms, "--har", archive))
    assert {name: entry["verdict"] for name, entry in live.items()} == {
        name: entry["verdict"] for name, entry in read.items()}
    assert read["no-secret-in-url"]["verdict"] == "unmet" and read["tls"]["verdict"] == "met"
    assert read["no-secret-in-url"]["failures"][0]["flow"] == place.flows("path=/session")[0]["id"]


def test_the_archive_of_a_browser(call, tmp_path):
    am = "https://am.example.com/am"

    def entry(method, url, status, headers=(), body=None, answer="{}", location=None, time=0):
        fields = [{"name": name, "value": value} for name, value in headers]
        request = {"method": method, "url": url, "headers": fields}
        if body is not None:
            request["postData"] = {"mimeType": "", "text": body}
        fields = [{"name": "Content-Type", "value": "application/json"}]
        if location:
            fields.append({"name": "Location", "value": location})
        return {
            "startedDateTime": f"2026-11-21T09:25:{time:02}.000Z", "time": 12.5, "request": request,
            "response": {"status": status, "headers": fields, "content": {"text": answer}}}

    form = [("Content-Type", "application/x-www-form-urlencoded")]
    query = "response_type=code&client_id=app&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb&state=state-0123456789"
    entries = [
        entry("POST", f"{am}/json/realms/root/authenticate", 200, answer='{"tokenId":"AQIC5wM2LY4SfczFxI9lMv4PgF7l"}'),
        entry("GET", f"{am}/oauth2/authorize?{query}", 302, location="https://app.example.com/cb?code=code-0123456789", time=1),
        entry("POST", f"{am}/oauth2/access_token", 200, form, "grant_type=authorization_code&code=code-0123456789", time=2),
        entry("GET", f"{am}/oauth2/authorize?{query}", 302, time=3)]
    archive = tmp_path / "browser.har"
    archive.write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "Browser"}, "entries": entries}}))
    done = call("verify", "--json", "--har", archive, "--pack", "oauth-best-practice", "--pack", "am-client")
    assert done.returncode == 1, done.stderr
    unmet = {name for name, entry in report(done).items() if entry["verdict"] != "met"}
    assert unmet == {"pkce", "state", "redirect-uri", "accept-api-version"}
    assert "0123456789" not in done.stdout, "secrets are replaced"


def test_a_login_at_am(sandbox, start, binary, state, through):
    usher = start({"am": [{"url": sandbox.am}]}, state=state)
    person, client = people.Person(binary, state), through(usher)
    client.headers["X-Requested-With"] = "forgerock-sdk"
    token = shop.sign_in(client, sandbox.am)
    sessions = f"{sandbox.am}/json/realms/root/sessions?_action=logout"
    headers = {"iPlanetDirectoryPro": token, "Accept-API-Version": "protocol=1.0,resource=3.1"}
    assert client.post(sessions, headers=headers, timeout=10).status_code == 200
    packs = ["--pack", "am-client", "--pack", "sdk-habits", "--pack", "oauth-best-practice"]
    done = person.says("verify", *packs, "--wait", "5s", "action=LOGOUT after=AUTHENTICATE count=1")
    assert done.returncode == 0, done.stdout
    client.get(f"{sandbox.shop}/public", headers={"Cookie": f"iPlanetDirectoryPro={token}"}, timeout=10)
    done = person.says("verify", "--json", "--pack", "am-client")
    assert report(done)["logout-ends-session"]["verdict"] == "unmet"


# with a command


def fetch(*urls):
    return ["--", sys.executable, "-c", f"import requests\nfor url in {list(urls)!r}: requests.get(url)"]


def test_the_traffic_of_a_command(call, origin, write_config, tmp_path):
    server = origin(lambda seen: response(body=b"ok"))
    config = write_config({"expect": [{"name": "one a", "when": {"path": "/a"}, "count": 1}]})
    assert call("run", "--config", config, *fetch(f"{server.url}/a")).returncode == 0
    junit = tmp_path / "report.xml"
    more = tmp_path / "more.yaml"
    more.write_text("- name: no b\n  when: { path: /b }\n  count: never\n")
    done = call("run", "--config", config, "--expect", more, "--junit", junit, *fetch(f"{server.url}/a", f"{server.url}/b"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "usher: 2 requests; 1 expectation unmet"
    assert "UNMET    no b" in done.stderr and "path is /b" in done.stderr
    suites = xml.etree.ElementTree.parse(junit).getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == ["no b"]


def test_the_commands_own_failure_comes_first(call, write_config):
    config = write_config({"expect": [{"when": {"path": "/a"}}]})
    assert call("run", "--config", config, "--", "sh", "-c", "exit 7").returncode == 7
    done = call("run", "--config", config, "--", "true")
    assert done.returncode == 1 and "1 expectation unmet" in done.stderr


def test_a_bad_expectation_stops_the_run_before_the_command(call, tmp_path):
    made = tmp_path / "made"
    for given, said in [("am-clint", 'did you mean "am-client"?'), (tmp_path / "none.yaml", "none.yaml")]:
        done = call("run", "--expect", given, "--", "touch", made)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert not made.exists()


def test_check_says_what_can_never_match(call, write_config):
    config = write_config({"expect": [{"name": "never", "when": {"action": "LOGOUT"}}]})
    done = call("check", config)
    assert done.returncode == 0 and "this never matches: only requests to AM have Actions" in done.stdout
