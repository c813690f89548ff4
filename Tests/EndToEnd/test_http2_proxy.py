"""A proxy that is spoken to in HTTP/2: requests in streams of one connection, and tunnels in others of them."""

import json
import pathlib
import queue
import socket
import subprocess

import pytest

import inside
import programs
import web
import wire
from test_http2 import MARK, NewOrigin, old_origin, new_origin  # noqa: F401
from test_inbound import basic, users  # noqa: F401
from test_real_clients import tool

HERE = pathlib.Path(__file__).parent
LISTEN = ["https://127.0.0.1:0", "127.0.0.1:0"]


@pytest.fixture(scope="module")
def proxy(binary, certificates, tmp_path_factory):
    folder = tmp_path_factory.mktemp("http2-proxy")
    path = folder / "usher.yaml"
    rest = {"interceptors": MARK, "workers": 1, "limits": {"per_client": 60}}
    path.write_text(json.dumps({"version": 1, **inside.config(certificates, rest)}))
    program = programs.Usher(binary, path, listen=LISTEN, state=folder)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture(params=["https", "http"])
def door(request, proxy):
    """The proxy's URL: its port that speaks TLS, and the plain one by prior knowledge."""
    return f"{request.param}://127.0.0.1:{proxy.listeners[0 if request.param == 'https' else 1]}"


def run(usher, door, *jobs):
    done = subprocess.run(
        [tool("node"), HERE / "clients/http2_proxy.js", door, str(usher.ca), str(usher.ca), json.dumps(jobs)],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def accesses(usher, authority):
    """What was recorded of tunnels to that place, once there is something."""
    def found():
        return [one for one in usher.records() if one.get("method") == "CONNECT" and authority in one.get("url", "")]

    return usher.wait_for(found, f"a tunnel to {authority}")


@pytest.fixture
def http_origin(origin):
    return origin(web.Web())


@pytest.fixture
def echo(origin):
    """Gives back what it gets, and ends when the client does."""
    def serve(connection):
        while piece := connection.socket.recv(65536):
            connection.socket.sendall(piece)

    return origin(wire.Origin(serve))


def test_requests_for_a_url(proxy, door, http_origin):
    answers = run(proxy, door, {"url": f"{http_origin.url}/get"}, {"url": f"{http_origin.url}/echo", "method": "POST", "body": "abc"})
    assert [(answer["status"], answer["body"]) for answer in answers] == [(200, "hello"), (200, "abc")]
    assert all(answer["headers"]["x-back"] == "again" for answer in answers)
    access = proxy.flow(f"{http_origin.authority}/echo").access
    assert (access["protocol"], access["origin_protocol"]) == ("HTTP/2", "HTTP/1.1")


@pytest.mark.parametrize("spoken", ["https", "h2"])
def test_tunnels_are_opened(proxy, door, spoken, old_origin, new_origin):  # noqa: F811
    path = f"/{spoken}-{door[:5]}"
    jobs = [{"connect": server.authority, "inside": spoken, "path": path, "method": "POST", "body": "abc"}
            for server, path in ((old_origin, "/echo"), (new_origin, path))]
    for answer in run(proxy, door, *jobs):
        assert answer["status"] == 200 and answer["spoken"] == ("h2" if spoken == "h2" else "http/1.1")
        assert (answer["inner"]["status"], answer["inner"]["body"]) == (200, "abc")
        assert answer["inner"]["headers"]["x-back"] == "again"
    access = proxy.flow(f"{new_origin.authority}{path}").access
    assert (access["protocol"], access["origin_protocol"]) == ("HTTP/2" if spoken == "h2" else "HTTP/1.1", "HTTP/2")
    # the tunnel is recorded once, as what it came as
    assert {one["protocol"] for one in accesses(proxy, new_origin.authority)} == {"HTTP/2"}


def test_plain_http_in_a_tunnel(proxy, door, http_origin):
    answer = run(proxy, door, {"connect": http_origin.authority, "inside": "http", "path": "/get"})[0]
    assert (answer["inner"]["status"], answer["inner"]["body"]) == (200, "hello")


def test_many_tunnels_on_one_connection(proxy, door, old_origin):  # noqa: F811
    answers = run(proxy, door, {"connect": old_origin.authority, "inside": "https", "path": "/echo", "method": "POST", "size": 100_000, "count": 40})
    assert {answer["inner"]["status"] for answer in answers} == {200}
    assert {answer["inner"]["length"] for answer in answers} == {100_000}


def test_what_is_not_opened_goes_to_and_fro(proxy, door, echo):
    answers = run(proxy, door, {"connect": echo.authority, "inside": "raw", "size": 3 << 20, "count": 4})
    assert [(answer["length"], answer["reset"], answer["ended"]) for answer in answers] == [(3 << 20, 0, True)] * 4
    access = accesses(proxy, echo.authority)[0]
    assert (access["request_bytes"], access["response_bytes"]) == (3 << 20, 3 << 20)


def test_a_stalled_tunnel_stops_no_other(proxy, door, echo):
    answers = run(
        proxy, door, {"connect": echo.authority, "inside": "raw", "size": 3 << 20, "stays": 1},
        {"connect": echo.authority, "inside": "raw", "size": 1 << 20})
    assert [answer["length"] for answer in answers] == [1 << 20]


def test_a_cut_tunnel_does_not_look_whole(proxy, door, origin):
    def cut(connection):
        connection.read_until(b"go")
        connection.send(b"half")
        connection.reset()

    server = origin(wire.Origin(cut))
    answer = run(proxy, door, {"connect": server.authority, "inside": "raw", "body": "go"})[0]
    assert answer["reset"] != 0, answer


def test_what_a_client_gives_up_is_given_up(proxy, door, origin):
    ended = queue.Queue()

    def serve(connection):
        connection.send(b"x" + connection.read_until(b"go"))
        try:
            while connection.socket.recv(1000):
                pass
        finally:
            ended.put("end")

    run(proxy, door, {"connect": origin(wire.Origin(serve)).authority, "inside": "raw", "body": "go", "gives_up": 1})
    assert ended.get(timeout=programs.DEADLINE) == "end"


def test_what_cannot_be_reached_is_said(proxy, door):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    refused, unknown, after = run(
        proxy, door, {"connect": "usher.proxy:443"}, {"connect": "no-such-host.invalid:443", "inside": "https"},
        {"url": f"http://127.0.0.1:{port}/"})
    assert refused["status"] == 403 and "usher.proxy" in refused["body"]
    assert unknown["status"] == 502 and "no-such-host.invalid" in unknown["body"]
    assert after["status"] == 502 and "connection_refused" in after["headers"]["proxy-status"]


def test_own_pages_in_a_tunnel(proxy, door):
    answer = run(proxy, door, {"connect": "usher.proxy:80", "inside": "http", "path": "/"})[0]
    assert answer["inner"]["status"] == 200 and "Usher" in answer["inner"]["body"]


def test_a_refused_tunnel_ends_its_stream_alone(opening, old_origin):  # noqa: F811
    usher = opening({"destinations": {"connect_ports": [443]}}, listen=LISTEN)
    door = f"https://127.0.0.1:{usher.listeners[0]}"
    refused, whole = run(usher, door, {"connect": old_origin.authority, "inside": "https"}, {"url": "http://usher.proxy/"})
    assert refused["status"] == 403 and "connect_ports" in refused["body"] and refused["reset"] == 0
    assert "usher" in refused["headers"]["proxy-status"] and "connection" not in refused["headers"]
    assert whole["status"] == 200


def test_who_has_to_show_a_password(opening, users, old_origin):  # noqa: F811
    usher = opening(users, listen=LISTEN)
    door = f"https://127.0.0.1:{usher.listeners[0]}"
    proof = dict([basic("alice", "wonder:land")])
    asked, wrong, right = run(
        usher, door, {"connect": old_origin.authority, "inside": "https"},
        {"connect": old_origin.authority, "inside": "https", "headers": {"proxy-authorization": "Basic eDp5"}},
        {"connect": old_origin.authority, "inside": "https", "path": "/get", "headers": {k.lower(): v for k, v in proof.items()}})
    assert asked["status"] == wrong["status"] == 407 and "Basic" in asked["headers"]["proxy-authenticate"]
    assert right["inner"]["body"] == "hello"


def test_tunnels_count_for_their_client(opening, old_origin):  # noqa: F811
    usher = opening({"limits": {"per_client": 3}}, listen=LISTEN)
    door = f"https://127.0.0.1:{usher.listeners[0]}"
    stays = {"connect": old_origin.authority, "inside": "raw", "stays": 1, "count": 2}
    late = run(usher, door, stays, {"connect": old_origin.authority, "inside": "https"})[0]
    assert late["status"] == 503 and "limits.per_client" in late["body"]
