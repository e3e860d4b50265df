"""Each open draft has exactly one waiting review run; runs of drafts that wait no longer are ended."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from curate.drafts import Decided, Draft
from flows.review_runs import ENDED, MOST_ATTEMPTS, Wanted, plan_reviews
from tests.served import make_draft

ONE, TWO = make_draft("one"), make_draft("two")


def run_of(wanted: Wanted, state: str, identity: str = "r") -> dict[str, Any]:
    """A run as the server gives it."""
    parameters = {"name": wanted.draft, "digest": wanted.digest}
    return {"id": identity, "parameters": parameters, "state_type": state, "idempotency_key": wanted.key}


def wanted_for(draft: Draft, *runs: dict[str, Any], decisions: tuple[Decided, ...] = ()) -> tuple[Wanted, ...]:
    """The runs to create for one draft."""
    return plan_reviews([draft], decisions, runs)[0]


def test_a_draft_without_a_run_gets_one_and_then_no_other() -> None:
    """However often the sweep comes by; keys differ between drafts."""
    first, second = plan_reviews([ONE, TWO], (), [])[0]
    assert first.key != second.key
    for state in ("SCHEDULED", "PENDING", "RUNNING", "PAUSED"):
        assert wanted_for(ONE, run_of(first, state)) == ()


def test_runs_of_drafts_that_wait_no_longer_are_ended() -> None:
    """Decided in the terminal, changed, or a second run of one draft."""
    (first,) = wanted_for(ONE)
    assert plan_reviews([], (), [run_of(first, "PAUSED", "gone")]) == ((), ("gone",))
    changed = Wanted("one", "0" * 16, "review:one:0:0:0")
    wanted, stale = plan_reviews([ONE], (), [run_of(changed, "PAUSED", "old")])
    assert (len(wanted), stale) == (1, ("old",))
    assert plan_reviews([ONE], (), [run_of(first, "PAUSED", "a"), run_of(first, "PAUSED", "b")]) == ((), ("b",))
    assert plan_reviews([], (), [run_of(first, "COMPLETED")]) == ((), ())
    assert plan_reviews([], (), [run_of(first, "RUNNING")]) == ((), ())  # it is carrying the decision out


def test_a_crashed_run_gets_a_successor_but_not_for_ever() -> None:
    """Under a key of its own each time; after five something else is wrong."""
    runs: list[dict[str, Any]] = []
    keys = set()
    for number in range(MOST_ATTEMPTS):
        (wanted,) = wanted_for(ONE, *runs)
        keys.add(wanted.key)
        runs.append(run_of(wanted, "CRASHED", str(number)))
    assert len(keys) == MOST_ATTEMPTS
    assert wanted_for(ONE, *runs) == ()


def test_a_run_that_a_person_cancelled_is_not_made_again() -> None:
    """Until a decision about the draft was made, such as later."""
    (wanted,) = wanted_for(ONE)
    cancelled = run_of(wanted, "CANCELLED")
    assert wanted_for(ONE, cancelled) == ()
    later = Decided("one", ONE.digest, "later", "ann", datetime(2026, 11, 1, tzinfo=UTC))
    assert len(wanted_for(ONE, cancelled, decisions=(later,))) == 1


def test_a_run_that_we_ended_is_made_again_when_its_draft_is_open_again() -> None:
    """A week's bound or an expiry may close a draft and open it again, more often than a run may crash."""
    runs: list[dict[str, Any]] = []
    for number in range(MOST_ATTEMPTS + 2):
        (wanted,) = wanted_for(ONE, *runs)
        assert wanted.key.endswith(f":{number}")
        runs.append({**run_of(wanted, "CANCELLED", str(number)), "state": {"message": ENDED}})
    assert len(wanted_for(ONE, *runs)) == 1


STATES = st.sampled_from(["SCHEDULED", "PENDING", "RUNNING", "PAUSED", "COMPLETED", "FAILED", "CRASHED", "CANCELLED"])


@given(st.lists(st.tuples(st.sampled_from([ONE, TWO]), STATES, st.integers(0, 3)), max_size=12))
def test_after_a_sweep_no_draft_has_two_waiting_runs(history: list[tuple[Draft, str, int]]) -> None:
    """Whatever the server holds: waiting ones minus ended plus created is at most one for each draft."""
    runs = [
        run_of(Wanted(draft.name, draft.digest, f"review:{draft.name}:{draft.digest}:0:{attempt}"), state, str(number))
        for number, (draft, state, attempt) in enumerate(history)
    ]
    wanted, stale = plan_reviews([ONE, TWO], (), runs)
    for draft in (ONE, TWO):
        waiting = [
            run
            for run in runs
            if run["parameters"]["name"] == draft.name
            and run["state_type"] in ("SCHEDULED", "PENDING", "RUNNING", "PAUSED")
            and run["id"] not in stale
        ]
        assert len(waiting) + sum(new.draft == draft.name for new in wanted) <= 1
