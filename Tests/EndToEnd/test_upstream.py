"""Requests that are sent on to another proxy: absolute-form, tunnels, credentials, refusals, loops."""

import json

import pytest

import shop
import upstream
from wire import Connection, Origin, request, response


@pytest.fixture
def via(start, origin):
    """A proxy in front of another one; the hosts under *.corp.test go through it."""
    def run(host="*.corp.test", user="", config=None, **options):
        other = origin(upstream.Proxy(**options))
        destinations = {"via": [{"host": host, "proxy": f"http://{user}127.0.0.1:{other.port}"}]}
        config = {"workers": 1, **(config or {})}
        config["destinations"] = {**destinations, **config.get("destinations", {})}
        return start(config), other

    return run


def client(usher):
    return Connection(("127.0.0.1", usher.port))


def test_the_whole_url_is_asked_for_and_connections_are_shared(via, origin):
    usher, other = via(user="me:p%40ss@", credentials="me:p@ss")
    own = origin()
    with client(usher) as connection:
        for url in ["http://a.corp.test/x?y", "http://b.corp.test:81/", own.url + "/", "http://a.corp.test/z"]:
            answer = connection.exchange(request("GET", url))
            assert answer.status == 200 and answer.body == (b"ok" if url.startswith(own.url) else b"by proxy")
    assert [message.target for message in other.requests] == [
        "http://a.corp.test/x?y", "http://b.corp.test:81/", "http://a.corp.test/z"]
    assert [message.get("host") for message in other.requests] == ["a.corp.test", "b.corp.test:81", "a.corp.test"]
    assert len(other.accepted) == 1
    assert len(own.requests) == 1 and own.requests[0].get("proxy-authorization") is None
    assert usher.said("a.corp.test/x", "note") == [f"sent on to the upstream proxy 127.0.0.1:{other.port}"]


def test_credentials_appear_nowhere(via):
    usher, _ = via(user="me:hush-hush@", credentials="me:other")
    with client(usher) as connection:
        answer = connection.exchange(request("GET", "http://a.corp.test/"))
    assert answer.status == 502 and answer.get("proxy-authenticate") is None
    assert "error=proxy_configuration_error" in answer.get("proxy-status")
    assert b"wants a user name and password" in answer.body
    usher.flow("a.corp.test")
    said = "\n".join(usher.lines + usher.errors) + answer.head.decode() + answer.body.decode()
    assert "hush" not in said and "bWU6" not in said


def test_tunnels(via, origin):
    usher, other = via()
    far = origin(Origin(lambda connection: connection.send(b"\x00" + connection.read(3))))
    with client(usher) as connection:
        answer = connection.exchange(f"CONNECT x.corp.test:{far.port} HTTP/1.1\r\nHost: x.corp.test\r\n\r\n", "HEAD")
        assert answer.status == 200 and answer.get("via") is None
        connection.send(b"\x16ab")
        assert connection.read_rest() == b"\x00\x16ab"
    assert other.requests[0].line == f"CONNECT x.corp.test:{far.port} HTTP/1.1"
    assert other.requests[0].get("host") == f"x.corp.test:{far.port}"


def test_the_far_side_may_speak_first(via):
    greeting = b"HTTP/1.1 200 OK\r\n\r\n220 mail\r\n"
    usher, _ = via(tunnel=lambda message: greeting)
    with client(usher) as connection:
        assert connection.exchange("CONNECT x.corp.test:25 HTTP/1.1\r\nHost: x.corp.test\r\n\r\n", "HEAD").status == 200
        assert connection.read_rest() == b"220 mail\r\n"


def test_plain_http_inside_a_tunnel(via, origin):
    usher, other = via()
    far = origin()
    with client(usher) as connection:
        connection.exchange(f"CONNECT x.corp.test:{far.port} HTTP/1.1\r\nHost: x.corp.test\r\n\r\n", "HEAD")
        for path in ["/1", "/2"]:
            answer = connection.exchange(f"GET {path} HTTP/1.1\r\nHost: x.corp.test:{far.port}\r\n\r\n")
            assert answer.body == b"ok"
    assert [message.target for message in far.requests] == ["/1", "/2"] and len(far.accepted) == 1
    assert len(other.requests) == 1


@pytest.mark.parametrize("status", [403, 502, 302])
def test_a_refused_tunnel(via, status):
    usher, other = via(tunnel=lambda message: response(status, [("Location", "http://evil.test/")], b"secret page"))
    with client(usher) as connection:
        answer = connection.exchange("CONNECT x.corp.test:443 HTTP/1.1\r\nHost: x.corp.test\r\n\r\n")
    assert answer.status == 502 and b"secret" not in answer.body and answer.get("location") is None
    assert "error=destination_unavailable" in answer.get("proxy-status")
    assert f"received-status={status}" in answer.get("proxy-status")
    assert f"127.0.0.1:{other.port} made no tunnel to x.corp.test:443" in answer.body.decode()


def test_a_tunnel_without_the_right_password(via):
    usher, _ = via(credentials="me:secret")
    with client(usher) as connection:
        answer = connection.exchange("CONNECT x.corp.test:443 HTTP/1.1\r\nHost: x.corp.test\r\n\r\n")
    assert answer.status == 502 and "error=proxy_configuration_error" in answer.get("proxy-status")


@pytest.mark.parametrize("answer, words", [
    (b"", "closed the connection without a response"), (b"SSH-2.0-x\r\n", "is not valid HTTP")])
def test_what_is_no_proxy(via, answer, words):
    usher, _ = via(tunnel=lambda message: answer)
    with client(usher) as connection:
        got = connection.exchange("CONNECT x.corp.test:443 HTTP/1.1\r\nHost: x.corp.test\r\n\r\n")
    assert got.status == 502 and words in got.body.decode()


def test_a_proxy_that_does_not_answer(start, origin):
    silent = origin(Origin(lambda connection: connection.read_rest()))
    usher = start({
        "timeouts": {"connect": "300ms"},
        "destinations": {"via": [{"host": "*", "proxy": f"http://127.0.0.1:{silent.port}"}]}})
    with client(usher) as connection:
        answer = connection.exchange("CONNECT x.test:443 HTTP/1.1\r\nHost: x.test\r\n\r\n")
    assert answer.status == 504 and "made no tunnel to x.test:443 within" in answer.body.decode()


def test_destinations_are_judged_by_what_is_asked_for(via):
    usher, other = via(host="*", config={"destinations": {"deny": ["bad.corp.test", "metadata"]}})
    with client(usher) as connection:
        assert connection.exchange(request("GET", "http://good.corp.test/")).status == 200
        # over the connection that the pool has for everybody
        for host in ["bad.corp.test", "169.254.169.254", "2852039166"]:
            assert connection.exchange(request("GET", f"http://{host}/")).status == 403
    assert [message.get("host") for message in other.requests] == ["good.corp.test"]


def test_the_proxys_own_address_is_checked(via):
    usher, other = via(config={"destinations": {"deny": ["127.0.0.0/8"]}})
    with client(usher) as connection:
        answer = connection.exchange(request("GET", "http://a.corp.test/"))
    assert answer.status == 403 and f"for the upstream proxy 127.0.0.1:{other.port}" in answer.body.decode()
    assert not other.accepted


def test_exceptions_go_straight(start, origin):
    own = origin()
    usher = start({"destinations": {"via": [
        {"host": "localhost", "proxy": "direct"}, {"host": "*", "proxy": "http://127.0.0.1:1"}]}})
    with client(usher) as connection:
        assert connection.exchange(request("GET", f"http://localhost:{own.port}/")).body == b"ok"
        answer = connection.exchange(request("GET", "http://a.test/"))
        assert answer.status == 502 and "the upstream proxy 127.0.0.1:1 refused" in answer.body.decode()


@pytest.mark.parametrize("line", ["GET http://a.test/ HTTP/1.1", "CONNECT a.test:443 HTTP/1.1"])
def test_its_own_listener_is_no_upstream_proxy(start, write_config, line):
    usher = start()
    path = write_config({"destinations": {"via": [{"host": "*", "proxy": f"http://localhost:{usher.port}"}]}})
    # the port is known only now
    usher.config.write_text(path.read_text())
    usher.process.send_signal(1)
    usher.wait_for(lambda: any("generation 2" in line for line in list(usher.errors)), "the reload")
    with client(usher) as connection:
        answer = connection.exchange(f"{line}\r\nHost: a.test\r\n\r\n")
    assert answer.status == 508 and "is this proxy itself" in answer.body.decode()


def test_a_chain_of_two(start, origin):
    own = origin()
    inner = start()
    outer = start({"destinations": {"via": [{"host": "*", "proxy": inner.url}]}})
    with client(outer) as connection:
        answer = connection.exchange(request("POST", own.url + "/x", body=b"hello"))
        assert answer.body == b"ok" and len(answer.all("via")) + answer.get("via").count(",") == 2
        tunnel = connection.exchange(f"CONNECT {own.authority} HTTP/1.1\r\nHost: {own.authority}\r\n\r\n", "HEAD")
        assert tunnel.status == 200
        assert connection.exchange(f"GET /y HTTP/1.1\r\nHost: {own.authority}\r\n\r\n").body == b"ok"
    assert [message.target for message in own.requests] == ["/x", "/y"] and own.requests[0].body == b"hello"
    inner.flow("/x")


def test_a_stale_connection_to_the_proxy_is_replaced(via):
    """It closes without a word when the second request comes."""
    usher, other = via(answer=lambda message: None if len(other.requests) == 2 else response(body=b"by proxy"))
    with client(usher) as connection:
        assert connection.exchange(request("GET", "http://a.corp.test/1")).body == b"by proxy"
        assert connection.exchange(request("GET", "http://a.corp.test/2")).body == b"by proxy"
    assert len(other.accepted) == 2


def test_calls_of_a_step_up_take_the_way_of_their_host(start, sandbox, origin):
    """The AM is reached through another proxy, the shop is not."""
    inner = start()
    usher = start({
        "destinations": {"via": [{"host": "am.localhost", "proxy": inner.url}]},
        **shop.config(sandbox)})
    cookie = f"{shop.COOKIE}={shop.login(sandbox)}"
    with client(usher) as connection:
        answer = connection.exchange(request("GET", sandbox.shop + "/order", [("Cookie", cookie)]))
    assert answer.status == 200, json.dumps(usher.records()[-5:], indent=1)
    assert inner.flow("/am/json/")
    assert not inner.flows("shop.localhost")
