"""What interceptors do is told with their name: in the log, in flows, in figures; and tests may wait for flows."""

import json
import subprocess
import time

import pytest
import requests

import programs
import scrape
from looked import Site

INTERCEPTORS = [
    {"name": "mark", "when": {"path": "/mark"}, "request": [{"set_header": {"X-Mark": "1"}}]},
    {"name": "mock", "when": {"path": "/mock"}, "request": [{"respond": {"status": 418}}]},
    {"name": "stop", "when": {"path": "/stop"}, "request": [{"abort": "closed"}]},
    {"name": "slow", "when": {"path": "/slow"}, "request": [{"delay": "1ms"}]},
    {"name": "late", "when": {"path": "/late"}, "response": [{"delay": "1ms"}]},
    {"name": "thin", "when": {"path": "/thin"}, "response": [{"throttle": "1MiB"}]},
    {"name": "again", "when": {"path": "/again"}, "response": [{"retry": {"times": 1, "after": "1ms"}}]},
    {"name": "gate", "when": {"path": "/gate"}, "request": [{"limit": {"rate": "1/h"}}]},
    {"name": "cut: short", "when": {"path": "/cut"}, "response": [{"fault": {"truncate": "2B"}}]},
    {"name": "rst", "when": {"path": "/rst"}, "response": [{"fault": {"reset_after": "2B"}}]},
    {"name": "hold", "when": {"path": "/hold"}, "response": [{"fault": {"slow_close": "1ms"}}]},
    {"name": "void", "when": {"path": "/void"}, "response": [{"fault": "empty"}]},
    {"name": "noise", "when": {"path": "/noise"}, "request": [{"fault": "garbage"}]},
]

# path, interceptor, what it did, how often it is asked, mark
VERDICTS = [
    ("/mark", "mark", "applied", 1, "request_changed"), ("/mock", "mock", "answered", 1, "local"),
    ("/stop", "stop", "aborted", 1, "local"), ("/slow", "slow", "delayed", 1, "slowed"),
    ("/late", "late", "delayed", 1, "slowed"), ("/thin", "thin", "throttled", 1, "slowed"),
    ("/again", "again", "retried", 1, None), ("/again", "again", "not_retried", 1, None),
    ("/gate", "gate", "refused", 2, "local"), ("/cut", "cut: short", "truncated", 1, "fault"),
    ("/rst", "rst", "reset_after", 1, "fault"), ("/hold", "hold", "slow_close", 1, "fault"),
    ("/void", "void", "empty", 1, "fault"), ("/noise", "noise", "garbage", 1, "fault"),
]


@pytest.fixture
def site(binary, start, origin, through, state):
    def make(config=None):
        return Site(binary, start, origin, through, state, config)

    return make


def ask(place, path):
    try:
        place.get(path)
    except requests.exceptions.RequestException:
        pass


@pytest.mark.parametrize("path,name,did,times,mark", VERDICTS)
def test_every_verdict_names_its_interceptor(site, state, path, name, did, times, mark):
    place = site({"interceptors": INTERCEPTORS})
    for _ in range(times):
        ask(place, path)
    flow = place.flows(f"path={path}", count=times)[-1]
    assert {"name": name, "did": flow["interceptors"][0]["did"]} == flow["interceptors"][0]
    assert did in flow["interceptors"][0]["did"], flow["interceptors"]
    assert mark is None or mark in flow["marks"], flow["marks"]
    if mark == "fault" and did != "slow_close":
        assert "incomplete" in flow["marks"]
    # the log, for people and for programs
    told = [event for event in place.usher.flow(path).events if event["event"] == "interceptor"]
    assert told and all(event["text"].startswith(name + ": ") for event in told), told
    assert {event["interceptor"] for event in told} == {name}
    # the story
    whole = place.whole(flow["id"])
    assert any(event.get("interceptor") == name and event.get("did") == did for event in whole["events"])
    assert f"{name}: " in place.person.says("flow", flow["id"]).stdout
    # the figure
    figures = scrape.scrape(state)
    assert figures.of("usher_interceptor_results_total", interceptor=name, result=did) == 1
    # filters
    other = "noise" if name != "noise" else "mark"
    assert flow["id"] in [found["id"] for found in place.flows(f"interceptor={name}")]
    assert flow["id"] in [found["id"] for found in place.flows(f"did={did}", f"interceptor={name[:2]}*")]
    assert place.flows(f"interceptor={other}") == []
    assert flow["id"] not in [found["id"] for found in place.flows(f"interceptor!={name}")]


@pytest.mark.parametrize("path", ["/thin", "/cut", "/late", "/again", "/hold"])
def test_an_answer_that_was_not_changed_is_not_said_to_be(site, path):
    place = site({"interceptors": INTERCEPTORS})
    ask(place, path)
    flow = place.flow(path)
    assert flow["answer"] is None and "response_changed" not in flow["flow"]["marks"]
    assert "The response was changed" not in place.person.says("flow", flow["flow"]["id"]).stdout


def test_mistakes_in_filters_name_what_is_meant(site):
    place = site()
    for command, term, words in [
            ("flows", "interceptr=cut", "did you mean interceptor?"), ("flows", "did=throtled", "did you mean throttled?"),
            ("flows", "stats=200", "did you mean status?"), ("flows", "headr.X=1", "did you mean header."),
            ("journeys", "outcom=failed", "did you mean outcome?"), ("journeys", "logn=x", "did you mean login?"),
            ("journeys", "tre=x", "did you mean tree?")]:
        done = place.person.says(command, term)
        assert done.returncode == 2 and words in done.stderr, done.stderr


# waiting


def test_a_list_is_waited_for(site):
    place = site()
    place.get("/json")
    waiting = subprocess.Popen(
        [place.person.binary, "flows", "--wait", "2", "--timeout", "30s", "--json", "path=/json,/missing"],
        env=place.person.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    place.get("/empty")
    assert waiting.poll() is None, "one of the two has not come"
    place.get("/missing")
    out, err = waiting.communicate(timeout=20)
    assert waiting.returncode == 0, err
    assert sorted(json.loads(line)["url"].rsplit("/", 1)[1] for line in out.splitlines()) == ["json", "missing"]
    # what is there is not waited for
    begun = time.monotonic()
    assert place.person.says("flows", "--wait", "1", "--timeout", "1m", "path=/json").returncode == 0
    assert time.monotonic() - begun < 30
    id = place.flows("path=/json")[0]["id"]
    assert place.person.says("flows", "--wait", "1", f"flow={id}").returncode == 0


def test_what_does_not_come_is_said(site):
    place = site()
    place.get("/json")
    done = place.person.says("flows", "--wait", "2", "--timeout", "50ms", "path=/json")
    assert done.returncode == 1 and "fewer than 2 matching flows" in done.stderr and "50ms" in done.stderr, done.stderr
    for wrong in (["--wait", "0"], ["--timeout", "1s"], ["--wait", "1", "--timeout", "2m"], ["--wait", "1", "-f"],
                  ["--wait", "1", "--timeout", "5"]):
        assert place.person.says("flows", *wrong).returncode in (2, 64), wrong
    # the daemon goes on
    assert place.person.says("flows", "--wait", "1", "path=/json").returncode == 0


# explain


def explained(place, text, *arguments):
    return subprocess.run(
        [place.person.binary, "explain", *arguments], input=text, capture_output=True, text=True, timeout=30,
        env=place.person.environment)


def test_a_flow_is_piped_into_explain(site, tmp_path):
    rules = [{"name": "seen", "when": {"status": "404"}, "response": [{"set_header": {"X-Seen": "1"}}]},
             {"name": "form", "when": {"method": "POST", "form": {"a": "1"}}, "request": [{"set_header": {"X-Form": "1"}}]}]
    place = site({"interceptors": rules})
    config = tmp_path / "explain.yaml"
    config.write_text(json.dumps({"version": 1, "listen": ["127.0.0.1:0"], "interceptors": rules}))
    place.get("/missing", headers={"Authorization": "Bearer " + "s3cret" * 5})
    place.client.post(place.url + "/missing", data={"a": "1"}, timeout=10)
    place.client.post(place.url + "/json", data=b"\x00\xff\r\n\r\nHTTP/1.1 404 x\r\n\r\n", timeout=10)
    get, post, binary = [flow["id"] for flow in place.flows(count=3)]
    command = place.person.says("flow", get, "--curl").stdout
    assert "# to be filled in" in command
    assert "Action       none" in explained(place, command, "--config", str(config)).stdout
    for id, method in ((get, "GET"), (post, "POST")):
        done = explained(place, place.person.says("flow", id, "--http").stdout, "--config", str(config), "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["request"]["method"] == method and told["request"]["body"] == ("a=1" if method == "POST" else "")
        assert told["response"]["status"] == 404 and ["X-Seen", "1"] in told["received"]["headers"]
        assert told["request"]["url"].startswith("http://127.0.0.1:")
    command = place.person.says("flow", binary, "--curl").stdout
    assert "base64 -d" in command
    done = explained(place, command, "--config", str(config), "--json")
    assert done.returncode == 0, done.stderr
    assert ["Content-Length", "24"] in json.loads(done.stdout)["request"]["headers"], done.stdout


def test_what_was_recorded_of_a_flow(site):
    place = site({"interceptors": INTERCEPTORS})
    for path in ("/mark", "/mock", "/json"):
        ask(place, path)
    mark, mock, plain = [flow["id"] for flow in place.flows(count=3)]
    told = place.person.says("explain", "--flow", mark).stdout
    assert "yes  mark: " in told and "set header X-Mark (request phase)" in told and "+ X-Mark: 1" in told, told
    told = json.loads(place.person.says("explain", "--flow", mark, "--json").stdout)
    assert told["flow"] == mark and told["action"] is None and told["interceptors"][0]["name"] == "mark"
    assert told["interceptors"][0]["phases"] == [
        {"phase": "request", "attempt": 1, "call": None, "matched": True, "because": told["interceptors"][0]["because"],
         "misses": [], "did": ["set header X-Mark"]}]
    assert ["X-Mark", "1"] in told["forwarded"]["headers"] and ["X-Mark", "1"] not in told["request"]["headers"]
    told = json.loads(place.person.says("explain", "--flow", mock, "--json").stdout)
    assert told["forwarded"] is None and told["answered"] == {"status": 418} and told["received"]["status"] == 418
    assert "Not forwarded" in place.person.says("explain", "--flow", mock).stdout
    told = json.loads(place.person.says("explain", "--flow", plain, "--json").stdout)
    assert told["interceptors"] == [] and told["received"]["status"] == 200
    assert place.person.says("explain", "--flow", "dead").returncode == 1
    assert place.person.says("explain", "--flow", mark, "curl http://a.test/").returncode in (2, 64)


# columns


def test_columns_stand_still_where_nothing_has_to_fit(site):
    place = site({"actions": [{"name": "A_VERY_LONG_NAME_FOR_AN_ACTION_INDEED", "when": {"path": "/json"}}]})
    for path in ("/json", "/json/" + "long/" * 60, "/missing"):
        place.get(path)
    place.flows(count=3)
    lines = place.person.says("flows").stdout.splitlines()
    columns = [lines[0].index(name) for name in ("FLOW", "METHOD", "ACTION", "MARKS", "WHERE")]
    for line in lines[1:]:
        assert all(line[column - 1] == " " and line[column] != " " for column in columns), lines
    assert lines[2].endswith("/json/" + "long/" * 60)
