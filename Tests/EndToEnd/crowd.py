"""Many clients at once."""

import threading

from wire import Connection, request


def crowd(usher, url, between, clients=25, requests=25):
    """Has each of them send so many requests, twice; `between` is done when all have the first. Gives the statuses."""
    gates = threading.Barrier(clients + 1)
    statuses, lock = [], threading.Lock()

    def run():
        client = Connection(("127.0.0.1", usher.port))
        for _ in range(2):
            gates.wait(30)
            got = [client.exchange(request("GET", url)).status for _ in range(requests)]
            with lock:
                statuses.extend(got)
            gates.wait(60)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    gates.wait(30)
    gates.wait(60)
    between()
    gates.wait(30)
    gates.wait(60)
    for thread in threads:
        thread.join(10)
    return statuses
