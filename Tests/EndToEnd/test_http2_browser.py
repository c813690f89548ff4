"""HTTP/2 with headless Chromium: a page, what it fetches, an event stream and a WebSocket, to an origin that speaks HTTP/1; and
step-ups, which the page knows nothing of."""

import json
import queue
import uuid

import pytest

import origins
import wire
from test_browser import browse, home, proxied, trust  # noqa: F401

EXPECTED = "chunked:200000 events:3 socket:hello"


@pytest.fixture
def told(browse, home, secure_origin):  # noqa: F811
    """What the page of web.py says of itself through a proxy: told(usher), and the site that it came from."""
    def run(usher):
        site = secure_origin(origins.Site)
        trust(usher.ca, home)
        browse(usher, f"{site.url}/")
        return site, site.told.get(timeout=60)

    return run


def spoken(usher, site, path):
    access = usher.flow(f"{site.authority}{path}").access
    return access["protocol"], access["origin_protocol"], access["status"]


def test_a_page(opening, told):
    usher = opening(intercept=["*.localhost"], ca={"constrain_to": ["localhost"]})
    site, text = told(usher)
    assert text == EXPECTED
    for path in ("/chunked", "/told"):
        assert spoken(usher, site, path) == ("HTTP/2", "HTTP/1.1", 200)
    # both end when the page wants it, and count as what they were
    assert spoken(usher, site, "/events")[:2] == ("HTTP/2", "HTTP/1.1")
    assert spoken(usher, site, "/socket") == ("HTTP/2", "HTTP/1.1", 101)
    # none went past the proxy
    assert all("usher" in request.get("via") for request in site.requests)


def test_step_ups(start, secure_sandbox, browse, home, tmp_path):  # noqa: F811
    usher = proxied(start, secure_sandbox, True, tmp_path)
    trust(usher.ca, home)
    mark = uuid.uuid4().hex
    browse(usher, secure_sandbox.shop.removesuffix("/shop") + (
        f"/plain/try#name=demo&password=changeit&method=POST&ask=/shop/fetched/{mark}?a=b"
        f"&tell=/plain/told/{mark}&go=/shop/gone/{mark}"))
    for path in ("fetched", "gone"):
        access = usher.wait_for(lambda path=path: usher.flows(f"/shop/{path}/{mark}"), path, 60)[-1].access
        assert (access["protocol"], access["status"], access["attempts"]) == ("HTTP/2", 200, 2)


HOSTS, FETCHES = 20, 12
PARALLEL = """<!doctype html><meta charset="utf-8"><script>
(async () => {
  const ask = (host, n) => fetch(`https://${host}/fetched?${n}`, {mode: 'no-cors'}).then(a => a.text());
  for (const host of %s) await Promise.all(Array.from({length: %d}, (_, n) => ask(host, n)));
  await fetch('/told', {method: 'POST', body: 'done'});
})().catch(fault => fetch('/told', {method: 'POST', body: String(fault)}));
</script>"""


@pytest.mark.parametrize("on_refusal", ["fail", "tunnel"])
def test_what_is_not_needed_is_no_refusal(opening, browse, home, secure_origin, on_refusal):  # noqa: F811
    """To a host that is new to it the browser opens several connections, and leaves the others in their handshakes once the first
    speaks HTTP/2."""
    told = queue.Queue()

    def answer(seen):
        if seen.target == "/told":
            told.put(seen.body.decode())
        return wire.response(fields=[("Content-Type", "text/html")], body=page if seen.target == "/page" else b"ok")

    server = secure_origin(origins.Answering, answer)
    hosts = [f"h{number}.wild.localhost:{server.port}" for number in range(HOSTS)]
    page = (PARALLEL % (json.dumps(hosts), FETCHES)).encode()
    usher = opening(intercept=["*.localhost"], ca={"constrain_to": ["localhost"]}, on_refusal=on_refusal)
    trust(usher.ca, home)
    browse(usher, f"{server.url}/page")
    assert told.get(timeout=60) == "done"
    assert sum(seen.target.startswith("/fetched") for seen in server.requests) == HOSTS * FETCHES
    # each was opened, and none is said to be refused
    tunnels = usher.wait_for(
        lambda: (seen := [flow for flow in usher.flows("wild.localhost") if flow.access["method"] == "CONNECT"])
        and len({flow.access["url"] for flow in seen}) == HOSTS and seen, "a tunnel to each host", 30)
    said = [event["text"] for flow in tunnels for event in flow.events]
    assert sum("opened as" in text for text in said) >= HOSTS
    assert not [text for text in said if "refused" in text or "not opened" in text]
