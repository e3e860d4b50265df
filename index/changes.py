"""Changes, plans, and the one place that writes memory: apply, journal, recover, undo.

A plan lands in three steps: every change of the stage goes into `journal/<run>.jsonl` with the bytes it replaces
(fsync), then the files are written one by one (temporary file, fsync, rename), then the journal says the stage is
done. A process that dies in between is rolled back by `recover` before the next run plans anything, so a store is
always as it was before a stage or as it is after it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock

from index.errors import StoreError, StoreLocked, UndoRefused
from index.frontmatter import parse_solution
from index.records import Problem, Solution
from index.store import JOURNAL, SOLUTIONS, Store

LOCK_SECONDS = 60.0
TEMPORARY = ".hotwash-tmp"
ROLLED_BACK = " rolled back"


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


@dataclass(slots=True)
class JournalStage:
    """One stage as the journal has it; `changes` are the raw lines."""

    name: str
    expected: int
    changes: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False


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


def read_bytes(path: Path) -> bytes | None:
    """A file's bytes, or None where there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def temporary(path: Path) -> Path:
    """The name under which a file is written before it takes its place; one per path, so that recovery finds it."""
    # A name may have 255 bytes: a long one is told by its hash.
    name = path.name if len(path.name.encode()) < 200 else hashlib.sha256(path.name.encode()).hexdigest()
    return path.with_name(f".{name}{TEMPORARY}")


def write_atomic(path: Path, content: bytes, mtime_ns: int | None = None) -> None:
    """Write a file so that a reader or a crash sees the old bytes or the new ones, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = temporary(path)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(descriptor, path.stat().st_mode & 0o777)
        os.fsync(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            place.unlink()
        raise
    finally:
        os.close(descriptor)
    if mtime_ns is not None:
        os.utime(place, ns=(mtime_ns, mtime_ns))
    place.replace(path)


def write_derived(path: Path, content: bytes) -> bool:
    """Write a derived file only where its bytes differ; true if it was written."""
    if read_bytes(path) == content:
        return False
    write_atomic(path, content)
    _sync_folder(path.parent)
    return True


@contextlib.contextmanager
def store_lock(root: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the store's one writer's lock; raises StoreLocked after `seconds`. Readers need no lock."""
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root}: is a file, and no folder. Name another store with --store.")
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with filelock.FileLock(root / ".lock", timeout=seconds, mode=0o600):
            yield
    except filelock.Timeout as error:
        raise StoreLocked(str(root), seconds) from error


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _encode(content: bytes | None) -> object:
    if content is None:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def _decode(kept: object) -> bytes | None:
    if isinstance(kept, dict):
        return base64.b64decode(kept["base64"])
    return None if kept is None else str(kept).encode("utf-8")


def _mtime(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _append(journal: Path, lines: Sequence[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    new = not journal.exists()
    journal.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    size = os.fstat(descriptor).st_size
    try:
        view = memoryview(text.encode("utf-8", "surrogatepass"))
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    except BaseException:
        # A full disk: half a line must not run into the next one.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
    finally:
        os.close(descriptor)
    if new:
        _sync_folder(journal.parent)


def journal_path(root: Path, run_id: str) -> Path:
    """The journal of a run."""
    return root / JOURNAL / f"{run_id}.jsonl"


def read_journal(path: Path) -> tuple[dict[str, Any], list[JournalStage], dict[str, Any] | None]:
    """(first line, stages, last line or None when the run did not end); a cut last line is left out."""
    head: dict[str, Any] = {}
    stages: list[JournalStage] = []
    end: dict[str, Any] | None = None
    # A reader holds no lock: a run that changed nothing takes its journal away again meanwhile.
    for raw in (read_bytes(path) or b"").split(b"\n"):
        line = _parse_line(raw)
        if line is None:
            continue
        if "run" in line:
            head = line
        elif "stage" in line:
            stages.append(JournalStage(line["stage"], line["changes"]))
        elif "path" in line and stages:
            stages[-1].changes.append(line)
        elif "done" in line and stages:
            stages[-1].done = True
        elif "end" in line:
            end = line
    return head, stages, end


# The fields of a journal's lines that are read, and what they are.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "run": str,
    "undoes": str,
    "stage": str,
    "changes": int,
    "path": str,
    "why": str,
    "before": (str, type(None)),
    "after": (str, type(None)),
    "was": (str, dict, type(None)),
    "mtime": (int, type(None)),
    "end": str,
}
_BELONGS = {"stage": ("changes",), "path": ("why", "before", "after", "was", "mtime")}


def _parse_line(raw: bytes) -> dict[str, Any] | None:
    """One line of a journal, or None where it is none: cut, damaged, or of another make."""
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(line, dict) or any(not isinstance(line[k], kind) for k, kind in _FIELDS.items() if k in line):
        return None
    missing = [name for key, names in _BELONGS.items() if key in line for name in names if name not in line]
    return None if missing else line


def _is_damaged(journal: Path) -> bool:
    """Whether a line of a journal cannot be read that is not the last, which a kill may have cut."""
    lines = journal.read_bytes().rstrip(b"\n").split(b"\n")
    return any(_parse_line(line) is None for line in lines[:-1]) or not (lines[-1].startswith(b"{") or lines == [b""])


def _inside(root: Path, path: str) -> Path:
    """The place of a change; refuses one that a symbolic link leads out of the store."""
    place = root / path
    if Path(path).is_absolute():
        return place
    parent = place.parent.resolve()
    if not parent.is_relative_to(root.resolve()):
        raise StoreError(f"{path}: leads out of the store through a symbolic link; nothing was written there.")
    return place


def _refuse(plan: Plan, root: Path) -> tuple[list[Change], list[tuple[str, str]]]:
    """The changes whose files are still what the plan read, and the rest with the reason."""
    refused: list[tuple[str, str]] = []
    stale_units: set[str] = set()
    for change in plan.changes:
        reason = ""
        try:
            if read_bytes(_inside(root, change.path)) != change.before:
                reason = "changed since it was read"
        except (StoreError, OSError) as error:
            reason = str(error)
        if reason:
            refused.append((change.path, reason))
            stale_units.add(change.unit or change.path)
    fresh = [change for change in plan.changes if (change.unit or change.path) not in stale_units]
    known = {path for path, _ in refused}
    refused += [
        (change.path, "belongs to a change that was refused")
        for change in plan.changes
        if (change.unit or change.path) in stale_units and change.path not in known
    ]
    return fresh, refused


def _land(change: Change, root: Path) -> None:
    place = _inside(root, change.path)
    if change.after is not None:
        write_atomic(place, change.after, change.mtime_ns)
        return
    with contextlib.suppress(FileNotFoundError):
        place.unlink()
    folder = place.parent
    # A folder that a move has emptied goes too; the store's own stay, as people and agents drop files into the inbox.
    with contextlib.suppress(OSError):
        if root.resolve() not in (folder.resolve(), folder.parent.resolve()):
            folder.rmdir()


def advance(store: Store, plan: Plan) -> Store:
    """The store as it is once a plan has landed, in memory: how a dry run sees what its next stage would see."""
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


def start_run(root: Path, run: Run, started: str) -> None:
    """Open the run's journal. Called under the store's lock, before the first plan is applied."""
    _append(journal_path(root, run.id), [{"run": run.id, "command": run.command, "undoes": run.undoes, "at": started}])


def end_run(root: Path, run: Run, ended: str, counts: dict[str, int]) -> None:
    """Close the run's journal; a run that changed nothing leaves none.

    One with a stage that could not even be rolled back (a full disk) stays open: the next run rolls it back.
    """
    journal = journal_path(root, run.id)
    _, stages, _ = read_journal(journal)
    if _half_done(stages):
        return
    if any(stage.changes for stage in stages):
        _append(journal, [{"end": ended, "counts": counts}])
    else:
        journal.unlink()


def apply(plan: Plan, root: Path, run: Run) -> Applied:
    """Write every change of a plan, or put back what was written and raise. The caller holds the store's lock.

    A file that is no longer what the plan read is left alone, with the changes that belong to it, and named in the
    answer; the rest goes on.
    """
    fresh, refused = _refuse(plan, root)
    if not fresh:
        return Applied((), tuple(refused))
    journal = journal_path(root, run.id)
    lines: list[dict[str, Any]] = [{"stage": plan.stage, "changes": len(fresh)}]
    lines += [
        {
            "path": change.path,
            "why": change.why,
            "before": digest(change.before),
            "after": digest(change.after),
            "was": _encode(change.before if change.kept is None else change.kept),
            "mtime": _mtime(root / change.path),
        }
        for change in fresh
    ]
    _append(journal, lines)
    try:
        for change in fresh:
            _land(change, root)
        for folder in sorted({(root / change.path).parent for change in fresh}):
            _sync_folder(folder)
    except BaseException:
        _roll_back(JournalStage(plan.stage, len(fresh), lines[1:]), root)
        _append(journal, [{"stage": f"{plan.stage}{ROLLED_BACK}", "changes": 0}, {"done": plan.stage}])
        raise
    _append(journal, [{"done": plan.stage}])
    return Applied(tuple(fresh), tuple(refused))


def _roll_back(stage: JournalStage, root: Path) -> list[str]:
    """Put back what a stage had written; names the files that someone else has changed since, which stay."""
    kept: list[str] = []
    for line in reversed(stage.changes):
        place = root / line["path"]
        with contextlib.suppress(OSError):
            temporary(place).unlink()
        now = digest(read_bytes(place))
        if now == line["before"]:
            continue
        if now != line["after"]:
            kept.append(line["path"])
            continue
        _land(Change(line["path"], None, _decode(line["was"]), "", "", line["mtime"]), root)
    return kept


def _half_done(stages: Sequence[JournalStage]) -> list[JournalStage]:
    """The stages that were begun and neither ended nor rolled back.

    Where there are fewer lines than were announced the journal itself was cut, so no file was touched yet.
    """
    following = [*(stage.name for stage in stages[1:]), ""]
    return [
        stage
        for stage, after in zip(stages, following, strict=False)
        if not stage.done and len(stage.changes) >= stage.expected > 0 and after != f"{stage.name}{ROLLED_BACK}"
    ]


def sweep_temporaries(root: Path) -> None:
    """Take away the temporary files that a killed process left; the caller holds the lock, so they are nobody's."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(".") and name.endswith(TEMPORARY):
                with contextlib.suppress(OSError):
                    (Path(folder) / name).unlink()


def recover(root: Path, now: str) -> tuple[Note, ...]:
    """Roll back what a killed run left half done; the caller holds the lock. Says what it did."""
    notes: list[Note] = []
    killed = [path for path in sorted((root / JOURNAL).glob("*.jsonl")) if not journal_ended(path)]
    if killed:
        sweep_temporaries(root)
    for journal in killed:
        if _is_damaged(journal):
            # What it says can't be trusted, and must not be lost: it is set aside for a person to look at.
            aside = journal.with_suffix(".damaged")
            journal.replace(aside)
            notes.append(
                Note("damaged", f"{JOURNAL}/{aside.name}", "holds lines that cannot be read; it was set aside.")
            )
            continue
        _, stages, end = read_journal(journal)
        if end is not None:
            continue
        for stage in _half_done(stages):
            kept = _roll_back(stage, root)
            notes.append(Note("recovered", journal.stem, f"{stage.name} had been interrupted; it was rolled back."))
            notes += [Note("kept", path, "edited since the interruption; left as it is.") for path in kept]
        finished = [stage for stage in stages if stage.done and stage.changes]
        if finished:
            rewrite = [line for line in journal.read_bytes().split(b"\n") if line]
            write_atomic(journal, b"\n".join(_finished_lines(rewrite)) + b"\n")
            _append(journal, [{"end": now, "counts": {}, "interrupted": True}])
        else:
            journal.unlink()
    return tuple(notes)


def _finished_lines(lines: Sequence[bytes]) -> Iterator[bytes]:
    """The journal's lines without those of a stage that did not finish."""
    pending: list[bytes] = []
    for line in lines:
        parsed = _parse_line(line)
        if parsed is None:
            continue
        if "run" in parsed:
            yield line
        elif "done" in parsed:
            yield from (*pending, line)
            pending = []
        elif "stage" in parsed:
            pending = [line]
        else:
            pending.append(line)


def journal_ended(path: Path) -> bool:
    """True if the journal's last line says that the run ended; reads only the tail."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(max(0, size - 4096))
        tail = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    return tail.startswith(b'{"end"') and tail.endswith(b"}")


def read_runs(root: Path) -> list[dict[str, Any]]:
    """Every run the journal has, oldest first: its head, the changes of each stage, and which run undid it."""
    runs: list[dict[str, Any]] = []
    for journal in sorted((root / JOURNAL).glob("*.jsonl")):
        head, stages, end = read_journal(journal)
        if not head:
            continue
        changes: Counter[str] = Counter()
        for stage in stages:
            changes[stage.name] += len(stage.changes)
        runs.append({**head, "stages": dict(+changes), "ended": (end or {}).get("end", ""), "undone_by": ""})
    undone = {run["undoes"]: run["run"] for run in runs if run.get("undoes")}
    return [{**run, "undone_by": undone.get(run.get("run", ""), "")} for run in runs]


def plan_undo(root: Path, run_id: str) -> Plan:
    """The inverse of everything a run did; raises UndoRefused where a file is no longer what the run left.

    Several stages may have touched one file: its first bytes come back. A file that is back already is left alone.
    """
    journal = journal_path(root, run_id)
    if not journal.is_file():
        known = ", ".join([run["run"] for run in read_runs(root) if run["stages"]][-5:]) or "none"
        raise UndoRefused(f"There is no run {run_id}. The last ones: {known}.")
    _, stages, _ = read_journal(journal)
    if any(line.get("forgotten") for stage in stages for line in stage.changes):
        raise UndoRefused(
            f"Run {run_id} can't be undone: part of what it did was forgotten on purpose, nothing is kept."
        )
    first: dict[str, dict[str, Any]] = {}
    last: dict[str, str | None] = {}
    for line in (line for stage in stages if stage.done for line in stage.changes):
        first.setdefault(line["path"], line)
        last[line["path"]] = line["after"]
    changes: list[Change] = []
    hanging: list[str] = []
    for path, line in first.items():
        now = read_bytes(root / path)
        found = digest(now)
        touched = found == last[path] and _mtime(root / path) != line["mtime"]
        if found == line["before"] and not touched:
            continue  # it is back already: the run was undone before, or its undoing was killed at the end
        if found != last[path]:
            hanging.append(path)
        else:
            why = f"undo {run_id}: {line['why']}"
            changes.append(Change(path, now, _decode(line["was"]), why, "undo", line["mtime"]))
    if hanging:
        later = [
            run["run"]
            for run in read_runs(root)
            if run.get("run", "") > run_id and _touches(journal_path(root, run["run"]), set(hanging))
        ]
        hint = f"Undo {', '.join(reversed(later))} first." if later else "They were edited by hand; a hand edit stays."
        raise UndoRefused(f"Run {run_id} can't be undone: {', '.join(sorted(hanging))} changed since. {hint}")
    return Plan("undo", tuple(changes))


def _touches(journal: Path, paths: set[str]) -> bool:
    _, stages, _ = read_journal(journal)
    return any(line["path"] in paths for stage in stages for line in stage.changes)
