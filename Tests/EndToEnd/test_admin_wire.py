"""The admin API, byte by byte: messages that are no friend's, and crowds."""

import json
import socket
import threading
import time

import pytest

import admin
import people
import programs
import wire


@pytest.fixture
def daemon(start, state):
    return start(admin.CONFIG, state=state, environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})


@pytest.fixture
def port(daemon):
    return admin.Port(daemon)


def problem(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Content-Type: application/problem+json" in head, answer
    said = json.loads(body)
    assert set(said) == {"type", "title", "status", "detail"} and said["status"] == int(head.split(b" ", 2)[1])
    return said["status"]


def test_every_refusal_is_a_problem(port):
    post = ("POST", "/v1/transactions/abcdef/deny")
    answer = ("POST", "/v1/transactions/abcdef/answer")
    cases = [
        (port.head("GET", "/none", "Connection: close"), 404),
        (port.head("PUT", "/v1/lockout", "Connection: close", "Content-Length: 0"), 405),
        (port.head("BREW", "/v1/lockout", "Connection: close"), 405),
        (port.head("GET", "/" + "x" * 5000), 414),
        (port.head("GET", "/", "X: " + "x" * 9000), 431),
        (port.head("GET", "/", *(f"X{number}: y" for number in range(100))), 431),
        (port.head(*post, "Content-Length: 1100000"), 413),
        (port.head(*post, "Content-Length: 99999999999999999999999"), 400),
        (port.head(*answer, "Content-Length: 2", "Connection: close") + "{}", 415),
        (port.head(*answer, "Content-Type: text/plain", "Content-Length: 2", "Connection: close") + "{}", 415),
        (port.head(*answer, "Content-Type: application/json", "Content-Length: 2", "Connection: close") + "{{", 400),
        (port.head(*answer, "Expect: miracles", "Content-Length: 2") + "{}", 417),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 505), ("\x16\x03\x01\x02\r\n\r\n", 400),
        # what is read in two ways is read in none
        (port.head(*post, "Content-Length: 2", "Content-Length: 3") + "{}", 400),
        (port.head(*post, "Content-Length: 2", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400),
        (port.head(*post, "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n", 501),
        (port.head(*post, "Transfer-Encoding : chunked") + "0\r\n\r\n", 400),
        (port.head(*post, "Transfer-Encoding: chunked") + "2;x\n{}\r\n0\r\n\r\n", 400),
        (port.head("GET", "/live", f"Host: {port.address}"), 400),
        (port.head("GET", "/live", " folded: x"), 400),
        (port.head("GET", "/live\x00", "Connection: close"), 400),
    ]
    for message, status in cases:
        assert problem(port.says(message)) == status, message[:200]


def test_a_smuggled_request_is_part_of_nothing(port):
    inner = port.head("DELETE", "/v1/lockout")
    said = port.says(port.head("POST", "/v1/transactions/abcdef/deny", f"Content-Length: {len(inner)}", "Connection: close") + inner)
    assert said.count(b"HTTP/1.1 ") == 1 and problem(said) == 404
    # a body that nobody announced is another request, and has to show its own token
    said = port.says(port.head("GET", "/live", token=None) + port.head("DELETE", "/v1/lockout", "Connection: close", token=None))
    first, second = said.split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"200") and second.startswith(b"401")
    # shown once is shown for one request
    said = port.says(port.head("GET", "/v1/lockout") + port.head("GET", "/v1/lockout", token=None) + port.head("GET", "/live"))
    assert [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]] == [b"200", b"401"], "a refusal of that kind is the last answer"


def test_pipelining_and_head(port):
    with port.connect() as connection:
        connection.send(port.head("GET", "/v1/lockout") * 30 + port.head("HEAD", "/v1/lockout") + port.head("GET", "/live", "Connection: close"))
        said = connection.read_rest()
    assert said.count(b"HTTP/1.1 200 OK") == 32
    assert said.count(b'{"logins":[]}') == 30, "HEAD has a length and no body"
    assert said.endswith(b'{"state":"serving"}\n')
    for line, status in (("X: y", b"401"), ("Origin: null", b"403")):
        refused = port.says(port.head("HEAD", "/v1/lockout", line, token=None))
        assert refused.startswith(b"HTTP/1.1 " + status) and refused.endswith(b"\r\n\r\n"), "nothing follows the head"
    old = port.says(port.head("GET", "/live", version="1.0"))
    assert old.startswith(b"HTTP/1.1 200") and b"Connection: close" in old


def test_who_waits_for_word_hears_it(port):
    with port.connect() as connection:
        connection.send(port.head(
            "POST", "/v1/transactions/abcdef/answer", "Content-Type: application/json", "Content-Length: 2", "Expect: 100-continue",
            "Connection: close"))
        assert connection.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
        connection.send("{}")
        assert problem(connection.read_rest()) == 404
    # nobody is asked for a body that will not be read
    said = port.says(port.head("POST", "/v1/transactions/a/answer", "Content-Length: 2", "Expect: 100-continue", token=None))
    assert said.startswith(b"HTTP/1.1 401")
    said = port.says(port.head("POST", "/v1/transactions/a/answer", "Content-Length: 1100000", "Expect: 100-continue"))
    assert said.startswith(b"HTTP/1.1 413")


def test_who_leaves_is_not_waited_for(daemon, port, origin, through):
    go = threading.Event()

    def answer(_):
        if len(held.requests) > 1:
            go.wait(programs.DEADLINE)
        return wire.response(body=b"good")

    held = origin(answer)
    through(daemon).get(f"{held.url}/", timeout=10)
    flow = programs.eventually(lambda: port.json("/v1/flows")[1]["flows"], "the flow is kept")[0]["id"]
    gone = port.connect()
    again = port.head("POST", f"/v1/flows/{flow}/replay", "Content-Length: 0")
    # what comes behind it is answered after it, not instead of it
    gone.send(again + port.head("GET", "/live"))
    programs.eventually(lambda: len(held.requests) == 2, "it is sent again")
    before = daemon.descriptors()
    gone.close()
    programs.eventually(lambda: daemon.descriptors() < before, "its place is free while the origin thinks", 5)
    with port.connect() as patient:
        patient.send(again + port.head("GET", "/live", "Connection: close"))
        programs.eventually(lambda: len(held.requests) == 3, "it is sent once more")
        go.set()
        said = patient.read_rest()
    assert said.count(b"HTTP/1.1 200 OK") == 2 and said.endswith(b'{"state":"serving"}\n')


def crowd(port, count, data=b""):
    connections = []
    for _ in range(count):
        one = socket.socket()
        one.settimeout(30)
        one.connect((port.host, port.number))
        if data:
            one.sendall(data)
        connections.append(one)
    return connections


def test_a_crowd_disturbs_neither_the_proxy_nor_the_socket(daemon, port, binary, state, origin, through):
    person = people.Person(binary, state)
    client = through(daemon)
    url = f"{origin().url}/"
    silent = crowd(port, 150)
    slow = crowd(port, 150, b"GET /v1/lockout HTTP/1.1\r\nHost: localhost\r\nX: ")
    bodies = crowd(port, 100, port.head("POST", "/live", "Content-Length: 60000", token=None).encode() + b"x" * 30000)
    before = time.monotonic()
    for _ in range(20):
        assert person.asks("GET", "/v1/lockout")[0].status == 200
        assert client.get(url, timeout=15).status_code == 200
    assert time.monotonic() - before < 10
    # strangers lose their places to whoever waits behind them, and who shows the token is answered in the end
    status, _, _ = port.curl("/v1/lockout")
    assert status == 200
    for one in silent + slow + bodies:
        one.close()
    assert daemon.process.poll() is None


def test_a_crowd_leaves_nothing_behind(daemon, port):
    assert port.curl("/live")[0] == 200
    before = daemon.descriptors()
    for data in (b"", b"GET ", port.head("GET", "/v1/lockout").encode(), b"\r\n" * 50, bytes(range(256)) * 10):
        for one in crowd(port, 60, data):
            one.close()
    programs.eventually(lambda: daemon.descriptors() <= before, "all of them are gone", 60)
    assert port.curl("/v1/lockout")[0] == 200


def answered(port, within):
    before = time.monotonic()
    status, _, _ = port.curl("/v1/status")
    assert status == 200
    taken = time.monotonic() - before
    assert taken < within, f"answered after {taken:.1f} s"


@pytest.mark.alone
def test_who_follows_no_more_gives_its_place_up(port):
    follow = port.head("GET", "/v1/flows/stream").encode()
    followers = []
    for number in range(40):
        one = port.connect()
        one.send(follow)
        said = one.read_until(b"\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 200 " if number < 16 else b"HTTP/1.1 503 "), (number, said)
        if number >= 16:
            assert b"Retry-After: 10\r\n" in said and b"Connection: close\r\n" in said
        followers.append(one)
    answered(port, within=1)
    for one in followers:
        one.socket.close()


@pytest.mark.alone
@pytest.mark.parametrize("data", [b"", b"GET /v1/lockout HTTP/1.1\r\nX: ", b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_strangers_give_way(port, data):
    strangers = crowd(port, 300, data)
    answered(port, within=1)
    # those who have shown the token stay
    with port.connect() as friend:
        friend.send(port.head("GET", "/v1/lockout"))
        assert friend.read_until(b"}").startswith(b"HTTP/1.1 200 ")
        more = crowd(port, 100, data)
        friend.send(port.head("GET", "/v1/lockout", "Connection: close"))
        assert b"HTTP/1.1 200 " in friend.read_rest()
    for one in strangers + more:
        one.close()
