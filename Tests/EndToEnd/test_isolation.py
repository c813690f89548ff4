"""Every refused request has a transaction of its own; an upgrade of a session is made once for all who need it."""

import concurrent.futures
import threading
import uuid

import pytest

import programs
from tenant import COOKIE, Tenant
from wire import Connection, request


@pytest.fixture
def tenant(origin):
    server = Tenant(origin)
    yield server
    assert server.faults == []


def ask(usher, tenant, token, path, method="GET", body=b"", fields=()):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(
            request(method, tenant.shop + path, [("Cookie", f"a=b; {COOKIE}={token}"), *fields], body), method)


def settle(usher, tenant, token):
    """What the resource has said before is with Usher once it has said more, and more again."""
    for number in range(5):
        assert ask(usher, tenant, token, f"/plain/{number}").status == 200


def at_once(work, items):
    """Runs it for each at the same time; what each came to."""
    items = list(items)
    ready = threading.Barrier(len(items))

    def run(item):
        ready.wait(30)
        return work(item)

    with concurrent.futures.ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(run, items))


def test_fifty_users_at_once_and_none_is_mixed_up(start, tenant):
    usher = start({"workers": 2, **tenant.config()})
    tokens = {f"u{number}": tenant.sign_in(f"u{number}") for number in range(50)}

    def run(user):
        answers = []
        for turn in range(3):
            mark = uuid.uuid4().hex
            method, body = ("POST", mark.encode()) if turn % 2 else ("GET", b"")
            answers.append((user, mark, body, ask(usher, tenant, tokens[user], f"/each/{user}?m={mark}", method, body)))
        return answers

    for user, mark, body, got in (answer for answers in at_once(run, tokens) for answer in answers):
        assert got.status == 200, got
        assert f'"user": "{user}"' in got.body.decode() and f"/each/{user}?m={mark}&_txid=" in got.body.decode()
        assert body.decode() in got.body.decode()
    # each access took a transaction, and each transaction was used once and for what it was for
    assert tenant.transactions == {} and next(tenant.numbers) == 151


def test_the_same_request_many_times_takes_as_many_transactions(start, tenant):
    usher = start({"workers": 2, **tenant.config()})
    token = tenant.sign_in("u")
    answers = at_once(lambda _: ask(usher, tenant, token, "/each/one"), range(8))
    assert [got.status for got in answers] == [200] * 8
    assert len({got.body for got in answers}) == 8 and next(tenant.numbers) == 9


@pytest.mark.parametrize("workers", [1, 2])
def test_five_need_the_same_upgrade_and_it_is_made_once(start, tenant, workers):
    usher = start({"workers": workers, **tenant.config()})
    token = tenant.sign_in("u")
    tenant.gate, tenant.keeps_old = threading.Event(), True
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for number in range(5)]
        programs.eventually(lambda: len(tenant.asked) == 5 and tenant.upgrades, "all five have been refused")
        tenant.gate.set()
        answers = [one.result(30) for one in asked]
        # one that was on its way meanwhile, and comes with the old session
        answers.append(pool.submit(ask, usher, tenant, token, "/strong/late").result(30))
    assert [got.status for got in answers] == [200] * 6
    assert tenant.upgrades == 1
    new = {cookie for got in answers for cookie in got.all("set-cookie")}
    assert len(new) == 1 and token not in new.pop()
    # five refusals and replays, and the late one's
    assert len(tenant.asked) == 12
    assert "AM is not asked again" in " ".join(usher.said("/strong/late", "authenticate"))


def test_users_do_not_share_upgrades(start, tenant):
    usher = start({"workers": 2, **tenant.config()})
    tokens = [tenant.sign_in(f"u{number}") for number in range(8)]
    answers = at_once(lambda token: ask(usher, tenant, token, "/strong/x"), tokens)
    assert [got.status for got in answers] == [200] * 8 and tenant.upgrades == 8
    for token, got in zip(tokens, answers):
        assert f'"user": "{token.split(".")[0]}"' in got.body.decode()


def test_whoever_upgrades_may_leave(start, tenant):
    usher = start({"workers": 2, **tenant.config()})
    token = tenant.sign_in("u")
    tenant.gate, tenant.keeps_old = threading.Event(), True
    leaving = Connection(("127.0.0.1", usher.port))
    leaving.send(request("GET", f"{tenant.shop}/strong/0", [("Cookie", f"{COOKIE}={token}")]))
    programs.eventually(lambda: tenant.upgrades == 1, "the first has begun")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for number in (1, 2, 3)]
        programs.eventually(lambda: len(tenant.asked) == 4, "all have been refused")
        leaving.reset()
        usher.flow("/strong/0")
        tenant.gate.set()
        answers = [one.result(30) for one in asked]
    # AM goes through with it, and is heard
    assert [got.status for got in answers] == [200] * 3 and tenant.upgrades == 1


def test_whoever_upgrades_goes_on_for_the_others(start, tenant):
    """A client that may still listen: AM has heard half of the story, and the old session may be gone by now."""
    usher = start({"workers": 2, **tenant.config()})
    token = tenant.sign_in("u")
    tenant.gate = threading.Event()
    leaving = Connection(("127.0.0.1", usher.port))
    leaving.send(request("GET", f"{tenant.shop}/strong/0", [("Cookie", f"{COOKIE}={token}")]))
    programs.eventually(lambda: tenant.upgrades == 1, "the first has begun")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for number in (1, 2, 3)]
        programs.eventually(lambda: len(tenant.asked) == 4, "all have been refused")
        settle(usher, tenant, token)
        leaving.half_close()
        tenant.gate.set()
        answers = [one.result(30) for one in asked]
    assert [got.status for got in answers] == [200] * 3 and tenant.upgrades == 1


def test_what_am_refuses_is_refused_for_all_who_wait(start, tenant):
    usher = start({"workers": 2, **tenant.config()})
    token = tenant.sign_in("u")
    tenant.refuses_logins, tenant.gate = True, threading.Event()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask, usher, tenant, token, f"/strong/{number}") for number in range(6)]
        programs.eventually(lambda: len(tenant.asked) == 6 and tenant.upgrades, "all six have been refused")
        settle(usher, tenant, token)
        tenant.gate.set()
        answers = [one.result(30) for one in asked]
    assert [got.status for got in answers] == [401] * 6 and all(got.get("www-authenticate") for got in answers)
    assert tenant.upgrades == 1


def test_refusals_count_for_the_lockout(start, tenant):
    """As those of single requests do."""
    usher = start(tenant.config(lockout={"refusals": 2, "hold": "30s"}))
    token = tenant.sign_in("u")
    tenant.refuses_logins = True
    assert [ask(usher, tenant, token, f"/strong/{number}").status for number in range(4)] == [401] * 4
    assert tenant.upgrades == 2


def test_a_transaction_that_am_cannot_read_is_asked_for_once_more(start, tenant):
    usher = start(tenant.config())
    token = tenant.sign_in("u")
    tenant.unreadable = {"t-1", "t-3", "t-4", "t-5"}
    got = ask(usher, tenant, token, "/each/a", "POST", b"x")
    assert got.status == 200 and next(tenant.numbers) == 3
    # t-4 is lost as t-3 was: there is no third
    got = ask(usher, tenant, token, "/each/b")
    assert got.status == 401 and next(tenant.numbers) == 6


def test_what_may_not_be_sent_again_is_not_asked_for(start, tenant):
    config = tenant.config()
    config["authorization"]["resources"] = [{"url": f"{tenant.shop}/*", "replay": "safe"}]
    usher = start(config)
    token = tenant.sign_in("u")
    tenant.unreadable = {"t-1"}
    assert ask(usher, tenant, token, "/each/a", "POST", b"x").status == 401
    assert len(tenant.asked) == 1 and tenant.calls == []
