"""A branch with one commit, made of objects and a reference: nobody's work tree, index or branch is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.branch import Base, Branched, BranchError, create_branch, delete_branch, find_base, read_at, write_branch
from curate.git import run_git
from tests.git_repository import git, make_repository, state_of

FILES = {".claude/skills/a/SKILL.md": b"---\nname: a\n---\r\n", ".claude/skills/a/references/lessons.md": b"more\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in the middle of somebody's work: a branch, a staged file, an edited one, an untracked one."""
    return make_repository(tmp_path / "my repo")


def publish(repository: Path, name: str = "hotwash/a", files: dict[str, bytes] | None = None) -> Branched:
    """Write and make a branch."""
    branched = write_branch(find_base(repository), name, files or FILES, "Add the skill a\n")
    create_branch(branched)
    return branched


def test_a_branch_holds_the_files_and_nothing_else_is_touched(repository: Path) -> None:
    """One commit on top of what is checked out, byte for byte, with the user's name; the work in progress stays."""
    before = state_of(repository)
    head = git(repository, "rev-parse", "HEAD")
    branched = publish(repository)
    assert state_of(repository) == before
    assert git(repository, "rev-parse", "hotwash/a~1") == head
    assert git(repository, "diff", "--name-status", "HEAD", "hotwash/a").split() == ["A", min(FILES), "A", max(FILES)]
    for path, content in FILES.items():
        assert read_at(Base(repository, branched.commit), path) == content
    assert git(repository, "log", "-1", "--format=%an %s", "hotwash/a") == "Ann Add the skill a"
    assert delete_branch(branched)
    assert state_of(repository) == before
    assert git(repository, "branch", "--list", "hotwash/*") == ""
    assert not delete_branch(branched)


def test_it_starts_where_the_remote_does(repository: Path, tmp_path: Path) -> None:
    """A pull request must not hold what the user has committed on a branch of their own; a base can be named."""
    origin = tmp_path / "origin.git"
    git(repository, "clone", "-q", "--bare", ".", str(origin))
    git(repository, "remote", "add", "origin", str(origin))
    git(repository, "fetch", "-q", "origin")
    git(repository, "remote", "set-head", "origin", "work")
    git(repository, "commit", "-q", "-m", "mine")
    branched = publish(repository)
    assert git(repository, "rev-parse", "hotwash/a~1") == git(repository, "rev-parse", "origin/work")
    assert find_base(repository, "HEAD").commit == git(repository, "rev-parse", "HEAD")
    push = [*branched.push.replace("'", "").partition(" push ")[2].split()]
    git(repository, "push", "-q", *push)
    assert git(origin, "rev-parse", "hotwash/a") == branched.commit


def test_the_same_again_is_the_same_branch(repository: Path) -> None:
    """A run that was killed after it made the branch finds it; another content under its name is refused."""
    first = publish(repository)
    again = write_branch(find_base(repository), "hotwash/a", FILES, "Add the skill a, again\n")
    assert again == first
    assert not create_branch(again)
    with pytest.raises(BranchError, match="already with another content"):
        write_branch(find_base(repository), "hotwash/a", {"x": b"other"}, "x")
    with pytest.raises(BranchError, match="update-ref"):
        create_branch(Branched(first.repository, first.name, git(repository, "rev-parse", "HEAD")))


def test_a_branch_that_someone_works_on_stays(repository: Path) -> None:
    """Checked out, or with a commit on top, it is not taken away; packed references are no matter."""
    branched = publish(repository)
    git(repository, "pack-refs", "--all")
    git(repository, "worktree", "add", "-q", str(repository.parent / "tree"), "hotwash/a")
    with pytest.raises(BranchError, match="is checked out"):
        delete_branch(branched)
    git(repository, "worktree", "remove", str(repository.parent / "tree"))
    tip = git(repository, "commit-tree", "hotwash/a^{tree}", "-p", "hotwash/a", "-m", "more")
    git(repository, "update-ref", "refs/heads/hotwash/a", tip)
    with pytest.raises(BranchError, match="other commits"):
        delete_branch(branched)
    assert git(repository, "rev-parse", "hotwash/a") == tip


def test_what_cannot_be_done_is_said(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No repository, no commit, no such base, no name of the user's, no git: each in one line with what to do."""
    (tmp_path / "plain").mkdir()
    with pytest.raises(BranchError, match="no git repository"):
        find_base(tmp_path / "plain")
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(BranchError, match="first commit"):
        find_base(tmp_path / "empty")
    with pytest.raises(BranchError, match="no commit 'nowhere'"):
        find_base(repository, "nowhere")
    git(repository, "config", "user.useConfigOnly", "true")
    git(repository, "config", "--unset", "user.email")
    with pytest.raises(BranchError, match=r"Set user\.name and user\.email"):
        publish(repository)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_git(repository, "status") is None
    with pytest.raises(BranchError, match="git cannot be run"):
        find_base(repository)


def test_a_link_or_a_folder_in_the_way_is_no_file_of_ours(repository: Path) -> None:
    """What stands at a path in the base is told apart from nothing and from a file."""
    (repository / "link").symlink_to("README.md")
    git(repository, "add", "link")
    git(repository, "commit", "-q", "-m", "a link")
    base = find_base(repository)
    assert read_at(base, "README.md") == b"# Shop\n"
    assert read_at(base, "none") is None
    assert read_at(base, "link") not in (None, b"README.md", b"# Shop\n")
    assert read_at(base, "src") not in (None, b"")
