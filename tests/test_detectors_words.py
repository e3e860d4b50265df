"""Sentences are cut where they end, and their words are weighed without fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors import agent_words, person_words, sentences


def test_sentences_leave_out_code_and_tables() -> None:
    """Fenced code and table rows are no sentences; list items are; abbreviations do not end one."""
    text = "First one. Second, e.g. this.\n```\ncode. here.\n```\n| a. | b |\n- An item\n"
    assert sentences.sentences(text) == ["First one.", "Second, e.g. this.", "An item"]


@pytest.mark.parametrize(
    ("sentence", "order"),
    [
        ("I need to add the `re` import back.", "add the `re` import back."),
        ("Use `t.Chdir()` here.", "Use `t.Chdir()` here."),
        ("The simplest fix is to use the command line.", "use the command line."),
        ("Let me check the file.", ""),
        ("I'll run the tests.", ""),
        ("Should I use it?", ""),
        ("Passing `encoding` to the reader.", "Pass `encoding` to the reader."),
        ("The file is large; moving it out of the tree.", "move it out of the tree."),
        ("In `state.rs` I'll switch to `parking_lot`.", "switch to `parking_lot`."),
        ("Rerunning with `--no-cache`.", "Rerun with `--no-cache`."),
        ("Rebuilding with `--no-cache`.", "Rebuild with `--no-cache`."),
        ("Passing `x` is slow.", ""),
        ("Checking the logs.", ""),
        ("The file is old.", ""),
    ],
)
def test_orders_are_told_from_announcements(sentence: str, order: str) -> None:
    """What is to be done stays; a look, a run or a question is none."""
    assert agent_words.order_in(sentence) == order


def test_what_was_done_becomes_an_order() -> None:
    """`Replaced x with y` says: replace x with y."""
    assert agent_words.done_in("**Replaced** `a` with `b` in all places") == "replace `a` with `b` in all places"


def test_what_was_done_at_some_other_time_is_no_order() -> None:
    """`since we moved to x` tells when, not what is to be done."""
    assert agent_words.done_in("The build writes to `build/` since we moved to Vite 6") == ""


def test_causes_are_weighed() -> None:
    """A named cause weighs most, a reason some, a plan nothing."""
    assert agent_words.cause_weight("The root cause is a missing lock.") == 3
    assert agent_words.cause_weight("The pool is empty because nobody fills it.") == 1
    assert agent_words.cause_weight("Let me look at it.") == 0


@given(st.text(max_size=600))
def test_no_text_breaks_the_questions(text: str) -> None:
    """Every question has an answer for any text."""
    for one in [text, *sentences.sentences(text)]:
        person_words.asks_to_remember(one)
        person_words.states_a_rule(one)
        person_words.contradicts(one)
        agent_words.order_in(one)
        agent_words.done_in(one)
        person_words.asked_order(one)
        assert agent_words.cause_weight(one) in (0, 1, 3)
