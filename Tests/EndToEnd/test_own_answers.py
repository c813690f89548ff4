"""Answers that the proxy makes itself: the right status, Proxy-Status, a flow id, and words that help."""

import json
import socket

import pytest

import wire
from wire import Connection, Origin, request, response

QUICK = {"timeouts": {"connect": "300ms", "header": "300ms", "response": "300ms", "idle": "10s"}}


@pytest.fixture(scope="module")
def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def check(answer, status, error, *words):
    assert answer.status == status, answer.body
    status_field = answer.get("proxy-status")
    assert status_field.startswith(f"usher; error={error}; details=\""), status_field
    text = answer.body.decode()
    for word in words:
        assert word in text
    flow = answer.get("usher-flow")
    assert flow
    return flow


def test_a_name_that_does_not_resolve(plain_usher, connect):
    flow = check(connect().exchange(request("GET", "http://nosuch.invalid/x")), 502, "dns_error", "nosuch.invalid")
    access = plain_usher.flow("nosuch.invalid").access
    assert access["flow"] == flow
    assert access["status"] == 502
    assert access["proxy_error"] == "dns_error"


def test_a_connection_that_is_refused(connect, closed_port):
    answer = connect().exchange(request("GET", f"http://127.0.0.1:{closed_port}/"))
    check(answer, 502, "connection_refused", str(closed_port), "refused")


def test_the_client_connection_survives_them(connect, closed_port, origin):
    server = origin()
    client = connect()
    for _ in range(2):
        assert client.exchange(request("GET", f"http://127.0.0.1:{closed_port}/")).status == 502
        assert client.exchange(request("GET", f"{server.url}/")).status == 200
    # where a body is still on its way, the connection ends, and says so
    answer = client.exchange(request("POST", f"http://127.0.0.1:{closed_port}/", body=b"abc"))
    assert (answer.status, answer.get("connection")) == (502, "close")
    assert client.is_at_end()


@pytest.mark.parametrize("accept", ["application/problem+json", "text/html, application/problem+json;q=0.5"])
def test_problem_json_for_those_who_accept_it(connect, closed_port, accept):
    answer = connect().exchange(request("GET", f"http://127.0.0.1:{closed_port}/", [("Accept", accept)]))
    check(answer, 502, "connection_refused")
    assert answer.get("content-type").startswith("application/problem+json")
    problem = json.loads(answer.body)
    assert problem["status"] == 502
    assert str(closed_port) in problem["detail"]


def test_head_gets_the_head_alone(connect, closed_port):
    client = connect()
    client.send(request("HEAD", f"http://127.0.0.1:{closed_port}/"))
    assert client.read_response("HEAD").status == 502
    client.send(request("GET", f"http://127.0.0.1:{closed_port}/"))
    assert client.read_response().status == 502


def _full_backlog():
    """A listener whose queue is full, so that a further connection is neither accepted nor refused."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    held = [listener]
    for _ in range(16):
        waiting = socket.socket()
        waiting.settimeout(0.3)
        held.append(waiting)
        try:
            waiting.connect(listener.getsockname())
        except TimeoutError:
            return listener.getsockname()[1], held
    return None, held


def test_a_connection_that_is_not_answered(start):
    port, held = _full_backlog()
    if port is None:
        for item in held:
            item.close()
        pytest.skip("this system accepts connections beyond a listener's queue")
    usher = start(QUICK)
    with Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(request("GET", f"http://127.0.0.1:{port}/"))
    check(answer, 504, "connection_timeout", "timeouts.connect")
    for item in held:
        item.close()


def test_an_origin_that_does_not_answer(start, origin):
    server = origin(Origin(lambda connection: connection.read_rest()))
    usher = start(QUICK)
    with Connection(("127.0.0.1", usher.port)) as client:
        check(client.exchange(request("GET", f"{server.url}/")), 504, "http_response_timeout", "timeouts.response")
    assert usher.flow(server.authority).access["proxy_error"] == "http_response_timeout"


def test_a_request_that_does_not_come(start):
    usher = start(QUICK)
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send("GET http://h/ HTTP/1.1\r\nHo")
        check(client.read_response(), 408, "http_request_error", "timeouts.header")
        assert client.is_at_end()


def test_limits_are_those_of_the_configuration(start, origin):
    server = origin(lambda seen: response(body=str(len(seen.body)).encode()))
    usher = start({"limits": {"header": "1KiB", "header_fields": 10, "url": "200B", "body": "4KiB"}})

    def ask(data):
        with Connection(("127.0.0.1", usher.port)) as client:
            return client.exchange(data)

    check(ask(request("GET", f"{server.url}/" + "a" * 300)), 414, "http_request_error", "limits.url")
    check(ask(request("GET", f"{server.url}/", [("A", "b" * 2000)])), 431, "http_request_error", "limits.header")
    many = [(f"A{number}", "") for number in range(10)]
    check(ask(request("GET", f"{server.url}/", many)), 431, "http_request_error", "limits.header_fields")
    check(ask(request("POST", f"{server.url}/", body=b"x" * 5000)), 413, "http_request_error", "limits.body")
    body = wire.chunked(b"x" * 5000, 1000)
    check(
        ask(request("POST", f"{server.url}/", [("Transfer-Encoding", "chunked")], body)),
        413, "http_request_error", "limits.body")
    assert ask(request("POST", f"{server.url}/", body=b"x" * 4000)).body == b"4000"


def test_the_proxy_itself_is_no_destination(plain_usher, connect):
    answer = connect().exchange(request("GET", f"{plain_usher.url}/"))
    check(answer, 508, "proxy_loop_detected")


def test_an_interceptor_that_aborts(start, origin):
    server = origin()
    usher = start({"interceptors": [
        {"name": "maintenance", "when": {"path": "/closed"}, "request": [{"abort": {"reason": "closed for today"}}]}]})
    with Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(request("GET", f"{server.url}/closed"))
        check(answer, 502, "http_request_denied", "closed for today")
        assert "maintenance" in answer.get("proxy-status")
        assert client.exchange(request("GET", f"{server.url}/open")).status == 200
    assert [seen.target for seen in server.requests] == ["/open"]
