"""Text that came in from outside by way of a file: a cloned or downloaded folder read later, a sub-agent that quotes.

The program that fetched says nothing of the outside itself; the turns that read what it left behind do. What is the
person's own is left alone: the project's remote and others of its owner, a clone of a folder of this machine, the
project's submodules, and a clone that the session goes on to work in (it edits or commits there): that is a working
copy, as any project is that was cloned before the session began.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from index.records import EXTERNAL_ORIGINS, Turn
from reflect.transcripts.project import normalise_remote

_DOOR = re.compile(
    r"\b(?:git|hg|repo|gist)\s[^\n]{0,200}?\bclone\b|\bcurl\s|\bwget\s|\b(?:npm|pnpm|yarn) pack\b|\bpip3? download\b"
    r"|\b(?:degit|tiged)\s|\bsvn (?:co|checkout|export)\b|\b(?:iwr|Invoke-WebRequest)\s"
)
# One of these stands in every command that _DOOR knows; to look for them costs a tenth.
_DOOR_WORDS = ("clone", "curl", "wget", " pack", "download", "degit", "tiged", "svn ", "iwr ", "Invoke-Web")
_SEPARATOR = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|(&&|\|\||[;\n|&])")
_URL = re.compile(r"https?://[^\s\"'`<>)\]}|\\]{4,1000}")
# Hosts that only name things: of this machine, of schemas, or of documentation's examples.
_NO_PLACE = re.compile(
    r"https?://(?:localhost|127\.|0\.0\.0\.0|\[|host\.docker|[\w-]{1,63}(?=[:/]|$)|(?:[\w-]{1,63}\.){0,4}"
    r"(?:local|internal|test|invalid|example)(?=[:/]|$)|(?:[\w-]{1,63}\.){0,4}example\.(?:com|org|net)|"
    r"(?:[\w-]{1,63}\.)?w3\.org|schemas?\.|(?:[\w-]{1,63}\.)?json-schema\.org|(?:[\w-]{1,63}\.)?xmlsoap\.org)",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"\.(?:tar(?:\.\w{1,4})?|tgz|tbz2?|txz|zip|whl|crate|gem|7z)$", re.IGNORECASE)
_VALUED = frozenset("-b --branch --depth -o --origin -c --config -u --upload-pack --reference -j --jobs -f".split())
_EXISTS = "already exists and is not an empty directory"


@dataclass(frozen=True, slots=True)
class _Place:
    """A file or folder whose text is from outside: where it came from, and whether it is a clone."""

    ref: str
    clone: bool = False


def mark_foreign(turns: tuple[Turn, ...], root: str, project: str) -> tuple[Turn, ...]:
    """The turns, those that show text from outside with origin "web" and its address, where they had none.

    `root` is the session's folder, `project` its name: the normalised remote, where there is one.
    """
    fetches = any(turn.action == "shell" and _may_fetch(turn.command) for turn in turns)
    if not fetches and not any(turn.action == "task" for turn in turns):
        return turns
    places = _places(turns, root, project) if fetches else {}
    return tuple(_marked(turn, places, root, project) for turn in turns)


def _may_fetch(command: str) -> bool:
    for word in _DOOR_WORDS:
        if word in command:
            return _DOOR.search(command) is not None
    return False


def _may_bring(command: str) -> bool:
    """Whether a command may bring something in or unpack it: most do not, and to take one apart into words is slow."""
    return any(word in command for word in (*_DOOR_WORDS, "tar", "zip", "7z"))


def _marked(turn: Turn, places: Mapping[str, _Place], root: str, project: str) -> Turn:
    if turn.who != "tool" or turn.origin in EXTERNAL_ORIGINS:
        return turn
    ref = _quoted(turn.text, project) if turn.action == "task" else _shown(turn, places, root)
    return replace(turn, origin="web", ref=ref[:1000]) if ref else turn


def _quoted(text: str, project: str) -> str:
    """The first address outside that a text names; "" if it names none."""
    found = (one[0].rstrip(".,;:") for one in _URL.finditer(text) if not _NO_PLACE.match(one[0]))
    return next((address for address in found if not _is_own(address, project)), "")


def _shown(turn: Turn, places: Mapping[str, _Place], root: str) -> str:
    """Where the text that a turn shows came from; "" for what was here."""
    if not places:
        return ""
    for path in turn.paths:
        for base in (root, turn.cwd):
            if ref := _source(_join(base, path), places):
                return ref
    cwd = turn.cwd or root
    if ref := _source(cwd, places):
        return ref
    if not any(posixpath.basename(path) in turn.command for path in places):
        return ""
    for words, where in _steps(turn.command, cwd):
        for path in (where, *(_join(where, word.rpartition("=")[2]) for word in words if word)):
            if ref := _source(path, places):
                return ref
    return ""


def _source(path: str, places: Mapping[str, _Place]) -> str:
    while path and path not in ("/", "."):
        if path in places:
            return places[path].ref
        path = posixpath.dirname(path)
    return ""


def _places(turns: Sequence[Turn], root: str, project: str) -> dict[str, _Place]:
    """Every file and folder that the session fetched from outside, but its working copies."""
    places: dict[str, _Place] = {}
    for turn in turns:
        if turn.action == "shell" and _may_bring(turn.command) and (turn.outcome != "failed" or _EXISTS in turn.text):
            piped = ""
            for words, where in _steps(turn.command, turn.cwd or root):
                found = dict(_fetched(words, where, turn.text, project)) or dict(_unpacked(words, where, places, piped))
                piped = _address(words, project) if words and words[0] in {"curl", "wget"} else ""
                places.update((path, place) for path, place in found.items() if not _holds(path, turn.cwd or root))
    for path in [path for path, place in places.items() if place.clone]:
        if any(_works_in(turn, path, root) for turn in turns):
            del places[path]
    return places


def _holds(path: str, root: str) -> bool:
    """Whether a place is the session's own folder or one above it."""
    return path in ("", ".", "/") or f"{root.rstrip('/')}/".startswith(f"{path}/")


def _works_in(turn: Turn, path: str, root: str) -> bool:
    if turn.action == "edit":
        return any(_join(base, name).startswith(f"{path}/") for name in turn.paths for base in (root, turn.cwd))
    command = turn.command
    if turn.action != "shell" or "git" not in command or not ("commit" in command or "push" in command):
        return False
    for words, where in _steps(turn.command, turn.cwd or root):
        if words[:1] == ["git"] and {"commit", "push"} & set(words):
            at = _join(where, words[words.index("-C") + 1]) if "-C" in words[:-1] else where
            if f"{at}/".startswith(f"{path}/"):
                return True
    return False


def _steps(command: str, cwd: str) -> Iterator[tuple[list[str], str]]:
    """The simple commands of a shell line as words, each with the folder it runs in."""
    for part in _parts(command):
        try:
            words = shlex.split(part, comments=False)
        except ValueError:
            words = part.split()
        words = [word.lstrip("(") for word in words if word not in {"(", ")", "sudo", "time", "npx", "-y", "--yes"}]
        if words[:1] in (["cd"], ["pushd"]) and len(words) > 1:
            cwd = _join(cwd, words[1])
        elif words:
            yield words, cwd


def _parts(command: str) -> Iterator[str]:
    """The command between separators that stand in no quotes."""
    at = 0
    for found in _SEPARATOR.finditer(command):
        if found[1]:
            yield command[at : found.start()]
            at = found.end()
    yield command[at:]


def _join(base: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(base.replace("\\", "/"), path.replace("\\", "/")))


def _is_own(address: str, project: str) -> bool:
    """Whether an address is of the project's owner on the project's host."""
    name = normalise_remote(address).split("/")
    return len(name) >= 3 and name[:2] == project.split("/")[:2]


def _fetched(words: list[str], where: str, output: str, project: str) -> Iterator[tuple[str, _Place]]:
    """What a command brings in from outside, by its path."""
    program = words[0].rsplit("/", 1)[-1]
    if program in {"curl", "wget", "iwr", "Invoke-WebRequest"}:
        if address := _address(words, project):
            for path in _saved(program, words, address):
                yield _join(where, path), _Place(address)
    elif program in {"npm", "pnpm", "yarn", "pip", "pip3"} and words[1:2] in (["pack"], ["download"]):
        named = [word for word in words[2:] if not word.startswith(("-", ".", "/"))]
        for name in re.findall(r"[\w.@+-]{1,200}\.(?:tgz|tar\.gz|whl|zip)\b", output) if named else ():
            yield _join(where, name), _Place(named[0])
    else:
        yield from _cloned(program, words, where, project)


def _cloned(program: str, words: list[str], where: str, project: str) -> Iterator[tuple[str, _Place]]:
    verbs = {"git": ("clone",), "hg": ("clone",), "gh": ("clone",), "svn": ("co", "checkout", "export")}.get(
        program, ()
    )
    at = next((place + 1 for place, word in enumerate(words) if place and word in verbs), 0)
    at = 1 if program in {"degit", "tiged"} else at
    if not at:
        return
    if program == "git" and "-C" in words[: at - 1]:
        where = _join(where, words[words.index("-C") + 1])
    given = [
        w for w, before in zip(words[at:], words[at - 1 :], strict=False) if w[:1] != "-" and before not in _VALUED
    ]
    given = [word for word in given if not re.match(r"\d?[<>]", word)]
    short = program in {"gh", "degit", "tiged"}
    if not given or not (short or normalise_remote(given[0])):
        return
    address = given[0] if "://" in given[0] or not short else f"https://github.com/{given[0]}"
    if not _is_own(address, project):
        name = given[0].rstrip("/").removesuffix(".git").replace(":", "/").rsplit("/", 1)[-1]
        yield _join(where, given[1] if len(given) > 1 else name), _Place(given[0], clone=True)


def _address(words: Sequence[str], project: str) -> str:
    found = (word for word in words if _URL.match(word) and not _NO_PLACE.match(word))
    return next((word for word in found if not _is_own(word, project)), "")


def _saved(program: str, words: list[str], address: str) -> Iterator[str]:
    """The files that a download writes."""
    name = address.partition("?")[0].rstrip("/").rsplit("/", 1)[-1]
    folder = _after(words, "-P", "--directory-prefix", "--output-dir")
    flags = ("-O", "--output-document") if program == "wget" else ("-o", "--output", "-OutFile")
    target = _after(words, *flags) or _after(words, ">", "1>")
    bundled = [word for word in words if re.match(r"-[A-Za-z]+$", word)]
    if program == "curl" and not target:
        target = next((_after(words, word) for word in bundled if word[-1] == "o"), "")
    if target:
        yield posixpath.join(folder, target)
    elif program == "wget" or "--remote-name" in words or any("O" in word for word in bundled):
        yield posixpath.join(folder, name)


def _after(words: Sequence[str], *flags: str) -> str:
    for word, value in pairwise(words):
        if word in flags:
            return value
    joined = (
        word[len(flag) :].lstrip("=") for word in words for flag in flags if word.startswith(flag) and word != flag
    )
    return next((value for value in joined if value), "")


def _unpacked(words: list[str], where: str, places: Mapping[str, _Place], piped: str) -> Iterator[tuple[str, _Place]]:
    """The folder into which an archive from outside is unpacked; `piped` is the address whose text comes in."""
    if words[0].rsplit("/", 1)[-1] not in {"tar", "bsdtar", "unzip", "7z"}:
        return
    archives = [(word, _source(_join(where, word), places)) for word in words[1:]]
    archive, ref = next(((word, ref) for word, ref in archives if ref), ("", piped))
    if not ref:
        return
    into = _after(words, "-C", "--directory") if "tar" in words[0] else _after(words, "-d", "-o")
    if into:
        yield _join(where, into), _Place(ref)
        return
    yield where, _Place(ref)
    if archive:
        stem = _ARCHIVE.sub("", posixpath.basename(archive))
        for name in (stem, "package") if archive.endswith(".tgz") else (stem,):
            yield _join(where, name), _Place(ref)
