"""The tables of the derived database that recall reads, and what goes into them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from pathlib import Path

from index.matching import SCHEMA
from index.recall_rows import (
    MOST_ERRORS,
    command_rows,
    error_rows,
    lesson_row,
    mentions,
    trigger_rows,
)
from index.records import Solution
from index.words import words_of

Named = dict[str, list[int]]  # the rows of the solutions that mention a path, by each form under which it is asked for

# Between the numbers of two neighbouring rows, so that a new lesson finds a place by its weight without renumbering.
GAP = 256

_TABLES = """
create table lesson(mid integer primary key, id text, path text, title text, brief text, project text, branch text,
  category text, kind text, trust text, confidence real, priority integer, day integer, stale integer, source text,
  tags text, paths text, commands text, errors text, always integer, weight real, sents text, code text);
create table trig(anchor text, glob text, pat text, mid integer, primary key(anchor, glob, pat, mid)) without rowid;
create table cmd(key text, mid integer, words text, shown text, primary key(key, mid, words)) without rowid;
create table err(eid integer primary key, mid integer, sig text, text text, same integer);
create table mention(key text, mid integer, primary key(key, mid)) without rowid;
create table kept(mid integer primary key, path text, text_hash text, key text);
create table spoken(mid integer primary key, words text);
create table meta(key text primary key, value text) without rowid;
create virtual table fdoc using fts5(w, content='');
create virtual table ferr using fts5(w, content='');
"""
# Made once the rows are there: sorting them is quicker than finding a place for each.
_INDEXES = """
create index lesson_id on lesson(id);
create index lesson_project on lesson(project, mid);
create index err_sig on err(sig, mid);
create index err_mid on err(mid);
"""
# How many rows hold a word: fts5vocab counts them anew at each question, which takes longer the commoner the word is.
_COUNT_WORDS = """
create virtual table temp.counted using fts5vocab(main, {table}, 'row');
create table {name}(term text primary key, doc integer) without rowid;
insert into {name} select term, doc from temp.counted;
drop table temp.counted;
"""
# Nobody reads the draft, so nothing needs to be safe; 64 MB hold the pages that rows in no order touch again and again.
SPEED = """
pragma journal_mode=off; pragma synchronous=off; pragma locking_mode=exclusive; pragma cache_size=-64000;
pragma temp_store=memory;
"""
_INSERTS = (
    f"insert into lesson values ({','.join('?' * 23)})",  # noqa: S608  question marks only
    "insert into fdoc(rowid, w) values (?, ?)",
    "insert into kept values (?, ?, ?, ?)",
    "insert into spoken values (?, ?)",
    "insert or ignore into trig values (?, ?, ?, ?)",
    "insert or ignore into cmd values (?, ?, ?, ?)",
    "insert into err values (?, ?, ?, ?, 0)",
    "insert into ferr(rowid, w) values (?, ?)",
)
# Rows of few columns are mostly calls, of which one for so many rows is enough.
AT_ONCE = 50
_MENTION = "insert or ignore into mention values (?, ?)"
_MENTIONS = _MENTION + ", (?, ?)" * (AT_ONCE - 1)
# How many solutions' rows are made before they are written, table by table.
BATCH = 1000
# While all is written, words are gathered in memory and merged once at the end; later updates are small.
_GATHER = """
insert into fdoc(fdoc, rank) values ('hashsize', 16000000); insert into fdoc(fdoc, rank) values ('automerge', 0);
"""
_GATHERED = """
insert into fdoc(fdoc, rank) values ('hashsize', 1048576); insert into fdoc(fdoc, rank) values ('automerge', 4);
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A solution that goes in: the date of its newest evidence, its weight, and what its rows depend on, as a hash."""

    solution: Solution
    seen: date
    weight: float
    text_hash: str
    key: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What all rows of a database depend on: where these differ, it is made from nothing.

    A lesson's weight fades by the month, so that a day that passes rewrites nothing.
    """

    today: date
    stale_days: int

    @property
    def month(self) -> date:
        """The day that ages are counted to."""
        return self.today.replace(day=1)

    def facts(self) -> dict[str, str]:
        """As they are kept in the database."""
        given = {"schema": SCHEMA, "month": self.month.isoformat(), "stale_days": self.stale_days}
        return {name: str(value) for name, value in given.items()}


def write_whole(draft: Path, served: Sequence[Served], terms: Terms) -> None:
    """All of a new database."""
    with closing(sqlite3.connect(draft)) as db:
        db.executescript(SPEED + _TABLES + _GATHER)
        named: Named = {}
        for at in range(0, len(served), BATCH):
            put_in(db, [(place * GAP, one) for place, one in enumerate(served[at : at + BATCH], at + 1)], terms, named)
        put_mentions(db, named)
        db.executescript(_INDEXES)
        count_same(db)
        db.execute("insert into fdoc(fdoc) values ('optimize')")
        db.execute("insert into ferr(ferr) values ('optimize')")
        db.executescript(
            _GATHERED + _COUNT_WORDS.format(table="fdoc", name="vdoc") + _COUNT_WORDS.format(table="ferr", name="verr")
        )
        write_facts(db, terms, len(served))
        db.commit()


def put_in(
    db: sqlite3.Connection, places: Iterable[tuple[int, Served]], terms: Terms, named: Named
) -> tuple[list[str], list[str], set[str]]:
    """All rows of these solutions, each with its number, but for what is counted over all and what they mention, which
    is added to `named`; returns their words, those of their errors, and the errors' signatures."""
    from index.recall_texts import texts_of_all  # loads numpy, which whoever only reads does without

    places = list(places)
    rows: dict[str, list[tuple[object, ...]]] = {statement: [] for statement in _INSERTS}
    lessons, documents, kept, spoken, triggers, commands, errors, found = rows.values()
    for (mid, one), texts in zip(places, texts_of_all([one.solution for _, one in places]), strict=True):
        each = one.solution
        lessons.append(lesson_row(mid, each, texts, one.seen, one.weight, terms.stale_days))
        documents.append((mid, texts.words))
        kept.append((mid, each.path, one.text_hash, one.key))
        spoken.append((mid, texts.words))
        for key in mentions(each):
            named.setdefault(key, []).append(mid)
        if each.triggers:
            triggers += [(*row, mid) for row in trigger_rows(each)]
            commands += [(key, mid, *rest) for key, *rest in command_rows(each)]
            for eid, (sig, text) in enumerate(error_rows(each), mid * MOST_ERRORS):
                errors.append((eid, mid, sig, text))
                found.append((eid, error_words(text)))
    for statement, given in rows.items():
        db.executemany(statement, given)
    return [str(row[1]) for row in documents], [str(row[1]) for row in found], {str(row[2]) for row in errors}


def put_mentions(db: sqlite3.Connection, named: Named) -> None:
    """The rows of what solutions mention, in the order in which the table keeps them."""
    rows = ((key, mid) for key in sorted(named) for mid in named[key])
    whole = sum(map(len, named.values())) // AT_ONCE
    db.executemany(_MENTIONS, (tuple(chain.from_iterable(islice(rows, AT_ONCE))) for _ in range(whole)))
    db.executemany(_MENTION, rows)


def error_words(text: str) -> str:
    """The words under which a declared error is found."""
    return " ".join(words_of(text.replace("_", " ")))


def count_same(db: sqlite3.Connection, signatures: Iterable[str] | None = None) -> None:
    """How many solutions declare an error of the same signature; of the given signatures, else of all."""
    db.execute("create temp table alike(sig text primary key, solutions integer) without rowid")
    counted = "insert into temp.alike select sig, count(distinct mid) from err"
    if signatures is None:
        db.execute(f"{counted} group by sig")
    else:
        for signature in sorted(set(signatures)):
            db.execute(f"{counted} where sig = ? group by sig", (signature,))
    db.execute(
        "update err set same = (select solutions from temp.alike where alike.sig = err.sig) "
        "where sig in (select sig from temp.alike)"
    )
    db.execute("drop table temp.alike")


def write_facts(db: sqlite3.Connection, terms: Terms, count: int) -> None:
    """What a reader needs to know of the whole."""
    facts = {**terms.facts(), "count": str(count), "built": terms.today.isoformat()}
    db.executemany("insert or replace into meta values (?, ?)", list(facts.items()))
