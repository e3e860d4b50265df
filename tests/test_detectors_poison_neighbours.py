"""Which lessons are held against one: bounded, and the ones that have to do with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from detectors.poison_neighbours import NEAREST, Neighbours
from index.records import Solution, Source

WORDS = ("registry", "deploy", "cache", "token", "branch", "review", "index", "mirror")


def lesson(number: int, body: str, session: str = "") -> Solution:
    """One lesson."""
    return Solution(
        f"01KB7ZC4S0T2J5Q8XW3N{number:06d}",
        f"Lesson {number}",
        "knowledge",
        body,
        sources=(Source(f"codex:{session or number}", (1, 2), "agent"),),
        created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
        path=f"solutions/knowledge/{number}.md",
    )


def test_a_shared_name_is_found_among_very_many() -> None:
    """One of two thousand lessons names the same host; words that all of them have find nothing."""
    lessons = [lesson(number, f"The build needs service{number} to be up.") for number in range(2000)]
    lessons[700] = lesson(700, "Wheels come from registry.corp.example.")
    lessons.append(lesson(2000, "registry.corp.example is now kept under mirror.example.net."))
    assert 700 in Neighbours(lessons).near(2000)
    assert len(Neighbours(lessons).near(5)) < NEAREST


def test_lessons_of_one_origin_and_those_that_it_replaces_are_near() -> None:
    """A burst from one session and a supersession are seen whatever the words are."""
    first, second = lesson(1, "Alpha beta.", "one"), lesson(2, "Gamma delta.", "one")
    third = replace(lesson(3, "Epsilon zeta."), supersedes=(first.id,))
    others = [lesson(number, "Alpha gamma epsilon.") for number in range(4, 400)]
    assert set(Neighbours([first, second, third, *others]).near(0)) == {1, 2}


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=40))
def test_neighbours_are_others_and_bounded(drawn: list[list[str]]) -> None:
    """Never the lesson itself, never more than the bound, the same for the same store."""
    lessons = [lesson(number, " ".join(words)) for number, words in enumerate(drawn)]
    for place in range(len(lessons)):
        near = Neighbours(lessons).near(place, 5)
        assert place not in near
        assert len(near) <= 5
        assert near == Neighbours(lessons).near(place, 5)
