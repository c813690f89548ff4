"""Names that DNS knows: kept for their time, asked for once, checked before they are connected to."""

import threading

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


@pytest.fixture
def usher(binary, names, tmp_path, write_config):
    program = nameserver.wrapped(binary, names, tmp_path)
    if program is None:
        pytest.skip("no name server of its own can be given to a program here")
    running = programs.Usher(program, write_config({"workers": 1}))
    yield running
    assert running.stop() == 0


def get(usher, url):
    with Connection(("127.0.0.1", usher.port)) as connection:
        return connection.exchange(request("GET", url, [("Connection", "close")]))


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
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(get(usher, f"http://busy.test:{server.port}/").body))
        for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"ok"] * 20
    assert names.asked("busy.test") == 1 and names.asked("busy.test", AAAA) == 1


def test_a_server_that_is_mute_about_ipv6(usher, names, origin):
    """Its silence would last for seconds; the IPv4 address is used before."""
    server = origin()
    names.mute.add("mute.test")
    names.records["mute.test"] = (600, ["127.0.0.1"])
    assert get(usher, f"http://mute.test:{server.port}/").body == b"ok"
    assert usher.flow("mute.test").access["ms"] < 1500


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
        asked.append(names.asked("gone.test"))
    assert asked[0] == asked[1] >= 1


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
