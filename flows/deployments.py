"""The Prefect flows, thin: each hands a store to the stages that also run without any server.

They are loaded by module path in processes of Prefect's own, so nothing here depends on the working directory.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import deployment

from curate.verdicts import read_verdicts
from detectors.poison.scan import rule_set_version
from flows import pipeline
from flows.audit import read_audit
from flows.context import read_world
from flows.forms import draft_rows, fenced
from flows.page import render_page
from flows.page_facts import REPORT_FILE, read_page
from flows.page_markdown import render_page_markdown
from flows.render import render_report
from flows.report import Report
from flows.review import read_queue
from flows.reviews import sweep_reviews
from flows.server import ServerError, find_server
from index.files import write_derived

# An effect is never cached and never repeated by itself: the stages are safe to run again, and the next run does.
run_session_end = task(name="session-end", cache_policy=NO_CACHE)(pipeline.session_end)
run_curate = task(name="curate", cache_policy=NO_CACHE)(pipeline.curate)
run_daily = task(name="daily", cache_policy=NO_CACHE)(pipeline.daily)


@flow(name="session-end", flow_run_name="session-end")
def session_end(store: str, paths: list[str] | None = None) -> dict[str, int]:
    """Harvest finished sessions: those given, else what the hooks spooled."""
    world = read_world(Path(store))
    report = run_session_end(world, [Path(path) for path in paths] if paths else None, from_spool=not paths)
    return _conclude(Path(store), report)


@flow(name="weekly", flow_run_name="weekly")
def weekly(store: str, dry_run: bool = False) -> dict[str, int]:
    """The safety net: sessions no hook reported, then index, decay, dedup, consolidation, scan, promotion, snapshot."""
    report = run_curate(read_world(Path(store)), dry_run=dry_run)
    _show_state(Path(store), with_audit=True)
    return _conclude(Path(store), report)


@flow(name="daily", flow_run_name="daily")
def daily(store: str) -> dict[str, int]:
    """MEMORY.md and a snapshot."""
    report = run_daily(read_world(Path(store)))
    _show_state(Path(store), with_audit=False)
    return _conclude(Path(store), report)


def _show_state(root: Path, with_audit: bool) -> None:
    """Write the report page anew and leave its figures as an artifact; the audit reads every transcript."""
    world = read_world(root)
    audit = read_audit(world) if with_audit else None
    facts = read_page(world, read_verdicts(root, rule_set_version()), audit)
    page = root / REPORT_FILE
    with contextlib.suppress(OSError):
        write_derived(page, render_page(facts, world.home).encode("utf-8", "replace"))
    create_markdown_artifact(render_page_markdown(facts, page), key="hotwash-report", description="The store's state")


def _conclude(root: Path, report: Report) -> dict[str, int]:
    """Leave what the run did and the drafts that wait as artifacts, and give each draft its review run.

    A run whose writes all failed is a failed run.
    """
    world = read_world(root)
    text = fenced(render_report(report), "text")
    create_markdown_artifact(text, key=f"hotwash-{report.command}", description="What changed")
    queue, _, _ = read_queue(world)
    create_table_artifact(draft_rows(queue.open), key="hotwash-drafts", description="Drafts that wait for a person")
    # Only a run of a deployment has a server that outlives it; serve's own sweep makes up for what fails here.
    server = find_server(root, world.env)
    if server is not None and deployment.name:
        with contextlib.suppress(ServerError):
            sweep_reviews(world, server, deployment.name)
    if report.failed:
        raise RuntimeError(f"Run {report.run} failed: see its artifact and `hotwash status`.")
    return report.counts()
