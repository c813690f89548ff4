"""What servers may read in more than one way, and what leads around a decision."""

import urllib.parse

import pytest

import shop
import wire
from test_enforcement_edges import SESSION, am, client, config, resource, usher  # noqa: F401
from wire import request

GOOD = f"{shop.COOKIE}=good"


@pytest.mark.parametrize("cookie", [
    f"{GOOD}; {shop.COOKIE} =evil", f"{GOOD}; theme=dark {shop.COOKIE}=evil", f"{GOOD}; theme=dark, {shop.COOKIE}=evil",
    f"{GOOD}; {shop.COOKIE.lower()}=evil", f"{shop.COOKIE}=good x", f"{shop.COOKIE}=", f"theme=dark {shop.COOKIE}=evil",
    f'{shop.COOKIE}="good"', f"{GOOD}; {shop.COOKIE}"])
def test_a_session_that_may_be_read_in_several_ways(client, am, resource, cookie):  # noqa: F811
    answer = client.exchange(request("GET", f"{resource.url}/a", [("Cookie", cookie)]))
    assert answer.status == 400 and b"several" in answer.body
    assert am.asked == [] and resource.requests == []


@pytest.mark.parametrize("cookie", [
    GOOD, f"theme=dark; {GOOD}; lang=de", f"my{shop.COOKIE}=evil; {GOOD}", f"a={shop.COOKIE}; {GOOD}", f"{GOOD};{GOOD}",
    f"{shop.COOKIE}=AQIC5w.*AAJTSQ.*; x=1"])
def test_a_session_that_may_not(client, am, resource, cookie):  # noqa: F811
    assert client.exchange(request("GET", f"{resource.url}/a", [("Cookie", cookie)])).status == 200
    assert len(am.asked) == 1


def test_what_is_led_to_where_am_has_to_be_asked(start, am, resource, origin):  # noqa: F811
    other = origin(lambda message: wire.response(200))
    place = urllib.parse.urlsplit(resource.url).netloc
    usher = start({  # noqa: F811
        **config(am, f"{resource.url}/*"),
        "interceptors": [{"name": "move", "when": {"path": "/move"}, "request": [{"set_host": place}]}]})
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        answer = app.exchange(request("GET", f"{other.url}/move", [SESSION]))
        assert answer.status == 403 and b"interceptors send the request" in answer.body
        assert app.exchange(request("GET", f"{other.url}/stay", [SESSION])).status == 200
    assert resource.requests == [] and am.asked == []


@pytest.mark.parametrize("field", [SESSION, ("Authorization", "Basic dTpw"), ("Content-Length", "0")])
def test_a_preflight_that_no_browser_sends_is_asked_about(client, am, resource, field):  # noqa: F811
    fields = [("Origin", "http://page.example.com"), ("Access-Control-Request-Method", "PUT"), field]
    client.exchange(request("OPTIONS", f"{resource.url}/a", fields))
    assert len(am.asked) == (field == SESSION) and len(resource.requests) == (field == SESSION)


def test_a_semicolon_behind_a_transaction(client, am, resource):  # noqa: F811
    answer = client.exchange(request("GET", f"{resource.url}/a?_txid=x;admin=1", [SESSION]))
    assert answer.status == 400 and b"semicolon" in answer.body
    assert am.asked == [] and resource.requests == []
