"""The cheap gate before the rules: which of them could fire in a block, and where, by the words that it holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from detectors.poison.anchors import anchors
from detectors.poison.rule import Rule

# A literal in a rule's `needs`, looked for anywhere in the block instead of at the beginning of a word.
LITERAL = "="
MAX_KNOWN = 50_000
LONGEST_STEM = 24
WORD = re.compile(r"[a-z0-9_]+")
Known = tuple[int, tuple[int, ...]]


class Gate(dict[str, Known]):
    """Word -> the needs it meets, as bits, and the rules whose matches can begin with it.

    Filled as words are met; emptied when it grows too large.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__()
        self.rules = tuple(rules)
        groups = sorted({group for rule in self.rules for group in rule.needs})
        bit_of = {group: 1 << place for place, group in enumerate(groups)}
        self.needs: dict[str, int] = defaultdict(int)
        self.literals: dict[str, int] = defaultdict(int)
        for group in groups:
            for stem in group.split():
                if stem.startswith(LITERAL):
                    self.literals[stem[1:]] |= bit_of[group]
                else:
                    self.needs[stem] |= bit_of[group]
        self.starts: dict[str, set[int]] = defaultdict(set)
        self.whole: dict[str, set[int]] = defaultdict(set)
        self.signs: dict[int, list[str]] = defaultdict(list)
        plain: set[int] = set()
        for number, rule in enumerate(self.rules):
            literals = anchors(rule.compiled[0])
            if not literals:
                plain.add(number)
            for literal in literals:
                word = WORD.match(literal)
                if word and word.end() < len(literal):
                    self.whole[word.group()].add(number)  # the literal goes on after the word, so it is all of it
                elif word:
                    self.starts[word.group()].add(number)
                else:
                    self.signs[number].append(literal)
        self.plain = frozenset(plain)
        self.signed = frozenset(self.signs)
        self.needed = tuple(sum(bit_of[group] for group in set(rule.needs)) for rule in self.rules)
        self.chosen: dict[int, frozenset[int]] = {}

    def __missing__(self, word: str) -> Known:
        bits, rules = 0, set(self.whole.get(word, ()))
        for length in range(1, min(len(word), LONGEST_STEM) + 1):
            bits |= self.needs.get(word[:length], 0)
            rules |= self.starts.get(word[:length], set())
        if len(self) >= MAX_KNOWN:
            self.clear()
        self[word] = known = (bits, tuple(sorted(rules)))
        return known

    def candidates(self, text: str, start: int, end: int, holds: dict[str, bool]) -> Iterator[tuple[Rule, list[int]]]:
        """The rules that could fire between two offsets, each with the places to try, in order.

        `holds` remembers, for one text, which signs it holds at all.
        """
        bits = 0
        begun: list[tuple[str, tuple[int, ...]]] = []
        for word in set(WORD.findall(text, start, end)):
            met, rules = self[word]
            bits |= met
            if rules:
                begun.append((word, rules))
        for literal, bit in self.literals.items():
            if literal not in holds:
                holds[literal] = literal in text
            if holds[literal] and text.find(literal, start, end) >= 0:
                bits |= bit
        chosen = self._chosen(bits)
        if not chosen:
            return
        places: dict[int, list[int]] = {}
        for word, rules in begun:
            wanted = [number for number in rules if number in chosen]
            if wanted:
                found = occurrences(text, word, start, end)
                for number in wanted:
                    places.setdefault(number, []).extend(found)
        for number in chosen & self.signed:
            for sign in self.signs[number]:
                if sign not in holds:
                    holds[sign] = sign in text
                if holds[sign]:
                    places.setdefault(number, []).extend(occurrences(text, sign, start, end))
        for number in sorted(places):
            if places[number]:
                yield self.rules[number], sorted(places[number])
        for number in sorted(chosen & self.plain):
            yield self.rules[number], list(range(start, end))

    def _chosen(self, bits: int) -> frozenset[int]:
        found = self.chosen.get(bits)
        if found is None:
            if len(self.chosen) >= MAX_KNOWN:
                self.chosen.clear()
            numbers = (number for number, needed in enumerate(self.needed) if bits & needed == needed)
            found = self.chosen[bits] = frozenset(numbers)
        return found


def occurrences(text: str, literal: str, start: int, end: int) -> list[int]:
    """Every place between two offsets where a literal stands."""
    found = []
    place = text.find(literal, start, end)
    while place >= 0:
        found.append(place)
        place = text.find(literal, place + 1, end)
    return found
