"""Change one place in a JSON or JSONC text and leave every other byte as it is; pure.

A config file belongs to its user: order, spacing, comments and trailing commas stay. The text is scanned into nodes
with their spans (RFC 8259, plus `//` and `/* */` comments and trailing commas), and edits are made by span.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: text[start:end]. An object's members are (key, start of the key, value)."""

    kind: str
    start: int
    end: int
    members: tuple[tuple[str, int, Node], ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> Node | None:
        """The value of an object's key; of a repeated key the last, as readers take it."""
        return next((value for name, _, value in reversed(self.members) if name == key), None)


class ParseError(ValueError):
    """A text that is no JSON: `line` is where."""

    def __init__(self, text: str, at: int, wanted: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        found = repr(text[at : at + 12]) if at < len(text) else "the end of the file"
        super().__init__(f"line {self.line}: wanted {wanted}, found {found}")


def parse_json(text: str) -> Node:
    """The nodes of a JSON or JSONC text; raises ParseError."""
    at = skip_blank(text, 1 if text.startswith("\ufeff") else 0)
    node, at = scan_value(text, at, 0)
    at = skip_blank(text, at)
    if at < len(text):
        raise ParseError(text, at, "nothing more")
    return node


def skip_blank(text: str, at: int) -> int:
    """The next place that is neither white space nor a comment."""
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at)
            if end < 0:
                raise ParseError(text, at, "the end of a comment")
            at = end + 2
        else:
            break
    return at


def scan_value(text: str, at: int, depth: int) -> tuple[Node, int]:
    """The value that starts at a place, and where it ends."""
    if depth > DEEPEST:
        raise ParseError(text, at, f"at most {DEEPEST} levels")
    char = text[at : at + 1]
    if char == "{":
        return scan_object(text, at, depth)
    if char == "[":
        return scan_array(text, at, depth)
    if char == '"':
        _, end = scan_string(text, at)
        return Node("string", at, end), end
    end = at
    while end < len(text) and text[end] not in ",]}/ \t\r\n":
        end += 1
    try:
        json.loads(text[at:end])
    except ValueError:
        raise ParseError(text, at, "a value") from None
    return Node("literal", at, end), end


def scan_string(text: str, at: int) -> tuple[str, int]:
    """The string that starts at a place, and where it ends."""
    if text[at : at + 1] != '"':
        raise ParseError(text, at, "a string")
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    try:
        return str(json.loads(text[at : end + 1], strict=False)), end + 1
    except ValueError:
        raise ParseError(text, at, "a string") from None


def scan_object(text: str, start: int, depth: int) -> tuple[Node, int]:
    """The object that starts at a place."""
    members: list[tuple[str, int, Node]] = []
    at = skip_blank(text, start + 1)
    while text[at : at + 1] != "}":
        key_at = at
        key, at = scan_string(text, at)
        at = skip_blank(text, at)
        if text[at : at + 1] != ":":
            raise ParseError(text, at, "':'")
        value, at = scan_value(text, skip_blank(text, at + 1), depth + 1)
        members.append((key, key_at, value))
        at = skip_comma(text, at, "}")
    return Node("object", start, at + 1, members=tuple(members)), at + 1


def scan_array(text: str, start: int, depth: int) -> tuple[Node, int]:
    """The array that starts at a place."""
    items: list[Node] = []
    at = skip_blank(text, start + 1)
    while text[at : at + 1] != "]":
        value, at = scan_value(text, at, depth + 1)
        items.append(value)
        at = skip_comma(text, at, "]")
    return Node("array", start, at + 1, items=tuple(items)), at + 1


def skip_comma(text: str, at: int, close: str) -> int:
    """Past the comma behind an element, or at the closing bracket."""
    at = skip_blank(text, at)
    if text[at : at + 1] == ",":
        return skip_blank(text, at + 1)
    if text[at : at + 1] != close:
        raise ParseError(text, at, f"',' or '{close}'")
    return at


def find_indent(text: str) -> str:
    """One level of the text's indentation: that of its first indented line, else two spaces."""
    for line in text.split("\n"):
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and line.strip() and not line.lstrip().startswith(("*", "//", "/*")):
            return blank
    return "  "


def insert_last(text: str, box: Node, render: Callable[[str], str]) -> str:
    """The text with one more element at the end of an object or array.

    `render` makes the element from the white space its further lines start with.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    starts = [start for _, start, _ in box.members] or [node.start for node in box.items]
    ends = [node.end for _, _, node in box.members] or [node.end for node in box.items]
    outer = indent_of(text, box.start)
    if not starts:
        inner = outer + find_indent(text)
        rest = text[box.start + 1 : box.end - 1]
        kept = rest.rstrip(" \t\r\n")
        element = render(inner).replace("\n", newline)
        return f"{text[: box.start + 1]}{kept}{newline}{inner}{element}{newline}{outer}{text[box.end - 1 :]}"
    own_line = "\n" in text[box.start : starts[-1]] and not text[line_start(text, starts[-1]) : starts[-1]].strip()
    inner = indent_of(text, starts[-1]) if own_line else outer
    gap = newline + inner if own_line else " "
    element = render(inner).replace("\n", newline)
    last = ends[-1]
    comma = skip_blank(text, last)
    trailing = text[comma] == ","
    head = text[: comma + 1] if trailing else text[:last] + ","
    tail_at = comma + 1 if trailing else last
    place = tail_at  # a comment on the last element's line stays with it
    line_end = text.find("\n", tail_at)
    if own_line and 0 <= line_end < box.end:
        place = tail_at + len(text[tail_at:line_end].rstrip())
    return head + text[tail_at:place] + gap + element + ("," if trailing else "") + text[place:]


def indent_of(text: str, at: int) -> str:
    """The white space that the line of a place starts with."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < at and text[end] in " \t":
        end += 1
    return text[start:end]


def remove_element(text: str, box: Node, number: int) -> str:
    """The text without one element of an object or array, its comma and its line."""
    starts = [start for _, start, _ in box.members] or [node.start for node in box.items]
    ends = [node.end for _, _, node in box.members] or [node.end for node in box.items]
    start, end = starts[number], ends[number]
    behind = skip_blank(text, end)
    comma_behind = text[behind] == ","
    cut_from, cut_to = start, behind + 1 if comma_behind else end
    if number + 1 < len(starts):
        cut_to = starts[number + 1]
    if alone(text, start, end):
        cut_from, cut_to = line_start(text, start), text.find("\n", end) + 1
    if number and not comma_behind:  # the comma before it goes too; what stands behind that comma stays
        comma = text.index(",", skip_blank(text, ends[number - 1]))
        between = text[comma + 1 : cut_from]
        return text[:comma] + (between if cut_from < start else between.rstrip(" \t\r\n")) + text[cut_to:]
    if len(starts) > 1:
        kept = text[:cut_from]
        return (kept.rstrip(" \t") if number + 1 == len(starts) and cut_from == start else kept) + text[cut_to:]
    inside = text[box.start + 1 : cut_from] + text[cut_to : box.end - 1]
    return text[: box.start + 1] + (inside if inside.strip() else "") + text[box.end - 1 :]


def alone(text: str, start: int, end: int) -> bool:
    """Whether nothing but the element and its comma stands on its lines."""
    line_end = text.find("\n", end)
    before = text[line_start(text, start) : start]
    behind = text[end : line_end if line_end >= 0 else len(text)]
    return not before.strip() and behind.strip() in {"", ","}


def line_start(text: str, at: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, at) + 1
