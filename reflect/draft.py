"""What the words of a lesson are made of: the draft, and the fixed ways to say where, what and how dear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.evidence import PROGRAM_TEXT, checks_of, error_of, is_edit, is_failure, is_person, is_statement
from index.records import Category, Episode, Kind, Session, Turn
from index.signature import error_signature
from reflect.quotes import added_line, capital, clean_end, code, line_pair, sentence, uncapital

_PLACE = re.compile(
    r"^(?:\(eval\)|zsh|bash|sh|/bin/\w{2,5}): ?(?:line )?\d{1,5}: "
    r"|^(?:\[[\w:.-]{1,30}\] )?[\w./\\@+-]{1,200}\.\w{1,10}(?::\d{1,7}(?::\d{1,6})?|\(\d{1,7},\d{1,6}\))"
    r"(?::|(?= error ))? ?"
)
# A runner's tick or cross, a log's clock.
_SIGN = re.compile(r"^(?:[^\w\s/('\"`.\\<\[{!*-]{1,3}\s+|\d\d:\d\d:\d\d(?:[.,]\d+)?\s+)+")
_HASH = re.compile(r"\b(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b(?:\s+(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b){0,20}")


@dataclass(frozen=True, slots=True)
class Draft:
    """The words of one lesson, and how much it is worth beside others of its session.

    `always` marks what is kept however many there are: what a person asked for in so many words. `banned` are commands
    that a person forbade, as keys. `paths` are files that the words name where nothing was changed. `anywhere` marks an
    error that any command may meet, so that none is a trigger.
    """

    title: str
    fact: str
    why: str
    instead: str
    category: Category
    worth: float
    type: Kind = "semantic"
    confidence: float = 0.8
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    always: bool = False
    anywhere: bool = False


def bare_error(error: str) -> str:
    """An error line without the place that it names at its start."""
    return _PLACE.sub("", _SIGN.sub("", error)).strip() or error


def stable_error(error: str) -> str:
    """What of an error line comes back with the error: its signature without place or branch; "" if little is left."""
    signature = error_signature(bare_error(error))
    signature = re.sub(r"(?<=\] )\S{1,200} -> \S{1,200} (?=\()", "", signature)
    letters = sum(char.isalpha() for char in re.sub(r"'\*'|<\w{1,8}>", "", signature))
    return signature if letters >= 8 and signature.count("*") < 8 else ""


def first_line(command: str) -> str:
    """The first line of a command that says something."""
    lines = [line.strip() for line in command.strip().split("\n") if line.strip()]
    return lines[0].rstrip("\\").strip() if lines else ""


def display(command: str, check: str = "") -> str:
    """How a command is named in a lesson: the part that ran the check as typed, or only its name where it is long.

    A program's text, given to a tool that runs code, has no name: "".
    """
    if PROGRAM_TEXT.search(command):
        return ""
    parts = [part.strip().rstrip("\\").strip() for part in _simple_commands(command)]
    for part in parts:
        if check and check in checks_of(part):
            part = _HASH.sub("…", re.sub(r"\s*(?:2>&1|2>/dev/null|>/dev/null)\s*", " ", part).strip())
            return check if "<<" in part or "$(" in part or len(part) > 90 else part
    line = _HASH.sub("…", first_line(command))
    checks = checks_of(line)
    return checks[-1] if checks and ("<<" in line or "$(cat" in line) else line


def _simple_commands(command: str) -> list[str]:
    """The parts of a command line between its separators, those within quotes left alone."""
    parts, start, quote = [], 0, ""
    for at, char in enumerate(command):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in ";|\n" or command[at : at + 2] == "&&":
            parts.append(command[start:at].strip("&|; \n"))
            start = at + 1
    return [*parts, command[start:].strip("&|; \n")]


def paths_of(turns: Sequence[Turn]) -> str:
    """The files of some turns, at most three by name."""
    paths = list(dict.fromkeys(path for turn in turns for path in turn.paths))
    names = ", ".join(code(path, 90) for path in paths[:3])
    return f"{names} and {len(paths) - 3} more" if len(paths) > 3 else names


def what_changed(edits: Sequence[Turn], names: frozenset[str]) -> str:
    """What some edits changed, with the line that shows it where one speaks of `names`; "" without edits."""
    old, new = line_pair([turn.change for turn in edits], names)
    if old:
        where = paths_of([next((turn for turn in edits if old in turn.change), edits[0])])
        return f"{f'in {where}, ' if where else ''}{code(old)} became {code(new)}"
    line = added_line([turn.change for turn in edits], names)
    if line:
        where = paths_of([next((turn for turn in edits if line in turn.change), edits[0])])
        return f"{f'in {where}, ' if where else ''}{code(line)} was added"
    return f"{paths_of(edits)} changed" if edits and paths_of(edits) else ""


def instead_of(order: str, did: str, check: str) -> str:
    """The closing paragraph: what to do, what was done, and what then passed."""
    parts = [sentence(order)] if order else []
    parts += [capital(sentence(did))] if did else []
    parts += [f"Then {code(check, 80)} passes."] if check else []
    return " ".join(parts)


# What waits while a command fails, by what the command does.
_STAKES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?:^|[ :-])(?:{words})(?:$|[ :.-])"), stake)
    for words, stake in (
        ("push", "Until then nothing reaches the remote."),
        (
            "commit|merge|rebase|cherry-pick|pull|checkout|switch",
            "Until then git stops there, and so does what was to follow.",
        ),
        (
            "lint|clippy|ruff|eslint|vet|golangci-lint|shellcheck|fmt|prettier",
            "Until then the lint check refuses the change.",
        ),
        ("typecheck|tsc|mypy|pyright", "Until then the type check refuses the change."),
        ("test|tests|pytest|vitest|jest|rspec|playwright", "Until then the tests stay red, whatever else is right."),
        ("migrate|migrations|alembic|upgrade head", "Until then the schema stays as it was."),
        ("install|ci|sync|bundle", "Until then nothing is installed."),
        ("deploy|apply|rollout|release|publish", "Until then nothing is rolled out."),
        ("build|compile|compose|docker|make|gradlew|mvn|cargo|go|dotnet", "Until then nothing is built."),
    )
)


def cost(session: Session, episode: Episode, command: str, error: str = "") -> str:
    """Why it matters: with `error`, the failure that it spares; how often it came; else what waits for the command."""
    runs = times(session, episode.failure) if episode.failure is not None else 1
    steps = (episode.check if episode.check is not None else episode.turns[-1]) - (episode.failure or 0)
    told = [f"Otherwise {failing(command, error)}."] if error else []
    if runs > 1:
        told.append(f"The same error came {runs} times in one session.")
    elif steps > 8 and episode.check is not None:
        told.append(f"{steps} steps went by before {code(command, 80)} got past it.")
    if not told:
        told = [
            next((stake for pattern, stake in _STAKES if pattern.search(command)), "A run is lost to it each time.")
        ]
    return " ".join(told)


def failing(command: str, error: str) -> str:
    """That a command fails, and with what."""
    return f"{code(command, 100)} fails with {code(bare_error(error), 220)}"


def times(session: Session, at: int) -> int:
    """How often the error at a position stands in the session."""
    signature = error_of(session.turns[at])
    return sum(1 for turn in session.turns if is_failure(turn) and error_of(turn) == signature) if signature else 1


def said_between(session: Session, start: int, end: int) -> list[str]:
    """What the agent said between two positions, since the person last turned down a change there, if ever."""
    start = max((at for at in range(start + 1, end) if session.turns[at].refused), default=start)
    return [turn.text for turn in session.turns[start + 1 : end] if is_statement(turn)]


def said_after(session: Session, at: int, most: int = 12) -> list[str]:
    """What the agent said after a position, up to the person's next message."""
    found = []
    for turn in session.turns[at + 1 : at + 1 + most]:
        if is_person(turn):
            break
        if is_statement(turn):
            found.append(turn.text)
    return found


def edits_of(session: Session, episode: Episode) -> list[Turn]:
    """The edits among an episode's changes."""
    return [session.turns[at] for at in episode.change if is_edit(session.turns[at])]


def with_context(title: str, context: str) -> str:
    """A title that is short and names little, with the error or cause that it belongs to."""
    context = uncapital(clean_end(context))
    if not context or len(title) > 75 or context.lower() in title.lower() or title.lower() in context.lower():
        return title
    return f"{title} ({context})" if context.startswith("`") and context.endswith("`") else f"{title}: {context}"


def sure(base: float, *grounds: str) -> float:
    """Confidence: a base, and a twentieth for each ground that is there."""
    return round(min(0.95, base + 0.05 * sum(1 for ground in grounds if ground)), 2)
