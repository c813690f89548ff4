"""Traces: what origins are told, what a collector gets, and that none of it holds anybody up."""

import re
import socket
import time

import collector
import programs
import pytest
import scrape
import shop
import wire
from wire import Connection, request

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
GIVEN = f"00-{TRACE}-{PARENT}-01"


def get(usher, url, fields=()):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request("GET", url, fields))


@pytest.fixture
def collecting():
    """Starts collectors."""
    opened = []

    def begin(*arguments, **options):
        opened.append(collector.Collector(*arguments, **options))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def config(port, **more):
    return {"workers": 1, "tracing": {"endpoint": f"http://127.0.0.1:{port}", **more}}


def told(message, name="traceparent"):
    return [value for field, value in message.fields if field.lower() == name]


def test_without_tracing_the_fields_pass_as_they_are(start, origin):
    server = origin()
    usher = start()
    for given in (GIVEN, "nonsense", "00-" + "0" * 32 + "-" + PARENT + "-01"):
        get(usher, f"http://{server.authority}/", [("TraceParent", given), ("tracestate", "a=1, b=2")])
        assert ("TraceParent", given) in server.requests[-1].fields
        assert ("tracestate", "a=1, b=2") in server.requests[-1].fields
    get(usher, f"http://{server.authority}/")
    assert told(server.requests[-1]) == []


def test_a_trace_is_continued(start, origin, collecting):
    server, there = origin(), collecting()
    usher = start(config(there.port, service_name="staging proxy"))
    get(usher, f"http://{server.authority}/a?code=s3cret", [("traceparent", GIVEN), ("tracestate", "a=1")])
    sent, = told(server.requests[-1])
    trace, span = re.fullmatch(f"00-({TRACE})-([0-9a-f]{{16}})-01", sent).groups()
    assert span != PARENT and told(server.requests[-1], "tracestate") == ["a=1"]
    got, = there.wait(1)
    assert (got["traceId"], got["spanId"], got["parentSpanId"]) == (trace, span, PARENT)
    assert got["service"] == "staging proxy" and got["kind"] == 2 and got["name"] == "GET" and "status" not in got
    about = got["attributes"]
    assert about["http.request.method"] == "GET" and about["http.response.status_code"] == 200
    assert about["url.full"] == f"http://{server.authority}/a?code=REDACTED" and about["usher.flow"]
    assert abs(int(got["endTimeUnixNano"]) / 1e9 - time.time()) < 60
    assert there.requests[0][0] == "/v1/traces"


def test_a_trace_is_begun(start, origin, collecting):
    server, there = origin(), collecting()
    usher = start(config(there.port))
    get(usher, f"http://{server.authority}/", [("traceparent", "nonsense"), ("tracestate", "a=1")])
    get(usher, f"http://{server.authority}/", [("traceparent", GIVEN), ("traceparent", GIVEN)])
    spans = there.wait(2)
    for span, message in zip(spans, server.requests):
        assert told(message) == [f"00-{span['traceId']}-{span['spanId']}-01"]
        assert "parentSpanId" not in span and told(message, "tracestate") == []
    assert len({span["traceId"] for span in spans} | {TRACE}) == 3


def test_what_is_not_sampled_is_not_exported(start, origin, collecting, state):
    server, there = origin(), collecting()
    usher = start(config(there.port, sample=0), state=state)
    for _ in range(20):
        get(usher, f"http://{server.authority}/")
        assert told(server.requests[-1])[0].endswith("-00")
    get(usher, f"http://{server.authority}/", [("traceparent", GIVEN)])
    assert [span["traceId"] for span in there.wait(1)] == [TRACE]
    get(usher, f"http://{server.authority}/", [("traceparent", GIVEN[:-1] + "0")])
    assert told(server.requests[-1])[0].endswith("-00")
    get(usher, f"http://{server.authority}/", [("traceparent", GIVEN)])
    assert len(there.wait(2)) == 2


def test_a_step_up_is_one_story(start, sandbox, through, collecting):
    there = collecting()
    usher = start({**config(there.port), **shop.config(sandbox)})
    session = shop.login(sandbox)
    answer = through(usher).get(
        f"{sandbox.shop}/order/7", headers={"Cookie": f"{shop.COOKIE}={session}", "traceparent": GIVEN}, timeout=20)
    assert answer.status_code == 200, answer.text
    own = there.wait(3)
    root, = [span for span in own if span["kind"] == 2]
    calls = [span for span in own if span["kind"] == 3]
    assert root["traceId"] == TRACE and root["parentSpanId"] == PARENT
    assert len(calls) >= 2 and {call["traceId"] for call in calls} == {TRACE}
    assert {call["parentSpanId"] for call in calls} == {root["spanId"]}
    assert all(call["attributes"]["usher.action"] for call in calls)
    assert all(call["attributes"]["http.response.status_code"] == 200 for call in calls)
    for call in calls:
        assert int(root["startTimeUnixNano"]) <= int(call["startTimeUnixNano"]) <= int(root["endTimeUnixNano"])
    text = repr(own)
    assert session not in text and "changeit" not in text


def test_a_collector_with_tls(start, origin, collecting, certificates):
    identity = certificates.good
    there = collecting(context=collector.secure(identity))
    server = origin()
    usher = start({
        "workers": 1, "tls": {"upstream": {"trust": "none", "extra_trust": [str(certificates.trust)]}},
        "tracing": {"endpoint": f"https://origin.localhost:{there.port}/custom"}})
    get(usher, f"http://{server.authority}/")
    there.wait(1)
    assert there.requests[0][0] == "/custom"


def test_a_collector_that_nobody_trusts_gets_nothing(start, origin, collecting, certificates):
    there = collecting(context=collector.secure(certificates.good))
    server = origin()
    usher = start({"workers": 1, "tracing": {"endpoint": f"https://origin.localhost:{there.port}"}})
    get(usher, f"http://{server.authority}/")
    usher.wait_for(lambda: [line for line in usher.errors if "accepts no spans" in line], "the word")
    assert there.requests == []


def test_a_collector_that_says_no_costs_spans_alone(start, origin, collecting, state):
    there = collecting([400, 503])
    server = origin()
    usher = start(config(there.port), state=state)
    get(usher, f"http://{server.authority}/refused")
    usher.wait_for(lambda: [line for line in usher.errors if "accepts no spans: it responds with 400" in line], "the word")
    get(usher, f"http://{server.authority}/retried")
    spans = there.wait(1)
    assert [span["attributes"]["url.full"] for span in spans] == [f"http://{server.authority}/retried"]
    usher.wait_for(lambda: [line for line in usher.errors if "accepts spans again" in line], "the word")
    figures = programs.eventually(
        lambda: (lambda found: found if found.of("usher_trace_spans_total") == 2 else None)(scrape.scrape(state)), "two spans")
    assert figures.of("usher_trace_spans_total", result="exported") == 1
    assert figures.of("usher_trace_spans_total", result="dropped") == 1
    assert scrape.check(figures.text) == ""


def test_a_collector_that_hangs_holds_nobody_up(binary, write_config, origin):
    server = origin()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        usher = programs.Usher(binary, write_config(config(silent.getsockname()[1])))
        began = time.monotonic()
        with Connection(("127.0.0.1", usher.port)) as client:
            for _ in range(500):
                assert client.exchange(request("GET", f"http://{server.authority}/")).status == 200
        assert time.monotonic() - began < 10
        peer, _ = silent.accept()
        began = time.monotonic()
        assert usher.stop() == 0
        assert time.monotonic() - began < 8
        peer.close()


def test_no_collector_at_all(start, origin, state):
    server = origin()
    gone = wire.Answering()
    gone.close()
    usher = start(config(gone.port), state=state)
    for _ in range(20):
        assert get(usher, f"http://{server.authority}/").status == 200
    usher.wait_for(lambda: [line for line in usher.errors if "Connection refused" in line], "the word")
    assert len([line for line in usher.errors if "accepts no spans" in line]) == 1
