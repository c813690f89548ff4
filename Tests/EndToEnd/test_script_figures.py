"""Scripts: what status and metrics say over reloads, what environments allow, and how scripts end."""

import re
import threading

import pytest

import admin
import programs
from scripting import folder, node, play, serve  # noqa: F401
from test_scripts import children, is_running
from wire import request, response

PID = "request(req) { req.headers.set('X-Pid', process.pid) }"


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setenv("ADMIN_TOKEN", admin.TOKEN)
    return lambda send: admin.Port(send.usher)


def figures(port, name):
    page = port.curl("/metrics")[2].decode()
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), int(value))
            for labels, value in re.findall(rf"^{name}{{(.*)}} (\d+)$", page, re.M)]


class Held:
    """An origin that keeps requests for /held waiting."""

    def __init__(self):
        self.came, self.hold = threading.Event(), threading.Event()

    def __call__(self, seen):
        if "/held" in seen.target:
            self.came.set()
            self.hold.wait(60)
        return response(body=b"ok")


def test_an_answer_that_cannot_be_applied_is_counted(play, port):
    send = play(*serve("request(req) { if (req.url.pathname === '/bad') req.url = 'ftp://a/' }"), **admin.CONFIG)
    own = port(send)
    assert send("/bad")[1].status == 502 and send("/good")[1].status == 200
    programs.eventually(lambda: figures(own, "usher_script_unfit_total") == [({"script": "mine"}, 1)], "it is counted")
    script = own.json("/v1/status")[1]["scripts"][0]
    assert script["unfit"] == 1 and [one["failed"] for one in script["workers"]] == [0]


def test_an_error_is_counted_once(play, port):
    send = play(*serve("request() { throw new Error('no') }"), **admin.CONFIG)
    own = port(send)
    assert send()[1].status == 502
    assert figures(own, "usher_script_unfit_total") == [({"script": "mine"}, 0)]
    assert figures(own, "usher_script_failures_total") == [({"script": "mine", "worker": "1"}, 1)]


def test_metrics_have_each_series_once_after_a_reload(play, port, folder):
    # the exchange under way keeps the old script
    origin = Held()
    send = play(*serve(PID), answer=origin, **admin.CONFIG)
    own = port(send)
    with send.client() as held:
        held.send(request("GET", f"http://app.localhost:{send.server.port}/held"))
        assert origin.came.wait(60)
        files, _ = serve(PID + " /* new */")
        (folder / "script.mjs").write_text(files["script.mjs"])
        send.usher.reload()
        send("/x")
        for name in ["up", "restarts_total", "answers_total", "failures_total"]:
            assert [labels for labels, _ in figures(own, f"usher_script_{name}")] == [{"script": "mine", "worker": "1"}], name
        assert figures(own, "usher_script_answers_total")[0][1] == 1
        origin.hold.set()


def test_a_script_that_was_dropped_is_marked_until_it_rests_and_keeps_its_counts(play, port):
    origin = Held()
    send = play(*serve(f"{PID}, response() {{}}", phases=["request", "response"]), answer=origin, **admin.CONFIG)
    own = port(send)

    def answered():
        return [(script["retired"], script["workers"][0]["answered"]) for script in own.json("/v1/status")[1]["scripts"]]

    send("/x")
    assert answered() == [(False, 2)]
    with send.client() as held:
        held.send(request("GET", f"http://app.localhost:{send.server.port}/held"))
        assert origin.came.wait(60)
        send.write({"name": "mine", "request": [{"set_header": {"X-New": "1"}}]})
        send.usher.reload()
        assert answered() == [(True, 3)]
        programs.eventually(lambda: answered() == [], "the script rests")
        origin.hold.set()
        assert held.read_response().status == 200
        assert answered() == [(True, 4)]
    programs.eventually(lambda: answered() == [], "the script rests again")


ENVIRONMENTS = [{"hosts": ["app.localhost"], "label": "production"}]


@pytest.mark.parametrize("allow, phases, is_asked", [
    (["edit", "mock", "fault"], ["request"], True), (["edit", "mock"], ["request"], False),
    (["edit", "mock", "fault"], ["request", "response"], False),
    (["edit", "mock", "fault", "replay"], ["request", "response"], True),
])
def test_a_script_needs_all_words_of_what_it_may_do(play, allow, phases, is_asked):
    handlers = f"{PID}, response() {{}}" if "response" in phases else PID
    send = play(*serve(handlers, phases=phases), environments=[{**ENVIRONMENTS[0], "allow": allow}],
                others=[{"name": "other", "when": {"host": "elsewhere.localhost"}, "request": [{"set_header": {"X-A": "1"}}]}])
    seen, got = send()
    # it might have kept the request from its origin
    assert (got.status, seen is not None) == ((200, True) if is_asked else (403, False))


def heedless(text):
    """A script that goes on after its connection ended."""
    return node(f"""
        import fs from 'node:fs'
        import net from 'node:net'
        const socket = new net.Socket({{ fd: 3 }})
        socket.write(usher.frame({{ hello: {{ protocol: 1, phases: ['request'] }} }}))
        setInterval(() => {{}}, 1000)
        process.on('SIGTERM', () => {{ {text} }})""")


def test_scripts_are_told_to_end_before_they_are_killed(play, folder):
    folder.chmod(0o777)
    send = play(*heedless("fs.writeFileSync('ended', 'well'); process.exit()"))
    assert send.usher.stop() == 0
    assert (folder / "ended").read_text() == "well"


def test_one_that_does_not_heed_the_signal_is_killed(play):
    send = play(*heedless(""))
    pids = children(send.usher.process.pid)
    assert len(pids) == 1 and send.usher.stop() == 0
    assert not is_running(pids[0])
