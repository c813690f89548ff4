"""The sandbox's trees, each passed with what the configuration answers."""

import pytest

import people
import programs
import shop

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PROFILE = [
    {"callback": "TermsAndConditionsCallback", "value": "true"},
    {"callback": "ConsentMappingCallback", "name": "managedUser_*", "choose": "yes"},
    {"callback": "KbaCreateCallback", "question": "*pet*", "answer": "Rex"},
    {"callback": "StringAttributeInputCallback", "name": "mail", "value": "robot@example.com"}]
ANSWERS = {
    "Totp": [
        {"callback": "NameCallback", "prompt": "*verification code*", "totp": SECRET},
        {"callback": "ConfirmationCallback", "default": True}],
    "Poll": [],
    "Profile": [*PROFILE, {"callback": "ValidatedCreatePasswordCallback", "value": "changeit2"}],
    "Device": [{"callback": "DeviceProfileCallback", "device": {"identifier": "robot-1", "metadata": {"platform": "linux"}}}],
    "Social": [{"callback": "SelectIdPCallback", "choose": "local*"}],
}


@pytest.fixture
def ask(start, sandbox, through):
    """ask(path, user, answers, …) → the answer and the proxy that it came through."""
    def run(path, user, answers, **authorization):
        robot = [{"callback": "NameCallback", "value": user}, {"callback": "PasswordCallback", "value": "changeit"}]
        usher = start(shop.config(sandbox, answers=[*answers, *robot], **authorization))
        answer = through(usher).get(
            f"{sandbox.shop}{path}", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox, user)}"}, timeout=60,
            allow_redirects=False)
        return answer, usher

    return run


@pytest.mark.parametrize("tree", ANSWERS)
def test_a_transaction_that_asks_what_a_tree_asks(ask, tree):
    answer, usher = ask(f"/with/{tree}/a", "user7", ANSWERS[tree])
    assert answer.status_code == 200, usher.said("/with/", "note")
    assert answer.json()["user"] == "user7"


@pytest.mark.parametrize("tree", ["Poll", "Profile", "Social"])
def test_an_upgrade_by_that_tree(ask, tree):
    """The advice names the tree, so that answers may."""
    answers = [{"tree": tree, "answers": ANSWERS[tree]}] if ANSWERS[tree] else []
    answer, usher = ask(f"/service/{tree}/a", "user6", answers)
    assert answer.status_code == 200, usher.said("/service/", "note")


def test_answers_for_another_tree_are_not_given(ask):
    answer, usher = ask("/service/Social/a", "user6", [{"tree": "Login", "answers": ANSWERS["Social"]}])
    assert answer.status_code == 401
    assert usher.said("/service/", "note", "SelectIdPCallback; it offers acme, localAuthentication")


def test_answers_by_user(ask):
    right = {"user": "user5", "callback": "SelectIdPCallback", "choose": "local*"}
    wrong = {"user": ["user4", "demo"], "callback": "SelectIdPCallback", "choose": "acme"}
    answer, usher = ask("/with/Social/a", "user5", [wrong, right])
    assert answer.status_code == 200, usher.said("/with/", "note")


def test_a_password_that_is_too_short(ask):
    answer, usher = ask(
        "/with/Profile/a", "user6", [*PROFILE, {"callback": "ValidatedCreatePasswordCallback", "value": "secret"}])
    assert answer.status_code == 401
    assert usher.said(
        "/with/", "note",
        r"policies: LENGTH_BASED \(min-password-length 8\), AT_LEAST_X_NUMBERS \(numNums 1\)")


def test_a_browser_is_sent_nowhere(ask):
    answer, usher = ask("/with/Redirect/a", "user6", [])
    assert answer.status_code == 401
    assert usher.said("/with/", "note", "sends the user's browser to idp.sandbox.example, where Usher does not go")


def test_a_link_that_was_mailed(start, sandbox, binary, state):
    """A person gives it; another server's is refused in words, nothing of it is logged, and the tree goes on waiting."""
    usher = start(
        shop.config(sandbox, hold="30s", answers=[
            {"callback": "NameCallback", "value": "user8"}, {"callback": "PasswordCallback", "value": "changeit"},
            {"otherwise": "ask"}]), state=state, environment={"XDG_RUNTIME_DIR": ""})
    person = people.Person(binary, state)
    with people.App(usher, sandbox, shop.login(sandbox, "user8"), "/with/Mail/a") as app:
        one = person.sees()[0]
        assert one["kind"] == "suspended"
        mails = sandbox.wait_for(
            lambda: [line for line in [*sandbox.lines, *sandbox.errors] if "mail to user8: " in line], "the mail")
        link = mails[-1].split("mail to user8: ")[1]
        wrong = person.says("answer", one["id"], link.replace("am.localhost", "evil.localhost"))
        assert wrong.returncode == 1 and "the link leads to http://evil.localhost" in wrong.stderr
        assert "the link has no suspendedId" in person.says("answer", one["id"], link.split("?")[0]).stderr
        assert person.says("answer", one["id"], link).stdout == f"{one['id']} is answered\n"
        assert app.answer().status == 200, usher.said("/with/Mail", "note")
    assert not any("evil.localhost" in line for line in usher.lines + usher.errors)


def test_a_long_link_is_typed(start, sandbox, binary, state):
    """A terminal that takes lines cuts them at 4,095 bytes."""
    usher = start(
        shop.config(sandbox, hold="30s", answers=[
            {"callback": "NameCallback", "value": "user7"}, {"callback": "PasswordCallback", "value": "changeit"},
            {"otherwise": "ask"}]), state=state, environment={"XDG_RUNTIME_DIR": ""})
    person = people.Person(binary, state)
    with people.App(usher, sandbox, shop.login(sandbox, "user7"), "/with/Mail/long") as app:
        one = person.sees()[0]
        mails = sandbox.wait_for(
            lambda: [line for line in [*sandbox.lines, *sandbox.errors] if "mail to user7: " in line], "the mail")
        link = mails[-1].split("mail to user7: ")[1]
        with people.Terminal(binary, person, "answer", one["id"]) as terminal:
            terminal.reads(b"the link: ")
            # too much, taken back as a whole, and a letter too many
            terminal.types(b"h\xc3\xbcgo\x15" + link.replace("?", f"?padding={'x' * 6000}&").encode() + b"y\x7f\r")
            terminal.reads(b"is answered")
            assert terminal.ends() == 0
        assert app.answer().status == 200, usher.said("/with/Mail", "note")
