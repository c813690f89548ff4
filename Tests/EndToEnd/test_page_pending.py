"""Step-ups that are answered by clicking: the app's request, which was held meanwhile, gets what it asked for."""

import json
import uuid

import pytest

import people
import programs
import programs
import shop
from browsers import expect, show

ASK = {"answers": [{"otherwise": "ask"}], "hold": "60s"}
PHONE = {"width": 390, "height": 844}
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
QR = "otpauth://totp/Usher:demo?secret=GEZDGNBVGY3TQOJQ&issuer=Usher"
# a page for each form that an answer has, in one tree
FORMS = {
    "policies": [{"name": "forms", "path": "/shop/forms/*", "requires": [{"transaction": "Forms"}]}],
    "trees": [{"name": "Forms", "header": "Pay at the till", "pages": [
        {"callbacks": [{"type": "NameCallback", "prompt": "Cashier", "check": "user"},
                       {"type": "PasswordCallback", "prompt": "Pin", "check": "password"}],
         "on_failure": "again"},
        {"callbacks": [{"type": "ChoiceCallback", "prompt": "Pay?", "choices": ["No", "Yes"], "answer": "Yes"}]},
        {"callbacks": [{"type": "ChoiceCallback", "prompt": "Which card?", "choices": ["Blue", "Red"], "answer": "Red"},
                       {"type": "ChoiceCallback", "prompt": "Month", "choices": MONTHS, "answer": "July"},
                       {"type": "BooleanAttributeInputCallback", "prompt": "Remember me", "input": "boolean", "answer": "true"},
                       {"type": "NumberAttributeInputCallback", "prompt": "Pieces", "input": "number", "answer": "3"},
                       {"type": "ConfirmationCallback", "prompt": "Sure?", "choices": ["Buy", "Leave"], "answer": "Buy"}]},
        {"callbacks": [{"type": "TextOutputCallback", "message": f"Scan this with your phone: {QR}"},
                       {"type": "TextInputCallback", "prompt": "Why?", "answer": "~^[a-z ]+$"}], "on_failure": "again"},
        {"page": "agreement"}, {"page": "knowledge"}, {"page": "mail_address"}, {"page": "new_password"},
        {"page": "provider"}]}]}


@pytest.fixture
def app(sandbox):
    """An app whose request waits: app(usher, path, sandbox=…) → the connection on which the answer is waited for."""
    opened = []

    def ask(usher, path=None, place=sandbox, user="demo"):
        opened.append(people.App(usher, place, shop.login(place, user), path or f"/{uuid.uuid4().hex}"))
        return opened[-1]

    yield ask
    for connection in opened:
        connection.close()


def cards(page):
    return page.get_by_role("region", name="Step-ups that wait").get_by_role("listitem")


def test_a_step_up_is_answered_on_a_phone(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending", **PHONE)
    expect(page.get_by_role("heading", name="No step-up waits for a person")).to_be_visible()
    waiting = app(usher, "/basket?code=hidden")
    # it comes by itself
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("/basket?code=REDACTED")
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Pending")).to_contain_text("1")
    cards(page).get_by_role("link").click()
    page.get_by_label("User Name").fill("demo")
    page.get_by_label("Password").fill(people.SECRET)
    # nothing has to be scrolled sideways
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Answer").click()
    answer = waiting.answer()
    assert answer.status == 200 and json.loads(answer.body)["user"] == "demo"
    expect(page.get_by_text("The app got its response.")).to_be_visible()
    expect(page.get_by_role("link", name="Look at the flow")).to_be_visible()
    assert person.waiting() == []


def test_a_wrong_answer_is_asked_for_again(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending")
    waiting = app(usher)
    cards(page).get_by_role("link").click()
    page.get_by_label("User Name").fill("demo")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("AM asks more: this is its next page.")).to_be_visible()
    page.get_by_label("User Name").fill("demo")
    page.get_by_label("Password").fill(people.SECRET)
    page.get_by_role("button", name="Answer").click()
    assert waiting.answer().status == 200


def test_who_denies_is_asked_first(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending")
    waiting = app(usher)
    cards(page).get_by_role("link").click()
    page.get_by_role("button", name="Deny…").click()
    page.get_by_role("button", name="Keep waiting").click()
    assert len(person.waiting()) == 1
    page.get_by_role("button", name="Deny…").click()
    page.get_by_role("dialog").get_by_role("button", name="Deny", exact=True).click()
    answer = waiting.answer()
    assert answer.status == 401 and "SSOADVICE" in answer.get("www-authenticate")
    expect(page.get_by_text("The app got the original response.")).to_be_visible()


def test_one_that_is_answered_elsewhere_goes(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending")
    waiting = app(usher)
    expect(cards(page)).to_have_count(1)
    assert person.answers(person.sees()[0])[0].status == 200
    assert waiting.answer().status == 200
    expect(cards(page)).to_have_count(0)


def test_every_form_of_an_answer(house, own_sandbox, app, browse, tmp_path):
    """AM's tree asks in nine pages, and each comes by itself after the answer to the one before."""
    document = tmp_path / "forms.yaml"
    document.write_text(json.dumps(FORMS))
    sandbox = own_sandbox("--journeys", document)
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending", **PHONE)
    waiting = app(usher, "/forms/x", sandbox, "user3")
    cards(page).get_by_role("link").click()
    expect(page.get_by_role("heading", name="Pay at the till", level=1)).to_be_visible()
    form = page.get_by_role("region", name="Step-up", exact=True)

    def answered(by="Answer"):
        before = page.url
        form.get_by_role("button", name=by, exact=True).click()
        # the next page has an id of its own
        page.wait_for_url(lambda url: url != before)

    form.get_by_label("Cashier").fill("user3")
    form.get_by_label("Pin").fill(people.SECRET)
    answered()
    # one choice alone is buttons
    expect(form).to_contain_text("Pay?")
    answered("Yes")
    form.get_by_role("group", name="Which card?").get_by_label("Red").check()
    form.get_by_label("Month").select_option("July")
    form.get_by_label("Remember me").check()
    form.get_by_label("Pieces").fill("3")
    answered("Buy")
    # what is for an authenticator app can be taken by its camera
    expect(form.get_by_role("img", name="QR code for an authenticator app")).to_be_visible()
    form.get_by_label("Why?").fill("1")
    answered()
    expect(page.get_by_text("AM asks more")).to_be_visible()
    form.get_by_label("Why?").fill("because")
    answered()
    expect(form).to_contain_text("Be kind to the sandbox.")
    form.get_by_label("I accept the terms").check()
    form.get_by_label("Share?").check()
    answered()
    form.get_by_label("question").first.fill("The name of your pet?")
    form.get_by_label("answer").first.fill("Rex")
    answered()
    form.get_by_label("mail").fill("user3@example.com")
    answered()
    # what AM's policies say of an answer stands beside its field
    form.get_by_label("password").fill("short")
    answered()
    expect(form).to_contain_text("AM did not accept the last answer")
    form.get_by_label("password").fill("changeit2")
    answered()
    form.get_by_role("button", name="localAuthentication").click()
    answer = waiting.answer()
    assert answer.status == 200 and json.loads(answer.body)["user"] == "user3", usher.said("/forms/x", "note")


def test_a_link_that_was_mailed(house, sandbox, app, browse):
    answers = [
        {"callback": "NameCallback", "value": "user9"}, {"callback": "PasswordCallback", "value": people.SECRET},
        {"otherwise": "ask"}]
    usher, person = house(**shop.config(sandbox, **{**ASK, "answers": answers}))
    page = browse(person, "pending")
    waiting = app(usher, "/with/Mail/page", sandbox, "user9")
    cards(page).get_by_role("link").click()
    mails = sandbox.wait_for(
        lambda: [line for line in [*sandbox.lines, *sandbox.errors] if "mail to user9: " in line], "the mail")
    link = mails[-1].split("mail to user9: ")[1]
    field = page.get_by_label("The link that AM sent to the user")
    field.fill(link.replace("am.localhost", "evil.localhost"))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("the link leads to")
    field.fill(link)
    page.get_by_role("button", name="Continue").click()
    assert waiting.answer().status == 200, usher.said("/with/Mail", "note")


def test_an_answer_that_comes_too_late_says_so(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **{**ASK, "hold": "2s"}))
    page = browse(person, "pending")
    waiting = app(usher)
    cards(page).get_by_role("link").click()
    page.get_by_label("User Name").fill("demo")
    page.get_by_label("Password").fill(people.SECRET)
    assert waiting.answer().status == 401
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("main")).to_contain_text("too late")


def test_who_looks_elsewhere_is_notified(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "pending", permissions=["notifications"])
    expect(page.get_by_text("Notifications are on")).to_be_visible()
    # what the desktop would show, while another window is in front
    page.evaluate("""() => {
      window.shown = [];
      window.Notification = class {
        static permission = 'granted';
        constructor(heading, {body}) { window.shown.push(heading + ': ' + body); window.notice = this; }
        close() {}
      };
      Object.defineProperty(document, 'hidden', {get: () => true});
      document.dispatchEvent(new Event('visibilitychange'));
    }""")
    app(usher, "/told")
    programs.eventually(lambda: page.evaluate("window.shown.length"), "the notification")
    assert "/shop/told" in page.evaluate("window.shown[0]")
    page.evaluate("window.notice.onclick()")
    expect(page.get_by_label("User Name")).to_be_visible()


def test_the_title_says_how_many_wait(house, sandbox, app, browse):
    usher, person = house(**shop.config(sandbox, **ASK))
    page = browse(person, "overview")
    app(usher), app(usher)
    expect(page).to_have_title("(2) Usher")
    for one in person.sees(2):
        person.asks("POST", f"/v1/transactions/{one['id']}/deny")
    expect(page).to_have_title("Usher")
    show(page, "pending")
    expect(page.get_by_role("heading", name="No step-up waits for a person")).to_be_visible()
