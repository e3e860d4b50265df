"""An error met again is known in other words and places; another error is not taken for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.trigger import open_store, own_cases, t2own
from index import error_matching
from index.error_matching import drop_label, is_sign, shared_frame, telling_lines


def test_errors_of_everyday_tools_are_met_again_and_others_with_silence(tmp_path: Path) -> None:
    """The bounds are a little under what benchmarks/trigger.py prints, so that a worse model shows."""
    figures = t2own(tmp_path, tmp_path)
    assert figures["fire@3"] >= 0.9
    assert figures["silent"] >= 0.96
    assert figures["silent_without"] >= 0.97


def test_each_lesson_knows_the_very_line_it_declares(tmp_path: Path) -> None:
    """However it is wrapped: in a log's line, behind a place, below other output."""
    lessons, _ = own_cases()
    db = open_store(tmp_path, "own", lessons)
    names = dict(db.execute("select mid, id from lesson").fetchall())
    for lesson in lessons:
        for before, after in (("", ""), ("starting\n[ERROR] ", "\ndone"), ("building 12 of 90\n", "\n")):
            best = error_matching.score_errors(db, before + lesson.triggers.errors[0] + after)[0]
            assert names[best[0]] == lesson.id
            assert best[1] >= error_matching.ERROR_FLOOR


def test_the_same_words_about_another_name_are_another_error(tmp_path: Path) -> None:
    """Messages that say nothing but a name need the name, or one like it."""
    lessons, _ = own_cases()
    db = open_store(tmp_path, "own", lessons)

    def fires(output: str) -> bool:
        return any(value >= error_matching.ERROR_FLOOR for _, value, _ in error_matching.score_errors(db, output))

    assert fires("ModuleNotFoundError: No module named 'yaml'")
    assert not fires("ModuleNotFoundError: No module named 'cv2'")
    assert fires("error: fixture 'client' not found")
    assert not fires("fixture 'mysql_server' not found")


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("error: it broke", "it broke"),
        ("./main.go:31:14: undefined: store", "undefined: store"),
        ("a/b.py:3: error: bad type", "bad type"),
        ("django.db.utils.OperationalError: database is locked", "OperationalError: database is locked"),
        ("http://x.example/: not found", "http://x.example/: not found"),
        ("note that 3:4: is a score", "note that 3:4: is a score"),
    ],
)
def test_where_it_was_met_and_that_it_is_an_error_says_nothing(line: str, bare: str) -> None:
    assert drop_label(line) == bare


@pytest.mark.parametrize(
    ("word", "sign"),
    [
        ("ERESOLVE", True),
        ("GH006", True),
        ("ImagePullBackOff", True),
        ("kex_exchange_identification", True),
        ("OperationalError", False),
        ("The", False),
        ("src/my_file.py", False),
        ("locked", False),
    ],
)
def test_made_up_words_name_one_matter(word: str, sign: bool) -> None:
    assert is_sign(word) is sign


words = st.lists(st.sampled_from("a b c d".split()), max_size=6)


@given(words, words)
def test_a_shared_frame_is_a_share_and_whole_only_for_equal_lines(one: list[str], other: list[str]) -> None:
    share = shared_frame(one, other)
    assert 0.0 <= share <= 1.0
    assert share == shared_frame(other, one)
    assert (share == 1.0) == (one == other and bool(one))


@given(st.text(max_size=200))
def test_whatever_an_output_holds_its_telling_lines_are_few_and_its_own(output: str) -> None:
    assert len(telling_lines(output)) <= error_matching.MOST_LINES
