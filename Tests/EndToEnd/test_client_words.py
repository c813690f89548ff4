"""The libraries for tests, without a daemon: both languages make the same of the same words."""

import json
import pathlib
import subprocess
import sys

import pytest

CLIENTS = pathlib.Path(__file__).resolve().parents[2] / "clients"
sys.path.insert(0, str(CLIENTS / "python/src"))

import usher_testing  # noqa: E402
from usher_testing import daemon, terms, text  # noqa: E402

CONDITIONS = {
    "": {},
    "action=AUTHENTICATE by=app": {"action": "AUTHENTICATE", "by": "app"},
    "path=/a,/b  method!=GET": {"path": ["/a", "/b"], "not": {"method": "GET"}},
    "path=~^/a{1,2}$": {"path": "~^/a{1,2}$"},
    "host!=a.example host!=b.example": {"not": {"any": [{"host": "a.example"}, {"host": "b.example"}]}},
    "header.X-Name=a=b header.Accept=* json.amount=1 response_json./a/b=2": {
        "header": {"X-Name": "a=b", "Accept": "*"}, "json": {"/amount": "1"}, "response_json": {"/a/b": "2"}},
}
REPORT = {
    "met": False, "flows": 3, "unmet": 1,
    "expectations": [
        {"name": "in", "verdict": "met", "because": None, "failures": [], "nearest": None},
        {"name": "one payment", "verdict": "pending", "because": "0 came, wanted 1; nearest: path is /pai", "failures": [],
         "nearest": {"flow": "2000004", "request": "GET http://shop/pai", "status": 404, "because": "path is /pai",
                     "curl": "curl http://shop/pai"}},
    ],
}
SHOWN = """1 of 2 expectations unmet
pending: one payment: 0 came, wanted 1; nearest: path is /pai
  flow 2000004: GET http://shop/pai → 404
  curl http://shop/pai"""
JOURNEY = {
    "journey": {
        "id": "2000004", "realm": "/alpha", "tree": "Login", "type": "service", "login": "demo", "outcome": "failed",
        "reason": "Login failure", "duration_ms": 12, "by": "app"},
    "steps": [
        {"at_ms": 0, "action": "START_AUTHENTICATE", "status": 200, "flow": "2000004", "stage": "Login", "header": None,
         "reason": None, "callbacks": [{"type": "NameCallback", "prompt": "User Name", "answer": "demo"}]},
        {"at_ms": 1200, "action": "AUTHENTICATE", "status": None, "flow": "2000005", "stage": None, "header": None,
         "reason": "Login failure", "callbacks": []}],
    "calls": [
        {"at_ms": 1300, "action": "EXCHANGE_TOKEN", "status": 200, "flow": "2000006", "error": None, "won": ["token#1"]}],
    "resources": [{"origin": "https://shop.example.com", "requests": 2}],
}
TOLD = """/alpha Login as demo → failed: Login failure in 12 ms (journey 2000004, by app)
       0 ms  START_AUTHENTICATE → 200 “Login” (flow 2000004)
              NameCallback “User Name”: demo
    1200 ms  AUTHENTICATE → no response: Login failure (flow 2000005)
    1300 ms  EXCHANGE_TOKEN → 200, won token#1 (flow 2000006)
  reached https://shop.example.com 2 times"""


def in_node(module, function, given):
    """What a function of clients/node makes of one argument."""
    script = f"""
        import {{ {function} }} from {json.dumps(str(CLIENTS / "node/lib" / module))}
        console.log(JSON.stringify({function}({json.dumps(given)})))"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda text: text or "nothing")
def test_conditions(condition):
    assert terms.when(condition) == in_node("terms.js", "when", condition) == CONDITIONS[condition]


@pytest.mark.parametrize("odd", ["path", "=x", "!=x"])
def test_no_condition(odd):
    with pytest.raises(ValueError, match="write key=value"):
        terms.when(odd)
    with pytest.raises(subprocess.CalledProcessError):
        in_node("terms.js", "when", odd)


def test_filters():
    keys = {"step_up": True, "status": [401, "5xx"], "calls": "yes"}
    wanted = [["filter", "step_up=yes"], ["filter", "status=401,5xx"], ["filter", "calls=yes"]]
    assert [list(term) for term in terms.filters((), keys)] == in_node("terms.js", "filters", keys) == wanted


def test_reports_and_journeys():
    assert text.report_text(REPORT) == in_node("text.js", "reportText", REPORT) == SHOWN
    assert text.journey_text(JOURNEY) == in_node("text.js", "journeyText", JOURNEY) == TOLD


@pytest.mark.parametrize("name", ["test_pay[GET-/a b]", "s-1", "", "ünï", "x" * 200])
def test_names_of_sessions(name):
    for made in (daemon.session_name(name), in_node("daemon.js", "sessionName", name)):
        assert made[0].isascii() and made[0].isalnum() and len(made) <= 64 and not made.startswith("s-")


class Said:
    """A daemon that says what it was told to say."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def ask(self, method, path, body=None, query=(), timeout=0):
        self.asked.append((method, path, body))
        return self.answer


OPENED = {
    "id": "s-1", "name": "a", "proxy": "http://s-1:key@127.0.0.1:1", "port": None,
    "header": {"name": "Usher-Session", "value": "s-1:key"}}


def test_unmet_expectations_raise_their_report():
    with pytest.raises(usher_testing.Unmet) as raised, usher_testing.Usher(Said(REPORT), OPENED, None):
        pass
    assert str(raised.value) == SHOWN
    with pytest.raises(KeyError), usher_testing.Usher(Said(REPORT), OPENED, None):
        raise KeyError("the test's own fault comes first")


def test_an_expectation_is_an_entry_of_the_configuration():
    control = Said(None)
    usher = usher_testing.Usher(control, OPENED, None)
    usher.expect("path=/pay", count=1, step_up=True, each="status=200", after="LOGIN")
    usher.expect(use=["am-client"])
    assert [body for _, _, body in control.asked] == [
        {"when": {"path": "/pay"}, "count": "1", "step_up": True, "each": {"status": "200"}, "after": "LOGIN"}, {"use": ["am-client"]}]


CALLBACKS = [
    {"index": 0, "type": "NameCallback", "prompt": "User Name"},
    {"index": 2, "type": "PasswordCallback", "prompt": "Password"},
    {"index": 3, "type": "PasswordCallback", "prompt": "One Time Password Code"}]


@pytest.mark.parametrize("values, named, places", [
    (("demo", "secret", "123"), {}, {0: "demo", 2: "secret", 3: "123"}),
    ((), {"code": "123"}, {3: "123"}),
    (("secret",), {"name": "demo", "code": "123"}, {0: "demo", 3: "123", 2: "secret"}),
])
def test_answers_find_their_callbacks(values, named, places):
    control = Said({})
    pending = usher_testing.Pending(control, {"id": "t1", "callbacks": CALLBACKS, "resource": "http://shop/"})
    pending.answer(*values, **named)
    assert {one["callback"]: one["value"] for one in control.asked[0][2]["answers"]} == places


def test_answers_that_fit_nothing():
    pending = usher_testing.Pending(Said({}), {"id": "t1", "callbacks": CALLBACKS, "resource": "http://shop/"})
    with pytest.raises(ValueError, match="password fits 2 callbacks"):
        pending.answer(password="x")
    with pytest.raises(ValueError, match="4 answers for 3 open callbacks"):
        pending.answer(1, 2, 3, 4)


def test_the_types_are_those_of_the_api(start, call, tmp_path):
    """After a change of the API, scripts/client-types writes them anew."""
    from people import ControlSocket

    start({}, state=tmp_path)
    connection = ControlSocket(tmp_path / "admin.sock")
    connection.request("GET", "/v1/openapi.json")
    (tmp_path / "openapi.json").write_bytes(connection.getresponse().read())
    connection.close()
    done = subprocess.run(
        [sys.executable, CLIENTS.parent / "scripts/client-types", "--check", tmp_path / "openapi.json"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
