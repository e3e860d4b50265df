"""The kinds of records that Claude Code writes, and whose words they hold."""

from __future__ import annotations

import re
from typing import Any

import orjson

from reflect.transcripts.text import kind_of

# State of the interface and copies of what other records say.
SKIPPED = frozenset(
    "summary queue-operation file-history-snapshot file-history-delta last-prompt custom-title ai-title "
    "agent-name agent-color agent-setting mode permission-mode pr-link frame-link tag worktree-state "
    "content-replacement marble-origami-commit marble-origami-snapshot speculation-accept attribution-snapshot "
    "task-summary bridge-session fork-context-ref started result".split()
)
SYSTEM = frozenset(
    "compact_boundary microcompact_boundary stop_hook_summary turn_duration api_error model_refusal_fallback "
    "api_metrics away_summary memory_saved permission_retry bridge_status scheduled_task_fire agents_killed "
    "file_snapshot informational thinking thinking_tokens".split()
)
ATTACHMENTS = frozenset(
    "hook_success hook_non_blocking_error hook_blocking_error hook_error_during_execution hook_cancelled "
    "hook_stopped_continuation hook_system_message hook_permission_decision async_hook_response edited_text_file "
    "edited_image_file nested_memory relevant_memories current_session_memory ultramemory skill_listing dynamic_skill "
    "skill_discovery invoked_skills file directory compact_file_reference already_read_file pdf_reference "
    "selected_lines_in_ide opened_file_in_ide new_file new_directory todo todo_reminder task_reminder plan_mode "
    "plan_mode_reentry plan_mode_exit plan_file_reference auto_mode auto_mode_exit critical_system_reminder "
    "output_style diagnostics mcp_resource command_permissions agent_mention task_status token_usage budget_usd "
    "output_token_usage structured_output teammate_mailbox team_context verify_plan_reminder max_turns_reached "
    "context_efficiency date_change deferred_tools_delta agent_listing_delta mcp_instructions_delta companion_intro "
    "unified_tasks total_tokens_reminder compaction_reminder ultrathink_effort".split()
)
BLOCKS = frozenset({"thinking", "redacted_thinking", "image", "document", "server_tool_use", "fallback"})
# Kinds of `origin` behind which a person is; notices of finished tasks and other agents' messages have others.
_PERSONS = frozenset({"", "human", "user", "person"})
_SHORT_LINE = 1500
# Keys of, or behind, `toolUseResult` that change what a result means; they follow the long values.
_TELLING = re.compile(rb'"(?:interrupted":true|backgroundTaskId"|toolDenialKind"|isMeta"|planContent")')
_LAST_KEYS = 600
_NEEDED = {"uuid", "timestamp", "isSidechain", "message"}
HEAD_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})


def parse_record(raw: bytes) -> Any:
    """The record on a line, without `toolUseResult` where that says nothing more than the result's text.

    It repeats outputs and whole files, often more than half of the line. These bytes can only be a key of the record
    or of something in it: if what stands before them parses once it is closed, they were the record's own.
    """
    at = raw.find(b',"toolUseResult":') if len(raw) > _SHORT_LINE else -1
    if at > 0 and raw.endswith(b"}") and not _TELLING.search(raw, max(at, len(raw) - _LAST_KEYS)):
        try:
            record = orjson.loads(raw[:at] + b"}")
        except ValueError:
            return orjson.loads(raw)
        if isinstance(record, dict) and record.keys() >= _NEEDED:
            return record
    return orjson.loads(raw)


def is_injected(record: dict[str, Any]) -> bool:
    """Whether a record's own fields say that the harness wrote it, not the person."""
    return bool(
        record.get("isMeta")
        or record.get("isCompactSummary")
        or record.get("isVisibleInTranscriptOnly")
        or record.get("planContent")
        or record.get("promptSource") == "system"
        or kind_of(record.get("origin"), "kind") not in _PERSONS
    )


def only_thinks(record: dict[str, Any]) -> bool:
    """Whether a reply's record holds nothing but a thought, which is not kept."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and len(content) == 1 and kind_of(content[0]) == "thinking"


def is_typed(record: dict[str, Any]) -> bool:
    """Whether a record is a message that a person typed, by its shape."""
    if record.get("type") != "user":
        return False
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, str):  # mostly a result
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "text":
                break
        else:
            return False
    return record.get("isSidechain") is not True and not is_injected(record)
