"""What is kept of the judgements on a store gives those that judging it anew gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import detectors.store_meaning
from benchmarks.corpus import make_lessons
from detectors.meaning import Judged, find_same
from detectors.store_meaning import DATABASE, judge_store
from index.frontmatter import parse_solution
from index.records import Solution


def lessons(size: int = 120, seed: int = 1) -> list[Solution]:
    """Lessons of the generated corpus, of which some are edited copies of others."""
    read = [parse_solution(lesson.path, lesson.text) for lesson in make_lessons(seed, size)]
    return [one for one in read if isinstance(one, Solution)]


def plainly(solutions: list[Solution]) -> tuple[Judged, ...]:
    return tuple(one for one in find_same(solutions) if one.judgement.answer != "related")


def test_it_is_what_judging_all_of_them_anew_gives(tmp_path: Path) -> None:
    """Whatever changed since the last run: nothing, a text, the order, a date by which one is the newer."""
    first = lessons()
    assert {one.judgement.answer for one in plainly(first)} >= {"conflict", "same"}
    stores = [
        first,
        first,
        [replace(first[0], body="Of another kind."), *first[1:]],
        first[::-1],
        [replace(one, created=one.created - timedelta(days=n)) for n, one in enumerate(first)],
        first[10:],
        [],
        first,
    ]
    for solutions in stores:
        assert judge_store(solutions, folder=tmp_path) == plainly(solutions)
    assert judge_store(first) == plainly(first)


def test_what_did_not_change_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at all where nothing changed; else no two texts that were held against each other before."""
    first = lessons()
    expected = judge_store(first, folder=tmp_path)
    changed = [*first, replace(first[0], id="0" * 26, title="Nothing like it", body="Of another kind.")]
    after = plainly(changed)
    with monkeypatch.context() as patch:
        patch.setattr(detectors.store_meaning, "find_same", None)
        assert judge_store(first, folder=tmp_path) == expected
    monkeypatch.setattr(detectors.store_meaning, "value_conflicts", None)
    assert judge_store(changed, folder=tmp_path) == after


@pytest.mark.parametrize("harm", [b"", b"no database", None])
def test_what_is_kept_may_be_lost_at_any_time(tmp_path: Path, harm: bytes | None) -> None:
    solutions = lessons()
    expected = judge_store(solutions, folder=tmp_path)
    place = tmp_path / DATABASE
    place.unlink() if harm is None else place.write_bytes(harm)
    assert judge_store(solutions, folder=tmp_path) == expected
    assert judge_store(solutions, folder=tmp_path) == expected
