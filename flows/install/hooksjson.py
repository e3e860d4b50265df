"""Hooks in the nested JSON form that Claude Code, Codex and Gemini CLI share; pure text in, text out.

`{"hooks": {Event: [{"matcher": .., "hooks": [{"type": "command", ..}]}]}}`: each of ours is a group of its own at the
end of its event's list, known again by the name of the script it runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.install.jsonedit import Node, find_indent, insert_last, parse_json, remove_element

SCRIPT = "hotwash_hook.py"


@dataclass(frozen=True, slots=True)
class Hook:
    """One of our hooks: the agent's event, its group as data, and the keys under which groups stand."""

    event: str
    group: dict[str, Any]


def add_hooks(text: str | None, hooks: Sequence[Hook], top: str = "{\n}\n") -> str:
    """The config with our groups in it, and nothing else touched; `top` is what a missing file starts as."""
    text = top if text is None or not text.strip() else text
    unit = find_indent(text)
    for hook in hooks:
        root = parse_json(text)
        require(root, "object", "the file")
        box = root.get("hooks")
        if box is None:
            text = insert_last(text, root, lambda _: '"hooks": {}')
            root = parse_json(text)
            box = root.get("hooks")
        assert box is not None  # noqa: S101  it was put in above
        require(box, "object", '"hooks"')
        groups = box.get(hook.event)
        if groups is None:
            text = insert_last(text, box, lambda _, hook=hook: f"{json.dumps(hook.event)}: []")  # type: ignore[misc]
            groups = find(parse_json(text), "hooks", hook.event)
        assert groups is not None  # noqa: S101
        require(groups, "array", f'"hooks.{hook.event}"')
        text = insert_last(text, groups, lambda inner, hook=hook: render_value(hook.group, inner, unit))  # type: ignore[misc]
    return text


def remove_hooks(text: str, before: str | None, script: str = SCRIPT) -> str:
    """The config without our groups, and without a list or section that only they needed.

    `before` is the config as it was before ours came: what was empty there stays.
    """
    old = parse_json(before) if before and before.strip() else None
    while (spot := find_ours(text, script)) is not None:
        event, box, number = spot
        text = remove_element(text, box, number)
        root = parse_json(text)
        hooks, groups = root.get("hooks"), find(root, "hooks", event)
        if hooks is None or groups is None or groups.items or (old is not None and find(old, "hooks", event)):
            continue
        text = remove_element(text, hooks, position(hooks, event))
        root = parse_json(text)
        hooks = root.get("hooks")
        if hooks is not None and not hooks.members and (old is None or old.get("hooks") is None):
            text = remove_element(text, root, position(root, "hooks"))
    return text


def find_ours(text: str, script: str) -> tuple[str, Node, int] | None:
    """The first place that runs our script: the event, the list it stands in, and its number there.

    That is a group, or one handler of a group in which others stand too.
    """
    hooks = parse_json(text).get("hooks")
    for event, _, groups in hooks.members if hooks is not None else ():
        for number, group in enumerate(groups.items):
            if script not in text[group.start : group.end]:
                continue
            handlers = group.get("hooks")
            for place, handler in enumerate(handlers.items if handlers is not None else ()):
                if handlers is not None and len(handlers.items) > 1 and script in text[handler.start : handler.end]:
                    return event, handlers, place
            return event, groups, number
    return None


def find(root: Node, *keys: str) -> Node | None:
    """The value at a path of keys."""
    node: Node | None = root
    for key in keys:
        node = node.get(key) if node is not None else None
    return node


def position(box: Node, key: str) -> int:
    """The number of an object's member (the last of a repeated key, as `Node.get` takes it)."""
    return max(number for number, (name, _, _) in enumerate(box.members) if name == key)


def require(node: Node, kind: str, where: str) -> None:
    """Stop at a config whose shape is not the documented one."""
    if node.kind != kind:
        raise ValueError(f"{where} is no {kind}")


def render_value(value: object, inner: str, unit: str) -> str:
    """A value as JSON indented by `unit`, whose further lines start with `inner`."""
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + inner)
