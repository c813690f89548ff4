"""config/examples/ci: what the jobs of the examples run is there."""

import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "config/examples/ci").iterdir())


def scripts(example):
    """The lines that the jobs of a pipeline run, by job."""
    document = yaml.safe_load(example.read_text())
    if "jobs" in document:
        return {
            name: [line for step in job["steps"] for line in step.get("run", "").splitlines()]
            for name, job in document["jobs"].items()}
    return {name: job["script"] for name, job in document.items() if "script" in job}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_each_has_a_job_for_each_library(example):
    jobs = scripts(example)
    assert set(jobs) == {"tests", "pytest", "playwright"}
    assert all(jobs.values())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_options_are_known(call, example):
    """Those of usher, and those that the plugin gives pytest."""
    lines = [line.split(" -- ")[0] for job in scripts(example).values() for line in job]
    lines += re.findall(r"^ +- (?:run: )?(usher check .*)$", example.read_text(), re.M)
    asked = {line.split()[1]: line for line in lines if line.startswith("usher ")}
    assert {"check", "run"} <= set(asked)
    for verb, line in asked.items():
        told = call(verb, "--help").stdout
        for option in re.findall(r"--[a-z-]+", line):
            assert f"{option} " in told, f"usher {verb} has no {option}"
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "usher_testing.plugin", "--help"], capture_output=True, text=True, timeout=60,
        env={"PYTHONPATH": str(ROOT / "clients/python/src"), "PATH": "/usr/bin:/bin"}, check=True).stdout
    for line in lines:
        for option in re.findall(r"--usher-[a-z]+", line):
            assert f"{option}=" in told
