"""The sandbox on its own, over real sockets: what a client without the proxy would have to do by itself."""

import base64
import hashlib
import json
import urllib.parse

import pytest

import shop
import wire

API = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}


def ask(sandbox, token, path, **query):
    url, headers = shop.at_shop(sandbox, path)
    headers |= {"Cookie": f"{shop.COOKIE}={token}", "x-authenticate-response": "header"}
    return shop.direct().get(url, params=query, headers=headers, timeout=10, allow_redirects=False)


def approve(sandbox, token, transaction, password="changeit"):
    """The dance with AM for one transaction."""
    url = f"{sandbox.direct}/am/json/realms/root/authenticate"
    xml = (
        '<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/>'
        f"<Value>{transaction}</Value></AttributeValuePair></Advices>")
    headers = {**API, "Cookie": f"{shop.COOKIE}={token}", "Host": f"shop.localhost:{sandbox.port}"}
    query = {"authIndexType": "composite_advice", "authIndexValue": xml}
    client = shop.direct()
    answer = client.post(url, params=query, headers=headers, timeout=10)
    for _ in range(5):
        step = answer.json()
        if "authId" not in step:
            break
        for callback in step["callbacks"]:
            callback["input"][0]["value"] = "demo" if callback["type"] == "NameCallback" else password
        answer = client.post(url, json=step, headers=headers, timeout=10)
    return answer


def transaction(answer):
    assert answer.status_code == 401
    return shop.advice(answer)["TransactionConditionAdvice"][0]


def test_a_transaction_grants_one_access(sandbox):
    token = shop.login(sandbox)
    first = transaction(ask(sandbox, token, "/once"))
    assert approve(sandbox, token, first).status_code == 200
    granted = ask(sandbox, token, "/once", _txid=first)
    assert granted.status_code == 200
    assert granted.json()["user"] == "demo"
    second = transaction(ask(sandbox, token, "/once", _txid=first))
    assert second != first


def test_a_transaction_belongs_to_its_session_and_resource(sandbox):
    mine, other = shop.login(sandbox), shop.login(sandbox)
    first = transaction(ask(sandbox, mine, "/bound"))
    assert approve(sandbox, other, first).status_code == 401
    assert approve(sandbox, mine, first).status_code == 200
    assert ask(sandbox, other, "/bound", _txid=first).status_code == 401
    assert ask(sandbox, mine, "/elsewhere", _txid=first).status_code == 401
    assert ask(sandbox, mine, "/bound", _txid=first).status_code == 200


def test_a_transaction_that_is_not_approved_grants_nothing(sandbox):
    token = shop.login(sandbox)
    first = transaction(ask(sandbox, token, "/refused"))
    assert ask(sandbox, token, "/refused", _txid=first).status_code == 401
    assert ask(sandbox, token, "/refused", _txid="made-up").status_code == 401


def test_the_redirect_form(sandbox):
    url, headers = shop.at_shop(sandbox, "/redirected?a=b")
    headers["Cookie"] = f"{shop.COOKIE}={shop.login(sandbox)}"
    answer = shop.direct().get(url, headers=headers, timeout=10, allow_redirects=False)
    assert answer.status_code == 307
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
    assert query["authIndexType"] == ["composite_advice"]
    assert "TransactionConditionAdvice" in query["authIndexValue"][0]
    assert "_txid=" in query["goto"][0]


@pytest.mark.parametrize("user, password", [("demo", "wrong"), ("nobody", "changeit")])
def test_wrong_credentials(sandbox, user, password):
    url = f"{sandbox.direct}/am/json/realms/root/authenticate"
    headers = {**API, "X-OpenAM-Username": user, "X-OpenAM-Password": password}
    answer = shop.direct().post(url, headers=headers, timeout=10)
    assert answer.status_code == 401
    assert "tokenId" not in answer.json()


def test_every_user_signs_in_with_a_session_of_its_own(sandbox):
    tokens = [shop.login(sandbox, user) for user in ["demo", *(f"user{number}" for number in range(1, 10))]]
    assert len(set(tokens)) == 10


def test_logout_ends_a_session(sandbox):
    token = shop.login(sandbox)
    headers = {**API, "Cookie": f"{shop.COOKIE}={token}"}
    url = f"{sandbox.direct}/am/json/realms/root/sessions/?_action=logout"
    assert shop.direct().post(url, headers=headers, timeout=10).status_code == 200
    assert ask(sandbox, token, "/open/x").json()["user"] is None


def test_tokens_and_user_information(sandbox):
    client = shop.direct()
    oauth = f"{sandbox.direct}/am/oauth2/realms/root"
    verifier = "v" * 50
    hashed = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    token = shop.login(sandbox)
    answer = client.get(f"{oauth}/authorize", timeout=10, allow_redirects=False, params={
        "client_id": "app", "response_type": "code", "scope": "openid profile", "redirect_uri": "http://app.localhost/cb",
        "state": "s", "code_challenge": hashed, "code_challenge_method": "S256"},
        headers={"Cookie": f"{shop.COOKIE}={token}"})
    assert answer.status_code == 302, answer.text
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)["code"][0]
    form = {
        "grant_type": "authorization_code", "code": code, "client_id": "app", "code_verifier": verifier,
        "redirect_uri": "http://app.localhost/cb"}
    tokens = client.post(f"{oauth}/access_token", data=form, timeout=10).json()
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert client.get(f"{oauth}/userinfo", headers=bearer, timeout=10).json()["sub"] == "demo"
    assert client.get(f"{oauth}/userinfo", timeout=10).status_code == 401
    # a code is used once
    assert client.post(f"{oauth}/access_token", data=form, timeout=10).status_code == 400


def test_plain_pages(sandbox):
    client = shop.direct()
    echo = client.post(f"{sandbox.direct}/plain/echo?a=b", data=b"\x00\xff", headers={"X-A": "1"}, timeout=10).json()
    assert echo["method"] == "POST"
    assert base64.b64decode(echo["bodyBase64"]) == b"\x00\xff"
    assert ["X-A", "1"] in echo["fields"]
    assert client.get(f"{sandbox.direct}/plain/status/418", timeout=10).status_code == 418
    assert len(client.get(f"{sandbox.direct}/plain/bytes/1000", timeout=10).content) == 1000
    assert client.get(f"{sandbox.direct}/nowhere", timeout=10).status_code == 404


def test_it_says_what_it_did(sandbox):
    ask(sandbox, shop.login(sandbox), "/said")
    sandbox.wait_for(lambda: [line for line in sandbox.lines if "/shop/said" in line], "a line for the request")


def test_malformed_requests_do_no_harm(sandbox):
    for data in (b"\0\0\0\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"POST /plain/echo HTTP/1.1\r\nContent-Length: x\r\n\r\n"):
        with wire.Connection((sandbox.host, sandbox.port)) as client:
            client.send(data)
            assert client.read_response().status == 400
    bad = shop.direct().post(
        f"{sandbox.direct}/am/json/realms/root/authenticate", data=b"{", headers=API, timeout=10)
    assert bad.status_code == 400
    assert json.loads(bad.content)["code"] == 400
