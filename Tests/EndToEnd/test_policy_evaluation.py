"""Apps that ask AM for policy decisions by themselves: what a decision advises is done, and the same is asked again."""

import json

import pytest

import shop
import wire

EVALUATE = "json/realms/root/policies?_action=evaluate"


@pytest.fixture
def ask(start, sandbox, through):
    """An app that asks as an agent about somebody's session: ask(question) → requests' response."""
    settings = shop.config(sandbox, resources=[f"{sandbox.am}/json/*"])
    usher = start(settings)
    agent = shop.login(sandbox, "policyadmin")

    def make(question, cookie=agent, text=None, **headers):
        return through(usher).post(
            f"{sandbox.am}/{EVALUATE}", data=text or json.dumps(question), timeout=20,
            headers={
                "Content-Type": "application/json", "Accept-API-Version": "resource=2.1",
                "Cookie": f"{shop.COOKIE}={cookie}", **headers})

    make.usher = usher
    make.agent = agent
    return make


def question(sandbox, token, *paths, **more):
    return {
        "application": "shop", "resources": [f"{sandbox.shop}/{path}" for path in paths], "subject": {"ssoToken": token},
        **more}


def allowed(answer):
    assert answer.status_code == 200, answer.text
    return {decision["resource"].rsplit("/", 1)[-1]: bool(decision["actions"]) for decision in answer.json()}


def test_a_transaction(ask, sandbox):
    token = shop.login(sandbox)
    for environment in [{}, {"environment": {"IP": ["192.0.2.1"]}}, {"environment": {"TxId": ["stale"]}}]:
        assert allowed(ask(question(sandbox, token, "pay/one", **environment))) == {"one": True}
    flow = ask.usher.flow("policies", 3)
    assert flow.access["attempts"] == 2


def test_an_upgrade_of_the_user_not_of_the_agent(ask, sandbox):
    token = shop.login(sandbox)
    answer = ask(question(sandbox, token, "upgrade/vault"))
    assert allowed(answer) == {"vault": True}
    # the agent's session is as it was, and it is told of no other
    assert "Set-Cookie" not in answer.headers
    assert allowed(ask(question(sandbox, ask.agent, "open/x"))) == {"x": True}


def test_both_one_after_the_other(ask, sandbox):
    assert allowed(ask(question(sandbox, shop.login(sandbox), "both/vault"))) == {"vault": True}


def test_several_resources(ask, sandbox):
    """What lasts comes before what is good for one access; of several transactions one can be had."""
    token = shop.login(sandbox)
    answer = ask(question(sandbox, token, "open/a", "pay/b", "upgrade/c"))
    assert allowed(answer) == {"a": True, "b": True, "c": True}
    token = shop.login(sandbox)
    answer = ask(question(sandbox, token, "pay/one", "pay/two"))
    assert sorted(allowed(answer).values()) == [False, True]


@pytest.mark.parametrize("subject", [{"claims": {"sub": "demo"}}, {"jwt": "e.y.J"}, "token", {}])
def test_a_subject_that_has_no_session(ask, origin, start, through, subject):
    """Nobody is stepped up for claims, least of all the agent."""
    decision = [{
        "resource": "r", "actions": {}, "attributes": {}, "advices": {"TransactionConditionAdvice": ["t"]}, "ttl": 0}]
    am = origin(lambda request: wire.response(
        200, [("Content-Type", "application/json")], json.dumps(decision).encode()))
    usher = start({
        "am": [{"url": f"{am.url}/am"}], "authorization": {"resources": [f"{am.url}/am/json/*"]}})
    answer = through(usher).post(
        f"{am.url}/am/{EVALUATE}", json={"resources": ["r"], "subject": subject}, timeout=10,
        headers={"Cookie": f"{shop.COOKIE}=agent"})
    assert answer.json() == decision and len(am.requests) == 1
    assert usher.said("policies", "note", "names no session of its user")


def test_byte_for_byte_but_for_the_transaction(origin, start, through):
    """What the app wrote goes out again as it wrote it."""
    seen = []

    def am(request):
        if "/authenticate" in request.target:
            return wire.response(200, [("Content-Type", "application/json")], b'{"tokenId":"user"}')
        seen.append(request)
        granted = b"TxId" in request.body
        decision = {
            "resource": "r", "actions": {"GET": True} if granted else {}, "attributes": {},
            "advices": {} if granted else {"TransactionConditionAdvice": ["t-1"]}, "ttl": 0}
        return wire.response(200, [("Content-Type", "application/json")], json.dumps([decision]).encode())

    server = origin(am)
    usher = start({
        "am": [{"url": f"{server.url}/am"}], "authorization": {"resources": [f"{server.url}/am/json/*"]}})
    text = '{ "resources" : ["r"],\r\n\t"subject":{"ssoToken":"\\u0075ser"}, "environment":{ "x":["1"] } , "n":1.0e0}\n'
    for action in ["evaluate", "evaluateTree"]:
        seen.clear()
        answer = through(usher).post(
            f"{server.url}/am/json/policies?_action={action}&_prettyPrint=true", data=text.encode(), timeout=10,
            headers={"Content-Type": "application/json", "Cookie": f"{shop.COOKIE}=agent"})
        assert answer.json()[0]["actions"] == {"GET": True}, answer.text
        first, second = seen
        assert first.body == text.encode()
        assert second.body.decode() == text.replace('["1"] }', '["1"], "TxId":["t-1"] }')
        assert first.target == second.target
        assert int(second.get("Content-Length")) == len(second.body)
