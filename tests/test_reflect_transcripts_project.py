"""A project is named by its remote, however that is written, else by its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflect.transcripts.project import normalise_remote, project_of


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/shop.git",
        "https://github.com/acme/shop",
        "https://github.com/acme/shop.git/",
        "https://token:x-oauth@GitHub.com/acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "git://github.com/acme/shop",
        "github.com:acme/shop",
    ],
)
def test_one_project_has_one_name(url: str) -> None:
    """Scheme, user, password, port and suffix are no part of it."""
    assert normalise_remote(url) == "github.com/acme/shop"


@pytest.mark.parametrize("url", ["", "/srv/git/shop.git", "../shop", "C:\\git\\shop", "file:///srv/shop", "not a url"])
def test_a_local_path_is_no_remote(url: str) -> None:
    """It would name a folder of one machine."""
    assert normalise_remote(url) == ""


def test_the_remote_is_read_from_the_configuration(tmp_path: Path) -> None:
    """From any folder below the repository, and through the pointer file of a worktree."""
    (tmp_path / "shop" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    config = '[core]\n\tbare = false\n[remote "fork"]\n\turl = git@example.com:mika/shop.git\n'
    config += '[remote "origin"]\n\turl = https://example.com/acme/shop.git\n\tfetch = +refs/heads/*\n'
    (tmp_path / "shop" / ".git" / "config").write_text(config)
    (tmp_path / "shop" / ".git" / "worktrees" / "fix" / "commondir").write_text("../..\n")
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {tmp_path}/shop/.git/worktrees/fix\n")
    for folder in ("shop", "shop/src", "fix"):
        assert project_of(str(tmp_path / folder)) == "example.com/acme/shop"


def test_without_a_remote_the_folder_is_the_project(tmp_path: Path) -> None:
    """A folder that is not on this machine, or in no repository, names itself; a known remote wins."""
    assert project_of("/nonexistent/shop") == "/nonexistent/shop"
    assert project_of(str(tmp_path)) == str(tmp_path)
    assert project_of("", "") == ""
    assert project_of(str(tmp_path), "git@example.com:acme/shop.git") == "example.com/acme/shop"


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("/nonexistent/shop/.worktrees/fix-tax", "/nonexistent/shop"),
        ("/nonexistent/shop/.claude/worktrees/agent-a1b2", "/nonexistent/shop"),
        ("/nonexistent/shop/.claude/worktrees/agent-a1b2/web", "/nonexistent/shop/web"),
        ("C:\\src\\shop\\.worktrees\\fix", "C:\\src\\shop"),
        ("/nonexistent/shop/worktrees/fix", "/nonexistent/shop/worktrees/fix"),
        ("/nonexistent/.worktrees", "/nonexistent/.worktrees"),
    ],
)
def test_a_working_tree_inside_its_project_is_the_project(folder: str, project: str) -> None:
    """Also when it is gone from the disk, as most are by the time they are read."""
    assert project_of(folder) == project
