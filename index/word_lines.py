"""The words of a long text, the same as `index.words` cuts them, many times quicker.

Apart from it, since the recall hook loads that and never cuts a long text.
"""

from __future__ import annotations

import re
from operator import add

from index.words import KNOWN, MOST_KNOWN, Separators, word_parts, words_of

SEVERAL = "\x02"  # no word has it
_TABLE = Separators({10: "\n"})
# The signs that prose has beyond ASCII: without them most of it is ASCII alone, which is cut much quicker.
SIGNS = "—–…’‘“”→•·×≥≤✓✅❌"
# What `is_cjk` takes in, as a set of characters.
_CJK = "\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0010ffff"
_SEPARATORS = re.compile(rf"[^\w{_CJK}]+|_+")
_PAIRED = re.compile(rf"[{_CJK}](?:[ {_CJK}]*[{_CJK}])?")


class Words(dict[str, str]):
    """What each word stands for, a space behind every part, `SEVERAL` before more than one; fills itself."""

    def __missing__(self, word: str) -> str:
        """Remembered as in `word_parts`."""
        if len(self) > MOST_KNOWN:
            self.clear()
        parts = word_parts(word)
        self[word] = found = "".join([SEVERAL * (len(parts) > 1), *[f"{part} " for part in parts]])
        return found


WORDS = Words()


def cut_lines(text: str) -> str | None:
    """A text of which its words and line ends are left, spaces for all else; None for one with CJK characters."""
    if text.isascii():
        return text.translate(_TABLE)
    for sign in SIGNS:
        text = text.replace(sign, " ")
    cut = text.translate(_TABLE)
    return None if "\x00" in cut else cut


def all_words(text: str) -> list[str]:
    """`words_of` a text, whose CJK characters are paired a run at a time."""
    if text.isascii():
        return words_of(text)
    found: list[str] = []
    text, end = _SEPARATORS.sub(" ", text), 0
    for run in _PAIRED.finditer(text):
        found += _plain_words(text[end : run.start()])
        end = run.end()
        # The one blank among them is no word of its own for `words_of`, but what stands for it is.
        signs = run[0].replace(" ", "").replace("\u3000", "\x00")
        found += map(add, signs, signs[1:]) if len(signs) > 1 else signs
    return found + _plain_words(text[end:])


def _plain_words(cut: str) -> list[str]:
    """What words with blanks between them stand for."""
    found: list[str] = []
    for word in cut.split():
        parts = KNOWN.get(word)
        found += word_parts(word) if parts is None else parts
    return found
