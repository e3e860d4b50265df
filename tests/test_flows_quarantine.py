"""A source that turned out bad: all that derives from it is pulled, and comes back when the run is undone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.drafts import Decided, Published, render_decided, sha256
from flows.cli import run_command
from index.frontmatter import render_solution
from index.records import Solution, Source
from index.store import make_store, path_for, solution_id

BAD = "https://bad.example/page"
WHEN = datetime(2026, 11, 3, 9, tzinfo=UTC)
SKILL = "---\nname: warm-cache\ndescription: Use when the cache is cold.\n---\nRun make warm.\n"


def add(root: Path, number: int, **values: object) -> tuple[Solution, Path]:
    """One lesson in the store."""
    made = Solution(solution_id(WHEN, f"s{number}"), f"Lesson {number}", "bugs", f"Fact {number}.\n", created=WHEN)
    made = replace(made, **values)  # type: ignore[arg-type]
    place = root / path_for(made)
    place.write_text(render_solution(made), encoding="utf-8")
    return made, place


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store."""
    make_store(tmp_path / "store")
    return tmp_path / "store"


def contents(*roots: Path) -> dict[str, bytes]:
    """All files but the journal and what is derived."""
    return {
        str(path): path.read_bytes()
        for root in roots
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {"journal", ".cache", ".lock", ".index.yaml", "MEMORY.md"} & set(path.parts)
    }


def test_merges_and_published_skills_are_pulled_and_come_back(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lesson, what was merged from it and the skill that rests on the merge go; all else stays; undo restores."""
    cited, first = add(store, 1, sources=(Source("codex:a", origin="web", ref=BAD),), trust="external")
    merged, second = add(store, 2, supersedes=(cited.id,), sources=(Source("codex:b", (1, 2), "agent"),))
    _, other = add(store, 3, sources=(Source("codex:c", (1, 2), "agent"),))
    skill = tmp_path / "home" / "skills" / "warm-cache" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL, encoding="utf-8")
    decided = Decided(
        "warm-cache", "0" * 16, "publish", "mika", WHEN, solutions=frozenset({merged.id}),
        targets=(Published(str(skill), sha256(SKILL)),),
    )  # fmt: skip
    (store / "decisions").mkdir()
    (store / decided.path).write_text(render_decided(decided), encoding="utf-8")
    before = contents(store, tmp_path / "home")

    assert run_command(["quarantine", "--source", BAD, "--why", "hacked", "--store", str(store)]) == 0
    said = capsys.readouterr().out
    assert not first.exists()
    assert not second.exists()
    assert not skill.exists()
    assert other.exists()
    assert str(skill) in said
    assert cited.title.lower().replace(" ", "-") in said
    assert SKILL.encode() in contents(store / "quarantine").values()

    run = next(path.stem for path in sorted((store / "journal").glob("*.jsonl")) if "quarantine" in path.stem)
    assert run_command(["undo", run, "--store", str(store)]) == 0
    assert contents(store, tmp_path / "home") == before


def test_an_unknown_source_is_said_and_exits_with_1(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is pulled, and the person is told so."""
    _, place = add(store, 1, sources=(Source("codex:a", (1, 2), "agent"),))
    assert run_command(["quarantine", "--source", "codex:nobody", "--store", str(store)]) == 1
    assert "codex:nobody: nothing in this store derives from it" in capsys.readouterr().err
    assert place.exists()
