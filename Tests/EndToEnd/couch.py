"""A database that has nobody without a session, as CouchDB's `_session` gives it."""

import threading

from wire import response

PASSWORD = "p&a=s+s%é"


class Couch:
    """Logs in at `/_session`, and has nobody without the cookie of its last login."""

    def __init__(self, attributes="; Max-Age=600", more=()):
        self.lock = threading.Lock()
        self.attributes, self.more = attributes, list(more)
        self.logins, self.asked, self.heads = [], [], []
        # what the next logins come to, before those that go well
        self.login_answers = []
        self.valid = None
        self.refusal = response(401, body=b'{"error":"unauthorized"}')
        # requests that are refused whatever they bring
        self.refuses = lambda got: False
        # held while a login is being answered
        self.gate = None

    @property
    def lines(self):
        return [path for path, _ in self.heads]

    def __call__(self, got):
        method, target = got.line.split()[:2]
        with self.lock:
            self.heads.append((f"{method} {target}", got))
            if target.endswith("/_session"):
                self.logins.append(got)
                if self.login_answers:
                    return self.login_answers.pop(0)
                number = len(self.logins)
                self.valid = f"AuthSession=c{number}"
                gate = self.gate
            else:
                self.asked.append(got)
                cookies = (got.get("cookie") or "").split("; ")
                if self.refuses(got) or self.valid not in cookies:
                    return self.refusal
                return response(body=b"it")
        if gate:
            assert gate.wait(20)
        fields = [("Set-Cookie", f"AuthSession=c{number}{self.attributes}; Path=/")]
        return response(body=b'{"ok":true}', fields=fields + self.more)

    def expire(self):
        with self.lock:
            self.valid = "none"


def couch(**keys):
    return {"name": "couch", "when": {"host": "127.0.0.1", "scheme": "http", "port": "*"},
            "session_cookie": {"user": "ada", "password": PASSWORD, **keys}}
