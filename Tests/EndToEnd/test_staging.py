"""A whole configuration, as an operator of a staging environment has it: every word of it is accepted, and does what it says."""

import pathlib
import shutil

import pytest

from cryptography.hazmat.primitives.asymmetric import ec

import certificates as certificates_module
from programs import Usher

FILE = pathlib.Path(__file__).resolve().parent / "staging.yaml"
USERS = "/etc/usher/users.htpasswd"
CASES = """
config: staging.yaml
cases:
  - name: the start of a login
    request: curl -d {} 'https://am.staging.example.com/am/json/authenticate?authIndexType=service&authIndexValue=Login'
    expect: { applied: [force-auth, member], sent: { url: "*&ForceAuth=true", headers: { Accept-Language: en-GB } } }
  - name: another tree
    request: curl -d {} 'https://am.staging.example.com/am/json/authenticate?authIndexType=service&authIndexValue=Other'
    expect: { applied: [member], not_applied: force-auth }
  - name: a cookie for its domain
    request: curl https://www.staging.example.com/
    expect: { applied: [member], sent: { headers: { Cookie: [member=gold] } } }
  - name: the exchange of a code
    request: curl -d grant_type=authorization_code -d code=c https://am.staging.example.com/am/oauth2/access_token
    expect: { action: EXCHANGE_TOKEN, sent: { body: grant_type=authorization_code&code=c&scope=openid%20profile } }
  - name: a withdrawal
    request: { url: https://bank.staging.example.com/withdraw, json: { amount: 1, debug: true } }
    expect: { sent: { json: { /amount: "200" }, json_absent: /debug } }
  - name: who somebody is
    request: curl https://am.staging.example.com/am/oauth2/userinfo
    origin: { json: { sub: demo, address: here } }
    expect: { received: { json: { /sub: demo }, json_absent: /address, headers: { Cache-Control: no-store } } }
  - name: a step of a login
    request: { url: https://am.staging.example.com/am/json/authenticate, json: { authId: a.b.c, callbacks: [] } }
    expect: { took: 800ms }
  - name: too many requests
    request: curl https://api.staging.example.com/
    origin: [{ status: 429 }, { status: 429, headers: { Retry-After: 2 } }, { status: 200 }]
    expect: { took: 2250ms, received: { status: 200 } }
  - name: maintenance
    request: curl http://legacy.example.com/
    expect: { sent: none, received: { status: 503, headers: { Retry-After: "60" }, json: { /error: maintenance } } }
  - name: a login for a cookie
    request: curl http://db.example.com/orders
    origin: [{ json: { ok: true }, headers: { Set-Cookie: AuthSession=c; Max-Age=600 } }, { body: orders }]
    expect:
      sent: [{ url: "http://db.example.com/_session", body: name=db-user&password=db-pass }, { headers: { Cookie: AuthSession=c } }]
      received: { body: orders }
  - name: a transaction
    request: curl -b iPlanetDirectoryPro=S https://shop.staging.example.com/api/cart
    origin:
      - |
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: SSOADVICE realm="/",am_uri="https://am.staging.example.com/am/",advices="eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0LTQ3MTEiXX0="
      - { json: { authId: a.b.c, callbacks: [
            { type: NameCallback, output: [], input: [{ name: IDToken1, value: "" }] },
            { type: ChoiceCallback, output: [{ name: prompt, value: Please confirm }, { name: choices, value: ["No", "Yes"] }],
              input: [{ name: IDToken2, value: 0 }] }] } }
      - { json: { tokenId: S, successUrl: / } }
      - { body: cart }
    expect:
      sent:
        - { headers: { x-authenticate-response: header } }
        - { url: "*/authenticate?authIndexType=composite_advice&*" }
        - { json: { /callbacks/0/input/0/value: robot-user, /callbacks/1/input/0/value: 1 } }
        - { url: "*/api/cart?_txid=t-4711" }
      received: { body: cart }
"""


@pytest.fixture
def folder(tmp_path, certificates):
    """The file, and beside it all that it reads."""
    users = tmp_path / "users.htpasswd"
    users.write_text("alice:$2y$10$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y\n")
    secrets = tmp_path / "credentials"
    secrets.mkdir()
    for name in ("robot-user", "robot-pass", "db-user", "db-pass"):
        (secrets / name).write_text(name)
    shutil.copy(certificates.app_key, secrets / "app-key")
    (secrets / "ca-key").write_bytes(certificates_module.private(ec.generate_private_key(ec.SECP256R1())))
    shutil.copy(certificates.app_certificate, tmp_path / "app.pem")
    shutil.copy(certificates.trust, tmp_path / "staging-root.pem")
    for path in (users, *secrets.iterdir()):
        path.chmod(0o600)
    text = FILE.read_text()
    assert text.count(USERS) == 1
    (tmp_path / "staging.yaml").write_text(text.replace(USERS, str(users)))
    return tmp_path


def test_it_is_accepted(call, folder):
    done = call("check", folder / "staging.yaml", CREDENTIALS_DIRECTORY=str(folder / "credentials"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout + done.stderr


def test_it_does_what_it_says(call, folder):
    (folder / "cases.yaml").write_text(CASES)
    done = call("test", folder / "cases.yaml", CREDENTIALS_DIRECTORY=str(folder / "credentials"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{CASES.count('- name: ')} passed, 0 failed"


def test_it_runs(binary, folder):
    usher = Usher(
        binary, folder / "staging.yaml", environment={"CREDENTIALS_DIRECTORY": str(folder / "credentials")},
        state=folder / "state")
    assert usher.stop() == 0, usher.errors
    # made at the first start, with the key that was there
    assert usher.ca.exists() and not (folder / "state" / "ca.key").exists()
