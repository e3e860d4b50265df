"""What runs inside an agent after a tool call where commits are to be noted: which commit the call made, if any.

Only builtin modules, and git's own log as a file: git is asked later, by the run that reads the note. Like
`flows.hook` it never raises, prints or waits.
"""

import posix
import time

from flows import hook
from flows.hook_call import command_of
from flows.hook_place import READING, find_up, read_file, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRESH = 120  # seconds; a commit that is older was not made by this call
TAIL = 4096


def main(agent: str, moment: str, code: str) -> None:
    """Note the commit that a tool call has just made. Leaves the process with exit code 0."""
    try:
        if hook.enabled(moment):
            note_commit(agent, hook.read_payload() or {}, hook.home())
    except BaseException as error:
        hook.note_failure(hook.home(), f"{agent} {moment}: {type(error).__name__}: {error}")
    posix._exit(0)


def note_commit(agent: str, payload: "dict[str, Any]", root: str) -> None:
    """Put down which commit was made where; one file a commit, however often it is noted."""
    wanted = payload.get("tool_input")
    if isinstance(wanted, str):
        wanted = hook.parse_object(wanted) or {"command": wanted}
    words = command_of(wanted if isinstance(wanted, dict) else {}, payload)[:4096].split()
    if "git" not in words or "commit" not in words:
        return
    roots = payload.get("workspace_roots")
    cwd = text_of(payload, "cwd") or (str(roots[0]) if isinstance(roots, list) and roots else "")
    top = find_up(cwd, ".git")
    commit = last_commit(top) if top else ""
    if commit:
        session = text_of(payload, "session_id") or text_of(payload, "conversation_id")
        entry = {"agent": agent, "session_id": session[:4096], "top": top, "commit": commit, "time": time.time()}
        hook.write_entry(f"{root}/spool/commits", f"{commit}.json", hook.render_json(entry))


def last_commit(top: str) -> str:
    """The commit that the repository's log of HEAD ends with, "" where it ends with something else or is not fresh."""
    folder = f"{top}/.git"
    pointer = read_file(folder, TAIL)  # of a worktree or a submodule; a folder reads as ""
    if pointer.startswith("gitdir:"):
        folder = pointer[7:].strip()
        folder = folder if folder.startswith("/") else f"{top}/{folder}"
    line = read_tail(f"{folder}/logs/HEAD").rstrip("\n").rpartition("\n")[2]
    who, _, what = line.partition("\t")
    words = who.split(" ")
    if len(words) < 4 or not what.startswith("commit"):
        return ""
    commit, stamp = words[1], words[-2]
    if len(commit) not in {40, 64} or commit.strip("0123456789abcdef") or not stamp.isdigit():
        return ""
    return commit if abs(time.time() - int(stamp)) <= FRESH else ""


def read_tail(path: str) -> str:
    """The end of a file, "" when it cannot be read."""
    try:
        handle = posix.open(path, READING)
    except OSError:
        return ""
    try:
        size = posix.fstat(handle).st_size
        return posix.pread(handle, TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
    except OSError:
        return ""  # no file, but a pipe or a folder
    finally:
        posix.close(handle)
