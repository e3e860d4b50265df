"""How many planted secrets survive, how much ordinary text is touched, and how fast whole transcripts are redacted.

    python -m benchmarks.redaction [TRANSCRIPTS]

TRANSCRIPTS is a folder of agents' transcripts, by default `$HOTWASH_CORPORA/transcripts`; without one only the planted
and the ordinary strings are measured. What is redacted in the transcripts is listed with its surroundings, the value
itself masked, to be judged by reading.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

from detectors.secrets import find_secrets
from index.records import Session, Turn
from index.settings import RedactSettings
from reflect.redact import redact_session, redact_text
from reflect.transcripts.registry import read_sessions
from tests.planted import Planted, leaks, ordinary, planted

SETTINGS = RedactSettings()
SEEDS = range(1, 21)


def measure_planted() -> None:
    """Planted secrets one by one, and all of a seed in one session."""
    items = [item for seed in SEEDS for item in planted(seed)]
    left = [item for item in items if leaks(item, redact_text(item.text, SETTINGS)[0])]
    print(f"planted one by one: {len(items)} of {len({item.kind for item in items})} kinds, {len(left)} survive")
    left += [item for seed in SEEDS for item in _left_in_session(seed)]
    print(f"planted in sessions: {len(left)} survive in all")
    for item in left:
        print(f"  {item.kind}: {item.text[:100]!r}")


def _left_in_session(seed: int) -> list[Planted]:
    items = planted(seed)
    turns = tuple(Turn(n, n, "tool", item.text) for n, item in enumerate(items))
    clean, _ = redact_session(Session("codex", "s", "s", turns), SETTINGS)
    return [item for item, turn in zip(items, clean.turns, strict=True) if leaks(item, turn.text)]


def measure_ordinary() -> None:
    """Lines with hashes, ids, paths and names that must stay."""
    lines = [line for seed in SEEDS for line in ordinary(seed, 1000)]
    touched = [line for line in lines if find_secrets(line)]
    print(f"ordinary lines: {len(lines)}, touched {len(touched)} ({100 * len(touched) / len(lines):.2f} %)")
    for line in touched[:20]:
        print(f"  {line[:120]!r}")


def measure_transcripts(folder: Path) -> None:
    """Real sessions: what is taken out of them, and the time it takes."""
    counts: Counter[str] = Counter()
    places: Counter[tuple[str, str]] = Counter()
    seconds, size, characters = 0.0, 0, 0
    redact_text("warm", SETTINGS)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"):
        size += path.stat().st_size
        for session in read_sessions(path):
            texts = {t for turn in session.turns for t in (turn.text, turn.command, turn.change, turn.said) if t}
            characters += sum(map(len, texts))
            start = time.process_time()
            _, found = redact_session(session, SETTINGS)
            seconds += time.process_time() - start
            counts.update(found)
            for text in sorted(texts) if found else ():
                for secret in find_secrets(text):
                    places[(secret.kind, _masked(text, secret.span))] += 1
    print(f"transcripts: {size / 1e6:.1f} MB, {characters / 1e6:.1f} M characters in turns, {seconds:.2f} CPU-s")
    print(f"  {characters / 1e6 / max(seconds, 1e-9):.1f} M characters a CPU-second")
    print(f"  redacted: {dict(counts) or 'nothing'}")
    for (kind, shown), times in sorted(places.items()):
        print(f"  {times}x {kind}: {shown}")


def _masked(text: str, span: tuple[int, int]) -> str:
    start, end = span
    value = text[start:end]
    before, after = text[max(0, start - 60) : start], text[end : end + 20]
    return " ".join(f"{before}<{value[:2]}…{len(value)}>{after}".split())


def main() -> None:
    """Run the three measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora = os.environ.get("HOTWASH_CORPORA")
    parser.add_argument("transcripts", nargs="?", type=Path, default=Path(corpora) / "transcripts" if corpora else None)
    chosen = parser.parse_args().transcripts
    measure_planted()
    measure_ordinary()
    if chosen is not None:
        measure_transcripts(chosen)


if __name__ == "__main__":
    main()
