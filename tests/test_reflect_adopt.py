"""Lessons in other people's forms."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from index.frontmatter import parse_solution, render_solution
from index.records import Problem, Solution
from reflect.adopt import Foreign, adopt_lesson, parse_foreign, parse_lesson, texts_of

WHEN = datetime(2026, 11, 29, tzinfo=UTC)


def adopt(path: str, text: str) -> list[Solution]:
    """The solutions of a foreign file."""
    return [adopt_lesson(foreign, f"import:{path}", WHEN) for foreign in parse_foreign(path, text)[0]]


def test_a_lesson_with_a_header_keeps_title_date_tags_and_scope() -> None:
    """What the header declares is taken, what it claims of its own trust is not."""
    text = """---
title: Pin the compiler
date: 2026-03-01
tags: [Rust, ci]
trust: reviewed
confidence: 1.0
paths: ["crates/**/*.rs"]
---
# Pin the compiler

Nightly moves. `error: toolchain 'nightly' is not installed` means that the pin is missing.
"""
    (lesson,) = adopt("docs/pin.md", text)
    assert (lesson.title, lesson.created.date().isoformat(), lesson.tags) == (
        "Pin the compiler",
        "2026-03-01",
        ("rust", "ci"),
    )
    assert lesson.triggers.paths == ("crates/**/*.rs",)
    assert lesson.triggers.errors == ("error: toolchain 'nightly' is not installed",)
    assert lesson.trust == "observed"
    assert "# Pin" not in lesson.body


def test_a_rule_with_a_header_that_is_no_yaml_keeps_its_globs() -> None:
    """`globs: **/*.ts` and a comma-separated list with braces are read by line."""
    (lesson,) = adopt(".cursor/rules/ts.mdc", "---\ndescription: Types\nglobs: **/*.{ts,tsx}, src/**\n---\nNo any.\n")
    assert lesson.triggers.paths == ("**/*.{ts,tsx}", "src/**")
    assert lesson.title == "Types"


def test_a_file_of_many_lessons_gives_one_each() -> None:
    """By section where there are sections, else by list item; a fence is not looked into; ids differ by place."""
    sections = adopt(
        "tasks/lessons.md", "# Lessons\n\n## Pattern: Use make\nBecause.\n```\n## no title\n```\n\n## Second\nText.\n"
    )
    assert [lesson.title for lesson in sections] == ["Use make", "Second"]
    items = adopt("MEMORY.md", "# Memory\n\n- Run make.\n  Always.\n- Never push.\n")
    assert [lesson.title for lesson in items] == ["Run make", "Never push"]
    assert len({lesson.id for lesson in (*sections, *items)}) == 4


LEARNINGS = """# Learnings

## [LRN-20260115-001] best_practice

**Priority**: high

### Summary
Run the migrations before the seed. It needs the tables.

### Details
`relation "orders" does not exist` otherwise.

### Metadata
- Source: conversation

---

## [LRN-20260116-002] Pin the node version in CI

### Correction
Not in the image.

### What we saw
It broke twice.

## [LRN-20260117-003] Keep the lock file

### What we saw
It broke once.

### Never delete it by hand
The resolver picks other versions.
"""


def test_the_fields_of_an_entry_belong_to_it() -> None:
    """Headings of fixed forms, and those that come back below others, begin no lesson; others do."""
    lessons, problems = parse_foreign(".learnings/LEARNINGS.md", LEARNINGS)
    assert not problems
    assert [(lesson.line, lesson.title) for lesson in lessons] == [
        (3, "Run the migrations before the seed"),
        (18, "Pin the node version in CI"),
        (26, "Keep the lock file"),
        (31, "Never delete it by hand"),
    ]
    assert all(part in lessons[0].body for part in ("### Details", "does not exist", "### Metadata", "conversation"))
    assert "Not in the image." in lessons[1].body


@given(st.lists(st.sampled_from(["# A", "## B", "## Summary", "### C", "### Details", "text", "- item", ""])))
def test_a_field_begins_no_lesson_and_no_text_stands_twice(rows: list[str]) -> None:
    """Below an entry a fixed heading never is a title, and what is said there is kept once."""
    numbered = ["## The first entry", *(f"{row} {at}" if row == "text" else row for at, row in enumerate(rows))]
    lessons, _ = parse_foreign("lessons.md", "\n".join([*numbered, "the end"]))
    assert not {lesson.title for lesson in lessons} & {"Summary", "Details"}
    said = [line for lesson in lessons for line in lesson.body.split("\n")]
    assert [row for row in numbered if row.startswith("text ")] == [row for row in said if row.startswith("text ")]


def test_what_is_no_lesson_and_what_is_broken_is_said_with_its_line() -> None:
    """A page about lessons is left out; a broken header is reported and the text adopted all the same."""
    assert [p.kind for p in parse_foreign("docs/README.md", "# Index\n")[1]] == ["no-lesson"]
    lessons, problems = parse_foreign("docs/x.md", "---\ntitle: A: b: c\nbad: [\n---\nText of it.\n")
    assert [lesson.title for lesson in lessons] == ["A: b: c"]
    assert problems[0].line is not None
    assert "not valid YAML" in problems[0].reason
    assert problems[0].reason.endswith("It was adopted without its front matter.")
    assert isinstance(parse_lesson("x.md", "---\ntitle: x\n---\n\n"), Problem)
    assert isinstance(parse_lesson("x.md", "---\ntitle: x\nnever closed\n"), Problem)


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_adopted_or_explained(text: str) -> None:
    """Nothing raises; every lesson is a valid solution file; every file that gives none has a reason."""
    for name in ("a.md", "lessons.md", "x.mdc"):
        lessons, problems = parse_foreign(name, text)
        assert lessons or problems
        for foreign in lessons:
            assert isinstance(foreign, Foreign)
            solution = adopt_lesson(foreign, name, WHEN)
            assert isinstance(parse_solution("x", render_solution(solution)), Solution)
            assert solution.id == adopt_lesson(foreign, name, WHEN).id


def test_commas_within_braces_do_not_split() -> None:
    """`a/*.{b,c},d` is two globs."""
    assert texts_of("a/*.{b,c}, 'd'") == ("a/*.{b,c}", "d")
