"""Sets what the harness put into a person's message apart from what the person typed."""

from __future__ import annotations

import re

from index.records import Who

# Elements that a harness writes into user messages, over all agents known. Their content is never the person's.
_TAGS = (
    "system-reminder",
    "system_reminder",
    "command-name",
    "command-message",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "environment_context",
    "user_instructions",
    "permissions",
    "turn_aborted",
    "skill",
    "skills_instructions",
    "plugins_instructions",
    "apps_instructions",
    "collaboration_mode",
    "subagent_notification",
    "user_shell_command",
    "hook_prompt",
    "INSTRUCTIONS",
    "hook_context",
    "external_links",
    "reminder",
    "current_datetime",
    "session_context",
    "memory-context",
    "attached_files",
    "open_and_recently_viewed_files",
    "additional_data",
    "user_info",
    "git_status",
    "agent_skills",
    "available_skills",
    "manually_attached_skills",
    "system_notification",
    "timestamp",
    "hotwash",
    "hotwash-run",
)
_OPEN = re.compile(r"<(" + "|".join(_TAGS) + r")(?=[\s>])[^<>]{0,300}>")
# Elements around what the person did type.
_WRAPPERS = re.compile(r"</?(?:command-args|user_query)>")
# A message that starts so is the harness's as a whole.
_STARTS = (
    "Caveat: The messages below were generated",
    "Base directory for this skill:",
    "Stop hook feedback:",
    "Operation stopped by hook:",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "Implement the following plan:",
    "# AGENTS.md instructions for",
    "<permissions instructions>",
    "[SYSTEM:",
    "[System:",
    "[CONTEXT COMPACTION",
    "[Image: source:",
    "This is the Gemini CLI. We are setting up the context",
    "UserPromptSubmit hook",
    "SessionStart hook",
)
_IDE_REQUEST = "## My request for Codex:"


def split_injected(text: str) -> list[tuple[Who, str]]:
    """The parts of a user message in order, each with who wrote it: "person" or "injected"."""
    start = text.lstrip()
    if not start:
        return []
    if start.startswith("# Context from my IDE setup") and _IDE_REQUEST in text:
        before, _, request = text.partition(_IDE_REQUEST)
        return [("injected", before.strip()), *split_injected(request)]
    if start.startswith(_STARTS):
        return [("injected", start.strip())]
    if "<" not in text:
        return [("person", text.strip())]
    return _merge(_parts(text))


def _parts(text: str) -> list[tuple[Who, str]]:
    parts: list[tuple[Who, str]] = []
    at = 0
    while found := _OPEN.search(text, at):
        close = f"</{found[1]}>"
        end = text.find(close, found.end())
        parts.append(("person", text[at : found.start()]))
        # An element that is never closed takes the rest: too much set apart is better than a rule that nobody gave.
        at = end + len(close) if end >= 0 else len(text)
        parts.append(("injected", text[found.start() : at]))
    parts.append(("person", text[at:]))
    return parts


def _merge(parts: list[tuple[Who, str]]) -> list[tuple[Who, str]]:
    """Neighbours of one kind as one part, empty ones gone."""
    merged: list[tuple[Who, str]] = []
    for who, text in parts:
        body = (_WRAPPERS.sub("", text) if who == "person" else text).strip()
        if not body:
            continue
        if merged and merged[-1][0] == who:
            merged[-1] = (who, f"{merged[-1][1]}\n{body}")
        else:
            merged.append((who, body))
    return merged
