"""What stays the same when an error or a command comes back: pure text in, normalised text out.

Imports nothing, not even `re` or `json`: the recall hook loads this module inside an agent's tool call, where each
import of the standard library costs as much as the work itself.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SIGNATURE = 240
LONGEST_TEXT = 24_000
LONGEST_LINE = 600

QUOTES = {"'": "'", '"': '"', "`": "`", "‘": "’", "“": "”", "«": "»", "「": "」"}
# What is quoted after these words is what the error is about, not one of many names it could have been about.
SUBJECTS = frozenset(
    "named module package command option library extension relation dependency crate import plugin role database "
    "header binary executable target".split()
)
CODES = frozenset("code status errno http exit error signal".split())
# Digits in these are part of a name.
NAMES = frozenset(
    "utf8 utf-8 utf16 utf-16 sha1 sha256 sha512 md5 base64 base32 x86 x86_64 amd64 arm64 win32 win64 int8 int16 int32 "
    "int64 uint8 uint16 uint32 uint64 float32 float64 i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 http2 ipv4 ipv6 "
    "s3 ec2 es5 es6 k8s i18n l10n e2e h2 oauth2 python2 python3 pip3 log4j sqlite3 psycopg2 boto3 neo4j vue2 vue3 "
    "web3 mp3 mp4 p12 h264".split()
)
HEX = frozenset("0123456789abcdef")
STAMP = frozenset("0123456789-:.,tz+/")

STRONG = ("error", "exception", "panic", "panicked", "fatal", "failure", "fault", "violation", "abort")
OPENINGS = (
    "caused by:",
    "fatal:",
    "panic:",
    "error:",
    "error ",
    "error[",
    "err!",
    "exception",
    "failed:",
    "failure:",
    "!",
)
LABELS = (": error", ": fatal", " error: ", "] error", ": exception")
TELLING = (
    "not found", "did not find", "no such", "permission denied", "access denied", "cannot ", "can't ", "could not",
    "couldn't",
    "unable to", "undefined", "unresolved", "refused", "timed out", "timeout", "invalid", "unexpected", "missing",
    "failed", "unknown", "unrecognized", "unsupported", "conflict", "not allowed", "not a ",
    "does not", "doesn't", "must be", "must not",
    "already exists", "already in use", "out of memory", "killed", "denied", "expected", "mismatch", "deprecated",
    "no module", "unreachable", "exceeded", "overflow", "segmentation", "is not ", "unhandled", "rejected", "forbidden",
    "unauthorized", "expired", "corrupt", "incompatible", "duplicate", "ambiguous",
)  # fmt: skip
# Lines that say only that something failed, or where: never what.
EMPTY = (
    "exit code", "exit status", "process exited", "command failed with exit code", "error: aborting due to",
    "could not compile", "error: could not compile", "aborting due to", "traceback (most recent",
    "npm err! a complete log", "a complete log of this run", "for more information about this error",
    "error: process didn't exit", "make: ***",
    "error command failed", "npm err! errno", "npm error errno", "failed tests/", "short test summary", "wall time:",
    "chunk id:", "during handling of", "the above exception", "the following error", "see above", "stack trace:",
    "test result: failed", "error: test failed", "npm err! lifecycle", "elifecycle", "tests failed", "caused by:",
    "failed to execute goal", "error: command failed:", "command failed:", "subprocess.calledprocesserror",
)  # fmt: skip
# A line made of these alone says that something ran and failed: a build's, a hook's, a runner's banner.
BANNER_WORDS = frozenset(
    "a an and as the with for of in on at by to or is was has have had this your some all more than due line "
    "error errors err exception failure failures failed fail fails failing fatal aborted aborting abort stopped "
    "terminated exited exit exits returned non zero nonzero code status errno marked "
    "build builder building task tasks command commands script scripts process processes subprocess subcommand child "
    "hook hooks pre post commit push receive husky job jobs step steps stage pipeline workflow action recipe target "
    "targets rule execution executing execute run running runner lifecycle elifecycle program service goal custom "
    "test tests suite suites spec specs check checks passed total skipped compile compiling compilation compiler "
    "linking ld complete completed did could not successfully successful unsuccessful unsuccessfully previous "
    "warnings emitted declined remote rejected refs solve load bundler ninja npm yarn pnpm".split()
)
PLACES = (
    "at ",
    "file ",
    "-->",
    "from ",
    "in file included",
    "^",
    "|",
    "=",
    "#",
    "//",
    "...",
    "note:",
    "help:",
    "hint:",
)

WRAPPERS = frozenset("sudo doas time env nohup command exec builtin nice ionice stdbuf xvfb-run caffeinate".split())
RUNNERS = {
    "uv": "run", "poetry": "run", "pdm": "run", "hatch": "run", "pipenv": "run", "rye": "run", "pixi": "run",
    "pnpm": "exec", "bundle": "exec", "mise": "exec", "direnv": "exec",
}  # fmt: skip
BARE_RUNNERS = frozenset("npx bunx pipx uvx dlx".split())
SILENT = frozenset("cd pushd popd export source set unset alias true : echo sleep wait umask ulimit .".split())
SHELLS = frozenset("sh bash zsh dash ksh fish".split())
NOISE_FLAGS = frozenset(
    "--verbose --quiet --silent --color --no-color --colour --color=always --no-header --no-pager --tb --maxfail --yes "
    "--no-interaction --no-progress --progress --debug --timeout --durations --no-summary".split()
)


def error_signature(text: str) -> str:
    """The stable part of an error's output: its most telling line, lower-cased, with what varies masked.

    Numbers, hashes, ids, times, paths, addresses and quoted names become placeholders; error codes (E0308, TS2345,
    status 404) and what a missing module, command or option is called are kept. "" for text without a line.
    """
    return mask(best_line(text))[:LONGEST_SIGNATURE].strip()


def error_lines(text: str, most: int = 12) -> list[str]:
    """The telling lines of an output as they stand, best first: those that say what failed."""
    found = [(weigh_line(line), number, line) for number, line in enumerate(split_lines(text))]
    ranked = sorted((item for item in found if item[0] > 0), key=lambda item: (-item[0], item[1]))
    return [line for _, _, line in ranked[:most]]


def best_line(text: str) -> str:
    """The line that says what failed; of equals the first, in a Python traceback the last."""
    lines = list(split_lines(text))
    traced = any(line.startswith("Traceback (most recent") for line in lines)
    best, most = "", 0
    for line in lines:
        weight = weigh_line(line)
        if weight > most or (traced and weight == most and weight):
            best, most = line, weight
    if best:
        return best
    rest = [line for line in lines if not starts_empty(line.lower()) and not is_banner(line)]
    return rest[0] if rest else (lines[0] if lines else "")


def split_lines(text: str) -> "Iterator[str]":
    """The lines that are not blank, without colour codes and a log's or a test runner's leading marks."""
    if len(text) > LONGEST_TEXT:  # the command stands at the start, the error often at the end
        text = text[: LONGEST_TEXT // 3] + "\n" + text[-2 * LONGEST_TEXT // 3 :]
    for line in strip_ansi(text).replace("\r", "\n").split("\n"):
        line = without_step(line.strip()[:LONGEST_LINE])
        for mark in ("E   ", "npm ERR! ", "npm error ", "gyp ERR! ", "[ERROR] ", "> "):
            if line.startswith(mark):
                line = line[len(mark) :].strip()
        if line:
            yield line


def without_step(line: str) -> str:
    """A line without the number and the time of the image build's step that it comes from (`#9 12.31 `)."""
    if line[:1] != "#":
        return line
    step, _, rest = line.partition(" ")
    time, space, tail = rest.partition(" ")
    return tail if space and step[1:].isdigit() and time.replace(".", "", 1).isdigit() else line


def weigh_line(line: str) -> int:
    """How much a line says about what failed: 0 for nothing, up to about 10."""
    low = line.lower()
    if starts_empty(low) and not low.startswith("caused by:"):
        return 0
    if low.startswith(PLACES) or not any(char.isalpha() for char in low):
        return 0
    weight = 0
    head, colon, tail = low.partition(":")
    if colon and tail.strip() and " " not in head and head.partition("[")[0].rstrip("0123456789").endswith(STRONG):
        weight += 7  # ValueError: ..., error[E0308]: ...
    elif low.startswith(OPENINGS) or any(mark in low for mark in LABELS):
        weight += 6
    elif any(word in low for word in STRONG):
        weight += 2
    if any(phrase in low for phrase in TELLING):
        weight += 2
    if low.startswith(("warning", "deprecat")) or (low.endswith(":") and " at " in low):  # where, with the what below
        weight = min(weight, 1)
    if weight and is_banner(line):
        return 0
    return weight + (1 if low.startswith("caused by:") else 0)


def starts_empty(low: str) -> bool:
    """Whether a lower-case line says only that, or where, something failed."""
    return low.startswith(EMPTY)


def is_banner(line: str) -> bool:
    """Whether a line says only that something ran and failed: what it names in quotes, brackets or numbers aside."""
    low = line.lower()
    if "did not complete successfully" in low or "did not run successfully" in low:
        return True
    words = unquoted(low).replace("-", " ").replace(">", " ").split()
    if words[:1] == ["found"] and words[1:2] and words[1].isdigit():  # "Found 3 errors in 2 files."
        return True
    bare = [word.strip(".:,;!?*=#×✖✗●/") for word in words]
    letters = [word for word in bare if any(char.isalpha() for char in word)]
    told = [word for word in letters if not any(char.isdigit() or char in "/\\" for char in word)]
    return any(word in BANNER_WORDS for word in told) and all(word in BANNER_WORDS for word in told)


def unquoted(line: str) -> str:
    """A line without what stands in quotes, in square brackets, or on either side of an arrow between two names."""
    out, at = "", 0
    while at < len(line):
        end = closing_quote(line, at) if line[at] in QUOTES else line.find("]", at) if line[at] == "[" else -1
        if end > at:
            out, at = out + " ", end + 1
        else:
            out, at = out + (" " if line[at] in "()" else line[at]), at + 1
    words = out.split()
    arrows = {at for at, word in enumerate(words) if word in {"->", "→"}}
    beside = arrows | {at - 1 for at in arrows} | {at + 1 for at in arrows}
    return " ".join(word for at, word in enumerate(words) if at not in beside)


def strip_ansi(text: str) -> str:
    """Text without terminal escape sequences."""
    if "\x1b" not in text:
        return text
    parts = text.split("\x1b")
    kept = [parts[0]]
    for part in parts[1:]:
        if part[:1] == "[":
            end = 1
            while end < len(part) and not ("@" <= part[end] <= "~"):
                end += 1
            kept.append(part[end + 1 :])
        elif part[:1] == "]":
            kept.append(part.partition("\x07")[2])
        else:
            kept.append(part[1:])
    return "".join(kept)


def mask(line: str) -> str:
    """One line, lower-cased, spaces collapsed, with what varies from one occurrence to the next replaced."""
    out: list[str] = []
    before = ""
    at, size = 0, len(line)
    while at < size:
        char = line[at]
        if char in QUOTES and (end := closing_quote(line, at)) > 0:
            out.append(mask_quoted(line[at + 1 : end], before))
            at, before = end + 1, ""
        elif char.isspace():
            if out and out[-1] != " ":
                out.append(" ")
            at += 1
        elif is_word(char):
            end = at + 1
            while end < size and is_word(line[end]):
                end += 1
            word = line[at:end]
            out.append(mask_word(word, before))
            at, before = end, word.lower().rstrip(".:,")
        else:
            out.append(char)
            at += 1
    return "".join(out).strip()


def closing_quote(line: str, at: int) -> int:
    """Where the quote opened at `at` closes, or -1: an apostrophe within a word opens nothing."""
    if at and line[at - 1].isalnum():
        return -1
    end = line.find(QUOTES[line[at]], at + 1, at + 200)
    while end > 0 and end + 1 < len(line) and line[end + 1].isalnum():
        end = line.find(QUOTES[line[at]], end + 1, at + 200)
    return end


def mask_quoted(content: str, before: str) -> str:
    """A quoted name masked, unless it is what the error is about."""
    if before in SUBJECTS:
        return "'" + mask(content.strip("'\"`")) + "'"
    return "'*'"


def is_word(char: str) -> bool:
    """Whether a character belongs to a word, a path, a number or an address."""
    return char.isalnum() or char in "_./\\-:@+~#%$&"


def mask_word(word: str, before: str) -> str:
    """One word of an error line, masked where it varies."""
    bare = word.rstrip(".:,")
    tail = word[len(bare) :]
    low = bare.lower()
    if not low:
        return tail
    if "://" in low:
        return "<url>" + tail
    if is_path(low):
        return "<path>" + tail
    if not any(char.isdigit() for char in low) or low in NAMES:
        return low + tail
    if is_code(bare) or (before in CODES and low.isdigit() and len(low) <= 3):
        return low + tail
    if low.startswith("0x") or is_hex(low):
        return "<hex>" + tail
    if all(char in STAMP for char in low):
        return "#" + tail
    return squeeze_digits(low) + tail


def is_path(low: str) -> bool:
    """Whether a word is a path, or a file with the line behind it."""
    if low.startswith(("/", "~/", "./", "../", ".\\", "..\\")) and len(low) > 1:
        return True
    if low[1:3] in {":\\", ":/"} or low.count("/") >= 2 or low.count("\\") >= 2:
        return True
    name, colon, rest = low.partition(":")
    dotted = "." in name.strip(".") and not name.replace(".", "").isdigit()
    if colon and dotted and rest[:1].isdigit():
        return True
    return "/" in low and dotted and not low.startswith("@")


def is_code(bare: str) -> bool:
    """Whether a word is an error code: one to six capitals, maybe a hyphen, three to five digits."""
    letters = bare.rstrip("0123456789")
    digits = len(bare) - len(letters)
    letters = letters.removesuffix("-")
    return 3 <= digits <= 5 and 1 <= len(letters) <= 6 and letters.isascii() and letters.isalpha() and letters.isupper()


def is_hex(low: str) -> bool:
    """Whether a word is a hash or a uuid: seven hex digits or more, at least one of them 0-9."""
    joined = low.replace("-", "")
    return len(joined) >= 7 and all(char in HEX for char in joined) and not joined.isdigit()


def squeeze_digits(low: str) -> str:
    """A word with each run of digits (and of dots between digits) as one #."""
    out: list[str] = []
    for char in low:
        if char.isdigit():
            if out[-1:] != ["#"]:
                out.append("#")
        elif char == "." and out[-1:] == ["#"]:
            continue
        else:
            out.append(char)
    return "".join(out)


def command_key(command: str) -> str:
    """What a command line is a case of: program, subcommand, positional words, long flags.

    `cd x &&`, assignments, wrappers (sudo, env, uv run, python -m), the program's folder, redirections, what follows a
    pipe, short flags, numbers and test ids are left out. "" for a line that runs nothing.
    """
    parts = command_parts(command)
    if not parts:
        return ""
    words, flags = [parts[0][0]], []
    for word in parts[0][1:]:
        if word.startswith("--"):
            name = word.partition("=")[0]
            if name not in NOISE_FLAGS and len(name) > 2:
                flags.append(name)
        elif not word.startswith("-") and (kept := stable_word(word)):
            words.append(kept)
    return " ".join(words + sorted(set(flags)))[:LONGEST_SIGNATURE]


def stable_word(word: str) -> str:
    """A positional word without what varies: test ids, line numbers, absolute folders; "" for a number or a hash."""
    word = word.partition("::")[0]
    low = word.lower()
    if any(char.isspace() for char in word) or word.startswith("$") or low.replace(".", "").isdigit() or is_hex(low):
        return ""
    if word.startswith(("/", "~", "\\")) or word[1:3] in {":\\", ":/"}:
        return "<path>"
    return word.removeprefix("./").rstrip("/")


def command_parts(command: str) -> list[list[str]]:
    """The simple commands of a shell line, each as words with the program first; those that only set up left out."""
    found = []
    for words in split_commands(command[:LONGEST_TEXT]):
        words = unwrap(words)
        if words and words[0] not in SILENT:
            if words[0] in SHELLS and (inner := shell_argument(words)):
                found.extend(command_parts(inner))
            else:
                found.append(words)
    return found


def shell_argument(words: list[str]) -> str:
    """What `bash -lc '...'` runs, or ""."""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word and at + 1 < len(words):
            return words[at + 1]
        if not word.startswith("-"):
            break
    return ""


def unwrap(words: list[str]) -> list[str]:
    """A simple command without assignments, wrappers and runners; the program as a bare name."""
    while words:
        first = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
        name, equals, _ = words[0].partition("=")
        if equals and name and name.replace("_", "a").isalnum() and not name[0].isdigit():
            words = words[1:]
        elif first in WRAPPERS or first in BARE_RUNNERS:
            words = drop_flags(words[1:])
        elif first == "timeout":
            words = drop_flags(words[1:])[1:]
        elif first in RUNNERS and words[1:2] == [RUNNERS[first]] and len(words) > 2:
            words = drop_flags(words[2:])
        elif first.rstrip("0123456789.") in {"python", "pypy", "py"}:
            return unwrap(words[2:]) if words[1:2] == ["-m"] and len(words) > 2 else ["python", *words[1:]]
        else:
            return [first, *words[1:]]
    return []


def drop_flags(words: list[str]) -> list[str]:
    """Words from the first that is no flag."""
    while words and words[0].startswith("-"):
        words = words[1:]
    return words


def split_commands(command: str) -> "Iterator[list[str]]":
    """The words of each simple command of a shell line, quotes honoured and redirections left out.

    Follows the shell's quoting rules as far as words go; what expansions would yield is not guessed at.
    """
    words: list[str] = []
    word, quote, started, skip = "", "", False, False
    at, size = 0, len(command)

    def finish() -> None:
        nonlocal word, started, skip
        if started:
            if skip:
                skip = False
            else:
                words.append(word)
        word, started = "", False

    while at < size:
        char = command[at]
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and at + 1 < size:
                at += 1
                word += command[at]
            else:
                word += char
        elif char in "'\"":
            quote, started = char, True
        elif char == "\\" and at + 1 < size:
            at += 1
            if command[at] != "\n":
                word, started = word + command[at], True
        elif char in " \t":
            finish()
        elif char in "\n;|&()":
            if char == "&" and (command[at + 1 : at + 2] == ">" or command[at - 1 : at] in {">", "<"}):
                word = ""  # &> and 2>&1 are redirections
            else:
                finish()
                if words:
                    yield words
                words, skip = [], False
        elif char in "<>":
            if word.isdigit():
                word, started = "", False
            finish()
            skip = True
        elif char == "#" and not started:
            while at < size and command[at] != "\n":
                at += 1
            continue
        else:
            word, started = word + char, True
        at += 1
    finish()
    if words:
        yield words
