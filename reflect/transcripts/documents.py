"""Transcripts that are one JSON document, and where in the text a part of it stands."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflect.transcripts.lines import parse_values

# A document has to be read as a whole; beyond this size that would take too much memory.
MAX_DOCUMENT = 48 * 1024 * 1024


@dataclass(slots=True)
class Document:
    """A parsed document; `value` is None where it cannot be used, `fault` says why."""

    value: Any
    raw: bytes
    fault: str = ""
    sha256: str = ""


def read_document(path: Path) -> Document:
    """The JSON document in a file. Raises OSError if the file cannot be read."""
    if path.stat().st_size > MAX_DOCUMENT:
        return Document(None, b"", "huge-document")
    raw = path.read_bytes()
    values, fault = parse_values(raw.removeprefix(b"\xef\xbb\xbf"))
    digest = hashlib.sha256(raw).hexdigest()
    if not values:
        return Document(None, raw, fault or "empty-document", digest)
    return Document(values[0], raw, fault, digest)


@dataclass(slots=True)
class LineFinder:
    """Finds the line on which parts of a pretty-printed document stand, going forward only.

    In a document without line breaks a part's line is its ordinal.
    """

    raw: bytes
    at: int = 0
    line: int = 1
    ordinal: int = 0

    def line_of(self, needle: str) -> int:
        """The line of the next place that holds `needle` in quotes; the line before it, if there is none."""
        self.ordinal += 1
        if self.raw.find(b"\n", 0, -1) < 0:
            return self.ordinal
        found = self.raw.find(b'"' + needle.encode() + b'"', self.at) if needle else -1
        if found >= 0:
            self.line += self.raw.count(b"\n", self.at, found)
            self.at = found
        return self.line

    @property
    def last(self) -> int:
        """The number of the document's last line, or of the parts found in one without line breaks."""
        return max(self.raw.count(b"\n", 0, -1) + 1 if self.raw else 0, self.ordinal)
