"""The step-up's own calls: where they may go, by which connections, and how the app speaks through them."""

import base64
import json
import threading
import time

import pytest

import shop
import wire
from test_authorization_failures import JSON, ask, check_note, check_original, fake_shop, gateway, succeed
from wire import request, response


class Closing(wire.Origin):
    """Answers one request on each connection and closes without a word before."""

    def __init__(self, answer):
        self.requests = []
        self.answer = answer
        super().__init__(self._once)

    def _once(self, connection):
        message = connection.read_request()
        self.requests.append(message)
        connection.send(self.answer(message))


def edited(start, gate, am, edit, by=None):
    when = {"action": ["START_AUTHENTICATE", "AUTHENTICATE"], **({"by": by} if by else {})}
    return start({**fake_shop(gate, am), "interceptors": [{"name": "move", "when": when, "request": [edit]}]})


def check_kept(usher, gate, pattern, *others):
    check_original(ask(usher, f"{gate.url}/moved"))
    check_note(usher, "/moved", pattern)
    for other in others:
        assert not other.accepted


@pytest.mark.parametrize("place", ["http://am.localhost:{}", "http://127.0.0.1:{}", "http://am.localhost.:{}"])
def test_the_session_leaves_by_no_other_port_or_name(start, origin, place):
    am, other = origin(succeed), origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"set_url": place.format(other.port) + "/am/json/authenticate"})
    check_kept(usher, gate, "not the configured AM", other, am)


def test_the_session_leaves_by_no_other_scheme(start, origin):
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"set_url": f"https://am.localhost:{am.port}/am/json/authenticate"})
    check_kept(usher, gate, "https://am.localhost:.*not the configured AM", am)


@pytest.mark.parametrize("path", [
    "/", "/other/json/authenticate", "/amx/json", "/am/../other", "/am/%2e%2e/other", "/am/..%2fother", "/am/..;/other",
    "/am/%252e%252e/other", "/am/x%5c..%5c..%5cother", "/AM/json/authenticate"])
def test_the_session_stays_under_the_context_of_am(start, origin, path):
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"set_url": f"http://am.localhost:{am.port}{path}"})
    check_kept(usher, gate, "a path that is not under", am)


def test_the_host_field_names_am_too(start, origin):
    """Behind a front end that serves many hosts it decides who gets the request."""
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"set_header": {"Host": "evil.localhost"}})
    check_kept(usher, gate, "names evil.localhost in Host", am)


def test_edits_that_stay_at_am_are_made(start, origin):
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {
        "set_url": f"http://AM.localhost:{am.port}/am/json/realms/root/authenticate?authIndexType=service"})
    assert ask(usher, f"{gate.url}/kept").status in (200, 401)
    assert am.requests


def test_where_am_redirects_to_nothing_goes(start, origin):
    evil = origin(succeed)
    am = origin(lambda _: response(307, [("Location", f"http://evil.localhost:{evil.port}/am/json/authenticate")]))
    gate = gateway(origin, "http://am.localhost/am/")
    usher = start(fake_shop(gate, am))
    check_original(ask(usher, f"{gate.url}/redirected"))
    check_note(usher, "/redirected", "AM responded with 307")
    assert not evil.accepted


def test_an_answer_in_place_of_am_sends_nothing(start, origin):
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"respond": {"status": 401, "json": {"code": 401}}}, by="usher")
    check_original(ask(usher, f"{gate.url}/instead"))
    assert not am.accepted


@pytest.mark.parametrize("edit", [
    {"respond": {"status": 503}}, {"abort": "no"}, {"fault": "reset"}, {"delay": "1h"}, {"timeout": "1ms"},
    {"limit": {"rate": "1/h"}}])
def test_what_breaks_apps_leaves_the_calls_to_am_alone(start, origin, edit):
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, edit)
    for number in range(2):
        assert ask(usher, f"{gate.url}/spared/{number}").status == 200, usher.flow("/spared").events


def test_am_that_is_slow_to_usher_alone(start, origin):
    """A time-out of the configuration's own is shorter than what the calls may take."""
    stuck = threading.Event()
    am = origin(lambda seen: stuck.wait(30) and succeed(seen) or succeed(seen))
    gate = gateway(origin, "http://am.localhost/am/")
    usher = edited(start, gate, am, {"timeout": "200ms"}, by="usher")
    try:
        check_original(ask(usher, f"{gate.url}/late"))
        check_note(usher, "/late", "within the 200 ms of interceptor move")
    finally:
        stuck.set()


# how the app speaks


def test_am_hears_the_app_s_language_and_agent(start, origin):
    """AM words its prompts by the language, and answers are chosen by the prompt."""
    def localized(seen):
        if seen.body:
            return response(200, JSON, b'{"tokenId":"","successUrl":"/"}')
        prompt = "Benutzer" if (seen.get("accept-language") or "").startswith("de") else "User Name"
        return response(200, JSON, (
            '{"authId":"a.b.c","callbacks":[{"type":"NameCallback","output":[{"name":"prompt","value":"%s"}],'
            '"input":[{"name":"IDToken1","value":""}]}]}' % prompt).encode())

    am = origin(localized)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = start(fake_shop(gate, am, answers=[{"callback": "NameCallback", "prompt": "Benutzer*", "value": "demo"}]))
    speaks = [("User-Agent", "shop-app/7"), ("Accept-Language", "de-CH, de;q=0.8"), ("Accept-Language", "en;q=0.1")]
    assert ask(usher, f"{gate.url}/de", fields=speaks).status == 200
    for seen in am.requests:
        assert seen.all("user-agent") == ["shop-app/7"]
        assert seen.all("accept-language") == ["de-CH, de;q=0.8", "en;q=0.1"]
    check_original(ask(usher, f"{gate.url}/none"))
    check_note(usher, "/none", "no answer is configured for NameCallback")
    assert am.requests[-1].get("user-agent") is None


# connections


def test_servers_that_close_without_a_word(start, origin):
    """What goes out once alone goes out on a connection that nobody can have closed unseen."""
    am = origin(Closing(succeed))
    answers = gateway(origin, "http://am.localhost/am/").answer
    # a challenge's connection ends without a word; a granted one says so, for a client's own POST may meet a stale one
    gate = origin(Closing(lambda seen: answers(seen).replace(b" 200 Answer\r\n", b" 200 Answer\r\nConnection: close\r\n")))
    usher = start(fake_shop(gate, am))
    for turn in range(10):
        for method, body in (("GET", b""), ("POST", b"pay"), ("PATCH", b"more")):
            answer = ask(usher, f"{gate.url}/closing/{turn}/{method}", method, body=body)
            assert (answer.status, answer.body) == (200, b"granted"), usher.flow("/closing").events
    # nothing was sent twice
    assert len(am.requests) == 60 and len(gate.requests) == 60


def test_calls_share_connections_among_themselves_alone(start, origin):
    """AM keeps its connections: calls use them again, and a client's own request never does."""
    am = origin(succeed)
    gate = gateway(origin, "http://am.localhost/am/")
    usher = start(fake_shop(gate, am))
    begun = time.monotonic()
    # the first calls do not know yet that AM keeps its connections
    while True:
        before = len(am.accepted)
        assert ask(usher, f"{gate.url}/kept").status == 200, usher.flow("/kept").events
        if len(am.accepted) == before:
            break
        assert time.monotonic() - begun < 10, "each call opens a connection"
    ask(usher, f"http://am.localhost:{am.port}/am/XUI/")
    assert len(am.accepted) == before + 1


# the client's session


def test_the_new_session_is_hidden_from_scripts(start, origin):
    """AM told it in the body alone: the cookie that Usher writes is as AM would have written it."""
    advices = base64.b64encode(json.dumps({"AuthenticateToServiceConditionAdvice": ["Strong"]}).encode()).decode()
    am = origin(lambda seen: response(
        200, [*JSON, ("Set-Cookie", "amlbcookie=02; Path=/; SameSite=Strict")], b'{"tokenId":"new.token"}'))
    gate = origin(lambda seen: response(200, body=b"granted") if "new.token" in (seen.get("cookie") or "") else response(
        401, [("WWW-Authenticate", f'SSOADVICE realm="/",advices="{advices}",am_uri="http://am.localhost/am/"')]))
    usher = start(fake_shop(gate, am))
    answer = ask(usher, f"{gate.url}/strong")
    assert answer.status == 200
    assert answer.all("set-cookie")[0] == f"{shop.COOKIE}=new.token; Path=/; HttpOnly; SameSite=Strict"


def test_trace_shows_no_session(start):
    usher = start({"am": [{"url": "http://am.localhost/am", "cookie": "sso"}]})
    secrets = {
        "Cookie": "sso=S1", "sso": "S2", "iPlanetDirectoryPro": "S3", "X-OpenAM-Username": "S4", "X-OpenAM-Password": "S5",
        "X-OpenAM-Anything": "S6", "ssoToken": "S7", "Authorization": "Bearer S8", "X-Api-Key": "S9",
        "Proxy-Authorization": "Basic UzEw", "X-TxID": "S11", "X-Forwarded-Client-Cert": "S12"}
    fields = [("Max-Forwards", "0"), ("Accept", "text/plain"), *secrets.items()]
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(request("TRACE", "http://shop.localhost/x", fields))
    assert answer.status == 200 and answer.get("content-type") == "message/http"
    text = answer.body.decode()
    assert text.startswith("TRACE http://shop.localhost/x HTTP/1.1\r\nHost: shop.localhost\r\n")
    assert "Accept: text/plain\r\n" in text
    for name, value in secrets.items():
        assert value not in text and f"{name}:".lower() not in text.lower()
