"""The index: one entry a line, valid YAML, the same bytes for the same solutions."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import yaml
from hypothesis import given
from hypothesis import strategies as st

from index.records import Solution
from index.search import entry_for, parse_index, render_index
from index.store import solution_id

WHEN = datetime(2026, 11, 29, 18, 3, 11, tzinfo=UTC)
texts = st.text(st.characters(codec="utf-8"), max_size=30)
solutions = st.builds(
    lambda source, title, tags, project: Solution(
        solution_id(WHEN, source), title, "bugs", "", tags=tuple(tags), project=project, path=f"solutions/{source}"
    ),
    st.text("abc", min_size=1, max_size=5),
    texts,
    st.lists(texts, max_size=3),
    texts,
)


@given(st.lists(solutions, max_size=5))
def test_the_index_is_yaml_and_is_read_back_as_it_was_written(lessons: list[Solution]) -> None:
    """PyYAML's safe loader and our own reader see the same entries."""
    text = render_index(lessons)
    wanted = sorted((entry_for(lesson) for lesson in lessons), key=lambda entry: (entry["id"], entry["path"]))
    assert parse_index(text) == wanted
    assert (yaml.safe_load(text) or []) == wanted
    assert len([line for line in text.split("\n") if line.startswith("- ")]) == len(lessons)


@given(st.lists(solutions, max_size=5), st.randoms())
def test_the_order_of_reading_does_not_show(lessons: list[Solution], chance: random.Random) -> None:
    """Two machines write the same index."""
    lessons = list({lesson.path: lesson for lesson in lessons}.values())
    shuffled = list(lessons)
    chance.shuffle(shuffled)
    assert render_index(shuffled) == render_index(lessons)


def test_an_index_that_someone_reformatted_is_still_read() -> None:
    """Block style goes through PyYAML."""
    assert parse_index("- id: A\n  title: x\n") == [{"id": "A", "title": "x"}]
