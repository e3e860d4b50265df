"""What a lesson names is looked up in its project."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.named_things import (
    Checked,
    Named,
    ProjectFolders,
    check_named_things,
    named_things,
    read_checked,
    with_earlier,
    write_checked,
)
from index.records import Solution, Triggers


def lesson(body: str, triggers: Triggers | None = None) -> Solution:
    triggers = triggers or Triggers()
    return Solution(id="0" * 26, title="t", category="bugs", body=body, triggers=triggers)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with a makefile, scripts and pinned packages."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("x")
    (tmp_path / "Makefile").write_text("VERSION := 1\n.PHONY: test\ntest: deps\n\tpytest\n")
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"lint": "eslint ."}}))
    (tmp_path / "requirements.txt").write_text("requests==2.31.0\nrequests-mock==1.9.0\n")
    (tmp_path / "package-lock.json").write_text('{"left-pad": {\n "version": "1.3.0"}}')
    return tmp_path


def test_what_can_be_looked_up() -> None:
    """Paths, commands defined in the project and pinned versions; prose, addresses and places outside are not."""
    body = (
        "Edit `src/app.py`, run `make test` then `npm run lint`, pin `requests==2.31.0`. See `example.com/a.com`,"
        " `/etc/passwd`, `../up.py`, `~/x.py`, `git status`, `https://a.b/c.html`, src/prose.py, `app.py`."
    )
    triggers = Triggers(paths=("tests/unit/**/*.py", "**/*.md", "docs/guide.md"), commands=("./scripts/go.sh --fast",))
    assert named_things(lesson(body, triggers)) == (
        Named("command", "make test"),
        Named("command", "npm run lint"),
        Named("path", "docs/guide.md"),
        Named("path", "scripts/go.sh"),
        Named("path", "src/app.py"),
        Named("path", "tests/unit/"),
        Named("version", "requests 2.31.0"),
    )


@pytest.mark.parametrize(
    ("span", "there"),
    [
        ("src/app.py", True),
        ("src/gone.py", False),
        ("make test", True),
        ("make deploy", False),
        ("make VERSION", False),
        ("pnpm run lint", True),
        ("npm run build", False),
        ("requests==2.31.0", True),
        ("requests==2.30.0", False),
        ("left-pad@1.3.0", True),
        ("left-pad@1.3", True),
        ("left-pad@1.30", False),
        ("numpy==2.0.0", None),
        ("python -m http.server", None),
    ],
)
def test_there_gone_or_not_to_be_told(project: Path, span: str, there: bool | None) -> None:
    """A package that no manifest names says nothing; one with another version is gone."""
    checked = check_named_things(lesson(f"Use `{span}`."), ProjectFolders((project,)))
    assert (bool(checked.confirmed), bool(checked.missing)) == (there is True, there is False)


def test_nothing_is_followed_out_of_the_project(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link that leads elsewhere does not confirm what lies there."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("x")
    (project / "link").symlink_to(outside)
    checked = check_named_things(lesson("See `link/secret.txt`."), ProjectFolders((project,)))
    assert checked == Checked((), (Named("path", "link/secret.txt"),))


def test_a_project_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    """Without the project nothing is confirmed and nothing is missing."""
    assert check_named_things(lesson("See `src/app.py`."), ProjectFolders((tmp_path / "none",))) == Checked()


def test_missing_things_are_named() -> None:
    """The sentence says what is gone, and that this is no proof."""
    text = Checked((), (Named("path", "a/b.py"), Named("command", "make x"))).describe()
    assert text == "no longer found in the project: path a/b.py, command make x. That does not make the lesson false."


def test_a_thing_is_there_where_one_of_the_folders_has_it(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A second working tree without the file does not make it vanish; a folder that says nothing does not count."""
    other = tmp_path_factory.mktemp("other")
    both = ProjectFolders((other, project))
    assert check_named_things(lesson("See `src/app.py`, run `make test`."), both).missing == ()


def test_a_folder_that_outlives_everything_renews_nothing() -> None:
    """`src/` is there for ever; a file in it, or a command, is what a lesson is about."""
    assert not Checked((Named("path", "src/"),)).holds
    assert Checked((Named("path", "src/app.py"),)).holds
    assert Checked((Named("command", "make test"), Named("path", "src/"))).holds
    assert not Checked((Named("command", "make test"),), (Named("path", "src/app.py"),)).holds


def test_looking_changes_nothing(project: Path) -> None:
    """Nothing is run, written or removed."""
    before = sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*"))
    (project / "scripts").mkdir()
    (project / "scripts" / "go.sh").write_text("#!/bin/sh\ntouch ran\n")
    check_named_things(lesson("Run `./scripts/go.sh`, `make test`."), ProjectFolders((project,)))
    (project / "scripts" / "go.sh").unlink()
    (project / "scripts").rmdir()
    assert sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*")) == before


TODAY = date(2026, 11, 30)
NAMED = st.builds(Named, st.sampled_from(["path", "command", "version"]), st.text(min_size=1, max_size=9))
CHECKS = st.dictionaries(
    st.sampled_from(["A", "B", "C"]),
    st.builds(Checked, st.lists(NAMED, max_size=2).map(tuple), st.lists(NAMED, max_size=2).map(tuple)),
)
DAYS = st.dictionaries(
    st.sampled_from(["A", "B", "C", "D"]), st.integers(-400, 5).map(lambda days: TODAY + timedelta(days=days))
)


@given(CHECKS, DAYS)
def test_what_was_kept_gives_the_same_checks_again(
    tmp_path_factory: pytest.TempPathFactory, checks: dict[str, Checked], earlier: dict[str, date]
) -> None:
    """Written and read, the days and what is missing are the same; a second pass of the same day changes nothing; no
    day is ahead of today, and no check that fails moves one."""
    root = tmp_path_factory.mktemp("store")
    first = with_earlier(checks, earlier, TODAY, "ABCD")
    write_checked(root, first)
    kept = read_checked(root)
    assert {key: (one.missing, one.on) for key, one in kept.items()} == {
        key: (one.missing, one.on) for key, one in first.items()
    }
    assert with_earlier(checks, {key: one.on for key, one in kept.items() if one.on}, TODAY, "ABCD") == first
    for key, one in first.items():
        assert one.on is None or one.on <= TODAY
        if key in checks and not checks[key].holds and one.on:
            assert one.on == earlier[key]


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"A": 1}', '{"A": {"on": "x", "missing": [[]]}}', "null"])
def test_a_damaged_record_is_none(tmp_path: Path, damage: str) -> None:
    """It is only a cache."""
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "named-things.json").write_text(damage)
    assert read_checked(tmp_path) == {}
