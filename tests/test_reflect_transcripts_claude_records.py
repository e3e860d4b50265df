"""A record of Claude Code is parsed the short way only where that loses nothing."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from reflect.transcripts.claude_records import is_injected, is_typed, only_thinks, parse_record

HEAD = {"parentUuid": None, "isSidechain": False, "type": "user"}
MARKS = {"uuid": "u", "timestamp": "2026-11-12T08:00:00Z"}


def raw(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()  # lines come without their ends


def message(text: str) -> dict[str, Any]:
    return {"message": {"role": "user", "content": [{"type": "tool_result", "content": text}]}}


def test_the_second_copy_of_a_result_is_passed_over() -> None:
    """The record is the same, but for the copy and what follows it."""
    record = {**HEAD, **message("x" * 2000), **MARKS}
    assert parse_record(raw({**record, "toolUseResult": {"stdout": "x" * 2000, "interrupted": False}})) == record


@pytest.mark.parametrize(
    "record",
    [
        {**HEAD, **message("x" * 2000), **MARKS, "toolUseResult": {"stdout": "x", "interrupted": True}},
        {**HEAD, **message("x" * 2000), **MARKS, "toolUseResult": "Error", "toolDenialKind": "user-rejected"},
        {**HEAD, **message("x" * 2000), "toolUseResult": {"stdout": "x"}, **MARKS},
        {**HEAD, **message('a,"toolUseResult":{' + "x" * 2000), **MARKS},
        {**HEAD, "data": {"a": 1, "toolUseResult": "x" * 2000}, **message("x"), **MARKS},
        {**HEAD, **message("short"), **MARKS, "toolUseResult": {"stdout": "x"}},
    ],
)
def test_a_record_that_says_more_is_parsed_whole(record: dict[str, Any]) -> None:
    """Interruptions and denials matter; the words may stand in a text or deeper; the order of keys may differ."""
    assert parse_record(raw(record)) == record


def test_a_cut_line_is_not_taken_for_a_whole_one() -> None:
    """A line that ends inside the copy is broken."""
    line = raw({**HEAD, **message("x" * 2000), **MARKS, "toolUseResult": {"stdout": "x" * 2000}})
    with pytest.raises(orjson.JSONDecodeError):
        parse_record(line[:-20])


def test_whose_words_a_record_holds() -> None:
    """By its fields: meta, summaries, plans, other sources; by its shape: results and thoughts are not typed."""
    typed = {"type": "user", "message": {"content": "Fix it."}}
    assert is_typed(typed)
    assert not is_typed({**typed, "isSidechain": True})
    assert not is_typed({"type": "user", **message("x")})
    for field in ({"isMeta": True}, {"isCompactSummary": True}, {"origin": {"kind": "task-notification"}}):
        assert is_injected(typed | field)
    assert only_thinks({"message": {"content": [{"type": "thinking"}]}})
    assert not only_thinks({"message": {"content": [{"type": "thinking"}, {"type": "text"}]}})
