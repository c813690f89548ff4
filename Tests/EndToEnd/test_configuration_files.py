"""A configuration in several files and in folders, for every verb that takes one."""

import json
import signal

import pytest

from programs import Usher
from wire import Connection, request

FIRST = "version: 1\ninterceptors:\n  - { name: one, request: [{ set_header: { X-One: '1' } }] }\n"
SECOND = "interceptors:\n  - { name: two, request: [{ set_header: { X-Two: '2' } }] }\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "conf.d"
    path.mkdir()
    (path / "10.yaml").write_text(FIRST)
    (path / "20.yaml").write_text(SECOND)
    return path


def test_check_takes_files_and_folders(call, folder, tmp_path):
    more = tmp_path / "more.yaml"
    more.write_text("interceptors:\n  - { name: one, request: [{ set_header: { X: '1' } }] }\nlog: { level: loud }\n")
    assert call("check", folder).returncode == 0
    assert call("check", folder / "10.yaml", folder / "20.yaml").returncode == 0
    done = call("check", folder, more)
    assert done.returncode == 1
    assert f"{more}:2:13: error: the name \"one\" is already used by the interceptor of {folder}/10.yaml:3:13" in done.stdout
    assert f"{more}:3:15: error: " in done.stdout
    told = json.loads(call("check", "--json", folder, more).stdout)
    assert {one["file"] for one in told["diagnostics"]} == {str(more)}
    assert call("check", folder / "20.yaml").returncode == 1, "it has no version"
    assert call("check", tmp_path / "none", folder).returncode == 1


def test_explain_takes_them_too(call, folder):
    for config in (["--config", folder], ["--config", folder / "10.yaml", "--config", folder / "20.yaml"]):
        done = call("explain", *config, "--json", given="curl http://a.test/")
        assert [one["name"] for one in json.loads(done.stdout)["interceptors"]] == ["one", "two"], done.stderr


def test_serve_reads_a_folder_anew(binary, folder, origin):
    server = origin()
    usher = Usher(binary, folder)
    try:
        (folder / "30.yaml").write_text("interceptors:\n  - { name: three, request: [{ set_header: { X-Three: '3' } }] }\n")
        usher.process.send_signal(signal.SIGHUP)
        usher.wait_for(lambda: [line for line in usher.errors if "in force" in line], "the reload")
        with Connection(("127.0.0.1", usher.port)) as client:
            client.exchange(request("GET", f"{server.url}/"))
        assert [server.requests[0].get(name) for name in ("x-one", "x-two", "x-three")] == ["1", "2", "3"]
    finally:
        assert usher.stop() == 0
