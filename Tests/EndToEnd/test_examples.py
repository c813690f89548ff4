"""config/examples: each file as it stands, with a real client before it. What the guides change is changed there and nowhere
else: everything is asked twice, without the proxy and through it."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import uuid

import pytest

import origins
import programs
import shop
import upstream
from wire import response

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "config" / "examples").glob("*.yaml"))
HOSTS = [
    "example.com", "am.example.com", "app.example.com", "api.example.com", "protected.example.com", "resource.example.com",
    "username.cloudant.com"]
SECRETS = {"ROBOT_USER": "robot-user", "ROBOT_PASSWORD": "robot-password", "REPLICATION_TOKEN": "replication-token"}
SESSION = "SESSION-OF-THE-USER"
COOKIES = f"iPlanetDirectoryPro={SESSION}; amlbcookie=01"


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_example_is_a_good_configuration(binary, path):
    done = subprocess.run(
        [binary, "check", path], capture_output=True, text=True, timeout=30, env={**os.environ, **SECRETS})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout + done.stderr


class Way(upstream.Proxy):
    """Takes whoever asks for a tunnel to that server, whatever place it is to lead to."""

    def __init__(self, server):
        self.server = server
        super().__init__()

    def _relay(self, connection, authority):
        assert authority.endswith(":443")
        super()._relay(connection, f"{authority.partition(':')[0]}:{self.server.port}")


class World:
    """A server that is every host of an example, and the proxy that runs the example: what stands beside the file says where
    hosts are found and whom to trust, and nothing else."""

    def __init__(self, binary, certificates, folder, name, answer):
        identity = certificates.server("examples", names=HOSTS)
        self.server = origins.Answering(origins.context(identity), answer, name=None)
        self.way = Way(self.server)
        # what an example does not open shows the server's own certificate
        self.trust = folder / "trust.pem"
        config = folder / "conf.d"
        config.mkdir()
        shutil.copy(next(path for path in EXAMPLES if path.stem == name), config)
        (config / "~world.yaml").write_text(json.dumps({
            "destinations": {"via": [{"host": "*", "proxy": self.way.url}]},
            "tls": {"upstream": {"trust": "none", "extra_trust": [str(certificates.trust)]}}}))
        self.usher = programs.Usher(binary, config, environment=SECRETS, state=folder / "state")
        self.trust.write_bytes(certificates.trust.read_bytes() + self.usher.ca.read_bytes())

    def close(self):
        try:
            assert self.usher.stop() == 0, "\n".join(self.usher.errors[-20:])
        finally:
            self.way.close()
            self.server.close()

    def curl(self, host, target, *options, through=True):
        """Asks once; what the server saw of it, and the status and body that came back."""
        way = (
            ["--proxy", self.usher.url] if through
            else ["--connect-to", f"{host}:443:127.0.0.1:{self.server.port}"])
        before = len(self.server.requests)
        done = subprocess.run(
            ["curl", "-q", "-sS", "--http1.1", "--max-time", "20", "--cacert", self.trust, *way, "-w", "\n%{http_code}", *options,
             f"https://{host}{target}"], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr + "\n".join(self.usher.errors[-5:])
        body, _, status = done.stdout.rpartition("\n")
        return self.server.requests[before:], int(status), body


@pytest.fixture
def world(binary, certificates, tmp_path):
    running = []

    def begin(name, answer=lambda _: response(fields=[("Content-Type", "application/json")], body=b"{}")):
        running.append(World(binary, certificates, tmp_path, name, answer))
        return running[0]

    yield begin
    for one in running:
        one.close()


# interceptors of requests, on every Action of the guides

ALPHA = "/am/json/realms/root/realms/alpha"
OAUTH = "/am/oauth2/realms/root/realms/alpha"
SDK = ["-H", "X-Requested-With: forgerock-sdk", "-H", "Accept-API-Version: protocol=1.0,resource=2.1", "-b", COOKIES]
JSON = ["-H", "Content-Type: application/json", "--data-binary"]
STEP = json.dumps({"authId": "a.b.c", "callbacks": []})
# a parameter of the URL, so that each stays as it was written
ACTIONS = {
    "START_AUTHENTICATE": (f"{ALPHA}/authenticate?authIndexType=service&authIndexValue=Login", [*JSON, "{}"]),
    "AUTHENTICATE": (f"{ALPHA}/authenticate", [*JSON, STEP]),
    "AUTHORIZE": (f"{OAUTH}/authorize?client_id=app&response_type=code&scope=openid%20profile&state=s", []),
    "EXCHANGE_TOKEN": (f"{OAUTH}/access_token", ["-d", "grant_type=authorization_code&code=c-1&client_id=app"]),
    "REFRESH_TOKEN": (f"{OAUTH}/access_token", ["-d", "client_id=app&grant_type=refresh_token&refresh_token=r-1"]),
    "REVOKE_TOKEN": (f"{OAUTH}/token/revoke", ["-d", "client_id=app&token=t-1"]),
    "LOGOUT": (f"{ALPHA}/sessions/?_action=logout", [*JSON, "{}"]),
    "USER_INFO": (f"{OAUTH}/userinfo", ["-H", "Authorization: Bearer t-1"]),
    "PUSH_REGISTER": (f"{ALPHA}/push/sns/message?_action=register", [*JSON, '{"messageId":"m","jwt":"j"}']),
    "PUSH_AUTHENTICATE": (f"{ALPHA}/push/sns/message?_action=authenticate", [*JSON, '{"messageId":"m","jwt":"j"}']),
}
# what has no Action: the same path at a host that is no AM, a GET of it, another grant
OTHERS = {
    "elsewhere": ("app.example.com", *ACTIONS["START_AUTHENTICATE"]),
    "a GET": ("am.example.com", f"{ALPHA}/authenticate?authIndexType=service&authIndexValue=Login", []),
    "a grant": ("am.example.com", f"{OAUTH}/access_token", ["-d", "grant_type=client_credentials"]),
}
FORCE, LANGUAGE, MEMBER = "ForceAuth=true", ("Accept-Language", "en-GB"), f"{COOKIES}; member=gold"
STARTS, BOTH = {"START_AUTHENTICATE"}, {"START_AUTHENTICATE", "AUTHENTICATE"}
# of each guide: on what, the parameter, the header; and on what, the whole Cookie header
GUIDES = {
    "android": (STARTS, {*ACTIONS, *OTHERS}, MEMBER),
    "ios": (BOTH, BOTH, "member=gold; level=2"),
    "javascript": (STARTS, set(), None),
}


@pytest.mark.parametrize("name", GUIDES)
def test_the_edits_of_a_guide_are_made_there_and_only_there(world, name):
    edited, with_cookie, cookie = GUIDES[name]
    stage = world(name)
    asked = {action: ("am.example.com", *rest) for action, rest in ACTIONS.items()} | OTHERS
    for what, (host, target, options) in asked.items():
        (plain,), *_ = stage.curl(host, target, *SDK, *options, through=False)
        (seen,), status, _ = stage.curl(host, target, *SDK, *options)
        expected = list(plain.fields)
        line = plain.line
        if what in edited:
            line = line.replace(target, target + ("&" if "?" in target else "?") + FORCE)
            expected.append(LANGUAGE)
        if what in with_cookie:
            expected = [(field, cookie if field == "Cookie" else value) for field, value in expected]
        assert (seen.line, seen.body, status) == (line, plain.body, 200), what
        assert sorted(field for field in seen.fields if field[0] != "Via") == sorted(expected), what
    at_am = "https://am.example.com/"
    stage.usher.wait_for(lambda: len(stage.usher.flows(at_am)) == len(ACTIONS) + 2, "a line for each")
    # the lines of two workers come in any order
    logged = [(flow.access["url"].partition("?")[0], flow.access.get("action", "")) for flow in stage.usher.flows(at_am)]
    paths = {what: f"{at_am}{target[1:]}".partition("?")[0] for what, (host, target, _) in asked.items() if "am." in host}
    assert sorted(logged) == sorted((path, what if what in ACTIONS else "") for what, path in paths.items())


def test_javascript_s_middleware_replaces_and_appends_in_order(world):
    stage = world("javascript")
    target, options = ACTIONS["START_AUTHENTICATE"]
    (seen,), *_ = stage.curl("am.example.com", f"{target}&ForceAuth=no", "-H", "Accept-Language: de", *SDK, *options)
    assert seen.target == f"{target}&ForceAuth=true"
    assert seen.all("accept-language") == ["de", "en-GB"]
    changes = stage.usher.said("ForceAuth", "interceptor")
    assert [text.partition(":")[0] for text in changes] == ["force-auth", "add-headers"]


def test_the_cookie_of_android_s_guide_goes_to_its_domain_alone(world):
    stage = world("android")
    for host in ("example.com", "app.example.com"):
        (seen,), *_ = stage.curl(host, "/")
        assert seen.all("cookie") == ["member=gold"]
    done = subprocess.run(
        ["curl", "-q", "-sS", "--max-time", "20", "--proxy", stage.usher.url, "http://example.com/"],
        capture_output=True, text=True, timeout=30)
    assert done.stdout == "by proxy", done.stderr
    assert stage.way.requests[-1].line.startswith("GET http://example.com/ ")
    assert stage.way.requests[-1].get("cookie") is None


# transactions


def decision(transaction, resource="https://app-backend.example.com:8000/protected/feature/"):
    """As the guide shows it."""
    granted = {"actions": {"POST": True, "GET": True}, "advices": {}}
    asked = {"actions": {}, "advices": {"TransactionConditionAdvice": [transaction]}}
    return {"resource": resource, "attributes": {}, "ttl": 0, **(asked if transaction else granted)}


class Bank:
    """AM, and what it protects: each access takes a transaction that somebody approved, and spends it."""

    def __init__(self, kinds=("NameCallback", "PasswordCallback"), in_body=False):
        self.kinds, self.in_body = kinds, in_body
        self.open, self.approved, self.steps = set(), set(), []

    def __call__(self, seen):
        path = seen.target.partition("?")[0]
        if path.endswith("/authenticate"):
            return self._authenticate(seen)
        if path.endswith("/policies"):
            asked = json.loads(seen.body)
            id = asked.get("environment", {}).get("TxId", [None])[0]
            return self._json([decision(None if self._spend(id) else self._new(), asked["resources"][0])])
        id = next((part[6:] for part in seen.target.split("?")[-1].split("&") if part.startswith("_txid=")), None)
        if self._spend(id):
            return self._json({"done": seen.body.decode()})
        if self.in_body:
            return self._json(decision(self._new()))
        assert seen.get("x-authenticate-response") == "header"
        advice = base64.b64encode(json.dumps({"TransactionConditionAdvice": [self._new()]}).encode()).decode()
        return response(401, [(
            "WWW-Authenticate",
            f'SSOADVICE realm="/alpha",advices="{advice}",am_uri="https://am.example.com/am/"')])

    def _new(self):
        id = str(uuid.uuid4())
        self.open.add(id)
        return id

    def _spend(self, id):
        good = id in self.approved
        self.approved.discard(id)
        return good

    def _authenticate(self, seen):
        self.steps.append(seen)
        if f"iPlanetDirectoryPro={SESSION}" not in (seen.get("cookie") or ""):
            return self._json({"code": 401, "message": "no session"}, 401)
        if not seen.body:
            id = next(id for id in self.open if id in seen.target)
            return self._json({"authId": id, "callbacks": [
                {"type": kind, "output": [{"name": "prompt", "value": kind}],
                 "input": [{"name": f"IDToken{number}", "value": ""},
                           *([{"name": f"IDToken{number}validateOnly", "value": False}] if "Validated" in kind else [])]}
                for number, kind in enumerate(self.kinds, 1)]})
        step = json.loads(seen.body)
        values = [callback["input"][0]["value"] for callback in step["callbacks"]]
        if values != [SECRETS["ROBOT_USER"], SECRETS["ROBOT_PASSWORD"]]:
            return self._json({"code": 401, "message": "wrong"}, 401)
        self.open.remove(step["authId"])
        self.approved.add(step["authId"])
        return self._json({"tokenId": SESSION, "successUrl": "/am/console", "realm": "/alpha"})

    @staticmethod
    def _json(value, status=200):
        return response(status, [("Content-Type", "application/json")], json.dumps(value).encode())


AMOUNT = json.dumps({"amount": "200"})


def approved_once(stage, bank, seen):
    """What was asked, was approved by two calls and made once."""
    assert len(bank.steps) == 2 and not bank.approved and not bank.open
    first, last = (one for one in seen if one not in bank.steps)
    assert first.body == last.body and "_txid" not in first.target
    return first, last


@pytest.mark.parametrize("own", [[], ["-H", "x-authenticate-response: header"]], ids=["as it is", "as in the guide"])
def test_android_s_transaction(world, own):
    bank = Bank()
    stage = world("android-transactional", bank)
    seen, status, body = stage.curl("api.example.com", "/transfer?to=a%20b", "-b", COOKIES, *own)
    assert (status, body) == (200, json.dumps({"done": ""})), "\n".join(stage.usher.lines)
    first, last = approved_once(stage, bank, seen)
    assert last.target.startswith(first.target + "&_txid=")
    # one approval, one access
    _, status, _ = stage.curl("api.example.com", "/transfer?to=a%20b", "-b", COOKIES)
    assert status == 200 and len(bank.steps) == 4


@pytest.mark.parametrize("in_body", [False, True], ids=["in a header", "in the body"])
def test_ios_s_transaction(world, in_body):
    bank = Bank(in_body=in_body)
    stage = world("ios-transactional", bank)
    seen, status, body = stage.curl("protected.example.com", "/feature/", "-b", COOKIES)
    assert (status, body) == (200, json.dumps({"done": ""})), "\n".join(stage.usher.lines)
    _, last = approved_once(stage, bank, seen)
    assert last.target.startswith("/feature/?_txid=")


def test_ios_s_question_to_am_itself(world):
    bank = Bank()
    stage = world("ios-transactional", bank)
    question = {
        "resources": ["https://app-backend.example.com:8000/protected/feature/"], "application": "iPlanetAMWebAgentService",
        "subject": {"ssoToken": SESSION}}
    seen, status, body = stage.curl(
        "am.example.com", f"{ALPHA}/policies?_action=evaluate", "-b", COOKIES, *JSON, json.dumps(question))
    assert (status, json.loads(body)) == (200, [decision(None)]), "\n".join(stage.usher.lines)
    first, last = (one for one in seen if one not in bank.steps)
    assert json.loads(first.body) == question
    asked = json.loads(last.body)
    assert asked.pop("environment").keys() == {"TxId"} and asked == question and last.target == first.target


def test_javascript_s_withdrawal(world):
    bank = Bank(kinds=("ValidatedCreateUsernameCallback", "ValidatedCreatePasswordCallback"))
    stage = world("javascript-transactional", bank)
    seen, status, body = stage.curl("resource.example.com", "/withdraw", "-b", COOKIES, *JSON, AMOUNT)
    assert (status, json.loads(body)) == (200, {"done": AMOUNT})
    first, last = approved_once(stage, bank, seen)
    assert first.line.startswith("POST /withdraw ") and last.line.startswith("POST /withdraw?_txid=")


def test_the_transactional_example(start, sandbox, through):
    text = next(path for path in EXAMPLES if path.stem == "transactional").read_text()
    usher = start(
        text.replace(":9080", f":{sandbox.port}"), environment={"ROBOT_USER": "demo", "ROBOT_PASSWORD": "changeit"})
    answer = through(usher).get(
        f"{sandbox.shop}/pay", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, timeout=15)
    assert answer.status_code == 200


# replication


class Database:
    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, seen):
        return self.answers.pop(0) if self.answers else response(fields=[("Content-Type", "application/json")], body=b"{}")


def replicate(stage, *options, target="/db/_bulk_docs"):
    return stage.curl("username.cloudant.com", target, "-D", "-", *options)


def test_both_methods_of_a_replication_s_interceptor(world):
    stage = world("cdtdatastore", Database())
    (seen,), status, answer = replicate(stage, *JSON, '{"docs":[]}')
    assert status == 200 and seen.body == b'{"docs":[]}'
    assert seen.all("authorization") == [f"Bearer {SECRETS['REPLICATION_TOKEN']}"]
    call = seen.get("x-replication-call")
    assert uuid.UUID(call) and f"X-Replication-Call: {call}" in answer
    (other,), *_ = stage.curl("username.cloudant.com", "/db")
    assert other.get("x-replication-call") != call
    # "Calling URL", "Received response; URL; status code"
    flow = stage.usher.flow("/db/_bulk_docs")
    assert flow.access["status"] == 200 and SECRETS["REPLICATION_TOKEN"] not in "\n".join(stage.usher.lines)


def test_no_context_for_a_replication_s_request(world):
    stage = world("cdtdatastore", Database())
    seen, status, answer = replicate(stage, "-X", "DELETE", target="/db/doc")
    assert (seen, status) == ([], 502)
    assert "http_request_denied" in answer and "documents are not deleted from here" in answer


def test_no_context_for_a_replication_s_response(world):
    half = response(fields=[("Content-Type", "application/json")], body=b'{"_id":"a","partial":true}')
    stage = world("cdtdatastore", Database(half))
    seen, status, answer = replicate(stage, target="/db/a")
    assert (len(seen), status) == (1, 502)
    assert "proxy_internal_error" in answer and "_id" not in answer
    assert replicate(stage, target="/db/a")[1] == 200


def test_a_replication_that_is_too_fast(world):
    busy = response(429, [("Retry-After", "60"), ("Content-Type", "application/json")], b'{"error":"too_many_requests"}')
    stage = world("cdtdatastore", Database(busy, busy))
    seen, status, _ = replicate(stage, *JSON, '{"docs":[1]}')
    assert status == 200 and [one.body for one in seen] == [b'{"docs":[1]}'] * 3
    # state outlasts attempts, and each begins with what the app sent
    assert all(len(one.all("x-replication-call")) == 1 for one in seen)
    assert stage.usher.flow("/db/_bulk_docs").access["ms"] >= 750
    stage.server.answer.answers = [busy] * 4
    seen, status, answer = replicate(stage, *JSON, '{"docs":[2]}')
    assert (len(seen), status) == (4, 429) and "too_many_requests" in answer
