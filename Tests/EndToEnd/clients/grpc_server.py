"""grpc_server.py [IDENTITY]: a gRPC server whose messages are bytes as they are; over TLS with a key and its certificate in a file.
Prints its port, and a line for each call that was given up."""

import concurrent.futures
import sys
import threading

import grpc


def say(text):
    print(text, flush=True)


def echo(message, context):
    context.set_trailing_metadata((("x-length", str(len(message))), ("x-kept-bin", b"\0\xff")))
    return message


def count(message, context):
    context.send_initial_metadata((("x-begun", "yes"),))
    for number in range(int(message)):
        yield str(number).encode()


def add(messages, context):
    return str(sum(map(int, messages))).encode()


def converse(messages, context):
    """Each answer goes out before the next message comes."""
    for message in messages:
        yield message[::-1]


def fail(message, context):
    context.set_trailing_metadata((("x-why", "because"),))
    context.abort(grpc.StatusCode.NOT_FOUND, "nothing of that name: %s")


def fail_late(message, context):
    yield b"first"
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "later")


def never(message, context):
    over = threading.Event()
    # nobody comes back here where the call is over before "begun" has gone out
    context.add_callback(lambda: (over.set(), say("given up")))
    yield b"begun"
    over.wait()


def main(identity=None):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(16))
    unary, streamed = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.Calls", {
        "Echo": unary(echo), "Count": streamed(count), "Add": grpc.stream_unary_rpc_method_handler(add),
        "Converse": grpc.stream_stream_rpc_method_handler(converse), "Fail": unary(fail), "FailLate": streamed(fail_late),
        "Never": streamed(never)})])
    if identity:
        with open(identity, "rb") as file:
            pem = file.read()
        say(server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(pem, pem)])))
    else:
        say(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    server.wait_for_termination()


main(*sys.argv[1:])
