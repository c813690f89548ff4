"""Test sessions in a browser: opened, given a fault by a switch that a real client then sees, judged, and stopped."""

import re

import pytest
import requests

import looked
from browsers import expect

OVERLAY = """interceptors:
  - name: tea
    when: { path: /tea }
    request: [{ respond: { status: 418 } }]
expect:
  - { name: one order, when: { method: POST, path: /order }, count: 1 }
"""


@pytest.fixture
def site(binary, start, origin, through, state):
    return looked.Site(binary, start, origin, through, state)


def opened(page, name, overlay=None):
    """Starts a session by the page; its proxy URL."""
    page.get_by_role("button", name="Start…").click()
    dialog = page.get_by_role("dialog", name="Start a test session")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Ends after").fill("10m")
    if overlay:
        written(dialog, "Overlay", overlay)
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    return page.locator("code").filter(has_text=re.compile("^http://[^ ]*@")).first.inner_text()


def written(place, label, text):
    """Puts a text into an editor, as pasting does."""
    place.get_by_role("textbox", name=label).focus()
    place.page.keyboard.press("Control+A")
    place.page.keyboard.insert_text(text)


def through(proxy, url, method="GET"):
    """What a real client gets in the session."""
    client = requests.Session()
    client.trust_env = False
    return client.request(method, url, proxies={"http": proxy}, timeout=20)


def tab(page, name):
    page.get_by_role("tab", name=re.compile(f"^{name}")).click()
    return page.get_by_role("tabpanel")


def test_a_session_from_its_start_to_its_report(site, browse):
    page = browse(site.person, "sessions")
    expect(page.get_by_role("heading", name="No test session is open")).to_be_visible()
    proxy = opened(page, "checkout", OVERLAY)
    assert through(proxy, f"{site.url}/tea").status_code == 418
    assert site.get("/tea").status_code == 200, "who is not in the session does not see its rule"
    assert through(proxy, f"{site.url}/orders").status_code == 200
    report = tab(page, "Expectations")
    row = report.get_by_role("row").filter(has_text="one order")
    expect(row).to_contain_text("pending")
    expect(row).to_contain_text("0 came, wanted 1")
    for _ in range(2):
        through(proxy, f"{site.url}/order", "POST")
    # one order too many: it fails, and shows what came
    expect(row).to_contain_text("✕ unmet")
    row.get_by_role("link").first.click()
    expect(page.get_by_role("article", name=re.compile("^Flow "))).to_contain_text("/order")
    page.go_back()
    rules = tab(page, "Rules")
    expect(rules.get_by_role("row").filter(has_text="tea").get_by_role("cell").nth(1)).to_have_text("1")
    page.get_by_role("link", name=re.compile("4 flows")).click()
    expect(page.get_by_role("grid", name="Flows").get_by_role("row")).to_have_count(5)


def test_a_fault_is_switched_on_and_off(site, browse):
    page = browse(site.person, "sessions")
    proxy = opened(page, "faulty")
    faults = tab(page, "Faults")
    faults.get_by_role("searchbox", name="Search for a fault").fill("gateway-unav")
    row = faults.get_by_role("row").filter(has=page.get_by_role("switch"))
    expect(row).to_have_count(1)
    # what an app sees and should do stands beside it
    expect(row).to_contain_text("503 with Retry-After: 2")
    expect(row).to_contain_text("then try again")
    switch = row.get_by_role("switch", name="gateway-unavailable")
    switch.click()
    expect(switch).to_be_checked()
    seen = through(proxy, f"{site.url}/x")
    assert (seen.status_code, seen.headers["Retry-After"]) == (503, "2")
    assert site.get("/x").status_code == 200, "others go on"
    expect(row.get_by_role("cell").last).to_have_text("1")
    switch.click()
    expect(switch).not_to_be_checked()
    assert through(proxy, f"{site.url}/x").status_code == 200


def test_a_rule_is_added_and_removed(site, browse):
    page = browse(site.person, "sessions")
    proxy = opened(page, "ruled")
    rules = tab(page, "Rules")
    rules.get_by_role("button", name="Add…").click()
    dialog = page.get_by_role("dialog", name="Add a rule")
    written(dialog, "Add a rule", '{"name": "busy", "request": [{"respnd": {"status": 429}}]}')
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("respond")
    written(dialog, "Add a rule", '{"name": "busy", "request": [{"respond": {"status": 429}}]}')
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    assert through(proxy, f"{site.url}/x").status_code == 429
    expect(rules.get_by_role("row").filter(has_text="busy").get_by_role("cell").nth(1)).to_have_text("1")
    rules.get_by_role("button", name="Remove busy").click()
    expect(rules.get_by_role("button", name="Remove busy")).to_have_count(0)
    assert through(proxy, f"{site.url}/x").status_code == 200


def test_a_wrong_overlay_is_shown_in_its_place(site, browse):
    page = browse(site.person, "sessions")
    page.get_by_role("button", name="Start…").click()
    dialog = page.get_by_role("dialog", name="Start a test session")
    written(dialog, "Overlay", "interceptors:\n  - nme: x\n")
    dialog.get_by_role("button", name="Start", exact=True).click()
    fault = dialog.get_by_role("alert")
    expect(fault).to_contain_text("name")
    expect(fault).to_contain_text("2")
    assert site.person.asks("GET", "/v1/sessions")[1]["sessions"] == []


def test_what_is_recorded_is_saved(site, browse):
    page = browse(site.person, "sessions")
    proxy = opened(page, "recorded")
    tapes = tab(page, "Recordings")
    tapes.get_by_label("Name").fill("tape")
    tapes.get_by_role("button", name="Record").click()
    expect(tapes.get_by_role("button", name="Stop tape")).to_be_visible()
    assert through(proxy, f"{site.url}/json").status_code == 200
    tapes.get_by_role("button", name="Stop tape").click()
    with page.expect_download() as saved:
        tapes.get_by_role("button", name="Save tape.tar").click()
    assert saved.value.suggested_filename == "tape.tar"
    assert b"tape/" in saved.value.path().read_bytes()


def test_a_session_is_stopped_after_a_question(site, browse):
    page = browse(site.person, "sessions")
    proxy = opened(page, "over")
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Keep it").click()
    assert len(site.person.asks("GET", "/v1/sessions")[1]["sessions"]) == 1
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("heading", name="No test session is open")).to_be_visible()
    assert through(proxy, f"{site.url}/x").status_code == 407
