"""The main job from a client's side: sessions at the sandbox's AM, and the configuration that passes its gateway."""

import base64
import json
import re

import requests

ADVICE = re.compile(r'^SSOADVICE .*advices="([^"]+)"')
COOKIE = "iPlanetDirectoryPro"


def config(sandbox, **authorization):
    """A configuration under which Usher passes the sandbox's shop as `demo`."""
    return {
        "am": [{"url": sandbox.am, "realms": ["/", "/alpha"]}],
        "authorization": {
            "resources": [f"{sandbox.shop}/*"], "am": sandbox.am,
            "answers": [
                {"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}],
            **authorization}}


def direct(sandbox=None):
    """A client that asks the sandbox itself."""
    client = requests.Session()
    client.trust_env = False
    client.verify = str(sandbox.ca) if sandbox and sandbox.ca else True
    return client


def login(sandbox, user="demo", password="changeit", tree="Login"):
    """Signs in at the sandbox without the proxy, as an app does; the session's token."""
    return sign_in(direct(sandbox), f"{sandbox.direct}/am", user, password, tree)


def sign_in(client, am, user="demo", password="changeit", tree="Login"):
    """Signs in at an AM by this client; the session's token."""
    url = f"{am}/json/realms/root/authenticate"
    headers = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}
    step = client.post(
        url, params={"authIndexType": "service", "authIndexValue": tree}, headers=headers, timeout=10).json()
    while "authId" in step:
        for callback in step["callbacks"]:
            callback["input"][0]["value"] = user if callback["type"] == "NameCallback" else password
        answer = client.post(url, json=step, headers=headers, timeout=10)
        assert answer.status_code == 200, answer.text
        step = answer.json()
    return step["tokenId"]


def status(sandbox):
    """What has happened in the sandbox, in numbers."""
    return direct(sandbox).get(f"{sandbox.direct}/sandbox/status", timeout=10).json()


def at_shop(sandbox, path):
    """URL and Host field for asking the shop without the proxy, where the resolver knows no *.localhost."""
    return f"{sandbox.direct}/shop{path}", {"Host": f"shop.localhost:{sandbox.port}"}


def advice(answer):
    """The decoded advice of a 401 from the gateway; None when it carries none."""
    found = ADVICE.match(answer.headers.get("WWW-Authenticate", ""))
    return json.loads(base64.b64decode(found.group(1))) if found else None


def echoed_cookie(echo):
    """The session that reached the resource."""
    values = "; ".join(value for name, value in echo["fields"] if name.lower() == "cookie")
    found = re.search(rf"{COOKIE}=([^;]+)", values)
    return found.group(1) if found else None


def echoed_body(echo):
    return base64.b64decode(echo["bodyBase64"]) if "bodyBase64" in echo else echo["body"].encode()
