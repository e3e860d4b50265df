"""Move what the poison scan condemns out of reach; nothing is deleted, and the reason travels with the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath

from curate.drafts import EVIDENCE_FILE, Decided, Draft, sha256
from index.changes import Change, Note, Plan, digest, move
from index.errors import UsageError
from index.frontmatter import edit_frontmatter
from index.records import Solution, Verdict
from index.store import QUARANTINE, retired_path

SHOWN_RULES = 4
# Behind the name of a pulled skill or draft, so that nothing takes the file for a lesson.
PULLED = ".pulled"


def plan_quarantine(solutions: Iterable[Solution], verdicts: Mapping[str, Verdict]) -> Plan:
    """Move every solution whose verdict is poison to quarantine/<its path>; `verdicts` is by path.

    A suspect one stays where it is and is noted: nothing serves it until a person has looked. One without a verdict
    is left alone and counted as skipped; the same file's bytes come back when the plan is undone.
    """
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    notes: list[Note] = []
    for solution in sorted(solutions, key=lambda one: one.path):
        verdict = verdicts.get(solution.path)
        if verdict is None:
            skipped.append((solution.path, "not scanned"))
        elif verdict.answer == "poison":
            changes.extend(quarantine(solution, reason_of(verdict)))
        elif verdict.answer == "suspect":
            notes.append(Note("suspect", solution.path, f"{reason_of(verdict)}; it is served to nobody until released"))
    return Plan("quarantine", tuple(changes), tuple(skipped), tuple(notes))


def plan_quarantine_source(
    solutions: Iterable[Solution],
    source: str,
    why: str,
    *,
    retired: Iterable[Solution] = (),
    drafts: Iterable[Draft] = (),
    decisions: Iterable[Decided] = (),
    read: Callable[[str], bytes | None] = lambda path: None,
) -> Plan:
    """Move all that derives from one source: a session's key, an address or a file's hash.

    A solution derives from it where one of its sources names it, or where it supersedes one that does; `retired` are
    the archived and quarantined ones, which carry the taint and stay where they are. Drafts and published skills derive
    from it where they rest on such a solution, or on the session itself. `read` gives the bytes of a published file,
    None where it is gone. What was pulled is in the plan's notes; a plan without notes knows of nothing from there.
    """
    if not source.strip():  # every source has an empty field, so an empty name would pull the whole store
        raise UsageError("quarantine: the source is empty. Give a session's key, an address or a file's SHA-256.")
    live = tuple(solutions)
    everything = (*live, *retired)
    tainted = {one.id for one in everything if any(source in (s.session, s.ref, s.sha256) for s in one.sources)}
    while True:
        derived = {one.id for one in everything if one.id not in tainted and tainted.intersection(one.supersedes)}
        if not derived:
            break
        tainted |= derived
    reason = f"derives from {source}: {why}" if why else f"derives from {source}"
    changes: list[Change] = []
    notes: list[Note] = []
    for one in sorted((one for one in live if one.id in tainted), key=lambda one: one.path):
        changes += quarantine(one, reason)
        notes.append(Note("pulled", one.path, reason))
    kept = sorted(one.path for one in everything if one.id in tainted and one not in live)
    notes += (Note("out of reach already", path, reason) for path in kept)
    for draft in drafts:
        if tainted & draft.solutions or source in draft.sessions:
            changes += _pull_draft(draft, reason, read)
            notes.append(Note("pulled", draft.folder, f"a draft that {reason}"))
    for decided in decisions:
        if decided.choice == "publish" and (tainted & decided.solutions or source in decided.sessions):
            pulled, said = _pull_published(decided, reason, read)
            changes += (change for change in pulled if change.path not in {known.path for known in changes})
            notes += said
        elif decided.choice == "rules" and (tainted & decided.solutions or source in decided.sessions):
            notes += (
                Note("look at", target.path, f"holds a rule that {reason}; take it out by hand")
                for target in decided.targets
            )
    return Plan("quarantine", tuple(changes), notes=tuple(notes))


def _pull_draft(draft: Draft, reason: str, read: Callable[[str], bytes | None]) -> Iterator[Change]:
    for name in (*draft.files, EVIDENCE_FILE):
        path = f"{draft.folder}/{name}"
        content = read(path)
        if content is not None:
            to = f"{QUARANTINE}/drafts/{draft.name}/{name}{PULLED}"
            yield from (replace(change, unit=f"pull {draft.folder}") for change in move(path, to, content, reason))


def _pull_published(
    decided: Decided, reason: str, read: Callable[[str], bytes | None]
) -> tuple[list[Change], list[Note]]:
    """The files that publishing wrote, moved into the store's quarantine, and what to say of each."""
    changes: list[Change] = []
    notes: list[Note] = []
    for target in decided.targets:
        content = read(target.path)
        if content is None:
            notes.append(Note("gone already", target.path, f"a published skill that {reason}"))
            continue
        to = f"{QUARANTINE}/skills/{sha256(target.path)[:8]}/{PurePath(target.path).name}{PULLED}"
        pulled = move(target.path, to, content, reason)
        changes += (replace(change, unit=f"pull {decided.name or decided.draft}") for change in pulled)
        edited = "" if digest(content) == target.sha256 else ", edited by hand since"
        notes.append(Note("pulled", target.path, f"a published skill that {reason}{edited}"))
    if decided.branch is not None:
        where = f"{decided.branch.repository} {decided.branch.name}"
        notes.append(Note("look at", where, f"a branch that holds a skill which {reason}; delete or revert it"))
    return changes, notes


def quarantine(solution: Solution, reason: str) -> tuple[Change, Change]:
    """One solution's move to quarantine, with the reason in its front matter."""
    marked = edit_frontmatter(solution.text, {"quarantined": reason})
    return move(
        solution.path, retired_path(QUARANTINE, solution.path), solution.text.encode(), reason, new=marked.encode()
    )


def reason_of(verdict: Verdict) -> str:
    """A verdict in one line: what it found, the gravest first, with the rules' ids."""
    order = {"high": 0, "medium": 1, "low": 2}
    graver = sorted(verdict.findings, key=lambda finding: (order[finding.severity], finding.span))
    said = dict.fromkeys(f"{finding.reason} ({finding.rule})" for finding in graver)
    shown = list(said)[:SHOWN_RULES]
    more = len(said) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "") or f"score {verdict.score:g}"
