"""Run git without hooks, prompts, pagers or locks, whatever the environment and the repository's settings say."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

GIT_SECONDS = 60.0
_SETTINGS = ("core.fsmonitor=false", "core.quotepath=false", "core.hooksPath=/dev/null")


def run_git(
    root: Path, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """What became of a git command in `root`; None where git cannot run or does not end within a minute."""
    # Inside a git hook GIT_DIR and its kin name another repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(env or {})}
    command = ["git", "-C", str(root)]
    for setting in _SETTINGS:
        command += ["-c", setting]
    try:
        return subprocess.run(
            [*command, *arguments], input=stdin, capture_output=True, timeout=GIT_SECONDS, check=False, env=clean
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
