"""Where the access log goes, in which form, and what becomes of it where it cannot be written."""

import os
import re
import signal
import stat
import subprocess

import pytest

import programs
import scrape
from wire import Connection, request

COMMON = re.compile(
    r'^127\.0\.0\.1 - (\S+) \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "(.*)" (\d{3}|-) (\d+|-)'
    r'(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?$')


def get(usher, url, fields=(), count=1):
    with Connection(("127.0.0.1", usher.port)) as client:
        for _ in range(count):
            answer = client.exchange(request("GET", url, fields))
            assert answer.status == 200
    return answer


def lines(path, count):
    programs.eventually(lambda: path.exists() and len(path.read_text().splitlines()) >= count, f"{count} lines in {path}")
    return path.read_text().splitlines()


def test_common(start, origin):
    server = origin()
    usher = start({"workers": 1, "log": {"access": "common"}})
    get(usher, f"http://{server.authority}/a\"b?code=s3cret", [("Referer", "http://x.test/"), ("User-Agent", "t")])
    usher.wait_for(lambda: usher.lines, "a line")
    user, line, status, size, referer, _ = COMMON.match(usher.lines[0]).groups()
    assert (user, status, size, referer) == ("-", "200", "2", None)
    assert line == f'GET http://{server.authority}/a\\"b?code=REDACTED HTTP/1.1'


def test_combined(start, origin):
    server = origin()
    usher = start({"workers": 1, "log": {"access": "combined"}})
    given = [
        [("Referer", "http://x.test/p?code=s3cret&page=1"), ("User-Agent", "curl/8 \"q\"")], [], [("Referer", "s3cret thing")]]
    for fields in given:
        get(usher, f"http://{server.authority}/", fields)
    usher.wait_for(lambda: len(usher.lines) == 3, "three lines")
    found = [COMMON.match(line).groups()[4:] for line in usher.lines]
    assert found[0] == ("http://x.test/p?code=REDACTED&page=1", 'curl/8 \\"q\\"')
    assert found[1] == ("-", "-") and found[2] == ("REDACTED", "-")
    assert "s3cret" not in "\n".join(usher.lines)


def test_a_file_is_kept_private_added_to_and_rotated(start, origin, tmp_path):
    server = origin()
    path = tmp_path / "access.log"
    path.write_text("before\n")
    usher = start({"workers": 1, "log": {"to": str(path), "level": "warning"}})
    get(usher, f"http://{server.authority}/one")
    assert lines(path, 2)[0] == "before"
    old = path.rename(tmp_path / "access.log.1")
    usher.process.send_signal(signal.SIGUSR1)
    programs.eventually(path.exists, "the file is made anew")
    get(usher, f"http://{server.authority}/two")
    assert "/two" in lines(path, 1)[0] and "/two" not in old.read_text()
    assert stat.S_IMODE(path.stat().st_mode) & ~0o640 == 0
    assert usher.lines == []


def test_sigusr1_without_a_file_does_nothing(start, origin):
    server = origin()
    usher = start({"workers": 1})
    usher.process.send_signal(signal.SIGUSR1)
    get(usher, f"http://{server.authority}/")
    usher.flow("/")


def test_a_file_that_cannot_be_opened_is_said_at_once(call, write_config, tmp_path):
    path = write_config({"workers": 1, "log": {"to": str(tmp_path / "none" / "access.log")}})
    done = call("serve", "--config", path, "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert f"the log cannot be written to {tmp_path}/none/access.log: No such file or directory (log.to" in done.stderr


def test_without_a_journal_it_goes_to_standard_output(start, origin):
    if os.path.exists("/run/systemd/journal/socket"):
        programs.left_out("this machine has a journal")
    server = origin()
    usher = start({"workers": 1, "log": {"to": "journald"}})
    get(usher, f"http://{server.authority}/there")
    usher.flow("/there")
    assert len([line for line in usher.errors if "there is no journal" in line]) == 1


def test_the_level_changes_with_a_reload(start, origin, write_config):
    server = origin()
    rules = [{"name": "n", "request": [{"set_header": {"X": "1"}}]}]
    usher = start({"workers": 1, "interceptors": rules, "log": {"level": "warning"}})
    get(usher, f"http://{server.authority}/before")
    assert usher.flow("/before").events == []
    write_config({"workers": 1, "interceptors": rules, "log": {"level": "info"}}, usher.config.name)
    usher.process.send_signal(signal.SIGHUP)
    usher.wait_for(lambda: [line for line in usher.errors if "is in force" in line], "the reload")
    assert not [line for line in usher.errors if "next start" in line]
    get(usher, f"http://{server.authority}/after")
    assert len(usher.flow("/after").events) == 1


def test_a_full_disk_is_said_once_and_forgiven(binary, write_config, origin, state, tmp_path):
    """A file system of 64 KiB, which only a process of its own sees."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        programs.left_out("mount namespaces are not to be had here")
    server = origin()
    small = tmp_path / "small"
    small.mkdir()
    config = write_config({"workers": 1, "log": {"to": str(small / "access.log"), "level": "warning"}})
    script = f'mount -t tmpfs -o size=64k none "{small}" && exec "$@"'
    wrapped = tmp_path / "usher"
    wrapped.write_text(f"#!/bin/sh\nexec unshare -m sh -c '{script}' sh {binary} \"$@\"\n")
    wrapped.chmod(0o755)
    usher = programs.Usher(str(wrapped), config, state=state)
    inside = f"/proc/{usher.process.pid}/root{small}/access.log"
    try:
        get(usher, f"http://{server.authority}/some", count=600)
        usher.wait_for(lambda: [line for line in usher.errors if "of the log" in line], "the word")
        dropped = programs.eventually(
            lambda: scrape.scrape(state).of("usher_log_lines_total", result="dropped"), "lines are dropped")
        assert dropped > 100
        get(usher, f"http://{server.authority}/more", count=50)
        subprocess.run(["nsenter", "-t", str(usher.process.pid), "-m", "truncate", "-s", "0", inside_path(small)], check=True)
        get(usher, f"http://{server.authority}/again")
        read = lambda: subprocess.run(
            ["nsenter", "-t", str(usher.process.pid), "-m", "cat", inside_path(small)], check=True, capture_output=True,
            text=True).stdout
        programs.eventually(lambda: "/again" in read(), "it is written again")
        text = read()
        assert "are missing here: No space left on device" in text
        figures = programs.eventually(
            lambda: (lambda found: found if found.of("usher_log_lines_total") >= 651 else None)(scrape.scrape(state)),
            "every line is counted, one way or the other")
        assert figures.of("usher_log_lines_total") == 651
        assert len([line for line in usher.errors if "of the log" in line]) == 1
        assert inside
    finally:
        assert usher.stop() == 0


def inside_path(folder):
    return str(folder / "access.log")


@pytest.mark.alone
def test_a_pipe_that_nobody_reads_holds_nobody_up(binary, write_config, origin, state):
    server = origin()
    reader, writer = os.pipe()
    usher = programs.Usher(
        binary, write_config({"workers": 1, "log": {"level": "warning"}}), state=state, output=os.fdopen(writer, "wb"))
    try:
        # what waits has a bound of 16 MiB: long URLs reach it soon
        path = "x" * 15_000
        get(usher, f"http://{server.authority}/{path}", count=1_500)
        figures = programs.eventually(
            lambda: (lambda found: found if found.of("usher_log_lines_total", result="dropped") else None)(
                scrape.scrape(state)), "lines are dropped")
        assert figures.of("usher_log_lines_total", result="dropped") > 100
        assert usher.resident() < 256 << 20
        assert get(usher, f"http://{server.authority}/last").status == 200
    finally:
        os.close(reader)
        usher.stop()
