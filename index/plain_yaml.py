"""The plain part of YAML that our own front matter is written in, read without a YAML library.

Line by line: `key: value`, with scalars, flow lists and flow mappings, and one level of indented block below a key.
What is outside of this subset, or not certainly the same for a YAML library, is left to it: `parse_plain` answers None.
A property test holds every answer equal to that of the library, which takes ten times as long.
"""

from __future__ import annotations

import re
from typing import Any, cast

# YAML ends a line at these too, refuses some of them raw, and alters others.
_PRINTABLE = r"\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_PLAIN_HEADER = re.compile(rf"[{_PRINTABLE}\n]*\Z")
_KEY = r"[A-Za-z_][A-Za-z0-9_-]*"
_LINE = re.compile(rf"({_KEY}):(?: +(.*))?\Z")
_CHILD = re.compile(rf"  ({_KEY}): +(.+)\Z")
# A number of YAML 1.1 that both sides read alike; an octal, an underscore, a base 60 or an exponent is none of these.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_DECIMAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}\Z")
# Texts that begin with a digit and can be no number: times, days, ULIDs with a letter, and most other names.
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]{8}Z)?\Z")
_DIGIT_TEXT = re.compile(r"(?:[0-9]+[G-Zg-wyz][0-9A-Za-z]*|(?=[0-9]*[A-Z])[0-9A-Z]{26})\Z")
_WORDS = re.compile(r"[A-Za-z\u00c0-\u1fff\u3040-\ud7ff]")
_ITEM = re.compile(r" *(?:(\"[^\"\\]*\")|([A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff-][^\[\]{},\"':#&*!|>%@`]*)|([\[{])) *")
_WORD_LIST = re.compile(r"\[[A-Za-z][A-Za-z0-9_-]*(?:, [A-Za-z][A-Za-z0-9_-]*)*\]\Z")
_FIELD = re.compile(rf" *({_KEY}): ")
_RESERVED = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])
_CONSTANTS = {"true": True, "false": False, "null": None}
_DEEPEST = 8
# What short scalars stand for and which keys are sound, remembered: a store's headers hold the same again and again.
_SCALARS: dict[str, str | int | float | bool | None] = {}
_KEYS: set[str] = set()
_LONGEST = 24
_MOST = 20_000


class _Unsure(Exception):
    """The text is not certainly what this module would read it as."""


def parse_plain(text: str) -> dict[str, Any] | None:
    """The mapping that a front matter's text holds, or None where a YAML library has to be asked."""
    if not ((text.isascii() and text.replace("\n", "").isprintable()) or _PLAIN_HEADER.match(text)):
        return None
    values: dict[str, Any] = {}
    lines = text.rstrip("\n").split("\n")
    at = 0
    try:
        while at < len(lines):
            line = lines[at]
            at += 1
            key, colon, rest = line.partition(": ")
            if colon and key in _KEYS:
                rest = rest.lstrip(" ")
            else:
                match = _LINE.match(line)
                if match is None or match[1].lower() in _RESERVED:
                    return None
                key, rest = match[1], match[2] or ""
                if len(_KEYS) < _MOST:
                    _KEYS.add(key)
            if key in values:
                return None
            if at == len(lines) or not lines[at].startswith("  "):
                values[key] = _SCALARS[rest] if rest in _SCALARS else _inline(rest)
                continue
            if rest:
                return None
            block = at
            while block < len(lines) and lines[block].startswith("  "):
                block += 1
            values[key] = _block(lines[at:block])
            at = block
    except _Unsure:
        return None
    return values


def _block(lines: list[str]) -> object:
    """A list of `  - item` lines, or a mapping of `  key: value` lines."""
    if lines[0].startswith("  - "):
        if not all(line.startswith("  - ") for line in lines):
            raise _Unsure
        return [_item(line[4:]) for line in lines]
    values: dict[str, object] = {}
    for line in lines:
        match = _CHILD.match(line)
        if match is None or match[1] in values or match[1].lower() in _RESERVED:
            raise _Unsure
        values[match[1]] = _inline(match[2])
    return values


def _item(text: str) -> object:
    """An item of a block list; a scalar with a colon in it could be a mapping."""
    if ":" in text and text[:1] not in '[{"':
        raise _Unsure
    return _inline(text)


def _inline(text: str) -> object:
    """The value of one line."""
    value = _value(text.rstrip(" "))
    if len(text) <= _LONGEST and not isinstance(value, (list, dict)) and len(_SCALARS) < _MOST:
        _SCALARS[text] = cast("str", value)
    return value


def _value(text: str) -> object:
    first = text[:1]
    if not text:
        return None
    if first == '"':
        if len(text) < 2 or text[-1] != '"' or '"' in text[1:-1] or "\\" in text:
            raise _Unsure
        return text[1:-1]
    if first in "[{":
        if _WORD_LIST.match(text) and _RESERVED.isdisjoint(text[1:-1].lower().split(", ")):
            return text[1:-1].split(", ")
        value, end = _flow(text, 0, 0)
        if end != len(text):
            raise _Unsure
        return value
    if _WORDS.match(text) and ": " not in text and " #" not in text and text[-1] != ":":
        return _word(text)
    return _number(text)


def _word(text: str) -> object:
    lower = text.lower()
    if lower in _RESERVED:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        raise _Unsure
    return text


def _number(text: str) -> object:
    if _INTEGER.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    if _DATED.match(text) or _DIGIT_TEXT.match(text):
        return text
    raise _Unsure


def _flow(text: str, at: int, depth: int) -> tuple[object, int]:
    """The list or mapping that begins at `at`, and where it ends."""
    if depth > _DEEPEST:
        raise _Unsure
    is_list = text[at] == "["
    close = "]" if is_list else "}"
    items: list[object] = []
    fields: dict[str, object] = {}
    at += 1
    if text[at : at + 1] == close:
        return (items if is_list else fields), at + 1
    while True:
        key = ""
        if not is_list:
            named = _FIELD.match(text, at)
            if named is None or named[1] in fields or named[1].lower() in _RESERVED:
                raise _Unsure
            key, at = named[1], named.end()
        value, at = _flow_value(text, at, depth)
        if is_list:
            items.append(value)
        else:
            fields[key] = value
        if text[at : at + 1] == close:
            return (items if is_list else fields), at + 1
        if text[at : at + 2] != ", ":
            raise _Unsure
        at += 2


def _flow_value(text: str, at: int, depth: int) -> tuple[object, int]:
    match = _ITEM.match(text, at)
    if match is None:
        raise _Unsure
    if match[3]:
        value, end = _flow(text, match.end(3) - 1, depth + 1)
        while text[end : end + 1] == " ":
            end += 1
        return value, end
    if match[1] is not None:
        return match[1][1:-1], match.end()
    plain = match[2].rstrip(" ")
    return (_word(plain) if _WORDS.match(plain) else _number(plain)), match.end()
