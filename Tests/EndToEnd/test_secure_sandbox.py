"""The sandbox over HTTPS, and the main job with AM, gateway and resource all behind TLS."""

import base64
import json
import os
import pathlib
import subprocess
import urllib.parse
import uuid

import pytest

import inside
import programs
import shop
import wire

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture
def usher(start, secure_sandbox, tmp_path):
    """Opens the resource and AM alike, and trusts the sandbox's authority alone."""
    def run(**authorization):
        return start({
            **shop.config(secure_sandbox, **authorization), "workers": 1,
            "tls": {
                "intercept": ["*.localhost"], "ca": {"constrain_to": ["localhost"]},
                "upstream": {"trust": "none", "extra_trust": [str(secure_sandbox.ca)]}}}, state=tmp_path)

    return run


@pytest.fixture
def app(through, secure_sandbox):
    """An app that trusts the proxy's authority and is signed in."""
    def make(usher):
        client = through(usher)
        client.verify = str(usher.ca)
        token = shop.login(secure_sandbox)
        client.headers["Cookie"] = f"{shop.COOKIE}={token}"
        client.token = token
        return client

    return make


# the sandbox alone


def test_pages_over_tls(secure_sandbox):
    client = shop.direct(secure_sandbox)
    echo = client.post(f"{secure_sandbox.direct}/plain/echo?a=b", data=b"\x00\xff", timeout=10).json()
    assert (echo["method"], echo["url"]) == ("POST", f"{secure_sandbox.direct}/plain/echo?a=b")
    assert len(client.get(f"{secure_sandbox.direct}/plain/bytes/300000", timeout=10).content) == 300_000


def test_what_it_says_leads_back_over_tls(secure_sandbox):
    client = shop.direct(secure_sandbox)
    url, headers = shop.at_shop(secure_sandbox, "/order?a=b")
    headers["Cookie"] = f"{shop.COOKIE}={shop.login(secure_sandbox)}"
    location = client.get(url, headers=headers, timeout=10, allow_redirects=False).headers["Location"]
    assert location.startswith(secure_sandbox.am + "/?")
    goto = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["goto"][0]
    assert goto.startswith(secure_sandbox.shop + "/order?a=b")
    document = client.get(
        f"{secure_sandbox.direct}/am/oauth2/realms/root/.well-known/openid-configuration", timeout=10).json()
    assert all(value.startswith("https://") for value in document.values() if "://" in str(value) and isinstance(value, str))


@pytest.mark.parametrize("name", ["am.localhost", "anything.example", None])
def test_it_has_a_certificate_for_every_name(secure_sandbox, name):
    with wire.Connection((secure_sandbox.host, secure_sandbox.port)) as client:
        inside.secured(client, inside.context(secure_sandbox.ca), name or "127.0.0.1")
        answer = client.exchange(inside.get("shop.localhost", "/plain/echo", [("Connection", "close")]))
        assert answer.status == 200
        # with close_notify, or this raises
        assert client.is_at_end()


def test_it_takes_no_plain_http_then(secure_sandbox):
    with wire.Connection((secure_sandbox.host, secure_sandbox.port)) as client:
        client.send(inside.get("shop.localhost", "/plain/echo"))
        assert client.read_rest() == b""


def test_the_file_of_its_authority(binary):
    """Without a name for it, the file lasts as long as the sandbox."""
    program = programs.Program([binary, "sandbox", "--tls", "--listen", "127.0.0.1:0"])
    try:
        port = program.ports("sandbox", 1)[0]
        path = next(line for line in program.errors if "CA is in " in line).split("CA is in ")[1].split(";")[0]
        with wire.Connection(("127.0.0.1", port)) as client:
            inside.secured(client, inside.context(path), "shop.localhost")
            assert client.exchange(inside.get("shop.localhost", "/plain/echo")).status == 200
    finally:
        assert program.stop() == 0
    assert not os.path.exists(path)


@pytest.mark.parametrize("options, status, words", [
    (["--ca-file", "x.pem"], 2, "--ca-file requires --tls"),
    (["--tls", "--ca-file", "/nowhere/x.pem"], 1, "/nowhere/x.pem cannot be written: No such file")], ids=["alone", "nowhere"])
def test_a_file_that_cannot_be(binary, options, status, words):
    done = subprocess.run(
        [binary, "sandbox", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=20)
    assert done.returncode == status
    assert words in done.stderr


# the main job


@pytest.mark.parametrize(
    "path, body", [("/order/7", None), ("/pay", os.urandom(200_000)), ("/upgrade/x", None)], ids=["get", "post", "upgrade"])
def test_the_resource_arrives(usher, app, secure_sandbox, path, body):
    proxy = usher()
    client = app(proxy)
    mark = uuid.uuid4().hex
    answer = client.request(
        "POST" if body else "GET", f"{secure_sandbox.shop}{path}/{mark}", data=body, timeout=15, allow_redirects=False)
    assert answer.status_code == 200, answer.text
    echo = answer.json()
    assert echo["user"] == "demo"
    assert echo["url"] == f"{secure_sandbox.shop}{path}/{mark}"
    if body:
        assert shop.echoed_body(echo) == body
    flow = proxy.flow(mark)
    assert (flow.access["url"], flow.access["attempts"]) == (f"{secure_sandbox.shop}{path}/{mark}", 2)
    kinds = [event["event"] for event in flow.events]
    assert kinds.index("advice") < kinds.index("authenticate") < kinds.index("replay")
    log = "\n".join(proxy.lines + proxy.errors)
    assert "changeit" not in log and client.token not in log


def test_the_redirect_form(usher, app, secure_sandbox):
    client = app(usher(offer_header=False))
    answer = client.get(f"{secure_sandbox.shop}/dressed?a=b", timeout=15, allow_redirects=False)
    assert answer.status_code == 200, answer.headers
    assert answer.json()["transactionUses"] == 1


@pytest.mark.parametrize("offers", [True, False], ids=["header", "redirect"])
@pytest.mark.parametrize("client", ["curl", "node"])
def test_other_clients(usher, secure_sandbox, client, offers):
    proxy = usher(offer_header=offers)
    mark = uuid.uuid4().hex
    url, cookie = f"{secure_sandbox.shop}/{mark}", f"{shop.COOKIE}={shop.login(secure_sandbox)}"
    if client == "curl":
        command = ["curl", "-q", "-sS", "--cacert", proxy.ca, "-x", proxy.url, "--max-time", "20", "-H", f"Cookie: {cookie}",
                   "--data-binary", "@-", url]
    else:
        command = ["node", HERE / "clients/fetch.js", "connect", proxy.url, "POST", url, json.dumps({"Cookie": cookie})]
    done = subprocess.run(
        command, input=b"a body", capture_output=True, timeout=30,
        env={**os.environ, "NODE_EXTRA_CA_CERTS": str(proxy.ca)})
    assert done.returncode == 0, done.stderr.decode()
    echo = json.loads(done.stdout)
    if client == "node":
        assert echo["status"] == 200
        echo = json.loads(base64.b64decode(echo["body"]))
    assert (echo["user"], echo["transactionUses"], echo["body"]) == ("demo", 1, "a body")
    assert proxy.flow(mark).access["attempts"] == 2


def test_an_app_signs_in_through_the_proxy(usher, through, secure_sandbox):
    """AM is recognised inside its own TLS."""
    proxy = usher()
    client = through(proxy)
    client.verify = str(proxy.ca)
    url = f"{secure_sandbox.am}/json/realms/root/authenticate"
    headers = {"X-OpenAM-Username": "demo", "X-OpenAM-Password": "changeit", "Accept-API-Version": "resource=2.1"}
    answer = client.post(url, params={"authIndexType": "service", "authIndexValue": "Login"}, headers=headers, timeout=10)
    token = answer.json()["tokenId"]
    access = proxy.flow("/json/realms/root/authenticate").access
    assert (access["action"], access["tree"]) == ("START_AUTHENTICATE", "Login")
    client.headers["Cookie"] = f"{shop.COOKIE}={token}"
    assert client.get(f"{secure_sandbox.shop}/x", timeout=15).json()["user"] == "demo"


def test_am_is_not_spoken_to_where_its_certificate_is_not_trusted(start, app, secure_sandbox, certificates, tmp_path):
    """No password goes to somebody who cannot show who they are."""
    proxy = start({
        **shop.config(secure_sandbox), "workers": 1,
        "tls": {
            "intercept": ["shop.localhost"],
            "upstream": {
                "trust": "none", "extra_trust": [str(certificates.trust)],
                "hosts": [{"host": "shop.localhost", "verify": False}]}}}, state=tmp_path)
    answer = app(proxy).get(f"{secure_sandbox.shop}/kept", timeout=15, allow_redirects=False)
    # the answer that carried the advice, untouched
    assert answer.status_code == 401
    assert "TransactionConditionAdvice" in shop.advice(answer)
    assert any("certificate" in event["text"] for event in proxy.flow("/shop/kept").events)
