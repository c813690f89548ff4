"""Traffic that would like to be code: whatever a message has shows as text, and nothing of it runs."""

import base64
import json
import re
import uuid

import pytest

import looked
import people
import shop
import wire
from browsers import expect, show

# each sets a global of the page that shows it
PAYLOADS = [
    "<script>window.owned=1</script>", "<img src=x onerror=window.owned=2>", "\"><svg onload=window.owned=3>",
    "'-(window.owned=4)-'", "</script><script>window.owned=5</script>", "javascript:window.owned=6",
    "{{constructor.constructor('window.owned=7')()}}", "${window.owned=8}"]
ALL = " ".join(PAYLOADS)
# an alias takes the place of this one, wherever it stands
COOKIE = "<script>window.owned=11</script>"
TABS = ["Messages", "Headers", "Query", "Cookies", "Form", "Body", "Decoded", "Timing", "Calls", "Events"]


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def answer(_):
    """An answer that is hostile in all its parts."""
    body = f"<html><body>{ALL}</body></html>".encode()
    advice = base64.b64encode(json.dumps({"AuthLevelConditionAdvice": [ALL]}).encode()).decode()
    return looked.raw(200, [
        ("Content-Type", f"text/html; x={PAYLOADS[1]}"), ("X-Answer", ALL), ("Set-Cookie", f"<b>={COOKIE}; Path=/{PAYLOADS[2]}"),
        ("Location", PAYLOADS[5]), ("WWW-Authenticate", f'SSOADVICE realm="{PAYLOADS[1]}",advices="{advice}"'),
        ("Content-Length", str(len(body)))], body)


@pytest.fixture
def site(binary, start, origin, through, state):
    class Hostile(looked.Site):
        def __init__(self):
            self.origin = origin(answer)
            # with secrets, so that a JWT can be looked into
            self.usher = start(
                {"journal": {"reveal": True}, "state": {"key": "${env.KEY}"}}, state=state,
                environment={"XDG_RUNTIME_DIR": "", "KEY": "a key of thirty-two bytes or more"})
            self.person = people.Person(binary, state)
            self.url = f"http://127.0.0.1:{self.origin.port}"

    return Hostile()


def hostile(site):
    """Sends one request that is hostile in all its parts, as bytes."""
    jwt = f"{encoded({'alg': PAYLOADS[0], 'kid': PAYLOADS[1]})}.{encoded({'sub': ALL, 'iat': 1})}.{encoded({'x': 1})}"
    escaped = re.sub(r"[^A-Za-z0-9=()/]", lambda letter: f"%{ord(letter[0]):02X}", ALL)
    body = f"first={escaped}&<img/src=x/onerror=window.owned=9>={escaped}".encode()
    client = wire.Connection(("127.0.0.1", site.usher.port))
    client.send(wire.request("POST", f"{site.url}/{escaped}?q={escaped}&%3Csvg/onload=window.owned=10%3E=1", [
        ("User-Agent", ALL), ("X-'`!#$%&*+^|~owned", ALL), ("Cookie", f"{PAYLOADS[1]}={COOKIE}; <b>={COOKIE}"),
        ("Referer", PAYLOADS[5]), ("X-Claims", jwt), ("X-Packed", base64.b64encode(json.dumps({"a": ALL}).encode()).decode()), ("Content-Type", "application/x-www-form-urlencoded"),
        ("Content-Length", str(len(body)))], body))
    assert client.read_response().status == 200
    client.close()


def untouched(page):
    assert page.evaluate("typeof window.owned") == "undefined"
    assert page.locator("svg[onload], img[onerror], script:not([src])").count() == 0


def test_a_hostile_message_is_text(site, browse):
    hostile(site)
    flow = site.flows(count=1)[0]["id"]
    page = browse(site.person)
    row = page.get_by_role("row").filter(has_text="POST")
    expect(row).to_have_count(1)
    untouched(page)
    row.click()
    article = page.get_by_role("article", name=f"Flow {flow}")
    expect(article).to_contain_text(PAYLOADS[0])
    names = article.get_by_role("tab").all_inner_texts()
    for name in TABS:
        found = [one for one in names if one.startswith(name)]
        if found:
            article.get_by_role("tab", name=re.compile(f"^{name}")).click()
            for button in article.get_by_role("tabpanel").get_by_role("button", name=re.compile("^(Tree|Text|Hex)$")).all():
                button.click()
            untouched(page)
    assert {"Headers", "Query", "Cookies", "Form", "Decoded"} <= {re.sub(r"[^A-Za-z]", "", name) for name in names}
    article.get_by_role("button", name="Secrets").click()
    article.get_by_role("tab", name=re.compile("^Decoded")).click()
    expect(article.get_by_role("region", name=re.compile("^JWT in")).first).to_contain_text(PAYLOADS[3])
    untouched(page)
    # nothing that came from traffic is a link that would run
    assert page.evaluate("[...document.links].filter(one => !/^https?:$/.test(one.protocol)).length") == 0
    # and what can be copied or sent again shows it as text, too
    article.get_by_role("button", name="Copy as…").click()
    for form in page.get_by_role("dialog").get_by_role("button").all():
        if (form.inner_text() or "Close") not in ("Close", "×"):
            form.click()
            untouched(page)
    page.keyboard.press("Escape")
    article.get_by_role("button", name="Send again…").click()
    expect(page.get_by_role("dialog").get_by_label("Fields")).to_have_value(re.compile("window.owned=1"))
    untouched(page)


def test_a_hostile_filter_in_the_address(site, browse):
    hostile(site)
    page = browse(site.person)
    for text in PAYLOADS:
        page.evaluate("text => { location.hash = '#/flows?q=' + encodeURIComponent(text) }", text)
        expect(page.get_by_role("combobox", name="Filter")).to_have_value(text)
        untouched(page)
    for place in ("flows/", "journeys/", "pending/", "sessions/", "journeys/x/"):
        show(page, place + "%3Cimg%20src=x%20onerror=window.owned=1%3E")
        expect(page.get_by_role("main")).to_contain_text(re.compile("."))
        untouched(page)
    show(page, "%E0%A4%A/%zz")
    expect(page.get_by_role("main")).to_contain_text(re.compile("."))


# AM's words, each of them hostile
WORDS = {
    "policies": [{"name": "hostile", "path": "/shop/hostile/*", "requires": [{"transaction": "Hostile"}]}],
    "trees": [{"name": "Hostile", "header": ALL, "pages": [
        {"callbacks": [
            {"type": "TextOutputCallback", "message": f"{ALL} https://example.com/{PAYLOADS[2]} otpauth://totp/{PAYLOADS[1]}"},
            {"type": "NameCallback", "prompt": PAYLOADS[0]}, {"type": "PasswordCallback", "prompt": PAYLOADS[1]},
            {"type": "ChoiceCallback", "prompt": PAYLOADS[2], "choices": PAYLOADS[:4]},
            {"type": "ConfirmationCallback", "prompt": PAYLOADS[4], "choices": [PAYLOADS[1], PAYLOADS[2]]}]}]}]}


def test_a_hostile_am_asks_a_person(house, own_sandbox, browse, tmp_path):
    document = tmp_path / "hostile.yaml"
    document.write_text(json.dumps(WORDS).replace("${", "$${"))
    sandbox = own_sandbox("--journeys", document)
    usher, person = house(**shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s"))
    page = browse(person, "pending")
    with people.App(usher, sandbox, shop.login(sandbox), f"/hostile/{uuid.uuid4().hex}"):
        card = page.get_by_role("region", name="Step-ups that wait").get_by_role("listitem")
        expect(card).to_contain_text(PAYLOADS[0])
        untouched(page)
        card.get_by_role("link").click()
        form = page.get_by_role("region", name="Step-up", exact=True)
        expect(form.get_by_role("heading", level=1)).to_contain_text(PAYLOADS[1])
        expect(form.get_by_role("button", name=PAYLOADS[2])).to_be_visible()
        untouched(page)
        assert page.evaluate("[...document.links].filter(one => !/^https?:$/.test(one.protocol)).length") == 0
        away = form.get_by_role("link").filter(has_text="example.com")
        if away.count():
            assert {"noopener", "noreferrer"} <= set(away.get_attribute("rel").split())
        person.asks("POST", f"/v1/transactions/{person.sees()[0]['id']}/deny")


def test_a_hostile_login(house, own_sandbox, browse, through, tmp_path):
    """Names, prompts and answers in the story of a login."""
    document = tmp_path / "hostile.yaml"
    document.write_text(json.dumps(WORDS).replace("${", "$${"))
    sandbox = own_sandbox("--journeys", document)
    usher, person = house(am=[{"url": sandbox.am, "realms": ["/"]}])
    client = through(usher)
    step = client.post(
        f"{sandbox.am}/json/realms/root/authenticate", params={"authIndexType": "service", "authIndexValue": "Hostile"},
        headers={"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}, timeout=10).json()
    for callback in step["callbacks"]:
        if callback.get("input"):
            callback["input"][0]["value"] = 0 if "Choice" in callback["type"] or "Confirm" in callback["type"] else ALL
    client.post(f"{sandbox.am}/json/realms/root/authenticate", json=step, timeout=10, headers={
        "Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"})
    page = browse(person, "journeys")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("row").last).to_contain_text(PAYLOADS[0])
    untouched(page)
    page.get_by_role("row").last.get_by_role("link").click()
    expect(page.get_by_role("article")).to_contain_text(PAYLOADS[2])
    untouched(page)


def test_a_hostile_session_and_its_configuration(binary, start, state, browse):
    """Names are plain, but what rules and expectations compare with is any text."""
    rule = {"name": "own", "when": {"header": {"X-A": PAYLOADS[1]}}, "request": [{"set_header": {"X-B": PAYLOADS[4]}}]}
    start({"interceptors": [{**rule, "when": {"path": f"/{PAYLOADS[0]}"}}]}, state=state, environment={"XDG_RUNTIME_DIR": ""})
    person = people.Person(binary, state)
    answer, told = person.asks("POST", "/v1/sessions", {"name": "evil", "overlay": json.dumps(
        {"expect": [{"name": "none", "when": {"path": f"/{PAYLOADS[0]}"}, "count": 1}]})})
    assert answer.status in (200, 201), told
    answer, told = person.asks("POST", f"/v1/sessions/{told['id']}/rules", {**rule, "name": "more"})
    assert answer.status in (200, 201), told
    page = browse(person, "sessions")
    page.get_by_role("link", name="evil").click()
    expect(page.get_by_role("tabpanel")).to_contain_text(PAYLOADS[0])
    page.get_by_role("tab", name=re.compile("^Rules")).click()
    expect(page.get_by_role("tabpanel")).to_contain_text(PAYLOADS[4])
    untouched(page)
    show(page, "configuration")
    expect(page.get_by_role("main")).to_contain_text(PAYLOADS[0])
    untouched(page)
