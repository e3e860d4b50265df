"""detectors/lesson_table.py: a table holds of each lesson what reading it alone gives, kept or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import detectors.lesson_table
from detectors.lesson_table import LessonTable, find_table, load_table, read_table, spans, starts_of, write_table
from detectors.result_cache import result_name
from detectors.traits import read_traits
from index.records import Solution, Triggers

PIECES = (
    *" \n\t\u3000\x85\x1c.,:;-_/@`*#é",
    *("The", "tests", "KeyError", "src/app.py", "--force", "loadUser", "ΣΑΣ", "Straße", "キャッシュ", "无效", "사용"),
    *("x" * 90, "`a  b`", "\n## Problem\n", "\n# Fix it\n", "\ud800", "\0", "İ", "İ"),
)
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=60))
LESSONS = st.builds(
    lambda title, body, paths, commands, errors: Solution(
        "0" * 26, title, "bugs", body, triggers=Triggers(paths, commands, errors)
    ),
    *(TEXTS, TEXTS),
    *(st.lists(TEXTS, max_size=2).map(tuple) for _ in range(3)),
)


def same(table: LessonTable, solutions: list[Solution]) -> bool:
    return [table.traits(row, one) for row, one in enumerate(solutions)] == [read_traits(one) for one in solutions]


@given(st.lists(LESSONS, max_size=6), st.lists(LESSONS, max_size=3))
def test_a_row_is_what_one_lesson_alone_gives(
    tmp_path_factory: pytest.TempPathFactory, first: list[Solution], more: list[Solution]
) -> None:
    """Of any text, read at once or in parts, and from the file after some lessons came and some left."""
    assert same(read_table(first), first)
    place = tmp_path_factory.mktemp("table") / "kept"
    for solutions in (first, first, [*more, *first[2:], *first[1:3]], more):
        keys = [result_name(one.title, one.body, repr(one.triggers)) for one in solutions]
        assert same(find_table(solutions, keys, place, "1"), solutions)


def lesson(number: int) -> Solution:
    return Solution("0" * 26, f"Title {number}", "bugs", f"Of `code_{number}` and port {number}.")


def key(number: int) -> bytes:
    return b"%016d" % number


@pytest.mark.parametrize("characters", [0, 35, 70, 1_000])
def test_lessons_beyond_one_batch_are_read_as_those_within(monkeypatch: pytest.MonkeyPatch, characters: int) -> None:
    solutions = [replace(lesson(number), body=lesson(number).body * (number % 3)) for number in range(10)]
    monkeypatch.setattr(detectors.lesson_table, "_AT_ONCE", characters)
    monkeypatch.setattr(detectors.lesson_table, "_MOST_RUNS", 8)
    assert same(read_table(solutions), solutions)


def test_only_new_lessons_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, solutions = tmp_path / "kept", [lesson(number) for number in range(10)]
    keys = list(map(key, range(10)))
    find_table(solutions[:9], keys[:9], place, "1")
    read: list[Solution] = []
    whole = read_table

    def watch(some: list[Solution], known: LessonTable | None = None) -> LessonTable:
        read.extend(some)
        return whole(some, known)

    monkeypatch.setattr(detectors.lesson_table, "read_table", watch)
    for _ in range(2):
        assert same(find_table(solutions[::-1], keys[::-1], place, "1"), solutions[::-1])
    assert read == solutions[9:]


def test_equal_rows_do_not_take_the_place_of_others(tmp_path: Path) -> None:
    """Two lessons of one content are one key; what comes after them keeps its own row."""
    place = tmp_path / "kept"
    first = [lesson(1), lesson(1), lesson(2)]
    assert same(find_table(first, [key(1), key(1), key(2)], place, "1"), first)
    second = [*first, lesson(3), replace(lesson(1), id="1" * 26)]
    assert same(find_table(second, [key(1), key(1), key(2), key(3), key(1)], place, "1"), second)


def test_names_that_no_lesson_has_are_left_out(tmp_path: Path) -> None:
    solutions = [lesson(number) for number in range(10)]
    whole = read_table(solutions)
    write_table(tmp_path / "kept", whole.take(np.array([4])), [key(4)], "1")
    kept = load_table(tmp_path / "kept", "1")
    assert kept is not None
    assert same(kept[0], solutions[4:5])
    assert kept[1] == {key(4): 0}
    assert len(kept[0].literals.names) < len(whole.literals.names)


@pytest.mark.parametrize("at", [0, 5, 40, 120, -1])
def test_one_changed_byte_is_seen(tmp_path: Path, at: int) -> None:
    """Neither a damaged file nor one of another version, nor half of one, is taken for what was written."""
    place, solutions = tmp_path / "kept", [lesson(number) for number in range(10)]
    write_table(place, read_table(solutions), list(map(key, range(10))), "1")
    assert load_table(place, "1")
    assert load_table(place, "2") is None
    raw = bytearray(place.read_bytes())
    raw[at] ^= 1
    place.write_bytes(raw)
    assert load_table(place, "1") is None
    place.write_bytes(raw[: len(raw) // 2])
    assert load_table(place, "1") is None
    assert same(find_table(solutions, list(map(key, range(10))), place, "1"), solutions)


def test_spans_are_the_parts_of_these_rows() -> None:
    starts = starts_of(np.array([2, 0, 3]))
    places, sizes = spans(starts, np.array([2, 1, 0, 2]))
    assert places.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert sizes.tolist() == [3, 0, 2, 3]
