"""Apps that step up by themselves and understand one form of advice: they get the Gateway's in that one, and hand the
transaction back in their own way."""

import json
import urllib.parse

import pytest

import shop
import wire
from test_enforcement import App, approve


@pytest.fixture
def app(start, sandbox, through):
    """Makes an app before the sandbox's Gateway: app(keys of the resource)."""
    def make(**resource):
        settings = shop.config(sandbox)
        settings["authorization"]["resources"] = [{"url": f"{sandbox.shop}/*", **resource}]
        made = App(start(settings), through, sandbox, type("Shop", (), {"url": sandbox.shop}))
        return made

    return make


def read(answer):
    """The form of an answer's advice, and the advice."""
    if answer.status_code == 401:
        return "header", shop.advice(answer)
    if answer.status_code == 307:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
        return "redirect", query
    return "json", answer.json()["advices"]


@pytest.mark.parametrize("asked", ["", "header"])
@pytest.mark.parametrize("form", ["header", "redirect", "json"])
def test_each_form(app, sandbox, form, asked):
    """Whether or not the app asks the Gateway for a form by itself."""
    client = app(translate=form)
    headers = {"x-authenticate-response": asked} if asked else {}
    answer = client.ask("/pay/form?a=b%20c", headers=headers)
    got, advice = read(answer)
    assert got == form
    if form == "redirect":
        assert answer.headers["Location"].startswith(f"{sandbox.am}/?")
        assert advice["authIndexType"] == ["composite_advice"] and "TransactionConditionAdvice" in advice["authIndexValue"][0]
        back = urllib.parse.urlsplit(advice["goto"][0])
        assert f"{back.path}?{back.query}".startswith("/shop/pay/form?a=b%20c&_txid=")
    else:
        assert list(advice) == ["TransactionConditionAdvice"] and answer.headers.get("Location") is None


def test_the_whole_way_with_json(app, sandbox):
    """The app knows decisions and X-TxID alone; the Gateway challenges and _txid."""
    client = app(translate="json")
    form, advice = read(client.ask("/pay/whole?a=b%20c"))
    transaction = approve(sandbox, client.token, advice)
    answer = client.ask("/pay/whole?a=b%20c", headers={"X-TxID": transaction})
    assert answer.status_code == 200, answer.text
    echo = answer.json()
    assert echo["transactionUses"] == 1 and echo["url"].endswith("/pay/whole?a=b%20c")
    assert not [name for name, _ in echo["fields"] if name.lower() == "x-txid"]
    # it was good for one access
    assert read(client.ask("/pay/whole?a=b%20c", headers={"X-TxID": transaction}))[0] == "json"


def test_nobody_steps_up_for_it(app):
    client = app(translate="header")
    assert client.ask("/pay/left").status_code == 401
    assert client.ask("/open/left").status_code == 200


def test_an_upgrade_is_told(app):
    assert "AuthenticateToServiceConditionAdvice" in read(app(translate="json").ask("/upgrade/x"))[1]


# what is not translated


def answering(origin, status, fields, body=b"original"):
    return origin(lambda request: wire.response(status, [*fields, ("X-Original", "1")], body))


def redirect(am, **more):
    document = (
        '<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/><Value>t</Value>'
        "</AttributeValuePair></Advices>")
    query = urllib.parse.urlencode(
        {"realm": "/", "authIndexType": "composite_advice", "authIndexValue": document, **more})
    return [("Location", f"{am}/?{query}")]


DECISION = json.dumps({
    "resource": "r", "actions": {}, "attributes": {}, "advices": {"TransactionConditionAdvice": ["t"]}, "ttl": 0}).encode()


@pytest.mark.parametrize("status, fields, body, path", [
    # another AM, another realm, a redirect that says what the request says, a body that is data
    (302, lambda am: redirect("http://evil.example.com/am"), b"original", "/x"),
    (302, lambda am: redirect(am, realm="/elsewhere"), b"original", "/x"),
    (302, lambda am: redirect(am), b"original", "/x?goto=y"),
    (403, lambda am: [("Content-Type", "application/json")], DECISION, "/x"),
    (401, lambda am: [("WWW-Authenticate", 'SSOADVICE realm="/",advices="!"')], b"original", "/x"),
    (401, lambda am: [("WWW-Authenticate", 'Bearer realm="/"')], b"original", "/x"),
    (200, lambda am: [("WWW-Authenticate", 'SSOADVICE realm="/",advices="e30="')], b"original", "/x"),
])
def test_what_is_no_advice_stays(start, origin, through, status, fields, body, path):
    am = origin()
    gate = answering(origin, status, fields(f"http://am.localhost:{am.port}/am"), body)
    usher = start({
        "am": [{"url": f"http://am.localhost:{am.port}/am"}],
        "authorization": {"resources": [{"url": f"{gate.url}/*", "translate": "json"}]}})
    answer = through(usher).get(
        gate.url + path, headers={"Cookie": f"{shop.COOKIE}=secret"}, timeout=10, allow_redirects=False)
    assert (answer.status_code, answer.content, answer.headers["X-Original"]) == (status, body, "1")
    assert am.requests == [] and len(gate.requests) == 1


def test_other_resources_are_left(start, origin, sandbox, through):
    settings = shop.config(sandbox)
    settings["authorization"]["resources"] = [{"url": f"{sandbox.shop}/pay/*", "translate": "json"}, f"{sandbox.shop}/*"]
    app = App(start(settings), through, sandbox, type("Shop", (), {"url": sandbox.shop}))
    assert read(app.ask("/pay/x"))[0] == "json"
    # where nothing is translated, Usher steps up
    assert app.ask("/order").status_code == 200
