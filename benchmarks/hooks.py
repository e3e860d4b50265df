"""What a hook costs its agent: whole processes, each beside a bare `python -I -c pass` of the same interpreter.

    python benchmarks/hooks.py [--lessons 10000 100000] [--rounds 15]

Prints for each hook the median wall time and the median of its ratios to the bare start measured in the same round;
for the hooks that read the database also the ratio of the larger store to the smaller one, round by round. The bars:
a session's end at most 1.6 bare starts, what comes before a tool call at most 2, and at most 1.3 times as much with
ten times the lessons. Lessons are made up: 1.8 KB each, with path, command and error triggers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from flows.install.base import compile_hooks, hook_command
from index.frontmatter import render_solution
from index.recall_db import RECALL_DB, build
from index.records import Solution, Triggers

BARS = {"end": 1.6, "turn": 1.6, "command": 2.0, "edit": 2.0}
GROWTH = 1.3
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SYLLABLES = (
    "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru".split()
)
PROGRAMS = ("git", "npm run", "pytest", "cargo test", "make", "docker compose", "kubectl apply", "terraform plan")


def make_lessons(count: int, seed: int = 1) -> list[Solution]:
    """Lessons whose words follow Zipf's law over a vocabulary that grows with the square root of their number."""
    chance = random.Random(seed)
    size = 2000 + int(count**0.5) * 60
    words = sorted({"".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(size)})
    chance.shuffle(words)
    odds = [1 / (rank + 3) for rank in range(len(words))]
    lessons = []
    for number in range(count):
        drawn = chance.choices(words, odds, k=270)
        sentences = [" ".join(drawn[at : at + 12]).capitalize() + "." for at in range(20, 260, 12)]
        folder, name, verb = chance.choices(words, k=3)
        triggers = Triggers(
            (f"src/{folder}/**/*.py", f"{name}.toml"),
            (f"{chance.choice(PROGRAMS)} {verb}",),
            (f"{drawn[0]}error: {' '.join(drawn[1:7])} not found",),
        )
        body = "\n\n".join([" ".join(sentences[:10]), f"**Why it matters:** {sentences[10]}", " ".join(sentences[11:])])
        title = " ".join(drawn[7:15])
        created = EPOCH + timedelta(minutes=number)
        lessons.append(
            Solution(
                f"L{number:07}", title, "bugs", body, triggers=triggers, created=created, path=f"solutions/{number}.md"
            )
        )
    return lessons


def write_lesson(home: Path, lesson: Solution) -> Solution:
    """The lesson with its file in the store: what a hook gives, it holds against the file."""
    text = render_solution(lesson)
    place = home / lesson.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
    return replace(lesson, text=text)


def calls(lesson: Solution) -> dict[str, tuple[str, dict[str, object]]]:
    """The hooks that are measured: (moment, payload) by name; each meets a lesson of the store."""
    at = {"cwd": "/w", "transcript_path": "/t/s.jsonl"}
    path = lesson.triggers.paths[0].replace("**/*", "deep/er/module")
    return {
        "end": ("end", {**at, "hook_event_name": "SessionEnd", "reason": "other"}),
        "turn": ("turn", {**at, "hook_event_name": "Stop"}),
        "command": (
            "tool",
            {**at, "tool_name": "Bash", "tool_input": {"command": f"cd x && {lesson.triggers.commands[0]} -v"}},
        ),
        "edit": (
            "tool",
            {**at, "tool_name": "Edit", "tool_input": {"file_path": f"/w/{path}", "new_string": "x" * 2000}},
        ),
        "error": ("error", {**at, "error": f"Exit code 1\n{lesson.triggers.errors[0]}\n  at x (y.js:1:2)\n" * 3}),
        "prompt": ("prompt", {**at, "prompt": f"please look at {lesson.title} once more"}),
        "start": ("start", {**at, "source": "startup"}),
    }


def run_process(command: list[str], payload: str, home: Path | None) -> float:
    """The wall time of a whole process, in seconds."""
    env = {**os.environ, **({"HOTWASH_HOME": str(home)} if home else {})}
    start = time.perf_counter()
    subprocess.run(command, input=payload, text=True, stdout=subprocess.DEVNULL, env=env, check=True)
    return time.perf_counter() - start


def measure(homes: dict[int, Path], lesson: Solution, rounds: int) -> dict[str, list[float]]:
    """Wall times by "bare", and by hook and number of lessons; every round measures each once."""
    times: dict[str, list[float]] = {}
    bare = [sys.executable, "-I", "-c", "pass"]
    for number in range(rounds):
        times.setdefault("bare", []).append(run_process(bare, "", None))
        for name, (moment, payload) in calls(lesson).items():
            for count, home in homes.items():
                if name in {"end", "turn"} and count != min(homes):
                    continue
                (home / "spool").mkdir(exist_ok=True)
                (home / "spool" / ".start").touch()  # as if a run were about to start: the hook's own cost alone
                text = json.dumps({"session_id": f"{name}-{number}", **payload})
                key = f"{name} {count}"
                times.setdefault(key, []).append(run_process([*hook_command(), "claude-code", moment], text, home))
    return times


def ratio(upper: list[float], lower: list[float]) -> float:
    """The median of the ratios of paired measurements."""
    return statistics.median(a / b for a, b in zip(upper, lower, strict=True))


def main() -> int:
    """Measure, print, and say which bar is missed."""
    parser = argparse.ArgumentParser(description="What a hook costs its agent.")
    parser.add_argument("--lessons", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    compile_hooks()
    missed = []
    with tempfile.TemporaryDirectory() as name:
        homes: dict[int, Path] = {}
        for count in sorted(options.lessons):
            homes[count] = Path(name) / str(count)
            lessons = [write_lesson(homes[count], each) for each in make_lessons(count)]
            start = time.process_time()
            build(homes[count] / RECALL_DB, lessons, {each.path: True for each in lessons}, date(2026, 1, 2))
            whole = time.process_time() - start
            size = (homes[count] / RECALL_DB).stat().st_size / 1e6
            for number in range(5, 10):  # a session's worth of lessons
                body = f"{lessons[number].body}\n\nAnd once more."
                lessons[number] = write_lesson(homes[count], replace(lessons[number], body=body))
            start = time.process_time()
            build(homes[count] / RECALL_DB, lessons, {each.path: True for each in lessons}, date(2026, 1, 2))
            share = (time.process_time() - start) / whole
            print(f"{count} lessons: built in {whole:.1f} s CPU, {size:.0f} MB; 5 changed: {share:.3f} of that")
        times = measure(homes, make_lessons(min(homes))[min(homes) // 2], options.rounds)
        print(f"{'bare start':18} {statistics.median(times['bare']) * 1000:7.1f} ms")
        for key, values in times.items():
            if key == "bare":
                continue
            hook, _, count = key.partition(" ")
            share = ratio(values, times["bare"])
            print(f"{hook:8} {count:>9} {statistics.median(values) * 1000:7.1f} ms  {share:5.2f} bare starts")
            if share > BARS.get(hook, 99):
                missed.append(f"{key}: {share:.2f} > {BARS[hook]}")
        small, large = min(homes), max(homes)
        for hook in ("command", "edit", "error", "prompt", "start") if small != large else ():
            growth = ratio(times[f"{hook} {large}"], times[f"{hook} {small}"])
            print(f"{hook:8} {large} lessons against {small}: {growth:.2f}")
            if hook in BARS and growth > GROWTH:
                missed.append(f"{hook}: grows by {growth:.2f} > {GROWTH}")
    print("missed: " + "; ".join(missed) if missed else "all bars are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
