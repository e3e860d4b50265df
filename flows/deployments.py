"""The Prefect flows, thin: each hands a store to the stages that also run without any server.

They are loaded by module path in processes of Prefect's own, so nothing here depends on the working directory.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from prefect import flow, get_client, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment
from prefect.task_runners import ThreadPoolTaskRunner
from slugify import slugify

from curate.verdicts import read_verdicts
from detectors.poison.scan import rule_set_version
from flows import pipeline
from flows.audit import read_audit
from flows.context import read_world
from flows.forms import draft_rows, fenced
from flows.page.facts import REPORT_FILE, read_page
from flows.page.html import render_page
from flows.page.markdown import render_page_markdown
from flows.prefect_api import ServerError, find_server
from flows.render import render_report
from flows.report import Report
from flows.review import read_queue
from flows.review_runs import sweep_reviews
from index.files import write_derived

# An effect is never cached and never repeated by itself: the stages are safe to run again, and the next run does.
run_session_end = task(name="session-end", cache_policy=NO_CACHE)(pipeline.session_end)
run_curate = task(name="curate", cache_policy=NO_CACHE)(pipeline.curate)
run_daily = task(name="daily", cache_policy=NO_CACHE)(pipeline.daily)
# So many stores of one weekly run are worked on at once.
STORES_AT_ONCE = 4


def writer_tag(root: Path) -> str:
    """The tag of every task that writes to a store; with a concurrency limit of one, a second writer waits its turn.

    The same on every worker that sees the store under one path. A limit's name may hold no slash.
    """
    return f"hotwash-store-{slugify(root.name) or 'store'}-{hashlib.sha256(str(root).encode()).hexdigest()[:6]}"


@flow(name="session-end", flow_run_name="session-end")
def session_end(store: str, paths: list[str] | None = None) -> dict[str, int]:
    """Harvest finished sessions: those given, else what the hooks spooled."""
    world = read_world(Path(store))
    chosen = [Path(path) for path in paths] if paths else None
    report = run_session_end.with_options(tags=[writer_tag(world.root)])(world, chosen, from_spool=not paths)
    return _conclude(Path(store), report)


@flow(name="weekly", flow_run_name="weekly")
def weekly(store: str, dry_run: bool = False) -> dict[str, int]:
    """The safety net: sessions no hook reported, then index, decay, dedup, consolidation, scan, promotion, snapshot."""
    report = run_curate.with_options(tags=[writer_tag(Path(store))])(read_world(Path(store)), dry_run=dry_run)
    _show_state(Path(store), with_audit=True)
    return _conclude(Path(store), report)


@flow(name="daily", flow_run_name="daily")
def daily(store: str) -> dict[str, int]:
    """MEMORY.md and a snapshot."""
    report = run_daily.with_options(tags=[writer_tag(Path(store))])(read_world(Path(store)))
    _show_state(Path(store), with_audit=False)
    return _conclude(Path(store), report)


@task(name="weekly-store", cache_policy=NO_CACHE)
def curate_store(store: str, dry_run: bool = False) -> dict[str, int]:
    """The weekly pass over one store of several."""
    root = Path(store)
    report = pipeline.curate(read_world(root), dry_run=dry_run)
    return _conclude(root, report)


@flow(
    name="weekly-stores",
    flow_run_name="weekly-stores",
    task_runner=ThreadPoolTaskRunner(max_workers=STORES_AT_ONCE),  # type: ignore[arg-type]
)
def weekly_stores(stores: list[str] | str, dry_run: bool = False) -> dict[str, dict[str, int]]:
    """The weekly pass mapped over several stores (a list, or one text with commas); the counts of each.

    A store whose pass fails stops no other; the run fails in the end and names it.
    """
    names = stores.split(",") if isinstance(stores, str) else stores
    roots = list(dict.fromkeys(Path(name.strip()) for name in names if name.strip()))
    tags = [writer_tag(root) for root in roots]
    limit_writers(tags)
    futures = [
        curate_store.with_options(tags=[tag]).submit(str(root), dry_run) for root, tag in zip(roots, tags, strict=True)
    ]
    counts: dict[str, dict[str, int]] = {}
    failed: dict[str, str] = {}
    for root, future in zip(roots, futures, strict=True):
        try:
            counts[str(root)] = future.result()
        except Exception as error:
            failed[str(root)] = f"{type(error).__name__}: {error}"
    rows = [{"store": name, **found} for name, found in counts.items()]
    rows += [{"store": name, "failed": reason} for name, reason in failed.items()]
    create_table_artifact(rows, key="hotwash-stores", description="The weekly pass over each store")
    if failed:
        raise RuntimeError("; ".join(f"{name}: {reason}" for name, reason in failed.items()))
    return counts


def limit_writers(tags: list[str]) -> None:
    """Give each tag a concurrency limit of one where it has none; one that a person has set stays."""
    with get_client(sync_client=True) as client:
        for tag in tags:
            try:
                client.read_concurrency_limit_by_tag(tag)
            except ObjectNotFound:
                client.create_concurrency_limit(tag, 1)


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
