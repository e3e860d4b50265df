"""Does our own search find what was said, and nothing where nothing was? LoCoMo and PrecisionMemBench, beside FTS5.

    python benchmarks/retrieval.py [CORPORA] [--only locomo|precision]      by default $HOTWASH_CORPORA

LoCoMo (locomo/locomo6.json; Maharana et al., ACL 2024): each turn of a conversation, or each fact with its provenance,
is a lesson of a store of its own; each question of the categories 1 to 4 with known evidence is asked for ten. R@10 is
the mean share of a question's evidence turns among what is found, a fact standing for the turns it was taken from.
A fact's lesson quotes those turns, as our lessons quote their sessions; figures without the quotes are given too.

PrecisionMemBench (precisionmembench/, arXiv 2605.11325): each belief is a lesson: its name the title, its aliases the
tags, its scope the project, what superseded it and when it was resolved as a lesson has them. What is pinned or holds
everywhere comes with the pack at a session's start, and what is open or another user's is no lesson of this store; so
the rest is asked for, from all scopes in one store, at the floor that prompts have. Precision and recall are means over
the cases that want something; silent is the share of the others with no answer. The base gets only the texts that are
in scope and stand.

The base is SQLite's FTS5 (porter, BM25, ten hits) over the same texts, stop words left out of the question.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from detectors.embedding import find_embedder
from flows.hook_recall import PROMPT_FLOOR
from index.recall import Likeness, recall
from index.recall_db import build
from index.records import Solution
from index.words import STOP

DAY = date(2026, 11, 1)  # after all that is resolved was
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
MOST = 10
Search = Callable[[str], list[str]]
Lessons = dict[str, tuple[Solution, frozenset[str]]]  # by id: the lesson, and the turns it stands for


def lesson(name: str, title: str, body: str, project: str = "", tags: tuple[str, ...] = ()) -> Solution:
    """One unit of a corpus as a solution."""
    path = f"solutions/{name}.md"
    return Solution(name, title, "knowledge", body, tags=tags, project=project, created=EPOCH, path=path)


def open_fts5(solutions: Iterable[Solution]) -> Search:
    """Plain FTS5 over the same texts."""
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table doc using fts5(id unindexed, text, tokenize='porter')")
    rows = [(each.id, f"{each.title} {' '.join(each.tags)} {each.body}") for each in solutions]
    db.executemany("insert into doc values (?, ?)", rows)

    def search(query: str) -> list[str]:
        words = [word for word in dict.fromkeys(re.findall(r"\w+", query.lower())) if word not in STOP]
        asked = " OR ".join(f'"{word}"' for word in words)
        found = db.execute("select id from doc where doc match ? order by rank limit ?", (asked, MOST)) if words else ()
        return [str(row[0]) for row in found]

    return search


def open_ours(target: Path, solutions: Sequence[Solution], **options: Any) -> Search:
    """Our own search over a database that recall reads."""
    build(target, solutions, {each.path: True for each in solutions}, DAY)
    return lambda query: [one.id for one in recall([target], query, k=MOST, today=DAY, **options)]


def remember_likeness() -> Likeness | None:
    """The extra's likeness with each text's vector kept, since here the same texts are compared a thousand times."""
    embed = find_embedder()
    if embed is None:
        return None
    vectors: dict[str, Any] = {}

    def likeness(query: str, texts: Sequence[str]) -> list[float]:
        new = [text for text in texts if text not in vectors]
        vectors.update(zip(new, embed(new), strict=True) if new else ())
        asked = embed([query])[0]
        return [float(vectors[text] @ asked) for text in texts]

    return likeness


def locomo(corpus: Path, folder: Path) -> None:
    """R@10 over turns and over facts, in words and with meaning."""
    conversations = json.loads((corpus / "locomo" / "locomo6.json").read_text("utf-8"))
    likeness = remember_likeness()
    for name, make in (("turns", turn_lessons), ("facts", fact_lessons), ("facts quoting turns", quoting_lessons)):
        shares: dict[str, list[float]] = {}
        for number, conversation in enumerate(conversations):
            lessons = make(conversation)
            solutions = [solution for solution, _ in lessons.values()]
            target = folder / f"{name}-{number}.db"
            searches = {"FTS5 porter": open_fts5(solutions), "ours": open_ours(target, solutions)}
            if likeness:
                searches["ours with embed"] = open_ours(target, solutions, likeness=likeness)
            for question, evidence in questions_of(conversation):
                for way, search in searches.items():
                    turns = frozenset[str]().union(*(lessons[one][1] for one in search(question)))
                    shares.setdefault(way, []).append(len(evidence & turns) / len(evidence))
        for way, values in shares.items():
            print(f"locomo {name}, {way}: R@10 {sum(values) / len(values):.4f} of {len(values)} questions")
    if likeness is None:
        print("locomo: the extra `embed` is not installed; its figures are left out")


def turns_of(conversation: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Each turn's speaker and words (a picture's caption included) by its id."""
    sessions = [turns for key, turns in conversation["conversation"].items() if re.fullmatch(r"session_\d+", key)]
    return {
        turn["dia_id"]: (turn["speaker"], f"{turn['text']} {turn.get('blip_caption', '')}".strip())
        for turns in sessions
        for turn in turns
    }


def turn_lessons(conversation: dict[str, Any]) -> Lessons:
    """A lesson for each turn."""
    turns = turns_of(conversation)
    return {name: (lesson(name, speaker, text), frozenset([name])) for name, (speaker, text) in turns.items()}


def fact_lessons(conversation: dict[str, Any], quoting: bool = False) -> Lessons:
    """A lesson for each fact, quoting the turns it was taken from or not."""
    turns = turns_of(conversation)
    found: Lessons = {}
    for session in conversation["observation"].values():
        for fact, source in (item for facts in session.values() for item in facts):
            names = [one for one in re.findall(r"D\d+:\d+", json.dumps(source)) if one in turns]
            quotes = "\n\n".join(f"> {turns[one][0]}: {turns[one][1]}" for one in names) if quoting else ""
            name = f"fact-{len(found):04}"
            found[name] = lesson(name, fact, quotes), frozenset(names)
    return found


def quoting_lessons(conversation: dict[str, Any]) -> Lessons:
    """A lesson for each fact, quoting the turns it was taken from."""
    return fact_lessons(conversation, quoting=True)


def questions_of(conversation: dict[str, Any]) -> list[tuple[str, frozenset[str]]]:
    """The questions of categories 1 to 4 whose evidence names turns that there are."""
    turns = turns_of(conversation)
    found = []
    for asked in conversation["qa"]:
        named = re.findall(r"D:?(\d+):0*(\d+)", json.dumps(asked.get("evidence")))
        evidence = frozenset(f"D{session}:{turn}" for session, turn in named) & turns.keys()
        if asked["category"] in {1, 2, 3, 4} and evidence:
            found.append((asked["question"], evidence))
    return found


def precision(corpus: Path, folder: Path) -> None:
    """Precision, recall and silence over the single-turn cases."""
    beliefs = json.loads((corpus / "precisionmembench" / "beliefs.seed.json").read_text("utf-8"))
    cases = json.loads((corpus / "precisionmembench" / "retrieval.cases.json").read_text("utf-8"))
    asked = [case for case in cases if "shouldOnlyInclude" in case["expect"].get("relevantBeliefs", {})]
    solutions = [belief_lesson(one) for one in beliefs if is_asked_for(one)]
    likeness = remember_likeness()
    ways: dict[str, Callable[[str], Search]] = {
        "FTS5 porter": lambda scope: open_fts5(
            one for one in solutions if one.project == project_of(scope) and not one.superseded_by and not one.expires
        ),
        "ours": lambda scope: open_ours(folder / "ours.db", solutions, floor=PROMPT_FLOOR, project=project_of(scope)),
    }
    if likeness:
        ways["ours with embed"] = lambda scope: open_ours(
            folder / "ours.db", solutions, floor=PROMPT_FLOOR, project=project_of(scope), likeness=likeness
        )
    for way, opened in ways.items():
        exact, found, silent = [], [], []
        for case in asked:
            answer = {one for scope in case["scope"] for one in opened(scope)(case["query"])}
            gold = set(case["expect"]["relevantBeliefs"]["shouldOnlyInclude"])
            if gold:
                exact.append(len(answer & gold) / len(answer) if answer else 0.0)
                found.append(len(answer & gold) / len(gold))
            else:
                silent.append(not answer)
        print(
            f"precision, {way}: precision {sum(exact) / len(exact):.3f} recall {sum(found) / len(found):.3f} "
            f"silent {sum(silent) / len(silent):.3f} ({len(exact)} and {len(silent)} cases)"
        )


def is_asked_for(belief: dict[str, Any]) -> bool:
    """Whether a belief is a lesson of this user's store that a prompt brings up, not the pack at the start."""
    other = "other user" in belief["content"].lower()
    everywhere = "user:universal" in belief["scope"]
    return not (other or everywhere or belief["pinned"] or belief["type"] == "open_question")


def project_of(scope: str) -> str:
    """A scope as a project that is known by its remote."""
    return f"example.org/{scope.replace(':', '/')}"


def belief_lesson(belief: dict[str, Any]) -> Solution:
    """A belief as a solution; a tag has no blank, so an alias of several words gets hyphens."""
    tags = tuple(alias.replace(" ", "-") for alias in belief["aliases"])
    title = belief["canonical_name"].replace("_", " ")
    over = date.fromisoformat(belief["resolved_at"][:10]) if belief["resolved_at"] else None
    found = lesson(belief["_id"], title, belief["content"], project_of(belief["scope"][0]), tags)
    return replace(found, superseded_by=belief["superseded_by"], expires=over)


def main() -> None:
    """Print the figures of each corpus that is there."""
    parser = argparse.ArgumentParser(description="Does our own search find what was said, and nothing else?")
    parser.add_argument("corpora", nargs="?", type=Path, default=Path(os.environ.get("HOTWASH_CORPORA", ".")))
    parser.add_argument("--only", choices=["locomo", "precision"])
    options = parser.parse_args()
    for name, folder, measure in (("locomo", "locomo", locomo), ("precision", "precisionmembench", precision)):
        if options.only in {None, name}:
            if (options.corpora / folder).is_dir():
                with tempfile.TemporaryDirectory() as scratch:
                    measure(options.corpora, Path(scratch))
            else:
                print(f"{name}: no folder {folder} in {options.corpora}; skipped")


if __name__ == "__main__":
    main()
