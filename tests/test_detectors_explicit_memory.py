"""What a person asks to keep is kept, in many languages; a question about memory is not such a request."""

from __future__ import annotations

import pytest

from detectors.explicit_memory import detect, remembered
from tests.recorded import agent, person, session


@pytest.mark.parametrize(
    "words",
    [
        "Remember to run make gen after changing the schema.",
        "From now on, use pnpm and not npm.",
        "The schema file should not be updated ever.",
        "Never commit directly to main.",
        "Merke dir: Migrationen nur mit flyway.",
        "Ab jetzt immer mit Typen schreiben.",
        "Désormais, écris les tests d'abord.",
        "De ahora en adelante usa pnpm.",
        "Запомни: сборка только через make.",
        "记住：提交前先跑 lint。",
        "今後は必ず pnpm を使ってください。",
        "앞으로는 pnpm만 사용해.",
    ],
)
def test_requests_to_keep_something_are_found(words: str) -> None:
    """Remember, from now on, never, always: in the languages people write in."""
    assert len(list(detect(session(person(words), agent("Noted."))))) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Do you remember what we changed?",
        "I don't remember where it was.",
        "It has never worked on Windows.",
        "The cache always returns stale data, find out why.",
        "We might need paging in the future.",
        "fix the login page",
        "The modal must always be centred and never overlap the header.",
        "Add a remember-me checkbox to the form.",
        "Always show the total below the list.",
    ],
)
def test_talk_of_memory_is_no_request(words: str) -> None:
    """Questions, complaints and plans say never and remember as well."""
    assert not list(detect(session(person(words))))


def test_an_order_to_save_keeps_what_the_message_says() -> None:
    """`Add this to CLAUDE.md` is not the rule; the sentences beside it are."""
    turn = person("Migrations go through flyway. Add this to CLAUDE.md.")
    assert remembered(turn) == ["Migrations go through flyway."]


def test_only_the_person_can_ask() -> None:
    """The agent's and injected words are no requests."""
    assert not list(detect(session(agent("Remember to run make gen."))))


def test_a_long_specification_is_no_rule() -> None:
    """In a page of requirements `must always` speaks of the product."""
    text = "Build a shop. " + "The cart shows items. " * 60 + "Prices must always be positive."
    assert not list(detect(session(person(text))))
