"""Something about the machine was found the hard way: a missing tool, a wrong version, a taken port, a sandbox's limit.

Silent on: files that a look did not find, tests that need their own fixtures, and limits met once and got round by the
same command typed right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import (
    PROGRAM_TEXT,
    checks_of,
    error_of,
    failures,
    is_failure,
    is_person,
    is_shell,
    is_statement,
    lines_of,
    teaches,
    telling_line,
)
from detectors.sentences import either
from index.records import Episode, Session, Turn
from index.signature import command_parts

REACH = 12
# What a missing or unfit program can be replaced for.
_REPLACEABLE = frozenset({"tool", "module", "version"})
_KINDS: dict[str, re.Pattern[str]] = {
    "tool": either(r"""
        command not found|is not recognized as|: not found$|executable (?:file )?not found
        \bnot installed\b|\bunknown command\b
        No such file or directory: '[\w.-]{1,40}'|spawn \S{1,80} ENOENT|Could not find executable
    """),
    "module": either(r"""
        ModuleNotFoundError|No module named|Cannot find (?:module|package)|ImportError|could not find (?:module|crate)
        package \S{1,120} is not in|Could not resolve|No matching distribution|Could not find a version that satisfies
    """),
    "option": either(r"""
        (?:illegal|invalid|unknown|unsupported|unrecognized) (?:option|flag|argument)|unknown shorthand flag
        no such option|not a valid (?:statement separator|option)|parse error near|syntax error near unexpected
        no matches found|bad substitution
    """),
    "version": either(r"""
        requires? (?:a )?(?:newer|version|node|python|go|java|ruby|rust|php)\b|unsupported (?:engine|version|class file)
        version .{1,40} (?:is )?required|incompatible with|EBADENGINE|UNSUPPORTED_ENGINE|not supported (?:on|by|in) this
    """),
    "network": either(r"""
        EADDRINUSE|address already in use|connection refused|ECONNREFUSED|could not connect to|port is already allocated
        connection to server .{0,120}failed|Could not resolve host|Temporary failure in name resolution|getaddrinfo
    """),
    "sandbox": either(r"""
        Operation not permitted|Read-only file system|failed in sandbox|EROFS|EACCES|\bsandbox\b|Permission denied
        not permitted in this environment|cannot lock ref|dubious ownership
    """),
    "order": either(r"""
        \brequires (?:the )?state\b|\brun \S{2,60} first\b|invalid (?:state )?transition
        must (?:first )?be (?:called|run) (?:before|first)|called \d{1,4} times \(limit
    """),
    "limit": either(r"""
        already used by worktree|exceeds .{1,60}(?:size )?limit|larger than .{1,40}(?:maximum|limit)|No space left
        out of memory|OutOfMemory|unable to create (?:new )?native thread|Too many open files|rate limit|\bquota\b
    """),
}


def detect(session: Session) -> Iterator[Episode]:
    """Each such failure once, with the command that went through in its place where there was one."""
    if not teaches(session):
        return
    seen: set[str] = set()
    for at in failures(session):
        failed = session.turns[at]
        kind = kind_of(failed)
        key = error_of(failed) or kind
        if not kind or key in seen:
            continue
        found = _way_round(session, at)
        again = [i for i in range(at + 1, len(session.turns)) if _same(session.turns[i], key)]
        until = found if found is not None else min(len(session.turns), at + 3)
        said = [i for i in range(at + 1, until) if is_statement(session.turns[i])]
        if found is None and not again and not said and kind != "tool":
            continue
        seen.add(key)
        change = (found,) if found is not None else ()
        turns = tuple(sorted({at, *said, *again[:3], *change}))
        ending = "went another way" if change else "stayed so"
        reason = f"{kind}: `{(failed.command or failed.tool).strip().splitlines()[0][:80]}` failed and {ending}"
        yield Episode("environment_fact", session.key, lines_of(session, turns), turns, reason, at, change, found)


def kind_of(turn: Turn) -> str:
    """Which limit of the machine a failure speaks of, or "": a look at a file that is not there speaks of none."""
    line = telling_line(turn.text)
    if not checks_of(turn.command) and "o such file" in line:
        return ""
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(line)), "")


def _same(turn: Turn, key: str) -> bool:
    return is_failure(turn) and error_of(turn) == key


def _way_round(session: Session, at: int) -> int | None:
    """The command that took the failed one's place: it went through, and shares its program or an argument of it.

    Of those in reach that the agent ran before the person spoke again, the one that shares most; of equals the first.
    """
    failed = session.turns[at]
    if PROGRAM_TEXT.search(failed.command):
        return None
    wanted = {word for words in command_parts(failed.command) for word in words if len(word) > 1}
    best, most = None, 0
    for later in range(at + 1, min(len(session.turns), at + REACH)):
        turn = session.turns[later]
        if is_person(turn):
            break
        if not is_shell(turn) or turn.outcome != "passed":
            continue
        parts = command_parts(turn.command)
        shared = len(wanted & {word for words in parts for word in words})
        shared += 3 * bool(set(checks_of(failed.command)) & set(checks_of(turn.command)))
        if shared > most and (checks_of(turn.command) or not checks_of(failed.command)):
            best, most = later, shared
    return best if best is not None or kind_of(failed) not in _REPLACEABLE else _replacement(session, at)


def _replacement(session: Session, at: int) -> int | None:
    """For a program that cannot run: the next check that went through, by another program."""
    if not checks_of(session.turns[at].command):
        return None
    for later in range(at + 1, min(len(session.turns), at + REACH)):
        turn = session.turns[later]
        if is_person(turn):
            return None
        checks = checks_of(turn.command) if is_shell(turn) and turn.outcome == "passed" else ()
        if any(check.split()[0] not in {"git", "gh", "glab", "node", "python"} for check in checks):
            return later
    return None
