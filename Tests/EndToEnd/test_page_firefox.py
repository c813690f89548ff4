"""The main walk through the page in Firefox: log in, follow flows, look at one, answer a step-up, look at the charts."""

import json

import bidi
import people
import shop
from browsers import link

ENTER = "\ue007"


def test_the_main_walk(house, sandbox, tmp_path):
    usher, person = house(**shop.config(sandbox, answers=[{"otherwise": "ask"}], hold="60s"))
    home = tmp_path / "firefox"
    home.mkdir()
    with bidi.Firefox(home) as firefox:
        firefox.goes(link(person))
        firefox.sees("No flows yet")
        assert "key=" not in firefox.evaluate("location.href")
        # a step-up is answered, and the app has what it asked for
        with people.App(usher, sandbox, shop.login(sandbox), "/walk?step=1") as app:
            firefox.clicks("Pending")
            firefox.sees("/walk?step=REDACTED")
            firefox.clicks("/walk", "li a")
            firefox.clicks("User Name", "input")
            firefox.types("demo")
            firefox.clicks("Password", "input")
            firefox.types(people.SECRET + ENTER)
            answer = app.answer()
            assert answer.status == 200 and json.loads(answer.body)["user"] == "demo"
            firefox.sees("The app got its response.")
        # it is in the list, and the keys lead to it
        firefox.clicks("Flows")
        firefox.sees("/shop/walk", "[role=row]")
        firefox.types("j" + ENTER)
        firefox.sees("step-up", "article")
        firefox.clicks("Events", "[role=tab]")
        firefox.sees("asks for TransactionConditionAdvice", "[role=tabpanel]")
        firefox.types("/")
        firefox.types("status=5xx" + ENTER)
        firefox.sees("No flow fits this filter")
        for name, words in (("Journeys", "composite_advice"), ("Overview", "Every minute as a table"), ("Configuration", "authorization:")):
            firefox.clicks(name)
            firefox.sees(words)
        assert firefox.faults == []
