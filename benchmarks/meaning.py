"""Measure the judgement of meaning on pairs that people judged, and the order of contradicting facts.

    python -m benchmarks.meaning [CORPORA]        or with HOTWASH_CORPORA set

Reads CORPORA/solutions (semantic_dups.jsonl, near_dups.jsonl, manifest.jsonl, the files) and
CORPORA/factconsolidation; writes nothing. Each part is skipped, and says so, where its files are not there.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from detectors.embedding import find_embedder
from detectors.meaning import Judgement, find_same, judge_traits, newest_first
from detectors.traits import Traits, Weights, content_words, read_traits, weigh
from flows.context import World, recall_database
from flows.layers import Question, ask_layers, find_layers
from index.bullets import parse_headings
from index.files import write_derived
from index.frontmatter import load_yaml, render_solution, split_frontmatter
from index.literals import stem, tokens
from index.recall_db import build
from index.records import Solution, Source
from index.settings import Settings
from index.store import path_for, solution_id

MERGED = "same"
FACTS_START = datetime(2026, 1, 1, tzinfo=UTC)
FACTS_NOW = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Pair:
    """Two files and how people judged them."""

    a: str
    b: str
    wanted: str
    kind: str


def read_lessons(root: Path) -> dict[str, Solution]:
    """Every file of the manifest as a solution; its id is its path, its time that of its last commit."""
    return {row["path"]: read_lesson(root, row) for row in read_rows(root / "manifest.jsonl")}


def read_lesson(root: Path, row: Mapping[str, Any]) -> Solution:
    """One file as a solution: the title from its front matter, else its first heading, else its name."""
    path = row["path"]
    header, body = split_frontmatter((root / path).read_text(encoding="utf-8"))
    try:
        values = load_yaml(header) if header else {}
    except ValueError:
        values = {}
    named = values.get("title") if isinstance(values, dict) else None
    title = str(named or next(parse_headings(body), Path(path).stem))
    time = datetime.fromisoformat(str(row.get("last_commit") or "1970-01-01").replace("Z", "+00:00"))
    created = time if time.tzinfo else time.replace(tzinfo=UTC)
    return Solution(id=path, title=title, category="knowledge", body=body, created=created, path=path)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def judge_all(pairs: Iterable[Pair], traits: Mapping[str, Traits], weights: Weights, *, extra: bool) -> list[Judgement]:
    """The judgement on each pair, with or without vectors."""
    embed = find_embedder() if extra else None
    found = []
    for pair in pairs:
        a, b = traits[pair.a], traits[pair.b]
        meaning = float(embed([a.text])[0] @ embed([b.text])[0]) if embed else None
        found.append(judge_traits(a, b, weights, meaning))
    return found


def report_pairs(pairs: Sequence[Pair], judged: Sequence[Judgement], name: str) -> None:
    """What was merged that must not be, and how many of the same were found, by kind and by repository."""
    wrong = [p for p, j in zip(pairs, judged, strict=True) if p.wanted != "same" and j.answer == MERGED]
    found = [p for p, j in zip(pairs, judged, strict=True) if p.wanted == "same" and j.answer == MERGED]
    wanted = sum(pair.wanted == "same" for pair in pairs)
    print(f"{name}: merged wrongly {len(wrong)} of {len(pairs) - wanted}; same found {len(found)} of {wanted}")
    for pair in wrong:
        print(f"  WRONG {pair.wanted}/{pair.kind} {pair.a} | {pair.b}")
    table = Counter((f"{p.wanted}/{p.kind}", j.answer) for p, j in zip(pairs, judged, strict=True))
    for (kind, answer), count in sorted(table.items()):
        print(f"  {kind:32} {answer:12} {count}")


def report_repositories(pairs: Sequence[Pair], judged: Sequence[Judgement]) -> None:
    """The same by repository: the thresholds were set on all, so each line shows how far one carries them."""
    rows: dict[str, Counter[str]] = {}
    for pair, judgement in zip(pairs, judged, strict=True):
        row = rows.setdefault(pair.a.split("/")[0], Counter())
        row["same" if pair.wanted == "same" else "other"] += 1
        row["found" if pair.wanted == "same" else "wrong"] += judgement.answer == MERGED
    for name, row in sorted(rows.items()):
        print(f"  {name:42} found {row['found']}/{row['same']} wrong {row['wrong']}/{row['other']}")


def report_store(lessons: Sequence[Solution], known: set[frozenset[str]]) -> None:
    """What a pass over the whole folder calls the same beyond the judged pairs: to be read by a person."""
    found = find_same(lessons)
    counted = Counter(one.judgement.answer for one in found)
    new = [
        (lessons[one.a].path, lessons[one.b].path)
        for one in found
        if one.judgement.answer == MERGED and frozenset((lessons[one.a].path, lessons[one.b].path)) not in known
    ]
    print(f"whole folder of {len(lessons)}: {dict(sorted(counted.items()))}; same and never judged: {len(new)}")
    for a, b in new:
        print(f"  {a} | {b}")


def report_facts(path: Path) -> None:
    """Questions over numbered facts: how often the first hit is the newest on its subject, how often stale."""
    for row in read_rows(path):
        if "_sh_" not in row["set"]:
            continue
        start = datetime(2026, 1, 1, tzinfo=UTC)
        facts = [
            Solution(f"{n:06d}", text, "knowledge", "", created=start + timedelta(minutes=n))
            for n, text in enumerate(row["facts"])
        ]
        right = stale = plain = 0
        for question in row["qa"]:
            hits = rank_facts(question["q"], facts)[:20]
            first = newest_first(hits, question["q"])[0]
            right += any(answer.lower() in first.title.lower() for answer in question["a"])
            stale += is_stale(first, question, facts)
            plain += is_stale(hits[0], question, facts)
        total = len(row["qa"])
        print(f"{row['set']}: newest first {right}/{total}, stale first {stale}/{total} (unordered: {plain}/{total})")


def report_recall(path: Path) -> None:
    """The same questions put to recall over a store of these facts, each a lesson of its own minute: is the first that
    it gives stale?"""
    for row in read_rows(path):
        if "_sh_" not in row["set"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "store"
            world = World(root, Settings(), FACTS_NOW, Path(folder), {"HOME": folder})
            facts = [fact_lesson(n, text) for n, text in enumerate(row["facts"])]
            for fact in facts:
                write_derived(root / fact.path, fact.text.encode())
            build_served(world, facts)
            known = {fact.id: fact for fact in facts}
            right = stale = empty = 0
            layers = find_layers(root, root, world.env)
            for question in row["qa"]:
                hits = ask_layers(layers, Question(query=question["q"]), 5, "", FACTS_NOW.date())
                if not hits:
                    empty += 1
                    continue
                first = known[hits[0].id]
                right += any(answer.lower() in first.title.lower() for answer in question["a"])
                stale += is_stale(first, question, facts)
        total = len(row["qa"])
        print(f"{row['set']} by recall: newest first {right}/{total}, stale first {stale}/{total}, none {empty}")


def fact_lesson(number: int, text: str) -> Solution:
    """A numbered fact as a lesson; ids sort as the numbers do."""
    created = FACTS_START + timedelta(minutes=number)
    bare = Solution(
        solution_id(created, text), text, "knowledge", text, created=created, sources=(Source(f"facts:{number}"),)
    )
    placed = replace(bare, path=path_for(bare))
    return replace(placed, text=render_solution(placed))


def build_served(world: World, facts: Sequence[Solution]) -> None:
    """The recall database of these facts, all of which count as scanned: that is measured elsewhere."""
    clean = {fact.path: True for fact in facts}
    build(recall_database(world.root, world.env), facts, clean, world.now.date())


def rank_facts(question: str, facts: Sequence[Solution]) -> list[Solution]:
    """Facts by the question's words, seldom ones weigh more; of equals the oldest first: the worst case."""
    asked = content_words(question)
    counted = Counter(word for fact in facts for word in content_words(fact.title) & asked)
    weight = {word: math.log(1 + len(facts) / count) for word, count in counted.items()}
    score = {fact.id: sum(weight[word] for word in content_words(fact.title) & asked) for fact in facts}
    return sorted(facts, key=lambda fact: (-round(score[fact.id], 9), fact.id))


def is_stale(first: Solution, question: Mapping[str, Any], facts: Sequence[Solution]) -> bool:
    """Whether a hit lacks the answer while a later fact with the same words of the question has it."""
    asked = {stem(token.norm) for token in tokens(question["q"])}
    own = {stem(token.norm) for token in tokens(first.title)} & asked
    answers = [answer.lower() for answer in question["a"]]
    if any(answer in first.title.lower() for answer in answers):
        return False
    return any(
        fact.id > first.id
        and any(answer in fact.title.lower() for answer in answers)
        and {stem(token.norm) for token in tokens(fact.title)} & asked == own
        for fact in facts
    )


def main(arguments: Sequence[str]) -> None:
    """Print every part that the corpora allow."""
    corpora = Path(arguments[0] if arguments else os.environ.get("HOTWASH_CORPORA", "corpora"))
    root = corpora / "solutions"
    if (root / "semantic_dups.jsonl").is_file():
        rows = read_rows(root / "semantic_dups.jsonl")
        pairs = [Pair(row["a"], row["b"], row["judgement"], row["kind"]) for row in rows]
        lessons = read_lessons(root)
        traits = {path: read_traits(lesson) for path, lesson in lessons.items()}
        weights = weigh(list(traits.values()))
        for extra in (False, True):
            if extra and find_embedder() is None:
                print("with vectors: skipped, the [embed] extra is not installed")
                continue
            judged = judge_all(pairs, traits, weights, extra=extra)
            report_pairs(pairs, judged, "with vectors" if extra else "without vectors")
            if not extra:
                report_repositories(pairs, judged)
        near = [frozenset((row["a"], row["b"])) for row in read_rows(root / "near_dups.jsonl")]
        heads = [row for row in read_rows(root / "manifest.jsonl") if row["kind"] == "head" and row["role"] == "lesson"]
        store = [lessons[row["path"]] for row in heads]
        report_store(store, {frozenset((pair.a, pair.b)) for pair in pairs} | set(near))
    else:
        print(f"pairs: skipped, no {root}/semantic_dups.jsonl")
    facts = corpora / "factconsolidation" / "factconsolidation.jsonl"
    if facts.is_file():
        report_facts(facts)
        report_recall(facts)
    else:
        print(f"facts: skipped, no {facts}")


if __name__ == "__main__":
    main(sys.argv[1:])
