"""Scripts: filters in other languages, which processes beside the proxy run."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

import programs
from wire import Connection, request, response

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODE = ROOT / "clients/node"
START = "/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Login"
IS_ROOT = os.geteuid() == 0

# a script as short as one can be: jq takes frames and makes them
JQ = ["bash", "script.sh"]


@pytest.fixture
def folder():
    """A folder that another user may read."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="usher-scripts-"))
    path.chmod(0o755)
    for client in ("node", "python"):
        shutil.copytree(ROOT / "clients" / client, path / client)
    yield path
    shutil.rmtree(path)


class Usher(programs.Usher):
    """A proxy that reads its configuration again."""

    def wait_error(self, words):
        return self.wait_for(lambda: any(words in line for line in self.errors + self.lines), words)

    def reload(self, fails=False):
        before = len(self.errors)
        self.process.send_signal(signal.SIGHUP)
        words = "was not reloaded" if fails else "is in force"
        self.wait_for(lambda: any(words in line for line in list(self.errors)[before:]), words)


@pytest.fixture
def play(binary, origin, folder):
    """Starts the program with a script in front of a server that is AM and application at once."""
    running = []

    def begin(files, script, answer=lambda _: response(body=b"ok"), when=None, others=(), **more):
        for name, text in files.items():
            (folder / name).write_text(text)
        server = origin(answer)
        rule = {"name": "mine", "script": terms(script), **({"when": when} if when else {})}
        config = folder / "usher.yaml"

        def write(rule):
            config.write_text(json.dumps({
                "version": 1,
                "am": [{"url": f"http://am.localhost:{server.port}/am", "realms": ["/", "/alpha"]}],
                "interceptors": [rule, *others], **more}))

        write(rule)
        usher = Usher(binary, config)
        running.append(usher)

        def client():
            return Connection(("127.0.0.1", usher.port))

        own = client()

        def send(target="/", method="GET", fields=(), body=b"", host="app.localhost", by=own):
            before = len(server.requests)
            got = by.exchange(request(method, f"http://{host}:{server.port}{target}", fields, body))
            return (server.requests[before] if len(server.requests) > before else None), got

        send.usher, send.server, send.client, send.rule, send.write = usher, server, client, rule, write
        return send

    yield begin
    for usher in running:
        assert usher.stop() == 0, "\n".join(usher.errors[-20:])


def terms(script):
    return {**({"user": "nobody"} if IS_ROOT and "run" in script else {}), **script}


def node(text, **more):
    return {"script.mjs": f"import * as usher from './node/lib/scripts.js'\n{text}\n"}, {"run": ["node", "script.mjs"], **more}


def serve(text, **more):
    return node(f"usher.serve({{ {text} }})", **more)


TAG = "request(req) { req.headers.set('X-Tag', 'script') }"


# MARK: what a script may do

def test_a_header_is_set(play):
    send = play(*serve(TAG))
    seen, got = send("/x?a=%7e", fields=[("X-Odd-CASE", "1"), ("X-Twice", "a"), ("X-Twice", "b")])
    assert seen.get("x-tag") == "script" and seen.all("x-twice") == ["a", "b"] and got.status == 200
    assert seen.target == "/x?a=%7e"


def test_method_url_and_body_are_changed(play):
    send = play(*serve(
        "needs: 'body', request(req) { req.method = 'PUT'; req.url.searchParams.set('b', '2'); req.text = req.text.toUpperCase() }",
        needs="body"))
    seen, _ = send("/x?a=1", "POST", [("Content-Type", "text/plain")], b"hello")
    assert (seen.line.split()[:2], seen.body) == (["PUT", "/x?a=1&b=2"], b"HELLO")


@pytest.mark.parametrize("text, status, words", [
    ("return usher.respond({ status: 418, headers: { 'X-A': '1' }, body: 'short' })", 418, b"short"),
    ("throw usher.abort('not today')", 502, b"not today"),
    ("throw new Error('boom')", 502, b"boom"),
    ("await null; throw new Error('later')", 502, b"later"),
])
def test_a_verdict_ends_the_exchange(play, text, status, words):
    send = play(*serve(f"async request() {{ {text} }}"))
    seen, got = send()
    assert seen is None and got.status == status and words in got.body


def test_a_response_is_changed(play):
    send = play(*serve(
        "needs: 'body', response(res, req) { res.status = 201; res.headers.set('X-Path', req.url.pathname); res.body = res.text + '!' }",
        phases=["response"], needs="body"))
    _, got = send("/p")
    assert (got.status, got.get("x-path"), got.body) == (201, "/p", b"ok!")


def test_a_retry_keeps_state(play):
    def answer(seen):
        return response(200 if seen.get("x-token") == "t2" else 401, body=b"")

    send = play(*serve(
        """request(req, action, { state }) { req.headers.set('X-Token', state.token ?? 't1') },
           response(res, req, action, { state }) {
             if (res.status !== 401 || state.token) return
             state.token = 't2'
             return usher.retry()
           }""", phases=["request", "response"]), answer=answer)
    _, got = send()
    assert got.status == 200 and [seen.get("x-token") for seen in send.server.requests] == ["t1", "t2"]


def test_retries_have_an_end(play):
    send = play(*serve("response() { return usher.retry() }", phases="response"), answer=lambda _: response(503, body=b"busy"))
    _, got = send()
    assert got.status == 503 and 1 < len(send.server.requests) < 20


def test_the_action_is_told(play):
    send = play(*serve("request(req, action) { req.headers.set('X-Action', JSON.stringify(action)) }"))
    seen, _ = send(START, "POST", host="am.localhost")
    assert json.loads(seen.get("x-action")) == {
        "type": "START_AUTHENTICATE", "payload": {"tree": "Login", "type": "service"}, "realm": "/alpha"}
    seen, _ = send("/")
    assert json.loads(seen.get("x-action")) == {"type": ""}


# MARK: failures

@pytest.mark.parametrize("text, words", [
    ("request() { process.exit(3) }", "exit status 3"),
    ("request() { process.kill(process.pid, 'SIGKILL') }", "killed by signal 9"),
    ("request() { console.error('the last words'); process.exit(1) }", "its last line: the last words"),
    ("request() { while (true); }", "gave no answer within 300 ms"),
    ("request() { return new Promise(() => {}) }", "gave no answer within 300 ms"),
])
@pytest.mark.parametrize("policy", ["pass", "refuse"])
def test_a_script_that_fails_takes_nothing_with_it(play, text, words, policy):
    send = play(*serve(text, timeout="300ms", on_failure=policy), when={"path": "/bad"})
    seen, got = send("/bad")
    assert (got.status == 200 and seen is not None) if policy == "pass" else (got.status == 502 and seen is None)
    assert send("/good")[1].status == 200
    send.usher.wait_error(words)


def test_garbage_ends_its_worker_alone(play):
    send = play(*node("""
        import net from 'node:net'
        const socket = new net.Socket({ fd: 3 })
        socket.write(usher.frame({ hello: { protocol: 1, phases: ['request'] } }))
        socket.on('data', () => socket.write('garbage\\n'))""", on_failure="pass"))
    seen, got = send()
    assert seen is not None and got.status == 200
    send.usher.wait_error("a frame begins with its length")
    assert send()[1].status == 200


def test_a_hanging_worker_is_replaced(play):
    send = play(*serve("request(req) { if (req.url.pathname === '/hang') while (true); req.headers.set('X-Tag', '1') }",
                       timeout="200ms", on_failure="pass"))
    assert send("/hang")[1].status == 200
    send.usher.wait_error("it hangs")
    programs.eventually(lambda: send("/x")[0].get("x-tag") == "1", "a worker came back")


def test_a_killed_worker_under_load_loses_nothing(play):
    send = play(*serve("request(req) { req.headers.set('X-Worker', process.pid) }", workers=2, on_failure="pass"))
    workers = {send()[0].get("x-worker") for _ in range(20)} - {None}

    def load(_):
        client = send.client()
        return [send("/l", by=client)[1].status for _ in range(200)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(load, number) for number in range(4)]
        for worker in workers:
            os.kill(int(worker), signal.SIGKILL)
        assert all(status == 200 for one in running for status in one.result())


def test_growth_is_limited(play):
    send = play(*serve("request() { const all = []; while (true) all.push(Buffer.alloc(1 << 20, 1)) }",
                       memory="512MiB", timeout="20s", on_failure="pass"), when={"path": "/bad"})
    assert send("/bad")[1].status == 200
    send.usher.wait_error("worker 1")


# MARK: life

@pytest.mark.parametrize("files, script, words", [
    ({}, {"run": ["no-such-program"]}, "which is not in PATH"),
    ({"script.sh": "echo sorry >&2; exit 4"}, {"run": JQ}, "sorry"),
    ({"script.sh": "echo '{}' >&3; sleep 10"}, {"run": JQ}, "a frame begins with its length"),
    (*serve("response() {}"), "write phases: [response]"),
    (*serve("needs: 'body', request() {}"), "write needs: body"),
    ({}, {"connect": "unix:/nowhere/x.sock"}, "does not listen on /nowhere/x.sock"),
])
def test_what_does_not_start_is_told(call, folder, files, script, words):
    for name, text in files.items():
        (folder / name).write_text(text)
    config = folder / "usher.yaml"
    config.write_text(json.dumps({"version": 1, "interceptors": [{"name": "mine", "script": terms(script)}]}))
    done = call("check", config)
    assert done.returncode == 1 and words in done.stdout, done.stdout + done.stderr
    assert f"{config}:" in done.stdout
    done = call("serve", "--config", config, "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and words in done.stderr


@pytest.mark.skipif(not IS_ROOT, reason="this is not root")
def test_a_script_is_not_run_as_root(call, folder):
    config = folder / "usher.yaml"
    config.write_text(json.dumps({"version": 1, "interceptors": [{"name": "mine", "script": {"run": ["true"]}}]}))
    done = call("check", config)
    assert done.returncode == 1 and "must not run as root, as Usher does; add user: NAME" in done.stdout


def test_the_environment_is_bare(play):
    send = play(*serve("request(req) { req.headers.set('X-Env', Object.keys(process.env).sort().join()) }",
                       environment={"MINE": "1"}))
    names = set(send()[0].get("x-env").split(","))
    assert {"MINE", "PATH", "USHER_SCRIPT_FD"} <= names <= {"MINE", "PATH", "USHER_SCRIPT_FD", "HOME", "LANG", "TZ", "TMPDIR"}


def pid_of(send):
    return int(send()[0].get("x-pid"))


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_gone(pid):
    programs.eventually(lambda: not is_running(pid), "the old process ended")


def test_a_reload_replaces_what_changed_alone(play, folder):
    text = "request(req) { req.headers.set('X-Pid', process.pid) }"
    send = play(*serve(text))
    first = pid_of(send)
    send.write({**send.rule, "when": {"method": "GET"}})
    send.usher.reload()
    assert pid_of(send) == first
    files, _ = serve(text + " /* new */")
    (folder / "script.mjs").write_text(files["script.mjs"])
    send.usher.reload()
    second = pid_of(send)
    assert second != first
    wait_gone(first)
    (folder / "script.mjs").write_text("console.error('broken'); process.exit(1)")
    send.usher.reload(fails=True)
    assert pid_of(send) == second
    assert send.usher.stop() == 0
    wait_gone(second)


def test_one_that_runs_by_itself_is_asked(play, folder):
    path = folder / "x.sock"
    (folder / "own.mjs").write_text(f"""
        import net from 'node:net'
        import {{ serve }} from './node/lib/scripts.js'
        net.createServer(socket => serve({{ request(req) {{ req.headers.set('X-Tag', 'own') }} }}, socket)).listen('{path}')
        console.log('up')""")
    process = subprocess.Popen(["node", folder / "own.mjs"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "up\n"
        send = play({}, {"connect": f"unix:{path}", "workers": 2})
        assert send()[0].get("x-tag") == "own"
    finally:
        process.kill()
        process.wait()


# MARK: verbs

def test_explain_and_test_ask_it(call, folder):
    files, script = serve(TAG)
    for name, text in files.items():
        (folder / name).write_text(text)
    config = folder / "usher.yaml"
    config.write_text(json.dumps({"version": 1, "interceptors": [{"name": "mine", "script": terms(script)}]}))
    done = call("explain", "--config", config, "curl http://app.test/")
    assert done.returncode == 0 and "added header x-tag" in done.stdout, done.stdout + done.stderr
    (folder / "cases.yaml").write_text(json.dumps({"config": "usher.yaml", "cases": [
        {"name": "a", "request": "curl http://app.test/", "expect": {"sent": {"headers": {"X-Tag": "script"}}}}]}))
    done = call("test", folder / "cases.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    done = call("check", config)
    assert done.returncode == 0 and "good" in done.stdout


# MARK: other languages

def test_python_and_its_verdicts(play):
    send = play({"script.py": """
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
"""}, {"run": [sys.executable, "script.py"], "phases": ["request", "response"], "environment": {"PYTHONPATH": "python/src"}},
        answer=lambda seen: response(503 if seen.get("x-tag") == "0" else 200, body=b"ok"))
    seen, got = send("/x?a=1")
    assert seen.target == "/x?a=1&b=2" and got.status == 200 and got.get("x-seen") == "yes"
    assert [one.get("x-tag") for one in send.server.requests] == ["0", "1"]
    assert send("/tea")[1].status == 418


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


def python(text, **more):
    return {"script.py": text}, {"run": [sys.executable, "script.py"], "environment": {"PYTHONPATH": "python/src"}, **more}


@pytest.mark.parametrize("files, script", [middleware(CDT), python(CDT_PYTHON, needs="body")], ids=["node", "python"])
def test_cdt_interceptors_keep_their_order_and_their_state(play, files, script):
    send = play(files, {**script, "phases": ["request", "response"]},
                answer=lambda seen: response(429 if len(seen.get("x-order")) < 6 else 200, body=b"ok"))
    _, got = send()
    assert got.status == 200
    assert [seen.get("x-order") for seen in send.server.requests] == ["AB", "ABabAB"]


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


# MARK: what is shown

def test_status_and_metrics_show_each_worker(play, binary):
    send = play(*serve("request() { process.exit(1) }", workers=2, on_failure="pass"),
                when={"path": "/bad"}, admin={"listen": "127.0.0.1:0", "token": "a-token-of-32-bytes-or-more-0123"})
    assert send("/bad")[1].status == 200
    send.usher.wait_error("exit status 1")
    line = send.usher.wait_for(
        lambda: next((line for line in list(send.usher.errors) if "serving the admin API on" in line), None), "the admin API")
    port = int(line.rpartition(":")[2].split()[0])
    headers = [("Authorization", "Bearer a-token-of-32-bytes-or-more-0123")]

    def ask(path):
        return Connection(("127.0.0.1", port)).exchange(request("GET", path, [("Host", "localhost"), *headers])).body

    def status():
        return json.loads(ask("/v1/status"))["scripts"][0]

    programs.eventually(lambda: all(one["state"] == "ready" for one in status()["workers"]), "all workers are ready")
    shown = status()
    assert shown["failed"] == 1 and sorted(one["restarts"] for one in shown["workers"]) == [0, 1]
    page = ask("/metrics").decode()
    assert 'usher_script_failures_total{script="mine"} 1' in page and 'usher_script_restarts_total{script="mine"} 1' in page
