"""Forget: plan what goes, then take it out of every file, so that a kill leaves nothing that running again won't end.

What is meant is worked out once and kept in `.forget` until all is done: it holds the words that are to go, and goes
last. No journal keeps any of it, and nothing brings it back.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from curate.drafts import read_decisions
from curate.evidence import SEEN_FILE
from curate.forget import Doomed, Target, Tree, describe, examine, forget_in, parse_doomed, read_tree, resolve
from curate.proof import Proof, all_files, prove
from curate.snapshot import SNAPSHOTS, Files, pack_snapshot, read_snapshot
from curate.tombstones import (
    FOLDER,
    PREFIX,
    Tombstones,
    make_tombstone,
    merge_tombstones,
    read_tombstones,
    tombstones_in,
)
from curate.traces import texts_in
from flows.context import FORGET_INTENT, World, passes_folder, recall_database
from flows.pipeline import refresh
from flows.prefect_api import SERVE_FILE, read_serving
from flows.serve import PREFECT_FOLDER
from index.apply import recover
from index.decode import load_json
from index.errors import StoreError
from index.files import read_bytes, store_lock, sweep_temporaries, write_atomic
from index.plural import plural
from index.store import CACHE, INDEX_FILE, JOURNAL
from reflect.ledger import read_ledger

INTENT = FORGET_INTENT
LOCK_FILE = ".lock"
GIT = ".git"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What would go or went: the target as the store names it, a line for each file, and the proof once it is done."""

    target: Target
    lines: tuple[str, ...]
    notes: tuple[str, ...] = ()
    proof: Proof | None = None


def read_files(root: Path) -> dict[str, tuple[bytes, int]]:
    """(bytes, mtime) of every file of a store by path, but snapshots, caches, the lock and our own note of intent."""
    left_out = {SNAPSHOTS, CACHE, LOCK_FILE, INTENT, INDEX_FILE, GIT}
    found = ((path.relative_to(root), path) for path in all_files(root))
    return {
        name.as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for name, path in found
        if name.parts[0] not in left_out
    }


def read_snapshots(root: Path) -> tuple[dict[Path, Files], tuple[str, ...]]:
    """Each snapshot's files, and a line for each one that cannot be read."""
    readable: dict[Path, Files] = {}
    damaged: list[str] = []
    for path in sorted((root / SNAPSHOTS).glob("*.tar.gz")):
        try:
            readable[path] = read_snapshot(path)
        except StoreError as error:
            damaged.append(f"{error} It cannot be searched either: delete it.")
    return readable, tuple(damaged)


def _contents(files: Files) -> dict[str, bytes]:
    return {name: content for name, (content, _) in files.items()}


def plan_forget(world: World, target: Target) -> tuple[Doomed, Forgotten]:
    """What goes, worked out over the store and all its snapshots; writes nothing."""
    files = read_files(world.root)
    snapshots, damaged = read_snapshots(world.root)
    trees: list[Tree] = [read_tree(_contents(files)), *(read_tree(_contents(one)) for one in snapshots.values())]
    doomed = examine(resolve(target, trees), trees)
    lines = describe(_contents(files), forget_in(_contents(files), doomed))
    for path, one in snapshots.items():
        changed = len(describe(_contents(one), forget_in(_contents(one), doomed)))
        lines += [f"~ {path.relative_to(world.root).as_posix()}: {plural(changed, 'file')} in it"] if changed else []
    return doomed, Forgotten(doomed.target, tuple(lines), (*damaged, *_outside(world, doomed)))


def _outside(world: World, doomed: Doomed) -> tuple[str, ...]:
    """What hotwash does not own and a person may want to delete too."""
    notes = [
        f"The agent's own transcript is not ours to delete: {progress.path}"
        for key, progress in sorted(read_ledger(world.root).items())
        if key in doomed.sessions and Path(progress.path).exists()
    ]
    for decided in read_decisions(world.root)[0]:
        if decided.solutions & doomed.gone or decided.sessions & doomed.sessions:
            notes += [f"Published, may hold it: {t.path}" for t in decided.targets if Path(t.path).exists()]
            if (made := decided.branch) is not None:
                notes.append(f"Published, may hold it: the branch {made.name} in {made.repository}")
    if url := world.env.get("PREFECT_API_URL"):
        notes.append(f"The Prefect server at {url} keeps the reports of past runs: delete them there.")
    if any((folder / GIT).exists() for folder in (world.root, world.root.parent)):
        notes.append("The store lies in a git repository: its history keeps what was committed until it is rewritten.")
    return tuple(notes)


def forget(world: World, target: Target) -> Forgotten:
    """Forget a thing for good and prove it. One that was killed half-way is completed first."""
    if read_serving(world.root) is not None:
        raise StoreError("A server runs on this store, and its database may hold the text. Stop `hotwash serve` first.")
    with store_lock(world.root):
        recover(world.root, world.now.isoformat())
        sweep_temporaries(world.root)
        complete(world)
        doomed, planned = plan_forget(world, target)
        known = read_tombstones(world.root).stones
        stone = make_tombstone(doomed.target.kind, doomed.target.name, world.now.date().isoformat(), known)
        stones = {stone.path: stone.render().decode()}
        for identity in doomed.ids - {doomed.target.name}:
            lesson = make_tombstone("lesson", identity, stone.day, (stone,))
            stones[lesson.path] = lesson.render().decode()
        intent = {"doomed": doomed.as_json(), "stones": stones}
        write_atomic(world.root / INTENT, json.dumps(intent, ensure_ascii=True).encode())
        complete(world)
    refresh(world, "forget")
    others = [recall_database(world.root, world.env), *all_files(passes_folder(world.root, world.env))]
    beyond = [path for path in others if not path.is_relative_to(world.root)]
    return replace(planned, proof=prove(world.root, doomed.traces(), beyond))


def complete(world: World) -> bool:
    """Carry out what `.forget` says, wherever it was left; false where there is none. The caller holds the lock."""
    root = world.root
    raw = read_bytes(root / INTENT)
    if raw is None:
        return False
    intent = load_json(raw)
    doomed = parse_doomed(intent["doomed"])
    for path, text in intent["stones"].items():
        if not (root / path).exists():
            write_atomic(root / path, text.encode())
    files = read_files(root)
    _write(root, files, forget_in(_contents(files), doomed))
    snapshots, _ = read_snapshots(root)
    for place, packed in snapshots.items():
        after = forget_in(_contents(packed), doomed)
        if after != _contents(packed):
            write_atomic(place, pack_snapshot(with_times(packed, after)))
    _drop_derived(world)
    (root / INTENT).unlink(missing_ok=True)
    return True


def with_times(before: Files, after: Mapping[str, bytes]) -> Files:
    """Rewritten files with the times they had; one that was brought back has that of its archived copy."""
    times = {name: mtime for name, (_, mtime) in before.items()}
    return {name: (after[name], times.get(name, times.get(f"archive/{name}", 0))) for name in sorted(after)}


def _write(root: Path, before: Files, after: Mapping[str, bytes]) -> None:
    """New and changed files first, the journals last: what they keep is still needed to take merges apart."""
    timed = with_times(before, after)
    for name in sorted(after, key=lambda name: (name.startswith(f"{JOURNAL}/"), name)):
        if name not in before or before[name][0] != after[name]:
            write_atomic(root / name, after[name], timed[name][1] or None)
    for name in sorted(before.keys() - after.keys()):
        (root / name).unlink(missing_ok=True)
        folder = (root / name).parent
        while folder != root and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def _drop_derived(world: World) -> None:
    """Index and caches go whole and are built again; the times that texts were first seen with are kept by hash."""
    (world.root / INDEX_FILE).unlink(missing_ok=True)
    recall_database(world.root, world.env).unlink(missing_ok=True)
    # A shared store's lies in the personal one, beside that database.
    shutil.rmtree(passes_folder(world.root, world.env), ignore_errors=True)
    serving = read_serving(world.root) is not None
    for entry in sorted((world.root / CACHE).glob("*")):
        if serving and entry.name in (PREFECT_FOLDER, SERVE_FILE):
            continue  # the server's own database; it is searched, and named where it holds something
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != SEEN_FILE:
            entry.unlink(missing_ok=True)


def clean_snapshot(files: Files, tombstones: Tombstones) -> Files:
    """A snapshot's files without what was forgotten since it was made, by these tombstones and its own."""
    known = merge_tombstones([tombstones, tombstones_in(_contents(files))])
    contents = _contents(files)
    for target in find_targets(read_tree(contents), known):
        contents = forget_in(contents, examine(target, [read_tree(contents)]))
    for stone in known.stones:
        contents.setdefault(stone.path, stone.render())
    return with_times(files, contents)


def find_targets(tree: Tree, tombstones: Tombstones) -> list[Target]:
    """The forgotten things that a tree still holds, by their names in it."""
    lessons = (*tree.lessons.values(), *tree.older)
    sessions = {key for one in lessons for key in one.sessions} | set(tree.projects)
    projects = {one.project for one in lessons} | set(tree.projects.values()) - {""}
    found = [
        Target("lesson", name) for name in sorted({one.id for one in lessons}) if tombstones.forgets("lesson", name)
    ]
    found += [Target("session", name) for name in sorted(sessions) if tombstones.forgets("session", name)]
    found += [Target("project", name) for name in sorted(projects) if name and tombstones.forgets("project", name)]
    strings: set[str] = set()
    if tombstones.strings:
        for name, raw in tree.files.items():
            if f"/{PREFIX}" in f"/{name}" and name.startswith(FOLDER):
                continue
            for text in texts_in(raw):
                strings.update(text[start:end] for start, end in tombstones.find(text))
    return found + [Target("string", name) for name in sorted(strings)]
