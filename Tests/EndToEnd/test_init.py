"""usher init: a first configuration, out of five answers, of options, or of recorded traffic."""

import json
import os
import pty
import subprocess

import pytest


def check(call, path):
    done = call("check", "--json", path)
    told = json.loads(done.stdout)
    assert told["good"] and not told["diagnostics"], done.stdout


def test_by_options(call, tmp_path):
    path = tmp_path / "first.yaml"
    done = call(
        "init", "--am", "https://am.acme.test/am", "--realm", "/", "--realm", "/staff", "--cookie", "acme",
        "--resource", "https://shop.acme.test/api/*", "--output", path)
    assert done.returncode == 0 and not done.stdout, done.stderr
    check(call, path)
    text = path.read_text()
    for word in (
        "https://am.acme.test/am", '["/", "/staff"]', '"acme"', '"https://shop.acme.test/api/*"', '"shop.acme.test"',
        "# ",
    ):
        assert word in text
    told = json.loads(
        call(
            "explain", "--config", path, "--json",
            given="curl -X POST https://am.acme.test/am/json/realms/root/realms/staff/authenticate -d {}").stdout)
    assert told["action"] == "START_AUTHENTICATE" and told["realm"] == "/staff"


def test_it_writes_over_nothing(call, tmp_path):
    path = tmp_path / "usher.yaml"
    path.write_text("mine\n")
    done = call("init", "--am", "https://am.test/am", "--output", path)
    assert done.returncode == 1 and "exists; name another file" in done.stderr
    assert path.read_text() == "mine\n"
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "nowhere.yaml")
    assert call("init", "--am", "https://am.test/am", "--output", link).returncode == 1
    assert not (tmp_path / "nowhere.yaml").exists()


def test_to_standard_output(call):
    done = call("init", "--am", "https://am.test/am", "--output", "-")
    assert done.returncode == 0 and "version: 1" in done.stdout


@pytest.mark.parametrize("arguments, words", [
    ([], "--am URL"), (["--am", "am.test"], "http or https URL"), (["--am", "https://am.test", "--realm", "x"], "realm"),
    (["--am", "https://am.test", "--intercept", "a b"], "intercept"),
])
def test_wrong_use(call, tmp_path, arguments, words):
    path = tmp_path / "first.yaml"
    done = call("init", *arguments, "--output", path, given="")
    assert done.returncode == 2 and words in done.stderr and not path.exists()


def test_what_is_likely_not_meant_is_said(call, tmp_path):
    done = call("init", "--am", "http://am.test/am", "--output", tmp_path / "first.yaml")
    assert done.returncode == 0 and "unencrypted" in done.stderr


def answered(binary, folder, lines):
    """Runs it on a terminal of its own; what is typed is there from the start."""
    master, slave = pty.openpty()
    os.write(master, "".join(f"{line}\n" for line in lines).encode())
    process = subprocess.Popen(
        [binary, "init"], cwd=folder, stdin=slave, stdout=slave, stderr=subprocess.PIPE, start_new_session=True)
    os.close(slave)
    _, errors = process.communicate(timeout=30)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:
        pass
    os.close(master)
    return process.returncode, text.decode(), errors.decode()


def test_five_questions(binary, call, tmp_path):
    status, text, errors = answered(binary, tmp_path, [
        "am.acme.test", "https://am.acme.test/am", "/, /staff", "https://shop.acme.test/*", "", "*.acme.test"])
    assert status == 0, errors
    assert "http or https URL" in text and text.count("AM's base URL [https://am.example.com/am]: ") == 2
    assert "Hosts whose TLS is opened [am.acme.test, shop.acme.test]: " in text
    assert "[am.acme.test, shop.acme.test]: " in text
    check(call, tmp_path / "usher.yaml")
    written = (tmp_path / "usher.yaml").read_text()
    assert '["/", "/staff"]' in written and 'guard: { only: ["*.acme.test"] }' in written


def test_the_defaults_do(binary, call, tmp_path):
    status, _, errors = answered(binary, tmp_path, [""] * 5)
    assert status == 0, errors
    check(call, tmp_path / "usher.yaml")


def test_questions_that_nobody_answers(binary, tmp_path):
    status, _, errors = answered(binary, tmp_path, ["", "\x04"])
    assert status == 2 and "no file was written" in errors and not (tmp_path / "usher.yaml").exists()


def entry(method, url, status=200, headers=(), answer="", body=None, given=()):
    request = {"method": method, "url": url, "headers": [{"name": name, "value": value} for name, value in given]}
    if body is not None:
        request["postData"] = {"text": body}
    return {
        "request": request,
        "response": {
            "status": status, "headers": [{"name": name, "value": value} for name, value in headers],
            "content": {"text": answer}}}


def test_recorded_traffic(call, tmp_path):
    recorded = tmp_path / "traffic.har"
    recorded.write_text(json.dumps({"log": {"entries": [
        entry(
            "POST", "https://am.acme.test/am/json/realms/root/authenticate?authIndexType=service&authIndexValue=Staff",
            body="{}", given=[("Content-Type", "application/json")],
            answer=json.dumps({"tokenId": "s3cr3t-token"}), headers=[("Set-Cookie", "acme=s3cr3t-token; Path=/")]),
        entry("GET", "https://shop.acme.test/api/cart", 401, [("WWW-Authenticate", "SSOADVICE realm=\"/\"")]),
    ]}}))
    path = tmp_path / "first.yaml"
    done = call("init", "--har", recorded, "--output", path)
    assert done.returncode == 0, done.stderr
    check(call, path)
    text = path.read_text()
    assert "s3cr3t" not in text
    for word in ("https://am.acme.test/am", '"acme"', '"Staff"', '"https://shop.acme.test/api/*"'):
        assert word in text
    for wrong in ("{}", "nonsense", '{"log": {"entries": []}}'):
        recorded.write_text(wrong)
        done = call("init", "--har", recorded, "--output", tmp_path / "other.yaml")
        assert done.returncode == 2 and "traffic.har" in done.stderr
