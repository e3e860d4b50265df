"""The detectors that point at episodes of a session, spelled out, strongest evidence first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detectors import (
    abandoned_approach,
    confirmed_advice,
    decision,
    diagnosed_cause,
    discarded_work,
    environment_fact,
    explicit_memory,
    failure_then_fix,
    repeated_failure,
    review_finding,
    user_correction,
    waiting_prompt,
    wrong_output,
)
from index.records import Episode, Session

Detect = Callable[[Session], Iterator[Episode]]

DETECTORS: dict[str, Detect] = {
    "explicit_memory": explicit_memory.detect,
    "user_correction": user_correction.detect,
    "discarded_work": discarded_work.detect,
    "waiting_prompt": waiting_prompt.detect,
    "failure_then_fix": failure_then_fix.detect,
    "diagnosed_cause": diagnosed_cause.detect,
    "wrong_output": wrong_output.detect,
    "repeated_failure": repeated_failure.detect,
    "confirmed_advice": confirmed_advice.detect,
    "environment_fact": environment_fact.detect,
    "abandoned_approach": abandoned_approach.detect,
    "review_finding": review_finding.detect,
    "decision": decision.detect,
}


def detect_episodes(session: Session) -> tuple[Episode, ...]:
    """All episodes of a session, in the order of the registry and then of the transcript."""
    return tuple(episode for detect in DETECTORS.values() for episode in detect(session))
