"""What of a store goes when a lesson, a session, a project or a string is forgotten, and what the rest then reads.

A store is a mapping of paths to bytes here, so that one function serves the folder and each of its snapshots:
`examine` finds what is meant, `forget_in` gives the files as they are to be. Doing it twice changes nothing more,
which is how a forgetting that was killed is completed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from curate.drafts import EVIDENCE_FILE, Decided, parse_decided, render_decided
from curate.guard import statements
from curate.retire import LEFT_KEYS, without_keys
from curate.tombstones import FORGOTTEN, LEAST_CHARACTERS, PREFIX, Kind
from curate.traces import Traces, plain
from index.decode import load_json, safe_yaml
from index.errors import StoreError, UsageError
from index.frontmatter import edit_frontmatter, parse_solution
from index.records import Problem, Solution
from index.store import (
    ARCHIVE,
    CANDIDATES,
    EPISODES,
    JOURNAL,
    MEMORY_FILE,
    QUARANTINE,
    SOLUTIONS,
    SPOOL,
    path_for,
    solution_id,
)
from reflect.custody import AROUND, pack_episode, read_episode
from reflect.ledger import READ, parse_progress

Files = Mapping[str, bytes]
LESSON_FOLDERS = (f"{SOLUTIONS}/", f"{ARCHIVE}/{SOLUTIONS}/", f"{QUARANTINE}/{SOLUTIONS}/")
DRAFT_FOLDERS = (f"{CANDIDATES}/", f"{ARCHIVE}/{CANDIDATES}/")
# A shorter statement ("Yes.") says nothing of the lesson it stood in.
SHORTEST_STATEMENT = 16
SHORTEST_ID = 8
SETS = ("ids", "dissolved", "reverted", "sessions", "texts", "paths")


@dataclass(frozen=True, slots=True)
class Target:
    """What a person wants forgotten: a lesson's id, a session's key, a project's name, or a string."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Doomed:
    """What goes: lessons by id, merges that are taken apart, lessons that go back to their words before a merge,
    sessions by key, texts that must stand nowhere, and the paths of drafts (folders end with `/`) and decisions that
    rest on any of it."""

    target: Target
    ids: frozenset[str] = frozenset()
    dissolved: frozenset[str] = frozenset()
    reverted: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    @property
    def gone(self) -> frozenset[str]:
        """Every lesson that is no more."""
        return self.ids | self.dissolved

    def traces(self) -> Traces:
        """What to look for in any text."""
        return Traces(
            self.target.kind == "string",
            self.target.name if self.target.kind == "project" else "",
            self.gone,
            self.texts,
        )

    def as_json(self) -> dict[str, Any]:
        """Plain data, from which `parse_doomed` makes it again."""
        return {
            "kind": self.target.kind,
            "name": self.target.name,
            **{key: sorted(getattr(self, key)) for key in SETS},
        }


def parse_doomed(values: Mapping[str, Any]) -> Doomed:
    """The record that `as_json` had written."""
    sets = {key: frozenset(values[key]) for key in SETS}
    return Doomed(Target(values["kind"], values["name"]), **sets)


@dataclass(frozen=True, slots=True)
class Tree:
    """A store's files and what they hold: lessons by path, older versions from the journals, sessions' projects."""

    files: Files
    lessons: Mapping[str, Solution] = field(default_factory=dict)
    older: tuple[Solution, ...] = ()
    projects: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[str, Sequence[Solution]] = field(default_factory=dict)
    versions: Mapping[str, Sequence[Solution]] = field(default_factory=dict)

    def absorbed(self, identity: str) -> Sequence[Solution]:
        """The archived lessons that were merged into this one."""
        return self.merged.get(identity, ())


def read_tree(files: Files) -> Tree:
    """The records among a store's files."""
    lessons: dict[str, Solution] = {}
    projects: dict[str, str] = {}
    older: list[Solution] = []
    for path, raw in sorted(files.items()):
        if path.startswith(LESSON_FOLDERS) and path.endswith(".md"):
            read = parse_solution(path, raw.decode("utf-8", "replace"))
            if isinstance(read, Solution):
                lessons[path] = read
        elif path.startswith(f"{READ}/") and (progress := parse_progress(raw)):
            projects[progress.key] = progress.project
        elif path.startswith(f"{EPISODES}/"):
            head, _ = read_episode(raw)
            if head.get("session"):
                projects.setdefault(str(head["session"]), str(head.get("project", "")))
        elif path.startswith(f"{JOURNAL}/"):
            older += _versions(raw)
    merged: dict[str, list[Solution]] = {}
    for path, one in lessons.items():
        if one.superseded_by and path.startswith(f"{ARCHIVE}/"):
            merged.setdefault(one.superseded_by, []).append(one)
    versions: dict[str, list[Solution]] = {}
    for one in older:
        versions.setdefault(one.id, []).append(one)
    return Tree(files, lessons, tuple(older), projects, merged, versions)


def _versions(journal: bytes) -> list[Solution]:
    """The lessons' texts that a journal keeps, oldest first."""
    found = []
    for line in journal.split(b"\n"):
        if b'"was":"---' not in line:
            continue
        try:
            row = load_json(line)
            read = parse_solution(str(row["path"]), str(row["was"]))
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(read, Solution):
            found.append(read)
    return found


def resolve(target: Target, trees: Sequence[Tree]) -> Target:
    """The target with its name as the store has it; raises UsageError where nothing is meant, or several things are."""
    name = target.name.strip()
    if target.kind == "string":
        if sum(character.isalnum() for character in name) < LEAST_CHARACTERS:
            raise UsageError(f"{name!r}: give at least {LEAST_CHARACTERS} letters or digits; less stands everywhere.")
        return Target("string", name)
    known = _known_names(target.kind, trees)
    if target.kind == "lesson":
        wanted = name.upper()
        fits = {one for one in known if one == wanted}
        if not fits and len(wanted) >= 6:
            fits = {one for one in known if one.startswith(wanted) or one.endswith(wanted)}
    else:
        fits = {one for one in known if one == name}
        if not fits and target.kind == "session" and len(name) >= SHORTEST_ID:
            fits = {one for one in known if one.partition(":")[2].startswith(name)}
    if len(fits) != 1:
        found = f"means any of {', '.join(sorted(fits)[:5])}" if fits else f"the store knows no such {target.kind}"
        raise UsageError(f"{target.name}: {found}. Nothing was forgotten.")
    return Target(target.kind, fits.pop())


def _known_names(kind: Kind, trees: Sequence[Tree]) -> set[str]:
    lessons = [one for tree in trees for one in (*tree.lessons.values(), *tree.older)]
    if kind == "lesson":
        return {one.id for one in lessons}
    if kind == "session":
        return {key for one in lessons for key in one.sessions} | {key for tree in trees for key in tree.projects}
    named = {one.project for one in lessons} | {name for tree in trees for name in tree.projects.values()}
    return named - {""}


def examine(target: Target, trees: Sequence[Tree]) -> Doomed:
    """What a resolved target means in these trees: the store as it stands, and each of its snapshots."""
    if target.kind == "string":
        return Doomed(target, texts=frozenset({target.name}))
    sessions: set[str] = set()
    if target.kind == "session":
        sessions.add(target.name)
    if target.kind == "project":
        sessions |= {key for tree in trees for key, name in tree.projects.items() if name == target.name}
    ids: set[str] = {target.name} if target.kind == "lesson" else set()
    dissolved: set[str] = set()
    reverted: set[str] = set()
    for tree in trees:
        for one in tree.lessons.values():
            if one.id == target.name and is_consolidated(tree, one):
                ids.update(one.supersedes)  # its words are theirs
            elif not is_consolidated(tree, one) and _is_meant(tree, one, target, sessions):
                ids.add(one.id)
        ids.update(one.id for one in tree.older if one.sessions and one.sessions <= sessions)
    for tree in trees:
        for one in tree.lessons.values():
            if one.id not in ids and ids.intersection(one.supersedes):
                (dissolved if is_consolidated(tree, one) else reverted).add(one.id)
    doomed = Doomed(target, frozenset(ids), frozenset(dissolved), frozenset(reverted), frozenset(sessions))
    paths = frozenset(path for tree in trees for path in _resting_on(doomed, tree.files))
    return replace(doomed, texts=_texts_of(doomed, trees), paths=paths)


def _resting_on(doomed: Doomed, files: Files) -> Iterator[str]:
    """The folders of drafts and the files of decisions that name what goes."""
    names = doomed.gone | doomed.sessions
    for path, raw in files.items():
        is_draft = path.startswith(DRAFT_FOLDERS) and path.endswith(f"/{EVIDENCE_FILE}")
        if is_draft or path.startswith("decisions/review-"):
            text = raw.decode("utf-8", "replace")
            if any(name in text for name in names):
                yield path.removesuffix(EVIDENCE_FILE)


def _is_meant(tree: Tree, one: Solution, target: Target, sessions: set[str]) -> bool:
    if target.kind == "project" and one.project == target.name:
        return True
    return bool(sessions & own_sessions(tree, one))


def own_sessions(tree: Tree, one: Solution) -> frozenset[str]:
    """The sessions that a lesson itself rests on, without those it took over from lessons merged into it."""
    taken = tree.absorbed(one.id)
    if not taken:
        return one.sessions
    before = _before_merge(tree, one, {other.id for other in taken})
    if before is not None:
        return before.sessions
    theirs = {source for other in taken for source in other.sources}
    return frozenset(source.session for source in one.sources if source not in theirs) or one.sessions


def is_consolidated(tree: Tree, one: Solution) -> bool:
    """Whether a lesson has no words of its own: it was made of those that it supersedes."""
    if not one.supersedes:
        return False
    taken = {other.id for other in tree.absorbed(one.id)}
    named = ",".join(sorted(taken | set(one.supersedes)))
    if one.id == solution_id(one.created, f"consolidated:{named}"):
        return True
    return one.type == "reflective" and _before_merge(tree, one, set(one.supersedes)) is None


def _before_merge(tree: Tree, one: Solution, without: set[str] | frozenset[str]) -> Solution | None:
    """The newest version in the journals of a lesson from before it took in any of these."""
    fits = [old for old in tree.versions.get(one.id, ()) if not without.intersection(old.supersedes)]
    return fits[-1] if fits else None


def _texts_of(doomed: Doomed, trees: Sequence[Tree]) -> frozenset[str]:
    """The names of what goes, and every statement of it that nothing says which stays."""
    texts = {doomed.target.name, *doomed.ids, *doomed.dissolved, *doomed.sessions}
    if doomed.target.kind == "project" and doomed.target.name.startswith("/"):
        # Some agents keep a project's transcripts in a folder named so.
        texts.add("".join(c if c.isascii() and c.isalnum() else "-" for c in doomed.target.name))
    texts |= {key.partition(":")[2] for key in doomed.sessions if len(key.partition(":")[2]) >= SHORTEST_ID}
    said: set[str] = set()
    kept: dict[str, None] = {}
    for tree in trees:
        for one in (*tree.lessons.values(), *tree.older):
            if one.id in doomed.ids:
                said.update(text for text in statements(one) if len(text) >= SHORTEST_STATEMENT)
        for one in tree.lessons.values():
            if one.id in doomed.reverted:
                kept[plain(_reverted(tree, one, doomed.gone))] = None
            elif one.id not in doomed.gone:
                kept[plain(f"{one.title}\n{one.body}")] = None
    everything = "\0".join(kept)
    return frozenset(texts | {text for text in said if plain(text) not in everything})


def _reverted(tree: Tree, one: Solution, gone: frozenset[str]) -> str:
    """A lesson's file as it was before it took in what goes; from the journal, else by taking away what came in."""
    before = _before_merge(tree, one, gone)
    if before is not None:
        return before.text
    taken = [other for other in tree.absorbed(one.id) if other.id in gone]
    theirs = {text for other in taken for text in statements(other)}
    blocks = [block for block in one.text.split("\n\n") if block.strip().removeprefix("- ") not in theirs]
    foreign = {source for other in taken for source in other.sources}
    kept = tuple(source for source in one.sources if source not in foreign) or one.sources
    values = {"sources": kept, "supersedes": tuple(i for i in one.supersedes if i not in gone)}
    return edit_frontmatter("\n\n".join(blocks).rstrip() + "\n", values)


def forget_in(files: Files, doomed: Doomed) -> dict[str, bytes]:
    """A store's files as they are to be; those that are missing in the answer go. Raises StoreError where a lesson that
    stays could not be read any more."""
    tree = read_tree(files)
    after: dict[str, bytes] = dict(files)
    if doomed.target.kind != "string":
        _forget_lessons(tree, doomed, after)
        _forget_episodes(tree, doomed, after)
        _forget_drafts(doomed, after)
        _forget_decisions(doomed, after)
        _forget_spool(doomed, after)
    traces = doomed.traces()
    renamed: dict[str, bytes] = {}
    for path, raw in sorted(after.items()):
        rewritten = raw if f"/{PREFIX}" in f"/{path}" else _rewrite(path, raw, traces, doomed)
        if rewritten is not None:
            renamed[_renamed(path, rewritten, traces)] = rewritten
    return renamed


def _forget_lessons(tree: Tree, doomed: Doomed, after: dict[str, bytes]) -> None:
    live = {one.id for path, one in tree.lessons.items() if path.startswith(f"{SOLUTIONS}/")}
    kept_by = {one.id: one for one in tree.lessons.values() if one.id in doomed.reverted}
    for path, one in tree.lessons.items():
        if one.id in doomed.gone:
            after.pop(path, None)
            continue
        text = one.text
        if one.id in doomed.reverted and doomed.gone.intersection(one.supersedes):
            text = _reverted(tree, one, doomed.gone)
        keeper = kept_by.get(one.superseded_by or "")
        left = keeper is not None and one.id not in _supersedes(tree, keeper, doomed)
        place = path
        if one.superseded_by in doomed.gone or left:
            text = edit_frontmatter(without_keys(text, LEFT_KEYS), {"superseded_by": None})
            if path.startswith(f"{ARCHIVE}/"):
                place = path.removeprefix(f"{ARCHIVE}/")
                after.pop(path, None)
                if one.id in live:  # an earlier try brought it back
                    continue
        if text != one.text or place != path:
            after[place] = text.encode()


def _supersedes(tree: Tree, keeper: Solution, doomed: Doomed) -> tuple[str, ...]:
    """What a reverted lesson still replaces."""
    if not doomed.gone.intersection(keeper.supersedes):
        return keeper.supersedes
    read = parse_solution(keeper.path, _reverted(tree, keeper, doomed.gone))
    return read.supersedes if isinstance(read, Solution) else ()


def _forget_episodes(tree: Tree, doomed: Doomed, after: dict[str, bytes]) -> None:
    """The records of sessions that go, and in those that stay the turns that only a lesson that goes has cited."""
    cited: dict[str, list[tuple[int, int]]] = {}
    lost: set[str] = set()
    for one in tree.lessons.values():
        for source in one.sources:
            if one.id in doomed.ids:
                lost.add(source.session)
            elif source.lines and one.id not in doomed.dissolved:
                cited.setdefault(source.session, []).append(source.lines)
    for path in [path for path in after if path.startswith(f"{EPISODES}/")]:
        head, rows = read_episode(after[path])
        session = str(head.get("session", ""))
        if session in doomed.sessions or (session in lost and session not in cited):
            del after[path]
        elif session in lost:
            spans = cited[session]
            near = {
                place + step
                for place, row in enumerate(rows)
                if any(row["line"] <= last and row["end"] >= first for first, last in spans)
                for step in range(-AROUND, AROUND + 1)
            }
            because = [
                one
                for one in head.get("because", [])
                if any(one["lines"][0] <= last and one["lines"][1] >= first for first, last in spans)
            ]
            kept = [row for place, row in enumerate(rows) if place in near]
            if len(kept) < len(rows) or len(because) < len(head.get("because", [])):
                after[path] = pack_episode({**head, "because": because}, kept)


def _forget_drafts(doomed: Doomed, after: dict[str, bytes]) -> None:
    """Drafts that rest on what goes; they are drafted anew where enough is left."""
    folders = tuple(path for path in doomed.paths if path.endswith("/"))
    for path in [path for path in after if path.startswith(folders)]:
        del after[path]


def _forget_decisions(doomed: Doomed, after: dict[str, bytes]) -> None:
    """Decisions that rest on what goes alone; the others forget that part, and their draft's name with it."""
    for path in [path for path in after if path.startswith("decisions/")]:
        if path.removeprefix("decisions/release-").removesuffix(".json") in doomed.gone:
            del after[path]
            continue
        if not path.startswith("decisions/review-"):
            continue
        read = parse_decided(path, after[path].decode("utf-8", "replace"))
        if not isinstance(read, Decided):
            continue
        solutions, sessions = read.solutions - doomed.gone, read.sessions - doomed.sessions
        if (solutions, sessions) == (read.solutions, read.sessions):
            continue
        del after[path]
        if solutions and sessions:
            name = f"forgotten-{read.digest[:8]}"
            kept = replace(read, draft=name, name="", note="", solutions=solutions, sessions=sessions)
            after[kept.path] = render_decided(kept).encode()


def _forget_spool(doomed: Doomed, after: dict[str, bytes]) -> None:
    """Events and progress of what goes; a lesson's own session stays read."""
    if doomed.target.kind == "lesson":
        return
    traces = doomed.traces()
    for path in [path for path in after if path.startswith(f"{SPOOL}/") and path.endswith(".json")]:
        if traces.found_in(after[path].decode("utf-8", "replace")) or traces.found_in(path):
            del after[path]


def _rewrite(path: str, raw: bytes, traces: Traces, doomed: Doomed) -> bytes | None:
    """One file's bytes without a trace of what goes; None where all of it is one."""
    if path.startswith(f"{JOURNAL}/"):
        return _rewrite_journal(raw, traces, doomed)
    if path.startswith(f"{EPISODES}/"):
        head, rows = read_episode(raw)
        if not head:
            return traces.redact_bytes(raw)
        if doomed.target.kind != "string":
            rows = [row for row in rows if not traces.found_in_value(row)]
        new_head, new_rows = traces.redact_value(head), [traces.redact_value(row) for row in rows]
        return raw if (new_head, new_rows) == read_episode(raw) else pack_episode(new_head, new_rows)
    if doomed.target.kind != "string" and (path == MEMORY_FILE or path.startswith("logs/") or path.endswith(".jsonl")):
        lines = raw.split(b"\n")
        return b"\n".join(line for line in lines if not traces.found_in(line.decode("utf-8", "surrogateescape")))
    rewritten = traces.redact_bytes(raw)
    if rewritten != raw:
        _check_readable(path, raw, rewritten)
    return rewritten


def _check_readable(path: str, before: bytes, after: bytes) -> None:
    """Raise where a file that could be read could not be any more."""
    if path.startswith(LESSON_FOLDERS):
        was = parse_solution(path, before.decode("utf-8", "replace"))
        now = parse_solution(path, after.decode("utf-8", "replace"))
        if isinstance(now, Problem) and not isinstance(was, Problem):
            raise StoreError(f"{path}: could not be read without that string ({now.reason}). Nothing was forgotten.")
    elif path.endswith((".yaml", ".yml")):
        try:
            safe_yaml(before.decode("utf-8", "replace"))
        except yaml.YAMLError:
            return
        try:
            safe_yaml(after.decode("utf-8", "replace"))
        except yaml.YAMLError:
            raise StoreError(f"{path}: could not be read without that string. Nothing was forgotten.") from None


def _rewrite_journal(raw: bytes, traces: Traces, doomed: Doomed) -> bytes:
    """A journal in which each change that held something of what goes says only that it was forgotten."""
    lines = []
    for line in raw.split(b"\n"):
        row = _change_row(line)
        if row is None or not (_touches_gone(row, doomed) or traces.found_in_value(row)):
            lines.append(line)
            continue
        blank = {"path": "", "why": FORGOTTEN, "before": None, "after": None, "was": None, "mtime": None}
        lines.append(json.dumps({**blank, "forgotten": True}, separators=(",", ":")).encode())
    return b"\n".join(lines)


def _change_row(line: bytes) -> dict[str, Any] | None:
    try:
        row = load_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "path" in row and not row.get("forgotten") else None


def _touches_gone(row: Mapping[str, Any], doomed: Doomed) -> bool:
    """Whether a change is one of a file that goes whole, or of a draft's folder: its name is made of lessons' words."""
    path = str(row["path"])
    return path in doomed.paths or any(path.startswith(folder) for folder in doomed.paths if folder.endswith("/"))


def _renamed(path: str, raw: bytes, traces: Traces) -> str:
    """Where a file goes whose name shows what was forgotten."""
    if not traces.found_in(path):
        return path
    if path.startswith(LESSON_FOLDERS):
        read = parse_solution(path, raw.decode("utf-8", "replace"))
        if isinstance(read, Solution):
            to = path.partition(SOLUTIONS)[0] + path_for(read)
            if not traces.found_in(to):
                return to
    return traces.redact_path(path)


def describe(before: Files, after: Files) -> list[str]:
    """What would change, a line for each file: gone, brought back or changed."""
    lines = []
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            lines.append(f"- {path}")
        elif path not in before:
            lines.append(f"+ {path}")
        elif before[path] != after[path]:
            lines.append(f"~ {path}")
    return lines
