"""Tokens by the code flow on a session that the request does not carry: one of Usher's own login, or learned."""

import shop

BACK = "http://app.localhost/cb"
ANSWERS = [{"callback": "NameCallback", "value": "demo"}, {"callback": "PasswordCallback", "value": "changeit"}]


def api(sandbox, path="x"):
    return f"http://plain.localhost:{sandbox.port}/api/{path}"


def config(sandbox, **authorization):
    return {
        "am": [{"url": sandbox.am, "realms": ["/"]}],
        "authorization": {"am": sandbox.am, "resources": [api(sandbox, "*")], **authorization},
        "tokens": [{
            "resources": [api(sandbox, "*")], "bearer": "code", "client": {"id": "app"}, "redirect_uri": BACK, "scope": "openid"}]}


def test_a_token_on_a_session_of_ushers_own(start, own_sandbox, through):
    sandbox = own_sandbox()
    usher = start(config(sandbox, session="login", login={"tree": "Login", "answers": ANSWERS}))
    app = through(usher)
    before = shop.status(sandbox)
    assert [app.get(api(sandbox, f"{n}"), timeout=10).status_code for n in range(3)] == [200] * 3
    after = shop.status(sandbox)
    assert after["sessions"]["created"] - before["sessions"]["created"] == 1
    usher.flow("/api/2")
    told = [event["text"] for flow in usher.flows("/api/") for event in flow.events]
    assert len([text for text in told if text.startswith("EXCHANGE_TOKEN")]) == 1


def test_a_token_on_a_session_that_was_learned(start, own_sandbox, through):
    sandbox = own_sandbox()
    usher = start(config(sandbox, session="learned"))
    app = through(usher)
    answer = app.get(api(sandbox), timeout=10)
    assert answer.status_code == 401
    usher.flow("/api/x")
    assert "and Usher has none for it" in str(usher.flows("/api/x")[0].events)

    url = f"{sandbox.am}/json/realms/root/authenticate"
    step = app.post(url, headers={"Accept-API-Version": "protocol=1.0,resource=2.1"}, timeout=10).json()
    for callback in step["callbacks"]:
        callback["input"][0]["value"] = "demo" if callback["type"] == "NameCallback" else "changeit"
    assert "tokenId" in app.post(url, json=step, timeout=10).json()
    app.cookies.clear()
    assert app.get(api(sandbox), timeout=10).status_code == 200


def test_without_an_entry_that_has_sessions_there_is_none(start, own_sandbox, through):
    sandbox = own_sandbox()
    usher = start(config(sandbox))
    assert through(usher).get(api(sandbox), timeout=10).status_code == 401
    usher.flow("/api/x")
    assert "the request carries no session (cookie or header iPlanetDirectoryPro); " in str(usher.flows("/api/x")[0].events)
