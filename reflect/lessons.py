"""Episodes become lessons without a model: draft each, keep one of those that tell the same, rank, cut, write.

The same session gives the same lessons: ids come from the first record that a lesson rests on, never from a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from detectors.evidence import check_in_common, is_person, telling_line
from index.records import (
    CONFIDENCE_RANGE,
    EXTERNAL_ORIGINS,
    Episode,
    Importance,
    Origin,
    Session,
    Solution,
    Source,
    Triggers,
)
from index.signature import command_key
from index.store import solution_id
from reflect.draft import Draft, stable_error
from reflect.drafts import draft
from reflect.overruled import overruled
from reflect.quotes import names_in
from reflect.tags import tags_for

MOST = 3
# A long session may teach more: one more for each so many turns, of what was proved or said,
# up to so many in all.
TURNS_FOR_MORE = 60
MOST_OF_LONG = 6
PROVED = frozenset(
    {
        "waiting_prompt",
        "failure_then_fix",
        "environment_fact",
        "confirmed_advice",
        "repeated_failure",
        "discarded_work",
        "user_correction",
        "diagnosed_cause",
        "wrong_output",
        "review_finding",
    }
)
REPORT = "review_finding"
LEAST_WORTH = 2.6
# Share of the smaller one's names from which two drafts of one session tell the same.
ALIKE = 0.6
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write_lessons(session: Session, episodes: Sequence[Episode], most: int = MOST) -> tuple[Solution, ...]:
    """At most `most` lessons of a session, what the person asked to keep aside, in the order of the transcript.

    With `most` of MOST or more a long session gives up to MOST_OF_LONG - MOST more of what was proved or said.
    A sub-agent's session gives one at most, and one finding of its report beside it: the session that started it tells
    the same story.
    """
    most = min(most, 1) if session.subagent else most
    drafted = [(made, episode) for episode in episodes if (made := draft(session, episode)) is not None]
    drafted = [pair for pair in drafted if not overruled(session, *pair)]
    ranked = sorted(drafted, key=lambda pair: (-pair[0].worth, pair[1].lines, pair[1].detector))
    kept: list[tuple[Draft, Episode]] = []
    for made, episode in ranked:
        if not made.always and round(made.worth, 2) < LEAST_WORTH:
            continue
        if any(_tells_the_same(session, (made, episode), other) for other in kept):
            continue
        kept.append((made, episode))
    always = [pair for pair in kept if pair[0].always]
    others = [pair for pair in kept if not pair[0].always]
    more = min(MOST_OF_LONG - MOST, len(session.turns) // TURNS_FOR_MORE) if most >= MOST else 0
    proved = [pair for pair in others[max(0, most) :] if pair[1].detector in PROVED][: max(0, more)]
    if session.subagent and most and others:
        told = others[0][1].detector == REPORT
        beside = [pair for pair in others[1:] if (pair[1].detector == REPORT) != told and pair[0].worth >= LEAST_WORTH]
        proved = beside[:1]
    others = others[: max(0, most)] + proved
    chosen = sorted(always + others, key=lambda pair: (pair[1].lines, pair[1].detector))
    return tuple(_solution(session, made, episode, drafted) for made, episode in chosen)


def _tells_the_same(session: Session, one: tuple[Draft, Episode], other: tuple[Draft, Episode]) -> bool:
    """Whether two drafts rest on one failure, one error, or mostly on the same changes."""
    (left, a), (right, b) = one, other
    if left.title.lower() == right.title.lower():
        return True
    if a.failure is not None and a.failure == b.failure and a.detector != b.detector:
        return True
    if set(left.errors) & set(right.errors) - {""}:
        return True
    if a.check is b.check is None and {_tail(e) for e in left.errors} & {_tail(e) for e in right.errors}:
        return True
    names, others = names_in(left.fact, left.title), names_in(right.fact, right.title)
    if len(names & others) >= ALIKE * min(len(names), len(others)):
        return True
    if "decision" in {a.detector, b.detector} and 3 * len(names & others) < min(len(names), len(others)):
        return False
    shared = set(a.change) & set(b.change)
    return bool(shared) and 2 * len(shared) >= min(len(a.change), len(b.change))


def _tail(signature: str) -> str:
    """What a signature says last, which different programs say alike of one limit of the machine."""
    return signature.rsplit(": ", 1)[-1].partition(" (")[0]


def lesson_id(session: Session, episode: Episode) -> str:
    """The id of the lesson of an episode, whoever words it: of the first record that it rests on."""
    first = session.turns[episode.turns[0]]
    # Some agents count their ids anew in each session: the words make the mark, and a fork's copy has the same.
    mark = f"{first.id or f'{session.key}#{first.line}'}#{first.command or first.text[:200]}"
    return solution_id(first.time or session.started or EPOCH, f"{session.agent}#{episode.detector}#{mark}")


def _solution(session: Session, made: Draft, episode: Episode, drafted: Sequence[tuple[Draft, Episode]]) -> Solution:
    turns = [session.turns[at] for at in episode.turns]
    first = turns[0]
    low, high = CONFIDENCE_RANGE[made.type]
    origins = _origins(session, episode)
    external = next((origin for origin in origins if origin in EXTERNAL_ORIGINS), None)
    body = f"{made.fact}\n\n**Why it matters:** {made.why}\n\n**Instead:** {made.instead}\n"
    began = first.time or session.started or EPOCH
    ended = next((turn.time for turn in reversed(turns) if turn.time), None) or session.finished or began
    return Solution(
        id=lesson_id(session, episode),
        title=made.title,
        category=made.category,
        body=body,
        type=made.type,
        importance=_importance(made),
        confidence=min(high, max(low, made.confidence)),
        trust="external" if external else "observed",
        tags=tags_for(made.commands, _paths(session, episode) or made.paths, f"{made.title} {made.fact}"),
        project=session.project,
        branch=session.branch,
        triggers=_triggers(session, made, episode, drafted),
        sources=(Source(session.key, episode.lines, external or origins[0], _ref(session, episode)),),
        created=ended,
        verified=ended.date(),
    )


def _importance(made: Draft) -> Importance:
    return "high" if made.worth >= 5.5 else "medium"


def _origins(session: Session, episode: Episode) -> list[Origin]:
    """Whose text the lesson rests on: that of its turns, and of what was read from outside in between."""
    person = episode.detector in {"explicit_memory", "user_correction"} or (
        episode.detector == "decision" and is_person(session.turns[episode.turns[0]])
    )
    span = range(episode.turns[0], episode.turns[-1] + 1)
    places = episode.turns if person else span
    found = [session.turns[at].origin for at in places if session.turns[at].origin in EXTERNAL_ORIGINS]
    return [*found, "person" if person else "agent"]


def _ref(session: Session, episode: Episode) -> str:
    span = range(episode.turns[0], episode.turns[-1] + 1)
    refs = [
        session.turns[at].ref for at in span if session.turns[at].origin in EXTERNAL_ORIGINS and session.turns[at].ref
    ]
    return refs[0][:300] if refs else ""


def _paths(session: Session, episode: Episode) -> tuple[str, ...]:
    """The project's files that were changed, or that a refused change was for; at most four."""
    places = [*episode.change, *([episode.failure] if episode.failure is not None else [])]
    found = [
        path
        for at in places
        if session.turns[at].action == "edit"
        for path in session.turns[at].paths
        if not path.startswith(("/", "~", "..", "\\")) and path[1:2] != ":"
    ]
    return tuple(dict.fromkeys(found))[:4]


def _triggers(session: Session, made: Draft, episode: Episode, drafted: Sequence[tuple[Draft, Episode]]) -> Triggers:
    """Paths, commands and errors of the episode, and the errors of failures that the same changes resolved."""
    errors = [error for error in made.errors if error]
    commands = [key for command in made.commands if (key := command_key(command))]
    for other, its in drafted:
        if its.detector == "failure_then_fix" and set(its.change) & set(episode.change):
            errors += [error for error in other.errors if error]
    failed_turn = session.turns[episode.failure] if episode.failure is not None else None
    if not commands and failed_turn is not None and failed_turn.action == "shell" and not failed_turn.refused:
        failed = failed_turn.command
        check = session.turns[episode.check].command if episode.check is not None else failed
        commands = [key for key in (check_in_common(failed, check), command_key(failed)) if key][:1]
        errors = errors or [error for error in (stable_error(telling_line(failed_turn.text)),) if error]
    if not commands and failed_turn is not None and failed_turn.action == "shell" and failed_turn.refused:
        commands = [key for key in (command_key(failed_turn.command),) if key]
    if made.anywhere:
        commands = []
    # A program by its bare name is a trigger only where a person forbade it.
    narrow = tuple(key for key in dict.fromkeys(commands) if " " in key or len(key) > 4 or key in made.banned)
    return Triggers(_paths(session, episode) or made.paths, narrow[:3], tuple(dict.fromkeys(errors))[:4])
