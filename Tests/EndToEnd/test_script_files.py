"""Scripts: bodies that are too large for a frame go through files, in both directions."""

import json
import os
import pathlib
import signal

import pytest

import programs
from scripting import folder, node, play, python, serve, terms  # noqa: F401
from test_script_languages import middleware
from wire import response

LARGE = 300 << 10
FILES = "const files = () => fs.readdirSync(process.env.USHER_SCRIPT_FILES).join()"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where Usher makes the folders of scripts."""
    tmp_path = pathlib.Path(f"/tmp/usher-place-{os.getpid()}-{tmp_path.name}")
    tmp_path.mkdir()
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield tmp_path
    assert not list(tmp_path.iterdir()), "a folder is left"
    tmp_path.rmdir()


def folders(place):
    return list(place.glob("usher-script.*"))


def settled(place):
    """The names of files, once no question is open."""
    programs.eventually(lambda: not [name for one in folders(place) for name in one.iterdir()], "the files are removed")


@pytest.fixture
def tidy(place, play):
    """play, whose proxies end before the place is looked at."""
    proxies = []

    def begin(*given, **more):
        send = play(*given, **more)
        proxies.append(send.usher)
        return send

    yield begin
    for usher in proxies:
        if usher.process.poll() is None:
            assert usher.stop() == 0


def test_without_room_for_its_folder_a_script_does_not_start(call, folder, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(folder / "nowhere"))
    files, script = serve("needs: 'body', request() {}", needs="body")
    (folder / "script.mjs").write_text(files["script.mjs"])
    config = folder / "usher.yaml"
    config.write_text(json.dumps({"version": 1, "interceptors": [{"name": "mine", "script": terms(script)}]}))
    done = call("check", config)
    assert done.returncode == 1 and "has no folder" in done.stdout and "set TMPDIR" in done.stdout, done.stdout


NODE = serve("needs: 'body', request(req) { req.body = Buffer.concat([req.body, Buffer.from('!')]) }, "
             "response(res) { res.body = Buffer.concat([res.body, Buffer.from('?')]) }", needs="body", phases=["request", "response"])
PYTHON = python("""
from usher_scripts import Script

script = Script(needs="body")

@script.request
def longer(request, action):
    request.body += b"!"

@script.response
async def more(response, request, action):
    response.body += b"?"

script.run()
""", needs="body", phases=["request", "response"])


@pytest.mark.parametrize("files, script", [NODE, PYTHON], ids=["node", "python"])
@pytest.mark.parametrize("size", [0, 100, (256 << 10) - 1, 256 << 10, LARGE])
def test_bodies_of_all_sizes_pass_both_ways(tidy, place, files, script, size):
    body = os.urandom(size)
    send = tidy(files, script, answer=lambda seen: response(body=seen.body))
    seen, got = send("/x", "POST", body=body)
    assert seen.body == body + b"!" and got.body == body + b"!?"
    settled(place)
    assert len(folders(place)) == 1 and folders(place)[0].stat().st_mode & 0o777 == 0o700


def test_a_file_is_there_for_its_question_alone(tidy, place):
    files, script = node(f"""
        import fs from 'node:fs'
        {FILES}
        usher.serve({{ needs: 'body', request(req) {{ req.headers.set('X-Files', files()) }} }})""", needs="body", file_above="8KiB")
    send = tidy(files, script)
    assert send("/x", "POST", body=b"a" * 8192)[0].get("x-files") == ""
    assert send("/x", "POST", body=b"a" * 8193)[0].get("x-files") not in ("", None)
    assert send("/x", "POST", body=b"a")[0].get("x-files") == ""


RESPOND = node("usher.serve({ needs: 'body', request() { return tea } })\nconst tea = usher.respond({ body: 'x'.repeat(300 << 10) })",
               needs="body")
RESPOND_PYTHON = python("""
from usher_scripts import Respond, Script

script = Script(needs="body")
tea = Respond(body="x" * (300 << 10))

@script.request
def answer(request, action):
    return tea

script.run()
""", needs="body")


@pytest.mark.parametrize("files, script", [RESPOND, RESPOND_PYTHON], ids=["node", "python"])
def test_a_verdict_that_is_given_twice_has_its_large_body_twice(tidy, place, files, script):
    send = tidy(files, script)
    for _ in range(2):
        assert send()[1].body == b"x" * LARGE
    settled(place)


def test_middleware_of_the_sdk_takes_large_bodies(tidy):
    send = tidy(*middleware("export const needs = 'body'\nexport default [(req, action, next) => { req.init.body += '!'; next() }]",
                            file_above="8KiB"))
    seen, got = send("/am/json/realms/root/realms/alpha/authenticate", "POST", body=b"a" * 10_000, host="am.localhost")
    assert got.status == 200 and seen.body == b"a" * 10_000 + b"!", got.body


@pytest.mark.parametrize("left, words", [
    ("fs.symlinkSync('/etc/passwd', name)", b"there is no file"),
    ("fs.mkdirSync(name)", b"there is no file"),
    ("fs.linkSync('other', name)", b"there is no file"),
    ("", b"there is no file"),
    ("fs.truncateSync(name, 0); fs.truncateSync(name, 1 << 20)", b"larger than 524288 bytes"),
])
def test_what_is_no_file_of_the_script_is_not_read(tidy, place, left, words):
    send = tidy(*node(f"""
        import fs from 'node:fs'
        import net from 'node:net'
        process.chdir(process.env.USHER_SCRIPT_FILES)
        fs.writeFileSync('other', 'x')
        const socket = new net.Socket({{ fd: 3 }})
        const reader = new usher.FrameReader()
        socket.write(usher.frame({{ hello: {{ protocol: 1, phases: ['request'], needs: 'body', files: true }} }}))
        socket.on('data', piece => {{
          for (const {{ id, request }} of reader.read(piece)) {{
            const name = String(id)
            if (request.method === 'GET') fs.writeFileSync(name, 'good')
            else {{ {"" if "truncate" in left else "fs.rmSync(name)"}; {left} }}
            socket.write(usher.frame({{ id, request: {{ method: 'PUT', file: name }} }}))
            // Usher may remove a file at any time from now on
            if (fs.lstatSync(name, {{ throwIfNoEntry: false }})?.isDirectory()) fs.rmdirSync(name)
          }}
        }})
        process.on('SIGTERM', () => {{ fs.rmSync('other', {{ force: true }}); process.exit() }})""",
        needs="body", file_above="4KiB", frame="512KiB"), limits={"buffered_body": "2MiB"})
    seen, got = send("/x", "POST", body=b"a" * 5000)
    assert seen is None and got.status == 502 and words in got.body, got.body
    assert send()[0].body == b"good"


def test_a_script_that_cannot_gets_all_in_frames(tidy, place):
    send = tidy(*node("""
        import net from 'node:net'
        const socket = new net.Socket({ fd: 3 })
        const reader = new usher.FrameReader()
        socket.write(usher.frame({ hello: { protocol: 1, phases: ['request'], needs: 'body' } }))
        socket.on('data', piece => {
          for (const { id, request } of reader.read(piece)) socket.write(usher.frame({ id, request: { body: request.body } }))
        })""", needs="body"))
    assert not folders(place)
    assert send("/x", "POST", body=b"a" * LARGE)[0].body == b"a" * LARGE


def test_files_go_with_their_worker(tidy, place):
    send = tidy(*serve("needs: 'body', request(req) { if (req.url.pathname === '/stay') return new Promise(() => {}); "
                       "req.headers.set('X-Pid', process.pid) }", needs="body", on_failure="pass"))
    first = folders(place)
    pid = int(send()[0].get("x-pid"))
    with send.client() as held:
        held.send(b"POST http://app.localhost:%d/stay HTTP/1.1\r\nHost: app.localhost:%d\r\nContent-Length: %d\r\n\r\n"
                  % (send.server.port, send.server.port, LARGE) + b"a" * LARGE)
        programs.eventually(lambda: list(first[0].iterdir()), "the file is there")
        os.kill(pid, signal.SIGKILL)
        programs.eventually(lambda: folders(place) and folders(place) != first, "another folder")
    assert send()[0].get("x-pid") not in (None, str(pid))


def test_what_a_killed_proxy_left_is_removed_at_the_next_start(tidy, place):
    script = serve("needs: 'body', request(req) { req.headers.set('X-Tag', '1') }", needs="body")
    send = tidy(*script)
    left = folders(place)[0]
    (left / "7").write_bytes(b"a")
    os.utime(left, (0, 0))
    # it is in use
    other = tidy(*script)
    assert left.exists() and len(folders(place)) == 2
    send.usher.process.kill()
    send.usher.process.wait()
    # it has ended
    send.usher.stop = lambda: 0
    other.usher.stop()
    last = tidy(*script)
    assert not left.exists() and last()[0].get("x-tag") == "1"
