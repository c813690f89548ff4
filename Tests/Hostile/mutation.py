"""Inputs that are nearly right: seeds with a few changes, the same for the same number."""

import random

INTERESTING = [0, 1, 9, 10, 13, 32, 34, 37, 44, 58, 59, 92, 127, 128, 255]
NUMBERS = [b"0", b"-1", b"1", b"2147483648", b"18446744073709551616", b"0x10", b"+5", b"5,5"]


class Mutator:
    """Changes seeds. `words` are the tokens of a language that the seeds speak."""

    def __init__(self, seeds, words=()):
        self.seeds = list(seeds)
        self.words = [*words, *NUMBERS]
        assert self.seeds, "a run without seeds tries nothing"

    def input(self, number, most=4):
        """The input of that number: a seed with up to `most` changes. One in twenty is the seed as it is."""
        rng = random.Random(number)
        data = bytearray(rng.choice(self.seeds))
        if rng.randrange(20):
            for _ in range(1 + rng.randrange(most)):
                rng.choice(CHANGES)(self, rng, data)
        return bytes(data[:64 << 10])

    def _place(self, rng, data):
        return rng.randrange(len(data) + 1)

    def _span(self, rng, data):
        start = self._place(rng, data)
        return start, min(len(data), start + 1 + rng.randrange(32))

    def flip(self, rng, data):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)

    def put(self, rng, data):
        if data:
            data[rng.randrange(len(data))] = rng.choice(INTERESTING)

    def insert(self, rng, data):
        place = self._place(rng, data)
        data[place:place] = bytes(rng.choice(INTERESTING) for _ in range(1 + rng.randrange(4)))

    def word(self, rng, data):
        place = self._place(rng, data)
        data[place:place] = rng.choice(self.words)

    def remove(self, rng, data):
        start, end = self._span(rng, data)
        del data[start:end]

    def double(self, rng, data):
        start, end = self._span(rng, data)
        data[end:end] = bytes(data[start:end]) * (1 + rng.randrange(3))

    def cut(self, rng, data):
        del data[self._place(rng, data):]

    def splice(self, rng, data):
        other = rng.choice(self.seeds)
        place = self._place(rng, data)
        data[place:] = other[rng.randrange(len(other) + 1):]

    def stretch(self, rng, data):
        if data:
            place = rng.randrange(len(data))
            data[place:place] = bytes([data[place]]) * rng.choice([64, 1024, 9000])


CHANGES = [
    Mutator.flip, Mutator.put, Mutator.insert, Mutator.word, Mutator.word, Mutator.remove, Mutator.double, Mutator.cut,
    Mutator.splice, Mutator.stretch,
]
