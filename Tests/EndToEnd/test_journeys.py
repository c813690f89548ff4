"""Logins as stories: what the flows of one come to, by commands and by the daemon's interface."""

import hashlib
import http.cookiejar
import json
import re
import urllib.parse

import pytest

import people
import programs
import shop
from test_admin_description import Described
from test_sandbox_tokens import BACK, VERIFIER, encoded

HEADERS = {"Content-Type": "application/json", "Accept-API-Version": "protocol=1.0,resource=2.1"}
SECRETS = ("changeit", VERIFIER)


class App:
    """An app that signs in at the sandbox's AM through the proxy."""

    def __init__(self, binary, usher, sandbox, through, state):
        self.sandbox, self.http = sandbox, through(usher)
        self.http.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self.person = people.Person(binary, state)
        self.secrets = set(SECRETS)

    def post(self, path, session=None, **options):
        headers = HEADERS | ({"Cookie": f"{shop.COOKIE}={session}"} if session else {})
        return self.http.post(f"{self.sandbox.am}/json/realms/root/{path}", headers=headers, timeout=10, **options)

    def begin(self, tree="Login", session=None, **more):
        return self.post(
            "authenticate", session, params={"authIndexType": "service", "authIndexValue": tree, **more}).json()

    def go_on(self, step, user="demo", password="changeit", session=None):
        for callback in step["callbacks"]:
            if callback.get("input"):
                callback["input"][0]["value"] = user if callback["type"] == "NameCallback" else password
        self.secrets.add(step["authId"])
        return self.post("authenticate", session, json=step)

    def login(self, user="demo", tree="Login", session=None, **more):
        step = self.begin(tree, session, **more)
        while "authId" in step:
            step = self.go_on(step, user, session=session).json()
        self.secrets.add(step["tokenId"])
        return step["tokenId"]

    def code(self, session):
        answer = self.http.get(
            f"{self.sandbox.am}/oauth2/realms/root/authorize", timeout=10, allow_redirects=False,
            headers={"Cookie": f"{shop.COOKIE}={session}"}, params={
                "client_id": "app", "response_type": "code", "scope": "openid", "redirect_uri": BACK, "state": "s",
                "code_challenge": encoded(hashlib.sha256(VERIFIER.encode()).digest()), "code_challenge_method": "S256"})
        return urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)["code"][0]

    def grant(self, **form):
        granted = self.http.post(
            f"{self.sandbox.am}/oauth2/realms/root/access_token", data={"client_id": "app", **form}, timeout=10).json()
        self.secrets |= {granted["access_token"], granted["refresh_token"]}
        return granted

    def journeys(self, *terms, count=None):
        """What `usher journeys` lists as JSON, once there are so many."""
        def listed():
            done = self.person.says("journeys", "--json", *terms)
            assert done.returncode == 0, done.stderr
            found = [json.loads(line) for line in done.stdout.splitlines()]
            return (count is None or len(found) >= count) and (found, )

        return programs.eventually(listed, f"{count} journeys")[0]

    def ended(self, count):
        """The same, once all of them have."""
        return programs.eventually(
            lambda: (found := self.journeys(count=count)) and all(one["outcome"] != "running" for one in found) and found,
            "the ends of journeys")

    def journey(self, id):
        done = self.person.says("journey", id, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def told(self, *arguments):
        """What a command says; no secret is in it."""
        done = self.person.says(*arguments)
        assert not [secret for secret in self.secrets if secret in done.stdout + done.stderr]
        return done


@pytest.fixture
def app(binary, start, sandbox, through, state):
    usher = start(shop.config(sandbox), state=state, environment={"XDG_RUNTIME_DIR": ""})
    return App(binary, usher, sandbox, through, state)


def test_a_login_its_tokens_and_what_they_reach(app):
    session = app.login()
    granted = app.grant(
        grant_type="authorization_code", code=app.code(session), redirect_uri=BACK, code_verifier=VERIFIER)
    for number in range(2):
        app.http.get(
            f"{app.sandbox.plain}/{number}", headers={"Authorization": f"Bearer {granted['access_token']}"}, timeout=10)
    app.grant(grant_type="refresh_token", refresh_token=granted["refresh_token"])
    assert app.post("sessions", session, params={"_action": "logout"}).status_code == 200
    programs.eventually(lambda: [one["ended_by"] for one in app.journeys()][-1:] != [None], "the end")

    one = app.journeys(count=1)
    assert len(one) == 1
    one = one[0]
    assert (one["outcome"], one["tree"], one["realm"], one["login"]) == ("succeeded", "Login", "/", "demo")
    assert (one["by"], one["steps"], one["complete"], one["reason"]) == ("app", 2, True, None)
    whole = app.journey(one["id"])
    assert [step["action"] for step in whole["steps"]] == ["START_AUTHENTICATE", "AUTHENTICATE"]
    asked = whole["steps"][0]["callbacks"]
    assert [callback["type"] for callback in asked] == ["NameCallback", "PasswordCallback"]
    assert asked[0]["answer"] == "demo" and asked[1]["answer"].startswith("password#")
    assert [call["action"] for call in whole["calls"]] == ["AUTHORIZE", "EXCHANGE_TOKEN", "REFRESH_TOKEN", "LOGOUT"]
    kinds = [token["kind"] for token in whole["tokens"]]
    assert kinds[:2] == ["session", "code"] and kinds.count("access_token") == 2 and kinds.count("refresh_token") == 2
    reached = whole["resources"]
    assert [(place["origin"], place["requests"], place["paths"]) for place in reached] == [
        (app.sandbox.plain.removesuffix("/plain"), 2, 2)]
    for step in whole["steps"]:
        assert app.journey(step["flow"])["journey"]["id"] == one["id"], "any of its calls stands for it"

    story = app.told("journey", one["id"][-6:])
    assert story.returncode == 0, story.stderr
    lines = story.stdout.splitlines()
    assert lines[0].startswith("/ Login as demo → succeeded, signed out in ") and "\x1b" not in story.stdout
    assert any(re.match(r" +0 ms  START_AUTHENTICATE → 200 in \d+ ms.*\(flow ", line) for line in lines)
    assert any(re.match(r" +NameCallback “.*”: demo$", line) for line in lines)
    assert "Won" in lines and "Reached" in lines and any(line.startswith("  refresh_token  token#") for line in lines)

    listed = app.told("journeys").stdout.splitlines()
    assert listed[0].split() == ["JOURNEY", "TIME", "TREE", "WHO", "STEPS", "MS", "TOKENS", "ORIGINS", "OUTCOME"]
    assert len(listed) == 2 and "/ Login" in listed[1] and listed[1].endswith("succeeded, signed out")


def test_what_goes_wrong_and_what_goes_on_at_the_same_time(app):
    first, second = app.begin(), app.begin("StepUp")
    assert app.go_on(first, password="wrong").status_code == 401
    second = app.go_on(second, "user1").json()
    third = app.begin()
    assert "tokenId" in app.go_on(second, "user1").json()
    found = app.journeys("outcome!=running", count=2)
    assert [one["outcome"] for one in found] == ["failed", "succeeded"]
    assert [one["login"] for one in found] == ["demo", "user1"] and [one["steps"] for one in found] == [2, 3]
    assert "401" in found[0]["reason"]
    assert len(app.journeys("outcome=running", count=1)) == 1 and third["authId"]
    assert [one["tree"] for one in app.journeys("tree=StepUp")] == ["StepUp"]
    assert len(app.journeys("not", "tree=StepUp")) == 2 and app.journeys("by=usher") == []
    assert len(app.journeys("login=user*")) == 1 and len(app.journeys("status=401")) == 1
    assert len(app.journeys("--limit", "1")) == 1
    assert app.told("journeys", "login=nobody").stdout == "no journey matches\n"
    failed = app.told("journey", found[0]["id"]).stdout
    assert "failed: " in failed.splitlines()[0]


def test_an_upgrade_names_what_it_is_of(app):
    old = app.login()
    new = app.login(tree="StepUp", session=old)
    assert old != new
    login, upgrade = app.ended(2)
    whole = app.journey(upgrade["id"])
    assert whole["from"] == {"session": login["session"], "journey": login["id"]}
    assert app.journey(login["id"])["stepped_up_by"] == [upgrade["id"]]
    assert f"started with {login['session']}, obtained by journey {login['id']}" in app.told("journey", upgrade["id"]).stdout


def test_a_step_up_of_usher_s_own(app):
    session = app.login()
    answer = app.http.get(
        f"{app.sandbox.shop}/order/9", headers={"Cookie": f"{shop.COOKIE}={session}"}, timeout=20)
    assert answer.status_code == 200
    programs.eventually(
        lambda: (own := app.journeys("by=usher")) and app.journey(own[0]["id"])["for"], "the request that it was for")
    login, own = app.ended(2)
    assert (own["by"], own["type"], own["outcome"]) == ("usher", "composite_advice", "succeeded")
    whole = app.journey(own["id"])
    assert whole["for"]["flow"] == own["parent"] and whole["for"]["status"] == 200
    assert whole["for"]["url"].endswith("/shop/order/9") and whole["from"]["journey"] == login["id"]
    assert app.journey(login["id"])["resources"][0]["origin"] == app.sandbox.shop.removesuffix("/shop")
    story = app.told("journey", own["id"]).stdout
    assert f"run by Usher for flow {own['parent']}: GET {app.sandbox.shop}/order/9 → 200" in story
    assert "(usher)" in app.told("journeys").stdout


def test_a_transaction_that_an_app_approves_itself(app):
    """AM says the same of one that was refused; the resource tells (docs/protocol.md#how-it-ends)."""
    session = app.login()
    headers = {"Cookie": f"{shop.COOKIE}={session}", "x-authenticate-response": "header"}

    def ask(path):
        return app.http.get(f"{app.sandbox.shop}{path}", headers=headers, timeout=10)

    def approve(path):
        """One transaction, as an app has it approved."""
        transaction = shop.advice(ask(path))["TransactionConditionAdvice"][0]
        app.secrets.add(transaction)
        document = (
            '<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/>'
            f"<Value>{transaction}</Value></AttributeValuePair></Advices>")
        step = app.post(
            "authenticate", session,
            params={"authIndexType": "composite_advice", "authIndexValue": document}).json()
        while "authId" in step:
            step = app.go_on(step, session=session).json()
        return transaction

    assert ask(f"/good?_txid={approve('/good')}").status_code == 200
    # approved for another resource: it grants nothing here
    assert ask(f"/bad?_txid={approve('/other')}").status_code == 401
    outcomes = programs.eventually(
        lambda: (found := [(one["type"], one["outcome"], one["reason"]) for one in app.journeys(count=3)])
        and found[-1][1] == "failed" and found, "the ends")
    assert outcomes == [
        ("service", "succeeded", None), ("composite_advice", "succeeded", None),
        ("composite_advice", "failed", "AM did not approve the transaction")]


def test_a_link_that_was_mailed(app):
    step = app.begin("Mail")
    assert "SuspendedTextOutputCallback" in app.go_on(step, "user5").text
    assert app.journeys("outcome=suspended", count=1)
    mails = app.sandbox.wait_for(
        lambda: [line for line in [*app.sandbox.lines, *app.sandbox.errors] if "mail to user5: " in line], "the mail")
    link = urllib.parse.urlsplit(mails[-1].split("mail to user5: ")[1])
    answer = app.http.post(f"{app.sandbox.am}/json/realms/root/authenticate?{link.query}", headers=HEADERS, timeout=10)
    assert "tokenId" in answer.json(), answer.text
    one = programs.eventually(lambda: app.journeys("outcome=succeeded"), "the end")
    assert len(one) == 1 and one[0]["steps"] == 3 and one[0]["login"] == "user5"
    assert "continues with a mailed link" in app.told("journey", one[0]["id"]).stdout


def test_two_are_compared(app):
    app.login(), app.login(), app.login("user2")
    one, same, other = (journey["id"] for journey in app.ended(3))
    done = app.told("journey", "diff", one, same)
    assert done.returncode == 0 and done.stdout == f"journeys {one} and {same} are alike\n", done.stdout
    done = app.told("journey", "diff", one, other)
    assert done.returncode == 1 and done.stdout.startswith(f"- journey {one}\n+ journey {other}\n")
    assert "-   NameCallback “User Name”: demo" in done.stdout and "+   NameCallback “User Name”: user2" in done.stdout
    told = app.told("journey", "diff", one, other, "--json")
    assert told.returncode == 1 and json.loads(told.stdout)["same"] is False
    assert json.loads(app.told("journey", "diff", one, same, "--json").stdout)["same"] is True
    for pair in ([one, "dead"], ["", one], [one]):
        assert app.told("journey", "diff", *pair).returncode in (2, 64), pair


def test_at_a_terminal(app, binary):
    app.login()
    one = app.ended(1)[0]
    with people.Terminal(binary, app.person, "journeys") as terminal:
        terminal.reads(b"\x1b[32msucceeded\x1b[0m")
        assert terminal.ends() == 0
    app.person.environment["NO_COLOR"] = "1"
    with people.Terminal(binary, app.person, "journey", one["id"]) as terminal:
        terminal.reads(b"Won")
        assert terminal.ends() == 0 and b"\x1b[" not in terminal.shown


def test_who_asks_for_what_there_is_not_is_told_what_there_is(app, start, tmp_path, binary):
    empty = app.told("journeys")
    assert empty.returncode == 0 and empty.stdout.startswith("no login was recorded yet: ") and "am names" in empty.stdout
    assert "there is none" in app.told("journey", "dead").stderr
    app.login()
    one = app.ended(1)[0]
    done = app.told("journey", "dead")
    assert done.returncode == 1 and f"there is no journey dead; the newest are {one['id']}" in done.stderr
    app.http.get(f"{app.sandbox.plain}/x", timeout=10)
    flow = programs.eventually(
        lambda: app.person.says("flows", "--json", "path=*/x").stdout.splitlines(), "the flow")[-1]
    flow = json.loads(flow)["id"]
    assert f"flow {flow} belongs to no journey" in app.told("journey", flow).stderr
    for terms, words in [(["outcome=faild"], "did you mean failed?"), (["statsu=1"], "did you mean status?")]:
        done = app.told("journeys", *terms)
        assert done.returncode == 2 and words in done.stderr
    for limit in ("0", "x"):
        assert app.told("journeys", "--limit", limit).returncode in (2, 64)
    assert app.told("journey", "").returncode == 2


def test_the_interface_says_what_its_description_says(app, start, sandbox, binary, tmp_path):
    app.login()
    one = app.ended(1)[0]
    api = Described(app.person)
    status, page = api.asks("GET", "/v1/journeys?limit=1&filter=outcome%3Dsucceeded")
    assert status == 200 and page["journeys"] == [one] and page["next"] is None
    assert api.asks("GET", f"/v1/journeys?before={one['sequence']}")[1]["journeys"] == []
    for wrong in ("limit=0", "limit=1001", "before=-1", "filter=x", "odd=1"):
        assert api.asks("GET", f"/v1/journeys?{wrong}")[0] == 400
    template = "/v1/journeys/{id}"
    assert api.asks("GET", f"/v1/journeys/{one['id']}", template=template)[1]["journey"] == one
    assert api.asks("GET", "/v1/journeys/dead", template=template)[0] == 404
    none = start({"journal": {"memory": "0B"}}, state=tmp_path / "other", environment={"XDG_RUNTIME_DIR": ""})
    assert none.port
    api = Described(people.Person(binary, tmp_path / "other"))
    assert api.asks("GET", "/v1/journeys")[0] == 409
    assert api.asks("GET", "/v1/journeys/1", template=template)[0] == 409
