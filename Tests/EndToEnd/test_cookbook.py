"""docs/interceptors.md says what interceptors do: its examples are read from the page and tried."""

import base64
import copy
import json
import pathlib
import re

import pytest
import yaml

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/interceptors.md"
FENCE = re.compile(r"^```(\S+) (configuration|example|cases|file) ?(\S*)\n(.*?)^```$", re.M | re.S)


class Example:
    """A piece of a configuration, the cases that show what comes of it, and the files that either names."""

    def __init__(self, text, line, files):
        self.text, self.files = text, files
        self.cases = None
        self.name = f"line {line}"

    @property
    def interceptors(self):
        return yaml.safe_load(self.text)["interceptors"]


def read(page):
    """How the page's configuration begins, and its examples."""
    configuration, examples, files = None, [], {}
    for fence in FENCE.finditer(page):
        kind, role, name, text = fence.groups()
        line = page.count("\n", 0, fence.start()) + 1
        if role == "configuration":
            configuration = text
        elif role == "file":
            files[name] = base64.b64decode(text) if kind == "base64" else text.encode()
        elif role == "example":
            examples.append(Example(text, line, files))
            files = {}
        else:
            assert examples and examples[-1].cases is None, f"line {line}: cases without an example"
            assert not files, f"line {line}: files stand before the example"
            examples[-1].cases = text
    assert configuration and not files
    return configuration, examples


CONFIGURATION, EXAMPLES = read(PAGE.read_text())


@pytest.fixture
def attempt(call, tmp_path):
    """Tries an example's cases on a configuration, given as text."""
    def run(example, configuration):
        (tmp_path / "usher.yaml").write_text(configuration)
        (tmp_path / "cases.yaml").write_text("config: usher.yaml\n" + example.cases)
        for name, content in example.files.items():
            (tmp_path / name).write_bytes(content)
        return call("test", tmp_path / "cases.yaml")

    return run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example(example, attempt, call, tmp_path):
    assert example.cases, "an example without cases"
    done = attempt(example, CONFIGURATION + example.text)
    assert done.returncode == 0, done.stdout + done.stderr
    count = len(yaml.safe_load(example.cases)["cases"])
    assert done.stdout.splitlines()[-1] == f"{count} passed, 0 failed"
    checked = call("check", tmp_path / "usher.yaml")
    words = checked.stdout + checked.stderr
    assert checked.returncode == 0 and "warning" not in words, words


def test_every_fence_is_read():
    page = PAGE.read_text()
    assert len(FENCE.findall(page)) * 2 == len(re.findall(r"^```", page, re.M))
    assert len(EXAMPLES) >= 25


@pytest.fixture
def shapes(call):
    """What may stand where, by the schema that the program prints."""
    return {
        name: set(shape["properties"])
        for name, shape in json.loads(call("check", "--print-schema").stdout)["$defs"].items() if "properties" in shape}


PHASES = ("request", "response", "error")
BODIES = {"over_limit", "invalid_body"}
# what is neither an edit nor about interceptors of any kind
COMMON = {"name", "when", *PHASES, *BODIES}
# what takes some exchanges alone takes all of them in cases
SHARES = {"percent", "seed", "first", "every"}


def without(example, shown):
    """The example's configuration without one thing at a time, and what that is, but for what is shown by then."""
    whole = yaml.safe_load(CONFIGURATION + example.text)
    for number, one in enumerate(whole["interceptors"]):
        for phase in PHASES:
            for place, edit in enumerate(one.get(phase, [])):
                for thing in [(phase, key) for key in edit]:
                    if thing not in shown:
                        less = copy.deepcopy(whole)
                        del less["interceptors"][number][phase][place]
                        yield thing, less
        for part in ("when", None):
            for key in one.get(part, {}) if part else one.keys() - COMMON - SHARES | BODIES & one.keys():
                if (part, key) not in shown:
                    less = copy.deepcopy(whole)
                    place = less["interceptors"][number]
                    del (place[part] if part else place)[key]
                    yield (part, key), less


def built_in(shapes):
    return shapes["interceptor"] - COMMON - SHARES


def test_each_key_has_an_example_that_fails_without_it(shapes, attempt):
    wanted = {("when", key) for key in shapes["condition"]}
    wanted |= {(phase, key) for phase in PHASES for key in shapes[f"{phase}_edit"]}
    wanted |= {(None, key) for key in BODIES}
    assert len(built_in(shapes)) >= 5
    wanted |= {(None, key) for key in built_in(shapes)}
    # what this program registers none for has a page of its own (test_swift_interceptors.py)
    wanted -= {(phase, "swift") for phase in PHASES}
    # a script needs a program beside it (test_scripts.py)
    wanted -= {(None, "script")}
    shown = set()
    for example in EXAMPLES:
        for thing, less in without(example, shown):
            # JSON is YAML
            if attempt(example, json.dumps(less)).returncode == 1:
                shown.add(thing)
    assert wanted - shown == set()


def test_shares_have_an_example():
    assert SHARES <= {key for example in EXAMPLES for one in example.interceptors for key in one}


@pytest.mark.parametrize("edit, shape", [
    ("respond", "local_answer"), ("retry", "retry"), ("fault", "fault"), ("limit", "limit"), ("set_cookie", "cookie"), ("set_body", "new_body")])
def test_the_keys_of_an_edit(shapes, edit, shape):
    page = PAGE.read_text()
    assert [key for key in shapes[shape] if f"`{key}`" not in page and f"{key}: " not in page] == []
