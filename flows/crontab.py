"""The weekly and the daily pass in the user's crontab, between two markers, for those who want no server."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from flows.prefect_api import store_label
from flows.serve import ServeError
from index.settings import ServeSettings

CRON_SECONDS = 30
# Said by the marker where the table before ours had no line end: taking ours out gives that back.
OPEN_END = " (no line end before)"


def cron_block(root: Path, settings: ServeSettings, python: str = sys.executable) -> str:
    """The lines of a store; raises ServeError for a path that no crontab can hold."""
    place = str(root.absolute())
    if "\n" in place or "\r" in place:
        raise ServeError(f"{root}: a path with a line break cannot stand in a crontab. Choose another --store.")
    lines = []
    for schedule, command in ((settings.weekly, "curate"), (settings.daily, "daily")):
        words = [python, "-P", "-m", "hotwash", command, "--store", place]
        log = shlex.quote(f"{place}/logs/cron.log")
        # A bare % would end the command there.
        lines.append(f"{schedule} " + f"{shlex.join(words)} >/dev/null 2>>{log}".replace("%", "\\%"))
    return "\n".join(lines)


def with_block(table: str, root: Path, block: str) -> str:
    """The table with the store's lines in it, in their old place where they have one; all else stays."""
    begin, end = _markers(root)
    bare = without_block(table, root)
    if bare != table:
        start = table.index(begin)
        head = table[:start]
        first = table[start : table.index("\n", start)]
        rest = table[table.index(end, start) + len(end) :].removeprefix("\n")
        return f"{head}{first}\n{block}\n{end}\n{rest}"
    gap, mark = ("\n", OPEN_END) if table and not table.endswith("\n") else ("", "")
    return f"{table}{gap}{begin}{mark}\n{block}\n{end}\n"


def without_block(table: str, root: Path) -> str:
    """The table without the store's lines; the same where it has none, or where one of the markers is gone."""
    begin, end = _markers(root)
    start = table.find(begin)
    stop = table.find(end, start) if start >= 0 else -1
    if stop < 0:
        return table
    head, rest = table[:start], table[stop + len(end) :].removeprefix("\n")
    opened = table[start + len(begin) :].startswith(OPEN_END)
    return (head.removesuffix("\n") if opened and not rest else head) + rest


def _markers(root: Path) -> tuple[str, str]:
    label = store_label(root)
    return f"# hotwash:begin {label}", f"# hotwash:end {label}"


def read_table() -> str:
    """The user's crontab, "" for none; raises ServeError where it cannot be read."""
    done = _crontab("-l")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        if "no crontab" in said.lower():
            return ""
        raise ServeError(f"crontab -l failed: {said or f'exit code {done.returncode}'}.")
    return done.stdout.decode("utf-8", "surrogateescape")


def write_table(table: str) -> None:
    """Install a crontab; an empty one is taken away. Raises ServeError, with the old one still in place."""
    done = _crontab("-", stdin=table.encode("utf-8", "surrogateescape")) if table else _crontab("-r")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ServeError(f"crontab refused the new table: {said[-1] if said else f'exit code {done.returncode}'}.")


def _crontab(argument: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["crontab", argument],
            input=stdin,
            capture_output=True,
            timeout=CRON_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServeError(f"crontab cannot be run ({error}). Install cron, or use `hotwash serve --install`.") from error
