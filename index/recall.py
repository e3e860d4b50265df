"""Find solutions by what a person or an agent asks, with the reason of each; and the memory pack of a project."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import quote

from index import matching
from index.decode import load_json
from index.error_matching import match_error
from index.matching import Hit
from index.plural import plural
from index.words import bound_tokens, words_of

PACK_TOKENS = 2000
PACK_CONFIDENCE = 0.7
LONGEST_LOG = 256 << 10
MENTION_FLOOR = 4.0  # from here on a text's words bear on a path: one rare word in common, or its folder by name
MOST_COMPARED = 400  # solutions whose meaning is compared with a query's: some 0.1 s
ALIKE_ALONE = 0.4  # from this cosine on a solution is found though it shares no word with the query
ALIKE_SURE = 0.6  # and from this on it passes any floor
KIND_ORDER = ("error", "command", "path", "mention", "text")


# The cosine of a query's meaning with that of each text; the extra `embed` brings one (detectors.embedding).
Likeness = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Found:
    """A solution that fits: where it lies, what is given of it, how well it fits (higher is better), and why."""

    id: str
    path: str
    title: str
    brief: str
    score: float
    reasons: tuple[str, ...]
    kinds: tuple[str, ...]
    category: str
    confidence: float
    trust: str
    project: str
    tags: tuple[str, ...]
    seen: date
    stale: bool
    source: str


def recall(
    databases: Sequence[Path],
    query: str = "",
    path: str = "",
    command: str = "",
    error: str = "",
    k: int = 5,
    project: str = "",
    today: date | None = None,
    floor: float = 0.0,
    likeness: Likeness | None = None,
) -> list[Found]:
    """The `k` solutions that fit best, each with its reasons; of the same id the first database's.

    `path` is relative to its project. A solution of another `project`, where both are known by their remotes, is found
    by its errors and commands alone. `floor` is the least that a solution must bear on a query (`matching.bearing`); 0
    takes all. With `likeness` the query's meaning counts too. A missing or unreadable database holds nothing.
    """
    found: dict[str, Found] = {}
    for database in databases:
        with contextlib.suppress(sqlite3.Error), closing(open_database(database)) as db:
            hits: dict[int, Hit] = {}
            if error:
                match_error(db, error, hits)
            if command:
                matching.match_command(db, command, hits)
            if path:
                matching.match_path(db, path, hits)
                matching.match_mentions(db, path, words_of(query), hits, max(floor, MENTION_FLOOR))
            if query.strip():
                spoken: dict[int, Hit] = {}
                matching.match_text(db, query, spoken, floor, most=max(100 if likeness else 20, 2 * k))
                if likeness:
                    match_meaning(db, query, spoken, floor, likeness)
                for mid, hit in spoken.items():
                    hits.setdefault(mid, Hit(mid)).add("text", hit.score, hit.reasons[0])
            for hit in hits.values():
                one = read_found(db, hit, project, today or date.today())
                declared = {"error", "command"}.intersection(hit.kinds)
                if declared or not matching.is_foreign(one.project, project):
                    found.setdefault(one.id, one)
    ranked = sorted(found.values(), key=lambda one: (-one.score, one.id))
    return ranked[:k]


def match_meaning(db: sqlite3.Connection, query: str, hits: dict[int, Hit], floor: float, likeness: Likeness) -> None:
    """Raise what is alike in meaning among what shares words with a query, and add what is alike without.

    The words' best score and a cosine of 1 count the same (convex fusion: Bruch et al., "An Analysis of Fusion
    Functions for Hybrid Retrieval", 2023). The most useful solutions are compared first, and only so many.
    """
    rows = db.execute("select mid, title, brief from lesson order by mid limit ?", (MOST_COMPARED,)).fetchall()
    known = {row[0] for row in rows}
    marks = ",".join("?" * len(hits))
    rows += db.execute(f"select mid, title, brief from lesson where mid in ({marks})", list(hits)).fetchall()  # noqa: S608
    rows = rows[: len(known)] + [row for row in rows[len(known) :] if row[0] not in known]
    best = max((hit.score for hit in hits.values()), default=1.0)
    alike = likeness(query, [f"{title}\n{brief}" for _, title, brief in rows]) if rows else []
    for (mid, _, _), cosine in zip(rows, alike, strict=True):
        if mid in hits:
            hits[mid].score += best * max(0.0, cosine)
        elif cosine >= (ALIKE_SURE if floor else ALIKE_ALONE):
            hits.setdefault(mid, Hit(mid)).add("text", best * cosine, "means much the same")


def open_database(path: Path) -> sqlite3.Connection:
    """A read-only connection; raises sqlite3.Error where there is none."""
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)


def read_found(db: sqlite3.Connection, hit: Hit, project: str, today: date) -> Found:
    """A hit with what is known of its solution; the score weighed by the solution's own worth and its project."""
    row = db.execute(
        "select id, path, title, brief, category, confidence, trust, project, tags, day, stale, source, weight "
        "from lesson where mid = ?",
        (hit.mid,),
    ).fetchone()
    weight = row[12] * (1.15 if project and row[7] == project else 1.0)
    order = sorted(range(len(hit.kinds)), key=lambda number: KIND_ORDER.index(hit.kinds[number]))
    return Found(
        id=row[0],
        path=row[1],
        title=row[2],
        brief=row[3],
        score=round(hit.score * weight, 4),
        reasons=tuple(hit.reasons[number] for number in order),
        kinds=tuple(hit.kinds[number] for number in order),
        category=row[4],
        confidence=row[5],
        trust=row[6],
        project=row[7],
        tags=tuple(row[8].split()),
        seen=date.fromordinal(row[9]),
        stale=bool(row[10]) and today.toordinal() > row[10],
        source=row[11],
    )


def build_pack(
    databases: Sequence[Path],
    project: str,
    query: str = "",
    recent: Sequence[str] = (),
    branch: str = "",
    tokens: int = PACK_TOKENS,
    confidence: float = PACK_CONFIDENCE,
    today: date | None = None,
    count: Callable[[str], int] | None = None,
) -> str:
    """The memory pack as markdown: sure lessons of this project and of none, at most `tokens` by `count`.

    Those that fit the query, the recently changed files (paths relative to the project) or the branch come first.
    """
    day = today or date.today()
    counted = count or bound_tokens
    chosen: dict[str, tuple[float, Found]] = {}
    held: set[str] = set()
    for database in databases:
        with contextlib.suppress(sqlite3.Error), closing(open_database(database)) as db:
            hits: dict[int, Hit] = {}
            if query or branch:
                matching.match_text(db, f"{query} {branch.replace('-', ' ')}", hits, 4.0)
            for path in recent[:50]:
                matching.match_path(db, path, hits)
            rows = db.execute(
                "select mid, priority, always from lesson where project in (?, '') and confidence >= ? "
                "order by mid limit 200",
                (project, confidence),
            ).fetchall()
            for mid, priority, always in rows:
                one = read_found(db, hits.get(mid) or Hit(mid), project, day)
                if one.id in held:
                    continue
                own = 2.0 if project and one.project == project else 0.0
                worth = one.score + own + priority + always + one.confidence
                chosen.setdefault(one.id, (worth, one))
            # The personal store's text wins, also where it is too unsure for the pack itself.
            if database != databases[-1]:
                held |= {identity for (identity,) in db.execute("select id from lesson")}
    lines, used = ["# What earlier sessions taught\n"], counted("# What earlier sessions taught\n")
    for _, one in sorted(chosen.values(), key=lambda item: (-item[0], item[1].id)):
        line = render_found(one, day)
        size = counted(line)
        if used + size > tokens:
            continue
        lines.append(line)
        used += size
    return "\n".join(lines) if len(lines) > 1 else ""


def render_found(one: Found, today: date, *, why: bool = False) -> str:
    """One solution of a pack: its text, then its id, trust, confidence, age and source, and with `why` what brought
    it up."""
    days = plural(max(0, (today - one.seen).days), "day")
    age = f"{days} old, STALE: check before relying on it" if one.stale else f"{days} old"
    source = f", from {one.source}" if one.source else ""
    because = f". Comes up because {'; '.join(one.reasons[:2])}." if why else ""
    about = f"[{one.id}] {one.trust}, confidence {one.confidence:g}, {age}{source}{because}"
    return f"## {one.title}\n{one.brief}\n({about})\n"


def read_empty(home: Path) -> list[dict[str, object]]:
    """What was asked and not found, oldest first: time, kind, asked, project. Lines that do not parse are left out."""
    entries = []
    for name in ("empty.jsonl.1", "empty.jsonl"):
        with contextlib.suppress(OSError):
            for line in (home / "logs" / name).read_text("utf-8", errors="replace").split("\n"):
                with contextlib.suppress(ValueError):
                    entry = load_json(line)
                    if isinstance(entry, dict):
                        entries.append(entry)
    return entries


def note_empty(home: Path, kind: str, asked: str, project: str, time: int) -> None:
    """Keep a question that found nothing; `asked` must be free of secrets. The log keeps one older file."""
    path = home / "logs" / "empty.jsonl"
    line = json.dumps({"time": time, "kind": kind, "asked": asked[:300], "project": project}) + "\n"
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
        if path.stat().st_size > LONGEST_LOG:
            path.replace(path.with_name("empty.jsonl.1"))
