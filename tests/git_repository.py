"""A real git repository in the middle of somebody's work, for the tests that publish into one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints, without its last line end; the machine's own settings stay out of it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True, env=env)
    return done.stdout.strip()


def make_repository(folder: Path) -> Path:
    """Two files committed on the branch `work`, then a staged file, an edited one and an untracked one."""
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "work")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    (folder / "README.md").write_text("# Shop\n")
    (folder / "src" / "a.py").write_text("a = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "README.md").write_text("# Shop, edited\n")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "untracked.txt").write_text("untracked\n")
    return folder


def state_of(folder: Path) -> dict[str, bytes]:
    """All that a person has at hand: the work tree, the index and what is checked out; no objects, no other branch."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    work = {name: content for name, content in files.items() if not name.startswith(".git/")}
    return work | {name: files[name] for name in (".git/index", ".git/HEAD", ".git/config", ".git/refs/heads/work")}
