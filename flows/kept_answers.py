"""What the model answered is kept by the question, so that a pass asks only about what has changed.

A merge that waits for a person, or that the guard refused, is planned anew in every pass with the same question. The
file is a cache: without it the questions are asked again. It holds only text that was redacted, and only the guard's
verdict on it counts.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from curate.consolidate import Ask, Question
from index.decode import load_json
from index.files import read_bytes, write_derived
from index.store import CACHE

ANSWERS = f"{CACHE}/answers.json"
MOST_KEPT = 1_000  # the newest; some 2 KB each


def keep_answers(root: Path, model: str, ask: Ask) -> Ask:
    """`ask`, but for a question that this model has answered before, the answer of then. A failure is not kept."""

    def ask_once(question: Question) -> str:
        kept = read_answers(root)
        key = question_key(model, question)
        if key in kept:
            return kept[key]
        answer = ask(question)
        newest = [*kept.items(), (key, answer)][-MOST_KEPT:]
        write_derived(root / ANSWERS, json.dumps(dict(newest), ensure_ascii=False, indent=0).encode("utf-8", "replace"))
        return answer

    return ask_once


def question_key(model: str, question: Question) -> str:
    """The name under which an answer is kept: all that it depends on."""
    whole = json.dumps([model, question.system, question.prompt, question.schema], sort_keys=True)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:32]


def read_answers(root: Path) -> dict[str, str]:
    """The kept answers by key, the oldest first; {} where there are none or the file is damaged."""
    try:
        rows = load_json(read_bytes(root / ANSWERS) or b"{}")
    except (OSError, ValueError):
        return {}
    return {str(key): text for key, text in rows.items() if isinstance(text, str)} if isinstance(rows, dict) else {}
