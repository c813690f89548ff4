"""Opened tunnels with the first system call of a kind failing, then the second, until an exchange runs through unharmed."""

import pytest

import inside
import programs
from test_faults import FAULTS, START_EVENTS, struck


def get(usher, server):
    """The status, None where the connection ended before an answer."""
    try:
        with inside.opened(usher, server.authority) as client:
            return client.exchange(inside.get(server.authority)).status
    except (EOFError, OSError):
        return None


@pytest.mark.parametrize("call, code", FAULTS, ids=[f"{call} {code}" for call, code in FAULTS])
def test_every_failure_ends_in_an_answer_or_a_close(
    binary, write_config, secure_origin, certificates, tmp_path, call, code):
    server = secure_origin()
    config = write_config(inside.config(
        certificates, {"timeouts": {"idle": "3s", "connect": "2s", "response": "3s", "tls": "2s"}}))
    clean = programs.Usher(binary, config, state=tmp_path)
    assert [get(clean, server) for _ in range(2)] == [200, 200]
    normal = clean.descriptors()
    assert clean.stop() == 0
    # those of the start itself come first
    first = 1 if call != "event_add" else START_EVENTS + 1
    for number in range(first, first + 200):
        usher = programs.Usher(
            binary, config, environment={"USHER_FAULT": f"{call}:{number}:{code}"}, state=tmp_path)
        try:
            seen = [get(usher, server) for _ in range(3)]
            assert usher.process.poll() is None, usher.errors
            programs.eventually(lambda: usher.descriptors() <= normal, f"descriptors go back to {normal}")
        finally:
            ended = usher.stop()
        assert ended == 0, (number, usher.errors)
        harmed = [status for status in seen if status != 200]
        assert len(harmed) <= struck(usher) and set(harmed) <= {None, 502, 503, 504}, (seen, usher.errors)
        if not struck(usher):
            break
    if number == first:
        pytest.skip("a release build has no fault plan")
