"""Every Action on the wire, as the access log names it. The tables of all cases are unit tests."""

import json

import pytest

import programs
import wire
from wire import Connection, request, response

FORM = [("Content-Type", "application/x-www-form-urlencoded")]
JSON = [("Content-Type", "application/json"), ("Accept-API-Version", "protocol=1.0,resource=2.1")]
ALPHA = "/am/json/realms/root/realms/alpha"
OAUTH = "/am/oauth2/realms/root"
ADVICE = (
    "%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22TransactionConditionAdvice%22%2F%3E"
    "%3CValue%3Ea1b2c3d4-0001-4a00-8b00-000000000001%3C%2FValue%3E%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E")


@pytest.fixture(scope="module")
def am(binary, tmp_path_factory):
    """A proxy in front of a server that answers every step with the same authId; gives (send, usher)."""
    step = json.dumps({"authId": "e.remembered.s", "callbacks": []}).encode()
    server = wire.Answering(lambda _: response(body=step, fields=[("Content-Type", "application/json")]))
    path = tmp_path_factory.mktemp("am") / "usher.yaml"
    path.write_text(json.dumps({
        "version": 1, "log": {"show": ["n"]}, "am": [{
            "url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"],
            "paths": {"userinfo": "/custom/who-am-i"}}]}))
    usher = programs.Usher(binary, path)
    counter = iter(range(1_000_000))

    def send(method, target, fields=(), body=b"", host="am.localhost"):
        mark = f"n={next(counter)}"
        joined = target + ("&" if "?" in target else "?") + mark
        with Connection(("127.0.0.1", usher.port)) as client:
            client.exchange(request(method, f"http://{host}:{server.port}{joined}", fields, body))
        return usher.flow(mark).access

    yield send
    assert usher.stop() == 0
    server.close()


CASES = [
    ("POST", f"{ALPHA}/authenticate?authIndexType=service&authIndexValue=Login", JSON, b"",
     "START_AUTHENTICATE", "/alpha", "Login"),
    ("POST", f"{ALPHA}/authenticate?authIndexType=service&authIndexValue=Login", JSON, b"{}",
     "START_AUTHENTICATE", "/alpha", "Login"),
    ("POST", "/am/json/authenticate", JSON, b'{"authId":"x.y.z","callbacks":[]}', "AUTHENTICATE", "/", None),
    ("POST", "/am/json/authenticate?realm=/alpha", JSON, b"", "START_AUTHENTICATE", "/alpha", None),
    ("POST", f"/am/json/realms/root/authenticate?authIndexType=composite_advice&authIndexValue={ADVICE}", JSON, b"",
     "START_AUTHENTICATE", "/", None),
    ("GET", f"{OAUTH}/authorize?client_id=app&response_type=code", [], b"", "AUTHORIZE", "/", None),
    ("POST", f"{OAUTH}/access_token", FORM, b"grant_type=authorization_code&code=x", "EXCHANGE_TOKEN", "/", None),
    ("POST", f"{OAUTH}/access_token", FORM, b"refresh_token=x&grant_type=refresh_token", "REFRESH_TOKEN", "/", None),
    ("POST", f"{OAUTH}/token/revoke", FORM, b"token=x", "REVOKE_TOKEN", "/", None),
    ("GET", "/am/oauth2/alpha/userinfo", [], b"", "USER_INFO", "/alpha", None),
    ("GET", "/custom/who-am-i", [], b"", "USER_INFO", None, None),
    ("POST", f"{ALPHA}/sessions/?_action=logout", JSON, b"", "LOGOUT", "/alpha", None),
    ("POST", f"{ALPHA}/push/sns/message?_action=register", JSON, b"{}", "PUSH_REGISTER", "/alpha", None),
    ("POST", f"{ALPHA}/push/sns/message?_action=authenticate", JSON, b"{}", "PUSH_AUTHENTICATE", "/alpha", None),
    ("POST", f"{ALPHA}/sessions?_action=getSessionInfo", JSON, b"", None, None, None),
    ("GET", f"{ALPHA}/serverinfo/*", [], b"", None, None, None),
    ("GET", "/elsewhere", [], b"", None, None, None),
]


@pytest.mark.parametrize("method, target, fields, body, action, realm, tree", CASES)
def test_action(am, method, target, fields, body, action, realm, tree):
    access = am(method, target, fields, body)
    assert access.get("action") == action
    if realm:
        assert access["realm"] == realm
    if tree:
        assert access["tree"] == tree


@pytest.mark.parametrize("case", [case for case in CASES if case[4]], ids=lambda case: case[4])
def test_other_hosts_are_no_am(am, case):
    access = am(*case[:4], host="app.localhost")
    assert "action" not in access


def test_an_auth_id_remembers_its_start(am):
    am("POST", f"{ALPHA}/authenticate?authIndexType=service&authIndexValue=Login", JSON, b"")
    access = am("POST", f"{ALPHA}/authenticate", JSON, b'{"authId":"e.remembered.s","callbacks":[]}')
    assert access["action"] == "AUTHENTICATE"
    assert access["tree"] == "Login"


def test_a_large_body_is_passed_whole_although_only_its_beginning_is_read(am):
    body = b'{"callbacks":["' + b"x" * 3_000_000 + b'"],"authId":"x.y.z"}'
    assert am("POST", f"{ALPHA}/authenticate", JSON, body)["request_bytes"] >= len(body)
