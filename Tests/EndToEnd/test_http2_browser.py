"""HTTP/2 with headless Chromium: a page, what it fetches, an event stream and a WebSocket, to an origin that speaks HTTP/1; and
step-ups, which the page knows nothing of."""

import uuid

import pytest

import origins
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
