"""Text as a reader or a model takes it: folded to plain lower case, with the way back to the original offsets."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

FEW = 40
NON_ASCII = re.compile(r"[^\x00-\x7f]+")
# A word that mixes Latin letters with Cyrillic, Greek or Armenian ones; no language writes so.
MIXED_WORD = re.compile(r"[a-z\u0370-\u058f]{2,40}")
LOOK_ALIKE = re.compile(r"[\u0370-\u058f]")
STRANGE = re.compile(
    "[\U000e0000-\U000e0fff\u00ad\u180e\u200b\u200c\u202a-\u202e\u2060-\u2069\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9"
    "\U0001f130-\U0001f189]|[\ufe00-\ufe0f]{4}"
)
INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u3164\ufeff\uffa0"
)
TYPOGRAPHY = str.maketrans("‘’‚‛“”„‟′″‐‑‒–—―−→⇒…•·", "''''\"\"\"\"'\"------->>.--")
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԛԝһԁӏвкмнтгѵьαοερνικτυχγηβζμ" + "օսցհոզԍ",
    "aeopcyxijsqwhdlbkmhtrvbaoepviktuxynbzu" + "ouqhnqg",
)


@dataclass(frozen=True, slots=True)
class Normal:
    """Folded text. `edits` are (position here, position in the original) wherever the distance between both changes.

    `mixed` are the words here that join look-alike letters of two scripts; `strange` says that the original holds
    characters that are not seen, turn the direction of the text, or are styled forms of plain letters.
    """

    text: str
    edits: tuple[tuple[int, int], ...] = ()
    mixed: tuple[tuple[int, int], ...] = ()
    strange: bool = False

    def original(self, position: int) -> int:
        """The offset in the original text of a position in the folded one."""
        if not self.edits:
            return position
        place = bisect_right(self.edits, (position, 1 << 62)) - 1
        here, there = self.edits[place] if place >= 0 else (0, 0)
        found = there + position - here
        if place + 1 < len(self.edits):  # inside what one character became, it is that character
            found = min(found, self.edits[place + 1][1] - 1)
        return found

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original span of a folded one; never empty where the folded one is not."""
        first = self.original(start)
        return first, max(self.original(end - 1) + 1, first) if end > start else first


def normalise(text: str) -> Normal:
    """Fold a text: NFKC, no invisible characters or accents, look-alike letters in mixed words to Latin, lower case."""
    if text.isascii():
        return Normal(text.lower())
    odd = "".join(set("".join(NON_ASCII.findall(text))))
    table = {char: fold(char) for char in odd}
    if all(len(plain) == 1 for plain in table.values()):
        return _with_look_alikes(_replaced(text, table).lower(), (), odd)
    pieces: list[str] = []
    edits: list[tuple[int, int]] = []
    runs: list[str] = []
    done = here = 0
    for match in NON_ASCII.finditer(text):
        pieces.append(text[done : match.start()])
        here += match.start() - done
        runs.append(match.group())
        for offset, char in enumerate(match.group(), match.start()):
            folded = fold(char)
            pieces.append(folded)
            here += len(folded)
            if len(folded) != 1:
                edits.append((here, offset + 1))
        done = match.end()
    pieces.append(text[done:])
    return _with_look_alikes("".join(pieces).lower(), tuple(edits), "".join(runs))


def _with_look_alikes(plain: str, edits: tuple[tuple[int, int], ...], odd: str) -> Normal:
    """Folded text with the look-alike letters of mixed words as Latin ones; `odd` are the characters outside ASCII."""
    mixed: tuple[tuple[int, int], ...] = ()
    if LOOK_ALIKE.search(odd):
        mixed = tuple(match.span() for match in MIXED_WORD.finditer(plain) if is_mixed(match.group()))
    strange = STRANGE.search(odd) is not None
    for start, end in mixed:
        plain = plain[:start] + plain[start:end].translate(LOOK_ALIKES) + plain[end:]
    return Normal(plain, edits, mixed, strange)


def _replaced(text: str, table: Mapping[str, str]) -> str:
    """A text with single characters for others; where they are few, the plain way is faster than a table."""
    others = {char: plain for char, plain in table.items() if char != plain}
    if len(others) > FEW or not others.keys().isdisjoint(others.values()):
        return text.translate({ord(char): plain for char, plain in others.items()})
    for char, plain in others.items():
        text = text.replace(char, plain)
    return text


@lru_cache(maxsize=8192)
def fold(char: str) -> str:
    """One character outside ASCII as plain lower-case text; "" for what cannot be seen."""
    if char in INVISIBLE or 0xE0000 <= ord(char) <= 0xE0FFF or 0xFE00 <= ord(char) <= 0xFE0F:
        return ""
    char = char.translate(TYPOGRAPHY)
    if char.isascii():
        return char
    kept = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c)).lower()
    return kept if kept and len(kept) <= 4 else "" if not kept else char


def is_mixed(word: str) -> bool:
    """Whether a word joins Latin letters with look-alikes of another script ("раypal"), not a unit like "µs"."""
    if word.isascii() or len(word) < 4:
        return False
    return any(c.isascii() for c in word) and word.translate(LOOK_ALIKES).isascii()
