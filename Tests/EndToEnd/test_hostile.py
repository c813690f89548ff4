"""Nearly right inputs of every kind, a little of each: `make hostile` tries more."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ["requests", "responses", "hellos", "prefaces", "advice", "server", "configurations"]


# a sanitizer is told by these what to overlook
SANITIZERS = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_through(binary, kind):
    environment = {name: os.environ[name] for name in SANITIZERS if name in os.environ}
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/hostile", "--seconds", "2", "--only", kind],
        env={"USHER_BINARY": binary, "PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    count, found = done.stdout.splitlines()[-1].removeprefix("hostile: ").split(", ")
    # a sanitizer takes its time
    assert int(count.split()[0]) > (2 if environment else 20) and found == "0 violations", done.stdout
