"""An OAuth service as AM has it, and resources that want its tokens."""

import base64
import hashlib
import json
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from wire import response

BASE = "/am/oauth2/realms/root"
REDIRECT = "com.example.shop:/callback"
SECRET = "s&cret=%é"


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def padded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def answer(status=200, fields=(), **members):
    return response(status, body=json.dumps(members).encode(), fields=[("Content-Type", "application/json"), *fields])


class Proofs:
    """What is to be known of a request's proof (RFC 9449 §4.3)."""

    def __init__(self):
        self.seen, self.nonces = set(), []

    def check(self, got, url, nonce=None, token=None):
        """The digest of the key; "nonce" where another nonce has to be in it."""
        (proof,) = got.all("dpop")
        signed, _, signature = proof.rpartition(".")
        header, claims = (json.loads(padded(part)) for part in signed.split("."))
        jwk = header["jwk"]
        assert header["typ"] == "dpop+jwt" and header["alg"] == "ES256" and set(jwk) == {"kty", "crv", "x", "y"}
        numbers = ec.EllipticCurvePublicNumbers(
            *(int.from_bytes(padded(jwk[name]), "big") for name in "xy"), ec.SECP256R1())
        raw = padded(signature)
        assert len(raw) == 64
        numbers.public_key().verify(
            utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")),
            signed.encode(), ec.ECDSA(hashes.SHA256()))
        assert claims["jti"] not in self.seen
        self.seen.add(claims["jti"])
        assert claims["htm"] == got.line.split()[0] and claims["htu"] == url and abs(claims["iat"] - time.time()) < 60
        if token:
            assert claims["ath"] == unpadded(hashlib.sha256(token.encode()).digest())
        if nonce and claims.get("nonce") != nonce:
            return "nonce"
        members = {name: jwk[name] for name in sorted(jwk)}
        return unpadded(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


class Grants:
    """The service. Tokens are a1, a2, …; refresh tokens r1, r2, …, each good for once where they rotate."""

    def __init__(self, lifetime=3600, rotates=True, refreshes=True, clients=("shop",), secret=None):
        self.lock = threading.Lock()
        self.lifetime, self.rotates, self.refreshes = lifetime, rotates, refreshes
        self.clients, self.secret = clients, secret
        self.requests, self.calls, self.revoked = [], [], []
        self.access, self.refresh, self.codes = {}, {}, {}
        # what the next calls of the token endpoint come to, before those that go well
        self.answers = []
        self.sessions = {"SESSION-A": "ada", "SESSION-B": "bob"}
        self.asks_consent = False
        self.consents = []
        self.nonce = None
        self.proofs = None
        self.gate = None
        # so many bytes more in what is granted
        self.padding = 0
        self.number = 0
        self.url = None

    def forms(self, grant):
        return [form for _, form in self.calls if form.get("grant_type") == grant]

    def expire(self):
        with self.lock:
            self.access.clear()

    def __call__(self, got):
        with self.lock:
            self.requests.append(got)
            path, _, query = got.target.partition("?")
            form = dict(urllib.parse.parse_qsl((got.body or b"").decode(), keep_blank_values=True))
            if path == f"{BASE}/authorize":
                return self.authorize(got, form or dict(urllib.parse.parse_qsl(query)))
            if path == f"{BASE}/token/revoke":
                self.revoked.append(form["token"])
                self.refresh.pop(form["token"], None)
                self.access.pop(form["token"], None)
                return answer()
            if path != f"{BASE}/access_token":
                return response(body=b"{}")
            self.calls.append((got, form))
            gate = self.gate
            given = self.answers.pop(0) if self.answers else self.token(got, form)
        if gate:
            assert gate.wait(20)
        return given

    def shows(self, got, form):
        given = got.get("authorization")
        if given:
            name, _, secret = base64.b64decode(given.removeprefix("Basic ")).decode().partition(":")
            return urllib.parse.unquote(name), urllib.parse.unquote(secret)
        return form.get("client_id"), form.get("client_secret")

    def token(self, got, form):
        client, secret = self.shows(got, form)
        if client not in self.clients or self.secret and secret != self.secret:
            return answer(401, error="invalid_client")
        bound = None
        if self.proofs:
            bound = self.proofs.check(got, f"{self.url}{BASE}/access_token", self.nonce)
            if bound == "nonce":
                return answer(400, [("DPoP-Nonce", self.nonce)], error="use_dpop_nonce")
        grant, user = form.get("grant_type"), None
        if grant == "refresh_token":
            user = self.refresh.get(form.get("refresh_token"))
            if not user:
                return answer(400, error="invalid_grant")
            if self.rotates:
                del self.refresh[form["refresh_token"]]
        elif grant == "authorization_code":
            code = self.codes.pop(form.get("code"), None)
            if not code or form["redirect_uri"] != code["redirect_uri"]:
                return answer(400, error="invalid_grant")
            digest = unpadded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
            if code.get("code_challenge") not in (None, digest):
                return answer(400, error="invalid_grant")
            user = code["user"]
        elif grant == "client_credentials":
            user = client
        else:
            return answer(400, error="unsupported_grant_type")
        return self.grant(user, bound)

    def grant(self, user, bound=None):
        self.number += 1
        made = {"access_token": f"a{self.number}", "token_type": "DPoP" if bound else "Bearer"}
        self.access[made["access_token"]] = (user, bound)
        if self.lifetime is not None:
            made["expires_in"] = self.lifetime
        if self.refreshes:
            made["refresh_token"] = f"r{self.number}"
            self.refresh[made["refresh_token"]] = user
        if self.padding:
            made["padding"] = "x" * self.padding
        return answer(**made)

    def code(self, user="ada", **more):
        with self.lock:
            name = f"c{len(self.codes)}"
            self.codes[name] = {"user": user, "redirect_uri": REDIRECT, **more}
        return name

    def authorize(self, got, asked):
        cookies = dict(part.split("=", 1) for part in (got.get("cookie") or "").split("; ") if part)
        session = cookies.get("iPlanetDirectoryPro")
        user = self.sessions.get(session)
        if not user:
            return response(302, fields=[("Location", f"{self.url}/am/XUI/?realm=/")])
        if self.asks_consent:
            if got.line.startswith("GET"):
                return response(fields=[("Content-Type", "text/html")], body=b"<p>May it?")
            if (asked.get("decision"), asked.get("csrf")) != ("allow", session):
                return response(400)
            self.consents.append(user)
        assert asked["code_challenge_method"] == "S256" and asked["response_type"] == "code"
        name = f"c-{user}-{len(self.codes)}"
        self.codes[name] = {"user": user, **{key: asked[key] for key in ("code_challenge", "redirect_uri")}}
        return response(302, fields=[("Location", f"{asked['redirect_uri']}?code={name}&state={asked['state']}")])


class Api:
    """A resource that wants a token of the service."""

    def __init__(self, grants):
        self.grants = grants
        self.asked, self.shown = [], []
        self.refusal = response(401, fields=[("WWW-Authenticate", 'Bearer error="invalid_token"')], body=b"no token")
        self.nonce = None
        # a path at which no token is good
        self.deaf = None
        self.url = None

    def __call__(self, got):
        self.asked.append(got)
        shown = got.get("authorization")
        self.shown.append(shown)
        scheme, _, token = (shown or "").partition(" ")
        with self.grants.lock:
            user, bound = self.grants.access.get(token, (None, None))
        if not user or scheme != ("DPoP" if bound else "Bearer") or self.deaf and self.deaf in got.target:
            return self.refusal
        if bound:
            path = got.target.partition("?")[0]
            found = self.grants.proofs.check(got, f"{self.url}{path}", self.nonce, token)
            if found == "nonce":
                return response(401, fields=[
                    ("WWW-Authenticate", 'DPoP error="use_dpop_nonce"'), ("DPoP-Nonce", self.nonce)])
            assert found == bound
        return response(body=user.encode())
