"""TLS with the first call of a kind failing, system calls and its own, then the second, until a scenario runs through."""

import re
import ssl

import pytest

import faults
import inside
import origins
import shop
import wire

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def get(server, only=None):
    """One request in a tunnel that is opened."""
    def run(usher):
        with inside.opened(usher, server.authority, inside.trusting(usher, only=only)) as client:
            return client.exchange(inside.get(server.authority)).status
    return run


@pytest.mark.parametrize("version", VERSIONS)
@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_exchanges_in_a_tunnel(binary, write_config, secure_origin, certificates, tmp_path, version, call, code):
    """Many records each way: more than is sent or read at once."""
    server = secure_origin(origins.Answering, lambda seen: wire.response(body=seen.body), only=version)
    body = bytes(300_000)

    def exchanges(usher):
        with inside.opened(usher, server.authority, inside.trusting(usher, only=VERSIONS[version])) as client:
            statuses = {client.exchange(inside.get(server.authority)).status}
            answer = client.exchange(inside.get(server.authority, method="POST", body=body))
            # cut short it would have raised
            assert answer.status != 200 or answer.body == body
            statuses.add(answer.status)
            return max(statuses)

    config = write_config(inside.config(certificates, {"timeouts": faults.TIMEOUTS}))
    scenarios = [exchanges, get(server), get(server)]
    faults.run(binary, config, call, code, scenarios, [200] * 3, state=tmp_path)


@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_a_listener_that_speaks_tls(binary, write_config, secure_origin, certificates, tmp_path, call, code):
    """With a tunnel in it that is opened: TLS within TLS."""
    server = secure_origin()

    def nested(usher):
        with wire.Connection(("127.0.0.1", usher.port)) as client:
            trusting = inside.trusting(usher)
            inside.secured(client, trusting, "127.0.0.1")
            answer = client.exchange(
                f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n", "HEAD")
            if answer.status != 200:
                return answer.status
            send, receive = inside.handshake_in_pieces(client, trusting, "origin.localhost", 1 << 20)
            send(inside.get(server.authority))
            found = re.match(rb"HTTP/1.1 (\d+)", receive())
            return int(found.group(1)) if found else None

    config = write_config(inside.config(certificates, {"timeouts": faults.TIMEOUTS}))
    faults.run(
        binary, config, call, code, [nested] * 3, [200] * 3, listen=("https://127.0.0.1:0",), state=tmp_path)


@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_an_origin_whose_handshake_fails(
    binary, write_config, origin, secure_origin, certificates, tmp_path, call, code):
    bad = secure_origin(identity=certificates.bad("expired"))
    rude = origin(wire.Origin(origins.ALERT))
    rude.authority = f"{origins.NAME}:{rude.port}"
    config = write_config(inside.config(certificates, {"timeouts": faults.TIMEOUTS}))
    # that an origin is at fault shows in no other status than that the proxy is
    faults.run(
        binary, config, call, code, [get(bad), get(rude), get(secure_origin())], [502, 502, 200], state=tmp_path)


@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_a_step_up(binary, write_config, secure_sandbox, tmp_path, call, code):
    """AM, gateway and resource all behind TLS."""
    authority = secure_sandbox.shop.removeprefix("https://").split("/")[0]

    def step_up(usher):
        cookie = [("Cookie", f"{shop.COOKIE}={shop.login(secure_sandbox)}")]
        with inside.opened(usher, authority) as client:
            return client.exchange(inside.get(authority, "/shop/item", cookie)).status

    config = write_config({
        **shop.config(secure_sandbox, hold="5s"), "workers": 1,
        # how many connections to AM are kept depends on when each call was made
        "timeouts": {**faults.TIMEOUTS, "pool_idle": "1s"},
        "tls": {
            "intercept": ["*"], "upstream": {"trust": "none", "extra_trust": [str(secure_sandbox.ca)]}}})
    # the answer that carried the advice stands for a step-up that failed
    faults.run(
        binary, config, call, code, [step_up] * 3, [200] * 3, {None, 401, 502, 503, 504}, state=tmp_path)
