"""What an agent may do with its memory over MCP: remember, recall, supersede, why; plain functions that answer in text.

Whatever an agent says is weighed as its own word and no more: what it tells is redacted, scanned and journaled like
all else, it cannot overrule a person, and what it is given is scanned text, marked as data.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from curate.retire import plan_supersede
from curate.verdicts import read_verdicts, servable
from detectors.poison.scan import rule_set_version, scan_text
from flows.context import World, open_pass
from flows.hook_give import CLOSING, OPENING, harmless
from flows.layers import Question, ask_layers, find_layers, from_project, keep_empty
from flows.pipeline import apply_one, finish
from flows.report import Report
from flows.stages import quarantine, refuses
from flows.why import why_json
from index.errors import UsageError
from index.lookup import find_solution
from index.plural import plural
from index.recall import render_found
from index.records import EXTERNAL_ORIGINS, Solution
from index.store import QUARANTINE, SOLUTIONS, read_store
from reflect.redact import redact_text
from reflect.told import Told, plan_told

MOST_GIVEN = 10
LONGEST_QUESTION = 4_000
LONGEST_WHY = 500
SHOWN = 600
SHOWN_TURNS = 12


def remember(world: World, told: Told, teller: str) -> str:
    """Keep a lesson and say what became of it."""
    report = remember_told(world, told, f"mcp:{teller}")
    line = next(stage for stage in report.stages if stage.stage == "remember")
    if line.skipped:
        return f"Not kept: {line.skipped[0][1]}."
    if line.refused:
        raise UsageError(f"Not kept: {line.refused[0][1]}")
    redacted = "".join(f" {note.text} were taken out of it." for note in line.notes if note.kind == "redacted")
    back = f" To take it back, a person runs: hotwash undo {report.run}"
    kept = [(solution, verdict) for solution, verdict in report.solutions if solution.path == line.changes[0].path]
    if not kept:
        return f"It was put into quarantine: the scan takes it for an attack. A person can look at it.{redacted}{back}"
    solution, verdict = kept[0]
    if solution.trust == "external":
        return f"Kept as {solution.id}, and given to nobody until a person releases it.{redacted}{back}"
    if verdict is None or verdict.answer != "clean":
        return (
            f"Kept as {solution.id}, but it looks suspect: given to nobody until a person releases it.{redacted}{back}"
        )
    silent = "" if solution.triggers else " It has no trigger: only words and the pack bring it up."
    return f"Kept as {solution.id}.{silent}{redacted}{back}"


def remember_told(world: World, told: Told, source: str) -> Report:
    """File a told lesson, scan it, and move it out of reach where it is an attack: one run, like all others."""
    with open_pass(world, "remember") as run:
        pulled = read_store(world.root, QUARANTINE).solutions
        adopted = run.adopted() | {source.sha256 for one in pulled for source in one.sources}
        run.land(
            plan_told(
                told,
                source,
                world.now,
                run.known(),
                adopted,
                world.settings.redact,
                run.forgotten.redact,
                refuses(run),
            )
        )
        quarantine(run, judged=False)
        finish(run)
        return run.report


def recall(world: World, cwd: Path, question: Question, k: int, project: str) -> str:
    """The lessons that fit, as one block of data; a plain sentence where none does."""
    if not question:
        raise UsageError("Nothing is asked. Give words, a path, a command or an error.")
    if not 1 <= k <= MOST_GIVEN:
        raise UsageError(f"k is a number of lessons from 1 to {MOST_GIVEN}, found {k}.")
    cut = Question(
        question.query[:LONGEST_QUESTION],
        from_project(question.path[:LONGEST_QUESTION], cwd) if question.path.strip() else "",
        question.command[:LONGEST_QUESTION],
        question.error[-LONGEST_QUESTION * 4 :],
    )
    found = ask_layers(find_layers(world.root, cwd, world.env), cut, k, project, world.now.date())
    if not found:
        keep_empty(world.root, cut, project, world.now, world.settings.redact)
        return "No lesson fits."
    return as_data(render_found(one, world.now.date(), why=True) for one in found)


def as_data(texts: Iterable[str]) -> str:
    """Texts in the block that marks them as data, which nothing in them can end."""
    return "\n".join([OPENING, *(harmless(text) for text in texts), CLOSING])


def supersede(world: World, old_id: str, new_id: str, why: str) -> str:
    """Let a lesson of an agent's own be replaced by a newer one; what a person said or approved stays."""
    old = find_solution(world.root, old_id, (SOLUTIONS,))
    new = find_solution(world.root, new_id, (SOLUTIONS,))
    by_hand = f"Ask the person to run: hotwash supersede {old.id} --by {new.id}"
    if old.trust == "reviewed" or any(source.origin == "person" for source in old.sources):
        raise UsageError(f"{old.id} rests on a person's word, which an agent cannot overrule. {by_hand}")
    if not may_serve(world, new):
        raise UsageError(f"{new.id} has no clean scan of its present text, so it cannot replace another. {by_hand}")
    reason = redact_text(" ".join(why.split())[:LONGEST_WHY], world.settings.redact)[0]
    report = apply_one(world, "supersede", plan_supersede(old, new, reason))
    if report.failed:
        raise UsageError(f"{old.id} was not replaced: {report.stages[0].refused[0][1]}")
    return f"{old.id} is archived, {new.id} replaces it. To take it back, a person runs: hotwash undo {report.run}"


def why(world: World, identity: str) -> str:
    """A lesson with what it rests on; turns that are not clean or came from outside are counted, not shown."""
    solution = find_solution(world.root, identity, (SOLUTIONS,))
    verdicts = read_verdicts(world.root, rule_set_version())
    if not servable(solution, verdicts):
        raise UsageError(
            f"{solution.id} is given to nobody: it is external, or its present text has no clean scan. "
            f"A person sees it with: hotwash why {solution.id}"
        )
    facts = why_json(world.root, solution, verdicts)
    lines = [f"## {solution.title}", solution.body.strip()]
    lines += [f"fires on {kind}: {', '.join(values)}" for kind, values in facts["triggers"].items() if values]
    lines.append(
        f"([{solution.id}] {solution.category}/{solution.type}, {solution.trust}, confidence {solution.confidence:g}, "
        f"since {solution.created.date()}, helped {plural(solution.helpful, 'time')}, "
        f"failed {plural(solution.harmful, 'time')})"
    )
    for source in facts["evidence"]:
        where = f" lines {source['lines'][0]}-{source['lines'][1]}" if source["lines"] else ""
        lines.append(f"evidence: {source['session']}{where} ({source['origin'] or 'origin not told'})")
        shown = [text for turn in source["turns"][:SHOWN_TURNS] if (text := turn_text(turn))]
        lines += shown
        if left := len(source["turns"]) - len(shown):
            lines.append(f"  ({plural(left, 'turn is', 'turns are')} not shown)")
    return as_data(["\n".join(lines)])


def turn_text(turn: dict[str, object]) -> str:
    """A kept turn in short; "" for one that came from outside or does not scan clean."""
    texts = (str(turn.get(key) or "").strip()[:SHOWN] for key in ("command", "said", "text"))
    text = "\n".join(f"    {line}" for part in texts if part for line in part.split("\n"))
    if turn.get("origin") in EXTERNAL_ORIGINS or scan_text(text).answer != "clean":
        return ""
    outcome = turn.get("outcome")
    mark = f" [{outcome}]" if outcome in ("failed", "passed") else ""
    return f"  {turn.get('who')} {turn.get('tool') or ''}{mark}\n{text}"


def may_serve(world: World, solution: Solution) -> bool:
    """Whether a lesson's present text may be given to an agent."""
    return servable(solution, read_verdicts(world.root, rule_set_version()))
