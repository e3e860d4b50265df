"""Index entries from records, and `.index.yaml`: one entry a line, sorted by id, readable by any YAML parser."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson

from index.collector import collector_off
from index.decode import load_json, safe_yaml
from index.known import Known
from index.records import Solution

# PyYAML refuses or alters these raw; JSON may escape them.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# A YAML key or flow scalar that serves as one may have 1,024 characters; titles stay far below.
MAX_TITLE = 300
_text = json.encoder.encode_basestring
_KNOWN = Known(_text)
HEADER = "# Derived from solutions/ by hotwash; rebuilt at will, never edited by hand.\n"


def entry_for(solution: Solution) -> dict[str, Any]:
    """The row a solution is found by."""
    return {
        "id": solution.id,
        "path": solution.path,
        "title": solution.title[:MAX_TITLE],
        "category": solution.category,
        "type": solution.type,
        "confidence": solution.confidence,
        "trust": solution.trust,
        "importance": solution.importance,
        "tags": list(solution.tags),
        "project": solution.project,
        "created": _time(solution.created),
    }


def render_index(solutions: Iterable[Solution]) -> str:
    """The whole `.index.yaml`: a YAML list with one JSON mapping a line; the same solutions give the same bytes."""
    ordered = sorted(solutions, key=lambda solution: (solution.id, solution.path))
    lines = "".join([_entry_line(solution) for solution in ordered])
    # Once over all of it: line by line it would take longer than the encoding.
    if not lines.isascii() or "\x7f" in lines:
        lines = lines.encode("utf-8", "replace").decode()
        lines = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", lines)
    return HEADER + (lines or "[]\n")


def _entry_line(solution: Solution) -> str:
    """`entry_for` as JSON; put together by hand, since an encoder takes three times as long on a large store."""
    title = solution.title[:MAX_TITLE]
    # What many lessons share is looked up.
    return (
        f'- {{"id": {_text(solution.id)}, "path": {_text(solution.path)}, "title": {_text(title)}, '
        f'"category": {_KNOWN[solution.category]}, "type": {_KNOWN[solution.type]}, '
        f'"confidence": {solution.confidence!r}, '
        f'"trust": {_KNOWN[solution.trust]}, "importance": {_KNOWN[solution.importance]}, '
        f'"tags": [{", ".join([_KNOWN[tag] for tag in solution.tags])}], "project": {_KNOWN[solution.project]}, '
        f'"created": "{solution.created.isoformat()[:19]}Z"}}\n'
    )


def _time(created: datetime) -> str:
    return f"{created.isoformat()[:19]}Z"


def parse_index(text: str) -> list[dict[str, Any]]:
    """The entries of an `.index.yaml`: line by line where it is ours, through PyYAML where someone reformatted it."""
    lines = [line[2:] for line in text.split("\n") if line and not line.startswith("#") and line != "[]"]
    with collector_off(), contextlib.suppress(ValueError):
        # All lines as one array, a fifth of the time of one by one; what orjson refuses others may read.
        entries: list[dict[str, Any]] = orjson.loads(f"[{','.join(lines)}]")
        if len(entries) == len(lines):
            return entries
    try:
        return [load_json(line) for line in lines]
    except ValueError:
        loaded = safe_yaml(text)
        return loaded if isinstance(loaded, list) else []
