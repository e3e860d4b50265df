"""The stages of a pass, each a call of one planning function whose plan the pass lands."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from curate.consolidate import Question, cluster_same, plan_consolidate
from curate.decay import matching_archived, plan_decay, plan_return
from curate.dedup import DECISIONS_FILE, KeptApart, conflict_note, pair_key, parse_decisions
from curate.drafts import read_decisions, read_drafts
from curate.effects import read_effects, tally
from curate.evidence import find_evidence, read_git_times, read_own_writes, read_seen, update_seen, write_seen
from curate.judge import at_most, judge_suspects
from curate.loss_budget import APPROVED, COUNTED, lessons_lost, loss_budget, read_losses
from curate.memory import high_lessons, plan_memory, why_not_yet
from curate.named_things import write_checked
from curate.promote import Known, plan_promote
from curate.quarantine import plan_quarantine
from curate.retention import list_episodes, plan_retention
from curate.skills import read_skills, skill_folders
from curate.snapshot import SNAPSHOTS, snapshot_name, snapshots_to_drop, write_snapshot
from curate.supersession import find_superseded, plan_supersessions
from curate.verdicts import text_hash, write_verdicts
from detectors.poison.scan import scan_text
from detectors.recurrence import Link, find_patterns
from detectors.secrets import find_secrets
from flows.context import Pass, World, recall_database
from flows.kept_answers import keep_answers
from flows.project_checks import check_projects
from flows.report import StageLine
from flows.review import note_stalled
from index.changes import Note, Plan, Run, join_plans
from index.errors import StoreError
from index.files import read_bytes, write_derived
from index.journal import journal_path, read_journal
from index.matching import SCHEMA
from index.recall_db import RECALL_DB, build, is_usable
from index.records import Solution
from index.search import render_index
from index.store import ARCHIVE, CACHE, INDEX_FILE, MEMORY_FILE, QUARANTINE, SPOOL
from reflect.ask import Prompt
from reflect.inbox import plan_import, plan_inbox, source_files
from reflect.ledger import Progress, read_ledger

if TYPE_CHECKING:
    from detectors.meaning import Judgement

RECALL_KEY = f"{CACHE}/recall.key"
MEMORY_SEEN = f"{CACHE}/memory.seen"
# Sources that are no session of an agent: they support a lesson, and never count as having met it.
NO_SESSION = ("inbox:", "import:", "mcp:", "git:")


def file_inbox(run: Pass) -> None:
    """Move what can be used from the inbox into solutions/."""
    known, adopted = run.known(), run.adopted()
    run.land(plan_inbox(run.world.root, known, adopted, run.world.settings.redact, run.forgotten.redact, refuses(run)))


def adopt_files(run: Pass, paths: Sequence[Path]) -> None:
    """Import the lessons that lie below the given paths."""
    known, adopted = run.known(), run.adopted()
    files = list(source_files(paths))
    if not files:
        run.land(Plan("import", notes=(Note("nothing", "", "there is no markdown file in what was given"),)))
        return
    run.land(plan_import(files, known, adopted, run.world.settings.redact, run.forgotten.redact, refuses(run)))


def refuses(run: Pass) -> Callable[[Solution], bool]:
    """Whether a lesson, or all of its project, was forgotten by a person."""
    stones = run.forgotten
    return lambda one: stones.forgets("lesson", one.id) or bool(one.project and stones.forgets("project", one.project))


def quarantine(run: Pass, judged: bool = True) -> None:
    """Scan what changed, have the model judge what is suspect (not where an agent waits), and move poison away."""
    run.scan()
    if judged:
        judge(run)
    verdicts = {solution.path: verdict for solution in run.store.solutions if (verdict := run.verdicts.of(solution))}
    run.land(plan_quarantine(run.store.solutions, verdicts))


def judge(run: Pass) -> None:
    """Where the settings want it, let the model look at what is suspect; it may only raise a verdict."""
    settings = run.world.settings.scan
    ask = question_door(run, settings.judge_per_run)
    if ask is None or not settings.judge:
        return
    run.verdicts, notes = judge_suspects(run.store.solutions, run.verdicts, ask)
    write_verdicts(run.world.root, run.verdicts)
    if notes:
        run.report.stages.append(StageLine("judge", notes=notes))


def revive(run: Pass) -> None:
    """Bring archived lessons back whose error was met again in the sessions that this run has read."""
    archived = run.below(ARCHIVE) if run.errors else ()
    matches = matching_archived(run.errors, archived)
    if matches:
        live = run.store.solutions
        plan = plan_return(matches, run.world.now, {one.path for one in live}, {one.id for one in live})
        run.land(plan)


def decay(run: Pass) -> None:
    """Archive what has no evidence for long, within the loss budget."""
    world, solutions, today = run.world, run.store.solutions, run.world.now.date()
    seen = read_seen(world.root)
    evidence = find_evidence(
        solutions,
        run.store.mtimes,
        today,
        recalled(world.root),
        committed=read_git_times(world.root),
        seen=seen,
        own=read_own_writes(world.root),
    )
    archived = {solution.path for solution in run.below(ARCHIVE)}
    checks, slow = check_projects(world.root, world.home, solutions, today)
    notes = [
        Note("slow", "", f"{project} took too long to look into; its lessons were not checked.") for project in slow
    ]

    def budget(plan: Plan) -> Plan:
        return within_budget(run, replace(plan, notes=(*plan.notes, *notes)))

    settings = world.settings.decay
    run.land(plan_decay(solutions, evidence, today, settings, run.store.mtimes, checks, archived, budget))
    if not run.dry_run:
        write_checked(world.root, checks)
        write_seen(world.root, update_seen(seen, run.store.solutions, run.store.mtimes))


def recalled(root: Path) -> dict[str, date]:
    """The last day on which each lesson helped a session, by id: a confirmed recall is evidence."""
    return {identity: one.helped_on for identity, one in tally(read_effects(root)).items() if one.helped_on}


def expire_episodes(run: Pass) -> None:
    """Remove old episodes that no live or archived lesson cites."""
    root = run.world.root
    solutions = (*run.store.solutions, *run.below(ARCHIVE), *run.below(QUARANTINE))
    cited = {source.session for solution in solutions for source in solution.sources}
    days = run.world.settings.reflect.episode_days
    run.land(
        plan_retention(list_episodes(root), lambda path: read_bytes(root / path) or b"", cited, run.world.now, days)
    )


def within_budget(run: Pass, plan: Plan) -> Plan:
    """The part of a plan that may archive without a person, given what earlier passes and earlier stages took."""
    today = run.world.now.date()
    losses = read_losses(run.world.root, today, but=run.run.id)
    passed = sum(lessons_lost(line.changes) for line in run.report.stages if line.stage in COUNTED)
    return loss_budget(
        plan,
        losses,
        len(run.store.solutions),
        today,
        run.world.settings.decay,
        passed=passed,
        approved=run.run.command == APPROVED,
    )


def deduplicate(run: Pass) -> None:
    """Merge near-duplicates; what differs in a value is shown to a person instead."""
    from flows.alike import near_duplicates, plan_merges

    solutions = run.cleared
    pairs = near_duplicates(run, solutions)
    run.same += [(solutions[pair.a].id, solutions[pair.b].id, "near-duplicate text") for pair in pairs]
    kept_apart = read_kept_apart(run)
    run.land(within_budget(run, plan_merges(run, solutions, pairs, kept_apart)))
    run.scan()


def consolidate(run: Pass) -> None:
    """Let the newer of two lessons win that contradict each other in time, where that is sure, and make one of those
    that say the same in other words; all other contradictions are shown to a person."""
    from flows.alike import same_meaning

    solutions = run.cleared
    kept_apart = read_kept_apart(run)
    judged = same_meaning(run, solutions)
    against = {(one.a, one.b): one for one in judged if one.judgement.answer in ("supersedes", "conflict")}
    replaced, open_pairs = find_superseded(against, solutions, kept_apart, run.world.now, run.cache)
    notes = [
        _open_note(solutions[pair[0]], solutions[pair[1]], against[pair].judgement, why)
        for pair, why in open_pairs.items()
        if pair_key(solutions[pair[0]], solutions[pair[1]]) not in kept_apart
    ]
    run.land(within_budget(run, plan_supersessions(replaced, solutions, run.store.mtimes)))
    run.scan()
    now = run.cleared
    place = {solution.id: number for number, solution in enumerate(now)}
    same: list[tuple[int, int]] = []
    for found in judged:
        a, b = solutions[found.a], solutions[found.b]
        if found.judgement.answer != "same" or a.id not in place or b.id not in place or pair_key(a, b) in kept_apart:
            continue
        same.append((place[a.id], place[b.id]))
        run.same.append((a.id, b.id, "same meaning"))
    plan = plan_consolidate(cluster_same(len(now), same), now, question_door(run), run.store.mtimes)
    run.land(within_budget(run, replace(plan, notes=(*plan.notes, *notes))))
    run.scan()


def _open_note(a: Solution, b: Solution, judgement: Judgement, why: str) -> Note:
    """What a person sees of a contradiction that the pipeline does not settle."""
    if judgement.answer == "conflict":
        note = conflict_note(a, b, judgement.differences)
        return replace(note, text=f"{note.text} (left to you: {why})")
    newer, older = (a, b) if a.created >= b.created else (b, a)
    hint = f"hotwash supersede {older.id} --by {newer.id}"
    return Note("newer", newer.path, f"seems to correct or replace {older.path}, but {why}. If it does: {hint}")


def question_door(run: Pass, most: int | None = None) -> Callable[[Question], str] | None:
    """The run's model as what judges suspects and words merges and drafts asks it, each question once and at most so
    many new ones; None where none is configured."""
    ask = run.ask
    if ask is None:
        return None

    def put(question: Question) -> str:
        return ask(Prompt(question.system, question.prompt, question.schema))

    world = run.world
    return keep_answers(world.root, world.settings.model.name, put if most is None else at_most(put, most))


def read_kept_apart(run: Pass) -> KeptApart:
    """The pairs of which a person said "keep both"."""
    return parse_decisions((read_bytes(run.world.root / DECISIONS_FILE) or b"").decode("utf-8", "replace"))


def promote(run: Pass) -> None:
    """Draft a skill of what enough independent sessions have shown."""
    world, solutions = run.world, run.served
    ledger = read_ledger(world.root)
    days = {key: date.fromisoformat(read.finished[:10]) for key, read in ledger.items() if read.finished}
    places = {key: read.project for key, read in ledger.items() if read.project}
    place = {solution.id: position for position, solution in enumerate(solutions)}
    links = [Link(place[a], place[b], why) for a, b, why in run.same if a in place and b in place]
    settings = world.settings.promote
    patterns = find_patterns(
        solutions,
        links,
        counts=lambda key: teaches(key, ledger),
        dates=days,
        places=places,
        folder=run.cache,
        sessions=settings.sessions,
    )
    ready = [pattern for pattern in patterns if pattern.promotable(settings.sessions, settings.days)]
    skills, _ = read_skills(skill_folders(world.home))
    known = Known(skills, read_drafts(world.root)[0], read_decisions(world.root)[0])
    plan = plan_promote(
        ready,
        solutions,
        known,
        world.now.date(),
        settings,
        scan=scan_text,
        find_secrets=find_secrets,
        dates=days,
        places=places,
        ask=question_door(run),
    )
    run.land(plan)


def teaches(key: str, ledger: Mapping[str, Progress]) -> bool:
    """Whether a source is an independent session: no imported text, and none that was read as our own, a sub-agent's or
    a timer's."""
    read = ledger.get(key)
    return not key.startswith(NO_SESSION) and (read is None or read.status == "read")


def remember(run: Pass, when_due: bool = False) -> None:
    """Bring the managed block of MEMORY.md up to date; with `when_due` only where that should not wait for a day."""
    root, solutions = run.world.root, run.store.solutions
    existing = read_bytes(root / MEMORY_FILE)
    seen = read_bytes(root / MEMORY_SEEN)
    known = None if seen is None else seen.decode("utf-8", "replace").split()
    if when_due and (reason := why_not_yet(existing, solutions, run.may_serve, known)):
        run.land(Plan("memory", skipped=((MEMORY_FILE, reason),)))
        return
    settings, today = run.world.settings.memory, run.world.now.date()
    plans = [plan_memory(existing, solutions, run.may_serve, settings, today)]
    for target in settings.targets:
        place = (run.world.home / target.removeprefix("~/")).resolve()
        try:
            plans.append(plan_memory(read_bytes(place), solutions, run.may_serve, settings, today, str(place)))
        except OSError as error:
            plans.append(Plan("memory", notes=(Note("unreadable", str(place), f"holds no block: {error.strerror}"),)))
    run.land(join_plans("memory", plans))
    if not run.dry_run:
        write_derived(root / MEMORY_SEEN, "\n".join(sorted(high_lessons(solutions, run.may_serve))).encode())


def write_index(run: Pass, whole: bool = False) -> None:
    """Write the derived files that differ: `.index.yaml` and the recall cache, which with `whole` is made anew."""
    if run.dry_run:
        return
    root = run.world.root
    target = recall_database(root, run.world.env)
    write_listing(root, target.with_suffix(".index-key"), run.store.solutions)
    clean = {solution.path: run.may_serve(solution) for solution in run.store.solutions}
    today = run.world.now.date()
    key = recall_key(run.store.solutions, clean, today)
    failing = (root / SPOOL / "failures").exists()  # of hooks: a damaged database may be why
    if whole or not is_usable(target, failing) or read_bytes(root / RECALL_KEY) != key:
        stale_days = run.world.settings.decay.stale_days
        helped = recalled(root)
        evidence = {
            one.path: max(helped[one.id], one.verified or one.created.date())
            for one in run.store.solutions
            if one.id in helped
        }
        try:
            build(target, run.store.solutions, clean, today, evidence, stale_days, whole, text_hash)
        except sqlite3.Error as error:
            raise StoreError(f"{target}: {error}. Make room or mend the disk, then run `hotwash index`.") from error
        write_derived(root / RECALL_KEY, key)
        if target != root / RECALL_DB:  # a shared store's: later runs keep it up to date
            write_derived(target.with_suffix(".path"), str(root).encode("utf-8", "surrogateescape"))


def write_listing(root: Path, kept_key: Path, solutions: Sequence[Solution]) -> None:
    """Write `.index.yaml`, unless by `kept_key` both the lessons and the file are what they were when it was written.

    The key lies beside the recall cache, where no repository can bring its own.
    """
    place = root / INDEX_FILE
    # One entry as it is rendered now: another version may render all of them in another way.
    texts = [render_index(solutions[:1]), *(f"{one.path}\0{text_hash(one.text)}" for one in solutions)]
    lessons = hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
    written = read_bytes(place)
    if written is None or read_bytes(kept_key) != _listing_key(lessons, written):
        content = render_index(solutions).encode()
        write_derived(place, content)
        write_derived(kept_key, _listing_key(lessons, content))


def _listing_key(lessons: str, content: bytes) -> bytes:
    return f"{lessons} {hashlib.sha256(content).hexdigest()}".encode()


def recall_key(solutions: Sequence[Solution], clean: Mapping[str, bool], today: date) -> bytes:
    """What the recall cache was made of: it is made again only when this differs."""
    texts = [f"{SCHEMA} {today:%Y-%m}"]
    for one in solutions:
        served = clean[one.path] and (one.expires is None or one.expires >= today)
        texts.append(f"{one.path}\0{text_hash(one.text)}\0{served}\n")
    return hashlib.sha256("".join(texts).encode("utf-8", "replace")).hexdigest().encode()


def take_snapshot(world: World, run: Run | None = None) -> str:
    """Write today's snapshot, unless the newest one holds just what the store does, and drop those that the policy no
    longer keeps; returns the path of the one that holds it. `run` is the one that takes it."""
    folder = world.root / SNAPSHOTS
    but = set[str]()
    if run is not None and not read_journal(journal := journal_path(world.root, run.id))[1]:
        but.add(journal.relative_to(world.root).as_posix())  # of a run that changed nothing no journal stays
    place = write_snapshot(world.root, folder / snapshot_name(world.now.date()), time.time_ns(), but)
    names = [path.name for path in folder.glob("hotwash-*.tar.gz")]
    for name in snapshots_to_drop(names, world.settings.snapshot):
        (folder / name).unlink(missing_ok=True)
    return str(place)


def conclude(run: Pass) -> None:
    """Put into the report what the run added and what the store holds now."""
    new = [solution for solution in run.store.solutions if solution.id not in run.known_before]
    run.report.solutions = [(solution, run.verdicts.of(solution)) for solution in new]
    run.report.live = dict(sorted(Counter(solution.category for solution in run.store.solutions).items()))
    if run.budget is not None:
        spend = run.budget.run
        run.report.spent = {"usd": spend.usd, "tokens": spend.tokens, "calls": spend.calls}
    run.report.drafts = [draft.name for draft in read_drafts(run.world.root)[0]]
    if not run.dry_run:
        note_stalled(run.world)
