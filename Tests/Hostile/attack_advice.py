"""Answers that look like an advice, from a resource that may ask for a step-up: the session goes to the configured AM alone,
AM is asked only where the answer really is an advice, and nothing that was answered 2xx is sent twice."""

import json
import urllib.parse

import harness
import wire
from mutation import Mutator

SESSION = "SESSION-OF-THE-VICTIM"
# a client that closed its side would be taken for one that went away
FIELDS = [("Cookie", f"iPlanetDirectoryPro={SESSION}"), ("Connection", "close")]
WORDS = [
    b"SSOADVICE ", b'realm="/alpha"', b'advices="', b"am_uri=", b"Location: ", b"authIndexType=composite_advice", b"&realm=/evil", b"javascript:",
    b"//evil.test/", b"\\\\evil\\", b"http://evil.test/am/", b"{am}/XUI/?", b"{am}/../x?", b'{"actions":{},"advices":{"AuthenticateToServiceConditionAdvice":["EVIL"]}}',
    b"Content-Type: application/json\r\n", b"302", b"200", b"401", b"[", b"]", b"{", b"}", b"null,",
]


def seeds(vectors):
    """The responses of the vectors, as bytes that name AM as {am}."""
    found = []
    for vector in json.loads((vectors / "advice.json").read_text())["vectors"]:
        response = vector["response"]
        body = response.get("body", "")
        body = body if isinstance(body, str) else json.dumps(body)
        text = f"HTTP/1.1 {response['status']} X\r\n" + "".join(f"{n}: {v}\r\n" for n, v in response["headers"])
        text = text.replace("https://am.example.test/am", "{am}")
        found.append(text.encode() + b"\r\n" + body.replace("https://am.example.test/am", "{am}").encode())
    return found


class Server(wire.Answering):
    """An AM that grants whatever it is asked, and remembers each request."""

    def __init__(self):
        super().__init__(lambda seen: wire.response(
            200, [("Content-Type", "application/json")], b'{"tokenId":"%s","realm":"/"}' % SESSION.encode()))


def start(binary, folder, corpora):
    server, resource, elsewhere = Server(), _Resource(), wire.Answering()
    am = f"http://127.0.0.1:{server.port}/am"
    world = harness.World(binary, folder, {
        "am": [{"url": am, "realms": ["/", "/alpha"]}],
        "destinations": {"allow": ["*"]},
        "authorization": {
            "resources": [f"{resource.url}/*"], "am": am, "hold": "2s", "answers": [
                {"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}]}})
    mutator = Mutator(seeds(corpora.parent / "Vectors"), [word.replace(b"{am}", am.encode()) for word in WORDS])

    def attack(index, stack):
        def one(number):
            data = mutator.input(number).replace(b"{am}", am.encode()).replace(b"evil.test", elsewhere.authority.encode())
            path = f"/{index}/{number}"
            resource.bad[path] = data
            method, body = ("POST", b"a=b") if number % 3 == 0 else ("GET", b"")
            read = harness.say(world.address, wire.request(method, f"{resource.url}{path}?x=y", FIELDS, body), close=False)
            found = harness.answers(read, [method])
            asked = resource.seen.pop(path, 0)
            del resource.bad[path]
            if len(found) > 1:
                raise harness.Violation(f"{len(found)} answers to one request; the resource said {data[:500]!r}")
            line = data.split(b"\r\n")[0].split(b" ")
            status = line[1][:3] if len(line) > 1 else b""
            if asked > 1 and method == "POST" and status.startswith(b"2"):
                raise harness.Violation(f"a POST that was answered {status!r} was sent {asked} times; {data[:500]!r}")
            if asked > 3:
                raise harness.Violation(f"one request was sent {asked} times; {data[:500]!r}")
            if asked > 1 and status.startswith(b"2"):
                raise harness.Violation(f"a body counted as an advice where none was asked for; {data[:500]!r}")
            if asked > 1 and status in (b"301", b"302", b"303", b"307", b"308"):
                _check_location(data, resource.url + path, am)
            if elsewhere.requests:
                raise harness.Violation(f"another server was asked: {elsewhere.requests[0].head!r}; {data[:500]!r}")
            for seen in server.requests[-50:]:
                if not seen.target.startswith("/am/json/"):
                    raise harness.Violation(f"AM was asked for {seen.target!r}")
            if len(server.requests) > 1000:
                del server.requests[:500]
            return f"stepped up, {found[0][0]}" if asked > 1 and found else f"{found[0][0] // 100}xx" if found else "closed"

        return one

    stop = world.end

    def end(ledger):
        stop(ledger)
        for origin in (server, resource, elsewhere):
            origin.close()

    world.end = end
    return world, attack


class _Resource(wire.Origin):
    """Answers each path as it was told to; with a transaction it grants."""

    def __init__(self):
        self.bad, self.seen = {}, {}
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            seen = connection.read_request()
            path = seen.target.split("?")[0]
            self.seen[path] = self.seen.get(path, 0) + 1
            data = self.bad.get(path)
            if data is None or self.seen[path] > 1 and "_txid=" in seen.target:
                connection.send(wire.response(body=b"granted"))
                continue
            connection.send(data)
            # the rest of the message is whatever there is until the end
            return


def _check_location(data, url, am):
    """A redirect that was taken for an advice leads to AM."""
    head = data.split(b"\r\n\r\n")[0].decode("latin-1")
    values = [line.split(":", 1)[1].strip() for line in head.split("\r\n")[1:] if line.lower().startswith("location:")]
    if any(line.lower().startswith("www-authenticate:") for line in head.split("\r\n")):
        return
    for value in values:
        if urllib.parse.urljoin(url, value).lower().startswith(am):
            return
    raise harness.Violation(f"a redirect to {values!r} counted as an advice")
