"""Broken configurations: `usher check` names each fault's place or finds none; it neither crashes nor thinks for long."""

import re
import subprocess

import harness
from mutation import Mutator

WORDS = [
    b"\n", b"  ", b"\t", b": ", b"- ", b"[", b"]", b"{", b"}", b"*", b"&a ", b"*a", b"~(a+)+$", b'"', b"'", b"|\n", b"${env.X}", b"${file:/etc/shadow}", b"null",
    b"version: 2\n", b"!!binary ", b"---\n", b"\xff", b"\xef\xbb\xbf", b"99999999999h", b"0x1", b".inf", b"<<: *a\n", b"interceptors:\n", b"authorization:\n",
]
PLACE = re.compile(r"^[^\n]*\.yaml(:\d+:\d+)?: (error|warning|\d+ fault)|: ", re.MULTILINE)


def start(binary, folder, corpora):
    root = corpora.parents[1]
    paths = sorted((root / "config").rglob("*.yaml")) + sorted((root / "Tests/ConfigurationTests/bad").glob("*.yaml"))
    # what is commented out in the configuration shown to users is configuration, too
    uncommented = re.sub(rb"(?m)^# ?(?=\s*[a-z_-]+:|\s*- )", b"", (root / "config/usher.yaml").read_bytes())
    mutator = Mutator([path.read_bytes() for path in paths] + [uncommented], WORDS)

    def attack(index, stack):
        path = folder / f"{index}.yaml"

        def one(number):
            data = mutator.input(number)
            path.write_bytes(data)
            try:
                done = subprocess.run([binary, "check", path], capture_output=True, timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                raise harness.Violation(f"check does not end; configuration {data!r}") from None
            if done.returncode not in (0, 1):
                raise harness.Violation(f"check ended with {done.returncode}: {done.stderr[-2000:]!r}; configuration {data!r}")
            words = (done.stdout + done.stderr).decode("utf-8", "replace")
            if done.returncode == 1 and not PLACE.search(words):
                raise harness.Violation(f"a fault without a place: {words!r}; configuration {data!r}")
            return "fault" if done.returncode else "good"

        return one

    return None, attack
