"""Lessons that others wrote, in whatever form, as solutions of ours.

What a foreign text says of its own trust, review or use is not believed. Forms: one lesson a file (docs/solutions and
its kin), many lessons a file (lessons.md, .learnings, MEMORY.md bullets), rules with path scopes (.cursor/rules,
.claude/rules, *.instructions.md).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from index.frontmatter import BadValue, load_yaml, parse_time, split_frontmatter
from index.records import Problem, Solution, Source, Triggers
from index.store import solution_id
from reflect.classify import classify

MAX_TITLE = 160
# Other clients' keys for the paths to which a text applies.
SCOPE_KEYS = ("paths", "globs", "applyTo", "applies_to", "files")
DATE_KEYS = ("date", "created", "last_updated", "created_at")
ERROR_KEYS = ("symptoms", "errors", "error")
MANY_NAMES = re.compile(r"(lessons?|learnings?|memory|errors|feature_requests|gotchas)\Z", re.IGNORECASE)
NO_LESSON = re.compile(r"(readme|index|template|changelog|license|contributing)\Z", re.IGNORECASE)
_FIELD = re.compile(r"^([A-Za-z_][\w-]{0,60})[ \t]*:[ \t]*(.*)$")
_ITEM = re.compile(r"^[-*+] +(\S.*)$")
_HEADING = re.compile(r"^(#{1,6}) +(.+?)#*\s*$")
FIELD_LEVEL = 3
_SUMMARY = re.compile(r"^#{2,6} +Summary[ \t]*\n\s*([^\s#].*)$", re.IGNORECASE | re.MULTILINE)
# Headings of fixed forms: what stands below one belongs to the entry above it.
_FIELD_HEADING = re.compile(
    r"(?:metadata|correction|summary|details?|description|context|background|error(?: message)?|symptoms?|problem|"
    r"cause|root cause|solution|fix(?:es)?|suggested (?:fix|action)|recommended action|resolution|prevention|impact|"
    r"why|why it matters|instead|how to apply|when to (?:use|apply)|examples?|evidence|references?|related(?: files)?|"
    r"see also|notes?|source|status|tags|priority|reproducible|user context|requested capability|complexity estimate|"
    r"suggested implementation|frequency|environment|steps to reproduce|what happened|takeaways?|lesson learned)\Z",
    re.IGNORECASE,
)
# A quoted span that reads like an error message: an identifier that ends in one of these words, or several words.
_QUOTED = re.compile(r"`([^`\n]{6,160})`|\"([^\"\n]{10,160})\"")
_ERROR_WORD = re.compile(
    r"\b(\w{0,40}(error|exception)|failed|cannot|can't|could not|not found|refused|denied)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """One lesson of a foreign file: where it stands, what its header says, its title and its text."""

    path: str
    line: int
    title: str
    body: str
    header: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""


def content_hash(text: str) -> str:
    """The hash by which a foreign text is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_header(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body) of a foreign lesson; raises BadValue with its line where the header is no mapping."""
    header, body = split_frontmatter(text)
    if header is None:
        if text.startswith(("---\n", "---\r\n")) and _FIELD.match(text.split("\n")[1]):
            raise BadValue("wanted a second `---` line after the front matter, found none", 0)
        return {}, text
    values = load_yaml(header) if header.strip() else {}
    if not isinstance(values, dict):
        raise BadValue(f"wanted `key: value` lines, found {type(values).__name__}", 0)
    return {str(key): value for key, value in values.items()}, body


def read_loose_header(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body) read line by line: what is left of a header that is no YAML, such as `globs: **/*.ts`."""
    header, body = split_frontmatter(text)
    fields: dict[str, Any] = {}
    for line in (header or "").splitlines():
        match = _FIELD.match(line)
        if match and match[2].strip():
            fields[match[1]] = match[2].strip().strip("\"'")
    return fields, body


def split_title(header: Mapping[str, Any], body: str, fallback: str) -> tuple[str, str]:
    """(title, the body without it): the header's title, else the first heading, else the first sentence."""
    lines = body.strip("\n").split("\n")
    named = header.get("title")
    heading = next((i for i, line in enumerate(lines) if line.strip()), None)
    match = _HEADING.match(lines[heading]) if heading is not None else None
    rest = "\n".join(lines[heading + 1 :]).strip("\n") if match and heading is not None else body.strip("\n")
    if isinstance(named, str) and named.strip():
        same = match and match[2].strip().casefold() == named.strip().casefold()
        return one_line(named), (rest if same else body.strip("\n")) + "\n"
    if match:
        return one_line(match[2]), rest + "\n"
    described = header.get("description")
    if isinstance(described, str) and described.strip():
        return one_line(described), body.strip("\n") + "\n"
    sentence = lines[heading].lstrip("-*+ ") if heading is not None else fallback
    return one_line(re.split(r"(?<=[.!?。！？])\s", sentence, maxsplit=1)[0].rstrip(" .")) or fallback, body.strip(
        "\n"
    ) + "\n"


def one_line(text: str) -> str:
    """A title: one line of plain words, cut at a word where it is too long."""
    plain = " ".join(text.replace("**", "").split())
    return plain if len(plain) <= MAX_TITLE else plain[:MAX_TITLE].rsplit(" ", 1)[0] + " …"


def texts_of(value: object) -> tuple[str, ...]:
    """A list, or a comma-separated text, as texts."""
    if isinstance(value, str):
        return tuple(part.strip().strip("\"'") for part in _split_commas(value) if part.strip())
    return tuple(str(item) for item in value if isinstance(item, (str, int, float))) if isinstance(value, list) else ()


def _split_commas(value: str) -> list[str]:
    """The parts between commas that stand outside of braces: `**/*.{ts,tsx},x` has two."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(value):
        depth += (character == "{") - (character == "}")
        if character == "," and depth <= 0:
            parts.append(value[start:position])
            start = position + 1
    return [*parts, value[start:]]


def find_triggers(header: Mapping[str, Any], body: str = "") -> Triggers:
    """What a foreign lesson declares, or plainly shows, as the situation in which it applies.

    Our own `triggers`, another client's path scope, listed symptoms; else quoted spans that read like error messages.
    """
    given = header.get("triggers")
    own = given if isinstance(given, dict) else {}
    scope = next((texts_of(header[key]) for key in SCOPE_KEYS if header.get(key)), ())
    paths = texts_of(own.get("paths")) or tuple(path for path in scope if path not in ("*", "**", "**/*"))
    listed = next((texts_of(header[key]) for key in ERROR_KEYS if isinstance(header.get(key), list)), ())
    errors = texts_of(own.get("errors")) or tuple(
        dict.fromkeys((*quoted_errors(" \n".join(listed)), *quoted_errors(body)))
    )
    return Triggers(paths, texts_of(own.get("commands")), errors[:3])


def quoted_errors(text: str) -> tuple[str, ...]:
    """Quoted spans of a text that read like error messages."""
    spans = (match[1] or match[2] for match in _QUOTED.finditer(text))
    return tuple(dict.fromkeys(span.strip() for span in spans if _ERROR_WORD.search(span) and " " in span.strip()))


def parse_lesson(path: str, text: str, loose: bool = False) -> Foreign | Problem:
    """A file that holds one lesson; with `loose`, a header that is no YAML is read line by line."""
    try:
        header, body = read_loose_header(text) if loose else read_header(text)
    except BadValue as error:
        line = (error.line or 0) + 2
        return Problem(path, line, f"{error}. Mend the line; the file was left as it is.", "frontmatter")
    if not body.strip():
        return Problem(path, 1, "wanted a lesson's text, found none. Write it, or delete the file.", "empty")
    title, body = split_title(header, body, PurePosixPath(path).stem.replace("-", " ").replace("_", " "))
    return Foreign(path, 1, title, body, header, content_hash(text))


def parse_many(path: str, text: str) -> Iterator[Foreign]:
    """The lessons of a file that collects them: one a section below the top; where there are none, one a list item."""
    header, body = read_loose_header(text)
    offset = text.count("\n", 0, len(text) - len(body))
    sections = list(_sections(body))
    if not any(title and rest.strip() for _, title, rest in sections):
        sections = []
    for line, title, rest in sections:
        if title and rest.strip():
            yield Foreign(
                path,
                offset + line,
                _entry_title(title, rest),
                rest.strip("\n") + "\n",
                header,
                content_hash(title + rest),
            )
    covered = {line for line, title, rest in sections if title and rest.strip()}
    for line, item in _items(body) if not covered else ():
        title, rest = split_title({}, item, item[:MAX_TITLE])
        yield Foreign(path, offset + line, title, rest, header, content_hash(item))


def _entry_title(title: str, rest: str) -> str:
    """An entry's title: in place of a bare label (`best_practice`) the first sentence of its summary."""
    plain = one_line(_plain_title(title))
    summary = _SUMMARY.search(rest)
    return split_title({}, summary[1], plain)[0] if summary and " " not in plain else plain


def _plain_title(title: str) -> str:
    """A section's title without a date, a number or a label before it."""
    return (
        re.sub(
            r"^(\[?\d{4}-\d\d-\d\d\]?|\[[\w-]{1,40}\]|(pattern|lesson|learning|rule)\b|\d+)[\s:.)–—-]+",
            "",
            title,
            flags=re.I,
        )
        or title
    )


def _sections(body: str) -> Iterator[tuple[int, str, str]]:
    """(line, title, text) of each section below the first level; code fences are not looked into.

    A heading of a fixed form, or one that comes back in the file below others, is a field of the entry above it.
    """
    headings = list(_headings(body))
    counts = Counter((level, title.casefold()) for _, level, title in headings)
    lines = body.split("\n")
    begun: list[tuple[int, str]] = [(0, "")]
    top: set[int] = set()
    for number, level, title in headings:
        again = counts[level, title.casefold()] > 1 and level == FIELD_LEVEL
        if level == 1:
            top.add(number)
        elif level <= FIELD_LEVEL and not (begun[-1][1] and (_FIELD_HEADING.match(title.strip(" :*")) or again)):
            begun.append((number, title))
    ends = [number for number, _ in begun[1:]] + [len(lines) + 1]
    for (number, title), end in zip(begun, ends, strict=True):
        kept = [lines[at - 1] for at in range(number + 1, end) if at not in top]
        yield max(number, 1), title, "\n".join(kept)


def _headings(body: str) -> Iterator[tuple[int, int, str]]:
    """(line, level, title) of each heading outside of code fences."""
    fenced = False
    for number, line in enumerate(body.split("\n"), 1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and (match := _HEADING.match(line)):
            yield number, len(match[1]), match[2].strip()


def _items(body: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each top-level list item with the indented lines below it."""
    kept: list[str] = []
    start = 0
    for number, line in enumerate([*body.split("\n"), ""], 1):
        match = _ITEM.match(line)
        if kept and (match or not line.startswith((" ", "\t"))):
            yield start, "\n".join(kept).strip()
            kept = []
        if match:
            start, kept = number, [match[1]]
        elif kept:
            kept.append(line)


def parse_foreign(path: str, text: str) -> tuple[tuple[Foreign, ...], tuple[Problem, ...]]:
    """The lessons of a file in any known form, and what of it could not be used and why."""
    name = PurePosixPath(path)
    stem = name.name.removesuffix(".instructions.md").removesuffix(".mdc").removesuffix(".md")
    if NO_LESSON.match(stem):
        return (), (Problem(path, None, f"{name.name} is about lessons and is none.", "no-lesson"),)
    if not text.strip():
        return (), (Problem(path, 1, "wanted a lesson's text, found an empty file.", "empty"),)
    if MANY_NAMES.match(stem):
        lessons = tuple(parse_many(path, text))
        if lessons:
            return lessons, ()
    scoped = name.suffix == ".mdc" or name.name.endswith(".instructions.md") or "rules" in name.parts
    read = parse_lesson(path, text, loose=scoped)
    if isinstance(read, Problem) and read.kind == "frontmatter":
        loose = parse_lesson(path, text, loose=True)
        if isinstance(loose, Foreign):
            return (loose,), (
                Problem(path, read.line, f"{read.reason} It was adopted without its front matter.", "mended"),
            )
    return ((read,), ()) if isinstance(read, Foreign) else ((), (read,))


def adopt_lesson(foreign: Foreign, source: str, fallback: datetime, project: str = "") -> Solution:
    """A foreign lesson as a solution. `source` names where it came from; with the text it decides the id.

    `fallback` is the time that counts where the lesson names none: the file's own.
    """
    created = fallback
    for key in DATE_KEYS:
        try:
            created = parse_time(foreign.header[key], key)
            break
        except (KeyError, BadValue):
            continue
    judged = classify(foreign.title, foreign.body, foreign.header)
    external = foreign.header.get("trust") == "external"
    return Solution(
        id=solution_id(created, f"{source}:{foreign.line}:{foreign.sha256}"),
        title=foreign.title,
        category=judged.category,
        body=foreign.body,
        type=judged.type,
        confidence=judged.confidence,
        trust="external" if external else "observed",
        tags=tuple(dict.fromkeys(tag.lower() for tag in texts_of(foreign.header.get("tags")))),
        project=str(foreign.header.get("project") or project),
        triggers=find_triggers(foreign.header, foreign.body),
        sources=(Source(source, (foreign.line, foreign.line), "import", sha256=foreign.sha256),),
        created=created.astimezone(UTC),
        verified=created.date(),
    )
