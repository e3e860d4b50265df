"""A rule is one line in a managed block: nothing else of a person's file is ever written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from curate.rules import BEGIN, END, MAX_LINE, add_rule, render_rule_diff, rule_files, rule_line
from tests.served import BODY, make_draft

LINE = "- Integration tests need services. Run `make test-int`. (01KB7ZC4S0T2J5Q8XW3N6M9RV1)"


def test_a_draft_as_one_line() -> None:
    """What it is about, what to do, and the id that `hotwash why` takes; bounded; nothing hidden."""
    assert rule_line(make_draft()) == LINE
    long = BODY.replace("1. Run `make test-int`.", "\n".join(f"{n}. Do the thing number {n} now." for n in range(40)))
    assert len(rule_line(make_draft(body=long))) <= MAX_LINE
    assert rule_line(make_draft(body=BODY.replace("# Integration", "# <!-- Integration"))) == ""


def test_files_that_exist_and_do_not_say_it(tmp_path: Path) -> None:
    """AGENTS.md and CLAUDE.md once each; not one that takes in the other, says it, or leads out of the folder."""
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "a" / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "b" / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "b" / "CLAUDE.md").write_text("@AGENTS.md\n")
    (tmp_path / "c" / "CLAUDE.md").write_text("- Integration tests need services: run `make test-int`.\n")
    (tmp_path / "d" / "AGENTS.md").symlink_to(tmp_path / "a" / "AGENTS.md")
    (tmp_path / "d" / "CLAUDE.md").write_bytes(b"\xff\xfe")
    folders = {name: [tmp_path / name] for name in ("a", "b", "c", "d", "e")}
    found = rule_files(folders, LINE)
    assert [(file.project, file.path) for file in found] == [
        ("a", tmp_path / "a" / "AGENTS.md"),
        ("b", tmp_path / "b" / "AGENTS.md"),
    ]
    assert f"+{LINE}" in render_rule_diff(found[0], LINE).splitlines()
    (tmp_path / "a" / "AGENTS.md").write_bytes(add_rule(found[0].before, LINE))
    assert [file.project for file in rule_files(folders, LINE)] == ["b"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
LINES = st.text("abc `.", min_size=1, max_size=20).map(lambda text: f"- {text} (01KB7ZC4S0T2J5Q8XW3N6M9RV1)")


@given(TEXTS, st.lists(LINES, min_size=1, max_size=4), TEXTS)
def test_every_byte_outside_the_block_stays_and_no_line_leaves(before: str, lines: list[str], after: str) -> None:
    """Whatever stands in the file, also between the markers, and wherever the block has been moved to."""
    raw = before.encode()
    first = add_rule(raw, lines[0])
    assert first.startswith(raw)
    assert first.count(BEGIN.encode()) == raw.count(BEGIN.encode()) + 1
    held = first + after.encode()
    for line in lines[1:]:
        longer = add_rule(held, line)
        added = line.encode() + (b"\r\n" if b"\r\n" in held else b"\n")
        end = longer.index(END.encode(), longer.index(BEGIN.encode()))
        assert longer[: end - len(added)] + longer[end:] == held
        assert longer[end - len(added) : end] == added
        held = longer
