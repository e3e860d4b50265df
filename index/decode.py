"""JSON and YAML that others may have written: whatever is wrong with it is one kind of error, deep nesting included."""

from __future__ import annotations

import json
from typing import Any

import yaml

# The decoders of both recurse, so a text of brackets alone would end them and us.
MAX_NESTING = 200


def load_json(raw: str | bytes, **hooks: Any) -> Any:
    """The value of a JSON text; `hooks` are those of `json.loads`. Raises ValueError for all that is none."""
    try:
        return json.loads(raw, **hooks)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def is_deep(text: str) -> bool:
    """Whether a YAML text is nested so deeply, by brackets or by indentation, that reading it would cost too much."""
    depth = deepest = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    lines = text.splitlines()
    indent = max((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    dashes = max((len(line) - len(line.replace("- ", "")) for line in lines), default=0)
    return deepest > MAX_NESTING or max(indent, dashes) > 10 * MAX_NESTING


def safe_yaml(text: str) -> Any:
    """The value of a YAML text by the safe loader. Raises yaml.YAMLError for all that is none, dates included."""
    if is_deep(text):
        raise yaml.YAMLError(f"nested more deeply than {MAX_NESTING} levels")
    try:
        return yaml.safe_load(text)
    except (ValueError, RecursionError, OverflowError) as error:
        raise yaml.YAMLError(str(error) or "nested too deeply") from error
