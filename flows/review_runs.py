"""Give every open draft exactly one waiting review run, and end the runs of drafts that wait no longer."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curate.drafts import Decided, Draft
from flows.context import World
from flows.prefect_api import (
    WAITING_STATES,
    Server,
    ServerError,
    cancel_run,
    create_run,
    find_deployment,
    find_runs,
    store_label,
)
from flows.review import read_queue

# A run that crashed gets a successor, but not for ever: something else is wrong then, and the terminal still works.
MOST_ATTEMPTS = 5
ENDED = "The draft was decided, has changed, expired, or waits for its turn."


@dataclass(frozen=True, slots=True)
class Wanted:
    """A review run to be created: for which draft as it stands, under which key."""

    draft: str
    digest: str
    key: str


def review_key(draft: Draft, decisions: Sequence[Decided], attempt: int, mark: str = "") -> str:
    """The idempotency key of a draft's review run: another one once the draft changes or a decision was made.

    `mark` tells stores apart whose drafts are alike: the server knows one set of keys for all review runs.
    """
    made = sum(decided.draft == draft.name for decided in decisions)
    return f"review{mark}:{draft.name}:{draft.digest}:{made}:{attempt}"


def plan_reviews(
    drafts: Sequence[Draft], decisions: Sequence[Decided], runs: Iterable[Mapping[str, Any]], mark: str = ""
) -> tuple[tuple[Wanted, ...], tuple[str, ...]]:
    """Which runs to create and which (by id) to end, from the open drafts and every review run of this store's.

    A run that a person cancelled is not made again: the draft stays, and the terminal can still decide it. One that we
    ended is, when its draft is open again.
    """
    waiting: dict[tuple[str, str], str] = {}
    ended: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    cancelled: set[str] = set()
    stale: list[str] = []
    live = {(draft.name, draft.digest) for draft in drafts}
    for run in runs:
        parameters = run.get("parameters") or {}
        which = (str(parameters.get("name")), str(parameters.get("digest")))
        state = str(run.get("state_type") or "")
        if state in WAITING_STATES:
            if which in live and which not in waiting:
                waiting[which] = str(run["id"])
            elif which in live or state not in ("RUNNING", "PENDING"):
                # One that runs while its draft is gone is about to say what became of it.
                stale.append(str(run["id"]))
        else:
            key = str(run.get("idempotency_key") or "").rpartition(":")[0]
            ended[key] += 1
            if (run.get("state") or {}).get("message") == ENDED:
                ours[key] += 1
            elif state == "CANCELLED":
                cancelled.add(key)
    wanted = []
    for draft in drafts:
        if (draft.name, draft.digest) in waiting:
            continue
        key = review_key(draft, decisions, 0, mark).rpartition(":")[0]
        if key not in cancelled and ended[key] - ours[key] < MOST_ATTEMPTS:
            wanted.append(Wanted(draft.name, draft.digest, f"{key}:{ended[key]}"))
    return tuple(wanted), tuple(sorted(stale))


def _is_of(run: Mapping[str, Any], root: Path) -> bool:
    return Path(str((run.get("parameters") or {}).get("store", ""))) == root


def sweep_reviews(world: World, server: Server, label: str = "") -> int:
    """Bring the server's review runs in line with the store; how many were created. Raises ServerError.

    `label` is the name of the store's deployments, where it is not the one that `hotwash serve` gives.
    """
    label = label or store_label(world.root)
    deployment = find_deployment(server, "review", label)
    if deployment is None:
        raise ServerError(f"{server.api_url}: there is no deployment review/{label}. Start `hotwash serve`.")
    queue, decisions, _ = read_queue(world)
    identity = str(deployment["id"])
    # One deployment may serve several stores: the runs of the others are none of ours to end.
    runs = [run for run in find_runs(server, identity) if _is_of(run, world.root)]
    mark = hashlib.sha256(f"{label}:{world.root}".encode()).hexdigest()[:8]
    wanted, stale = plan_reviews(queue.open, decisions, runs, f"-{mark}")
    for run in stale:
        cancel_run(server, run, ENDED)
    for new in wanted:
        parameters = {"store": str(world.root), "name": new.draft, "digest": new.digest}
        create_run(server, identity, parameters, new.key, new.draft)
    return len(wanted)
