"""Regular expressions of the configuration: no request makes a worker run for long."""

import ctypes
import re
import sys

import pytest

import programs
from wire import Connection, request

# each with a path that sets it off
NESTED = ("~(a+)+$", "/" + "a" * 60 + "!")
LONG = ("~.*login.*.*logout.*.*x$", "/" + "login" * 3_000)


def rules(*patterns):
    return {"workers": 2, "interceptors": [
        {"name": f"rule {number}", "when": {"path": pattern}, "request": [{"set_header": {"X-Seen": "yes"}}]}
        for number, pattern in enumerate(patterns)]}


def ask(usher, server, path):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request("GET", f"http://127.0.0.1:{server.port}{path}"))


@pytest.fixture
def unexecutable(binary, tmp_path):
    """The program where no memory may be made executable, as systemd's MemoryDenyWriteExecute= has it (prctl(2),
    PR_SET_MDWE)."""
    wrapper = tmp_path / "unexecutable"
    wrapper.write_text(
        f"#!{sys.executable}\nimport ctypes, os, sys\n"
        "assert ctypes.CDLL(None, use_errno=True).prctl(65, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())\n"
        f"os.execv({binary!r}, [{binary!r}, *sys.argv[1:]])\n")
    wrapper.chmod(0o755)
    return wrapper


def refuses_execution():
    """This system knows the call; one that does not cannot tell."""
    return ctypes.CDLL(None, use_errno=True).prctl(66, 0, 0, 0, 0) >= 0


def check_answers(usher, server):
    for _ in range(4):
        for _, path in (NESTED, LONG):
            before = len(server.requests)
            assert ask(usher, server, path).status == 200
            assert server.requests[before].get("x-seen") is None
    assert ask(usher, server, "/aaa").status == 200
    assert server.requests[-1].get("x-seen") == "yes"
    errors = usher.wait_for(
        lambda: [r["error"] for r in usher.records() if NESTED[0] in r.get("error", "")], "words about the limit")
    assert len(errors) == 1
    assert re.match(
        r"the pattern ~\(a\+\)\+\$ \(interceptor rule 0, when path, .*usher-0\.yaml:\d+:\d+\) reached its limit of steps "
        r"(once|\d times); it was taken not to match$", errors[0])


def test_no_request_keeps_a_worker_and_the_end_comes(start, origin):
    server = origin()
    usher = start(rules(NESTED[0], LONG[0]))
    check_answers(usher, server)


@pytest.mark.skipif(not refuses_execution(), reason="needs Linux 6.3 or newer")
def test_the_same_where_no_memory_may_be_made_executable(unexecutable, write_config, origin):
    server = origin()
    usher = programs.Usher(unexecutable, write_config(rules(NESTED[0], LONG[0]), "usher-0.yaml"))
    try:
        check_answers(usher, server)
    finally:
        assert usher.stop() == 0


def test_check_tells_a_pattern_that_is_apt_to(call, write_config):
    path = write_config("""version: 1
interceptors:
  - name: nested
    when: { path: ["~^/api/", "~(a+)+$"] }
    request: [{ set_header: { X: "1" } }, { rewrite_url: { "~/(.*)*!$": "/" } }]
""")
    done = call("check", path)
    assert done.returncode == 0
    found = [line for line in (done.stdout + done.stderr).splitlines() if "avoid nested repeats" in line]
    assert [re.sub(r"^.*usher.yaml:(\d+:\d+: warning): .*$", r"\1", line) for line in found] == ["4:31: warning", "5:60: warning"]
