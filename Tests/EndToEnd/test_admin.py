"""The admin API over TCP: who may ask, and what is answered to whom."""

import json
import os
import re
import signal
import socket

import pytest

import admin
import people
import programs
import test_upgrade
import wire


@pytest.fixture
def daemon(start, state):
    return start(admin.CONFIG, state=state, environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})


@pytest.fixture
def port(daemon):
    return admin.Port(daemon)


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def test_it_takes_the_token(port):
    status, fields, body = port.curl("/v1/transactions")
    assert status == 200 and json.loads(body) == {"transactions": [], "most": 1000}
    assert fields["content-type"] == "application/json" and fields["cache-control"] == "no-store"
    for token in ("", "x", admin.TOKEN[:-1], admin.TOKEN + "x", admin.TOKEN[:-1] + "N", admin.TOKEN * 2, admin.TOKEN.lower()):
        for path in ("/v1/transactions", "/metrics", "/v1/openapi.json", "/nothing", "/live/x", "//live", "/live%2f"):
            status, fields, body = port.curl(path, token=token)
            assert status == json.loads(body)["status"] == 401, (token, path)
            assert fields["www-authenticate"] == 'Bearer realm="usher"'
            assert fields["content-type"] == "application/problem+json"
    for line in (f"Authorization: Basic {admin.TOKEN}", f"Authorization: {admin.TOKEN}", "Authorization: Bearer",
                 f"Authorization: Bearer {admin.TOKEN}, Bearer x", f"Proxy-Authorization: Bearer {admin.TOKEN}"):
        assert port.curl("/v1/transactions", "-H", line, token=None)[0] == 401
    twice = port.head("GET", "/v1/lockout", f"Authorization: Bearer {admin.TOKEN}", "Connection: close")
    assert status_of(port.says(twice)) == 401, "one credential is one"
    assert port.curl("/v1/lockout", "-H", f"authorization: bEARER  {admin.TOKEN}", token=None)[0] == 200


def test_whether_it_lives_may_be_asked_without(port):
    assert port.json("/live", token=None) == (200, {"state": "serving"})
    assert port.json("/ready", token=None) == (200, {"state": "serving"})
    assert port.curl("/ready", "--head", token=None)[0] == 200
    assert port.curl("/ready", "-X", "POST", token=None)[1]["allow"] == "GET, HEAD"
    assert port.curl("/ready?x=1", token=None)[0] == 400


def test_ready_says_when_it_ends(binary, write_config, state):
    usher = programs.Usher(binary, write_config(admin.CONFIG), state=state, environment={"ADMIN_TOKEN": admin.TOKEN})
    port = admin.Port(usher)
    with socket.create_server(("127.0.0.1", 0)) as origin:
        client = wire.Connection(("127.0.0.1", usher.port))
        client.send(wire.request("GET", f"http://127.0.0.1:{origin.getsockname()[1]}/", []))
        asked, _ = origin.accept()
        usher.process.terminate()
        programs.eventually(lambda: port.curl("/ready")[0] == 503, "the daemon says that it ends")
        assert port.json("/live")[1] == {"state": "draining"}
        asked.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        assert client.read_rest().endswith(b"hi")
        asked.close()
    assert usher.stop() == 0


@pytest.mark.parametrize("host, status", [
    ("attacker.test", 421), ("127.0.0.2", 421), ("usher.proxy", 421), ("localhost.attacker.test", 421), ("[::1]", 421),
    ("127.1", 421), ("2130706433", 421), ("", 400), ("localhost", 200), ("LOCALHOST:1", 200), ("127.0.0.1", 200),
    ("localhost.", 200), ("user@localhost", 400), ("localhost, attacker.test", 400),
])
def test_under_its_own_names_alone(port, host, status):
    said, _, _ = port.curl("/v1/lockout", "-H", f"Host: {host}" if host else "Host;")
    assert said in (status, 400) if status != 200 else said == 200


def test_over_ipv6(start, state):
    usher = start({"admin": {**admin.CONFIG["admin"], "listen": "[::1]:0"}}, state=state,
                  environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})
    port = admin.Port(usher)
    assert port.host == "[::1]"
    assert port.json("/live", token=None) == (200, {"state": "serving"})
    assert port.curl("/v1/lockout", token=None)[0] == 401
    assert port.curl("/v1/lockout")[0] == 200
    for host, status in (("[::1]", 200), (f"[0:0::1]:{port.number}", 200), ("localhost", 200), ("127.0.0.1", 421), ("[::2]", 421)):
        assert port.curl("/v1/lockout", "-H", f"Host: {host}")[0] == status, host
    # the proxy leads there by neither of its names
    for name in ("[::1]", "localhost"):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            client.send(wire.request("GET", f"http://{name}:{port.number}/live"))
            assert client.read_response().status >= 400, name


def test_all_that_a_request_names_is_this_port(port):
    evil, own, local = "evil.example", port.address, f"localhost:{port.number}"
    for target, host, origin, status in [
            (f"http://{own}", evil, None, 421), (f"http://{evil}", own, None, 421), (f"http://{own}", evil, f"http://{evil}", 421),
            ("", "127.0.0.1:1", "http://127.0.0.1:1", 403), ("", own, "http://127.0.0.1:1", 403), ("", "127.0.0.1:1", f"http://{own}", 403),
            (f"http://{own}", "127.0.0.1:1", f"http://{own}", 403), ("http://127.0.0.1:1", own, f"http://{own}", 403),
            ("", own, f"http://{local}", 403), ("", own, f"http://{own}@{evil}", 403), ("", own, "http://", 403), ("", own, "http://127.0.0.1", 403),
            (f"http://{own}", own, f"http://{own}", 200), ("", own, f"http://{own}", 200), ("", local.upper(), f"http://{local}", 200),
            # whose port somebody forwards
            ("", "127.0.0.1:1", None, 200)]:
        fields = [f"Host: {host}", f"Authorization: Bearer {admin.TOKEN}", "Connection: close", *([f"Origin: {origin}"] if origin else [])]
        said = port.says(f"GET {target}/v1/lockout HTTP/1.1\r\n" + "".join(f"{line}\r\n" for line in fields) + "\r\n")
        assert status_of(said) == status, (target, host, origin, said)


def test_no_page_of_another_origin_is_answered(port):
    own = f"http://{port.address}"
    for origin, status in ((own, 200), ("null", 403), ("http://attacker.test", 403), (f"https://{port.address}", 403),
                           ("http://127.0.0.1:1", 403), (f"{own}.attacker.test", 403), (f"{own}/", 403)):
        assert port.curl("/v1/lockout", "-H", f"Origin: {origin}")[0] == status, origin
        # a page sends no token by itself, and would be told nothing
        assert port.curl("/ready", "-H", f"Origin: {origin}", token=None)[0] == status, origin
    assert port.curl("/v1/lockout", "-H", f"Origin: {own}", "-H", "Origin: http://attacker.test")[0] == 403
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert port.curl("/v1/lockout", "-H", f"Sec-Fetch-Site: {site}")[0] == status
    assert port.curl("/v1/lockout", "-X", "OPTIONS", "-H", "Origin: http://attacker.test",
                     "-H", "Access-Control-Request-Method: DELETE")[0] == 403


def test_nothing_is_changed_by_get(port):
    status, document = port.json("/v1/openapi.json")
    assert status == 200
    for path, operations in document["paths"].items():
        if "get" in operations:
            continue
        for method in ("GET", "HEAD"):
            status, fields, _ = port.curl(path.replace("{id}", "x"), *(["--head"] if method == "HEAD" else []))
            assert status == 405 and method not in fields["allow"], path


def test_what_the_configuration_says(start, state, write_config, tmp_path):
    token = tmp_path / "token"
    token.write_text(admin.TOKEN + "\n")
    token.chmod(0o600)
    config = {
        "admin": {"listen": "127.0.0.1:0", "token": f"${{file:{token}}}"},
        "destinations": {"via": [{"host": "*.example.com", "proxy": "http://jane:hunter2@proxy.example.com:8080"}]},
        "limits": {"connections": 77},
        "interceptors": [
            {"name": "key", "when": {"host": "api.example.com"},
             "request": [{"set_header": {"X-Api-Key": "hunter2", "Accept-Language": "en", "Authorization": "${env.SECRET_VALUE}"}},
                         {"set_json": {"/password": "hunter2", "/pin": 1234}}]},
            {"name": "basic", "when": {"host": "b.example.com"}, "basic_auth": {"user": "robot", "password": "hunter2"}},
        ],
    }
    usher = start(config, state=state, environment={"SECRET_VALUE": "opensesame", "XDG_RUNTIME_DIR": ""})
    port = admin.Port(usher)
    status, _, body = port.curl("/v1/configuration")
    said = json.loads(body)
    assert status == 200 and said["generation"] == 1 and said["file"] == str(usher.config)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", said["loaded"])
    assert said["listening"] == [f"127.0.0.1:{usher.port}"]
    for secret in (b"hunter2", b"opensesame", admin.TOKEN.encode(), b"1234\"", b"jane"):
        assert secret not in body
    shown = said["configuration"]
    assert shown["limits"]["connections"] == 77 and shown["limits"]["header"] == "32KiB" and shown["timeouts"]["drain"] == "30s"
    assert shown["admin"] == {"socket": "admin.sock", "listen": "127.0.0.1:0", "token": f"${{file:{token}}}"}
    assert shown["destinations"]["via"] == [{"host": "*.example.com", "proxy": "http://REDACTED@proxy.example.com:8080"}]
    first, second = shown["interceptors"]
    assert first["request"][0]["set_header"] == {
        "X-Api-Key": "REDACTED", "Accept-Language": "en", "Authorization": "${env.SECRET_VALUE}"}
    assert first["request"][1]["set_json"] == {"/password": "REDACTED", "/pin": "REDACTED"}
    assert first["when"] == {"host": ["api.example.com"]} or first["when"] == {"host": "api.example.com"}
    assert second["basic_auth"]["user"] == "robot" and second["basic_auth"]["password"] == "REDACTED"


def test_a_reload_brings_another_token(start, state, tmp_path):
    token = tmp_path / "token"
    token.write_text(admin.TOKEN)
    token.chmod(0o600)
    config = {"admin": {"listen": "127.0.0.1:0", "token": f"${{file:{token}}}"}}
    usher = start(config, state=state, environment={"XDG_RUNTIME_DIR": ""})
    port = admin.Port(usher)
    before = port.json("/v1/configuration")[1]
    token.write_text("another-token-0123456789")
    usher.process.send_signal(1)
    usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
    assert port.curl("/v1/configuration")[0] == 401
    status, after = port.json("/v1/configuration", token="another-token-0123456789")
    assert status == 200 and (before["generation"], after["generation"]) == (1, 2)


def test_the_proxy_does_not_lead_there(daemon, port, through):
    client = through(daemon)
    for url in (port.url, f"http://localhost:{port.number}", f"http://[::ffff:127.0.0.1]:{port.number}",
                f"http://0.0.0.0:{port.number}"):
        answer = client.get(f"{url}/live", headers={"Authorization": f"Bearer {admin.TOKEN}"}, timeout=15)
        assert answer.status_code in (403, 502, 508) and "serving" not in answer.text, url
    with wire.Connection(("127.0.0.1", daemon.port)) as tunnel:
        tunnel.send(f"CONNECT 127.0.0.1:{port.number} HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status_of(tunnel.read_until(b"\r\n")) in (403, 502, 508)
    assert client.get("http://usher.proxy/live", timeout=15).status_code == 404
    # nor is it a proxy itself
    assert port.curl("/", "--request-target", "http://example.com/")[0] == 421
    assert status_of(port.says(port.head("CONNECT", "127.0.0.1:1", "Connection: close"))) == 405


def test_without_a_token_it_does_not_start(call, write_config):
    done = call("check", write_config({"admin": {"listen": "127.0.0.1:0"}}))
    assert done.returncode == 1 and "admin.listen requires admin.token" in done.stdout + done.stderr
    done = call("serve", "--listen", "127.0.0.1:0", "--config", write_config({"admin": {"listen": "127.0.0.1:0"}}))
    assert done.returncode == 1


def test_a_port_that_is_taken_is_named(call, write_config):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        config = {"admin": {"listen": f"127.0.0.1:{number}", "token": "${env.ADMIN_TOKEN}"}}
        done = call("serve", "--listen", "127.0.0.1:0", "--config", write_config(config), ADMIN_TOKEN=admin.TOKEN)
    assert done.returncode == 1 and f"cannot listen on 127.0.0.1:{number}" in done.stderr and "admin.listen" in done.stderr


def test_the_socket_takes_no_token_and_the_same_routes(daemon, port, binary, state):
    person = people.Person(binary, state)
    assert person.asks("GET", "/v1/configuration")[1]["generation"] == 1
    assert person.asks("GET", "/ready")[0].status == 200
    assert person.asks("GET", "/v1/openapi.json")[1] == port.json("/v1/openapi.json")[1]


def test_how_much_the_log_tells_is_changed_until_the_next_reload(start, binary, state, origin, through):
    config = {**admin.CONFIG, "interceptors": [{"name": "mark", "request": [{"set_header": {"X-Mark": "a"}}]}]}
    daemon = start(config, state=state, environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})
    port, person, client, target = admin.Port(daemon), people.Person(binary, state), through(daemon), origin()

    def events(name):
        """What the log says happened on the way of one exchange."""
        assert client.get(f"{target.url}/{name}", timeout=15).status_code == 200
        return daemon.flow(f"/{name}").events

    assert port.json("/v1/log/level") == (200, {"level": "info", "configured": "info"})
    assert events("first")
    change = ("-X", "PUT", "-H", "Content-Type: application/json", "-d")
    assert port.json("/v1/log/level", *change, '{"level": "error"}') == (200, {"level": "error", "configured": "info"})
    assert not events("second"), "the exchange is told, and no more"
    # both doors know of it
    assert person.says("log-level").stdout == "error (the configuration says info)\n"
    for body, status in (('{"level": "loud"}', 422), ('{"level": 1}', 422), ("{}", 422), ('{"level": "info", "x": 1}', 422), ("[]", 400)):
        assert port.curl("/v1/log/level", *change, body)[0] == status, body
    assert person.says("log-level", "loud").returncode == 2
    done = person.says("log-level", "debug", "--json")
    assert done.returncode == 0 and json.loads(done.stdout) == {"level": "debug", "configured": "info"}
    daemon.process.send_signal(signal.SIGHUP)
    programs.eventually(lambda: port.json("/v1/log/level")[1]["level"] == "info", "the reload")
    assert events("third")


def test_where_no_log_is_written_there_is_no_level(start, state):
    usher = start({**admin.CONFIG, "log": {"access": "none"}}, state=state,
                  environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})
    status, said = admin.Port(usher).json(
        "/v1/log/level", "-X", "PUT", "-H", "Content-Type: application/json", "-d", '{"level": "debug"}')
    assert status == 409 and "log.access" in said["detail"]


def test_an_upgrade_keeps_the_port(binary, write_config, state):
    with socket.create_server(("127.0.0.1", 0)) as lent:
        number = lent.getsockname()[1]
    config = write_config({"admin": {"listen": f"127.0.0.1:{number}", "token": "${env.ADMIN_TOKEN}"}})
    usher = programs.Usher(binary, config, state=state, environment={"ADMIN_TOKEN": admin.TOKEN})
    port = admin.Port(usher)
    before = port.json("/v1/status")[1]["pid"]
    assert port.curl("/v1/upgrade", "-X", "POST")[0] == 202

    def follows():
        status, said = port.json("/v1/status")
        assert status == 200, "at every moment somebody answers"
        return said["pid"] if said["pid"] != before else None

    after = programs.eventually(follows, "the new process answers", 30)
    assert usher.process.wait(programs.DEADLINE) == 0
    assert port.json("/ready") == (200, {"state": "serving"})
    os.kill(after, signal.SIGTERM)
    programs.eventually(lambda: test_upgrade.ended(after), "it ends")


# commands that ask by it


def asked(call, port, verb="status", token=admin.TOKEN, **variables):
    return call(verb, USHER_URL=port.url, USHER_TOKEN=token, XDG_RUNTIME_DIR="", **variables)


def test_commands_ask_by_it(call, port, tmp_path):
    # nothing else leads them to the daemon
    away = {"STATE_DIRECTORY": str(tmp_path / "elsewhere")}
    done = asked(call, port, **away)
    assert done.returncode == 0 and "listening" in done.stdout, done.stderr
    for verb in ("flows", "journeys", "transactions", "lockout", "reload"):
        assert asked(call, port, verb, **away).returncode == 0, verb
    named = port.url.replace("127.0.0.1", "localhost") + "/"
    assert call("status", USHER_URL=named, USHER_TOKEN=admin.TOKEN, **away).returncode == 0


@pytest.mark.parametrize("token, words", [("", "set USHER_TOKEN to its admin.token"), ("not-the-token-of-it", "USHER_TOKEN differs from its admin.token")])
@pytest.mark.parametrize("arguments", [["status"], ["flows", "-f"]], ids=["once", "following"])
def test_commands_without_its_token(call, port, arguments, token, words):
    done = call(*arguments, USHER_URL=port.url, USHER_TOKEN=token)
    assert done.returncode == 1 and words in done.stderr and port.url in done.stderr


@pytest.mark.parametrize("url, words", [
    ("https://127.0.0.1:3130", "has no TLS"), ("127.0.0.1:3130", "such as http://127.0.0.1:3130"),
    ("http://127.0.0.1:3130/v1", "such as http://127.0.0.1:3130"), ("http://127.0.0.1:3130?x", "such as"),
    ("ftp://127.0.0.1", "such as"), ("http://user@127.0.0.1:3130", "such as"),
])
def test_what_is_no_place_of_it(call, url, words):
    done = call("status", USHER_URL=url)
    assert done.returncode == 2 and "USHER_URL" in done.stderr and words in done.stderr


def test_nobody_there(call):
    done = call("status", USHER_URL="http://127.0.0.1:1")
    assert done.returncode == 1 and "no daemon responds at http://127.0.0.1:1 (USHER_URL): Connection refused" in done.stderr
    done = call("status", USHER_URL="http://no-such-host.invalid:3130")
    assert done.returncode == 1 and "no-such-host.invalid" in done.stderr
    done = call("status", USHER_URL="http://127.0.0.1:1", USHER_TOKEN="a b")
    assert done.returncode == 2 and "USHER_TOKEN" in done.stderr


def test_a_socket_that_is_named_is_nearer(call, start, port, state):
    done = call("status", "--socket", state / "admin.sock", USHER_URL="http://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
    done = call("status", USHER_SOCKET=str(state / "admin.sock"), USHER_URL="http://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
