"""A person's few words choose among the ways that were laid out; work to come is no choice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.decision import binding, detect
from detectors.options import options_in, picked, place_of, recommended
from index.records import Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, session

TWO = (
    "Two options:\n\n1. **Config file** - simple, but every change needs a deploy.\n"
    "2. **`flags` table** - can be switched while it runs, so nobody waits.\n\nWhich do you prefer?"
)
TABLE = (
    "**Recommended:** Option B - Sign the address in the service, so that no file passes through the API.\n\n"
    "| Option | Description |\n|---|---|\n| A | The API takes the file and hands it on |\n"
    "| B | The service signs an address |\n\nWhich option do you want?"
)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("2", 1),
        ("2.", 1),
        ("option 1 please", 0),
        ("yes, the second", 1),
        ("let's go with the first one", 0),
        ("the latter", 1),
        ("2でお願いします", 1),
        ("第二", 1),
        ("二", 1),
        ("die zweite", 1),
        ("1번으로 해주세요", 0),
        ("3", None),
        ("both", None),
        ("1 and 2", None),
        ("yes", None),
        ("2?", None),
        ("2 things are missing: the index and the migration of the old rows", None),
    ],
)
def test_few_words_pick_a_way(words: str, place: int | None) -> None:
    """By number, letter or place, in several languages; not by a yes, a question or a sentence."""
    assert picked(words, options_in(TWO)) == place


def test_ways_stand_in_one_line_too() -> None:
    """Each with its mark in brackets."""
    options = options_in("There are two ways. 1) Use `jsonTransport`, so no network is needed. 2) Run a mail server.")
    assert [option.mark for option in options] == ["1", "2"]
    assert picked("the former", options) == 0


def test_ways_stand_in_a_table_too() -> None:
    """With what is said for the one that is recommended, which a yes picks."""
    options = options_in(TABLE)
    assert [option.mark for option in options] == ["a", "b"]
    assert options[1].head.startswith("Sign the address in the service")
    assert recommended(TABLE)[0] == "b"
    assert picked("yes", options, "b") == 1
    assert picked("recommended", options, "b") == 1
    assert picked("a", options, "b") == 0


@pytest.mark.parametrize(
    "text",
    [
        "Next steps:\n1. Add tests\n2. Write the docs\nWhich one?",
        "I can also:\n1. Add tests, so that it stays\n2. Write docs\nWould you like me to?",
        "Yes. I could also:\n1. Write docs\n2. Add a changelog entry, so users see it\nWhich one?",
        "What I did:\n1. Added a column\n2. Ran the tests",
        "Options:\n1. Only one way",
        "Options:\n3. c\n4. d",
    ],
)
def test_work_to_come_is_no_choice(text: str) -> None:
    """Next steps, reports, and lists that do not run from their start."""
    assert options_in(text) == []


CHOSEN: dict[str, tuple[list[Turn], str]] = {
    "a number": (
        [agent(TWO), person("2"), edit("db/001.sql", "", "create table flags")],
        "Go with `flags` table: not Config file",
    ),
    "a letter, of a table": (
        [agent(TABLE), person("B"), edit("api/upload.ts", "", "sign(address)")],
        "Sign the address in the service",
    ),
    "Japanese": (
        [
            agent("選択肢は二つです。\n1. ファイルに書く。簡単ですが消えます。\n2. 標準出力に出す。設定が不要です。"),
            person("2でお願いします"),
            edit("log.py", "a", "b"),
        ],
        "標準出力に出す",
    ),
    "an agreed proposal": (
        [
            agent("I'd go with signed cookies rather than a store here: it is one service less to run."),
            person("sounds good"),
            edit("session.rb", "", "store :cookie_store"),
        ],
        "Use signed cookies rather than a store here",
    ),
    "what may not be done here": (
        [
            agent("Since `web` imports `core`, I can't import `web` from `core` (circular dependency)."),
            agent("I'll put the helper into a shared package `textkit` that both can import."),
            edit("textkit/cut.go", "", "package textkit"),
        ],
        "Put the helper into a shared package `textkit`",
    ),
}
NOT_CHOSEN: dict[str, list[Turn]] = {
    "nothing was done for it": [agent(TWO), person("2"), agent("Let me see.")],
    "nothing is said for it": [
        agent("Options:\n1. red\n2. blue\nWhich one?"),
        person("2"),
        edit("a.css", "red", "blue"),
    ],
    "work to come": [
        agent("Next steps:\n1. Add `limit`, since lists get long\n2. Deploy"),
        person("1"),
        edit("a.ts", "", "limit"),
    ],
    "a limit of the moment": [
        agent("I can't run `web` now because the port is in use."),
        edit("web.ts", "a", "b"),
    ],
}


@pytest.mark.parametrize("story", CHOSEN)
def test_a_choice_is_told(story: str) -> None:
    """The way that was taken, with the reason that was given for it."""
    turns, title = CHOSEN[story]
    made = session(*turns)
    (lesson,) = write_lessons(made, list(detect(made)))
    assert lesson.title.startswith(title)
    assert lesson.category == "knowledge"


@pytest.mark.parametrize("story", NOT_CHOSEN)
def test_no_choice_is_made_up(story: str) -> None:
    """Choices without a reason or without a change, work to come, limits of the moment."""
    made = session(*NOT_CHOSEN[story])
    assert not write_lessons(made, list(detect(made)))


@given(st.text(max_size=400), st.text(max_size=60))
def test_any_text_has_an_answer(text: str, words: str) -> None:
    """No list and no words break the questions, and what is picked is one of the ways."""
    options = options_in(text)
    at = picked(words, options, recommended(text)[0])
    assert at is None or 0 <= at < len(options)
    assert place_of(words) in {None, 0, 1, 2}
    assert isinstance(binding(text), str)
