"""Requests that went through are sent again, or not, and it is said why."""

import json
import signal

import pytest

import people
import programs
from looked import Site, verb


@pytest.fixture
def site(binary, start, origin, through, state):
    def make(config=None):
        return Site(binary, start, origin, through, state, config)

    return make


def test_sending_again(site):
    place = site()
    place.client.post(place.url + "/json?a=1", data=b"\x00\xffbytes", headers={"X-Mine": "1", "Content-Type": "x/y"}, timeout=10)
    place.get("/gzip")
    flows = place.flows(count=2)
    done = place.person.says("replay", flows[0]["id"], "--json")
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    assert whole["flow"]["id"] != flows[0]["id"] and whole["flow"]["status"] == 200
    first, again = place.origin.requests[0], place.origin.requests[-1]
    assert (verb(again), again.body) == ("POST", b"\x00\xffbytes") == (verb(first), first.body)
    assert ("X-Mine", "1") in [tuple(field) for field in again.fields]
    text = place.person.says("replay", flows[1]["id"])
    assert text.returncode == 0 and "→ 200 OK" in text.stdout and "unpacked" in text.stdout


def test_what_is_not_sent_again(site):
    place = site()
    place.client.post(place.url + "/json", data={"code": "aBcDeFgHiJkLmNoP", "grant_type": "authorization_code"}, timeout=10)
    place.get("/json", headers={"Authorization": "Bearer abcdefghijklmnop123"})
    code, bearer = [flow["id"] for flow in place.flows(count=2)]
    count = len(place.origin.requests)
    done = place.person.says("replay", code)
    assert done.returncode == 1 and "good for one use alone" in done.stderr and "(code)" in done.stderr
    for arguments in (["replay", code, "--force"], ["replay", bearer]):
        done = place.person.says(*arguments)
        assert done.returncode == 1 and "keeps none" in done.stderr, done
    assert place.person.says("replay", "dead").returncode == 1
    assert len(place.origin.requests) == count
    assert place.person.asks("GET", f"/v1/flows/{bearer}/replay")[0].status == 405, "nothing is done by GET"


def test_what_is_sent_again_meets_the_rules(site, write_config):
    place = site()
    place.get("/json")
    id = place.flows(count=1)[0]["id"]
    write_config({"destinations": {"deny": ["loopback"]}}, "usher-0.yaml")
    place.usher.process.send_signal(signal.SIGHUP)

    def refused():
        done = place.person.says("replay", id, "--json")
        return done.returncode == 0 and json.loads(done.stdout)["flow"]["status"] == 403 and json.loads(done.stdout)

    whole = programs.eventually(refused, "the new rules")
    assert "local" in whole["flow"]["marks"] and whole["flow"]["error"]


def test_what_goes_through_an_opened_tunnel_is_sent_again(opening, secure_origin, binary, tmp_path, through):
    server = secure_origin()
    usher = opening()
    person = people.Person(binary, tmp_path)
    client = through(usher)
    assert client.post(f"{server.url}/form?x=1", data="a=b", verify=str(usher.ca), timeout=10).status_code == 200

    def listed():
        return [json.loads(line) for line in person.says("flows", "--json", "scheme=https", "path=/form").stdout.splitlines()]

    flow = programs.eventually(listed, "the flow")[0]
    done = person.says("replay", flow["id"], "--json")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert again["flow"]["url"] == flow["url"] and again["flow"]["status"] == 200
    assert [r.body for r in server.requests] == [b"a=b", b"a=b"]
    whole = json.loads(person.says("flow", flow["id"], "--json").stdout)
    assert whole["timing_ms"]["answering"] is not None
