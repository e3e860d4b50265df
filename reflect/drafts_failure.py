"""Words for a failure and its fix: by an edit, by another command, by the same command typed otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

from detectors.evidence import check_in_common, checks_of, taken_back, telling_line
from detectors.failure_then_fix import is_test, shown_error
from detectors.sentences import LITERAL, has_literal, sentences
from index.records import Episode, Session
from index.signature import command_parts, split_lines
from reflect.draft import (
    Draft,
    bare_error,
    cost,
    display,
    edits_of,
    failing,
    instead_of,
    said_after,
    said_between,
    stable_error,
    sure,
    times,
    what_changed,
    with_context,
)
from reflect.quotes import (
    act_on,
    alike,
    as_title,
    best_cause,
    best_need,
    best_order,
    capital,
    code,
    is_requirement,
    line_pair,
    names_in,
    points_back,
    sentence,
    tidy,
    without_paths,
)

SHORT = 60
# From so many steps on between a failure and its fix, the words between them may be of something else.
FAR = 20
_ERROR_MARK = re.compile(r"^(?:error|fatal|failed)\b[^:]{0,20}: ", re.IGNORECASE)
_DEMANDS = re.compile(
    r"\b(?:expects|must(?: not)? (?:be|have|start|match|contain)|may not be|is required|requires an?|"
    r"only accepts|should be)\b",
    re.IGNORECASE,
)
TYPO = 0.75  # likeness of two words from which one is the other mistyped
_TAIL = re.compile(r"\s*(?:\|\s*(?:head|tail|grep|cat|less|wc|sort)\b.*|\d?>&?\s*\S+)")
_ADVICE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"can replace '(.{3,80}?)' with '(.{3,80}?)'"), "Write `{1}`, not `{0}`"),
    (
        re.compile(r"string `(.{1,60}?)` has \d{1,5} occurrences, but such constant `(\w{1,60})` already exists"),
        "Use the constant `{1}`, not the string `{0}`",
    ),
    (
        re.compile(r"[Tt]he token '(&&|\|\|)' is not a valid statement separator"),
        "Separate commands with `;`, not `{0}`: this PowerShell does not know it",
    ),
    (
        re.compile(
            r"\b((?:MD|[A-Z]{1,4})\d{3,4})\b[/\w-]{0,60}:? ([A-Z][^.\[\n]{8,90}? (?:should|must) [^.\[\n]{5,90})"
        ),
        "{1} (`{0}`)",
    ),
    (re.compile(r"(\S{2,60}) must not be called\. [Uu]se (\S{2,60})"), "Call `{1}`, not `{0}`"),
    (re.compile(r"(\S{2,60}) is deprecated[:;,.]? (?:please )?[Uu]se (\S{2,60})"), "Use `{1}`, `{0}` is deprecated"),
    (re.compile(r"[Rr]eplace [`'](.{3,80}?)[`'] with [`'](.{3,80}?)[`']"), "Write `{1}`, not `{0}`"),
    (re.compile(r"[Dd]id you mean ['\"`]([\w./:-]{2,60})['\"`]"), "Write `{0}`"),
    (
        re.compile(r"[Uu]se [`'\"]([\w./():-]{3,60})[`'\"] instead(?: of [`'\"]?([\w./():-]{3,60}))?"),
        "Use `{0}` instead",
    ),
)
# A name that the code goes by now: worth knowing though only a test still had the old one.
_RENAMED = re.compile(
    r"\b(?:was|were|been|is|are) (?:now )?(?:renamed|moved|replaced|called)\b|\bnew name\b", re.IGNORECASE
)
# A path mistyped or a folder left: put right at once, and nothing to remember.
_MISTYPED = re.compile(
    r"[Nn]o such file or directory|did not match any file|ENOENT|cannot access|not a directory|"
    r"^\S{0,8}:? ?unmatched|in command substitution|unexpected EOF|unterminated"
)
# What an error quotes.
_NAMED = r"['\"`‘“]([\w.:/@=-]{3,60})['\"`’”]"
_ASSERTION = re.compile(
    r"AssertionError|\bwant\b|\bexpected\b.{0,80}\b(?:got|received|but|to)\b|^assert|●|--- FAIL|"
    r"✗ FAIL"
)


def draft_failure(session: Session, episode: Episode) -> Draft | None:
    """A failed check and the change after which it passed."""
    if episode.failure is None or episode.check is None:
        return None
    failed, check = session.turns[episode.failure], session.turns[episode.check]
    error = shown_error(session, episode.failure, episode.check)
    if not error:
        return None
    edits = edits_of(session, episode)
    if not edits:
        return _draft_command(session, episode, error)
    command = display(failed.command, check_in_common(failed.command, check.command)) or failed.tool
    said = next(iter(said_between(session, episode.failure, episode.check)), "")
    error = quoted_error(failed.text, said) or error
    narrow = names_in(bare_error(error)) | names_in(*(turn.change[:3000] for turn in edits))
    # What was said of an attempt that was taken back is no word on the fix.
    undone = [i for i in taken_back(session) if episode.failure < i < episode.change[0]]
    between = said_between(session, max([episode.failure, *undone]), episode.check)
    closing = said_after(session, episode.check)
    advice = advice_in(error)
    rule = "" if advice else lint_rule(error)
    about_error = names_in(without_paths(bare_error(error)))
    renamed = new_name(between)
    cause = best_cause(between, narrow, near=True) or best_cause(closing, about_error, 3) or renamed
    order = best_order(between, narrow, near=True) or best_order(closing, about_error) or best_need(between, narrow)
    about = names_in(bare_error(error), cause, order, advice)
    did = what_changed(edits, about)
    shown = [path for turn in edits for path in turn.paths if path in did]
    error = error_about(failed.text, error, names_in(order, cause, advice, did), shown)
    # Told of something else than any line of the output: the fix of another error, or of a later one.
    names = names_in(without_paths(bare_error(error)))
    speaks = names_in(order, cause, advice, rule)
    other = bool(names) and bool(speaks) and not names & speaks
    pair = line_pair([turn.change for turn in edits], about)
    paths = [path for turn in edits for path in turn.paths]
    acted = act_on(cause, [turn.change for turn in edits], paths, between[-1:])
    title = _failure_title(advice, order, acted if cause else "", cause, pair, bare_error(error))
    title = title or rule * (" became " in did or " was added" in did)
    if rule and not has_literal(order):
        title = with_context(order, rule.partition(":")[0].removeprefix("Keep to ")) if order else title
    if not title:
        return None
    runs = times(session, episode.failure)
    worth = 2.0 + 1.2 * bool(order) + 1.0 * bool(cause) + 1.0 * bool(advice or rule) + min(runs - 1, 2) * 0.8
    worth += 0.4 * ("became" in did or "was added" in did) - 2.0 * bool(_ASSERTION.search(error) and not cause)
    only_tests = all(is_test(path) for turn in edits for path in turn.paths) and not renamed
    worth -= 1.8 * bool(_ASSERTION.search(error) and only_tests)
    worth -= 0.6 * (not between and not advice and not rule) + 0.6 * (not has_literal(title))
    # An order that names nothing, for an error whose cause was not told, could be said of any error.
    worth -= 1.4 * (
        bool(order) and not advice and not rule and not has_literal(order) and not (cause and has_literal(cause))
    )
    if other and episode.check - episode.failure > FAR:
        worth -= 1.6 if _same_place(error, shown) else 3.0
    worth -= 0.8 * (only_tests and not order and not advice and not rule and not is_requirement(cause))
    return Draft(
        title=as_title(title),
        fact=sentence(cause) if cause else f"{failing(command, error)}.",
        why=cost(session, episode, command, error if cause else ""),
        instead=instead_of(advice or order or rule * (not did), did, command if check.outcome == "passed" else ""),
        category="bugs",
        worth=worth,
        confidence=sure(0.75, cause, order, advice),
        commands=(command,),
        errors=(stable_error(error),),
    )


def new_name(texts: Sequence[str]) -> str:
    """The exact sentence that says that something goes by a new name, or ""."""
    said = (tidy(one) for text in texts for one in sentences(text))
    return next((one for one in said if _RENAMED.search(one) and has_literal(one) and one[-1] not in ":?"), "")


def _same_place(error: str, files: Sequence[str]) -> bool:
    """Whether an error names one of some changed files."""
    return any(path.rsplit("/", 1)[-1] in error for path in files)


def quoted_error(output: str, said: str) -> str:
    """The line of an output that the agent quoted when it had read it, or ""."""
    for literal in LITERAL.findall(said):
        quoted = literal.strip("`")
        if len(quoted) > 14 and " " in quoted:
            for line in output.split("\n"):
                if quoted in line and telling_line(line):
                    return telling_line(line)
    return ""


def error_about(output: str, error: str, names: frozenset[str], files: Sequence[str]) -> str:
    """Of an output's telling lines the one that a fix was for: it names the same things.

    `error` where it does so itself, or where no other does.
    """
    last = {path.rsplit("/", 1)[-1] for path in files}

    def shared(line: str) -> int:
        return len(names_in(without_paths(bare_error(line))) & names) + 2 * any(name in line for name in last)

    if shared(error):
        return error
    lines = [line for line in split_lines(output) if telling_line(line)][:40]
    return max(lines, key=shared, default=error) if any(shared(line) for line in lines) else error


def _failure_title(advice: str, order: str, acted: str, cause: str, pair: tuple[str, str], error: str) -> str:
    if advice:
        return advice
    short = code(without_paths(error), 45) if len(error.split()) > 2 else ""
    if order and cause and points_back(order):
        return with_context(order, cause)
    if order and has_literal(order):
        return with_context(order, short if len(order) < 45 else "")
    if order and cause:
        return with_context(order, cause)
    if order:
        return with_context(order, short)
    if acted:
        return with_context(acted, short if is_requirement(cause) else cause)
    if pair[0] and len(pair[0]) + len(pair[1]) < 100:
        return with_context(f"Write {code(pair[1], SHORT)}, not {code(pair[0], SHORT)}", cause)
    return ""


def _draft_command(session: Session, episode: Episode, error: str) -> Draft | None:
    """Nothing was edited: another command went before, or the same one was typed otherwise."""
    at, end = episode.failure or 0, episode.check or 0
    failed, check = session.turns[at], session.turns[end]
    common = check_in_common(failed.command, check.command)
    command = display(failed.command, common) or failed.tool
    if _MISTYPED.search(error):
        return None
    said = said_between(session, at, end)
    error = quoted_error(failed.text, said[0] if said else "") or error
    narrow = names_in(bare_error(error), failed.command, *(session.turns[i].command for i in episode.change))
    between = said_between(session, at, end)
    cause = best_cause(between, names_in(without_paths(bare_error(error)), check.command) | narrow, near=True)
    order = best_order(between, narrow, near=True) or best_need(between, narrow)
    short = code(without_paths(bare_error(error)), 45) if len(bare_error(error).split()) > 2 else ""
    rerun = display(failed.command) == display(check.command) or command == display(check.command, common)
    helper = _helper(session, episode, failed.text) if rerun else ""
    if _adds_what_lacks(helper, failed.text):
        return None
    refused = [name for name in re.findall(_NAMED, error) if name in failed.command and name not in check.command]
    if not helper and len(display(check.command)) > 3 and display(check.command) in failed.text:
        helper = display(check.command)
    worth = 1.8 + 0.8 * bool(cause) + 0.8 * bool(order) + min(times(session, at) - 1, 2) * 0.6
    if helper and len(helper) > SHORT and order:
        title, did = with_context(order, short), f"run {code(helper, 200)}, then {code(command, 80)} again"
        worth += 0.8
    elif helper:
        title = f"Run {code(helper, SHORT)} when {code(command, 40)} says {code(without_paths(bare_error(error)), 45)}"
        did = f"run {code(helper)}" + (f", then {code(command, 80)} again" if helper != display(check.command) else "")
        worth += 0.8 + 0.8 * (helper in failed.text)
    else:
        old, new = display(failed.command), display(check.command)
        swap = difference(old, new) if old and new else ""
        demand = _ERROR_MARK.sub("", bare_error(error))
        if _DEMANDS.search(demand) and len(demand) < 110 and not refused:
            # What the error says is wanted is what to do; how it was met is seen in the run that passed.
            title = with_context(capital(demand), code((checks_of(failed.command) or (command,))[-1], 50))
            did = f"{code(new, 120)} went through" if new else "the call went through when it was given so"
            worth += 0.8
        elif refused and failed.command:
            title, did = (
                with_context(f"Leave out {code(refused[-1])}", short),
                f"{code(command)} went through without it",
            )
            worth += 0.8
        elif swap:
            title = (
                order
                if order and has_literal(order)
                else with_context(swap, code(without_paths(bare_error(error)), 45))
            )
            did = f"run {code(new)}; {code(old)} did not go through"
            # What only has something more than the failed one is the same run, given what it lacked.
            lacked = set(new.split()) - set(old.split())
            given = set(old.split()) < set(new.split()) and all(_GIVEN.match(word) for word in lacked)
            worth += 0.6 + 0.3 * given
        elif order and has_literal(order):
            title, did = with_context(order, short), ""
        elif is_requirement(cause):
            title, did = with_context(cause, short), "the call went through when it was given so"
            worth += 0.4
        else:
            return None
    return Draft(
        title=as_title(title),
        fact=sentence(cause) if cause else f"{failing(command, error)}.",
        why=cost(session, episode, command, error if cause else ""),
        instead=instead_of(order, did, ""),
        category="bugs",
        worth=worth,
        type="procedural",
        confidence=0.75,
        commands=(command,),
        errors=(stable_error(error),),
    )


_ADDS = re.compile(
    r"(?:go get|npm (?:i|install|add)|pnpm (?:i|add|install)|yarn add|bun add|(?:python3? -m |uv )?pip3? install|"
    r"cargo add|(?:poetry|uv) add|bundle add|composer require|dotnet add package)\b(?P<what>(?: \S+)+)$"
)


def _adds_what_lacks(command: str, output: str) -> bool:
    """Whether a command only adds the dependency that an error says is lacking: from then on the manifest has it."""
    found = _ADDS.match(command)
    names = [word for word in found["what"].split() if not word.startswith("-") and word != "."] if found else []
    return bool(names) and all(re.split(r"[@=<>~\[]", name[1:])[0] in output for name in names)


def _helper(session: Session, episode: Episode, output: str) -> str:
    """Which command in between cleared the way: one that the error itself named, else the last one; "" if none was."""
    commands = [display(session.turns[at].command) for at in episode.change if at != episode.check]
    commands = [command for command in commands if command]
    named = [command for command in commands if any(" ".join(words) in output for words in command_parts(command))]
    chosen = (named or commands)[-1:] or [""]
    return re.sub(r"\s*(?:2>&1\s*)?\|\s*(?:tail|head)\b.{0,20}$", "", chosen[0])


def difference(old: str, new: str) -> str:
    """How one command differs from another in a few words, as an order; "" where they differ too much."""
    before, after = (_words(_TAIL.sub("", text)) for text in (old, new))
    gone = [word for word in before if word not in after]
    come = [word for word in after if word not in before]
    if not gone and not come:
        return ""
    if (
        len(gone) == len(come) == 1
        and len(gone[0] + come[0]) < 80
        and gone[0].isalpha()
        and come[0].isalpha()
        and (alike(gone[0], come[0]) > TYPO or sorted(gone[0]) == sorted(come[0]))
    ):
        return ""
    if len(" ".join(old.split())) < 90 and len(new) < 90:
        return f"Run {code(new, 90)}, not {code(old, 90)}" if len(old) + len(new) < 100 else f"Run {code(new, 90)}"
    if come and len(come) <= 3 and len(gone) <= 3:
        return f"Write {code(' '.join(come), SHORT)}" + (f", not {code(' '.join(gone), SHORT)}" if gone else "")
    if come and not gone and len(come) <= 4:
        return f"Run {code(before[0], 20)} with {code(' '.join(come), SHORT)}"
    if gone and len(gone) <= 2 and not come:
        return f"Leave out {code(' '.join(gone), SHORT)}"
    return ""


def _words(command: str) -> list[str]:
    """The words of a command, what stands in quotes together, as they are written."""
    return _QUOTED_OR_WORD.findall(command)


# An option, or a variable that is set for one command.
_GIVEN = re.compile(r"-|[A-Z_][A-Z0-9_]*=")
_QUOTED_OR_WORD = re.compile(r"(?:[^\s'\"]|'[^']*'|\"[^\"]*\"|['\"])+")
_LINT_RULE: tuple[re.Pattern[str], ...] = (
    re.compile(r"^(?P<says>\S.{11,160}?) \((?P<rule>[a-z][a-z0-9-]{2,24})\)$"),
    re.compile(r"^(?:\d{1,6}:\d{1,5}\s+)?(?:error|warning)\s+(?P<says>\S.{11,160}?)\s{2,}"
               r"(?P<rule>@?[a-z][\w/-]{3,50})$"),
    re.compile(r"^(?:error |warning )?(?P<rule>(?:SC|DL)\d{4}|(?!TS|CS|E0|E1|E2|E3|E5|W|I|D)[A-Z]{1,4}\d{3,4})\b"
               r"[: ]{1,3}(?:\[\*\] |\(\w{4,8}\): )?(?P<says>\S.{11,160})$"),
)  # fmt: skip
# Rules that only say that something was left over, misspelt or laid out otherwise: a slip, put right at once.
_SLIP_RULE = re.compile(
    r"typecheck|unused|undef|gofmt|gofumpt|goimports|\bgci\b|ineffassign|deadcode|whitespace|prettier|indent|semi|quotes|"
    r"spac(?:e|ing)|comma|import(?:s|/order|-order)|F[48]\d\d|format|misspell|godot|\blll\b|max-len|trailing|newline",
    re.IGNORECASE,
)


def lint_rule(error: str) -> str:
    """A checker's named rule and what it says, as an order, or "": rules of layout and left-overs teach nothing."""
    found = next(filter(None, (pattern.search(bare_error(error)) for pattern in _LINT_RULE)), None)
    if found is None or _SLIP_RULE.search(found["rule"]):
        return ""
    return f"Keep to {code(found['rule'])}: {found['says'].rstrip('. ')}"


def advice_in(error: str) -> str:
    """What a checker's message itself says to write, as an order, or ""."""
    for pattern, order in _ADVICE:
        if found := pattern.search(error):
            return order.format(*((group or "").strip() for group in found.groups()))
    return ""
