"""Who may use the proxy, how it is known, and what origins are told of it."""

import base64
import concurrent.futures
import socket
import struct
import subprocess
import time

import pytest

from wire import Connection, request

# bcrypt of `wonder:land` at cost 5, of `pä` at cost 10
ALICE = "alice:$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
BOB = "bob:$2b$10$abcdefghijklmnopqrstuuf8JlVRP1aybG30pcXzRaE0fBtf6ujuG"
CHALLENGE = 'Basic realm="usher", charset="UTF-8"'


def basic(user, password):
    return ("Proxy-Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "users.htpasswd"
    path.write_text(f"{ALICE}\n{BOB}\n")
    path.chmod(0o640)
    return {"clients": {"basic": {"users": "${file:users.htpasswd}"}}}


def connection(usher):
    return Connection(("127.0.0.1", usher.port))


# passwords


def test_a_password_is_asked_for_and_kept_here(start, users, origin):
    server = origin()
    usher = start(users)
    with connection(usher) as client:
        refused = client.exchange(request("GET", f"{server.url}/a"))
        assert (refused.status, refused.get("proxy-authenticate")) == (407, CHALLENGE)
        assert refused.get("proxy-status").startswith("usher; error=http_request_denied")
        assert client.exchange(request("GET", f"{server.url}/b", [basic("alice", "wonder:land")])).status == 200
        assert client.exchange(request("GET", f"{server.url}/c", [basic("alice", "wonderland")])).status == 407
        assert client.exchange(request("GET", f"{server.url}/d", [basic("mallory", "x")])).status == 407
        assert client.exchange(request("GET", f"{server.url}/e", [basic("bob", "pä")])).status == 200
    assert [seen.target for seen in server.requests] == ["/b", "/e"]
    assert not any(seen.get("proxy-authorization") for seen in server.requests)
    assert usher.flow("/b").access["user"] == "alice"
    assert usher.flow("/e").access["user"] == "bob"
    assert "user" not in usher.flow("/a").access
    assert usher.said("/c", "note", "alice")
    assert "wonder" not in "".join(usher.lines + usher.errors)


def test_connect_asks_too(start, users, origin):
    server = origin()
    usher = start(users)
    with connection(usher) as client:
        connect = f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n"
        refused = client.exchange(connect + "\r\n", "CONNECT")
        assert (refused.status, refused.get("proxy-authenticate")) == (407, CHALLENGE)
        client.send(connect + "{}: {}\r\n\r\n".format(*basic("alice", "wonder:land")))
        assert client.read_head().status == 200
        assert client.exchange(f"GET /inside HTTP/1.1\r\nHost: {server.authority}\r\n\r\n").status == 200
    assert usher.flow("/inside").access["user"] == "alice"


def test_programs_know_how_to_show_it(start, users, origin, through):
    server = origin()
    usher = start(users)
    proxy = usher.url.replace("//", "//alice:wonder%3Aland@")
    session = through(usher)
    session.proxies = {"http": proxy}
    assert session.get(server.url).status_code == 200
    for more in ([], ["--proxytunnel"], ["--proxy-anyauth"]):
        run = subprocess.run(
            ["curl", "-sS", "-x", proxy, *more, server.url], capture_output=True, timeout=20, check=True)
        assert run.stdout == b"ok"


def test_guessing_costs(start, users, origin):
    server = origin()
    usher = start({**users, "workers": 2})
    statuses = []
    for number in range(30):
        with connection(usher) as client:
            answer = client.exchange(request("GET", f"{server.url}/", [basic("alice", f"guess {number}")]))
            statuses.append(answer.status)
    assert set(statuses[:10]) == {407}
    assert statuses[-1] == 429
    assert int(answer.get("retry-after")) >= 1
    assert not server.requests


def guesses(usher, url, count, user=lambda number: "mallory", address=lambda number: "127.0.0.1"):
    """The statuses of so many wrong passwords, each on a connection of its own."""
    statuses = []
    for number in range(count):
        with socket.create_connection(
                ("127.0.0.1", usher.port), 10, source_address=(address(number), 0)) as raw, Connection(raw) as client:
            statuses.append(client.exchange(request("GET", url, [basic(user(number), f"guess {number}")])).status)
    return statuses


def test_many_addresses_of_this_machine_are_one(start, users, origin):
    server = origin()
    usher = start({**users, "workers": 2})
    statuses = guesses(
        usher, server.url, 40, user=lambda number: f"user{number}", address=lambda number: f"127.0.0.{number + 1}")
    assert set(statuses[:10]) == {407} and statuses[20:].count(429) >= 15
    assert not server.requests


def test_others_guesses_lock_nobody_out(start, users, origin):
    server = origin()
    usher = start({**users, "workers": 2})
    good = request("GET", f"{server.url}/", [basic("alice", "wonder:land")])
    with connection(usher) as client:
        assert client.exchange(good).status == 200
    assert guesses(usher, server.url, 30, user=lambda number: f"user{number}")[-1] == 429
    # on whatever worker it lands
    for _ in range(8):
        with connection(usher) as client:
            assert client.exchange(good).status == 200
    with connection(usher) as client:
        assert client.exchange(request("GET", server.url, [basic("bob", "pä")])).status == 429


def test_a_wrong_password_shown_again_is_one_guess(start, users, origin):
    """A program that was not told of a new password locks out nobody else."""
    server = origin()
    usher = start({**users, "workers": 2})
    with connection(usher) as client:
        for _ in range(30):
            assert client.exchange(request("GET", server.url, [basic("alice", "of yesterday")])).status == 407
        assert client.exchange(request("GET", server.url, [basic("alice", "wonder:land")])).status == 200


def test_one_user_is_guessed_from_many_networks(balanced, origin):
    server = origin()

    def ask(address, password):
        with connection(balanced) as client:
            client.send(V1.replace(b"203.0.113.9", address))
            return client.exchange(request("GET", server.url, [basic("alice", password)])).status

    assert ask(b"203.0.113.9", "wonder:land") == 200
    statuses = [ask(b"203.0.%d.1" % (number % 100), f"guess {number}") for number in range(40)]
    assert set(statuses[:15]) == {407} and statuses[-5:] == [429] * 5
    assert ask(b"203.0.113.9", "wonder:land") == 200


def test_a_crowd_with_one_password_is_let_in(start, users, origin):
    server = origin()
    usher = start({**users, "workers": 2})

    def ask(_):
        with connection(usher) as client:
            return client.exchange(request("GET", f"{server.url}/", [basic("bob", "pä")])).status

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        assert set(pool.map(ask, range(80))) == {200}


@pytest.mark.alone
def test_a_check_holds_up_nobody_else(start, users, origin):
    """bcrypt runs beside the loop: others are served while a password is being checked."""
    server = origin()
    usher = start({**users, "workers": 1})
    with connection(usher) as known:
        good = request("GET", f"{server.url}/good", [basic("alice", "wonder:land")])
        assert known.exchange(good).status == 200
        slow = [connection(usher) for _ in range(8)]
        for number, client in enumerate(slow):
            client.send(request("GET", f"{server.url}/slow", [basic("bob", f"guess {number}")]))
        began = time.monotonic()
        for _ in range(20):
            assert known.exchange(good).status == 200
        served = time.monotonic() - began
        assert {client.read_response().status for client in slow} == {407}
        checked = time.monotonic() - began
        for client in slow:
            client.close()
    assert served < checked, "twenty requests took longer than eight checks"


def test_a_reload_changes_the_passwords(start, users, origin, tmp_path):
    server = origin()
    usher = start(users)
    with connection(usher) as client:
        ask = request("GET", f"{server.url}/", [basic("alice", "wonder:land")])
        assert client.exchange(ask).status == 200
        (tmp_path / "users.htpasswd").write_text(BOB + "\n")
        usher.process.send_signal(1)
        usher.wait_for(lambda: any("is in force" in line for line in usher.errors), "the reload")
        assert client.exchange(ask).status == 407


def test_beyond_loopback_a_password_is_needed(binary, write_config):
    config = write_config({"clients": {"allow": "0.0.0.0/0"}})
    run = subprocess.run([binary, "check", config], capture_output=True, text=True, timeout=20)
    assert run.returncode == 1
    assert "requires clients.basic" in run.stdout + run.stderr
    assert "htpasswd -B" in run.stdout + run.stderr


# the PROXY protocol

V1 = b"PROXY TCP4 203.0.113.9 192.0.2.1 40000 3128\r\n"
V2 = (b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack("!H", 12) + socket.inet_aton("203.0.113.9")
      + socket.inet_aton("192.0.2.1") + struct.pack("!HH", 40000, 3128))


@pytest.fixture
def balanced(start, users):
    return start({"clients": {
        **users["clients"], "allow": ["203.0.0.0/16"], "proxy_protocol": ["127.0.0.0/8"]}})


@pytest.mark.parametrize("header", [V1, V2])
def test_a_balancer_names_the_client(balanced, origin, header):
    server = origin()
    with connection(balanced) as client:
        client.send(header + request("GET", f"{server.url}/x", [basic("alice", "wonder:land")]))
        assert client.read_response().status == 200
    assert balanced.flow("/x").access["client"] == "203.0.113.9:40000"


@pytest.mark.parametrize("first, reason", [
    (V1.replace(b"203.0.113.9", b"198.51.100.1"), "clients.allow"),
    (b"PROXY UNKNOWN\r\n", "clients.allow"),
    (b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "does not begin with a header"),
])
def test_balancers_are_not_believed_everything(balanced, first, reason):
    with connection(balanced) as client:
        client.send(first)
        assert client.is_at_end()
    balanced.wait_for(lambda: any(reason in line for line in balanced.lines), reason)


def test_a_balancer_may_look_whether_somebody_listens(balanced):
    with connection(balanced) as client:
        client.half_close()
        assert client.is_at_end()


def test_others_may_not_name_anybody(plain_usher, origin):
    server = origin()
    for header in (V1, V2):
        with connection(plain_usher) as client:
            client.send(header + request("GET", server.url + "/"))
            assert client.read_response().status in (400, 505)
    assert not server.requests


def test_who_is_not_admitted_is_not_left_hanging(start):
    usher = start({"clients": {"allow": ["127.0.0.2"]}})
    with connection(usher) as client:
        # closed over what it sent, the connection may end in a reset
        assert client.end() in ("closed", "reset") and client.buffer == b""
    with socket.create_connection(("127.0.0.1", usher.port), 10, source_address=("127.0.0.2", 0)) as raw:
        assert Connection(raw).exchange(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 400


# what origins are told


def test_origins_are_told_nothing_unless_asked_for(plain_usher, connect, origin):
    server = origin()
    connect().exchange(request("GET", f"{server.url}/"))
    assert not [name for name, _ in server.requests[0].fields if "forwarded" in name.lower()]


def test_forwarded(start, origin):
    server = origin()
    usher = start({"forwarded": "forwarded"})
    with connection(usher) as client:
        client.exchange(request("GET", f"{server.url}/", [("Forwarded", "for=10.0.0.1")]))
    assert server.requests[0].all("forwarded") == [
        f'for=10.0.0.1, for=127.0.0.1;by=127.0.0.1;proto=http;host="{server.authority}"']


def test_x_forwarded_for(start, origin):
    server = origin()
    usher = start({"forwarded": "x-forwarded-for", "clients": {
        "proxy_protocol": "loopback", "allow": ["loopback", "127.0.0.0/8"]}})
    with connection(usher) as client:
        client.send(b"PROXY TCP4 127.1.2.3 192.0.2.1 40000 3128\r\n")
        client.exchange(request("GET", f"{server.url}/", [("Connection", "X-Forwarded-For")]))
    seen = server.requests[0]
    assert (seen.get("x-forwarded-for"), seen.get("x-forwarded-proto"), seen.get("x-forwarded-host")) == (
        "127.1.2.3", "http", server.authority)


# where CONNECT may go


def test_ports_of_connect(start, origin):
    server = origin()
    other = origin()
    usher = start({"destinations": {"connect_ports": [server.port]}})
    with connection(usher) as client:
        refused = client.exchange(f"CONNECT {other.authority} HTTP/1.1\r\nHost: {other.authority}\r\n\r\n", "CONNECT")
        assert refused.status == 403
        assert "http_request_denied" in refused.get("proxy-status")
        assert f"add {other.port} to it" in refused.body.decode()
        # what may come for the tunnel is no request
        assert refused.get("connection") == "close"
    with connection(usher) as client:
        # plain requests are none of its business
        assert client.exchange(request("GET", f"{other.url}/")).status == 200
        client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
        assert client.read_head().status == 200
