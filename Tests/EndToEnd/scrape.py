"""What a scraper gets of a daemon's control socket."""

import re
import shutil
import subprocess

import people
import programs

SAMPLE = re.compile(r'^([a-z][a-z0-9_]+)(?:\{(.*)\})? ([0-9.]+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Figures:
    def __init__(self, text):
        self.text = text
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = SAMPLE.match(line)
            assert found, line
            name, labels, value = found.groups()
            key = (name, frozenset(LABEL.findall(labels or "")))
            assert key not in self.samples, line
            self.samples[key] = float(value)

    def of(self, name, **labels):
        """The sum of all samples of that name that have these labels."""
        wanted = set(labels.items())
        return sum(value for (found, have), value in self.samples.items() if found == name and wanted <= have)

    def values(self, name, label):
        """What that label says in the samples of that name."""
        return {dict(have).get(label) for (found, have) in self.samples if found == name}


def scrape(state):
    """A daemon's figures, by the socket in its state directory."""
    connection = people.ControlSocket(state / "admin.sock")
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    body = answer.read().decode()
    assert answer.status == 200 and answer.getheader("Content-Type").startswith("text/plain; version=0.0.4")
    connection.close()
    return Figures(body)


def check(text):
    """What promtool finds wrong with it."""
    if not shutil.which("promtool"):
        programs.missing("promtool (Debian's prometheus) is not here")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
    return (done.stdout + done.stderr).strip() if done.returncode else ""
