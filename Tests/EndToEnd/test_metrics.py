"""Figures: what is scraped equals what was sent, and stays small whatever clients make up."""

import os
import signal

import inside
import programs
import scrape
import shop
import wire
from wire import Connection, request


def ask(usher, url, fields=(), count=1, method="GET"):
    with Connection(("127.0.0.1", usher.port)) as client:
        for _ in range(count):
            answer = client.exchange(request(method, url, fields))
    return answer


def settled(state, name, count, **labels):
    """The figures, once so many are counted: a request is counted when it is over, which its client learns first."""
    def found():
        figures = scrape.scrape(state)
        return figures if figures.of(name, **labels) >= count else None
    figures = programs.eventually(found, f"{name} {labels} reaches {count}")
    assert figures.of(name, **labels) == count
    return figures


def test_counts_are_what_was_sent(start, origin, state):
    server = origin(wire.Answering(lambda asked: wire.response(
        int(asked.target.rsplit("/", 1)[1]), body=b"x" * 100) if asked.target[-3:].isdigit() else wire.response(body=b"ok")))
    usher = start({
        "workers": 2, "interceptors": [
            {"name": "mark", "when": {"path": "/200"}, "request": [{"set_header": {"X-Mark": "1"}}]},
            {"name": "mock: all", "when": {"path": "/mocked"}, "request": [{"respond": {"status": 418}}]}]}, state=state)
    for status, count in ((200, 30), (404, 5), (503, 2)):
        ask(usher, f"http://{server.authority}/{status}", count=count)
    ask(usher, f"http://{server.authority}/mocked")
    closed = wire.Answering()
    closed.close()
    assert ask(usher, f"http://{closed.authority}/").status == 502
    figures = settled(state, "usher_requests_total", 39)
    assert figures.of("usher_requests_total", status="2xx", action="none", realm="none", proxy_error="none") == 30
    assert figures.of("usher_requests_total", status="4xx") == 6
    assert figures.of("usher_requests_total", status="5xx", proxy_error="none") == 2
    assert figures.of("usher_requests_total", proxy_error="connection_refused") == 1
    assert figures.of("usher_request_duration_seconds_count") == 39
    assert figures.of("usher_request_duration_seconds_bucket", le="+Inf") == 39
    assert figures.of("usher_response_body_bytes_total") >= 37 * 100
    assert figures.of("usher_connections_accepted_total") == 5
    assert figures.of("usher_dial_failures_total", reason="refused") == 1
    assert figures.of("usher_origin_leases_total") == 37
    assert figures.of("usher_origin_leases_total", kind="idle") >= 27 + 4 + 1
    assert figures.of("usher_interceptor_results_total", interceptor="mark", result="applied") == 30
    assert figures.of("usher_interceptor_results_total", interceptor="mock: all", result="answered") == 1
    assert figures.of("usher_answers_total", by="interceptor") == 1
    assert figures.of("usher_workers") == 2 and figures.of("usher_configuration_generation") == 1
    assert figures.of("process_open_fds") > 5 and figures.of("process_resident_memory_bytes") > 1 << 20
    assert figures.of("process_start_time_seconds") > 1.7e9 and figures.of("process_cpu_seconds_total") > 0
    programs.eventually(
        lambda: scrape.scrape(state).of("usher_connections_open") == 0, "connections that are closed are not open")
    assert scrape.check(scrape.scrape(state).text) == ""


def test_a_step_up_is_counted(start, sandbox, through, state):
    usher = start(shop.config(sandbox), state=state)
    session = shop.login(sandbox)
    answer = through(usher).get(
        f"{sandbox.shop}/order/7", headers={"Cookie": f"{shop.COOKIE}={session}"}, timeout=20)
    assert answer.status_code == 200, answer.text
    figures = settled(state, "usher_requests_total", 1)
    assert figures.of("usher_advice_total") == 1
    assert figures.of("usher_step_ups_total", outcome="replayed") == 1
    assert figures.of("usher_own_calls_total", purpose="step_up") >= 2
    assert scrape.check(figures.text) == ""


def test_labels_stay_few(start, origin, state):
    server = origin()
    usher = start({
        "workers": 1, "am": [{"url": f"http://{server.authority}/am", "realms": ["/alpha"]}],
        "destinations": {"allow": [server.authority]}}, state=state)
    with Connection(("127.0.0.1", usher.port)) as client:
        for number in range(2_000):
            client.exchange(request(
                "POST", f"http://{server.authority}/am/json/realms/root/realms/odd{number}/authenticate?authIndexType=service"
                f"&authIndexValue=Tree{number}", [("Content-Length", "0")]))
        for number in range(2_000):
            client.exchange(request(f"ODD{number}", f"http://host{number}.test/{number}"))
    figures = settled(state, "usher_requests_total", 4_000)
    assert figures.values("usher_requests_total", "realm") <= {"none", "other", "/alpha", "/"}
    assert "odd1" not in figures.text and "host1" not in figures.text and "Tree1" not in figures.text
    assert len(figures.samples) < 300
    assert scrape.check(figures.text) == ""


def test_reloads_are_told(start, state, write_config):
    usher = start({"workers": 1}, state=state)
    path = usher.config
    for text, generation, good, counts in (
            ("version: 1\nworkers: 1\n", 2, 1, (1, 0)), ("version: 2\n", 2, 0, (1, 1)),
            ("version: 1\nworkers: 1\n", 3, 1, (2, 1))):
        path.write_text(text)
        usher.process.send_signal(signal.SIGHUP)
        figures = settled(state, "usher_configuration_reloads_total", sum(counts))
        assert figures.of("usher_configuration_generation") == generation
        assert figures.of("usher_configuration_last_reload_successful") == good
        assert figures.of("usher_configuration_reloads_total", result="failed") == counts[1]


def test_tls_is_counted(opening, secure_origin, tmp_path):
    server = secure_origin()
    usher = opening({"workers": 1})
    for _ in range(2):
        with inside.opened(usher, server.authority) as client:
            assert client.exchange(inside.get(server.authority)).status == 200
    figures = settled(tmp_path, "usher_tls_handshakes_total", 2, side="client")
    assert figures.of("usher_leaf_certificates_minted_total") == 1
    assert figures.of("usher_tls_handshakes_total", side="origin") >= 1
    assert figures.of("usher_tls_handshakes_total", result="failed") == 0


def test_the_proxys_port_does_not_tell_them(start, origin):
    usher = start({"workers": 1})
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"http://127.0.0.1:{usher.port}/metrics")).status != 200
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{usher.port}\r\n\r\n".encode())
        assert client.read_response().status != 200
    assert os.path.exists(usher.config)
