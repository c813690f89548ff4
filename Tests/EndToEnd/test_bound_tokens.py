"""Clients of AM that show a certificate, and tokens that are bound to it (RFC 8705)."""

import hashlib
import os
import signal

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

import inside
import origins
from certificates import builder, common_name, pem, private
from grants import BASE, REDIRECT, Api, Grants, answer, unpadded
from wire import Connection, request

AM, RESOURCE = "origin.localhost", "api.wild.localhost"


class Shown(origins.Answering):
    """Requests know by which certificate they came: `subject` and `thumbprint`, RFC 8705's x5t#S256."""

    def _answer(self, connection):
        shown = connection.socket.getpeercert(binary_form=True)
        identity = origins.shown(connection.socket), unpadded(hashlib.sha256(shown).digest())
        while True:
            message = connection.read_request()
            message.subject, message.thumbprint = identity
            self.requests.append(message)
            connection.send(self.answer(message))


class MutualGrants(Grants):
    """Its clients show certificates alone, by their subject (tls_client_auth) or by their key (self_signed_…); its tokens are
    bound to them."""

    def __init__(self, subject=None, thumbprint=None, **more):
        super().__init__(**more)
        self.subject, self.thumbprint = subject, thumbprint
        self.shown = []

    def token(self, got, form):
        self.shown.append(got.thumbprint)
        known = got.subject == self.subject if self.subject else got.thumbprint == self.thumbprint
        if got.get("authorization") or "client_secret" in form or not known:
            return answer(401, error="invalid_client")
        return super().token(got, form)

    def grant(self, user, bound=None):
        made = super().grant(user)
        token = f"a{self.number}"
        # cnf of the token (RFC 8705 §3.1)
        self.access[token] = (user, {"x5t#S256": self.shown[-1]})
        return made


class MutualApi(Api):
    """Compares the certificate of the connection with that of the token (RFC 8705 §3)."""

    def __call__(self, got):
        self.asked.append(got)
        self.shown.append((got.get("authorization"), got.thumbprint))
        scheme, _, token = (got.get("authorization") or "").partition(" ")
        user, cnf = self.grants.access.get(token, (None, None))
        if scheme != "Bearer" or not user or cnf["x5t#S256"] != got.thumbprint:
            return self.refusal
        return origins.wire.response(body=user.encode())


class World:
    def __init__(self, opening, secure_origin, certificates, grants, shows, trust, entry):
        self.grants, self.api = grants, MutualApi(grants)
        self.am = secure_origin(Shown, grants, clients=trust)
        self.resource = secure_origin(Shown, self.api, clients=trust, name=RESOURCE)
        grants.url, self.api.url = self.am.url, self.resource.url
        self.usher = opening(
            {"am": [{"url": f"{self.am.url}/am"}], "tokens": [{"resources": f"{self.resource.url}/*", **entry}]},
            client_certificates=[{"host": host, **files} for host, files in shows.items()])

    def get(self, path="/x", fields=()):
        with Connection(("127.0.0.1", self.usher.port)) as client:
            return client.exchange(request("GET", f"{self.resource.url}{path}", fields))

    def told(self, path="/x", count=1):
        self.usher.flow(path, count)
        return " | ".join(event["text"] for flow in self.usher.flows(path) for event in flow.events)


def files(certificate, key):
    return {"certificate": str(certificate), "key": "${file:%s}" % key}


def thumbprint(path):
    return unpadded(x509.load_pem_x509_certificate(path.read_bytes()).fingerprint(hashes.SHA256()))


@pytest.fixture
def made(tmp_path, certificates):
    """Certificates of a client: of an authority, or its own signer. Gives the two files, and what servers trust."""
    def make(name="app", is_own=False):
        key = ec.generate_private_key(ec.SECP256R1())
        if is_own:
            certificate = (
                builder(common_name(name), common_name(name), key, key)
                .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
                .sign(key, hashes.SHA256()))
        else:
            certificate = certificates.client_root.issue(name, key=key, client=True)
        paths = [tmp_path / f"{name}.pem", tmp_path / f"{name}.key"]
        for path, content in zip(paths, (pem(certificate), private(key))):
            # one that stands may be read meanwhile
            (tmp_path / "new").write_bytes(content)
            (tmp_path / "new").chmod(0o600)
            os.replace(tmp_path / "new", path)
        return *paths, paths[0] if is_own else certificates.client_trust

    return make


@pytest.fixture
def world(opening, secure_origin, certificates, made):
    def make(entry, is_own=False, resource=None, **more):
        certificate, key, trust = made(is_own=is_own)
        known = {"thumbprint": thumbprint(certificate)} if is_own else {"subject": "app"}
        own = files(certificate, key)
        play = World(
            opening, secure_origin, certificates, MutualGrants(**known, **more), {AM: own, RESOURCE: resource or own},
            trust, entry)
        play.certificate = certificate
        return play

    return make


def credentials(**more):
    return {"bearer": "client_credentials", "client": {"id": "shop", "auth": "tls"}, **more}


@pytest.mark.parametrize("is_own", [False, True], ids=["tls_client_auth", "self_signed_tls_client_auth"])
def test_a_client_shows_its_certificate_and_its_token_is_good_with_it(world, is_own):
    play = world(credentials(scope="read"), is_own)
    assert [play.get().body for _ in range(2)] == [b"shop"] * 2
    (got, form), = play.grants.calls
    assert form == {"grant_type": "client_credentials", "scope": "read", "client_id": "shop"}
    assert got.get("authorization") is None and got.thumbprint == thumbprint(play.certificate)
    assert play.api.shown == [("Bearer a1", thumbprint(play.certificate))] * 2


def test_what_renews_it_goes_with_the_certificate_too(world):
    play = world(credentials())
    assert play.get().body == b"shop"
    play.grants.access.clear()
    assert play.get().body == b"shop"
    assert [form["grant_type"] for _, form in play.grants.calls] == ["client_credentials", "refresh_token"]
    assert set(play.grants.shown) == {thumbprint(play.certificate)} and play.grants.calls[1][1]["client_id"] == "shop"


def test_a_token_by_the_session_is_bound_as_well(world):
    play = world({"bearer": "code", "client": {"id": "shop", "auth": "tls"}, "redirect_uri": REDIRECT})
    assert play.get(fields=[("Cookie", "iPlanetDirectoryPro=SESSION-A")]).body == b"ada"
    (got, form), = play.grants.calls
    assert form["grant_type"] == "authorization_code" and form["client_id"] == "shop" and got.subject == "app"
    assert play.api.shown == [("Bearer a1", thumbprint(play.certificate))]


def test_a_token_is_worth_nothing_with_another_certificate(world, made):
    """It is renewed once, not for each request."""
    other, key, _ = made("other")
    play = world(credentials(), resource=files(other, key))
    for _ in range(2):
        got = play.get()
        assert (got.status, got.body) == (401, b"no token")
    assert len(play.grants.calls) == 2 and {shown for _, shown in play.api.shown} == {thumbprint(other)}
    assert "was refused as well" in play.told(count=2)


def test_a_client_that_am_does_not_know(world):
    play = world(credentials())
    play.grants.subject = "another"
    assert play.get().status == 401 and play.api.shown[0][0] is None
    assert "AM refused the token request with 401 (invalid_client)" in play.told()


def test_a_certificate_that_is_replaced_has_its_token_replaced(world, made):
    play = world(credentials())
    assert play.get().body == b"shop"
    before = thumbprint(play.certificate)
    made()
    play.usher.process.send_signal(signal.SIGHUP)
    play.usher.wait_for(lambda: any("generation 2" in line for line in play.usher.errors), "the reload")
    assert play.get().body == b"shop"
    after = thumbprint(play.certificate)
    assert before != after and play.grants.shown == [before, after]
    assert [shown for _, shown in play.api.shown] == [before, after, after]


def test_a_token_that_the_client_had_itself_is_renewed_with_the_certificate(world):
    play = world({"bearer": "learned", "client_by": "header:X-Client"})
    form = f"grant_type=authorization_code&client_id=shop&redirect_uri={REDIRECT}&code={play.grants.code()}"
    with inside.opened(play.usher, play.am.authority) as client:
        assert client.exchange(inside.get(
            play.am.authority, f"{BASE}/access_token", [("Content-Type", "application/x-www-form-urlencoded"), ("X-Client", "ada")],
            "POST", form.encode())).status == 200
    play.grants.access.clear()
    assert play.get(fields=[("X-Client", "ada")]).body == b"ada"
    assert [form["grant_type"] for _, form in play.grants.calls] == ["authorization_code", "refresh_token"]
