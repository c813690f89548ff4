"""A page of another site, open in the same browser as the daemon's: it reads nothing, changes nothing and frames nothing."""

import json
import urllib.parse
import uuid

import pytest

import looked
import people
import shop
from browsers import expect

# everything that a page may try on another one, and what came of it
TRIES = """async (target) => {
  const said = {};
  const attempt = async (name, does) => { try { said[name] = await does(); } catch (error) { said[name] = 'refused'; } };
  const own = {headers: {'Content-Type': 'text/plain'}, method: 'POST', mode: 'no-cors', credentials: 'include'};
  for (const path of ['/v1/status', '/v1/flows', '/v1/transactions', '/v1/configuration', '/metrics', '/', '/app.js'])
    await attempt('read ' + path, async () => (await fetch(target + path)).status);
  await attempt('preflight', async () => (await fetch(target + '/v1/reload', {method: 'POST', headers: {
    'Authorization': 'Bearer x', 'Content-Type': 'application/json'}, body: '{}'})).status);
  for (const path of PATHS) await attempt('blind ' + path, async () => (await fetch(target + path, {...own, body: '{}'})).type);
  await attempt('script', () => new Promise((done, failed) => {
    const one = document.createElement('script');
    one.onload = () => done('ran'); one.onerror = failed; one.src = target + '/app.js'; document.head.append(one);
  }));
  await attempt('style', () => new Promise((done, failed) => {
    const one = document.createElement('link');
    one.rel = 'stylesheet'; one.onload = () => done('applied'); one.onerror = failed; one.href = target + '/app.css';
    document.head.append(one);
  }));
  for (const path of PATHS) {
    const frame = document.createElement('iframe');
    frame.name = 'answers'; document.body.append(frame);
    const form = document.createElement('form');
    form.method = 'POST'; form.enctype = 'text/plain'; form.action = target + path; form.target = 'answers';
    const field = document.createElement('input');
    field.name = '{"a":"'; field.value = '"}'; form.append(field); document.body.append(form);
    await new Promise(done => { frame.onload = done; form.submit(); });
    await attempt('form ' + path, () => frame.contentDocument.body.innerText);
    frame.remove();
  }
  const frame = document.createElement('iframe');
  await new Promise(done => { frame.onload = done; frame.src = target + '/'; document.body.append(frame); });
  await attempt('frame', () => frame.contentWindow.document.title);
  return said;
}"""


@pytest.fixture
def victim(house, sandbox, browse):
    """A person at the page, and a step-up that waits."""
    usher, person = house(**shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s"))
    page = browse(person, "pending")
    with people.App(usher, sandbox, shop.login(sandbox), f"/{uuid.uuid4().hex}"):
        person.sees()
        yield usher, person, page


@pytest.mark.parametrize("host", ["evil.attacker.example", "127.0.0.1"])
def test_a_page_of_another_origin(victim, origin, host):
    """A site elsewhere, and one of another port of this machine."""
    usher, person, page = victim
    waiting = person.sees()[0]["id"]
    target = "/".join(page.url.split("/")[:3])
    paths = [
        "/v1/reload", "/v1/drain", f"/v1/transactions/{waiting}/deny", "/v1/sessions", "/v1/page/links", "/v1/page/login",
        "/v1/upgrade", "/v1/recordings"]
    evil = origin(lambda _: looked.raw(200, [("Content-Type", "text/html"), ("Content-Length", "4")], b"evil"))
    with page.context.new_page() as other:
        other.goto(f"http://{host}:{evil.port}/")
        said = other.evaluate(TRIES.replace("PATHS", json.dumps(paths)), target)
        # a blind request ends in an answer that the page cannot read; the daemon has refused it
        allowed = {name: what for name, what in said.items() if what not in ("refused", "opaque", "", None)}
        assert not allowed, allowed
        assert said["script"] == said["style"] == "refused"
        framed = [frame.evaluate("document.body.innerText") for frame in other.frames if frame != other.main_frame]
        # the refusal, or the browser's own words; not the page
        assert len(framed) == 1 and (framed[0] == "" or "not permitted" in framed[0]), framed
        # a window of it is no handle on it
        opened = other.evaluate("target => { const one = window.open(target); window.kept = one; return one === null }", target)
        if not opened:
            other.wait_for_function("window.kept.closed || (() => { try { return !window.kept.document } catch { return true } })()")
    assert [one["id"] for one in person.waiting()] == [waiting]
    status = person.asks("GET", "/v1/status")[1]
    assert status["state"] == "serving" and status["configuration"]["generation"] == 1
    assert person.asks("GET", "/v1/sessions")[1]["sessions"] == [] and person.asks("GET", "/v1/recordings")[1]["recordings"] == []
    # and the person's page goes on
    expect(page.get_by_role("region", name="Step-ups that wait").get_by_role("listitem")).to_have_count(1)


def test_a_name_that_comes_to_lead_here(victim):
    """DNS rebinding: the attacker's name resolves to this machine, so its page is of the daemon's origin for the browser."""
    usher, person, page = victim
    port = urllib.parse.urlsplit(page.url).port
    token = page.evaluate("sessionStorage.getItem('usher.token')")
    with page.context.new_page() as other:
        answer = other.goto(f"http://rebound.attacker.example:{port}/")
        assert answer.status == 421 and "<html" not in answer.text()
        # not even with the token, which it could not have
        for path in ("/v1/status", "/v1/page/login"):
            status = other.evaluate(
                "async ([path, token]) => (await fetch(path, {method: path.endsWith('login') ? 'POST' : 'GET',"
                " headers: {Authorization: 'Bearer ' + token}})).status", [path, token])
            assert status == 421
        assert other.evaluate("sessionStorage.length") == 0


def test_nothing_of_a_login_stays_behind(victim):
    """No cookie, nothing for other tabs, and no key in the history."""
    usher, person, page = victim
    assert page.context.cookies() == []
    assert "key=" not in page.url
    token = page.evaluate("sessionStorage.getItem('usher.token')")
    assert token not in page.content() and token not in page.evaluate("JSON.stringify(localStorage)")
    with page.context.new_page() as other:
        other.goto(page.url.split("#")[0])
        # another tab has to log in by itself
        expect(other.get_by_role("navigation", name="Pages")).to_have_count(0)
    page.go_back()
    assert "key=" not in page.url
    page.go_forward()
