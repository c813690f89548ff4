"""Many users at once, each with a session and transactions of their own; the sandbox tells whether anything was mixed up."""

import threading
import uuid

import pytest

import shop

USERS = 50
TURNS = 4


@pytest.mark.parametrize("offers", [True, False], ids=["header", "redirect"])
def test_fifty_at_once(start, own_sandbox, through, offers):
    sandbox = own_sandbox("--users", str(USERS), "--transaction", "choice")
    usher = start(shop.config(
        sandbox, offer_header=offers, answers=[{"callback": "ChoiceCallback", "value": 0}]))
    names = [f"user{number}" for number in range(1, USERS + 1)]
    tokens = {name: shop.login(sandbox, name) for name in names}
    wrong = []
    ready = threading.Barrier(USERS)

    def run(name):
        try:
            client = through(usher)
            client.headers["Cookie"] = f"{shop.COOKIE}={tokens[name]}"
            ready.wait(60)
            for turn in range(TURNS):
                # all of them ask for the same, and each for something of their own
                path = "/same" if turn % 2 else f"/{name}/{uuid.uuid4().hex}"
                answer = client.post(f"{sandbox.shop}{path}", data=name, timeout=60, allow_redirects=False)
                echo = answer.json() if answer.status_code == 200 else {}
                if (echo.get("user"), echo.get("transactionUses"), echo.get("body")) != (name, 1, name):
                    wrong.append((name, turn, answer.status_code, answer.text[:200]))
        except Exception as failure:  # noqa: BLE001 a thread's failure belongs to the test
            wrong.append((name, repr(failure)))

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert not wrong
    status = shop.status(sandbox)
    transactions = status["transactions"]
    assert set(transactions["misused"].values()) == {0}, transactions
    done = USERS * TURNS
    assert [transactions[what] for what in ("created", "begun", "approved", "used")] == [done] * 4
    assert status["users"] == {name: TURNS for name in names}
    assert status["sessions"] == {"created": USERS, "ended": 0}
