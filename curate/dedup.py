"""Merge near-duplicates: one keeper per cluster with everything the others say, the others in the archive.

What differs in a value is never merged: it becomes a note with the differing words, until a person says "keep both".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from curate.guard import statements, uncovered
from detectors.duplicates import Pair, cluster_pairs, distinct_hashes, jaccard_of
from detectors.traits import content_words
from index.bullets import render_bullets
from index.changes import Change, Note, Plan, move
from index.decode import load_json
from index.frontmatter import edit_frontmatter
from index.literals import Difference, differs
from index.records import IMPORTANCE_RANK, TRUST_RANK, Importance, Solution
from index.settings import DedupSettings
from index.signatures import encode
from index.store import ARCHIVE, retired_path

DECISIONS_FILE = "decisions.jsonl"
KEEP_BOTH = "keep both"
KeptApart = frozenset[tuple[str, str]]
Differ = Callable[[Solution, Solution], tuple[Difference, ...]]


@dataclass(frozen=True, slots=True)
class Merge:
    """One cluster as it is to be merged: places of the solution kept and of those archived, and how alike they are."""

    keep: int
    drop: tuple[int, ...]
    similarity: tuple[float, ...]


def content_hash(solution: Solution) -> str:
    """16 hex digits that change whenever what a solution states does."""
    return hashlib.sha256(f"{solution.title}\0{solution.body}".encode()).hexdigest()[:16]


def pair_key(a: Solution, b: Solution) -> tuple[str, str]:
    """The name under which a decision about two solutions is remembered, until one of them changes."""
    first, second = sorted((content_hash(a), content_hash(b)))
    return first, second


def parse_decisions(text: str) -> KeptApart:
    """The pairs that a person wants to keep apart, from the lines of `decisions.jsonl`; lines of other kinds pass."""
    kept: set[tuple[str, str]] = set()
    for line in text.splitlines():
        try:
            row = load_json(line)
        except ValueError:
            continue
        pair = row.get("pair") if isinstance(row, dict) and row.get("decision") == KEEP_BOTH else None
        if isinstance(pair, list) and len(pair) == 2:
            first, second = sorted(str(key) for key in pair)
            kept.add((first, second))
    return frozenset(kept)


def render_decision(a: Solution, b: Solution, who: str, day: str) -> str:
    """The line of `decisions.jsonl` that keeps two solutions apart."""
    row = {"decision": KEEP_BOTH, "pair": list(pair_key(a, b)), "ids": sorted((a.id, b.id)), "who": who, "day": day}
    return json.dumps(row, ensure_ascii=False) + "\n"


def text_differences(
    a: Solution, b: Solution, differ: Callable[[str, str], tuple[Difference, ...]] = differs
) -> tuple[Difference, ...]:
    """The values in which two solutions, title and body, contradict each other; `differ` finds those of two texts."""
    if a.title == b.title and a.body == b.body:
        return ()
    return differ(whole_text(a), whole_text(b))


def whole_text(solution: Solution) -> str:
    """What two solutions are compared by: title and body."""
    return f"{solution.title}.\n\n{solution.body}"


def plan_dedup(
    solutions: Sequence[Solution],
    pairs: Iterable[Pair],
    settings: DedupSettings,
    kept_apart: KeptApart = frozenset(),
    mtimes: Mapping[str, int] | None = None,
    similarity: Callable[[int, int], float] | None = None,
    differ: Differ = text_differences,
) -> Plan:
    """Merge each cluster of near-duplicates into its best member: trust, confidence, newest, longest.

    `pairs` are places in `solutions`; `mtimes` the files' mtimes in nanoseconds, by path: a merge refreshes nothing
    beyond the newest file of the cluster. `similarity` measures two members that are no pair. Reviewed solutions and
    principles stay as they are; an external one is merged only with external ones.
    """
    merges, skipped, notes = decide_merges(solutions, pairs, settings, kept_apart, similarity, differ)
    changes: list[Change] = []
    for merge in merges:
        changes += merge_changes(solutions[merge.keep], [solutions[place] for place in merge.drop], mtimes or {})
    return Plan("dedup", tuple(changes), tuple(sorted(skipped)), tuple(notes))


def decide_merges(
    solutions: Sequence[Solution],
    pairs: Iterable[Pair],
    settings: DedupSettings,
    kept_apart: KeptApart = frozenset(),
    similarity: Callable[[int, int], float] | None = None,
    differ: Differ = text_differences,
) -> tuple[tuple[Merge, ...], list[tuple[str, str]], list[Note]]:
    """The clusters to merge; (path, reason) of what is left out; a note for every pair that differs in a value.

    Members that a keeper cannot take form clusters among themselves in the next round.
    """
    skipped: dict[str, str] = {}
    notes: dict[tuple[int, int], Note] = {}
    separate: set[tuple[int, int]] = set()
    open_pairs = []
    ordered = sorted(pairs, key=lambda pair: (pair.a, pair.b))
    barred = {(p.a, p.b): why for p in ordered if (why := _apart(solutions[p.a], solutions[p.b], kept_apart))}
    elsewhere = _other_subjects([p for p in ordered if (p.a, p.b) not in barred], solutions, settings.threshold)
    for pair in ordered:
        reason = barred.get((pair.a, pair.b)) or elsewhere.get((pair.a, pair.b))
        if reason:
            separate.add((pair.a, pair.b))
            skipped.setdefault(solutions[pair.b].path, f"{reason} (near-duplicate of {solutions[pair.a].path})")
        else:
            open_pairs.append(pair)
    merges: list[Merge] = []
    while open_pairs:
        refused: set[tuple[int, int]] = set()
        taken: set[int] = set()
        partners = _partners(open_pairs)
        for cluster in cluster_pairs(open_pairs, settings.cluster_bound, similarity, lambda i: rank(solutions[i])):
            members = (cluster.keep, *cluster.drop)
            keep = _keeper(members, partners, solutions, cluster.keep)
            merge = _accept(keep, members, solutions, differ, separate, notes, refused)
            if merge.drop:
                likeness = tuple(partners[merge.keep][place] for place in merge.drop)
                merges.append(Merge(merge.keep, merge.drop, likeness))
                taken.update((merge.keep, *merge.drop))
        if not refused:
            break
        open_pairs = [p for p in open_pairs if p.a not in taken and p.b not in taken and (p.a, p.b) not in refused]
    merged = {solutions[place].path for merge in merges for place in (merge.keep, *merge.drop)}
    left = [(path, reason) for path, reason in skipped.items() if path not in merged]
    return tuple(sorted(merges, key=lambda merge: merge.keep)), left, [notes[key] for key in sorted(notes)]


def merge_changes(keeper: Solution, others: Sequence[Solution], mtimes: Mapping[str, int]) -> list[Change]:
    """The keeper's new text and the others' moves into the archive; nothing where the keeper has it all already."""
    newest = max((mtimes[s.path] for s in (keeper, *others) if s.path in mtimes), default=None)
    after = merged_text(keeper, others)
    changes: list[Change] = []
    if after != keeper.text:
        why = "takes in " + ", ".join(other.path for other in others)
        changes.append(Change(keeper.path, keeper.text.encode(), after.encode(), why, mtime_ns=newest))
    for other in others:
        changes += archive_changes(other, keeper.id, f"near-duplicate of {keeper.path}", mtimes.get(other.path))
    return [replace(change, unit=f"merge {keeper.path}") for change in changes]


def archive_changes(solution: Solution, successor: str, why: str, mtime_ns: int | None) -> tuple[Change, Change]:
    """A solution's move into the archive, with the id of the one that replaces it."""
    retired = edit_frontmatter(solution.text, {"superseded_by": successor}).encode()
    to = retired_path(ARCHIVE, solution.path)
    return move(solution.path, to, solution.text.encode(), why, mtime_ns, retired)


def merged_text(keeper: Solution, others: Sequence[Solution]) -> str:
    """The keeper's file with the union of triggers, sources and tags, and every statement it lacks appended verbatim.

    Dates and counts are those of the evidence, the newest and the sum; the keeper's own words stay untouched.
    """
    values: dict[str, object] = {}
    triggers, sources, tags = keeper.triggers, keeper.sources, keeper.tags
    for other in others:
        triggers = triggers.union(other.triggers)
        sources += tuple(source for source in other.sources if source not in sources)
        tags += tuple(tag for tag in other.tags if tag not in tags)
    every = (keeper, *others)
    fields: dict[str, object] = {
        "triggers": triggers,
        "sources": sources,
        "tags": tags,
        "verified": max((s.verified for s in every if s.verified), default=None),
        "importance": _most_important(every),
        "helpful": sum(s.helpful for s in every),
        "harmful": sum(s.harmful for s in every),
        "supersedes": tuple(dict.fromkeys([i for s in every for i in s.supersedes] + [s.id for s in others])),
    }
    values = {key: value for key, value in fields.items() if value != getattr(keeper, key)}
    text = edit_frontmatter(keeper.text, values) if values else keeper.text
    missing = uncovered([text for other in others for text in statements(other)], statements(keeper))
    if not missing:
        return text
    return text.rstrip() + "\n\n" + render_bullets(missing)


def _apart(a: Solution, b: Solution, kept_apart: KeptApart) -> str:
    """Why two solutions must not be merged whatever they say; "" where nothing stands against it."""
    for one in (a, b):
        if one.trust == "reviewed":
            return "a person reviewed one of them"
        if one.type == "principle":
            return "a principle is never merged"
        if one.superseded_by:
            return "one of them is superseded"
    if (a.trust == "external") != (b.trust == "external"):
        return "one of them derives from external text"
    return "a person keeps both" if pair_key(a, b) in kept_apart else ""


def _other_subjects(
    pairs: Sequence[Pair], solutions: Sequence[Solution], threshold: float
) -> dict[tuple[int, int], str]:
    """Why lessons whose bodies are alike are not, by pair: their titles are about other things, and with them the whole
    texts are no longer alike. A short body ("Restart it.") says little beside its title."""
    titles = {place: content_words(solutions[place].title) for pair in pairs for place in (pair.a, pair.b)}
    apart = [
        (pair.a, pair.b)
        for pair in pairs
        if 2 * len(titles[pair.a] & titles[pair.b]) < len(titles[pair.a] | titles[pair.b])
    ]
    places = sorted({place for pair in apart for place in pair})
    texts = (encode(f"{solutions[place].title}\n\n{solutions[place].body}") for place in places)
    whole = dict(zip(places, distinct_hashes(texts), strict=True))
    return {
        (a, b): "their titles are about other things" for a, b in apart if jaccard_of(whole[a], whole[b]) < threshold
    }


def rank(solution: Solution) -> tuple[object, ...]:
    """What sorts the best solution first: trust, confidence, newest, longest."""
    return (
        -TRUST_RANK[solution.trust],
        -solution.confidence,
        -solution.created.timestamp(),
        -len(solution.body),
        solution.id,
    )


def _partners(pairs: Iterable[Pair]) -> dict[int, dict[int, float]]:
    """How alike each member of a pair is to those that it is paired with."""
    partners: dict[int, dict[int, float]] = {}
    for pair in pairs:
        partners.setdefault(pair.a, {})[pair.b] = pair.jaccard
        partners.setdefault(pair.b, {})[pair.a] = pair.jaccard
    return partners


def _keeper(
    members: Sequence[int], partners: Mapping[int, Mapping[int, float]], solutions: Sequence[Solution], centre: int
) -> int:
    """The best member among those that are paired with every other one."""
    every = frozenset(members)
    full = [member for member in members if every - {member} <= partners[member].keys()] or [centre]
    return min(full, key=lambda member: rank(solutions[member]))


def _accept(
    keep: int,
    members: Sequence[int],
    solutions: Sequence[Solution],
    differ: Differ,
    separate: set[tuple[int, int]],
    notes: dict[tuple[int, int], Note],
    refused: set[tuple[int, int]],
) -> Merge:
    """The members that contradict neither the keeper nor what the keeper takes from others; the rest is noted."""
    accepted: list[int] = []
    adding: list[int] = []
    for member in sorted(members, key=lambda place: rank(solutions[place])):
        if member == keep:
            continue
        barred = (o for o in (keep, *accepted) if (min(o, member), max(o, member)) in separate)
        against = next(barred, None)
        if against is None:
            against = _contradicted(member, (keep, *adding), solutions, differ, notes)
        if against is None:
            accepted.append(member)
            if uncovered(statements(solutions[member]), statements(solutions[keep])):
                adding.append(member)
        else:
            refused.add((min(member, keep), max(member, keep)))
            refused.add((min(member, against), max(member, against)))
    return Merge(keep, tuple(sorted(accepted)), ())


def _contradicted(
    member: int,
    others: Iterable[int],
    solutions: Sequence[Solution],
    differ: Differ,
    notes: dict[tuple[int, int], Note],
) -> int | None:
    for other in others:
        found = differ(solutions[other], solutions[member])
        if found:
            key = (min(other, member), max(other, member))
            notes.setdefault(key, conflict_note(solutions[other], solutions[member], found))
            return other
    return None


def conflict_note(a: Solution, b: Solution, differences: Sequence[Difference]) -> Note:
    """What a person sees of two solutions that are alike but for some values."""
    words = "; ".join(str(difference) for difference in differences[:5])
    more = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
    return Note("conflict", b.path, f"like {a.path} but for {words}{more}")


def _most_important(solutions: Iterable[Solution]) -> Importance:
    return max((solution.importance for solution in solutions), key=lambda importance: IMPORTANCE_RANK[importance])
