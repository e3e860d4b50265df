"""What is wrong with one skill or memory file."""

from __future__ import annotations

import pytest

from curate.audit_checks import find_references, listed_text, measure_memory, skill_faults, too_long
from curate.places import MemoryFile
from curate.skills import Skill, parse_skill


def skill(text: str, agent: str = "codex", folder: str = "ship") -> Skill:
    """A skill as it is read from `folder`."""
    read = parse_skill(f"/h/.x/skills/{folder}/SKILL.md", text)
    assert isinstance(read, Skill)
    return Skill(read.name, read.description, read.body, read.metadata, read.path, read.text, agent)


GOOD = "---\nname: ship\ndescription: Use when shipping.\n---\nSteps.\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("\ufeff" + GOOD, "byte-order"),
        (GOOD.replace("\n", "\r\n"), "carriage"),
        (GOOD.replace("name: ship\n", ""), "name is missing"),
        (GOOD.replace("ship\n", "Ship It\n", 1), "wanted at most"),
        (GOOD.replace("name: ship", "name: deploy"), "folder's name"),
        (GOOD.replace("name: ship", "name: ship\nversion: 2"), "version"),
        (GOOD.replace("shipping.", "<x> shipping."), "angle bracket"),
    ],
)
def test_what_a_strict_reader_refuses_is_named(text: str, word: str) -> None:
    """Each fault of the front matter is told; the same skill without it has none."""
    assert any(word in fault for fault in skill_faults(skill(text)))
    assert skill_faults(skill(GOOD)) == []


def test_claude_codes_own_keys_are_no_fault_among_its_skills() -> None:
    """A key that only Claude Code takes is a fault for all others."""
    text = GOOD.replace("name: ship", "name: ship\nargument-hint: x")
    assert skill_faults(skill(text, "claude-code")) == []
    assert skill_faults(skill(text, "codex"))


def test_a_long_description_is_told_with_what_the_listing_cuts() -> None:
    """Over 1,024 characters for all; Claude Code counts `when_to_use` and cuts at 1,536."""
    text = GOOD.replace("Use when shipping.", "x" * 1000 + f"\nwhen_to_use: {'y' * 600}")
    assert too_long(skill(text, "codex")) == []
    assert "last 65" in " ".join(too_long(skill(text, "claude-code")))
    assert "1,025" in " ".join(too_long(skill(GOOD.replace("Use when shipping.", "x" * 1025))))


def test_a_skill_that_only_a_person_calls_costs_no_listing() -> None:
    """`disable-model-invocation` takes it out of Claude Code's listing."""
    text = GOOD.replace("name: ship", "name: ship\ndisable-model-invocation: true")
    assert listed_text(skill(text, "claude-code")) == ""
    assert listed_text(skill(text, "codex")) == "Use when shipping."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Use the `deploy-preview` skill first.", ["deploy-preview"]),
        ("See skill: `team:deploy-preview` for more.", ["team:deploy-preview"]),
        ("Read `.agents/skills/shipping/SKILL.md`.", ["shipping"]),
        ("A `well-known` habit is a useful skill.", []),
        ("```\nUse the `made-up` skill\n```\n", []),
    ],
)
def test_references_are_found_where_a_text_sends_the_agent_to_a_skill(text: str, names: list[str]) -> None:
    """Named skills count; other words in backticks and fenced examples do not."""
    assert find_references(text) == names


@pytest.mark.parametrize(
    ("agent", "kind", "path", "text", "over"),
    [
        ("claude-code", "auto", "/h/MEMORY.md", "x\n" * 200, False),
        ("claude-code", "auto", "/h/MEMORY.md", "x\n" * 201, True),
        ("claude-code", "auto", "/h/MEMORY.md", "x" * 26_000, True),
        ("claude-code", "project", "/h/CLAUDE.md", "x\n" * 300, False),
        ("claude-code", "project", "/h/CLAUDE.md", "x" * 40_001, True),
        ("codex", "user", "/h/.codex/AGENTS.md", "x" * 32_769, True),
        ("hermes", "memory", "/h/.hermes/memories/MEMORY.md", "x" * 2_201, True),
    ],
)
def test_a_memory_file_is_measured_against_its_agents_limit(
    agent: str, kind: str, path: str, text: str, over: bool
) -> None:
    """Each agent loads or warns at its own bound; at the bound nothing is said."""
    assert bool(measure_memory(MemoryFile(agent, kind, path, text, len(text))).over) is over
