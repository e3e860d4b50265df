"""How fast transcripts are read, against parsing their lines with orjson alone; and in how much memory.

Makes a transcript of 50 MB in a temporary folder, reads it in interleaved rounds, and prints a line for each figure.
The goal: at least a third of orjson's speed, and less than 200 MB of memory.

    python benchmarks/ingest.py [--mb 50] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import orjson

from reflect.transcripts.registry import read_sessions

# As in code and its tools' output: quotes, brackets, marks and other alphabets make up a part of the words.
WORDS = (
    'the test fails because "order.total" is not what service.get(1)["total"] returned ✓ assert src\\api\\a.py '
    "def run(self, *, at=None): -> list[str] — 'shop' → {\"id\": 7} naïve 注文"
).split()
PEAK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from reflect.transcripts.registry import read_sessions
turns = sum(len(session.turns) for session in read_sessions(Path(sys.argv[2])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, turns)
"""


def make_records(random_source: random.Random) -> Iterator[dict[str, Any]]:
    """Records in the form of Claude Code, without end: prompts, thoughts, calls, short and long results, progress."""
    parent: str | None = None
    number = 0
    while True:
        number += 1
        for record in _exchange(random_source, number):
            name = f"{random_source.getrandbits(128):032x}"
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/mika/work/shop",
                "sessionId": "7a1d3f52-0c55-4b7e-9a51-0b7e3c1f2d11",
                "version": "2.1.322",
                "gitBranch": "main",
                "uuid": name,
                "timestamp": f"2026-11-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00.000Z",
                **record,
            }
            parent = name


def _exchange(random_source: random.Random, number: int) -> Iterator[dict[str, Any]]:
    def text(words: int) -> str:
        return " ".join(random_source.choices(WORDS, k=words))

    def reply(block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 3, "cache_read_input_tokens": 28621, "output_tokens": 9, "service_tier": "standard"}
        message = {"model": "m", "id": f"msg_{number}", "role": "assistant", "content": [block], "usage": usage}
        return {"type": "assistant", "message": message, "requestId": f"req_{number}"}

    if number % 12 == 1:
        yield {"type": "user", "message": {"role": "user", "content": text(30)}}
    yield reply({"type": "thinking", "thinking": text(40), "signature": "E" * 300})
    yield reply({"type": "text", "text": text(25)})
    call = f"toolu_{number}"
    failed = number % 9 == 0
    command = f"pytest tests/test_{number % 40}.py -q"
    yield reply({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}})
    if number % 3 == 0:
        yield {"type": "progress", "data": {"type": "bash_progress", "output": text(20)}, "parentToolUseID": call}
    lines = random_source.choice([4, 10, 30, 300])
    on, off = ("\u001b[32m", "\u001b[0m") if number % 8 == 0 else ("", "")
    output = "\n".join(f"{on}tests/test_{n}.py{off} {text(8)}" for n in range(lines))
    result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
    if failed:
        result["content"] = f"Exit code 1\n{output}"
    details = {"stdout": output, "stderr": "", "interrupted": False}
    yield {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": details}


def write_transcript(path: Path, size: int) -> None:
    """A transcript of at least `size` bytes; the same each time."""
    with path.open("w", encoding="utf-8") as file:
        for record in make_records(random.Random(1)):
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
            if file.tell() >= size:
                return


def parse_alone(path: Path) -> float:
    """Seconds for parsing every line and keeping nothing."""
    begun = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.perf_counter() - begun


def read_whole(path: Path) -> float:
    """Seconds for reading the sessions of the file."""
    begun = time.perf_counter()
    for session in read_sessions(path):
        assert session.turns
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mb", type=float, default=50)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "7a1d3f52-0c55-4b7e-9a51-0b7e3c1f2d11.jsonl"
        write_transcript(path, int(given.mb * 1e6))
        size = path.stat().st_size / 1e6
        rounds = [(parse_alone(path), read_whole(path)) for _ in range(given.rounds)]
        alone = statistics.median(pair[0] for pair in rounds)
        whole = statistics.median(pair[1] for pair in rounds)
        root = str(Path(__file__).resolve().parent.parent)
        peak = subprocess.run(
            [sys.executable, "-c", PEAK, root, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
    print(f"transcript        {size:8.1f} MB, {peak[1]} turns")
    print(f"orjson alone      {size / alone:8.1f} MB/s  ({alone:.3f} s, median of {given.rounds})")
    print(f"reading           {size / whole:8.1f} MB/s  ({whole:.3f} s, median of {given.rounds})")
    print(f"ratio             {alone / whole:8.2f}       (goal: at least 0.33)")
    print(f"peak memory       {int(peak[0]) / 1024:8.1f} MB    (goal: less than 200 MB)")


if __name__ == "__main__":
    main()
