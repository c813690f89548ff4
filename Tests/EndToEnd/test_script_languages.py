"""Scripts in Python, middleware of the SDK for JavaScript, interceptors of CDTDatastore, and the examples."""

import shutil
import sys

import pytest

import programs
from scripting import IS_ROOT, ROOT, START, folder, play, python  # noqa: F401
from wire import response


# MARK: other languages

def test_python_and_its_verdicts(play):
    send = play(*python("""
import asyncio
from usher_scripts import Action, Request, Respond, Response, Retry, Script

script = Script()

@script.request
def tag(request: Request, action: Action) -> None:
    request.headers["X-Tag"] = request.state.get("n", "0")
    if request.url.endswith("/tea"):
        raise Respond(418, {"X-A": "1"}, "short")

@script.request
async def more(request: Request, action: Action) -> None:
    await asyncio.sleep(0)
    request.query = {**request.query, "b": "2"}

@script.response
def again(response: Response, request: Request, action: Action) -> None:
    if response.status == 503 and "n" not in response.state:
        response.state["n"] = "1"
        raise Retry(after=0.01)
    response.headers["X-Seen"] = "yes"

script.run()
""", phases=["request", "response"]),
        answer=lambda seen: response(503 if seen.get("x-tag") == "0" else 200, body=b"ok"))
    seen, got = send("/x?a=1")
    assert seen.target == "/x?a=1&b=2" and got.status == 200 and got.get("x-seen") == "yes"
    assert [one.get("x-tag") for one in send.server.requests] == ["0", "1"]
    assert send("/tea")[1].status == 418


def test_mistakes_in_python_are_told_at_once(play):
    send = play(*python("""
from usher_scripts import Script

script = Script(needs="body")

@script.request
def mistakes(request, action):
    if request.url.endswith("/result"):
        return request
    if request.url.endswith("/body"):
        request.body = "text"
    if request.url.endswith("/header"):
        request.headers["X"] = b"x"
    if request.url.endswith("/half"):
        raise ValueError("half \\ud83d")

script.run()
""", needs="body", timeout="30s"))
    for path, words in [("result", b"returned Request"), ("body", b"bytes-like"), ("header", b"bytes"), ("half", b"half ?")]:
        seen, got = send(f"/{path}", "POST", body=b"a")
        assert seen is None and got.status == 502 and words in got.body, got.body
    assert send()[1].status == 200


# MARK: middleware of the SDK for JavaScript

# as apps have it: each Action has its own parameter and header
MIDDLEWARE = """
export const needs = 'body'
const names = {
  START_AUTHENTICATE: 'start', AUTHENTICATE: 'authenticate', RESUME_AUTHENTICATE: 'resume', AUTHORIZE: 'authorize',
  EXCHANGE_TOKEN: 'exchange', REFRESH_TOKEN: 'refresh', REVOKE_TOKEN: 'revoke', USER_INFO: 'userinfo', LOGOUT: 'logout',
  END_SESSION: 'end' }
export default [
  (req, action, next) => {
    switch (action.type) {
      case 'START_AUTHENTICATE':
      case 'AUTHENTICATE':
        if (action.payload.type !== 'service' && action.payload.tree !== undefined) throw new Error('another payload')
    }
    req.url.searchParams.set(`${names[action.type]}-middleware`, action.type)
    next()
  },
  (req, action, next) => {
    const headers = req.init.headers
    headers.append('x-middleware', names[action.type])
    headers.append('x-middleware', req.init.method)
    if (!Object.isFrozen(action)) throw new Error('the action is not frozen')
    if (req.headers !== headers || req.method !== req.init.method) throw new Error('two views differ')
    next()
  },
  (req, action, next) => { if (action.type === 'LOGOUT') req.init.body = '{"a":1}' },
  () => { throw new Error('next was not called') },
]
"""
AM = "/am/json/realms/root/realms/alpha"
OAUTH = "/am/oauth2/realms/root/realms/alpha"
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
ACTIONS = [
    ("start", "START_AUTHENTICATE", "POST", f"{AM}/authenticate?authIndexType=service&authIndexValue=Login", JSON, b""),
    ("authenticate", "AUTHENTICATE", "POST", f"{AM}/authenticate?authIndexType=service&authIndexValue=Login", JSON,
     b'{"authId":"a","callbacks":[]}'),
    ("resume", "RESUME_AUTHENTICATE", "POST", f"{AM}/authenticate?suspendedId=s", JSON, b""),
    ("authorize", "AUTHORIZE", "GET", f"{OAUTH}/authorize?client_id=c&response_type=code", None, b""),
    ("exchange", "EXCHANGE_TOKEN", "POST", f"{OAUTH}/access_token", FORM, b"grant_type=authorization_code&code=a"),
    ("refresh", "REFRESH_TOKEN", "POST", f"{OAUTH}/access_token", FORM, b"grant_type=refresh_token&refresh_token=a"),
    ("revoke", "REVOKE_TOKEN", "POST", f"{OAUTH}/token/revoke", FORM, b"client_id=c&token=t"),
    ("userinfo", "USER_INFO", "GET", f"{OAUTH}/userinfo", None, b""),
    ("logout", "LOGOUT", "POST", f"{AM}/sessions/?_action=logout", JSON, b""),
    ("end", "END_SESSION", "GET", f"{OAUTH}/connect/endSession?id_token_hint=t", None, b""),
]


def middleware(text, **more):
    return {"middleware.mjs": text}, {
        "run": ["node", "node/bin/usher-middleware.js", "middleware.mjs"], "needs": "body", **more}


def test_middleware_of_the_sdk_runs_unchanged(play):
    send = play(*middleware(MIDDLEWARE))
    for name, action, method, target, kind, body in ACTIONS:
        fields = [("Accept", "application/json"), ("X-Odd-Case", "1"), *([("Content-Type", kind)] if kind else [])]
        seen, got = send(target, method, fields, body, "am.localhost")
        assert got.status == 200, (action, got.body)
        mark = "&" if "?" in target else "?"
        assert seen.target == f"{target}{mark}{name}-middleware={action}"
        assert seen.get("x-middleware") == f"{name}, {method}"
        assert seen.get("accept") == "application/json" and ("X-Odd-Case", "1") in seen.fields
        assert seen.body == (b'{"a":1}' if action == "LOGOUT" else body)
    # a request of the app is none of its calls
    seen, _ = send("/orders")
    assert seen.get("x-middleware") is None


def test_the_guides_middleware_gives_the_guides_traffic(play):
    text = (ROOT / "config/examples/scripts/middleware.mjs").read_text()
    files, script = middleware(text)
    send = play(files, {**script, "needs": "head"})
    seen, _ = send(START, "POST", [("Content-Type", JSON)], b"{}", "am.localhost")
    assert seen.target == START + "&ForceAuth=true" and seen.all("accept-language") == ["en-GB"]
    seen, _ = send(f"{AM}/sessions/?_action=logout", "POST", [("Content-Type", JSON)], b"", "am.localhost")
    assert seen.target == f"{AM}/sessions/?_action=logout" and seen.get("accept-language") is None


@pytest.mark.parametrize("text, words", [
    ("export default [(req) => { throw new Error('no') }]", b"no"),
    ("export default [(req) => { req.init.headers.append('a\\n', 'b') }]", b"failed"),
])
def test_middleware_that_throws_sends_nothing(play, text, words):
    send = play(*middleware(text))
    seen, got = send(START, "POST", host="am.localhost")
    assert seen is None and got.status == 502 and words in got.body


@pytest.mark.parametrize("headers", ["{ Accept: 'a', 'X-New': '1' }", "[['Accept', 'a'], ['X-New', '1']]"])
def test_a_plain_object_takes_the_place_of_headers(play, headers):
    send = play(*middleware(f"export default [(req, action, next) => {{ req.init.headers = {headers}; next() }}]"))
    seen, _ = send(START, "POST", [("Accept", "b"), ("X-Requested-With", "sdk"), ("User-Agent", "u"), ("Cookie", "c=d")],
                   host="am.localhost")
    assert seen.get("accept") == "a" and seen.get("x-new") == "1" and seen.get("x-requested-with") is None
    assert seen.get("user-agent") == "u" and seen.get("cookie") == "c=d" and seen.get("host")


@pytest.mark.parametrize("text, body", [
    ("delete req.init.body", b""), ("delete req.body", b""), ("req.init.body = undefined", b""), ("req.init.body = null", b""),
    ("req.init = { method: 'POST' }", b""), ("req.init = { ...req.init }", b"{}"),
])
def test_middleware_takes_the_body_away(play, text, body):
    send = play(*middleware(f"export default [(req, action, next) => {{ {text}; next() }}]"))
    seen, got = send(START, "POST", body=b"{}", host="am.localhost")
    assert got.status == 200 and seen.body == body, got.body


def test_asynchronous_middleware_that_rejects_ends_nothing(play):
    send = play(*middleware("""
        export default [async (req, action, next) => {
          req.url.searchParams.set('pid', process.pid)
          next()
          await null
          throw new Error('too late')
        }]"""))
    first, _ = send(START, "POST", host="am.localhost")
    send.usher.wait_error("too late")
    second, got = send(START, "POST", host="am.localhost")
    assert got.status == 200 and second.target == first.target and "pid=" in first.target


# MARK: CDTDatastore

CDT = """
class Counter {
  interceptRequestInContext(context) {
    context.state.order = (context.state.order ?? '') + this.name
    context.request.headers.set('X-Order', context.state.order)
    return context
  }
  interceptResponseInContext(context) {
    context.state.order += this.name.toLowerCase()
    context.shouldRetry = this.name === 'B' && context.response.status === 429 && context.state.order.length < 10
    return context
  }
  constructor(name) { this.name = name }
}
export default [new Counter('A'), new Counter('B')]
"""

CDT_PYTHON = """
from usher_scripts import Interceptor, cdt

class Counter(Interceptor):
    def __init__(self, name):
        self.name = name

    def intercept_request(self, context):
        context.state["order"] = context.state.get("order", "") + self.name
        context.request.headers["X-Order"] = context.state["order"]
        return context

    def intercept_response(self, context):
        context.state["order"] += self.name.lower()
        context.should_retry = self.name == "B" and context.response.status == 429 and len(context.state["order"]) < 10
        return context

cdt([Counter("A"), Counter("B")]).run()
"""


@pytest.mark.parametrize("files, script", [middleware(CDT), python(CDT_PYTHON, needs="body")], ids=["node", "python"])
def test_cdt_interceptors_keep_their_order_and_their_state(play, files, script):
    send = play(files, {**script, "phases": ["request", "response"]},
                answer=lambda seen: response(429 if len(seen.get("x-order")) < 6 else 200, body=b"ok"))
    _, got = send()
    assert got.status == 200
    assert [seen.get("x-order") for seen in send.server.requests] == ["AB", "ABabAB"]


REPLACED = """
export default [{
  async interceptRequestInContext(context) { context.state.n = 1; return context },
  async interceptResponseInContext(context) {
    const n = context.state.n
    delete context.state.n
    return { ...context, response: { status: 299, headers: new Headers({ 'X-N': n }), body: 'new' } }
  },
}]
"""

REPLACED_PYTHON = """
from usher_scripts import Context, Headers, Interceptor, Response, cdt

class Mine(Interceptor):
    async def intercept_request(self, context):
        context.state["n"] = 1
        return context

    async def intercept_response(self, context):
        n = context.state.pop("n")
        return Context(context.request, Response(Headers([("X-N", str(n))]), b"new", status=299))

cdt([Mine()]).run()
"""


@pytest.mark.parametrize("files, script", [middleware(REPLACED), python(REPLACED_PYTHON, needs="body")], ids=["node", "python"])
def test_a_new_response_takes_the_place_of_the_old(play, files, script):
    send = play(files, {**script, "phases": ["request", "response"]})
    _, got = send()
    assert (got.status, got.get("x-n"), got.body) == (299, "1", b"new")


def test_null_ends_the_exchange(play):
    send = play(*middleware("export default [{ interceptRequestInContext() { return null } }]"))
    seen, got = send()
    assert seen is None and got.status == 502 and b"returned null" in got.body


# MARK: examples

@pytest.mark.parametrize("name", ["shell", "middleware", "replay"])
def test_an_example_is_good(call, folder, name):
    examples = ROOT / "config/examples/scripts"
    shutil.copytree(examples, folder / "config/examples/scripts")
    shutil.copytree(ROOT / "clients", folder / "clients")
    path = folder / f"config/examples/scripts/{name}.yaml"
    if IS_ROOT:
        path.write_text(path.read_text().replace("script: {", "script: { user: nobody,").replace(
            "    script:\n", "    script:\n      user: nobody\n").replace("[python3,", f"[{sys.executable},"))
    done = call("check", path)
    assert done.returncode == 0 and "warning" not in done.stdout, done.stdout + done.stderr


def test_the_shell_example_sets_a_header(play):
    if not shutil.which("jq"):
        programs.left_out("jq is not installed")
    send = play({"shell.sh": (ROOT / "config/examples/scripts/shell.sh").read_text()}, {"run": ["sh", "shell.sh"]})
    seen, _ = send(START, "POST", host="am.localhost")
    assert seen.get("x-tag") == "START_AUTHENTICATE"
