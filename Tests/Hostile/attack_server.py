"""Malformed answers of AM in the middle of a step-up: the client always gets an answer, the resource's own where the step-up
fails, and no password is given twice in one."""

import base64
import json

import harness
import wire
from mutation import Mutator

SESSION = "SESSION-OF-THE-VICTIM"
JSON = b"Content-Type: application/json\r\n"
PROMPT = {"type": "NameCallback", "output": [{"name": "prompt", "value": "User Name"}], "input": [{"name": "IDToken1", "value": ""}], "_id": 0}
SECRET = {"type": "PasswordCallback", "output": [{"name": "prompt", "value": "Password"}], "input": [{"name": "IDToken2", "value": ""}], "_id": 1}
WAIT = {"type": "PollingWaitCallback", "output": [{"name": "waitTime", "value": "1"}, {"name": "message", "value": "Wait"}]}
CHOICE = {"type": "ChoiceCallback", "output": [{"name": "prompt", "value": "Choose"}, {"name": "choices", "value": ["Yes", "No"]}, {"name": "defaultChoice", "value": 0}],
          "input": [{"name": "IDToken1", "value": 0}]}
WORDS = [
    b'"authId":"a.b.c",', b'"callbacks":[', b'"tokenId":"x"', b"null", b"true", b"[]", b"{}", b"\\u0000", b"\\ud800", b'"', b",", b'"type":"PasswordCallback",',
    b"401", b"500", b"302", b"Set-Cookie: iPlanetDirectoryPro=NEW; Path=/\r\n", b"Content-Length: 3\r\n", b"Location: http://evil.test/\r\n", b"1e999", b"[" * 200,
]


def answer(status, value, *fields):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return b"HTTP/1.1 %d X\r\n" % status + JSON + b"".join(fields) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def seeds():
    step = lambda *callbacks: {"authId": "e.a.s", "callbacks": list(callbacks)}
    return [
        answer(200, step(PROMPT)), answer(200, step(PROMPT, SECRET)), answer(200, step(CHOICE)), answer(200, step(WAIT)),
        answer(200, {"tokenId": SESSION, "realm": "/"}), answer(401, {"code": 401, "reason": "Unauthorized", "message": "Login failure"}),
        answer(200, {"tokenId": "NEW", "realm": "/"}, b"Set-Cookie: iPlanetDirectoryPro=NEW; Path=/; HttpOnly\r\n"),
        answer(408, {"code": 408, "detail": {"errorCode": "110"}}), answer(500, b"<html>"), answer(200, b"[1, 2]")]


class _Server(wire.Origin):
    """Answers the calls of each step-up, known by its transaction, with one input after another."""

    def __init__(self, mutator):
        self.mutator, self.secrets = mutator, []
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            seen = connection.read_request()
            if b"ROBOT-SECRET" in seen.body:
                self.secrets.append(seen.body)
            connection.send(self.mutator.input(hash(seen.body) ^ len(self.accepted)))
            return


def start(binary, folder, corpora):
    server = _Server(Mutator(seeds(), WORDS))
    resource = wire.Answering(_gate)
    am = f"http://127.0.0.1:{server.port}/am"
    world = harness.World(binary, folder, {
        "am": [{"url": am, "realms": ["/", "/alpha"]}],
        "authorization": {
            "resources": [f"{resource.url}/*"], "am": am, "hold": "3s", "lockout": {"refusals": 0}, "answers": [
                {"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "ROBOT-SECRET"},
                {"callback": "ChoiceCallback", "choose": "Yes"}]}})

    def attack(index, stack):
        def one(number):
            fields = [("Cookie", f"iPlanetDirectoryPro={SESSION}-{number}"), ("Connection", "close")]
            request = wire.request("GET", f"{resource.url}/{number}", fields)
            found = harness.answers(harness.say(world.address, request, close=False))
            if len(found) != 1 or found[0][0] not in (200, 401):
                raise harness.Violation(f"answered {[status for status, _, _ in found]}")
            if number % 200 == 0:
                del resource.requests[:]
            return "replayed" if found[0][0] == 200 else "original"

        return one

    stop = world.end

    def end(ledger):
        stop(ledger)
        server.close()
        resource.close()

    world.end = end
    return world, attack


def _gate(seen):
    if "_txid=" in seen.target:
        return wire.response(body=b"granted")
    advices = base64.b64encode(b'{"TransactionConditionAdvice":["a1b2c3d4-0001-4a00-8b00-000000000001"]}').decode()
    return wire.response(401, [("WWW-Authenticate", f'SSOADVICE realm="/",advices="{advices}",am_uri="http://am.test/am"')], b"original")
