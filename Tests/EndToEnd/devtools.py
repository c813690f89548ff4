"""Chromium's developer tools, spoken to by a pipe: no port, and no library for WebSockets."""

import json
import os
import select
import shutil
import subprocess
import time

import programs

# the page's own code, as its network panel reads a file that is dropped on it
IMPORT = """(async () => {
  const har = await import('devtools://devtools/bundled/models/har/har.js');
  const root = new har.HARFormat.HARRoot(JSON.parse(%s));
  const out = [];
  for (const request of har.Importer.Importer.requestsFromHARLog(root.log)) {
    const data = await (request.requestContentData ? request.requestContentData() : request.contentData());
    out.push({method: request.requestMethod, url: request.url(), status: request.statusCode, type: request.mimeType,
      seconds: request.duration, text: data.isTextContent ? data.text : null, base64: data.isTextContent ? null : data.base64,
      sent: request.requestHeaders().length, got: request.responseHeaders.length, posted: await request.requestFormData()});
  }
  return JSON.stringify(out);
})()"""


class Refused(Exception):
    """What the browser says instead of a result."""


class DevTools:
    def __init__(self, home):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if not chromium:
            programs.left_out("chromium is not installed")
        theirs, self.write = os.pipe()
        self.read, answers = os.pipe()
        def numbered():
            # the browser has its ends under these numbers
            ends = os.dup(theirs), os.dup(answers)
            for end, number in zip(ends, (3, 4)):
                os.dup2(end, number)

        self.browser = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={home}/profile", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=numbered, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(home / "browser.err", "wb"), env={**os.environ, "HOME": str(home)})
        os.close(theirs)
        os.close(answers)
        self.buffer = b""
        self.number = 0
        self.fault = None
        target = self.call("Target.createTarget", url="devtools://devtools/bundled/devtools_app.html")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.terminate()
        self.browser.wait(20)
        os.close(self.write)
        os.close(self.read)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        end = time.monotonic() + 60
        while True:
            while b"\0" in self.buffer:
                one, _, self.buffer = self.buffer.partition(b"\0")
                answer = json.loads(one)
                if answer.get("id") == self.number:
                    if "error" in answer:
                        raise Refused(f"{method}: {answer['error']}")
                    return answer["result"]
            assert select.select([self.read], [], [], max(0, end - time.monotonic()))[0], f"no answer to {method}"
            data = os.read(self.read, 1 << 20)
            assert data, "the browser has ended"
            self.buffer += data

    def imported(self, text):
        """What the network panel makes of an HTTP Archive."""
        def evaluated():
            # until the page is there, it has no such module, and its context may go while one asks
            try:
                done = self.call(
                    "Runtime.evaluate", self.session, expression=IMPORT % json.dumps(text), awaitPromise=True,
                    returnByValue=True)
            except Refused as refused:
                self.fault = str(refused)
                return None
            self.fault = done.get("exceptionDetails", {}).get("exception", {}).get("description")
            return None if "exceptionDetails" in done else json.loads(done["result"]["value"])

        try:
            return programs.eventually(evaluated, "the developer tools to read it", 30)
        except AssertionError as failure:
            raise AssertionError(f"{failure}: {self.fault}") from None
