"""The access log: what never stands in it, and what it does where it cannot be written."""

import json

import programs
from wire import Connection, request


def get(usher, url, fields=()):
    with Connection(("127.0.0.1", usher.port)) as client:
        return client.exchange(request("GET", url, fields))


def test_what_came_from_the_environment_stands_nowhere(start, origin):
    server = origin()
    usher = start({
        "interceptors": [{
            "name": "key", "request": [
                {"set_path": "/k/${env.ROBOT_KEY}/x"}, {"add_query": {"page": "${env.ROBOT_KEY}"}},
                {"rewrite_url": {"~/x": "/y${env.ROBOT_KEY}"}}]}]},
        environment={"ROBOT_KEY": "k3y/of+robot"})
    assert get(usher, f"http://{server.authority}/marked").status == 200
    assert "k3y" in server.requests[0].target
    assert "REDACTED" in "\n".join(r["text"] for r in usher.flow("/marked").events)
    assert "of+robot" not in "\n".join(usher.lines + usher.errors)


def test_a_line_is_text_and_json_whatever_the_url_holds(start, origin):
    server = origin()
    usher = start()
    with Connection(("127.0.0.1", usher.port)) as client:
        client.send(
            f"GET http://{server.authority}/odd/".encode() + b'\xff\xe4"\\,"status":999?page=\xfc'
            + f" HTTP/1.1\r\nHost: {server.authority}\r\n\r\n".encode())
        client.read_response()
    access = usher.flow("/odd/").access
    assert access["url"].endswith('/odd/%FF%E4"\\,"status":999?page=%FC')
    assert access["status"] == 200


def test_levels(start, origin):
    server = origin()
    config = {"interceptors": [{"name": "n", "request": [{"set_header": {"X": "1"}}]}], "log": {"show": ["mark"]}}
    for level, events in (("info", 1), ("warning", 0), ("error", 0)):
        config["log"]["level"] = level
        usher = start(config)
        get(usher, f"http://{server.authority}/level?mark={level}")
        assert len(usher.flow(f"mark={level}").events) == events


def test_a_full_disk_is_told_and_holds_nobody_up(binary, write_config, origin):
    server = origin()
    with open("/dev/full", "wb") as full:
        usher = programs.Usher(binary, write_config({"workers": 1}), output=full)
    try:
        for number in range(5):
            assert get(usher, f"http://{server.authority}/{number}").status == 200
        usher.wait_for(
            lambda: [line for line in usher.errors if "of the log" in line], "words about the log")
        words = [line for line in usher.errors if "of the log" in line]
        assert len(words) == 1 and words[0].endswith("lost: No space left on device")
    finally:
        assert usher.stop() == 0


def test_explain_shows_no_secret(call, write_config):
    path = write_config({"interceptors": [{
        "name": "key", "when": {"header": {"X-Key": "${env.ROBOT_KEY}"}},
        "request": [{"set_header": {"X-Api-Key": "${env.ROBOT_KEY}"}}, {"set_path": "/${env.ROBOT_KEY}"}]}]})
    for form in ([], ["--json"]):
        done = call(
            "explain", "--config", path, *form, "--request", "-",
            given="GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Key: s3cr3t-key\r\n\r\n", ROBOT_KEY="s3cr3t-key")
        assert done.returncode == 0, done.stderr
        assert "s3cr3t" not in done.stdout and "X-Api-Key" in done.stdout
        assert not form or json.loads(done.stdout)["forwarded"]["url"] == "http://a.test/REDACTED"
