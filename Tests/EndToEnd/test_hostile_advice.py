"""What looks like an advice and is none, and what an advice may not bring about: nobody but the configuration says at which
AM, for which tree and how often something is done in a user's session."""

import base64
import json
import urllib.parse

import pytest

import shop
from test_authorization_failures import JSON, SESSION, check_note, check_original, fake_shop, succeed
from wire import Connection, request, response

TRANSACTION = ("TransactionConditionAdvice", "a1b2c3d4-0001-4a00-8b00-000000000001")
EVIL = ("AuthenticateToServiceConditionAdvice", "/alpha:Evil")


def document(condition):
    name, value = condition
    return (
        f'<Advices><AttributeValuePair><Attribute name="{name}"/><Value>{value}</Value></AttributeValuePair></Advices>')


def query(condition=EVIL, realm="/alpha"):
    return urllib.parse.urlencode(
        {"authIndexType": "composite_advice", "realm": realm, "authIndexValue": document(condition)})


def decision(condition=TRANSACTION, **more):
    name, value = condition
    return {
        "resource": "http://shop.example.com/x", "actions": {}, "attributes": {}, "advices": {name: [value]}, "ttl": 0,
        **more}


def renewing(seen):
    """An AM that is content with anything, and hands out another session."""
    return response(200, [*JSON, ("Set-Cookie", f"{shop.COOKIE}=other.session; Path=/")], b'{"tokenId":"other.session"}')


class Stage:
    """An AM, a shop that answers as told, and a proxy between."""

    def __init__(self, start, origin, answer, resource=None, login_pages=None, **am):
        self.am = origin(renewing)
        self.shop = origin(answer)
        config = fake_shop(self.shop, self.am)
        self.am_url = config["am"][0]["url"]
        config["am"][0] |= {"realms": ["/", "/alpha"], **am}
        if login_pages:
            config["am"][0]["login_pages"] = login_pages
        if resource:
            config["authorization"]["resources"] = [{"url": f"{self.shop.url}/*", **resource}]
        self.usher = start(config)

    def ask(self, path, method="GET", fields=(), body=b""):
        with Connection(("127.0.0.1", self.usher.port)) as client:
            return client.exchange(request(method, f"{self.shop.url}{path}", [*SESSION, *fields], body))

    def left_alone(self, path, answer, status, sent=1):
        """The client got the shop's own answer, AM was never asked, and nothing was sent again."""
        assert answer.status == status
        assert answer.get("set-cookie") is None
        assert self.usher.flow(path.partition("?")[0]).access["attempts"] == sent
        assert not self.am.accepted
        assert len(self.shop.requests) == sent


# redirects


def slash(seen):
    """Adds a trailing slash and keeps the query, as file servers do for folders."""
    path, _, rest = seen.target.partition("?")
    return response(301, [("Location", f"{path}/?{rest}")])


def test_a_link_that_comes_back_as_a_redirect(start, origin):
    stage = Stage(start, origin, slash)
    answer = stage.ask(f"/api/dir?{query()}")
    assert answer.get("location").startswith("/api/dir/?authIndexType")
    stage.left_alone("/api/dir", answer, 301)


ELSEWHERE = [
    "javascript:x", "http:evil", r"\\evil\am", "//evil.example/am/", "https://evil.example/am/", "{am}.evil.example/am/",
    "http://am.localhost:1/am/", "https://am.localhost:{port}/am/", "http://am.localhost:{port}/",
    "http://am.localhost:{port}/amber/", "http://am.localhost:{port}/am/../console", "{am}/%2e%2e/console",
    "{am}/%c0%ae%c0%ae/console", "{am}/%u002e%u002e/console", "{am}/..;/console", "{am}/x/..%2f../console", "http://user@am.localhost:{port}/am/",
    r"http://am.localhost:{port}\@evil.example/am/", "ftp://am.localhost:{port}/am/", "/am/", "", "am/",
]


def test_a_body_of_json_that_comes_back_as_a_redirect(start, origin):
    stage = Stage(start, origin, lambda seen: response(302, [("Location", json.loads(seen.body)["to"])]))
    body = json.dumps({"to": f"{stage.am_url}/?{query()}"}).replace("authIndex", r"\u0061uth\u0049ndex").encode()
    stage.left_alone("/json", stage.ask("/json", "POST", [("Content-Type", "text/plain")], body), 302)


def test_a_page_that_leads_back_where_the_client_came_from(start, origin):
    stage = Stage(start, origin, lambda seen: response(302, [("Location", seen.get("referer"))]))
    stage.left_alone("/back", stage.ask("/back", fields=[("Referer", f"{stage.am_url}/?{query()}")]), 302)


@pytest.mark.parametrize("location", ELSEWHERE)
def test_a_redirect_to_anywhere_else(start, origin, location):
    place = {}
    stage = Stage(start, origin, lambda _: response(302, [("Location", place["location"])]))
    place["location"] = location.format(am=stage.am_url, port=stage.am.port) + "?" + query(TRANSACTION, "/")
    answer = stage.ask("/elsewhere")
    assert answer.get("location") == place["location"]
    stage.left_alone("/elsewhere", answer, 302)


HERE = ["{am}", "{am}/", "{am}/XUI/", "http://AM.localhost:{port}/am/x/../UI/Login", "//am.localhost:{port}/am/"]


@pytest.mark.parametrize("location", HERE)
def test_a_redirect_to_am(start, origin, location):
    place = {}
    stage = Stage(start, origin, lambda seen: response(200, body=b"granted") if "_txid" in seen.target else response(
        302, [("Location", place["location"])]))
    place["location"] = location.format(am=stage.am_url, port=stage.am.port) + "?" + query(TRANSACTION, "/")
    assert stage.ask("/here").status == 200
    assert len(stage.am.requests) == 1


@pytest.mark.parametrize("code, method, status, sent", [
    (303, "POST", 303, 1), (303, "GET", 200, 2), (302, "POST", 200, 2), (307, "POST", 200, 2)])
def test_a_see_other_says_that_it_was_done(start, origin, code, method, status, sent):
    """Of the redirects 303 alone tells that the request was carried out; agents and gateways answer with others."""
    place = {}
    stage = Stage(start, origin, lambda seen: response(200) if "_txid" in seen.target else response(
        code, [("Location", place["location"])]))
    place["location"] = f"{stage.am_url}/?{query(TRANSACTION, '/')}"
    answer = stage.ask("/other", method, body=b"pay" if method == "POST" else b"")
    assert answer.status == status
    if sent == 1:
        stage.left_alone("/other", answer, 303)
    assert len(stage.shop.requests) == sent


@pytest.mark.parametrize("path, status", [
    ("/sign-in", 200), ("/sign-in/x", 200), ("/sign-in-not", 302), ("/", 302), ("/sign-in/../x", 302)])
def test_login_pages_elsewhere(start, origin, path, status):
    stage = Stage(
        start, origin, lambda seen: response(200) if "_txid" in seen.target else response(
            302, [("Location", f"https://login.example.com{path}?{query(TRANSACTION, '/')}")]),
        login_pages=["https://login.example.com/sign-in/"])
    assert stage.ask("/login").status == status
    assert len(stage.am.requests) == (1 if status == 200 else 0)


ECHOES = [
    ("GET", "?" + query(), b""), ("GET", "?AUTHINDEXTYPE=x", b""), ("GET", "?%61uthIndex%54ype=x", b""),
    ("GET", "?%2561uthIndexType=x", b""), ("GET", "?a=b;authIndexType=x", b""), ("GET", "?goto=x", b""),
    ("GET", "?a&GoTo", b""), ("GET", "?%67oto=x", b""), ("GET", "?to=http%3A%2F%2Fam%2F%3FauthIndexType%3Dx", b""),
    ("GET", "/to/" + urllib.parse.quote("http://am/?authIndexType=x", safe=""), b""),
    ("POST", "", b"a=b&authIndexType=x"), ("POST", "", b"%61uthindextype=x"), ("POST", "", b"goto=x"),
    ("POST", "", b'--x\r\nContent-Disposition: form-data; name="goto"\r\n\r\nx\r\n--x--'),
    ("POST", "", b'{"to":"http://am/?authIndexType=x"}'),
]


@pytest.mark.parametrize("method, rest, body", ECHOES)
def test_a_request_that_speaks_of_an_advice_itself(start, origin, method, rest, body):
    """An open redirect leads to AM itself, and whoever made the link chose the tree."""
    place = {}
    stage = Stage(start, origin, lambda _: response(302, [("Location", f"{place['am']}/?{query(TRANSACTION, '/')}")]))
    place["am"] = stage.am_url
    answer = stage.ask(f"/echo{rest}", method, body=body)
    stage.left_alone("/echo", answer, 302)
    check_note(stage.usher, "/echo", "the request itself")


# bodies


def as_json(value, status=200):
    return lambda _: response(status, JSON, json.dumps(value).encode())


def test_data_in_an_answer(start, origin):
    """A list of notes that users wrote; one of them wrote a decision."""
    stage = Stage(start, origin, as_json([decision(EVIL)]))
    answer = stage.ask("/notes", "POST", body=b"a note")
    assert json.loads(answer.body) == [decision(EVIL)]
    stage.left_alone("/notes", answer, 200)


NO_DECISIONS = [
    [{"note": "x"}, decision()], [decision(), {"note": "x"}], [decision(author="eve")], {"notes": [decision()]},
    [[decision()]], {key: value for key, value in decision().items() if key != "attributes"}, decision(resource=7),
    [decision(), 7], decision(actions={"GET": True}),
]


@pytest.mark.parametrize("body", NO_DECISIONS, ids=range(len(NO_DECISIONS)))
def test_a_body_that_is_not_wholly_decisions(start, origin, body):
    stage = Stage(start, origin, as_json(body), {"advice": ["header", "redirect", "body"], "replay": "any"})
    answer = stage.ask("/body", "POST", body=b"x")
    assert json.loads(answer.body) == body
    stage.left_alone("/body", answer, 200)


def granting(value, status=200):
    """Grants where an id is shown."""
    return lambda seen: response(200, body=b"granted") if seen.get("x-txid") else as_json(value, status)(seen)


@pytest.mark.parametrize("method, replay, status, repeated", [
    ("GET", None, 200, True), ("POST", None, 200, False), ("DELETE", None, 200, False),
    ("PUT", "safe", 200, False), ("POST", "any", 200, True), ("POST", None, 403, True), ("POST", "safe", 403, False)])
def test_what_was_carried_out_is_not_done_twice(start, origin, method, replay, status, repeated):
    stage = Stage(
        start, origin, granting([decision()], status), {"advice": "body", **({"replay": replay} if replay else {})})
    answer = stage.ask("/twice", method, body=b"" if method == "GET" else b"x")
    assert answer.status == (200 if repeated else status)
    assert len(stage.shop.requests) == (2 if repeated else 1)
    assert len(stage.am.requests) == (1 if repeated else 0)
    if not repeated:
        check_note(stage.usher, "/twice", "replay: (any|safe)")


@pytest.mark.parametrize("trees, named, allowed", [
    (None, "StepUp", False), ([], "StepUp", False), (["StepUp"], "StepUp", True), (["StepUp"], "/alpha:StepUp", True),
    (["StepUp"], "/beta:StepUp", False), (["/beta:StepUp"], "/beta:StepUp", True), (["Step*"], "Stepped", True),
    (["StepUp"], "Evil", False), (["/alpha:StepUp"], "StepUp", False)])
def test_trees_of_a_body(start, origin, trees, named, allowed):
    resource = {"advice": "body"} | ({} if trees is None else {"trees": trees})
    condition = ("AuthenticateToServiceConditionAdvice", named)
    stage = Stage(start, origin, lambda seen: response(200, body=b"granted") if seen.get("x-tree") else (
        as_json(decision(condition))(seen)), resource)
    answer = stage.ask("/trees")
    if allowed:
        assert answer.body == b"granted"
        assert len(stage.am.requests) == 1
    else:
        stage.left_alone("/trees", answer, 200)
        check_note(stage.usher, "/trees", "trees")


def challenge(condition, realm="/"):
    name, value = condition
    advices = base64.b64encode(json.dumps({name: [value]}).encode()).decode()
    return ("WWW-Authenticate", f'SSOADVICE realm="{realm}",advices="{advices}"')


@pytest.mark.parametrize("resource, tree, realm, allowed", [
    ({}, "Any", "/", True), ({}, "/alpha:Any", "/", True), ({}, "/beta:Any", "/", False), ({}, "Any", "/beta", False),
    ({}, "Any", "/ALPHA", True), ({"trees": ["StepUp"]}, "StepUp", "/", True), ({"trees": ["StepUp"]}, "Evil", "/", False),
    ({"trees": []}, "StepUp", "/", False), ({"advice": "redirect"}, "StepUp", "/", False)])
def test_trees_of_a_challenge(start, origin, resource, tree, realm, allowed):
    advice = challenge(("AuthenticateToServiceConditionAdvice", tree), realm)
    stage = Stage(start, origin, lambda seen: response(200) if "other.session" in seen.get("cookie") else (
        response(401, [advice])), resource)
    answer = stage.ask("/challenge")
    if allowed:
        assert answer.status == 200
        assert "/realms/root/" in stage.am.requests[0].target
        assert ("/realms/alpha/" in stage.am.requests[0].target) == (realm == "/ALPHA")
    else:
        stage.left_alone("/challenge", answer, 401)


@pytest.mark.parametrize("path, counts", [
    ("/am/json/realms/root/policies?_action=evaluate", True), ("/am/json/policies?_action=evaluate", True),
    ("/other/json/policies?_action=evaluate", False), ("/am/json/policies?_action=evaluate&_action=create", False),
    ("/am/json/policies?_action=create", False), ("/am/../x/json/policies?_action=evaluate", False),
    ("/am/json/policies/..;/policies?_action=evaluate", False)])
def test_policy_evaluations_are_those_of_am(start, origin, path, counts):
    """The configured AM's decisions count unasked, and its evaluations change nothing however often they are sent."""
    def am(seen):
        if "authenticate" in seen.target:
            return renewing(seen)
        return response(200, JSON, json.dumps([decision(actions={"GET": b"TxId" in seen.body})]).encode())

    server = origin(am)
    url = f"http://am.localhost:{server.port}"
    usher = start({
        "am": [{"url": f"{url}/am"}], "authorization": {
            "resources": [{"url": f"{url}/*", "replay": "safe"}], "answers": []}})
    question = json.dumps({"resources": ["r"], "subject": {"ssoToken": "secret.token"}}).encode()
    with Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(request("POST", url + path, [*SESSION, *JSON], question))
    assert json.loads(answer.body) == [decision(actions={"GET": counts})]
    assert len(server.requests) == (3 if counts else 1)


def test_a_policy_evaluation_at_another_port(start, origin):
    other = origin(as_json([decision()]))
    am = origin(renewing)
    url = f"http://am.localhost:{other.port}/am/json/policies?_action=evaluate"
    config = fake_shop(other, am)
    config["authorization"]["resources"] = [f"http://am.localhost:{other.port}/*"]
    usher = start(config)
    with Connection(("127.0.0.1", usher.port)) as client:
        answer = client.exchange(request("POST", url, [*SESSION, *JSON], b'{"subject":{"ssoToken":"x"}}'))
    assert json.loads(answer.body) == [decision()]
    assert not am.accepted and len(other.requests) == 1


# resources


CLIMBING = [
    "/api/../admin", "/api/%2e%2e/admin", "/api/%2E./admin", "/api/..%2fadmin", "/api/..%2Fadmin", "/api/..;/admin",
    "/api/..;x=y/admin", "/api/%2e%2e%3b/admin", r"/api/..\admin", "/api/..%5cadmin", "/api/%252e%252e/admin",
    "/api//../../admin", "/api/./../admin", "/api/x/../../admin", "/api/%2e%2e/admin/..;/api/x",
    "/api/%2e%2e/admin/%2e%2e/../api/x", "/api/x%00/../../admin",
    "/admin", "//api/x", "/API/x", "/api;x/y",
]


@pytest.mark.parametrize("path", CLIMBING)
def test_a_path_that_leads_out_of_the_resource(start, origin, path):
    am = origin(succeed)
    gate = origin(lambda _: response(401, [challenge(TRANSACTION), ("X-Original", "1")], b"original"))
    config = fake_shop(gate, am)
    config["authorization"]["resources"] = [f"{gate.url}/api/*"]
    usher = start(config)
    with Connection(("127.0.0.1", usher.port)) as client:
        check_original(client.exchange(request("GET", gate.url + path, SESSION)))
    assert not am.accepted
    assert [seen.target for seen in gate.requests] == [path]


@pytest.mark.parametrize("path", ["/api/x", "/api/caf%c3%a9", "/api/a/../b", "/api/a;v=1/b", "/api/a//b", "/api/100%25"])
def test_a_path_that_stays_in_the_resource(start, origin, path):
    am = origin(succeed)
    gate = origin(lambda seen: response(200) if "_txid" in seen.target else response(401, [challenge(TRANSACTION)]))
    config = fake_shop(gate, am)
    config["authorization"]["resources"] = [f"{gate.url}/api/*"]
    usher = start(config)
    with Connection(("127.0.0.1", usher.port)) as client:
        assert client.exchange(request("GET", gate.url + path, SESSION)).status == 200
    assert [seen.target.partition("?")[0] for seen in gate.requests] == [path, path]


def test_what_cannot_be_sent_again_costs_no_approval(start, origin):
    """Bytes that are no UTF-8 cannot be kept beside an id in the query: that is known before AM is asked."""
    stage = Stage(start, origin, lambda _: response(401, [challenge(TRANSACTION), ("X-Original", "1")], b"original"))
    with Connection(("127.0.0.1", stage.usher.port)) as client:
        client.send(b"GET " + stage.shop.url.encode() + b"/odd/\xe4 HTTP/1.1\r\nHost: x\r\nCookie: " + (
            SESSION[0][1].encode() + b"\r\n\r\n"))
        check_original(client.read_response())
    assert not stage.am.accepted and len(stage.shop.requests) == 1


# a loop that others wait on


def test_a_huge_body_is_not_read_for_an_advice(start, origin):
    """Not one byte of it is held where no advice could be in it."""
    body = b"[" + b"1," * 500_000 + b"1]"
    stage = Stage(start, origin, lambda _: response(200, JSON, body), {"advice": ["header", "body"]})
    answer = stage.ask("/numbers")
    assert answer.body == body
    stage.left_alone("/numbers", answer, 200)
