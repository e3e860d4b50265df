"""Take hotwash's hooks out of an agent's configuration: byte for byte as it was, or only our own lines where you have
changed it since."""

from __future__ import annotations

import argparse
import os

from flows.commands.common import root_of
from flows.commands.install_command import installer_for, print_outcome, user_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash uninstall`."""
    parser.add_argument("agent", metavar="AGENT", help="the agent; an unknown name lists those that can be given")
    parser.add_argument("--dry-run", action="store_true", help="show the difference, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Uninstall the hooks of one agent."""
    from flows.install.base import uninstall

    installer = installer_for(options.agent)
    outcome = uninstall(installer, root_of(options), user_of(os.environ), os.environ, options.dry_run)
    print_outcome(
        outcome, options, "the file is removed, as it was not there before." if outcome.removed else "hooks taken out."
    )
    return 0
