"""A daemon with test sessions, and somebody who opens them."""

import json

import pytest
import requests

import wire
from admin import CONFIG, TOKEN, Port


@pytest.fixture
def staging(start, origin, call, tmp_path):
    """A daemon with an admin port, an origin, and the verb `usher session` for them."""
    class Staging:
        def __init__(self, config=None):
            self.origin = origin(lambda got: wire.response(body=got.head))
            self.usher = start({"workers": 2, **CONFIG, **(config or {})}, environment={"ADMIN_TOKEN": TOKEN})
            self.admin = Port(self.usher)
            self.place = f"http://127.0.0.1:{self.origin.port}"

        def session(self, *words, given=None, **variables):
            return call(
                "session", *words, given=given, USHER_URL=self.admin.url, USHER_TOKEN=TOKEN, **variables)

        def opened(self, *words, **options):
            done = self.session("start", "--json", *words, **options)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        def overlay(self, document, name="overlay.yaml"):
            path = tmp_path / name
            path.write_text(document if isinstance(document, str) else json.dumps(document))
            return path

        def get(self, path, proxy=None, **options):
            client = requests.Session()
            client.trust_env = False
            return client.get(
                self.place + path, proxies={"http": proxy or self.usher.url}, timeout=30, **options)

    return Staging


def answering(status, path="*", name="mock"):
    return {"interceptors": [{"name": name, "when": {"path": path}, "request": [{"respond": {"status": status, "json": {}}}]}]}
