"""The pipeline of interceptors, case by case: numbered_cases.md says what holds under the same numbers. Those about waits and
budgets are in test_numbered_waits.py."""

import gzip
import json
import pathlib
import re
import threading

import pytest

import programs
import test_built_in
import test_logins
import test_numbered_waits
import test_swift_interceptors
from script import OK, Script
from test_authorization_failures import ask, check_original, fake_shop, gateway, succeed
from test_classification import CASES
from test_reload_binds import reload
from wire import Connection, Origin, request, response

CDT = {"compatibility": "cdt"}
BUSY = response(503, body=b"busy")


def mark(name, *phases):
    """Leaves its name in both messages."""
    edit = [{"add_header": {"X-Seen": name}}]
    return {"name": name, **{phase: edit for phase in phases or ("request", "response")}}


def again(times=1, name="again", **more):
    """Has everything sent again."""
    return {"name": name, "response": [{"retry": {"times": times, "after": "1ms", **more}}]}


def clear(name="clear"):
    return {"name": name, "response": [{"retry": False}]}


def edits(usher, url):
    """What interceptors did, in order."""
    return [event["text"] for event in usher.flow(url).events if event["event"] == "interceptor"]


# hooks and their order


def test_T01_each_hook_once_for_one_exchange(play, origin):
    server = origin()
    usher, client = play([{
        "name": "id", "request": [{"set_state": {"id": "${uuid}"}}, {"set_header": {"X-Id": "${state.id}"}}],
        "response": [{"add_header": {"X-Id": "${state.id}"}}]}])
    got = client.exchange(request("GET", f"{server.url}/t01"))
    [seen] = server.requests
    assert got.all("x-id") == seen.all("x-id") and len(got.all("x-id")) == 1
    assert edits(usher, "/t01") == ["id: kept state id, set header X-Id", "id: added header X-Id"]


def test_T02_a_response_hook_alone(play, origin):
    server = origin()
    asked = request("POST", f"{server.url}/t02?b=%7e&a", [("X-B", "1"), ("x-a", "2")], b"body")
    _, plain = play([])
    _, client = play([mark("A", "response")])
    plain.exchange(asked)
    assert client.exchange(asked).all("x-seen") == ["A"]
    before, after = server.requests
    # Via names the proxy
    fields = [[field for field in seen.fields if field[0] != "Via"] for seen in (before, after)]
    assert fields[0] == fields[1] and (after.line, after.body) == (before.line, before.body)


@pytest.mark.parametrize("config, back", [
    ({}, "ABC"), (CDT, "ABC"), ({"response_order": "reversed"}, "CBA")], ids=["file", "cdt", "reversed"])
def test_T03_the_order_of_both_phases(play, origin, config, back):
    server = origin()
    _, client = play([mark(name) for name in "ABC"], **config)
    got = client.exchange(request("GET", f"{server.url}/t03"))
    assert server.requests[0].all("x-seen") == list("ABC") and got.all("x-seen") == list(back)


# attempts


def test_T04_a_retry_runs_both_hooks_again(play, origin):
    script = Script(OK, response(body=b"second"))
    usher, client = play([mark("A"), again()])
    server = origin(script)
    got = client.exchange(request("GET", f"{server.url}/t04"))
    assert got.body == b"second" and len(script.seen) == 2 and client.buffer == b""
    assert edits(usher, "/t04").count("A: added header X-Seen") == 4
    assert got.all("x-seen") == ["A"]
    # the one answer is the whole of it
    assert client.exchange(request("GET", f"{server.url}/next")).body == b"second"


@pytest.mark.parametrize("config, retry", [({}, {"times": 100, "after": "1ms"}), (CDT, {"after": "1ms"})], ids=["own", "cdt"])
def test_T05_eleven_attempts_at_most(play, origin, config, retry):
    script = Script(*(response(body=b"%d " % number * 50_000) for number in range(1, 13)))
    server = origin(script)
    _, client = play([{"name": "again", "response": [{"retry": retry}]}], **config)
    assert client.exchange(request("GET", f"{server.url}/")).body == b"11 " * 50_000
    assert len(script.seen) == 11


def test_T06_a_limit_of_five_attempts(play, origin):
    script = Script(OK)
    server = origin(script)
    _, client = play([again(100)], limits={"retries": 4})
    assert client.exchange(request("GET", f"{server.url}/")).body == b"ok" and len(script.seen) == 5


def test_T07_no_retry_in_the_request_phase(call, write_config):
    """It would mean nothing there, and is refused."""
    done = call("check", write_config({"interceptors": [{"name": "again", "request": [{"retry": {}}]}]}))
    assert done.returncode == 1 and '"retry" does not apply to a request' in done.stdout + done.stderr


@pytest.mark.parametrize("chain, count", [
    ([again(), clear()], 1), ([clear(), again()], 2), ([again(), mark("A")], 2)], ids=["cleared", "asked last", "left"])
def test_T08_the_last_one_decides(play, origin, chain, count):
    script = Script(OK)
    server = origin(script)
    _, client = play(chain, **CDT)
    assert client.exchange(request("GET", f"{server.url}/")).status == 200 and len(script.seen) == count


def test_T08_nobody_takes_it_back_without(play, origin):
    script = Script(OK)
    server = origin(script)
    _, client = play([again(), clear()])
    assert client.exchange(request("GET", f"{server.url}/")).status == 200 and len(script.seen) == 2


# aborts


def check_abort(usher, url, got, code, token):
    assert got.status == 502 and got.get("proxy-status").endswith(f"; abort-code={code}")
    assert f"error={token}" in got.get("proxy-status") and b"interceptor B aborted: no" in got.body
    # one error only
    flow = usher.flow(url)
    assert flow.access["proxy_error"] == token and len([e for e in flow.events if e["event"] == "note"]) == 1
    assert len(usher.flows(url)) == 1


@pytest.mark.parametrize("config", [{}, CDT], ids=["own", "cdt"])
def test_T09_an_abort_in_the_request_phase(play, origin, config):
    server = origin()
    usher, client = play([mark("A"), {"name": "B", "request": [{"abort": "no"}]}, mark("C")], **config)
    got = client.exchange(request("GET", f"{server.url}/t09"))
    check_abort(usher, "/t09", got, 1, "http_request_denied")
    assert edits(usher, "/t09") == ["A: added header X-Seen", "B: aborted: no"] and not server.accepted


@pytest.mark.parametrize("config", [{}, CDT], ids=["own", "cdt"])
def test_T10_an_abort_in_the_response_phase(play, origin, config):
    server = origin()
    usher, client = play(
        [mark("A", "response"), {"name": "B", "response": [{"abort": "no"}]}, mark("C", "response")], **config)
    got = client.exchange(request("GET", f"{server.url}/t10"))
    check_abort(usher, "/t10", got, 2, "proxy_internal_error")
    assert edits(usher, "/t10") == ["A: added header X-Seen", "B: aborted: no"] and len(server.requests) == 1
    programs.eventually(lambda: server.failures, "its connection is closed")


@pytest.mark.parametrize("config", [{}, CDT], ids=["own", "cdt"])
@pytest.mark.parametrize("end, status", [({"abort": "no"}, 502), ({"respond": {"status": 418}}, 418)], ids=["abort", "respond"])
@pytest.mark.parametrize("order", [1, -1], ids=["behind", "before"])
def test_T11_abort_and_respond_before_retry(play, origin, config, end, status, order):
    script = Script(OK)
    server = origin(script)
    _, client = play([again(), {"name": "B", "response": [end]}][::order], **config)
    assert client.exchange(request("GET", f"{server.url}/")).status == status and len(script.seen) == 1


def test_T12_an_abort_in_the_second_attempt(play, origin):
    script = Script(BUSY)
    server = origin(script)
    usher, client = play([
        {"name": "once", "when": {"header": {"X-Sent": "*"}}, "request": [{"abort": "not twice"}]},
        {"name": "sent", "request": [{"set_header": {"X-Sent": "1"}}]}, again()], **CDT)
    got = client.exchange(request("GET", f"{server.url}/t12"))
    assert got.status == 502 and got.get("proxy-status").endswith("abort-code=1") and len(script.seen) == 1
    assert usher.flow("/t12").access["ms"] < 5000


# state


def test_T13_state_lasts_as_long_as_the_exchange(play, origin):
    script = Script(response(503, [("X-Token", "t1")]), BUSY, BUSY, OK, OK)
    server = origin(script)
    _, client = play([{
        "name": "id",
        "request": [
            {"set_state": {"id": "${request.header.X-Client}"}}, {"set_header": {"X-Id": "${state.id} ${state.token}"}}],
        "response": [
            {"set_state": {"token": "${response.header.X-Token}"}},
            {"set_header": {"X-Id": "${state.id} ${state.token}"}}]}, again(3, retry_after=False)])
    got = client.exchange(request("GET", f"{server.url}/", [("X-Client", "7")]))
    assert [seen.get("x-id") for seen in script.seen] == [None, "7 t1", "7 t1", "7 t1"]
    assert got.body == b"ok" and got.get("x-id") == "7 t1"
    # another exchange has none of it
    other = client.exchange(request("GET", f"{server.url}/"))
    assert other.get("x-id") is None and len(script.seen) == 8 and script.seen[-1].get("x-id") is None


def test_T14_each_instance_counts_for_itself(play, origin):
    script = Script(OK)
    server = origin(script)
    usher, client = play([again(2, "A"), again(1, "B")])
    client.exchange(request("GET", f"{server.url}/t14"))
    assert len(script.seen) == 4
    said = [re.findall(r"^(\w): sent again in 1 ms (.*)", text) for text in edits(usher, "/t14")]
    assert sum(said, []) == [
        ("A", "(1 of 2)"), ("A", "(2 of 2)"), ("B", "(1 of 1)")]


def test_T15_nothing_that_others_do_loses_state(play, origin):
    server = origin()
    _, client = play([
        {"name": "keep", "request": [{"set_state": {"com.example.keep.id": "7"}}]},
        {"name": "anew", "request": [
            {"set_url": f"{server.url}/anew"}, {"set_method": "PUT"}, {"set_body": {"text": "anew"}},
            {"remove_header": ["X-*"]}]},
        {"name": "read", "request": [{"set_header": {"X-Id": "${state.com.example.keep.id}"}}]}], **CDT)
    client.exchange(request("GET", f"{server.url}/old", [("X-Old", "1")]))
    [seen] = server.requests
    assert (seen.line, seen.get("x-id"), seen.body) == ("PUT /anew HTTP/1.1", "7", b"anew")


def test_T16_what_is_set_to_null_is_absent(play, origin):
    server = origin()
    _, client = play([{
        "name": "id", "request": [
            {"set_state": {"id": "7"}}, {"set_header": {"X-Before": "${state.id}"}}, {"set_state": {"id": None}},
            {"set_header": {"X-After": "${state.id}"}}]}])
    client.exchange(request("GET", f"{server.url}/"))
    assert server.requests[0].get("x-before") == "7" and server.requests[0].get("x-after") is None


@pytest.mark.parametrize("config, counts", [({}, [1, 1, 1]), (CDT, [1, 2, 3])], ids=["own", "cdt"])
def test_T17_what_an_attempt_begins_with(play, origin, config, counts):
    script = Script(OK)
    server = origin(script)
    _, client = play(
        [{"name": "tag", "request": [{"add_query": {"tag": "1"}}, {"add_header": {"X-Tag": "1"}}]}, again(2)], **config)
    client.exchange(request("GET", f"{server.url}/"))
    assert [seen.target.count("tag=1") for seen in script.seen] == counts
    assert [len(seen.all("x-tag")) for seen in script.seen] == counts


# what the client gets


def test_T18_an_edited_response_is_delivered(play, origin):
    server = origin(lambda _: response(
        200, [("Content-Type", "text/plain"), ("Content-Encoding", "gzip"), ("ETag", '"1"')], gzip.compress(b"short")))
    _, client = play([{"name": "edit", "response": [
        {"set_status": 203}, {"set_header": {"X-New": "1"}}, {"set_body": {"text": "a longer body than it was " * 9}}]}])
    got = client.exchange(request("GET", f"{server.url}/"))
    # in the coding in which it came
    assert got.all("content-encoding") == ["gzip"] and got.all("content-length") == [str(len(got.body))]
    assert (got.status, got.get("x-new"), gzip.decompress(got.body)) == (203, "1", b"a longer body than it was " * 9)
    assert client.exchange(request("GET", f"{server.url}/")).status == 203


@pytest.mark.parametrize("framing", ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"], ids=["length", "chunked"])
def test_T20_half_an_answer_is_no_whole_one(play, origin, framing):
    def half(connection):
        connection.read_request()
        connection.send(f"HTTP/1.1 200 OK\r\n{framing}\r\n64\r\nhalf")
        connection.reset()

    server = origin(Origin(half))
    usher, client = play([{"name": "watch", "error": [{"set_state": {"seen": "1"}}]}])
    client.send(request("GET", f"{server.url}/t20"))
    with pytest.raises((EOFError, ConnectionResetError)):
        client.read_response()
    assert usher.flow("/t20").access["proxy_error"] == "http_response_incomplete"


# the chain


def test_T50_a_chain_stays_as_it_was_for_what_is_under_way(start, origin):
    ready, go = threading.Semaphore(0), threading.Event()

    def late(_):
        ready.release()
        assert go.wait(programs.DEADLINE)
        return OK

    server = origin(late)
    usher = start({"workers": 1, "interceptors": [mark("old", "response")]})
    clients = [Connection(("127.0.0.1", usher.port)) for _ in range(10)]
    for client in clients:
        client.send(request("GET", f"{server.url}/"))
    for _ in clients:
        assert ready.acquire(timeout=programs.DEADLINE)
    reload(usher, {"workers": 1, "interceptors": [mark("new", "response")]})
    go.set()
    assert [client.read_response().all("x-seen") for client in clients] == [["old"]] * 10
    assert [client.exchange(request("GET", f"{server.url}/")).all("x-seen") for client in clients] == [["new"]] * 10
    for client in clients:
        client.close()


@pytest.mark.parametrize("phase", ["request", "response"])
@pytest.mark.parametrize("edit", ["set_header", "add_header"])
@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection", "Keep-Alive", "Upgrade", "TE"])
def test_T51_framing_is_not_for_interceptors(call, write_config, phase, edit, name):
    done = call("check", write_config({"interceptors": [{"name": "a", phase: [{edit: {name: "3"}}]}]}))
    assert done.returncode == 1 and "frames a message or concerns one connection" in done.stdout + done.stderr


def test_T51_framing_is_right_whatever_a_body_becomes(play, origin):
    server = origin(lambda _: response(body=b"x" * 10))
    _, client = play([{
        "name": "a", "request": [{"set_body": {"text": "four"}}], "response": [{"set_body": {"text": "three"}}]}])
    for fields, body in [((), b"longer than that"), ([("Transfer-Encoding", "chunked")], b"1\r\nx\r\n0\r\n\r\n"), ((), b"")]:
        got = client.exchange(request("POST", f"{server.url}/", fields, body))
        seen = server.requests[-1]
        assert (seen.all("content-length"), seen.get("transfer-encoding"), seen.body) == (["4"], None, b"four")
        assert (got.all("content-length"), got.get("transfer-encoding"), got.body) == (["5"], None, b"three")


# Actions


def test_T54_an_interceptor_for_one_action(play, origin):
    server = origin()
    _, client = play(
        [{"name": "start", "when": {"action": "START_AUTHENTICATE"}, "request": [
            {"set_header": {"X-Action": "${action}"}}, {"set_header": {"X-Tree": "${tree}"}}]},
         {"name": "service", "when": {"type": "service"}, "request": [{"set_header": {"X-Type": "service"}}]}],
        am=[{"url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"],
             "paths": {"userinfo": "/custom/who-am-i"}}])
    sent = {}
    for method, target, fields, body, action, _, tree in CASES:
        client.exchange(request(method, f"http://am.localhost:{server.port}{target}", fields, body))
        seen = server.requests[-1]
        starts = action == "START_AUTHENTICATE"
        assert seen.get("x-action") == (action if starts else None), target
        assert seen.get("x-tree") == tree if starts and tree else starts or seen.get("x-tree") is None, target
        sent.setdefault(action, set()).add((seen.get("x-tree"), seen.get("x-type")))
    assert len(sent) >= 10 and ("Login", "service") in sent["START_AUTHENTICATE"]


def transaction(play, origin, grants):
    """A step-up under interceptors that count what they see."""
    am = origin(succeed)
    gate = gateway(origin, f"http://am.localhost:{am.port}/am/", grants)
    usher, _ = play([
        {"name": action, "when": {"action": action}, "request": [{"set_header": {"X-Action": action}}]}
        for action in ["START_AUTHENTICATE", "AUTHENTICATE"]]
        + [{"name": "all", "request": [{"set_header": {"X-Seen": "1"}}]}], **fake_shop(gate, am))
    return usher, gate, am


def test_T55_the_calls_of_a_step_up_pass_the_chain(play, origin):
    usher, gate, am = transaction(play, origin, lambda seen: "_txid=" in seen.target)
    assert ask(usher, f"{gate.url}/t55").body == b"granted"
    assert [seen.get("x-action") for seen in am.requests] == ["START_AUTHENTICATE", "AUTHENTICATE"]
    assert [seen.get("x-action") for seen in gate.requests] == [None, None]
    assert all(seen.all("x-seen") == ["1"] for seen in [*gate.requests, *am.requests])
    flow = usher.flow("/t55")
    assert flow.access["attempts"] == 2
    assert len([event for event in flow.events if event["event"] == "advice"]) == 1


def test_T56_one_step_up_for_one_transaction(play, origin):
    usher, gate, am = transaction(play, origin, lambda seen: False)
    check_original(ask(usher, f"{gate.url}/t56"))
    assert len(gate.requests) == 2 and len(am.requests) == 2


@pytest.mark.parametrize("chain, count, status", [
    ([{"name": "nil", "request": [{"abort": "nil"}]}], 0, 502), ([{"name": "nil", "response": [{"abort": "nil"}]}], 1, 502),
    ([again()], 2, 200), ([again(100)], 11, 200), ([], 1, 200),
], ids=["nil request", "nil response", "retry once", "retry for ever", "clear interceptors"])
def test_T57_requests_are_counted_as_in_cdt(play, origin, chain, count, status):
    script = Script(OK)
    server = origin(script)
    _, client = play(chain, **CDT)
    assert client.exchange(request("GET", f"{server.url}/")).status == status and len(script.seen) == count


# the page


HERE = pathlib.Path(__file__).resolve().parent
PAGE = (HERE.parents[1] / "docs/semantics.md").read_text()
LIST = (HERE / "numbered_cases.md").read_text()


def test_the_example_of_the_page(call, write_config):
    [example] = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    done = call("check", write_config(example))
    assert done.returncode == 0 and "warning" not in done.stdout + done.stderr


def test_each_case_is_listed():
    told = re.findall(r"^\| (T\d\d) \|", LIST, re.M)
    names = {name for module in (test_numbered_waits, test_logins, test_built_in, test_swift_interceptors) for name in vars(module)}
    held = {case for name in names | globals().keys() if name.startswith("test_T")
            for case in re.findall(r"T\d\d", name)}
    assert told == sorted(set(told)) and set(told) == held
