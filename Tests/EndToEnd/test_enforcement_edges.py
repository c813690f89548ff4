"""What may go wrong around a decision: requests of every kind, clients that leave, tunnels, reloads, and time."""

import json
import threading
import time
import urllib.parse

import pytest

import frames
import hello
import inside
import programs
import shop
import wire
from test_enforcement import decision
from test_reload_binds import reload
from wire import request, response

SESSION = ("Cookie", f"{shop.COOKIE}=user")
ALL = {name: True for name in ("GET", "HEAD", "POST", "PUT", "OPTIONS")}


class Deciding(wire.Answering):
    """An AM that allows everything, once it is let; `answers` says otherwise."""

    def __init__(self):
        self.opened = threading.Event()
        self.opened.set()
        self.asked = []
        self.ttl = 0
        self.answers = lambda asked: [decision(asked["resources"][0], ALL, ttl=self.ttl)]
        super().__init__(self.decide)

    def decide(self, message):
        asked = json.loads(message.body)
        self.asked.append(asked)
        assert self.opened.wait(20)
        return response(200, [("Content-Type", "application/json")], json.dumps(self.answers(asked)).encode())


@pytest.fixture
def am(origin):
    return origin(Deciding())


@pytest.fixture
def resource(origin):
    return origin(lambda message: response(200, [("X-Seen", "yes")], b"" if message.line.startswith("HEAD") else b"seen"))


def config(am, *urls, **enforce):
    return {
        "am": [{"url": f"{am.url}/am"}],
        "authorization": {
            "resources": [{"url": url, "enforce": "am"} for url in urls],
            "enforce": {"application": "shop", "as": {"session": "agent"}, **enforce}}}


@pytest.fixture
def usher(start, am, resource):
    return start(config(am, f"{resource.url}/*"))


@pytest.fixture
def client(usher):
    with wire.Connection(("127.0.0.1", usher.port)) as made:
        yield made


def later(milliseconds):
    return int(time.time() * 1000) + milliseconds


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PROPFIND", "get"])
def test_each_method_is_an_action(client, am, resource, method):
    answer = client.exchange(request(method, f"{resource.url}/a", [SESSION]), method)
    assert (answer.status == 200) == (method in ALL), answer
    assert len(resource.requests) == (method in ALL) and len(am.asked) == 1
    # what follows on the connection is asked about by itself
    assert client.exchange(request("GET", f"{resource.url}/b", [SESSION])).status == 200
    assert [urllib.parse.urlsplit(asked["resources"][0]).path for asked in am.asked] == ["/a", "/b"]


def test_a_head_that_is_refused_has_no_body(client, am, resource):
    am.answers = lambda asked: [decision(asked["resources"][0], {"GET": True})]
    answer = client.exchange(request("HEAD", f"{resource.url}/a", [SESSION]), "HEAD")
    assert answer.status == 403 and int(answer.get("Content-Length")) > 0
    assert client.exchange(request("GET", f"{resource.url}/a", [SESSION])).status == 200


def test_a_preflight_carries_no_session(client, am, resource):
    fields = [("Origin", "http://page.example.com"), ("Access-Control-Request-Method", "PUT")]
    assert client.exchange(request("OPTIONS", f"{resource.url}/a", fields)).status == 200
    assert am.asked == []
    # one that no page makes is a request like any other
    assert client.exchange(request("OPTIONS", f"{resource.url}/a", fields[1:])).status == 403


@pytest.mark.parametrize("with_body", [False, True])
def test_no_preflight_has_a_body(start, am, secure_origin, certificates, with_body):
    """In HTTP/2 none of its fields has to say so."""
    server = secure_origin()
    usher = start(inside.config(certificates, config(am, f"{server.url}/*")))
    with inside.opened(usher, server.authority, inside.trusting(usher, protocols=["h2"])) as connection:
        client = frames.Peer(connection)
        client.send(frames.headers(1, [
            (":method", "OPTIONS"), (":scheme", "https"), (":authority", server.authority), (":path", "/a"),
            ("origin", "http://page.example.com"), ("access-control-request-method", "PUT")], end=not with_body))
        if with_body:
            client.send(frames.data(1, b"body", end=True))
        assert frames.is_ok(client.until(frames.HEADERS, 1)) == (not with_body)
    assert len(server.requests) == (not with_body)


def test_an_upgrade_is_asked_about(origin, start, am):
    def serve(connection):
        connection.read_request()
        connection.send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        connection.send(connection.read(4))

    server = origin(wire.Origin(serve))
    usher = start(config(am, f"{server.url}/*"))
    fields = [SESSION, ("Connection", "Upgrade"), ("Upgrade", "WebSocket")]
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(request("GET", f"{server.url}/socket", fields))
        assert client.read_head().status == 101
        client.send(b"ping")
        assert client.read(4) == b"ping"
    assert len(am.asked) == 1
    am.answers = lambda asked: [decision(asked["resources"][0], {})]
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{server.url}/socket", fields)).status == 403
    assert len(server.accepted) == 1


@pytest.mark.parametrize("wanted, is_passed_on", [
    ("websocket", True), ("TLS/1.2", False), ("HTTP/2.0", False), ("h2", False), ("websocket, foo", False)])
def test_what_is_spoken_instead_of_http(origin, start, am, wanted, is_passed_on):
    """What nobody asks about may be requests, but for WebSockets."""
    server = origin()
    usher = start(config(am, f"{server.url}/api/*"))
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        for path in ("/api/a", "/other"):
            answer = client.exchange(
                request("GET", f"{server.url}{path}", [SESSION, ("Connection", "Upgrade"), ("Upgrade", wanted)]))
            assert answer.status == 200
    assert [seen.get("upgrade") for seen in server.requests] == [wanted if is_passed_on else None] * 2


def test_a_body_waits_for_the_decision(client, am, resource):
    am.opened.clear()
    body = bytes(range(256)) * 4096
    client.send(
        f"POST {resource.url}/a HTTP/1.1\r\nHost: x\r\nCookie: {shop.COOKIE}=user\r\nContent-Length: {len(body)}\r\n\r\n"
        .replace("Host: x", f"Host: {resource.authority}"))
    sender = threading.Thread(target=client.send, args=(body,))
    sender.start()
    programs.eventually(lambda: am.asked, "a question")
    assert resource.accepted == []
    am.opened.set()
    sender.join(10)
    assert client.read_response().status == 200
    assert resource.requests[0].body == body


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_body_that_asks_first(client, am, resource, is_allowed):
    """Nobody is told to go on before AM has decided."""
    if not is_allowed:
        am.answers = lambda asked: [decision(asked["resources"][0], {})]
    am.opened.clear()
    fields = [SESSION, ("Expect", "100-continue"), ("Content-Length", "4")]
    client.send(request("PUT", f"{resource.url}/a", fields))
    programs.eventually(lambda: am.asked, "a question")
    am.opened.set()
    if is_allowed:
        client.send(b"body")
        assert client.read_response().status == 200 and resource.requests[0].body == b"body"
    else:
        assert client.read_head().status == 403 and resource.requests == []


def test_who_leaves_gives_the_place_back(start, am, resource):
    usher = start(config(am, f"{resource.url}/*", concurrency=2))
    am.opened.clear()
    for number in range(5):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            client.send(request("GET", f"{resource.url}/{number}", [SESSION]))
            programs.eventually(lambda: len(am.asked) == number + 1, "a question")
            client.reset()
    am.opened.set()
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", f"{resource.url}/last", [SESSION])).status == 200
    assert [message.target for message in resource.requests] == ["/last"]


def test_two_sessions_at_once(client, am, resource):
    for fields in [
        [("Cookie", f"{shop.COOKIE}=a; {shop.COOKIE}=b")], [("Cookie", f"{shop.COOKIE}=a"), (shop.COOKIE, "b")]
    ]:
        answer = client.exchange(request("GET", f"{resource.url}/a", fields))
        assert answer.status == 400 and b"several sessions" in answer.body
    assert am.asked == [] and resource.requests == []


def test_upper_and_lower_case(start, am, resource):
    usher = start(config(am, f"{resource.url}/api/*"))
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        for path in ["/api/x", "/API/x", "/aPi/x", "/%41pi/x"]:
            assert client.exchange(request("GET", resource.url + path, [SESSION])).status == 200
        assert len(am.asked) == 4
        assert client.exchange(request("GET", f"{resource.url}/other", [SESSION])).status == 200
        assert len(am.asked) == 4


# time


@pytest.mark.parametrize("ttl, count", [
    (lambda: 0, 3), (lambda: later(-1000), 3), (lambda: later(30_000), 1), (lambda: 9223372036854775807, 1),
    # seconds, or what is no whole number, are no such time
    (lambda: later(30_000) // 1000, 3), (lambda: 1e300, 3), (lambda: str(later(30_000)), 3), (lambda: None, 3),
    (lambda: -9223372036854775808, 3), (lambda: 18446744073709551615, 3),
])
def test_for_how_long(client, am, resource, ttl, count):
    am.ttl = ttl()
    for _ in range(3):
        assert client.exchange(request("GET", f"{resource.url}/a", [SESSION])).status == 200
    assert len(am.asked) == count


def test_no_longer_than_is_configured(start, am, resource):
    usher = start(config(am, f"{resource.url}/*", cache="100ms"))
    am.ttl = 9223372036854775807
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        def ask():
            assert client.exchange(request("GET", f"{resource.url}/a", [SESSION])).status == 200
            return len(am.asked) >= 2

        programs.eventually(ask, "a second question")


def test_a_reload_asks_by_the_new_rules(start, am, resource):
    usher = start(config(am, f"{resource.url}/*"))
    am.ttl = 9223372036854775807

    def ask(path="/a"):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            return client.exchange(request("GET", resource.url + path, [SESSION])).status

    assert ask() == 200 and ask() == 200 and len(am.asked) == 1
    reload(usher, config(am, f"{resource.url}/*", application="other"))
    # what another policy set has decided is not known
    assert ask() == 200 and len(am.asked) == 2
    assert [asked["application"] for asked in am.asked] == ["shop", "other"]


# tunnels


@pytest.mark.parametrize("padding, is_relayed", [(0, False), (20_000, False), (0, True)])
@pytest.mark.parametrize("intercept", [[], ["other.localhost"]])
def test_another_way_to_the_name(start, am, secure_origin, certificates, padding, is_relayed, intercept):
    """The name in the ClientHello is read, whatever the tunnel is called."""
    server = secure_origin()
    rules = config(am, f"{server.url}/*")
    usher = start(inside.config(certificates, rules, intercept=intercept) if intercept else {**rules, "workers": 1})
    name = "free.localhost" if is_relayed else "origin.localhost"
    with inside.tunnel(usher, f"127.0.0.1:{server.port}") as client:
        client.send(hello.records(hello.message(name, padding=padding)))
        if is_relayed:
            assert client.read(1) in (b"\x15", b"\x16")
        else:
            programs.eventually(lambda: usher.flows(f"127.0.0.1:{server.port}"), "the tunnel's end")
    assert len(server.handshakes) <= is_relayed


BEFORE = {
    "an alert": b"\x15\x03\x01\x00\x02\x01\x70", "an empty record": b"\x16\x03\x01\x00\x00", "another version": b"\x16\x02\x01\x00\x09",
    "neither": b"PROPFIND / HTTP/1.1\r\n"}


@pytest.mark.parametrize("first", BEFORE)
@pytest.mark.parametrize("intercept", [[], ["*"]])
def test_what_servers_pass_over_hides_no_name(start, am, origin, certificates, first, intercept):
    came = []
    server = origin(wire.Origin(lambda connection: came.append(connection.socket.recv(1))))
    rules = config(am, f"https://guarded.localhost:{server.port}/*")
    usher = start(inside.config(certificates, rules, intercept=intercept) if intercept else {**rules, "workers": 1})
    with inside.tunnel(usher, f"127.0.0.1:{server.port}") as client:
        client.send(BEFORE[first] + hello.records(hello.message("guarded.localhost")))
        programs.eventually(lambda: usher.flows(f"127.0.0.1:{server.port}"), "the tunnel's end")
    assert not any(came)


@pytest.mark.parametrize("intercept", [[], ["*"]])
def test_a_server_that_greets_is_left_alone(start, am, origin, certificates, intercept):
    def serve(connection):
        connection.send(b"SSH-2.0-server\r\n")
        assert connection.read(16) == b"SSH-2.0-client\r\n"
        connection.send(b"well")

    server = origin(wire.Origin(serve))
    rules = config(am, f"https://guarded.localhost:{server.port}/*")
    usher = start(inside.config(certificates, rules, intercept=intercept) if intercept else {**rules, "workers": 1})
    with inside.tunnel(usher, f"127.0.0.1:{server.port}") as client:
        client.send(b"SSH-2.0-client\r\n")
        assert client.read(20) == b"SSH-2.0-server\r\nwell"


def test_a_tunnel_that_is_not_opened(start, am, origin):
    server = origin()
    usher = start(config(am, f"https://*:{server.port}/*"))
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n")
        assert answer.status == 403 and b"tls.intercept" in answer.body
    # plain requests in a tunnel are seen, and asked about where a glob covers them
    plain = start(config(am, f"{server.url}/*"))
    for first, status in [(b"GET", 403), (b"get", None), (b"PURGE", None), (b"\r\nGET", None)]:
        with inside.tunnel(plain, server.authority) as client:
            client.send(first + f" /a HTTP/1.1\r\nHost: {server.authority}\r\n\r\n".encode())
            if status:
                assert client.read_response().status == status
            else:
                assert client.end() == "reset", first
    assert server.requests == []
    programs.eventually(
        lambda: sum(
            "need a decision of AM" in event["text"] for flow in plain.flows(server.authority) for event in flow.events
        ) == 3, "a word about each of them")
