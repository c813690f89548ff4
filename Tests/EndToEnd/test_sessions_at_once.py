"""Many test sessions at once: none sees another's rules or counts."""

import concurrent.futures
import contextlib
import json
import os
import shutil
import subprocess
import sys

from staging import answering, staging  # noqa: F401

SUITE = """
import urllib.request, urllib.error

def test_the_fault_of_this_session():
    try:
        status = urllib.request.urlopen("{url}", timeout=60).status
    except urllib.error.HTTPError as error:
        status = error.code
    assert status == {status}
"""


def test_fifty_sessions_at_once_and_none_is_disturbed(staging):
    here = staging({"interceptors": [{"name": "base", "first": 1, "request": [{"respond": {"status": 299}}]}]})

    def run(number):
        overlay = here.overlay(answering(400 + number, f"/own/{number}"), f"overlay-{number}.yaml")
        session = here.opened("--name", f"suite-{number}", "--overlay", overlay)
        # the base's rule counts for each session alone
        seen = [here.get("/first", session["proxy"]).status_code for _ in range(2)]
        for other in range(50):
            expected = 400 + number if other == number else 200
            seen.append(here.get(f"/own/{other}", session["proxy"]).status_code == expected)
        return seen

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(50)))
    assert results == [[299, 200] + [True] * 50] * 50
    assert here.get("/own/3").status_code == 299, "the base's own count was not touched"
    assert here.get("/own/3").status_code == 200
    assert len(json.loads(here.session("list", "--json").stdout)["sessions"]) == 50


def test_browsers_suites_and_commands_at_once(staging, chromium, tmp_path):
    here = staging()
    sessions = [
        here.opened(
            "--name", f"one-{number}", "--port", "--overlay", here.overlay(answering(400 + number), f"one-{number}.yaml"))
        for number in range(50)]

    def run(*command, **variables):
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=120, env={**os.environ, **variables})

    def command(number):
        return run(
            "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "", "-x", sessions[number]["proxy"],
            f"{here.place}/x").stdout

    def suite(number):
        path = tmp_path / f"test_{number}.py"
        path.write_text(SUITE.format(url=f"{here.place}/x", status=400 + number))
        done = run(
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, path,
            http_proxy=sessions[number]["proxy"], no_proxy="")
        return done.returncode, done.stdout

    browser = chromium.browser_type.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
    with concurrent.futures.ThreadPoolExecutor(4) as pool, contextlib.closing(browser):
        suites = [pool.submit(suite, number) for number in range(5)]
        commands = [pool.submit(command, number) for number in range(5, 40)]
        for number in range(40, 50):
            # a browser sends credentials to a proxy that asks for some; what is on this machine bypasses it by default
            context = browser.new_context(proxy={"server": sessions[number]["port"], "bypass": "<-loopback>"})
            assert context.new_page().goto(f"{here.place}/x").status == 400 + number
            context.close()
        assert [one.result() for one in commands] == [str(400 + number) for number in range(5, 40)]
        assert [one.result()[0] for one in suites] == [0] * 5, [one.result() for one in suites]
