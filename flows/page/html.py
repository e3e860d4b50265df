"""The report as one HTML page: facts in, text out. No script, no network; everything that was read is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from flows.page.audit import render_audit_cards
from flows.page.charts import render_bars, render_columns, render_legend, safe
from flows.page.counts import Moved
from flows.page.facts import LessonRow, PageFacts
from flows.page.parts import code_cell, render_card, render_pair, render_table, text_cell
from flows.page.style import STYLE
from index.plural import plural
from index.records import CATEGORIES, TRUSTS

CATEGORY_COLOURS = ("teal", "rust", "blue")
TRUST_COLOURS = ("green", "blue", "amber")
STATES = ("read", "skipped", "failed", "not read yet")
STATE_COLOURS = ("green", "grey", "red", "amber")
MOST_ROWS = 10

# The page may load nothing and run nothing, whatever a lesson says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render_page(facts: PageFacts, home: Path) -> str:
    """The whole page."""
    sections = [
        ("lessons", "Lessons", _lessons(facts)),
        ("coverage", "Sessions", _coverage(facts)),
        ("use", "Use", _use(facts)),
        ("missing", "Not found", _missing(facts)),
        ("upkeep", "Upkeep", _upkeep(facts)),
        ("poison", "Poison", _poison(facts)),
        ("drafts", "Drafts", _drafts(facts)),
        ("spend", "Spending", _spend(facts)),
        ("runs", "Runs", _runs(facts)),
        ("audit", "Audit", render_audit_cards(facts.audit, home) if facts.audit is not None else ""),
    ]
    present = [(key, title, body) for key, title, body in sections if body]
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in present)
    body = "".join(f'<div id="{key}">{text}</div>' for key, _, text in present)
    made = f"{facts.made:%Y-%m-%d %H:%M} UTC"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Hotwash: what the sessions taught</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1>What the sessions taught</h1><div class="soft">{made} · <code>{safe(facts.store)}</code></div>'
        f"<nav>{links}</nav></header>\n<main>{_tiles(facts)}{body}</main>\n"
        "<footer>Made by <code>hotwash report</code> from the files of the store and the transcripts on this machine. "
        "<code>hotwash why ID</code> shows what a lesson rests on.</footer>\n</body>\n</html>\n"
    )


def _tiles(facts: PageFacts) -> str:
    read = sum(one.read for one in facts.coverage)
    found = sum(one.read + one.skipped + one.failed + one.new for one in facts.coverage)
    tiles = [
        (f"{facts.lessons:,}", "live lessons", False),
        (f"{read:,} of {found:,}", "sessions read", False),
        (f"{facts.given:,}", "given back this week", False),
        (f"{len(facts.drafts):,}", "drafts wait for you", bool(facts.drafts)),
        (f"{len(facts.suspect):,}", "suspect lessons", bool(facts.suspect)),
        (f"{len(facts.problems):,}", "files do not parse", bool(facts.problems)),
    ]
    if facts.unscanned:
        tiles.append((f"{facts.unscanned:,}", "not scanned yet", True))
    if facts.audit is not None:
        tiles.append((f"{len(facts.audit.findings):,}", "audit findings", bool(facts.audit.findings)))
    shown = (f'<div class="tile{" warn" * warn}"><b>{n}</b><span>{what}</span></div>' for n, what, warn in tiles)
    return f'<div class="tiles">{"".join(shown)}</div>'


def _lesson(row: LessonRow) -> str:
    return f'{text_cell(row.title)}<br><code class="soft">{safe(row.id)}</code>'


def _lessons(facts: PageFacts) -> str:
    weeks = [(label[5:], values) for label, values in facts.weeks]
    chart = render_columns(weeks, CATEGORIES, CATEGORY_COLOURS, "Lessons learned each week, by category")
    learned = render_card(
        "Lessons over time",
        "By the week of the session that taught them, archived ones included.",
        render_legend(CATEGORIES, CATEGORY_COLOURS) + chart,
    )
    bars = render_bars(facts.grid, TRUSTS, TRUST_COLOURS, "Live lessons by category and trust")
    trusted = render_card(
        "Categories and trust",
        "Reviewed: a person approved it. Observed: from the agent's own work. External: from the web or other tools, "
        "served to nobody until reviewed.",
        render_legend(TRUSTS, TRUST_COLOURS) + bars,
    )
    faults = ""
    if facts.problems:
        rows = [(code_cell(problem),) for problem in facts.problems[:MOST_ROWS]]
        faults = render_card(
            "Files that do not parse", "They stay where they are.", render_table(("file",), rows, ""), True
        )
    return render_pair(learned, trusted) + faults


def _coverage(facts: PageFacts) -> str:
    rows = [(one.agent, (one.read, one.skipped, one.failed, one.new)) for one in facts.coverage]
    chart = (
        render_legend(STATES, STATE_COLOURS) + render_bars(rows, STATES, STATE_COLOURS, "Sessions of each agent")
        if rows
        else '<p class="none">No session of any agent was found on this machine.</p>'
    )
    why = render_table(
        ("*why not read", "#sessions"),
        ((text_cell(reason), f"{count:,}") for reason, count in facts.reasons[:MOST_ROWS]),
        "Every session that was looked at was read.",
    )
    return render_pair(
        render_card("Coverage of sessions", "What became of each agent's sessions.", chart),
        render_card("Skipped and failed", "Failed ones are tried again; skipped ones teach nothing by design.", why),
    )


def _use(facts: PageFacts) -> str:
    useful = render_table(
        ("*lesson", "#given", "#helpful", "#harmful"),
        ((_lesson(row), f"{row.given:,}", f"{row.helpful:,}", f"{row.harmful:,}") for row in facts.useful),
        "No lesson has been given back by a trigger or a prompt in the last week.",
    )
    unused = render_table(
        ("*lesson", "category", "@since"),
        ((_lesson(row), safe(row.category), safe(row.created)) for row in facts.unused),
        "Every lesson has been of use.",
    )
    more = facts.unused_total - len(facts.unused)
    if more > 0:
        unused += f'<p class="soft">and {more:,} more</p>'
    repeats = render_table(
        ("*lesson", "#without it", "#given", "#came no more", "#came again"),
        (
            (_lesson(row), f"{row.before:,}", f"{row.gave:,}", f"{row.cured:,}", f"{row.after:,}")
            for row in facts.repeats
        ),
        "No session that was read met the error of a lesson, or was given one.",
    )
    return render_pair(
        render_card("Most useful", "Given: to so many sessions of the last week, as the hooks noted.", useful),
        render_card("Never used", "Neither given in the last week nor ever marked helpful or harmful.", unused),
    ) + render_card(
        "Repeats before and after",
        "Sessions that met a lesson's error without it, those that were given it, and whether the error came again.",
        repeats,
        True,
    )


def _missing(facts: PageFacts) -> str:
    rows = ((safe(kind), text_cell(asked), f"{count:,}", safe(day)) for kind, asked, count, day in facts.empty)
    table = render_table(("asked by", "*what", "#times", "@last"), rows, "Nothing was asked in vain.")
    return render_card("Asked and not found", "Where lessons are missing; names and numbers are cut.", table, True)


def _upkeep(facts: PageFacts) -> str:
    ages = render_bars(
        [(label, (count,)) for label, count in facts.ages], ("lessons",), ("blue",), "Live lessons by age of evidence"
    )
    decayed = render_table(
        ("@day", "*archived", "*why"), _moved_rows(facts.decayed), "Nothing has been archived for its age."
    )
    merged = render_table(("@day", "*merged away", "*why"), _moved_rows(facts.merged), "No duplicates were merged yet.")
    about = f"{plural(len(facts.merged), 'lesson')} merged into others. Sources lie in archive/."
    return render_pair(
        render_card(
            "Decay", f"Age of the newest date. {plural(facts.archived, 'lesson')} in the archive.", ages + decayed
        ),
        render_card("Duplicates merged", about, merged),
    )


def _moved_rows(moves: Sequence[Moved]) -> Iterator[tuple[str, str, str]]:
    for one in moves[:MOST_ROWS]:
        yield safe(one.day), code_cell(Path(one.path).name), text_cell(one.why)


def _poison(facts: PageFacts) -> str:
    quarantined = render_table(("@day", "*file", "*why"), _moved_rows(facts.poison), "Nothing has been quarantined.")
    suspect = render_table(
        ("*lesson", "*verdict"),
        ((f"{text_cell(title)}<br>{code_cell(key)}", text_cell(why)) for key, title, why in facts.suspect[:MOST_ROWS]),
        "No live lesson is suspect." if not facts.unscanned else "None of those that were scanned.",
    )
    return render_pair(
        render_card("Poison found", "Moved to quarantine/ with its reason.", quarantined),
        render_card("Suspect", "Served to nobody until cleared: <code>hotwash release ID</code>.", suspect),
    )


def _drafts(facts: PageFacts) -> str:
    rows = (
        (
            f"{code_cell(one['name'])}<br>{text_cell(one['why'])}",
            f"{one['sessions']:,}",
            text_cell(", ".join(one["projects"]) or "-"),
            safe(f"{one['days'][0]} to {one['days'][-1]}" if one["days"] else one["created"]),
            ("external sources" if one["tainted"] else "") + (" improves a skill" if one["improves"] else ""),
        )
        for one in facts.drafts
    )
    table = render_table(("*draft", "#sessions", "*projects", "@seen", "note"), rows, "No draft waits.")
    return render_card("Drafts that wait for a person", "<code>hotwash review</code> decides them.", table, True)


def _spend(facts: PageFacts) -> str:
    total, tokens = sum(usd for _, usd, _ in facts.spend), sum(count for _, _, count in facts.spend)
    if not tokens and not total:
        return render_card("Spending", "No model was called in the last 30 days: nothing was spent.", "", True)
    priced = total > 0
    rows = [(day[5:], (usd if priced else float(count),)) for day, usd, count in facts.spend]
    unit = "US dollars" if priced else "tokens"
    chart = render_columns(rows, (unit,), ("teal",), f"{unit} of each day")
    cap = f" The daily cap is {facts.cap:g} US dollars." if facts.cap else ""
    about = f"{total:.4f} US dollars and {tokens:,} tokens in the last 30 days.{cap} The chart shows {unit}."
    return render_card("Spending", about, chart, True)


def _runs(facts: PageFacts) -> str:
    rows = (
        (
            code_cell(run.get("run", "")),
            text_cell(", ".join(f"{name} {count}" for name, count in run["stages"].items()) or "nothing changed"),
            safe(
                "undone by " + run["undone_by"] if run.get("undone_by") else "" if run.get("ended") else "did not end"
            ),
        )
        for run in facts.runs
    )
    table = render_table(("run", "*files changed by each stage", ""), rows, "No run has changed anything yet.")
    return render_card("Last runs", "<code>hotwash undo RUN</code> reverses one.", table, True)
