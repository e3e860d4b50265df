"""The draft of an episode, by its detector: which function finds words for what."""

from __future__ import annotations

from collections.abc import Callable

from index.records import Episode, Session
from reflect.draft import Draft
from reflect.drafts_cause import draft_diagnosis
from reflect.drafts_failure import draft_failure
from reflect.drafts_finding import draft_finding
from reflect.drafts_machine import draft_environment, draft_repetition
from reflect.drafts_output import draft_advice, draft_output, draft_waiting
from reflect.drafts_word import draft_abandoned, draft_correction, draft_decision, draft_discarded, draft_memory

DRAFTS: dict[str, Callable[[Session, Episode], Draft | None]] = {
    "explicit_memory": draft_memory,
    "user_correction": draft_correction,
    "discarded_work": draft_discarded,
    "waiting_prompt": draft_waiting,
    "failure_then_fix": draft_failure,
    "diagnosed_cause": draft_diagnosis,
    "wrong_output": draft_output,
    "repeated_failure": draft_repetition,
    "confirmed_advice": draft_advice,
    "environment_fact": draft_environment,
    "abandoned_approach": draft_abandoned,
    "review_finding": draft_finding,
    "decision": draft_decision,
}


def draft(session: Session, episode: Episode) -> Draft | None:
    """The draft of an episode, or None where nothing worth keeping can be said without inventing."""
    made = DRAFTS[episode.detector](session, episode)
    return made if made is not None and len(made.title) >= 12 and made.instead.strip() else None
