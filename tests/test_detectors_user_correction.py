"""A person's no with a reason is evidence; a stop, a complaint or the next task is not."""

from __future__ import annotations

import pytest

from detectors.user_correction import detect
from tests.recorded import agent, edit, person, refused, session


def test_a_refusal_with_words_is_a_correction() -> None:
    """The refused call, the answer to it and what was then written belong to it."""
    (found,) = detect(
        session(
            person("make parsing strict"),
            agent("I'll list the known keys."),
            refused("settings.go", "can't we use the decoder's strict mode instead of a list?"),
            agent("You're right. I can use `DisallowUnknownFields`."),
            edit("settings.go", "Unmarshal", "DisallowUnknownFields"),
        )
    )
    assert (found.failure, found.change, found.turns) == (2, (4,), (2, 3, 4))


def test_words_that_follow_a_bare_refusal_count() -> None:
    """A no without words, and then the words."""
    (found,) = detect(
        session(
            person("fix tests"),
            agent("I need to change `reset.go`."),
            refused("reset.go"),
            person("fix the test, the code is right"),
            agent("Got it."),
            edit("reset_test.go", "Not a", "not a"),
        )
    )
    assert found.failure == 2


def test_a_correction_in_a_message_needs_the_agents_yielding_or_a_ban() -> None:
    """`You're right` makes a no a correction; a ban with what to use stands for itself."""
    acted = (person("set up the database"), agent("Done."), edit("app.yml", "a", "b"))
    yielded = session(*acted, person("that is not correct, we don't ignore the settings file"), agent("You're right."))
    banned = session(*acted, person("don't use auto-update, all migrations should use flyway"), agent("I'll add it."))
    assert len(list(detect(yielded))) == 1
    assert len(list(detect(banned))) == 1


@pytest.mark.parametrize(
    "words",
    [
        "no",
        "wait",
        "sorry, continue",
        "i'll take it from here.",
        "it still doesn't work",
        "I tried it and got an error: ValueError: no column",
        "can you review the tests that they are useful",
        "Consider adding unit tests, they are missing",
        "ok, now push",
        "Yes, that would be helpful. But it also must be in the docs, not only here.",
        "weiter",
        "继续",
    ],
)
def test_what_concerns_only_the_moment_says_nothing(words: str) -> None:
    """Stops, complaints, error reports and next tasks are no corrections."""
    said = session(
        person("do it"), agent("Done."), edit("a.py", "a", "b"), person(words), agent("Let me look at that.")
    )
    assert not list(detect(said))


def test_what_a_sub_agent_is_told_is_nobodys_correction() -> None:
    """In a sub-agent's session the user turns are written by an agent."""
    turns = (agent("x"), refused("a.py", "use the constant instead of the string, always"), agent("You're right."))
    assert not list(detect(session(*turns, subagent=True)))


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("orders has 80M rows. Add the column nullable first, then fill it in batches", "Good point, in two steps."),
        ("please no mocks for the database here. use the fixture, mocks hid a broken query", "Understood."),
        ("looks fine but please no default exports, our linter forbids them", "You're right."),
        ("I would prefer not to wipe the data again for this", "The user wants a migration instead of a new schema."),
        ("axiosは使わないで、うちではkyに統一しています", "承知しました。"),
        ("Einstellungen gehören in settings.toml, nicht in den Code", "Stimmt."),
        ("不要用 any，我们统一用 unknown", "好的。"),
        ("no uses regex para eso, usamos zod en todo el proyecto", "Tienes razón, lo cambio."),
        ("bitte nie den Body loggen, da stehen Gesundheitsdaten drin", "Verstanden."),
        ("routes are nouns in kebab-case here, no verbs: POST /orders/{id}/cancellation", "You're right, renaming."),
        ("dist/ must not be committed, the release job builds it", "Sorry, I'll remove it."),
    ],
)
def test_a_reason_that_the_agent_grants_is_a_correction(words: str, answer: str) -> None:
    """How things are and what to do, a preference that the agent restates, and the words of other languages."""
    said = session(person("do it"), edit("a.ts", "a", "b"), person(words), agent(answer), edit("a.ts", "b", "c"))
    assert len(list(detect(said))) == 1


def test_an_argument_that_is_not_granted_is_a_task() -> None:
    """The same words are the next piece of work where the agent only goes on."""
    words = "orders has 80M rows. Add the column nullable first, then fill it in batches"
    said = session(person("do it"), edit("a.sql", "a", "b"), person(words), agent("Let me do that."))
    assert not list(detect(said))
