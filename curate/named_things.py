"""What a lesson names that can be looked up in its project without a model: paths, commands, package versions.

A thing that is still there speaks for the lesson; one that has vanished does not make it false, only unverifiable: it
may have moved, or the lesson may be about why it went.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Literal

from index.decode import load_json
from index.files import read_bytes, write_derived
from index.records import Solution
from index.store import CACHE

Kind = Literal["path", "command", "version"]

LARGEST_MANIFEST = 4 * 1024 * 1024
MANIFESTS = (
    "package.json package-lock.json pnpm-lock.yaml yarn.lock pyproject.toml uv.lock poetry.lock requirements.txt "
    "requirements-dev.txt setup.cfg Cargo.toml Cargo.lock go.mod Gemfile.lock composer.lock"
).split()
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
CHECKED_FILE = "named-things.json"
MOST_NAMED = 40  # things of one lesson that are looked up
SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})

_SPAN = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"^(?:\./)?(?:[\w@.+-]{1,80}/){1,12}(?:[\w@.+-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,7})?$")
_VERSION = re.compile(r"^(@?[A-Za-z][\w./-]{0,80}?)(?:==|@)v?(\d{1,6}(?:\.\d{1,6}){1,3})$")
_TARGET = r"(?m)^{}[ \t]{{0,8}}:(?!=)"
# Endings of web addresses.
_NO_FILE = frozenset("com org net io dev ai app".split())


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """One thing that a lesson names."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of the things a lesson names: still there, or no longer found.

    `on` is the last day on which all that could be looked up was there, today or earlier.
    """

    confirmed: tuple[Named, ...] = ()
    missing: tuple[Named, ...] = ()
    on: date | None = None

    @property
    def holds(self) -> bool:
        """Whether what is there speaks for the lesson: nothing is missing, and a folder such as `src/`, which outlives
        what lessons say of it, is not all."""
        return not self.missing and any(one.kind != "path" or "/" in one.name.rstrip("/") for one in self.confirmed)

    def describe(self) -> str:
        """What is missing, in one sentence."""
        names = ", ".join(f"{thing.kind} {thing.name}" for thing in self.missing)
        return f"no longer found in the project: {names}. That does not make the lesson false."


def named_things(solution: Solution) -> tuple[Named, ...]:
    """The paths, commands and package versions in a lesson's triggers and code spans that can be looked up."""
    found: set[Named] = set()
    for glob in solution.triggers.paths:
        literal = glob.split("*", 1)[0].split("?", 1)[0].split("[", 1)[0]
        name = literal if literal == glob else literal[: literal.rfind("/") + 1]
        if _inside(name) and name.strip("/"):
            found.add(Named("path", name.removeprefix("/")))
    for command in solution.triggers.commands:
        found.update(_command(command))
    for span in _SPAN.findall(solution.body):
        found.update(_span(span.strip()))
    return tuple(sorted(found)[:MOST_NAMED])


@dataclass(slots=True)
class ProjectFolders:
    """The folders of one project on this machine, and what was read of their manifests, each once."""

    places: tuple[Path, ...]
    read: dict[Path, str] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """A manifest's text; "" where it cannot be read or is too large."""
        if path not in self.read:
            self.read[path] = _read(path)
        return self.read[path]


def check_named_things(solution: Solution, project: ProjectFolders) -> Checked:
    """Look up in a project what a lesson names; nothing where the lesson names nothing or the project is not there.

    Only looks: nothing of the project is run. A thing is there where one of the project's folders has it.
    """
    places = [place for place in project.places if os.path.isdir(place)]  # noqa: PTH112  (it never raises)
    found: dict[bool, list[Named]] = {True: [], False: []}
    for thing in named_things(solution) if places else ():
        answers = {_look_up(thing, place, project) for place in places} - {None}
        if answers:
            found[True in answers].append(thing)
    return Checked(tuple(found[True]), tuple(found[False]))


def with_earlier(
    checks: Mapping[str, Checked], earlier: Mapping[str, date], today: date, ids: Iterable[str]
) -> dict[str, Checked]:
    """The checks of today by id, each with the last day on which it held; those of `ids` that were not looked up today
    keep the day that is known."""
    dated: dict[str, Checked] = {}
    for identifier in ids:
        checked, known = checks.get(identifier, Checked()), earlier.get(identifier)
        day = today if checked.holds else known if known and known <= today else None
        if checked.confirmed or checked.missing or day:
            dated[identifier] = replace(checked, on=day)
    return dated


def read_checked(root: Path) -> dict[str, Checked]:
    """What `write_checked` kept, by id: the last day each held, and what was missing; {} where nothing can be read."""
    found: dict[str, Checked] = {}
    try:
        rows = load_json(read_bytes(root / CACHE / CHECKED_FILE) or b"{}")
        for identifier, row in rows.items():
            with suppress(ValueError, TypeError, KeyError, IndexError):
                missing = tuple(Named(kind, str(name)) for kind, name in row["missing"])
                found[str(identifier)] = Checked((), missing, date.fromisoformat(row["on"]) if row["on"] else None)
    except (OSError, ValueError, AttributeError):
        return {}
    return found


def write_checked(root: Path, checks: Mapping[str, Checked]) -> None:
    """Keep beside the store, not in the lessons, what a look into this machine's projects showed: another machine has
    other folders, and a lesson whose bytes change would have to be merged."""
    rows = [
        f"{json.dumps(identifier)}: "
        + json.dumps({"on": one.on.isoformat() if one.on else None, "missing": [[m.kind, m.name] for m in one.missing]})
        for identifier, one in sorted(checks.items())
    ]
    write_derived(root / CACHE / CHECKED_FILE, ("{\n" + ",\n".join(rows) + "\n}\n").encode())


def _span(span: str) -> Iterator[Named]:
    version = _VERSION.match(span)
    if version:
        yield Named("version", f"{version[1]} {version[2]}")
    elif " " in span:
        yield from _command(span)
    elif "/" in span and _PATH.match(span) and _inside(span) and span.rsplit(".", 1)[-1] not in _NO_FILE:
        yield Named("path", span.removeprefix("./"))


def _command(command: str) -> Iterator[Named]:
    """A command whose definition lies in the project: a make target, a package script, a script by its path."""
    words = command.split()[:3]
    if not words:
        return
    if words[0] == "make" and len(words) > 1 and re.fullmatch(r"[A-Za-z][\w.-]{0,60}", words[1]):
        yield Named("command", f"make {words[1]}")
    elif (
        words[0] in SCRIPT_RUNNERS
        and words[1:2] == ["run"]
        and len(words) == 3
        and re.fullmatch(r"[\w:.-]{1,60}", words[2])
    ):
        yield Named("command", f"{words[0]} run {words[2]}")
    else:
        script = words[1] if words[0] in ("bash", "sh", "python", "python3", "node") and len(words) > 1 else words[0]
        if "/" in script and _PATH.match(script) and _inside(script):
            yield Named("path", script.removeprefix("./"))


def _inside(name: str) -> bool:
    """Whether a name is a plain relative path: nothing outside the project is ever looked at."""
    return not name.startswith(("/", "~")) and ".." not in name.split("/") and ":" not in name


def _look_up(thing: Named, root: Path, project: ProjectFolders) -> bool | None:
    """Whether the thing is there; None where the folder has nothing that could say so."""
    if thing.kind == "path":
        try:
            place = (root / thing.name).resolve()
            return place.is_relative_to(root.resolve()) and place.exists()
        except (OSError, RuntimeError):  # a loop of links, a folder that may not be looked into
            return None
    if thing.kind == "command":
        program, name = thing.name.split(" ", 1)
        if program == "make":
            makefile = next((text for file in MAKEFILES if (text := project.text(root / file))), "")
            return bool(re.search(_TARGET.format(re.escape(name)), makefile)) if makefile else None
        return _has_script(project.text(root / "package.json"), name.removeprefix("run "))
    package, version = thing.name.rsplit(" ", 1)
    return _has_version((project.text(root / name) for name in MANIFESTS), package, version)


def _has_script(manifest: str, name: str) -> bool | None:
    try:
        scripts = load_json(manifest).get("scripts", {})
    except (ValueError, AttributeError):
        return None
    return isinstance(scripts, dict) and name in scripts


def _has_version(manifests: Iterable[str], package: str, version: str) -> bool | None:
    """Whether a manifest names the package near that version; None where none names the package at all."""
    known = False
    near = re.compile(rf"(?<![\w.-]){re.escape(package)}(?![\w-])[^\n]{{0,80}}(?:\n[^\n]{{0,80}})?", re.IGNORECASE)
    exact = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d])")
    for text in manifests:
        for match in near.finditer(text):
            known = True
            if exact.search(match[0]):
                return True
    return False if known else None


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
