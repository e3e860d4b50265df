"""Look for poison: in the store (what changed since it was scanned; poison goes to quarantine), or in any files.

With PATHs or --jsonl it reads only. A verdict is clean, suspect or poison; exit code 1 when one is not clean.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.commands.common import need_paths, open_world, print_json, print_report
from index.decode import load_json
from index.errors import UsageError
from index.plural import plural

if TYPE_CHECKING:
    from index.records import Verdict

TEXT_SUFFIXES = frozenset(
    {".md", ".mdc", ".markdown", ".txt", ".json", ".yaml", ".yml", ".toml", ".py", ".sh", ".js", ".ts"}
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash scan`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="files or folders; without it the store")
    parser.add_argument(
        "--jsonl", metavar="FILE", type=Path, help='lines of {"id", "text"} in, a verdict a line out; - is stdin'
    )
    parser.add_argument("--sarif", action="store_true", help="SARIF 2.1.0 for code scanning on stdout (with PATHs)")
    parser.add_argument("--dry-run", action="store_true", help="with a store: print the plan, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Scan."""
    if options.jsonl:
        return _scan_jsonl(options.jsonl)
    if options.paths:
        return _scan_paths(options)
    if options.sarif:
        raise UsageError("hotwash scan: --sarif goes with PATHs, e.g. hotwash scan --sarif AGENTS.md.")
    from flows.pipeline import run_stage

    world = open_world(options)
    report = run_stage(world, "scan", options.dry_run)
    if options.format == "json":
        from curate.verdicts import read_verdicts
        from detectors.poison.scan import rule_set_version
        from index.store import read_store

        verdicts = read_verdicts(world.root, rule_set_version())
        answers = {s.path: v for s in read_store(world.root).solutions if (v := verdicts.of(s))}
        facts = report.as_json()
        kept = {name: facts[name] for name in ("run", "dry_run", "counts", "stages", "problems")}
        print_json({**_as_json(answers), **kept})
        return 1 if any(verdict.answer != "clean" for verdict in answers.values()) or report.failed else 0
    code = print_report(report, options)
    return 1 if code or any(stage.changes for stage in report.stages if stage.stage == "quarantine") else 0


def _files(paths: list[Path]) -> Iterator[Path]:
    need_paths(paths)
    for given in paths:
        if given.is_file():
            yield given
            continue
        yield from (
            file
            for file in sorted(given.rglob("*"))
            if file.suffix.lower() in TEXT_SUFFIXES
            and file.is_file()
            and not file.is_symlink()
            and ".git" not in file.parts
        )


def _scan_paths(options: argparse.Namespace) -> int:
    from detectors.poison.scan import scan_text

    texts = {str(file): file.read_bytes().decode("utf-8", "replace") for file in _files(options.paths)}
    answers = {path: scan_text(text) for path, text in texts.items()}
    if options.sarif:
        from flows.sarif import render_sarif

        print_json(render_sarif(answers, texts))
    elif options.format == "json":
        print_json(_as_json(answers))
    else:
        for path, verdict in answers.items():
            if verdict.answer != "clean":
                print(f"{path}: {verdict.answer}")
            for finding in verdict.findings:
                line = texts[path].count("\n", 0, finding.span[0]) + 1
                print(f"  {path}:{line}: {finding.severity} {finding.rule}: {finding.reason}")
        counts = [sum(v.answer == a for v in answers.values()) for a in ("clean", "suspect", "poison")]
        print(f"{plural(len(answers), 'file')}: {counts[0]} clean, {counts[1]} suspect, {counts[2]} poison.")
    return 1 if any(verdict.answer != "clean" for verdict in answers.values()) else 0


def _as_json(answers: dict[str, Verdict]) -> dict[str, Any]:
    return {
        "verdicts": {path: verdict.answer for path, verdict in answers.items()},
        "findings": [
            {
                "path": path,
                "rule": finding.rule,
                "severity": finding.severity,
                "span": list(finding.span),
                "reason": finding.reason,
            }
            for path, verdict in answers.items()
            for finding in verdict.findings
        ],
    }


def _scan_jsonl(path: Path) -> int:
    from detectors.poison.scan import scan_text

    if str(path) != "-" and not path.is_file():
        raise UsageError(f"{path}: is no file. Give one of JSON lines, or - for stdin.")
    found = False
    with sys.stdin.buffer if str(path) == "-" else path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                row = load_json(raw)
                identity, text = row["id"], str(row["text"])
            except (ValueError, KeyError, TypeError):
                raise UsageError(f'{path}:{number}: wanted {{"id": .., "text": ..}}, found {raw[:60]!r}.') from None
            verdict = scan_text(text)
            found |= verdict.answer != "clean"
            answer = {"id": identity, "verdict": verdict.answer, "score": verdict.score, "rules": list(verdict.rules)}
            print(json.dumps(answer, ensure_ascii=False))
    return 1 if found else 0
