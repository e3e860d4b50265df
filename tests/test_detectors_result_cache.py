"""Results come back under their names as they were kept, or not at all."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import detectors.result_cache
from detectors.result_cache import ResultCache, result_name

A, B = result_name("a"), result_name("b")


def keep(place: Path, **results: object) -> None:
    with ResultCache(place) as cache:
        for name, result in results.items():
            cache.keep(result_name(name), result)


def kept(place: Path | None) -> dict[bytes, object]:
    with ResultCache(place) as cache:
        return cache.find([A, B])


def test_what_was_kept_is_found_by_later_runs(tmp_path: Path) -> None:
    """Also what is nothing, and what replaced an earlier result; of no name that was not asked for."""
    place = tmp_path / "passes" / "x.db"
    assert kept(place) == {}
    keep(place, a=[1, "é"], b=None, c=3)
    assert kept(place) == {A: [1, "é"], B: None}
    keep(place, a={"x": 1.5})
    assert kept(place) == {A: {"x": 1.5}, B: None}


def test_many_are_found_at_once(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    names = [result_name(str(number)) for number in range(2_000)]
    with ResultCache(place) as cache:
        for number, name in enumerate(names):
            cache.keep(name, number)
    with ResultCache(place) as cache:
        assert cache.find(names) == {name: number for number, name in enumerate(names)}


def test_without_a_place_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (None, tmp_path / "file" / "x.db", tmp_path):
        with ResultCache(place) as cache:
            cache.keep(A, 1)
        assert kept(place) == {}


@pytest.mark.parametrize("harm", [b"", b"no database", b"SQLite format 3\0" + b"x" * 5_000, None])
def test_the_file_may_be_lost_or_damaged(tmp_path: Path, harm: bytes | None) -> None:
    place = tmp_path / "x.db"
    keep(place, a=1)
    place.unlink()
    if harm is not None:
        place.write_bytes(harm)
    assert kept(place) == {}
    keep(place, a=2)
    assert kept(place) in ({A: 2}, {})  # what could not be opened is removed, and made anew by the next run
    keep(place, a=2)
    assert kept(place) == {A: 2}


@pytest.mark.parametrize("harm", ["x'00'", "x''", "null", "'text'", "found || x'20'"])
def test_a_row_that_is_not_as_it_was_written_counts_for_nothing(tmp_path: Path, harm: str) -> None:
    place = tmp_path / "x.db"
    keep(place, a=1, b=2)
    db = sqlite3.connect(place)
    db.execute(f"update results set found = {harm} where name = ?", (A,))  # noqa: S608 - this test's own words
    db.commit()
    db.close()
    assert kept(place) in ({B: 2}, {})


def test_a_row_under_another_name_counts_for_nothing(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    keep(place, a=1)
    db = sqlite3.connect(place)
    db.execute("update results set name = ?", (B,))
    db.commit()
    db.close()
    assert kept(place) == {}


def test_another_way_of_finding_starts_anew(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    keep(place, a=1)
    with ResultCache(place, [detectors.result_cache]) as cache:
        assert cache.find([A]) == {}


def test_a_run_that_fails_keeps_nothing(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    with contextlib.suppress(ZeroDivisionError), ResultCache(place) as cache:
        cache.keep(A, 1)
        cache.keep(B, 1 // 0)
    assert kept(place) == {}


def test_what_is_of_no_use_any_more_is_forgotten_when_there_is_much_of_it(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    keep(place, **{str(number): number for number in range(300)}, a=1)
    with ResultCache(place) as cache:
        cache.find([A])
        cache.keep(B, 2)
        cache.forget_others()
    with ResultCache(place) as cache:
        assert cache.find(result_name(str(number)) for number in range(300)) == {}
    assert kept(place) == {A: 1}  # what was neither asked for nor named


@given(st.recursive(st.none() | st.booleans() | st.integers(0, 9) | st.text(st.characters(), max_size=5), st.lists))
def test_any_result_comes_back_or_is_found_anew(tmp_path_factory: pytest.TempPathFactory, result: object) -> None:
    place = tmp_path_factory.mktemp("kept") / "x.db"
    keep(place, a=result)
    assert kept(place) in ({A: result}, {})
