"""Logins in a browser: the list, one as a story in time, and two side by side."""

import re

import pytest

import shop
from browsers import expect, show
from test_journeys import App, BACK, VERIFIER


@pytest.fixture
def app(binary, start, sandbox, through, state):
    marked = {"name": "mark", "when": {"action": "AUTHENTICATE"}, "request": [{"set_header": {"X-Marked": "1"}}]}
    usher = start({**shop.config(sandbox), "interceptors": [marked]}, state=state, environment={"XDG_RUNTIME_DIR": ""})
    return App(binary, usher, sandbox, through, state)


def rows(page):
    return page.get_by_role("row").filter(has=page.get_by_role("checkbox"))


def test_a_login_as_a_story(app, browse):
    page = browse(app.person, "journeys")
    expect(page.get_by_role("heading", name="No logins yet")).to_be_visible()
    session = app.login()
    granted = app.grant(
        grant_type="authorization_code", code=app.code(session), redirect_uri=BACK, code_verifier=VERIFIER)
    app.http.get(f"{app.sandbox.plain}/reached", headers={"Authorization": f"Bearer {granted['access_token']}"}, timeout=10)
    # and a step-up with its session
    app.http.get(f"{app.sandbox.shop}/order/9", headers={"Cookie": f"{shop.COOKIE}={session}"}, timeout=20)
    login, own = app.ended(2)
    expect(rows(page)).to_have_count(2)
    expect(rows(page).last).to_contain_text("succeeded")
    rows(page).last.get_by_role("link").click()
    story = page.get_by_role("article", name=f"Journey {login['id']}")
    expect(story.get_by_role("heading", level=1)).to_have_text("/ Login as demo")
    asked = story.get_by_role("table", name="Callbacks")
    expect(asked.get_by_role("row").filter(has_text="NameCallback")).to_contain_text("demo")
    expect(asked.get_by_role("row").filter(has_text="PasswordCallback")).to_contain_text("password#1")
    nodes = story.get_by_role("listitem")
    expect(nodes.filter(has_text="AUTHENTICATE").filter(has_text="edited by").first).to_contain_text("mark")
    expect(nodes.filter(has_text="EXCHANGE_TOKEN")).to_contain_text("won")
    # the step-up branches off, for what needed it
    branch = nodes.filter(has_text="step-up").filter(has_text="/shop/order/9")
    expect(branch).to_contain_text("200")
    expect(story.get_by_role("region", name="What its credentials reached")).to_contain_text(
        app.sandbox.plain.removesuffix("/plain"))
    branch.get_by_role("link", name=re.compile("journey")).click()
    expect(page.get_by_role("article", name=f"Journey {own['id']}")).to_contain_text("Needed by")
    # nothing secret is in the page
    assert not [secret for secret in app.secrets if secret in page.content()]


def test_two_side_by_side(app, browse):
    app.login(), app.login(), app.login("user2")
    one, same, other = (journey["id"] for journey in app.ended(3))
    page = browse(app.person, "journeys")
    for id in (one, other):
        page.get_by_role("checkbox", name=f"Compare journey {id}").check()
    page.get_by_role("button", name="Compare two").click()
    both = page.get_by_role("article", name="Two journeys compared")
    expect(both).to_contain_text("They differ.")
    line = both.get_by_role("row").filter(has_text="NameCallback")
    expect(line.get_by_role("cell").nth(0)).to_contain_text("demo")
    expect(line.get_by_role("cell").nth(1)).to_contain_text("user2")
    show(page, f"journeys/{one}/{same}")
    expect(both).to_contain_text("They went alike.")


def test_a_filter_of_logins(app, browse):
    app.login()
    assert app.go_on(app.begin(), password="wrong").status_code == 401
    app.ended(2)
    page = browse(app.person, "journeys")
    expect(rows(page)).to_have_count(2)
    field = page.get_by_role("combobox", name="Filter")
    field.fill("outcome=faild")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("did you mean failed?")
    field.fill("outcome=failed")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("failed")


def test_a_journey_that_is_gone(app, browse):
    page = browse(app.person, "journeys/dead")
    expect(page.get_by_role("alert")).to_contain_text("there is no journey dead")
