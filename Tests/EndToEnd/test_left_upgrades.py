"""A client leaves while AM is told the last of an upgrade: AM goes through with it, and those who wait have what it won."""

import concurrent.futures
import contextlib
import json
import pathlib
import random
import signal
import threading

import pytest

import frames
import programs
import scrape
import wire
from tenant import COOKIE, Tenant
from test_real_clients import tool

HERE = pathlib.Path(__file__).parent
CANCEL = 8


@pytest.fixture(params=["old", "new"])
def tenant(request, origin):
    """AM and its gateway, in HTTP/1 or behind HTTP/2."""
    server = Tenant(origin)
    server.gate = threading.Event()
    server.cleartext = []
    front = None
    if request.param == "new":
        front = programs.Program([tool("node"), HERE / "h2front.js", str(server.origin.port)])
        port = front.wait_for(lambda: front.lines and front.lines[0], "the port")
        server.am, server.shop = f"http://am.localhost:{port}/am", f"http://shop.localhost:{port}"
        server.cleartext = [f"am.localhost:{port}", f"shop.localhost:{port}"]
    yield server
    if server.gate:
        server.gate.set()
    if front:
        front.stop()
    assert server.faults == []


def config(tenant, workers=2, **more):
    return {"workers": workers, **tenant.config(), "http2": {"cleartext": tenant.cleartext}, **more}


def authenticates(tenant):
    return [call for call in list(tenant.calls) if "authenticate" in call[0]]


class Client:
    """One that asks for one thing, on a connection of its own, and leaves."""

    def __init__(self, usher, tenant, token, how, path="/strong/lead"):
        self.how = how
        fields = [("Cookie", f"{COOKIE}={token}")]
        if how in ("stream", "connection"):
            self.peer = frames.prior_knowledge(usher)
            authority = tenant.shop.removeprefix("http://")
            self.peer.send(frames.request(1, authority, path, fields=[(name.lower(), value) for name, value in fields]))
            self.connection = self.peer.connection
        else:
            self.connection = wire.Connection(("127.0.0.1", usher.port))
            self.connection.send(wire.request("GET", tenant.shop + path, fields))

    def leave(self):
        if self.how == "stream":
            self.peer.send(frames.reset(1, CANCEL))
        elif self.how == "reset":
            self.connection.reset()
        else:
            self.connection.close()


def ask(usher, tenant, token, path):
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(wire.request("GET", tenant.shop + path, [("Cookie", f"{COOKIE}={token}")]))


def told(usher, tenant, token, how):
    """A client for which AM is told the last answer right now."""
    client = Client(usher, tenant, token, how)
    programs.eventually(lambda: len(authenticates(tenant)) == 2, "AM is told the last of it")
    return client


def gone(usher):
    """Usher knows that the first one has gone."""
    usher.flow("/strong/lead")


@contextlib.contextmanager
def left(usher, tenant, token, how):
    """The answer of one that waits for what a client has begun that is gone."""
    leader = told(usher, tenant, token, how)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask, usher, tenant, token, "/strong/other")
        programs.eventually(lambda: len(tenant.asked) == 2, "both have been refused")
        leader.leave()
        gone(usher)
        yield other


WAYS = ["stream", "connection", "reset", "close"]


@pytest.mark.parametrize("how", WAYS)
def test_those_who_wait_have_what_it_won(start, tenant, how):
    usher = start(config(tenant))
    token = tenant.sign_in("lee")
    leader = told(usher, tenant, token, how)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        others = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for number in range(4)]
        programs.eventually(lambda: len(tenant.asked) == 5, "all have been refused")
        leader.leave()
        if how not in ("close", "connection"):
            gone(usher)
        tenant.gate.set()
        answers = [one.result(30) for one in others]
    assert [got.status for got in answers] == [200] * 4
    assert {json.loads(got.body)["user"] for got in answers} == {"lee"}
    assert tenant.upgrades == 1 and len(authenticates(tenant)) == 2


@pytest.mark.parametrize("how", WAYS)
def test_what_nobody_waits_for_is_kept(start, tenant, state, how):
    """Its client comes again a moment later, with the session that it knows."""
    # the gateway still tells what it asks for
    tenant.keeps_old = True
    usher = start(config(tenant), state=state)
    token = tenant.sign_in("lee")
    leader = told(usher, tenant, token, how)
    leader.leave()
    gone(usher)
    programs.eventually(
        lambda: scrape.scrape(state).of("usher_step_ups_total", outcome="abandoned") == 1, "it is counted as given up")
    tenant.gate.set()
    assert ask(usher, tenant, token, "/strong/again").status == 200
    assert tenant.upgrades == 1 and len(authenticates(tenant)) == 2


def test_where_am_says_nothing_the_next_one_asks(start, tenant):
    usher = start(config(tenant, timeouts={"response": "2s"}))
    token = tenant.sign_in("lee")
    gate = tenant.gate
    with left(usher, tenant, token, "stream") as other:
        tenant.gate = None
        assert other.result(30).status == 200
    # what AM would have granted first it grants to nobody
    with tenant.lock:
        tenant.sessions.setdefault(token, "lee")
    gate.set()
    assert len(authenticates(tenant)) == 4


@pytest.mark.parametrize("how", ["stream", "reset"])
def test_a_drain_does_not_wait_for_what_nobody_waits_for(binary, write_config, tenant, how):
    usher = programs.Usher(binary, write_config(config(tenant, timeouts={"drain": "60s", "response": "60s"})))
    leader = told(usher, tenant, tenant.sign_in("lee"), how)
    leader.leave()
    gone(usher)
    usher.process.send_signal(signal.SIGTERM)
    assert usher.process.wait(wire.TIMEOUT) == 0


def test_a_drain_waits_for_what_is_waited_for(binary, write_config, tenant):
    usher = programs.Usher(binary, write_config(config(tenant, timeouts={"drain": "60s"})))
    token = tenant.sign_in("lee")
    with left(usher, tenant, token, "reset") as other:
        usher.process.send_signal(signal.SIGTERM)
        with pytest.raises(concurrent.futures.TimeoutError):
            other.result(0.5)
        tenant.gate.set()
        assert other.result(30).status == 200
    assert usher.process.wait(wire.TIMEOUT) == 0 and tenant.upgrades == 1


def test_a_reload_changes_nothing(start, tenant, write_config):
    usher = start(config(tenant))
    token = tenant.sign_in("lee")
    with left(usher, tenant, token, "stream") as other:
        write_config(config(tenant, limits={"header": "20KiB"}))
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: any("generation 2" in line for line in usher.errors), "the reload")
        tenant.gate.set()
        assert other.result(30).status == 200
    assert tenant.upgrades == 1


@pytest.mark.parametrize("seed", range(3))
def test_whoever_leaves_whenever(start, tenant, seed):
    """Those who stay are answered, whoever makes it for them leaves; nothing is left open."""
    usher = start(config(tenant))
    pick = random.Random(seed)
    before = usher.descriptors()

    def leaves(token, how, wait):
        client = Client(usher, tenant, token, how, "/strong/left")
        threading.Event().wait(wait)
        client.leave()

    def refused():
        return sum(1 for target, _, _ in list(tenant.asked) if "left" not in target)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for number in range(12):
            token = tenant.sign_in("lee")
            tenant.gate = gate = threading.Event()
            seen = refused()
            leaving = [pool.submit(leaves, token, pick.choice(WAYS), pick.random() * 0.05) for _ in range(4)]
            staying = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for _ in range(3)]
            programs.eventually(lambda: refused() >= seen + 3, "all have been refused")
            threading.Event().wait(pick.random() * 0.05)
            gate.set()
            assert [one.result(30).status for one in staying] == [200] * 3
            for one in leaving:
                one.result(30)
    # those of HTTP/2 to AM stay for others
    if not tenant.cleartext:
        programs.eventually(lambda: usher.descriptors() <= before + 20, "connections are closed")


def test_what_took_longer_than_hold_is_heard_all_the_same(start, tenant):
    """Its client has the resource's answer, and goes on by the same connection meanwhile."""
    tenant.keeps_old = True
    usher = start({**config(tenant), "authorization": {**tenant.config()["authorization"], "hold": "500ms"}})
    token = tenant.sign_in("lee")
    cookie = [("Cookie", f"{COOKIE}={token}")]
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(wire.request("GET", f"{tenant.shop}/strong/lead", cookie)).status == 401
        assert client.exchange(wire.request("GET", f"{tenant.shop}/open", cookie)).status == 200
        assert ask(usher, tenant, token, "/strong/other").status == 401
        tenant.gate.set()
        programs.eventually(lambda: len(tenant.strong) == 1, "AM has granted it")
        assert client.exchange(wire.request("GET", f"{tenant.shop}/strong/lead", cookie)).status == 200
    assert tenant.upgrades == 1 and len(authenticates(tenant)) == 2


def test_calls_leave_no_connection_behind(start, tenant):
    """Each has one of its own, which is of no use to the next."""
    tenant.gate.set()
    usher = start(config(tenant, workers=1))
    assert ask(usher, tenant, tenant.sign_in("one"), "/strong/first").status == 200
    before = usher.descriptors()
    for number in range(5):
        assert ask(usher, tenant, tenant.sign_in(f"user{number}"), f"/strong/{number}").status == 200
    assert len(authenticates(tenant)) == 12
    programs.eventually(lambda: usher.descriptors() <= before + 1, "connections for calls are closed")
