"""Tests of an app, as a user of the pytest plugin writes them; test_pytest_plugin runs them."""

import os
import subprocess
import threading

import pytest
import requests

from usher_testing import UsherError

SHOP, AM, PLAIN, SECURE = (os.environ[name] for name in ("SHOP", "AM", "PLAIN", "SECURE"))
LOGIN = f"{AM}/json/realms/root/authenticate?authIndexType=service&authIndexValue=Login"
PERSON = {"authorization": {"answers": [
    {"callback": "NameCallback", "ask": True}, {"callback": "PasswordCallback", "ask": True}]}}
JSON = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}


def sign_in(app, user="demo", password="changeit"):
    """Signs in as an app does; the last response."""
    answer = app.post(LOGIN, headers=JSON, timeout=20)
    while answer.status_code == 200 and "authId" in answer.json():
        step = answer.json()
        for callback in step["callbacks"]:
            callback["input"][0]["value"] = user if callback["type"] == "NameCallback" else password
        answer = app.post(LOGIN, json=step, headers=JSON, timeout=20)
    return answer


@pytest.mark.parametrize("number", range(16))
def test_beside_others(usher, number):
    usher.fault("path=/plain/echo", status=400 + number, times=2)
    app = usher.requests()
    got = [app.get(f"{PLAIN}/echo", timeout=20).status_code for _ in range(4)]
    assert got == [400 + number] * 2 + [200] * 2
    flows = usher.flows("path=/plain/echo", at_least=4)
    assert sorted(flow["status"] for flow in flows) == sorted(got)
    assert {flow["session"] for flow in usher.flows()} == {usher.id}


def test_busy_am(usher):
    usher.fault("am", action="AUTHENTICATE", times=1, status=429, json={"code": 429})
    app = usher.requests()
    assert sign_in(app).status_code == 429
    assert sign_in(app).json()["tokenId"]
    assert usher.journey(outcome="succeeded")["journey"]["login"] == "demo"


def test_any_call_to_am(usher):
    name = usher.fault("am", status=503)
    assert sign_in(usher.requests()).status_code == 503
    usher.remove(name)
    assert sign_in(usher.requests()).status_code == 200


def test_named_fault(usher):
    usher.fault("am-account-locked", times=1)
    app = usher.requests()
    assert (sign_in(app).status_code, sign_in(app).status_code) == (401, 200)
    with pytest.raises(UsherError, match="did you mean .?am-account-locked"):
        usher.fault("am-acount-locked")
    with pytest.raises(ValueError, match="has its own response"):
        usher.fault("am-account-locked", status=500)


@pytest.mark.usher(overlay=PERSON)
@pytest.mark.parametrize("user", ["user1", "user2", "user3"])
def test_step_up(usher, user):
    usher.expect(f"path=/shop/{user}", count=1, step_up=True)
    app = usher.requests()
    token = sign_in(app, user).json()["tokenId"]
    got = []
    request = threading.Thread(
        target=lambda: got.append(app.get(f"{SHOP}/{user}", cookies={"iPlanetDirectoryPro": token}, timeout=20)))
    request.start()
    waiting = usher.pending(timeout=10)
    assert waiting.transaction["resource"].endswith(user)
    waiting.answer(name=user, password="changeit")
    request.join(20)
    assert (got[0].status_code, got[0].json()["user"]) == (200, user)
    assert len(usher.flows(f"path=/shop/{user}", step_up=True)) == 1


@pytest.mark.usher(overlay=PERSON)
def test_denied_step_up(usher):
    app = usher.requests()
    token = sign_in(app).json()["tokenId"]
    got = []
    request = threading.Thread(
        target=lambda: got.append(app.get(f"{SHOP}/denied", cookies={"iPlanetDirectoryPro": token}, timeout=20)))
    request.start()
    usher.pending(timeout=10).deny()
    request.join(20)
    assert got[0].status_code == 401


@pytest.mark.usher(overlay="overlay.yaml", ttl="2m", port=True)
def test_overlay(usher):
    assert requests.get(f"{PLAIN}/x", proxies={"http": usher.port_url}, timeout=20).status_code == 410
    assert usher.requests().get(f"{PLAIN}/x", timeout=20).text == "of the environment"
    assert usher.proxy == {"server": usher.port_url}


def test_over_tls(usher):
    assert usher.requests().get(f"{SECURE}/echo?by=requests", timeout=20).status_code == 200
    subprocess.run(["curl", "-sSf", "-o", os.devnull, f"{SECURE}/echo?by=curl"], env=usher.env, check=True)
    assert len(usher.flows("path=/plain/echo", scheme="https", at_least=2)) == 2


def test_over_tls_with_httpx(usher):
    pytest.importorskip("httpx")
    with usher.httpx() as client:
        assert client.get(f"{SECURE}/echo").status_code == 200
    assert usher.flows(scheme="https")


def test_a_browser_needs_a_port(usher):
    with pytest.raises(ValueError, match="port=True"):
        usher.proxy


def test_expected(usher):
    usher.expect("path=/plain/echo", count=2, each="method=GET")
    usher.expect("status=5xx", count="never")
    app = usher.requests()
    assert [app.get(f"{PLAIN}/echo", timeout=20).status_code for _ in range(2)] == [200] * 2
    with pytest.raises(UsherError, match="did you mean .?path"):
        usher.expect("pth=/x")


def test_unexpected(usher):
    usher.expect("path=/plain/echo", count=1, name="one echo")
    usher.expect("path=/plain/never", name="another page")
    app = usher.requests()
    assert [app.get(f"{PLAIN}/echo", timeout=20).status_code for _ in range(2)] == [200] * 2


def test_failing(usher):
    sign_in(usher.requests(), password="wrong")
    assert usher.flows("status=4xx") == [], "the app got in"


def test_not_seen(usher):
    usher.requests().get(f"{PLAIN}/echo?there=1", timeout=20)
    usher.flows("path=/elsewhere", timeout=0.2)


def test_bad_rule(usher):
    usher.rule("pth=/x", request=[{"respond": {"status": 500}}])
