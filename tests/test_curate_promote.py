"""Promotion: three independent sessions on two days make a draft; a no is remembered; nothing is drafted twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from curate.drafts import Decided, Draft, Published, parse_draft, read_drafts
from curate.promote import Known, plan_promote
from curate.skills import Skill, check_skill, render_skill
from detectors.poison.scan import scan_text
from detectors.recurrence import find_patterns
from detectors.secrets import find_secrets
from index.apply import apply, start_run
from index.changes import Plan, Run
from index.records import Solution, Source, Triggers, Verdict
from index.settings import PromoteSettings

TODAY = date(2026, 11, 29)
BODY = """The integration suite needs Postgres, which `make test-int` starts.

**Why it matters:** bare `pytest tests/integration` fails with "could not connect to server".

**Instead:** run `make test-int`.
"""


def lesson(number: int, *, day: int = 20, project: str = "shop", body: str = BODY, **more: Any) -> Solution:
    """What one session taught about the integration tests."""
    source = Source(f"claude-code:s{number}", (number, number + 9))
    return Solution(
        f"01KB7ZC4S0T2J5Q8XW3N6M{number:04d}",
        "Integration tests need services",
        "bugs",
        body,
        triggers=Triggers((), ("pytest tests/integration",), ("could not connect to server",)),
        sources=more.pop("sources", (source,)),
        created=datetime(2026, 11, day, 12, tzinfo=UTC),
        project=f"example.org/acme/{project}",
        **more,
    )


THREE = (lesson(1), lesson(2, day=24, project="billing"), lesson(3, day=28))


def promote(solutions: tuple[Solution, ...] = THREE, known: Known | None = None, **scanners: Any) -> Plan:
    """Patterns found and promoted with the real scans, unless others are given."""
    chosen: dict[str, Any] = {"scan": scan_text, "find_secrets": find_secrets, **scanners}
    return plan_promote(find_patterns(solutions), solutions, known or Known(), TODAY, PromoteSettings(), **chosen)


def draft_of(plan: Plan) -> Draft:
    """The one draft in a plan."""
    texts = {change.path.rpartition("/")[2]: (change.after or b"").decode() for change in plan.changes}
    name = plan.changes[0].path.split("/")[1]
    read = parse_draft(name, texts["SKILL.md"], texts["evidence.yaml"])
    assert isinstance(read, Draft)
    return read


def test_three_sessions_on_two_days_make_a_valid_draft() -> None:
    """SKILL.md passes the check; the evidence says who, when, where, which lines, and what each adds."""
    plan = promote()
    assert [change.path for change in plan.changes] == [
        ".candidates/integration-tests-need-services/SKILL.md",
        ".candidates/integration-tests-need-services/evidence.yaml",
    ]
    draft = draft_of(plan)
    assert check_skill(draft.text, draft.name) == ()
    assert [(row.session, row.date, row.project, row.lines) for row in draft.evidence] == [
        ("claude-code:s1", "2026-11-20", "example.org/acme/shop", (1, 10)),
        ("claude-code:s2", "2026-11-24", "example.org/acme/billing", (2, 11)),
        ("claude-code:s3", "2026-11-28", "example.org/acme/shop", (3, 12)),
    ]
    assert [len(row.adds) for row in draft.evidence] == [3, 0, 0]
    assert not draft.edited


@pytest.mark.parametrize("solutions", [THREE[:2], tuple(lesson(number) for number in (1, 2, 3))])
def test_too_few_sessions_or_days_make_none(solutions: tuple[Solution, ...]) -> None:
    """Two sessions, or three on one day, are skipped with the reason."""
    plan = promote(solutions)
    assert plan.changes == ()
    assert "are wanted" in plan.skipped[0][1]


def test_same_input_gives_the_same_plan_in_any_order() -> None:
    """The order of the solutions changes nothing."""
    assert promote() == promote(tuple(reversed(THREE)))


def test_planning_after_applying_gives_nothing(tmp_path: Path) -> None:
    """A draft that waits is not drafted again."""
    run = Run("r1", "promote")
    start_run(tmp_path, run, "2026-11-29T00:00:00+00:00")
    apply(promote(), tmp_path, run)
    drafts, problems = read_drafts(tmp_path)
    assert (len(drafts), problems) == (1, ())
    plan = promote(known=Known(drafts=drafts))
    assert plan.changes == ()
    assert plan.skipped == (
        ("Integration tests need services", "the draft integration-tests-need-services waits for a person already"),
    )


def test_new_evidence_renews_a_waiting_draft_but_not_one_a_person_edited() -> None:
    """The fourth session is worked in under the same name; a hand edit stays as it is."""
    waiting = draft_of(promote())
    four = (*THREE, lesson(4, day=29, body=BODY + "\nThe port is 5433.\n"))
    plan = promote(four, Known(drafts=(waiting,)))
    renewed = draft_of(plan)
    assert renewed.name == waiting.name
    assert "The port is 5433." in renewed.text
    assert [change.before is not None for change in plan.changes] == [True, True]
    edited = replace(waiting, text=waiting.text + "\nMine.\n")
    assert promote(four, Known(drafts=(edited,))).changes == ()


def decided(choice: Any, draft: Draft, **more: Any) -> Decided:
    """A decision about a draft."""
    when = datetime(2026, 11, 29, tzinfo=UTC)
    return Decided(
        draft.name, draft.digest, choice, "ann", when, sessions=draft.sessions, solutions=draft.solutions, **more
    )


def test_rejected_stays_rejected_until_there_is_new_evidence() -> None:
    """The same sessions bring nothing; another session brings it back and is named as what is new."""
    no = decided("reject", draft_of(promote()))
    plan = promote(known=Known(decisions=(no,)))
    assert plan.changes == ()
    assert "rejected" in plan.skipped[0][1]
    again = draft_of(promote((*THREE, lesson(4, day=29)), Known(decisions=(no,))))
    assert again.news == ("claude-code:s4",)


def test_a_no_outlives_the_merge_of_its_solutions() -> None:
    """The three become one with another id: the decision still holds."""
    no = decided("reject", draft_of(promote()))
    sources = tuple(source for solution in THREE for source in solution.sources)
    merged = lesson(9, sources=sources, supersedes=tuple(solution.id for solution in THREE))
    days = {f"claude-code:s{number}": date(2026, 11, 19 + number) for number in (1, 2, 3)}
    patterns = find_patterns((merged,), dates=days)
    known = Known(decisions=(no,))
    settings = PromoteSettings()
    plan = plan_promote(
        patterns, (merged,), known, TODAY, settings, scan=scan_text, find_secrets=find_secrets, dates=days
    )
    assert plan.changes == ()
    assert "rejected" in plan.skipped[0][1]


def test_what_is_published_comes_back_only_as_an_improvement() -> None:
    """With no new session nothing; with one that adds something, a diff of the published file."""
    first = draft_of(promote())
    path = "/home/ann/.claude/skills/integration-tests-need-services/SKILL.md"
    yes = decided("publish", first, name=first.name, targets=(Published(path, "0" * 64),))
    skill = first.skill()
    assert isinstance(skill, Skill)
    known = Known((replace(skill, path=path),), (), (yes,))
    assert "published" in promote(known=known).skipped[0][1]
    assert "says all of it already" in promote((*THREE, lesson(4, day=29)), known).skipped[0][1]
    better = draft_of(promote((*THREE, lesson(4, day=29, body=BODY + "\nThe port is 5433.\n")), known))
    assert better.improves is not None
    assert better.improves.path == path
    assert better.text.startswith(first.text.rstrip())
    assert better.text.rstrip().endswith("- The port is 5433.")


def test_a_skill_that_covers_it_is_improved_and_a_clash_gets_another_name() -> None:
    """A skill of any agent about the same thing gets a diff; one that only bears the name does not."""
    about = Skill(
        "services", "Use when integration tests need services", "Run `pytest tests/integration`.", path="/a/SKILL.md"
    )
    covered = draft_of(promote(known=Known((replace(about, text=render_skill(about)),))))
    assert covered.improves is not None
    assert covered.name == "services"
    other = Skill("integration-tests-need-services", "Use when cooking", "Salt.", path="/b/SKILL.md")
    assert draft_of(promote(known=Known((other,)))).name == "integration-tests-need-services-2"


def test_taint_is_kept_and_poison_and_secrets_are_never_drafted() -> None:
    """Evidence from the web shows as such; what a scan refuses does not become a draft."""
    web = replace(THREE[2], sources=(Source("claude-code:s3", (3, 4), "web", "https://example.org"),))
    assert [row.tainted for row in draft_of(promote((*THREE[:2], web))).evidence] == [False, False, True]
    refused = promote(scan=lambda text: Verdict("suspect"))
    assert (refused.changes, "suspect" in refused.skipped[0][1]) == ((), True)
    refused = promote(find_secrets=lambda text: ["a key"])
    assert (refused.changes, "secret" in refused.skipped[0][1]) == ((), True)


def test_sessions_that_do_not_count_are_no_evidence() -> None:
    """A sub-agent's or scheduled session neither counts nor stands in the table."""
    patterns = find_patterns(THREE, counts=lambda key: not key.endswith("s3"))
    plan = plan_promote(patterns, THREE, Known(), TODAY, PromoteSettings(), scan=scan_text, find_secrets=find_secrets)
    assert plan.changes == ()
    assert "2 independent sessions" in plan.skipped[0][1]


def test_two_values_of_one_thing_are_said() -> None:
    """A conflict is a note for the person who decides."""
    three = tuple(
        replace(solution, body=f"{BODY}\nThe database listens on port {port}.\n")
        for solution, port in zip(THREE, (5432, 5432, 5433), strict=True)
    )
    plan = promote(three)
    assert [note.kind for note in plan.notes] == ["conflict"]
    assert "5432" in draft_of(plan).text
    assert "5433" in draft_of(plan).text
