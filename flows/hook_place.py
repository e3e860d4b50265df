"""Where a hook runs: folder, project and session, the databases that hold there, and its small files."""

import posix
import time

from flows import hook
from index.matching import SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_QUESTION = 0.4  # seconds that all questions of one event may take
GIVEN_DAYS = 7
# A pipe in the place of a file answers at once, whoever put it there.
READING = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK
LONGEST_LESSON = 2 << 20
EMPTIED = "\n--\n"  # between what a session was given before its context was emptied, and since


class Place:
    """Where an event happens: folder, project, session, and the stores that hold there, each with its database."""

    __slots__ = ("cwd", "databases", "given", "project", "root", "stores", "top")

    def __init__(self, payload: "dict[str, Any]", root: str) -> None:
        roots = payload.get("workspace_roots")
        self.root = root
        self.cwd = text_of(payload, "cwd") or (str(roots[0]) if isinstance(roots, list) and roots else "")
        self.top = find_up(self.cwd, ".git")
        self.project = read_project(self.top) or self.cwd
        session = text_of(payload, "session_id") or text_of(payload, "conversation_id")
        if session and (sub := text_of(payload, "agent_id")):  # a sub-agent does not see what its parent was given
            session = f"{session}:{sub}"
        self.given = f"{root}/.cache/given/{plain_name(session)}" if session else ""
        self.databases = [f"{root}/.cache/recall.db"]
        self.stores = [root]
        shared = find_up(self.cwd, ".hotwash")
        if shared and f"{shared}/.hotwash" != root:
            self.stores.append(f"{shared}/.hotwash")
            self.databases.append(f"{root}/.cache/shared/{plain_name(f'{shared}/.hotwash')}.db")


def text_of(payload: "dict[str, Any]", key: str) -> str:
    """A text field, "" where it is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def plain_name(text: str) -> str:
    """A text as a file name that no other text has (as `index.recall_db.plain_name`)."""
    return "".join(char if char.isascii() and char.isalnum() else f"-{ord(char):x}-" for char in text)[-150:]


def find_up(folder: str, name: str) -> str:
    """The nearest folder from here upwards that holds a name, "" if none does within 40 levels."""
    for _ in range(40):
        if not folder.startswith("/"):
            return ""
        if exists(f"{folder.rstrip('/')}/{name}"):
            return folder.rstrip("/")
        if folder == "/":
            return ""
        folder = folder.rstrip("/").rpartition("/")[0] or "/"
    return ""


def exists(path: str) -> bool:
    """Whether there is anything at a path."""
    try:
        posix.stat(path)
    except (OSError, ValueError):
        return False
    return True


def read_file(path: str, most: int = 1 << 18) -> str:
    """A small file's text, "" when it cannot be read."""
    try:
        handle = posix.open(path, READING)
    except (OSError, ValueError):
        return ""
    try:
        return posix.read(handle, most).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        posix.close(handle)


def read_project(top: str) -> str:
    """host/owner/name of a repository's remote `origin`, else of its first; "" where there is none."""
    if not top:
        return ""
    config = read_file(f"{top}/.git/config")
    if not config and (pointer := read_file(f"{top}/.git", 4096)).startswith("gitdir:"):
        folder = pointer[7:].strip()
        folder = folder if folder.startswith("/") else f"{top}/{folder}"
        common = read_file(f"{folder}/commondir", 4096).strip()
        config = read_file(f"{folder}/{common}/config" if common else f"{folder}/config")
    origin = config.partition('[remote "origin"]')[2]
    section = origin or config.partition('[remote "')[2]
    for line in section.partition("\n[")[0].split("\n"):
        key, _, value = line.partition("=")
        if key.strip().lower() == "url":
            return normalise_remote(value.strip().strip('"'))
    return ""


def normalise_remote(url: str) -> str:
    """`host/owner/name` of a git remote, "" for a local path (as `reflect.transcripts.project.normalise_remote`)."""
    scheme, found, rest = url.partition("://")
    if found:
        if scheme.lower() == "file":
            return ""
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].partition(":")[0]
    else:
        host, colon, path = url.partition(":")
        if not colon or "/" in host or url[1:3] in {":\\", ":/"}:
            return ""
        host = host.rpartition("@")[2]
    path = path.strip("/").removesuffix(".git").strip("/").lstrip("~/")
    return f"{host.lower()}/{path}" if path and host else ""


def connect(path: str) -> "Any | None":
    """A read-only connection that gives up at the deadline; None where there is no database.

    `immutable` is safe because the builder never changes a database in place: it renames a new one over it.
    """
    if not exists(path):
        return None
    try:
        from _sqlite3 import connect as open_database
    except ImportError:
        from sqlite3 import connect as open_database
    quoted = "".join(char if char.isascii() and (char.isalnum() or char in "/._-~") else percent(char) for char in path)
    db = open_database(f"file:{quoted}?mode=ro&immutable=1", uri=True)
    deadline = time.monotonic() + LONGEST_QUESTION
    db.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    built = db.execute("select value from meta where key = 'schema'").fetchone()
    return db if built and built[0] == str(SCHEMA) else None  # one of another version is built anew by the next run


def open_layers(place: Place) -> "list[tuple[Any, str]]":
    """(database, store) of the stores that hold here and have one, the personal first."""
    pairs = zip(place.databases, place.stores)  # noqa: B905  one of each
    return [(db, store) for path, store in pairs if (db := connect(path)) is not None]


def is_current(db: "Any", mid: int, store: str) -> bool:
    """Whether a solution's file still has the text that was scanned when the database was built."""
    row = db.execute("select path, text_hash from kept where mid = ?", (mid,)).fetchone()
    try:
        handle = posix.open(f"{store}/{row[0]}", READING) if row else -1
    except (OSError, ValueError):
        return False
    if handle < 0:
        return False
    data = b""
    try:
        while len(data) <= LONGEST_LESSON and (chunk := posix.read(handle, 1 << 18)):
            data += chunk
    except OSError:
        return False
    finally:
        posix.close(handle)
    return hash_data(data) == str(row[1])


def hash_data(data: bytes) -> str:
    """The SHA-256 of a file's bytes; the C module of it has changed its name, and hashlib would load OpenSSL."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # until 3.11
    except ImportError:
        try:
            from _sha2 import sha256  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256
    return str(sha256(data).hexdigest())


def percent(char: str) -> str:
    """A character as a URI's percent escapes."""
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def relative(path: str, place: Place) -> str:
    """A path as the project's globs see it; "" for one outside of the project."""
    path = path.replace("\\", "/")
    top = place.top or place.cwd.rstrip("/")
    if not path.startswith("/"):
        inner = place.cwd.rstrip("/")[len(top) :].lstrip("/") if place.cwd.startswith(top) else ""
        path = f"{inner}/{path}" if inner else path
    elif top and path.startswith(top + "/"):
        path = path[len(top) + 1 :]
    elif top:
        return ""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def append_bounded(root: str, name: str, line: str) -> None:
    """A line in a log that keeps one older file and no more."""
    try:
        hook.make_folder(f"{root}/logs")
        path = f"{root}/logs/{name}"
        handle = posix.open(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        size = posix.fstat(handle).st_size
        posix.write(handle, (line + "\n").encode("utf-8", "replace"))
        posix.close(handle)
        if size > hook.LONGEST_LOG:
            posix.rename(path, f"{path}.1")
    except OSError:
        pass


def read_given(path: str) -> "tuple[set[str], list[str]]":
    """What a session was given since its context was last emptied, as "ID kind", and the known words of its last
    prompt."""
    lines = read_file(path).rpartition(EMPTIED)[2].split("\n") if path else []
    words = [line[6:].split() for line in lines if line.startswith("words ")]
    return {" ".join(line.split(" ")[:2]) for line in lines}, words[-1] if words else []


def add_given(path: str, reasons: "list[str]", words: "list[str]") -> None:
    """Remember what a session was given and when (`curate.effects` asks later whether it helped); a session that cannot
    be remembered is given the same again."""
    now = int(time.time())
    lines = [f"{reason} {now}" for reason in reasons] + ([f"words {' '.join(words)}"] if words else [])
    append_line(path, "\n".join(lines))


def append_line(path: str, text: str) -> None:
    """Add to one of a session's small files."""
    try:
        hook.make_folder(path.rpartition("/")[0])
        handle = posix.open(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        posix.write(handle, (text + "\n").encode("utf-8", "replace"))
        posix.close(handle)
    except OSError:
        pass


def forget_given(path: str) -> None:
    """A session whose context was emptied is given its lessons anew; what older sessions were given goes."""
    if path and exists(path):
        append_line(path, EMPTIED.strip())
    folder = path.rpartition("/")[0]
    try:
        names = posix.listdir(folder)[:400] if folder else []
    except OSError:
        return
    limit = time.time() - GIVEN_DAYS * 86400
    for name in names:
        if hook.modified(f"{folder}/{name}") < limit:
            hook.remove(f"{folder}/{name}")
