"""Does the right lesson fire on the right event? Path rules (t1), recurring errors (t2), lessons before an edit (t3).

    python benchmarks/trigger.py [CORPORA/trigger]        all three tracks
    python benchmarks/trigger.py --fit                    also fits the error model anew and cross-checks it

The folder holds t1_rules.jsonl, t1_events.jsonl, t2_lessons.jsonl, ...; by default `$HOTWASH_CORPORA/trigger`. Track
t2own needs none of it: errors of everyday tools, from recurring_errors.yaml beside this file.
Everything goes through the database that the hooks read and the functions that they call.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import tempfile
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from flows.hook_give import choose, render_lesson
from flows.hook_recall import MENTION_FLOOR, MOST_LESSONS, PROMPT_FLOOR
from index import error_matching, matching
from index.matching import Hit
from index.recall_db import build
from index.records import Solution, Triggers

Floats = npt.NDArray[np.float64]
OWN_SHARE = 4.0  # our own cases are a tenth of the corpus's
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def open_store(folder: Path, name: str, solutions: list[Solution]) -> sqlite3.Connection:
    """A recall database of these solutions, all taken as clean."""
    target = folder / f"{name}.db"
    build(target, solutions, {each.path: True for each in solutions}, date(2026, 1, 1))
    return sqlite3.connect(f"file:{target}?mode=ro&immutable=1", uri=True)


def solution(name: str, title: str, body: str, triggers: Triggers) -> Solution:
    """A lesson of a corpus as a solution."""
    return Solution(name, title, "knowledge", body, triggers=triggers, created=EPOCH, path=f"solutions/{name}.md")


def t1(corpus: Path, folder: Path) -> dict[str, float]:
    """Precision and recall of scoped path rules over real paths."""
    rules = [rule for rule in read_lines(corpus / "t1_rules.jsonl") if rule["kind"] == "scoped"]
    db = open_store(
        folder, "t1", [solution(r["id"], r["title"], "", Triggers(paths=tuple(r["patterns"]))) for r in rules]
    )
    names = dict(db.execute("select mid, id from lesson").fetchall())
    right = given = wanted = 0
    for event in read_lines(corpus / "t1_events.jsonl"):
        hits: dict[int, Hit] = {}
        matching.match_path(db, event["path"], hits)
        found, gold = {names[mid] for mid in hits}, set(event["gold"])
        right, given, wanted = right + len(found & gold), given + len(found), wanted + len(gold)
    return {"precision": right / given, "recall": right / wanted}


def t2_lessons(corpus: Path) -> list[Solution]:
    """A compiler lint each: its explanation, and the first message that was seen."""
    found = []
    for lesson in read_lines(corpus / "t2_lessons.jsonl"):
        title, _, body = lesson["text"].partition("\n")
        found.append(solution(lesson["id"], title.lstrip("# "), body, Triggers(errors=(lesson["symptom"],))))
    return found


def t2(corpus: Path, folder: Path) -> dict[str, float]:
    """Track t2 on the corpus."""
    return t2_figures(open_store(folder, "t2", t2_lessons(corpus)), read_lines(corpus / "t2_events.jsonl"))


FIGURES = ("fire@3", "silent", "silent_without")


def t2_figures(db: sqlite3.Connection, events: list[dict[str, Any]]) -> dict[str, float]:
    """How often the right lesson is among three for an error met again, and how often all is silent for a new one.

    `silent_without` takes each lesson away in turn: is its error then met with silence? Many more cases, same question.
    """
    names = dict(db.execute("select mid, id from lesson").fetchall())
    fire, silent, without = [], [], []
    for event in events:
        scored = [(names[mid], value) for mid, value, _ in error_matching.score_errors(db, event["output"])]
        given = [name for name, value in scored[:3] if value >= error_matching.ERROR_FLOOR]
        if event["gold"]:
            fire.append(bool(set(given) & set(event["gold"])))
            others = [value for name, value in scored if name not in event["gold"]]
            without.append(not others or max(others) < error_matching.ERROR_FLOOR)
        else:
            silent.append(not given)
    return dict(zip(FIGURES, (mean(fire), mean(silent), mean(without)), strict=True))


def t3(corpus: Path, folder: Path) -> dict[str, float]:
    """Of the lessons that a commit bears on, how many were given before it, and at what cost.

    A commit is a session: its subject is the prompt, each of its files an edit; a lesson is given once a session.
    """
    lessons = read_lines(corpus / "t3_lessons.jsonl")
    found = wanted = edits = given = size = 0
    shown: tuple[int, ...] = ()
    db: sqlite3.Connection | None = None
    events = read_lines(corpus / "t3_events.jsonl")
    for event in events:
        current = {lesson["id"]: number for number, lesson in enumerate(lessons) if lesson["from"] <= event["i"]}
        numbers = tuple(n for n in current.values() if lessons[n]["text"])
        if numbers != shown or db is None:
            db, shown = open_store(folder, "t3", [t3_lesson(lessons[n]) for n in numbers]), numbers
        out = give(db, event["subject"], event["files"])
        found += sum(name in out for name in event["gold"])
        wanted += len(event["gold"])
        edits, given = edits + len(event["files"]), given + len(out)
        size += sum(len(text.encode()) for text in out.values())
    return {
        "recall": found / wanted,
        "lessons_per_edit": given / edits,
        "kb_per_commit": size / len(events) / 1000,
    }


def t3_lesson(lesson: dict[str, Any]) -> Solution:
    """A project's own lesson as a solution without declared triggers."""
    title = next(
        (x.split(":", 1)[1].strip(" \"'") for x in lesson["text"].splitlines() if x.startswith("title:")), lesson["id"]
    )
    body = lesson["text"].split("\n---", 1)[-1]
    return solution(lesson["id"], title, body, Triggers())


def give(db: sqlite3.Connection, prompt: str, files: Iterable[str]) -> dict[str, str]:
    """What a session gets that begins with this prompt and edits these files: the rendered text by lesson."""
    out: dict[str, str] = {}
    seen: set[int] = set()
    hits: dict[int, Hit] = {}
    context = matching.match_text(db, prompt, hits, PROMPT_FLOOR)
    batches = [("prompt", hits)]
    for path in files:
        batches.append(("tool", {}))
        matching.match_path(db, path, batches[-1][1])
        matching.match_mentions(db, path, context, batches[-1][1], MENTION_FLOOR)
    for moment, batch in batches:
        for hit in choose(db, {mid: hit for mid, hit in batch.items() if mid not in seen}, "", moment)[:MOST_LESSONS]:
            seen.add(hit.mid)
            name = str(db.execute("select id from lesson where mid = ?", (hit.mid,)).fetchone()[0])
            out[name] = render_lesson(db, hit, date(2026, 1, 1).toordinal())
    return out


def own_cases() -> tuple[list[Solution], list[dict[str, Any]]]:
    """Errors of everyday tools written for this project: the lessons, and events in the form of the corpus's."""
    lessons, events = [], []
    cases = yaml.safe_load((Path(__file__).parent / "recurring_errors.yaml").read_text("utf-8"))
    for number, case in enumerate(cases):
        name = f"own-{number}"
        if "error" in case:
            lessons.append(solution(name, case["lesson"].partition(". ")[0], case["lesson"], errors_of(case)))
        events += [{"output": output, "gold": [name], "group": name} for output in case.get("again", ())]
        events += [{"output": output, "gold": [], "group": name} for output in case["other"]]
    return lessons, events


def errors_of(case: dict[str, Any]) -> Triggers:
    """The error that a case's lesson declares."""
    return Triggers(errors=(case["error"],))


def t2own(_: Path, folder: Path) -> dict[str, float]:
    """Track t2 on our own cases."""
    return t2_figures(open_store(folder, "t2own", own_cases()[0]), own_cases()[1])


def fit(corpus: Path, folder: Path) -> None:
    """Fit the error model by penalised logistic regression; five folds by lint or case show its worth on unseen ones.

    The folds are drawn four times; the figures are of the corpus, then of our own cases.
    """
    parts = [(t2_lessons(corpus), read_lines(corpus / "t2_events.jsonl")), own_cases()]
    rows, labels, groups, owners, part_of = [], [], [], [], []
    events: list[dict[str, Any]] = []
    for part, (lessons, some) in enumerate(parts):
        db = open_store(folder, f"fit{part}", lessons)
        names = dict(db.execute("select mid, id from lesson").fetchall())
        for number, event in enumerate(some, len(events)):
            for mid, _, features in error_matching.error_candidates(db, event["output"], 12):
                rows.append(features)
                labels.append(names[mid] in event["gold"])
                groups.append(event.get("group") or (event["gold"] or [event["output"].partition("\n")[0]])[0])
                owners.append(number)
                part_of.append(part)
        events += some
    x, y, owner, part_number = np.array(rows), np.array(labels, float), np.array(owners), np.array(part_of)
    share = np.where(part_number == 1, OWN_SHARE, 1.0)
    print("weights", ", ".join(f"{weight:.2f}" for weight in solve(x, y, share)))
    held = np.zeros((4, len(y)))
    for draw in range(4):
        kinds = sorted(set(groups))
        random.Random(draw).shuffle(kinds)
        fold = np.array([kinds.index(group) % 5 for group in groups])
        for part in range(5):
            held[draw, fold == part] = x[fold == part] @ solve(x[fold != part], y[fold != part], share[fold != part])
    first = len(parts[0][1])
    for floor in np.arange(-1.4, 1.3, 0.2):
        figures = []
        for part, (start, end) in enumerate([(0, first), (first, len(events))]):
            mine = part_number == part
            each = [
                fold_figures(one[mine], y[mine], owner[mine] - start, events[start:end], float(floor)) for one in held
            ]
            figures.append(
                " ".join(f"{name} {value:.4f}" for name, value in zip(FIGURES, np.mean(each, 0), strict=True))
            )
        print(f"held-out folds at floor {floor:.1f}: {' | '.join(figures)}")


def solve(x: Floats, y: Floats, share: Floats, penalty: float = 1.0) -> Floats:
    """Weights of a logistic regression with a ridge penalty, by Newton's method; `share` is each row's worth."""
    weights = np.zeros(x.shape[1])
    for _ in range(15):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (share * (chance - y)) + penalty * weights
        curve = (x * (share * chance * (1 - chance))[:, None]).T @ x + penalty * np.eye(x.shape[1])
        weights -= np.linalg.solve(curve, slope)
    return weights


def fold_figures(
    held: Floats, y: Floats, owners: npt.NDArray[Any], events: list[dict[str, Any]], floor: float
) -> tuple[float, ...]:
    """fire@3, silence and silence without the lesson, from scores of folds that were not fitted on."""
    fire, silent, without = [], [], []
    for number, event in enumerate(events):
        mine = owners == number
        scores, right = held[mine], y[mine] > 0
        wrong = scores[~right]
        if event["gold"]:
            best = scores[right].max(initial=-99.0)
            fire.append(best >= floor and (wrong > best).sum() < 3)
            without.append(wrong.max(initial=-99.0) < floor)
        else:
            silent.append(wrong.max(initial=-99.0) < floor)
    return mean(fire), mean(silent), mean(without)


def mean(values: list[bool]) -> float:
    """The share of true values."""
    return sum(values) / len(values)


def main() -> None:
    """Print each track's figures."""
    parser = argparse.ArgumentParser(description="Does the right lesson fire on the right event?")
    parser.add_argument(
        "corpus", nargs="?", type=Path, default=Path(os.environ.get("HOTWASH_CORPORA", ".")) / "trigger"
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--track", choices=["t1", "t2", "t2own", "t3"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.fit:
            fit(options.corpus, Path(name))
        for track in (t1, t2, t2own, t3):
            if options.track in {None, track.__name__}:
                print(
                    track.__name__, {key: round(value, 4) for key, value in track(options.corpus, Path(name)).items()}
                )


if __name__ == "__main__":
    main()
