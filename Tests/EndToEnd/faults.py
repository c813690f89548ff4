"""Scenarios in which the first call of a kind fails, then the second, until they run through unharmed."""

import pytest

import inside
import programs

CALLS = [
    ("recv", "ECONNRESET"), ("send", "EPIPE"), ("send", "EAGAIN"), ("socket", "EMFILE"), ("connect", "ENOBUFS"),
    ("accept", "EMFILE"), ("event_add", "ENOSPC"),
]
# bytes that nobody looks at pass from socket to socket
PASSING_CALLS = [("splice", "EPIPE"), ("splice", "ECONNRESET"), ("splice", "EAGAIN"), ("pipe", "EMFILE")]
TLS_CALLS = [("tls_begin", "ENOMEM"), ("tls_open", "ENOMEM"), ("tls_seal", "ENOMEM")]

# signals, the supervisor's look at itself, the control socket with its mailbox, the mailboxes of workers, reloads and upgrades, the
# minutes of rates, the worker's mailboxes and its sweep, a listener
START_EVENTS = 16

# configured, so that whatever waits in vain gives up before the client does
TIMEOUTS = {"idle": "3s", "connect": "2s", "response": "3s", "tls": "2s"}


def calls(*lists):
    """Parametrises a test by `call` and `code`."""
    pairs = [pair for each in lists for pair in each]
    return pytest.mark.parametrize("call, code", pairs, ids=[f"{call} {code}" for call, code in pairs])


def plans(binary, config):
    """Whether the program can be told to fail, which release builds cannot."""
    program = programs.Program(
        [binary, "serve", "--config", config, "--listen", "127.0.0.1:0"], {"USHER_FAULT": "event_add:1:ENOSPC"})
    try:
        program.wait_for(lambda: program.errors, "a word on standard error")
        return struck(program)
    finally:
        program.stop()


def struck(usher):
    return any(line.startswith("fault:") for line in list(usher.errors))


def outcome(scenario, usher):
    """The scenario's status, or that of the tunnel it asked for; None where the connection ended before an answer."""
    try:
        return scenario(usher)
    except TimeoutError:
        # what hangs is neither answered nor closed
        raise
    except inside.Refused as refused:
        return refused.status
    except (EOFError, OSError):
        return None


def run(binary, config, call, code, scenarios, expected, allowed=frozenset({None, 502, 503, 504}), **options):
    """Each scenario takes the proxy and gives a status. One failure may do harm to one of them at most, and leaves nothing
    behind."""
    # a control socket that nobody else has, or the start would have an event less
    options.setdefault("state", config.parent / "state")
    clean = programs.Usher(binary, config, **options)
    assert [outcome(scenario, clean) for scenario in scenarios] == expected, clean.errors
    normal = clean.descriptors()
    assert clean.stop() == 0
    # those of the start itself come first: the kinds that the scenarios share with it are counted from there
    first = 1 if call != "event_add" else START_EVENTS + len(options.get("listen", "1"))
    for number in range(first, first + 300):
        usher = programs.Usher(binary, config, environment={"USHER_FAULT": f"{call}:{number}:{code}"}, **options)
        try:
            seen = [outcome(scenario, usher) for scenario in scenarios]
            assert usher.process.poll() is None, usher.errors
            programs.eventually(lambda: usher.descriptors() <= normal, f"descriptors go back to {normal}")
        finally:
            ended = usher.stop()
        assert ended == 0, (number, usher.errors)
        harmed = [status for status, wanted in zip(seen, expected) if status != wanted]
        assert len(harmed) <= struck(usher) and set(harmed) <= allowed, (number, seen, usher.errors)
        if not struck(usher):
            break
    else:
        pytest.fail(f"{call} fails in no end of places")
    if number == first:
        if not plans(binary, config):
            pytest.skip("a release build has no fault plan")
        pytest.fail(f"the scenario makes no such call any more: {call}")
