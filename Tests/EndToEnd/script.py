"""What an origin answers, one request after another."""

import itertools
import time

from wire import response

BUSY = response(429, body=b"busy")
OK = response(body=b"ok")


class Script:
    """Gives these answers in turn, and the last of them for ever; knows what it saw, and when."""

    def __init__(self, *answers):
        self.answers, self.seen, self.times = answers, [], []

    def __call__(self, got):
        self.seen.append(got)
        self.times.append(time.monotonic())
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        return answer(got) if callable(answer) else answer

    @property
    def waits(self):
        """Seconds from each request to the next. A loop's clock counts in whole milliseconds: a wait may look one shorter."""
        return [later - earlier + 0.001 for earlier, later in itertools.pairwise(self.times)]
