"""The stores that hold in a folder, the personal before the shared, and what they answer together when asked.

What the hooks do in `flows.hook_recall` for an event, here for a question of a person or of an agent: of one id the
personal store's text wins and the triggers of both fire; only text that is still as it was scanned is given.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from flows.context import recall_database
from flows.hook_place import Place, relative
from index.files import read_bytes
from index.frontmatter import parse_solution
from index.matching import Hit
from index.recall import Found, Likeness, note_empty, open_database, read_found, recall
from index.recall_db import database_path, hash_text
from index.records import Solution
from index.settings import RedactSettings
from index.signature import error_signature
from index.store import read_text, store_root
from reflect.redact import redact_text

SPARE = 10  # more hits are asked for than are given, since some may have changed since they were scanned


@dataclass(frozen=True, slots=True)
class Layer:
    """A store, and the database that was built of what may be served of it."""

    root: Path
    database: Path


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: words, a file about to be edited, a command about to be run, an error's text."""

    query: str = ""
    path: str = ""
    command: str = ""
    error: str = ""

    def __bool__(self) -> bool:
        return any(text.strip() for text in (self.query, self.path, self.command, self.error))


def find_layers(root: Path, cwd: Path, env: Mapping[str, str]) -> tuple[Layer, ...]:
    """The store itself, then the one that is shared around a folder. A shared store's database is always read from the
    personal store: a folder must not be able to bring its own."""
    shared = [Path(store) for store in Place({"cwd": str(cwd)}, str(root)).stores[1:]]
    below = [Layer(one, database_path(store_root(None, env), one)) for one in shared if one.resolve() != root.resolve()]
    return (Layer(root, recall_database(root, env)), *below)


def from_project(path: str, cwd: Path) -> str:
    """A path as the project's globs see it; one outside of the project as it is."""
    return relative(path, Place({"cwd": str(cwd)}, "")) or path


def ask_layers(layers: Sequence[Layer], question: Question, k: int, project: str, today: date) -> list[Found]:
    """The `k` lessons of all layers that fit best, each once, none that has changed since it was scanned."""
    found: dict[str, Found] = {}
    words, likeness = question.query, likeness_for(question.query)
    for number, layer in enumerate(layers):
        database, wanted = [layer.database], k + SPARE
        asked = recall(
            database, words, question.path, question.command, question.error, wanted, project, today, likeness=likeness
        )
        for one in asked:
            if one.id in found:
                continue
            owner, own = own_version(layers[:number], one, project, today) or (layer, one)
            if is_current(owner, own):
                found[one.id] = own
    best = sorted(found.values(), key=lambda one: (-one.score, one.id))
    # Before the cut: the newest of two that contradict each other may have come after it.
    return newest_of_disputed(layers, best[: k + SPARE], question.query)[:k]


def likeness_for(query: str) -> Likeness | None:
    """What compares meanings, where words are asked and the extra is there; numpy is loaded for nothing else."""
    if not query.strip() or find_spec("wordllama") is None:
        return None
    from detectors.embedding import find_likeness

    return find_likeness()


def newest_of_disputed(layers: Sequence[Layer], found: list[Found], query: str) -> list[Found]:
    """The hits in their order, but of those that contradict each other the newest first."""
    from detectors.meaning import newest_first

    by_id = {one.id: one for one in found}
    solutions: dict[str, Solution] = {}
    for one, layer in product(found, layers):
        text = read_text(layer.root / one.path)
        solution = parse_solution(one.path, text) if isinstance(text, str) else text
        if isinstance(solution, Solution) and solution.id == one.id:
            solutions.setdefault(one.id, solution)
    if len(solutions) < len(found):
        return found
    return [by_id[solution.id] for solution in newest_first([solutions[one.id] for one in found], query)]


def own_version(above: Sequence[Layer], one: Found, project: str, today: date) -> tuple[Layer, Found] | None:
    """The lesson as a layer above has it, with what made it fire below; None where none has it."""
    for layer in above:
        with contextlib.suppress(sqlite3.Error), closing(open_database(layer.database)) as db:
            row = db.execute("select mid from lesson where id = ?", (one.id,)).fetchone()
            if row:
                own = read_found(db, Hit(row[0]), project, today)
                return layer, replace(own, score=one.score, reasons=one.reasons, kinds=one.kinds)
    return None


def is_current(layer: Layer, one: Found) -> bool:
    """Whether a lesson's file still has the text that was scanned when the database was built."""
    text = read_bytes(layer.root / one.path)
    if text is None:
        return False
    with contextlib.suppress(sqlite3.Error), closing(open_database(layer.database)) as db:
        row = db.execute(
            "select text_hash from kept join lesson using (mid) where id = ? and lesson.path = ?", (one.id, one.path)
        ).fetchone()
        return bool(row) and row[0] == hash_text(text.decode("utf-8", "replace"))
    return False


def keep_empty(home: Path, question: Question, project: str, now: datetime, redact: RedactSettings) -> None:
    """Keep a question that found nothing, without its secrets: the report shows where lessons are missing."""
    if not home.is_dir():
        return
    for kind, text in (("query", question.query), ("command", question.command), ("path", question.path)):
        if text.strip():
            note_empty(home, kind, redact_text(" ".join(text.split()), redact)[0], project, int(now.timestamp()))
    if question.error.strip():
        asked = redact_text(error_signature(question.error) or question.error, redact)[0]
        note_empty(home, "error", asked, project, int(now.timestamp()))
