"""The words of a long text line by line, the same as `index.words` cuts them, many times quicker.

Apart from it, since the recall hook loads that and never cuts a long text.
"""

from __future__ import annotations

from index.words import MOST_KNOWN, Separators, word_parts

# A line's end becomes a sign that no other character does. (One sign for one is quick to put in, several are not.)
_TABLE = Separators({10: "\x01"})
# The signs that prose has beyond ASCII: without them most of it is ASCII alone, which is cut much quicker.
_SIGNS = "—–…’‘“”→•·×≥≤✓✅❌"


class _Parts(dict[str, str]):
    """What each word stands for, a space behind every part; fills itself."""

    def __missing__(self, word: str) -> str:
        """Remembered as in `word_parts`."""
        if len(self) > MOST_KNOWN:
            self.clear()
        self[word] = found = "\n" if word == "\x01" else "".join([f"{part} " for part in word_parts(word)])
        return found


_PARTS = _Parts()


def word_lines(text: str) -> str | None:
    """The words of each line as `words_of` cuts them, a space behind each; None for a text with CJK characters."""
    if not text.isascii():
        for sign in _SIGNS:
            text = text.replace(sign, " ")
    cut = text.replace("\n", " \n ").translate(_TABLE)
    return None if "\x00" in cut else "".join(map(_PARTS.__getitem__, cut.split()))
