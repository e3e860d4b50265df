"""What is kept of lessons from run to run gives the judgements that reading them anew gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import detectors.lesson_table
import detectors.trait_cache
from benchmarks.corpus import make_lessons
from detectors.meaning import Judged, find_same
from detectors.trait_cache import TABLE, TraitCache
from index.frontmatter import parse_solution
from index.literals import differs
from index.records import Solution


def lessons(size: int, seed: int = 5) -> list[Solution]:
    """Lessons of the generated corpus, of which some are edited copies of others."""
    read = [parse_solution(lesson.path, lesson.text) for lesson in make_lessons(seed, size)]
    return [one for one in read if isinstance(one, Solution)]


def judged(folder: Path | None, solutions: list[Solution]) -> tuple[Judged, ...]:
    with TraitCache(folder) as known:
        return find_same(solutions, known=known)


def test_a_warm_run_judges_as_a_cold_one(tmp_path: Path) -> None:
    """Lessons change, come and go between two runs; what the cache gives is what reading all of them gives."""
    before = lessons(150)
    after = [*before[5:], *lessons(30, seed=6)]
    assert judged(tmp_path, before) == find_same(before)
    assert judged(tmp_path, before) == find_same(before)
    assert judged(tmp_path, after) == find_same(after)
    assert any(one.judgement.answer != "different" for one in find_same(after))


def test_what_is_kept_is_read_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = lessons(60)
    first = judged(tmp_path, solutions)
    monkeypatch.setattr(detectors.lesson_table, "read_table", None)
    assert judged(tmp_path, solutions) == first


@pytest.mark.parametrize("harm", [b"", b"no database", None])
def test_the_cache_may_be_lost_or_damaged_at_any_time(tmp_path: Path, harm: bytes | None) -> None:
    solutions = lessons(60)
    first = judged(tmp_path, solutions)
    if harm is None:
        (tmp_path / TABLE).unlink()
    else:
        (tmp_path / TABLE).write_bytes(harm)
    assert judged(tmp_path, solutions) == first
    assert judged(tmp_path, solutions) == first


def test_another_way_of_reading_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = lessons(150)
    with monkeypatch.context() as patch:
        patch.setattr(detectors.trait_cache, "code_version", lambda *_: "older")
        patch.setattr(detectors.lesson_table, "find_words", lambda _: ())
        judged(tmp_path, solutions)
    assert judged(tmp_path, solutions) == find_same(solutions)


def test_a_folder_that_cannot_be_used_is_done_without(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("x")
    solutions = lessons(20)
    assert judged(place, solutions) == find_same(solutions)


def test_what_left_the_store_is_forgotten(tmp_path: Path) -> None:
    judged(tmp_path, lessons(300))
    before = (tmp_path / TABLE).stat().st_size
    judged(tmp_path, lessons(20))
    assert (tmp_path / TABLE).stat().st_size < before / 5


def test_what_two_texts_differ_in_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run does not compare them again, and says the same; a text that changed is compared anew."""
    a, b = "The port is 5432 here.", "The port is 5433 here."
    expected = differs(a, b)
    assert expected
    with TraitCache(tmp_path) as known:
        assert known.differ(a, b) == expected
        assert known.differ(a, a) == ()
    anew = (replace(expected[0], a="anew"),)
    monkeypatch.setattr(detectors.trait_cache, "differs", lambda *_: anew)
    with TraitCache(tmp_path) as known:
        assert known.differ(a, b) == expected
        assert known.differ(a, a) == ()
        assert known.differ(b, a) == anew
