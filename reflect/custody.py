"""The redacted record that a lesson cites: `episodes/YYYY/MM/<agent>-<session>.jsonl.gz`, small and kept for long."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from index.decode import load_json
from index.records import Episode, Session, Turn
from index.store import EPISODES, slug

# A cited turn keeps its start, where the command is, and its end, where the error is.
KEPT_CHARACTERS = 4_000
# Turns around the cited ones that make them understandable.
AROUND = 1


def episode_path(session: Session) -> str:
    """Where a session's episode lies, relative to the store."""
    when = session.started or session.finished or datetime(1970, 1, 1, tzinfo=UTC)
    return f"{EPISODES}/{when:%Y/%m}/{episode_name(session.key)}"


def episode_name(key: str) -> str:
    """The name of a session's episode file, by the session's key."""
    agent, _, identity = key.partition(":")
    return f"{slug(agent)}-{slug(identity)[:48]}-{name_tail(key)}.jsonl.gz"


def name_tail(key: str) -> str:
    """The part of that name, between its last `-` and its endings, that is made of all of the key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def cut_middle(text: str, most: int = KEPT_CHARACTERS) -> str:
    """`text` with its middle taken out when it is longer than `most` characters, saying how much went."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def _row(turn: Turn) -> dict[str, Any]:
    row = {key: value for key, value in asdict(turn).items() if value not in ("", (), None, False)}
    for key in ("text", "change", "said", "command"):
        if key in row:
            row[key] = cut_middle(row[key])
    if turn.time:
        row["time"] = turn.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return row


def _kept(session: Session, episodes: Iterable[Episode]) -> list[Turn]:
    wanted: set[int] = set()
    for episode in episodes:
        for position in episode.turns:
            wanted.update(range(position - AROUND, position + AROUND + 1))
    return [turn for position, turn in enumerate(session.turns) if position in wanted]


def render_episode(session: Session, episodes: Sequence[Episode], earlier: bytes | None = None) -> bytes:
    """The episode file: a head line, then one line for each turn that matters; the same input gives the same bytes.

    `earlier` is the file as it stands: turns that it holds and this reading does not are kept.
    """
    rows: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for turn in _kept(session, episodes):
        rows.setdefault((turn.line, turn.end), []).append(_row(turn))
    for row in read_episode(earlier)[1] if earlier else ():
        place = rows.setdefault((row["line"], row["end"]), [])
        if row not in place:
            place.append(row)
    head = {
        "session": session.key,
        "project": session.project,
        "branch": session.branch,
        "version": session.version,
        "started": session.started.isoformat() if session.started else "",
        "lines": session.lines,
        "because": [{"detector": e.detector, "lines": list(e.lines), "reason": e.reason} for e in episodes],
    }
    return pack_episode(head, [row for key in sorted(rows) for row in rows[key]])


def pack_episode(head: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """An episode file of its head line and its turns; the same input gives the same bytes."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (head, *rows))
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as file:
        file.write(text.encode("utf-8", "replace"))
    return buffer.getvalue()


def read_episode(raw: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(head, turns) of an episode file; ({}, []) where it cannot be read."""
    try:
        lines = [load_json(line) for line in gzip.decompress(raw).decode("utf-8").split("\n") if line]
        return lines[0], lines[1:]
    except (OSError, EOFError, ValueError, IndexError, zlib.error):
        return {}, []
