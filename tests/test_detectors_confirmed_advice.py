"""A command that the agent advised and the person says helped; thanks alone name none."""

from __future__ import annotations

import pytest

from detectors.confirmed_advice import advised, command_confirmed, detect, helped, settings
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, run, session

REPORT = person('pip fails on my laptop with "error: externally-managed-environment"')
ADVICE = (
    "The system's Python is managed, because the distribution marks it so. Either\n"
    "1. make an environment: `python3 -m venv .venv`\n"
    "2. or take `pipx install acme` for tools\n"
)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("the venv works", "python3 -m venv .venv"),
        ("the second one fixed it", "pipx install acme"),
        ("`pipx install acme` did the trick, thanks", "pipx install acme"),
        ("thanks!", ""),
        ("that works", ""),
        ("works, but slowly", ""),
        ("the venv doesn't work", ""),
        ("does the venv work?", ""),
        ("好了", ""),
    ],
)
def test_which_command_helped(words: str, command: str) -> None:
    """Named, by its place or by a word of its item; not where several are left open, or it only half helped."""
    assert command_confirmed(words, ADVICE) == command


def test_a_lone_command_needs_no_name() -> None:
    """Where one command was advised, any word that it worked is about it, in other languages too."""
    advice = "The tools are gone after the upgrade. Run:\n```bash\nxcode-select --install\n```"
    assert advised(advice) == ["xcode-select --install"]
    assert command_confirmed("that fixed it", advice) == "xcode-select --install"
    assert command_confirmed("解决了", advice) == "xcode-select --install"
    assert command_confirmed("動きました", advice) == "xcode-select --install"


def test_the_lesson_names_command_error_and_cause() -> None:
    """The error is the trigger, without the words round it."""
    made = session(REPORT, agent(ADVICE), person("the venv works"))
    (lesson,) = write_lessons(made, list(detect(made)))
    assert lesson.title == "Run `python3 -m venv .venv` when it says `error: externally-managed-environment`"
    assert lesson.triggers.errors == ("error: externally-managed-environment",)
    assert "because the distribution marks it so" in lesson.body


@pytest.mark.parametrize(
    "turns",
    [
        [person("how do I list ports?"), agent("Use `lsof -i`."), person("works")],
        [REPORT, agent("It is managed; see the manual."), person("that works")],
        [REPORT, agent(ADVICE), person("still the same")],
        [person("it fails with error 500"), agent("Look at `kubectl logs deploy/web`."), person("thanks, that works")],
        [REPORT, agent(ADVICE), run("pip install x", "ok"), person("now what?")],
    ],
)
def test_nothing_is_made_up(turns: list) -> None:  # type: ignore[type-arg]
    """Questions, advice without a command, and commands that did not help."""
    assert not list(detect(session(*turns)))


def test_help_is_told_from_half_a_help() -> None:
    """A but, a not and a question take it back."""
    assert helped("works now, thanks")
    assert not helped("it works but the log is empty")
    assert not helped("it does not work")


SETTINGS = """The terminal changes the colours. Check:

1. **Contrast:** search `terminal.minContrast` and try setting it to `1`
2. **Acceleration:** search `terminal.gpu` and set it to `off`
"""


def test_which_setting_helped_is_told_by_what_is_written_of_it_later() -> None:
    """The person names none; the README that is written afterwards does."""
    turns = [
        person("the grays still look the same in one terminal, that is broken"),
        agent(SETTINGS),
        person("that's it, now they differ"),
        agent("I'll put it into the README."),
        edit("README.md", "", "Set terminal.minContrast to 1 for true colours."),
    ]
    made = session(*turns)
    (lesson,) = write_lessons(made, list(detect(made)))
    assert lesson.title.startswith("Set `terminal.minContrast` to `1`")
    assert not list(detect(session(*turns[:3])))


def test_settings_have_a_key_and_a_value() -> None:
    """A dotted key near its value; a file is none."""
    assert settings(SETTINGS) == ["terminal.minContrast: 1", "terminal.gpu: off"]
    assert settings("Change `main.py` and set it to `1`") == []
