"""A test brings its own world to the sandbox: users, trees, clients and policies, in a document and by the admin API."""

import base64
import hashlib
import hmac
import json
import subprocess
import time

import pytest
import requests

import people
import programs

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DP"
WORLD = {
    "users": [{"name": "alice", "password": "s3cret-alice", "totp": SECRET}],
    "clients": [{"id": "till", "secret": "hush-till", "redirect_uris": ["https://till.example.com/back"]}],
    "policies": [{"name": "till", "path": "/shop/till/*", "requires": [{"level": 3}, {"transaction": "Approve"}]}],
    "trees": [
        {"name": "Till", "level": 3, "pages": [
            {"callbacks": [
                {"type": "NameCallback", "prompt": "Cashier", "check": "user"},
                {"type": "PasswordCallback", "prompt": "Pin", "check": "password"}]},
            {"callbacks": [{"type": "NameCallback", "prompt": "Code", "check": "totp"}], "on_failure": "lock", "tries": 3}]},
        {"name": "Approve", "pages": [{"callbacks": [
            {"type": "ChoiceCallback", "prompt": "Pay?", "choices": ["Yes", "No"], "default": 1, "answer": "Yes"}]}]}]}


def code(step=0):
    """A one-time password (RFC 6238)."""
    counter = (int(time.time()) // 30 + step).to_bytes(8, "big")
    digest = hmac.new(base64.b32decode(SECRET), counter, hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(int.from_bytes(digest[offset:offset + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


@pytest.fixture
def client():
    session = requests.Session()
    session.trust_env = False
    return session


class AM:
    def __init__(self, client, sandbox):
        self.client, self.url = client, f"{sandbox.direct}/am/json/realms/root/authenticate"
        self.admin = f"{sandbox.direct}/sandbox/admin"

    def start(self, **query):
        return self.client.post(
            self.url, params=query, headers={"Accept-API-Version": "resource=2.1, protocol=1.0"})

    def answer(self, page, *values):
        step = page.json()
        for callback, value in zip(step["callbacks"], values):
            callback["input"][0]["value"] = value
        return self.client.post(self.url, json=step, headers={"Accept-API-Version": "resource=2.1, protocol=1.0"})

    def put(self, path, value):
        return self.client.put(f"{self.admin}/{path}", json=value)


@pytest.fixture
def am(own_sandbox, client, tmp_path):
    path = tmp_path / "journeys.yaml"
    path.write_text(json.dumps(WORLD))
    return AM(client, own_sandbox("--journeys", str(path), "--admin"))


def signed_in(am):
    page = am.answer(am.start(authIndexType="service", authIndexValue="Till"), "alice", "s3cret-alice")
    assert [c["output"][0]["value"] for c in page.json()["callbacks"]] == ["Code"], page.text
    done = am.answer(page, code())
    assert done.status_code == 200, done.text
    return done.json()["tokenId"]


def test_a_world_of_a_document(am):
    shop = am.admin.removesuffix("/sandbox/admin") + "/shop/till/7"
    answer = am.client.get(shop, headers={"x-authenticate-response": "header"}, cookies={
        "iPlanetDirectoryPro": signed_in(am)})
    assert answer.status_code == 401 and "advices=" in answer.headers["WWW-Authenticate"]
    token = am.client.post(
        am.url.replace("/json/realms/root/authenticate", "/oauth2/access_token"), auth=("till", "hush-till"),
        data={"grant_type": "client_credentials", "scope": "pay"})
    assert token.status_code == 200 and token.json()["scope"] == "pay"


def test_three_wrong_codes_lock_the_user_out(am):
    page = am.answer(am.start(authIndexType="service", authIndexValue="Till"), "alice", "s3cret-alice")
    for _ in range(3):
        page = am.answer(page, "0000000")
    assert page.status_code == 401 and page.json()["detail"]["errorCode"] == "112"
    assert am.client.post(f"{am.admin}/reset").status_code == 200
    signed_in(am)


def test_a_world_by_the_admin_api(am):
    assert am.put("users/bob", {"name": "bob", "password": "s3cret-bob"}).status_code == 201
    page = am.start()
    assert am.answer(page, "bob", "s3cret-bob").status_code == 200
    assert am.client.patch(f"{am.admin}/users/bob", json={"password": "other"}).status_code == 200
    assert am.answer(am.start(ForceAuth="true"), "bob", "other").status_code == 200
    refused = am.put("trees/Odd", {"name": "Odd", "pages": [{"callbacks": [{"type": "NameCallback", "check": "usr"}]}]})
    assert refused.status_code == 400
    fault = refused.json()["detail"]["faults"][0]
    assert fault.startswith("body:1:") and 'did you mean "user"?' in fault
    assert am.client.delete(f"{am.admin}/users/bob").status_code == 200
    document = am.client.get(f"{am.admin}/document").json()
    assert [user["name"] for user in document["users"]] == ["alice"]
    assert am.put("document", {"users": []}).json() == {"users": [], "clients": [], "policies": [], "trees": []}
    assert am.start(authIndexType="service", authIndexValue="Till").status_code == 400


def test_usher_answers_a_tree_of_a_document(am, start, through):
    shop = "http://shop.localhost:" + am.admin.split(":")[2].split("/")[0]
    server = shop.replace("shop.", "am.") + "/am"
    usher = start({
        "am": [{"url": server, "realms": ["/"]}],
        "authorization": {
            "resources": [f"{shop}/shop/*"],
            "answers": [
                {"callback": "NameCallback", "prompt": "Cashier", "value": "alice"},
                {"callback": "PasswordCallback", "value": "s3cret-alice"},
                {"callback": "NameCallback", "prompt": "Code", "totp": SECRET},
                {"callback": "ChoiceCallback", "choose": "Yes"}]}})
    am.put("policies/till", {"name": "till", "path": "/shop/till/*", "requires": {"transaction": "Approve"}})
    answer = through(usher).get(f"{shop}/shop/till/7", headers={"Cookie": f"iPlanetDirectoryPro={signed_in(am)}"})
    assert answer.status_code == 200 and answer.json()["user"] == "alice", usher.lines[-5:]


def test_an_invalid_document_is_refused_with_its_places(binary, tmp_path):
    path = tmp_path / "journeys.yaml"
    path.write_text("users:\n  - { name: alice, pasword: x }\ntrees:\n  - { name: T, pages: [{ page: totpp }] }\n")
    done = subprocess.run(
        [binary, "sandbox", "--listen", "127.0.0.1:0", "--journeys", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert f'{path}:2:20: error: unknown key "pasword" in users[0]; did you mean "password"?' in done.stderr + done.stdout
    assert f"{path}:4:32: error: trees[0].pages[0].page takes" in done.stderr + done.stdout
    assert 'found "totpp"; did you mean "totp"?' in done.stderr + done.stdout


def test_without_the_switch_nothing_is_changed(sandbox, client):
    answer = client.put(f"{sandbox.direct}/sandbox/admin/document", json={})
    assert answer.status_code == 404 and "--admin" in answer.text


def test_a_recorded_login_becomes_a_tree(own_sandbox, start, through, binary, state, tmp_path, client):
    first = own_sandbox()
    usher = start({"am": [{"url": first.am, "realms": ["/"]}]}, state=state)
    recorded = AM(through(usher), first)
    recorded.url = f"{first.am}/json/realms/root/authenticate"
    page = recorded.start(authIndexType="service", authIndexValue="StepUp")
    page = recorded.answer(page, "demo")
    assert recorded.answer(page, "changeit").status_code == 200
    person = people.Person(binary, state)
    rows = programs.eventually(lambda: person.says("journeys", "--json").stdout, "the journey")
    done = person.says("journey", "tree", json.loads(rows.splitlines()[0])["id"])
    document = json.loads(done.stdout)
    assert document == {"trees": [{"name": "StepUp", "header": "Sign in again", "pages": [
        {"callbacks": [{"type": "NameCallback", "prompt": "User Name", "check": "user"}]},
        {"callbacks": [{"type": "PasswordCallback", "prompt": "Password", "check": "password"}]}]}]}
    path = tmp_path / "journeys.yaml"
    path.write_text(done.stdout)
    again = AM(client, own_sandbox("--journeys", str(path)))
    page = again.answer(again.start(authIndexType="service", authIndexValue="StepUp"), "demo")
    assert again.answer(page, "changeit").status_code == 200
