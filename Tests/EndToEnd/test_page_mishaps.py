"""What went wrong for somebody's page: it goes on, says so, and asks for nothing that it should not."""

import base64
import json
import re
import urllib.parse
import uuid

import pytest

import looked
import people
import shop
import wire
from browsers import expect, link, show

DEEP = "[" * 20_000 + "1" + "]" * 20_000
FORM = b"\r\n".join([b"--b", b'Content-Disposition: form-data; name="a"', b"", b"one", b"--b--", b""])
# what a browser does with a tab behind another one
BEHIND = """hidden => {
  Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def encoded(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def answer(message):
    path = urllib.parse.urlsplit(message.target).path
    kind, body = "text/plain", "hello"
    match path:
        case "/deep":
            kind, body = "application/json", DEEP
        case "/wrapped":
            body = f"x {base64.b64encode(DEEP.encode()).decode()}"
        case "/dates":
            body = f"x {encoded(json.dumps({'alg': 'none', 'typ': 'JWT'}))}.{encoded(json.dumps({'exp': 1e20, 'iat': 1}))}."
    return looked.raw(200, [("Content-Type", kind), ("Content-Length", str(len(body)))], body.encode())


@pytest.fixture
def site(binary, start, origin, through, state):
    class Odd(looked.Site):
        def __init__(self):
            self.origin = origin(answer)
            self.usher = start(
                {"journal": {"reveal": True}, "state": {"key": "${env.KEY}"}}, state=state,
                environment={"XDG_RUNTIME_DIR": "", "KEY": "a key of thirty-two bytes or more"})
            self.person = people.Person(binary, state)
            self.client = through(self.usher)
            self.url = f"http://127.0.0.1:{self.origin.port}"

    return Odd()


def faults(page):
    return page.get_by_role("main").get_by_role("alert")


@pytest.mark.parametrize("path", ["/deep", "/wrapped", "/dates"])
def test_a_message_that_is_hard_to_show(site, browse, path):
    site.get(path)
    flow = site.flows(count=1)[0]["id"]
    page = browse(site.person, f"flows/{flow}")
    article = page.get_by_role("article", name=f"Flow {flow}")
    if "Secrets" in article.inner_text():
        article.get_by_role("button", name="Secrets").click()
    expect(article.get_by_role("tab", name="Timing")).to_be_visible()
    for tab in article.get_by_role("tab").all():
        tab.click()
        for button in article.get_by_role("tabpanel").get_by_role("button", name=re.compile("^(Tree|Text|Hex)$")).all():
            button.click()
        expect(faults(page)).to_have_count(0)
    expect(page.get_by_role("grid").get_by_role("row").filter(has_text=path)).to_have_count(1)


def test_addresses_that_objects_have(site, browse):
    page = browse(site.person)
    for place in ("__proto__", "constructor", "toString", "flows/__proto__", "pending/constructor", "sessions/__proto__"):
        show(page, place)
        expect(page.get_by_role("main")).to_contain_text(re.compile("."))
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    show(page, "constructor")
    expect(page.get_by_role("grid", name="Flows")).to_be_visible()


def test_a_form_of_thousands_of_parameters(site, browse):
    body = "&".join(f"a{number}=b" for number in range(5000))
    site.client.post(f"{site.url}/form", data=body, headers={"Content-Type": "application/x-www-form-urlencoded"}, timeout=10)
    flow = site.flows(count=1)[0]["id"]
    page = browse(site.person, f"flows/{flow}")
    page.get_by_role("tab", name=re.compile("^Form")).click()
    expect(page.get_by_role("rowheader", name="a199", exact=True)).to_be_visible()
    expect(page.get_by_role("rowheader", name="a200", exact=True)).to_have_count(0)
    page.get_by_role("button", name=re.compile("^4800 more")).click()
    expect(page.get_by_role("rowheader", name="a1199", exact=True)).to_have_count(1)


def test_a_form_that_is_edited_stays_a_form(site, browse):
    client = wire.Connection(("127.0.0.1", site.usher.port))
    client.send(wire.request("POST", f"{site.url}/parts", [
        ("Content-Type", "multipart/form-data; boundary=b"), ("Content-Length", str(len(FORM)))], FORM))
    assert client.read_response().status == 200
    client.close()
    page = browse(site.person, f"flows/{site.flows(count=1)[0]['id']}")
    page.get_by_role("button", name="Send again…").click()
    dialog = page.get_by_role("dialog")
    text = dialog.get_by_label("Body").input_value()
    dialog.get_by_label("Body").fill(text.replace("one", "two"))
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_role("status")).to_contain_text("200")
    assert site.origin.requests[-1].body == FORM.replace(b"one", b"two")


def test_an_archive_that_is_not_whole_says_so(site, browse):
    page = browse(site.person)
    part = {"log": {"version": "1.2", "entries": [{}], "_next": 7}}
    page.route("**/v1/flows.har*", lambda route: route.fulfill(content_type="application/json", body=json.dumps(part)))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save HAR").click()
    with open(saved.value.path()) as file:
        assert len(json.load(file)["log"]["entries"]) == 20
    expect(page.get_by_role("button", name="Save HAR")).to_contain_text("only the oldest 20")


def test_a_list_of_step_ups_that_is_too_long_for_the_stream(house, sandbox, browse):
    usher, person = house(**shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s"))
    with people.App(usher, sandbox, shop.login(sandbox), f"/{uuid.uuid4().hex}"):
        person.sees()
        page = browse(person, "flows")
        page.route("**/v1/transactions/stream", lambda route: route.fulfill(
            content_type="text/event-stream", body='event: lost\ndata: {"count":1}\n\nevent: transactions\ndata: {"count":1}\n\n'))
        page.reload()
        expect(page.get_by_role("link", name=re.compile("^Pending.*1"))).to_be_visible()
        show(page, "pending")
        expect(page.get_by_role("list").get_by_role("link")).to_have_count(1)


def test_many_tabs(site, browse):
    """A browser has six connections to a server."""
    site.get("/")
    first = browse(site.person)
    token = first.evaluate("sessionStorage.getItem('usher.token')")
    tabs = [first]
    for _ in range(5):
        tabs[-1].evaluate(BEHIND, True)
        tabs.append(first.context.new_page())
        tabs[-1].add_init_script(f"sessionStorage.setItem('usher.token', '{token}')")
        tabs[-1].goto(first.url)
        expect(tabs[-1].get_by_text("● live")).to_be_visible()
    # one that comes to the front again has what it missed
    site.get("/missed")
    tabs[-1].evaluate(BEHIND, True)
    first.evaluate(BEHIND, False)
    expect(first.get_by_role("grid").get_by_role("row").filter(has_text="/missed")).to_have_count(1)


def test_a_page_that_came_by_a_link_asks_for_no_token(house, browse):
    """Once the daemon is gone, another user's program may answer at its port."""
    _, person = house()
    page = browse(person)
    page.route("**/v1/**", lambda route: route.fulfill(
        status=401, content_type="application/problem+json",
        body=json.dumps({"status": 401, "title": "Unauthorized", "detail": "send Authorization: Bearer with admin.token"})))
    show(page, "overview")
    expect(page.get_by_text("usher ui", exact=True)).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)
    expect(page.get_by_label("Token")).to_have_count(0)


def test_the_port_of_links_asks_for_no_token(house, chromium):
    _, person = house()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(link(person).split("#")[0])
    expect(page.get_by_text("usher ui", exact=True)).to_be_visible()
    expect(page.get_by_label("Token")).to_have_count(0)
    context.close()
