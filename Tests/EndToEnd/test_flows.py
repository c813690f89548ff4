"""Asking the journal: lists, filters, and one flow in all its forms."""

import base64
import contextlib
import json
import os
import re
import subprocess
import threading

import pytest

import frames
import people
import programs
import shop
import wire
from looked import Site, raw, verb


@pytest.fixture
def site(binary, start, origin, through, state):
    def make(config=None):
        return Site(binary, start, origin, through, state, config)

    return make


def test_a_list(site):
    place = site()
    for path in ("/json", "/missing", "/empty"):
        place.get(path)
    flows = place.flows(count=3)
    assert [(f["method"], f["status"], f["url"].rsplit("/", 1)[-1]) for f in flows] == [
        ("GET", 200, "json"), ("GET", 404, "missing"), ("GET", 204, "empty")], "the newest stands last"
    assert [f["sequence"] for f in flows] == sorted(f["sequence"] for f in flows)
    assert flows[0]["content_type"] == "application/json" and flows[0]["response_bytes"] == 25
    text = place.person.says("flows").stdout.splitlines()
    assert text[0].split() == ["TIME", "FLOW", "METHOD", "ACTION", "MS", "SENT", "GOT", "MARKS", "WHERE"]
    assert len(text) == 4 and "404" in text[2] and "\x1b" not in "".join(text)
    assert len(place.flows("--limit", "2")) == 2
    assert place.person.says("flows", "status=599").stdout == "no flow matches\n"


def test_filters(site):
    place = site()
    place.get("/json?kind=a%20b", headers={"X-Kind": "one"})
    place.client.post(place.url + "/missing", data="x" * 5000, timeout=10)
    place.get("/empty", headers={"Cookie": "lang=en"})
    place.flows(count=3)

    def paths(*terms):
        return [flow["url"].split("?")[0].rsplit("/", 1)[-1] for flow in place.flows(*terms)]

    port = str(place.origin.port)
    for terms, expected in [
            (["status=4xx"], ["missing"]), (["status=2xx"], ["json", "empty"]), (["not", "status=2xx"], ["missing"]),
            (["method=POST"], ["missing"]), (["path=/j*", "status=200"], ["json"]), (["header.X-Kind=*"], ["json"]),
            (["query.kind=a b"], ["json"]), (["cookie.lang=en"], ["empty"]), (["larger=4KiB"], ["missing"]),
            (["content_type=application/*"], ["json"]), ([f"port={port}", "host=127.0.0.1"], ["json", "missing", "empty"]),
            (["since=1h"], ["json", "missing", "empty"]), (["until=1h"], []), (["client=127.0.0.1"], ["json", "missing", "empty"]), (["slower=1h"], []),
            (["path=~(json|empty)$"], ["json", "empty"]), (["status=204,404"], ["missing", "empty"])]:
        assert paths(*terms) == expected, terms


def test_what_is_no_filter(site, call, binary, state):
    person = people.Person(binary, state)
    for terms, words in [
            (["statsu=1"], "did you mean status?"), (["status"], "key=value"), (["status=x"], "status takes"),
            (["path=~("], "not a valid regular expression"), (["path=~(a+)+$"], "avoid nested repeats")]:
        done = person.says("flows", *terms)
        assert done.returncode == 2 and words in done.stderr, done
    place = site()
    assert place.person.asks("GET", "/v1/flows?filter=statsu%3D1")[0].status == 400
    assert place.person.asks("GET", "/v1/flows?q=status%3D4xx%20not%20host%3Da")[0].status == 200
    assert place.person.asks("GET", "/v1/flows?before=1&after=1")[0].status == 400
    assert place.person.asks("GET", "/v1/flows/nothing")[0].status == 404
    for limit in ("0", "-1", "x"):
        assert place.person.says("flows", "--limit", limit).returncode in (2, 64)


def test_bodies(site):
    place = site()
    place.get("/latin")
    place.get("/gzip")
    place.get("/chunked")
    place.client.head(place.url + "/json", timeout=10)
    place.get("/empty")
    body = place.flow("/latin")["response"]["body"]
    assert base64.b64decode(body["base64"]) == b"caf\xe9 \x00\xff" and not body["cut"]
    body = place.flow("/gzip")["response"]["body"]
    assert body["text"] == "unpacked " * 100 and body["bytes"] < 900
    assert place.flow("/chunked")["response"]["body"]["text"] == "piece " * 50
    assert "text" not in place.flow("/json")["response"]["body"]
    assert place.flow("/empty")["response"]["status"] == 204
    place.get("/large")
    large = place.flow("/large")["response"]["body"]
    assert large["cut"] and large["bytes"] == 300_000 and len(large["text"]) <= 256 << 10


def test_an_answer_that_breaks_off(site, origin):
    place = site()

    def serve(connection):
        connection.read_request()
        connection.send(raw(200, [("Content-Type", "text/plain"), ("Content-Length", "100")], b"only this"))

    broken = origin(wire.Origin(serve))
    with wire.Connection(("127.0.0.1", place.usher.port)) as client:
        client.send(wire.request("GET", f"{broken.url}/cut"))
        with contextlib.suppress(ConnectionResetError):
            while client.socket.recv(4096):
                pass
    flow = place.flow("/cut")
    assert "incomplete" in flow["flow"]["marks"] and flow["flow"]["status"] == 200
    assert flow["response"]["body"]["text"] in ("only this", "only ")


def test_a_request_that_its_client_cancels(site, origin):
    place = site()
    go = threading.Event()
    server = origin(lambda _: (go.wait(30), None)[1])
    client = frames.prior_knowledge(place.usher)
    client.send(frames.request(1, server.authority, "/given-up"))
    programs.eventually(lambda: server.requests, "the request at the origin")
    client.send(frames.reset(1, 8))
    flow = place.flow("/given-up")
    go.set()
    words = "the client cancelled the request: it reset its stream before the end of the response"
    assert flow["flow"].get("status") is None
    assert words in [event["text"] for event in flow["events"]]
    assert words in place.person.says("flow", flow["flow"]["id"]).stdout


def test_changes_are_told_before_and_after(site):
    place = site({"interceptors": [
        {"name": "mark", "request": [{"set_header": {"X-Added": "yes"}}],
         "response": [{"set_header": {"X-Back": "again"}}]}]})
    place.get("/json")
    whole = place.flow("/json")
    names = lambda message: [field["name"] for field in whole[message]["fields"]]
    assert "X-Added" not in names("request") and "X-Added" in names("sent")
    assert "X-Back" not in names("answer") and "X-Back" in names("response")
    assert {"request_changed", "response_changed"} <= set(whole["flow"]["marks"])
    assert len(place.flows("changed=request")) == 1 and place.flows("changed!=yes") == []
    story = place.person.says("flow", whole["flow"]["id"]).stdout
    assert "+ X-Added: yes" in story and "+ X-Back: again" in story and '"name": "x",' in story
    assert story.index("Request\n") < story.index("Events") < story.index("went out changed") < story.index("Response\n")


def test_ids_may_be_shortened(site):
    place = site()
    for _ in range(3):
        place.get("/json")
    flows = place.flows(count=3)
    id = flows[0]["id"]
    ends = [flow["id"][-6:] for flow in flows]
    assert len(set(ends)) == 3 and [place.whole(end)["flow"]["id"] for end in ends] == [flow["id"] for flow in flows]
    several = place.person.says("flow", id[:2])
    assert several.returncode == 1 and "matches several flows" in several.stderr
    for odd in ("../x", "%2e", "zz", "1" * 40, "\x1b[31m"):
        done = place.person.says("flow", odd)
        assert done.returncode == 1 and "\x1b" not in done.stderr, odd
    assert place.person.says("flow", "").returncode == 2


def test_curl_repeats_the_request(site):
    place = site()
    place.client.post(
        place.url + "/json?a=[1]", data="it's \"quoted\" $HOME `x` \\ é\nline".encode(),
        headers={"Content-Type": "text/plain", "X-Empty": "", "X-Quote": "it's"}, timeout=10)
    place.client.post(place.url + "/json", data=b"\x00\xff\xfe", headers={"Content-Type": "x/y"}, timeout=10)
    flows = place.flows(count=2)
    for flow, first in zip(flows, list(place.origin.requests)):
        line = place.person.says("flow", flow["id"], "--curl").stdout
        before = len(place.origin.requests)
        done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=30, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, (line, done.stderr)
        again = place.origin.requests[before]
        assert (verb(again), again.target.split("//")[-1].split("/", 1)[-1], again.body) == (
            verb(first), first.target.split("//")[-1].split("/", 1)[-1], first.body)
        dropped = {"via", "connection", "content-length", "forwarded", "proxy-connection"}
        def plain(message): return sorted((n.lower(), v) for n, v in message.fields if n.lower() not in dropped)
        assert plain(again) == plain(first), line


ODD = [
    "\x9b'; touch ran #", "a'$(touch ran)'b", "\u202e'`touch ran`'!x", "\\'; touch ran; '", "'\u0301; touch ran #'",
    "$'\\'; touch ran #", '"$(touch ran)"', "\u0085\u2028;\ttouch ran&|<>*?~",
]


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_curl_is_safe_in_every_shell(site, shell, tmp_path):
    place = site()
    folder = tmp_path / "empty"
    folder.mkdir()
    sent = {}
    for text in ODD:
        for data in (text.encode(), f"{text}\r\n\n\n".encode(), text.encode() + b"\x00\xff"):
            mark = f"n={len(sent)}&"
            sent[mark] = data
            with wire.Connection(("127.0.0.1", place.usher.port)) as client:
                client.send(
                    f"POST {place.url}/json?{mark}x=';touch%20ran;' HTTP/1.1\r\nHost: 127.0.0.1:{place.origin.port}\r\nX-Odd: {text}\r\n"
                    f"Content-Type: text/plain\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
                assert client.read_rest().startswith(b"HTTP/1.1 200 "), text
    flows = place.flows("--limit", "100", count=len(sent))
    firsts = {message.target.split("?")[1]: message for message in place.origin.requests}
    for flow in flows:
        first = firsts[flow["url"].split("?")[1]]
        line = place.person.says("flow", flow["id"], "--curl").stdout
        before = len(place.origin.requests)
        done = subprocess.run([shell, "-c", line], capture_output=True, timeout=30, cwd=folder, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, (line, done.stderr)
        assert not os.listdir(folder), line
        again = place.origin.requests[before]
        query = again.target.split("?")[1]
        assert query == flow["url"].split("?")[1] and again.body == first.body == sent[query.split("x=")[0]], line
        assert [value for name, value in again.fields if name == "X-Odd"] == [
            value for name, value in first.fields if name == "X-Odd"], line


def test_messages_as_they_are(site):
    place = site()
    place.get("/latin")
    id = place.flows(count=1)[0]["id"]
    done = subprocess.run(
        [place.person.binary, "flow", id, "--http"], capture_output=True, timeout=30, env=place.person.environment)
    request, _, response = done.stdout.partition(b"\r\n\r\n")
    assert request.startswith(f"GET {place.url}/latin HTTP/1.1\r\n".encode()) and done.stdout.endswith(b"caf\xe9 \x00\xff")
    assert b"\r\n\r\nHTTP/1.1 200 OK\r\n" in done.stdout


def test_secrets_are_aliases(site):
    place = site()
    secret = "AQIC5wM2LY4SfczFxI9lMv4PgF7l"
    place.get("/session")
    place.get("/json", headers={"Cookie": f"iPlanetDirectoryPro={secret}", "Authorization": "Bearer abcdefghijklmnop123"})
    flows = place.flows(count=2)
    everything = "".join(
        place.person.says("flow", flow["id"], *form).stdout for flow in flows for form in ([], ["--json"], ["--curl"], ["--http"]))
    assert secret not in everything and "abcdefghijklmnop123" not in everything
    assert len(place.flows("cookie.iPlanetDirectoryPro=*")) == 1
    line = place.person.says("flow", flows[1]["id"], "--curl").stdout.splitlines()
    assert line[0].startswith("# to be filled in: ") and "(iPlanetDirectoryPro)" in line[0]


def test_a_step_up_is_a_story(binary, start, sandbox, through, state):
    usher = start(shop.config(sandbox), state=state)
    person = people.Person(binary, state)
    token = shop.login(sandbox)
    client = through(usher)
    done = client.get(
        f"{sandbox.shop}/order/7", headers={"Cookie": f"{shop.COOKIE}={token}"}, timeout=20)
    assert done.status_code == 200

    def listed():
        lines = person.says("flows", "--json", "path=/shop/order/7").stdout.splitlines()
        return [json.loads(line) for line in lines]

    flow = programs.eventually(listed, "the flow")[-1]
    assert [f["id"] for f in listed()] == [flow["id"]], "calls are not among the requests of clients"
    assert "step_up" in flow["marks"]
    assert len(person.says("flows", "--json", "step_up=yes").stdout.splitlines()) == 1
    whole = json.loads(person.says("flow", flow["id"], "--json").stdout)
    assert whole["calls"] and all(call["flow"]["parent"] == flow["id"] for call in whole["calls"])
    assert {"AUTHENTICATE", "START_AUTHENTICATE"} & {call["flow"]["action"] for call in whole["calls"]}
    story = person.says("flow", flow["id"]).stdout
    assert token not in story and " call " in story and "advice" in story
    # the answer that asked for the step-up is there as it came, and the id of its transaction under an alias alone
    attempts = [call for call in whole["calls"] if "attempt" in call["flow"]["marks"]]
    assert [call["flow"]["status"] for call in attempts] in ([401], [307]) and " attempt " in story
    said = json.dumps(attempts)
    assert "transaction#1" in said or "SSOADVICE" in said
    ids = set(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", json.dumps(whole) + story))
    assert not ids, "ids of transactions in clear"
    assert len(person.says("flows", "--json", "parent=" + flow["id"]).stdout.splitlines()) == len(whole["calls"])
    for call in [attempts[0], *(call for call in whole["calls"] if call not in attempts)][:2]:
        refused = person.says("replay", call["flow"]["id"])
        assert refused.returncode == 1 and f"usher replay {flow['id']}" in refused.stderr


def test_a_tunnel(site, origin):
    place = site()

    def serve(connection):
        connection.send(b"SSH-2.0-origin\r\n")
        connection.socket.recv(100)

    target = f"127.0.0.1:{origin(wire.Origin(serve)).port}"
    with wire.Connection(("127.0.0.1", place.usher.port)) as client:
        client.send(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n")
        assert client.read_response("HEAD").status == 200
        client.send(b"SSH-2.0-client\r\n")
        # it may have come with the answer
        assert client.read(7) == b"SSH-2.0"
    flow = place.flows("method=CONNECT", count=1)[0]
    assert flow["url"] == target and flow["status"] == 200 and place.flows("path=*") == []
    assert target in place.person.says("flow", flow["id"]).stdout
    for arguments, words in [(["flow", flow["id"], "--curl"], "it is a tunnel"), (["replay", flow["id"]], "it is a tunnel")]:
        done = place.person.says(*arguments)
        assert done.returncode == 1 and words in done.stderr
    done = place.person.says("flow", flow["id"], "--http")
    assert done.stdout.startswith(f"CONNECT {target} HTTP/1.1\n") or done.stdout.startswith(f"CONNECT {target} HTTP/1.1\r\n")
    assert json.loads(place.person.says("export", "--har", "-").stdout)["log"]["entries"] == []


def test_what_is_huge_is_shown_in_part(site):
    place = site()
    place.get("/json", headers={"X-Huge": "h" * 7000})
    place.client.post(place.url + "/json", data="y" * 200_000, headers={"Content-Type": "text/plain"}, timeout=10)
    first, second = place.flows(count=2)
    story = place.person.says("flow", first["id"]).stdout
    assert max(map(len, story.splitlines())) < 2100 and "(5" in story and " more)" in story
    story = place.person.says("flow", second["id"]).stdout
    assert max(map(len, story.splitlines())) < 2100
    assert len(place.whole(second["id"])["request"]["body"]["text"]) == 200_000


def test_where_nothing_is_kept(site):
    place = site({"journal": {"memory": "0B"}})
    place.get("/json")
    for command in (["flows"], ["flows", "-f"], ["flow", "1"], ["replay", "1"], ["export", "--har", "-"]):
        done = place.person.says(*command)
        assert done.returncode == 1 and "there is no journal" in done.stderr and not done.stdout, done
