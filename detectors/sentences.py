"""Cut texts into sentences, tell exact ones from vague ones, and build patterns out of readable lists."""

from __future__ import annotations

import re

LONGEST_SENTENCE = 420
LONGEST_TEXT = 24_000
LITERAL = re.compile(r"`[^`\n]{2,160}`")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_LEAD = re.compile(r"^[ \t>]{0,20}(?:[-*+•][ \t]{1,4}|\d{1,3}[.)][ \t]{1,4}|#{1,6}[ \t]{1,4})?")
_STOP = re.compile(r"(?<=[.!?])[\"')\]*_]{0,3}\s+(?=\S)|(?<=[。！？])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|ms|st)\.$", re.IGNORECASE)


def either(alternatives: str) -> re.Pattern[str]:
    """A pattern, blind to case, for any of the alternatives: one a line; lines that start with "# " are comments."""
    lines = (line.strip() for line in alternatives.split("\n"))
    return re.compile("|".join(line for line in lines if line and not line.startswith("# ")), re.IGNORECASE)


_CODE_WORD = re.compile(
    r"\b(?:[a-z]+[A-Z]\w{1,40}|[A-Z][a-z]+[A-Z]\w{1,40}|\w{1,40}_\w{1,40}|\w{1,40}\(\)|--[a-z][\w-]{1,40}"
    r"|[\w-]{1,60}\.(?:py|ts|tsx|js|go|rs|java|rb|json|ya?ml|toml|sh|md|sql|css|html))"
)


def sentences(text: str, most: int = 120) -> list[str]:
    """The sentences of a text outside code fences and tables, list items included; over-long ones left out."""
    found: list[str] = []
    fenced = False
    for line in text[:LONGEST_TEXT].split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.lstrip().startswith(("|", "---", "===")):
            continue
        found.extend(_split(_LEAD.sub("", line).strip()))
        if len(found) >= most:
            break
    return found[:most]


def _split(line: str) -> list[str]:
    parts: list[str] = []
    for part in _STOP.split(line):
        part = part.strip()
        if not part:
            continue
        if parts and (_ABBREVIATION.search(parts[-1]) or (parts[-1].count("`") % 2 and "`" in part)):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return [part for part in parts if len(part) <= LONGEST_SENTENCE]


def has_literal(text: str) -> bool:
    """Whether a sentence names something exactly: code in backticks, an identifier, a flag, a file."""
    return LITERAL.search(text) is not None or _CODE_WORD.search(text) is not None
