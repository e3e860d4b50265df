"""Run one target of `tests/fuzz.py` under atheris: `python -m tests.fuzz_run TARGET [FOLDER] [-max_total_time=60 ...]`.

It wants `pip install atheris`. The options are libFuzzer's; FOLDER keeps the examples that reached new code.
"""

from __future__ import annotations

import sys

PACKAGES = ["index", "detectors", "reflect", "curate", "flows"]


def main() -> None:
    """Run until the time is over or something breaks."""
    import atheris

    with atheris.instrument_imports(include=PACKAGES):
        from tests.fuzz import TARGETS
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: python -m tests.fuzz_run TARGET [FOLDER] [-max_total_time=60]\ntargets: {', '.join(TARGETS)}")
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
