"""Write `detectors/poison/openings.json`: what the rules' patterns can begin with, read from the patterns.

    python -m benchmarks.poison_openings

To be run whenever a rule has a new pattern; a test says so.
"""

from __future__ import annotations

from detectors.poison.openings import KEPT, render_openings
from detectors.poison.rules import RULES


def main() -> None:
    """Write the file."""
    KEPT.write_text(render_openings(RULES), encoding="utf-8", newline="\n")
    print(f"{KEPT}: {KEPT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
