"""README.md and the pages of docs/ that say what to write and to type: that is written and typed here."""

import json
import os
import re
import shlex
import subprocess

import pytest
import requests
import yaml

import conftest
import looked
import programs
import shop
import wire

TYPED = ("README.md", "docs/getting-started.md", "docs/configuration.md", "docs/operate.md")
DOCS = {name: (conftest.ROOT / name).read_text() for name in (*TYPED, "docs/semantics.md", "docs/templates.md")}
FENCE = re.compile(r"^```(\S+)[^\n]*\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}[^\n]*\n)+")
KEYS = json.loads((conftest.ROOT / "config/usher.schema.json").read_text())["$defs"]["root"]["properties"]


def fences(page, *kinds):
    return [text for kind, text in FENCE.findall(DOCS[page]) if kind in kinds]


def is_configuration(text):
    return re.match(r"[ #]*(\w+):", text) and re.match(r"[ #]*(\w+):", text).group(1) in KEYS


CASES = next(text for text in fences("docs/configuration.md", "yaml") if text.startswith("config:"))
WHOLE = [(page, text) for page in DOCS for text in fences(page, "yaml") if text != CASES]
WHOLE += [
    (page, re.sub(r"^ {4}", "", text, flags=re.M)) for page, words in DOCS.items()
    for text in INDENTED.findall(FENCE.sub("\n", words)) if is_configuration(text)]


@pytest.fixture
def place(call, tmp_path):
    """Checks a configuration, with made-up secrets for those that it refers to."""
    def check(text):
        values = yaml.safe_load(text)
        # a piece of a configuration
        text = text if "version" in values else f"version: 1\n{text}"
        (tmp_path / "usher.yaml").write_text(text)
        for name in re.findall(r"\$\{credential\.([a-z-]+)\}", text):
            (tmp_path / name).write_text("x" * 44)
        variables = {name: "some-value" for name in re.findall(r"\$\{env\.(\w+)\}", text)}
        return call("check", "--secrets", tmp_path / "usher.yaml", CREDENTIALS_DIRECTORY=str(tmp_path), **variables)

    return check


@pytest.mark.parametrize("page, text", WHOLE, ids=[f"{page} {number}" for number, (page, _) in enumerate(WHOLE)])
def test_what_is_to_be_written_is_accepted(place, page, text):
    done = place(text)
    assert done.returncode == 0 and "warning" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_every_configuration_is_read():
    assert {"authorization", "interceptors", "admin", "journal", "tracing", "log"} <= {
        key for _, text in WHOLE for key in yaml.safe_load(text)}


def test_the_case_of_the_page_of_the_configuration_passes(call, tmp_path):
    (tmp_path / "usher.yaml").write_text(fences("docs/configuration.md", "yaml")[0])
    (tmp_path / "cases.yaml").write_text(CASES)
    done = call("test", tmp_path / "cases.yaml")
    assert done.returncode == 0 and done.stdout.endswith("\n1 passed, 0 failed\n"), done.stdout + done.stderr


# what is typed

COMMANDS = [
    (page, line.removeprefix("$ ")) for page in TYPED
    for text in fences(page, "sh", "console") for line in text.splitlines()
    # what usher prints begins with its name, too
    if re.match(r"(\$ )?usher [a-z]", line) and not re.match(r"usher +\d", line)]
ALL = {command.split("  #")[0].rstrip() for _, command in COMMANDS}
FIRST = sorted(command for command in ALL if command.startswith("usher init"))
LOOKING = sorted(ALL - set(FIRST))


@pytest.fixture(scope="module")
def world(binary, sandbox, tmp_path_factory):
    """A daemon that has seen some logins, and a shell beside it."""
    folder = tmp_path_factory.mktemp("pages")
    state, tools = folder / "state", folder / "bin"
    tools.mkdir()
    (tools / "usher").symlink_to(binary)
    origin = wire.Answering(looked.answer)
    for name in (tools / "npm", folder / "app"):
        name.write_text(f"#!/bin/sh\nexec curl -sS http://127.0.0.1:{origin.port}/json\n")
        name.chmod(0o755)
    values = {"version": 1, **shop.config(sandbox), "journal": {"reveal": True}, "state": {"key": "${env.STATE_KEY}"}}
    (folder / "usher.yaml").write_text(yaml.safe_dump(values))
    (folder / "request.http").write_text(f"GET {sandbox.shop}/pay HTTP/1.1\nHost: {sandbox.shop.split('/')[2]}\n\n")
    (folder / "answer.http").write_text("HTTP/1.1 200 OK\nContent-Length: 2\n\nok")
    secrets = {"STATE_KEY": "x" * 44}
    usher = programs.Usher(binary, folder / "usher.yaml", state=state, environment=secrets)
    client = requests.Session()
    client.trust_env = False
    client.proxies = {"http": usher.url}
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment |= {**secrets, "STATE_DIRECTORY": str(state), "PATH": f"{tools}:{os.environ['PATH']}"}

    def run(command):
        return subprocess.run(
            ["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, env=environment)

    for _ in range(2):
        client.get(f"http://127.0.0.1:{origin.port}/pay", timeout=10)
        shop.sign_in(client, sandbox.am)
    run.flow, run.journeys = ids(run, "flows path=/pay", 2)[-1], ids(run, "journeys", 2)
    yield run
    assert usher.stop() == 0
    origin.close()


def ids(run, command, count):
    """Those that a list shows, once there are so many."""
    def listed():
        found = [json.loads(line) for line in run(f"usher {command} --json").stdout.splitlines()]
        return len(found) >= count and [one["id"] for one in found]

    return programs.eventually(listed, f"{count} of {command}")


@pytest.mark.parametrize("command", LOOKING)
def test_what_is_to_be_typed_does_something(world, command):
    of_journeys = command.startswith("usher journey")
    first, second = world.journeys[-2:] if of_journeys else (world.flow, world.flow)
    command = command.replace("2000004", first).replace("200000f", second)
    done = world(command)
    # two journeys may differ, and doctor finds what it finds
    allowed = (0, 1) if command.startswith(("usher journey diff", "usher doctor")) else (0,)
    assert done.returncode in allowed, done.stdout + done.stderr
    assert done.stdout or done.stderr or " > " in command


def test_the_first_configuration_is_what_init_writes(call, tmp_path):
    command, = FIRST
    done = call(*shlex.split(command)[1:], "--output", tmp_path / "usher.yaml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "usher.yaml").read_text()
    shown = yaml.safe_load(fences("README.md", "yaml")[0])
    # the reader takes the signs of comments away
    answered = re.sub(r"^#(  answers:|    - \{ callback: )", r"\1", text, flags=re.M)
    assert yaml.safe_load(answered) == shown
    del shown["authorization"]["answers"]
    assert yaml.safe_load(text) == shown


def test_commands_are_read():
    assert {"run", "check", "explain", "flows", "flow", "journeys", "journey", "export", "replay", "reload", "status", "ca",
            "doctor", "ui"} == {command.split()[1] for command in LOOKING}
