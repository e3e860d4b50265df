"""What a turn proves: a failure that can teach, a check that a command runs, a change that it made.

Every episode detector asks these questions, so that all of them are silent on the same things: refusals, interrupts,
the harness's own errors, injected text, runs that a timer or hotwash itself started.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache

from index.records import Session, Turn
from index.signature import command_key, command_parts, error_signature, is_banner, split_lines, weigh_line

# Errors of the agent's own tools. They say how to hold the tool, not anything about the project.
_HARNESS = (
    "<tool_use_error>",
    "Sibling tool call errored",
    "Cancelled: parallel",
    "File has not been read",
    "File does not exist",
    "String to replace not found",
    "apply_patch verification failed",
    "Invalid patch",
    "No changes to make",
    "failed to parse function arguments",
    "InputValidationError",
    "Unknown skill",
    "Permission to use",
    "Permission for this action",
    "This command requires approval",
    "Claude requested permissions",
    "BLOCKED",
    "Request interrupted",
    "aborted by user",
    "rejected by user",
    "The user doesn't want",
)
# Programs that look, print or move: a failure of theirs is a miss, and no check of anything.
_LOOKING = frozenset(
    "echo printf cat bat head tail less more ls tree pwd wc sort uniq cut tr tee xargs grep egrep fgrep rg ag "
    "sed awk gawk "
    "find fd which type whereis test [ [[ true false sleep wait jq yq date stat file du df basename dirname "
    "realpath diff "
    "cmp mkdir rmdir rm cp mv ln touch chmod chown kill pkill pgrep ps lsof env printenv export history clear man open "
    "select-object select-string get-content get-childitem write-output write-host get-item test-path dir for "
    "do done if "
    "then else fi while until case esac { } ! time".split()
)
_PUTTING = frozenset("cp mv ln mkdir chmod chown kill pkill rm touch".split())
# Programs whose second word says what runs, so that two words name the check.
_TASK_RUNNERS = frozenset(
    "mise npm pnpm yarn bun just make task uv poetry hatch pdm rake nx turbo lerna docker docker-compose "
    "podman gh glab "
    "kubectl helm terraform git cargo go dotnet mix gradle gradlew mvn mvnw sbt swift flutter dart deno "
    "composer bundle "
    "rails artisan php manage.py python node ruby perl bash sh pip pip3 conda brew apt apt-get systemctl aws "
    "gcloud".split()
)
# Programs that take files, folders or texts where others take a subcommand.
_FILE_TAKERS = frozenset(
    "pytest mypy pyright eslint prettier biome stylelint black isort flake8 pylint bandit vulture tsc gofmt goimports "
    "golangci-lint shellcheck hadolint yamllint markdownlint vale vitest jest mocha psql mysql sqlite3 curl wget ssh "
    "scp rsync tar unzip gcc g++ clang cc javac java kotlinc rustc less sass protoc".split()
)
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]{1,24}")
_GIT_LOOKS = frozenset(
    {"status", "diff", "log", "show", "branch", "ls-files", "ls-tree", "rev-parse", "remote", "config"}
)
_RUN_WORDS = frozenset({"run", "exec", "x", "compose", "tool", "script", "run-script", "task", "api", "artisan"})
LOOK_AHEAD = 80
_WORD = re.compile(r"[A-Za-z_]\w{3,60}|\b\d{4,5}\b")
_COMMON = frozenset(
    "error errors failed fails with from this that could cannot connect connection refused permission denied operation "
    "permitted command found not file files import return const true false none null self test tests bash line".split()
)
REACH_BACK = 40
# Git commands that put files back, and what closes the time in which they can.
RESTORES = re.compile(
    r"\bgit (?:-C \S{1,200} )?(?:checkout (?:HEAD |\S{1,60} )?-- |checkout [\w./-]{1,120}\.\w{1,8}\b|"
    r"restore (?!--staged)|reset --hard)"
)
_COMMIT = re.compile(r"\bgit (?:-C \S{1,200} )?(?:commit|merge|rebase|pull)\b")
# A program's text, given to a tool that runs code: no command line.
PROGRAM_TEXT = re.compile(r"(?m)^(?:import \w|from \w{1,60} import|print\(|def \w|const \w|let \w)")
# A compiler's or linter's finding: path, line, perhaps column, message.
_FINDING = re.compile(
    r"^[\w./\\@+-]{1,200}\.\w{1,10}(?::\d{1,7}(?::\d{1,6})?(?:: |:?(?: -)? (?:error|MD\d))|"
    r"\(\d{1,7},\d{1,6}\): )\S?.{3}"
)
_JSON_MESSAGE = re.compile(r'"(?:message|error|detail|msg)":\s{0,4}"((?:[^"\\]|\\.){5,300})')
# What a tool server's error says, in the record of the call that it stands in.
_TOOL_ERROR = re.compile(r'"text": ?"((?:[^"\\]|\\.){5,400})"\}\], ?"isError": ?true')
_QUOTED = re.compile(r"['\"`][^'\"`]{2,80}['\"`]")
_RUNNER_PREFIX = re.compile(r"^(?:\[[\w:.-]{1,30}\] |\S{1,40} \| )(?=\S)")
_ONLY_FAILED = re.compile(
    r"\berror task failed|\btask failed\b|^\[failed\]|script failed|command failed|\bfailed with exit|"
    r"exited with (?:code )?\d|^fail\t|^fail\b.{0,200}\[|"
    r"^\d{1,6} (?:failed|errors?|problems?|issues?)\b|failed to push some refs|^aborting$|^error: process|"
    r"^errors? in \d|elifecycle|first_fail|^(?:=|-){3,}|^\* \w{1,40}: \d"
)
_NO_ERROR = re.compile(
    r"^(?:--- PASS|ok\s|PASS\b|✓|√|INFO|DEBUG|\d{4}[/-]\d\d[/-]\d\d \S{1,20} INFO|func |return |"
    r"if |import )|\bINFO\b|\b(?:no|0|without|zero) (?:errors?|failures?|problems|issues)\b(?!.{0,40}\b[1-9]\d{0,4} )"
)
# A frame of a traceback, a package's heading, a bare exception: where it failed, not what.
_FRAME = re.compile(r":\d{1,7}: (?:in \S{1,80}$|: # |\w{1,60}(?:Error|Exception)$)|^at ")
# PowerShell's own trailer below an error.
_TRAILER = re.compile(r"^\+ (?:CategoryInfo|FullyQualifiedErrorId)\b")
_SUGGESTS = re.compile(r"\brun [`'\"]|\bto fix\b")
_TELLING_MORE = re.compile(
    r"\bmissing\b|not found|undefined|denied|refused|not permitted|expected|unknown|rejected|illegal|invalid|"
    r"cannot|are ignored by|failed (?:in|to)\b|\bfail:|"
    r"\bwant\b|\bmust\b|\bshould\b|already|can be|can replace|no such|not enough|too many|does not|unused|"
    r"is not\b|unable|ambiguous|out of (?:date|sync)|outdated|\bstale\b|changed .{0,40}since|too open|"
    r"may not be|not allowed|forbidden|extra characters|unterminated|data race|deadlock|\bunexpected\b"
)


def teaches(session: Session) -> bool:
    """Whether a session's failures may teach: it is no run of ours and none that a timer started."""
    return not (session.own or session.scheduled)


def has_person(session: Session) -> bool:
    """Whether a person speaks in a session that may teach: what a sub-agent is told, an agent has written."""
    return teaches(session) and not session.subagent


def is_failure(turn: Turn) -> bool:
    """Whether a turn is a command or tool call that failed by itself, in a way that may teach."""
    if turn.who != "tool" or turn.outcome != "failed" or turn.refused:
        return False
    if turn.action not in {"shell", "mcp", "other"} or not turn.text.strip():
        return False
    return not is_harness_error(turn.text) and not _was_stopped(turn)


def is_harness_error(text: str) -> bool:
    """Whether an output is the harness's own refusal or misuse message."""
    head = text[:400].lstrip()
    return any(mark in head for mark in _HARNESS)


def _was_stopped(turn: Turn) -> bool:
    """Killed by a signal or a time limit: nothing was found out."""
    head = turn.text[:300].lower()
    return turn.exit_code in {130, 137, 143} or "timed out after" in head or "command timed out" in head


def is_edit(turn: Turn) -> bool:
    """Whether a turn changed a file."""
    return turn.who == "tool" and turn.action == "edit" and turn.outcome != "failed" and not turn.refused


def is_shell(turn: Turn) -> bool:
    """Whether a turn ran a command to its end, with success or not."""
    return turn.who == "tool" and turn.action == "shell" and not turn.refused and bool(turn.command)


def puts_in_place(command: str) -> bool:
    """Whether a command line moves, links, frees or removes something: what may clear the way for another."""
    return any(words[0].lower() in _PUTTING for words in command_parts(command))


@lru_cache(maxsize=4096)
def checks_of(command: str) -> tuple[str, ...]:
    """The checks that a command line runs, in order: program and what it is told to do, without what varies.

    `cd x && mise run fmt && mise run lint | tail` gives ("mise run fmt", "mise run lint"); looking gives none.
    """
    found: list[str] = []
    if PROGRAM_TEXT.search(command):
        return ()
    for words in command_parts(command):
        program = words[0].lower()
        if program in _LOOKING or program.startswith("-"):
            continue
        key = command_key(shlex.join(words)).split()
        if key and not (key[0] == "git" and len(key) > 1 and key[1] in _GIT_LOOKS):
            found.append(" ".join(_family(key)))
    return tuple(dict.fromkeys(found))


def _family(key: list[str]) -> list[str]:
    words = [word for word in key if not word.startswith("--")]
    if words[0] not in _TASK_RUNNERS:
        told = words[0].endswith((".sh", ".py", ".js", ".ts", ".rb", ".ps1"))
        told = told or (words[0] not in _FILE_TAKERS and bool(_SUBCOMMAND.fullmatch(" ".join(words[1:2]))))
        return words[:2] if told else words[:1]
    return words[:3] if len(words) > 2 and words[1] in _RUN_WORDS else words[:2]


def same_check(failed: str, later: str) -> bool:
    """Whether a later command runs again what failed: the last check of the chain, or all of its checks."""
    wanted, runs = checks_of(failed), set(checks_of(later))
    return bool(wanted) and (wanted[-1] in runs or set(wanted) <= runs)


def check_in_common(failed: str, later: str) -> str:
    """The check that both commands run, the last one first; "" if there is none."""
    runs = set(checks_of(later))
    return next((check for check in reversed(checks_of(failed)) if check in runs), "")


@lru_cache(maxsize=2048)
def telling_line(text: str) -> str:
    """The line of an output that says what failed, as it stands: a finding at a place in a file before all else."""
    reported = _TOOL_ERROR.search(text)
    if reported:
        text = reported[1].replace("\\n", "\n").replace('\\"', '"')
    best, most = "", 0
    for line in split_lines(text):
        wrapped = _JSON_MESSAGE.search(line) if "=> {" in line else None
        line = wrapped[1] if wrapped else line
        weight = _weigh(line)
        if weight > most:
            best, most = line, weight
    wrapped = _JSON_MESSAGE.search(best) if best.startswith(("{", "[", '"')) else None
    if wrapped is None:
        return best
    parts = [part for part in wrapped[1].replace('\\"', '"').split("\\n") if part.strip()]
    return max(parts, key=_weigh_message, default=best)


def _weigh_message(line: str) -> tuple[bool, int]:
    """What of a service's message of several lines says most: what names something, then what weighs most."""
    return bool(_QUOTED.search(line)), _weigh(line)


def _weigh(line: str) -> int:
    bare = _RUNNER_PREFIX.sub("", line)
    low = bare.lower()
    if _ONLY_FAILED.search(low) or _NO_ERROR.search(bare) or _TRAILER.search(bare):
        return 0
    weight = weigh_line(bare)
    telling = _TELLING_MORE.search(low) is not None
    if _FINDING.match(bare) and not _FRAME.search(bare):
        return 4 if "warning" in low else 7 + 2 * (telling or weight > 0)
    if low.startswith("! [rejected]"):
        return 9
    if weight:
        return weight + telling
    return 2 * (telling and not is_banner(bare)) or int(_SUGGESTS.search(low) is not None)


def error_of(turn: Turn) -> str:
    """The signature of a failed turn's error, "" where the output has no telling line."""
    return error_signature(_RUNNER_PREFIX.sub("", telling_line(turn.text)))


def gone(signature: str, output: str) -> bool:
    """Whether an error is no longer in an output."""
    return bool(signature) and all(signature != error_signature(line) for line in split_lines(output) if _weigh(line))


def failures(session: Session) -> Iterator[int]:
    """Positions of the failures that may teach."""
    return (at for at, turn in enumerate(session.turns) if is_failure(turn))


def is_person(turn: Turn) -> bool:
    """Whether a turn is the person's own words in the main conversation."""
    return turn.who == "person" and not turn.sidechain and bool(turn.text.strip())


def is_statement(turn: Turn) -> bool:
    """Whether a turn is something the agent said in the main conversation."""
    return turn.who == "agent" and not turn.tool and bool(turn.text.strip())


def words_of(*texts: str) -> frozenset[str]:
    """The words of four letters and more by which texts are held against each other, in lower case."""
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text)) - _COMMON


def taken_back(session: Session) -> Mapping[int, int]:
    """Positions of the edits that did not stand -> the position where each was undone.

    An edit is undone by a later one of the same file that takes out what it wrote and puts back what it took out (that
    one is listed too where it did nothing else), or by a git command that restores the file.
    """
    return _taken_back(session.turns)


@lru_cache(maxsize=2)
def _taken_back(turns: tuple[Turn, ...]) -> dict[int, int]:
    undone: dict[int, int] = {}
    standing: dict[str, list[int]] = {}
    for at, turn in enumerate(turns):
        if is_shell(turn) and turn.outcome == "passed":
            for path in _restored(turn.command, standing):
                undone.update(dict.fromkeys(standing.pop(path, ()), at))
            if _COMMIT.search(turn.command):
                standing.clear()
        if not is_edit(turn):
            continue
        gone, come = _net_lines(turn.change)
        for before in reversed([i for path in turn.paths for i in standing.get(path, ())[-REACH_BACK:]]):
            old, new = _net_lines(turns[before].change)
            if before not in undone and (old or new) and new <= gone and old <= come:
                undone[before] = at
                if new == gone and old == come:
                    undone[at] = at
                break
        for path in turn.paths:
            standing.setdefault(path, []).append(at)
    return undone


@lru_cache(maxsize=512)
def _net_lines(change: str) -> tuple[frozenset[str], frozenset[str]]:
    """The lines that an edit took out and those that it wrote, without what it left as it was."""
    old = frozenset(line[1:].strip() for line in change.split("\n") if line.startswith("-")) - {""}
    new = frozenset(line[1:].strip() for line in change.split("\n") if line.startswith("+")) - {""}
    return old - new, new - old


def _restored(command: str, edited: Mapping[str, object]) -> list[str]:
    """Which of the edited files a command puts back to their committed text."""
    if not RESTORES.search(command):
        return []
    named = [word for words in command_parts(command) if words[0] == "git" for word in words[2:]]
    if "." in named or "reset --hard" in command:
        return list(edited)
    names = [word.removeprefix("./").rstrip("/") for word in named if not word.startswith("-")]
    return [
        path for path in edited if any(path == n or path.endswith("/" + n) or f"/{n}/" in f"/{path}" for n in names)
    ]


def lines_of(session: Session, turns: tuple[int, ...]) -> tuple[int, int]:
    """First and last transcript line of some turns."""
    return min(session.turns[at].line for at in turns), max(session.turns[at].end for at in turns)
