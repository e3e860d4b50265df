"""Make the next recall database from the last one: only the rows of what was added, changed or taken out are rewritten.

What comes out answers every question as a database that was made from nothing would.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from index.recall_tables import (
    SPEED,
    Named,
    Served,
    Terms,
    count_same,
    error_words,
    put_in,
    put_mentions,
    write_facts,
)

# Above this share of changed rows it is quicker to make all of it anew.
MOST_CHANGED = 0.2
# A new row takes a place near the row before it: lessons of one day have one weight, and come one behind the other.
NEAR = 16


def update(target: Path, draft: Path, served: Sequence[Served], terms: Terms) -> bool:
    """Write the draft from a copy of `target`, or leave none where nothing has changed; False where that cannot be
    done, and all must be made anew: no database, one that is damaged or made on other terms, too much changed."""
    with suppress(OSError, sqlite3.Error):
        known = read_known(target, terms)
        if known is None:
            return False
        places = place_rows(known, served)
        if places is None:
            return False
        if not places and len(known) == len(served):
            return True
        new = [one for one in served if one.solution.path in places]
        stays = {one.solution.path for one in served} - places.keys()
        gone = [mid for path, (mid, _) in known.items() if path not in stays]
        shutil.copyfile(target, draft)
        with closing(sqlite3.connect(draft)) as db:
            # A text that was taken out does not linger in free pages.
            db.executescript(SPEED + "pragma secure_delete=on;")
            old_words, old_errors, touched = take_out(db, gone)
            named: Named = {}
            words, errors, signatures = put_in(db, [(places[one.solution.path], one) for one in new], terms, named)
            put_mentions(db, named)
            touched |= signatures
            count_same(db, touched)
            count_words(db, "vdoc", old_words, words)
            count_words(db, "verr", old_errors, errors)
            write_facts(db, terms, len(served))
            db.commit()
        return True
    return False


def read_known(target: Path, terms: Terms) -> dict[str, tuple[int, str]] | None:
    """(row, key) by path of what a database holds; None where it was made on other terms."""
    if not target.exists():
        return None
    with closing(sqlite3.connect(f"file:{quote(str(target))}?mode=ro", uri=True)) as db:
        facts = dict(db.execute("select key, value from meta").fetchall())
        if any(facts.get(name) != value for name, value in terms.facts().items()):
            return None
        return {path: (mid, key) for mid, path, key in db.execute("select mid, path, key from kept")}


def place_rows(known: Mapping[str, tuple[int, str]], served: Sequence[Served]) -> dict[str, int] | None:
    """The rows of what is new or changed, by path, each where its weight says: what did not change keeps its row.

    None where there is no room between two rows, or too much has changed.
    """
    places: dict[str, int] = {}
    waiting: list[str] = []
    last, here = 0, 0
    for one in served:
        path = one.solution.path
        row, key = known.get(path, (0, ""))
        here += row > 0
        if key != one.key:
            waiting.append(path)
        elif row - last <= len(waiting):
            return None
        else:
            if waiting:
                step = min(NEAR, (row - last) // (len(waiting) + 1))
                places |= {path: last + number * step for number, path in enumerate(waiting, 1)}
                waiting = []
            last = row
    places |= {path: last + number * NEAR for number, path in enumerate(waiting, 1)}
    gone = len(known) - here
    return None if len(places) + gone > MOST_CHANGED * max(len(served), 1) else places


def take_out(db: sqlite3.Connection, gone: Iterable[int]) -> tuple[list[str], list[str], set[str]]:
    """Take out all rows of these solutions; returns their words, those of their errors, and the errors' signatures."""
    words, errors, signatures = [], [], set()
    db.execute("create temp table gone(mid integer primary key)")
    db.executemany("insert into temp.gone values (?)", [(mid,) for mid in gone])
    for mid, said in db.execute("select mid, words from spoken where mid in (select mid from temp.gone)").fetchall():
        words.append(said)
        # A full-text table without its texts is told what to take out.
        db.execute("insert into fdoc(fdoc, rowid, w) values ('delete', ?, ?)", (mid, said))
    for eid, sig, text in db.execute(
        "select eid, sig, text from err where mid in (select mid from temp.gone)"
    ).fetchall():
        signatures.add(sig)
        errors.append(error_words(text))
        db.execute("insert into ferr(ferr, rowid, w) values ('delete', ?, ?)", (eid, errors[-1]))
    for table in ("lesson", "kept", "spoken", "err", "trig", "cmd", "mention"):
        db.execute(f"delete from {table} where mid in (select mid from temp.gone)")  # noqa: S608  our own names
    db.execute("drop table temp.gone")
    return words, errors, signatures


def count_words(db: sqlite3.Connection, name: str, old: Iterable[str], new: Iterable[str]) -> None:
    """Bring the table that says how many rows hold a word up to date with the texts that went and came."""
    change = terms_in(db, new)
    change.subtract(terms_in(db, old))
    for term, count in change.items():
        if count:
            db.execute(
                f"insert into {name} values (?, ?) on conflict(term) do update set doc = doc + excluded.doc",  # noqa: S608
                (term, count),
            )
    db.execute(f"delete from {name} where doc <= 0")  # noqa: S608  our own names


def terms_in(db: sqlite3.Connection, texts: Iterable[str]) -> Counter[str]:
    """How many of these texts hold each word, words as the full-text tables cut them."""
    db.execute("create virtual table temp.some using fts5(w, content='')")
    db.executemany("insert into temp.some(rowid, w) values (?, ?)", list(enumerate(texts, 1)))
    db.execute("create virtual table temp.cut using fts5vocab(temp, some, 'row')")
    counted = Counter(dict(db.execute("select term, doc from temp.cut").fetchall()))
    db.execute("drop table temp.cut")
    db.execute("drop table temp.some")
    return counted
