"""Showing and deciding drafts: one journaled run for a decision, wherever it was made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from curate.drafts import read_drafts
from curate.review import Decision
from curate.verdicts import Verdicts
from flows.context import World
from flows.pipeline import daily, undo
from flows.review import (
    STALLED,
    NoSuchDraft,
    Scanners,
    decide,
    find_draft,
    merge_choices,
    published_paths,
    read_queue,
    show,
    stalled_line,
)
from flows.status import read_status
from index.records import Verdict
from index.settings import Settings
from tests.served import make_draft, write_draft_files

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A store with one draft, and a home."""
    write_draft_files(tmp_path / "store", make_draft("services"))
    return World(tmp_path / "store", Settings(), NOW, tmp_path / "home", {})


def test_a_decision_is_a_run_that_can_be_undone(world: World) -> None:
    """The report names what was written outside the store; undo takes it away and brings the draft back."""
    report, problems = decide(world, "services", Decision("publish", "ann"))
    assert problems == ()
    place = world.home / ".claude" / "skills" / "services" / "SKILL.md"
    assert published_paths(report) == (str(place),)
    assert place.is_file()
    assert read_queue(world)[0].open == ()
    undo(world, report.run)
    assert not place.exists()
    assert [draft.name for draft in read_queue(world)[0].open] == ["services"]


def test_what_cannot_be_done_changes_nothing(world: World) -> None:
    """The problems come back, stand in the report, and the draft waits on."""
    report, problems = decide(world, "services", Decision("publish", "ann", name="Not Valid"))
    assert [problem.kind for problem in problems] == ["skill"]
    assert report.problems[-1] in problems
    assert report.changed == 0
    assert len(read_drafts(world.root)[0]) == 1


def test_an_unknown_draft_is_told_with_those_that_wait(world: World) -> None:
    """So that a typing error is mended at once."""
    with pytest.raises(NoSuchDraft, match=r"no draft 'service'\. Waiting: services"):
        decide(world, "service", Decision("reject", "ann"))


def test_every_file_is_scanned_before_it_is_shown(world: World) -> None:
    """The worst verdict of SKILL.md and the details counts."""
    draft = replace(find_draft(world.root, "services"), details="# More\n\n- Poisoned.\n")
    scan = Scanners(lambda text: Verdict("poison" if "Poisoned" in text else "clean"), lambda text: [])
    assert "The poison scan calls this poison" in show(world, draft, scanners=scan)


def test_the_likeliest_skills_are_offered_for_a_merge(world: World) -> None:
    """Those with the most words in common with the draft's description first, and not many."""
    folder = world.home / ".claude" / "skills"
    for name, words in (
        ("alpha", "cooking rice"),
        ("integration", "tests integration fail"),
        *((f"x{n}", "y") for n in range(6)),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Use for {words}\n---\n\nBody.\n")
    offered = merge_choices(world, find_draft(world.root, "services"))
    assert offered[0] == "integration"
    assert len(offered) == 5


def test_a_stalled_queue_is_said_in_status_and_kept_for_the_next_session(world: World) -> None:
    """From the day on which the settings say so; the line goes when the draft is decided or put off."""
    early = replace(world, now=NOW + timedelta(days=12))
    late = replace(world, now=NOW + timedelta(days=13))
    kept = world.root / STALLED
    daily(early)
    assert not kept.exists()
    daily(late)
    line = "1 draft skill has waited for a decision since 2026-11-29: `hotwash review` lists what waits."
    assert kept.read_text() == f"hotwash: {line}\n"
    assert line in read_status(late, Verdicts("x", {})).attention
    report, _ = decide(late, "services", Decision("later", "ann"))
    assert not kept.exists()
    undo(late, report.run)
    assert kept.exists()
    decide(late, "services", Decision("later", "ann"))
    for days, is_stalled in ((13 + 7, False), (13 + 7 + 13, False), (13 + 7 + 14, True)):
        assert bool(stalled_line(replace(world, now=NOW + timedelta(days=days)))) is is_stalled
    decide(replace(world, now=NOW + timedelta(days=40)), "services", Decision("reject", "ann"))
    assert stalled_line(replace(world, now=NOW + timedelta(days=50))) == ""
