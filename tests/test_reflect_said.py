"""What a person says is taken apart: the order, what to do in its place, the reason, the forbidden commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.said import Rule, as_rule, banned_commands, because, take_apart

RULES: dict[str, tuple[list[str], Rule]] = {
    "a ban, its reason and what to do in the next sentence": (
        [
            "Never run terraform force-unlock here.",
            "CI holds the lock while it applies; wait for the pipeline or ask me.",
        ],
        Rule(
            "Never run terraform force-unlock here",
            "wait for the pipeline or ask me",
            "CI holds the lock while it applies",
        ),
    ),
    "a ban with another way and because": (
        ["never put secrets in build args, use --mount=type=secret because args end up in the image history"],
        Rule("Never put secrets in build args", "use --mount=type=secret", "args end up in the image history"),
    ),
    "a ban, another way, a stated reason": (
        ["no, don't use moment, use dayjs instead, moment is deprecated"],
        Rule("Don't use moment", "use dayjs instead", "moment is deprecated"),
    ),
    "a reason in a clause of its own": (
        ["don't commit files in docs/api, they are built by CI"],
        Rule("Don't commit files in docs/api", "", "they are built by CI"),
    ),
    "a contrast is a part of the order": (["No, we use pnpm here, not npm"], Rule("Use pnpm here, not npm")),
    "a ban of things": (
        ["no sleeps in specs.", "wait for the response instead"],
        Rule("No sleeps in specs", "Wait for the response instead"),
    ),
    "a comma in code is no end of a clause": (["use `f(a, b)` here"], Rule("Use `f(a, b)` here")),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_its_parts(name: str) -> None:
    """Each clause goes to the part that it is."""
    said, wanted = RULES[name]
    assert take_apart(said) == wanted


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Never run terraform force-unlock here.", ("terraform force-unlock",)),
        ("don't use `npm install`; use pnpm", ("npm install",)),
        ("stop using git push --force on main", ("git push --force",)),
        ("never use mocks in these tests", ()),
        ("run make test before you push", ()),
        ("don't make a mess", ()),
    ],
)
def test_a_forbidden_command_is_a_trigger(said: str, wanted: tuple[str, ...]) -> None:
    """A known program and its words behind the ban; what is no command, or not forbidden, is none."""
    assert banned_commands(said) == wanted


def test_a_no_needs_a_pause() -> None:
    """ "No, use x" turns down what was; "no sleeps" is a rule of its own."""
    assert as_rule("no, use x here") == "Use x here"
    assert as_rule("no sleeps in specs") == "No sleeps in specs"


def test_a_reason_of_the_persons_own_is_quoted() -> None:
    """Who speaks of themselves is quoted; what is so is stated."""
    assert because("I can delete a table") == "The person: “I can delete a table”."
    assert because("moment is deprecated") == "Moment is deprecated."


@given(st.lists(st.text(alphabet="ab ,;.`()'\n—don'tuse", max_size=80), max_size=4))
def test_any_words_are_taken_apart(said: list[str]) -> None:
    """No words break it, and nothing is said that the words do not hold."""
    parts = take_apart(said)
    joined = " ".join(said).lower()
    assert all(word.lower() in joined for word in parts.reason.split())
    banned_commands(" ".join(said))
