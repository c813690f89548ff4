"""Scripts: filters in other languages, which processes beside the proxy run."""

import concurrent.futures
import re
import json
import os
import pathlib
import signal
import subprocess
import threading

import pytest

import admin
import programs
from scripting import IS_ROOT, START, folder, node, play, serve, terms  # noqa: F401
from wire import response

BASH = ["bash", "script.sh"]
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
    ("return usher.respond({ status: 200n })", b"BigInt"),
    ("throw Object.create(null)", b"without words"),
    ("throw new Error('x'.repeat(199) + '\\u{1F600}')", "\ufffd".encode()),
])
def test_an_answer_that_cannot_be_written_fails_alone(play, text, words):
    send = play(*serve(f"async request(req) {{ req.headers.set('X-Pid', process.pid); if (req.url.pathname === '/bad') {{ {text} }} }}"))
    before = send()[0].get("x-pid")
    seen, got = send("/bad")
    assert seen is None and got.status == 502 and words in got.body
    assert send()[0].get("x-pid") == before


def test_lines_beyond_latin_1_go_on(play):
    send = play(*serve("request(req) { req.headers.set('X-Tag', '1') }"))
    name = "日本".encode().decode("latin-1")
    seen, got = send(fields=[("X-Name", name)])
    assert got.status == 200 and seen.get("x-tag") == "1" and seen.get("x-name") == name


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


@pytest.mark.parametrize("policy", ["pass", "refuse"])
def test_a_killed_worker_under_load_loses_nothing(play, policy):
    send = play(*serve("request(req) { req.headers.set('X-Worker', process.pid) }", workers=2, on_failure=policy))
    workers = {send()[0].get("x-worker") for _ in range(20)} - {None}
    before = len(send.server.requests)

    def load(number):
        with send.client() as client:
            # the first kill comes after some answers
            return [(number == 0 and count == 20 and kill(), send("/l", by=client)[1].status)[1] for count in range(200)]

    def kill():
        for worker in workers:
            os.kill(int(worker), signal.SIGKILL)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        statuses = [status for one in list(pool.map(load, range(4))) for status in one]
    # each request has its answer, and those that were refused did not go out
    assert len(statuses) == 800 and set(statuses) == {200, 200 if policy == "pass" else 502}
    assert len(send.server.requests) - before == statuses.count(200)
    programs.eventually(lambda: (seen := send()[0]) and seen.get("x-worker"), "a worker is back")
    marks = [seen.get("x-worker") for seen in list(send.server.requests)[before:]]
    # others took over, and new workers came
    assert set(marks) - workers - {None}
    assert policy == "pass" or None not in marks


@pytest.mark.parametrize("fields, body", [
    ([], b"x" * 5000), ([("Content-Encoding", "foo")], b"x"), ([("Content-Encoding", "gzip")], b"no gzip")])
@pytest.mark.parametrize("policy, status", [("refuse", 502), ("pass", 200)])
def test_a_body_that_it_cannot_see_is_a_failure(play, fields, body, policy, status):
    send = play(*serve("needs: 'body', request(req) { req.headers.set('X-Tag', '1') }", needs="body", on_failure=policy),
                limits={"buffered_body": "1KiB"})
    assert send("/x", "POST", fields, body)[1].status == status


@pytest.mark.parametrize("policy, status", [("refuse", 502), ("pass", 200)])
@pytest.mark.parametrize("answer", ["{ headers: [['X-A', '1'], ['Bad Name', '2']] }", "{ url: 'ftp://a/', method: 'PUT' }"])
def test_a_message_that_cannot_be_sent_is_a_failure(play, policy, status, answer):
    send = play(*node(f"""
        import net from 'node:net'
        const socket = new net.Socket({{ fd: 3 }})
        const reader = new usher.FrameReader()
        socket.write(usher.frame({{ hello: {{ protocol: 1, phases: ['request'] }} }}))
        socket.on('data', piece => {{
          for (const {{ id }} of reader.read(piece)) socket.write(usher.frame({{ id, request: {answer} }}))
        }})""", on_failure=policy))
    seen, got = send()
    assert got.status == status and (policy == "refuse" or seen.line.startswith("GET") and seen.get("x-a") is None)


def test_the_last_line_is_not_for_other_clients(play):
    send = play(*serve("request(req) { if (req.url.pathname === '/a') console.error('secret of a'); else process.exit(1) }"))
    assert send("/a")[1].status == 200
    got = send("/b")[1]
    assert got.status == 502 and b"secret" not in got.body
    send.usher.wait_error("its last line: secret of a")


def test_growth_is_limited(play):
    send = play(*serve("request() { const all = []; while (true) all.push(Buffer.alloc(1 << 20, 1)) }",
                       memory="512MiB", timeout="20s", on_failure="pass"), when={"path": "/bad"})
    assert send("/bad")[1].status == 200
    send.usher.wait_error("worker 1")


def test_many_requests_leave_nothing_behind(play):
    send = play(*serve(TAG, timeout="60s"), log={"access": "none"})
    for _ in range(1000):
        send()
    before = send.usher.resident()
    for _ in range(3000):
        send()
    assert send.usher.resident() - before < 8 << 20


# MARK: life

@pytest.mark.parametrize("files, script, words", [
    ({}, {"run": ["no-such-program"]}, "which is not in PATH"),
    ({"script.sh": "echo sorry >&2; exit 4"}, {"run": BASH}, "sorry"),
    ({"script.sh": "echo '{}' >&3; sleep 10"}, {"run": BASH}, "a frame begins with its length"),
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


def test_an_exchange_under_way_keeps_its_script(play):
    came, go = threading.Event(), threading.Event()

    def answer(_):
        came.set()
        assert go.wait(60)
        return response(body=b"ok")

    send = play(*serve("response(res) { res.headers.set('X-Pid', process.pid) }", phases="response", timeout="20s"), answer=answer)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(send)
        assert came.wait(60)
        send.write({"name": "mine", "request": [{"set_header": {"X-New": "1"}}]})
        send.usher.reload()
        # its processes rest by now, and one more question starts them
        programs.eventually(lambda: not children(send.usher.process.pid), "the script rests")
        go.set()
        pid = int(asked.result()[1].get("x-pid"))
    assert send()[0].get("x-new") == "1"
    wait_gone(pid)


def children(pid):
    found = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for text in found for child in text.split() if is_running(int(child))]


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


# MARK: what is shown

def test_status_and_metrics_show_each_worker(play, monkeypatch):
    monkeypatch.setenv("ADMIN_TOKEN", admin.TOKEN)
    send = play(*serve("request() { process.exit(1) }", workers=2, on_failure="pass"),
                when={"path": "/bad"}, **admin.CONFIG)
    port = admin.Port(send.usher)
    assert send("/bad")[1].status == 200
    send.usher.wait_error("exit status 1")

    def status():
        return port.json("/v1/status")[1]["scripts"][0]

    programs.eventually(lambda: all(one["state"] == "ready" for one in status()["workers"]), "all workers are ready")
    shown = status()
    assert sum(one["failed"] for one in shown["workers"]) == 1 and sorted(one["restarts"] for one in shown["workers"]) == [0, 1]
    page = port.curl("/metrics")[2].decode()
    for name in ["failures", "restarts"]:
        assert len(re.findall(rf'usher_script_{name}_total{{script="mine",worker="[12]"}} 1\n', page)) == 1
