"""Moving condemned lessons out of reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curate.quarantine import plan_quarantine, plan_quarantine_source, reason_of
from index.errors import UsageError
from index.frontmatter import parse_solution, render_solution
from index.records import Finding, Solution, Source, Verdict


def solution(number: int, **values: object) -> Solution:
    made = Solution(
        id=f"01KB7ZC4S0T2J5Q8XW3N6M9R{number:02d}",
        title=f"Lesson {number}",
        category="bugs",
        body=f"Fact {number}.\n",
        path=f"solutions/bugs/lesson-{number}.md",
    )
    made = replace(made, **values)  # type: ignore[arg-type]
    return replace(made, text=render_solution(made))


POISON = Verdict("poison", 0.99, (Finding("override.ignore_rules", "override", "high", (0, 4), "cancels the rules"),))
SUSPECT = replace(POISON, answer="suspect", score=0.7)


def test_poison_moves_with_its_reason_and_the_rest_stays() -> None:
    """Poison goes to quarantine/<its path> with the reason in it; all other files stay, and are accounted for."""
    lessons = [solution(number) for number in range(4)]
    answers = dict(zip([one.path for one in lessons], [POISON, SUSPECT, Verdict("clean")], strict=False))
    plan = plan_quarantine(lessons, answers)
    by_path = {change.path: change for change in plan.changes}
    assert set(by_path) == {lessons[0].path, f"quarantine/{lessons[0].path}"}
    assert by_path[lessons[0].path].after is None
    moved = by_path[f"quarantine/{lessons[0].path}"].after
    assert moved is not None
    parsed = parse_solution("x.md", moved.decode())
    assert isinstance(parsed, Solution)
    assert parsed.body == lessons[0].body
    assert parsed.extra["quarantined"] == "cancels the rules (override.ignore_rules)"
    assert [note.path for note in plan.notes] == [lessons[1].path]
    assert plan.skipped == ((lessons[3].path, "not scanned"),)


def test_a_bad_source_pulls_all_that_derives_from_it() -> None:
    """What cites a source is pulled, and what was merged from that, however often; nothing else is."""
    cited = solution(1, sources=(Source("claude-code:a", origin="web", ref="https://bad.example/page"),))
    merged = solution(2, supersedes=(cited.id,))
    again = solution(3, supersedes=(merged.id,))
    other = solution(4, sources=(Source("claude-code:b"),))
    plan = plan_quarantine_source([again, other, merged, cited], "https://bad.example/page", "the page was changed")
    assert [note.path for note in plan.notes] == [cited.path, merged.path, again.path]
    assert other.path not in {change.path for change in plan.changes}
    assert all("the page was changed" in change.why for change in plan.changes)


def test_a_reason_names_the_gravest_first_and_stays_short() -> None:
    """Each finding is said once, grave ones first, at most four."""
    findings = tuple(
        Finding(f"standing.rule{n}", "standing", "low" if n < 5 else "high", (n, n + 1), f"reason {n}")
        for n in range(6)
    )
    said = reason_of(Verdict("poison", 1.0, (*findings, findings[0])))
    assert said.startswith("reason 5 (standing.rule5); reason 0")
    assert said.endswith("; and 2 more")


def test_undoing_the_move_gives_the_file_back() -> None:
    """The change at the old place holds the file's very bytes."""
    lesson = solution(7)
    plan = plan_quarantine([lesson], {lesson.path: POISON})
    gone = next(change for change in plan.changes if change.path == lesson.path)
    assert gone.before == lesson.text.encode()


@pytest.mark.parametrize("source", ["", " "])
def test_an_empty_source_pulls_nothing(source: str) -> None:
    """Fields of a source that are not set are empty too: what names nothing must not match them."""
    lesson = Solution("01M77D6MGE1MAW2G850FE8D5GP", "Clear the cache", "bugs", "Do.", sources=(Source("import:a.md"),))
    with pytest.raises(UsageError, match="the source is empty"):
        plan_quarantine_source([lesson], source, "")
