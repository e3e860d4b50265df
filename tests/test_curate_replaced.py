"""What a text names as replaced is found in one pass as a pattern for each value would find it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curate.replaced import strip_replaced, whole

BEFORE = (
    r"(?:\b(?:not|no longer|instead of|rather than|formerly|previously|used to (?:be|say|use|listen on|run on)"
    r"|replac(?:es|ed|ing)|(?:changed|moved|migrated|switched|renamed|upgraded|raised|lowered|bumped) from)(?![a-z])"
    r"|不再(?:是|使用)?|而不是|而非|代替|取代|ではなく|の代わりに)"
)
AFTER = r"(?:ではなく|の代わりに|に代わ|から(?:変更|移行)|改为|改成)"


def plainly(values: set[str], texts: tuple[str, str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The same with a pattern for each value."""
    named: set[str] = set()
    for value in sorted(values, key=lambda one: (-len(one), one)):
        quoted = rf"[`\"'“「]?{whole(value)}[`\"'”」]?"
        before = rf"[\s,;，、；(（]{{0,3}}{BEFORE}[\s:]{{0,2}}(?:[A-Za-z-]{{1,20}}\s{{1,3}}){{0,3}}{quoted}[)）]?"
        found = re.compile(rf"{before}|{quoted}\s{{0,2}}{AFTER}", re.IGNORECASE)
        stripped = found.sub("", texts[0]), found.sub("", texts[1])
        if value not in "\n".join(texts) or stripped == texts:
            continue
        if not re.search(whole(value), "\n".join(stripped), re.IGNORECASE):
            named.add(value.lower())
            texts = stripped
    return frozenset(named), texts


MARKS = (
    "not|nothing |no longer|instead of|Replaces|changed from|used to use"
    "|不再|不再是|而不是|ではなく|の代わりに|に代わり|から変更|改为"
)
VALUES = "5432|5432.1|`pip`|pip|PIP|port 5432|the-old|--fast|a/b.py|端口|ポート|ſet|İx|:memory:"
OTHERS = ' | |, |  |(|)|: |\n|.|old |the old port |ordinary words here |。|、|「|」|"|_'
PIECES = st.sampled_from([*MARKS.split("|"), *VALUES.split("|"), *OTHERS.split("|"), " ", " "])
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(TEXTS, TEXTS)
@example("not not 5432", "(instead of `pip`) pip, not 5432")
@example("5432 ではなく 5432", "not the old port 5432, not port 5432")
@example("not not the-old", "no longer  a/b.py に代わり")
@example("不再是5432", "不再 是")
def test_it_is_what_a_pattern_for_each_value_finds(title: str, body: str) -> None:
    values = {value.strip("`") for value in VALUES.split("|")} | {"是", "old"}
    assert strip_replaced(lambda: values, (title, body)) == plainly(values, (title, body))


@pytest.mark.parametrize(
    ("text", "named", "left"),
    [
        ("It is 5433, not 5432.", {"5432"}, "It is 5433."),
        ("Use `uv` instead of `pip`, for pip is slow.", set(), None),
        ("5432 ではなく 5433 を使う。", {"5432"}, " 5433 を使う。"),
        ("Nothing is said.", set(), None),
        ("使用端口5433，而不是5432。", {"5432"}, "使用端口5433。"),
        ("不再使用端口15432。", set(), None),
    ],
)
def test_only_what_is_nowhere_else_is_replaced(text: str, named: set[str], left: str | None) -> None:
    found = strip_replaced(lambda: {"5432", "pip", "said"}, ("", text))
    assert found == (frozenset(named), ("", text if left is None else left))


def test_where_nothing_is_called_replaced_no_values_are_read() -> None:
    def fail() -> set[str]:
        raise AssertionError("were read")

    texts = ("Notable", "The suite needs Node 18.")
    assert strip_replaced(fail, texts) == (frozenset(), texts)
