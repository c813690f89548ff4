"""What `usher export --har` writes: by the format's own rules, and as Chromium's network panel reads it."""

import base64
import datetime
import gzip
import json
import pathlib
import subprocess

import pytest

import devtools
import people
import programs
import wire
from looked import Site

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = """
import json, sys, haralyzer
archive = haralyzer.HarParser(json.load(open(sys.argv[1], encoding="utf-8")))
entries = [entry for page in archive.pages for entry in page.entries]
print(json.dumps({
    "creator": archive.creator["name"], "version": archive.version,
    "entries": [{
        "method": entry.request.method, "url": entry.request.url, "status": entry.response.status, "time": entry.time,
        "type": entry.response.mimeType, "text": entry.response.raw_entry["content"].get("text"),
        "cookies": [cookie["name"] for cookie in entry.request.cookies]} for entry in entries]}))
"""
TEXT, NUMBER = str, (int, float)
PAIRS = [{"name": TEXT, "value": TEXT}]
# HTTP Archive 1.2: what an entry has to have
ENTRY = {
    "startedDateTime": TEXT, "time": NUMBER, "cache": {},
    "request": {
        "method": TEXT, "url": TEXT, "httpVersion": TEXT, "cookies": PAIRS, "headers": PAIRS, "queryString": PAIRS,
        "headersSize": int, "bodySize": int},
    "response": {
        "status": int, "statusText": TEXT, "httpVersion": TEXT, "cookies": PAIRS, "headers": PAIRS,
        "content": {"size": int, "mimeType": TEXT}, "redirectURL": TEXT, "headersSize": int, "bodySize": int},
    "timings": {"send": NUMBER, "wait": NUMBER, "receive": NUMBER, "blocked": NUMBER, "dns": NUMBER, "connect": NUMBER, "ssl": NUMBER},
}


def check(value, shape, place="entry"):
    if isinstance(shape, list):
        assert isinstance(value, list), place
        for index, item in enumerate(value):
            check(item, shape[0], f"{place}[{index}]")
    elif isinstance(shape, dict):
        assert isinstance(value, dict), place
        for name, inner in shape.items():
            assert name in value, f"{place}.{name} is missing"
            check(value[name], inner, f"{place}.{name}")
    else:
        assert isinstance(value, shape) and not isinstance(value, bool), f"{place}: {value!r}"


def checked(text):
    log = json.loads(text)["log"]
    assert log["version"] == "1.2" and log["creator"]["name"] == "Usher" and log["creator"]["version"]
    for entry in log["entries"]:
        check(entry, ENTRY)
        datetime.datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00"))
        times = entry["timings"]
        assert all(value >= -1 for value in times.values()) and min(times["send"], times["wait"], times["receive"]) >= 0
        phases = [times[name] for name in ("blocked", "dns", "connect", "send", "wait", "receive")]
        assert sum(phase for phase in phases if phase > 0) == entry["time"], times
        assert times["ssl"] <= times["connect"], times
    began = [entry["startedDateTime"] for entry in log["entries"]]
    assert began == sorted(began), "in the order in which they began"
    return log["entries"]


@pytest.fixture
def site(binary, start, origin, through, state):
    place = Site(binary, start, origin, through, state, {"workers": 1})
    place.get("/json?a=1&b=%20c", headers={"Cookie": "lang=en; x=y"})
    place.get("/latin")
    place.get("/gzip")
    place.get("/chunked")
    place.client.head(place.url + "/json", timeout=10)
    place.get("/empty")
    place.get("/session")
    place.client.post(place.url + "/json", data={"field": "é"}, timeout=10)
    place.client.post(place.url + "/json", data=b"\xff\x00", timeout=10)
    with wire.Connection(("127.0.0.1", place.usher.port)) as client:
        client.send(wire.request("GET", "http://127.0.0.1:1/refused"))
        client.read_response()
    place.flows(count=10)
    return place


def test_the_format(site, tmp_path):
    file = tmp_path / "out.har"
    done = site.person.says("export", "--har", file)
    assert done.returncode == 0 and "10 flows are in" in done.stderr and done.stdout == ""
    entries = checked(file.read_text())
    assert [entry["request"]["url"].rsplit("/", 1)[-1] for entry in entries] == [
        "json?a=1&b=%20c", "latin", "gzip", "chunked", "json", "empty", "session", "json", "json", "refused"]
    first = entries[0]
    assert first["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": " c"}]
    assert {"name": "lang", "value": "en"} in first["request"]["cookies"]
    content = [entry["response"]["content"] for entry in entries]
    assert base64.b64decode(content[1]["text"]) == b"caf\xe9 \x00\xff" and content[1]["encoding"] == "base64"
    assert content[2]["text"] == "unpacked " * 100 and entries[2]["response"]["bodySize"] < 900
    assert entries[7]["request"]["postData"]["text"] == "field=%C3%A9"
    assert entries[9]["response"]["status"] in (502, 403)
    assert "AQIC5wM2LY4SfczFxI9lMv4PgF7l" not in file.read_text()
    # to standard output, with a filter
    done = site.person.says("export", "--har", "-", "path=/json", "method=POST")
    assert len(checked(done.stdout)) == 2 and done.stderr == ""
    assert checked(site.person.says("export", "--har", "-", "status=599").stdout) == []


def test_one_that_lasts_stands_where_it_began(binary, start, origin, through, state):
    place = Site(binary, start, origin, through, state)
    with wire.Connection(("127.0.0.1", place.usher.port)) as slow:
        slow.send(wire.request("POST", f"{place.url}/json?first", [("Content-Length", "3")]) + b"a")
        # its loop has read it by the time that another request is listed, and a millisecond later than it was
        place.get("/json?between")
        place.flows(count=1)
        place.get("/json?second")
        place.flows(count=2)
        slow.send(b"bc")
        slow.read_response()
    place.flows(count=3)
    entries = checked(place.person.says("export", "--har", "-").stdout)
    urls = [entry["request"]["url"].split("?")[1] for entry in entries]
    assert urls.index("first") < urls.index("second")


# what each costs a debug build is a quarter of a second
HOSTILE = 10


def test_a_body_that_costs_too_much(binary, start, origin, through, state):
    """Small requests that are large texts made to be slow hold up nobody: their bodies are not kept, and they say so."""
    place = Site(binary, start, origin, through, state)
    text = b'Content-Disposition: form-data; name="x"\n' + b"password " * 20_000
    body = gzip.compress(text)
    assert len(body) < 1000
    fields = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
    with wire.Connection(("127.0.0.1", place.usher.port)) as client:
        for _ in range(HOSTILE):
            client.send(wire.request("POST", f"{place.url}/json", fields) + body)
            client.read_response()
    place.get("/json?other")
    flows = place.flows(count=HOSTILE + 1)
    assert [flow["url"].split("?")[-1] for flow in flows if "other" in flow["url"]] == ["other"]
    hostile = next(flow["id"] for flow in flows if "other" not in flow["url"])
    why = "the body is not kept: the secrets in it cannot all be found"
    whole = json.loads(place.person.says("flow", hostile, "--json").stdout)
    assert whole["request"]["body"]["comment"] == why and whole["request"]["body"]["cut"] is True
    assert why in place.person.says("flow", hostile).stdout
    entries = checked(place.person.says("export", "--har", "-").stdout)
    assert [entry["request"].get("postData", {}).get("comment") for entry in entries] == [why] * HOSTILE + [None]


def test_what_cannot_be_written(site, tmp_path):
    assert site.person.says("export", "--har", "-", "statsu=1").returncode == 2
    assert site.person.says("export").returncode == 2
    missing = site.person.says("export", "--har", tmp_path / "no" / "out.har")
    assert missing.returncode == 1 and "out.har" in missing.stderr
    full = site.person.says("export", "--har", "/dev/full")
    assert full.returncode == 1 and "/dev/full" in full.stderr


def test_many_pages(binary, start, origin, through, state):
    place = Site(binary, start, origin, through, state)
    with wire.Connection(("127.0.0.1", place.usher.port)) as client:
        for number in range(2300):
            client.send(wire.request("GET", f"{place.url}/empty?{number}"))
            client.read_response()
    place.flows("--limit", "3000", count=2300)
    entries = checked(place.person.says("export", "--har", "-").stdout)
    assert [int(entry["request"]["url"].split("?")[1]) for entry in entries] == list(range(2300))
    flows = place.flows("--limit", "2300")
    assert [int(flow["url"].split("?")[1]) for flow in flows] == list(range(2300))


def test_a_browsers_network_panel_reads_it(site, tmp_path):
    text = site.person.says("export", "--har", "-").stdout
    home = tmp_path / "home"
    home.mkdir()
    with devtools.DevTools(home) as tools:
        requests = tools.imported(text)
    assert [(r["method"], r["url"].rsplit("/", 1)[-1], r["status"]) for r in requests][:7] == [
        ("GET", "json?a=1&b=%20c", 200), ("GET", "latin", 200), ("GET", "gzip", 200), ("GET", "chunked", 200),
        ("HEAD", "json", 200), ("GET", "empty", 204), ("GET", "session", 200)]
    assert requests[2]["text"] == "unpacked " * 100 and requests[0]["type"] == "application/json"
    assert requests[7]["posted"] == "field=%C3%A9"
    assert all(r["seconds"] >= 0 for r in requests) and requests[0]["sent"] > 2 and requests[0]["got"] > 1
    assert requests[1]["text"] == "café \x00ÿ", "by the type's charset"


def test_another_parser_reads_it(site, tmp_path):
    """haralyzer of PyPI, as `scripts/deps test` installs it."""
    python = ROOT / ".build/haralyzer/bin/python"
    if not python.exists():
        programs.left_out("haralyzer is not installed: scripts/deps test")
    file = tmp_path / "out.har"
    site.person.says("export", "--har", file)
    done = subprocess.run([python, "-c", READER, file], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["creator"] == "Usher" and read["version"] == "1.2"
    entries = read["entries"]
    assert [entry["status"] for entry in entries][-1] in (502, 403) and len(entries) == 10
    assert {entry["method"] for entry in entries} == {"GET", "HEAD", "POST"}
    first = entries[0]
    assert first["url"].endswith("/json?a=1&b=%20c") and first["status"] == 200
    assert first["type"] == "application/json" and first["text"] == '{"name":"x","list":[1,2]}'
    assert first["cookies"] == ["lang", "x"]
    assert all(entry["time"] >= 0 for entry in entries)
    assert subprocess.run(["python3", "-m", "json.tool", file], capture_output=True, check=False).returncode == 0
