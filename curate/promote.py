"""Promote what three independent sessions show into a draft skill, or into an improvement of one that exists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from curate.consolidate import Ask
from curate.drafting import Written, draft_name, find_inventions, order_solutions, write_draft
from curate.drafts import (
    ACCEPTED,
    DETAILS_FILE,
    EVIDENCE_FILE,
    Decided,
    Draft,
    Evidence,
    Improvement,
    render_evidence,
    sha256,
)
from curate.improve import covering_skill, improved_text
from curate.review import FindSecrets, Scan
from curate.skills import SKILL_FILE, Skill, check_skill, render_skill
from curate.wording import word_draft
from detectors.recurrence import Pattern
from index.changes import Change, Note, Plan
from index.plural import plural
from index.records import EXTERNAL_ORIGINS, Problem, Solution, Source
from index.settings import PromoteSettings


@dataclass(frozen=True, slots=True)
class Known:
    """What a promotion must not repeat: the skills of all agents, the drafts that wait, and what was decided."""

    skills: Sequence[Skill] = ()
    drafts: Sequence[Draft] = ()
    decisions: Sequence[Decided] = ()


def plan_promote(
    patterns: Iterable[Pattern],
    solutions: Iterable[Solution],
    known: Known,
    today: date,
    settings: PromoteSettings,
    *,
    scan: Scan,
    find_secrets: FindSecrets,
    dates: Mapping[str, date] | None = None,
    places: Mapping[str, str] | None = None,
    ask: Ask | None = None,
) -> Plan:
    """The drafts that these patterns are worth, and why the others are none.

    `solutions` are those that may be served. `dates` and `places` are the days and projects of sessions, where known;
    else a solution's own. A draft that waits is renewed when its evidence has grown, unless a person has edited it.
    With `ask` a model arranges the text of a new skill, and is asked only about drafts that are made.
    """
    by_id = {solution.id: solution for solution in solutions}
    taken = {skill.name for skill in known.skills} | {draft.name for draft in known.drafts}
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    notes: list[Note] = []
    for pattern in sorted(patterns, key=lambda pattern: (pattern.name, pattern.ids)):
        members = order_solutions([by_id[identity] for identity in pattern.ids if identity in by_id])
        result = _promote(pattern, members, known, taken, today, settings, dates or {}, places or {})
        if isinstance(result, str):
            skipped.append((pattern.name, result))
            continue
        old, draft, written = result
        texts = [solution.text or f"{solution.title}\n{solution.body}" for solution in members]
        if reason := _unfit(draft, texts, scan, find_secrets):
            skipped.append((pattern.name, reason))
            continue
        if ask is not None and draft.improves is None:
            draft, note = _worded(draft, members, texts, ask, scan, find_secrets)
            notes.append(note)
        taken.add(draft.name)
        changes += _draft_changes(old, draft)
        notes += [Note("conflict", draft.folder, f"differ in a value: {a!r} and {b!r}") for a, b in written.disputed]
    return Plan("promote", tuple(changes), tuple(skipped), tuple(notes))


def _promote(
    pattern: Pattern,
    members: Sequence[Solution],
    known: Known,
    taken: set[str],
    today: date,
    settings: PromoteSettings,
    dates: Mapping[str, date],
    places: Mapping[str, str],
) -> tuple[Draft | None, Draft, Written] | str:
    """(the draft that waits already, the new draft, its text), or why there is none."""
    if not pattern.promotable(settings.sessions, settings.days):
        shown = f"{plural(len(pattern.sessions), 'independent session')} on {plural(len(pattern.days), 'day')}"
        return f"{shown} show it; {settings.sessions} on {settings.days} are wanted"
    sessions = frozenset(pattern.sessions)
    rows = tuple(row for solution in members for row in _rows(solution, dates, places) if row.session in sessions)
    identities = _identities(members)
    past = [decided for decided in known.decisions if decided.solutions & identities]
    before = {session for decided in past if decided.choice == "reject" for session in decided.sessions}
    if before and not sessions - before:
        return "it was rejected, and no session beyond those of then shows it"
    published = {session for decided in past if decided.choice in ACCEPTED for session in decided.sessions}
    if published and not sessions - published:
        return "it is published, and no session beyond those of then shows it"
    old = next((draft for draft in known.drafts if draft.solutions & identities), None)
    if old is not None and sessions <= old.sessions and identities <= old.solutions:
        return f"the draft {old.name} waits for a person already"
    if old is not None and old.edited:
        return f"the draft {old.name} was edited by a person; new evidence is not worked in until it is decided"
    written = write_draft(members)
    rows = _with_adds(rows, written)
    news = tuple(sorted(sessions - before)) if before else ()
    covering = _covering(members, written, known, past)
    if covering is not None:
        text = improved_text(covering.text, f"{written.body}\n\n{written.details}")
        if text == covering.text:
            return f"the skill {covering.name} ({covering.path}) says all of it already"
        name = old.name if old else _free_name(covering.name, taken - {covering.name})
        improves = Improvement(covering.path, sha256(covering.text), covering.text)
        draft = Draft(name, text, rows, pattern.why, today, sha256(text), improves, news)
        return old, draft, written
    name = old.name if old else _free_name(draft_name(pattern.name), taken)
    text = _render(name, written, len(sessions))
    draft = Draft(name, text, rows, pattern.why, today, sha256(text), None, news, written.details)
    return old, draft, written


def _render(name: str, written: Written, sessions: int) -> str:
    return render_skill(Skill(name, written.description, written.body, {"hotwash-sessions": str(sessions)}))


def _worded(
    draft: Draft, members: Sequence[Solution], evidence: Sequence[str], ask: Ask, scan: Scan, find_secrets: FindSecrets
) -> tuple[Draft, Note]:
    """The draft as a model arranges it, where that may stand; else the plain one. A note says which, and why."""
    worded = word_draft(members, ask)
    if isinstance(worded, str):
        return draft, Note("model", draft.folder, f"drafted without the model: {worded}")
    text = _render(draft.name, worded.written, len(draft.sessions))
    better = replace(draft, text=text, written_sha256=sha256(text), details=worded.written.details)
    if reason := _unfit(better, evidence, scan, find_secrets):
        return draft, Note("model", draft.folder, f"drafted without the model: {reason}")
    counts = f"{len(worded.dropped)} of its statements dropped, {worded.appended} that it lost put back"
    return better, Note("model", draft.folder, f"arranged by the model: {counts}")


def _identities(members: Sequence[Solution]) -> frozenset[str]:
    """The ids of the solutions and of those that were merged into them: a merge must not make a no forgotten."""
    return frozenset(identity for solution in members for identity in (solution.id, *solution.supersedes))


def _rows(solution: Solution, dates: Mapping[str, date], places: Mapping[str, str]) -> list[Evidence]:
    """One row for each session of a solution; its lines are the first and last that it cites there."""
    by_session: dict[str, list[Source]] = {}
    for source in solution.sources:
        by_session.setdefault(source.session, []).append(source)
    return [
        Evidence(
            session,
            (dates.get(session) or solution.created.date()).isoformat(),
            places.get(session) or solution.project,
            _span(sources),
            solution.id,
            solution.trust == "external" or any(source.origin in EXTERNAL_ORIGINS for source in sources),
        )
        for session, sources in by_session.items()
    ]


def _span(sources: Sequence[Source]) -> tuple[int, int] | None:
    lines = [line for source in sources if source.lines for line in source.lines]
    return (min(lines), max(lines)) if lines else None


def _with_adds(rows: Sequence[Evidence], written: Written) -> tuple[Evidence, ...]:
    """The rows by date, the first of each solution with the statements that the solution adds."""
    left = dict(written.adds)
    filled = [replace(row, adds=left.pop(row.solution, ())) for row in rows]
    return tuple(sorted(filled, key=lambda row: (row.date, row.session, row.solution)))


def _covering(members: Sequence[Solution], written: Written, known: Known, past: Sequence[Decided]) -> Skill | None:
    """The skill to improve: the one that we published from these solutions, else one about the same thing."""
    ours = {target.path for decided in past if decided.choice == "publish" for target in decided.targets}
    published = next((skill for skill in known.skills if skill.path in ours), None)
    if published is not None:
        return published
    statements = [text for texts in written.adds.values() for text in texts]
    triggers = [text for solution in members for text in (*solution.triggers.errors, *solution.triggers.commands)]
    return covering_skill(written.title, statements, triggers, known.skills)


def _free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where another skill or draft bears it."""
    used = set(taken)
    if name not in used:
        return name
    number = next(number for number in range(2, len(used) + 3) if f"{name[:60]}-{number}" not in used)
    return f"{name[:60].rstrip('-')}-{number}"


def _unfit(
    draft: Draft,
    evidence: Sequence[str],
    scan: Scan,
    find_secrets: FindSecrets,
) -> str:
    """Why a draft may not be put before a person; "" if it may."""
    problems: tuple[Problem, ...] = check_skill(draft.text, draft.name) if draft.improves is None else ()
    if problems:
        return f"its draft would not be a valid skill: {problems[0].reason}"
    for text in draft.files.values():
        verdict = scan(text)
        if verdict.answer != "clean":
            return f"the poison scan calls its draft {verdict.answer} ({', '.join(verdict.rules)})"
        if find_secrets(text):
            return "its draft would hold what looks like a secret"
    known = [*evidence, *([draft.improves.before] if draft.improves else [])]
    invented = find_inventions("\n".join(draft.files.values()).replace(DETAILS_FILE, ""), known)
    return f"its draft would hold what no evidence holds: {', '.join(invented)}" if invented else ""


def _draft_changes(old: Draft | None, draft: Draft) -> list[Change]:
    """The files of a draft, from those of the one that waits already."""
    unit = f"draft {draft.name}"
    why = plural(len(draft.sessions), "session shows it", "sessions show it") + (f": {draft.why}" if draft.why else "")
    before = {**old.files, EVIDENCE_FILE: old.evidence_text} if old is not None else {}
    after = {**draft.files, EVIDENCE_FILE: render_evidence(draft)}
    return [
        Change(f"{draft.folder}/{name}", _bytes(before.get(name)), _bytes(after.get(name)), why, unit)
        for name in (SKILL_FILE, DETAILS_FILE, EVIDENCE_FILE)
        if before.get(name) != after.get(name)
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")
