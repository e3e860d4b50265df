"""The words of many solutions at once, on arrays: the same as `index.recall_rows.texts_of` makes of each.

Words are looked up by their bytes, so that what a word stands for is worked out once for all texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from index.recall_rows import (
    CODE,
    FENCE,
    LONGEST_BODY,
    LONGEST_SENTENCES,
    MOST_CODE,
    MOST_SENTENCES,
    Texts,
    texts_of,
    triggers_text,
)
from index.records import Solution
from index.word_lines import SIGNS
from index.words import MOST_KNOWN, word_parts

Int = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

BATCH_CHARS = 256 * 1024  # more take longer to come from memory, fewer spend their time on calls
_TITLE, _NAMES, _PROSE, _INFO, _BLOCK, _INLINE = range(6)
_SLOTS = 18  # bits of a slot's number
_SHORT = 16  # words of so many bytes are found on arrays, longer ones one by one
_LETTERS = bytes(chr(byte).isalnum() for byte in range(128)) + bytes(128)
# After these a line's end does not flow into the next line; those of `recall_rows._FLOWING`.
_STOPS = np.array([chr(byte) in "\n*#>|-" for byte in range(128)])
# The bytes that count of the first eight of a word, and of the next eight, by its length up to `_SHORT`.
_HEAD: U64 = np.array([(1 << (8 * min(size, 8))) - 1 for size in range(_SHORT + 1)], dtype=np.uint64)
_TAIL: U64 = np.array([(1 << (8 * max(size - 8, 0))) - 1 for size in range(_SHORT + 1)], dtype=np.uint64)
_M1, _M2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_PAD = " " * 24


class _Vocabulary:
    """What words stand for, each a number; number 0 is none."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << _SLOTS, dtype=np.int32)
        self._heads = np.zeros((2, 1 << 12), dtype=np.uint64)
        self._spans = np.zeros((2, 1 << 12), dtype=np.int64)
        self._parts = np.zeros(1 << 12, dtype=np.int64)
        self._filled = 0
        self._words: dict[str, int] = {"": 0}
        self._stems: dict[str, int] = {}
        self.texts: list[str] = []  # of each stem with a space behind it, then with a line's end

    def is_full(self) -> bool:
        """Whether it is time for a new one."""
        return len(self._words) > MOST_KNOWN

    def numbers(self, content: bytes, starts: Int, sizes: Int) -> Int:
        """The numbers of the words of an ASCII text that ends in blanks."""
        raw = np.ndarray((len(content) - 7,), np.dtype("<u8"), content, strides=(1,))
        bounded = np.minimum(sizes, _SHORT)
        head = raw[starts] & _HEAD[bounded]
        tail = raw[starts + 8] & _TAIL[bounded]
        slots = ((head * _M1 ^ tail * _M2) * _M2) >> np.uint64(64 - _SLOTS)
        found: Int = self._slots[slots].astype(np.int64)
        known = (self._heads[0, found] == head) & (self._heads[1, found] == tail) & (sizes <= _SHORT) & (found > 0)
        for place in np.flatnonzero(~known).tolist():
            word = content[starts[place] : starts[place] + sizes[place]].decode()
            number = self._words.get(word)
            if number is None:
                number = self._add(word)
                if sizes[place] <= _SHORT and not self._slots[slots[place]]:
                    self._slots[slots[place]] = number
                    self._heads[:, number] = head[place], tail[place]
            found[place] = number
        return found

    def parts(self, numbers: Int) -> tuple[Int, Int]:
        """The stems that these words stand for, and the place among them of the word that each comes from."""
        firsts, counts = self._spans[0, numbers], self._spans[1, numbers]
        place = np.repeat(np.arange(len(numbers)), counts)
        shift = firsts - (np.cumsum(counts) - counts)
        return self._parts[np.arange(len(place)) + shift[place]], place

    def _add(self, word: str) -> int:
        number = self._words[word] = len(self._words)
        if number >= self._spans.shape[1]:
            self._heads, self._spans = (np.concatenate([rows, rows * 0], axis=1) for rows in (self._heads, self._spans))
        parts = word_parts(word)
        self._spans[:, number] = self._filled, len(parts)
        while self._filled + len(parts) > len(self._parts):
            self._parts = np.concatenate([self._parts, self._parts])
        for part in parts:
            stem = self._stems.setdefault(part, len(self._stems))
            if stem * 2 == len(self.texts):
                self.texts += (f"{part} ", f"{part}\n")
            self._parts[self._filled] = stem
            self._filled += 1
        return number


_KEPT = [_Vocabulary()]


def texts_of_all(solutions: Sequence[Solution]) -> list[Texts]:
    """`texts_of` each of them."""
    found: list[Texts | None] = [None] * len(solutions)
    for batch in _batches(solutions):
        cuts = [(place, pieces) for place in batch if (pieces := _pieces(solutions[place])) is not None]
        for (place, _), texts in zip(cuts, _texts([pieces for _, pieces in cuts]) if cuts else (), strict=True):
            found[place] = texts
    return [texts_of(each) if texts is None else texts for each, texts in zip(solutions, found, strict=True)]


def _batches(solutions: Sequence[Solution]) -> Iterator[range]:
    first = size = 0
    for place, each in enumerate(solutions):
        size += len(each.body)
        if size >= BATCH_CHARS:
            yield range(first, place + 1)
            first, size = place + 1, 0
    yield range(first, len(solutions))


def _pieces(each: Solution) -> list[tuple[int, str]] | None:
    """The texts of a solution, all ASCII, with what they are; None where that is not possible."""
    title, tags, body = each.title, " ".join(each.tags), each.body[:LONGEST_BODY]
    names = f"{tags} {title} {tags} {triggers_text(each)}"
    if not body.isascii():
        body = _plain(body)
    if not names.isascii():
        title, names = _plain(title), _plain(names)
    if "\n" in title or not (body.isascii() and names.isascii()):
        return None
    parts = FENCE.split(body) if "```" in body else [body]
    inline = " ".join([code for part in parts[::3] for code in CODE.findall(part)]) if "`" in body else ""
    kinds = (_PROSE, _INFO, _BLOCK)
    return [
        (_TITLE, title),
        (_NAMES, names),
        *[(kinds[place % 3], part) for place, part in enumerate(parts)],
        (_INLINE, inline),
    ]


def _plain(text: str) -> str:
    """A text with a sign that is no blank for the commonest ones beyond ASCII."""
    for sign in SIGNS:
        text = text.replace(sign, "\x01")
    return text


def _texts(lessons: Sequence[Sequence[tuple[int, str]]]) -> Iterator[Texts]:
    if _KEPT[0].is_full():
        _KEPT[0] = _Vocabulary()
    vocabulary = _KEPT[0]
    pieces = [piece for lesson in lessons for piece in lesson]
    content = f" {' '.join([said for _, said in pieces])}{_PAD}".encode()
    firsts = np.fromiter(accumulate([1, *[len(said) + 1 for _, said in pieces[:-1]]]), np.int64, len(pieces))
    kinds = np.array([kind for kind, _ in pieces])
    owners = np.repeat(np.arange(len(lessons)), [len(lesson) for lesson in lessons])

    letters = np.frombuffer(content.translate(_LETTERS), dtype=np.uint8)
    edges = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    starts, sizes = edges[::2], edges[1::2] - edges[::2]
    stems, word = vocabulary.parts(vocabulary.numbers(content, starts, sizes))
    piece = _spread(starts, firsts)[word]
    kind, owner = kinds[piece], owners[piece]
    line = _spread(starts, _line_begins(content, firsts))[word]

    texts = vocabulary.texts
    spoken = kind != _INLINE
    words = _joined(texts, stems[spoken] * 2, owner[spoken], len(lessons))

    said = np.flatnonzero((kind == _TITLE) | (kind == _PROSE))
    said = said[_is_first(line[said] * (len(texts) + 1) + stems[said])]
    last = np.append(line[said][1:] != line[said][:-1], True)[: len(said)]
    before = np.cumsum(last) - last
    begin = np.append(before, 0)[np.searchsorted(owner[said], np.arange(len(lessons)))]
    bounded = before - begin[owner[said]] < MOST_SENTENCES
    sentences = _joined(texts, (stems[said] * 2 + last)[bounded], owner[said][bounded], len(lessons))

    code = np.flatnonzero(kind >= _BLOCK)
    code = code[_is_first(owner[code] * (len(texts) + 1) + stems[code])]
    begin = np.searchsorted(owner[code], np.arange(len(lessons)))
    code = code[np.arange(len(code)) - begin[owner[code]] < MOST_CODE]
    codes = _joined(texts, stems[code] * 2, owner[code], len(lessons))
    for all_words, lines, of_code in zip(words, sentences, codes, strict=True):
        yield Texts(all_words, lines[:LONGEST_SENTENCES], of_code)


def _spread(starts: Int, firsts: Int) -> Int:
    """For each place among `starts` the number of the last one of `firsts` that is not behind it."""
    counts = np.diff(np.append(np.searchsorted(starts, firsts), len(starts)))
    return np.repeat(np.arange(len(firsts)), counts)


def _line_begins(content: bytes, firsts: Int) -> Int:
    """Where lines, sentences and pieces begin."""
    raw = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(raw == 10)
    flows = (raw[ends - 1] != 10) & ~_STOPS[raw[ends + 1]]
    dots = np.flatnonzero(raw == 46)
    after = raw[dots + 1]
    last = dots[after == 10]  # of its line
    last = last[flows[np.searchsorted(ends, last + 1)]]
    return np.sort(np.concatenate([firsts, ends[~flows], dots[after == 32], last]), kind="stable")


def _is_first(keys: Int) -> Bools:
    """Where each key stands for the first time."""
    bits = max(4, len(keys).bit_length() + 3)
    slots = (keys.astype(np.uint64) * _M1) >> np.uint64(64 - bits)
    places = np.arange(len(keys))
    winners = np.empty(1 << bits, dtype=np.int64)
    winners[slots[::-1]] = places[::-1]  # of several the last one written stays
    winner = winners[slots]
    first: Bools = winner == places
    others = np.flatnonzero(keys[winner] != keys)
    _, new = np.unique(keys[others], return_index=True)
    first[others[new]] = True
    return first


def _joined(texts: Sequence[str], numbers: Int, owner: Int, count: int) -> Iterator[str]:
    """The texts of these numbers, those of one owner in one."""
    strings = [*map(texts.__getitem__, numbers.tolist())]
    bounds = np.searchsorted(owner, np.arange(count + 1)).tolist()
    for first, end in pairwise(bounds):
        yield "".join(strings[first:end])[:-1]
