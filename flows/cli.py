"""The command line: finds the subcommand, runs it, and turns what goes wrong into a message and an exit code.

Exit codes: 0 done, 1 findings or failures, 2 wrong use, 3 a bug of ours, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from flows.progress import end_progress
from index.errors import HotwashError, UsageError

# Spelled out, so that `--help` imports none of them and a newcomer finds the module by the command's name.
COMMANDS: dict[str, str] = {
    "run": "ingest new sessions and the inbox: the whole session-end chain",
    "curate": "the weekly pass over the whole store",
    "daily": "the memory block and the snapshot",
    "status": "health: coverage, counts, queue, last runs",
    "doctor": "check installation, hooks, store and server; --fix repairs what is safe",
    "audit": "the skills and memory files of every agent: used, never used, wrong, too long",
    "report": "one HTML page: lessons, sessions, use, upkeep, poison, spending, the audit",
    "recall": "ranked solutions for a query, a path, a command or an error",
    "pack": "the memory pack for the start of a session",
    "why": "a lesson, its evidence and its history",
    "mcp": "remember, recall, supersede and why over MCP, for an agent",
    "review": "list the drafts that wait, or decide one",
    "serve": "Prefect server and UI, all deployments and their schedules",
    "install": "put hotwash's hooks into an agent's own configuration",
    "uninstall": "take them out again",
    "classify": "the category of each file: patterns, bugs or knowledge",
    "index": "rebuild .index.yaml and the recall cache",
    "decay": "archive what has no evidence for long",
    "dedup": "find and merge near-duplicates",
    "consolidate": "make one lesson of those that say the same",
    "scan": "look for poison in a store or in any files",
    "promote": "draft skills from what three sessions show",
    "patterns": "groups of lessons with one root",
    "import": "adopt lessons that exist already",
    "undo": "reverse a run, every byte",
    "restore": "bring an archived lesson back",
    "supersede": "replace a lesson by another",
    "quarantine": "pull all that derives from a bad source",
    "release": "clear a suspect or external lesson, with a name and a reason",
    "forget": "purge a lesson, a session, a project or a string for good, with proof",
    "snapshot": "one verifiable file of the whole store",
    "init": "make a store, or a shared one in this repository",
}


# What the system may refuse that is no bug of ours, and what a person can do about it.
NOT_OURS: dict[int | None, str] = {
    errno.ENOSPC: "Make room on the disk",
    errno.EDQUOT: "Make room within your quota",
    errno.EFBIG: "Raise the limit on the size of files",
    errno.EROFS: "Make the file system writable, or name another store with --store",
    errno.EACCES: "Give yourself the permission",
    errno.EPERM: "Give yourself the permission",
    errno.EIO: "Look after the disk",
    errno.EMFILE: "Raise the limit on open files",
    errno.ENFILE: "Close other programs",
    errno.ENAMETOOLONG: "Use a shorter path",
    errno.ELOOP: "Mend the symbolic link that leads to itself",
    errno.ENOTDIR: "Move the file that stands where a folder is wanted",
    errno.EISDIR: "Move the folder that stands where a file is wanted",
    errno.EEXIST: "Move what is in the way",
    errno.EBUSY: "Wait until it is free",
    errno.ESTALE: "Mount the file system again",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are our UsageError.

    An empty argument is refused, but where empty is the default: `hotwash run "$UNSET"` names no folder, least of all
    this one. An empty --store counts as none, as HOTWASH_HOME does.
    """

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """As usual, and no empty argument."""
        if "action" not in options and options.get("default") != "" and names != ("--store",):
            options["type"] = _filled(options.get("type", str))
        return super().add_argument(*names, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving, so that one place decides on messages and exit codes."""
        raise UsageError(f"{self.prog}: {message}. `{self.prog} --help` shows how it is used.")


def _filled(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if not text.strip():
            raise argparse.ArgumentTypeError("is empty; is a variable of the shell unset?")
        return kind(text)

    read.__name__ = getattr(kind, "__name__", "value")  # argparse names it: "invalid int value"
    return read


def installed_version() -> str:
    """The version of the installed package."""
    try:
        return version("hotwash")
    except PackageNotFoundError:
        return "unknown"


def _print_help() -> None:
    width = max(map(len, COMMANDS))
    print("usage: hotwash COMMAND [OPTIONS]\n")
    print(
        "Debriefs coding-agent sessions: keeps their lessons as markdown, keeps that store clean, gives lessons back.\n"
    )
    for name, text in COMMANDS.items():
        print(f"  {name.ljust(width)}  {text}")
    print(
        "\n`hotwash COMMAND --help` shows a command's options. Every command takes --store DIR (default: $HOTWASH_HOME,"
    )
    print(
        "else ~/.hotwash) and --format text|json. The store's settings are in its config.yaml; HOTWASH_* override them."
    )


def build_parser(command: str) -> Parser:
    """The parser of one subcommand, with the options that all have."""
    module = importlib.import_module(f"flows.commands.{command.replace('-', '_')}_command")
    parser = Parser(prog=f"hotwash {command}", description=module.__doc__)
    parser.add_argument("--store", metavar="DIR", help="the store to work on (default: $HOTWASH_HOME, else ~/.hotwash)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="JSON goes to stdout alone")
    module.add_arguments(parser)
    parser.set_defaults(call=module.call)
    return parser


def run_command(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    try:
        if not arguments or arguments[0] in ("-h", "--help", "help"):
            _print_help()
            sys.stdout.flush()
            return 0 if arguments else 2
        if arguments[0] in ("-V", "--version"):
            print(f"hotwash {installed_version()}")
            return 0
        command = arguments[0]
        if command not in COMMANDS:
            raise UsageError(f"hotwash: there is no command {command!r}. `hotwash --help` lists them.")
        options = build_parser(command).parse_args(arguments[1:])
        try:
            return int(options.call(options))
        finally:
            end_progress()
    except HotwashError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; what had not landed was put back.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing to say, and nobody to say it to.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in NOT_OURS:
            return _bug()
        print(f"error: {describe_os_error(error)}", file=sys.stderr)
        return 1
    except Exception:
        return _bug()


def describe_os_error(error: OSError) -> str:
    """What the system refused, where, and what to do about it, in one line."""
    where = str(error.filename).replace("\n", "?") if error.filename else "the disk"
    advice = NOT_OURS.get(error.errno or 0, "")
    return f"{where}: {error.strerror}. {advice}, then run it again; what had not landed was put back."


def _bug() -> int:
    """Say that it is our fault, with the trace; returns the exit code."""
    traceback.print_exc()
    print("error: this is a bug in hotwash. The store is as it was before the stage that failed.", file=sys.stderr)
    return 3
