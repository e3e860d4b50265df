"""The journal: one file a run, a line for each change with the bytes it replaces; read back for undo and recovery."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index.decode import load_json
from index.files import read_bytes, sync_folder
from index.store import JOURNAL

ROLLED_BACK = " rolled back"


@dataclass(slots=True)
class JournalStage:
    """One stage as the journal has it; `changes` are the raw lines."""

    name: str
    expected: int
    changes: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False


def encode_bytes(content: bytes | None) -> object:
    """Bytes as JSON holds them: text where they are UTF-8, else base64; None for no file."""
    if content is None:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def decode_bytes(kept: object) -> bytes | None:
    """The inverse of `encode_bytes`."""
    if isinstance(kept, dict):
        return base64.b64decode(kept["base64"])
    return None if kept is None else str(kept).encode("utf-8")


def mtime_of(path: Path) -> int | None:
    """The modification time in nanoseconds, or None where there is no such file."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def append_lines(journal: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Append lines to a journal, durably: all of them or, on a full disk, none."""
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    new = not journal.exists()
    journal.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    size = os.fstat(descriptor).st_size
    try:
        view = memoryview(text.encode("utf-8", "surrogatepass"))
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    except BaseException:
        # A full disk: half a line must not run into the next one.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
    finally:
        os.close(descriptor)
    if new:
        sync_folder(journal.parent)


def journal_path(root: Path, run_id: str) -> Path:
    """The journal of a run."""
    return root / JOURNAL / f"{run_id}.jsonl"


def read_journal(path: Path) -> tuple[dict[str, Any], list[JournalStage], dict[str, Any] | None]:
    """(first line, stages, last line or None when the run did not end); a cut last line is left out."""
    head: dict[str, Any] = {}
    stages: list[JournalStage] = []
    end: dict[str, Any] | None = None
    # A reader holds no lock: a run that changed nothing takes its journal away again meanwhile.
    for raw in (read_bytes(path) or b"").split(b"\n"):
        line = _parse_line(raw)
        if line is None:
            continue
        if "run" in line:
            head = line
        elif "stage" in line:
            stages.append(JournalStage(line["stage"], line["changes"]))
        elif "path" in line and stages:
            stages[-1].changes.append(line)
        elif "done" in line and stages:
            stages[-1].done = True
        elif "end" in line:
            end = line
    return head, stages, end


# The fields of a journal's lines that are read, and what they are.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "run": str,
    "undoes": str,
    "stage": str,
    "changes": int,
    "path": str,
    "why": str,
    "before": (str, type(None)),
    "after": (str, type(None)),
    "was": (str, dict, type(None)),
    "mtime": (int, type(None)),
    "end": str,
}
_BELONGS = {"stage": ("changes",), "path": ("why", "before", "after", "was", "mtime")}


def _parse_line(raw: bytes) -> dict[str, Any] | None:
    """One line of a journal, or None where it is none: cut, damaged, or of another make."""
    try:
        line = load_json(raw)
    except ValueError:
        return None
    if not isinstance(line, dict) or any(not isinstance(line[k], kind) for k, kind in _FIELDS.items() if k in line):
        return None
    missing = [name for key, names in _BELONGS.items() if key in line for name in names if name not in line]
    return None if missing else line


def is_damaged(journal: Path) -> bool:
    """Whether a line of a journal cannot be read that is not the last, which a kill may have cut."""
    lines = journal.read_bytes().rstrip(b"\n").split(b"\n")
    return any(_parse_line(line) is None for line in lines[:-1]) or not (lines[-1].startswith(b"{") or lines == [b""])


def half_done(stages: Sequence[JournalStage]) -> list[JournalStage]:
    """The stages that were begun and neither ended nor rolled back.

    Where there are fewer lines than were announced the journal itself was cut, so no file was touched yet.
    """
    following = [*(stage.name for stage in stages[1:]), ""]
    return [
        stage
        for stage, after in zip(stages, following, strict=False)
        if not stage.done and len(stage.changes) >= stage.expected > 0 and after != f"{stage.name}{ROLLED_BACK}"
    ]


def finished_lines(lines: Sequence[bytes]) -> Iterator[bytes]:
    """The journal's lines without those of a stage that did not finish."""
    pending: list[bytes] = []
    for line in lines:
        parsed = _parse_line(line)
        if parsed is None:
            continue
        if "run" in parsed:
            yield line
        elif "done" in parsed:
            yield from (*pending, line)
            pending = []
        elif "stage" in parsed:
            pending = [line]
        else:
            pending.append(line)


def journal_ended(path: Path) -> bool:
    """True if the journal's last line says that the run ended; reads only the tail."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(max(0, size - 4096))
        tail = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    return tail.startswith(b'{"end"') and tail.endswith(b"}")


def read_runs(root: Path) -> list[dict[str, Any]]:
    """Every run the journal has, oldest first: its head, the changes of each stage, and which run undid it."""
    runs: list[dict[str, Any]] = []
    for journal in sorted((root / JOURNAL).glob("*.jsonl")):
        head, stages, end = read_journal(journal)
        if not head:
            continue
        changes: Counter[str] = Counter()
        for stage in stages:
            changes[stage.name] += len(stage.changes)
        runs.append({**head, "stages": dict(+changes), "ended": (end or {}).get("end", ""), "undone_by": ""})
    undone = {run["undoes"]: run["run"] for run in runs if run.get("undoes")}
    return [{**run, "undone_by": undone.get(run.get("run", ""), "")} for run in runs]
