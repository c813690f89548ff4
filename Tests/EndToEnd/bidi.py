"""Firefox, spoken to by WebDriver BiDi at its own remote agent: as much of it as a walk through a page needs."""

import json
import re
import shutil

import programs

# nothing of the browser's own is asked for
SETTINGS = {
    "browser.shell.checkDefaultBrowser": False, "browser.aboutwelcome.enabled": False, "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False, "network.proxy.type": 0,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "browser.safebrowsing.malware.enabled": False, "app.normandy.enabled": False}
# the first element in sight that fits a selector and has that text, or that name
FIND = """(selector, text) => [...document.querySelectorAll(selector)].find(one => one.checkVisibility() &&
  (one.getAttribute('aria-label') === text || [...one.labels ?? []].some(label => label.textContent.includes(text)) ||
   one.textContent.includes(text)))"""


class Firefox(programs.Program):
    def __init__(self, home):
        try:
            import websocket
        except ImportError:
            programs.missing("python3-websocket is not installed")
        firefox = shutil.which("firefox-esr") or shutil.which("firefox")
        if not firefox:
            programs.left_out("firefox-esr is not installed")
        profile = home / "profile"
        profile.mkdir()
        (profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in SETTINGS.items()))
        super().__init__(
            [firefox, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"],
            environment={"HOME": str(home), "MOZ_DISABLE_CONTENT_SANDBOX": "1"})
        pattern = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
        place = self.wait_for(
            lambda: next((found.group(1) for found in map(pattern.search, list(self.errors)) if found), None), "its agent", 60)
        self.socket = websocket.create_connection(f"{place}/session", suppress_origin=True, timeout=60)
        self.number = 0
        self.faults = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.stop()

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self.socket.recv())
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.faults.append(told["params"]["text"])
            if told.get("id") == self.number:
                assert told["type"] == "success", f"{method}: {told}"
                return told["result"]

    def goes(self, url):
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression):
        """The value of an expression in the page, by JSON."""
        told = self.call(
            "script.evaluate", target={"context": self.context}, awaitPromise=True,
            expression=f"(async () => JSON.stringify(await ({expression})) ?? 'null')()")
        assert told["type"] == "success", f"{expression}: {told['exceptionDetails']['text']}"
        return json.loads(told["result"]["value"])

    def sees(self, text, selector="main"):
        """Waits until that is shown."""
        found = f"({FIND})({json.dumps(selector)}, {json.dumps(text)})"
        programs.eventually(lambda: self.evaluate(f"!!{found}"), f"{selector} with {text!r} in Firefox", 30)
        return found

    def clicks(self, text, selector="button, a, [role=row], [role=tab], [role=switch], input"):
        """With the mouse, in the middle of it."""
        found = self.sees(text, selector)
        x, y = self.evaluate(
            f"(() => {{ const one = {found}; one.scrollIntoView({{block: 'center'}}); const box = one.getBoundingClientRect();"
            " return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)] })()")
        self.performs("pointer", [
            {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    def types(self, text):
        """Into what has the focus; \\ue007 is the Enter key."""
        self.performs("key", [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")])

    def performs(self, kind, actions):
        self.call("input.performActions", context=self.context, actions=[{"type": kind, "id": kind, "actions": actions}])
