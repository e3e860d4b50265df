"""Text to solution and back, pure; keeps unknown keys and every byte it was not asked to change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from json.encoder import encode_basestring
from typing import Any, cast

import yaml

from index.decode import is_deep
from index.plain_yaml import parse_plain
from index.records import (
    CATEGORIES,
    CONFIDENCE_RANGE,
    IMPORTANCES,
    KINDS,
    TRUSTS,
    Problem,
    Solution,
    Source,
    Triggers,
)

# Front matter of a lesson is a few hundred bytes; the bound keeps a hostile file from costing memory or time.
MAX_FRONTMATTER = 64 * 1024
MAX_BODY = 1024 * 1024
_KEY = re.compile(r"^([A-Za-z_][A-Za-z0-9_.-]{0,99})[ \t]*:(?=[ \t\r]|$)")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./@+-]{0,200}\Z")
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "none", "nan"})


class BadValue(ValueError):
    """A front-matter value that cannot be used; `line` counts from the start of the front matter's text."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """YAML without aliases, duplicate keys or implicit dates: what front matter may hold."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen if isinstance(key.value, str) else True:
                mark = key.start_mark
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} stands twice", problem_mark=mark)
            seen.add(key.value)
        return cast("dict[Any, Any]", super().construct_mapping(node, deep=deep))


_Loader.yaml_implicit_resolvers = {
    first: [(tag, expression) for tag, expression in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def load_yaml(text: str) -> object:
    """The value of a YAML text under the rules of `_Loader`; dates stay texts. Raises BadValue with its line."""
    if is_deep(text):
        raise BadValue("wanted front matter nested less deeply, found over 200 levels")
    try:
        # An alias needs a `*`; only then is the text worth a second look, before anything is built from it.
        if "*" in text:
            for event in yaml.parse(text, Loader=_Loader):
                if isinstance(event, yaml.AliasEvent):
                    raise BadValue(
                        "aliases are not allowed in front matter", event.start_mark.line if event.start_mark else None
                    )
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of the safe loader
    except BadValue:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadValue(f"not valid YAML: {error.problem or error.context}", mark.line if mark else None) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadValue(f"not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}") from error


def split_frontmatter(text: str) -> tuple[str | None, str]:
    """(the YAML between the first two `---` lines, the text after them); (None, text) where there is none."""
    # As nearly all files have it: no line of the header but the last begins with `---`.
    if text.startswith("---\n"):
        end = text.find("\n---", 3)
        if text.startswith("\n", end + 4) and end >= 0:
            return text[4 : end + 1], text[end + 5 :]
    start = 1 if text.startswith("\ufeff") else 0
    first = text.find("\n", start)
    if first < 0 or text[start:first].rstrip("\r \t") != "---":
        return None, text
    position = first + 1
    while position <= len(text):
        end = text.find("\n", position)
        line = text[position : end if end >= 0 else len(text)]
        if line.rstrip("\r \t") == "---":
            return text[first + 1 : position], text[end + 1 :] if end >= 0 else ""
        if end < 0:
            break
        position = end + 1
    return None, text


def _text(value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise BadValue(f"{key} must be a text, found {value!r}")


def _texts(value: object, key: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, list):
        return tuple(_text(item, key) for item in value)
    raise BadValue(f"{key} must be a list of texts, found {value!r}")


def _whole(value: object, key: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise BadValue(f"{key} must be a whole number, found {json.dumps(value, default=str)}")


def _choice(value: object, key: str, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    raise BadValue(f"{key} must be one of {', '.join(allowed)}, found {json.dumps(value, default=str)}")


def parse_time(value: object, key: str) -> datetime:
    """A date or a time as an aware UTC time; raises BadValue."""
    try:
        time = datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise BadValue(f"{key} must be a date such as 2026-11-29, found {json.dumps(value, default=str)}") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)


def _date(value: object, key: str) -> date | None:
    return None if value in (None, "") else parse_time(value, key).date()


def _triggers(value: object) -> Triggers:
    if value is None:
        return Triggers()
    if not isinstance(value, dict):
        raise BadValue(f"triggers must hold paths, commands and errors, found {value!r}")
    return Triggers(
        _texts(value.get("paths"), "triggers.paths"),
        _texts(value.get("commands"), "triggers.commands"),
        _texts(value.get("errors"), "triggers.errors"),
    )


def _source(value: object) -> Source:
    if isinstance(value, str):
        return Source(value)
    if not isinstance(value, dict) or not isinstance(value.get("session"), str):
        raise BadValue(f"each of sources must name a session, found {value!r}")
    lines = value.get("lines")
    if lines is not None and not (
        isinstance(lines, list) and len(lines) == 2 and all(isinstance(line, int) for line in lines)
    ):
        raise BadValue(f"lines of a source must be two line numbers, found {lines!r}")
    return Source(
        session=value["session"],
        lines=(lines[0], lines[1]) if lines else None,
        origin=cast("Any", _text(value.get("origin"), "origin")),
        ref=_text(value.get("ref"), "ref"),
        sha256=_text(value.get("sha256"), "sha256"),
    )


def _sources(value: object) -> tuple[Source, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadValue(f"sources must be a list, found {value!r}")
    return tuple(_source(item) for item in value)


def _confidence(value: object, kind: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise BadValue(f"confidence must be a number, found {json.dumps(value, default=str)}")
    low, high = CONFIDENCE_RANGE[cast("Any", kind)]
    if not low <= value <= high:
        wanted = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        raise BadValue(f"confidence of type {kind} must be {wanted}, found {value:g}")
    return float(value)


# How the value of each key that may be missing is read, in the order in which the first bad one is complained about.
_AFTER_ID: tuple[tuple[str, Callable[[Any, str], object]], ...] = (
    ("title", _text),
    ("category", lambda value, key: _choice(value, key, CATEGORIES)),
    ("importance", lambda value, key: _choice(value, key, IMPORTANCES)),
)
_AFTER_CONFIDENCE: tuple[tuple[str, Callable[[Any, str], object]], ...] = (
    ("trust", lambda value, key: _choice(value, key, TRUSTS)),
    ("tags", _texts),
    ("project", _text),
    ("branch", _text),
    ("triggers", lambda value, _: _triggers(value)),
    ("sources", lambda value, _: _sources(value)),
    ("created", parse_time),
    ("verified", _date),
    ("priority", _whole),
    ("supersedes", _texts),
    ("superseded_by", lambda value, key: _text(value, key) or None),
    ("helpful", _whole),
    ("harmful", _whole),
    ("expires", _date),
)
_KNOWN = frozenset({"id", "type", "confidence", *dict(_AFTER_ID), *dict(_AFTER_CONFIDENCE)})
_IDENTIFIER = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def _line_of(yaml_text: str, key: str) -> int:
    """The line of a top-level key within the front matter, counted from 0; 0 where it is missing."""
    for number, line in enumerate(yaml_text.split("\n")):
        match = _KEY.match(line)
        if match and match[1] == key:
            return number
    return 0


def _solution(values: dict[str, Any], path: str, text: str, body: str) -> Solution:
    for key in ("id", "title", "category"):
        if not values.get(key):
            raise BadValue(f"{key} is missing; every solution needs id, title and category")
    kind = _choice(values.get("type", "semantic"), "type", KINDS)
    low, high = CONFIDENCE_RANGE[cast("Any", kind)]
    identifier = _text(values["id"], "id")
    if not _IDENTIFIER.fullmatch(identifier):
        raise BadValue(f"id must be a ULID of 26 characters, found {identifier!r}")
    # A key that is missing is left to the record's own default.
    fields: dict[str, Any] = {key: read(values[key], key) for key, read in _AFTER_ID if key in values}
    fields["confidence"] = _confidence(values.get("confidence", min(max(0.8, low), high)), kind)
    for key, read in _AFTER_CONFIDENCE:
        if key in values:
            fields[key] = read(values[key], key)
    if not values.keys() <= _KNOWN:
        fields["extra"] = {str(key): value for key, value in values.items() if key not in _KNOWN}
    return Solution(id=identifier, type=cast("Any", kind), body=body, path=path, text=text, **fields)


def parse_solution(path: str, text: str) -> Solution | Problem:
    """One solution file as a record, or the problem that keeps it from being one (line, wanted, found)."""
    header, body = split_frontmatter(text)
    if header is None:
        return Problem(path, 1, "wanted front matter between two `---` lines, found none.", "no-frontmatter")
    if len(header) > MAX_FRONTMATTER or len(body) > MAX_BODY:
        return Problem(path, 1, f"too large: front matter may have {MAX_FRONTMATTER} characters, the text {MAX_BODY}.")
    try:
        plain = parse_plain(header)
        values = load_yaml(header) if plain is None else plain
        if not isinstance(values, dict):
            raise BadValue(f"wanted `key: value` lines, found {type(values).__name__}")
        return _solution(values, path, text, body.replace("\r\n", "\n") if "\r" in body else body)
    except BadValue as error:
        key = str(error).split(" ", 1)[0].split(".", 1)[0]
        line = error.line if error.line is not None else _line_of(header, key)
        return Problem(path, line + 2, f"{error}. Mend the line; the file stays where it is.", "frontmatter")


def render_value(value: object) -> str:
    """A front-matter value on one line: plain where YAML reads it back as the same text, else as JSON."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        plain = _PLAIN.match(value) and value.lower() not in _RESERVED and value == value.strip()
        return value if plain else _quote(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(render_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{render_value(str(key))}: {render_value(item)}" for key, item in value.items()) + "}"
    return "null" if value is None else json.dumps(value)


# PyYAML refuses or alters these raw, and a lone surrogate cannot be written at all.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _quote(value: str) -> str:
    # What json.dumps gives, without the encoder that it makes for each call.
    quoted = encode_basestring(value.encode("utf-8", "replace").decode())
    return (
        quoted
        if quoted.isascii() and "\x7f" not in quoted
        else _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    )


def _source_fields(source: Source) -> dict[str, object]:
    fields: dict[str, object] = {"session": source.session}
    if source.lines:
        fields["lines"] = list(source.lines)
    fields |= {key: value for key in ("origin", "ref", "sha256") if (value := getattr(source, key))}
    return fields


def _header_fields(solution: Solution) -> dict[str, object]:
    return {
        "id": solution.id,
        "title": solution.title,
        "category": solution.category,
        "type": solution.type,
        "importance": solution.importance,
        "confidence": solution.confidence,
        "trust": solution.trust,
        "tags": solution.tags,
        "project": solution.project,
        "branch": solution.branch,
        "created": solution.created,
        "verified": solution.verified,
        "priority": solution.priority,
        "supersedes": solution.supersedes,
        "superseded_by": solution.superseded_by,
        "helpful": solution.helpful,
        "harmful": solution.harmful,
        "expires": solution.expires,
    }


def render_triggers(triggers: Triggers) -> str:
    """The `triggers:` key and its lines."""
    kinds = [(name, getattr(triggers, name)) for name in ("paths", "commands", "errors")]
    lines = [f"  {name}: {render_value(values)}" for name, values in kinds if values]
    return "triggers:\n" + "\n".join(lines) if lines else "triggers: {}"


def render_sources(sources: tuple[Source, ...]) -> str:
    """The `sources:` key, one source a line so that git merges them."""
    if not sources:
        return "sources: []"
    return "sources:\n" + "\n".join(f"  - {render_value(_source_fields(source))}" for source in sources)


def render_solution(solution: Solution) -> str:
    """The whole file of a solution; `parse_solution` reads the same record back."""
    lines: list[str] = []
    for key, value in _header_fields(solution).items():
        lines.append(f"{key}: {render_value(value)}")
        if key == "branch":
            lines += [render_triggers(solution.triggers), render_sources(solution.sources)]
    lines += [f"{render_value(key)}: {render_value(value)}" for key, value in solution.extra.items()]
    return "---\n" + "\n".join(lines) + "\n---\n" + solution.body


def edit_frontmatter(text: str, values: Mapping[str, object]) -> str:
    """`text` with these top-level keys set, and every other byte as it was; a new key goes to the end of the header.

    A `Triggers` or a tuple of `Source` is written as its block; anything else on one line. Raises BadValue where
    there is no front matter.
    """
    header, _ = split_frontmatter(text)
    if header is None:
        raise BadValue("there is no front matter to edit")
    start = text.index("\n") + 1
    newline = "\r\n" if text[:start].endswith("\r\n") else "\n"
    lines = header.split("\n")[:-1] if header else []
    for key, value in values.items():
        if isinstance(value, Triggers):
            block = render_triggers(value).split("\n")
        elif isinstance(value, tuple) and value and all(isinstance(item, Source) for item in value):
            block = render_sources(value).split("\n")
        else:
            block = [f"{render_value(key)}: {render_value(value)}"]
        block = [line + newline[:-1] for line in block]
        known = header.startswith(key) or f"\n{key}" in header  # most keys that are set are new ones
        matches = (i for i, line in enumerate(lines) if (m := _KEY.match(line)) and m[1] == key) if known else iter(())
        first = next(matches, len(lines))
        last = min(first + 1, len(lines))
        while last < len(lines) and (lines[last][:1] in (" ", "\t", "-", "") or lines[last].strip() in ("]", "}")):
            last += 1
        # Blank and comment lines after the value belong to what follows.
        while last > first + 1 and not lines[last - 1].strip():
            last -= 1
        lines[first:last] = block
    return text[:start] + "".join(line + "\n" for line in lines) + text[start + len(header) :]
