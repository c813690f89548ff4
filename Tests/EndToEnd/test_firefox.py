"""The same pages as in Chromium, in headless Firefox, which has a TLS of its own: a page with what it fetches, an event stream and a
WebSocket; and step-ups, which the page knows nothing of."""

import os
import shutil
import subprocess
import uuid

import pytest

import origins
import programs
from test_browser import proxied
from test_http2_browser import EXPECTED

# everything goes through the proxy, and nothing of the browser's own
SETTINGS = {
    "network.proxy.type": 1, "network.proxy.allow_hijacking_localhost": True, "network.proxy.no_proxies_on": "",
    "browser.shell.checkDefaultBrowser": False, "browser.aboutwelcome.enabled": False, "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "browser.safebrowsing.malware.enabled": False, "app.normandy.enabled": False,
}


@pytest.fixture
def browse(tmp_path):
    """Opens pages through a proxy that it trusts: browse(usher, url)."""
    running = []

    def run(usher, url):
        firefox = shutil.which("firefox-esr") or shutil.which("firefox")
        if not firefox or not shutil.which("certutil"):
            programs.left_out("firefox-esr or certutil is not installed")
        profile = tmp_path / "profile"
        profile.mkdir()
        settings = {**SETTINGS}
        for scheme in ("http", "ssl"):
            settings |= {f"network.proxy.{scheme}": "127.0.0.1", f"network.proxy.{scheme}_port": usher.port}
        lines = [
            f'user_pref("{name}", {str(value).lower() if isinstance(value, bool) else repr(value)});'
            for name, value in settings.items()]
        (profile / "user.js").write_text("\n".join(lines).replace("'", '"'))
        for more in (["-N", "--empty-password"], ["-A", "-t", "C,,", "-n", "Usher", "-i", usher.ca]):
            subprocess.run(["certutil", "-d", f"sql:{profile}", *more], check=True)
        running.append(subprocess.Popen(
            [firefox, "--headless", "--no-remote", "--profile", profile, url], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(tmp_path / "browser.err", "wb"),
            env={**os.environ, "HOME": str(tmp_path), "MOZ_DISABLE_CONTENT_SANDBOX": "1"}))

    yield run
    for browser in running:
        browser.terminate()
        browser.wait(20)


def test_a_page(opening, secure_origin, browse):
    usher = opening(intercept=["*.localhost"], ca={"constrain_to": ["localhost"]})
    site = secure_origin(origins.Site)
    browse(usher, f"{site.url}/")
    assert site.told.get(timeout=60) == EXPECTED
    assert usher.flow(f"{site.authority}/chunked").access["protocol"] == "HTTP/2"
    # it trusts the CA, and nothing says otherwise
    assert not [line for line in [*usher.lines, *usher.errors] if "refused" in line]


def test_step_ups(start, secure_sandbox, browse, tmp_path):
    usher = proxied(start, secure_sandbox, True, tmp_path / "state")
    mark = uuid.uuid4().hex
    browse(usher, secure_sandbox.shop.removesuffix("/shop") + (
        f"/plain/try#name=demo&password=changeit&method=POST&ask=/shop/fetched/{mark}?a=b"
        f"&tell=/plain/told/{mark}&go=/shop/gone/{mark}"))
    for path in ("fetched", "gone"):
        access = usher.wait_for(lambda path=path: usher.flows(f"/shop/{path}/{mark}"), path, 60)[-1].access
        assert (access["protocol"], access["status"], access["attempts"]) == ("HTTP/2", 200, 2)
