"""Index entries from records, and `.index.yaml`: one entry a line, sorted by id, readable by any YAML parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from index.decode import load_json, safe_yaml
from index.frontmatter import split_frontmatter
from index.records import Solution

# PyYAML refuses or alters these raw; JSON may escape them.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# A YAML key or flow scalar that serves as one may have 1,024 characters; titles stay far below.
MAX_TITLE = 300
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
        "created": solution.created.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def render_index(solutions: Iterable[Solution]) -> str:
    """The whole `.index.yaml`: a YAML list with one JSON mapping a line; the same solutions give the same bytes."""
    lines = []
    for solution in sorted(solutions, key=lambda solution: (solution.id, solution.path)):
        line = json.dumps(entry_for(solution), ensure_ascii=False).encode("utf-8", "replace").decode()
        lines.append("- " + _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n")
    return HEADER + ("".join(lines) if lines else "[]\n")


def parse_index(text: str) -> list[dict[str, Any]]:
    """The entries of an `.index.yaml`: line by line where it is ours, through PyYAML where someone reformatted it."""
    try:
        return [load_json(line[2:]) for line in text.split("\n") if line and not line.startswith("#") and line != "[]"]
    except ValueError:
        loaded = safe_yaml(text)
        return loaded if isinstance(loaded, list) else []


def plain_body(text: str) -> str:
    """A lesson's text without its front matter."""
    return split_frontmatter(text)[1]
