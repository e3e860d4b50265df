"""The reference of commands and settings, made from the code that reads them: `python -m flows.reference` writes it."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path

from flows.cli import COMMANDS, build_parser
from index.settings import Settings

REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
KINDS = {bool: "true or false", int: "whole number", float: "number", str: "text"}
# Stands at every command, and is said once.
SHARED = frozenset({"help", "store", "format"})


def render_reference() -> str:
    """The whole page as markdown."""
    lines = [
        "# Reference",
        "",
        "Made by `make reference` from the code that reads commands and settings; a test holds it equal.",
        "",
        "## Commands",
        "",
        "Every command takes `--store DIR` (default: `$HOTWASH_HOME`, else `~/.hotwash`), `--format text|json` (JSON",
        "goes to stdout alone) and `--help`. Exit codes: 0 done, 1 findings or failures, 2 wrong use, 3 a bug of ours,",
        "130 interrupted.",
        "",
    ]
    for name in COMMANDS:
        lines += _command(name)
    lines += [
        "## Settings",
        "",
        "`config.yaml` in the store, every setting optional; a variable of the environment wins over the file, and an",
        "empty one counts as unset. A list is given in a variable with commas.",
        "",
        "Besides them: `HOTWASH_HOME` names the store; `HOTWASH_ENABLED=0` switches everything off,",
        "`HOTWASH_HOOK_END=0` and the like one moment of the hooks (the last word of the command in an agent's",
        "configuration); `HOTWASH_RUN` marks what hotwash itself starts, so that it never reads its own sessions;",
        "`HOTWASH_NOW` fixes the clock for demonstrations.",
        "",
        *_group(Settings, "", "HOTWASH_"),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _command(name: str) -> Iterator[str]:
    parser = build_parser(name)
    actions = [action for action in parser._actions if action.dest not in SHARED]
    yield f"### hotwash {name}"
    yield ""
    yield from inspect.cleandoc(parser.description or "").splitlines()
    yield ""
    if actions:
        yield "| argument | does |"
        yield "| --- | --- |"
        yield from (f"| {_argument(action)} | {_cell(action.help or '')} |" for action in actions)
        yield ""


def _argument(action: argparse.Action) -> str:
    """How an argument is written: `--path P`, `NAME`, with `...` where it may be given more than once."""
    name = str(action.metavar or action.dest.upper()) if action.nargs != 0 else ""
    if action.choices is not None and action.metavar is None:
        name = "|".join(str(choice) for choice in action.choices)
    more = " ..." if action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction) else ""
    if not action.option_strings:
        return _cell(f"`{name}{more}`")
    return ", ".join(_cell(f"`{option}{f' {name}' if name else ''}{more}`") for option in action.option_strings)


def _group(cls: type, prefix: str, variable: str) -> Iterator[str]:
    """One group of settings: what its dataclass says of them, a table, then the groups below it."""
    hints = typing.get_type_hints(cls)
    made = cls()
    plain = [name for name in hints if not dataclasses.is_dataclass(hints[name])]
    if prefix:
        yield f"### {prefix}"
        yield ""
        yield from (inspect.getdoc(cls) or "").splitlines()
        yield ""
    if plain:
        yield "| setting | is | default | variable |"
        yield "| --- | --- | --- | --- |"
        for name in plain:
            kind, default = _kind(hints[name]), _value(getattr(made, name))
            yield f"| `{name}` | {kind} | {default} | `{variable}{name.upper()}` |"
        yield ""
    for name, hint in hints.items():
        if dataclasses.is_dataclass(hint):
            yield from _group(
                typing.cast("type", hint), f"{prefix}.{name}" if prefix else name, f"{variable}{name.upper()}_"
            )


def _kind(hint: object) -> str:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return " or ".join(_kind(part) for part in typing.get_args(hint) if part is not type(None)) + ", or unset"
    if typing.get_origin(hint) is tuple:
        return "list of texts"
    return KINDS[typing.cast("type", hint)]


def _value(value: object) -> str:
    if value is None or value in ("", ()):
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(f"`{item}`" for item in value) if isinstance(value, tuple) else f"`{value}`"


def _cell(text: str) -> str:
    """Text as a table's cell holds it."""
    return " ".join(text.split()).replace("|", "\\|").replace("%%", "%")


if __name__ == "__main__":
    REFERENCE.write_text(render_reference(), encoding="utf-8")
    sys.stdout.write(f"{REFERENCE}\n")
