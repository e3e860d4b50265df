"""A database brought up to date answers as one made from nothing does, and rewrites only what changed."""
# ruff: noqa: S608  tables by their names

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from index.recall import recall
from index.recall_db import build, is_usable
from index.records import Solution, Triggers

DAY = date(2026, 6, 10)
WORDS = "postgres redis cache token migrate resumable validator café naïve upload 端口 error_code build".split()


def lesson(number: int, words: Sequence[str], confidence: float = 0.8, expires: date | None = None) -> Solution:
    said = " ".join(words)
    return Solution(
        f"L{number:02}",
        f"{said} lesson",
        "bugs",
        f"Run `make {said}` in `src/{words[0]}/main.py`.\n\n**Instead:** {said} again.",
        confidence=confidence,
        triggers=Triggers(
            (f"src/{words[0]}/**",), (f"make {words[-1]}",), (f"error: {words[0]} refused", f"{said} failed")
        ),
        created=datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=number),
        expires=expires,
        path=f"solutions/bugs/{number:02}.md",
    )


LESSONS = st.builds(
    lesson,
    st.integers(0, 30),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.sampled_from([0.6, 0.8, 0.95]),
    st.sampled_from([None, DAY, DAY + timedelta(days=1)]),
)
STORES = st.lists(LESSONS, max_size=25, unique_by=lambda one: one.path)


def make(target: Path, solutions: Sequence[Solution], day: date = DAY, whole: bool = False) -> Path:
    build(target, solutions, {each.path: True for each in solutions}, day, whole=whole)
    return target


def contents(target: Path) -> dict[str, list[Any]]:
    """Every row of every table in order, a solution's path and place in the order instead of its row's number."""
    with closing(sqlite3.connect(target)) as db:
        places = {mid: place for place, (mid,) in enumerate(db.execute("select mid from lesson order by mid"))}
        found: dict[str, list[Any]] = {"meta": db.execute("select * from meta where key != 'built'").fetchall()}
        for table in ("lesson", "kept", "trig", "cmd", "mention", "err"):
            rows = db.execute(f"select * from {table} order by mid").fetchall()
            names = [column[1] for column in db.execute(f"pragma table_info({table})")]
            at = names.index("mid")
            skip = names.index("eid") if "eid" in names else -1
            found[table] = sorted(
                [(places[row[at]], *(value for i, value in enumerate(row) if i not in (at, skip))) for row in rows],
                key=repr,
            )
        for table in ("vdoc", "verr"):
            found[table] = db.execute(f"select * from {table} order by term").fetchall()
        owners = dict(db.execute("select eid, mid from err"))
        order = {eid: place for place, eid in enumerate(sorted(owners))}
        for table, place_of in (("fdoc", places), ("ferr", order)):
            db.execute(f"create virtual table temp.each_{table} using fts5vocab(main, {table}, 'instance')")
            rows = db.execute(f'select term, doc, "offset" from temp.each_{table}').fetchall()
            found[table] = sorted((term, place_of[doc], offset) for term, doc, offset in rows)
            found[f"{table} ranks"] = [
                [(place_of[row], rank) for row, rank in db.execute(
                    f"select rowid, rank from {table} where {table} match ? order by rowid", (f'"{word}"',)
                )]
                for word in ("postgres", "redis", "again", "refused")
            ]  # fmt: skip
    return found


@given(STORES, st.lists(st.tuples(STORES, st.integers(0, 30)), max_size=4))
@examples(max_examples=15)
def test_up_to_date_is_the_same_as_made_from_nothing(
    tmp_path_factory: pytest.TempPathFactory, first: list[Solution], later: list[tuple[list[Solution], int]]
) -> None:
    """However a store got to what it holds, and on whichever days: the tables hold the same, in the same order."""
    folder = tmp_path_factory.mktemp("recall")
    target = make(folder / "kept.db", first)
    store = {each.path: each for each in first}
    for changed, dropped in later:
        store.update({each.path: each for each in changed[:3]})
        store.pop(f"solutions/bugs/{dropped:02}.md", None)
        make(target, list(store.values()), DAY + timedelta(days=dropped))
        whole = make(folder / "whole.db", list(store.values()), DAY + timedelta(days=dropped), whole=True)
        assert contents(target) == contents(whole)


def many() -> list[Solution]:
    return [lesson(number, [WORDS[number % 7], WORDS[number % 5 + 7]]) for number in range(40)]


def rows(target: Path) -> dict[str, int]:
    with closing(sqlite3.connect(target)) as db:
        return dict(db.execute("select path, mid from lesson").fetchall())


def test_only_what_changed_is_rewritten(tmp_path: Path) -> None:
    """A changed, a new and a dropped lesson leave all other rows where they were."""
    target = make(tmp_path / "a.db", many())
    before = rows(target)
    changed = [*many()[1:39], lesson(39, ["upload"]), lesson(77, ["token"])]
    make(target, changed)
    after = rows(target)
    same = {path for path, mid in after.items() if before.get(path) == mid}
    assert same == before.keys() - {"solutions/bugs/00.md", "solutions/bugs/39.md"}
    [found] = recall([target], command="make token", today=DAY)[:1]
    assert found.id == "L77"


def test_where_nothing_changed_nothing_is_written(tmp_path: Path) -> None:
    """Neither a second build nor another day of the month touches the file."""
    target = make(tmp_path / "a.db", many())
    stamp = target.stat()
    make(target, many())
    make(target, many(), DAY + timedelta(days=9))
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (stamp.st_ino, stamp.st_mtime_ns)


def test_lessons_of_one_weight_come_one_behind_the_other(tmp_path: Path) -> None:
    """A hundred lessons added one at a time stay in order, whatever room there was between the rows."""
    store = many()
    target = make(tmp_path / "a.db", store)
    for number in range(100, 200):
        store.append(lesson(number, ["cache"]))
        make(target, store)
    with closing(sqlite3.connect(target)) as db:
        found = [identity for (identity,) in db.execute("select id from lesson order by mid")]
    assert found == sorted(each.id for each in store)


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0 and then nothing", b"x" * 5000])
def test_a_damaged_database_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    """What cannot be brought up to date is replaced, and no draft stays."""
    target = tmp_path / "a.db"
    target.write_bytes(damage)
    make(target, many())
    assert len(rows(target)) == 40
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_that_several_declare_is_counted_anew(tmp_path: Path) -> None:
    """How many solutions declare an error follows those that come and go."""
    store = many()
    target = make(tmp_path / "a.db", store)
    extra = lesson(90, ["postgres"])
    for given_store in ([*store, extra], store):
        make(target, given_store)
        whole = make(tmp_path / "b.db", given_store, whole=True)
        assert contents(target)["err"] == contents(whole)["err"]


@pytest.mark.parametrize("thorough", [False, True])
def test_a_database_is_usable_while_it_can_be_read(tmp_path: Path, thorough: bool) -> None:
    """Whole it is; missing, cut or of another version it is not; damage inside is seen by looking at all of it."""
    target = make(tmp_path / "a ü?.db", many())
    whole = target.read_bytes()
    assert is_usable(target, thorough)
    assert not is_usable(tmp_path / "none.db", thorough)
    target.write_bytes(whole[:3000])
    assert not is_usable(target, thorough)
    target.write_bytes(whole[:40_000] + b"\x55" * 60_000 + whole[100_000:])
    assert not is_usable(target, thorough=True)
