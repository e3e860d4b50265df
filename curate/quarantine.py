"""Move what the poison scan condemns out of reach; nothing is deleted, and the reason travels with the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from index.changes import Change, Note, Plan, move
from index.frontmatter import edit_frontmatter
from index.records import Solution, Verdict
from index.store import QUARANTINE, retired_path

SHOWN_RULES = 4


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


def plan_quarantine_source(solutions: Iterable[Solution], source: str, why: str) -> Plan:
    """Move all that derives from one source: a session's key, an address or a file; merges of it included.

    A solution derives from it where one of its sources names it, or where it supersedes one that does. What it pulled
    is in the plan's notes.
    """
    everything = tuple(solutions)
    tainted = {one.id for one in everything if any(source in (s.session, s.ref, s.sha256) for s in one.sources)}
    while True:
        derived = {one.id for one in everything if one.id not in tainted and tainted.intersection(one.supersedes)}
        if not derived:
            break
        tainted |= derived
    pulled = sorted((one for one in everything if one.id in tainted), key=lambda one: one.path)
    reason = f"derives from {source}: {why}" if why else f"derives from {source}"
    changes = tuple(change for one in pulled for change in quarantine(one, reason))
    return Plan("quarantine", changes, notes=tuple(Note("pulled", one.path, reason) for one in pulled))


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
