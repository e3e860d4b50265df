"""What a check of the doctor's is, and the checks of one store's files; they look and write nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import filelock

from curate.snapshot import SNAPSHOTS, read_snapshot
from curate.verdicts import VERDICTS, read_verdicts, servable
from detectors.poison.scan import rule_set_version
from flows.context import World, recall_database
from flows.stages import RECALL_KEY, recall_key
from index.decode import load_json
from index.errors import HotwashError
from index.files import read_bytes
from index.journal import journal_ended
from index.matching import SCHEMA
from index.plural import plural
from index.recall import open_database
from index.recall_rows import unreachable
from index.records import CATEGORIES
from index.search import render_index
from index.shared import is_shared, missing_lines
from index.store import INDEX_FILE, JOURNAL, SOLUTIONS, SPOOL, Store, read_store
from reflect.budget import is_loopback, price_of, read_prices, read_spend

State = Literal["ok", "note", "bad"]
Fix = Literal["", "chmod", "index", "temporary", "folders", "shared", "serve-file"]

OLD_SECONDS = 3600  # an event or a temporary file that is older belongs to nothing that still runs
LEAST_FREE = 200 * 1024 * 1024
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `bad` needs the repair, `note` is worth knowing; `fix` names what --fix may do."""

    area: str
    state: State
    text: str
    repair: str = ""
    fix: Fix = ""


def check_store(world: World) -> Iterator[Check]:
    """Everything about the store and its derived files."""
    root = world.root
    if not root.is_dir():
        yield Check("store", "bad", f"{root}: there is no store", "hotwash init", "folders")
        return
    yield from check_folders(world)
    yield from check_space(root)
    store = read_store(root)
    yield from check_solutions(world, store)
    yield from check_derived(world, store)
    yield from check_spool(world)
    yield from check_journals(root)
    yield from check_temporary(world)
    yield from check_snapshots(root)


def check_folders(world: World) -> Iterator[Check]:
    """Whose the store is, who may read it, and whether its folders can be written."""
    root = world.root
    found = root.stat()
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        yield Check("store", "bad", f"{root} belongs to another user", f"chown -R $USER {root}")
    shared = is_shared(root, world.home)
    if not shared and found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        text = f"{root} can be opened by others (mode {mode:o}): it holds what was said in sessions"
        yield Check("store", "bad", text, f"chmod 700 {root}", "chmod")
    names = (*(f"{SOLUTIONS}/{category}" for category in CATEGORIES), SPOOL, JOURNAL)
    missing = [name for name in names if not (root / name).is_dir()]
    if missing:
        yield Check("store", "note", f"missing folders: {', '.join(missing)}", "the next run makes them", "folders")
    closed = [name for name in ("", *names) if (root / name).is_dir() and not os.access(root / name, os.W_OK | os.X_OK)]
    for name in closed:
        yield Check("store", "bad", f"{root / name} cannot be written", f"chmod u+rwx {root / name}", "chmod")
    if shared and (lacking := missing_lines(root)):
        text = "; ".join(f"{name} lacks {', '.join(lines)}" for name, lines in lacking.items())
        yield Check("store", "bad", f"{text}: merges of this store would conflict", "hotwash init --shared", "shared")
    if not closed and not missing:
        yield Check("store", "ok", f"{root} can be read and written" + (" (shared)" if shared else ""))


def check_space(root: Path) -> Iterator[Check]:
    """Room on the disk."""
    free = shutil.disk_usage(root).free
    if free < LEAST_FREE:
        yield Check("store", "bad", f"only {free // 1_000_000} MB are free on its disk", "make room; runs stop cleanly")


def check_solutions(world: World, store: Store) -> Iterator[Check]:
    """Files that do not parse, lessons that can never come up."""
    for problem in store.problems[:MOST_NAMED]:
        yield Check("lessons", "bad", str(problem))
    if len(store.problems) > MOST_NAMED:
        rest = len(store.problems) - MOST_NAMED
        yield Check("lessons", "bad", f"{rest} more files do not parse", "hotwash status names them all")
    verdicts = read_verdicts(world.root, rule_set_version())
    served = [solution for solution in store.solutions if servable(solution, verdicts)]
    lost = unreachable(served, world.settings.memory.pack_confidence)
    for path, reason in lost[:MOST_NAMED]:
        yield Check("lessons", "note", f"{path} can never come up: {reason}", "give it a trigger, or raise confidence")
    if len(lost) > MOST_NAMED:
        rest = len(lost) - MOST_NAMED
        yield Check("lessons", "note", f"{rest} more lessons can never come up", "hotwash doctor --format json")
    if not store.problems and not lost:
        yield Check("lessons", "ok", f"{plural(len(store.solutions), 'lesson')}, all parse and can come up")


def check_derived(world: World, store: Store) -> Iterator[Check]:
    """The index, the verdicts and the recall database against the files they are made of."""
    root = world.root
    if read_bytes(root / INDEX_FILE) != render_index(store.solutions).encode():
        missing = not (root / INDEX_FILE).exists()
        text = f"{INDEX_FILE} is missing" if missing else f"{INDEX_FILE} is not what the lessons say"
        yield Check("index", "bad", text, "hotwash index", "index")
    verdicts = read_verdicts(root, rule_set_version())
    unscanned = sum(verdicts.of(solution) is None for solution in store.solutions)
    if unscanned:
        kept = _kept_rule_set(root)
        why = "" if kept in {"", rule_set_version()} else ": the scan's rules have changed since"
        text = f"{plural(unscanned, 'lesson has', 'lessons have')} no verdict and {'is' if unscanned == 1 else 'are'}"
        yield Check("index", "bad", f"{text} served to nobody{why}", "hotwash index", "index")
    fault = _recall_fault(world, store)
    if fault:
        yield Check("index", "bad", fault, "hotwash doctor --fix", "index")
    if not unscanned and not fault:
        yield Check("index", "ok", "verdicts and recall database fit the lessons")


def _kept_rule_set(root: Path) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(load_json((root / VERDICTS).read_bytes())["rule_set"])
    return ""


def _recall_fault(world: World, store: Store) -> str:
    """What is wrong with the recall database; "" if nothing is."""
    target = recall_database(world.root, world.env)
    if not target.exists():
        return "there is no recall database: nothing is given back" if store.solutions else ""
    try:
        with closing(open_database(target)) as db:
            (schema,) = db.execute("select value from meta where key = 'schema'").fetchone() or ("",)
            (sound,) = db.execute("pragma quick_check").fetchone()
    except sqlite3.Error as error:
        return f"{target} cannot be read ({error})"
    if sound != "ok":
        return f"{target} is damaged ({sound})"
    if schema != str(SCHEMA):
        return f"{target} is of another version"
    verdicts = read_verdicts(world.root, rule_set_version())
    clean = {solution.path: servable(solution, verdicts) for solution in store.solutions}
    kept = read_bytes(world.root / RECALL_KEY)
    if kept != recall_key(store.solutions, clean, world.now.date()):
        built = recall_key(store.solutions, clean, _built_on(target, world))
        return "" if kept == built else "the recall database is not made of the lessons as they are now"
    return ""


def _built_on(target: Path, world: World) -> date:
    with suppress(sqlite3.Error, ValueError, TypeError), closing(open_database(target)) as db:
        return date.fromisoformat(db.execute("select value from meta where key = 'built'").fetchone()[0])
    return world.now.date()


def check_spool(world: World) -> Iterator[Check]:
    """Events that wait, and failures of the hooks."""
    spool = world.root / SPOOL
    now = world.now.timestamp()
    waiting = [path for path in spool.glob("*.json") if _age(path, now) > OLD_SECONDS]
    if waiting:
        oldest = max(_age(path, now) for path in waiting) / 3600
        text = f"{plural(len(waiting), 'event has', 'events have')} waited for up to {oldest:,.0f} hours"
        yield Check("spool", "bad", text, "hotwash run --from-spool says why")
    failures = (read_bytes(spool / "failures") or b"").strip()
    if failures.isdigit():
        text = f"the hook failed {int(failures)} times in a row; {world.root / 'logs' / 'hook.log'} says why"
        yield Check("spool", "bad", text, "mend the cause; the next success ends the count")
    if not waiting and not failures.isdigit():
        yield Check("spool", "ok", "no event waits for long")
    try:
        read_spend(world.root, world.now.date())
    except HotwashError as error:
        yield Check("spool", "bad", str(error))


def _age(path: Path, now: float) -> float:
    with suppress(OSError):
        return now - path.stat().st_mtime
    return 0.0


def check_journals(root: Path) -> Iterator[Check]:
    """Runs that did not end."""
    journals = sorted((root / JOURNAL).glob("*.jsonl"))
    open_ones = [path.stem for path in journals if not _ended(path)]
    if not open_ones:
        yield Check("journal", "ok", f"{plural(len(journals), 'run')} in the journal, all ended")
    elif _is_locked(root):
        yield Check("journal", "ok", f"a run is in progress ({open_ones[-1]})")
    else:
        text = f"{plural(len(open_ones), 'run')} did not end: {', '.join(open_ones[:MOST_NAMED])}"
        yield Check("journal", "bad", text, "hotwash index (any run rolls back what was left half done)", "index")


def _ended(path: Path) -> bool:
    with suppress(OSError):
        return journal_ended(path)
    return False


def _is_locked(root: Path) -> bool:
    if not (root / ".lock").exists():
        return False
    lock = filelock.FileLock(root / ".lock", timeout=0)
    try:
        with lock:
            return False
    except (filelock.Timeout, OSError):
        return True


def check_temporary(world: World) -> Iterator[Check]:
    """Temporary files that nothing will take up again."""
    stale = stale_files(world)
    if stale:
        named = ", ".join(str(path.relative_to(world.root)) for path in stale[:MOST_NAMED])
        text = f"{plural(len(stale), 'temporary file')} left behind: {named}"
        yield Check("store", "bad", text, "hotwash doctor --fix", "temporary")


def stale_files(world: World) -> list[Path]:
    """Our own temporary files that are older than an hour, sorted; links are not followed."""
    now = world.now.timestamp()
    found = []
    for folder, folders, names in os.walk(world.root):
        folders[:] = [name for name in folders if not (folder.endswith("/.cache") and name == "prefect")]
        for name in names:
            path = Path(folder, name)
            ours = name.endswith((".hotwash-tmp", ".tmp")) and (name.startswith(".") or Path(folder).name == "spend")
            if ours and not path.is_symlink() and _age(path, now) > OLD_SECONDS:
                found.append(path)
    return sorted(found)


def check_snapshots(root: Path) -> Iterator[Check]:
    """Whether the newest snapshot can be read back."""
    newest = max((root / SNAPSHOTS).glob("hotwash-*.tar.gz"), default=None, key=lambda path: path.name)
    if newest is None:
        yield Check("snapshot", "note", "there is no snapshot yet", "hotwash snapshot")
        return
    try:
        files = read_snapshot(newest)
    except (OSError, EOFError, HotwashError, ValueError) as error:
        yield Check("snapshot", "bad", f"{newest} cannot be read back ({error})", "hotwash snapshot")
        return
    yield Check("snapshot", "ok", f"{newest.name} holds {plural(len(files), 'file')} and can be read back")


def check_model(world: World) -> Iterator[Check]:
    """Whether the configured model may and can be called."""
    settings = world.settings.model
    if not settings.name:
        yield Check("model", "ok", "none: everything is done without one")
        return
    if settings.api_key_env and not world.env.get(settings.api_key_env):
        yield Check("model", "bad", f"{settings.api_key_env} is not set", "set it, or correct model.api_key_env")
    local = bool(settings.api_base) and is_loopback(settings.api_base)
    if not local and price_of(settings, read_prices()) is None:
        text = f"nobody knows the price of {settings.name}, so it is never called"
        yield Check("model", "bad", text, "set model.input_cost_per_token and model.output_cost_per_token")
    else:
        yield Check("model", "ok", f"{settings.name}" + (" on this machine" if local else ", its price is known"))
