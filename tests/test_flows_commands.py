"""What all commands share: JSON alone on stdout, and plain words for what is wrong or not there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows.cli import COMMANDS, run_command
from index.frontmatter import render_solution
from index.records import Solution
from index.store import make_store

# The usual arguments of each command that answers over an empty store; those that need a lesson, a run or a draft are
# tried on what is not there, and `mcp` and `serve` alone go on until they are stopped.
USUAL = {
    "recall": ["pytest"],
    "install": ["claude-code"],
    "uninstall": ["claude-code"],
    "classify": ["FOLDER"],
    "import": ["FOLDER"],
    "forget": ["--string", "nowhere-at-all"],
    "serve": ["--install", "--dry-run"],
}
NOT_THERE = {
    "why": ["01M77D6MGE1MAW2G850FE8D5GP"],
    "restore": ["01M77D6MGE1MAW2G850FE8D5GP"],
    "supersede": ["01M77D6MGE1MAW2G850FE8D5GP", "--by", "01M77D6MGE1MAW2G850FE8D5GQ"],
    "release": ["01M77D6MGE1MAW2G850FE8D5GP", "--by", "ann", "--why", "read it"],
    "quarantine": ["--source", "https://example.com/page"],
    "undo": ["20260101T000000000Z-run-0000"],
    "review": ["no-such-draft"],
}
LASTING = {"mcp"}
DAY = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one markdown file."""
    place = tmp_path / "notes"
    place.mkdir()
    (place / "cache.md").write_text("# Clear the cache\n\nRun `make clean` after a change of the schema.\n")
    return place


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - NOT_THERE.keys() - LASTING))
def test_json_is_alone_on_stdout(
    command: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command answers `--format json` with one document and nothing else; classify with one a line."""
    make_store(tmp_path / "store")
    arguments = [str(folder) if word == "FOLDER" else word for word in USUAL.get(command, [])]
    code = run_command([command, *arguments, "--format", "json", "--store", str(tmp_path / "store")])
    shown = capsys.readouterr().out
    assert code in ((2,) if command == "forget" else (0, 1))
    for document in shown.splitlines() if command == "classify" else [shown]:
        assert json.loads(document) is not None


def test_json_of_the_other_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A snapshot that is checked and restored, a service that is taken out, a plugin that is written."""
    make_store(tmp_path / "store")
    store = ["--format", "json", "--store", str(tmp_path / "store")]
    assert run_command(["snapshot", *store]) == 0
    taken = json.loads(capsys.readouterr().out)["snapshot"]
    assert run_command(["snapshot", "--verify", taken, *store]) == 0
    assert json.loads(capsys.readouterr().out)["snapshot"] == taken
    assert run_command(["snapshot", "--restore", taken, *store[:3], str(tmp_path / "other")]) == 0
    assert json.loads(capsys.readouterr().out)["store"] == str(tmp_path / "other")
    assert run_command(["serve", "--uninstall", "--dry-run", *store]) == 0
    assert json.loads(capsys.readouterr().out)["changes"][0]["changed"] is False
    assert run_command(["install", "claude-code", "--plugin", str(tmp_path / "plugin"), *store]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is True
    assert (tmp_path / "plugin" / ".claude-plugin" / "plugin.json").exists()


@pytest.mark.parametrize("command", sorted(NOT_THERE))
def test_what_is_not_there_is_told_in_a_line(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No trace, nothing on stdout, and wrong use by the exit code; a source that taught nothing is a finding."""
    code = run_command([command, *NOT_THERE[command], "--store", str(tmp_path / "store")])
    shown = capsys.readouterr()
    assert (code, shown.out) == (1 if command == "quarantine" else 2, "")
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "import", "classify", "dedup", "scan", "patterns"])
def test_a_path_that_leads_nowhere(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that take paths say the same."""
    assert run_command([command, str(tmp_path / "gone"), "--store", str(tmp_path / "store")]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'gone'}: there is no such file or folder.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["snapshot"], "there is no store here"),
        (["audit", "--project", "gone"], "--project wants a project's folder"),
        (["scan", "--sarif"], "--sarif goes with PATHs"),
        (["scan", "--jsonl", "."], "is no file"),
        (["install", "claude-code", "--plugin", "notes/cache.md"], "--plugin wants a folder"),
    ],
)
def test_wrong_use(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is wrong and what is wanted, and nothing made."""
    monkeypatch.chdir(tmp_path)
    assert folder.is_dir()
    assert run_command([*arguments, "--store", str(tmp_path / "store")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", ""],
        ["import", ""],
        ["scan", " "],
        ["classify", ""],
        ["undo", ""],
        ["why", ""],
        ["review", ""],
        ["install", ""],
        ["quarantine", "--source", ""],
        ["release", "01M77D6MGE1MAW2G850FE8D5GP", "--by", "", "--why", ""],
        ["snapshot", "--restore", ""],
        ["report", "--output", ""],
        ["scan", "--jsonl", ""],
        ["audit", "--project", ""],
        ["dedup", "--keep-both", "", ""],
    ],
)
def test_an_unset_variable_names_nothing(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty argument is refused: it never stands for this folder, for every run or for every source."""
    assert run_command([*arguments, "--store", str(tmp_path / "store")]) == 2
    assert "is empty; is a variable of the shell unset?" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("command", ["dedup", "patterns", "classify"])
def test_files_that_cannot_be_read_are_named(
    command: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not counted as looked at: said, with exit code 1."""
    (folder / "packed.md").write_bytes(b"\xff\xfe\x00\x81")
    assert run_command([command, str(folder), "--store", str(tmp_path / "store")]) == 1
    shown = capsys.readouterr().out
    assert "packed.md" in shown
    assert "not UTF-8" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "Sessions: none found."),
        (["import", "EMPTY"], "there is no markdown file in what was given"),
        (["status"], "(not made yet: the first `hotwash run` makes it)"),
        (["forget", "--string", "nowhere-at-all"], "This store holds it nowhere"),
    ],
)
def test_nothing_to_do_is_said(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that found nothing says so, and what one could do."""
    (tmp_path / "empty").mkdir()
    given = [str(tmp_path / "empty") if word == "EMPTY" else word for word in arguments]
    run_command([*given, "--store", str(tmp_path / "store")])
    assert words in capsys.readouterr().out


def test_each_answer_of_recall_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the only word of a question stands in every lesson, and so tells none from another."""
    make_store(tmp_path)
    for number in range(12):
        made = Solution(
            f"01M77D6MGE1MAW2G850FE8D5{number:02}",
            f"The parser of part {number} keeps tables",
            "bugs",
            f"Markdown of part {number} is read line by line.",
            created=DAY,
        )
        (tmp_path / "solutions" / "bugs" / f"part-{number}.md").write_text(render_solution(made))
    store = ["--store", str(tmp_path)]
    assert run_command(["scan", *store]) == 0
    capsys.readouterr()
    assert run_command(["recall", "markdown", "--format", "json", *store]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found
    assert all(reason.split()[-1] != "of" for one in found for reason in one["reasons"])


def test_two_lessons_are_kept_apart_and_one_is_not_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The decision is shown; a lesson given twice is wrong use, and `why` says what was not scanned."""
    make_store(tmp_path)
    ids = ["01M77D6MGE1MAW2G850FE8D5GP", "01M77D6MGE1MAW2G850FE8D5GQ"]
    for name in ids:
        made = Solution(name, f"Lesson {name[-1]}", "bugs", "Clear the cache.", created=DAY)
        (tmp_path / "solutions" / "bugs" / f"{name[-1]}.md".lower()).write_text(render_solution(made))
    assert run_command(["dedup", "--keep-both", ids[0], ids[0], "--store", str(tmp_path)]) == 2
    assert "wants two lessons" in capsys.readouterr().err
    assert run_command(["dedup", "--keep-both", *ids, "--store", str(tmp_path)]) == 0
    assert f"keep both {ids[0]} and {ids[1]}" in capsys.readouterr().out
    made = Solution(ids[0], "Lesson P", "bugs", "Clear the other cache.", created=DAY)
    (tmp_path / "solutions" / "bugs" / "p.md").write_text(render_solution(made))
    assert run_command(["why", ids[0], "--store", str(tmp_path)]) == 0
    assert "not scanned as it stands" in capsys.readouterr().out


def test_a_reason_says_the_words_that_were_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not their stems, which are no words."""
    make_store(tmp_path)
    text = "Queries on the replica lag behind."
    made = Solution("01M77D6MGE1MAW2G850FE8D5GP", "Queries go to the primary", "bugs", text, created=DAY)
    (tmp_path / "solutions" / "bugs" / "queries.md").write_text(render_solution(made))
    store = ["--store", str(tmp_path)]
    assert run_command(["scan", *store]) == 0
    capsys.readouterr()
    assert run_command(["recall", "replica queries", *store]) == 0
    assert "because: speaks of queries, replica" in capsys.readouterr().out
