"""What a hostile or broken gateway and AM can do, brought about in the sandbox by the request itself: each ends within its limit,
the app gets the original answer, one line says why, and nobody is told anything who is not configured."""

import json
import pathlib
import re
import subprocess
import time

import pytest

import shop

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/transactions.md"
UNREADABLE = "the step-up failed: AM cannot read the transaction"

# what goes wrong, the status that the app gets, and why
FAULTS = {
    "expired-transaction": (401, UNREADABLE),
    "used-transaction": (401, UNREADABLE),
    "foreign-transaction": (401, UNREADABLE),
    "again": (401, "asks for another transaction after the last one allowed"),
    "bad-base64": (401, "SSOADVICE challenge holds none that can be read"),
    "bad-json": (401, "SSOADVICE challenge holds none that can be read"),
    "cut": (401, "SSOADVICE challenge holds none that can be read"),
    "no-value": (401, "SSOADVICE challenge holds none that can be read"),
    "unknown-advice": (401, "400"),
    "entities": (401, UNREADABLE),
    "thousand-advices": (401, "more than fit into a URL"),
    "am-reset": (401, "reset|closed"),
    "am-slow=5000": (401, "hold"),
    "am-too-many": (401, "429"),
    "am-unavailable": (401, "503"),
    "am-lockout": (401, "refused"),
    "am-text": (401, "not a JSON object"),
    "am-circle": (401, "302"),
    "am-endless": (401, "asks again"),
    "am-huge-authid": (401, "larger than"),
}


@pytest.fixture
def ask(start, sandbox, through):
    def run(path, method="GET", **authorization):
        usher = start({**shop.config(sandbox, **{"hold": "2s", **authorization}), "workers": 1})
        headers = {"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}
        begun = time.monotonic()
        answer = through(usher).request(
            method, f"{sandbox.shop}{path}", headers=headers, timeout=15, allow_redirects=False,
            data=b"paid once" if method == "POST" else None)
        return usher, answer, time.monotonic() - begun

    return run


def check_hosts(usher, sandbox):
    """Nothing was sent anywhere else."""
    for record in usher.records():
        if "url" in record:
            assert f".localhost:{sandbox.port}/" in record["url"], record
    assert "evil" not in json.dumps([record for record in usher.records() if "url" in record])


@pytest.mark.parametrize("fault", FAULTS)
def test_the_original_answer(ask, sandbox, fault):
    status, why = FAULTS[fault]
    before = shop.status(sandbox)
    usher, answer, took = ask(f"/fault?_fault={fault}", "POST")
    assert answer.status_code == status
    assert answer.headers.get("Proxy-Status") is None
    assert "SSOADVICE" in answer.headers["WWW-Authenticate"]
    assert took < 5
    notes = usher.said("/shop/fault", "note", why)
    assert len(notes) == 1, usher.flow("/shop/fault").events
    check_hosts(usher, sandbox)
    # no byte of the body reached the resource
    assert shop.status(sandbox)["accesses"] == before["accesses"]


@pytest.mark.parametrize("fault", ["bad-base64", "bad-json", "cut", "no-value", "entities", "foreign-am", "unknown-advice"])
def test_the_redirect_form(ask, sandbox, fault):
    usher, answer, _ = ask(f"/redirected?_fault={fault}", offer_header=False)
    assert answer.status_code == 307
    assert "/am/?goto=" in answer.headers["Location"]
    check_hosts(usher, sandbox)
    begun = shop.status(sandbox)["transactions"]["begun"]
    ask(f"/redirected?_fault={fault}", offer_header=False)
    # such a document is never handed on to AM; one of an unknown kind is AM's to judge
    assert shop.status(sandbox)["transactions"]["begun"] == begun


def test_an_am_that_is_not_configured(ask, sandbox):
    """Its address is never used: AM is where the configuration says."""
    usher, answer, _ = ask("/foreign?_fault=foreign-am")
    assert answer.status_code == 200
    check_hosts(usher, sandbox)


def test_a_head_that_is_too_large(ask, sandbox):
    """Of an answer with such a head nothing can be handed on."""
    usher, answer, _ = ask("/huge?_fault=huge-advice")
    assert answer.status_code == 502
    assert "header" in answer.headers["Proxy-Status"] or "head" in answer.text
    check_hosts(usher, sandbox)


@pytest.mark.parametrize("fault", ["huge-advice", "thousand-advices", "entities", "unknown-advice"])
def test_decisions_of_am(start, sandbox, through, fault):
    """A body of any size arrives as AM wrote it."""
    admin, user = shop.login(sandbox, "policyadmin"), shop.login(sandbox)
    resources = [f"{sandbox.shop}/*", f"{sandbox.am}/json/*"]
    usher = start({**shop.config(sandbox, resources=resources), "workers": 1})
    question = {"resources": [f"{sandbox.shop}/x"], "subject": {"ssoToken": user}}
    answer = through(usher).post(
        f"{sandbox.am}/json/realms/root/policies?_action=evaluate&_fault={fault}", json=question, timeout=30,
        headers={"Cookie": f"{shop.COOKIE}={admin}", "Accept-API-Version": "resource=2.0"})
    assert answer.status_code == 200
    decision, = answer.json()
    assert decision["actions"] == {} and decision["advices"]
    check_hosts(usher, sandbox)


def test_a_session_that_ends_meanwhile(ask, sandbox):
    usher, answer, _ = ask("/ended?_fault=wrong-session")
    assert answer.status_code in (302, 401)
    assert len(usher.said("/shop/ended", "note", "AM cannot read the transaction")) == 1
    check_hosts(usher, sandbox)


@pytest.mark.parametrize("fault, status", [
    ("reset", 502), ("too-many=7", 429), ("unavailable=7", 503), ("circle", 302), ("slow=300", 200)])
def test_a_resource_that_fails(ask, sandbox, fault, status):
    usher, answer, took = ask(f"/failing?_fault={fault}")
    assert answer.status_code == status
    if status in (429, 503):
        assert answer.headers["Retry-After"] == "7"
    if status == 200:
        assert took >= 0.29
    check_hosts(usher, sandbox)


# the switch


def test_for_all_requests(own_sandbox):
    sandbox = own_sandbox("--fault", "am-too-many=9", "--fault", "unavailable")
    answer = shop.direct().post(f"{sandbox.direct}/am/json/realms/root/authenticate", timeout=10)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "9")
    assert shop.direct().get(f"{sandbox.direct}/shop/x", timeout=10).status_code == 503
    assert shop.direct().get(f"{sandbox.direct}/plain/echo", timeout=10).status_code == 200


@pytest.mark.parametrize("options, words", [
    (["--fault", "nope"], "--fault nope: expected one of reset, slow"), (["--fault", "reset=1"], "--fault reset=1"),
    (["--users", "-1"], "users"), (["--user", "x"], "--user x: expected NAME:PASSWORD"),
    (["--user", "x:y@/beta"], "no such realm"), (["--realm", "beta"], "expected a path"),
    (["--token-life", "1500ms"], "--token-life 1500ms: expected whole seconds"), (["--dpop", "x"], "offered, required, nonce"),
    (["--transaction", "x"], "credentials, password, choice"), (["--lockout", "-1"], "lockout")])
def test_switches_that_cannot_be(binary, options, words):
    done = subprocess.run(
        [binary, "sandbox", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=20)
    assert done.returncode in (2, 64), done.stderr
    assert words in done.stderr


def test_a_fault_that_nobody_knows(sandbox):
    answer = shop.direct().get(f"{sandbox.direct}/shop/x?_fault=nope", timeout=10)
    assert answer.status_code == 400


def test_what_can_go_wrong_is_written_down(sandbox):
    front = shop.direct().get(sandbox.direct, timeout=10).text
    told = dict(line.strip().split(": ", 1) for line in front.partition("Faults")[2].splitlines()[1:] if ": " in line)
    assert {fault.partition("=")[0] for fault in FAULTS} < set(told)
    section = PAGE.read_text().partition("\n## The sandbox\n")[2].partition("\n## ")[0]
    assert told == dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", section, re.M))
