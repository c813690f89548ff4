"""Pages in a browser: headless Chromium signs in, asks for what is protected by `fetch` and by going there, and knows nothing of
step-ups. For both forms of a gateway's advice, over HTTP and through opened tunnels."""

import os
import shutil
import subprocess
import uuid

import pytest

import programs
import shop


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def browse(home):
    """Opens pages through a proxy: browse(usher, url)."""
    running = []

    def run(usher, url):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if not chromium:
            programs.left_out("chromium is not installed")
        running.append(subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={home}/profile", f"--proxy-server={usher.url}",
             "--proxy-bypass-list=<-loopback>", "--remote-debugging-port=0", url],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(home / "browser.err", "wb"),
            env={**os.environ, "HOME": str(home)}))

    yield run
    for browser in running:
        browser.terminate()
        browser.wait(20)


def trust(ca, home):
    """Puts the authority into the store that Chromium reads, as a person does."""
    if not shutil.which("certutil"):
        programs.left_out("certutil is not installed")
    store = home / ".pki/nssdb"
    store.mkdir(parents=True)
    for more in (["-N", "--empty-password"], ["-A", "-t", "C,,", "-n", "Usher", "-i", ca]):
        subprocess.run(["certutil", "-d", f"sql:{store}", *more], check=True)


def proxied(start, sandbox, offers, state):
    config = {**shop.config(sandbox, offer_header=offers), "workers": 1}
    if sandbox.ca:
        config["tls"] = {
            "intercept": ["*.localhost"], "ca": {"constrain_to": ["localhost"]},
            "upstream": {"trust": "none", "extra_trust": [str(sandbox.ca)]}}
    return start(config, state=state)


@pytest.mark.parametrize("offers", [True, False], ids=["header", "redirect"])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page(start, sandbox, secure_sandbox, browse, home, tmp_path, scheme, offers, method):
    place = secure_sandbox if scheme == "https" else sandbox
    usher = proxied(start, place, offers, tmp_path)
    if place.ca:
        trust(usher.ca, home)
    mark = uuid.uuid4().hex
    page = place.shop.removesuffix("/shop") + (
        f"/plain/try#name=demo&password=changeit&method={method}&ask=/shop/fetched/{mark}?a=b"
        f"&tell=/plain/told/{mark}&go=/shop/gone/{mark}")
    browse(usher, page)
    fetched = usher.wait_for(lambda: usher.flows(f"/shop/fetched/{mark}"), "the page's fetch", 60)[-1].access
    assert (fetched["method"], fetched["status"], fetched["attempts"]) == (method, 200, 2)
    # the page says that it has it before it goes on
    usher.wait_for(lambda: usher.flows(f"/plain/told/{mark}"), "what the page tells", 60)
    gone = usher.wait_for(lambda: usher.flows(f"/shop/gone/{mark}"), "the page that was gone to", 60)[-1].access
    assert (gone["status"], gone["attempts"]) == (200, 2)
    # what reached the resource was that user's, and each by a transaction of its own
    place.wait_for(
        lambda: [line for line in place.lines if f"/shop/gone/{mark}" in line and "used by demo" in line], "the access")
