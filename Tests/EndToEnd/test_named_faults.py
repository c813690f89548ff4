"""Each named fault, brought about between the sandbox and an app: what the app gets, and that its next call goes well."""

import base64
import email.utils
import json
import subprocess
import time
import urllib.parse

import pytest
import requests

import certificates as certificates_module
import inside
import shop
import wire
from test_sandbox_tokens import BACK, VERIFIER, encoded, hashlib

JSON = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}


class App:
    """An app that does all through the proxy."""

    def __init__(self, client, sandbox):
        self.http, self.sandbox = client, sandbox
        self.authenticate = f"{sandbox.am}/json/realms/root/authenticate"
        self.oauth = f"{sandbox.am}/oauth2/realms/root"

    def start(self, tree="Login", **more):
        params = {"authIndexType": "service", "authIndexValue": tree}
        return self.http.post(self.authenticate, params=params, headers={**JSON, **more}, timeout=15)

    def go_on(self, step, **more):
        for callback in step["callbacks"]:
            if callback["type"] in ("NameCallback", "PasswordCallback"):
                callback["input"][0]["value"] = "demo" if callback["type"] == "NameCallback" else "changeit"
        return self.http.post(self.authenticate, json=step, headers={**JSON, **more}, timeout=15)

    def log_in(self, tree="Login", **more):
        return self.go_on(self.start(tree).json(), **more)

    def session(self):
        return {"Cookie": f"{shop.COOKIE}={shop.login(self.sandbox)}"}

    def authorize(self, headers, **more):
        return self.http.get(f"{self.oauth}/authorize", timeout=15, allow_redirects=False, headers=headers, params={
            "client_id": "app", "response_type": "code", "scope": "openid", "redirect_uri": BACK, "state": "s",
            "code_challenge": encoded(hashlib.sha256(VERIFIER.encode()).digest()), "code_challenge_method": "S256", **more})

    def redeem(self):
        location = self.authorize(self.session()).headers["Location"]
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["code"][0]
        return self.token(
            grant_type="authorization_code", code=code, redirect_uri=BACK, code_verifier=VERIFIER)

    def token(self, **form):
        return self.http.post(f"{self.oauth}/access_token", data={"client_id": "app", **form}, timeout=15)

    def refresh(self):
        return self.token(grant_type="refresh_token", refresh_token=self.redeem().json()["refresh_token"])

    def user_info(self):
        token = self.redeem().json()["access_token"]
        return self.http.get(f"{self.oauth}/userinfo", headers={"Authorization": f"Bearer {token}"}, timeout=15)

    def order(self, headers=None, form="header", url="/order"):
        headers = {**(headers or self.session()), **({"x-authenticate-response": "header"} if form == "header" else {})}
        return self.http.get(f"{self.sandbox.shop}{url}", headers=headers, timeout=15, allow_redirects=False)

    def approve(self, advice, headers):
        """Steps up as an app does; AM's last response."""
        values = "".join(
            f'<AttributeValuePair><Attribute name="{name}"/>{"".join(f"<Value>{value}</Value>" for value in values)}</AttributeValuePair>'
            for name, values in advice.items())
        answer = self.http.post(self.authenticate, headers={**JSON, **headers}, timeout=15, params={
            "authIndexType": "composite_advice", "authIndexValue": f"<Advices>{values}</Advices>"})
        while answer.status_code == 200 and "authId" in answer.json():
            answer = self.go_on(answer.json(), **headers)
        return answer

    def plain(self):
        return self.http.get(f"{self.sandbox.plain}/bytes/300", timeout=15)


@pytest.fixture
def begin(start, sandbox, through):
    def run(*entries, **config):
        usher = start({
            "am": [{"url": sandbox.am, "realms": ["/", "/alpha"]}], "workers": 1,
            "interceptors": [{"name": f"f{index}", **entry} for index, entry in enumerate(entries)], **config})
        return App(through(usher), sandbox)

    return run


def code(answer, status, error_code):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
    told = answer.json()
    assert told["code"] == status and told.get("detail", {}).get("errorCode") == error_code


def grant(answer, words="The provided access grant is invalid, expired, or revoked."):
    assert answer.status_code == 400
    assert answer.json() == {"error": "invalid_grant", "error_description": words}
    assert answer.headers["Cache-Control"] == "no-store"


def busy(answer, status):
    assert (answer.status_code, answer.headers["Retry-After"]) == (status, "2")


def fails(call):
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        call()


def proxy_error(answer, status, token):
    assert answer.status_code == status
    assert f"usher; error={token}" in answer.headers["Proxy-Status"], answer.headers
    # in the words of the real error
    return answer.text


def slow(call, least):
    begun = time.monotonic()
    assert call().status_code == 200
    assert time.monotonic() - begun >= least


def session_expired(app):
    answer = app.authorize(app.session())
    assert answer.status_code == 302 and answer.headers["Location"].startswith(app.sandbox.am)
    info = app.http.post(
        f"{app.sandbox.am}/json/realms/root/sessions", params={"_action": "getSessionInfo"},
        headers={**JSON, **app.session()}, timeout=15)
    assert info.status_code == 401


def gateway_session_expired(app):
    answer = app.order()
    assert answer.status_code == 302 and "authIndexType" not in answer.headers["Location"]


def transaction_expired(app):
    session = app.session()
    advice = shop.advice(app.order(session))
    code(app.approve(advice, session), 401, "128")


def transaction_used(app):
    session = app.session()
    first = shop.advice(app.order(session))
    assert app.approve(first, session).status_code == 200
    (number,) = first["TransactionConditionAdvice"]
    again = app.order(session, url=f"/order?_txid={number}")
    assert again.status_code == 401 and shop.advice(again)["TransactionConditionAdvice"] != [number]


def unknown_tree(app):
    session = app.session()
    advice = shop.advice(app.order(session))
    assert list(advice) == ["AuthenticateToServiceConditionAdvice"]
    code(app.approve(advice, session), 400, "105")
    redirect = app.order(session, form="redirect")
    assert redirect.status_code == 307 and "NoSuchTree" in redirect.headers["Location"]


def empty_advice(app):
    assert shop.advice(app.order()) == {}
    assert "Advices%3E%3C%2FAdvices" in app.order(form="redirect").headers["Location"]


def truncated_advice(app):
    with pytest.raises(ValueError):
        shop.advice(app.order())


def suspended(app):
    (callback,) = app.start().json()["callbacks"]
    assert callback["type"] == "SuspendedTextOutputCallback" and "mail" in callback["output"][0]["value"]


def endless(app):
    step = app.start("Poll").json()
    for _ in range(5):
        answer = app.go_on(step)
        assert answer.status_code == 200 and answer.json()["authId"] == step["authId"]
        step = answer.json()
        assert [callback["type"] for callback in step["callbacks"]] == ["PollingWaitCallback"]


def poll(app):
    """The app's first poll of a push."""
    return app.go_on(app.log_in("Poll").json())


def unknown_callback(app):
    assert [callback["type"] for callback in app.start().json()["callbacks"]] == [
        "NameCallback", "PasswordCallback", "UnknownCallback"]


def skewed(app):
    answer = app.redeem()
    date = email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp()
    assert 3500 < time.time() - date < 3700 and answer.json()["expires_in"] == 1


def truncated(app):
    answer = app.start()
    assert answer.status_code == 200 and int(answer.headers["Content-Length"]) == len(answer.content)
    with pytest.raises(ValueError):
        answer.json()
    assert answer.text.startswith('{"')


def invalid(app):
    answer = app.start()
    assert answer.status_code == 200 and answer.text.endswith(",}")
    with pytest.raises(ValueError):
        answer.json()


def page(app):
    answer = app.start()
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")


def token_expired(app):
    answer = app.user_info()
    assert answer.status_code == 401 and answer.headers["WWW-Authenticate"].startswith("Bearer ")


def cut_short(app):
    answer = app.plain()
    assert (answer.headers["Content-Length"], len(answer.content)) == ("300", 16)


SCENES = {
    "am-authid-expired": lambda app: code(app.log_in(), 401, "110"),
    "am-authid-invalid": lambda app: code(app.log_in(), 400, None),
    "am-wrong-realm": lambda app: code(app.start(), 400, "108"),
    "am-tree-unknown": lambda app: code(app.start(), 400, "105"),
    "am-login-failed": lambda app: code(app.log_in(), 401, "107"),
    "am-account-locked": lambda app: code(app.log_in(), 401, "112"),
    "am-session-quota": lambda app: code(app.log_in(), 401, "115"),
    "am-session-expired": session_expired,
    "am-transaction-expired": transaction_expired,
    "am-journey-suspended": suspended,
    "am-polling-endless": endless,
    "am-push-denied": lambda app: code(poll(app), 401, "107"),
    "am-push-expired": lambda app: code(poll(app), 401, "110"),
    "am-callback-unknown": unknown_callback,
    "am-clock-skew": skewed,
    # below, for the sandbox publishes no keys
    "am-jwks-rotated": lambda app: None,
    "am-json-truncated": truncated,
    "am-json-invalid": invalid,
    "am-page-instead": page,
    "am-too-many-requests": lambda app: busy(app.start(), 429),
    "am-unavailable": lambda app: busy(app.start(), 503),
    "oauth-invalid-grant": lambda app: grant(app.redeem()),
    "oauth-code-used": lambda app: grant(app.redeem()),
    "oauth-code-expired": lambda app: grant(app.redeem(), "Authorization code expired."),
    "oauth-pkce-mismatch": lambda app: grant(app.redeem()),
    "oauth-refresh-reused": lambda app: grant(app.refresh()),
    "oauth-token-expired": token_expired,
    "gateway-session-expired": gateway_session_expired,
    "gateway-transaction-used": transaction_used,
    "gateway-advice-unknown-tree": unknown_tree,
    "gateway-advice-empty": empty_advice,
    "gateway-advice-truncated": truncated_advice,
    "gateway-too-many-requests": lambda app: busy(app.plain(), 429),
    "gateway-unavailable": lambda app: busy(app.plain(), 503),
    "network-slow-first-byte": lambda app: slow(app.plain, 3),
    "network-slow-body": lambda app: slow(app.plain, 1.5),
    "network-reset": lambda app: fails(app.plain),
    "network-closed": lambda app: fails(app.plain),
    "network-reset-in-body": lambda app: fails(app.plain),
    "network-body-truncated": cut_short,
    "network-dns-failed": lambda app: proxy_error(app.plain(), 502, "dns_error"),
    "network-connection-refused": lambda app: proxy_error(app.plain(), 502, "connection_refused"),
    "network-connection-timeout": lambda app: proxy_error(app.plain(), 504, "connection_timeout"),
    # below, for only https has it
    "network-tls-refused": lambda app: None,
}


def test_every_fault_has_a_scene(binary):
    listed = json.loads(subprocess.check_output([binary, "faults", "--json"], text=True))
    assert {fault["name"] for fault in listed} == set(SCENES)
    for fault in listed:
        assert set(fault) == {"name", "concerns", "sees", "remedy"} and all(fault.values())
    text = subprocess.check_output([binary, "faults"], text=True)
    assert text.startswith("FAULT ") and all(name in text for name in SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_what_the_app_gets(begin, name):
    SCENES[name](begin({"fault": name}))


@pytest.mark.parametrize("name", ["am-account-locked", "am-json-invalid", "am-unavailable", "network-dns-failed"])
def test_after_the_first_all_goes_well(begin, name):
    app = begin({"fault": name, "first": 1})
    assert app.start().status_code in (200, 502, 503)
    app.log_in()
    # without the session, an app is asked again
    app.http.cookies.clear()
    assert "tokenId" in app.log_in().json()


def test_a_condition_narrows_a_fault(begin):
    app = begin({"fault": "am-unavailable", "when": {"action": "START_AUTHENTICATE", "tree": "StepUp"}})
    assert "tokenId" in app.log_in().json()
    busy(app.start("StepUp"), 503)


def test_a_page_of_another_site_may_read_a_refusal(begin):
    answer = begin({"fault": "am-wrong-realm"}).start(Origin="https://app.example")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"


def test_rotated_keys(begin, origin):
    keys = {"keys": [{"kty": "EC", "kid": "k1"}, {"kty": "EC", "kid": "k2"}]}
    server = origin(lambda got: wire.response(
        body=json.dumps(keys).encode(), fields=[("Content-Type", "application/json")]))
    app = begin({"fault": "am-jwks-rotated"})
    answer = app.http.get(f"{server.url}/am/oauth2/connect/jwk_uri", timeout=15).json()
    assert [key["kid"] for key in answer["keys"]] == ["rotated-k1", "rotated-k2"]
    assert app.http.get(f"{server.url}/other", timeout=15).json() == keys


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_refused_tls_is_as_a_real_failure(opening, secure_origin, certificates, version):
    """The client of an opened tunnel gets the same error as from an origin that ends the handshake."""
    usher = opening({"interceptors": [{"name": "f", "fault": "network-tls-refused"}]})
    server = secure_origin(only=version)
    with inside.opened(usher, server.authority) as client:
        answer = client.exchange(inside.get(server.authority))
    assert answer.status == 502 and "error=tls_protocol_error" in answer.get("proxy-status")
    assert "closed the connection in the middle of the TLS handshake" in answer.body.decode()
    assert not server.requests


def test_a_name_that_does_not_exist_is_as_a_real_one(begin):
    app = begin({"fault": "network-dns-failed", "when": {"host": "plain.localhost"}})
    real = app.http.get("http://nosuch.invalid/", timeout=15)
    pretended = app.plain()
    assert pretended.status_code == real.status_code == 502
    assert pretended.headers["Proxy-Status"].replace("plain.localhost", "nosuch.invalid") == real.headers["Proxy-Status"]


def test_interceptors_of_errors_see_a_pretended_failure(begin):
    app = begin(
        {"fault": "network-connection-refused", "first": 1},
        {"when": {"error": "refused"}, "error": [{"respond": {"status": 503, "text": "not today"}}]})
    assert (app.plain().text, app.plain().status_code) == ("not today", 200)


def test_usher_is_spared_unless_named(start, sandbox, through):
    """A fault of AM does not reach Usher's own step-up, unless the condition says so."""
    def order(**when):
        usher = start({
            **shop.config(sandbox), "workers": 1,
            "interceptors": [{"name": "locked", "fault": "am-account-locked", **({"when": when} if when else {})}]})
        headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
        return through(usher).get(f"{sandbox.shop}/order", headers=headers, timeout=15, allow_redirects=False)

    assert order().status_code == 200
    assert order(by="usher").status_code in (307, 401)


# variations


@pytest.mark.parametrize("seed", range(24))
def test_a_careful_app_reads_every_variation(begin, seed):
    app = begin({"vary": seed})
    session = {"Cookie": f"{shop.COOKIE}={app.log_in().json()['tokenId']}"}
    answer = app.order(session)
    assert answer.status_code == 401
    challenges = requests.utils.parse_dict_header  # quoted strings, white space, order
    line = answer.headers["WWW-Authenticate"]
    begin_at = line.lower().index("ssoadvice ")
    told = challenges(line[begin_at + len("ssoadvice "):].replace(" = ", "="))
    text = told["advices"].rstrip("=")
    advice = json.loads(base64.urlsafe_b64decode(
        text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4)))
    number, *others = advice["TransactionConditionAdvice"]
    assert set(others) <= {number}
    assert "tokenId" in app.approve(advice, session).json()
    assert app.order(session, url=f"/order?_txid={number}").status_code == 200
    tokens = app.redeem().json()
    assert {"access_token", "refresh_token", "expires_in"} <= set(tokens)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("form", ["header", "redirect"])
def test_usher_reads_every_variation(start, sandbox, through, seed, form):
    """Before a step-up, the same advice reaches Usher itself."""
    usher = start({
        **shop.config(sandbox, offer_header=form == "header"), "workers": 1,
        "interceptors": [{"name": "vary", "vary": seed, "before": "step_up", "when": {"by": ["app", "usher"]}}]})
    headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
    answer = through(usher).get(f"{sandbox.shop}/order", headers=headers, timeout=15, allow_redirects=False)
    assert answer.status_code == 200, [event["text"] for event in usher.flow("/shop/order").events]


def test_a_variation_is_the_same_each_time(begin):
    def raw(seed):
        app = begin({"vary": seed})
        answer = app.start("Nothing")
        return answer.status_code, answer.raw.headers.items(), answer.content

    seeds = range(6)
    first, second = [raw(seed) for seed in seeds], [raw(seed) for seed in seeds]
    assert [body for _, _, body in first] == [body for _, _, body in second]
    assert len({body for _, _, body in first}) > 2
    assert any("chunked" in str(fields).lower() for _, fields, _ in first)
    assert any("content-type" in dict(fields) for _, fields, _ in first)


# bad input


@pytest.mark.parametrize("entry, words", [
    ({"fault": "am-session-expire"}, 'did you mean "am-session-expired"'),
    ({"fault": "am-unavailable", "request": [{"delay": "1s"}]}, "has no edits"),
    ({"fault": "am-unavailable", "vary": 7}, "has one built-in"),
    ({"fault": "am-unavailable", "when": {"status": 200}}, "am-unavailable runs before the response"),
    ({"fault": "am-authid-expired", "when": {"action": "LOGOUT"}}, "this never matches"),
    ({"vary": "seven"}, "vary"),
])
def test_bad_input(call, write_config, entry, words):
    path = write_config({"am": [{"url": "https://am.example.com/am"}], "interceptors": [{"name": "f", **entry}]})
    said = call("check", path)
    assert words in said.stdout + said.stderr


def test_the_list_of_interceptors_names_the_fault(call, write_config):
    path = write_config({
        "am": [{"url": "https://am.example.com/am"}],
        "interceptors": [{"name": "locked", "fault": "am-account-locked", "first": 2}, {"name": "odd", "vary": 3}]})
    listed = json.loads(call("check", path, "--explain", "--json").stdout)
    text = json.dumps(listed)
    assert "am-account-locked: 401, errorCode 112" in text and "action AUTHENTICATE (first: 2)" in text
    assert "varies AM's responses: " in text
