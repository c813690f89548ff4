"""Charts, state and configuration in a browser; and what Usher would do with a request, explained."""

import re
import signal

import pytest

import looked
import programs
import shop
from browsers import expect, show
from test_journeys import App


@pytest.fixture
def site(binary, start, origin, through, state):
    marked = {"name": "mark", "when": {"path": "/json"}, "request": [{"set_header": {"X-Marked": "1"}}]}
    return looked.Site(binary, start, origin, through, state, {"interceptors": [marked]})


def totals(page):
    return page.get_by_role("region", name="The last hour").get_by_role("table").first


def test_charts_and_the_same_numbers_as_a_table(binary, start, sandbox, through, state, browse):
    usher = start(shop.config(sandbox), state=state, environment={"XDG_RUNTIME_DIR": ""})
    app = App(binary, usher, sandbox, through, state)
    page = browse(app.person, "overview")
    expect(page.get_by_role("heading", name="Nothing came through in the last hour")).to_be_visible()
    for _ in range(2):
        session = app.login()
    assert app.go_on(app.begin(), password="wrong").status_code == 401
    app.http.get(f"{sandbox.shop}/order/9", headers={"Cookie": f"{shop.COOKIE}={session}"}, timeout=20)
    assert app.http.get("http://127.0.0.1:1/", timeout=20).status_code == 502
    page.reload()
    row = totals(page).get_by_role("row").filter(has=page.get_by_role("button", name="START_AUTHENTICATE"))
    # three of the app, and one of the step-up if calls count
    expect(row.get_by_role("cell").nth(0)).to_have_text(re.compile("^[34]$"))
    others = totals(page).get_by_role("row").filter(has=page.get_by_role("button", name="other requests"))
    # the order and the refused connection: one error, one step-up
    expect(others.get_by_role("cell").nth(1)).to_have_text("1")
    expect(others.get_by_role("cell").nth(2)).to_have_text("1")
    chip = totals(page).get_by_role("button", name="START_AUTHENTICATE")
    before = chip.get_attribute("aria-pressed")
    chip.click()
    expect(chip).not_to_have_attribute("aria-pressed", before)
    # something is drawn
    assert page.evaluate("""[...document.querySelectorAll('canvas')].some(canvas =>
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(value => value > 0))""")
    page.get_by_text("Every minute as a table").click()
    expect(page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Time"))).to_be_visible()


def test_the_state_of_the_daemon(site, browse):
    site.get("/json")
    page = browse(site.person, "overview")
    main = page.get_by_role("main")
    for words in ("serving", "Generation 1", "Workers", "1 flows"):
        expect(main).to_contain_text(words)
    level = page.get_by_label("Level")
    level.select_option("debug")
    programs.eventually(
        lambda: site.person.asks("GET", "/v1/log/level")[1]["level"] == "debug", "the daemon takes the level")
    expect(level).to_have_value("debug")


def test_refusals_are_counted_and_cleared(house, sandbox, browse, through):
    usher, person = house(**shop.config(
        sandbox, lockout={"refusals": 1, "hold": "1h"},
        answers=[{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "wrong"}]))
    answer = through(usher).get(
        f"{sandbox.shop}/x", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, timeout=20)
    assert answer.status_code == 401
    page = browse(person, "overview")
    clear = page.get_by_role("button", name=re.compile("^Clear [0-9a-f]+$"))
    expect(clear).to_have_count(2)
    clear.first.click()
    expect(clear).to_have_count(1)
    page.get_by_role("button", name="Clear all").click()
    expect(clear).to_have_count(0)
    assert person.asks("GET", "/v1/lockout")[1]["logins"] == []


def test_the_configuration_and_its_reload(site, browse, write_config):
    page = browse(site.person, "configuration")
    main = page.get_by_role("main")
    expect(main).to_contain_text("X-Marked")
    reload = page.get_by_role("button", name="Reload")
    write_config({"interceptors": [{"name": "other", "request": [{"set_header": {"X-Other": "1"}}]}]}, "usher-0.yaml")
    reload.click()
    expect(main).to_contain_text("Generation 2 is in force. Changed: interceptors.")
    expect(main).to_contain_text("X-Other")
    write_config({"interceptrs": []}, "usher-0.yaml")
    reload.click()
    expect(main).to_contain_text("The reload failed.")
    expect(main).to_contain_text('did you mean "interceptors"?')
    expect(main).to_contain_text("X-Other")
    # and the overview says so to who comes later
    show(page, "overview")
    expect(page.get_by_role("region", name="The last reload's failure")).to_contain_text("interceptrs")


def test_the_configuration_is_searched(site, browse):
    page = browse(site.person, "configuration")
    expect(page.get_by_role("main")).to_contain_text("X-Marked")
    page.locator(".CodeMirror").click()
    page.keyboard.press("Control+f")
    page.keyboard.type("X-Marked")
    page.keyboard.press("Enter")
    expect(page.locator(".CodeMirror-selected").first).to_be_visible()


def test_what_usher_would_do_with_a_request(site, browse):
    page = browse(site.person, "configuration")
    page.get_by_role("tab", name="Explain").click()
    page.get_by_role("textbox", name="A curl command line or an HTTP message").focus()
    page.keyboard.insert_text(f"curl {site.url}/json")
    page.get_by_role("button", name="Explain", exact=True).click()
    main = page.get_by_role("main")
    verdict = main.get_by_role("row").filter(has_text="mark").first
    expect(verdict).to_contain_text("yes")
    expect(main).to_contain_text("X-Marked: 1")
    assert len(site.origin.requests) == 0, "nothing is sent"
    page.get_by_role("textbox", name="A curl command line or an HTTP message").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("curl --nonsense")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(main.get_by_role("alert")).to_contain_text("nonsense")


def test_a_reload_by_somebody_else_shows(site, browse):
    page = browse(site.person, "overview")
    expect(page.get_by_role("main")).to_contain_text("Generation 1")
    site.usher.process.send_signal(signal.SIGHUP)
    expect(page.get_by_role("main")).to_contain_text("Generation 2")
