"""HTTP/2 with clients and with origins, and what becomes of a message where one side speaks HTTP/1."""

import base64
import contextlib
import hashlib
import json
import pathlib
import subprocess
import threading

import pytest

import inside
import origins
import programs
import wire
from test_real_clients import tool

HERE = pathlib.Path(__file__).parent
MARK = [{"name": "mark", "request": [{"set_header": {"X-Added": "yes"}}], "response": [{"set_header": {"X-Back": "again"}}]}]


class NewOrigin(programs.Program):
    """h2origin.js."""

    def __init__(self, identity=None):
        super().__init__([tool("node"), HERE / "h2origin.js", *map(str, identity or ())])
        self.port = int(self.wait_for(lambda: self.lines and self.lines[0], "the port"))
        self.authority = f"{origins.NAME if identity else '127.0.0.1'}:{self.port}"
        self.url = f"{'https' if identity else 'http'}://{self.authority}"

    def stop(self, *arguments):
        assert self.process.poll() is None, "\n".join(self.errors[-20:])
        return super().stop(*arguments)

    def requests(self, path=None, count=0):
        def look():
            seen = [json.loads(line) for line in self.lines[1:]]
            seen = [one for one in seen if "headers" in one and (path is None or one["headers"][":path"] == path)]
            return len(seen) >= count and (seen,)

        return self.wait_for(look, f"{count} requests")[0]


@pytest.fixture(scope="module")
def new_origin(certificates):
    server = NewOrigin((certificates.good, certificates.good))
    yield server
    server.stop()


@pytest.fixture
def old_origin(secure_origin):
    return secure_origin(origins.Site)


@pytest.fixture(scope="module")
def proxy(binary, certificates, tmp_path_factory):
    folder = tmp_path_factory.mktemp("http2")
    path = folder / "usher.yaml"
    path.write_text(json.dumps({"version": 1, **inside.config(certificates, {"interceptors": MARK, "workers": 1})}))
    program = programs.Usher(binary, path, state=folder)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture(params=["old", "new"])
def either(request, old_origin, new_origin):
    return old_origin if request.param == "old" else new_origin


def curl(usher, *arguments, given=b""):
    """Status, version of HTTP and body."""
    done = subprocess.run(
        [tool("curl"), "-sS", "--max-time", "30", "-x", usher.url, "--cacert", str(usher.ca), "-w", "\n%{http_code} %{http_version}",
         *arguments], input=given, capture_output=True, check=False, timeout=40)
    body, _, last = done.stdout.rpartition(b"\n")
    status, version = last.decode().split()
    return int(status), version, body, done.returncode


def ask(usher, server, *jobs):
    done = subprocess.run(
        [tool("node"), HERE / "clients/http2.js", usher.url, server.url, str(usher.ca), json.dumps(jobs)],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def protocols(usher, server, path):
    access = usher.flow(f"{server.authority}{path}").access
    return access["protocol"], access.get("origin_protocol")


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_both_sides_speak_their_own(proxy, either, version):
    path = f"/echo{version}" if isinstance(either, NewOrigin) else "/echo"
    status, spoken, body, _ = curl(proxy, version, "--data-binary", "@-", f"{either.url}{path}", given=b"a" * 70_000)
    assert (status, spoken, body) == (200, "1.1" if version == "--http1.1" else "2", b"a" * 70_000)
    mine = "HTTP/1.1" if version == "--http1.1" else "HTTP/2"
    theirs = "HTTP/2" if isinstance(either, NewOrigin) else "HTTP/1.1"
    assert protocols(proxy, either, path) == (mine, theirs)
    if isinstance(either, NewOrigin):
        seen = either.requests(path, 1)[0]["headers"]
        assert seen["x-added"] == "yes" and seen["via"].startswith("1.1 usher" if version == "--http1.1" else "2.0 usher")
        assert (seen[":authority"], seen[":scheme"], seen["content-length"]) == (either.authority, "https", "70000")
        assert not {"host", "connection", "proxy-connection", "transfer-encoding"} & set(seen)


def test_what_interceptors_change_is_seen(proxy, either):
    answer = ask(proxy, either, {"path": "/get", "headers": {"cookie": "a=1"}})[0]
    assert answer["status"] == 200 and answer["headers"]["x-back"] == "again"


def test_messages_without_a_body(proxy, new_origin):
    for version in ("--http1.1", "--http2"):
        assert curl(proxy, version, f"{new_origin.url}/empty")[:3:2] == (204, b"")
        assert curl(proxy, version, "--head", "-o", "/dev/null", f"{new_origin.url}/head")[0] == 200


def test_hints_come_before_the_answer(proxy, new_origin):
    answer = ask(proxy, new_origin, {"path": "/hints"})[0]
    assert answer["interim"] == [103] and answer["status"] == 200


def test_trailers_go_both_ways(proxy, new_origin):
    answer = ask(proxy, new_origin, {"path": "/trailers", "method": "POST", "body": "abc", "trailers": {"x-mine": "1"}})[0]
    assert answer["trailers"] == {"x-sum": "3"} and answer["body"] == "abc"
    assert new_origin.requests("/trailers", 1)[0]["trailers"] == {"x-mine": "1"}


def test_many_at_a_time_share_a_connection(proxy, new_origin):
    first = ask(proxy, new_origin, {"path": "/one"})[0]["headers"]["x-session"]
    answers = ask(proxy, new_origin, {"path": "/many", "count": 60, "method": "POST", "size": 30_000})
    assert {answer["status"] for answer in answers} == {200} and {answer["length"] for answer in answers} == {30_000}
    assert {answer["headers"]["x-session"] for answer in answers} == {first}


def test_a_burst_has_one_connection_made(opening, new_origin):
    answers = ask(opening(), new_origin, {"path": "/burst", "count": 60})
    assert {answer["status"] for answer in answers} == {200} and len({answer["headers"]["x-session"] for answer in answers}) == 1


class Hanging(origins.Server):
    """Answers each connection once; the second one has no handshake before it is told to go on."""

    def __init__(self, *arguments, **options):
        self.goes_on = threading.Event()
        self.hangs = threading.Event()
        super().__init__(*arguments, self.serve_once, **options)

    def begin(self, connection):
        if len(self.accepted) == 2:
            self.hangs.set()
            assert self.goes_on.wait(wire.TIMEOUT)
        super().begin(connection)

    def serve_once(self, connection):
        connection.read_request()
        connection.send(wire.response(fields=[("Connection", "close")], body=b"ok"))


def test_an_origin_that_speaks_http1_has_nobody_wait(opening, secure_origin):
    server = secure_origin(Hanging)
    usher = opening()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(inside.opened(usher, server.authority)) for _ in range(3)]
        assert clients[0].exchange(inside.get(server.authority)).body == b"ok"
        clients[1].send(inside.get(server.authority))
        assert server.hangs.wait(wire.TIMEOUT)
        # its handshake is under way, and this one has another
        assert clients[2].exchange(inside.get(server.authority)).body == b"ok"
        server.goes_on.set()
        assert clients[1].read_response().body == b"ok"


def test_a_large_body_comes_whole(proxy, either):
    path = "/big" if isinstance(either, NewOrigin) else "/chunked"
    answers = ask(proxy, either, {"path": path, "count": 3})
    assert {answer["length"] for answer in answers} == {5 << 20 if isinstance(either, NewOrigin) else 200_000}


def test_an_early_answer_is_one(proxy, new_origin):
    status, _, body, _ = curl(proxy, "--http2", "--data-binary", "@-", f"{new_origin.url}/early", given=b"a" * (3 << 20))
    assert (status, body) == (413, b"too much")


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_a_cut_answer_never_looks_whole(proxy, new_origin, version):
    assert curl(proxy, version, f"{new_origin.url}/reset")[3] in (18, 56, 92)


def test_what_the_origin_made_nothing_of_is_sent_again(proxy, new_origin):
    # also what may not be sent twice otherwise
    status, _, body, _ = curl(proxy, "--http2", "-X", "POST", f"{new_origin.url}/refused")
    assert (status, body) == (200, b"ok")
    assert any('"reset":7' in line for line in new_origin.lines) and len(new_origin.requests("/refused", 1)) == 1


def test_what_a_client_gives_up_is_given_up(proxy, new_origin):
    curl(proxy, "--http2", "--max-time", "1", f"{new_origin.url}/never?given-up")
    new_origin.wait_for(
        lambda: any('"reset":8' in line and "given-up" in line for line in new_origin.lines), "the origin is told")


@pytest.mark.parametrize("wrong", [False, True])
def test_a_websocket_in_a_stream(proxy, secure_origin, wrong):
    def serve(connection):
        asked = connection.read_request()
        assert (asked.target, asked.get("upgrade")) == ("/socket", "websocket")
        key = asked.get("sec-websocket-key").encode() + (b"x" if wrong else b"")
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        connection.send(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\nhello ")
        connection.send(connection.read_rest())

    server = secure_origin(origins.Server, serve)
    answer = ask(proxy, server, {"path": "/socket", "tunnel": "websocket", "body": "frames"})[0]
    if wrong:
        assert answer["status"] == 502 and "Sec-WebSocket-Accept" in answer["body"]
        return
    assert (answer["status"], answer["body"]) == (200, "hello frames")
    assert "sec-websocket-accept" not in answer["headers"]
    access = proxy.flow(f"{server.authority}/socket").access
    assert (access["status"], access["request_bytes"], access["response_bytes"]) == (101, 6, 12)


def test_a_websocket_goes_on_as_a_stream(proxy, new_origin):
    # where a connection to the origin stands
    assert ask(proxy, new_origin, {"path": "/get"})[0]["status"] == 200
    answer = ask(proxy, new_origin, {"path": "/socket", "tunnel": "websocket", "body": "frames"})[0]
    assert (answer["status"], answer["body"]) == (200, "hello frames")
    access = proxy.flow(f"{new_origin.authority}/socket").access
    assert (access["status"], access["origin_protocol"]) == (101, "HTTP/2")
    with inside.opened(proxy, new_origin.authority) as client:
        client.send(
            inside.get(new_origin.authority, "/socket", [
                ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]))
        head = client.read_head()
        assert (head.status, head.get("sec-websocket-accept")) == (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        assert client.read(6) == b"hello "


@pytest.mark.parametrize("mine", ["HTTP/1.1", "HTTP/2"])
def test_a_websocket_is_the_first_that_an_origin_hears(proxy, certificates, mine):
    """Nothing is known of it, and it speaks HTTP/2 alone."""
    if int(subprocess.run([tool("node"), "-p", "parseInt(process.versions.node)"], capture_output=True, text=True).stdout) < 20:
        programs.left_out("Node before 20 answers a client of HTTP/1.1 by a 403 instead of an alert")
    server = NewOrigin((certificates.good, certificates.good))
    try:
        if mine == "HTTP/2":
            answer = ask(proxy, server, {"path": "/socket", "tunnel": "websocket", "body": "frames"})[0]
            assert (answer["status"], answer["body"]) == (200, "hello frames"), answer
        else:
            with inside.opened(proxy, server.authority) as client:
                client.send(inside.get(server.authority, "/socket", [
                    ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]))
                head = client.read_head()
                assert (head.status, head.get("sec-websocket-accept")) == (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                assert client.read(6) == b"hello "
        access = proxy.flow(f"{server.authority}/socket").access
        assert (access["protocol"], access["origin_protocol"], access["status"]) == (mine, "HTTP/2", 101)
    finally:
        server.stop()


def test_no_tunnel_is_made_in_a_stream(proxy, new_origin):
    answers = ask(proxy, new_origin, {"path": "/", "connect": "other.test:443"}, {"path": "/after"})
    assert answers[0]["status"] in (400, 501) and answers[1]["status"] == 200


def test_another_host_is_misdirected(proxy, new_origin):
    answers = ask(
        proxy, new_origin, {"path": "/", "headers": {":authority": "other.test"}},
        {"path": "/", "headers": {"host": "other.test"}}, {"path": "/after"})
    assert [answer["status"] for answer in answers] == [421, 421, 200]


def test_prior_knowledge(start, new_origin):
    plain = NewOrigin()
    try:
        usher = start({"http2": {"cleartext": [plain.authority]}, "interceptors": MARK})
        done = subprocess.run(
            [tool("curl"), "-sS", "--max-time", "20", "--http2-prior-knowledge", "-H", f"Host: {plain.authority}", "-w",
             "\n%{http_code} %{http_version}", f"{usher.url}/get"], capture_output=True, text=True, timeout=30, check=False)
        assert done.stdout == "hello\n200 2", done.stderr
        assert protocols(usher, plain, "/get") == ("HTTP/2", "HTTP/2")
        # who speaks HTTP/1 goes the same way
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            assert client.exchange(wire.request("GET", f"{plain.url}/old")).body == b"ok"
        assert protocols(usher, plain, "/old") == ("HTTP/1.1", "HTTP/2")
        assert plain.requests(count=2)[1]["headers"]["x-added"] == "yes"
        # and inside a tunnel, whose own connection is not taken for one of HTTP/1
        done = subprocess.run(
            [tool("curl"), "-sS", "--max-time", "20", "--http2-prior-knowledge", "-p", "-x", usher.url, "--suppress-connect-headers",
             "-w", "\n%{http_code} %{http_version}", f"{plain.url}/inside"],
            capture_output=True, text=True, timeout=30, check=False)
        assert done.stdout == "ok\n200 2", (done.stdout, done.stderr)
    finally:
        plain.stop()


def test_where_it_is_switched_off(opening, new_origin, old_origin):
    usher = opening({"http2": {"clients": False, "origins": False}})
    assert curl(usher, "--http2", f"{old_origin.url}/get")[:3] == (200, "1.1", b"hello")
    assert old_origin.handshakes[0].protocols == ["http/1.1"]


def test_one_stalled_stream_stops_no_other(proxy, new_origin):
    answers = ask(
        proxy, new_origin, {"path": "/never?stalled", "method": "POST", "size": 300_000, "headers": {"x-stalls": "1"}, "gives_up": 1},
        {"path": "/big", "count": 2})
    assert {answer["length"] for answer in answers[1:]} == {5 << 20}
