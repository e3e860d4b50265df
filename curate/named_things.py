"""What a lesson names that can be looked up in its project without a model: paths, commands, package versions.

A thing that is still there speaks for the lesson; one that has vanished does not make it false, only unverifiable: it
may have moved, or the lesson may be about why it went.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from index.decode import load_json
from index.records import Solution

Kind = Literal["path", "command", "version"]

LARGEST_MANIFEST = 4 * 1024 * 1024
MANIFESTS = (
    "package.json package-lock.json pnpm-lock.yaml yarn.lock pyproject.toml uv.lock poetry.lock requirements.txt "
    "requirements-dev.txt setup.cfg Cargo.toml Cargo.lock go.mod Gemfile.lock composer.lock"
).split()
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
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
    """What became of the things a lesson names: still there, or no longer found."""

    confirmed: tuple[Named, ...] = ()
    missing: tuple[Named, ...] = ()

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
    return tuple(sorted(found))


def check_named_things(solution: Solution, project_root: Path) -> Checked:
    """Look up in a project what a lesson names; nothing where the lesson names nothing or the project is not there."""
    if not project_root.is_dir():
        return Checked()
    confirmed: list[Named] = []
    missing: list[Named] = []
    manifests: dict[str, str] = {}
    for thing in named_things(solution):
        answer = _look_up(thing, project_root, manifests)
        if answer is not None:
            (confirmed if answer else missing).append(thing)
    return Checked(tuple(confirmed), tuple(missing))


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


def _look_up(thing: Named, root: Path, manifests: dict[str, str]) -> bool | None:
    """Whether the thing is there; None where the project has nothing that could say so."""
    if thing.kind == "path":
        place = (root / thing.name).resolve()
        return place.is_relative_to(root.resolve()) and place.exists()
    if thing.kind == "command":
        program, name = thing.name.split(" ", 1)
        if program == "make":
            makefile = next((text for file in MAKEFILES if (text := _read(root / file))), "")
            return bool(re.search(_TARGET.format(re.escape(name)), makefile)) if makefile else None
        return _has_script(_read(root / "package.json"), name.removeprefix("run "))
    if not manifests:
        manifests.update({name: text for name in MANIFESTS if (text := _read(root / name))})
    package, version = thing.name.rsplit(" ", 1)
    return _has_version(manifests.values(), package, version)


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
