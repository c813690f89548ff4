"""What people see: axe-core finds nothing in any page, in light and dark. With `USHER_SCREENSHOTS=DIR`, each page is drawn for docs/page.md."""

import datetime
import json
import math
import os
import pathlib
import re

import pytest

import browsers
import people
import programs
import shop
from browsers import expect, show
from test_journeys import App, BACK, VERIFIER
from test_page_pending import FORMS

PHONE = {"width": 390, "height": 844}
CONFIG = {"interceptors": [
    {"name": "mark", "when": {"action": "AUTHENTICATE"}, "request": [{"set_header": {"X-Client": "till/2.1"}}]},
    {"name": "slow", "when": {"path": "/plain/slow"}, "request": [{"delay": "120ms"}]}]}
OVERLAY = {
    "interceptors": [{"name": "no payments", "when": {"path": "/pay"}, "request": [{"respond": {"status": 503}}]}],
    "expect": [{"name": "one login", "when": {"action": "START_AUTHENTICATE"}, "count": 1},
               {"name": "one logout", "when": {"action": "LOGOUT"}, "count": 1}, {"use": "am-client"}]}


@pytest.fixture
def world(binary, start, own_sandbox, through, state, tmp_path):
    """A daemon through which much has passed: logins, tokens, a step-up, errors, and a step-up that waits."""
    document = tmp_path / "forms.yaml"
    document.write_text(json.dumps(FORMS))
    sandbox = own_sandbox("--journeys", document)
    config = shop.config(sandbox, hold="5m", answers=[
        {"callback": "NameCallback", "prompt": "User Name", "value": "demo"},
        {"callback": "PasswordCallback", "prompt": "Password", "value": "changeit"}, {"otherwise": "ask"}])
    usher = start({**config, **CONFIG}, state=state, environment={"XDG_RUNTIME_DIR": ""})
    app = App(binary, usher, sandbox, through, state)
    session = app.login()
    granted = app.grant(
        grant_type="authorization_code", code=app.code(session), redirect_uri=BACK, code_verifier=VERIFIER)
    bearer = {"Authorization": f"Bearer {granted['access_token']}"}
    for path in ("basket?item=7&lang=en", "slow", "basket", "orders/19"):
        app.http.get(f"{sandbox.plain}/{path}", headers=bearer, timeout=10)
    app.http.post(f"{sandbox.plain}/orders", json={"items": [{"id": 7, "pieces": 2}], "card": "blue"}, headers=bearer, timeout=10)
    assert app.http.get(
        f"{sandbox.shop}/order/9", headers={"Cookie": f"{shop.COOKIE}={session}"}, timeout=20).status_code == 200
    app.grant(grant_type="refresh_token", refresh_token=granted["refresh_token"])
    app.login("user2", tree="StepUp")
    assert app.go_on(app.begin(), password="wrong").status_code == 401
    app.waiting = people.App(usher, sandbox, session, "/forms/checkout?basket=7")
    app.person.sees()
    yield app
    app.waiting.close()


def audit(page, where, part=None):
    """What axe-core finds, in both colour schemes: in the whole page, or in what a selector names."""
    browsers.driver()
    from axe_playwright_python.sync_playwright import Axe
    # in the dark, only the colours are others
    for scheme, rules in (("dark", {"runOnly": ["color-contrast", "link-in-text-block"]}), ("light", {})):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, context=part, options={"resultTypes": ["violations"], **rules}).response["violations"]
        assert not found, (where, scheme, [
            (one["id"], one["help"], [(node["html"][:200], node["failureSummary"]) for node in one["nodes"][:3]]) for one in found])


def pictured(page):
    """For a picture of the overview: an hour of traffic, which no test has, and no path of this machine."""
    if not os.environ.get("USHER_SCREENSHOTS"):
        return
    began = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0) - datetime.timedelta(minutes=59)
    weights = {"": 90, "START_AUTHENTICATE": 14, "AUTHENTICATE": 24, "EXCHANGE_TOKEN": 11, "REFRESH_TOKEN": 30, "USER_INFO": 8}

    def minute(number):
        wave = 1 + 0.5 * math.sin(number / 9) + 0.1 * math.sin(number * 1.7)
        trouble = 1 if 37 <= number <= 41 else 0
        return {"at": (began + datetime.timedelta(minutes=number)).isoformat().replace("+00:00", "Z"), "actions": [
            {"action": action, "requests": int(weight * wave), "errors": trouble * int(weight * wave / 6),
             "step_ups": int(6 * wave) if not action else 0, "p50_ms": int(8 + weight / 9 + 4 * wave),
             "p95_ms": int(40 + weight / 4 + 20 * wave + 180 * trouble), "p99_ms": int(90 + weight + 30 * wave + 260 * trouble)}
            for action, weight in weights.items()]}

    def status(route):
        told = route.fetch().json()
        told["configuration"]["file"] = "/etc/usher/usher.yaml"
        route.fulfill(json=told)

    page.route("**/v1/status", status)
    page.route("**/v1/rates", lambda route: route.fulfill(json={"interval_s": 60, "points": [minute(one) for one in range(60)]}))


def drawn(page, name):
    """Draws a page, where a person asked for it; few colours make small files."""
    folder = os.environ.get("USHER_SCREENSHOTS")
    if not folder:
        return
    place = pathlib.Path(folder) / f"{name}.png"
    page.screenshot(path=place, animations="disabled", caret="hide")
    from PIL import Image  # python3-pil
    with Image.open(place) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(place, optimize=True)
    assert place.stat().st_size <= 120 * 1024, place


def tabs(page, where):
    """Each tab of what is open."""
    for tab in page.get_by_role("tab").all():
        tab.click()
        expect(page.get_by_role("tabpanel")).not_to_contain_text("Loading…")
        audit(page, f"{where}, {tab.inner_text()}", "[role=tabpanel]")


def test_flows_and_one_flow(world, browse):
    page = browse(world.person)
    rows = page.get_by_role("grid", name="Flows").get_by_role("row")
    expect(rows.filter(has_text="/order/9")).to_have_count(1)
    drawn(page, "flows")
    audit(page, "flows")
    for button, name in (("Columns", "Columns"), ("Keys and filters", "Keys and filters")):
        page.get_by_role("button", name=button).click()
        audit(page, name, "dialog")
        page.keyboard.press("Escape")
    # none of a wrong filter, and of one that fits nothing
    field = page.get_by_role("combobox", name="Filter")
    field.fill("statsu=1")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    audit(page, "a wrong filter")
    field.fill("path=/none")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="No flow fits this filter").wait_for()
    audit(page, "no flow")
    page.get_by_role("button", name="Remove the filter").click()
    row = page.get_by_role("grid", name="Flows").get_by_role("row").filter(has_text="/order/9")
    row.click()
    flow = page.get_by_role("article", name=re.compile("^Flow "))
    expect(flow.get_by_role("region", name="Response", exact=True)).to_be_visible()
    drawn(page, "flow")
    tabs(page, "one flow")
    for name in ("Copy as…", "Send again…"):
        flow.get_by_role("button", name=name).click()
        audit(page, name, "dialog")
        page.keyboard.press("Escape")


def test_journeys_overview_and_configuration(world, browse):
    one, other = [one["id"] for one in world.journeys("by=app", "outcome=succeeded", count=2)]
    page = browse(world.person, "journeys")
    expect(page.get_by_role("row").filter(has_text="StepUp")).to_have_count(1)
    audit(page, "journeys")
    show(page, f"journeys/{one}")
    expect(page.get_by_role("region", name="What its credentials reached")).to_be_visible()
    drawn(page, "journey")
    audit(page, "one journey")
    show(page, f"journeys/{one}/{other}")
    expect(page.get_by_text("They differ.")).to_be_visible()
    audit(page, "two journeys")
    pictured(page)
    show(page, "overview")
    page.get_by_role("region", name="The last hour").wait_for()
    drawn(page, "overview")
    audit(page, "overview")
    show(page, "configuration")
    expect(page.get_by_role("main")).to_contain_text("X-Client")
    audit(page, "configuration")
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("main")).to_contain_text("Generation 2 is in force")
    audit(page, "a reload")
    page.get_by_role("tab", name="Explain").click()
    page.get_by_role("button", name="An example").click()
    page.get_by_role("button", name="Explain", exact=True).click()
    programs.eventually(lambda: "Interceptors" in page.get_by_role("main").inner_text(), "the explanation")
    audit(page, "an explanation")


def test_a_phone(world, browse):
    page = browse(world.person, **PHONE)
    for place in ("flows", "journeys", "sessions", "overview", "configuration", "pending"):
        show(page, place)
        expect(page.get_by_role("main")).not_to_contain_text("Loading…")
        expect(page.get_by_role("main")).to_contain_text(re.compile("."))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, f"{place} scrolls sideways"
    audit(page, "pending")
    page.get_by_role("region", name="Step-ups that wait").get_by_role("listitem").get_by_role("link").click()
    form = page.get_by_role("region", name="Step-up", exact=True)
    form.get_by_label("Cashier").fill("user3")
    drawn(page, "pending")
    audit(page, "a question")
    form.get_by_label("Pin").fill(people.SECRET)
    form.get_by_role("button", name="Answer").click()
    form.get_by_role("button", name="Yes").click()
    form.get_by_label("Month").wait_for()
    audit(page, "choices")
    form.get_by_role("button", name="Deny…").click()
    audit(page, "a denial")
    page.get_by_role("dialog").get_by_role("button", name="Deny", exact=True).click()
    expect(page.get_by_text("The app got the original response.")).to_be_visible()
    audit(page, "an outcome")


def test_sessions(world, browse, through):
    page = browse(world.person, "sessions")
    with page.context.new_page() as stranger:
        stranger.goto(page.url.split("#")[0])
        stranger.get_by_text("usher ui", exact=True).wait_for()
        audit(stranger, "the login by a link")
        # at admin.listen
        refusal = {"status": 401, "title": "Unauthorized", "detail": "a token is required"}
        stranger.route("**/v1/status", lambda route: route.fulfill(status=401, body=json.dumps(refusal)))
        stranger.reload()
        stranger.get_by_label("Token").wait_for()
        audit(stranger, "the login")
    page.get_by_role("heading", name="No test session is open").wait_for()
    audit(page, "no session")
    page.get_by_role("button", name="Start…").click()
    page.get_by_role("button", name="An example").click()
    audit(page, "the start of a session")
    page.keyboard.press("Escape")
    opened = world.person.asks("POST", "/v1/sessions", {"name": "checkout", "ttl": "10m", "overlay": json.dumps(OVERLAY)})[1]
    world.http.proxies = {"http": opened["proxy"]}
    world.login()
    world.http.get(f"{world.sandbox.plain}/pay", timeout=10)
    link = page.get_by_role("link", name="checkout")
    link.wait_for()
    audit(page, "sessions")
    link.click()
    expect(page.get_by_role("tabpanel")).to_contain_text("one login")
    expect(page.get_by_role("tabpanel")).to_contain_text("1 pending")
    drawn(page, "session")
    tabs(page, "one session")
