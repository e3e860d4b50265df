"""How fast transcripts are read, against parsing their lines with orjson alone; and in how much memory.

Makes a transcript of 50 MB in a temporary folder, reads it in interleaved rounds, and prints a line for each figure:
seconds of CPU time, and the median of the rounds' ratios. The goal: at least a third of orjson's speed, and less than
200 MB of memory.

    python benchmarks/ingest.py [--agent claude-code|codex] [--mb 50] [--rounds 5]
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
                "cwd": "/home/mika/code/shop",
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


def make_codex_records(random_source: random.Random) -> Iterator[dict[str, Any]]:
    """Records in the form of Codex, without end: prompts, hidden thoughts, counters, commands, outputs, patches."""

    def text(words: int) -> str:
        return " ".join(random_source.choices(WORDS, k=words))

    def record(number: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        stamp = f"2026-11-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00.000Z"
        return {"timestamp": stamp, "type": kind, "payload": payload}

    yield record(0, "session_meta", {"id": CODEX_NAME[-36:], "cwd": "/home/mika/code/shop", "cli_version": "0.142.0"})
    number = 0
    while True:
        number += 1
        if number % 12 == 1:
            said = text(30)
            content = [{"type": "input_text", "text": said}]
            yield record(number, "turn_context", {"cwd": "/home/mika/code/shop", "model": "m", "effort": "high"})
            yield record(number, "response_item", {"type": "message", "role": "user", "content": content})
            yield record(number, "event_msg", {"type": "user_message", "message": said, "images": []})
        yield record(number, "response_item", {"type": "reasoning", "summary": [], "encrypted_content": "g" * 900})
        yield record(number, "event_msg", {"type": "token_count", "info": {"total": {"input_tokens": number}}})
        if number % 4 == 0:
            said = text(25)
            content = [{"type": "output_text", "text": said}]
            yield record(number, "event_msg", {"type": "agent_message", "message": said})
            yield record(number, "response_item", {"type": "message", "role": "assistant", "content": content})
        call = f"call_{number}"
        if number % 5 == 0:
            change = "\n".join(f"{random_source.choice('+- ')}{text(6)}" for _ in range(20))
            patch = f"*** Begin Patch\n*** Update File: src/a{number % 40}.py\n@@\n{change}\n*** End Patch"
            yield record(
                number,
                "response_item",
                {"type": "custom_tool_call", "name": "apply_patch", "call_id": call, "input": patch},
            )
            output = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM src/a.py"
            yield record(
                number, "response_item", {"type": "custom_tool_call_output", "call_id": call, "output": output}
            )
            continue
        given = json.dumps({"cmd": f"pytest tests/test_{number % 40}.py -q", "workdir": "/home/mika/code/shop"})
        item = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call}
        yield record(number, "response_item", item)
        body = "\n".join(f"tests/test_{n}.py {text(8)}" for n in range(random_source.choice([4, 10, 30, 300])))
        code = int(number % 9 == 0)
        output = f"Chunk ID: a1\nWall time: 0.5 seconds\nProcess exited with code {code}\nOutput:\n{body}"
        yield record(number, "response_item", {"type": "function_call_output", "call_id": call, "output": output})


CODEX_NAME = "rollout-2026-11-01T08-00-00-019ab737-4612-7f91-bf54-c6a3b3870ee6"
FORMS = {
    "claude-code": ("7a1d3f52-0c55-4b7e-9a51-0b7e3c1f2d11", make_records),
    "codex": (CODEX_NAME, make_codex_records),
}


def write_transcript(path: Path, size: int, form: str) -> None:
    """A transcript of at least `size` bytes; the same each time."""
    with path.open("w", encoding="utf-8") as file:
        for record in FORMS[form][1](random.Random(1)):
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
            if file.tell() >= size:
                return


def parse_alone(path: Path) -> float:
    """Seconds for parsing every line and keeping nothing."""
    begun = time.process_time()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.process_time() - begun


def read_whole(path: Path) -> float:
    """Seconds for reading the sessions of the file."""
    begun = time.process_time()
    for session in read_sessions(path):
        assert session.turns
    return time.process_time() - begun


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--agent", choices=sorted(FORMS), default="claude-code")
    arguments.add_argument("--mb", type=float, default=50)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{FORMS[given.agent][0]}.jsonl"
        write_transcript(path, int(given.mb * 1e6), given.agent)
        size = path.stat().st_size / 1e6
        rounds = [(parse_alone(path), read_whole(path)) for _ in range(given.rounds)]
        alone = statistics.median(pair[0] for pair in rounds)
        whole = statistics.median(pair[1] for pair in rounds)
        ratio = statistics.median(pair[0] / pair[1] for pair in rounds)
        root = str(Path(__file__).resolve().parent.parent)
        peak = subprocess.run(
            [sys.executable, "-c", PEAK, root, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
    print(f"transcript        {size:8.1f} MB, {peak[1]} turns")
    print(f"orjson alone      {size / alone:8.1f} MB/s  ({alone:.3f} s, median of {given.rounds})")
    print(f"reading           {size / whole:8.1f} MB/s  ({whole:.3f} s, median of {given.rounds})")
    print(f"ratio             {ratio:8.2f}       (goal: at least 0.33)")
    print(f"peak memory       {int(peak[0]) / 1024:8.1f} MB    (goal: less than 200 MB)")


if __name__ == "__main__":
    main()
