"""HTTP/2 with clients that people's programs are made of: inside tunnels that are opened and by prior knowledge, to origins that
speak HTTP/1 and HTTP/2, and through a step-up."""

import json
import os
import re
import subprocess
import uuid

import pytest

import inside
import origins
import programs
import relay
import shop
import web
from test_http2 import HERE, NewOrigin, curl, protocols
from test_real_clients import CLIENTS, tool

# what clients post to what is protected
ALL_BYTES = bytes(range(256))
PYTHON = HERE.parents[1] / ".build/clients/bin/python"


def python():
    """The one that has httpx and grpcio, as `scripts/deps test` installs them."""
    if not PYTHON.exists():
        programs.left_out("httpx and grpcio are not installed: scripts/deps test")
    return PYTHON


class Shop:
    """What is protected, at the sandbox itself or behind what speaks HTTP/2 for it."""

    def __init__(self, sandbox, port):
        self.sandbox = sandbox
        self.authority = f"shop.localhost:{port}"
        self.url = f"{'https' if sandbox.ca else 'http'}://{self.authority}/shop"

    def cookie(self):
        return f"{shop.COOKIE}={shop.login(self.sandbox)}"


@pytest.fixture(scope="module")
def front(secure_sandbox, certificates):
    """The port of h2front.js."""
    identity = certificates.server("front", names=["shop.localhost"])
    program = programs.Program(
        [tool("node"), HERE / "h2front.js", str(secure_sandbox.port), identity, secure_sandbox.ca])
    yield int(program.wait_for(lambda: program.lines and program.lines[0], "the port"))
    program.stop()


@pytest.fixture(scope="module")
def shops(secure_sandbox, front):
    return {"old": Shop(secure_sandbox, secure_sandbox.port), "new": Shop(secure_sandbox, front)}


@pytest.fixture(scope="module")
def proxy(binary, certificates, secure_sandbox, shops, tmp_path_factory):
    """Opens tunnels, and passes the gateway of either shop."""
    folder = tmp_path_factory.mktemp("http2-clients")
    path = folder / "usher.yaml"
    config = shop.config(secure_sandbox, resources=[f"{one.url}/*" for one in shops.values()])
    upstream = {"extra_trust": [str(certificates.trust), str(secure_sandbox.ca)]}
    path.write_text(json.dumps({"version": 1, **inside.config(certificates, config, upstream=upstream)}))
    program = programs.Usher(binary, path, state=folder)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture(scope="module")
def new_origin(certificates):
    server = NewOrigin((certificates.good, certificates.good))
    yield server
    server.stop()


@pytest.fixture(params=["old", "new"])
def world(request, secure_origin, new_origin, shops):
    """An origin and a shop, both of which speak HTTP/1 or HTTP/2."""
    return new_origin if request.param == "new" else secure_origin(origins.Site), shops[request.param]


@pytest.fixture
def trust(proxy):
    """The environment in which OpenSSL, Node and Go trust the proxy, and leave no host out."""
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**clean, "SSL_CERT_FILE": str(proxy.ca), "NODE_EXTRA_CA_CERTS": str(proxy.ca)}


def theirs(server):
    return "HTTP/2" if isinstance(server, NewOrigin) else "HTTP/1.1"


def exchanges(usher, part, count):
    """The access lines of at least so many exchanges whose URL holds that text."""
    def found():
        lines = [flow.access for flow in usher.flows(part) if flow.access["method"] != "CONNECT"]
        return len(lines) >= count and lines

    return usher.wait_for(found, f"{count} exchanges of {part}")


def spoke(usher, server, count):
    """All that was asked of that server was asked in HTTP/2, and went on in what the server speaks."""
    spoken = {(line["protocol"], line["origin_protocol"]) for line in exchanges(usher, server.authority, count)}
    assert spoken == {("HTTP/2", theirs(server))}


def passed(usher, echo, mark, body=ALL_BYTES):
    """What the resource says is that it was reached, whole, by a step-up that the client knows nothing of."""
    assert (echo["user"], echo["transactionUses"], shop.echoed_body(echo)) == ("demo", 1, body)
    access = usher.flow(mark).access
    assert (access["protocol"], access["status"], access["attempts"]) == ("HTTP/2", 200, 2)


def exercise(command, usher, world, environment=None, more=()):
    """Runs a client of clients/ that makes the exchanges of test_real_clients.py and then a step-up."""
    server, protected = world
    mark = uuid.uuid4().hex
    done = subprocess.run(
        [*map(str, command), str(usher.port), server.url, *map(str, more), f"{protected.url}/{mark}", protected.cookie()],
        capture_output=True, text=True, timeout=120, env=environment, check=False)
    said, _, echo = done.stdout.partition("\n")
    assert (done.returncode, said) == (0, "ok"), done.stderr[-2000:]
    spoke(usher, server, 23)
    passed(usher, json.loads(echo), mark)


def test_go(proxy, world, trust, tmp_path):
    program = tmp_path / "client"
    built = subprocess.run(
        [tool("go"), "build", "-o", program, CLIENTS / "client.go"], capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    exercise([program], proxy, world, trust)


def test_java(proxy, world, tmp_path):
    tool("javac")
    store = tmp_path / "trust.p12"
    subprocess.run(
        [tool("keytool"), "-importcert", "-noprompt", "-alias", "usher", "-file", proxy.ca, "-keystore", store,
         "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True, timeout=60)
    exercise(
        [tool("java"), f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit",
         CLIENTS / "Client.java"], proxy, world)


def test_httpx(proxy, world, trust):
    exercise([python(), CLIENTS / "client_httpx.py"], proxy, world, trust, more=[proxy.ca])


def node(usher, server, authority, *jobs):
    done = subprocess.run(
        [tool("node"), CLIENTS / "http2.js", usher.url, server, str(usher.ca), json.dumps(jobs)],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_node(proxy, world):
    server, protected = world
    answers = node(
        proxy, server.url, server.authority, {"path": "/get", "count": 20},
        {"path": "/echo", "method": "POST", "size": 100_000, "count": 2}, {"path": "/chunked"})
    assert [answer["length"] for answer in answers] == [5] * 20 + [100_000] * 2 + [200_000]
    spoke(proxy, server, 23)
    marks = [uuid.uuid4().hex for _ in range(3)]
    # side by side on one connection
    answers = node(proxy, protected.url, protected.authority, *(
        {"path": f"/shop/{mark}", "method": "POST", "headers": {"cookie": protected.cookie()}, "body": mark} for mark in marks))
    for mark, answer in zip(marks, answers):
        passed(proxy, json.loads(answer["body"]), mark, mark.encode())


def test_curl(proxy, world):
    server, protected = world
    done = subprocess.run(
        [tool("curl"), "-q", "-sS", "--http2", "-x", proxy.url, "--cacert", str(proxy.ca), "--max-time", "20",
         *[f"{server.url}/get"] * 20, "-w", "%{http_code} %{http_version} %{num_connects}\n", "-o", "/dev/null",
         *["-o", "/dev/null"] * 19], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines() == ["200 2 1"] + ["200 2 0"] * 19, done.stderr
    spoke(proxy, server, 20)
    mark = uuid.uuid4().hex
    status, version, body, _ = curl(
        proxy, "--http2", "--data-binary", "@-", "-H", f"Cookie: {protected.cookie()}", f"{protected.url}/{mark}", given=ALL_BYTES)
    assert (status, version) == (200, "2")
    passed(proxy, json.loads(body), mark)


# tools that know no proxy: by prior knowledge at the plain listener, or behind what asks for a tunnel


@pytest.fixture(scope="module")
def plain_shop(sandbox):
    return Shop(sandbox, sandbox.port)


@pytest.fixture(scope="module")
def plain_origin():
    server = NewOrigin()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def plain_proxy(binary, plain_origin, sandbox, tmp_path_factory):
    path = tmp_path_factory.mktemp("http2-plain") / "usher.yaml"
    path.write_text(json.dumps({
        "version": 1, "workers": 1, "http2": {"cleartext": [plain_origin.authority]}, **shop.config(sandbox)}))
    program = programs.Usher(binary, path)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


def known(usher, authority, path, *arguments):
    """nghttp's output where it speaks HTTP/2 to the proxy at once, as if that were the server."""
    done = subprocess.run(
        [tool("nghttp"), "--timeout=20", "-H", f":authority: {authority}", *arguments, f"{usher.url}{path}"],
        capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("is_new", [False, True], ids=["old", "new"])
def test_nghttp(plain_proxy, plain_origin, origin, tmp_path, is_new):
    body = os.urandom(100_000)
    (tmp_path / "body").write_bytes(body)
    server = plain_origin if is_new else origin(web.Web())
    assert known(plain_proxy, server.authority, "/get", "--multiply=20") == b"hello" * 20
    assert known(plain_proxy, server.authority, "/echo", f"--data={tmp_path}/body") == body
    # without content-length
    assert known(plain_proxy, server.authority, "/echo", f"--data={tmp_path}/body", "--no-content-length") == body
    assert known(plain_proxy, server.authority, "/chunked") == b"x" * 200_000
    spoke(plain_proxy, server, 23)


def test_nghttp_through_a_step_up(plain_proxy, plain_shop, tmp_path):
    (tmp_path / "body").write_bytes(ALL_BYTES)
    mark = uuid.uuid4().hex
    echo = known(
        plain_proxy, plain_shop.authority, f"/shop/{mark}", "-H", f"cookie: {plain_shop.cookie()}", f"--data={tmp_path}/body")
    passed(plain_proxy, json.loads(echo), mark)


@pytest.mark.parametrize("way", ["at once", "in a tunnel"])
def test_curl_by_prior_knowledge(plain_proxy, plain_origin, plain_shop, way):
    def ask(place, path, *more):
        where = (
            ["-p", "-x", plain_proxy.url, "--suppress-connect-headers", f"http://{place.authority}{path}"] if way == "in a tunnel" else
            ["-H", f"Host: {place.authority}", f"{plain_proxy.url}{path}"])
        done = subprocess.run(
            [tool("curl"), "-q", "-sS", "--http2-prior-knowledge", "--noproxy", "", "--max-time", "20", "-w", "\n%{http_version}", *more,
             *where], input=ALL_BYTES, capture_output=True, timeout=30, check=False)
        assert done.returncode == 0, done.stderr
        body, _, version = done.stdout.rpartition(b"\n")
        assert version == b"2"
        return body

    assert ask(plain_origin, "/get") == b"hello"
    assert ask(plain_origin, "/echo", "--data-binary", "@-") == ALL_BYTES
    if way == "in a tunnel":
        # who begins so in a tunnel knows that its end speaks HTTP/2, which this shop does not
        return
    mark = uuid.uuid4().hex
    echo = ask(plain_shop, f"/shop/{mark}", "--data-binary", "@-", "-H", f"Cookie: {plain_shop.cookie()}")
    passed(plain_proxy, json.loads(echo), mark)


def h2load(count, port, url, *arguments, body=None):
    """All of them succeed, with that body's length each."""
    done = subprocess.run(
        [tool("h2load"), "-n", str(count), "-c", "4", "-m", "16", "-T", "20", "-N", "20", f"--connect-to=127.0.0.1:{port}",
         *arguments, url], capture_output=True, text=True, timeout=60, check=False)
    said = re.search(r"requests: .*", done.stdout)
    assert said and f"{count} succeeded, 0 failed, 0 errored" in said.group(0), done.stdout
    if body is not None:
        assert f"({body * count}) data" in done.stdout, done.stdout


@pytest.mark.parametrize("is_new", [False, True], ids=["old", "new"])
def test_h2load_by_prior_knowledge(plain_proxy, plain_origin, origin, is_new):
    server = plain_origin if is_new else origin(web.Web())
    h2load(2_000, plain_proxy.port, f"{server.url}/get", body=5)
    assert protocols(plain_proxy, server, "/get") == ("HTTP/2", theirs(server))


def test_h2load_through_step_ups(plain_proxy, plain_shop):
    mark = uuid.uuid4().hex
    h2load(40, plain_proxy.port, f"{plain_shop.url}/{mark}", "-H", f"cookie: {plain_shop.cookie()}")
    lines = exchanges(plain_proxy, mark, 40)
    assert {(line["protocol"], line["status"], line["attempts"]) for line in lines} == {("HTTP/2", 200, 2)}


def test_h2load_in_an_opened_tunnel(proxy, world):
    server, _ = world
    tunnels = relay.Relay(("127.0.0.1", proxy.port), server.authority).start()
    try:
        h2load(500, tunnels.port, f"{server.url}/get", body=5)
    finally:
        tunnels.close()
    spoke(proxy, server, 500)
