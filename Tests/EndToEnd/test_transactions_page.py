"""docs/transactions.md says what to write for a step-up: its pieces are read from the page and held to what is tried elsewhere."""

import pathlib
import re

import pytest

import shop

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/transactions.md").read_text()
FENCE = re.compile(r"^```yaml (from|configuration|sandbox)(?:=(\S+))?\n(.*?)^```$", re.M | re.S)
FENCES = [(PAGE.count("\n", 0, fence.start()) + 1, *fence.groups()) for fence in FENCE.finditer(PAGE)]
WHOLE = [(line, text) for line, role, _, text in FENCES if role == "configuration"]
SANDBOX = [(line, path, text) for line, role, path, text in FENCES if role == "sandbox"]
PIECES = [(line, name, text) for line, role, name, text in FENCES if role == "from"]


def lines(text):
    """The lines that say something, without the remarks behind them."""
    told = (re.sub(r"(^|\s)#( .*|$)", "", line).rstrip() for line in text.splitlines())
    return [line for line in told if line]


@pytest.mark.parametrize("line, text", WHOLE, ids=lambda value: f"line {value}" if isinstance(value, int) else "")
def test_a_whole_configuration_is_accepted(call, tmp_path, certificates, line, text):
    (tmp_path / "usher.yaml").write_text(text)
    (tmp_path / "app.pem").write_bytes(certificates.app_certificate.read_bytes())
    # what the pieces take from elsewhere
    secrets = {name: "a credential" for name in re.findall(r"\$\{credential\.([a-z-]+)\}", text)}
    secrets |= {"app-key": certificates.app_key.read_text(), "usher-state": "x" * 44}
    for name, secret in secrets.items():
        (tmp_path / name).write_text(secret)
        (tmp_path / name).chmod(0o600)
    done = call("check", tmp_path / "usher.yaml", CREDENTIALS_DIRECTORY=str(tmp_path))
    words = done.stdout + done.stderr
    assert done.returncode == 0 and "warning" not in words, f"line {line}: {words}"


@pytest.mark.parametrize("line, name, text", PIECES, ids=lambda value: f"line {value}" if isinstance(value, int) else "")
def test_a_piece_is_from_an_example_that_is_tried(line, name, text):
    whole = iter(lines((ROOT / f"config/examples/{name}.yaml").read_text()))
    for piece in lines(text):
        assert piece in whole, f"line {line}: {name}.yaml has no such line, or has it elsewhere: {piece}"


@pytest.mark.parametrize("line, path, text", SANDBOX, ids=lambda value: f"line {value}" if isinstance(value, int) else "")
def test_what_is_for_the_sandbox_passes_it(start, sandbox, through, line, path, text):
    usher = start(text.replace(":9080", f":{sandbox.port}"))
    answer = through(usher).get(
        f"{sandbox.shop}{path}", headers={"Cookie": f"{shop.COOKIE}={shop.login(sandbox)}"}, timeout=60, allow_redirects=False)
    assert answer.status_code == 200, usher.said(path, "note")


def test_every_yaml_fence_is_read():
    assert len(FENCES) == len(re.findall(r"^```yaml", PAGE, re.M)) and WHOLE and PIECES and SANDBOX
