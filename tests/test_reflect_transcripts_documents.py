"""Transcripts that are one document: read whole, and their parts found on true lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.transcripts import documents
from reflect.transcripts.documents import LineFinder, read_document


def test_a_document_beyond_measure_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a fault, not a full memory."""
    monkeypatch.setattr(documents, "MAX_DOCUMENT", 10)
    (tmp_path / "x.json").write_text(json.dumps({"a": "b" * 100}))
    assert read_document(tmp_path / "x.json").fault == "huge-document"


@pytest.mark.parametrize(
    ("raw", "fault"), [(b"", "empty-document"), (b'{"a":', "bad-json"), (b'\xef\xbb\xbf{"a": 1}', "")]
)
def test_what_is_wrong_with_a_document(tmp_path: Path, raw: bytes, fault: str) -> None:
    """Empty, broken, or only marked."""
    (tmp_path / "x.json").write_bytes(raw)
    assert read_document(tmp_path / "x.json").fault == fault


@given(names=st.lists(st.text("abcdef", min_size=1, max_size=6), min_size=1, max_size=20, unique=True))
def test_parts_are_found_on_their_lines(names: list[str]) -> None:
    """Each part's line holds its name; in a document of one line the ordinal stands for it."""
    value = [{"id": name, "n": number} for number, name in enumerate(names)]
    pretty = json.dumps(value, indent=1).encode()
    finder = LineFinder(pretty)
    lines = pretty.decode().split("\n")
    for name in names:
        assert f'"{name}"' in lines[finder.line_of(name) - 1]
    assert finder.last == len(lines)
    flat = LineFinder(json.dumps(value).encode())
    assert [flat.line_of(name) for name in names] == list(range(1, len(names) + 1))
