"""OAuth 2.0 in the sandbox, over real sockets: lives that are short, tokens that are bound to keys, and what refuses them."""

import base64
import hashlib
import json
import time
import urllib.parse
import uuid

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

import programs
import shop

VERIFIER = "v" * 50
BACK = "http://app.localhost/cb"
CLIENT = ("service", "changeit")


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A client's key, and the proofs that it has it."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.jwk = {
            "kty": "EC", "crv": "P-256", "x": encoded(numbers.x.to_bytes(32)), "y": encoded(numbers.y.to_bytes(32))}

    @property
    def thumbprint(self):
        members = {name: self.jwk[name] for name in ("crv", "kty", "x", "y")}
        return encoded(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())

    def proof(self, method, url, token=None, **claims):
        claims = {"jti": uuid.uuid4().hex, "htm": method, "htu": url, "iat": int(time.time()), **claims}
        if token:
            claims.setdefault("ath", encoded(hashlib.sha256(token.encode()).digest()))
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{encoded(r.to_bytes(32) + s.to_bytes(32))}"


class App:
    """A public client that has a code redeemed."""

    def __init__(self, sandbox, user="demo"):
        self.sandbox = sandbox
        self.oauth = f"{sandbox.direct}/am/oauth2/realms/root"
        self.token_url = f"{self.oauth}/access_token"
        self.http = shop.direct(sandbox)
        self.session = shop.login(sandbox, user)

    def code(self, **more):
        answer = self.http.get(f"{self.oauth}/authorize", timeout=10, allow_redirects=False, params={
            "client_id": "app", "response_type": "code", "scope": "openid", "redirect_uri": BACK, "state": "s",
            "code_challenge": encoded(hashlib.sha256(VERIFIER.encode()).digest()), "code_challenge_method": "S256", **more},
            headers={"Cookie": f"{shop.COOKIE}={self.session}"})
        assert answer.status_code == 302, answer.text
        return urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)["code"][0]

    def redeem(self, code=None, proof=None):
        form = {
            "grant_type": "authorization_code", "code": code or self.code(), "client_id": "app", "redirect_uri": BACK,
            "code_verifier": VERIFIER}
        return self.post(form, proof)

    def refresh(self, token, proof=None):
        return self.post({"grant_type": "refresh_token", "refresh_token": token, "client_id": "app"}, proof)

    def post(self, form, proof=None):
        return self.http.post(self.token_url, data=form, headers={"DPoP": proof} if proof else {}, timeout=10)

    def api(self, token, kind="Bearer", proof=None, path="/api/x"):
        headers = {"Authorization": f"{kind} {token}"} | ({"DPoP": proof} if proof else {})
        return self.http.get(f"{self.sandbox.direct}{path}", headers=headers, timeout=10)


def test_a_token_that_ends_and_is_refreshed(own_sandbox):
    app = App(own_sandbox("--token-life", "1s"))
    granted = app.redeem().json()
    assert granted["expires_in"] == 1

    programs.eventually(lambda: app.api(granted["access_token"]).status_code == 401, "the token's end")
    answer = app.api(granted["access_token"])
    assert 'Bearer realm="/",error="invalid_token"' in answer.headers["WWW-Authenticate"]
    fresh = app.refresh(granted["refresh_token"]).json()
    assert app.api(fresh["access_token"]).status_code == 200
    # one that comes a second time ends them all
    assert app.refresh(granted["refresh_token"]).json()["error"] == "invalid_grant"
    assert app.refresh(fresh["refresh_token"]).status_code == 400
    assert shop.status(app.sandbox)["tokens"]["reused"] == 1


def test_a_token_that_is_bound_to_a_key(sandbox):
    app, key = App(sandbox), Key()
    granted = app.redeem(proof=key.proof("POST", app.token_url)).json()
    assert granted["token_type"] == "DPoP"
    token, url = granted["access_token"], f"{sandbox.direct}/api/x"
    answer = app.api(token, "DPoP", key.proof("GET", url, token))
    assert answer.status_code == 200 and answer.json()["bound"] is True
    told = app.http.post(f"{app.oauth}/introspect", data={"token": token}, auth=CLIENT, timeout=10).json()
    assert (told["token_type"], told["cnf"]) == ("DPoP", {"jkt": key.thumbprint})
    # as a bearer token it is worth nothing, nor with another key's proof
    assert app.api(token).status_code == 401
    refused = app.api(token, "DPoP", Key().proof("GET", url, token))
    assert refused.status_code == 401 and "invalid_dpop_proof" in refused.headers["WWW-Authenticate"]
    # nor is what refreshes it
    assert app.refresh(granted["refresh_token"]).status_code == 400
    assert app.refresh(granted["refresh_token"], Key().proof("POST", app.token_url)).status_code == 400
    fresh = app.refresh(granted["refresh_token"], key.proof("POST", app.token_url)).json()
    assert fresh["token_type"] == "DPoP"


def test_a_code_that_is_bound_to_a_key(sandbox):
    app, key = App(sandbox), Key()
    code = app.code(dpop_jkt=key.thumbprint)
    assert app.redeem(code).json()["error"] == "invalid_dpop_proof"
    code = app.code(dpop_jkt=key.thumbprint)
    assert app.redeem(code, key.proof("POST", app.token_url)).status_code == 200


@pytest.mark.parametrize("changes", [
    {"htm": "POST"}, {"htu": "http://elsewhere.example/api/x"}, {"iat": 1}, {"ath": "x"}, {"jti": ""}], ids=str)
def test_a_proof_of_something_else(sandbox, changes):
    app, key = App(sandbox), Key()
    token = app.redeem(proof=key.proof("POST", app.token_url)).json()["access_token"]
    answer = app.api(token, "DPoP", key.proof("GET", f"{sandbox.direct}/api/x", token, **changes))
    assert answer.status_code == 401
    assert "invalid_dpop_proof" in answer.headers["WWW-Authenticate"]


def test_a_proof_is_good_once(sandbox):
    app, key = App(sandbox), Key()
    token = app.redeem(proof=key.proof("POST", app.token_url)).json()["access_token"]
    proof = key.proof("GET", f"{sandbox.direct}/api/x", token)
    assert app.api(token, "DPoP", proof).status_code == 200
    assert app.api(token, "DPoP", proof).status_code == 401


def test_a_nonce_on_demand(own_sandbox):
    app, key = App(own_sandbox("--dpop", "nonce")), Key()
    asked = app.redeem(proof=key.proof("POST", app.token_url))
    assert (asked.status_code, asked.json()["error"]) == (400, "use_dpop_nonce")
    nonce = asked.headers["DPoP-Nonce"]
    granted = app.redeem(proof=key.proof("POST", app.token_url, nonce=nonce)).json()
    token, url = granted["access_token"], f"{app.sandbox.direct}/api/x"
    bare = app.api(token, "DPoP", key.proof("GET", url, token))
    assert bare.status_code == 401
    assert "use_dpop_nonce" in bare.headers["WWW-Authenticate"]
    assert app.api(token, "DPoP", key.proof("GET", url, token, nonce=bare.headers["DPoP-Nonce"])).status_code == 200


def test_proofs_may_be_required(own_sandbox):
    app = App(own_sandbox("--dpop", "required"))
    answer = app.http.post(app.token_url, data={"grant_type": "client_credentials"}, auth=CLIENT, timeout=10)
    assert answer.json()["error"] == "invalid_dpop_proof"


def test_people_realms_and_lockout(own_sandbox):
    sandbox = own_sandbox("--user", "dana:secret@/beta", "--realm", "/beta", "--lockout", "2", "--users", "20")
    url = f"{sandbox.direct}/am/json/realms/root/{{}}authenticate"

    def sign_in(name, password, realm=""):
        headers = {"X-OpenAM-Username": name, "X-OpenAM-Password": password, "Accept-API-Version": "resource=2.1"}
        return shop.direct().post(url.format(realm), headers=headers, timeout=10)

    assert sign_in("dana", "secret", "realms/beta/").json()["realm"] == "/beta"
    assert sign_in("dana", "secret").status_code == 401
    assert sign_in("user20", "changeit").status_code == 200
    for _ in range(2):
        assert sign_in("user1", "wrong").json()["detail"]["errorCode"] == "107"
    assert sign_in("user1", "changeit").json()["detail"]["errorCode"] == "112"


def test_a_session_that_nobody_uses_ends(own_sandbox):
    sandbox = own_sandbox("--session-idle", "4s")
    token = shop.login(sandbox)
    url = f"{sandbox.direct}/am/json/realms/root/sessions?_action=getSessionInfo"
    headers = {shop.COOKIE: token, "Accept-API-Version": "resource=4.0"}
    assert shop.direct().post(url, headers=headers, timeout=10).json()["username"] == "demo"
    programs.eventually(lambda: shop.direct().post(url, headers=headers, timeout=10).status_code == 401, "its end")
