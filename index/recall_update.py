"""Make the next recall database from the last one: only the rows of what was added, changed or taken out are rewritten.

What comes out answers every question as a database that was made from nothing would.
"""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from index.recall_tables import SPEED, Served, Terms, count_same, error_words, put_in, write_facts

# Above this share of changed rows it is quicker to make all of it anew.
MOST_CHANGED = 0.2
# A new row takes a place near the row before it: lessons of one day have one weight, and come one behind the other.
NEAR = 16


def update(target: Path, draft: Path, served: Sequence[Served], terms: Terms) -> bool:
    """Write the draft from a copy of `target`, or leave none where nothing has changed; False where that cannot be
    done, and all must be made anew: no database, one that is damaged or made on other terms, too much changed."""
    with suppress(OSError, sqlite3.Error, zlib.error):
        known = read_known(target, terms)
        if known is None:
            return False
        places = place_rows(known, served)
        if places is None:
            return False
        stays = {path for path, (mid, key) in known.items() if places.get(path) == (mid, key)}
        new = [one for one in served if one.solution.path not in stays]
        gone = [mid for path, (mid, _) in known.items() if path not in stays]
        if not new and not gone:
            return True
        shutil.copyfile(target, draft)
        with closing(sqlite3.connect(draft)) as db:
            # A text that was taken out does not linger in free pages.
            db.executescript(SPEED + "pragma secure_delete=on;")
            old_words, old_errors, touched = take_out(db, gone)
            words, errors, signatures = put_in(db, [(places[one.solution.path][0], one) for one in new], terms)
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


def place_rows(known: Mapping[str, tuple[int, str]], served: Sequence[Served]) -> dict[str, tuple[int, str]] | None:
    """(row, key) by path for all that is to be served, in its order: what did not change keeps its row.

    None where there is no room between two rows, or too much has changed.
    """
    changed = sum(known.get(one.solution.path, (0, ""))[1] != one.key for one in served)
    gone = len(known.keys() - {one.solution.path for one in served})
    if changed + gone > MOST_CHANGED * max(len(served), 1):
        return None
    places: dict[str, tuple[int, str]] = {}
    last, waiting = 0, list[Served]()
    for one in [*served, None]:
        if one is None:
            following = last + NEAR * 2 * (len(waiting) + 1)
        elif known.get(one.solution.path, (0, ""))[1] == one.key:
            following = known[one.solution.path][0]
        else:
            waiting.append(one)
            continue
        step = min(NEAR, (following - last) // (len(waiting) + 1))
        if step < 1:
            return None
        for number, new in enumerate(waiting, 1):
            places[new.solution.path] = (last + number * step, new.key)
        if one is not None:
            places[one.solution.path] = known[one.solution.path]
        last, waiting = following, []
    return places


def take_out(db: sqlite3.Connection, gone: Iterable[int]) -> tuple[list[str], list[str], set[str]]:
    """Take out all rows of these solutions; returns their words, those of their errors, and the errors' signatures."""
    words, errors, signatures = [], [], set()
    db.execute("create temp table gone(mid integer primary key)")
    db.executemany("insert into temp.gone values (?)", [(mid,) for mid in gone])
    for mid, packed in db.execute("select mid, words from kept where mid in (select mid from temp.gone)").fetchall():
        words.append(packed if isinstance(packed, str) else zlib.decompress(packed).decode())
        # A full-text table without its texts is told what to take out.
        db.execute("insert into fdoc(fdoc, rowid, w) values ('delete', ?, ?)", (mid, words[-1]))
    for eid, sig, text in db.execute(
        "select eid, sig, text from err where mid in (select mid from temp.gone)"
    ).fetchall():
        signatures.add(sig)
        errors.append(error_words(text))
        db.execute("insert into ferr(ferr, rowid, w) values ('delete', ?, ?)", (eid, errors[-1]))
    for table in ("lesson", "kept", "err", "trig", "cmd", "mention"):
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
