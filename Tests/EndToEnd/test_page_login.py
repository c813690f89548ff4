"""Who comes to the page: by a link that works once, or by the token of `admin.listen`."""

import pytest

import programs
from admin import CONFIG, TOKEN, Port
from browsers import PATIENCE, expect, link


@pytest.fixture
def tab(chromium):
    """Opens an address in a browser of its own."""
    opened = []

    def run(url):
        opened.append(chromium.new_context())
        opened[-1].set_default_timeout(PATIENCE)
        page = opened[-1].new_page()
        page.goto(url)
        return page

    yield run
    for context in opened:
        context.close()


def pages(page):
    return page.get_by_role("navigation", name="Pages")


def test_a_link_opens_the_page_once(house, tab):
    _, person = house()
    url = link(person)
    page = tab(url)
    expect(pages(page)).to_be_visible()
    # the key is neither in the address nor in the history, and the tab stays logged in
    assert "key=" not in page.url
    page.reload()
    expect(pages(page)).to_be_visible()
    late = tab(url)
    expect(late.get_by_role("alert")).to_contain_text("This key does not open the page")
    expect(pages(late)).to_have_count(0)
    expect(late.get_by_text("usher ui", exact=True)).to_be_visible()


def test_a_new_link_in_an_open_tab(house, tab):
    _, person = house()
    page = tab(link(person))
    expect(pages(page)).to_be_visible()
    page.evaluate("sessionStorage.clear()")
    page.goto(link(person))
    expect(pages(page)).to_be_visible()
    assert "key=" not in page.url


def test_two_people_at_once(house, tab):
    _, person = house()
    one, two = tab(link(person)), tab(link(person))
    expect(pages(one)).to_be_visible()
    expect(pages(two)).to_be_visible()


def test_the_token_of_the_admin_port(start, tab):
    usher = start(CONFIG, environment={"ADMIN_TOKEN": TOKEN})
    page = tab(f"{Port(usher).url}/")
    field = page.get_by_label("Token")
    expect(field).to_be_focused()
    field.fill("a wrong token")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This is not the token")
    expect(pages(page)).to_have_count(0)
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    expect(pages(page)).to_be_visible()
    assert TOKEN not in page.url and page.context.cookies() == []
    page.reload()
    expect(pages(page)).to_be_visible()


def test_a_daemon_that_was_restarted_asks_for_a_login(binary, write_config, start, tab, tmp_path):
    """The page is of one daemon: another one's token is none, and the page says what to do."""
    place = {"admin": {"listen": "127.0.0.1:0", "token": "${env.ADMIN_TOKEN}"}}
    usher = programs.Usher(binary, write_config(place), environment={"ADMIN_TOKEN": TOKEN})
    port = Port(usher)
    page = tab(f"{port.url}/")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(pages(page)).to_be_visible()
    assert usher.stop() == 0
    place["admin"]["listen"] = port.address
    start(place, environment={"ADMIN_TOKEN": TOKEN[::-1]})
    expect(page.get_by_label("Token")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN[::-1])
    page.keyboard.press("Enter")
    expect(pages(page)).to_be_visible()
