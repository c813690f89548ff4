"""Which hosts Usher may reach at all, and what it may do to each."""

import people
from tenant import Tenant
from wire import Connection, request


def host(server, name):
    return f"http://{name}.localhost:{server.port}"


STAGING = {"hosts": "*.staging.localhost", "label": "staging"}
PRODUCTION = {"hosts": ["*.localhost"], "label": "production", "allow": "observe"}


def ask(usher, url, method="GET"):
    with Connection(("127.0.0.1", usher.port)) as connection:
        return connection.exchange(request(method, url))


def test_only_the_named_hosts_are_reached(start, origin):
    server = origin()
    usher = start({"guard": {"only": "*.staging.localhost", "never": "old.staging.localhost"}})
    assert ask(usher, host(server, "shop.staging")).status == 200
    for name, key in [("shop", "no entry of guard.only fits"), ("old.staging", "guard.never holds old.staging.localhost")]:
        answer = ask(usher, host(server, name))
        assert answer.status == 403 and key in answer.body.decode()
        assert "destination_ip_prohibited" in answer.get("proxy-status")
    assert len(server.requests) == 1
    with Connection(("127.0.0.1", usher.port)) as connection:
        connection.send(request("CONNECT", f"shop.localhost:{server.port}"))
        answer = connection.read_response("CONNECT")
    assert answer.status == 403 and "guard.only" in answer.body.decode()


def test_other_hosts_pass_where_nothing_is_said_of_them(start, origin):
    server = origin()
    for guard in [{"never": "old.localhost"}, {"only": "a.localhost", "never": "old.localhost", "unknown": "pass"}]:
        usher = start({"guard": guard})
        assert [ask(usher, host(server, name)).status for name in ("shop", "old")] == [200, 403]


def test_an_edit_leads_to_no_host_beyond_the_guard(start, origin):
    server = origin()
    usher = start({
        "guard": {"only": "a.localhost"}, "destinations": {"allow": ["*", "b.localhost"]},
        "interceptors": [{"name": "move", "request": [{"set_host": "b.localhost"}]}]})
    answer = ask(usher, host(server, "a"))
    assert answer.status == 403 and "guard.only" in answer.body.decode() and not server.requests


def test_a_reload_closes_the_way_to_a_host(start, origin, write_config, binary, state):
    server = origin()
    usher = start({"workers": 1}, state=state)
    with Connection(("127.0.0.1", usher.port)) as connection:
        assert connection.exchange(request("GET", host(server, "shop"))).status == 200
        write_config({"workers": 1, "guard": {"only": "a.localhost"}}, usher.config.name)
        assert people.Person(binary, state).says("reload").stdout == "generation 2: guard.only changed\n"
        assert connection.exchange(request("GET", host(server, "shop"))).status == 403
    assert len(server.requests) == 1


def test_what_an_environment_refuses_is_not_done_there(start, origin):
    server = origin()
    usher = start({
        "environments": [STAGING, PRODUCTION],
        "interceptors": [{"name": "mark", "request": [{"set_header": {"X-Test": "1"}}], "response": [{"set_status": 418}]}]})
    assert ask(usher, host(server, "shop.staging")).status == 418
    assert ask(usher, host(server, "shop")).status == 200
    assert [got.get("x-test") for got in server.requests] == ["1", None]
    assert any("not applied: environment production does not allow edit" in said
               for said in usher.said(host(server, "shop"), "interceptor"))


def test_a_request_that_a_mock_would_have_kept_does_not_go_out(start, origin):
    server = origin()
    usher = start({
        "environments": [STAGING, PRODUCTION],
        "interceptors": [
            {"name": "pay", "when": {"path": "/pay"}, "request": [{"respond": {"status": 201}}]},
            {"name": "broken", "when": {"path": "/broken"}, "request": [{"fault": "reset"}]},
            {"name": "named", "when": {"path": "/named"}, "fault": "gateway-unavailable"}]})
    assert ask(usher, host(server, "shop.staging") + "/pay", "POST").status == 201
    for path, power in [("/pay", "mock"), ("/broken", "fault"), ("/named", "fault")]:
        answer = ask(usher, host(server, "shop") + path)
        assert answer.status == 403 and f"environment production does not allow {power}" in answer.body.decode()
        assert "http_request_denied" in answer.get("proxy-status")
    assert not server.requests


def test_edits_do_not_lead_a_request_into_an_environment_that_refuses_them(start, origin):
    server = origin()
    usher = start({
        "environments": [STAGING, PRODUCTION],
        "interceptors": [{"name": "move", "when": {"host": "*.staging.localhost"}, "request": [{"set_host": "shop.localhost"}]}]})
    answer = ask(usher, host(server, "shop.staging"))
    assert answer.status == 403 and "interceptors have sent the request to shop.localhost" in answer.body.decode()
    assert not server.requests


def test_no_step_up_where_the_environment_refuses_it(start, origin):
    tenant = Tenant(origin)
    config = tenant.config(resources=[f"http://*.localhost:{tenant.origin.port}/*"])
    usher = start({**config, "environments": [STAGING, {**PRODUCTION, "hosts": "shop.localhost"}]})
    with Connection(("127.0.0.1", usher.port)) as connection:
        answer = connection.exchange(request(
            "GET", f"{tenant.shop}/each", fields=[("Cookie", f"iPlanetDirectoryPro={tenant.sign_in('alice')}")]))
    assert answer.status != 200 and not tenant.calls
    assert usher.said("/each", "note") == ["no step-up: environment production does not allow step_up"]


def test_a_rate_over_all_clients_and_hosts_of_an_environment(start, origin):
    server = origin()
    usher = start({"environments": [{**STAGING, "rate": "3/h"}, PRODUCTION]})
    names = ["a.staging", "b.staging"] * 3 + ["shop"] * 3
    answers = [ask(usher, host(server, name)) for name in names]
    assert [answer.status for answer in answers] == [200] * 3 + [429] * 3 + [200] * 3
    assert "environment staging lets no more through than 3/h" in answers[3].body.decode()
    assert int(answers[3].get("retry-after")) > 1000


def test_status_and_explain_tell_of_environments(start, binary, state, call):
    usher = start({"environments": [{**STAGING, "rate": "3/h"}, PRODUCTION]}, state=state)
    told = people.Person(binary, state).says("status").stdout
    assert "staging: observe, edit, mock, fault, replay, step_up, 3/h at most" in told and "production: observe" in told
    done = call("explain", "--config", usher.config, "curl http://shop.localhost/")
    assert "Environment  production: observe" in done.stdout
