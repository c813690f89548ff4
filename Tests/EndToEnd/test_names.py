"""Names that DNS knows: kept for their time, asked for once, checked before they are connected to."""

import signal
import threading
import time

import pytest

import nameserver
import programs
from nameserver import AAAA
from wire import Connection, request


@pytest.fixture
def names():
    server = nameserver.NameServer()
    yield server
    server.close()


def settings(*servers, **more):
    return {
        "workers": 1, "names": {"servers": [server.authority for server in servers]},
        "timeouts": {"resolve": "1s"}, **more}


@pytest.fixture
def usher(binary, names, write_config):
    running = programs.Usher(binary, write_config(settings(names)))
    yield running
    assert running.stop() == 0


def get(usher, url):
    with Connection(("127.0.0.1", usher.port)) as connection:
        return connection.exchange(request("GET", url, [("Connection", "close")]))


def at_once(count, call):
    """What `call` gives for each number, all under way at the same time."""
    results = [None] * count

    def run(number):
        results[number] = call(number)

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads, results


def test_an_answer_is_kept_for_its_time(usher, names, origin):
    first, second = origin(), origin()
    names.records["long.test"] = (600, ["127.0.0.1"])
    names.records["short.test"] = (1, ["127.0.0.1"])
    for server in [first, second]:
        assert get(usher, f"http://long.test:{server.port}/").body == b"ok"
        assert get(usher, f"http://short.test:{server.port}/").body == b"ok"

    def again():
        # a connection from the pool needs no name
        fresh = origin()
        get(usher, f"http://short.test:{fresh.port}/")
        get(usher, f"http://long.test:{fresh.port}/")
        return names.asked("short.test") >= 2

    programs.eventually(again, "the name is looked up anew")
    assert names.asked("long.test") == 1 and names.asked("long.test", AAAA) == 1


def test_one_question_for_many_requests(usher, names, origin):
    server = origin()
    names.records["busy.test"] = (600, ["127.0.0.1"])
    threads, answers = at_once(20, lambda _: get(usher, f"http://busy.test:{server.port}/").body)
    for thread in threads:
        thread.join(30)
    assert answers == [b"ok"] * 20
    assert names.asked("busy.test") == 1 and names.asked("busy.test", AAAA) == 1


@pytest.mark.alone
def test_dead_names_hold_nobody_up(usher, names, origin):
    """A hundred names whose server is mute: another one is reached at once, and each of them ends with its own words."""
    server = origin()
    names.records["alive.test"] = (600, ["127.0.0.1"])
    threads, answers = at_once(100, lambda number: get(usher, f"http://{number}.dead.test/"))
    programs.eventually(lambda: len(names.questions) >= 200, "all of them are asked for")
    began = time.monotonic()
    assert get(usher, f"http://alive.test:{server.port}/").body == b"ok"
    assert time.monotonic() - began < 0.8
    for thread in threads:
        thread.join(30)
    for answer in answers:
        assert answer.status == 504 and "error=dns_timeout" in answer.get("proxy-status")
        assert "no name server responded within timeouts.resolve" in answer.body.decode()
    usher.wait_for(lambda: len(usher.flows(".dead.test")) >= 100, "all of them in the log")
    assert all(800 <= flow.access["ms"] < 5000 for flow in usher.flows(".dead.test"))
    # and for seconds it is known that nobody answers
    asked = names.asked("7.dead.test")
    assert get(usher, "http://7.dead.test/").status == 504 and names.asked("7.dead.test") == asked


def test_a_client_has_its_share_of_questions(start, names, origin):
    usher = start(settings(names, timeouts={"resolve": "3s"}))
    server = origin()
    names.records["known.test"] = (600, ["127.0.0.1"])
    assert get(usher, f"http://known.test:{server.port}/").body == b"ok"
    # 128 are looked up, 256 wait for their turn
    threads, answers = at_once(400, lambda number: get(usher, f"http://{number}.dead.test/"))
    for thread in threads:
        thread.join(30)
    refused = [answer for answer in answers if answer.status == 503]
    assert 1 <= len(refused) <= 16 and all("waited for by this client" in answer.body.decode() for answer in refused)
    assert sorted({answer.status for answer in answers}) == [503, 504]
    # what is known needs no question
    fresh = origin()
    assert get(usher, f"http://known.test:{fresh.port}/").body == b"ok"


def test_a_server_that_is_mute_about_ipv6(usher, names, origin):
    """Its silence would last for a second; the IPv4 address is used before."""
    server = origin()
    names.mute.add("mute.test")
    names.records["mute.test"] = (600, ["127.0.0.1"])
    assert get(usher, f"http://mute.test:{server.port}/").body == b"ok"
    assert usher.flow("mute.test").access["ms"] < 900


def test_both_families_are_tried(usher, names, origin):
    server = origin(host="127.0.0.1")
    names.records["both.test"] = (600, ["127.0.0.1", "::1"])
    assert get(usher, f"http://both.test:{server.port}/").body == b"ok"
    other = origin(host="::1")
    assert get(usher, f"http://both.test:{other.port}/").body == b"ok"


def test_a_name_that_does_not_exist(usher, names):
    asked = []
    for _ in range(2):
        answer = get(usher, "http://gone.test/")
        assert answer.status == 502 and "error=dns_error" in answer.get("proxy-status")
        assert 'rcode="NXDOMAIN"' in answer.get("proxy-status") and "does not exist (NXDOMAIN)" in answer.body.decode()
        asked.append(names.asked("gone.test"))
    assert asked[0] == asked[1] >= 1


def test_a_server_that_fails(usher, names):
    names.codes["broken.test"] = 2
    answer = get(usher, "http://broken.test/")
    assert answer.status == 502 and 'error=dns_error' in answer.get("proxy-status")
    assert 'rcode="SERVFAIL"' in answer.get("proxy-status") and "the name server failed" in answer.body.decode()


def test_what_a_name_leads_to_is_checked(usher, names, origin):
    names.records["meta.test"] = (600, ["169.254.169.254"])
    answer = get(usher, "http://meta.test/")
    assert answer.status == 403 and "metadata" in answer.body.decode()
    # of two addresses the forbidden one is not tried
    server = origin()
    names.records["mixed.test"] = (600, ["169.254.169.254", "127.0.0.1"])
    assert get(usher, f"http://mixed.test:{server.port}/").body == b"ok"
    names.records["self.test"] = (600, ["127.0.0.1"])
    answer = get(usher, f"http://self.test:{usher.port}/")
    assert answer.status == 508


@pytest.mark.parametrize("addresses", [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"], ["64:ff9b::7f00:2"]])
def test_every_address_of_a_name_is_checked(binary, names, origin, write_config, addresses):
    """The one that nothing is against does not answer; the denied one would."""
    server = origin(host="127.0.0.2")
    names.records["several.test"] = (600, addresses)
    usher = programs.Usher(binary, write_config(settings(names, destinations={"deny": ["127.0.0.2"]})))
    answer = get(usher, f"http://several.test:{server.port}/")
    assert answer.status == 403 and "destinations.deny holds 127.0.0.2" in answer.body.decode()
    assert server.requests == []
    assert usher.stop() == 0


def test_a_reload_with_another_server(binary, names, origin, write_config):
    server, other = origin(), nameserver.NameServer()
    names.records["moved.test"] = (600, ["127.0.0.1"])
    usher = programs.Usher(binary, write_config(settings(names)))
    assert get(usher, f"http://moved.test:{server.port}/").body == b"ok"
    write_config(settings(other))
    usher.process.send_signal(signal.SIGHUP)
    # what the first one said is forgotten
    programs.eventually(
        lambda: get(usher, f"http://moved.test:{origin().port}/").status == 502, "the other server is asked")
    assert other.asked("moved.test") >= 1 and names.asked("moved.test") == 1
    assert usher.stop() == 0
    other.close()


@pytest.fixture
def of_the_system(binary, tmp_path, write_config):
    """A proxy that takes the system's name servers and hosts, and the two files."""
    resolv, hosts = tmp_path / "resolv.conf", tmp_path / "hosts"
    started = []

    def start(server):
        resolv.write_text(f"nameserver {server.address}\n")
        hosts.write_text("127.0.0.1 localhost\n127.0.0.1 listed.test alias.test # old.test\n")
        program = nameserver.wrapped(binary, tmp_path, resolv=resolv, hosts=hosts)
        if program is None:
            pytest.skip("no files of its own can be given to a program here")
        started.append(programs.Usher(program, write_config({"workers": 1, "timeouts": {"resolve": "1s"}})))
        return started[0], resolv, hosts

    yield start
    for running in started:
        assert running.stop() == 0


def test_the_hosts_file_comes_first(of_the_system, origin):
    names = nameserver.NameServer(53)
    usher, _, hosts = of_the_system(names)
    server = origin()
    # DNS must not add what the file leaves out
    names.records["listed.test"] = (600, ["192.0.2.1", "2001:db8::1"])
    for name in ["listed.test", "ALIAS.test"]:
        assert get(usher, f"http://{name}:{server.port}/").body == b"ok"
    assert names.questions == []
    assert get(usher, f"http://old.test:{server.port}/").status == 502
    hosts.write_text("127.0.0.1 new.test\n")
    assert get(usher, f"http://new.test:{server.port}/").body == b"ok"
    names.close()


def test_other_name_servers_of_the_system(of_the_system, origin):
    first, second = nameserver.NameServer(53), nameserver.NameServer(53)
    usher, resolv, _ = of_the_system(first)
    server = origin()
    for names in [first, second]:
        names.records["roaming.test"] = (600, ["127.0.0.1"])
    assert get(usher, f"http://roaming.test:{server.port}/").body == b"ok"
    assert (first.asked("roaming.test"), second.asked("roaming.test")) == (1, 0)
    resolv.write_text(f"nameserver {second.address}\n")
    # the next name that has to be looked up tells
    count = iter(range(1000))

    def moved():
        get(usher, f"http://{next(count)}.test/")
        return any(name.endswith(".test") for _, name, _ in second.questions)

    programs.eventually(moved, "the other server is asked")
    assert get(usher, f"http://roaming.test:{origin().port}/").body == b"ok"
    assert second.asked("roaming.test") == 1
    for names in [first, second]:
        names.close()
