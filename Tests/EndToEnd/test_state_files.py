"""The files that Usher keeps, beside others who may make files and links there."""

import grp
import os
import pathlib
import pwd
import shutil
import stat
import subprocess

import pytest

VICTIM = "what root had written\n"
OTHER = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act in other users' folders")


@pytest.fixture
def made(call, state):
    assert call("ca", "show").returncode == 0
    return state


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text(VICTIM)
    path.chmod(0o600)
    return path


@pytest.fixture
def belonging(made):
    """The state directory as another user's."""
    for path in [made, *made.iterdir()]:
        os.chown(path, OTHER, OTHER)
    return made


def refused(done, *words):
    assert done.returncode == 1, done.stdout
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert str(word) in lines[0], lines[0]


# links

@pytest.mark.parametrize("name", ["ca.key", "ca.pem"])
def test_a_link_in_the_place_of_a_part_is_not_followed(call, made, victim, name):
    shutil.copy(made / name, victim)
    victim.chmod(0o600)
    before = victim.read_bytes()
    (made / name).unlink()
    (made / name).symlink_to(victim)
    for verb in (["ca", "rotate"], ["ca", "show"]):
        refused(call(*verb), made / name, "is a symbolic link", "name its target")
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", [
    "lock", "ca.key.next", "ca.pem.next", "ca.cross.pem", "ca.retired.pem", "ca.retired.pem.next"])
def test_nothing_is_written_through_a_link(call, made, victim, name):
    (made / name).unlink(missing_ok=True)
    (made / name).symlink_to(victim)
    call("ca", "rotate")
    call("env")
    assert victim.read_text() == VICTIM
    assert stat.S_IMODE(victim.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["ca.key", "ca.pem"])
def test_a_file_with_a_second_name_is_not_taken(call, made, tmp_path, name):
    os.link(made / name, tmp_path / "second")
    before = (tmp_path / "second").read_bytes()
    refused(call("ca", "rotate"), made / name, "2 hard links")
    assert (tmp_path / "second").read_bytes() == before


def test_the_bundles_are_no_links(call, made, victim):
    assert call("env").returncode == 0
    bundles = sorted(made.glob("ca-bundle-*"))
    assert [path.suffix for path in bundles] == [".p12", ".pem"]
    for path in bundles:
        path.unlink()
        path.symlink_to(victim)
    call("env")
    assert victim.read_text() == VICTIM


def test_the_old_key_is_overwritten(call, made):
    """The file itself, not its name alone: what had it open sees zeros."""
    with open(made / "ca.key", "rb") as old:
        before = old.read()
        assert b"PRIVATE KEY" in before
        assert call("ca", "rotate").returncode == 0
        old.seek(0)
        assert old.read() == bytes(len(before))
    assert b"PRIVATE KEY" in (made / "ca.key").read_bytes()


# folders

@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777], ids=oct)
def test_a_folder_that_others_may_write_to_is_refused(call, made, mode):
    made.chmod(mode)
    for verb in (["ca", "show"], ["ca", "rotate"], ["env"], ["run", "--", "true"]):
        refused(call(*verb), f"chmod go-w {made}")


def test_a_key_elsewhere_is_judged_by_its_own_folder(call, tmp_path, write_config):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    config = write_config({"tls": {"ca": {"key": str(elsewhere / "ca.key")}}})
    refused(call("ca", "show", "--config", config), f"chmod go-w {elsewhere}")
    assert list(elsewhere.iterdir()) == []


def test_a_link_of_ones_own_leads_there(call, made, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(made)
    assert call("ca", "show", STATE_DIRECTORY=str(link)).returncode == 0


def test_a_link_on_the_way_that_leads_round(call, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(call("ca", "show", STATE_DIRECTORY=str(tmp_path / "a" / "state")), tmp_path / "a", "symbolic links")


def test_a_relative_folder_begins_here(binary, tmp_path):
    known = {**os.environ, "STATE_DIRECTORY": "here/state"}
    done = subprocess.run([binary, "ca", "show"], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=known)
    assert done.returncode == 0 and str(tmp_path / "here" / "state" / "ca.pem") in done.stderr
    assert (tmp_path / "here" / "state" / "ca.key").exists()


def test_a_folder_that_is_missing_is_made_by_those_who_make_a_ca_alone(call, state):
    refused(call("ca", "rotate"), "usher ca show")
    assert not state.exists()


def test_where_the_current_folder_is_gone(binary, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir {gone}; exec {binary} ca show"], cwd=gone, capture_output=True, text=True, timeout=60,
        env={**os.environ, "STATE_DIRECTORY": "state"})
    refused(done, "STATE_DIRECTORY")


# root in the folder of another

@AS_ROOT
def test_root_becomes_the_folders_owner(call, belonging):
    """What it makes is the owner's, and what the owner may not read, root does not read either."""
    assert call("ca", "rotate").returncode == 0
    assert call("env").returncode == 0
    assert {path.stat().st_uid for path in belonging.iterdir()} == {OTHER}
    assert (belonging / "ca.key").stat().st_gid != 0


@AS_ROOT
def test_roots_own_key_is_out_of_the_owners_reach(call, belonging, victim):
    """A folder below the owner's, which leads to a file of root's: root does not lend its power."""
    (belonging / "ca.key").unlink()
    shutil.move(victim, belonging / "ca.key")
    refused(call("ca", "rotate"), belonging / "ca.key", "Permission denied")
    assert (belonging / "ca.key").read_text() == VICTIM


@AS_ROOT
def test_root_makes_folders_in_the_owners_name(call, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    assert call("ca", "show", STATE_DIRECTORY=str(home / "a" / "b")).returncode == 0
    for path in (home / "a", home / "a" / "b", home / "a" / "b" / "ca.key"):
        assert path.stat().st_uid == OTHER


@AS_ROOT
def test_a_link_of_the_owners_does_not_lead_root(call, belonging, tmp_path):
    """The folder itself swapped for a link to one of root's."""
    roots = tmp_path / "roots"
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    home.chmod(0o755)
    os.symlink(roots, home / "state")
    os.chown(home / "state", OTHER, OTHER, follow_symlinks=False)
    roots.mkdir(0o700)
    refused(call("ca", "show", STATE_DIRECTORY=str(home / "state")), f"a symbolic link of user {OTHER}")
    assert list(roots.iterdir()) == []


@AS_ROOT
def test_a_file_of_a_third_user_is_not_taken(call, belonging):
    os.chown(belonging / "ca.pem", 1234, 1234)
    refused(call("ca", "show"), "belongs to user 1234")


@AS_ROOT
def test_a_folder_that_everybody_may_swap_is_refused(call, belonging, tmp_path):
    openly = tmp_path / "open"
    openly.mkdir()
    shutil.move(belonging, openly / "state")
    openly.chmod(0o777)
    refused(call("ca", "show", STATE_DIRECTORY=str(openly / "state")), "may replace")
    openly.chmod(0o755)
    assert call("ca", "show", STATE_DIRECTORY=str(openly / "state")).returncode == 0


@pytest.mark.parametrize("mode, group, remedy", [
    (0o777, None, "o-w"), (0o775, 4, "g-w"), (0o1777, None, None), (0o775, 0, None), (0o755, 4, None)])
@AS_ROOT
def test_programs_are_told_of_no_folder_that_others_may_swap(call, made, tmp_path, mode, group, remedy):
    """They open what SSL_CERT_FILE names whoever put it there, also where the folder was one's own when Usher looked."""
    above = tmp_path / "above"
    (above / "between").mkdir(parents=True)
    state = above / "between" / "state"
    shutil.move(made, state)
    above.chmod(mode)
    if group is not None:
        os.chown(above, -1, group)
    for verb in (["env"], ["run", "--", "true"]):
        done = call(*verb, STATE_DIRECTORY=str(state))
        if remedy:
            refused(done, "may replace between", f"chmod {remedy} {above})")
        else:
            assert done.returncode == 0, done.stderr
    # the CA itself is told by whom its folder belongs to, so that a daemon may stand in a container's volume
    assert call("ca", "show", STATE_DIRECTORY=str(state)).returncode == 0


@AS_ROOT
def test_a_folder_that_a_group_may_swap_is_refused(call, belonging, tmp_path):
    openly = tmp_path / "open"
    openly.mkdir()
    shutil.move(belonging, openly / "state")
    os.chown(openly, 0, 4)
    openly.chmod(0o775)
    refused(call("ca", "show", STATE_DIRECTORY=str(openly / "state")), "group 4 may replace", f"chmod g-w {openly}")


@AS_ROOT
def test_a_users_own_group_is_nobody_else(call, belonging, tmp_path):
    """As a umask of 002 makes folders. Of the account nobody the group has another name, so it counts as any group's."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.move(belonging, home / "state")
    user = pwd.getpwnam("daemon")
    assert grp.getgrgid(user.pw_gid).gr_name == "daemon" and not grp.getgrgid(user.pw_gid).gr_mem
    for path in (home, home / "state", *(home / "state").iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    home.chmod(0o775)
    assert call("env", STATE_DIRECTORY=str(home / "state")).returncode == 0
    os.chown(home, user.pw_uid, 4)
    refused(call("env", STATE_DIRECTORY=str(home / "state")), "group 4 may replace")


@AS_ROOT
def test_a_folder_that_another_made_where_everybody_may_is_refused(call, belonging, tmp_path):
    """As in /tmp: whoever comes first makes the folder, with a CA of theirs."""
    everybodys = tmp_path / "everybodys"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    folder = everybodys / "usher"
    shutil.copytree(belonging, folder)
    for path in [folder, *folder.iterdir()]:
        os.chown(path, OTHER, OTHER)
    for verb in (["ca", "show"], ["ca", "rotate"], ["env"], ["run", "--", "true"]):
        refused(call(*verb, STATE_DIRECTORY=str(folder)), f"user {OTHER} created usher where everybody may")
    # one's own is one's own there, too
    for path in [folder, *folder.iterdir()]:
        os.chown(path, os.geteuid(), os.getegid())
    assert call("ca", "show", STATE_DIRECTORY=str(folder)).returncode == 0


@AS_ROOT
def test_root_needs_no_groups_of_its_own(binary, belonging, tmp_path):
    """Supplementary groups are laid down too: a key for a group that root is in is not read in the owner's folder."""
    (belonging / "ca.key").chmod(0o040)
    os.chown(belonging / "ca.key", 0, 4)
    done = subprocess.run(
        [binary, "ca", "rotate"], capture_output=True, text=True, timeout=60, extra_groups=[4],
        env={**os.environ, "STATE_DIRECTORY": str(belonging)})
    refused(done, "Permission denied")


# what a person names

def test_an_export_is_not_written_through_a_link_of_others(call, tmp_path, victim, made):
    if os.geteuid() != 0:
        pytest.skip("nobody but root can make a link of another's")
    link = tmp_path / "out.pem"
    link.symlink_to(victim)
    os.chown(link, OTHER, OTHER, follow_symlinks=False)
    refused(call("ca", "export", "--output", link), link, "link")
    refused(call("run", "--log", link, "--", "true"), link, "link")
    assert victim.read_text() == VICTIM


def test_an_export_does_not_change_a_file_with_two_names(call, tmp_path, victim, made):
    os.link(victim, tmp_path / "out.pem")
    refused(call("ca", "export", "--output", tmp_path / "out.pem"), "2 hard links")
    assert victim.read_text() == VICTIM


@AS_ROOT
def test_an_export_is_not_written_into_what_another_keeps_open(call, tmp_path, made):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    planted = folder / "out.pem"
    planted.write_text("planted")
    os.chown(planted, OTHER, OTHER)
    refused(call("ca", "export", "--output", planted), f"user {OTHER}")
    assert planted.read_text() == "planted"


def test_an_export_replaces_what_was_there(call, tmp_path, made):
    out = tmp_path / "out.pem"
    out.write_text("x" * 10_000)
    assert call("ca", "export", "--output", out).returncode == 0
    assert out.read_text() == (made / "ca.pem").read_text()


def test_an_export_to_a_device_and_through_a_link_of_ones_own(call, tmp_path, made):
    assert call("ca", "export", "--output", "/dev/stdout").stdout == (made / "ca.pem").read_text()
    (tmp_path / "own.pem").symlink_to(tmp_path / "real.pem")
    assert call("ca", "export", "--output", tmp_path / "own.pem").returncode == 0
    assert (tmp_path / "real.pem").read_text() == (made / "ca.pem").read_text()


# bundles

def bundles(folder):
    return {path.name for path in folder.glob("ca-bundle*")}


def test_each_content_has_a_bundle_of_its_own(call, made, certificates, write_config):
    """A shell that was told of one goes on to trust by it, whatever another configuration asks for."""
    def bundle(*arguments):
        lines = call("env", *arguments).stdout.splitlines()
        return pathlib.Path(next(line for line in lines if line.startswith("export SSL_CERT_FILE=")).split("'")[1])

    other = write_config({"tls": {"upstream": {"extra_trust": [str(certificates.trust)]}}}, "other.yaml")
    first = bundle("--config", other)
    content = first.read_bytes()
    store = first.with_suffix(".p12").read_bytes()
    assert pathlib.Path(certificates.trust).read_text().strip().splitlines()[1] in content.decode()
    assert call("run", "--", "true").returncode == 0
    second = bundle()
    assert second != first and second.read_bytes() != content
    assert first.read_bytes() == content and first.with_suffix(".p12").read_bytes() == store
    # asked for again, it is the same
    assert bundle("--config", other) == first and first.with_suffix(".p12").read_bytes() == store


def test_bundles_that_nobody_asks_for_go(call, made):
    def age(path, days):
        then = path.stat().st_mtime - days * 86_400
        os.utime(path, (then, then))

    old, young = made / "ca-bundle-0.pem", made / "ca-bundle-1.pem"
    mine = made / "mine.pem"
    for path in (old, old.with_suffix(".p12"), young, mine, made / "ca-bundle.pem"):
        path.write_text("x")
        age(path, 29 if path == young else 31)
    call("env")
    current = bundles(made) - {young.name}
    assert len(current) == 2 and young.exists() and mine.exists() and not old.exists()
    # what is asked for again is young again
    for name in current:
        age(made / name, 31)
    call("env")
    call("run", "--", "true")
    assert current <= bundles(made)


def test_a_bundle_that_a_command_runs_with_stays(binary, call, made, certificates, write_config):
    environment = {**os.environ, "STATE_DIRECTORY": str(made)}
    child = subprocess.Popen(
        [binary, "run", "--", "sh", "-c", "echo $SSL_CERT_FILE; read line; cat $SSL_CERT_FILE"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=environment)
    path = pathlib.Path(child.stdout.readline().strip())
    old = path.stat().st_mtime - 40 * 86_400
    for name in (path, path.with_suffix(".p12")):
        os.utime(name, (old, old))
    other = write_config({"tls": {"upstream": {"extra_trust": [str(certificates.trust)]}}})
    assert call("env", "--config", other).returncode == 0
    assert path.exists() and path.with_suffix(".p12").exists()
    output, _ = child.communicate("\n", timeout=60)
    assert child.returncode == 0 and "BEGIN CERTIFICATE" in output
    assert call("env", "--config", other).returncode == 0
    assert not path.exists() and not path.with_suffix(".p12").exists()
