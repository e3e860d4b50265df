"""Where a store's files lie, and how they are read. The only maker of paths."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from slugify import slugify

from index.collector import collector_off
from index.frontmatter import MAX_BODY, parse_solution, split_frontmatter
from index.records import CATEGORIES, Problem, Solution

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SOLUTIONS = "solutions"
ARCHIVE = "archive"
QUARANTINE = "quarantine"
CANDIDATES = ".candidates"
CACHE = ".cache"
SPOOL = "spool"
JOURNAL = "journal"
EPISODES = "episodes"
INBOX = "inbox"
INDEX_FILE = ".index.yaml"
MEMORY_FILE = "MEMORY.md"
MAX_FILE = 2 * 1024 * 1024
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Store:
    """What a folder of solutions holds: the records, and the files that are none."""

    root: Path
    solutions: tuple[Solution, ...] = ()
    problems: tuple[Problem, ...] = ()
    mtimes: Mapping[str, int] = field(default_factory=dict)


def store_root(given: str | None, env: Mapping[str, str]) -> Path:
    """The store to work on: the one given, else HOTWASH_HOME, else ~/.hotwash. Absolute."""
    chosen = given or env.get("HOTWASH_HOME") or "~/.hotwash"
    return Path(chosen).expanduser().absolute()


def solution_id(time: datetime, source: str) -> str:
    """A ULID (github.com/ulid/spec): 48 bits of `time` in milliseconds, then 80 bits of the source's SHA-256.

    The same source at the same time gives the same id, so that reading a session again adds nothing.
    """
    milliseconds = max(0, min(int(time.timestamp() * 1000), (1 << 48) - 1))
    tail = int.from_bytes(hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()[:10], "big")
    number = milliseconds << 80 | tail
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def slug(title: str) -> str:
    """A file name's readable part: ASCII, at most 60 characters, never empty."""
    return slugify(title, max_length=60, word_boundary=True) or "lesson"


def id_tail(identity: str) -> str:
    """The part of an id that its file's name ends with."""
    return identity[-8:].lower()


def path_for(solution: Solution) -> str:
    """Where a new solution's file goes, relative to the store."""
    return f"{SOLUTIONS}/{solution.category}/{slug(solution.title)}-{id_tail(solution.id)}.md"


def retired_path(folder: str, path: str) -> str:
    """Where a file goes when it leaves the live store: `folder` (archive, quarantine), then the path it had."""
    return f"{folder}/{path}"


def walk_markdown(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Every .md file below `folder`, sorted by path; symbolic links are never followed, hidden folders passed over."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from walk_markdown(Path(entry.path))
        elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
            yield entry


def read_text(path: Path) -> str | Problem:
    """A file's text with its line ends as they are, or why it cannot be used."""
    name = str(path)
    try:
        if path.stat().st_size > MAX_FILE:
            return Problem(name, None, f"larger than {MAX_FILE} bytes; a lesson is one short text. Split it.", "size")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(name, None, f"not UTF-8 at byte {error.start}. Save it as UTF-8.", "encoding")
    except OSError as error:
        return Problem(name, None, f"cannot be read: {error.strerror}.", "unreadable")


def _read_entry(entry: os.DirEntry[str]) -> str | Problem:
    """`read_text` of a listed file in one read: what a large store spends most of its time on."""
    size = entry.stat(follow_symlinks=False).st_size
    if size > MAX_FILE:
        return read_text(Path(entry.path))
    try:
        handle = os.open(entry.path, _READ)
        try:
            data = os.read(handle, size + 1)
        finally:
            os.close(handle)
        # A file that grew meanwhile, or of which less was given, is read again in the plain way.
        return data.decode("utf-8") if len(data) == size else read_text(Path(entry.path))
    except (OSError, UnicodeDecodeError):
        return read_text(Path(entry.path))


def read_listed(root: Path, entry: os.DirEntry[str]) -> Solution | Problem:
    """The solution in a listed file of the store at `root`, or what is wrong with it."""
    path = _relative(root, entry)
    text = _read_entry(entry)
    return parse_solution(path, text) if isinstance(text, str) else Problem(path, None, text.reason, text.kind)


def _relative(root: Path, entry: os.DirEntry[str]) -> str:
    return entry.path[len(str(root)) + 1 :].replace(os.sep, "/")


def read_store(root: Path, folder: str = SOLUTIONS, kept: Path | None = None, keep: bool = False) -> Store:
    """All solutions below `root/folder` with their paths, texts and mtimes; what does not parse becomes a problem.

    `kept` is where what their headers say lies from earlier runs (`index.header_cache`); with `keep` it is brought up
    to date.
    """
    solutions: list[Solution] = []
    problems: list[Problem] = []
    mtimes: dict[str, int] = {}
    with collector_off():
        read = _reader(root, kept, keep) if kept else nullcontext(partial(read_listed, root))
        with read as read_one:
            for entry in walk_markdown(root / folder):
                found = read_one(entry)
                if isinstance(found, Problem):
                    problems.append(found)
                else:
                    solutions.append(found)
                    mtimes[found.path] = entry.stat(follow_symlinks=False).st_mtime_ns
    by_id: dict[str, str] = {}
    for solution in solutions:
        first = by_id.setdefault(solution.id, solution.path)
        if first != solution.path:
            reason = f"id {solution.id} stands in {first} too; two files may not share one. Give one a new id."
            problems.append(Problem(solution.path, 2, reason, "duplicate-id"))
    return Store(root, tuple(solutions), tuple(problems), mtimes)


@contextmanager
def _reader(root: Path, kept: Path, keep: bool) -> Iterator[Callable[[os.DirEntry[str]], Solution | Problem]]:
    """`read_listed` that parses only the headers it does not know from an earlier run."""
    from index.header_cache import read_rows, row_of, solution_of, write_rows  # what no hook may load

    known = read_rows(kept)
    rows: dict[str, list[Any]] = {}

    def read(entry: os.DirEntry[str]) -> Solution | Problem:
        text = _read_entry(entry)
        if not isinstance(text, str):
            return read_listed(root, entry)
        path = _relative(root, entry)
        header, body = split_frontmatter(text)
        row = known.get(header) if header is not None and len(body) <= MAX_BODY else None
        if header is not None and row is not None:
            rows[header] = row
            return solution_of(row, path, text, body.replace("\r\n", "\n") if "\r" in body else body)
        parsed = parse_solution(path, text)
        if keep and header is not None and isinstance(parsed, Solution) and (new := row_of(parsed)):
            rows[header] = new
        return parsed

    yield read
    if keep and rows.keys() != known.keys():
        write_rows(kept, rows)


def make_store(root: Path) -> None:
    """Create the folders of a store that are not there yet."""
    # A parent made on the way would have the default mode, and a store is its owner's alone.
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in (*(f"{SOLUTIONS}/{category}" for category in CATEGORIES), INBOX, SPOOL, JOURNAL, CACHE):
        (root / name).mkdir(parents=True, exist_ok=True, mode=0o700)
