"""Names and addresses: one that is dead does not keep a host from being reached."""

import socket
import time

import pytest

import nameserver
import programs
from wire import Connection, request


def ask(usher, url):
    """The answer, and the seconds until it came."""
    with Connection(("127.0.0.1", usher.port)) as connection:
        began = time.monotonic()
        answer = connection.exchange(request("GET", url))
        return answer, time.monotonic() - began


def other_family(host, port):
    """A listener on the same port of the other family, or None where that port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=0)
    except OSError:
        return None


@pytest.mark.alone
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_name_with_one_dead_address(plain_usher, origin, host):
    """The other family's port is closed."""
    server = origin(host=host)
    answer, seconds = ask(plain_usher, f"http://localhost:{server.port}/")
    assert answer.body == b"ok" and seconds < 2
    assert len(server.requests) == 1


@pytest.mark.alone
def test_a_name_with_one_mute_address(plain_usher, origin):
    """Packets to the first address vanish: the second is tried a quarter of a second later."""
    server = origin(host="::1")
    mute = other_family("127.0.0.1", server.port)
    if mute is None:
        pytest.skip("the port is taken on 127.0.0.1")
    # a queue that is full drops what comes
    queued = []
    for _ in range(16):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(("127.0.0.1", server.port))
        queued.append(filler)
    probe = socket.socket()
    probe.settimeout(0.3)
    try:
        if probe.connect_ex(("127.0.0.1", server.port)) == 0:
            pytest.skip("this system's queues are never full")
        answer, seconds = ask(plain_usher, f"http://localhost:{server.port}/")
        assert answer.body == b"ok" and 0.2 < seconds < 2
    finally:
        for one in [probe, mute, *queued]:
            one.close()


@pytest.mark.alone
def test_no_address_answers(plain_usher):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer, seconds = ask(plain_usher, f"http://localhost:{port}/")
    assert answer.status == 502 and "error=connection_refused" in answer.get("proxy-status") and seconds < 2


def test_names_of_the_hosts_file(plain_usher, origin):
    """Whatever name this machine has for its loopback beside localhost."""
    with open("/etc/hosts", encoding="ascii", errors="replace") as hosts:
        lines = [line.split("#")[0].split() for line in hosts]
    names = [name for words in lines if words[:1] == ["127.0.0.1"] for name in words[1:] if name != "localhost"]
    if not names:
        pytest.skip("there is none")
    server = origin()
    for _ in range(2):
        assert ask(plain_usher, f"http://{names[0]}:{server.port}/")[0].body == b"ok"


def test_a_name_that_does_not_exist(start):
    # one of its own says so: what another network's name service does with such names is nobody's fault here
    names = nameserver.NameServer()
    try:
        answer, _ = ask(start({"names": {"servers": [names.authority]}}), "http://nowhere.invalid/")
    finally:
        names.close()
    assert answer.status == 502 and "error=dns_error" in answer.get("proxy-status")


def test_the_pool_is_as_large_and_as_patient_as_configured(start, origin):
    server = origin()
    usher = start({"workers": 1, "limits": {"idle_per_origin": 0}})
    with Connection(("127.0.0.1", usher.port)) as connection:
        for _ in range(2):
            connection.exchange(request("GET", server.url + "/"))
    assert len(server.accepted) == 2
    patient = origin()
    usher = start({"workers": 1, "timeouts": {"pool_idle": "1ms"}})
    with Connection(("127.0.0.1", usher.port)) as connection:
        connection.exchange(request("GET", patient.url + "/"))
        # its thread ends with an EOFError
        programs.eventually(lambda: patient.failures, "the idle connection is closed")
        connection.exchange(request("GET", patient.url + "/"))
    assert len(patient.accepted) == 2


@pytest.fixture
def denying(binary, write_config):
    running = programs.Usher(binary, write_config({"destinations": {"deny": ["127.0.0.0/8"]}}))
    yield running
    assert running.stop() == 0


@pytest.mark.parametrize("host", [
    "127.0.0.1", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[::ffff:0:7f00:1]", "localhost"])
def test_a_denied_address_in_every_form(denying, origin, host):
    server = origin()
    answer, _ = ask(denying, f"http://{host}:{server.port}/")
    assert answer.status == 403 and "destinations.deny holds 127.0.0.0/8" in answer.body.decode()
    assert server.requests == []


@pytest.mark.alone
@pytest.mark.parametrize("host", ["127.1", "127.1.", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1"])
def test_numbers_that_are_no_addresses(plain_usher, origin, host):
    """Nothing is denied there, and still nobody guesses what is meant."""
    server = origin()
    answer, seconds = ask(plain_usher, f"http://{host}:{server.port}/")
    assert answer.status == 403 and "resolvers take for an address" in answer.body.decode() and seconds < 2
    assert server.requests == []
