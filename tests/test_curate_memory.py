"""MEMORY.md: bounded, managed between its markers, stable."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from curate.memory import BEGIN, END, Room, choose_lines, high_lessons, plan_memory, usefulness, why_not_yet
from index.records import Solution
from index.settings import MemorySettings
from index.store import solution_id

TODAY = date(2026, 11, 30)
SETTINGS = MemorySettings(max_characters=600)
ROOM = Room(600)


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


LESSONS = st.lists(
    st.builds(
        lambda number, confidence, importance, words: Solution(
            solution_id(datetime(2026, 11, 1, tzinfo=UTC), f"{number} {words}"),
            f"Lesson {number} {'word ' * words}",
            "bugs",
            "",
            confidence=confidence,
            importance=importance,
            created=datetime(2026, 11, 1, tzinfo=UTC),
        ),
        st.integers(0, 200),
        st.sampled_from([0.7, 0.8, 0.9]),
        st.sampled_from(["low", "medium", "high"]),
        st.integers(1, 60),
    ),
    max_size=20,
    unique_by=lambda lesson: lesson.id,
)


@given(LESSONS, LESSONS)
def test_a_line_leaves_only_for_a_better_one(old: list[Solution], new: list[Solution]) -> None:
    """Whatever comes, of whatever length: where a line goes, one of more use has come."""
    lessons = {lesson.id: lesson for lesson in (*old, *new)}
    before = choose_lines(old, ROOM, TODAY)
    after = choose_lines(list(lessons.values()), ROOM, TODAY)

    def worth(line: str) -> tuple[float, str]:
        return usefulness(lessons[line[:-1].rpartition("(")[2]], TODAY)

    come = [worth(line) for line in after if line not in before]
    for line in before:
        if line not in after:
            assert max(come) > worth(line)


@given(LESSONS, st.sets(st.integers(0, 19)), LESSONS)
def test_at_a_session_s_end_it_is_written_when_five_important_lessons_came(
    old: list[Solution], unsafe: set[int], new: list[Solution]
) -> None:
    """Fewer wait for the daily run, unless the block holds what may not be served; a write-back settles it."""
    lessons = list({lesson.id: lesson for lesson in (*old, *new)}.values())
    pulled = {old[place].id for place in unsafe if place < len(old)}

    def may_serve(solution: Solution) -> bool:
        return solution.id not in pulled

    block = written(None, old)
    if block is None:
        assert why_not_yet(None, lessons, may_serve, None) == ""
        return
    seen = high_lessons(old, lambda _: True)
    come = high_lessons(lessons, may_serve) - seen
    must = len(come) >= 5 or any(f"({name})".encode() in block for name in pulled)
    assert bool(why_not_yet(block, lessons, may_serve, seen)) is not must
    plan = plan_memory(block, lessons, may_serve, SETTINGS, TODAY)
    settled = plan.changes[0].after if plan.changes else block
    assert settled is not None
    assert not any(name.encode() in settled for name in pulled)
    if any(may_serve(lesson) for lesson in lessons):
        assert why_not_yet(settled, lessons, may_serve, high_lessons(lessons, may_serve))


@given(
    st.integers(0, 260),
    st.integers(1, 60),
    st.sampled_from(["/h/.claude/projects/x/memory/MEMORY.md", "/h/.hermes/memories/MEMORY.md", "/w/AGENTS.md"]),
)
def test_a_file_stays_within_what_its_agent_loads(own: int, count: int, path: str) -> None:
    """The block gives way: the person's own text is kept whole, and never pushed out of sight by ours."""
    mine = "a line of the person's own\n" * own
    settings = MemorySettings(max_characters=9_000)
    lessons = [lesson(number) for number in range(count)]
    plan = plan_memory(mine.encode(), lessons, lambda _: True, settings, TODAY, path)
    if not plan.changes:
        return
    text = (plan.changes[0].after or b"").decode()
    assert text.startswith(mine)
    assert text.count("\n- Lesson") > 0
    if ".claude" in path:
        assert text.count("\n") <= 200
        assert len(text.encode()) <= 25 * 1024
    if ".hermes" in path:
        assert len(text) <= 2_200
    assert (
        plan_memory(text.encode(), [lesson(n) for n in range(count)], lambda _: True, settings, TODAY, path).changes
        == ()
    )
