"""Improving a skill that exists: it is known by what it is about, and only what it lacks is added."""

from __future__ import annotations

from curate.improve import covering_skill, improved_text, is_known, missing_statements, render_diff
from curate.skills import Skill, render_skill

BODY = "# Services\n\n- The suite needs Postgres, which `make up` starts.\n- Wait for the health check.\n"
SKILL = Skill("integration-services", "Use when integration tests need services", BODY, path="/s/SKILL.md")


def test_a_reworded_statement_is_known_and_another_value_is_not() -> None:
    """Nearly all words and every code span must be there; a fact does not say a step."""
    assert is_known(
        "Postgres is what the suite needs; `make up` starts it.", ["The suite needs Postgres, `make up` starts"]
    )
    assert not is_known(
        "The suite needs Postgres, `make db` starts it.", ["The suite needs Postgres, `make up` starts it."]
    )
    long = "When the suite is run on the build machine the database always listens on port {} behind the proxy."
    assert is_known(long.format(5432), [long.format(5432)])
    assert not is_known(long.format(5432), [long.format(5433)])
    assert not is_known("Run `make up`.", ["The integration suite needs Postgres and Redis, which `make up` starts."])


def test_only_what_is_missing_is_added_and_every_other_byte_stays() -> None:
    """The old text is a prefix; adding again adds nothing."""
    text = render_skill(SKILL)
    new = "- Wait for the health check.\n- Port 5433 is used, for 5432 is taken.\n"
    improved = improved_text(text, new)
    assert improved.startswith(text.rstrip())
    assert improved.count("Wait for the health check") == 1
    assert improved.endswith("## Learned from sessions\n\n- Port 5433 is used, for 5432 is taken.\n")
    assert improved_text(improved, new) == improved
    again = improved_text(improved, "- Redis listens on 6380.\n")
    assert again.count("## Learned from sessions") == 1
    assert again.endswith("is taken.\n- Redis listens on 6380.\n")


def test_line_ends_stay_as_they_are() -> None:
    """A file with CRLF gets CRLF."""
    improved = improved_text("---\r\nname: x\r\n---\r\nOne thing here.\r\n", "- Another thing there.")
    assert improved.count("\n") == improved.count("\r\n")


def test_a_skill_covers_what_it_is_about() -> None:
    """Most of the title's words and a trigger or a statement; shared words or a trigger alone do not suffice."""
    title = "Integration tests need their services"
    statements = ["The suite needs Postgres, which `make up` starts."]
    assert covering_skill(title, statements, [], [SKILL]) is SKILL
    assert covering_skill(title, [], ["the health check"], [SKILL]) is SKILL
    assert covering_skill(title, [], [], [SKILL]) is None
    assert covering_skill("Wait for pods in the cluster", [], ["health check"], [SKILL]) is None
    assert covering_skill("Tests", statements, [], [SKILL]) is None


def test_missing_statements_come_once() -> None:
    """A statement said twice is missing once."""
    assert missing_statements(BODY, ["New thing `x` here.", "New thing `x` here.", "Wait for the health check."]) == (
        "New thing `x` here.",
    )


def test_the_diff_names_both_sides() -> None:
    """A unified diff of the two texts."""
    assert render_diff("a\n", "b\n", "s").splitlines() == ["--- s now", "+++ s proposed", "@@ -1 +1 @@", "-a", "+b"]
