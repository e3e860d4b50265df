"""The cheap gate before the rules: which of them could fire at all, by the words that a block holds."""

from __future__ import annotations

from collections.abc import Iterable

from detectors.poison.rule import Rule

# A literal in a rule's `needs`, looked for anywhere in the block instead of at the beginning of a word.
LITERAL = "="
MAX_KNOWN_WORDS = 50_000
BLANKS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


def words_of(text: str) -> list[str]:
    """The words of folded text: runs of letters, digits and underscores."""
    return text.translate(BLANKS).split()


class Gate(dict[str, int]):
    """Word -> the needs it meets, as bits; filled as words are met, and emptied when it grows too large."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__()
        self.rules = tuple(rules)
        groups = sorted({group for rule in self.rules for group in rule.needs})
        bit_of = {group: 1 << place for place, group in enumerate(groups)}
        self.stems: dict[str, int] = {}
        self.literals: list[tuple[str, int]] = []
        for group in groups:
            for stem in group.split():
                if stem.startswith(LITERAL):
                    self.literals.append((stem[1:], bit_of[group]))
                else:
                    self.stems[stem] = self.stems.get(stem, 0) | bit_of[group]
        self.needed = tuple((rule, sum(bit_of[group] for group in set(rule.needs))) for rule in self.rules)
        self.chosen: dict[int, tuple[Rule, ...]] = {}

    def __missing__(self, word: str) -> int:
        bits = 0
        for length in range(1, len(word) + 1):
            bits |= self.stems.get(word[:length], 0)
        if len(self) >= MAX_KNOWN_WORDS:
            self.clear()
        self[word] = bits
        return bits

    def candidates(self, block: str, words: Iterable[str]) -> tuple[Rule, ...]:
        """The rules whose every need a block meets."""
        bits = 0
        for word in words:
            bits |= self[word]
        for literal, bit in self.literals:
            if literal in block:
                bits |= bit
        found = self.chosen.get(bits)
        if found is None:
            if len(self.chosen) >= MAX_KNOWN_WORDS:
                self.chosen.clear()
            found = self.chosen[bits] = tuple(rule for rule, need in self.needed if bits & need == need)
        return found
