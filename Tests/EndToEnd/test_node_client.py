"""clients/node: tests of an app, run by Node with the library, and in contexts of Chromium with Playwright's library."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import programs
from test_pytest_plugin import OVERLAY, configuration

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture
def run(tmp_path, binary, sandbox, secure_sandbox):
    """Runs a file of tests by `node --test`: run(file, **variables)."""
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    (tmp_path / "usher.yaml").write_text(json.dumps(configuration(sandbox, secure_sandbox)))

    def begin(file, **variables):
        kept = {
            name: value for name, value in os.environ.items()
            if not name.startswith("USHER_") and not name.lower().endswith("_proxy")}
        return subprocess.run(
            ["node", "--test", "--test-reporter=tap", HERE / "clients" / file], capture_output=True, text=True, timeout=110,
            env={
                **kept, "USHER_BINARY": str(binary), "USHER_TEST_CONFIG": str(tmp_path / "usher.yaml"),
                "OVERLAY": str(tmp_path / "overlay.yaml"), "OVERLAY_TEXT": "of the environment", "SHOP": sandbox.shop,
                "AM": sandbox.am, "PLAIN": sandbox.plain, "SECURE": secure_sandbox.plain, **variables})

    return begin


def test_node(run):
    done = run("suite.mjs")
    assert done.returncode == 0 and "\n# fail 0" in done.stdout, done.stdout + done.stderr


def test_contexts_of_playwright(run):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    # the package of Python brings the library for Node
    package = importlib.util.find_spec("playwright")
    playwright = os.environ.get("PLAYWRIGHT_CORE") or package and pathlib.Path(package.origin).parent / "driver/package"
    if not chromium or not playwright:
        programs.left_out("chromium or Playwright is not installed")
    done = run("suite_playwright.mjs", CHROMIUM=chromium, PLAYWRIGHT=str(playwright))
    assert done.returncode == 0 and "\n# fail 0" in done.stdout, done.stdout + done.stderr


def test_no_daemon_is_said(run):
    done = run("suite.mjs", USHER_TEST_CONFIG="/nowhere.yaml")
    assert done.returncode == 1 and "usher serve did not start" in done.stdout, done.stdout
