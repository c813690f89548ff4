"""A proxy with an origin behind it, and somebody who asks what went through."""

import gzip
import json

import people
import programs
import wire


def raw(status, fields, body=b""):
    """An answer with no more fields than these."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {status} Answer\r\n{lines}\r\n".encode("latin-1") + body


def verb(message):
    return message.line.split(" ")[0]


def answer(message):
    path = message.target.split("?")[0].rsplit("/", 1)[-1] if "/" in message.target else ""
    fields = [("Content-Type", "text/plain"), ("X-Path", path)]
    body = b"hello"
    match path:
        case "json":
            fields[0], body = ("Content-Type", "application/json"), b'{"name":"x","list":[1,2]}'
        case "latin":
            fields[0], body = ("Content-Type", "text/plain; charset=iso-8859-1"), b"caf\xe9 \x00\xff"
        case "gzip":
            fields.append(("Content-Encoding", "gzip"))
            body = gzip.compress(b"unpacked " * 100)
        case "chunked":
            return raw(200, [*fields, ("Transfer-Encoding", "chunked")], wire.chunked(b"piece " * 50, 7))
        case "empty":
            return raw(204, [("X-Path", path)])
        case "missing":
            return raw(404, [*fields, ("Content-Length", "5")], body)
        case "steering":
            fields.append(("X-Odd", "\xc2\x9b31mred \xe9 \xe2\x80\xae"))
            body = b"\xc2\x9b2J bell\n\x1b[31mred"
        case "session":
            fields.append(("Set-Cookie", "iPlanetDirectoryPro=AQIC5wM2LY4SfczFxI9lMv4PgF7l; Path=/"))
        case "large":
            body = b"word " * 60_000
    return raw(200, [*fields, ("Content-Length", str(len(body)))], b"" if verb(message) == "HEAD" else body)


class Site:
    """A proxy with an origin behind it, and somebody who asks what went through."""

    def __init__(self, binary, start, origin, through, state, config=None):
        self.origin = origin(answer)
        self.usher = start(config or {}, state=state)
        self.person = people.Person(binary, state)
        self.client = through(self.usher)
        self.url = f"http://127.0.0.1:{self.origin.port}"

    def get(self, path, **options):
        return self.client.get(self.url + path, timeout=10, **options)

    def flows(self, *terms, count=None):
        """What `usher flows` lists as JSON, once there are so many."""
        def listed():
            done = self.person.says("flows", "--json", *terms)
            assert done.returncode == 0, done.stderr
            flows = [json.loads(line) for line in done.stdout.splitlines()]
            return (flows or count is None) and (count is None or len(flows) >= count) and (flows, )

        return programs.eventually(listed, f"{count} flows")[0]

    def flow(self, path):
        """The newest flow to that path, whole."""
        flow = self.flows(f"path={path}", count=1)[-1]
        return self.whole(flow["id"])

    def whole(self, id):
        done = self.person.says("flow", id, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
