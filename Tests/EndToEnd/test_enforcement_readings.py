"""What servers may read in more than one way, and what leads around a decision."""

import urllib.parse

import pytest

import frames
import shop
import wire
from test_enforcement_edges import SESSION, am, client, config, resource, usher  # noqa: F401
from wire import request

GOOD = f"{shop.COOKIE}=good"


@pytest.mark.parametrize("cookie", [
    f"{GOOD}; {shop.COOKIE} =evil", f"{GOOD}; theme=dark {shop.COOKIE}=evil", f"{GOOD}; theme=dark, {shop.COOKIE}=evil",
    f"{GOOD}; {shop.COOKIE.lower()}=evil", f"{shop.COOKIE}=good x", f"{shop.COOKIE}=", f"theme=dark {shop.COOKIE}=evil",
    f'{shop.COOKIE}="good"', f"{GOOD}; {shop.COOKIE}", f"{GOOD}; iPlanetDirectoryPr%6f=evil", f"{GOOD}; {shop.COOKIE}[]=evil",
    f"{GOOD};\xa0{shop.COOKIE}=evil", f"{GOOD}; {shop.COOKIE}%00=evil"])
def test_a_session_that_may_be_read_in_several_ways(client, am, resource, cookie):  # noqa: F811
    answer = client.exchange(request("GET", f"{resource.url}/a", [("Cookie", cookie)]))
    assert answer.status == 400 and b"several" in answer.body
    assert am.asked == [] and resource.requests == []


@pytest.mark.parametrize("cookie", [
    GOOD, f"theme=dark; {GOOD}; lang=de", f"my{shop.COOKIE}=evil; {GOOD}", f"a={shop.COOKIE}; {GOOD}", f"{GOOD};{GOOD}",
    f"{shop.COOKIE}=AQIC5w.*AAJTSQ.*; x=1", f"%41={shop.COOKIE}; a.b=c; x{shop.COOKIE}%00=evil; {GOOD}"])
def test_a_session_that_may_not(client, am, resource, cookie):  # noqa: F811
    assert client.exchange(request("GET", f"{resource.url}/a", [("Cookie", cookie)])).status == 200
    assert len(am.asked) == 1


def test_what_is_led_to_where_am_has_to_be_asked(start, am, resource, origin):  # noqa: F811
    other = origin(lambda message: wire.response(200))
    place = urllib.parse.urlsplit(resource.url).netloc
    usher = start({  # noqa: F811
        **config(am, f"{resource.url}/*"),
        "interceptors": [{"name": "move", "when": {"path": "/move"}, "request": [{"set_host": place}]}]})
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        answer = app.exchange(request("GET", f"{other.url}/move", [SESSION]))
        assert answer.status == 403 and b"interceptors send the request" in answer.body
        assert app.exchange(request("GET", f"{other.url}/stay", [SESSION])).status == 200
    assert resource.requests == [] and am.asked == []


PREFLIGHT = [("Origin", "http://page.example.com"), ("Access-Control-Request-Method", "PUT")]


@pytest.mark.parametrize("field", [
    SESSION, ("Authorization", "Basic dTpw"), ("Content-Length", "0"), ("X-HTTP-Method-Override", "DELETE"),
    ("Upgrade", "websocket"), ("X-Own", "1")])
def test_a_preflight_that_no_browser_sends_is_asked_about(client, am, resource, field):  # noqa: F811
    client.exchange(request("OPTIONS", f"{resource.url}/a", [*PREFLIGHT, field]))
    assert len(am.asked) == (field == SESSION) and len(resource.requests) == (field == SESSION)


def test_a_preflight_names_no_other_method(client, am, resource):  # noqa: F811
    assert client.exchange(request("OPTIONS", f"{resource.url}/a?_method=DELETE", PREFLIGHT)).status == 400
    assert client.exchange(request("OPTIONS", f"{resource.url}/a", [("Origin", ""), PREFLIGHT[1]])).status == 403
    assert client.exchange(request("OPTIONS", f"{resource.url}/a", [
        *PREFLIGHT, ("Access-Control-Request-Headers", "x-own"), ("Sec-Fetch-Mode", "cors"), ("Accept", "*/*")])).status == 200
    assert am.asked == [] and len(resource.requests) == 1


@pytest.mark.parametrize("path, word", [("/a%3Fadmin=1", b"%3F"), ("/a%23b", b"%23")])
def test_what_may_end_a_path(client, am, resource, path, word):  # noqa: F811
    answer = client.exchange(request("GET", resource.url + path, [SESSION]))
    assert answer.status == 400 and word in answer.body, answer
    assert am.asked == [] and resource.requests == []


def test_a_semicolon_behind_a_transaction(client, am, resource):  # noqa: F811
    answer = client.exchange(request("GET", f"{resource.url}/a?_txid=x;admin=1", [SESSION]))
    assert answer.status == 400 and b"semicolon" in answer.body
    assert am.asked == [] and resource.requests == []


@pytest.mark.parametrize("path", [
    "/withdraw", "/withdraw?", "/withdraw?x=1", "/%77ithdraw?x", "/WITHDRAW?x", "/x/../withdraw?x", "//withdraw?x",
    "/withdraw;x?y", "/withdraw%3F", "/withdraw%3Fx=1"])
def test_a_question_mark_leads_past_no_glob(start, am, resource, path):  # noqa: F811
    usher = start(config(am, f"{resource.url}/withdraw"))  # noqa: F811
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        # what AM cannot be asked about by one name is refused
        answer = app.exchange(request("GET", resource.url + path, [SESSION]))
        assert (answer.status, len(am.asked)) in [(200, 1), (400, 0)], answer
        assert len(resource.requests) == len(am.asked)
        assert answer.status == 200 or path not in ["/withdraw", "/withdraw?x=1", "/%77ithdraw?x"]
        assert app.exchange(request("GET", f"{resource.url}/other?withdraw", [SESSION])).status == 200
        assert len(resource.requests) == len(am.asked) + 1


@pytest.mark.parametrize("query, is_asked", [
    ("table=a", True), ("%74able=a", True), ("x=1&table=a", True), ("table=b&table=a", True), ("Table", True),
    ("table[]=a", True), ("+table=a", True), ("table%00=a", True), ("?table=a", True), ("x=table", False), ("tables=a", False)])
def test_parameters_that_a_glob_demands(start, am, resource, query, is_asked):  # noqa: F811
    usher = start(config(am, f"{resource.url}/find?table=*"))  # noqa: F811
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        assert app.exchange(request("GET", f"{resource.url}/find?{query}", [SESSION])).status == 200
    assert len(am.asked) == is_asked


FORM = ("Content-Type", "application/x-www-form-urlencoded")


@pytest.mark.parametrize("path, fields, body", [
    ("/a", [("X-HTTP-Method-Override", "DELETE")], b""), ("/a", [("X-HTTP-Method", "PUT")], b""),
    ("/a", [("X_Method_Override", "DELETE")], b""), ("/a?x&%5Fmethod=DELETE", [], b""),
    ("/a", [FORM], b"x=1&%5Fmethod=delete"),
    ("/a", [("Content-Type", "multipart/form-data; boundary=b")],
     b'--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--\r\n'),
    ("/a", [], b"_method=DELETE"), ("/a", [FORM, ("Connection", "Content-Type")], b"_method=DELETE"),
    ("/a", [(FORM[0], f"{FORM[1]}, x")], b"_method=DELETE"), ("/a", [FORM], b"%00%0A_method=DELETE"),
    ("/a", [("Content-Type", "multipart/mixed; boundary=b; boundary=c")],
     b"--c\r\nContent-Disposition: form-data; name*=utf-8''%5Fmethod\r\n\r\nDELETE\r\n--c--\r\n"),
    ("/a", [("Content-Type", "application/json")], b'{"\\u005fmethod": "DELETE"}')])
def test_another_method_in_disguise(client, am, resource, path, fields, body):  # noqa: F811
    answer = client.exchange(request("POST", resource.url + path, [SESSION, *fields], body))
    assert answer.status == 400 and b"may name another method than POST" in answer.body, answer
    assert am.asked == [] and resource.requests == []


def test_a_form_that_is_not_kept_whole(start, am, resource):  # noqa: F811
    written = config(am, f"{resource.url}/*")
    written["authorization"]["body_limit"] = "1KiB"
    usher = start(written)  # noqa: F811
    parts = ("Content-Type", "multipart/form-data; boundary=b")
    for field, status in [(FORM, 400), (parts, 200)]:
        with wire.Connection(("127.0.0.1", usher.port)) as app:
            answer = app.exchange(request("POST", f"{resource.url}/a", [SESSION, field], b"x" * 4096))
            assert answer.status == status, answer
    assert len(am.asked) == len(resource.requests) == 1
    # what names another method does not arrive whole, however much of it has gone out
    body = b'x' * (1 << 20) + b'\r\n--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--\r\n'
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        answer = app.exchange(request("POST", f"{resource.url}/a", [SESSION, parts], body))
        assert answer.status == 400 and b"_method" in answer.body, answer
    assert len(am.asked) == 2 and len(resource.requests) == 1


def old_client(usher, authority):  # noqa: F811
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        fields = [SESSION, ("Content-Type", "text/plain"), ("Transfer-Encoding", "chunked")]
        app.send(
            request("POST", f"http://{authority}/a", fields, b"1\r\nx\r\n0\r\nX-HTTP-Method-Override: DELETE\r\n\r\n"))
        assert app.read_response().status == 200


def new_client(usher, authority):  # noqa: F811
    app = frames.prior_knowledge(usher)
    fields = [("cookie", SESSION[1]), ("content-type", "text/plain")]
    app.send(
        frames.request(1, authority, "/a", "POST", fields, end=False), frames.data(1, b"x"),
        frames.headers(1, [("x-http-method-override", "DELETE")], end=True))
    assert frames.is_ok(app.until(frames.HEADERS, 1))
    app.connection.close()


@pytest.mark.parametrize("ask", [old_client, new_client])
def test_no_trailer_goes_along(start, am, origin, ask):  # noqa: F811
    seen = []

    def serve(connection):
        head = connection.read_head()
        seen.append((head.get("transfer-encoding"), connection.read_until(b"\r\n0\r\n"), connection.read_until(b"\r\n")))
        connection.send(wire.response(body=b"ok"))

    server = origin(wire.Origin(serve))
    ask(start(config(am, f"{server.url}/*")), server.authority)
    assert seen == [("chunked", b"1\r\nx\r\n0\r\n", b"\r\n")] and len(am.asked) == 1


@pytest.mark.parametrize("fields, body", [
    ([("X-HTTP-Method-Override", "POST")], b""), ([FORM], b"method=DELETE&x=_method"),
    ([("Content-Type", "application/json")], b'{"a": {"_method": "DELETE"}}'),
    ([("Content-Type", "application/octet-stream")], b"_method=DELETE")])
def test_the_methods_own_name_is_no_disguise(client, am, resource, fields, body):  # noqa: F811
    assert client.exchange(request("POST", f"{resource.url}/a", [SESSION, *fields], body)).status == 200
    assert len(am.asked) == 1 and resource.requests[0].body == body


@pytest.mark.parametrize("name", ["X-Original-URL", "X-Rewrite-URL", "x_original_url"])
def test_another_url_in_disguise(start, am, resource, origin, name):  # noqa: F811
    other = origin(lambda message: wire.response(200))
    usher = start(config(am, f"{resource.url}/withdraw"))  # noqa: F811
    with wire.Connection(("127.0.0.1", usher.port)) as app:
        for path in ["/", "/withdraw"]:
            answer = app.exchange(request("GET", resource.url + path, [SESSION, (name, "/withdraw")]))
            assert answer.status == 400 and name.encode() in answer.body, answer
        assert app.exchange(request("GET", f"{other.url}/", [(name, "/withdraw")])).status == 200
    assert am.asked == [] and resource.requests == []
