"""MEMORY.md: bounded, managed between its markers, stable."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from curate.memory import BEGIN, END, plan_memory
from index.records import Solution
from index.settings import MemorySettings
from index.store import solution_id

TODAY = date(2026, 11, 30)
SETTINGS = MemorySettings(max_characters=600)


def lesson(number: int, confidence: float = 0.8) -> Solution:
    """One of many."""
    when = datetime(2026, 11, 1, tzinfo=UTC)
    return Solution(solution_id(when, str(number)), f"Lesson {number}", "bugs", "", confidence=confidence, created=when)


def written(existing: bytes | None, lessons: list[Solution]) -> bytes | None:
    """The file after the plan."""
    plan = plan_memory(existing, lessons, lambda _: True, SETTINGS, TODAY)
    return plan.changes[0].after if plan.changes else existing


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.integers(1, 40))
def test_text_outside_the_markers_is_never_touched(mine: str, count: int) -> None:
    """A person's own words before and after the block stay, and running twice changes nothing."""
    lessons = [lesson(number) for number in range(count)]
    first = written(mine.encode(), lessons)
    assert first is not None
    assert first.startswith(mine.encode())
    assert written(first, lessons) == first
    block = first.decode()
    block = block[block.index(BEGIN) :]
    assert len(block) <= SETTINGS.max_characters
    edited = first + b"after\n"
    again = written(edited, [lesson(number, 0.95) for number in range(100, 103)])
    assert again is not None
    assert again.startswith(mine.encode())
    assert again.endswith(END.encode() + b"\nafter\n")


def test_the_best_lessons_stay_when_not_all_fit() -> None:
    """A line leaves only for a better one."""
    text = written(None, [*(lesson(number, 0.7) for number in range(50)), lesson(99, 0.95)])
    assert text is not None
    assert text.decode().split("\n- ")[1].startswith("Lesson 99")


def test_what_may_not_be_served_is_not_in_it() -> None:
    """Only scanned text is held."""
    plan = plan_memory(None, [lesson(1)], lambda _: False, SETTINGS, TODAY)
    assert plan.changes == ()
    assert plan.skipped
