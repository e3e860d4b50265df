"""What a person sees of a draft skill, in the terminal and on the form of the Prefect run: one markdown text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from curate.branch import PREFIX
from curate.drafts import DETAILS_FILE, Draft, Evidence
from curate.improve import render_diff
from curate.rules import rule_line
from curate.skills import ListingCost, agent_of, check_skill, listing_cost
from index.plural import plural
from index.records import Problem, Verdict
from index.settings import ReviewSettings

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
CHOICES_TEXT = (
    "**publish** writes the skill; **reject** keeps it away until there is new evidence; **later** asks again in some "
    "days; **merge** adds it to a skill you have and shows you the change first."
)
WIDE_TEXT = "The tab Artifacts of this run has all of this on a wide page."
RULES_TEXT = "**rules** writes no skill, but the line shown above into the managed block of those files."
# Longest text of one cell; the evidence file has it whole.
CELL = 160


@dataclass(frozen=True, slots=True)
class Findings:
    """What the scans say about a draft before it is shown."""

    verdict: Verdict
    secrets: int = 0


def listing_costs(name: str, description: str, folders: Sequence[str]) -> tuple[ListingCost, ...]:
    """The listing's cost for each agent that the chosen folders belong to, each once."""
    agents = dict.fromkeys(agent_of(folder) for folder in folders)
    return tuple(listing_cost(agent, name, description) for agent in agents)


def render_review(
    draft: Draft,
    findings: Findings,
    settings: ReviewSettings,
    problem: str = "",
    narrow: bool = False,
    rules: Sequence[str] = (),
) -> str:
    """The whole form as markdown: what is wrong, what is proposed and why, the evidence, the cost, the draft itself.

    `narrow` is for the Prefect form, which is too narrow for a table: the evidence is a list there. `rules` are the
    diffs of the files that it may become a rule in.
    """
    skill = draft.skill()
    parts = [_intro(draft)]
    warnings = [*([problem] if problem else []), *_warnings(draft, findings)]
    if warnings:
        parts += [f"> **Note:** {escape(warning)}" for warning in warnings]
    if draft.news:
        parts.append(f"**New since it was rejected:** {escape(', '.join(draft.news))}.")
    parts.append(f"### Evidence\n\n{(evidence_list if narrow else evidence_table)(draft.evidence)}")
    if isinstance(skill, Problem):
        return "\n\n".join([*parts, f"### The file\n\n{fenced(draft.text)}"])
    if draft.improves is not None:
        diff = render_diff(draft.improves.before, draft.text, skill.name)
        parts.append(f"### The change to {escape(draft.improves.path)}\n\n{fenced(diff, 'diff')}")
    else:
        parts.append(f"### The draft\n\n**{escape(skill.name)}**: {escape(skill.description)}\n\n{_shown(skill.body)}")
    branch = settings.publish == "branch"
    folders = settings.branch_folders if branch else settings.skills_folders
    costs = listing_costs(skill.name, skill.description, folders)
    lines = [
        f"- {cost.agent}: {cost.characters} characters, about {cost.tokens} tokens in every conversation"
        for cost in costs
    ]
    if draft.details:
        parts.append(f"### {DETAILS_FILE}\n\n{_shown(draft.details)}")
    lines.append(f"- file: `{draft.folder}/SKILL.md` in the store; what stands there is what is published")
    if draft.improves is None:
        where = ", ".join(f"`{folder}/{skill.name}`" for folder in folders)
        lines.append(f"- published {f'on the git branch `{PREFIX}{skill.name}`, ' if branch else ''}in {where}")
    parts.append("### Cost and place\n\n" + "\n".join(lines))
    if rules:
        parts.append("### As a rule instead\n\nOne line in the files for agents of the projects concerned:")
        parts += [f"> {escape(rule_line(draft).removeprefix('- '))}", *(fenced(diff, "diff") for diff in rules)]
    text = " ".join([CHOICES_TEXT, *([RULES_TEXT] if rules else []), WIDE_TEXT])
    return "\n\n".join([*parts, f"### Your decision\n\n{text}"] if narrow else parts)


def _intro(draft: Draft) -> str:
    projects = len(draft.projects)
    seen = (
        f"**{plural(len(draft.sessions), 'session')}** on **{plural(len(draft.days), 'day')}** in "
        f"**{plural(projects, 'project')}** {'show' if len(draft.sessions) != 1 else 'shows'} this"
    )
    why = f": {escape(draft.why)}." if draft.why else "."
    what = "An improvement of a skill you have" if draft.improves else "A new skill"
    return f"## {escape(draft.name)}\n\n{what}. {seen}{why}"


def _warnings(draft: Draft, findings: Findings) -> list[str]:
    warnings = []
    if draft.tainted:
        warnings.append(
            "Part of the evidence comes from web pages, issues or tool servers (marked tainted below). "
            "To publish, say in the note why it may be trusted."
        )
    if findings.verdict.answer != "clean":
        rules = ", ".join(findings.verdict.rules)
        warnings.append(f"The poison scan calls this {findings.verdict.answer} ({rules}).")
    if findings.secrets:
        warnings.append("It holds what looks like a secret; it cannot be published before that is taken out.")
    if draft.edited:
        warnings.append("Someone edited the file since it was drafted; the edited text is shown and published.")
    if draft.improves is None:
        warnings += [str(found) for found in check_skill(draft.text, draft.name, f"{draft.folder}/SKILL.md")]
    return warnings


def evidence_table(rows: Sequence[Evidence]) -> str:
    """One row for each session: when, where, which lines, and what it adds."""
    head = ["| session | date | project | lines | adds |", "| --- | --- | --- | --- | --- |"]
    body = [
        "| " + " | ".join(
            _cell(text)
            for text in (
                row.session + (" (tainted)" if row.tainted else ""),
                row.date,
                row.project,
                f"{row.lines[0]}-{row.lines[1]}" if row.lines else "",
                "; ".join(row.adds) or "says the same",
            )
        ) + " |"
        for row in rows
    ]  # fmt: skip
    return "\n".join([*head, *body])


def evidence_list(rows: Sequence[Evidence]) -> str:
    """The same as a list."""
    lines = []
    for row in rows:
        where = f", lines {row.lines[0]}-{row.lines[1]}" if row.lines else ""
        project = f" in {_cell(row.project)}" if row.project else ""
        tainted = ", **tainted**" if row.tainted else ""
        adds = f"adds: {_cell('; '.join(row.adds))}" if row.adds else "says the same"
        lines.append(f"- **{_cell(row.date)}**{project} (`{_cell(row.session)}`{where}{tainted}) {adds}")
    return "\n".join(lines)


def _cell(text: str) -> str:
    line = " ".join(text.split())
    cut = line if len(line) <= CELL else line[: CELL - 1].rstrip() + "…"
    # A cut may leave a code span open, which would swallow the rest of the row.
    if cut.count("`") % 2:
        cut += "`"
    return escape(cut).replace("|", "\\|")


def escape(text: str) -> str:
    """Text for markdown in which no HTML, hidden comment, link target or image works: it is seen as it is written."""
    shown = "".join(char if char.isprintable() or char == "\n" else f"[U+{ord(char):04X}]" for char in text)
    pieces = re.split(r"(`[^`\n]{1,400}`)", shown)
    return "".join(
        piece
        if piece.startswith("`") and piece.endswith("`") and len(piece) > 2
        else piece.replace("&", "&amp;").replace("<", "&lt;").replace("](", "] (").replace("![", "! [")
        for piece in pieces
    )


def _shown(body: str) -> str:
    """A skill's body with its headings set below ours, and nothing in it that markdown would hide."""
    lines: list[str] = []
    fence = ""
    for line in body.strip("\n").splitlines():
        opened = _FENCE.match(line)
        if fence:
            fence = (
                ""
                if opened and line.strip() and set(line.strip()) == {fence[0]} and len(opened[1]) >= len(fence)
                else fence
            )
            lines.append(line)
        elif opened:
            fence = opened[1]
            lines.append(line)
        elif heading := _HEADING.match(line):
            lines.append("#" * min(6, len(heading[1]) + 3) + escape(line[heading.end() :]))
        else:
            lines.append(escape(line))
    return "\n".join([*lines, fence] if fence else lines)


def fenced(text: str, language: str = "") -> str:
    """A fenced block that nothing in the text can end, with characters that do not show made visible."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    shown = "".join(char if char.isprintable() or char in "\n\t" else f"[U+{ord(char):04X}]" for char in text)
    return f"{fence}{language}\n{shown}\n{fence}"


def draft_rows(drafts: Sequence[Draft]) -> list[dict[str, str]]:
    """The waiting drafts as rows of a table."""
    return [
        {
            "draft": draft.name,
            "kind": "improvement" if draft.improves else "new skill",
            "sessions": str(len(draft.sessions)),
            "days": str(len(draft.days)),
            "projects": str(len(draft.projects)),
            "tainted": "yes" if draft.tainted else "",
            "since": draft.created.isoformat(),
        }
        for draft in drafts
    ]
