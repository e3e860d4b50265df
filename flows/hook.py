"""What runs inside an agent when a session or a turn ends: put the event down durably, start the rest, return.

Only builtin modules are used, because the agent gives all its hooks together one to three seconds, interpreter
start-up included, and kills them when the time is over. Nothing here raises, prints or waits for the end of stdin.
"""

import posix
import sys
import time
from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_WAIT = 1.0  # seconds; some agents never close the pipe
LONGEST_PAYLOAD = 32 << 20
LONGEST_LOG = 256 << 10
START_AGAIN = 60.0  # seconds after which a started run that took nothing is given up
TURN_START = 1800  # seconds; how often a turn that ended may start a run
OFF = frozenset({"0", "false", "off", "no"})
# What finds the session again, and nothing of what was said in it.
KEPT = (
    "session_id", "transcript_path", "cwd", "reason", "source", "agent_id", "agent_transcript_path", "profile",
    "hook_event_name", "turn_id",
)  # fmt: skip
ROOTS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "OPENCODE_DB", "XDG_DATA_HOME")


class Scanner:
    """What the C scanner of the json module reads its options from; importing json itself would double the cost."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: "dict[str, str]" = {}  # noqa: RUF012  the scanner keeps its own; some versions look for the name


def main(agent: str, moment: str, code: str) -> None:
    """Record that a session ("end") or a turn ("turn") ended, then start the run that harvests it.

    `code` is the folder that holds hotwash.py. Leaves the process: exit code 0, whatever happened.
    """
    try:
        if enabled(moment):
            record(agent, moment, code)
    except BaseException as error:
        note_failure(home(), f"{agent} {moment}: {type(error).__name__}: {error}")
    posix._exit(0)


def record(agent: str, moment: str, code: str) -> None:
    """Write the spool entry, then start the detached run unless one that will see the entry is about to."""
    root = home()
    payload = read_payload()
    if payload is None:
        note(root, f"{agent} {moment}: no JSON object on stdin; recorded without a session")
    entry = read_event(agent, moment, payload or {})
    write_entry(f"{root}/spool", entry_name(entry), render_json(entry))
    clear_failures(root)
    if claim_start(f"{root}/spool", moment):
        try:
            start_run(root, code)
        except BaseException:
            remove(f"{root}/spool/.start")
            raise


def enabled(moment: str) -> bool:
    """Whether this hook may act: never within a run of our own, nor where a switch is off. Empty counts as unset."""
    if env("HOTWASH_RUN"):
        return False
    return env("HOTWASH_ENABLED").lower() not in OFF and env(f"HOTWASH_HOOK_{moment.upper()}").lower() not in OFF


def env(name: str) -> str:
    """An environment variable's value, "" when unset."""
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape").strip()


def home() -> str:
    """The personal store: HOTWASH_HOME, else ~/.hotwash."""
    if named := env("HOTWASH_HOME"):
        return named.rstrip("/") or "/"
    if not (user := env("HOME")):
        import pwd

        user = pwd.getpwuid(posix.getuid()).pw_dir
    return user.rstrip("/") + "/.hotwash"


def read_payload(seconds: float = LONGEST_WAIT) -> "dict[str, Any] | None":
    """The JSON object on stdin, as soon as it is whole; None if none came in time. Never waits for the end of stdin."""
    data = b""
    looked = -1
    deadline = time.monotonic() + seconds
    nap = 0.0005
    try:
        posix.set_blocking(0, False)
        while len(data) < LONGEST_PAYLOAD:
            try:
                chunk = posix.read(0, 1 << 20)
            except BlockingIOError:
                if time.monotonic() > deadline or (len(data) != looked and is_whole(data)):
                    break
                looked = len(data)
                time.sleep(nap)
                nap = min(nap * 2, 0.01)
                continue
            if not chunk:
                break
            data += chunk
        posix.set_blocking(0, True)
    except OSError:
        pass  # a closed stdin is an empty one
    return parse_object(data.decode("utf-8", "replace")) if is_whole(data) else None


def is_whole(data: bytes) -> bool:
    """Whether bytes are one JSON object with all its brackets closed, strings left aside."""
    data = data.strip().removeprefix(b"\xef\xbb\xbf")
    if not (data.startswith(b"{") and data.endswith(b"}")):
        return False
    outside = b"".join(data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    return outside.count(b"{") == outside.count(b"}") and outside.count(b"[") == outside.count(b"]")


def parse_object(text: str) -> "dict[str, Any] | None":
    """A JSON object, or None for anything else."""
    text = text.strip().removeprefix("\ufeff")
    try:
        value, _ = make_scanner(Scanner())(text, 0)  # type: ignore[arg-type]
    except Exception:
        return None
    return value if isinstance(value, dict) else None


def read_event(agent: str, moment: str, payload: "dict[str, Any]") -> "dict[str, Any]":
    """What the spool keeps of an event: who, when, and how to find the session again."""
    entry: dict[str, Any] = {"agent": agent, "moment": moment, "time": time.time()}
    for key in KEPT:
        value = payload.get(key)
        if isinstance(value, str) and value:
            entry[key] = value[:4096]
    entry["event"] = entry.pop("hook_event_name", moment)
    roots = payload.get("workspace_roots")
    if isinstance(payload.get("conversation_id"), str):  # Cursor's names
        entry.setdefault("session_id", payload["conversation_id"])
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        entry.setdefault("cwd", roots[0])
    if "session_id" not in entry and (named := env("GEMINI_SESSION_ID")):
        entry["session_id"] = named
    found = {name: env(name) for name in ROOTS if env(name)}
    if found:
        entry["env"] = found
    for key in ("session_id", "transcript_path", "cwd", "reason"):
        entry.setdefault(key, "")
    return entry


def render_json(value: object) -> str:
    """A record of strings, numbers and records as one JSON line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{render_json(str(key))}: {render_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value) if isinstance(value, int | float) else encode_basestring_ascii(str(value))


def entry_name(entry: "dict[str, Any]") -> str:
    """The spool file's name: one for each end, one for all turns of a session together."""
    if entry["moment"] == "turn" and entry["session_id"]:
        key = f"{entry['agent']}:{entry['session_id']}"
        plain = "".join(char if char.isascii() and char.isalnum() else f"-{ord(char):x}-" for char in key)
        return f"turn-{plain[:150]}.json"
    return f"{time.time_ns():020d}-{posix.urandom(6).hex()}.json"


def write_entry(folder: str, name: str, text: str) -> None:
    """Write a file so that after a crash it is there whole or not at all: write, fsync, rename, fsync the folder."""
    make_folder(folder)
    draft = f"{folder}/.{posix.getpid()}-{posix.urandom(4).hex()}.tmp"
    try:
        write_file(draft, text.encode("utf-8", "surrogatepass") + b"\n")
        posix.rename(draft, f"{folder}/{name}")
    except BaseException:
        remove(draft)
        raise
    handle = posix.open(folder, posix.O_RDONLY)
    try:
        posix.fsync(handle)
    except OSError:
        pass  # some network file systems refuse it for folders
    finally:
        posix.close(handle)


def write_file(path: str, data: bytes) -> None:
    """A new file with this content, on the disk when the call returns."""
    handle = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[posix.write(handle, data) :]
        posix.fsync(handle)
    finally:
        posix.close(handle)


def make_folder(path: str) -> None:
    """The folder and those above it, private to the user."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = path.rpartition("/")[0]
        if not parent or parent == path:
            raise
        make_folder(parent)
        make_folder(path)


def claim_start(spool: str, moment: str) -> bool:
    """Whether this hook is the one to start a run.

    `.start` stands from here until a run has begun to take the spool: a run removes it before it lists the entries,
    so an entry written while it stands will be seen, and fifty sessions that end at once start one run, not fifty.
    A turn starts one only now and then, for sessions that never report their end.
    """
    marker = f"{spool}/.start"
    now = time.time()
    if moment == "turn" and 0 <= now - modified(f"{spool}/.turn") < TURN_START:
        return False
    make_folder(spool)
    if not 0 <= now - modified(marker) < START_AGAIN:
        remove(marker)
    try:
        posix.close(posix.open(marker, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    if moment == "turn":
        remove(f"{spool}/.turn")
        posix.close(posix.open(f"{spool}/.turn", posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o600))
    return True


def modified(path: str) -> float:
    """A file's modification time, 0 when there is none."""
    try:
        return posix.stat(path).st_mtime
    except OSError:
        return 0.0


def remove(path: str) -> None:
    """Remove a file that may not be there."""
    try:
        posix.unlink(path)
    except OSError:
        pass


def start_run(root: str, code: str) -> None:
    """Start the harvest in a session of its own, away from the agent's terminal, pipes and folder."""
    entry = f"{code}/hotwash.py"
    command = [sys.executable, "-I", entry, "run", "--from-spool"]
    surroundings = dict(posix.environ)
    surroundings[b"HOTWASH_RUN"] = b"hook"
    null = [(posix.POSIX_SPAWN_OPEN, fd, "/dev/null", posix.O_RDWR, 0o600) for fd in (0, 1, 2)]
    posix.chdir(root)
    try:
        posix.posix_spawn(sys.executable, command, surroundings, file_actions=null, setsid=True)
    except NotImplementedError:
        posix.posix_spawn(sys.executable, command, surroundings, file_actions=null, setpgroup=0)


def note_failure(root: str, text: str) -> None:
    """Count one more failure in a row and say in the log what it was."""
    note(root, text)
    write_first([f"{root}/spool", fallback()], count_failure)


def count_failure(folder: str) -> None:
    """Add one to the folder's count of failures."""
    count = read_count(f"{folder}/failures") + 1
    handle = posix.open(f"{folder}/failures", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC, 0o600)
    posix.write(handle, b"%d\n" % count)
    posix.close(handle)


def clear_failures(root: str) -> None:
    """A success ends the row of failures."""
    remove(f"{root}/spool/failures")
    remove(f"{fallback()}/failures")


def write_first(folders: "list[str]", write: "Callable[[str], None]") -> None:
    """Write into the first of the folders that takes it; the last is shared with others and must be our own."""
    for folder in folders:
        try:
            make_folder(folder)
            if folder != fallback() or is_private(folder):
                write(folder)
                return
        except OSError:
            pass


def read_count(path: str) -> int:
    """The number a counter file holds, 0 when it holds none."""
    try:
        handle = posix.open(path, posix.O_RDONLY)
    except OSError:
        return 0
    try:
        digits = posix.read(handle, 16).strip()
    finally:
        posix.close(handle)
    return int(digits) if digits.isdigit() else 0


def is_private(folder: str) -> bool:
    """Whether a folder in a shared place is ours alone, and no link to another."""
    found = posix.lstat(folder)
    return found.st_uid == posix.getuid() and found.st_mode & 0o170077 == 0o040000


def note(root: str, text: str) -> None:
    """A line in the hook's log, which keeps one older file and no more."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{stamp} {text}".replace("\n", " ")[:1000].encode("utf-8", "backslashreplace") + b"\n"

    def append(folder: str) -> None:
        path = f"{folder}/hook.log"
        handle = posix.open(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        size = posix.fstat(handle).st_size
        posix.write(handle, line)
        posix.close(handle)
        if size > LONGEST_LOG:
            posix.rename(path, f"{path}.1")

    write_first([f"{root}/logs", fallback()], append)


def fallback() -> str:
    """Where failures are noted when the store cannot be written: a private folder in the temporary one."""
    return f"{env('TMPDIR').rstrip('/') or '/tmp'}/hotwash-{posix.getuid()}"  # noqa: S108
