"""Numbers with their nouns."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from index.plural import by_category, plural

CODE = Path(__file__).parents[1]
COUNTED = re.compile(
    r" (lessons|files|sessions|days|drafts|events|findings|groups|clusters|conflicts|hits|lines|turns|runs|tools|stores"
    r"|projects|pairs|places|bugs|patterns|changes|skills|transcripts|calls)\b"
)
# A setting, or a number that cannot be one where it is said.
LARGE = {"stale", "due", "keep_days", "age"}


@given(st.integers(0, 10**7))
def test_only_one_is_singular(count: int) -> None:
    """One lesson; none or several are lessons."""
    number, noun = plural(count, "lesson").split()
    assert int(number.replace(",", "")) == count
    assert noun == ("lesson" if count == 1 else "lessons")


def test_a_noun_with_a_plural_of_its_own() -> None:
    """What is not made with an s is given."""
    assert plural(1, "event waits", "events wait") == "1 event waits"
    assert plural(2, "event waits", "events wait") == "2 events wait"


def test_categories_are_counted_in_words() -> None:
    """A single bug or pattern is one; knowledge is not counted in pieces."""
    assert by_category({"patterns": 1, "bugs": 1, "knowledge": 1}) == "1 bug, 1 knowledge, 1 pattern"
    assert by_category({"patterns": 2, "bugs": 0}) == "0 bugs, 2 patterns"
    assert by_category({}) == ""


def test_no_text_counts_with_a_fixed_plural() -> None:
    """Nowhere is a count put before a plural noun by hand: it would say `1 files`."""
    found = []
    for package in ("index", "detectors", "reflect", "curate", "flows"):
        for file in sorted((CODE / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if not isinstance(node, ast.JoinedStr):
                    continue
                for value, text in zip(node.values, node.values[1:], strict=False):
                    if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                        continue
                    name = ast.unparse(value.value)
                    if (
                        isinstance(text.value, str)
                        and COUNTED.match(text.value)
                        and not name.isupper()
                        and name not in LARGE
                    ):
                        found.append(f"{file.relative_to(CODE)}:{node.lineno}: {{{name}}}{text.value}")
    assert found == []
