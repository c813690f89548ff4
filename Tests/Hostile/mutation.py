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
        chance = random.Random(number)
        data = bytearray(chance.choice(self.seeds))
        if chance.randrange(20):
            for _ in range(1 + chance.randrange(most)):
                chance.choice(CHANGES)(self, chance, data)
        return bytes(data[:64 << 10])

    def _place(self, chance, data):
        return chance.randrange(len(data) + 1)

    def _span(self, chance, data):
        start = self._place(chance, data)
        return start, min(len(data), start + 1 + chance.randrange(32))

    def flip(self, chance, data):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)

    def put(self, chance, data):
        if data:
            data[chance.randrange(len(data))] = chance.choice(INTERESTING)

    def insert(self, chance, data):
        place = self._place(chance, data)
        data[place:place] = bytes(chance.choice(INTERESTING) for _ in range(1 + chance.randrange(4)))

    def word(self, chance, data):
        place = self._place(chance, data)
        data[place:place] = chance.choice(self.words)

    def remove(self, chance, data):
        start, end = self._span(chance, data)
        del data[start:end]

    def double(self, chance, data):
        start, end = self._span(chance, data)
        data[end:end] = bytes(data[start:end]) * (1 + chance.randrange(3))

    def cut(self, chance, data):
        del data[self._place(chance, data):]

    def splice(self, chance, data):
        other = chance.choice(self.seeds)
        place = self._place(chance, data)
        data[place:] = other[chance.randrange(len(other) + 1):]

    def stretch(self, chance, data):
        if data:
            place = chance.randrange(len(data))
            data[place:place] = bytes([data[place]]) * chance.choice([64, 1024, 9000])


CHANGES = [
    Mutator.flip, Mutator.put, Mutator.insert, Mutator.word, Mutator.word, Mutator.remove, Mutator.double, Mutator.cut,
    Mutator.splice, Mutator.stretch,
]
