"""What a person sees of a draft: all of it, and nothing in it that markdown would hide."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from curate.drafts import Improvement, sha256
from flows.forms import Findings, draft_rows, escape, evidence_list, evidence_table, fenced, render_review
from index.records import Finding, Verdict
from index.settings import ReviewSettings
from tests.served import BODY, DESCRIPTION, make_draft

CLEAN = Findings(Verdict("clean"))
FOLDERS = ReviewSettings(("~/.claude/skills", "~/.codex/skills"))


def test_the_form_shows_draft_evidence_and_cost() -> None:
    """Name, how often seen, each session with lines and what it adds, the cost for each agent, the whole body."""
    text = render_review(make_draft("services"), CLEAN, FOLDERS)
    for part in (
        "## services",
        "**3 sessions** on **3 days** in **2 projects** show this: the same error text and the same fix.",
        "| claude-code:s2 | 2026-11-22 | example.org/acme/billing | 2-11 | Run `make test-int`. |",
        "#### Integration tests need services",
        "##### Steps",
        "1. Run `make test-int`.",
        f"- claude-code: {len(DESCRIPTION) + 10} characters, about 22 tokens in every conversation",
        f"- codex: {len(DESCRIPTION) + 10} characters",
    ):
        assert part in text, part
    assert "Note:" not in text


def test_the_narrow_form_lists_the_evidence() -> None:
    """The Prefect form is too narrow for a table; the list says the same."""
    text = render_review(make_draft("services", tainted=True), CLEAN, FOLDERS, narrow=True)
    assert "| session |" not in text
    assert "- **2026-11-23** in example.org/acme/shop (`claude-code:s3`, lines 3-12, **tainted**) adds: Run" in text


def test_what_is_wrong_stands_above_the_draft() -> None:
    """Taint, a scan's verdict, secrets, a hand edit, a fault of the format, and what could not be done."""
    draft = make_draft("services", tainted=True)
    draft = replace(draft, text=draft.text.replace('name: "services"', 'name: "else"'), news=("codex:new",))
    finding = Finding("rule-7", "override", "high", (0, 3), "why")
    text = render_review(draft, Findings(Verdict("suspect", 0.6, (finding,)), 1), FOLDERS, "It is there already.")
    above = text[: text.index("### Evidence")]
    for part in (
        "web pages",
        "suspect (rule-7)",
        "a secret",
        "edited",
        "not its folder",
        "It is there already.",
        "codex:new",
    ):
        assert part in above, part


def test_an_improvement_is_shown_as_a_diff() -> None:
    """The lines that are added, against the file as it is."""
    text = "---\nname: x\ndescription: Use when so\n---\n\nOld.\n"
    new = text + "- New.\n"
    draft = replace(
        make_draft("x"), text=new, written_sha256=sha256(new), improves=Improvement("/s/x/SKILL.md", "0", text)
    )
    shown = render_review(draft, CLEAN, FOLDERS)
    assert "An improvement of a skill you have" in shown
    assert "### The change to /s/x/SKILL.md" in shown
    assert "\n+- New.\n" in shown
    assert "Note:" not in shown


def test_the_details_are_shown_for_they_are_published_too() -> None:
    """A long draft's second file stands below the first; the form ends with what each choice does."""
    text = render_review(replace(make_draft("x"), details="# More\n\n- A detail.\n"), CLEAN, FOLDERS, narrow=True)
    assert "### references/lessons.md\n\n#### More\n\n- A detail." in text
    assert text.rstrip().endswith("on a wide page.")


def test_nothing_hides_in_the_shown_text() -> None:
    """HTML, comments, link targets, images and characters that do not show are seen as they are."""
    body = BODY + "\n- a <!-- hidden --> b <img src=x> [text](https://example.org) ![i](x) zero\u200bwidth `<kept>`\n"
    text = render_review(make_draft("services", body=body), CLEAN, FOLDERS)
    shown = "a &lt;!-- hidden --> b &lt;img src=x> [text] (https://example.org) ! [i] (x) zero[U+200B]width `<kept>`"
    assert shown in text


@given(st.text(max_size=200))
def test_no_text_leaves_its_cell_or_its_fence(text: str) -> None:
    """A row stays a row of five cells, a fenced block ends where we end it, and no tag survives."""
    draft = make_draft("services")
    rows = tuple(replace(row, project=text, adds=(text,)) for row in draft.evidence)
    table = evidence_table(rows).split("\n")
    assert len(table) == 2 + len(rows)
    assert all(line.replace("\\|", "").count("|") == 6 for line in table)
    assert len(evidence_list(rows).split("\n")) == len(rows)
    block = fenced(text)
    fence = block.split("\n", 1)[0]
    assert fence not in block[len(fence) : -len(fence)]
    outside = [piece for place, piece in enumerate(escape(text).split("`")) if place % 2 == 0]
    assert "`" in text or "<" not in "".join(outside)


def test_rows_for_the_table_of_drafts() -> None:
    """What the artifact of a run lists."""
    assert draft_rows([make_draft("services", tainted=True)]) == [
        {
            "draft": "services",
            "kind": "new skill",
            "sessions": "3",
            "days": "3",
            "projects": "2",
            "tainted": "yes",
            "since": "2026-11-29",
        }
    ]
