"""An AM and a gateway in one origin, which remember whose each thing is: sessions, upgrades, transactions."""

import base64
import itertools
import json
import re
import threading
import urllib.parse
import uuid

from wire import response

COOKIE = "iPlanetDirectoryPro"
JSON = [("Content-Type", "application/json")]


def callback(kind, prompt, number, **output):
    return {
        "type": kind, "output": [{"name": "prompt", "value": prompt}] + [{"name": n, "value": v} for n, v in output.items()],
        "input": [{"name": f"IDToken{number}", "value": 0 if kind == "ChoiceCallback" else ""}]}


class Tenant:
    """`am.localhost` signs in, upgrades and approves; every other host is the gateway. Paths below `/strong` take a session
    that was upgraded, those below `/each` a transaction each, others a session."""

    def __init__(self, origin, idle=1800, life=7200):
        self.lock = threading.Lock()
        self.idle, self.life = idle, life
        # session → user, and those that were upgraded
        self.sessions, self.strong = {}, set()
        # transaction → (session, URL, approved)
        self.transactions, self.flows = {}, {}
        self.asked, self.calls, self.logouts, self.faults = [], [], [], []
        self.upgrades = 0
        # held while an upgrade, or a login, is being granted
        self.gate = None
        self.refuses_logins = False
        # an AM whose sessions stand in the client alone cannot end the old one
        self.keeps_old = False
        self.holds_logouts = None
        # transactions that AM knows nothing of
        self.unreadable = set()
        self.numbers = itertools.count(1)
        self.origin = origin(self.answer)
        self.am = f"http://am.localhost:{self.origin.port}/am"
        self.shop = f"http://shop.localhost:{self.origin.port}"

    def config(self, **authorization):
        return {
            "am": [{"url": self.am, "realms": ["/"]}],
            "authorization": {
                "resources": [f"{self.shop}/*"],
                "answers": [
                    {"callback": "NameCallback", "value": "robot"}, {"callback": "PasswordCallback", "value": "s3cret-robot"},
                    {"callback": "ChoiceCallback", "choose": "Yes"}],
                **authorization}}

    def sign_in(self, user, strong=False):
        token = f"{user}.{uuid.uuid4().hex}"
        with self.lock:
            self.sessions[token] = user
            if strong:
                self.strong.add(token)
        return token

    # the answers

    def answer(self, got):
        path = got.target.split("?")[0]
        return self._am(got, path) if path.startswith("/am/") else self._gateway(got, path)

    @staticmethod
    def session(got):
        found = re.search(rf"(?:^|; ){COOKIE}=([^;]+)", got.get("cookie") or "")
        return found.group(1) if found else None

    def _am(self, got, path):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(got.target).query)
        token = self.session(got)
        with self.lock:
            self.calls.append((path, query, token))
        if path.rstrip("/").endswith("/sessions"):
            return self._manage(query["_action"][0], token)
        if path.endswith("/access_token"):
            return response(200, JSON, json.dumps({"access_token": "at", "id_token": f"id.of.{urllib.parse.parse_qs(got.body.decode())['code'][0]}"}).encode())
        if got.body:
            return self._proceed(json.loads(got.body), token)
        flow = uuid.uuid4().hex
        value = query.get("authIndexValue", [""])[0]
        transaction = re.search(r"TransactionConditionAdvice\"/><Value>([^<]+)<", value)
        with self.lock:
            if transaction:
                known = self.transactions.get(transaction.group(1))
                if not known or known[0] != token or transaction.group(1) in self.unreadable:
                    return self._unreadable()
            elif "ConditionAdvice" in value:
                if token not in self.sessions:
                    return response(401, JSON, b'{"code":401}')
                self.upgrades += 1
            self.flows[flow] = (transaction.group(1) if transaction else None, "ConditionAdvice" in value, token)
        ask = [callback("ChoiceCallback", "Approve?", 1, choices=["No", "Yes"])] if transaction else [
            callback("NameCallback", "User Name", 1), callback("PasswordCallback", "Password", 2)]
        return response(200, JSON, json.dumps({"authId": flow, "callbacks": ask, "stage": "any"}).encode())

    @staticmethod
    def _unreadable():
        return response(401, JSON, b'{"code":401,"reason":"Unauthorized","detail":{"errorCode":"128"}}')

    def _proceed(self, step, token):
        with self.lock:
            transaction, is_advice, begun_with = self.flows.pop(step["authId"])
        given = [c["input"][0]["value"] for c in step["callbacks"]]
        if begun_with != token:
            self.faults.append(f"a flow of {begun_with} goes on with {token}")
        if transaction:
            with self.lock:
                self.transactions[transaction] = (*self.transactions[transaction][:2], given == [1])
            return response(200, JSON, json.dumps({"tokenId": token}).encode())
        if self.gate:
            assert self.gate.wait(30)
        if self.refuses_logins or (given[0] == "robot" and given[1] != "s3cret-robot"):
            return response(401, JSON, b'{"code":401,"detail":{"errorCode":"107"}}')
        with self.lock:
            user = self.sessions[token] if is_advice else given[0]
            if is_advice and not self.keeps_old:
                del self.sessions[token]
        new = self.sign_in(user, strong=is_advice)
        fields = JSON + [("Set-Cookie", f"{COOKIE}={new}; Path=/; HttpOnly")]
        return response(200, fields, json.dumps({"tokenId": new, "realm": "/"}).encode())

    def _manage(self, action, token):
        if action == "logout" and self.holds_logouts:
            self.holds_logouts.wait(60)
        with self.lock:
            known = token in self.sessions
            if action == "logout":
                self.sessions.pop(token, None)
                self.logouts.append(token)
                return response(200, JSON, b'{"result":"Successfully logged out"}')
        if not known:
            return response(401, JSON, b'{"code":401}')
        return response(200, JSON, json.dumps({
            "username": "robot", "latestAccessTime": "2026-11-22T10:00:00Z",
            "maxIdleExpirationTime": time_of(self.idle), "maxSessionExpirationTime": time_of(self.life)}).encode())

    def _gateway(self, got, path):
        token = self.session(got)
        query = [part for part in got.target.partition("?")[2].split("&") if part]
        given = next((part[6:] for part in query if part.startswith("_txid=")), None)
        url = path + "?" + "&".join(part for part in query if not part.startswith(("_txid=", "_idtoken=")))
        with self.lock:
            self.asked.append((got.target, token, got))
            user = self.sessions.get(token)
            if not user:
                return response(302, [("Location", f"{self.am}/?goto=x")])
            if path.startswith("/strong") and token not in self.strong:
                return self._advice("AuthenticateToServiceConditionAdvice", "StepUp")
            if path.startswith("/each"):
                granted = self.transactions.pop(given, None)
                if granted and granted != (token, url, True):
                    self.faults.append(f"{given} of {granted} is shown for {url} with {token}")
                if not granted or granted != (token, url, True):
                    number = f"t-{next(self.numbers)}"
                    self.transactions[number] = (token, url, False)
                    return self._advice("TransactionConditionAdvice", number)
        return response(200, JSON, json.dumps({"user": user, "target": got.target, "body": got.body.decode("latin-1")}).encode())

    def _advice(self, name, value):
        advices = base64.b64encode(json.dumps({name: [value]}).encode()).decode()
        return response(401, [("WWW-Authenticate", f'SSOADVICE realm="/",advices="{advices}",am_uri="{self.am}/"')])


def time_of(seconds):
    return f"2026-11-22T{10 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
