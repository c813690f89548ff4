"""The same job with clients that people use: curl, Python requests and Node's fetch, plain and through CONNECT."""

import base64
import json
import os
import pathlib
import subprocess
import uuid

import pytest

import programs
import shop

HERE = pathlib.Path(__file__).resolve().parent
BINARY_BODY = bytes(range(256)) * 20
CLIENTS = ["curl", "curl -p", "requests", "node fetch", "node fetch CONNECT"]


def run(command, body):
    done = subprocess.run(command, input=body, capture_output=True, timeout=30)
    assert done.returncode == 0, (command, done.stderr.decode())
    return done.stdout


def curl(options, method, url, headers, body):
    command = ["curl", "-q", "-sS", "-i", *options, "-X", method, "--max-time", "20", url]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    if body:
        command += ["--data-binary", "@-", "-H", "Content-Type: application/octet-stream", "-H", "Expect:"]
    output = run(command, body)
    # a tunnel's own 200 comes first
    while True:
        head, output = output.split(b"\r\n\r\n", 1)
        if not output.startswith(b"HTTP/1."):
            return int(head.split()[1]), output


def node(mode, proxy, method, url, headers, body):
    output = json.loads(run(["node", HERE / "clients/fetch.js", mode, proxy, method, url, json.dumps(headers)], body))
    return output["status"], base64.b64decode(output["body"])


def send(client, usher, through, method, url, headers, body):
    """One request with that client through the proxy: (status, body)."""
    if client == "curl":
        return curl(["-x", usher.url], method, url, headers, body)
    if client == "curl -p":
        return curl(["-p", "-x", usher.url], method, url, headers, body)
    if client.startswith("node"):
        return node("connect" if "CONNECT" in client else "absolute", usher.url, method, url, headers, body)
    answer = through(usher).request(method, url, headers=headers, data=body, timeout=20, allow_redirects=False)
    return answer.status_code, answer.content


@pytest.fixture(scope="module", autouse=True)
def no_proxy_of_the_environment():
    names = [name for name in os.environ if name.lower().endswith("_proxy")]
    kept = {name: os.environ.pop(name) for name in names}
    yield
    os.environ.update(kept)


@pytest.fixture(scope="module", params=[True, False], ids=["header", "redirect"])
def usher(request, binary, sandbox, tmp_path_factory):
    """A proxy that passes a gateway which answers in either form."""
    path = tmp_path_factory.mktemp("clients") / "usher.yaml"
    path.write_text(json.dumps({
        "version": 1, **shop.config(sandbox, offer_header=request.param),
        "interceptors": [{"name": "mark", "request": [{"set_header": {"X-Mark": "by usher"}}]}]}))
    program = programs.Usher(binary, path)
    yield program
    assert program.stop() == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_get(client, usher, sandbox, through):
    token = shop.login(sandbox)
    url = f"{sandbox.shop}/get?x=a%20b+c"
    status, body = send(client, usher, through, "GET", url, {"Cookie": f"{shop.COOKIE}={token}"}, b"")
    assert status == 200, body
    echo = json.loads(body)
    assert (echo["user"], echo["transactionUses"], echo["url"]) == ("demo", 1, url)
    assert shop.echoed_cookie(echo) == token
    assert ["X-Mark", "by usher"] in echo["fields"]


@pytest.mark.parametrize("client", CLIENTS)
def test_post(client, usher, sandbox, through):
    mark = uuid.uuid4().hex
    status, body = send(
        client, usher, through, "POST", f"{sandbox.shop}/{mark}",
        {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, BINARY_BODY)
    assert status == 200, body
    echo = json.loads(body)
    assert (echo["method"], shop.echoed_body(echo)) == ("POST", BINARY_BODY)
    assert usher.flow(mark).access["attempts"] == 2


@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_client_without_the_proxy_gets_401(client, sandbox):
    url, headers = shop.at_shop(sandbox, "/direct")
    headers |= {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}", "x-authenticate-response": "header"}
    if client.startswith("curl"):
        status, _ = curl(["--noproxy", "*"], "GET", url, headers, b"")
    elif client == "requests":
        status = shop.direct().get(url, headers=headers, timeout=10).status_code
    else:
        script = ("const {request} = require('undici'); const [url, headers] = process.argv.slice(1);"
                  "request(url, {headers: JSON.parse(headers)}).then(a => console.log(a.statusCode))")
        status = int(run(["node", "-e", script, url, json.dumps(headers)], b""))
    assert status == 401


@pytest.mark.parametrize("client", CLIENTS)
def test_plain_pages(client, usher, sandbox, through):
    status, body = send(client, usher, through, "GET", f"{sandbox.plain}/chunked/200000/777", {}, b"")
    assert status == 200
    assert body == (bytes(range(251)) * 800)[:200_000]


def test_a_client_that_follows_proxy_variables(usher, sandbox):
    """`http_proxy` is all that most programs need."""
    done = subprocess.run(
        ["curl", "-q", "-sS", f"{sandbox.plain}/echo"], env={**os.environ, "http_proxy": usher.url, "no_proxy": ""},
        capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["method"] == "GET"
