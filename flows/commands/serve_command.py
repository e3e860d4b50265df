"""Prefect server and UI (unless PREFECT_API_URL names one), all deployments and their schedules, until stopped.

`--install` writes the file by which systemd (or launchd) keeps it running, `--cron` puts the weekly and the daily pass
into the crontab instead, for those who want no server; `--uninstall` takes out what of either is there.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil

from flows.commands.common import open_world
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
    if options.uninstall:
        return _uninstall(options)
    if options.install:
        _install_service(options)
    if options.cron:
        _change_table(options, add=True)
    return 0


def _install_service(options: argparse.Namespace) -> None:
    from flows.keep_running import install_service, plan_service

    world = open_world(options)
    service = plan_service(world.root, world.home, world.env)
    changed = install_service(service, options.dry_run)
    if options.dry_run:
        print(f"would write {service.path}:\n{service.content.decode()}" if changed else f"there: {service.path}")
        return
    (world.root / "logs").mkdir(parents=True, exist_ok=True, mode=0o700)
    print(f"{'written' if changed else 'there already'}: {service.path}\nstart it: {service.enable}")
    program = service.enable.split()[0]
    if shutil.which(program) is None:
        print(f"note: there is no {program} on this machine; `hotwash serve --cron` works without it")


def _uninstall(options: argparse.Namespace) -> int:
    from flows.keep_running import plan_service, uninstall_service

    world = open_world(options)
    if not options.cron:
        service = plan_service(world.root, world.home, world.env)
        done = uninstall_service(service, options.dry_run)
        word = "would remove" if options.dry_run else "removed"
        print(f"{word}: {service.path}\nend it: {service.disable}" if done else f"nothing at {service.path}")
    if options.cron or shutil.which("crontab"):
        _change_table(options, add=False)
    return 0


def _change_table(options: argparse.Namespace, *, add: bool) -> None:
    from flows.crontab import cron_block, read_table, with_block, without_block, write_table

    world = open_world(options)
    before = read_table()
    block = cron_block(world.root, world.settings.serve)
    after = with_block(before, world.root, block) if add else without_block(before, world.root)
    if before == after:
        print(f"crontab: {'has it already' if add else 'holds nothing of this store'}")
        return
    if options.dry_run:
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "crontab", "crontab", lineterm="")
        print("\n".join(lines))
        return
    if add:
        (world.root / "logs").mkdir(parents=True, exist_ok=True, mode=0o700)
    write_table(after)
    print("crontab: the weekly and the daily pass are in it" if add else "crontab: they are out again")
