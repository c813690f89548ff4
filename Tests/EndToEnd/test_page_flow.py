"""One flow in a browser: what Usher changed, what is packed into it, where the time went, and sending it again."""

import base64
import json
import re

import pytest

import looked
import people
import programs
import shop
from browsers import expect, show

STAMP = [
    {"name": "stamp", "when": {"path": "/json"},
     "request": [{"set_header": {"X-Stamp": "by-usher"}}, {"set_query": {"page": "2"}}]},
    {"name": "mend", "when": {"path": "/json"}, "response": [{"set_status": 202}, {"set_json": {"/name": "mended"}}]}]


@pytest.fixture
def site(binary, start, origin, through, state):
    return looked.Site(binary, start, origin, through, state, {"interceptors": STAMP})


def opened(page, id):
    show(page, f"flows/{id}")
    return page.get_by_role("article", name=f"Flow {id}")


def tab(flow, name):
    flow.get_by_role("tab", name=re.compile(f"^{name}")).click()
    return flow.get_by_role("tabpanel")


def test_what_was_changed_and_by_whom(site, browse):
    site.get("/json?a=1")
    flow = opened(browse(site.person), site.flows(count=1)[0]["id"])
    request = flow.get_by_role("region", name="Request", exact=True)
    stamped = request.get_by_role("row").filter(has_text="X-Stamp: by-usher")
    expect(stamped).to_contain_text("stamp")
    # it stands on the side of what the server got
    expect(stamped.get_by_role("cell").nth(0)).to_have_text("")
    expect(stamped.get_by_role("cell").nth(1)).to_have_text("X-Stamp: by-usher")
    expect(request.get_by_role("row").filter(has_text="page=2")).to_contain_text("stamp")
    response = flow.get_by_role("region", name="Response", exact=True)
    expect(response.get_by_role("row").filter(has_text="202").first).to_contain_text("mend")
    expect(response.get_by_role("row").filter(has_text='"mended"').first).to_contain_text("mend")


def test_everything_that_a_flow_has(site, browse):
    site.client.post(
        f"{site.url}/latin?search=a+b&lang=en", data={"first": "1", "second": "x y"}, timeout=10,
        headers={"Cookie": "member=gold", "X-Packed": base64.b64encode(b'{"sub":"ada"}').decode()})
    flow = opened(browse(site.person), site.flows(count=1)[0]["id"])
    assert tab(flow, "Headers").get_by_role("row").filter(has_text="X-Packed").count() == 1
    expect(tab(flow, "Query").get_by_role("row").filter(has_text="search")).to_contain_text("a b")
    expect(tab(flow, "Cookies")).to_contain_text("cookie#1")
    expect(tab(flow, "Form").get_by_role("row").filter(has_text="second")).to_contain_text("x y")
    decoded = tab(flow, "Decoded").get_by_role("region", name="base64 in request: X-Packed")
    expect(decoded).to_contain_text('"ada"')
    body = tab(flow, "Body").get_by_role("region", name="Response")
    body.get_by_role("button", name="Hex").click()
    expect(body).to_contain_text("63 61 66 e9")
    times = tab(flow, "Timing").get_by_role("table", name="Times")
    for phase in ("Waiting in Usher", "Answer", "Body", "All of it"):
        expect(times.get_by_role("rowheader", name=phase)).to_be_visible()


def test_a_json_body_as_a_tree(site, browse):
    site.client.post(f"{site.url}/x", json={"order": {"items": [{"id": 7}]}}, timeout=10)
    flow = opened(browse(site.person), site.flows(count=1)[0]["id"])
    body = tab(flow, "Body").get_by_role("region", name="Request")
    # what is deep is opened by hand
    expect(body.get_by_text("items:")).to_be_visible()
    body.get_by_text("0:", exact=True).click()
    expect(body.get_by_text("id:")).to_be_visible()
    body.get_by_text("order:").click()
    expect(body.get_by_text("id:")).to_be_hidden()
    body.get_by_role("button", name="Text").click()
    expect(body).to_contain_text('"id": 7')


def test_a_step_up_with_its_calls_and_its_advice(house, sandbox, browse, through):
    usher, person = house(**shop.config(sandbox))
    answer = through(usher).get(
        f"{sandbox.shop}/pay", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, timeout=20)
    assert answer.status_code == 200
    id = usher.flow("/shop/pay").access["flow"]
    page = browse(person)
    flow = opened(page, id)
    calls = tab(flow, "Calls").get_by_role("link")
    expect(calls.filter(has_text="START_AUTHENTICATE")).to_have_count(1)
    expect(tab(flow, "Events")).to_contain_text("asks for TransactionConditionAdvice")
    expect(tab(flow, "Timing").get_by_role("row").filter(has_text="START_AUTHENTICATE")).to_have_count(1)
    # the first attempt was answered with the advice
    tab(flow, "Calls").get_by_role("link").filter(has_text="401").first.click()
    first = page.get_by_role("article", name=re.compile("^Flow "))
    expect(first.get_by_role("link", name=f"flow {id}")).to_be_visible()
    expect(tab(first, "Decoded")).to_contain_text("TransactionConditionAdvice")


@pytest.mark.parametrize(("form", "words"), [
    ("curl", "curl "), ("HTTP", "GET "), ("HAR", '"version": *"1.2"|"version":"1.2"'), ("A case of usher test", "request:"),
    ("An interceptor", "when:")])
def test_forms_to_copy(site, browse, form, words):
    site.get("/json?mark=copied"), site.get("/other")
    page = browse(site.person, permissions=["clipboard-read", "clipboard-write"])
    flow = opened(page, site.flows("path=/json", count=1)[0]["id"])
    flow.get_by_role("button", name="Copy as…").click()
    dialog = page.get_by_role("dialog", name="Copy as")
    dialog.get_by_role("button", name=form, exact=True).click()
    expect(dialog.locator("pre")).to_contain_text(re.compile(words))
    dialog.get_by_role("button", name="Copy", exact=True).click()
    expect(dialog.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.search(words, copied) and "/json" in copied and "/other" not in copied
    if form == "HAR":
        assert len(json.loads(copied)["log"]["entries"]) == 1


def test_a_copied_rule_and_case_are_taken(site, browse, call, tmp_path):
    """What is copied is no sketch: it passes the tools that it is for."""
    site.get("/plain?mark=1")
    id = site.flows(count=1)[0]["id"]
    page = browse(site.person, permissions=["clipboard-read", "clipboard-write"])
    flow = opened(page, id)
    flow.get_by_role("button", name="Copy as…").click()
    dialog = page.get_by_role("dialog", name="Copy as")
    texts = {}
    for form in ("An interceptor", "A case of usher test"):
        dialog.get_by_role("button", name=form, exact=True).click()
        expect(dialog.locator("pre")).to_contain_text("when:" if form == "An interceptor" else "request:")
        texts[form] = dialog.locator("pre").inner_text()
    rule, cases = tmp_path / "rule.yaml", tmp_path / "cases.yaml"
    rule.write_text("version: 1\n" + texts["An interceptor"])
    done = call("check", rule)
    assert done.returncode == 0, (texts, done.stdout)
    cases.write_text(f"config: {rule.name}\n" + texts["A case of usher test"])
    done = call("test", cases)
    assert done.returncode == 0, (texts, done.stdout, done.stderr)


def test_sending_again(site, browse):
    site.get("/plain")
    page = browse(site.person)
    flow = opened(page, site.flows(count=1)[0]["id"])
    flow.get_by_role("button", name="Send again…").click()
    dialog = page.get_by_role("dialog", name="Send again")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_role("status")).to_contain_text("200")
    assert len(site.origin.requests) == 2
    dialog.get_by_role("status").get_by_role("link").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("article", name=f"Flow {site.flows(count=2)[-1]['id']}")).to_be_visible()


def test_sending_again_with_edits(site, browse):
    site.get("/plain", headers={"X-Kept": "yes"})
    page = browse(site.person)
    flow = opened(page, site.flows(count=1)[0]["id"])
    flow.get_by_role("button", name="Send again…").click()
    dialog = page.get_by_role("dialog", name="Send again")
    dialog.get_by_label("Method").fill("POST")
    dialog.get_by_label("URL").fill(f"{site.url}/missing?edited=1")
    fields = dialog.get_by_label("Fields")
    fields.fill("no field")
    expect(dialog.get_by_role("alert")).to_contain_text("Each line is NAME: VALUE.")
    fields.fill("X-Kept: yes\nX-New: 1\nContent-Type: text/plain")
    dialog.get_by_label("Body").fill("edited body")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_role("status")).to_contain_text("404")
    again = programs.eventually(lambda: len(site.origin.requests) == 2 and site.origin.requests[-1], "the request")
    assert looked.verb(again) == "POST" and "/missing?edited=1" in again.target and again.body == b"edited body"
    assert again.get("x-new") == "1" and again.get("x-kept") == "yes"


def test_what_is_not_sent_again_says_why(site, browse):
    site.client.post(
        f"{site.url}/json", data={"code": "aBcDeFgHiJkLmNoP", "grant_type": "authorization_code"}, timeout=10)
    page = browse(site.person)
    flow = opened(page, site.flows(count=1)[0]["id"])
    flow.get_by_role("button", name="Send again…").click()
    dialog = page.get_by_role("dialog", name="Send again")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("good for one use alone")
    assert len(site.origin.requests) == 1


def test_secrets_are_aliases(site, browse):
    site.get("/session", headers={"Authorization": "Bearer abcdefghijklmnop123"})
    page = browse(site.person)
    flow = opened(page, site.flows(count=1)[0]["id"])
    expect(flow).to_contain_text("token#1")
    for name in flow.get_by_role("tab").all_inner_texts():
        tab(flow, name.split("\n")[0].rstrip("0123456789"))
        assert "abcdefghijklmnop123" not in page.content() and "AQIC5wM2LY4SfczFxI9lMv4PgF7l" not in page.content()


def test_secrets_for_who_may_see_them(binary, start, origin, through, state, browse):
    """With `journal.reveal` the daemon's user sees them, when asked for, and JWTs decoded. It is noted."""
    usher = start(
        {"journal": {"reveal": True}, "state": {"key": "${env.KEY}"}}, state=state,
        environment={"XDG_RUNTIME_DIR": "", "KEY": "a key of thirty-two bytes or more"})
    place = origin(looked.answer)
    jwt = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (
        b'{"alg":"RS256","kid":"k"}', b'{"sub":"ada-of-the-token","iat":1790000000}', b"a signature of some length"))
    through(usher).get(f"http://127.0.0.1:{place.port}/json", headers={"Authorization": f"Bearer {jwt}"}, timeout=10)
    id = usher.flow("/json").access["flow"]
    page = browse(people.Person(binary, state))
    flow = opened(page, id)
    expect(flow).to_contain_text("Bearer token#1")
    expect(flow.get_by_role("tab", name=re.compile("^Decoded"))).to_have_count(0)
    flow.get_by_role("button", name="Secrets").click()
    expect(flow).to_contain_text(jwt)
    decoded = tab(flow, "Decoded").get_by_role("region", name=re.compile("^JWT in"))
    expect(decoded).to_contain_text("ada-of-the-token")
    expect(decoded).to_contain_text("issued")
    usher.wait_for(lambda: [line for line in usher.errors if id in line], "a note of who looked")
    assert not [line for line in usher.errors if jwt in line]
    flow.get_by_role("button", name="Secrets").click()
    expect(flow).to_contain_text("Bearer token#1")


def test_a_flow_that_is_gone(site, browse):
    page = browse(site.person)
    flow = opened(page, "dead")
    expect(flow.get_by_role("alert")).to_contain_text("dead")
