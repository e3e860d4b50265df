"""Prefect server and UI (unless PREFECT_API_URL names one), all deployments and their schedules, until stopped.

`--install` writes the file by which systemd (or launchd) keeps it running, `--cron` puts the weekly and the daily pass
into the crontab instead, for those who want no server; `--uninstall` takes out what of either is there.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
from typing import NamedTuple

from flows.commands.common import open_world, say
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash serve`; host, port and schedules are settings (`serve:` in config.yaml)."""
    parser.add_argument("--install", action="store_true", help="keep it running: write a systemd unit or launchd agent")
    parser.add_argument("--cron", action="store_true", help="no server: the weekly and daily pass into your crontab")
    parser.add_argument("--uninstall", action="store_true", help="take out what --install and --cron put there")
    parser.add_argument("--dry-run", action="store_true", help="with one of these: show what would be written")


def call(options: argparse.Namespace) -> int:
    """Become the serving process, or see to it that it, or cron, runs."""
    from flows.serve import serve

    if options.install and options.uninstall:
        raise UsageError("hotwash serve: --install and --uninstall exclude each other.")
    if not (options.install or options.cron or options.uninstall):
        if options.dry_run:
            raise UsageError("hotwash serve: --dry-run goes with --install, --cron or --uninstall.")
        world = open_world(options)
        serve(world.root, world.settings, os.environ)
    changes: list[Done] = []
    if options.uninstall and not options.cron:
        changes.append(_remove_service(options))
    if options.install:
        changes.append(_install_service(options))
    if options.cron or (options.uninstall and shutil.which("crontab")):
        changes.append(_change_table(options))
    facts = [{"path": one.path, "changed": one.changed, "dry_run": options.dry_run} for one in changes]
    say(options, "\n".join(one.text for one in changes), changes=facts)
    return 0


class Done(NamedTuple):
    """What became of one place: a service's file, or the crontab."""

    path: str
    changed: bool
    text: str


def _install_service(options: argparse.Namespace) -> Done:
    from flows.keep_running import install_service, plan_service

    world = open_world(options)
    service = plan_service(world.root, world.home, world.env)
    changed = install_service(service, options.dry_run)
    path = str(service.path)
    if options.dry_run:
        return Done(path, changed, f"would write {path}:\n{service.content.decode()}" if changed else f"there: {path}")
    (world.root / "logs").mkdir(parents=True, exist_ok=True, mode=0o700)
    text = f"{'written' if changed else 'there already'}: {path}\nstart it: {service.enable}"
    program = service.enable.split()[0]
    if shutil.which(program) is None:
        text += f"\nnote: there is no {program} on this machine; `hotwash serve --cron` works without it"
    return Done(path, changed, text)


def _remove_service(options: argparse.Namespace) -> Done:
    from flows.keep_running import plan_service, uninstall_service

    world = open_world(options)
    service = plan_service(world.root, world.home, world.env)
    changed = uninstall_service(service, options.dry_run)
    word = "would remove" if options.dry_run else "removed"
    text = f"{word}: {service.path}\nend it: {service.disable}" if changed else f"nothing at {service.path}"
    return Done(str(service.path), changed, text)


def _change_table(options: argparse.Namespace) -> Done:
    """Put the passes of this store into the crontab, or with --uninstall take them out."""
    from flows.crontab import cron_block, read_table, with_block, without_block, write_table

    world = open_world(options)
    add = not options.uninstall
    before = read_table()
    block = cron_block(world.root, world.settings.serve)
    after = with_block(before, world.root, block) if add else without_block(before, world.root)
    if before == after:
        return Done("crontab", False, f"crontab: {'has it already' if add else 'holds nothing of this store'}")
    if options.dry_run:
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "crontab", "crontab", lineterm="")
        return Done("crontab", True, "\n".join(lines))
    if add:
        (world.root / "logs").mkdir(parents=True, exist_ok=True, mode=0o700)
    write_table(after)
    said = "the weekly and the daily pass are in it" if add else "they are out again"
    return Done("crontab", True, f"crontab: {said}")
