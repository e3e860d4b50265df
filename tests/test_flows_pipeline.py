"""The chains over a whole store: exactly once, delta only, hand edits win, everything can be taken back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curate.snapshot import tree_digest
from flows import ingest as ingest_module
from flows.context import World
from flows.pipeline import curate, daily, session_end, undo
from flows.report import Report
from index.journal import read_runs
from index.records import Session
from index.settings import ReflectSettings, Settings
from index.store import read_store
from reflect.transcripts import codex, registry

EXAMPLES = Path(__file__).parents[1] / "examples"
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home with the example sessions in the agents' own places, and an empty store."""
    home = tmp_path / "home"
    shutil.copytree(EXAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    shutil.copytree(EXAMPLES / "codex" / "sessions", home / ".codex" / "sessions")
    (tmp_path / "store" / "inbox").mkdir(parents=True)
    return World(tmp_path / "store", Settings(), NOW, home, {"HOME": str(home)})


def contents(root: Path) -> dict[str, bytes]:
    """The store's files but journal, cache and lock."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[0] not in (".cache", "journal", ".lock", "snapshots")
    }


def lessons(report: Report) -> set[str]:
    """The ids of the lessons that a run wrote."""
    return {solution.id for solution, _ in report.solutions}


def test_the_examples_teach_and_a_second_run_adds_nothing(world: World) -> None:
    """The first run reads every session, the second finds them all unchanged and writes nothing."""
    first = session_end(world)
    assert first.counts()["read"] >= 10
    assert first.counts()["failed"] == 0
    assert len(lessons(first)) >= 5
    before = contents(world.root)
    times = {path: path.stat().st_mtime_ns for path in world.root.rglob("*.md")}
    second = session_end(world)
    assert (second.counts()["written"], second.counts()["read"]) == (0, 0)
    assert contents(world.root) == before
    assert {path: path.stat().st_mtime_ns for path in world.root.rglob("*.md")} == times


def test_reading_everything_again_gives_nothing_new(world: World) -> None:
    """With all progress lost, the ids are the same and no lesson is written twice."""
    first = session_end(world)
    shutil.rmtree(world.root / "spool" / "read")
    shutil.rmtree(world.root / ".cache")
    again = session_end(world)
    assert again.counts()["read"] == first.counts()["read"]
    assert lessons(again) == set()


def test_a_dry_run_shows_the_same_and_writes_nothing(world: World) -> None:
    """Not a byte changes, and what is shown is what the real run then does."""
    before = contents(world.root)
    shown = session_end(world, dry_run=True)
    assert contents(world.root) == before
    done = session_end(world)
    assert lessons(shown) == lessons(done)
    assert [c.path for s in shown.stages for c in s.changes] == [c.path for s in done.stages for c in s.changes]
    plan = curate(world, dry_run=True)
    before = contents(world.root)
    assert contents(world.root) == before
    applied = curate(world)
    assert [c.path for s in plan.stages for c in s.changes] == [c.path for s in applied.stages for c in s.changes]


def test_undoing_every_run_gives_back_the_first_store(world: World) -> None:
    """Ingest and curate leave nothing behind once they are undone."""
    shutil.copy(EXAMPLES / "inbox" / "read-replica-lag.md", world.root / "inbox")
    before = contents(world.root)
    session_end(world)
    curate(world)
    for run in reversed(read_runs(world.root)):
        undo(world, run["run"])
    after = contents(world.root)
    after.pop(".index.yaml")
    assert after == before


def test_a_second_pass_plans_nothing(world: World) -> None:
    """What the weekly pass has done it does not do again."""
    session_end(world)
    curate(world)
    before = tree_digest(world.root)
    assert curate(world).changed == 0
    assert daily(world).changed == 0
    assert tree_digest(world.root) == before


def test_a_hand_edit_between_two_runs_stays(world: World) -> None:
    """Edited text, an edited header and a deleted lesson are the person's; no run brings them back or changes them."""
    session_end(world)
    curate(world)  # what several sessions taught alike is merged: of those left, each stands for itself
    first, second, third, *_ = sorted((world.root / "solutions").rglob("*.md"))
    first.write_text(first.read_text() + "\nMy own remark.\n")
    second.write_text(second.read_text().replace("priority: 0", "priority: 1"))
    third.unlink()
    edited = {first: first.read_bytes(), second: second.read_bytes()}
    session_end(world)
    curate(world)
    assert {path: path.read_bytes() for path in edited} == edited
    assert not third.exists()


def test_a_remark_on_a_lesson_that_is_merged_is_kept(world: World) -> None:
    """Whichever lesson a person wrote on, the weekly pass leaves the remark in a lesson, live or archived."""
    session_end(world)
    remarks = {}
    for number, path in enumerate(sorted((world.root / "solutions").rglob("*.md"))):
        remarks[path] = f"My own remark {number}."
        path.write_text(f"{path.read_text()}\n{remarks[path]}\n")
    curate(world)
    texts = [text.decode() for name, text in contents(world.root).items() if name.endswith(".md")]
    assert [remark for remark in remarks.values() if not any(remark in text for text in texts)] == []


TRANSCRIPTS = sorted(
    path for path in EXAMPLES.glob("*/*/**/*.jsonl") if path.parts[-2] != "subagents" and "inbox" not in path.parts
)


def taught(world: World, root: Path, place: Path, parts: Sequence[bytes]) -> dict[str, bytes]:
    """The live lessons of a new store, file by file, after the transcript was read at each of its stages."""
    shutil.rmtree(root, ignore_errors=True)
    for part in parts:
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(part)
        session_end(replace(world, root=root), [place])
    return {name: body for name, body in contents(root).items() if name.startswith("solutions/")}


def assert_parts_teach_what_the_whole_does(
    world: World, tmp_path: Path, transcript: Path, cuts: Collection[int]
) -> None:
    """Read at each cut and then at its end, a transcript leaves the lessons of one reading: ids, names and bytes."""
    raw, place = transcript.read_bytes(), tmp_path / "grown" / transcript.name
    whole = taught(world, tmp_path / "whole", place, [raw])
    assert taught(world, tmp_path / "parts", place, [*(raw[:cut] for cut in sorted(cuts)), raw]) == whole


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_session_read_in_parts_teaches_what_the_whole_does(world: World, tmp_path: Path, data: st.DataObject) -> None:
    """Whatever the place where it was cut, in the middle of a line too."""
    transcript = data.draw(st.sampled_from(TRANSCRIPTS))
    size = transcript.stat().st_size
    cuts = data.draw(st.sets(st.integers(1, size - 1), min_size=1, max_size=2))
    assert_parts_teach_what_the_whole_does(world, tmp_path, transcript, cuts)


@pytest.mark.nightly
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem[:40])
def test_a_session_cut_after_any_line_teaches_what_the_whole_does(
    world: World, tmp_path: Path, transcript: Path
) -> None:
    """Every line end, one after the other."""
    raw = transcript.read_bytes()
    for cut in (at + 1 for at, byte in enumerate(raw[:-1]) if byte == 10):
        assert_parts_teach_what_the_whole_does(world, tmp_path, transcript, [cut])


@pytest.fixture
def limit(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session in which a program was missing four times, with what came after."""

    def write(*later: tuple[str, str, bool]) -> Path:
        steps = [
            *(("terraform plan -out tf.plan", "/bin/bash: line 1: terraform: command not found", True),) * 4,
            *later,
        ]
        records: list[dict[str, object]] = [{"type": "user", "message": {"content": "Plan the infrastructure."}}]
        for number, (command, output, failed) in enumerate(steps):
            use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": failed}
            records.append({"type": "assistant", "message": {"id": f"m{number}", "content": [use]}})
            records.append({"type": "user", "message": {"content": [result]}})
        path = tmp_path / "limit" / "5b0f5cbe-2d7f-4f7a-9be1-6f2f4a1b7c01.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "".join(
                json.dumps(
                    {
                        "uuid": f"u{at}",
                        "parentUuid": f"u{at - 1}" if at else None,
                        "sessionId": path.stem,
                        "cwd": "/home/mika/code/infra",
                        "timestamp": f"2026-11-20T10:{at:02}:00Z",
                        **record,
                    }
                )
                + "\n"
                for at, record in enumerate(records)
            )
        )
        return path

    return write


SOLVED = (
    ("mise install terraform", "terraform 1.9.8 installed", False),
    ("mise exec terraform -- terraform plan -out tf.plan", "Plan: 2 to add", False),
    ("mise exec terraform -- terraform plan -out tf.plan", "Plan: 2 to add", False),
)


def test_a_limit_that_is_solved_later_is_no_limit(world: World, limit: Callable[..., Path]) -> None:
    """The lesson that nothing helped goes to the archive when the session goes on and something does."""
    session_end(world, [limit()])
    (open_limit,) = read_store(world.root).solutions
    session_end(world, [limit(*SOLVED)])
    live = {solution.id: solution for solution in read_store(world.root).solutions}
    assert live
    assert not any("No way round" in solution.body for solution in live.values())
    archived = read_store(world.root, "archive").solutions
    assert [one.id for one in archived] == ([] if open_limit.id in live else [open_limit.id])
    again = session_end(world, [limit(*SOLVED)])
    assert all(change.path.startswith("spool/") for stage in again.stages for change in stage.changes)


def test_a_lesson_that_a_person_changed_is_left_when_its_session_goes_on(
    world: World, limit: Callable[..., Path]
) -> None:
    """Edited, it stays as it is; taken out, it does not come back."""
    session_end(world, [limit()])
    (path,) = (world.root / "solutions").rglob("*.md")
    path.write_text(path.read_text() + "\nOn the build machine only.\n")
    mine = path.read_bytes()
    session_end(world, [limit(*SOLVED)])
    assert path.read_bytes() == mine


def test_a_lesson_that_a_person_took_out_stays_out_when_its_session_goes_on(
    world: World, limit: Callable[..., Path]
) -> None:
    """Its id is remembered as given."""
    session_end(world, [limit()])
    (path,) = (world.root / "solutions").rglob("*.md")
    path.unlink()
    session_end(world, [limit(("ls", "main.tf", False))])
    assert not list((world.root / "solutions").rglob("*.md"))


def test_a_running_session_is_read_on_and_concluded_once_it_is_over(
    world: World, limit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it goes on only its new lines are read; when it is over the whole of it is, and teaches."""
    marks: list[object] = []
    real: Callable[..., Iterator[Session]] = registry.read_sessions

    def read(path: Path, mark: object = None) -> Iterator[Session]:
        marks.append(mark)
        return real(path, mark)

    monkeypatch.setattr(ingest_module, "read_sessions", read)
    place = world.home / ".claude" / "projects" / "-infra" / limit().name
    shutil.rmtree(world.home / ".claude" / "projects")
    shutil.rmtree(world.home / ".codex")
    place.parent.mkdir(parents=True)
    soon = replace(world, now=datetime(2026, 11, 20, 10, 20, tzinfo=UTC))
    place.write_bytes(limit().read_bytes())
    assert session_end(soon).sessions[0].reason == "still running"
    shutil.copy(limit(*SOLVED), place)
    (line,) = session_end(soon).sessions
    assert (line.reason, line.turns) == ("still running", 3)
    assert marks[0] is None
    assert marks[1] is not None
    (line,) = session_end(world).sessions
    assert (line.status, marks[-1]) == ("read", None)
    assert not any("No way round" in one.body for one in read_store(world.root).solutions)


def test_one_transcript_that_breaks_a_reader_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported, kept as failed with its count, and read when the reader is mended."""
    real: Callable[..., object] = registry.read_sessions
    broken = sorted((world.home / ".claude").rglob("*.jsonl"))[0]

    def read(path: Path, mark: object = None) -> object:
        if path == broken:
            raise RuntimeError("no such luck")
        return real(path, mark)

    monkeypatch.setattr(ingest_module, "read_sessions", read)
    report = session_end(world)
    assert report.failed
    assert report.counts()["failed"] == 1
    assert report.counts()["read"] > 5
    monkeypatch.setattr(ingest_module, "read_sessions", real)
    assert session_end(world).counts()["read"] >= 1
    again = session_end(world)
    assert (again.counts()["read"], again.changed, again.failed) == (0, 0, False)


def test_an_event_is_used_up_and_one_that_leads_nowhere_goes_when_it_is_old(world: World) -> None:
    """The spool is empty after the run that read its sessions; what names nothing is dropped with the reason."""
    transcript = next(
        path for path in sorted((world.home / ".claude").rglob("*.jsonl")) if "subagents" not in path.parts
    )
    spool = world.root / "spool"
    spool.mkdir(exist_ok=True)
    event = {"agent": "claude-code", "moment": "end", "session_id": transcript.stem, "transcript_path": str(transcript)}
    (spool / "1.json").write_text(json.dumps(event))
    (spool / "2.json").write_text("not json")
    (spool / "3.json").write_text(json.dumps({**event, "session_id": "x", "transcript_path": "/gone.jsonl"}))
    report = session_end(world, from_spool=True)
    assert [line.key for line in report.sessions] == [f"claude-code:{transcript.stem}"]
    assert sorted(path.name for path in spool.glob("*.json")) == ["3.json"]


def test_a_project_that_is_switched_off_leaves_nothing(world: World) -> None:
    """Neither lesson nor episode, and it is said why."""
    off = Settings(reflect=ReflectSettings(projects_off=("/home/mika/code/shop",)))
    report = session_end(replace(world, settings=off))
    assert not any("shop" in solution.project for solution, _ in report.solutions)
    assert any(line.reason == "its project is switched off" for line in report.sessions)


def test_failures_in_a_row_are_counted_for_the_next_session_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that the hook reads goes up with each failed run, and goes with the first that is well."""

    def broken(path: Path, mark: object = None) -> object:
        raise RuntimeError("no such luck")

    with monkeypatch.context() as patch:
        patch.setattr(ingest_module, "read_sessions", broken)
        for wanted in ("1", "2"):
            session_end(world)
            assert (world.root / "spool" / "run-failures").read_text().strip() == wanted
    session_end(world)
    assert not (world.root / "spool" / "run-failures").exists()


def test_a_session_that_lies_in_two_files_is_read_once_in_each(world: World) -> None:
    """A copy in another folder gives nothing new, and no later run reads either again."""
    transcript = next((world.home / ".claude").rglob("255882bf*.jsonl"))
    copy = world.home / ".claude" / "projects" / "-a-b" / transcript.name
    copy.parent.mkdir()
    shutil.copy(transcript, copy)
    session_end(world)
    for _ in range(2):
        again = session_end(world)
        assert (again.counts()["read"], again.changed) == (0, 0)


def test_a_packed_session_is_read_once_its_library_is_there(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then each run says what to install; afterwards it is read, once."""
    plain = next((world.home / ".codex").rglob("*.jsonl"))
    packed = plain.with_name(f"{plain.name}.zst")
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    plain.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(codex, "find_decompressor", lambda: None)
        for _ in range(2):
            (line,) = session_end(world, [packed]).sessions
            assert line.status == "skipped"
            assert "hotwash[zstd]" in line.problems[0].reason
    (line,) = session_end(world, [packed]).sessions
    assert line.status == "read"
    assert session_end(world, [packed]).counts()["read"] == 0


def test_of_a_database_only_the_sessions_that_went_on_are_concluded_again(world: World, tmp_path: Path) -> None:
    """The others count as unchanged, whatever was written beside them."""
    path = tmp_path / "opencode.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INT, "
        "time_updated INT);"
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, data TEXT);"
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
        "INSERT INTO session VALUES ('ses_1', NULL, '/w/a', '1', 1, 1), ('ses_2', NULL, '/w/b', '1', 2, 2);"
    )

    def say(session: str, name: str) -> None:
        told = (f'{{"type": "text", "text": "{name}"}}', '{"role": "user"}')
        connection.execute("INSERT INTO message VALUES (?, ?, 1, ?)", (name, session, told[1]))
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (name, name, session, told[0]))
        connection.commit()

    say("ses_1", "m1")
    say("ses_2", "m2")
    assert session_end(world, [path]).counts()["read"] == 2
    say("ses_2", "m3")
    report = session_end(world, [path])
    assert [line.key for line in report.sessions] == ["opencode:ses_2"]
    assert report.unchanged == 1
    assert session_end(world, [path]).counts()["read"] == 0
    connection.close()
