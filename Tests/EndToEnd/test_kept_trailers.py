"""Trailers behind a body that is kept until an interceptor knows what is in it: any client, any origin."""

import pytest

import frames
import wire
from test_http2 import NewOrigin

BODY = b'{"type":"payment"}'
RULE = {"name": "mark", "when": {"json": {"/type": "payment"}}, "request": [{"set_header": {"X-Mark": "1"}}]}


@pytest.fixture(scope="module")
def new_origin():
    server = NewOrigin()
    yield server
    server.stop()


def old_client(usher, authority):
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        fields = [("Content-Type", "application/json"), ("Trailer", "X-Sum"), ("Transfer-Encoding", "chunked")]
        body = wire.chunked(BODY, 7).removesuffix(b"\r\n") + b"X-Sum: 18\r\n\r\n"
        assert client.exchange(wire.request("POST", f"http://{authority}/kept", fields, body), "POST").status == 200


def new_client(usher, authority):
    client = frames.prior_knowledge(usher)
    # with its length, which HTTP/1 cannot tell beside trailers
    fields = [("content-type", "application/json"), ("content-length", str(len(BODY))), ("trailer", "x-sum")]
    client.send(
        frames.request(1, authority, "/kept", "POST", fields, end=False), frames.data(1, BODY),
        frames.headers(1, [("x-sum", "18")], end=True))
    assert frames.is_ok(client.until(frames.HEADERS, 1))
    client.connection.close()


@pytest.mark.parametrize("ask", [old_client, new_client])
def test_trailers_reach_an_origin_in_http1(start, origin, ask):
    seen = []

    def serve(connection):
        head = connection.read_head()
        # the last chunk, behind which trailers stand
        body = connection.read_until(b"\r\n0\r\n")
        seen.append((head, body, connection.read_until(b"\r\n\r\n")))
        connection.send(wire.response(body=b"ok"))

    server = origin(wire.Origin(serve))
    usher = start({"workers": 1, "interceptors": [RULE]})
    ask(usher, server.authority)
    head, body, trailers = seen[0]
    assert head.get("x-mark") == "1" and head.get("transfer-encoding") == "chunked" and head.get("content-length") is None
    assert BODY in body and trailers.lower() == b"x-sum: 18\r\n\r\n"


@pytest.mark.parametrize("ask", [old_client, new_client])
def test_trailers_reach_an_origin_in_http2(start, new_origin, ask):
    usher = start({"workers": 1, "interceptors": [RULE], "http2": {"cleartext": [new_origin.authority]}})
    before = len(new_origin.requests("/kept"))
    ask(usher, new_origin.authority)
    got = new_origin.requests("/kept", before + 1)[-1]
    assert got["trailers"] == {"x-sum": "18"} and got["headers"]["x-mark"] == "1"
