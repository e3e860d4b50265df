"""The gate before the rules saves work and never changes what is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.poison.examine import flatten, gate
from detectors.poison.gate import UNIT, WORD
from detectors.poison.normalise import normalise
from detectors.poison.openings import KEPT, openings_of, read_opening, render_openings
from detectors.poison.rule import Rule
from detectors.poison.rules import RULES
from detectors.poison.segment import Block, segment

Found = tuple[str, int, int, int]

# What rules are about, in pieces that can be joined anew: their own test texts, and their words alone.
TEXTS = sorted({text for rule in RULES for text in (*rule.examples, *rule.harmless)})
PIECES = sorted({word for text in TEXTS for word in text.split()})
SEAMS = st.sampled_from([" ", "  ", "\n", "\n\n", ", ", ". ", "-", "\n- ", "\n# ", "`", "é", " — ", "\n| ", "    "])
DRAWN = st.lists(st.tuples(st.sampled_from(TEXTS) | st.sampled_from(PIECES), SEAMS), max_size=40)


def with_gate(text: str, blocks: tuple[Block, ...]) -> set[Found]:
    """What is found at the places that the gate names."""
    found = set()
    for block, rule, places in gate().places(text, blocks):
        match = rule.find(text, block.start, block.end, places)
        if match is not None:
            found.add((rule.id, block.start, *match.span()))
    return found


def without_gate(text: str, blocks: tuple[Block, ...]) -> set[Found]:
    """What is found where every rule whose `needs` are met is tried at every word and every sign."""
    found = set()
    for unit in units(blocks):
        words = WORD.findall(text, unit[0].start, unit[-1].end)
        for rule in RULES:
            if all(meets(text, unit, words, group) for group in rule.needs):
                found |= tried(rule, text, unit)
    return found


def units(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    """Neighbouring blocks up to `UNIT` characters."""
    unit: list[Block] = []
    for block in blocks:
        if unit and block.end - unit[0].start > UNIT:
            yield unit
            unit = []
        unit.append(block)
    if unit:
        yield unit


def meets(text: str, unit: list[Block], words: list[str], group: str) -> bool:
    """Whether a unit holds one of a group's beginnings of words, or of its literals (after "=")."""
    stems = tuple(stem for stem in group.split() if not stem.startswith("="))
    whole = text[unit[0].start : unit[-1].end]
    return any(word.startswith(stems) for word in words) or any(
        stem[1:] in whole for stem in group.split() if stem.startswith("=")
    )


def tried(rule: Rule, text: str, unit: list[Block]) -> set[Found]:
    """What a rule finds in a unit when it is tried everywhere but inside words."""
    found = set()
    for block in unit:
        places = [
            place
            for place in range(block.start, block.end)
            if not (WORD.match(text[place]) and place and WORD.match(text[place - 1]))
        ]
        match = rule.find(text, block.start, block.end, places)
        if match is not None:
            found.add((rule.id, block.start, *match.span()))
    return found


@given(DRAWN)
def test_the_gate_never_changes_what_is_found(drawn: list[tuple[str, str]]) -> None:
    """Texts of attacks, honest lessons and their words in any order, joined in any way."""
    normal = normalise("".join(part for pair in drawn for part in pair))
    blocks = segment(normal.text)
    text = flatten(normal.text)
    if blocks:
        assert with_gate(text, blocks) == without_gate(text, blocks)


def test_every_example_passes_the_gate() -> None:
    """The same for each rule's own texts, as they stand and in one long text."""
    for whole in (*TEXTS, "\n\n".join(TEXTS), " ".join(TEXTS)):
        normal = normalise(whole)
        blocks, text = segment(normal.text), flatten(normal.text)
        assert with_gate(text, blocks) == without_gate(text, blocks), whole[:80]


def test_the_kept_openings_are_those_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m benchmarks.poison_openings` was run; and where it was not, the patterns are read anew."""
    assert KEPT.read_text(encoding="utf-8") == render_openings(RULES), "run python -m benchmarks.poison_openings"
    kept = openings_of(RULES)
    assert kept == {pattern: read_opening(pattern) for pattern in kept}
    other = Rule("override.other", "override", "low", "another", (), "dis(?:regard|obey) (?:it|them)", ("x",))
    assert openings_of([other])[other.pattern] == read_opening(other.pattern)
    monkeypatch.setattr("detectors.poison.openings._version", lambda: "of another time")
    assert openings_of(RULES[:3]).items() <= kept.items()
