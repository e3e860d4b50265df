"""Check the installation, the agents' hooks, the store and the server, and say how to repair what is wrong."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_json, root_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash doctor`."""
    parser.add_argument("--fix", action="store_true", help="do the safe repairs: derived files, leftovers, modes")


def call(options: argparse.Namespace) -> int:
    """Show the checks; with --fix repair first and look again. Exit code 1 while something is wrong."""
    import os
    from datetime import UTC, datetime

    from flows.context import World, user_home
    from flows.doctor import count_bad, doctor_json, examine, mend, render_doctor, settings_check
    from index.errors import SettingsError
    from index.settings import Settings

    found = []
    try:
        world = open_world(options)
    except SettingsError as error:
        env = dict(os.environ)
        found = [settings_check(error)]
        world = World(root_of(options), Settings(), datetime.now(UTC), user_home(env), env)
    checks = (*found, *examine(world))
    done: tuple[str, ...] = ()
    if options.fix:
        done = mend(world, checks)
        checks = (*found, *examine(world)) if done else checks
    if options.format == "json":
        print_json(doctor_json(checks, done))
    else:
        print(render_doctor(checks, done), end="")
    return 1 if count_bad(checks) else 0
