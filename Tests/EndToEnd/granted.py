"""Usher between clients, an OAuth service, and resources that want its tokens."""

import concurrent.futures
import urllib.parse

import pytest

from grants import BASE, REDIRECT, SECRET, Api, Grants
from wire import Connection, request

FORM = [("Content-Type", "application/x-www-form-urlencoded")]


class World:
    """A service, resources that want its tokens, and Usher with an entry for each of them.

    `others` are entries for further resources, whose `Api` and origin stand in `others`.
    """

    def __init__(self, start, origin, grants, entry, others=(), **more):
        self.grants, self.am = grants, origin(grants)
        self.origin, self.start = origin, start
        grants.url = self.am.url
        (self.api, self.resource), *self.others = [self.serve() for _ in range(1 + len(others))]
        entries = [{"resources": f"{place.url}/*", **given} for given, (_, place) in zip(
            [entry, *others], [(self.api, self.resource), *self.others])]
        self.usher = start({"workers": 1, "am": [{"url": f"{self.am.url}/am"}], "tokens": entries, **more})
        self.clients = {}
        self.pool = concurrent.futures.ThreadPoolExecutor()

    def serve(self):
        api = Api(self.grants)
        place = self.origin(api)
        api.url = place.url
        return api, place

    def connection(self, name):
        if name not in self.clients:
            self.clients[name] = Connection(("127.0.0.1", self.usher.port))
        return self.clients[name]

    def send(self, who, method, url, fields=(), at=None, **options):
        """By a connection of that client's own, or by the one that `at` names."""
        return self.connection(at or who).exchange(request(method, url, [("X-Client", who), *fields], **options))

    def get(self, who="ada", path="/x", place=None, **options):
        return self.send(who, "GET", f"{(place or self.resource).url}{path}", **options)

    def at_once(self, act):
        """Has another thread do it, by a connection of its own; `result` waits for what comes of that."""
        return self.pool.submit(act)

    def exchange(self, who="ada", fields=(), at=None, **form):
        return self.send(who, "POST", f"{self.am.url}{BASE}/access_token", fields=[*FORM, *fields], at=at,
                         body=urllib.parse.urlencode(form).encode())

    def sign_in(self, who="ada", user=None, client="shop", **more):
        code = self.grants.code(user or who)
        if client:
            more["client_id"] = client
        return self.exchange(who, grant_type="authorization_code", redirect_uri=REDIRECT, code=code, **more)

    def spent(self):
        return [form["refresh_token"] for form in self.grants.forms("refresh_token")]

    def told(self, path="/x", count=1):
        self.usher.flow(path, count)
        return " | ".join(event["text"] for flow in self.usher.flows(path) for event in flow.events)


@pytest.fixture
def world(start, origin):
    def make(grants=None, **more):
        return World(start, origin, grants or Grants(), **more)

    return make


def credentials(**more):
    return {"bearer": "client_credentials", "client": {"id": "shop", "secret": SECRET}, **more}


def learned(**more):
    return {"bearer": "learned", "client_by": "header:X-Client", **more}


def code(**more):
    return {"bearer": "code", "client": {"id": "shop"}, "redirect_uri": REDIRECT, "client_by": "header:X-Client", **more}
