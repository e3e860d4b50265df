"""What a tool call is about to do or has done, out of the payload of whichever agent made it."""

from flows.hook_place import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prompt_of(payload: "dict[str, Any]") -> str:
    """What the user typed."""
    extra = payload.get("extra")
    inner = text_of(extra, "user_message") if isinstance(extra, dict) else ""
    return text_of(payload, "prompt") or text_of(payload, "user_message") or inner


def error_of(payload: "dict[str, Any]") -> str:
    """The text of an error, wherever the agent put it; "" where nothing failed."""
    for key in ("error", "error_message", "output"):
        if found := text_of(payload, key):
            return found
    for key in ("tool_response", "tool_output", "extra"):
        value = payload.get(key)
        if isinstance(value, str):
            return value if says_failed(value) else ""
        if isinstance(value, dict):
            text = "\n".join(
                str(value[name])
                for name in ("error", "error_message", "stderr", "stdout", "output", "llmContent")
                if isinstance(value.get(name), str)
            )
            failed = (
                value.get("error") or value.get("exit_code") or value.get("exitCode") or value.get("status") == "error"
            )
            return text if failed or says_failed(text) else ""
    return ""


def says_failed(text: str) -> bool:
    """Whether an output says itself that a command failed."""
    head = text[:400].lower()
    for mark in ("exited with code ", "exit code: ", "exit code "):
        _, found, rest = head.partition(mark)
        if found:
            return rest[:1].isdigit() and rest[:2].strip() not in {"0", "0\n"}
    return False


def command_of(values: "dict[str, Any]", payload: "dict[str, Any]") -> str:
    """The shell line of a tool call, "" if it is none."""
    command = values.get("command") or values.get("cmd") or payload.get("command")
    if isinstance(command, list):
        words = [str(word) for word in command]
        return words[-1] if len(words) == 3 and words[1] in {"-c", "-lc"} else " ".join(words)
    return command if isinstance(command, str) else ""


def paths_of(values: "dict[str, Any]", command: str) -> "list[str]":
    """The files that a tool call is about to touch."""
    found = [
        values[key]
        for key in ("file_path", "notebook_path", "path", "absolute_path", "target_file", "filePath")
        if isinstance(values.get(key), str)
    ]
    patch = command if "*** Begin Patch" in command else values.get("patch") or values.get("input")
    if isinstance(patch, str) and "*** " in patch:
        for line in patch.split("\n"):
            for mark in ("*** Update File: ", "*** Add File: ", "*** Delete File: "):
                if line.startswith(mark):
                    found.append(line[len(mark) :].strip())
    return list(dict.fromkeys(found))
