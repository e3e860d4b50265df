"""Put files on a new git branch as one commit, what a pull request holds, with no other trace in the repository.

Only objects and one reference are written: the work tree, the index and the branch that is checked out stay as they
are. A reference is made or taken away only where it still is what we know it to be.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from curate.git import run_git
from index.errors import HotwashError

PREFIX = "hotwash/"


class BranchError(HotwashError):
    """A branch cannot be made or taken away; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a new branch starts from."""

    repository: Path
    commit: str


@dataclass(frozen=True, slots=True)
class Branched:
    """A branch that publishing made: the repository, the branch's name and its commit."""

    repository: str
    name: str
    commit: str

    @property
    def push(self) -> str:
        """The command that takes it to the remote."""
        return f"git -C {shlex.quote(self.repository)} push -u origin {shlex.quote(self.name)}"


def find_base(place: Path, wanted: str = "") -> Base:
    """Where a branch in the repository around `place` starts: at `wanted`, else at the remote's default branch, else at
    what is checked out. Raises BranchError."""
    top = _git(place, "rev-parse", "--show-toplevel", otherwise="lies in no git repository; name one in the settings")
    repository = Path(top.decode("utf-8", "surrogateescape").rstrip("\n"))
    names = [wanted] if wanted else ["refs/remotes/origin/HEAD", "HEAD"]
    for name in names:
        done = run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if done is not None and done.returncode == 0:
            return Base(repository, done.stdout.decode().strip())
    raise BranchError(f"{repository}: there is no commit {names[-1]!r} to start a branch from. Make a first commit.")


def read_at(base: Base, path: str) -> bytes | None:
    """A file's bytes in the base commit, by its path in the repository; None where there is none."""
    listed = _git(base.repository, "ls-tree", "-z", base.commit, "--", path).decode("utf-8", "surrogateescape")
    if not listed:
        return None
    mode, kind, name = listed.partition("\t")[0].split(" ")
    # A folder, a link or a submodule is there, and is no file of ours.
    return (
        _git(base.repository, "cat-file", "blob", name)
        if kind == "blob" and mode != "120000"
        else b"\0" + mode.encode()
    )


def write_branch(base: Base, name: str, files: Mapping[str, bytes], message: str) -> Branched:
    """Write a commit of the base with these files in place, which no reference holds yet.

    Where the branch is there with the same files already, it is that one. Raises BranchError where it holds others.
    """
    repository = base.repository
    commit = _write_commit(base, files, message)
    there = _commit_of(repository, name)
    if there:
        trees = _git(repository, "rev-parse", f"{there}^{{tree}}", f"{commit}^{{tree}}").split()
        if trees[0] != trees[1]:
            reason = "is there already with another content; it was left as it is"
            raise BranchError(f"{repository}: the branch {name} {reason}. Publish under another name.")
    return Branched(str(repository), name, there or commit)


def _write_commit(base: Base, files: Mapping[str, bytes], message: str) -> str:
    repository = base.repository
    with tempfile.TemporaryDirectory(prefix="hotwash-index-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _git(repository, "read-tree", base.commit, env=env)
        for path, content in sorted(files.items()):
            blob = _git(repository, "hash-object", "-w", "--stdin", "--no-filters", stdin=content).decode().strip()
            _git(repository, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
        tree = _git(repository, "write-tree", env=env).decode().strip()
    return _git(repository, "commit-tree", tree, "-p", base.commit, "-F", "-", stdin=message.encode()).decode().strip()


def create_branch(branched: Branched) -> bool:
    """Make the branch; False where it is there already. Raises BranchError where another one took its name."""
    repository = Path(branched.repository)
    if _commit_of(repository, branched.name) == branched.commit:
        return False
    # The empty old value: the reference must not exist.
    _git(repository, "update-ref", "-m", "hotwash: published", _reference(branched.name), branched.commit, "0" * 40)
    return True


def delete_branch(branched: Branched) -> bool:
    """Take the branch away; False where it has gone already. Raises BranchError where it has other commits by now or is
    checked out."""
    repository = Path(branched.repository)
    if not repository.is_dir() or not (there := _commit_of(repository, branched.name)):
        return False
    if there != branched.commit:
        raise BranchError(f"{repository}: the branch {branched.name} has other commits by now; it was left as it is.")
    used = _git(repository, "worktree", "list", "--porcelain").decode("utf-8", "surrogateescape").splitlines()
    if f"branch {_reference(branched.name)}" in used:
        raise BranchError(f"{repository}: the branch {branched.name} is checked out. Switch to another one first.")
    _git(repository, "update-ref", "-d", _reference(branched.name), branched.commit)
    return True


def _reference(name: str) -> str:
    return f"refs/heads/{name}"


def _commit_of(repository: Path, name: str) -> str:
    done = run_git(repository, "rev-parse", "--verify", "--quiet", f"{_reference(name)}^{{commit}}")
    return done.stdout.decode().strip() if done is not None and done.returncode == 0 else ""


def _git(
    place: Path, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, otherwise: str = ""
) -> bytes:
    done = run_git(place, *arguments, stdin=stdin, env=env)
    if done is None:
        raise BranchError(f"{place}: git cannot be run. Install it, or set review.publish to files.")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"exit code {done.returncode}"
        if "empty ident" in reason or "tell me who you are" in done.stderr.decode("utf-8", "replace"):
            reason = "git does not know who you are. Set user.name and user.email (git config --global)"
        raise BranchError(f"{place}: {otherwise or f'git {arguments[0]}'} ({reason}).")
    return done.stdout
