"""The cheap gate before the rules: which of them could match in which block, and at which places.

All words of a text are looked up in one go; then a few passes of numpy leave the places where a rule's first words
stand, in blocks that hold what else the rule cannot do without. Only there its pattern is tried.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from detectors.poison.anchors import END
from detectors.poison.openings import openings_of
from detectors.poison.rule import Rule
from detectors.poison.segment import Block
from detectors.poison.views import DIGIT, LETTER, TURNED, Told, told_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.uint64]
    Numbers = NDArray[np.intp]

# A literal in a rule's `needs`, looked for anywhere in the unit instead of at the beginning of a word.
LITERAL = "="
MAX_KNOWN = 200_000
LONGEST_STEM = 24
# Blocks up to so many characters together are asked for a rule's `needs`.
UNIT = 600
WORD = re.compile(r"[a-z0-9_]+")
# Words of folded text in Latin-1: all other characters become blanks.
WORD_BYTES = bytes(code if (chr(code).isalnum() and code < 128) or code == 95 else 32 for code in range(256))
Place = tuple[Block, Rule, list[int]]


class Gate(dict[bytes, int]):
    """Word -> the number of its kind: words of one kind tell the same about every rule.

    Filled as words are met; emptied when it grows too large. Each kind has a row of bits in `table`: the rules whose
    matches can begin with such a word alone, with it and a second word, or go on with it as the second; then the
    `needs` and the required literals that it meets; and what
    `told_by` says of the word.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__()
        self.rules = tuple(rules)
        self.wide = -(-len(self.rules) // 64)  # columns that hold a bit for each rule
        self.begins: dict[str, int] = defaultdict(int)  # beginning of a word -> bits
        self.whole: dict[str, int] = defaultdict(int)  # whole word -> bits
        # By their first two characters: a sign, a rule that it opens, whether a word must follow, and how often.
        self.signs: dict[bytes, list[tuple[str, int, bool, int]]] = {}
        signs: dict[bytes, list[tuple[str, int, bool]]] = defaultdict(list)
        self.scripts: list[tuple[str, int]] = []  # openings that are not Latin
        read = openings_of(self.rules)
        for number, rule in enumerate(self.rules):
            self._learn_openings(number, rule, read[rule.pattern].begins, signs)
        self.signs = {pair: [(*one, times) for one, times in Counter(known).items()] for pair, known in signs.items()}
        needs = [sorted(set(rule.needs)) for rule in self.rules]
        parts = [[one for pattern in rule.parts for one in read[pattern].holds] for rule in self.rules]
        need_bit = {group: 1 << place for place, group in enumerate(sorted({one for some in needs for one in some}))}
        part_bit = {one: 1 << place for place, one in enumerate(dict.fromkeys(one for some in parts for one in some))}
        self.need_columns, part_columns = -(-len(need_bit) // 64), -(-len(part_bit) // 64)
        self.literals: dict[str, int] = defaultdict(int)
        for group, bit in need_bit.items():
            for stem in group.split():
                if stem.startswith(LITERAL):
                    self.literals[stem[1:]] |= bit
                else:
                    self.begins[stem] |= bit << 192 * self.wide
        for one, bit in part_bit.items():
            for literal in one:
                self._learn(literal, bit << 64 * (3 * self.wide + self.need_columns))
        self.needed = rows_of([sum(need_bit[one] for one in some) for some in needs], self.need_columns)
        self.parts = rows_of([sum({part_bit[one] for one in some}) for some in parts], part_columns)
        self.columns = 3 * self.wide + self.need_columns + part_columns + 1
        self.kinds: dict[int, int] = {0: 0}
        self.table = rows_of([0], self.columns)
        self.traits = self.table[:, -1]
        self.openers = Openers.of(self.table, self.wide)
        self.pairs, self.thirds, self.opened = sign_tables(self.signs, 64 * self.wide)
        strange = {one for one in self.literals if not one.isascii()} | {opening for opening, _ in self.scripts}
        self.strange = re.compile(f"[{''.join(sorted({re.escape(one[0]) for one in strange}))}]")

    def _learn_openings(
        self, number: int, rule: Rule, known: Sequence[str], signs: dict[bytes, list[tuple[str, int, bool]]]
    ) -> None:
        if not known:
            raise ValueError(f"{rule.id}: its pattern may begin with anything; let it begin with some word or sign")
        span = 64 * self.wide
        for opening in known:
            words = list(WORD.finditer(opening))
            if not opening[:2].isascii() or not opening[0].isascii():
                self.scripts.append((opening.rstrip(END)[: opening.find(" ") + 1 or None], number))
            elif not words or words[0].start() > 0:
                sign = opening.partition(" ")[0].rstrip(END)
                told = bool(words) and " " in opening[: words[0].start()]
                signs[opening[:2].encode("latin-1")].append((sign, number, told))
                if told:
                    self._learn(opening[words[0].start() :], 1 << 2 * span + number)
            elif len(words) == 1:
                self._learn(opening, 1 << number)
            else:
                self._learn(opening, 1 << span + number)
                self._learn(opening[words[1].start() :], 1 << 2 * span + number)

    def _learn(self, literal: str, bits: int) -> None:
        """Words that begin with a literal have these bits; where the literal goes on after a word, that word alone."""
        word = WORD.match(literal)
        if word is None:
            raise ValueError(f"{literal!r} begins with no word")
        known = self.whole if word.end() < len(literal) else self.begins
        known[word.group()] |= bits

    def __missing__(self, raw: bytes) -> int:
        word = raw.decode("ascii")
        bits = self.whole.get(word, 0)
        begins = self.begins
        for length in range(1, min(len(word), LONGEST_STEM) + 1):
            bits |= begins.get(word[:length], 0)
        bits |= told_by(word) << 64 * (self.columns - 1)
        kind = self.kinds.setdefault(bits, len(self.kinds))
        self[raw] = kind
        return kind

    def places(self, text: str, blocks: Sequence[Block]) -> list[Place]:
        """Each block and rule of which a match could begin there, with the places to try, in order.

        `text` is flat; what comes is in the order of units of neighbouring blocks, then rules, then blocks.
        """
        return self.read(text, blocks)[0]

    def read(self, text: str, blocks: Sequence[Block]) -> tuple[list[Place], Told]:
        """The places of a text, and what its words tell."""
        import numpy as np

        if len(self) > MAX_KNOWN:
            self.clear()
        plain = text.encode("latin-1", "replace")  # a byte for each character
        shape = plain.translate(WORD_BYTES)
        words = shape.split()
        kinds = np.fromiter(map(self.__getitem__, words), np.intp, len(words))
        if len(self.kinds) > len(self.table):
            self.table = rows_of(list(self.kinds), self.columns)
            self.traits = self.table[:, -1].astype(np.uint8)
            self.openers = Openers.of(self.table, self.wide)
        told = told_of(self.traits[kinds])
        inside = np.frombuffer(b" " + shape, np.uint8) != 32
        starts = np.flatnonzero(inside[1:] > inside[:-1])
        firsts = np.array([block.start for block in blocks])
        lasts = np.array([block.end for block in blocks])
        low, high = np.searchsorted(starts, firsts), np.searchsorted(starts, lasts)
        block_of = np.repeat(np.arange(len(blocks)), high - low)  # of each word in each block: blocks may overlap
        word_of = np.arange(len(block_of)) - np.repeat(np.cumsum(high - low) - high, high - low)
        unit_of = units(blocks)
        needs, parts = self._met(text, blocks, unit_of, block_of, kinds[word_of])
        # Of each unit, whether it meets the `needs` of each rule.
        unit_meets: NDArray[np.bool_] = np.ones((len(needs), len(self.rules)), np.bool_)
        for wanted, met in zip(self.needed.T, needs.T, strict=True):
            unit_meets &= (wanted & ~met[:, None]) == 0
        possible = self._possible(unit_meets, parts)
        at, rule = self.openers.expand(kinds[word_of])
        kept = possible[rule]
        at, rule = at[kept], rule[kept]
        word = word_of[at]
        goes_on = self.table[np.append(kinds, 0), 2 * self.wide : 3 * self.wide]
        kept = self.openers.follows(rule, goes_on[word + 1])
        rule = rule[kept] % (64 * self.wide)
        block, place = block_of[at[kept]], starts[word[kept]]
        signs = self._signs(text, plain, blocks, starts, goes_on, possible)
        if signs:
            more = np.array(signs, np.intp)
            block, rule, place = (np.append(a, b) for a, b in zip((block, rule, place), more.T, strict=True))
        unit = unit_of[block]
        wanted = self.parts[rule]
        good = ((parts[block] & wanted) == wanted).all(axis=1)
        good &= unit_meets[unit, rule]
        unit, rule, block, place = unit[good], rule[good], block[good], place[good]
        order = np.lexsort((place, block, rule, unit))
        keys = (rule * len(blocks) + block)[order]
        if not len(keys):
            return [], told
        edges = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])).tolist()
        found, every = keys[edges].tolist(), place[order].tolist()
        places = []
        for key, first, last in zip(found, edges, [*edges[1:], len(every)], strict=True):
            number, of_block = divmod(key, len(blocks))
            places.append((blocks[of_block], self.rules[number], every[first:last]))
        return places, told

    def _met(
        self, text: str, blocks: Sequence[Block], unit_of: Numbers, block_of: Numbers, kinds: Numbers
    ) -> tuple[Bits, Bits]:
        """The `needs` that each unit meets, and the required literals that each block holds, as bits."""
        import numpy as np

        count = int(unit_of[-1]) + 1
        middle = 3 * self.wide + self.need_columns
        needs = gathered(self.table[:, 3 * self.wide : middle], kinds, unit_of[block_of], count)
        first = np.searchsorted(unit_of, np.arange(count + 1)).tolist()
        plain = text.isascii() or self.strange.search(text) is None
        for literal, bit in self.literals.items():
            if (literal.isascii() or not plain) and literal in text:
                row = rows_of([bit], self.need_columns)[0]
                for unit in range(count):
                    if text.find(literal, blocks[first[unit]].start, blocks[first[unit + 1] - 1].end) >= 0:
                        needs[unit] |= row
        return needs, gathered(self.table[:, middle:-1], kinds, block_of, len(blocks))

    def _possible(self, unit_meets: NDArray[np.bool_], parts: Bits) -> NDArray[np.bool_]:
        """Whether the whole text meets what each rule needs, by the rules' numbers as `Openers` counts them."""
        import numpy as np

        possible = np.zeros((2, 64 * self.wide), np.bool_)
        lacks = (self.parts & ~np.bitwise_or.reduce(parts)).any(axis=1)
        possible[:, : len(self.rules)] = unit_meets.any(axis=0) & ~lacks
        return possible.ravel()

    def _signs(
        self,
        text: str,
        plain: bytes,
        blocks: Sequence[Block],
        starts: Numbers,
        goes_on: Bits,
        possible: NDArray[np.bool_],
    ) -> list[tuple[int, int, int]]:
        """The block, rule and place of each opening that is no word."""
        import numpy as np

        codes = np.frombuffer(plain + b"  ", np.uint8)
        known = self.pairs[np.ndarray(len(plain), "<u2", codes, strides=(1,))]
        hits = np.flatnonzero(known)
        opened: NDArray[np.bool_] = np.any(self.opened & possible[: 64 * self.wide], axis=1)
        hits = hits[opened[known[hits]]]
        hits = hits[self.thirds[known[hits], codes[hits + 2]]]
        places: list[tuple[int, int]] = []
        able = possible.tolist()
        following = goes_on[np.searchsorted(starts, hits)].tolist()
        for place, bits in zip(hits.tolist(), following, strict=True):
            for sign, number, told, times in self.signs.get(plain[place : place + 2], ()):
                follows = not told or bits[number // 64] >> number % 64 & 1
                if follows and able[number] and text.startswith(sign, place):
                    places += [(place, number)] * times
        if not text.isascii() and self.strange.search(text):
            for opening, number in self.scripts:
                place = text.find(opening)
                while place >= 0:
                    places.append((place, number))
                    place = text.find(opening, place + 1)
        ends = [block.end for block in blocks]
        found = []
        for place, number in places:
            block = bisect_right(ends, place)
            while block < len(blocks) and blocks[block].start <= place:  # pieces of a long block overlap
                found.append((block, number, place))
                block += 1
        return found


def told_of(traits: Bits) -> Told:
    """What all words of a text tell, given what each does: four single letters in a row may be spaced out."""
    import numpy as np

    letters = traits & LETTER
    in_row = letters[:-3] & letters[1:-2] & letters[2:-1] & letters[3:]
    every = int(np.bitwise_or.reduce(traits))
    return Told(bool(in_row.any()), bool(every & DIGIT), bool(every & TURNED))


def units(blocks: Sequence[Block]) -> Numbers:
    """The number of each block's unit: neighbouring blocks up to `UNIT` characters."""
    import numpy as np

    numbers: list[int] = []
    begin = unit = 0
    for place, block in enumerate(blocks):
        if place == 0:
            begin = block.start
        elif block.end - begin > UNIT:
            unit, begin = unit + 1, block.start
        numbers.append(unit)
    return np.array(numbers)


def rows_of(numbers: Sequence[int], columns: int) -> Bits:
    """Whole numbers as rows of 64 bits each, the lowest first."""
    import numpy as np

    data = b"".join(number.to_bytes(8 * columns, "little") for number in numbers)
    return np.frombuffer(data, "<u8").reshape(len(numbers), columns)


def gathered(table: Bits, kinds: Numbers, group: Numbers, count: int) -> Bits:
    """The table's rows of these kinds, those of each group joined by "or"; `group` ascends."""
    import numpy as np

    joined = np.zeros((count, table.shape[1]), np.uint64)
    if len(group):
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        for column in range(table.shape[1]):
            joined[group[starts], column] = np.bitwise_or.reduceat(table[:, column][kinds], starts)
    return joined


@dataclass(frozen=True, slots=True)
class Openers:
    """The rules that words of each kind can open, laid end to end: alone by their number, and those that want a second
    word by their number and the width of a row."""

    rules: Numbers
    first: Numbers
    count: Numbers
    width: int

    @classmethod
    def of(cls, table: Bits, wide: int) -> Openers:
        """Read from the table of kinds, of which `wide` columns hold a bit for each rule."""
        import numpy as np

        bits = np.unpackbits(np.ascontiguousarray(table[:, : 2 * wide]).view(np.uint8), axis=1, bitorder="little")
        count = bits.sum(axis=1, dtype=np.intp)
        return cls(np.nonzero(bits)[1], np.cumsum(count) - count, count, 64 * wide)

    def expand(self, kinds: Numbers) -> tuple[Numbers, Numbers]:
        """The place among these words, and the rule, of every rule that one opens."""
        import numpy as np

        count = self.count[kinds]
        at = np.repeat(np.arange(len(kinds)), count)
        within = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
        return at, self.rules[self.first[kinds][at] + within]

    def follows(self, rules: Numbers, goes_on: Bits) -> NDArray[np.bool_]:
        """Whether each of these rules wants no second word, or the word that follows can be it."""
        import numpy as np

        number = rules % self.width
        bits = np.take_along_axis(goes_on, (number // 64)[:, None], axis=1)[:, 0]
        told = (bits >> (number % 64).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
        return told | (rules < self.width)


def sign_tables(
    signs: Mapping[bytes, Sequence[tuple[str, int, bool, int]]], rules: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.bool_]]:
    """The number of each pair of bytes that begins a sign, from 1; and for it, which byte may come third, and which
    of so many rules it may open."""
    import numpy as np

    pairs, thirds = np.zeros(1 << 16, np.uint8), np.zeros((len(signs) + 1, 256), np.bool_)
    opened = np.zeros((len(signs) + 1, rules), np.bool_)
    for row, (pair, known) in enumerate(signs.items(), 1):
        pairs[pair[0] | pair[1] << 8] = row
        for sign, number, _, _ in known:
            thirds[row, [ord(sign[2])] if len(sign) > 2 else slice(None)] = True
            opened[row, number] = True
    return pairs, thirds, opened
