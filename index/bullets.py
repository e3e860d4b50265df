"""Cut a markdown body into its bullets: one statement each, what a merge must keep.

A bullet is a list item with its continuation, a paragraph, a table, a quotation or a fenced block. Headings and
rules are not bullets: they order statements and state nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_FENCE = re.compile(r"^ {0,12}(`{3,}|~{3,})")
_ITEM = re.compile(r"^( {0,24})(?:[-*+]|\d{1,4}[.)])[ \t]{1,8}(?=\S)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"^ {0,3}(?:-[ -]{2,80}|\*[ *]{2,80}|_[ _]{2,80}|=[ =]{1,80})$")
_SENTENCE_END = re.compile(r"[.!?;:。！？；](?:(?<=[。！？；])|[\"'`)\]*]{0,4}\s{1,8}(?=\S))")
_SAYS = re.compile(r"[^\W_]")
_FENCES = frozenset("`~")


def parse_bullets(body: str) -> tuple[str, ...]:
    """The bullets of a markdown body in their order: texts without list marker, lines dedented, else as written.

    A fenced block belongs to the item or paragraph it follows without a blank line, otherwise it stands alone; one
    that the body never closes is closed, so that it cannot swallow what a merge puts after it.
    """
    bullets: list[str] = []
    block: list[str] = []
    fence = ""

    def close() -> None:
        text = _dedent(block)
        if _SAYS.search(text):
            bullets.append(text)
        block.clear()

    for line in body.expandtabs(4).splitlines():
        # The first sign tells what a line may be, and of most that they are but the next of a block.
        first = line.lstrip(" ")[:1]
        if fence:
            block.append(line)
            if first in _FENCES:
                closing = _FENCE.match(line)
                if closing and closing[1].startswith(fence) and not line.strip().strip(fence[0]):
                    fence = ""
        elif first.isalpha():
            block.append(line)
        elif first in _FENCES and (opened := _FENCE.match(line)):
            fence = opened[1]
            block.append(line)
        elif not line.strip() or _RULE.match(line) or _HEADING.match(line):
            if block:
                close()
        elif item := _ITEM.match(line):
            if block:
                close()
            block.append(" " * item.end() + line[item.end() :])
        else:
            block.append(line)
    if fence:
        block.append(fence)
    close()
    return tuple(bullets)


def render_bullets(bullets: Iterable[str]) -> str:
    """Bullets as markdown: one-line statements as a list, longer blocks as they are. parse_bullets reads them back."""
    parts: list[str] = []
    listed = False
    for text in bullets:
        single = "\n" not in text or parse_bullets(text) != (text,)
        if parts:
            parts.append("\n" if listed and single else "\n\n")
        parts.append("- " + text.replace("\n", "\n  ") if single else text)
        listed = single
    return "".join(parts) + ("\n" if parts else "")


# What compares lessons splits the same few several times in turn.
@lru_cache(maxsize=256)
def split_sentences(body: str) -> tuple[str, ...]:
    """The statements to compare two texts by: sentences of prose, and each line of code, table or heading."""
    sentences: list[str] = []
    for text in (*parse_headings(body), *parse_bullets(body)):
        if "\n" not in text:
            _cut(text.strip(), sentences)
            continue
        lines = text.splitlines()
        if _FENCE.match(lines[0]) or text.lstrip().startswith("|") or "\n```" in text:
            sentences += [line.strip() for line in lines if line.strip() and not _FENCE.match(line)]
        else:
            _cut(" ".join([line.strip() for line in lines]), sentences)
    return tuple(sentences)


def _cut(text: str, sentences: list[str]) -> None:
    """Add prose cut after the end of each sentence, without what closes it there: quotation marks, brackets."""
    last = 0
    for match in _SENTENCE_END.finditer(text):
        sentences.append(text[last : match.start() + 1].strip())
        last = match.end()
    if rest := text[last:].strip():
        sentences.append(rest)


def parse_headings(body: str) -> Iterator[str]:
    """The texts of a body's headings, in order."""
    if "#" not in body:
        return
    fenced = False
    for line in body.splitlines():
        first = line.lstrip(" ")[:1]
        if first in _FENCES:
            fenced ^= _FENCE.match(line) is not None
        elif first == "#" and not fenced and _HEADING.match(line):
            yield line.strip().lstrip("#").strip()


def _dedent(lines: list[str]) -> str:
    """Lines without the indent of the first; deeper ones keep what they have beyond it."""
    if not lines:
        return ""
    if len(lines) == 1:
        return lines[0].strip()
    first = len(lines[0]) - len(lines[0].lstrip())
    cut = [line[min(first, len(line) - len(line.lstrip())) :].rstrip() for line in lines]
    return "\n".join(cut).strip("\n")
