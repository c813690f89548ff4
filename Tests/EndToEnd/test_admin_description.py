"""The admin API against its own description: what is answered is what is described, and a stranger's tries find nothing."""

import json
import os
import pathlib
import subprocess
import uuid

import pytest

import admin
import people
import programs
import shop

ROOT = pathlib.Path(__file__).resolve().parents[2]


def resolved(document, schema):
    if "$ref" in schema:
        for part in schema["$ref"].removeprefix("#/").split("/"):
            document = document[part]
        return document
    return schema


def faults(schema, value, place="$"):
    """What JSON Schema says of the value; of its words, those that descriptions here are written with."""
    if "anyOf" in schema:
        tried = [faults(one, value, place) for one in schema["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    kinds = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list, "object": dict}
    kind = schema.get("type")
    if kind and (not isinstance(value, kinds[kind]) or isinstance(value, bool) and kind != "boolean"):
        return [f"{place}: {value!r} is no {kind}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        found.append(f"{place}: {value!r} is out of bounds")
    for item in value if kind == "array" else []:
        found += faults(schema.get("items", {}), item, place + "[]")
    if kind == "object":
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        found += [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            inner = properties.get(name, others)
            found += [f"{place}.{name} is not described"] if inner is False else faults(inner, part, f"{place}.{name}")
    assert set(schema) <= {
        "type", "enum", "minimum", "maximum", "items", "properties", "required", "additionalProperties", "description",
        "pattern", "maxLength"}, "a word that this reader does not know"
    return found


class Described:
    """Asks at a socket, and holds each answer against the description."""

    def __init__(self, person):
        self.person = person
        self.document = person.asks("GET", "/v1/openapi.json")[1]
        self.seen = set()

    def asks(self, method, path, *arguments, template=None, **how):
        answer, value = self.person.asks(method, path, *arguments, **how)
        template = template or path.partition("?")[0]
        operation = self.document["paths"][template][method.lower()]
        response = operation["responses"].get(str(answer.status), operation["responses"]["default"])
        content = response["content"]
        assert list(content) == [answer.headers["Content-Type"]], (method, path)
        schema = resolved(self.document, content[answer.headers["Content-Type"]]["schema"])
        assert faults(schema, value) == [], (method, path)
        self.seen.add((method, template, answer.status))
        return answer.status, value


@pytest.fixture
def described(start, sandbox, state):
    config = shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s")
    usher = start(config, state=state, environment={"XDG_RUNTIME_DIR": ""})
    return usher, Described(people.Person(usher.command[0], state))


def test_what_is_answered_is_what_is_described(described, sandbox):
    usher, api = described
    for path in ("/live", "/ready", "/v1/configuration", "/v1/log/level", "/v1/lockout", "/v1/transactions", "/v1/openapi.json",
                 "/v1/rates", "/v1/faults", "/v1/filter"):
        assert api.asks("GET", path)[0] == 200
        assert api.asks("GET", f"{path}?odd=1")[0] == 400
    assert api.asks("POST", "/v1/page/links")[0] == 200 and api.asks("POST", "/v1/page/login", {"key": "x"})[0] == 403
    assert api.asks("POST", "/v1/explain", {"request": "curl http://a.test/"})[0] == 200
    assert api.asks("POST", "/v1/explain", {"request": "nothing"})[0] == 422
    assert api.asks("DELETE", "/v1/lockout")[0] == 200
    one = "/v1/lockout/{id}"
    assert api.asks("DELETE", "/v1/lockout/00000001", template=one)[0] == 404
    # what waits, whole, answered in part, denied
    token = shop.login(sandbox)
    waiting = [people.App(usher, sandbox, token, f"/{uuid.uuid4().hex}") for _ in range(2)]
    first, second = api.person.sees(2)
    assert faults(api.document["paths"]["/v1/transactions"]["get"]["responses"]["200"]["content"]["application/json"]["schema"],
                  api.person.asks("GET", "/v1/transactions")[1]) == []
    base = "/v1/transactions/{id}"
    assert api.asks("GET", f"/v1/transactions/{first['id']}", template=base)[0] == 200
    assert api.asks("GET", "/v1/transactions/none", template=base)[0] == 404
    answer = f"/v1/transactions/{first['id']}/answer"
    assert api.asks("POST", answer, {"callback": 99, "value": "x"}, template=f"{base}/answer")[0] == 422
    texts = {"NameCallback": "demo", "PasswordCallback": people.SECRET}
    for callback in first["callbacks"]:
        said = {"callback": callback["index"], "value": texts[callback["type"]]}
        assert api.asks("POST", answer, said, template=f"{base}/answer")[0] == 200
    deny = f"/v1/transactions/{second['id']}/deny"
    assert api.asks("POST", deny, template=f"{base}/deny")[0] == 200
    for app in waiting:
        app.answer()
        app.close()
    everything = {(method.upper(), path) for path, operations in api.document["paths"].items() for method in operations}
    ours = {(method, path) for method, path, status in api.seen}
    # what others of the interface's routes answer, the tests of each say
    assert ours <= everything
    names = [operation["operationId"] for operations in api.document["paths"].values() for operation in operations.values()]
    assert len(names) == len(set(names))


def test_strangers_tries_find_nothing(binary):
    """A short run; make schemathesis has a long one."""
    done = subprocess.run(
        [ROOT / "scripts/schemathesis", "10"], capture_output=True, text=True, timeout=110,
        env={**os.environ, "USHER_BINARY": str(binary)})
    if "installing it failed" in done.stderr:
        programs.left_out(f"schemathesis cannot be installed here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout and "Operations:" in done.stdout


def test_the_description_is_whole(binary, start, state):
    usher = start(admin.CONFIG, state=state, environment={"ADMIN_TOKEN": admin.TOKEN, "XDG_RUNTIME_DIR": ""})
    document = admin.Port(usher).json("/v1/openapi.json")[1]
    assert document["openapi"] == "3.1.0" and document["security"] == [{"token": []}]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"].endswith((".", "?")), path
            named = [part["name"] for part in operation.get("parameters", []) if part["in"] == "path"]
            assert sorted(named) == sorted(part[1:-1] for part in path.split("/") if part.startswith("{")), path
            assert all(part["description"] for part in operation.get("parameters", []))
            assert any(status.startswith("2") for status in operation["responses"]), path
            # the page's files are whatever the build made
            is_open = path in ("/live", "/ready", "/v1/page/login") or not path.startswith(("/v1/", "/metrics"))
            assert (operation.get("security") == []) == is_open, path
            assert json.dumps(operation), method
