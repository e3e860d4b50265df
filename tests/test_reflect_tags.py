"""Tags come from a list, a few at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflect.tags import MOST, TAGS, tags_for


def test_commands_files_and_words_give_tags() -> None:
    """The program, the file's ending, what the error is about."""
    found = tags_for(["golangci-lint run"], ["shop/cart.go"], "undefined: math in the build")
    assert found == ("go", "lint", "build")


@given(st.lists(st.text(max_size=40), max_size=4), st.lists(st.text(max_size=40), max_size=4), st.text(max_size=200))
def test_only_tags_of_the_list_and_few(commands: list[str], paths: list[str], text: str) -> None:
    """Whatever comes in, only listed tags come out, each once."""
    found = tags_for(commands, paths, text)
    assert set(found) <= TAGS
    assert len(found) == len(set(found)) <= MOST
