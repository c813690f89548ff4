"""client_grpc.py PROXY-URL AUTHORITY [CA]: calls of every kind, through the proxy; over TLS where there is an authority to trust. A
URL with the scheme h2c is of a proxy that is spoken to as if it were the server."""

import queue
import sys

import grpc

proxy, authority, *ca = sys.argv[1:]
OPTIONS = [("grpc.http_proxy", proxy)]
LARGE = bytes(range(256)) * 10_000


def channel():
    if proxy.startswith("h2c://"):
        return grpc.insecure_channel(proxy.removeprefix("h2c://"), options=[("grpc.default_authority", authority)])
    if not ca:
        return grpc.insecure_channel(authority, options=OPTIONS)
    with open(ca[0], "rb") as file:
        return grpc.secure_channel(authority, grpc.ssl_channel_credentials(file.read()), options=OPTIONS)


def failure(call):
    try:
        call()
    except grpc.RpcError as failed:
        return failed
    raise AssertionError("it did not fail")


with channel() as made:
    def method(kind, name):
        return getattr(made, kind)(f"/test.Calls/{name}")

    # unary: bodies byte for byte, and what comes in trailers
    echo = method("unary_unary", "Echo")
    for message in (b"", b"hello", LARGE):
        answer, call = echo.with_call(message, timeout=20, metadata=(("x-mine-bin", b"\1\2"),))
        assert answer == message and call.code() is grpc.StatusCode.OK
        trailers = dict(call.trailing_metadata())
        assert trailers["x-length"] == str(len(message)) and trailers["x-kept-bin"] == b"\0\xff", trailers

    # many at a time
    calls = [echo.future(str(number).encode() * 1000, timeout=20) for number in range(50)]
    assert [call.result() for call in calls] == [str(number).encode() * 1000 for number in range(50)]

    # streams, either way and both
    counted = method("unary_stream", "Count")(b"500", timeout=20)
    assert dict(counted.initial_metadata())["x-begun"] == "yes"
    assert [int(message) for message in counted] == list(range(500))
    assert method("stream_unary", "Add")((str(number).encode() for number in range(500)), timeout=20) == b"124750"
    said = queue.Queue()
    answers = method("stream_stream", "Converse")(iter(said.get, None), timeout=20)
    for word in (b"first", b"second" * 10_000, b"third"):
        # nothing more is said before the answer has come
        said.put(word)
        assert next(answers) == word[::-1]
    said.put(None)
    assert list(answers) == [] and answers.code() is grpc.StatusCode.OK

    # failures
    failed = failure(lambda: method("unary_unary", "Fail")(b"", timeout=20))
    assert (failed.code(), failed.details()) == (grpc.StatusCode.NOT_FOUND, "nothing of that name: %s")
    assert dict(failed.trailing_metadata())["x-why"] == "because"
    late = method("unary_stream", "FailLate")(b"", timeout=20)
    assert next(late) == b"first"
    assert failure(lambda: next(late)).code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failure(lambda: method("unary_unary", "Missing")(b"", timeout=20)).code() is grpc.StatusCode.UNIMPLEMENTED

    # given up, by a deadline and by the client's own will
    waiting = method("unary_stream", "Never")(b"", timeout=2)
    assert next(waiting) == b"begun"
    assert failure(lambda: next(waiting)).code() is grpc.StatusCode.DEADLINE_EXCEEDED
    waiting = method("unary_stream", "Never")(b"", timeout=20)
    assert next(waiting) == b"begun"
    waiting.cancel()
    # and the connection is as good as before
    assert echo(b"after", timeout=20) == b"after"
print("ok")
