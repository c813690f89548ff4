"""`make install`, and what systemd is told: the unit's own lines, run as systemd would."""

import os
import re
import shlex
import shutil
import stat
import subprocess

import pytest

import conftest
import programs
from wire import Connection, request

UNIT = conftest.ROOT / "systemd" / "usher.service"
MODES = {
    "usr/local/bin/usher": 0o755, "etc/usher/usher.yaml": 0o644,
    "etc/usher/usher.schema.json": 0o644, "etc/systemd/system/usher.service": 0o644,
    "etc/systemd/system/usher@.service": 0o644, "etc/systemd/system/usher.socket": 0o644,
}
# the page, where it is built
PAGE = {
    f"usr/local/share/usher/web/{path.name}": 0o644 for path in (conftest.ROOT / ".build/web").glob("*")}


def install(binary, folder, mask, prefix="/usr/local"):
    return subprocess.run(
        ["sh", "-c", f"umask {mask:o}; exec make -s install"], cwd=conftest.ROOT, capture_output=True, text=True,
        timeout=60, env={**os.environ, "DESTDIR": str(folder), "PREFIX": prefix, "USHER_BINARY": str(binary)})


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077], ids=oct)
def test_nobody_else_may_change_what_is_installed(binary, tmp_path, mask):
    done = install(binary, tmp_path / "root", mask)
    assert done.returncode == 0, done.stderr
    found = {str(path.relative_to(tmp_path / "root")): path for path in (tmp_path / "root").rglob("*")}
    modes = MODES | PAGE
    assert {name for name, path in found.items() if path.is_file()} == set(modes)
    for name, path in found.items():
        assert stat.S_IMODE(path.stat().st_mode) == modes.get(name, 0o755), name


def test_an_installation_goes_where_it_is_told(binary, tmp_path):
    (tmp_path / "etc" / "usher").mkdir(parents=True)
    (tmp_path / "etc" / "usher" / "usher.yaml").write_text("version: 1 # mine\n")
    assert install(binary, tmp_path, 0o022, "/opt/usher").returncode == 0
    unit = (tmp_path / "etc/systemd/system/usher.service").read_text()
    assert (tmp_path / "opt/usher/bin/usher").exists()
    assert unit.count("/opt/usher/bin/usher") == 2 and "/usr/local" not in unit
    assert (tmp_path / "etc/usher/usher.yaml").read_text() == "version: 1 # mine\n"


def test_each_of_several_daemons_has_what_is_its_own(binary, tmp_path):
    assert install(binary, tmp_path, 0o022).returncode == 0
    one, several = ((tmp_path / "etc/systemd/system" / name).read_text() for name in ("usher.service", "usher@.service"))
    changed = [(a, b) for a, b in zip(one.splitlines(), several.splitlines(), strict=True) if a != b]
    # a user of that name would be one for all of them
    changed.remove(("User=usher-daemon", "User="))
    assert len(changed) == 5
    for before, after in changed:
        assert "%i" in after and "%i" not in before
    for line in ("StateDirectory=usher-%i", "RuntimeDirectory=usher-%i"):
        assert line in several.splitlines()
    assert several.count("/etc/usher/%i.yaml") == 2 and "/etc/usher/usher.yaml" not in several


def settings(name):
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def test_the_state_is_its_own(binary):
    assert settings("StateDirectoryMode") == ["0700"]
    assert settings("UMask") == ["0077"]


def test_a_group_of_the_machine_may_speak_to_it():
    """systemd.exec(5): a static group is taken as it is, and a made-up user may not be called like one."""
    made = re.findall(r"addgroup .*?(\S+)$", (conftest.ROOT / "packaging/debian/usher.postinst").read_text(), re.MULTILINE)
    assert made == settings("Group") == ["usher"] and settings("User")[0] not in made
    assert settings("RuntimeDirectoryMode") == ["0755"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_systemd_understands_the_units(binary, tmp_path):
    for name in ("usher.service", "usher.socket"):
        text = (UNIT.parent / name).read_text().replace("/usr/local/bin/usher", str(binary))
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "usher.service"), str(tmp_path / "usher.socket")],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "usher.s" not in done.stderr, done.stderr


def reload(binary, usher, state):
    """As systemd does it: in the daemon's name, without its credentials."""
    line, = settings("ExecReload")
    words = [
        word.replace("/usr/local/bin/usher", str(binary)).replace("/etc/usher/usher.yaml", str(usher.config))
        for word in shlex.split(line)]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60,
        env={**os.environ, "XDG_RUNTIME_DIR": "", "RUNTIME_DIRECTORY": str(state)})


def test_a_reload_of_a_file_with_a_fault_fails(binary, start, origin, state):
    """With the environment of the service, which alone knows what the file refers to."""
    text = "version: 1\ninterceptors:\n  - { name: mark, request: [{ set_header: { X-Mark: \"${env.MARK}%s\" } }] }\n"
    server = origin()
    usher = start(text % "-one", state=state, environment={"MARK": "mark"})
    usher.config.write_text(text % "-two" + "nonsense: 1\n")
    done = reload(binary, usher, state)
    assert done.returncode == 1 and "nonsense" in done.stderr
    usher.config.write_text(text % "-three")
    assert reload(binary, usher, state).returncode == 0
    with Connection(("127.0.0.1", usher.port)) as client:
        programs.eventually(
            lambda: client.exchange(request("GET", f"{server.url}/")).status == 200
            and server.requests[-1].get("x-mark") == "mark-three", "the new rules apply")


def test_a_reload_knows_the_credentials_and_the_socket(binary, start, tmp_path, state):
    """The daemon has the folder from systemd; the command of a reload finds nothing of it in its environment."""
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "mark").write_text("mark")
    text = (
        "version: 1\nadmin: { socket: own.sock }\n"
        "interceptors: [{ name: mark, request: [{ set_header: { X-Mark: \"${credential.mark}\" } }] }]\n")
    usher = start(text, state=state, environment={"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")})
    done = reload(binary, usher, state)
    assert (done.returncode, done.stdout) == (0, "generation 2: nothing changed\n"), done
