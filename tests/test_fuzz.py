"""The fuzzer's targets hold for what it has broken, for hostile bytes by hand, and for what hypothesis makes up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.transcripts.registry import READERS
from tests.fuzz import FOUND, TARGETS

HOSTILE = [
    b"",
    b"\x00",
    b"\xef\xbb\xbf",
    b"---\n---\n",
    b"---\nid: &a [*a]\n---\n",
    b"---\r\ntitle: x\r\n---\r\n",
    b"{",
    b"[" * 3000,
    b'{"a":' * 3000,
    b'{"type":"user","message":{"content":[{"type":[]}]},"uuid":{}}\n',
    b'{"messages":null}',
    b'{"type":"session_meta","payload":[]}\n{"type":"response_item","payload":{"type":"message","content":5}}\n',
    b"SQLite format 3\x00" + b"\xff" * 200,
    b"\x1f\x8b\x08\x00" + b"\x00" * 30,
    b"\xff\xfe{\x00}\x00",
    b'"\\ud800"',
    b"hooks:\n\t- x\n",
]


@pytest.mark.parametrize(("target", "data"), FOUND)
def test_what_was_broken_once_is_mended(target: str, data: bytes) -> None:
    """Each found by the fuzzer."""
    TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_bytes_break_no_parser(target: str, data: bytes) -> None:
    """Empty, cut, deep, of the wrong kind, of another encoding."""
    TARGETS[target](data)


def test_every_reader_has_a_target_and_every_find_is_of_one() -> None:
    """A reader that is added is fuzzed too, and what was found once is tried again."""
    assert set(READERS) <= set(TARGETS)
    assert {target for target, _ in FOUND} <= set(TARGETS)


PIECES = st.sampled_from(
    b'---\n|id: 01KB7ZC4S0T2J5Q8XW3N6M9RVE\n|title: |\n|# |- |{"|":|}|[|]|,|null|\t|hooks|`|```\n|: |\xc3'.split(b"|")
) | st.sampled_from([b'"role":"user"', b'"type":"assistant"', b'"content":'])


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=15)
@given(data=st.lists(PIECES | st.binary(max_size=6), max_size=30).map(b"".join))
def test_any_bytes_break_no_parser(target: str, data: bytes) -> None:
    """Made of what the formats are made of."""
    TARGETS[target](data)
