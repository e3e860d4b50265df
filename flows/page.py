"""The report as one HTML page: facts in, text out. No script, no network; everything that was read is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from curate.audit import Audit
from curate.audit_findings import ADVICE
from flows.audit import HEADINGS, short
from flows.page_charts import render_bars, render_columns, render_legend, safe
from flows.page_facts import LessonRow, Moved, PageFacts
from flows.page_style import STYLE
from flows.render import plural
from index.records import CATEGORIES, TRUSTS

CATEGORY_COLOURS = ("teal", "rust", "blue")
TRUST_COLOURS = ("green", "blue", "amber")
STATES = ("read", "skipped", "failed", "not read yet")
STATE_COLOURS = ("green", "grey", "red", "amber")
MOST_ROWS = 10
MOST_FINDINGS = 60

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
        ("audit", "Audit", _audit(facts.audit, home) if facts.audit is not None else ""),
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


def _section(title: str, about: str, body: str, single: bool = False) -> str:
    told = f'<p class="about">{about}</p>' if about else ""
    return f"<section{' class=single' if single else ''}><h2>{title}</h2>{told}{body}</section>"


def _pair(*sections: str) -> str:
    return f'<div class="pair">{"".join(sections)}</div>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], none: str) -> str:
    """A table; a head that starts with # is a column of numbers, with @ one that does not break, with * a wide one."""
    rows = list(rows)
    if not rows:
        return f'<p class="none">{none}</p>'
    styles = [{"#": "n", "@": "day", "*": "long"}.get(head[:1], "") for head in heads]
    top = "".join(f'<th class="{style}">{head.lstrip("#@*")}</th>' for head, style in zip(heads, styles, strict=True))
    body = "".join(
        "<tr>" + "".join(f'<td class="{s}">{cell}</td>' for cell, s in zip(row, styles, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(text: object) -> str:
    return f"<bdi>{safe(text)}</bdi>"


def _code(text: object) -> str:
    return f"<code><bdi>{safe(text)}</bdi></code>"


def _lesson(row: LessonRow) -> str:
    return f'{_text(row.title)}<br><code class="soft">{safe(row.id)}</code>'


def _lessons(facts: PageFacts) -> str:
    weeks = [(label[5:], values) for label, values in facts.weeks]
    chart = render_columns(weeks, CATEGORIES, CATEGORY_COLOURS, "Lessons learned each week, by category")
    learned = _section(
        "Lessons over time",
        "By the week of the session that taught them, archived ones included.",
        render_legend(CATEGORIES, CATEGORY_COLOURS) + chart,
    )
    bars = render_bars(facts.grid, TRUSTS, TRUST_COLOURS, "Live lessons by category and trust")
    trusted = _section(
        "Categories and trust",
        "Reviewed: a person approved it. Observed: from the agent's own work. External: from the web or other tools, "
        "served to nobody until reviewed.",
        render_legend(TRUSTS, TRUST_COLOURS) + bars,
    )
    faults = ""
    if facts.problems:
        rows = [(_code(problem),) for problem in facts.problems[:MOST_ROWS]]
        faults = _section("Files that do not parse", "They stay where they are.", _table(("file",), rows, ""), True)
    return _pair(learned, trusted) + faults


def _coverage(facts: PageFacts) -> str:
    rows = [(one.agent, (one.read, one.skipped, one.failed, one.new)) for one in facts.coverage]
    chart = (
        render_legend(STATES, STATE_COLOURS) + render_bars(rows, STATES, STATE_COLOURS, "Sessions of each agent")
        if rows
        else '<p class="none">No session of any agent was found on this machine.</p>'
    )
    why = _table(
        ("*why not read", "#sessions"),
        ((_text(reason), f"{count:,}") for reason, count in facts.reasons[:MOST_ROWS]),
        "Every session that was looked at was read.",
    )
    return _pair(
        _section("Coverage of sessions", "What became of each agent's sessions.", chart),
        _section("Skipped and failed", "Failed ones are tried again; skipped ones teach nothing by design.", why),
    )


def _use(facts: PageFacts) -> str:
    useful = _table(
        ("*lesson", "#given", "#helpful", "#harmful"),
        ((_lesson(row), f"{row.given:,}", f"{row.helpful:,}", f"{row.harmful:,}") for row in facts.useful),
        "No lesson has been given back by a trigger or a prompt in the last week.",
    )
    unused = _table(
        ("*lesson", "category", "@since"),
        ((_lesson(row), safe(row.category), safe(row.created)) for row in facts.unused),
        "Every lesson has been of use.",
    )
    more = facts.unused_total - len(facts.unused)
    if more > 0:
        unused += f'<p class="soft">and {more:,} more</p>'
    repeats = _table(
        ("*lesson", "#before", "#since"),
        ((_lesson(row), f"{row.before:,}", f"{row.after:,}") for row in facts.repeats),
        "No kept episode holds the error of a lesson.",
    )
    return _pair(
        _section("Most useful", "Given: sessions of the last week that were given it, as the hooks noted.", useful),
        _section("Never used", "Neither given in the last week nor ever marked helpful or harmful.", unused),
    ) + _section(
        "Repeats before and after",
        "Sessions whose kept episode shows the error that the lesson is about: until it was learned, and since.",
        repeats,
        True,
    )


def _missing(facts: PageFacts) -> str:
    rows = ((safe(kind), _text(asked), f"{count:,}", safe(day)) for kind, asked, count, day in facts.empty)
    table = _table(("asked by", "*what", "#times", "@last"), rows, "Nothing was asked in vain.")
    return _section("Asked and not found", "Where lessons are missing; names and numbers are left out.", table, True)


def _upkeep(facts: PageFacts) -> str:
    ages = render_bars(
        [(label, (count,)) for label, count in facts.ages], ("lessons",), ("blue",), "Live lessons by age of evidence"
    )
    decayed = _table(
        ("@day", "*archived", "*why"), _moved_rows(facts.decayed), "Nothing has been archived for its age."
    )
    merged = _table(("@day", "*merged away", "*why"), _moved_rows(facts.merged), "No duplicates were merged yet.")
    about = f"{plural(len(facts.merged), 'lesson')} merged into others. Sources lie in archive/."
    return _pair(
        _section(
            "Decay", f"Age of the newest date. {plural(facts.archived, 'lesson')} in the archive.", ages + decayed
        ),
        _section("Duplicates merged", about, merged),
    )


def _moved_rows(moves: Sequence[Moved]) -> Iterator[tuple[str, str, str]]:
    for one in moves[:MOST_ROWS]:
        yield safe(one.day), _code(Path(one.path).name), _text(one.why)


def _poison(facts: PageFacts) -> str:
    quarantined = _table(("@day", "*file", "*why"), _moved_rows(facts.poison), "Nothing has been quarantined.")
    suspect = _table(
        ("*lesson", "*verdict"),
        ((f"{_text(title)}<br>{_code(key)}", _text(why)) for key, title, why in facts.suspect[:MOST_ROWS]),
        "No live lesson is suspect." if not facts.unscanned else "None of those that were scanned.",
    )
    return _pair(
        _section("Poison found", "Moved to quarantine/ with its reason.", quarantined),
        _section("Suspect", "Served to nobody until a person clears them: <code>hotwash release ID</code>.", suspect),
    )


def _drafts(facts: PageFacts) -> str:
    rows = (
        (
            f"{_code(one['name'])}<br>{_text(one['why'])}",
            f"{one['sessions']:,}",
            _text(", ".join(one["projects"]) or "-"),
            safe(f"{one['days'][0]} to {one['days'][-1]}" if one["days"] else one["created"]),
            ("external sources" if one["tainted"] else "") + (" improves a skill" if one["improves"] else ""),
        )
        for one in facts.drafts
    )
    table = _table(("*draft", "#sessions", "*projects", "@seen", "note"), rows, "No draft waits.")
    return _section("Drafts that wait for a person", "<code>hotwash review</code> decides them.", table, True)


def _spend(facts: PageFacts) -> str:
    total, tokens = sum(usd for _, usd, _ in facts.spend), sum(count for _, _, count in facts.spend)
    if not tokens and not total:
        return _section("Spending", "No model was called in the last 30 days: nothing was spent.", "", True)
    priced = total > 0
    rows = [(day[5:], (usd if priced else float(count),)) for day, usd, count in facts.spend]
    unit = "US dollars" if priced else "tokens"
    chart = render_columns(rows, (unit,), ("teal",), f"{unit} of each day")
    cap = f" The daily cap is {facts.cap:g} US dollars." if facts.cap else ""
    about = f"{total:.4f} US dollars and {tokens:,} tokens in the last 30 days.{cap} The chart shows {unit}."
    return _section("Spending", about, chart, True)


def _runs(facts: PageFacts) -> str:
    rows = (
        (
            _code(run.get("run", "")),
            _text(", ".join(f"{name} {count}" for name, count in run["stages"].items()) or "nothing changed"),
            safe(
                "undone by " + run["undone_by"] if run.get("undone_by") else "" if run.get("ended") else "did not end"
            ),
        )
        for run in facts.runs
    )
    table = _table(("run", "*files changed by each stage", ""), rows, "No run has changed anything yet.")
    return _section("Last runs", "<code>hotwash undo RUN</code> reverses one.", table, True)


def _audit(audit: Audit, home: Path) -> str:
    costs = _table(
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
    used_table = _table(
        ("skill", "agent", "#uses", "how", "@last", "#tokens"),
        (
            (
                _text(row.name),
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
    findings = _table(
        ("finding", "*what", "*where", "*what to do"),
        (
            (
                HEADINGS[one.kind].lower(),
                f"<b>{_text(one.name)}</b> {_text(one.text.replace(f'{home}/', '~/'))}",
                _code(short(one.path, home) if one.path else "-"),
                safe(ADVICE[one.kind]),
            )
            for one in audit.findings[:MOST_FINDINGS]
        ),
        "Nothing to do.",
    )
    more = len(audit.findings) - MOST_FINDINGS
    findings += f'<p class="soft">and {more:,} more: <code>hotwash audit</code></p>' if more > 0 else ""
    return (
        _section("Audit: what each session carries", "Tokens at four characters each.", costs, True)
        + _section("Skills in use", f"{len(used):,} of {plural(len(audit.skills), 'skill')}.", used_table, True)
        + _section("Audit findings", f"{plural(len(audit.findings), 'finding')}.", findings, True)
    )
