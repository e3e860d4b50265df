"""detectors/candidates.py: what is found for all pairs at once is what sets of names give for each."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

import detectors.candidates
from benchmarks.corpus import make_lessons
from detectors.candidates import MOST_PER_KEY, TITLE_WORDS, candidate_pairs, rare_shared, share, weigh_table
from detectors.lesson_table import read_table
from detectors.traits import RARE, Traits, read_traits, weigh
from index.frontmatter import parse_solution
from index.records import Solution, Triggers


def lessons(seed: int, size: int = 300) -> list[Solution]:
    """Lessons of the generated corpus, of which some have triggers, no title, or no text at all."""
    chance = random.Random(seed)  # noqa: S311
    read = [parse_solution(lesson.path, lesson.text) for lesson in make_lessons(seed, size)]
    found = [one for one in read if isinstance(one, Solution)]
    for number in range(0, size, 3):
        errors = (f"ValueError: bad {'abcdefgh'[chance.randrange(8)] * 4}",)
        triggers = Triggers((f"src/{chance.randrange(40)}.py",), (f"make part{'xyz'[chance.randrange(3)]}",), errors)
        found[number] = Solution(
            found[number].id, chance.choice(["", found[number].title]), "bugs", found[number].body, triggers=triggers
        )
    return [*found, Solution("0" * 26, "", "bugs", "")]


def plain_pairs(traits: list[Traits]) -> list[tuple[int, int]]:
    """Candidate pairs from sets of names."""
    spread = Counter(word for one in traits for word in one.title_words)
    counted = Counter(literal for one in traits for literal in one.literals)
    strong: dict[object, list[int]] = defaultdict(list)
    weak: dict[object, list[int]] = defaultdict(list)
    for place, one in enumerate(traits):
        for key in [*(("error", e) for e in one.errors), *(("at", t) for t in one.triggers), one.title_words]:
            if key:
                strong[key].append(place)
        rarest = sorted(one.title_words, key=lambda word: (spread[word], word))[:TITLE_WORDS]
        for name in [*combinations(sorted(rarest), 2), *(x for x in one.literals if counted[x] <= RARE)]:
            weak[name].append(place)
    pairs = {pair for places in strong.values() if len(places) <= MOST_PER_KEY for pair in combinations(places, 2)}
    twice = Counter(pair for places in weak.values() if len(places) <= MOST_PER_KEY for pair in combinations(places, 2))
    return sorted(pairs | {pair for pair, times in twice.items() if times > 1})


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("cells", [8_000_000, 1_000])
def test_what_is_found_at_once_is_what_sets_give(monkeypatch: pytest.MonkeyPatch, seed: int, cells: int) -> None:
    """Pairs, weights, and what each pair shares by weight, also where the words of few lessons are marked at a time."""
    monkeypatch.setattr(detectors.candidates, "_CELLS", cells)
    solutions = lessons(seed)
    traits = [read_traits(one) for one in solutions]
    table = read_table(solutions)
    pairs = candidate_pairs(table)
    assert [tuple(pair) for pair in pairs.tolist()] == plain_pairs(traits)
    assert len(pairs) > 50
    weights, words = weigh_table(table, np.arange(len(solutions)))
    plain = weigh(traits)
    assert (weights.words, weights.literals, weights.rarities) == (plain.words, plain.literals, plain.rarities)
    both = [(traits[a], traits[b]) for a, b in pairs.tolist()]
    assert rare_shared(table, pairs).tolist() == [len(plain.rare(a.literals & b.literals)) for a, b in both]
    said = share(table.words, words, pairs)
    assert np.allclose(
        np.stack([said.part, said.contained], 1), [plain.words_shared(a.words, b.words) for a, b in both]
    )
    titles = share(table.titles, words, pairs)
    held = titles.both > 0
    expected = np.array([plain.word_share(a.title_words, b.title_words) for a, b in both])
    assert np.allclose(titles.part[held], expected[held])


def test_a_store_of_nothing_has_no_pairs() -> None:
    for solutions in ([], [Solution("0" * 26, "", "bugs", "")]):
        table = read_table(solutions)
        pairs = candidate_pairs(table)
        assert pairs.shape == (0, 2)
        assert len(rare_shared(table, pairs)) == 0
        assert len(share(table.words, weigh_table(table, np.unique(pairs))[1], pairs).both) == 0
