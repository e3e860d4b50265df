"""Why a lesson is believed: its text, the turns it rests on, and what has happened to it since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from curate.effects import Tally, read_effects, tally
from curate.named_things import read_checked
from curate.verdicts import Verdicts
from index.files import read_bytes
from index.journal import journal_path, read_journal, read_runs
from index.plural import plural
from index.records import Solution, Source
from index.store import EPISODES
from reflect.custody import read_episode

SHOWN_CHARACTERS = 600


def find_episodes(root: Path, sources: tuple[Source, ...]) -> dict[str, list[dict[str, Any]]]:
    """The kept turns of each session that a lesson cites, by session key."""
    wanted = {source.session for source in sources}
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((root / EPISODES).rglob("*.jsonl.gz")):
        head, turns = read_episode(read_bytes(path) or b"")
        if head.get("session") in wanted:
            found[head["session"]] = turns
    return found


def cited_turns(source: Source, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The kept turns within the lines that a source names."""
    if source.lines is None:
        return turns
    first, last = source.lines
    return [turn for turn in turns if turn["end"] >= first and turn["line"] <= last]


def history(root: Path, solution: Solution) -> list[tuple[str, str]]:
    """(run, what it did) for each change of a file that bears this lesson's id or path, oldest first."""
    name = Path(solution.path).name
    lines: list[tuple[str, str]] = []
    for run in read_runs(root):
        _, stages, _ = read_journal(journal_path(root, run["run"]))
        for stage in stages:
            for line in stage.changes:
                if Path(line["path"]).name == name:
                    sign = "+" if line["before"] is None else "-" if line["after"] is None else "~"
                    lines.append((run["run"], f"{sign} {line['path']}: {line['why']}"))
    return lines


def why_json(root: Path, solution: Solution, verdicts: Verdicts) -> dict[str, Any]:
    """Everything `hotwash why` knows, as plain data."""
    episodes = find_episodes(root, solution.sources)
    verdict = verdicts.of(solution)
    missing = read_checked(root).get(solution.id)
    return {
        "id": solution.id,
        "path": solution.path,
        "title": solution.title,
        "category": solution.category,
        "type": solution.type,
        "confidence": solution.confidence,
        "trust": solution.trust,
        "verdict": verdict.answer if verdict else None,
        "findings": [{"rule": f.rule, "reason": f.reason, "span": f.span} for f in verdict.findings] if verdict else [],
        "triggers": {name: list(getattr(solution.triggers, name)) for name in ("paths", "commands", "errors")},
        "effects": asdict(tally(read_effects(root)).get(solution.id, Tally())),
        "unverifiable": missing.describe() if missing and missing.missing else "",
        "supersedes": list(solution.supersedes),
        "superseded_by": solution.superseded_by,
        "body": solution.body,
        "evidence": [
            {
                "session": source.session,
                "lines": source.lines,
                "origin": source.origin,
                "turns": cited_turns(source, episodes.get(source.session, [])),
            }
            for source in solution.sources
        ],
        "history": [{"run": run, "change": change} for run, change in history(root, solution)],
    }


def render_why(facts: dict[str, Any]) -> str:
    """The same facts for people."""
    lines = [
        facts["title"],
        f"{facts['id']}  {facts['path']}",
        f"{facts['category']}/{facts['type']}, confidence {facts['confidence']:g}, {facts['trust']}, "
        f"{'scanned ' + facts['verdict'] if facts['verdict'] else 'not scanned as it stands, or by the present rules'}",
        "",
        facts["body"].strip(),
        "",
    ]
    lines += [f"fires on {kind}: {', '.join(values)}" for kind, values in facts["triggers"].items() if values]
    lines += [f"scan: {finding['rule']}: {finding['reason']}" for finding in facts["findings"]]
    if facts["unverifiable"]:
        lines.append(f"unverifiable: {facts['unverifiable']}")
    if facts["supersedes"]:
        lines.append(f"replaces {', '.join(facts['supersedes'])}")
    if facts["superseded_by"]:
        lines.append(f"replaced by {facts['superseded_by']}")
    lines += effect_lines(facts["effects"])
    for source in facts["evidence"]:
        where = f" lines {source['lines'][0]}-{source['lines'][1]}" if source["lines"] else ""
        lines += ["", f"evidence: {source['session']}{where}" + (f" ({source['origin']})" if source["origin"] else "")]
        lines += list(_turn_lines(source["turns"]))
    if facts["history"]:
        lines += ["", "history", *(f"  {entry['run']}  {entry['change']}" for entry in facts["history"])]
    return "\n".join(lines) + "\n"


def effect_lines(effects: Mapping[str, Any]) -> Iterator[str]:
    """What came of giving the lesson back; nothing where no session has met it."""
    if effects["without"]:
        yield f"its error was met without it in {plural(effects['without'], 'session')}"
    if effects["given"]:
        told = f"its error came no more in {effects['helped']}, came again in {effects['again']}"
        last = f", last helped on {effects['helped_on']}" if effects["helped_on"] else ""
        yield f"given back in {plural(effects['given'], 'session')}: {told}{last}"


def _turn_lines(turns: list[dict[str, Any]]) -> Iterator[str]:
    if not turns:
        yield "  (the record of these turns is no longer kept)"
    for turn in turns:
        who = f"{turn['who']} {turn['tool']}" if turn.get("tool") else turn["who"]
        outcome = f" [{turn['outcome']}]" if turn.get("outcome") in ("failed", "passed") else ""
        yield f"  {turn['line']}-{turn['end']} {who}{outcome}"
        for key in ("command", "said", "text", "change"):
            text = (turn.get(key) or "").strip()
            if text:
                short = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} ..."
                yield "\n".join(f"    {line}" for line in short.split("\n"))
