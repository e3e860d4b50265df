"""The stages of a pass over one store: what time settles, and one loss budget for all of them."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from curate.loss_budget import COUNTED, lessons_lost
from curate.snapshot import tree_digest
from flows.context import World
from flows.pipeline import curate, run_stage, undo
from flows.report import Report
from flows.stages import write_listing
from index.frontmatter import render_solution
from index.records import Solution, Source, Triggers
from index.search import render_index
from index.settings import DecaySettings, ModelSettings, Settings
from index.store import INDEX_FILE, path_for, read_store, solution_id
from tests.model_server import ModelServer, answer, serve_model

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
PROJECT = "example.org/acme/shop"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store."""
    return World(tmp_path / "store", Settings(), NOW, tmp_path / "home", {"HOME": str(tmp_path / "home")})


def put(world: World, days: int, title: str, body: str, **fields: object) -> Solution:
    """A lesson that a session taught so many days ago, with a file as old."""
    made = NOW - timedelta(days=days, minutes=len(title))
    bare = Solution(
        id=solution_id(made, title + body),
        title=title,
        category="bugs",
        body=body,
        project=PROJECT,
        created=made,
        sources=(Source(f"claude-code:{days}-{title}"),),
    )
    whole = replace(bare, **fields)  # type: ignore[arg-type]
    whole = replace(whole, path=path_for(whole))
    place = world.root / whole.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(render_solution(whole))
    os.utime(place, (made.timestamp(), made.timestamp()))
    return whole


def notes(report: Report) -> list[tuple[str, str]]:
    return [(note.kind, note.path) for line in report.stages for note in line.notes]


def lost(report: Report) -> int:
    return sum(lessons_lost(line.changes) for line in report.stages if line.stage in COUNTED)


def live(world: World) -> dict[str, Solution]:
    return {solution.id: solution for solution in read_store(world.root).solutions}


RUN = Triggers(commands=("make test-int",))


def test_the_newer_wins_says_so_and_can_be_taken_back(world: World) -> None:
    """The older lies in the archive, the newer live; a second pass plans nothing; undo restores every byte."""
    old = put(world, 9, "Staging listens on 5432", "The staging database listens on port 5432.\n", triggers=RUN)
    new = put(world, 2, "Staging listens on 5433", "The staging database listens on port 5433.\n", triggers=RUN)
    before = {path: path.read_bytes() for path in (world.root / "solutions").rglob("*.md")}
    mtime = (world.root / new.path).stat().st_mtime_ns
    report = run_stage(world, "consolidate")
    assert ("superseded", new.path) in notes(report)
    assert live(world).keys() == {new.id}
    assert live(world)[new.id].supersedes == (old.id,)
    assert (world.root / new.path).stat().st_mtime_ns == mtime
    assert run_stage(world, "consolidate").changed == 0
    undo(world, report.run)
    assert {path: path.read_bytes() for path in (world.root / "solutions").rglob("*.md")} == before


def test_what_time_does_not_settle_is_shown_with_its_words(world: World) -> None:
    """What is said of one port and of another may both be true, whichever is newer."""
    put(world, 9, "Which port needs what", "Port 5432 of the staging database needs TLS.\n", triggers=RUN)
    put(world, 2, "Which port needs what", "Port 5433 of the staging database needs TLS.\n", triggers=RUN)
    report = run_stage(world, "consolidate")
    assert report.changed == 0
    text = next(note.text for line in report.stages for note in line.notes if note.kind == "conflict")
    assert '"5432" against "5433"' in text or '"5433" against "5432"' in text
    assert "left to you" in text
    assert len(live(world)) == 2


STALE = {
    "Feature flags live in Redis": "The flags of the old shop are read once at start, so restart it after a change.",
    "Invoices round half up": "A sum that ends in half a cent goes up, which the tax office wants.",
    "Maps tiles are cached for a week": "Purge the edge by hand when a tile is wrong.",
    "The mobile client pins certificates": "Ship the new pin two releases before the old one expires.",
}
COPIED = {
    "Lock wait in billing": "When `billctl` fails with E1177, another run has the lock: wait for its end, then run it.",
    "Empty thumbnails": "Thumbnails are empty when `magickd` lacks fonts, so add `fonts-dejavu` to its image.",
    "Slow login on Mondays": "The session table is vacuumed then and logins wait; move it to `02:00` on Sundays.",
    "Broken emails in tests": "Emails in tests go to `mailpit` on 1025, and are lost silently where it does not run.",
}
REPLACED = {
    "The cart service needs Node {}.": (18, 20, "npm run cart"),
    "Uploads are bound to {} MB.": (20, 50, "make upload"),
    "The search index defaults to {} shards.": (3, 5, "make reindex"),
    "The payment worker waits for {} s.": (30, 90, "make pay"),
}


def crowded(world: World) -> None:
    """A store in which every stage has more to take than it may: 4 stale, 4 copies, 4 replaced of 20 live."""
    for number, (title, body) in enumerate(STALE.items()):
        put(world, 200 + number, title, body + "\n")
    for number, (title, body) in enumerate(COPIED.items()):
        put(world, 12 + number, title, body + "\n")
        put(world, 5 + number, title, body + " It was seen again.\n")
    for text, (old, new, command) in REPLACED.items():
        for day, value in ((9, old), (3, new)):
            put(world, day, text.format(value), "Say it in the ticket.\n", triggers=Triggers(commands=(command,)))


def test_all_stages_of_a_pass_share_one_budget(world: World) -> None:
    """Three at least may go; decay takes them, and dedup and supersession wait and say so, in a dry run too."""
    crowded(world)
    whole = len(live(world))
    before = tree_digest(world.root)
    dry = curate(world, dry_run=True)
    assert tree_digest(world.root) == before
    report = curate(world)
    for each in (dry, report):
        assert lost(each) == 3
        assert [line.stage for line in each.stages for note in line.notes if note.kind == "budget"] == [
            "decay",
            "dedup",
            "newer",
        ]
    assert len(live(world)) == whole - 3
    text = next(note.text for line in report.stages for note in line.notes if note.kind == "budget")
    assert "hotwash decay --approve" in text


def test_no_row_of_passes_takes_more_than_a_quarter_of_the_store(world: World) -> None:
    """Week after week, whichever stage it is: within 91 days a quarter at most, then all of it waits."""
    crowded(world)
    whole = len(live(world))
    taken = [lost(curate(replace(world, now=NOW + timedelta(days=7 * week)))) for week in range(9)]
    assert sum(taken) == whole // 4
    assert max(taken) <= 3
    assert taken[-1] == 0


def test_a_person_lets_go_what_waits(world: World) -> None:
    """--approve takes all that the stage plans, and uses up nothing of what later passes may take."""
    crowded(world)
    dry = run_stage(world, "decay", dry_run=True, approved=True)
    assert lost(dry) == 4
    assert lost(run_stage(world, "decay", approved=True)) == 4
    assert lost(run_stage(world, "dedup")) == 3


def test_a_budget_of_nothing_takes_nothing(world: World) -> None:
    """The setting holds for every stage."""
    crowded(world)
    none = replace(Settings(), decay=DecaySettings(budget_per_pass=0.0, budget_per_quarter=0.0, budget_least=0))
    assert lost(curate(replace(world, settings=none))) == 0


ERROR = "E4417: cannot bind to 0.0.0.0:8443"


def said_twice(world: World, number: int) -> tuple[Solution, Solution]:
    """One lesson in two wordings, from two sessions."""
    fires = Triggers(errors=(f"{ERROR} in svc-{number}",))
    fix = f"`fuser -k 84{number}3/tcp`"
    return (
        put(world, 9, f"Port of svc-{number} is taken", f"It stops with {ERROR}. Run {fix} first.\n", triggers=fires),
        put(world, 4, f"The port of svc-{number} is taken", f"- {fix} frees it.\n- Seen as {ERROR}.\n", triggers=fires),
    )


def with_model(world: World, server: ModelServer, **decay: float) -> World:
    settings = Settings(model=ModelSettings(name="openai/m", api_base=server.base), decay=DecaySettings(**decay))  # type: ignore[arg-type]
    return replace(world, settings=settings)


def test_a_pass_asks_about_what_changed_and_never_about_the_store(world: World) -> None:
    """Nothing changed, nothing asked; a new pair costs one question as long as it was in an empty store."""
    with serve_model(answer('{"bullets": []}')) as server:
        asking = with_model(world, server)
        said_twice(world, 1)
        run_stage(asking, "consolidate")
        assert len(server.bodies) == 1
        run_stage(asking, "consolidate")
        assert len(server.bodies) == 1
        for number in range(40):
            put(
                world, 3, f"On part {number * 31}", f"Part {number * 31} of the plant rusts after {number * 17} days.\n"
            )
        said_twice(world, 2)
        run_stage(asking, "consolidate")
        assert len(server.bodies) == 2
        assert abs(len(server.bodies[1]) - len(server.bodies[0])) < 40


def test_what_waits_for_a_person_is_asked_about_once(world: World) -> None:
    """A merge over the budget is planned in each pass, and the answer of the first is used; an edit asks anew."""
    with serve_model(answer('{"bullets": []}')) as server:
        asking = with_model(world, server, budget_per_pass=0.0, budget_per_quarter=0.0, budget_least=0)
        one, _ = said_twice(world, 1)
        said_twice(world, 2)
        for _ in range(3):
            assert lost(run_stage(asking, "consolidate")) == 0
        assert len(server.bodies) == 2
        text = (world.root / one.path).read_text()
        (world.root / one.path).write_text(text.replace("first.", "before that."))
        run_stage(asking, "consolidate")
        assert len(server.bodies) == 3
        (world.root / ".cache" / "answers.json").write_text("{")
        run_stage(asking, "consolidate")
        assert len(server.bodies) == 5


def test_the_listing_is_written_where_it_or_the_lessons_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made by hand, taken away, out of date or rendered in another way it is made anew; else nobody renders it."""
    lessons = [put(world, day, f"Lesson {day}", "One fact.\n") for day in (3, 5)]
    solutions = read_store(world.root).solutions
    place, key = world.root / INDEX_FILE, world.root / ".cache/recall.index-key"
    write_listing(world.root, key, solutions)
    assert place.read_text() == render_index(solutions)
    stamp = place.stat().st_ino
    write_listing(world.root, key, solutions)
    assert place.stat().st_ino == stamp
    for damage in (lambda: place.write_text("nonsense"), place.unlink, key.unlink, lambda: key.write_text("x y")):
        damage()
        write_listing(world.root, key, solutions)
        assert place.read_text() == render_index(solutions)
    (world.root / lessons[0].path).unlink()
    write_listing(world.root, key, read_store(world.root).solutions)
    assert place.read_text() == render_index(read_store(world.root).solutions)
    write_listing(world.root, key, ())
    assert place.read_text() == render_index(())
    monkeypatch.setattr("flows.stages.render_index", lambda solutions: f"new {len(list(solutions))}")
    write_listing(world.root, key, solutions)
    assert place.read_text() == "new 2"


def test_a_pass_that_changes_nothing_makes_nothing_anew(world: World) -> None:
    """Neither the listing, nor the recall cache, nor the snapshot is another file after a second weekly pass."""
    put(world, 3, "A fact", "It is so.\n")
    curate(world)
    curate(world)
    kept = [".index.yaml", ".cache/recall.db", ".cache/snapshot.json", "snapshots/hotwash-2026-11-30.tar.gz"]
    before = [(world.root / name).stat().st_ino for name in kept]
    curate(replace(world, now=NOW + timedelta(minutes=5)))
    assert [(world.root / name).stat().st_ino for name in kept] == before
