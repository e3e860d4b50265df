"""What a run knows of the world: store, settings, clock, home and environment; passed in, never looked up."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from curate.effects import Causes
from curate.neighbours import Read, held_against_store
from curate.tombstones import Tombstones, read_tombstones
from curate.verdicts import (
    Verdicts,
    read_verdicts,
    scan_missing,
    servable,
    text_hash,
    write_verdicts,
)
from detectors.poison.scan import rule_set_version, scan_solution
from flows.project_folders import kept_turns
from flows.report import Report, StageLine
from index.apply import apply, end_run, recover, start_run
from index.changes import Plan, Run, advance
from index.collector import collect_seldom
from index.errors import SettingsError
from index.files import read_bytes, store_lock, sweep_temporaries, temporary, write_derived
from index.recall_db import database_path
from index.records import Solution, Verdict
from index.settings import Settings, read_settings
from index.store import ARCHIVE, QUARANTINE, SOLUTIONS, SPOOL, Store, make_store, read_store, store_root
from reflect.ask import Ask, make_ask
from reflect.budget import Budget

FORGET_INTENT = ".forget"
FAILURES = f"{SPOOL}/run-failures"
UNATTENDED = ("run", "curate", "daily")  # what hooks and schedules start


def user_home(env: Mapping[str, str]) -> Path:
    """The user's home folder; the root folder where there is none, so that nothing is found rather than failing."""
    named = env.get("HOME")
    if named:
        return Path(named)
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


@dataclass(frozen=True, slots=True)
class World:
    """Everything outside the store that a run may depend on."""

    root: Path
    settings: Settings
    now: datetime
    home: Path
    env: Mapping[str, str]
    say: Callable[[str], None] = field(default=lambda text: None)


def recall_database(root: Path, env: Mapping[str, str]) -> Path:
    """Where the recall cache of a store lies. That of a store in a repository lies in the personal store: a repository
    must not be able to bring a cache of its own."""
    shared = root.name == ".hotwash" and (root.parent / ".git").exists()
    return database_path(store_root(None, env) if shared else root, root)


def passes_folder(root: Path, env: Mapping[str, str]) -> Path:
    """Where passes over a store keep what they may lose: beside the recall cache, so that no repository can bring its
    own."""
    place = recall_database(root, env)
    return place.with_name(f"{place.stem}-passes")


def read_lessons(world: World, folder: str, dry_run: bool) -> Store:
    """The lessons of a folder of the store; in a store of one's own with what is kept of their headers."""
    database = recall_database(world.root, world.env)
    own = database.is_relative_to(world.root)
    return read_store(world.root, folder, database.with_name(f"headers-{folder}.json") if own else None, not dry_run)


def read_clock(env: Mapping[str, str]) -> datetime:
    """The time: that of HOTWASH_NOW where it is set (demonstrations and tests), else the machine's."""
    named = env.get("HOTWASH_NOW")
    if not named:
        return datetime.now(UTC)
    try:
        time = datetime.fromisoformat(named)
    except ValueError:
        raise SettingsError(f"HOTWASH_NOW: wanted a time such as 2026-11-28T09:00:00Z, found {named!r}.") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)


def read_world(root: Path, say: Callable[[str], None] | None = None) -> World:
    """The world as this process sees it."""
    env = dict(os.environ)
    return World(
        root,
        read_settings(root, env),
        read_clock(env),
        user_home(env),
        env,
        say or (lambda text: None),
    )


@dataclass(slots=True)
class Pass:
    """One run in progress: the store as it stands after each stage, the verdicts on it, and the report so far.

    `errors` are what failed in the sessions it read, `causes` the lessons by their errors; `same` the pairs of ids
    found to say the same, and how; `retired` is what was read of the archive and the quarantine, for as long as nothing
    moves there; `read` what passes have read of lessons; `scanned` the store as it stood at the last scan.
    """

    world: World
    run: Run
    report: Report
    store: Store
    verdicts: Verdicts
    dry_run: bool = False
    known_before: frozenset[str] = frozenset()
    ask: Ask | None = None
    budget: Budget | None = None
    errors: list[str] = field(default_factory=list)
    causes: Causes = field(default_factory=Causes)
    same: list[tuple[str, str, str]] = field(default_factory=list)
    forgotten: Tombstones = field(default_factory=Tombstones)
    retired: dict[str, Store] = field(default_factory=dict)
    read: Read | None = None
    scanned: Store | None = None

    def land(self, plan: Plan) -> StageLine:
        """Apply a plan, or with a dry run only take it as done; either way the next stage sees its result."""
        if self.dry_run:
            line = StageLine(plan.stage, plan.changes, (), plan.skipped, plan.notes)
            landed = plan
        else:
            applied = apply(plan, self.world.root, self.run)
            line = StageLine(plan.stage, applied.landed, applied.refused, plan.skipped, plan.notes)
            landed = replace(plan, changes=applied.landed)
        self.store = advance(self.store, landed)
        for folder in {change.path.partition("/")[0] for change in landed.changes}:
            self.retired.pop(folder, None)
        self.report.stages.append(line)
        return line

    def scan(self) -> None:
        """Have a verdict on every solution as it stands, alone and against its neighbours.

        Unchanged text is not scanned again; nor held against its neighbours again, unless they raised its verdict. A
        stage that changed no lesson leaves nothing to scan.
        """
        if self.store is self.scanned:
            return
        self.scanned, solutions = self.store, self.store.solutions
        before = self.verdicts
        scanned = scan_missing(solutions, before, self._counted(scan_solution))
        self.verdicts = held_against_store(
            solutions, scanned, lambda: self.below(QUARANTINE), lambda: kept_turns(self.world.root), self._read()
        )
        if not self.dry_run and (self.verdicts != before or not before.by_hash):
            write_verdicts(self.world.root, self.verdicts)

    def _counted(self, scan: Callable[[Solution], Verdict]) -> Callable[[Solution], Verdict]:
        """The scan, telling how far it is."""
        known, solutions, done = self.verdicts.by_hash, self.store.solutions, itertools.count(1)

        @cache
        def missing() -> int:
            return sum(text_hash(one.text) not in known for one in solutions)

        def scan_one(solution: Solution) -> Verdict:
            self.world.say(f"scanning {next(done)} of {missing()}")
            return scan(solution)

        return scan_one

    @property
    def cache(self) -> Path | None:
        """Where a pass keeps what it may lose; a dry run keeps nothing."""
        return None if self.dry_run else passes_folder(self.world.root, self.world.env)

    def _read(self) -> Read:
        """What passes have read of lessons; a dry run takes what is kept, but keeps nothing."""
        if self.read is None:
            self.read = Read(passes_folder(self.world.root, self.world.env), frozen=self.dry_run)
        return self.read

    def below(self, folder: str) -> tuple[Solution, ...]:
        """The solutions of the archive or the quarantine as they lie there."""
        if folder not in self.retired:
            self.retired[folder] = read_lessons(self.world, folder, self.dry_run)
        return self.retired[folder].solutions

    def may_serve(self, solution: Solution) -> bool:
        """Whether a solution may be given to an agent."""
        return servable(solution, self.verdicts)

    def known(self) -> frozenset[str]:
        """The ids of all lessons that the store has, archived and quarantined ones too, and of those not yet landed."""
        every = (*self.store.solutions, *self.below(ARCHIVE), *self.below(QUARANTINE))
        return self.known_before | {solution.id for solution in every}

    def adopted(self) -> frozenset[str]:
        """The hashes of the foreign texts that live lessons were made from."""
        return frozenset(source.sha256 for one in self.store.solutions for source in one.sources if source.sha256)

    @property
    def cleared(self) -> tuple[Solution, ...]:
        """The solutions whose text was scanned clean, external ones too: what may be merged with its like."""
        answers = ((solution, self.verdicts.of(solution)) for solution in self.store.solutions)
        return tuple(solution for solution, verdict in answers if verdict is not None and verdict.answer == "clean")

    @property
    def served(self) -> tuple[Solution, ...]:
        """The solutions that may be given to an agent, merged or promoted."""
        return tuple(solution for solution in self.store.solutions if self.may_serve(solution))


def run_id(now: datetime, command: str) -> str:
    """A run's name: sortable by time, unique where two start in one second."""
    return f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z-{command}-{secrets.token_hex(2)}"


@contextmanager
def open_pass(world: World, command: str, dry_run: bool = False, undoes: str = "") -> Iterator[Pass]:
    """A run under the store's lock: what a killed run left is rolled back first, and the journal is closed at the end.

    A dry run takes no lock and writes nothing.
    """
    run = Run(run_id(datetime.now(UTC), command), command, undoes)
    report = Report(command, run.id, str(world.root), dry_run, model=world.settings.model.name)
    if dry_run:
        with collect_seldom():
            yield _begin(world, run, report, dry_run)
        return
    with store_lock(world.root), collect_seldom():
        make_store(world.root)
        notes = recover(world.root, world.now.isoformat())
        _complete_forgetting(world)
        start_run(world.root, run, world.now.isoformat())
        if notes:
            report.stages.append(StageLine("recover", notes=notes))
        try:
            yield _begin(world, run, report, dry_run)
        except Exception:
            count_failure(world.root, command, failed=True)
            raise
        finally:
            end_run(world.root, run, world.now.isoformat(), report.counts())
            # It holds every text of the store, which a server that lives on must not.
            text_hash.cache_clear()
        count_failure(world.root, command, report.failed)


def count_failure(root: Path, command: str, failed: bool) -> None:
    """Count the runs that failed in a row: the hook tells the user of three at the next session's start.

    What a person asked for counts for nothing: they were told. Where the disk takes no more, the error itself matters.
    """
    if command not in UNATTENDED:
        return
    place = root / FAILURES
    with contextlib.suppress(OSError):
        if failed:
            known = read_bytes(place) or b"0"
            count = int(known) if known.strip().isdigit() else 0
            write_derived(place, b"%d\n" % (count + 1))
        elif place.exists():
            place.unlink()


def _complete_forgetting(world: World) -> None:
    """End a `forget` that was killed half-way before anything else is done with the store."""
    intent = world.root / FORGET_INTENT
    if intent.exists() or temporary(intent).exists():
        from flows.forget import complete

        sweep_temporaries(world.root)
        complete(world)


def _begin(world: World, run: Run, report: Report, dry_run: bool) -> Pass:
    world.say("reading the store")
    store = read_lessons(world, SOLUTIONS, dry_run)
    report.problems = list(store.problems)
    known = frozenset(solution.id for solution in store.solutions)
    begun = Pass(world, run, report, store, read_verdicts(world.root, rule_set_version()), dry_run, known)
    begun.forgotten = read_tombstones(world.root)
    # A dry run must neither cost money nor write the day's spending: it shows what happens without the model.
    if world.settings.model.name and not dry_run:
        begun.budget = Budget(world.root, world.now.date(), world.settings.model)
        begun.ask = make_ask(world.settings.model, begun.budget, world.env, world.settings.redact)
    begun.scan()
    return begun
