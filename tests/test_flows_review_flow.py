"""The form's schema and how its answer is read; the whole path is in test_flows_browser.py."""

from __future__ import annotations

import pytest

from curate.review import current_user
from flows.review_flow import ReviewForm, form_for, read_answer
from tests.served import DESCRIPTION, make_draft


def test_the_form_offers_the_choices_and_the_drafts_own_words() -> None:
    """Decisions to choose from, skills to merge into, name and description as they stand, with their bounds."""
    form = form_for(make_draft("services"), "text", ["docker-builds"], ask_who=False)
    fields = form.model_json_schema()["properties"]
    assert fields["decision"]["enum"] == ["publish", "reject", "later", "merge into docker-builds"]
    assert fields["skill_name"]["default"] == "services"
    assert fields["skill_name"]["pattern"]
    assert fields["skill_description"]["default"] == DESCRIPTION
    assert fields["skill_description"]["maxLength"] == 1024
    assert list(fields) == ["decision", "skill_name", "skill_description", "note"]
    assert "who" in form_for(make_draft("services"), "text", [], ask_who=True).model_json_schema()["properties"]


@pytest.mark.parametrize("choice", ["publish", "reject", "later"])
def test_an_answer_is_a_decision(choice: str) -> None:
    """With the name given, else the system's user."""
    form = form_for(make_draft("services"), "text", [], ask_who=True)
    decision = read_answer(form.model_validate({"decision": choice, "note": "why", "who": "ann"}))
    assert (decision.choice, decision.who, decision.name, decision.note) == (choice, "ann", "services", "why")
    assert read_answer(form(decision=choice)).who == current_user()


def test_an_answer_stays_readable_when_the_skills_changed_meanwhile() -> None:
    """The skill to merge into is read from the choice, also when the form of now no longer offers it."""
    decision = read_answer(ReviewForm(decision="merge into docker-builds"))
    assert (decision.choice, decision.into) == ("merge", "docker-builds")
