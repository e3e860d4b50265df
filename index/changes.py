"""What a stage would do: changes, plans, and what became of them. Plain values, nothing is written here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from index.frontmatter import parse_solution
from index.records import Problem, Solution
from index.store import SOLUTIONS, Store


@dataclass(frozen=True, slots=True)
class Change:
    """One file's bytes before and after; None means there is no such file.

    `path` is relative to the store, or absolute for a file outside it (a published skill). Changes of one `unit` land
    together or not at all. `mtime_ns` is the modification time that the file is to have; None leaves it to the clock.
    `kept` is what the journal keeps in place of `before`, where that holds a secret.
    """

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    unit: str = ""
    mtime_ns: int | None = None
    kept: bytes | None = None

    @property
    def sign(self) -> str:
        """`+` for a new file, `-` for one that goes, `~` for one that changes."""
        return "+" if self.before is None else "-" if self.after is None else "~"

    def describe(self) -> str:
        """The change in one line."""
        return f"{self.sign} {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should see; it changes nothing. `kind` is one word: conflict, stale, refused, ..."""

    kind: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stage would do, what it leaves alone and why (path, reason), and what a person should see."""

    stage: str
    changes: tuple[Change, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()


def join_plans(stage: str, plans: Iterable[Plan]) -> Plan:
    """Several plans over different files as one."""
    plans = tuple(plans)
    return Plan(
        stage,
        tuple(change for plan in plans for change in plan.changes),
        tuple(skipped for plan in plans for skipped in plan.skipped),
        tuple(note for plan in plans for note in plan.notes),
    )


@dataclass(frozen=True, slots=True)
class Applied:
    """What landed of a plan, and what was refused because the file was not what the plan had read."""

    landed: tuple[Change, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One run over a store; its id names its journal."""

    id: str
    command: str
    undoes: str = ""


def move(
    path: str, to: str, content: bytes, why: str, mtime_ns: int | None = None, new: bytes | None = None
) -> tuple[Change, Change]:
    """A move as two changes that land together; `new` is the content at the new place where it differs."""
    unit = f"move {path}"
    return (
        Change(to, None, content if new is None else new, why, unit, mtime_ns),
        Change(path, content, None, why, unit),
    )


def digest(content: bytes | None) -> str | None:
    """The SHA-256 of a file's bytes; None for no file."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def advance(store: Store, plan: Plan) -> Store:
    """The store as it is once a plan has landed, in memory: how a dry run sees what its next stage would see."""
    if not any(change.path.startswith(f"{SOLUTIONS}/") for change in plan.changes):
        return store
    by_path: dict[str, Solution] = {solution.path: solution for solution in store.solutions}
    problems = {problem.path: problem for problem in store.problems}
    mtimes = dict(store.mtimes)
    for change in plan.changes:
        if not change.path.startswith(f"{SOLUTIONS}/"):
            continue
        by_path.pop(change.path, None)
        problems.pop(change.path, None)
        mtimes.pop(change.path, None)
        if change.after is not None:
            read = parse_solution(change.path, change.after.decode("utf-8", "replace"))
            if isinstance(read, Problem):
                problems[change.path] = read
            else:
                by_path[change.path] = read
                if change.mtime_ns is not None:
                    mtimes[change.path] = change.mtime_ns
    solutions = tuple(by_path[path] for path in sorted(by_path))
    return Store(store.root, solutions, tuple(problems[path] for path in sorted(problems)), mtimes)
