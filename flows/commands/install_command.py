"""Put hotwash's hooks into an agent's own configuration: nothing else in it changes, a backup is kept.

Installing twice changes nothing; `hotwash uninstall AGENT` brings the file back byte for byte.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import print_json, root_of, say
from index.errors import UsageError

if TYPE_CHECKING:
    from flows.install.base import Installer, Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash install`."""
    parser.add_argument("agent", metavar="AGENT", help="the agent; an unknown name lists those that can be given")
    parser.add_argument("--dry-run", action="store_true", help="show the difference, and write nothing")
    parser.add_argument("--commits", action="store_true", help="also note the commits an agent makes, as episodes")
    parser.add_argument("--plugin", metavar="DIR", type=Path, help="write a plugin folder instead (claude-code)")


def installer_for(agent: str) -> Installer:
    """The installer of an agent; raises UsageError that names those there are."""
    from flows.install.registry import INSTALLERS

    if agent not in INSTALLERS:
        raise UsageError(f"{agent}: there are no hooks for this agent. Agents: {', '.join(INSTALLERS)}.")
    return INSTALLERS[agent]


def print_outcome(outcome: Outcome, options: argparse.Namespace, verb: str) -> None:
    """Say what was done to which file, and how to take it back."""
    if options.format == "json":
        print_json(asdict(outcome))
        return
    if options.dry_run:
        print(outcome.diff or f"{outcome.path}: nothing would change.", end="" if outcome.diff else "\n")
        return
    print(f"{outcome.path}: " + (verb if outcome.changed else "nothing to change."))
    if outcome.backup:
        print(f"The file as it was: {outcome.backup}")
    for note in outcome.notes:
        print(note)


def user_of(env: Mapping[str, str]) -> Path:
    """The user's home folder."""
    from flows.context import user_home

    return user_home(env)


def call(options: argparse.Namespace) -> int:
    """Install the hooks of one agent."""
    from flows.install.base import hook_command, install

    installer = installer_for(options.agent)
    if options.plugin:
        return _write_plugin(options)
    root = root_of(options)
    outcome = install(
        installer, root, user_of(os.environ), os.environ, hook_command(), options.dry_run, options.commits
    )
    print_outcome(outcome, options, f"hooks added. Take them out with: hotwash uninstall {options.agent}")
    return 0


def _write_plugin(options: argparse.Namespace) -> int:
    from flows.cli import installed_version
    from flows.install.base import compile_hooks, hook_command
    from flows.install.claude_code import plan_plugin
    from index.files import write_derived

    if options.agent != "claude-code":
        raise UsageError("hotwash install: --plugin is for claude-code only.")
    if options.plugin.exists() and not options.plugin.is_dir():
        raise UsageError(f"{options.plugin}: is a file, and no folder. --plugin wants a folder.")
    files = plan_plugin(hook_command(), installed_version())
    if options.dry_run:
        shown = "\n".join(f"{options.plugin / name}\n{text}" for name, text in files.items())
    else:
        for name, text in files.items():
            write_derived(options.plugin / name, text.encode())
        compile_hooks()
        shown = f"The plugin is in {options.plugin}. Try it with: claude --plugin-dir {options.plugin}"
    say(options, shown, plugin=str(options.plugin), files=files, written=not options.dry_run)
    return 0
