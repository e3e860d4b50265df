"""Whether a call failed, from its output and exit code: failed, passed or unknown."""

from __future__ import annotations

import re

from index.records import Outcome

# Programs whose exit code 1 says "no": no match, a difference, not true.
_QUIET = {
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "diff",
    "cmp",
    "test",
    "[",
    "[[",
    "pgrep",
    "which",
    "false",
    "ugrep",
    "comm",
}
_QUIET_PAIRS = {
    ("git", "grep"),
    ("git", "diff"),
    ("command", "-v"),
    ("git", "merge-base"),
    ("git", "check-ignore"),
    ("type", "-p"),
}
_HARMLESS = {
    "cd",
    "echo",
    "ls",
    "pwd",
    "export",
    "cat",
    "set",
    "source",
    ".",
    "printf",
    "sed",
    "head",
    "tail",
    "wc",
    "find",
}
_LIST = re.compile(r"\|\||&&|[;\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_MASKED = re.compile(
    r"\|\s{0,9}(?:tail|head|tee|cat|less|grep|rg|sed|awk|sort|uniq|wc|cut|Select-Object)\b"
    r"|\|\|\s{0,9}(?:true|:|echo|exit 0)|;\s{0,9}(?:true|echo|exit 0)\b"
)
# Programs that show text which may speak of failures that are not their own.
_VIEWERS = frozenset(
    "cat ls grep rg sed awk head tail find gh curl wget journalctl jq less echo printf bat docker "
    "kubectl sqlite3".split()
)
_FAILURE = re.compile(
    r"^(?:FAILED\b|FAIL\b|ERROR\b|E  {2,6}\w|error(?:\[\w{1,10}\])?:|Error: |fatal: |Traceback \(most recent|"
    r"make(?:\[\d{1,3}\])?: \*\*\*|npm (?:ERR!|error)|--- FAIL|panic: |BUILD FAILED|"
    r"={3,40} .{0,200}\b\d{1,6} (?:failed|error)|\w{1,60}(?:Error|Exception): |"
    r"(?:bash|sh|zsh|/bin/\w{1,10}): .{1,200}(?:not found|No such file)|.{0,200}: command not found)",
    re.MULTILINE,
)
_HARNESS_END = re.compile(
    r"(?:Command exited with code -?\d{1,10}|<exited with exit code -?\d{1,10}>|Exit Code: -?\d{1,10}|"
    r"Process Group PGID: \d{1,12}|Background PIDs: .{0,200}|Signal: \w{1,20}|\(no output\))$"
)
_EXIT_END = re.compile(r"(?:exited with (?:exit )?code|[Ee]xit [Cc]ode:)\s{1,3}(-?\d{1,10})")
_EXIT_LINE = re.compile(
    r"^(?:Exit code|exit code|Exit Code|Process exited with code)[: ]{1,2}(-?\d{1,10})", re.MULTILINE
)


def says_no(command: str, exit_code: int | None, output: str) -> bool:
    """Whether exit code 1 only means "no": the last program searches, compares or tests, and nothing else failed."""
    if exit_code != 1 or not command:
        return False
    deciders = [pipeline[-1] for pipeline in _pipelines(command)]
    if not any(_is_quiet(words) for words in deciders):
        return False
    if not output.strip() and _is_quiet(deciders[-1]):
        return True
    harmless = all(_is_quiet(words) or words[0] in _HARMLESS for words in deciders)
    return harmless and not (output.strip() and says_failed(command, output))


def _pipelines(command: str) -> list[list[list[str]]]:
    """The commands of a shell line as words, by pipeline: the last of each decides on its exit code."""
    bare = _QUOTED.sub("''", command)
    pipelines = [[part.split() for part in item.split("|") if part.strip()] for item in _LIST.split(bare)]
    return [pipeline for pipeline in pipelines if pipeline]


def _is_quiet(words: list[str]) -> bool:
    words = [word.lstrip("(!") for word in words if "=" not in word.split("/")[0] or word.startswith("-")] or words
    words = [word for word in words if word] or [""]
    program = words[0].rsplit("/", 1)[-1]
    if program in {"ls", "find", "cat"}:
        # Errors thrown away on purpose: the question was whether something is there.
        return "2>/dev/null" in words
    if program == "git":
        # Options before the subcommand: git -C dir diff
        rest = [word for word in words[1:] if not word.startswith("-") and "/" not in word]
        return bool(rest) and ("git", rest[0]) in _QUIET_PAIRS
    return program in _QUIET or (program, words[1] if len(words) > 1 else "") in _QUIET_PAIRS


def hides_exit_code(command: str) -> bool:
    """Whether the shell reports the exit code of something else than the program that matters (`... | tail`)."""
    return ("|" in command or ";" in command) and _MASKED.search(_QUOTED.sub("''", command)) is not None


def _shows_text(command: str) -> bool:
    """Whether a command's output is text that lay there before, which may speak of other failures."""
    for pipeline in _pipelines(command):
        words = pipeline[0]
        if words[0] not in {"cd", "export", "set", "source", "."}:
            return words[0] in _VIEWERS or (
                words[0] == "git" and words[1:2] in (["log"], ["show"], ["diff"], ["blame"])
            )
    return False


def says_failed(command: str, output: str) -> bool:
    """Whether an output reads as that of a failed program, for commands whose exit code is hidden."""
    return not _shows_text(command) and _FAILURE.search(output) is not None


def judge_exit(command: str, exit_code: int | None, output: str) -> Outcome:
    """The outcome of a shell command by its exit code, and by its output where the code is hidden or missing."""
    if exit_code is None:
        return "unknown"
    if exit_code != 0:
        return "passed" if says_no(command, exit_code, output) else "failed"
    if hides_exit_code(command) and says_failed(command, output):
        return "failed"
    return "passed"


def exit_code_in(text: str) -> int | None:
    """The exit code that a line near the start of an output names."""
    found = _EXIT_LINE.search(text, 0, 400)
    return int(found[1]) if found else None


def without_exit_code(text: str) -> str:
    """An output without the lines at its end in which the harness names the exit code or the process."""
    lines = text.rstrip().split("\n")
    while lines and (not lines[-1].strip() or _HARNESS_END.match(lines[-1].strip())):
        lines.pop()
    return "\n".join(lines)


def exit_code_at_end(text: str) -> int | None:
    """The exit code that the last lines of an output name."""
    codes = _EXIT_END.findall(text, max(0, len(text) - 300))
    return int(codes[-1]) if codes else None
