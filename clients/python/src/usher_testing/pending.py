"""A step-up that waits for a person."""

from __future__ import annotations

from .api import Transaction, TransactionCallback
from .control import Control, segment

# pytest shows the line of the test instead
__tracebackhide__ = True


class Pending:
    """One step-up that waits; a test answers or denies it in the place of the person."""

    def __init__(self, control: Control, transaction: Transaction) -> None:
        self._control = control
        self.transaction = transaction
        self.id = transaction["id"]
        self.callbacks = transaction["callbacks"]

    def __repr__(self) -> str:
        asked = ", ".join(f"{one['type']} “{one['prompt']}”" for one in self.callbacks)
        return f"<Pending {self.id} for {self.transaction['resource']}: {asked or self.transaction['kind']}>"

    def answer(self, *values: object, link: str | None = None, **named: object) -> None:
        """Answers its callbacks.

        Values without a name answer the callbacks in their order. A name is a callback's type (`name` for NameCallback) or a
        word of its prompt; with one open callback, any name fits. `link` gives the link that a mail would bring.
        """
        if link is not None:
            body: dict[str, object] = {"link": link}
        else:
            body = {"answers": [{"callback": place, "value": value} for place, value in self._places(values, named)]}
        self._control.ask("POST", f"/v1/transactions/{segment(self.id)}/answer", body)

    def deny(self) -> None:
        """Refuses the step-up. The app gets the original response."""
        self._control.ask("POST", f"/v1/transactions/{segment(self.id)}/deny")

    def _places(self, values: tuple[object, ...], named: dict[str, object]) -> list[tuple[int, object]]:
        open_ = list(self.callbacks)
        found: list[tuple[int, object]] = []
        for name, value in named.items():
            callback = self._fitting(name, open_)
            open_.remove(callback)
            found.append((callback["index"], value))
        if len(values) > len(open_):
            raise ValueError(f"{len(values)} answers for {len(open_)} open callbacks of {self!r}")
        return found + [(callback["index"], value) for callback, value in zip(open_, values)]

    def _fitting(self, name: str, open_: list[TransactionCallback]) -> TransactionCallback:
        word = name.replace("_", "").lower()
        typed = [one for one in open_ if one["type"].lower() in (word, f"{word}callback")]
        prompted = [one for one in open_ if word in one["prompt"].replace(" ", "").lower()]
        for fitting in (typed, prompted, open_):
            if len(fitting) == 1:
                return fitting[0]
        raise ValueError(f"{name} fits {len(typed or prompted)} callbacks of {self!r}")
