"""Recordings: exchanges as a folder of files, and a server that plays them in place of AM."""

import base64
import hashlib
import json
import re
import secrets
import urllib.parse

import pytest
import requests
import yaml

import programs
import shop
from admin import CONFIG, TOKEN, Port


class ReplayServer(programs.Program):
    def __init__(self, binary, folder, *switches):
        super().__init__([binary, "replay-server", folder, "--listen", "127.0.0.1:0", *switches])
        self.port = self.ports("replay-server", 1)[0]
        self.url = f"http://127.0.0.1:{self.port}"


@pytest.fixture
def replay_server(binary):
    running = []

    def run(folder, *switches):
        running.append(ReplayServer(binary, folder, *switches))
        return running[-1]

    yield run
    for program in running:
        assert program.stop() == 0


@pytest.fixture
def staging(start, sandbox, call, tmp_path):
    """A daemon with an admin port, and the verb `usher record` for it."""
    class Staging:
        def __init__(self, config=None):
            self.usher = start({"workers": 1, **CONFIG, "am": [{"url": sandbox.am}], **(config or {})},
                               environment={"ADMIN_TOKEN": TOKEN})
            self.admin = Port(self.usher)
            self.folder = tmp_path / "checkout"

        def call(self, *words, **variables):
            return call(*words, USHER_URL=self.admin.url, USHER_TOKEN=TOKEN, **variables)

        def record(self, *words):
            return self.call("record", *words)

        def client(self):
            client = requests.Session()
            client.trust_env = False
            client.proxies = {"http": self.usher.url}
            return client

        def recorded(self, use, flows):
            """The folder of what `use` does with a client through the daemon."""
            assert self.record("start", "checkout").returncode == 0
            use(self.client())
            waited = self.call("flows", "--wait", str(flows))
            assert waited.returncode == 0, waited.stderr
            done = self.record("stop", "checkout", "--output", self.folder)
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            assert done.stdout.startswith(f"{flows} exchanges are in ")
            return self.folder

    return Staging


def oauth(client, am, password="changeit"):
    """A login with a tree, an authorization code with PKCE, tokens, who the user is; what an app keeps of it."""
    session = shop.sign_in(client, am, password=password)
    verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    redirect = "http://127.0.0.1:8080/callback"
    answer = client.get(f"{am}/oauth2/authorize", timeout=10, allow_redirects=False, params={
        "client_id": "app", "response_type": "code", "scope": "openid profile", "redirect_uri": redirect,
        "state": state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256"},
        headers={"Cookie": f"{shop.COOKIE}={session}"})
    assert answer.status_code == 302, answer.text
    given = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))
    assert given["state"] == state
    tokens = client.post(f"{am}/oauth2/access_token", timeout=10, data={
        "grant_type": "authorization_code", "code": given["code"], "redirect_uri": redirect,
        "client_id": "app", "code_verifier": verifier})
    assert tokens.status_code == 200, tokens.text
    tokens = tokens.json()
    user = client.get(
        f"{am}/oauth2/userinfo", timeout=10, headers={"Authorization": f"Bearer {tokens['access_token']}"})
    assert user.status_code == 200, user.text
    claims = json.loads(base64.urlsafe_b64decode(tokens["id_token"].split(".")[1] + "=="))
    assert claims["nonce"] == nonce and claims["aud"] == "app"
    return {"session": session, "user": user.json(), "claims": claims, **tokens}


def plain():
    client = requests.Session()
    client.trust_env = False
    return client


def test_a_login_is_recorded_without_its_secrets_and_played_with_new_ones(staging, sandbox, replay_server, call):
    real = {}
    folder = staging().recorded(lambda client: real.update(oauth(client, sandbox.am)), 5)
    written = "".join(path.read_text() for path in folder.iterdir())
    for secret in ("session", "access_token", "id_token", "refresh_token"):
        assert real.get(secret, real["session"]) not in written
    assert "changeit" not in written
    index = yaml.safe_load((folder / "recording.yaml").read_text())
    assert (index["version"], len(index["exchanges"])) == (1, 5)
    assert call("record", "test", folder).returncode == 0

    server = replay_server(folder)
    # at the recorded name, and at the server's own address
    first = oauth(plain(), f"{server.url}/am")
    second = oauth(plain(), f"{server.url}/am")
    assert first["user"] == second["user"] == real["user"]
    for name in ("session", "access_token", "id_token"):
        assert len({given[name] for given in (real, first, second)}) == 3
    assert first["claims"]["iss"].startswith(server.url)
    through = plain()
    through.proxies = {"http": server.url}
    assert oauth(through, sandbox.am)["claims"]["iss"].startswith(sandbox.am)
    keys = plain().get(f"{server.url}/am/oauth2/connect/jwk_uri", timeout=10).json()["keys"]
    assert keys[0]["alg"] == "ES256"


def test_what_fits_nothing_gets_501_with_the_nearest_exchange(staging, sandbox, replay_server):
    folder = staging().recorded(lambda client: oauth(client, sandbox.am), 5)
    am = f"{replay_server(folder).url}/am"
    answer = plain().post(
        f"{am}/json/realms/root/authenticate?authIndexType=service&authIndexValue=Other", timeout=10,
        headers={"Content-Type": "application/json"})
    assert answer.status_code == 501
    detail = answer.json()["detail"]
    assert detail["nearest"].startswith("001-")
    assert detail["differences"] == [{"place": "query.authIndexValue", "recorded": "Login", "sent": "Other"}]
    foreign = plain().get(f"{am}/oauth2/userinfo", headers={"Authorization": "Bearer mine"}, timeout=10)
    assert foreign.status_code == 501 and "header.authorization" in foreign.text
    assert "mine" not in foreign.text
    loose = f"{replay_server(folder, '--mode', 'loose').url}/am"
    assert plain().get(f"{loose}/oauth2/userinfo", headers={"Authorization": "Bearer mine"}, timeout=10).ok


def test_a_wrong_password_is_refused_again_in_each_walk(staging, sandbox, replay_server):
    def use(client, am=sandbox.am):
        with pytest.raises(AssertionError, match="Unauthorized"):
            shop.sign_in(client, am, password="wrong")
        return shop.sign_in(client, am)

    am = f"{replay_server(staging().recorded(use, 4)).url}/am"
    assert use(plain(), am) != use(plain(), am)


def test_an_interceptor_answers_from_a_recording(staging, sandbox, start, origin, tmp_path):
    folder = staging().recorded(lambda client: oauth(client, sandbox.am), 5)

    def through(mode):
        usher = start({"interceptors": [{"name": "am", "recording": {"folder": str(folder), "mode": mode}}]})
        client = plain()
        client.proxies = {"http": usher.url}
        return client

    before = shop.status(sandbox)
    client = through("strict")
    assert oauth(client, sandbox.am)["user"]["sub"]
    assert client.get(f"{sandbox.plain}/hello", timeout=10).status_code == 501
    assert shop.status(sandbox) == before
    spy = through("spy")
    assert oauth(spy, sandbox.am)["user"]["sub"]
    assert spy.get(f"{sandbox.plain}/chunked/10/5", timeout=10).status_code == 200


def test_a_broken_recording_is_named_and_nothing_of_it_is_served(staging, sandbox, call):
    folder = staging().recorded(lambda client: oauth(client, sandbox.am), 5)
    index = folder / "recording.yaml"
    text = index.read_text()
    index.write_text(text.replace("version: 1", "version: 7"))
    done = call("replay-server", folder, "--listen", "127.0.0.1:0")
    assert done.returncode == 2
    assert f"{index}:1:10: error: the recording has version 7, and this usher reads 1" in done.stderr
    index.write_text(text)
    first = next(folder.glob("001-*.yaml"))
    first.write_text(first.read_text().replace("response:", "respnse:"))
    done = call("record", "test", folder)
    assert done.returncode == 2
    assert re.search(rf"{re.escape(str(first))}:\d+:1: error: unknown key \"respnse\"", done.stderr), done.stderr


def test_names_filters_and_folders_are_checked(staging, sandbox, tmp_path):
    here = staging()
    assert "nonsense" in here.record("start", "a", "nonsense=1").stderr
    assert here.record("start", "a b").returncode == 1
    assert here.record("start", "a", "path=/none").returncode == 0
    assert "under way" in here.record("start", "a").stderr
    assert here.record("list").stdout.split()[0] == "a"
    assert "did you mean a?" in here.record("stop", "A", "--output", tmp_path / "x").stderr
    here.folder.mkdir()
    assert "exists" in here.record("stop", "a", "--output", here.folder).stderr
    done = here.record("stop", "a", "--output", tmp_path / "x")
    assert done.returncode == 1 and "no exchange matches" in done.stderr


def test_a_test_session_is_recorded_alone(staging, sandbox):
    here = staging()
    opened = here.call("session", "start", "--record", "checkout", "--quiet")
    assert opened.returncode == 0, opened.stderr
    inside = plain()
    inside.proxies = {"http": opened.stdout.strip()}
    for client, page in ((here.client(), "outside"), (inside, "inside")):
        client.get(f"{sandbox.plain}/{page}", timeout=10)
    assert here.call("flows", "--wait", "2").returncode == 0
    refused = here.call("session", "start", "--record", "checkout")
    assert refused.returncode == 1 and "under way" in refused.stderr
    assert len(here.call("session", "list", "--json").stdout.split('"id"')) == 2
    assert here.record("stop", "checkout", "--output", here.folder).returncode == 0
    assert [path.name for path in here.folder.glob("0*.yaml")] == ["001-get-inside.yaml"]
    shown = here.call("record", "show", here.folder)
    assert "/plain/inside" in shown.stdout and "outside" not in shown.stdout
    edited = here.call("record", "edit", here.folder, VISUAL="sed -i s/volatile/volatil/")
    assert edited.returncode == 2 and 'did you mean "volatile"' in edited.stderr

