"""Remember what was read of short texts that come again and again, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")

MOST = 30_000  # a few hundred bytes each
SHORT = 40  # longer ones hardly come twice


class Known(dict[str, V]):
    """A mapping that reads what it does not know; a known text costs a lookup, which is far less than a call.

    When there are too many, all are forgotten: those that come often are soon read again.
    """

    def __init__(self, read: Callable[[str], V], most: int = MOST) -> None:
        """`read` gives what belongs to a text, always the same; `most` bounds how many are kept."""
        super().__init__()
        self._read = read
        self._most = most

    def __missing__(self, text: str) -> V:
        found = self._read(text)
        if len(text) <= SHORT:
            if len(self) >= self._most:
                self.clear()
            self[text] = found
        return found
