"""What may be served: only what was scanned clean as it stands, or what a person has cleared as it stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate import verdicts
from curate.retire import plan_release
from curate.verdicts import (
    Verdicts,
    read_verdicts,
    scan_missing,
    servable,
    text_hash,
    unchecked,
    with_raised,
    write_verdicts,
)
from index.apply import apply, start_run
from index.changes import Run
from index.errors import UsageError
from index.frontmatter import parse_solution, render_solution
from index.records import Finding, Solution, Verdict
from index.store import path_for, solution_id

WHEN = datetime(2026, 11, 29, tzinfo=UTC)
SUSPECT = Verdict("suspect", 0.6, (Finding("r.1", "redirect", "medium", (0, 3), "why"),))


def lesson(body: str = "Body.\n") -> Solution:
    """A solution as it is read from a file."""
    made = Solution(solution_id(WHEN, body), "Title", "bugs", body, created=WHEN)
    read = parse_solution(path_for(made), render_solution(made))
    assert isinstance(read, Solution)
    return read


def test_only_clean_text_of_the_current_hash_is_served() -> None:
    """An edit, another rule set, an external origin or a successor ends it."""
    solution = lesson()
    verdicts = scan_missing([solution], Verdicts("v1"), lambda _: Verdict("clean"))
    assert servable(solution, verdicts)
    assert not servable(replace(solution, text=solution.text + "edited"), verdicts)
    assert not servable(replace(solution, trust="external"), verdicts)
    assert not servable(replace(solution, superseded_by="X"), verdicts)
    assert not servable(solution, scan_missing([solution], Verdicts("v1"), lambda _: SUSPECT))


def test_unchanged_text_is_not_scanned_again_and_verdicts_are_read_back(tmp_path: Path) -> None:
    """By hash; a cache of another rule set counts for nothing; a damaged one neither."""
    solution = lesson()
    verdicts = scan_missing([solution], Verdicts("v1"), lambda _: SUSPECT)
    write_verdicts(tmp_path, verdicts)
    assert read_verdicts(tmp_path, "v1") == verdicts
    assert read_verdicts(tmp_path, "v2") == Verdicts("v2")
    calls: list[Solution] = []

    def scan(given: Solution) -> Verdict:
        calls.append(given)
        return Verdict("clean")

    other = lesson("Other.\n")
    scan_missing([solution, other], read_verdicts(tmp_path, "v1"), scan)
    assert calls == [other]
    (tmp_path / ".cache" / "verdicts.json").write_bytes(b"{")
    assert read_verdicts(tmp_path, "v1") == Verdicts("v1")


def test_a_person_clears_a_suspect_lesson_with_name_and_reason_until_it_is_edited(tmp_path: Path) -> None:
    """What the lesson says of itself does not clear it: the decision names its text by hash."""
    solution = lesson()
    place = tmp_path / solution.path
    place.parent.mkdir(parents=True)
    place.write_text(solution.text)
    with pytest.raises(UsageError, match="needs a name and a reason"):
        plan_release(solution, "Mika", " ", WHEN)
    run = Run("r1", "release")
    start_run(tmp_path, run, "now")
    assert not apply(plan_release(solution, "Mika", "read it; it quotes an attack", WHEN), tmp_path, run).refused
    released = parse_solution(solution.path, place.read_text())
    assert isinstance(released, Solution)
    assert released.trust == "reviewed"
    assert released.extra["released"]["by"] == "Mika"
    verdicts = scan_missing([released], read_verdicts(tmp_path, "v1"), lambda _: SUSPECT)
    assert servable(released, verdicts)
    edited = replace(released, body="Something else.\n", text=released.text + "x")
    assert not servable(edited, scan_missing([edited], verdicts, lambda _: SUSPECT))
    forged = replace(lesson("Forged.\n"), trust="reviewed")
    assert not servable(forged, scan_missing([forged], verdicts, lambda _: SUSPECT))


def test_a_store_that_calls_itself_clean_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository may bring a shared store with its own verdicts: only those that this machine wrote count."""
    shared, mine, theirs = tmp_path / "repo" / ".hotwash", tmp_path / "mine", tmp_path / "theirs"
    verdicts = scan_missing([lesson()], Verdicts("v1"), lambda _: Verdict("clean"))
    monkeypatch.setenv("HOTWASH_HOME", str(theirs))
    write_verdicts(shared, verdicts)
    assert read_verdicts(shared, "v1") == verdicts
    monkeypatch.setenv("HOTWASH_HOME", str(mine))
    assert read_verdicts(shared, "v1") == Verdicts("v1"), "this machine has written nothing yet"
    write_verdicts(tmp_path / "other", verdicts)
    assert read_verdicts(shared, "v1") == Verdicts("v1"), "sealed by another machine"
    write_verdicts(shared, verdicts)
    raw = (shared / ".cache" / "verdicts.json").read_bytes()
    (shared / ".cache" / "verdicts.json").write_bytes(raw.replace(b"clean", b"poison"))
    assert read_verdicts(shared, "v1") == Verdicts("v1"), "changed since"


def test_without_the_key_everything_is_scanned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache may be deleted at any time."""
    monkeypatch.setenv("HOTWASH_HOME", str(tmp_path))
    verdicts = scan_missing([lesson()], Verdicts("v1"), lambda _: Verdict("clean"))
    write_verdicts(tmp_path, verdicts)
    (tmp_path / ".cache" / "verdicts.key").unlink()
    assert read_verdicts(tmp_path, "v1") == Verdicts("v1")
    write_verdicts(tmp_path, verdicts)
    assert read_verdicts(tmp_path, "v1") == verdicts


def test_what_raised_verdicts_rested_on_is_kept_and_a_file_without_it_is_read(tmp_path: Path) -> None:
    """Files of older versions know no groups: nothing of them is lost, and what was raised is judged again."""
    solution = lesson()
    key = text_hash(solution.text)
    alone = scan_missing([solution], Verdicts("v1"), lambda _: Verdict("clean"))
    raised = with_raised(alone, [solution], {solution.path: SUSPECT}, {solution.path: "ab"})
    write_verdicts(tmp_path, raised)
    assert read_verdicts(tmp_path, "v1") == raised
    both = [solution, lesson("Other.\n")]
    assert unchecked(both, scan_missing(both, raised, lambda _: Verdict("clean"))) == {one.path for one in both}
    assert with_raised(raised, [solution], {solution.path: SUSPECT}).groups == {}
    old = b'{"rule_set":"v1","verdicts":{"%s":["clean",0.0,[]]},"raised":{"%s":["suspect",0.6,[]]}}'
    content = old % (key.encode(), key.encode())
    seal = verdicts._seal(content, verdicts._own_key(make=True))
    (tmp_path / verdicts.VERDICTS).write_bytes(verdicts._SEAL + seal + b'",' + content[1:])
    read = read_verdicts(tmp_path, "v1")
    assert (read.raised[key].answer, read.groups) == ("suspect", {})
