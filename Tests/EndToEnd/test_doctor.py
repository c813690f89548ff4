"""`usher doctor`: each finding with its remedy, exit 0 without problems."""

import email.utils
import json
import time

import pytest

import admin
import inside
import origins
import programs
import test_inbound
from wire import Origin, response


@pytest.fixture
def daemon(binary, write_config, state):
    """A proxy, and the configuration that names its port."""
    started = []

    def run(config=None):
        config = config or {}
        program = programs.Usher(
            binary, write_config(config, "daemon.yaml"), environment={"STATE_DIRECTORY": str(state)})
        started.append(program)
        program.named = write_config({**config, "listen": [f"127.0.0.1:{program.port}"]}, "named.yaml")
        return program

    yield run
    for program in started:
        assert program.stop() == 0


@pytest.fixture
def examine(call):
    """Findings as (verdict, what, remedy), and the exit status."""
    def run(config, *arguments, **variables):
        done = call("doctor", "--config", config, "--json", *arguments, **variables)
        assert done.returncode in (0, 1), done.stderr
        findings = [(f["verdict"], f["what"], f["remedy"]) for f in json.loads(done.stdout)]
        assert done.returncode == (1 if any(f[0] == "problem" for f in findings) else 0)
        return findings

    return run


def shell(call, config):
    return json.loads(call("env", "--config", config, "--json").stdout)


def found(findings, verdict, words):
    return [finding for finding in findings if finding[0] == verdict and words in finding[1]]


def am(origin, date=None, status=200):
    date = email.utils.formatdate(time.time() if date is None else date, usegmt=True)
    return origin(lambda seen: response(status, [("Date", date)], b"{}"))


def test_all_is_well(daemon, examine, call, origin):
    server = am(origin)
    proxy = daemon({"am": [{"url": f"{server.url}/am"}]})
    findings = examine(proxy.named, **shell(call, proxy.named))
    assert not [f for f in findings if f[0] == "problem"], findings
    for words in ("listens on", "serverinfo", "clock", "HTTPS_PROXY", "SSL_CERT_FILE", "valid until"):
        assert found(findings, "ok", words), words
    assert server.requests[0].target == "/am/json/serverinfo/*"


def test_lines_for_people(daemon, call):
    proxy = daemon()
    done = call("doctor", "--config", proxy.named)
    assert done.returncode == 1
    assert done.stdout
    for line in done.stdout.splitlines():
        assert line.split()[0] in ("ok", "problem", "note")
    assert any(line.startswith("problem") and '→ eval "$(usher env)"' in line for line in done.stdout.splitlines())


def test_nobody_listens(examine, write_config, origin):
    server = origin()
    server.close()
    findings = examine(write_config({"listen": [server.authority]}))
    (finding,) = found(findings, "problem", "nothing listens")
    assert "usher serve" in finding[2]


def test_somebody_else_listens(examine, write_config, origin):
    server = origin()
    assert found(examine(write_config({"listen": [server.authority]})), "problem", "another program listens on")


@pytest.mark.parametrize(
    "said", [b"", b"\x16\x03\x01", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"])
def test_what_listens_speaks_nonsense(examine, write_config, origin, said):
    def serve(connection):
        connection.read_head()
        connection.send(said)

    server = origin(Origin(serve))
    assert found(examine(write_config({"listen": [server.authority]})), "problem", "")


def test_a_port_that_is_not_known(examine, write_config):
    assert found(examine(write_config({"listen": ["127.0.0.1:0"]})), "problem", "names no port")


def test_a_proxy_with_passwords(daemon, examine, tmp_path):
    users = tmp_path / "users"
    users.write_text(f"{test_inbound.ALICE}\n")
    users.chmod(0o600)
    proxy = daemon({"clients": {"basic": {"users": f"${{file:{users}}}"}}})
    assert found(examine(proxy.named), "problem", "user name and a password")


def test_passwords_come_from_the_variables(daemon, examine, tmp_path):
    users = tmp_path / "users"
    users.write_text(f"{test_inbound.ALICE}\n")
    users.chmod(0o600)
    proxy = daemon({"clients": {"basic": {"users": f"${{file:{users}}}"}}})
    url = f"http://alice:wonder%3Aland@127.0.0.1:{proxy.port}"
    findings = examine(proxy.named, http_proxy=url, HTTP_PROXY=url, https_proxy=url, HTTPS_PROXY=url)
    assert found(findings, "ok", "listens on") and not found(findings, "problem", "")


def test_a_listener_that_speaks_tls_alone(examine, write_config):
    findings = examine(write_config({"listen": ["https://127.0.0.1:4128"]}))
    assert found(findings, "note", "https://127.0.0.1:4128 uses TLS")
    # a variable that speaks plain HTTP to it does not lead there
    config = write_config({"listen": ["https://127.0.0.1:4128"]})
    for url, verdict in (("http://127.0.0.1:4128", "problem"), ("https://127.0.0.1:4128", "ok")):
        words = "HTTPS_PROXY point at" if verdict == "ok" else "HTTPS_PROXY is http"
        assert found(examine(config, HTTPS_PROXY=url), verdict, words), url


def test_variables_that_lead_elsewhere(daemon, examine, call):
    proxy = daemon()
    variables = shell(call, proxy.named) | {"HTTPS_PROXY": "http://u:secret@10.0.0.1:3128", "http_proxy": ""}
    findings = examine(proxy.named, **variables)
    (finding,) = found(findings, "problem", "HTTPS_PROXY is http://")
    assert "secret" not in finding[1] and "10.0.0.1:3128" in finding[1]
    assert found(findings, "problem", "http_proxy is not set")


@pytest.mark.parametrize("value, bypassed", [
    ("localhost,.example.com", "am.example.com"), ("*", "am.example.com"), ("staging.test", "*.staging.test"),
    ("10.0.0.0/8", "10.1.2.3"), ("shop.test:443", "shop.test"),
])
def test_no_proxy_that_bypasses(daemon, examine, call, value, bypassed):
    proxy = daemon({
        "am": [{"url": "http://am.example.com/am"}, {"url": "http://10.1.2.3/am"}],
        "tls": {"intercept": ["*.staging.test"], "ca": {"constrain_to": ["staging.test"]}},
        "authorization": {"am": "http://am.example.com/am", "resources": ["https://shop.test/*"]},
        "timeouts": {"connect": "200ms"}})
    for name in ("NO_PROXY", "no_proxy"):
        findings = examine(proxy.named, **shell(call, proxy.named) | {name: value})
        assert found(findings, "problem", f"{name} excludes {bypassed} from the proxy"), findings
    findings = examine(proxy.named, **shell(call, proxy.named) | {"NO_PROXY": "other.test"})
    assert not found(findings, "problem", "from the proxy, with")


@pytest.mark.parametrize("config, verdict", [({}, "note"), (
    {"tls": {"intercept": ["app.test"], "ca": {"constrain_to": ["app.test"]}}}, "problem")])
def test_bundles_without_the_ca(daemon, examine, call, tmp_path, config, verdict):
    """Where nothing is intercepted they need not hold it; what is not there is wrong all the same."""
    proxy = daemon(config)
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    variables = shell(call, proxy.named) | {"SSL_CERT_FILE": str(empty), "PIP_CERT": str(tmp_path / "none.pem")}
    findings = examine(proxy.named, **variables)
    assert found(findings, verdict, f"SSL_CERT_FILE names {empty}")
    assert found(findings, "problem", "PIP_CERT names")


def test_a_ca_that_was_rotated_since(daemon, examine, call):
    call("ca", "show")
    proxy = daemon()
    call("ca", "rotate")
    (finding,) = found(examine(proxy.named), "problem", "from before usher ca rotate")
    assert "reload" in finding[2]


def test_the_ca_of_another(daemon, examine, call, tmp_path):
    call("ca", "show")
    proxy = daemon()
    other = str(tmp_path / "other")
    call("ca", "show", STATE_DIRECTORY=other)
    assert found(examine(proxy.named, STATE_DIRECTORY=other), "problem", "is not the one in")


def test_a_broken_ca(daemon, examine, call, state):
    call("ca", "show")
    proxy = daemon()
    (state / "ca.key").chmod(0o644)
    assert found(examine(proxy.named), "problem", "chmod 600")


def test_a_clock_that_is_wrong(daemon, examine, origin):
    server = am(origin, date=time.time() - 3600)
    proxy = daemon({"am": [{"url": f"{server.url}/am"}]})
    (finding,) = found(examine(proxy.named), "problem", "clock")
    assert "ahead of" in finding[1]


@pytest.mark.parametrize("status, verdict", [(204, "ok"), (401, "note"), (404, "problem"), (503, "problem")])
def test_what_am_answers(daemon, examine, origin, status, verdict):
    server = origin(lambda seen: b"HTTP/1.1 204 No\r\n\r\n" if status == 204 else response(status))
    proxy = daemon({"am": [{"url": f"{server.url}/am"}]})
    assert found(examine(proxy.named), verdict, f"{status}")


def test_am_that_is_not_there(daemon, examine, origin):
    server = origin()
    server.close()
    proxy = daemon({"am": [{"url": f"{server.url}/am"}]})
    (finding,) = found(examine(proxy.named), "problem", "AM cannot be reached")
    assert "refused" in finding[1]


@pytest.mark.parametrize("cookie, told, is_right", [
    ("wrongcookie", {"cookieName": "iPlanetDirectoryPro"}, False), ("mine", {"cookieName": "mine"}, True),
    ("mine", {}, True), ("mine", {"cookieName": "a\u001b[31m"}, True), ("mine", [], True)])
def test_the_name_of_the_session_cookie(daemon, examine, origin, cookie, told, is_right):
    server = origin(lambda seen: response(200, [("Content-Type", "application/json")], json.dumps(told).encode()))
    proxy = daemon({"am": [{"url": f"{server.url}/am", "cookie": cookie}]})
    findings = found(examine(proxy.named), "problem", "session cookie")
    assert (findings == []) == is_right
    for _, what, remedy in findings:
        assert "iPlanetDirectoryPro" in what and cookie in what and remedy.startswith("set cookie: iPlanetDirectoryPro")


@pytest.mark.parametrize("tls, is_told", [({}, False), ({"intercept": ["a.example.com"]}, True)])
def test_a_ca_that_nobody_needs_is_not_rotated(daemon, examine, call, write_config, tls, is_told):
    old = write_config({"tls": {"intercept": ["b.example.com"], "ca": {"constrain_to": ["b.example.com"]}}})
    assert call("ca", "show", "--config", old).returncode == 0
    proxy = daemon({"tls": {**tls, "ca": {"constrain_to": ["a.example.com"]}}})
    assert any("usher ca rotate" in f"{what}{remedy}" for _, what, remedy in examine(proxy.named)) == is_told


# with a command

def test_a_command_that_goes_through(examine, write_config, sandbox):
    config = write_config({"am": [{"url": sandbox.am}]})
    url = f"{sandbox.am}/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login"
    findings = examine(config, "--", "curl", "-s", "-X", "POST", url)
    assert found(findings, "ok", "1 exchange")
    assert found(findings, "ok", "START_AUTHENTICATE 1")


def test_a_command_that_does_not(examine, write_config, origin):
    server = origin()
    findings = examine(write_config({}), "--", "curl", "-s", "--noproxy", "*", server.url)
    (finding,) = found(findings, "problem", "nothing came through")
    assert "--noproxy" in finding[2]


def test_a_command_whose_names_do_not_resolve(examine, write_config):
    findings = examine(write_config({}), "--", "curl", "-s", "http://nosuch.invalid/")
    assert found(findings, "problem", "nosuch.invalid")


def test_tunnels_are_noted(examine, write_config, origin):
    server = origin()
    findings = examine(write_config({}), "--", "curl", "-sk", f"https://{server.authority}/")
    (finding,) = found(findings, "note", server.authority)
    assert "tls.intercept" in finding[2]
    assert found(findings, "note", "ended with status")


def test_an_advice_that_does_not_count_is_noted(examine, write_config, origin):
    decision = json.dumps({
        "resource": "r", "actions": {}, "attributes": {}, "advices": {"TransactionConditionAdvice": ["t-1"]}}).encode()
    server = origin(lambda seen: response(403, [("Content-Type", "application/json")], decision))

    def notes(advice):
        config = write_config({
            "am": [{"url": "http://am.localhost/am"}],
            "authorization": {"resources": [{"url": f"{server.url}/*", "advice": advice}], "answers": []}})
        return found(examine(config, "--", "curl", "-s", f"{server.url}/1", f"{server.url}/2"), "note", "in its body")

    ((_, what, remedy),) = notes(["header", "redirect"])
    assert f"{server.url}/* has an advice" in what and "body]" in remedy
    assert notes(["header", "body"]) == []


# TLS that is opened

def test_a_command_that_trusts_the_ca(examine, write_config, secure_origin, certificates):
    server = secure_origin()
    config = write_config(inside.config(certificates))
    findings = examine(config, "--", "curl", "-sS", f"https://{server.authority}/")
    (finding,) = found(findings, "ok", "certificate is trusted")
    assert "TLSv1.3" in finding[1] and "h2" in finding[1]
    assert found(findings, "ok", "1 exchange")
    assert not found(findings, "problem", "") and not found(findings, "note", "tunnel")


def test_a_command_that_does_not_trust_it(examine, write_config, secure_origin, certificates):
    server = secure_origin()
    config = write_config(inside.config(certificates))
    findings = examine(
        config, "--", "curl", "-sS", "--cacert", certificates.trust, f"https://{server.authority}/")
    (finding,) = found(findings, "problem", f"refused usher's certificate for {server.authority}")
    assert "SSL_CERT_FILE" in finding[2] and "tls.except" in finding[2]


def test_hosts_of_the_command_line(examine, write_config, secure_origin, certificates):
    server = secure_origin()
    config = write_config({"tls": {"upstream": {"extra_trust": [str(certificates.trust)]}}})
    url = f"https://{server.authority}/"
    host = server.authority.rpartition(":")[0]
    assert found(examine(config, "--", "curl", "-sS", url), "note", "unopened")
    assert found(examine(config, "--intercept", host, "--", "curl", "-sS", url), "ok", "certificate is trusted")


def test_an_origin_that_is_not_trusted(examine, write_config, secure_origin, certificates):
    server = secure_origin()
    config = write_config({"tls": {"intercept": ["*"]}})
    (finding,) = found(
        examine(config, "--", "curl", "-sS", f"https://{server.authority}/"), "problem", server.authority)
    assert "extra_trust" in finding[1]


def test_am_behind_tls(daemon, examine, secure_origin, certificates, call):
    date = email.utils.formatdate(usegmt=True)
    server = secure_origin(origins.Answering, lambda seen: response(200, [("Date", date)], b"{}"))
    proxy = daemon(inside.config(certificates, {"am": [{"url": f"{server.url}/am"}]}))
    findings = examine(proxy.named, **shell(call, proxy.named))
    assert found(findings, "ok", f"status 200 for {server.url}/am/json/serverinfo/*")
    assert found(findings, "ok", "clock")
    assert not found(findings, "problem", "")


def test_its_output_does_not_spoil_json(call, write_config):
    done = call("doctor", "--config", write_config({}), "--json", "--", "echo", "words of the command")
    json.loads(done.stdout)
    assert "words of the command" in done.stderr
    done = call("doctor", "--config", write_config({}), "--", "echo", "words of the command")
    assert done.stdout.startswith("words of the command\n")


def test_a_command_that_is_not_there(call, write_config):
    done = call("doctor", "--config", write_config({}), "--", "no-such-command")
    assert done.returncode == 127 and not done.stdout


# who may speak to the daemon


def test_doctor_needs_no_secrets(examine, write_config):
    config = write_config({
        "listen": ["127.0.0.1:1"], "interceptors": [{"name": "a", "request": [{"set_header": {"A": "${env.NOT_HERE}"}}]}]})
    assert found(examine(config), "note", "NOT_HERE is not set")


def test_a_daemon_that_is_asked_over_tcp(daemon, examine, binary, write_config, state):
    config = {"listen": ["127.0.0.1:0"], **admin.CONFIG}
    usher = programs.Usher(
        binary, write_config(config, "tcp.yaml"), state=state, environment={"ADMIN_TOKEN": admin.TOKEN})
    port = admin.Port(usher)
    plain = write_config({"listen": [f"127.0.0.1:{usher.port}"]}, "plain.yaml")
    findings = examine(plain, USHER_URL=port.url, USHER_TOKEN=admin.TOKEN)
    assert found(findings, "ok", f"commands use the daemon at {port.url} because of USHER_URL")
    assert found(examine(plain, USHER_URL=port.url), "problem", "requires a token: set USHER_TOKEN")
    assert found(examine(plain, USHER_URL="nowhere"), "problem", "USHER_URL takes the address of admin.listen")
    assert usher.stop() == 0


def test_a_group_that_is_none(examine, write_config):
    config = write_config({"listen": ["127.0.0.1:1"], "admin": {"group": "no-such-group"}})
    (_, _, remedy), = found(examine(config), "problem", "no-such-group, which is not a group on this machine")
    assert remedy == "addgroup --system no-such-group"
