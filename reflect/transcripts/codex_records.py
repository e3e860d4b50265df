"""The kinds of records that Codex writes, and what its session record says."""

from __future__ import annotations

import re
from typing import Any

import orjson

from reflect.transcripts.lines import NOTHING
from reflect.transcripts.text import string

SKIPPED_TYPES = frozenset(
    "turn_context world_state inter_agent_communication inter_agent_communication_metadata security_risk_score "
    "realtime_item state".split()
)
SKIPPED_ITEMS = frozenset(
    "reasoning ghost_snapshot compaction compaction_summary context_compaction tool_search_call tool_search_output "
    "other".split()
)
SKIPPED_EVENTS = frozenset(
    "token_count agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break task_started task_complete "
    "turn_started turn_complete patch_apply_begin patch_apply_end mcp_tool_call_begin mcp_tool_call_end "
    "exec_command_begin exec_command_end context_compacted web_search_begin web_search_end error stream_error warning "
    "entered_review_mode exited_review_mode undo_completed view_image_tool_call thread_name_updated "
    "thread_goal_updated plan_update "
    "collab_agent_spawn_end collab_agent_interaction_end collab_waiting_end collab_close_end "
    "collab_resume_end sub_agent_activity dynamic_tool_call_request dynamic_tool_call_response image_generation_end "
    "model_reroute thread_settings_applied item_started hook_started hook_completed".split()
)
# What a line is by its first bytes. Counters and hidden thoughts are half of all lines; a turn mostly runs under what
# the last one ran under; and where a file has the person's messages as items, the events only repeat them.
_KIND = re.compile(
    rb'\{"timestamp":"[^"]{1,40}",(?:"ordinal":\d{1,12},)?"type":"(?:(turn_context)"|(?:event_msg|response_item)",'
    rb'"payload":\{"type":"(?:(user_message|agent_message)|token_count|agent_reasoning|reasoning)"[,}])'
)
_CONTEXT, _REPEATED = 1, 2
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"})
OUTPUTS = frozenset(
    f"{name}_output" for name in ("function_call", "custom_tool_call", "mcp_tool_call", "local_shell_call")
)
BARE = frozenset({"message", "reasoning", *CALLS, *OUTPUTS, "web_search_call", "ghost_snapshot"})


def parse_record(raw: bytes, cwd: str = "", repeats: bool = False) -> Any:
    """The record on a line, or NOTHING for one that says nothing new: noise; with `repeats` a message's event; with
    `cwd` a turn's context in that folder."""
    found = _KIND.match(raw)
    if found is None or not raw.endswith((b"}", b"}\r")):
        return orjson.loads(raw)
    kind = found.lastindex
    if kind == _CONTEXT:
        return NOTHING if cwd and b'"cwd":%b' % orjson.dumps(cwd) in raw else orjson.loads(raw)
    return orjson.loads(raw) if kind == _REPEATED and not repeats else NOTHING


def user_content(record: dict[str, Any]) -> Any:
    """The content of a user's message; None of any other record."""
    payload = record.get("payload")
    return payload.get("content") if isinstance(payload, dict) and payload.get("role") == "user" else None


def parent_of(meta: dict[str, Any]) -> tuple[str, bool]:
    """(id of the session this one came from, whether it is a sub-agent)."""
    source = meta.get("source")
    subagent = source.get("subagent") or source.get("sub_agent") if isinstance(source, dict) else None
    spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
    spawned_by = string(spawn.get("parent_thread_id")) if isinstance(spawn, dict) else ""
    parent = spawned_by or string(meta.get("parent_thread_id")) or string(meta.get("forked_from_id"))
    return parent, bool(subagent) or source == "subagent"


def is_scheduled(source: Any) -> bool:
    """Whether a session's source is a timer."""
    return isinstance(source, str) and any(word in source.lower() for word in ("cron", "schedul", "automation"))
