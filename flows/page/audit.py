"""The audit's part of the report page."""

from __future__ import annotations

from pathlib import Path

from curate.audit import Audit
from curate.audit_findings import ADVICE
from flows.audit import HEADINGS, short
from flows.page.charts import safe
from flows.page.parts import code_cell, render_card, render_table, text_cell
from index.plural import plural

MOST_FINDINGS = 60


def render_audit_cards(audit: Audit, home: Path) -> str:
    """What each session carries, the skills in use, and the findings with what to do."""
    costs = render_table(
        ("agent", "#skills", "#characters", "#tokens", "#memory tokens", "#project skills", "#their tokens"),
        (
            (
                safe(cost.agent),
                *(
                    f"{number:,}"
                    for number in (
                        cost.skills,
                        cost.characters,
                        cost.tokens,
                        cost.memory_tokens,
                        cost.project_skills,
                        cost.project_tokens,
                    )
                ),
            )
            for cost in audit.costs
        ),
        "No skills and no memory files were found.",
    )
    used = [row for row in audit.skills if row.uses]
    used_table = render_table(
        ("skill", "agent", "#uses", "how", "@last", "#tokens"),
        (
            (
                text_cell(row.name),
                safe(row.agent),
                f"{row.uses:,}",
                safe(", ".join(f"{count} {way}" for way, count in row.ways.items() if count)),
                safe(row.last or ""),
                f"{row.tokens:,}",
            )
            for row in sorted(used, key=lambda row: (-row.uses, row.agent, row.name))[:MOST_FINDINGS]
        ),
        "No transcript shows a skill in use.",
    )
    findings = render_table(
        ("finding", "*what", "*where", "*what to do"),
        (
            (
                HEADINGS[one.kind].lower(),
                f"<b>{text_cell(one.name)}</b> {text_cell(one.text.replace(f'{home}/', '~/'))}",
                code_cell(short(one.path, home) if one.path else "-"),
                safe(ADVICE[one.kind]),
            )
            for one in audit.findings[:MOST_FINDINGS]
        ),
        "Nothing to do.",
    )
    more = len(audit.findings) - MOST_FINDINGS
    findings += f'<p class="soft">and {more:,} more: <code>hotwash audit</code></p>' if more > 0 else ""
    return (
        render_card("Audit: what each session carries", "Tokens at four characters each.", costs, True)
        + render_card("Skills in use", f"{len(used):,} of {plural(len(audit.skills), 'skill')}.", used_table, True)
        + render_card("Audit findings", f"{plural(len(audit.findings), 'finding')}.", findings, True)
    )
