"""The reference says what the code takes: made anew it is the same page, and nothing is left out."""

from __future__ import annotations

import dataclasses
import typing

from flows.cli import COMMANDS
from flows.reference import REFERENCE, render_reference
from index.settings import Settings


def test_the_page_is_what_the_code_says() -> None:
    """`make reference` writes it again after a change of a command or a setting."""
    assert REFERENCE.read_text(encoding="utf-8") == render_reference(), "run `make reference`"


def test_every_command_and_every_setting_is_there() -> None:
    """By name, with the variable that overrides it."""
    page = render_reference()
    for name in COMMANDS:
        assert f"### hotwash {name}\n" in page
    for group, kind in typing.get_type_hints(Settings).items():
        if dataclasses.is_dataclass(kind):
            for field in dataclasses.fields(kind):
                assert f"`HOTWASH_{group.upper()}_{field.name.upper()}`" in page
