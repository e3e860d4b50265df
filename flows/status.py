"""The health of a store: coverage of sessions, what waits, counts, last runs, and what needs a person."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from curate.drafts import read_drafts
from curate.verdicts import Verdicts
from flows.context import World
from flows.ingest import MOST_TRIES
from flows.install.base import INSTALLED
from flows.review import stalled_line
from index.decode import load_json
from index.journal import read_runs
from index.plural import by_category, plural
from index.records import Problem
from index.store import ARCHIVE, INBOX, QUARANTINE, SPOOL, read_store, walk_markdown
from reflect.budget import read_spend
from reflect.ledger import Progress, read_ledger
from reflect.transcripts.registry import find_sessions
from reflect.transcripts.text import parse_time

# Claude Code's own clean-up takes transcripts after `cleanupPeriodDays`, 30 by default; warned of some days ahead.
CLEANUP_DAYS = {"claude-code": 30, "gemini-cli": 30}
WARN_DAYS = 5
# What hooks saw is told of the sessions of so many days; hooks that reported none of so many are silent.
HOOK_DAYS = 30
SILENT_AFTER = 5
LAST_RUNS = 5


@dataclass(frozen=True, slots=True)
class Status:
    """What `hotwash status` shows; `attention` holds the lines that ask for a person."""

    store: str
    made: bool = True
    found: int = 0
    read: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[tuple[str, str, int], ...] = ()
    new: int = 0
    expiring: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    spooled: int = 0
    reported: int = 0
    swept: int = 0
    silent: tuple[str, ...] = ()
    live: Mapping[str, int] = field(default_factory=dict)
    trust: Mapping[str, int] = field(default_factory=dict)
    archived: int = 0
    quarantined: int = 0
    suspect: tuple[str, ...] = ()
    unscanned: int = 0
    inbox: int = 0
    drafts: tuple[str, ...] = ()
    stalled: str = ""
    problems: tuple[Problem, ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    model: str = ""
    spent_usd: float = 0.0
    spent_tokens: int = 0

    @property
    def attention(self) -> list[str]:
        """What needs a person, one line each, with what to do."""
        lines = [f"{key}: could not be read after {tries} tries ({reason})" for key, reason, tries in self.failed]
        lines += [str(problem) for problem in self.problems]
        if self.stalled:
            lines.append(self.stalled)
        elif self.drafts:
            lines.append(f"{plural(len(self.drafts), 'draft waits', 'drafts wait')} for a decision: hotwash review")
        if self.suspect:
            waiting = plural(len(self.suspect), "suspect lesson is", "suspect lessons are")
            lines.append(f"{waiting} served to nobody: hotwash scan; hotwash release ID")
        if self.expiring:
            expiring = plural(self.expiring, "unread session is", "unread sessions are")
            lines.append(f"{expiring} about to be deleted by the agent: hotwash run")
        lines += [
            f"the hooks of {agent} are installed, and none of its last {SILENT_AFTER} sessions was reported by one: "
            "hotwash doctor"
            for agent in self.silent
        ]
        if self.inbox:
            unfiled = plural(self.inbox, "file in the inbox is", "files in the inbox are")
            lines.append(f"{unfiled} not filed: hotwash run says why")
        return lines


def read_status(world: World, verdicts: Verdicts) -> Status:
    """Look at the store and at the agents' folders; writes nothing."""
    root = world.root
    ledger = read_ledger(root)
    store = read_store(root)
    files = [(agent, path) for agent, path in find_sessions(world.home, world.env)]
    seen = {progress.path for progress in ledger.values()}
    missing = [(agent, path) for agent, path in files if str(path) not in seen]
    spend = read_spend(root, world.now.date())
    answers = {solution.id: verdicts.of(solution) for solution in store.solutions}
    since = (world.now - timedelta(days=HOOK_DAYS)).timestamp()
    reports = [progress.reported for progress, moment in _ended(ledger.values()) if moment >= since]
    return Status(
        store=str(root),
        made=root.is_dir(),
        found=len(files),
        read=sum(progress.status == "read" for progress in ledger.values()),
        skipped=Counter(progress.reason for progress in ledger.values() if progress.status == "skipped"),
        failed=_failed(ledger.values()),
        new=len(missing),
        expiring=_expiring(world, missing),
        unread=_unread(ledger.values()),
        spooled=sum(1 for _ in (root / SPOOL).glob("*.json")),
        reported=reports.count(True),
        swept=reports.count(False),
        silent=_silent(root, ledger.values()),
        live=dict(sorted(Counter(solution.category for solution in store.solutions).items())),
        trust=dict(sorted(Counter(solution.trust for solution in store.solutions).items())),
        archived=sum(1 for _ in walk_markdown(root / ARCHIVE)),
        quarantined=sum(1 for _ in walk_markdown(root / QUARANTINE)),
        suspect=tuple(sorted(key for key, verdict in answers.items() if verdict and verdict.answer != "clean")),
        unscanned=sum(verdict is None for verdict in answers.values()),
        inbox=sum(1 for _ in walk_markdown(root / INBOX)),
        drafts=tuple(draft.name for draft in read_drafts(root)[0]),
        stalled=stalled_line(world),
        problems=store.problems,
        runs=tuple(read_runs(root)[-LAST_RUNS:]),
        model=world.settings.model.name,
        spent_usd=spend.usd,
        spent_tokens=spend.tokens,
    )


def _failed(ledger: Sequence[Progress] | Any) -> tuple[tuple[str, str, int], ...]:
    return tuple((p.key, p.reason, p.tries) for p in ledger if p.status == "failed" and p.tries >= MOST_TRIES)


def _ended(ledger: Iterable[Progress]) -> list[tuple[Progress, float]]:
    """Every session that was read, with when it ended (epoch seconds), the latest first."""
    read = [progress for progress in ledger if progress.status == "read"]
    return sorted(((progress, _moment(progress)) for progress in read), key=lambda pair: (-pair[1], pair[0].key))


def _moment(progress: Progress) -> float:
    time = parse_time(progress.finished)
    return time.timestamp() if time else progress.mtime_ns / 1e9


def _silent(root: Path, ledger: Iterable[Progress]) -> tuple[str, ...]:
    """The agents whose hooks are installed and reported none of the last sessions that ended since."""
    ended = _ended(ledger)
    silent = []
    for record in sorted((root / INSTALLED).glob("*.json")):
        since = record.stat().st_mtime
        last = [one.reported for one, moment in ended if one.key.startswith(f"{record.stem}:") and moment >= since]
        if len(last) >= SILENT_AFTER and all(reported is False for reported in last[:SILENT_AFTER]):
            silent.append(record.stem)
    return tuple(silent)


def _unread(ledger: Sequence[Progress] | Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for progress in ledger:
        total.update({f"{kind} ({progress.version or 'version unknown'})": n for kind, n in progress.unread.items()})
    return dict(sorted(total.items()))


def cleanup_days(world: World, agent: str) -> int:
    """After how many days an agent deletes its transcripts, by its own settings; 0 where it does not."""
    days = CLEANUP_DAYS.get(agent, 0)
    if agent != "claude-code":
        return days
    folder = Path(world.env.get("CLAUDE_CONFIG_DIR") or world.home / ".claude")
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        days = int(load_json((folder / "settings.json").read_bytes()).get("cleanupPeriodDays", days))
    return days


def _expiring(world: World, missing: Sequence[tuple[str, Path]]) -> int:
    count = 0
    for agent, path in missing:
        days = cleanup_days(world, agent)
        if days:
            oldest = (world.now - timedelta(days=days - WARN_DAYS)).timestamp()
            count += path.stat().st_mtime < oldest
    return count


def render_status(status: Status) -> str:
    """The status for people."""
    covered = f"{status.read} read" + "".join(f", {n} skipped ({why})" for why, n in sorted(status.skipped.items()))
    lines = [
        f"store      {status.store}" + ("" if status.made else " (not made yet: the first `hotwash run` makes it)"),
        f"sessions   {status.found} on this machine: {status.new} not read yet; in the store: {covered}",
        f"hooks      {plural(status.spooled, 'event waits', 'events wait')}; sessions of the last {HOOK_DAYS} days: "
        f"{status.reported} reported by a hook, {status.swept} found by the sweep alone",
        "lessons    "
        + (by_category(status.live) or "none yet")
        + (f"; trust: {', '.join(f'{n} {name}' for name, n in status.trust.items())}" if status.trust else ""),
        f"set apart  {status.archived} archived, {status.quarantined} quarantined, {len(status.suspect)} suspect, "
        f"{status.unscanned} not scanned in their present text",
        f"reviews    {len(status.drafts)} waiting" + (f": {', '.join(status.drafts)}" if status.drafts else ""),
        f"model      {status.model or 'none: everything is done without one'}"
        + (f"; today {status.spent_tokens:,} tokens, {status.spent_usd:.4f} US dollars" if status.model else ""),
    ]
    if status.unread:
        lines.append("not understood")
        lines += [f"  {count:>6} {kind}" for kind, count in status.unread.items()]
    if status.runs:
        lines.append("last runs")
        for run in reversed(status.runs):
            stages = ", ".join(f"{name} {count}" for name, count in run["stages"].items()) or "nothing changed"
            lines.append(f"  {run['run']}: {stages}" + (f" (undone by {run['undone_by']})" if run["undone_by"] else ""))
    if status.attention:
        lines += ["", "needs a person", *(f"  {line}" for line in status.attention)]
    return "\n".join(lines) + "\n"
