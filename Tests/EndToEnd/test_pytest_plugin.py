"""clients/python: a suite of an app, run by pytest with the plugin, on workers of xdist."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import programs
import shop

HERE = pathlib.Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "clients/python"
OVERLAY = """
interceptors:
  - name: gone
    when: { path: /plain/x }
    request:
      - respond: { status: 410, text: "${env.OVERLAY_TEXT}" }
"""


def configuration(sandbox, secure_sandbox):
    """One for both sandboxes, with a person who has time for step-ups."""
    return {
        "version": 1, **shop.config(sandbox, hold="20s"),
        "tls": {
            "intercept": ["*.localhost"], "ca": {"constrain_to": ["localhost"]},
            "upstream": {"trust": "none", "extra_trust": [str(secure_sandbox.ca)]}}}


@pytest.fixture
def suite(tmp_path, binary, sandbox, secure_sandbox):
    """Runs tests of clients/suite.py: suite(*arguments of pytest, **variables)."""
    shutil.copy(HERE / "clients/suite.py", tmp_path / "suite.py")
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    (tmp_path / "usher.yaml").write_text(json.dumps(configuration(sandbox, secure_sandbox)))

    def run(*arguments, config=True, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("USHER_", "PYTEST_"))}
        kept = {name: value for name, value in kept.items() if not name.lower().endswith("_proxy")}
        environment = {
            **kept, "PYTHONPATH": str(CLIENT / "src"), "USHER_BINARY": str(binary), "SHOP": sandbox.shop,
            "AM": sandbox.am, "PLAIN": sandbox.plain,
            "SECURE": secure_sandbox.plain, "OVERLAY_TEXT": "of the environment", **variables}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "usher_testing.plugin", "-q",
             *(["--usher-config", "usher.yaml"] if config else []), *arguments, "suite.py"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=110)

    return run


def test_no_test_disturbs_another(suite):
    done = suite("-n", "4", "-k", "beside or am or fault or overlay or step_up or tls or port or test_expected")
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def test_one_process_will_do(suite):
    done = suite("-p", "no:xdist", "-k", "busy_am")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_failure_shows_the_journey_and_keeps_the_traffic(suite, tmp_path):
    done = suite("-n", "2", "-k", "failing", "--junitxml", "results/junit.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Login as demo → failed" in done.stdout and "NameCallback “User Name”: demo" in done.stdout
    (har,) = (tmp_path / "results/usher-artifacts").iterdir()
    entries = json.loads(har.read_text())["log"]["entries"]
    assert [entry["response"]["status"] for entry in entries] == [200, 401]
    assert str(har) in done.stdout and '"wrong"' not in har.read_text()
    tree = xml.etree.ElementTree.parse(tmp_path / "results/junit.xml")
    properties = {one.get("name"): one.get("value") for one in tree.iter("property")}
    assert properties["usher_har"] == str(har) and properties["usher_session"].startswith("s-")


def test_unmet_expectations_fail_their_test(suite, tmp_path):
    done = suite("-n", "2", "-k", "expected", "--junitxml", "junit.xml")
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "2 of 2 expectations unmet" in done.stdout and "unmet: one echo: " in done.stdout
    assert "pending: another page: 0 came, wanted at least 1" in done.stdout and "curl " in done.stdout
    # it failed by itself: the error of a fixture would be one
    (failure,) = xml.etree.ElementTree.parse(tmp_path / "junit.xml").iter("failure")
    assert "one echo" in failure.text and len(list((tmp_path / "usher-artifacts").iterdir())) == 1


def test_what_does_not_come_is_named(suite, tmp_path):
    done = suite("-k", "not_seen or bad_rule", "--usher-artifacts", "kept")
    assert done.returncode == 1 and "2 failed" in done.stdout, done.stdout + done.stderr
    assert "path=/elsewhere; the session has" in done.stdout and "echo?there=1" in done.stdout
    assert '"pth" in when; did you mean "path"?' in done.stdout
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_a_daemon_that_runs_already(suite, start, sandbox, tmp_path):
    folder = tmp_path / "state"
    usher = start(shop.config(sandbox), state=folder)
    done = suite("-n", "2", "-k", "busy_am", config=False, USHER_SOCKET=str(folder / "admin.sock"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert usher.flows("/authenticate")


def test_a_daemon_over_tcp(suite, start, sandbox):
    import admin

    usher = start({**shop.config(sandbox), **admin.CONFIG}, environment={"ADMIN_TOKEN": admin.TOKEN})
    done = suite("-k", "busy_am", config=False, USHER_URL=admin.Port(usher).url, USHER_TOKEN=admin.TOKEN)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_daemon_is_said(suite):
    done = suite("-k", "busy_am", config=False)
    assert done.returncode == 1 and "give --usher-config FILE" in done.stdout, done.stdout


def test_a_configuration_with_faults_is_said(suite, tmp_path):
    (tmp_path / "usher.yaml").write_text("version: 1\nworkerz: 2\n")
    done = suite("-n", "2", "-k", "busy_am")
    assert done.returncode == 4 and 'did you mean "workers"?' in done.stderr, done.stdout + done.stderr


def test_it_is_typed(tmp_path):
    if not shutil.which("mypy"):
        programs.left_out("mypy is not installed")
    done = subprocess.run(
        ["mypy", "--cache-dir", str(tmp_path)], cwd=CLIENT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout
