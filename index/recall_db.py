"""Build the derived database that recall reads: a new file, renamed over the old one, so that readers never wait.

Only what may be served goes in; the caller says which solutions have a clean verdict. Everything in it can be built
again from the markdown files at any time. A build takes a copy of the last one and rewrites the rows of what changed
(`index.recall_update`); it starts from nothing where there is none, once a month, and where much has changed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import date
from pathlib import Path
from urllib.parse import quote

from index.matching import SCHEMA
from index.recall_rows import weight_of
from index.recall_tables import Served, Terms, write_whole
from index.recall_update import update
from index.records import Solution

RECALL_DB = ".cache/recall.db"
SHARED = ".cache/shared"  # below the personal store: the databases of shared stores, and where those stores lie


def database_path(home: Path, store: Path) -> Path:
    """Where the database of a store lies: always in the personal store, so that no repository can bring its own."""
    if store == home:
        return home / RECALL_DB
    return home / SHARED / f"{plain_name(str(store))}.db"


def plain_name(text: str) -> str:
    """A text as a file name that no other text has, up to 150 characters; the same as the hook makes."""
    return "".join(char if char.isascii() and char.isalnum() else f"-{ord(char):x}-" for char in text)[-150:]


def build(
    target: Path,
    solutions: Iterable[Solution],
    clean: Mapping[str, bool],
    today: date,
    evidence: Mapping[str, date] | None = None,
    stale_days: int = 30,
    whole: bool = False,
    hash_of: Callable[[str], str] | None = None,
) -> int:
    """Write the database at `target`, from what it holds already unless `whole`; returns how many solutions it holds.

    `clean` maps a solution's path to whether its current text has a clean verdict; one that is missing there, tainted
    or superseded is left out. `evidence` gives the newest evidence's date by path (else `verified`, else `created`).
    `hash_of` is `hash_text`, where the caller remembers what it gave.
    """
    terms = Terms(today, stale_days)
    served = choose_served(solutions, clean, evidence or {}, terms, hash_of or hash_text)
    target.parent.mkdir(parents=True, exist_ok=True)
    # One name, so that the next build takes away what a killed one left; the store's lock keeps builds apart.
    draft = target.with_name(f".{target.name}.hotwash-tmp")
    draft.unlink(missing_ok=True)
    try:
        if whole or not update(target, draft, served, terms):
            draft.unlink(missing_ok=True)
            write_whole(draft, served, terms)
        if draft.exists():
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return len(served)


def choose_served(
    solutions: Iterable[Solution],
    clean: Mapping[str, bool],
    evidence: Mapping[str, date],
    terms: Terms,
    hash_of: Callable[[str], str],
) -> list[Served]:
    """What may be given back, in the order of its rows: the first rows of any bounded question are the most useful."""
    served = []
    month = terms.month
    for each in solutions:
        if not clean.get(each.path) or each.trust == "external" or each.superseded_by:
            continue
        if each.expires is not None and each.expires < terms.today:
            continue
        seen = evidence.get(each.path) or each.verified or each.created.date()
        text = hash_of(each.text or repr(each))
        served.append(Served(each, seen, weight_of(each, seen, month), text, f"{text} {seen.toordinal()}"))
    return sorted(served, key=lambda one: (-one.weight, one.solution.id, one.solution.path))


def hash_text(text: str) -> str:
    """The hash of a file's text: what is in the database is given back only while the file still has it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_usable(target: Path, thorough: bool = False) -> bool:
    """Whether a database is there, of this version and can be read; with `thorough` all of its pages are looked at."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(target))}?mode=ro", uri=True)) as db:
            (schema,) = db.execute("select value from meta where key = 'schema'").fetchone() or ("",)
            db.execute("select count(*) from kept").fetchone()
            sound = not thorough or db.execute("pragma quick_check(1)").fetchone() == ("ok",)
            return bool(schema == str(SCHEMA)) and sound
    except sqlite3.Error:
        return False
