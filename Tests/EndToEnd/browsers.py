"""The daemon's page in headless Chromium: Playwright of PyPI drives Debian's browser.

Every page that a test opens is watched: its test fails where a script failed, the page broke its own policy, or asked another host."""

import json
import os
import pathlib
import shutil
import sys

import pytest

import people
import programs

VENV = pathlib.Path(__file__).resolve().parents[2] / ".build/browsers"
PATIENCE = 15_000 * int(os.environ.get("USHER_TEST_PATIENCE", "1"))
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--disable-background-networking",
    # another site's name that leads here: what DNS rebinding is
    "--host-resolver-rules=MAP *.attacker.example 127.0.0.1"]
# what a page may not do is told to the page itself as well
WATCH = """(() => {
  window.broken = [];
  document.addEventListener('securitypolicyviolation', (event) => window.broken.push(
    `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
})()"""


def driver():
    """Playwright's module, from the place that `scripts/deps test` puts it into."""
    for folder in VENV.glob(f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    try:
        from playwright import sync_api
    except ImportError:
        programs.left_out("Playwright is not installed: scripts/deps test")
    return sync_api


@pytest.fixture(scope="session")
def chromium():
    """One browser for each worker of the tests; what a test does stays in contexts of its own."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        programs.left_out("chromium is not installed")
    with driver().sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def link(person):
    """The address that `usher ui` gives for one login."""
    done = person.says("ui", "--json", "--no-browser")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["url"]


class Watched:
    """What went wrong in a page."""

    def __init__(self, page):
        self.page = page
        self.faults = []
        self.asked = []
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._said)
        page.on("request", lambda request: self.asked.append(request.url))

    def _said(self, message):
        # a refusal that the page shows is none of its faults
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"{message.type}: {message.text}")

    def check(self, origin):
        broken = self.page.evaluate("window.broken ?? []")
        elsewhere = [url for url in self.asked if not url.startswith((origin, "data:", "blob:", "about:"))]
        found = self.faults + broken + elsewhere
        assert not found, found


@pytest.fixture
def browse(chromium):
    """Opens the page of a daemon: browse(person, "flows", width=…, height=…, **options of the context)."""
    opened = []

    def run(person, place="flows", width=1280, height=800, url=None, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(WATCH)
        page = context.new_page()
        url = url or link(person)
        origin = "/".join(url.split("/")[:3]) + "/"
        opened.append((context, Watched(page), origin))
        if "text/html" not in page.goto(url).headers["content-type"]:
            programs.missing("the page is not built: scripts/web")
        page.get_by_role("navigation", name="Pages").wait_for()
        if place != "flows":
            show(page, place)
        return page

    yield run
    for context, watched, origin in opened:
        watched.check(origin)
        context.close()


def show(page, place):
    """Goes to a place within the page, as a link does."""
    page.evaluate("place => { location.hash = '#/' + place }", place)


def expect(what):
    """Waits until something in a page is as it should."""
    found = driver().expect
    found.set_options(timeout=PATIENCE)
    return found(what)


@pytest.fixture
def house(start, sandbox, binary, state):
    """A daemon in front of the sandbox, and somebody at its page: house(**keys of the configuration)."""
    def begin(**config):
        usher = start(config, state=state, environment={"XDG_RUNTIME_DIR": ""})
        return usher, people.Person(binary, state)

    return begin
