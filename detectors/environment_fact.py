"""Something about the machine was found the hard way: a missing tool, a wrong version, a taken port, a sandbox's limit.

Silent on: files that a look did not find, tests that need their own fixtures, programs typed wrong, limits met once and
got round by the same command typed right, and limits that were gone later in the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from detectors.evidence import (
    PROGRAM_TEXT,
    checks_of,
    error_of,
    failures,
    has_person,
    is_failure,
    is_person,
    is_shell,
    is_statement,
    lines_of,
    same_check,
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
        no matches found|bad substitution|\bsed: .{0,20}(?:invalid command code|extra characters)
    """),
    "version": either(r"""
        requires? (?:a )?(?:newer|version|node|python|go|java|ruby|rust|php)\b|unsupported (?:engine|version|class file)
        version .{1,40} (?:is )?required|incompatible with|EBADENGINE|UNSUPPORTED_ENGINE|not supported (?:on|by|in) this
        \bunsupported environment\b
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
        already used by worktree|running scripts is disabled
        exceeds .{1,60}(?:size )?limit|larger than .{1,40}(?:maximum|limit)|No space left
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
        told = kind == "tool" or bool(foreign_option(failed)[0] or version_gap(failed.text)[0])
        if found is None and not again and not said and not told:
            continue
        if found is None and _gone_later(session, at):
            continue
        if kind == "tool" and (_typed_wrong(session, at) or (found is not None and _respelt(session, at, found))):
            continue
        seen.add(key)
        change = (found,) if found is not None else ()
        turns = tuple(sorted({at, *said, *again[:3], *change}))
        ending = "went another way" if change else "stayed so"
        reason = f"{kind}: `{(failed.command or failed.tool).strip().splitlines()[0][:80]}` failed and {ending}"
        yield Episode("environment_fact", session.key, lines_of(session, turns), turns, reason, at, change, found)
    if has_person(session):
        yield from _told(session)


_WORKED = re.compile(
    r"\b(?:this|that|it|the following|that one|the \w{2,12} one) (?:finally |now |actually )?"
    r"(?:worked|works|did it|did the trick|fixed it|solved it)\b[^\n:]{0,40}"
    r"[:\n]\s*[`$> ]{0,4}(?P<command>\S[^\n`]{3,160})",
    re.IGNORECASE,
)


# What tells a command from a sentence: set variables, a path, an option, a prompt or backticks before it.
_IS_COMMAND = re.compile(r"[:\n]\s*(?:[A-Z_][A-Z0-9_]*=\S+ \S|\.{0,2}/|[`$>]|[\w.-]+(?: [\w./:=-]+){0,6} --?\w)")


def told_worked(text: str) -> str:
    """The command that a person says worked, after others that did not, or ""."""
    found = _WORKED.search(text[:600])
    command = found["command"].strip() if found else ""
    return command if len(command.split()) < 16 and _IS_COMMAND.search(found[0] if found else "") else ""


def _told(session: Session) -> Iterator[Episode]:
    """Each command that the person reported as the one that worked, with what the agent made of it."""
    for at, turn in enumerate(session.turns):
        if not (is_person(turn) and told_worked(turn.text)):
            continue
        said = next((i for i in range(at + 1, min(len(session.turns), at + 6)) if is_statement(session.turns[i])), None)
        turns = (at,) if said is None else (at, said)
        yield Episode("environment_fact", session.key, lines_of(session, turns), turns, "the person told what worked")


def kind_of(turn: Turn) -> str:
    """Which limit of the machine a failure speaks of, or "": a look at a file that is not there speaks of none."""
    line = telling_line(turn.text)
    if not checks_of(turn.command) and "o such file" in line:
        return ""
    if version_gap(turn.text)[0]:
        return "version"
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(line)), "")


# Programs of the base system, which take other options on another one.
_BASE = frozenset(
    "cat sed grep date stat readlink find xargs ps mktemp sort head tail cp ls base64 tar du df touch wc cut tr split "
    "realpath install sha256sum md5sum timeout script top netstat ping".split()
)
_OPTION = re.compile(
    r"\b([\w.-]{2,30}): (?:illegal|invalid|unrecognized|unknown) option (?:-- )?['\"`]?(-{0,2}[\w-]{1,30})"
)
ABSENT = re.compile(
    r"command not found: ([\w.+-]{2,40})|(?<![\w.+-])(?!(?:ba|z|da|k|a)?sh:)([\w.+-]{2,40}): (?:command )?not found\b|"
    r"['\"‘]?([\w.+-]{2,40})['\"’]? is not recognized as|exec: \"([\w.+-]{2,40})\": executable file not found|"
    r"spawn ([\w.+-]{2,40}) ENOENT"
)


_WANTED_AND_GOT: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<program>node|npm|pnpm|yarn|bun|python|ruby|php|java|go|rust)(?:\.js)? version is incompatible with"
        r"[\s\S]{0,160}?expected version: (?P<wanted>\S{1,30})\s{1,4}got: (?P<got>v?\d[\w.+-]{0,20})",
        r"required: \{ ?(?P<program>\w{2,12}): '(?P<wanted>[^']{1,30})'[^\n]{0,60}[\s\S]{0,60}?current: \{ ?\w{2,12}: "
        r"'(?P<got>v?\d[\w.+-]{0,20})",
        r"\brequires (?P<program>go|node|rustc|python|ruby|php|java)(?: version)? ?"
        r"(?P<wanted>[<>=~^]{0,2} ?v?\d[\w.]{0,15})"
        r"[^\n]{0,60}?\b(?:running|using|got|found|have|current(?:ly)?|is)\b:? (?:(?P=program) )?(?:version )?"
        r"(?P<got>v?\d[\w.]{0,15})",
        r"requires a different (?P<program>python): (?P<got>\d[\w.]{0,15}) not in '(?P<wanted>[^']{1,30})'",
    )
)


def version_gap(output: str) -> tuple[str, str, str]:
    """(program, version that is asked for, version that is here) where an output names all three; else empty."""
    found = next(filter(None, (pattern.search(output[:6000]) for pattern in _WANTED_AND_GOT)), None)
    return (found["program"].lower(), found["wanted"].strip(), found["got"].rstrip(".")) if found else ("", "", "")


def absent_program(error: str) -> str:
    """The program that an error says is not there, or ""."""
    found = ABSENT.search(error)
    return next(filter(None, found.groups()), "") if found else ""


def foreign_option(turn: Turn) -> tuple[str, str]:
    """(program, option) where a program of the base system refused an option that it takes elsewhere; else ("", "")."""
    found = _OPTION.search(telling_line(turn.text))
    return (found[1], found[2]) if found and found[1] in _BASE else ("", "")


def _gone_later(session: Session, at: int) -> bool:
    """Whether the same check went through later on: no limit that stayed."""
    command = session.turns[at].command
    absent = absent_program(telling_line(session.turns[at].text))
    return any(
        is_shell(turn)
        and turn.outcome == "passed"
        and same_check(command, turn.command)
        and (not absent or absent in {words[0] for words in command_parts(turn.command)})
        for turn in session.turns[at + 1 :]
    )


def _typed_wrong(session: Session, at: int) -> bool:
    """Whether a program that is not there is one that soon ran, misspelt."""
    name = absent_program(telling_line(session.turns[at].text))
    near = [turn for turn in session.turns[at + 1 : at + 1 + REACH] if is_shell(turn) and turn.outcome == "passed"]
    ran = {words[0] for turn in near for words in command_parts(turn.command)}
    return any(name != other and sorted(name) == sorted(other) for other in ran) or any(
        len(name) > 3 and name != other and SequenceMatcher(None, name, other, autojunk=False).ratio() > 0.8
        for other in ran
        if not other.startswith(name) and not name.startswith(other)
    )


def _respelt(session: Session, at: int, later: int) -> bool:
    """Whether the command that went through is the failed one with one word spelt right."""
    old, new = session.turns[at].command.split(), session.turns[later].command.split()
    changed = [(a, b) for a, b in zip(old, new, strict=False) if a != b]
    return (
        len(old) == len(new)
        and len(changed) == 1
        and all(word.isalpha() for word in changed[0])
        and (sorted(changed[0][0]) == sorted(changed[0][1]) or _likeness(*changed[0]) > 0.8)
    )


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


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
    absent = absent_program(telling_line(failed.text))
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
        if absent and absent not in turn.command:
            continue
        if shared > most and (checks_of(turn.command) or not checks_of(failed.command)):
            best, most = later, shared
    return best if best is not None or kind_of(failed) not in _REPLACEABLE else _replacement(session, at)


def _replacement(session: Session, at: int) -> int | None:
    """For a program that cannot run: the next command that went through in its place.

    In its place is what the output or the agent names, or what does the same by its name; what merely came next is not.
    """
    failed = session.turns[at]
    programs = {words[0] for words in command_parts(failed.command)}
    if not checks_of(failed.command) and not any(programs & group for group in _ALIKE):
        return None
    said = ""
    for later in range(at + 1, min(len(session.turns), at + REACH)):
        turn = session.turns[later]
        if is_person(turn):
            return None
        if is_statement(turn):
            said += turn.text[-600:]
        for words in command_parts(turn.command) if is_shell(turn) and turn.outcome == "passed" else ():
            told = re.search(rf"(?<![\w.-]){re.escape(words[0])}(?![\w-])", f"{failed.text}\n{said}")
            same = any(words[0] in group and programs & group for group in _ALIKE)
            direct = "/.bin/" in turn.command or "/bin/" in turn.command.split()[0]
            if same or ((told or direct) and words[0] not in programs and _checks(words)):
                return later
    return None


def _checks(words: list[str]) -> bool:
    looks = words[0] in {"git", "gh", "glab"} or (
        words[0] in {"node", "python"} and words[1:2] in (["-e"], ["-c"], ["-"])
    )
    return bool(checks_of(" ".join(words))) and not looks


_ALIKE = tuple(
    frozenset(group.split())
    for group in (
        "rg grep ag ack egrep git-grep", "fd find", "python python3 py", "pip pip3 uv", "docker podman nerdctl",
        "docker-compose docker podman-compose",
        "npm pnpm yarn bun",
        "curl wget http", "make gmake", "vim vi nano", "bat cat", "jq yq", "sha256sum shasum", "timeout gtimeout",
        "terraform tofu", "pytest python tox nox uv poetry", "mypy pyright", "eslint npx pnpm", "tsc npx pnpm",
    )
)  # fmt: skip
