"""What a tool call does, from its name and input: the action, command, paths, change, and whose text it brings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from index.records import Action, Origin
from reflect.transcripts.text import CHANGE_LIMIT, COMMAND_LIMIT, clean_text, cut_middle, string, text_of

# Tool names of all agents, in lower case without "_" and "-".
_ACTIONS: dict[str, Action] = {
    **dict.fromkeys(
        ("bash", "shell", "shellcommand", "execcommand", "localshellcall", "terminal", "runshellcommand", "execute",
         "executebash", "runterminalcmd", "runcommand", "exec", "powershell", "bashoutput", "writestdin", "process",
         "executecode", "readbash", "writebash", "unifiedexec", "runterminalcommand"),
        "shell",
    ),
    **dict.fromkeys(
        ("edit", "write", "multiedit", "notebookedit", "applypatch", "patch", "writefile", "replace", "editfile",
         "create", "createfile", "strreplace", "strreplaceeditor", "fswrite", "searchreplace", "deletefile",
         "multiedits", "editnotebook", "strreplacebasededittool"),
        "edit",
    ),
    **dict.fromkeys(("read", "readfile", "readmanyfiles", "view", "notebookread", "fsread", "viewimage"), "read"),
    **dict.fromkeys(
        ("grep", "glob", "ls", "searchfiles", "search", "searchfilecontent", "listdirectory", "listdir", "find",
         "codebasesearch", "grepsearch", "filesearch", "globfilesearch", "list"),
        "search",
    ),
    **dict.fromkeys(
        ("webfetch", "websearch", "webextract", "googlewebsearch", "websearchcall", "fetchurl", "fetch", "browse",
         "webscrape", "readurl", "webfetchtool"),
        "web",
    ),
    **dict.fromkeys(("task", "agent", "spawnagent", "delegatetask", "subagent", "runsubagent"), "task"),
}  # fmt: skip
_PATH_KEYS = frozenset(
    "file_path filePath path notebook_path absolute_path filename file target_file dir_path absolutePath "
    "relative_workspace_path".split()
)
_COMMAND_KEYS = ("command", "cmd", "script", "code", "chars")
_OLD_KEYS = ("old_string", "oldString", "old_str", "oldText", "old_text")
_NEW_KEYS = (
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "content",
    "contents",
    "file_text",
    "new_source",
)
_SHELLS = {
    "bash",
    "sh",
    "zsh",
    "/bin/bash",
    "/bin/sh",
    "/bin/zsh",
    "powershell",
    "powershell.exe",
    "pwsh",
    "cmd",
    "cmd.exe",
}

_FETCH = re.compile(
    r"(?:^|[\s;&|(`$])(?:curl|wget|lynx|http|https|Invoke-WebRequest|iwr)\s[^\n|;&]{0,2000}?(https?://[^\s\"'`|;&)]{1,2000})"
)
# A one-line program that fetches: `python -c "…requests.get('https://…')"`.
_PROGRAM_FETCH = re.compile(
    r"(?:requests|httpx|aiohttp|urllib|urlopen|fetch|axios|Net::HTTP|http\.get|open-uri)[^\n]{0,500}?"
    r"(https?://[^\s\"'`|;&)]{1,2000})"
)
_ISSUE = re.compile(r"(?:^|[\s;&|(`$])(?:gh|glab)\s+(?:issue|pr|mr|api|search|discussion|release)\b")
_LOCAL = re.compile(
    r"https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker\.internal|[\w-]{1,63}(?=[:/]|$))", re.IGNORECASE
)


@dataclass(slots=True)  # frozen, one costs four times as much
class Call:
    """What a call does. `change` shows old lines after "-" and new ones after "+"; `ref` is an address or a server."""

    tool: str
    action: Action = "other"
    command: str = ""
    paths: tuple[str, ...] = ()
    change: str = ""
    origin: Origin = "tool"
    ref: str = ""


def describe_call(tool: str, given: Any) -> Call:
    """The call of a tool by its name and input, a mapping or a bare string."""
    tool = tool[:200]
    action = action_of(tool)
    values: Mapping[str, Any] = given if isinstance(given, dict) else {}
    if action == "mcp":
        return Call(tool, "mcp", origin="mcp", ref=tool, command=_first(values, _COMMAND_KEYS)[:COMMAND_LIMIT])
    if action == "shell":
        return _shell_call(tool, given, values)
    if action == "edit":
        return _edit_call(tool, given, values)
    if action == "web":
        ref = _first(values, ("url", "query", "q", "prompt", "search_term")) or text_of(values.get("urls"))
        return Call(tool, "web", origin="web", ref=ref[:1000])
    return Call(tool, action, paths=_paths(values))


@lru_cache(maxsize=1024)
def action_of(tool: str) -> Action:
    """The kind of action behind a tool's name."""
    if tool.startswith(("mcp__", "mcp_", "mcp.")):
        return "mcp"
    return _ACTIONS.get(tool.rsplit(".", 1)[-1].lower().replace("_", "").replace("-", ""), "other")


def argv_command(argv: Any) -> str:
    """The command behind a string or an argument list, without the shell that only carries it."""
    if isinstance(argv, str):
        return argv
    if not isinstance(argv, list):
        return ""
    words = [word for word in argv if isinstance(word, str)]
    if len(words) >= 3 and words[0] in _SHELLS and words[1].startswith(("-", "/")):
        return words[-1]
    return " ".join(words)


def _shell_call(tool: str, given: Any, values: Mapping[str, Any]) -> Call:
    command = given if isinstance(given, str) else ""
    if not command:
        for key in _COMMAND_KEYS:
            if (value := values.get(key)) and (command := argv_command(value)):
                break
    if "*** Begin Patch" in command:
        return _patch_call(tool, command)
    origin, ref = command_origin(command)
    return Call(tool, "shell", clean_text(command, COMMAND_LIMIT), origin=origin, ref=ref)


def command_origin(command: str) -> tuple[Origin, str]:
    """Whose text a command's output is: "web" or "issue" with the address, else "tool"."""
    for form in (_FETCH, _PROGRAM_FETCH) if "http" in command else ():
        if (found := form.search(command)) and not _LOCAL.match(found[1]):
            return "web", found[1][:1000]
    if ("gh " in command or "glab " in command) and (seen := _ISSUE.search(command)):
        return "issue", seen[0].strip()
    return "tool", ""


def _edit_call(tool: str, given: Any, values: Mapping[str, Any]) -> Call:
    patch = given if isinstance(given, str) else _first(values, ("input", "patch", "patchText"))
    if "*** Begin Patch" in patch:
        return _patch_call(tool, patch)
    edits = values.get("edits")
    parts = [values, *(edit for edit in edits if isinstance(edit, dict))] if isinstance(edits, list) else [values]
    change = "\n".join(filter(None, (_render_edit(part) for part in parts)))
    return Call(tool, "edit", paths=_paths(values), change=cut_change(change))


def _render_edit(values: Mapping[str, Any]) -> str:
    old, new = _first(values, _OLD_KEYS), _first(values, _NEW_KEYS)
    return "\n".join(f"{sign}{_signed(text, sign)}" for sign, text in (("-", old), ("+", new)) if text)


def _signed(text: str, sign: str) -> str:
    return cut_middle(text, CHANGE_LIMIT).replace("\n", f"\n{sign}")


def cut_change(change: str) -> str:
    """A change as it is kept."""
    return clean_text(change, CHANGE_LIMIT) if change else ""


def _patch_call(tool: str, patch: str) -> Call:
    start = patch.find("*** Begin Patch")
    end = patch.find("*** End Patch")
    body = patch[start : end if end > start else len(patch)]
    names = [part.partition("\n")[0].partition(": ")[2].strip()[:1000] for part in body.split("\n*** ")[1:]]
    change = "\n".join([line for line in body.split("\n") if line and line[0] in "+-"])
    return Call(tool, "edit", "", tuple(dict.fromkeys(name for name in names if name)), cut_change(change))


def _first(values: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        text = values.get(key)
        if text and isinstance(text, str):
            return text
    return ""


def _paths(values: Mapping[str, Any]) -> tuple[str, ...]:
    found = [value for key, value in values.items() if key in _PATH_KEYS and isinstance(value, str)]
    for key in ("paths", "file_paths"):
        listed = values.get(key)
        found += [string(item) for item in listed] if isinstance(listed, list) else []
    return tuple(dict.fromkeys(path[:1000] for path in found if path))


@lru_cache(maxsize=4096)  # a session names the same files again and again
def relative_path(path: str, root: str) -> str:
    """The path as seen from `root`, with "/", if it lies below it; else as it is."""
    path, root = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if root and path.lower().startswith(root.lower() + "/"):
        return path[len(root) + 1 :]
    return path.removeprefix("./")
