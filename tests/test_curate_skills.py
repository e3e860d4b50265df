"""SKILL.md: what we write every reader takes; what a reader would refuse is named; skills are found where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.skills import (
    Skill,
    SkillFolder,
    check_skill,
    description_problems,
    listing_cost,
    name_problems,
    parse_skill,
    plain,
    read_skills,
    render_skill,
    skill_folders,
    skill_name,
)
from index.records import Problem

BODY = "# Title\n\nDo this.\n"


def reasons(text: str, directory: str = "one-thing") -> list[str]:
    """Why a text is refused."""
    return [problem.reason for problem in check_skill(text, directory)]


@given(title=st.text(max_size=120), description=st.text(max_size=400), value=st.text(max_size=60))
def test_any_text_renders_to_a_valid_skill(title: str, description: str, value: str) -> None:
    """Whatever words come in, the file passes our check and reads back as it was written."""
    name = skill_name(title)
    skill = Skill(name, plain(f"Use when {description}"), BODY, {"note": value})
    text = render_skill(skill)
    assert check_skill(text, name) == ()
    read = parse_skill("x/SKILL.md", text)
    assert isinstance(read, Skill)
    assert (read.name, read.description, read.metadata) == (name, skill.description, {"note": plain(value)})


@pytest.mark.parametrize("description", ["Use when it breaks", 'Use when "a: b" # c', "Use when ünïcode 🙂 \\ comes"])
def test_the_reference_validator_takes_what_we_write(tmp_path: Path, description: str) -> None:
    """skills-ref, the specification's own validator, finds nothing either."""
    from skills_ref import validate

    folder = tmp_path / "one-thing"
    folder.mkdir()
    (folder / "SKILL.md").write_text(render_skill(Skill("one-thing", description, BODY, {"a": "b"})), encoding="utf-8")
    assert validate(folder) == []


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ('name: "one-thing"\n', "the key 'description' is missing"),
        ('description: "Use when so"\n', "the key 'name' is missing"),
        ('name: "other"\ndescription: "Use when so"\n', "name 'other' is not its folder's name 'one-thing'"),
        ('name: one-thing\ndescription: "Use when so"\n', "name: wanted a text in double quotes or a block"),
        ('name: "one-thing"\nname: "one-thing"\ndescription: "Use when so"\n', "the key 'name' stands twice"),
        ('name: "one-thing"\ndescription: "Use when so"\nversion: "1"\n', "unknown key 'version'"),
        ('name: "one-thing"\ndescription: "Use when <b>"\n', "description: holds an angle bracket"),
        ('name: "one-thing"\ndescription: "It helps"\n', "description: does not say when to use the skill"),
        ('name: "one-thing"\ndescription: "Use when a --- b"\n', "description: holds ---"),
        ('name: "one-thing"\ndescription: "Use when so"\nmetadata: {a: "b"}\n', "metadata: wanted a block mapping"),
        ('name: "one-thing"\ndescription: "Use when so"\nmetadata:\n  a: 1\n', "metadata: wanted a block mapping"),
    ],
)
def test_each_fault_of_the_front_matter_is_named(front: str, reason: str) -> None:
    """A fault is told in words that say what was wanted."""
    assert any(found.startswith(reason) for found in reasons(f"---\n{front}---\n\n{BODY}"))


def test_faults_of_the_file_are_named() -> None:
    """Byte-order mark, carriage returns, no front matter, an empty or a long body."""
    good = render_skill(Skill("one-thing", "Use when so", BODY))
    assert reasons(good) == []
    assert "byte-order mark" in reasons("\ufeff" + good)[0]
    assert "carriage return" in reasons(good.replace("\n", "\r\n"))[0]
    assert "wanted ---" in reasons(BODY)[0]
    assert reasons(render_skill(Skill("one-thing", "Use when so", ""))) == ["the body is empty"]
    assert "under 500 lines" in reasons(render_skill(Skill("one-thing", "Use when so", "a\n" * 600)))[0]
    assert "5000 tokens" in reasons(render_skill(Skill("one-thing", "Use when so", "a" * 30_000)))[0]


def test_names_and_descriptions_have_bounds() -> None:
    """64 and 1,024 characters; ASCII, no doubled hyphen, no vendor's name."""
    assert name_problems("a-1") == []
    for name in ("", "a" * 65, "A", "a--b", "-a", "a-", "ä", "a_b", "claude-tips"):
        assert name_problems(name), name
    assert description_problems("Use when " + "a" * 1020)
    assert skill_name("Claude & Anthropic: Tïps") == "agent-agent-tips"


def test_the_listing_costs_what_the_agent_lists() -> None:
    """Name and description, cut where Claude Code cuts; four characters a token."""
    assert listing_cost("codex", "abc", "d" * 11).characters == 16
    assert listing_cost("codex", "abc", "d" * 11).tokens == 4
    assert listing_cost("claude-code", "abc", "d" * 9000).characters == 5 + 1536


def test_skills_are_found_in_every_agents_folder(tmp_path: Path) -> None:
    """Personal, plugin and project folders, linked skills too; what is no skill is a problem and stops nothing."""
    good = render_skill(Skill("one", "Use when so", BODY))
    for folder in (".claude/skills/one", ".claude/plugins/cache/m/p/1.0/skills/one", ".hermes/skills/dev/one"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").write_text(good)
    broken = tmp_path / ".agents" / "skills" / "broken"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text("no front matter")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text(good.replace('"one"', '"linked"'))
    (tmp_path / ".claude" / "skills" / "linked").symlink_to(elsewhere)
    skills, problems = read_skills(skill_folders(tmp_path))
    assert [(skill.agent, skill.name) for skill in skills] == [
        ("claude-code", "one"),
        ("claude-code", "linked"),
        ("claude-code", "one"),
        ("hermes", "one"),
    ]
    assert [Path(problem.path).parent.name for problem in problems] == ["broken"]


def test_a_hostile_file_costs_little(tmp_path: Path) -> None:
    """Nested aliases are not expanded, a huge file is not read."""
    bomb = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    text = f"---\nname: x\ndescription: Use when so\na0: &a0 [1]\n{bomb}\nmetadata:\n  m: *a11\n---\nbody\n"
    read = parse_skill("x/SKILL.md", text)
    assert isinstance(read, Skill)
    assert read.metadata == {}
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / "SKILL.md").write_bytes(b"a" * (2 * 1024 * 1024))
    skills, problems = read_skills([SkillFolder("x", tmp_path)])
    assert skills == ()
    assert "larger than" in problems[0].reason
    assert isinstance(parse_skill("x", "---\n: [\n---\n"), Problem)


@pytest.mark.parametrize("front", ["x: 2024-99-99", "x: !!int y", "x: " + "[" * 3000])
def test_front_matter_that_breaks_the_yaml_library_is_a_problem(front: str) -> None:
    """One broken file on the machine must not stop an audit or a promotion."""
    text = f"---\nname: a\ndescription: b\n{front}\n---\nBody.\n"
    assert isinstance(parse_skill("a/SKILL.md", text), Problem)
    assert check_skill(text, "a")
