"""Bearer tokens: learned from clients' own exchanges, asked for with the client's credentials, or had by the code flow."""

import base64
import urllib.parse

import pytest

from crowd import crowd
from granted import FORM, code, credentials, learned, world
from grants import BASE, REDIRECT, SECRET, Api, Grants, Proofs, answer
from wire import response


# MARK: the client's own credentials


@pytest.mark.parametrize("auth", ["basic", "post"])
def test_one_token_for_all(world, auth):
    play = world(Grants(secret=SECRET), entry=credentials(
        client={"id": "shop", "secret": SECRET, "auth": auth}, scope=["read", "write"]))
    assert [play.get(who).body for who in ("ada", "bob")] == [b"shop"] * 2
    assert play.api.shown == ["Bearer a1"] * 2
    (got, form), = play.grants.calls
    assert (form["grant_type"], form["scope"]) == ("client_credentials", "read write")
    assert ("client_secret" in form) == (auth == "post") and (got.get("authorization") is None) == (auth == "post")
    told = play.told(count=2)
    assert "EXCHANGE_TOKEN: call 1 for a token" in told and "token fetched; it lasts 3600 s" in told
    assert "a1" not in told.replace("call 1", "") and "s%26cret" not in told


def test_25_clients_with_50_requests_and_one_expiry_make_two_fetches(world):
    play = world(Grants(secret=SECRET, refreshes=False), entry=credentials(), workers=2)
    statuses = crowd(play.usher, f"{play.resource.url}/x", play.grants.expire)
    assert statuses == [200] * 1250 and len(play.grants.calls) == 2


@pytest.mark.parametrize("lifetime, calls", [(29, 1), (3600, 1), (0, 2), (None, 1)])
def test_a_token_is_replaced_before_its_end(world, lifetime, calls):
    """Not at once where it lasts no longer than refresh_before: half of its life has to be over."""
    play = world(Grants(lifetime=lifetime, secret=SECRET), entry=credentials())
    for _ in range(2):
        assert play.get().status == 200
    assert len(play.grants.calls) == calls


def test_a_client_that_is_refused_is_not_asked_for_again_for_a_while(world):
    play = world(Grants(secret="another"), entry=credentials())
    for _ in range(2):
        got = play.get()
        assert (got.status, got.body) == (401, b"no token")
    assert len(play.grants.calls) == 1 and play.api.shown == [None, None]
    assert "AM refused the token request with 401 (invalid_client)" in play.told(count=2)


@pytest.mark.parametrize("given, words", [
    (answer(503), "responded to the token request with 503"),
    (response(body=b"hello"), "not JSON"),
    (answer(access_token="a b"), "has no access_token that a header can carry"),
    (answer(access_token="x", token_type="mac"), "granted a token of another type"),
])
def test_what_is_no_token_is_tried_again_by_the_next(world, given, words):
    play = world(Grants(secret=SECRET), entry=credentials())
    play.grants.answers = [given]
    assert [play.get().status for _ in range(2)] == [401, 200]
    assert words in play.told(count=2)


def test_interceptors_have_a_part_in_the_call_and_may_not_lead_it_away(world, origin):
    play = world(Grants(secret=SECRET), entry=credentials(), interceptors=[
        {"name": "mark", "when": {"action": "EXCHANGE_TOKEN"}, "request": [{"set_header": {"X-Mark": "yes"}}]}])
    assert play.get().status == 200 and play.grants.calls[0][0].get("x-mark") == "yes"
    thief = origin(Grants(secret=SECRET))
    play = world(Grants(secret=SECRET), entry=credentials(), interceptors=[
        {"name": "away", "when": {"action": "EXCHANGE_TOKEN"},
         "request": [{"set_host": f"127.0.0.1:{thief.port}"}]}])
    assert play.get().status == 401 and not thief.requests and not play.grants.calls


# MARK: refusals


def test_a_token_that_is_refused_is_renewed_and_the_request_sent_once_more(world):
    play = world(entry=learned())
    assert play.exchange(grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT,
                         code=play.grants.code()).status == 200
    assert play.get().body == b"ada"
    for number in (2, 3):
        play.grants.expire()
        got = play.send("ada", "POST", f"{play.resource.url}/x", body=b"whole")
        assert (got.status, got.body) == (200, b"ada")
        assert play.api.asked[-1].body == b"whole" and play.api.shown[-1] == f"Bearer a{number}"
    # each refresh token is good for once, and the newest is kept
    assert [form["refresh_token"] for form in play.grants.forms("refresh_token")] == ["r1", "r2"]
    assert play.grants.forms("refresh_token")[0]["client_id"] == "shop"
    told = play.told(count=3)
    assert "the resource refuses the token (401)" in told and "token refreshed" in told and "r1" not in told


def test_a_refresh_token_that_does_not_rotate_goes_on(world):
    play = world(Grants(rotates=False), entry=learned())
    play.exchange(grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT, code=play.grants.code())
    play.grants.refreshes = False
    for _ in range(2):
        play.grants.expire()
        assert play.get().status == 200
    assert [form["refresh_token"] for form in play.grants.forms("refresh_token")] == ["r1", "r1"]


def test_a_refresh_token_that_is_refused_gives_the_original_answer_or_a_new_token(world):
    play = world(entry=learned())
    play.exchange(grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT, code=play.grants.code())
    play.grants.expire()
    play.grants.refresh.clear()
    got = play.get()
    assert (got.status, got.body) == (401, b"no token") and len(play.api.asked) == 1
    assert "invalid_grant" in play.told()
    play = world(Grants(secret=SECRET), entry=credentials())
    assert play.get().status == 200
    play.grants.expire()
    play.grants.refresh.clear()
    assert play.get().status == 200
    assert [form["grant_type"] for _, form in play.grants.calls] == [
        "client_credentials", "refresh_token", "client_credentials"]


def test_what_refuses_every_token_is_asked_twice_and_no_more(world):
    play = world(Grants(secret=SECRET), entry=credentials())
    play.grants.grant = lambda user, bound=None: answer(access_token="never", expires_in=60)
    assert play.get().status == 401 and len(play.api.asked) == 2 and len(play.grants.calls) == 2
    assert play.get().status == 401 and len(play.grants.calls) == 2
    assert "was refused as well" in play.told(count=2)


@pytest.mark.parametrize("refusal, renews", [
    (response(401, body=b"no"), True),
    (response(401, fields=[("WWW-Authenticate", 'Bearer error="insufficient_scope"')]), False),
    (response(401, fields=[("WWW-Authenticate", 'SSOADVICE realm="/",advices="e30="')]), False),
    (response(403), False),
])
def test_which_answers_refuse_a_token(world, refusal, renews):
    play = world(Grants(secret=SECRET), entry=credentials())
    assert play.get().status == 200
    play.grants.expire()
    play.api.refusal = refusal
    assert play.get().status == (200 if renews else refusal and int(refusal.split()[1]))
    assert len(play.grants.calls) == (2 if renews else 1)


def test_other_statuses_count_where_they_are_named(world):
    play = world(Grants(secret=SECRET), entry=credentials(refresh_on=[403]))
    assert play.get().status == 200
    play.grants.expire()
    play.api.refusal = response(403)
    assert play.get().status == 200 and len(play.grants.calls) == 2


@pytest.mark.parametrize("refusal, body", [
    (response(403), b""),
    (response(401), b"x" * 5_000),
    (response(401, body=b"n" * 100_000), b""),
], ids=["named status", "body that is not kept", "large answer"])
def test_a_path_that_refuses_every_token_has_two(world, refusal, body):
    play = world(Grants(secret=SECRET), entry=credentials(refresh_on=[401, 403]), limits={"buffered_body": "1KiB"})
    play.api.refusal = refusal
    play.api.deaf = "/never"
    for _ in range(5):
        assert play.send("ada", "POST", f"{play.resource.url}/never", body=body).status == int(refusal.split()[1])
    assert len(play.grants.calls) == 2
    # others go on with it, and have it renewed
    assert play.get().status == 200
    play.grants.expire()
    play.get()
    assert play.get().status == 200 and len(play.grants.calls) == 3


def test_a_path_that_takes_a_token_again_has_the_next_renewed(world):
    play = world(Grants(secret=SECRET), entry=credentials(), limits={"buffered_body": "1KiB"})

    def post():
        return play.send("ada", "POST", f"{play.resource.url}/x", body=b"x" * 5_000).status

    assert post() == 200
    for _ in range(3):
        play.grants.expire()
        assert [post(), post()] == [401, 200]
    assert len(play.grants.calls) == 4


# MARK: who gets what


def test_clients_have_their_own_tokens(world):
    play = world(entry=learned())
    assert play.get("ada").status == 401 and "no token exchange of this client was seen" in play.told()
    for who in ("ada", "bob"):
        play.exchange(who, grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT,
                      code=play.grants.code(who))
    assert [play.get(who).body for who in ("ada", "bob", "ada")] == [b"ada", b"bob", b"ada"]
    assert play.get("eve").status == 401 and play.api.shown[-1] is None
    # a refresh that a client makes itself takes the place of what was there
    play.exchange("bob", grant_type="refresh_token", client_id="shop", refresh_token="r2")
    assert play.get("bob").body == b"bob" and play.api.shown[-1] == "Bearer a3"
    assert play.get("ada").body == b"ada" and play.api.shown[-1] == "Bearer a1"


def test_a_refresh_token_that_was_spent_for_the_client_is_replaced(world):
    play = world(entry=learned())
    play.exchange(grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT, code=play.grants.code())
    for _ in range(2):
        play.grants.expire()
        assert play.get().status == 200
    # the client knows of r1 alone
    got = play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1")
    assert got.status == 200 and b'"r4"' in got.body
    assert [form["refresh_token"] for form in play.grants.forms("refresh_token")] == ["r1", "r2", "r3"]
    # nobody else's
    assert play.exchange("eve", grant_type="refresh_token", client_id="shop", refresh_token="r1").status == 400
    assert play.get().body == b"ada" and play.api.shown[-1] == "Bearer a4"


def test_a_refresh_shows_what_the_client_showed(world):
    play = world(Grants(secret=SECRET), entry=learned())
    shown = base64.b64encode(f"shop:{urllib.parse.quote(SECRET)}".encode()).decode()
    play.exchange(fields=[("Authorization", f"Basic {shown}")], grant_type="authorization_code",
                  redirect_uri=REDIRECT, code=play.grants.code())
    play.grants.expire()
    assert play.get().status == 200 and "client_secret" not in play.grants.forms("refresh_token")[0]


def test_tokens_of_other_clients_at_am_are_not_learned_where_one_is_named(world):
    play = world(Grants(clients=("shop", "other")), entry=learned(client={"id": "shop"}))
    play.exchange(grant_type="authorization_code", client_id="other", redirect_uri=REDIRECT, code=play.grants.code())
    assert play.get().status == 401
    play.exchange(grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT, code=play.grants.code())
    assert play.get().status == 200


@pytest.mark.parametrize("method, path, body", [
    ("POST", f"{BASE}/token/revoke", b"client_id=shop&token=r1"),
    ("POST", f"{BASE}/token/revoke", b"client_id=shop&token=a1"),
    ("GET", f"{BASE}/connect/endSession?id_token_hint=x", None),
    ("POST", "/am/json/realms/root/sessions/?_action=logout", b"{}"),
])
def test_what_a_client_gives_up_goes_along_no_more(world, method, path, body):
    play = world(entry=learned())
    for who in ("ada", "bob"):
        play.exchange(who, grant_type="authorization_code", client_id="shop", redirect_uri=REDIRECT,
                      code=play.grants.code(who))
    play.send("ada", method, f"{play.am.url}{path}", fields=FORM if body else (), **({"body": body} if body else {}))
    play.get("ada")
    assert play.api.shown[-1] is None
    assert play.get("bob").body == b"bob"


def test_who_shows_something_itself_means_it(world):
    play = world(Grants(secret=SECRET), entry=credentials())
    assert play.get(fields=[("Authorization", "Basic eDp5")]).status == 401
    assert play.api.shown == ["Basic eDp5"] and not play.grants.calls


def test_a_token_goes_to_its_resource_alone(world, origin):
    grants = Grants(secret=SECRET)
    other = origin(Api(grants))
    away = {"name": "away", "when": {"path": "/away"}, "request": [{"set_host": f"127.0.0.1:{other.port}"}]}
    host = {"name": "host", "when": {"path": "/host"}, "request": [{"set_header": {"Host": "other.test"}}]}
    play = world(grants, entry=credentials(), interceptors=[away, host])
    assert play.get(path="/away").status == 401 and other.requests[0].get("authorization") is None
    assert "the request goes elsewhere" in play.told("/away")
    assert play.get(path="/host").status == 401 and play.api.shown == [None]
    assert play.send("ada", "GET", f"{other.url}/x").status == 401 and other.requests[-1].get("authorization") is None
    assert play.send("ada", "OPTIONS", f"{play.resource.url}/x").status == 401 and play.api.shown[-1] is None
    assert not grants.calls


def test_calls_by_which_tokens_are_had_carry_none(start, origin, through):
    grants = Grants(secret=SECRET)
    grants.url = origin(grants).url
    usher = start({"workers": 1, "am": [{"url": f"{grants.url}/am"}],
                   "tokens": [{"resources": f"{grants.url}/am/*", **credentials()}]})
    client = through(usher)
    client.post(f"{grants.url}{BASE}/access_token", data={"grant_type": "password", "client_id": "shop"})
    client.get(f"{grants.url}{BASE}/connect/endSession")
    assert [got.get("authorization") for got in grants.requests] == [None, None]
    client.get(f"{grants.url}{BASE}/userinfo")
    assert grants.requests[-1].get("authorization") == "Bearer a1"


# MARK: the code flow


def test_a_token_by_the_session(world):
    play = world(entry=code(scope="openid"))
    for who, session in [("ada", "SESSION-A"), ("bob", "SESSION-B")]:
        for _ in range(2):
            got = play.get(who, fields=[("Cookie", f"iPlanetDirectoryPro={session}; theme=dark")])
            assert got.body == who.encode()
    assert len(play.grants.forms("authorization_code")) == 2
    asked = [got for got in play.grants.requests if "/authorize" in got.target]
    assert [got.get("cookie") for got in asked] == ["iPlanetDirectoryPro=SESSION-A", "iPlanetDirectoryPro=SESSION-B"]
    told = play.told(count=4)
    assert "AUTHORIZE: call 1" in told and "SESSION-A" not in told and "c-ada" not in told
    # the same client with another's session has the token of that
    assert play.get("ada", fields=[("Cookie", "iPlanetDirectoryPro=SESSION-B")]).body == b"bob"
    assert play.get("ada").status == 401 and play.api.shown[-1] is None


@pytest.mark.parametrize("consent", ["allow", "deny"])
def test_consent_is_given_where_the_configuration_says_so(world, consent):
    play = world(entry=code(consent=consent))
    play.grants.asks_consent = True
    got = play.get(fields=[("Cookie", "iPlanetDirectoryPro=SESSION-A")])
    assert got.status == (200 if consent == "allow" else 401)
    assert play.grants.consents == (["ada"] if consent == "allow" else [])
    if consent == "deny":
        assert "asks the user for consent" in play.told()


def test_a_session_that_is_over(world):
    play = world(entry=code())
    for _ in range(2):
        assert play.get(fields=[("Cookie", "iPlanetDirectoryPro=OLD")]).status == 401
    assert len(play.grants.requests) == 1 and "redirects elsewhere than to redirect_uri" in play.told(count=2)


# MARK: proofs


@pytest.mark.parametrize("nonces", [False, True])
def test_tokens_that_are_bound_to_a_key(world, nonces):
    grants = Grants(secret=SECRET)
    grants.proofs = Proofs()
    play = world(grants, entry=credentials(dpop=True))
    if nonces:
        grants.nonce, play.api.nonce = "am-1", "api-1"
    for _ in range(2):
        assert play.get(path="/x?a=b").body == b"shop"
    assert play.api.shown[-1].startswith("DPoP ")
    # each side told its nonce once
    assert len(play.api.asked) == (3 if nonces else 2) and len(grants.calls) == (2 if nonces else 1)
    grants.expire()
    assert play.get().body == b"shop"
    keys = {bound for _, bound in grants.access.values()}
    assert len(keys) == 1 and len(grants.forms("refresh_token")) == 1


def test_each_host_has_a_nonce_of_its_own(world):
    grants = Grants(secret=SECRET)
    grants.proofs = Proofs()
    entry = credentials(dpop=True)
    play = world(grants, entry=entry)
    second, place = play.serve()
    usher = play.start({"workers": 1, "am": [{"url": f"{play.am.url}/am"}], "tokens": [
        {"resources": [f"{play.resource.url}/*", f"{place.url}/*"], **entry}]})
    play.usher = usher
    play.api.nonce, second.nonce = "first", "second"
    for _ in range(4):
        assert play.get().status == 200 and play.get(place=place).status == 200
    assert len(play.api.asked) == len(second.asked) == 5 and len(grants.calls) == 1


def test_a_token_without_a_key_is_none_where_one_was_to_be(world):
    play = world(Grants(secret=SECRET), entry=credentials(dpop=True))
    assert play.get().status == 401 and "granted a bearer token where a dpop token was to be" in play.told()


# MARK: without a network


def test_explain_tells_of_it(world, call, write_config):
    play = world(Grants(secret=SECRET), entry=credentials())
    given = write_config({
        "am": [{"url": "https://am.example.com/am"}], "tls": {"intercept": ["*.example.com"]},
        "tokens": [{"resources": "https://api.example.com/*", **credentials()}]}, "other.yaml")
    asked = "GET https://api.example.com/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
    done = call("explain", "--config", given, "--request", "-", given=asked)
    assert done.returncode == 0 and "a bearer token goes along (client_credentials)" in done.stdout, done.stdout + done.stderr
    listed = call("check", "--explain", given)
    assert "https://api.example.com/*" in listed.stdout and "of shop from https://am.example.com/am" in listed.stdout
    assert SECRET not in listed.stdout + done.stdout
