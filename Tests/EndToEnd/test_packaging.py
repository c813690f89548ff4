"""packaging/ and config/examples: what they have somebody type is typed here."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

import conftest
import programs
from wire import response

PACKAGING = conftest.ROOT / "packaging"
PIPELINES = conftest.ROOT / "config/examples/ci"
# those of scripts start programs, and have tests of their own
EXAMPLES = sorted(path for path in (conftest.ROOT / "config").rglob("*.yaml") if path.parent.name != "scripts")
CONFIG = """version: 1
am: [{ url: "http://am.localhost:9080/am" }]
authorization:
  resources: ["http://shop.localhost:9080/*"]
  answers:
    - { callback: NameCallback, value: "${env.ROBOT_USER}" }
    - { callback: PasswordCallback, value: "${env.ROBOT_PASSWORD}" }
"""


# the project's masked variables
SECRETS = {"ROBOT_USER": "", "ROBOT_PASSWORD": ""}


def github():
    """Commands of the pipeline's first job, each with the variables that it gets."""
    whole = yaml.safe_load((PIPELINES / "github.yml").read_text())
    assert whole["env"].keys() == SECRETS.keys()
    job = whole["jobs"]["tests"]
    return job["container"], [(step["run"], SECRETS) for step in job["steps"] if "run" in step]


def gitlab():
    whole = yaml.safe_load((PIPELINES / "gitlab.yml").read_text())
    job = whole["tests"]
    commands = [(line, {}) for line in whole[job["extends"]]["before_script"]]
    return job["image"], commands + [(line, SECRETS) for line in job["script"]]


@pytest.fixture
def runner(binary, state, tmp_path):
    """A machine of a pipeline: a checkout, `usher` in PATH, and an `npm` whose test is this shell command."""
    def make(test):
        tools, checkout = tmp_path / "bin", tmp_path / "checkout"
        tools.mkdir()
        checkout.mkdir()
        (tools / "usher").symlink_to(binary)
        (tools / "npm").write_text(f"#!/bin/sh\n{test}\n")
        (tools / "npm").chmod(0o755)
        (checkout / "usher.yaml").write_text(CONFIG)
        (checkout / "results").mkdir()

        def run(command, **variables):
            environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
            return subprocess.run(
                ["sh", "-e", "-c", command], cwd=checkout, capture_output=True, text=True, timeout=60,
                env={**environment, "PATH": f"{tools}:{os.environ['PATH']}", "STATE_DIRECTORY": str(state), **variables})

        run.checkout = checkout
        return run

    return make


@pytest.mark.parametrize("pipeline", [github, gitlab])
def test_a_pipeline_passes(runner, origin, pipeline):
    server = origin(lambda seen: response(body=b"ok"))
    run = runner(f"curl -sS {server.url}/tested; test -z \"$ROBOT_PASSWORD\"")
    _, commands = pipeline()
    tried = [(command, variables) for command, variables in commands if command.startswith("usher ")]
    assert [command.split()[1] for command, _ in tried] == ["check", "run"]
    for command, variables in tried:
        done = run(command, **{name: f"robot-{name}" for name in variables})
        assert done.returncode == 0, done.stdout + done.stderr
    assert server.requests[0].get("via")
    har = json.loads((run.checkout / "results/usher.har").read_text())
    assert [entry["request"]["url"] for entry in har["log"]["entries"]] == [f"{server.url}/tested"]
    assert "/tested" in (run.checkout / "results/usher.jsonl").read_text()


@pytest.mark.parametrize("pipeline", [github, gitlab])
def test_a_pipeline_whose_tests_go_past_usher_fails(runner, pipeline):
    run = runner("true")
    command = pipeline()[1][-1][0]
    done = run(command, ROBOT_USER="robot", ROBOT_PASSWORD="robot-password")
    assert done.returncode == 1 and "nothing came through the proxy" in done.stderr


@pytest.mark.parametrize("pipeline", [github, gitlab])
def test_a_pipelines_node_asks_a_proxy(pipeline):
    image, commands = pipeline()
    assert int(re.fullmatch(r"node:(\d+)-bookworm", image).group(1)) >= 24
    assert not any("nodejs" in command for command, _ in commands), "Debian's own is older"


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_is_checked_without_secrets(call, path):
    done = call("check", path)
    assert done.returncode == 0 and "error" not in done.stdout and "warning" not in done.stdout, done.stdout
    needed = set(re.findall(r"\$\{env\.(\w+)\}", "\n".join(
        line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))))
    assert {name for name in needed if f"{name} is not set" in done.stdout} == needed


def test_the_container_starts(binary, write_config, tmp_path):
    text = (PACKAGING / "Containerfile").read_text()
    start, rest = (json.loads(re.search(rf"^{word} (.*)$", text, re.MULTILINE).group(1)) for word in ("ENTRYPOINT", "CMD"))
    assert start == ["/usr/bin/usher"] and rest[-1] == "/etc/usher/usher.yaml"
    folders = dict(pair.split("=") for pair in re.search(r"^ENV (.*)$", text, re.MULTILINE).group(1).split())
    config = write_config("version: 1\nlisten: [\"127.0.0.1:0\"]\n")
    usher = programs.Program(
        [binary, *rest[:-1], config], {name: str(tmp_path / path.strip("/")) for name, path in folders.items()})
    assert usher.ports("usher", 1)
    assert (tmp_path / folders["RUNTIME_DIRECTORY"].strip("/") / "admin.sock").is_socket()
    assert usher.stop() == 0


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm"])
def test_the_packages_scripts_are_scripts(name):
    path = PACKAGING / f"debian/usher.{name}"
    assert subprocess.run(["sh", "-n", path], timeout=10).returncode == 0
    assert "#DEBHELPER#" in path.read_text()


def test_what_the_package_installs_is_there():
    for name in re.findall(r"(?<=\s)scripts/\w+", (PACKAGING / "debian/rules").read_text()):
        assert os.access(conftest.ROOT / name, os.X_OK), name
    for name in ("usher.docs", "usher.examples"):
        for pattern in (PACKAGING / "debian" / name).read_text().split():
            assert list(conftest.ROOT.glob(pattern)), pattern
