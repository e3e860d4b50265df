"""Each agent's payload says in its own way what a tool call is about to do or has done."""

from typing import Any

import pytest

from flows.hook_call import command_of, error_of, paths_of, prompt_of
from flows.hook_place import Place, relative

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"


@pytest.mark.parametrize(
    ("values", "command", "paths"),
    [
        ({"command": "make test"}, "make test", []),
        ({"command": ["bash", "-lc", "make test"]}, "make test", []),
        ({"command": ["make", "test"]}, "make test", []),
        ({"cmd": "make test"}, "make test", []),
        ({"file_path": "/w/a.py", "content": "x"}, "", ["/w/a.py"]),
        ({"notebook_path": "/w/a.ipynb"}, "", ["/w/a.ipynb"]),
        ({"filePath": "a.ts", "oldString": "x"}, "", ["a.ts"]),
        ({"input": PATCH}, "", ["src/a.py", "src/b.py"]),
        ({"command": PATCH}, PATCH, ["src/a.py", "src/b.py"]),
        ({"file_path": 7, "command": {"x": 1}}, "", []),
    ],
)
def test_what_a_call_is_about_to_do(values: dict[str, Any], command: str, paths: list[str]) -> None:
    """Commands as lines or lists, files by whichever key, patches by their headers."""
    assert command_of(values, {}) == command
    assert paths_of(values, command) == paths


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"error": "Exit code 1\nboom"}, "Exit code 1\nboom"),
        ({"tool_response": "Exit code: 2\nWall time: 1\nOutput:\nboom"}, "Exit code: 2\nWall time: 1\nOutput:\nboom"),
        ({"tool_response": "Exit code: 0\nOutput:\nerror free"}, ""),
        ({"tool_response": {"exit_code": 1, "output": "boom"}}, "boom"),
        ({"tool_response": {"exit_code": 0, "output": "fine"}}, ""),
        ({"tool_response": {"llmContent": "Output: boom\nExit Code: 3"}}, "Output: boom\nExit Code: 3"),
        ({"extra": {"status": "error", "error_message": "boom"}}, "boom"),
        ({}, ""),
    ],
)
def test_what_failed(payload: dict[str, Any], error: str) -> None:
    """A failure is taken from where the agent puts it; a success is none, whatever its output says."""
    assert error_of(payload) == error


def test_what_was_typed() -> None:
    """The prompt, under the names that agents give it."""
    assert prompt_of({"prompt": "a"}) == prompt_of({"user_message": "a"}) == "a"
    assert prompt_of({"extra": {"user_message": "a"}}) == "a"
    assert prompt_of({"prompt": ["a"]}) == ""


@pytest.mark.parametrize(
    ("cwd", "path", "inside"),
    [
        ("/w/api", "/w/web/a.ts", ""),
        ("/w", "/w/web/a.ts", "web/a.ts"),
        ("/w", "web/../b.ts", "b.ts"),
        ("/w", "./a.ts", "a.ts"),
        ("/w", "../up.ts", ""),
        ("/w", "/elsewhere/a.ts", ""),
    ],
)
def test_a_path_is_seen_from_the_project(cwd: str, path: str, inside: str) -> None:
    """Globs are relative to the project; what lies outside of it fires nothing."""
    assert relative(path, Place({"cwd": cwd}, "/nowhere")) == inside
