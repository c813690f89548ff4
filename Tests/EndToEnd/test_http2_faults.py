"""HTTP/2 on either side with the first call of a kind failing, system calls and those of TLS, then the second, until it runs
through."""

import json
import subprocess

import pytest

import faults
import inside
import origins
import wire
from test_http2 import HERE, NewOrigin
from test_real_clients import tool

BODY = bytes(range(251)) * 160


def curl(usher, *arguments):
    """The status; None where the answer did not come whole."""
    done = subprocess.run(
        [tool("curl"), "-sS", "--max-time", "20", "-x", usher.url, "--cacert", str(usher.ca), "-w", "\n%{http_code}",
         "--data-binary", "@-", *arguments], input=BODY, capture_output=True, check=False, timeout=40)
    if done.returncode == 28:
        raise TimeoutError(done.stderr)
    body, _, status = done.stdout.rpartition(b"\n")
    if done.returncode or status == b"000":
        return None
    # cut short curl would have failed
    assert status != b"200" or body == BODY, len(body)
    return int(status)


def posted(url, version="--http2"):
    def run(usher):
        return curl(usher, version, url)
    return run


def at_once(server):
    """Streams of one connection; what harms the connection harms them all."""
    def run(usher):
        jobs = [{"path": "/echo", "method": "POST", "size": 20_000, "count": 3}]
        try:
            done = subprocess.run(
                [tool("node"), HERE / "clients/http2.js", usher.url, server.url, str(usher.ca), json.dumps(jobs)],
                capture_output=True, text=True, timeout=30, check=False)
        except subprocess.TimeoutExpired as fault:
            raise TimeoutError(str(fault)) from fault
        if done.returncode or not done.stdout:
            return None
        answers = json.loads(done.stdout)
        whole = [one.get("status") if one["reset"] == 0 and not one.get("error") else None for one in answers]
        assert all(one["length"] == 20_000 for one, status in zip(answers, whole) if status == 200), answers
        return next((status for status in whole if status != 200), 200)
    return run


@pytest.fixture(scope="module")
def new_origin(certificates):
    server = NewOrigin((certificates.good, certificates.good))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def plain_origin():
    server = NewOrigin()
    yield server
    server.stop()


@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_both_sides(binary, write_config, new_origin, certificates, tmp_path, call, code):
    config = write_config(inside.config(certificates, {"timeouts": faults.TIMEOUTS}))
    scenarios = [at_once(new_origin), posted(f"{new_origin.url}/echo"), posted(f"{new_origin.url}/echo")]
    faults.run(binary, config, call, code, scenarios, [200] * 3, state=tmp_path)


@faults.calls(faults.CALLS, faults.TLS_CALLS)
def test_one_side(binary, write_config, new_origin, secure_origin, certificates, tmp_path, call, code):
    old = secure_origin(origins.Answering, lambda seen: wire.response(body=seen.body))
    config = write_config(inside.config(certificates, {"timeouts": faults.TIMEOUTS}))
    scenarios = [posted(f"{old.url}/echo"), posted(f"{new_origin.url}/echo", "--http1.1"), posted(f"{old.url}/echo")]
    faults.run(binary, config, call, code, scenarios, [200] * 3, state=tmp_path)


@faults.calls(faults.CALLS)
def test_without_tls(binary, write_config, plain_origin, tmp_path, call, code):
    """By prior knowledge, in a tunnel and towards the origin."""
    config = write_config({"workers": 1, "timeouts": faults.TIMEOUTS, "http2": {"cleartext": [plain_origin.authority]}})

    def run(usher):
        return curl(usher, "--http2-prior-knowledge", "-p", "--suppress-connect-headers", f"{plain_origin.url}/echo")

    faults.run(binary, config, call, code, [run] * 3, [200] * 3, state=tmp_path)
