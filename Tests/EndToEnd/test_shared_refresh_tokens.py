"""Refresh tokens that a client and Usher both have: each is spent once, and neither loses by what the other does."""

import base64
import threading
import urllib.parse

import pytest

from granted import FORM, code, credentials, learned, world
from grants import BASE, SECRET, Grants
from programs import eventually
from wire import request, response


def held(play):
    """The token endpoint answers once this is set."""
    play.grants.gate = threading.Event()
    return play.grants.gate


def test_while_a_client_refreshes_nobody_else_does(world):
    play = world(entry=learned())
    play.sign_in()
    play.grants.expire()
    gate = held(play)
    own = play.at_once(lambda: play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1", at="other"))
    eventually(lambda: len(play.grants.calls) == 2, "the client's refresh is at AM")
    got = play.at_once(lambda: play.get())
    eventually(lambda: len(play.api.asked) == 1, "the resource has refused the token")
    gate.set()
    assert own.result(20).status == 200 and got.result(20).body == b"ada"
    assert play.spent() == ["r1"] and play.api.shown[-1] == "Bearer a2"


def test_a_client_waits_for_a_renewal_and_refreshes_with_what_comes_of_it(world):
    play = world(entry=learned())
    play.sign_in()
    play.grants.expire()
    gate = held(play)
    got = play.at_once(lambda: play.get())
    eventually(lambda: len(play.grants.calls) == 2, "the renewal is at AM")
    own = play.at_once(lambda: play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1", at="other"))
    # what has nothing to do with that token does not wait
    assert play.send("ada", "GET", f"{play.am.url}/am/other", at="third").status == 200
    gate.set()
    assert got.result(20).body == b"ada" and b'"r3"' in own.result(20).body
    assert play.spent() == ["r1", "r2"]


def test_a_refresh_that_am_refuses_to_the_client_is_not_tried_again_for_it(world):
    play = world(entry=learned())
    play.sign_in()
    play.grants.expire()
    play.grants.refresh.clear()
    assert play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1").status == 400
    assert play.get().status == 401 and play.spent() == ["r1"]


def test_a_refresh_whose_answer_cannot_be_read_leaves_nothing_to_renew_with(world):
    """The client has the newest: what is left here is spent."""
    play = world(entry=learned())
    play.sign_in()
    play.grants.padding = 100_000
    assert play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1").status == 200
    play.grants.expire()
    assert play.get().status == 401 and play.spent() == ["r1"]


@pytest.mark.parametrize("first, second", [
    ({}, {"refresh_on": [401, 403], "hold": "20s"}),
    ({}, {"client_by": "address"}),
    ({"client": {"id": "shop"}}, {}),
], ids=["other settings", "clients told apart otherwise", "one names its client"])
def test_two_entries_renew_what_one_exchange_granted_once(world, first, second):
    play = world(entry=learned(**first), others=[learned(**second)])
    play.sign_in()
    for number in (2, 3):
        play.grants.expire()
        assert [play.get(place=place).body for place in (play.resource, play.others[0][1])] == [b"ada"] * 2
        assert play.api.shown[-1] == play.others[0][0].shown[-1] == f"Bearer a{number}"
    assert play.spent() == ["r1", "r2"]


def test_a_client_comes_late_with_its_first(world):
    play = world(entry=learned())
    play.sign_in()
    for _ in range(12):
        play.grants.expire()
        assert play.get().body == b"ada"
    got = play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1")
    assert got.status == 200 and play.spent()[-1] == "r13"
    # the answer was lost on its way: once more
    assert play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1").status == 200
    assert play.spent()[-1] == "r14"


def test_another_sign_in_of_the_same_client_takes_nothing_from_the_first(world):
    """Two programs on one machine, say, or two profiles of one browser."""
    play = world(entry=learned())
    play.sign_in(user="ada")
    play.grants.expire()
    assert play.get().body == b"ada"
    play.sign_in(user="bob")
    assert play.get().body == b"bob"
    got = play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1")
    assert got.status == 200 and play.spent() == ["r1", "r2"]
    # whoever came last is whose token goes along
    assert play.get().body == b"ada"


def test_a_logout_ends_no_refresh_of_another_sign_in(world):
    play = world(entry=learned())
    play.sign_in(user="ada")
    play.grants.expire()
    assert play.get().body == b"ada"
    play.sign_in(user="bob")
    play.send("ada", "GET", f"{play.am.url}{BASE}/connect/endSession?id_token_hint=x")
    assert play.get().status == 401 and play.api.shown[-1] is None
    assert play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1").status == 200
    assert play.spent() == ["r1", "r2"] and play.get().body == b"ada"


def test_what_a_client_revokes_is_the_newest(world):
    play = world(entry=learned())
    play.sign_in()
    play.grants.expire()
    assert play.get().body == b"ada"
    play.send("ada", "POST", f"{play.am.url}{BASE}/token/revoke", fields=FORM, body=b"client_id=shop&token=r1")
    assert play.grants.revoked == ["r2"]
    assert play.get().status == 401 and play.api.shown[-1] is None


def test_a_client_whose_refresh_token_goes_on_keeps_it(world):
    """RFC 6749 section 6: an answer without one leaves the old one good."""
    play = world(Grants(rotates=False), entry=learned())
    play.sign_in()
    play.grants.refreshes = False
    assert b"refresh_token" not in play.exchange(grant_type="refresh_token", client_id="shop", refresh_token="r1").body
    for _ in range(2):
        play.grants.expire()
        assert play.get().body == b"ada"
    assert play.spent() == ["r1"] * 3


@pytest.mark.parametrize("how", ["basic", "post"])
def test_an_entry_that_names_a_client_shows_am_what_the_client_showed(world, how):
    play = world(Grants(secret=SECRET), entry=learned(client={"id": "shop"}))
    shown = base64.b64encode(f"shop:{urllib.parse.quote(SECRET)}".encode()).decode()
    if how == "basic":
        play.sign_in(client=None, fields=[("Authorization", f"Basic {shown}")])
    else:
        play.sign_in(client_secret=SECRET)
    play.grants.expire()
    assert play.get().body == b"ada" and play.spent() == ["r1"]


@pytest.mark.parametrize("how", ["reset", "half-closed", "hold"])
def test_a_renewal_that_has_gone_out_ends_without_its_client(world, how):
    play = world(entry=learned(hold="300ms" if how == "hold" else "30s"), timeouts={"half_closed": "100ms"})
    # over at once, so that it is renewed before anything goes out
    play.grants.lifetime = 0
    play.sign_in()
    play.grants.lifetime = 3600
    play.grants.expire()
    gate = held(play)
    client = play.connection("first")
    client.send(request("GET", f"{play.resource.url}/x", [("X-Client", "ada")]))
    eventually(lambda: len(play.grants.calls) == 2, "the renewal is at AM")
    if how == "reset":
        client.reset()
    elif how == "half-closed":
        client.half_close()
        assert client.read_response().status == 504
    else:
        assert client.read_response().status == 401
    gate.set()
    play.grants.gate = None
    assert eventually(lambda: play.get(at="second").body == b"ada", "the new token goes along")
    assert play.spent() == ["r1"] and play.api.shown[-1] == "Bearer a2"


def test_a_logout_while_the_first_token_is_fetched(world):
    play = world(entry=code())
    gate = held(play)
    session = [("Cookie", "iPlanetDirectoryPro=SESSION-A")]
    got = play.at_once(lambda: play.get(fields=session))
    eventually(lambda: len(play.grants.calls) == 1, "the code is at AM")
    play.send("ada", "GET", f"{play.am.url}{BASE}/connect/endSession?id_token_hint=x", at="other")
    gate.set()
    got.result(20)
    play.get(fields=session)
    assert len(play.grants.forms("authorization_code")) == 2


class Neighbour(Grants):
    """AM's host has other programs on it, which answer as a token endpoint does."""

    def __init__(self):
        super().__init__()
        self.others = []

    def __call__(self, message):
        if message.target.startswith("/am/"):
            return super().__call__(message)
        self.others.append(message.body)
        return response(200, [("Content-Type", "application/json")],
                        b'{"access_token":"foreign","token_type":"Bearer","expires_in":3600,"refresh_token":"foreign"}')


@pytest.mark.parametrize("path", ["/other/oauth2/access_token", "/am2/oauth2/access_token", "/oauth2/access_token"])
def test_what_else_is_on_ams_host_gets_and_tells_nothing(world, path):
    play = world(grants=Neighbour(), entry=learned())
    play.sign_in()
    play.grants.expire()
    assert play.get().status == 200
    form = urllib.parse.urlencode({"grant_type": "refresh_token", "client_id": "shop", "refresh_token": "r1"}).encode()
    assert play.send("ada", "POST", f"{play.am.url}{path}", fields=FORM, body=form).status == 200
    assert play.grants.others == [form]
    before = play.api.shown[-1]
    assert play.get().status == 200 and play.api.shown[-1] == before
