"""The audit as a whole: use against skills, findings, costs."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path

from curate.audit import Audit, audit
from curate.audit_findings import ADVICE
from curate.places import Ground, MemoryFile
from curate.skills import Skill
from reflect.usage import Usage, Used
from reflect.usage_marks import UseKind

HOME = Path("/h")
TODAY = date(2026, 11, 30)
NOTHING = Ground(())


def skill(
    name: str, folder: str = "/h/.claude/skills", agent: str = "claude-code", about: str = "", body: str = ""
) -> Skill:
    """A valid skill called `name` in `folder`."""
    about = about or f"Use when {name} is asked for."
    text = f"---\nname: {name}\ndescription: {about}\n---\n{body or name}\n"
    return Skill(name, about, body or name, {}, f"{folder}/{name}/SKILL.md", text, agent)


def used(kind: UseKind, name: str, count: int = 1, path: str = "", agent: str = "claude-code") -> Used:
    """A use on 20 November."""
    when = datetime(2026, 11, 20, tzinfo=UTC)
    return Used(agent, kind, name, path, count, 1, when, when)


def usage(*uses: Used, sessions: int = 10) -> Usage:
    """What ten sessions of Claude Code showed."""
    table: dict[tuple[str, str, str, str], Used] = {(one.agent, one.kind, one.name, one.path): one for one in uses}
    return Usage(table, Counter({"claude-code": sessions}))


def look(
    *skills: Skill, use: Usage | None = None, ground: Ground = NOTHING, alike: tuple[tuple[int, int], ...] = ()
) -> Audit:
    """The audit of some skills that are old enough to be judged."""
    return audit(skills, (), ground, use or usage(), TODAY, HOME, {}, alike)


def kinds(found: Audit) -> list[tuple[str, str]]:
    """(kind, name) of each finding."""
    return [(one.kind, one.name) for one in found.findings]


def test_every_way_of_use_counts_for_the_skill_it_is_of() -> None:
    """Loads, slash commands and reads add up; a plugin's prefix is no other name; the last day is kept."""
    found = look(
        skill("ship"),
        use=usage(
            used("load", "tools:ship", 2), used("command", "ship"), used("read", "ship", 3, "/h/.claude/skills/ship")
        ),
    )
    (row,) = found.skills
    assert (row.uses, dict(row.ways), row.last) == (6, {"command": 1, "loaded": 2, "read": 3}, date(2026, 11, 20))
    assert found.findings == ()


def test_of_two_skills_with_one_name_the_one_at_the_path_was_used() -> None:
    """Two projects may have a skill each of the same name: the folder in the transcript decides."""
    one, two = skill("ship", "/h/a/.claude/skills"), skill("ship", "/h/b/.claude/skills")
    found = look(one, two, use=usage(used("read", "ship", 4, "/h/b/.claude/skills/ship")))
    assert [row.uses for row in found.skills] == [0, 4]
    assert ("duplicate", "ship") not in kinds(found)


def test_never_used_says_nothing_without_sessions_or_of_a_new_skill() -> None:
    """A skill needs some sessions and two weeks before it counts as never used."""
    assert kinds(look(skill("ship"))) == [("never-used", "ship")]
    assert kinds(look(skill("ship"), use=usage(sessions=4))) == []
    new = {skill("ship").path: date(2026, 11, 25)}
    assert audit([skill("ship")], (), NOTHING, usage(), TODAY, HOME, new).findings == ()


def test_ghosts_are_what_is_asked_for_or_referred_to_and_nowhere() -> None:
    """A refused call and a reference in a memory file are ghosts; an agent's own command and a known skill are not."""
    memory = MemoryFile(
        "claude-code", "user", "/h/.claude/CLAUDE.md", "Use the `old-flow` skill, then `the-ship` skill.", 9
    )
    found = look(
        skill("the-ship"),
        use=usage(
            used("unknown", "shipp"), used("unknown", "the-ship"), used("command", "clear"), used("load", "the-ship")
        ),
        ground=Ground((), (memory,)),
    )
    assert sorted(kinds(found)) == [("ghost", "old-flow"), ("ghost", "shipp")]


def test_a_skill_in_use_that_is_gone_is_told_apart_from_the_agents_commands() -> None:
    """Loads of a removed skill are listed; slash commands, which may be built in, are not."""
    found = look(use=usage(used("load", "moved", 2), used("command", "clear", 9)))
    assert found.gone == (("claude-code", "moved", 2, date(2026, 11, 20)),)


def test_copies_are_duplicates_for_one_agent_and_drift_between_two() -> None:
    """Near-equal bodies: a finding where one session sees both, or where a copy for another agent has changed."""
    one = skill("ship", body="A body of some length.")
    two = skill("send", body="A body of some length!")
    other = skill("ship", "/h/.codex/skills", "codex", body="A body of some length?")
    found = look(one, two, other, use=usage(used("load", "ship"), used("load", "send")), alike=((0, 1), (0, 2)))
    assert kinds(found) == [("duplicate", "send"), ("drift", "ship")]


def test_two_descriptions_of_one_task_overlap() -> None:
    """Descriptions that share their rare words are found, unlike ones not."""
    texts = (
        "Use when opening a pull request with a changelog entry and reviewers.",
        "Use when a pull request with changelog entry and reviewers is opened.",
        "Use when the database schema needs a migration with rollback.",
    )
    skills = [skill(f"skill-{at}", about=text) for at, text in enumerate(texts)]
    found = look(*skills, use=usage(*(used("load", one.name) for one in skills)))
    assert kinds(found) == [("overlap", "skill-1")]


def test_the_cost_counts_the_users_skills_apart_from_the_projects() -> None:
    """No session carries the skills of every project."""
    user, project = skill("ship", about="x" * 38), skill("deploy", "/h/app/.claude/skills", about="y" * 200)
    (cost,) = look(user, project).costs
    assert (cost.agent, cost.skills, cost.characters, cost.tokens) == ("claude-code", 1, 44, 11)
    assert (cost.project_skills, cost.project_tokens) == (1, 52)


def test_every_finding_has_advice_and_the_same_input_gives_the_same_audit() -> None:
    """Kinds are keys of the advice; the order is fixed."""
    skills = [skill("ship", about="z" * 1100), skill("send", body="line\n" * 600)]
    first, second = look(*skills), look(*skills)
    assert first == second
    assert {one.kind for one in first.findings} == {"long-description", "long-body", "never-used"}
    assert {one.kind for one in first.findings} <= set(ADVICE)
