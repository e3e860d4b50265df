"""The entry of the command line: puts our own folder, and nothing of the user's project, on the import path.

Our packages bear plain names (index, flows, ...). A project may hold packages of the same names and set
PYTHONPATH=. , so the path is cleaned here, before anything of ours is imported, and for every process we start.
"""

from __future__ import annotations

import os
import sys

PACKAGES = ("index", "detectors", "reflect", "curate", "flows")


def clean_path() -> None:
    """Take the working directory and PYTHONPATH off sys.path, and out of the environment that children inherit."""
    home = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - pathlib would cost a third of the start
    foreign = {"", os.getcwd()}  # noqa: PTH109
    foreign.update(os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep))  # noqa: PTH100
    sys.path[:] = [entry for entry in sys.path if entry == home or entry not in foreign | {"."}]
    if home not in sys.path:
        sys.path.append(home)
    os.environ.pop("PYTHONPATH", None)
    os.environ["PYTHONSAFEPATH"] = "1"
    # A sitecustomize of the project's may have imported a package of one of our names already.
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if not origin.startswith(home + os.sep):
            del sys.modules[name]


def main() -> None:
    """Run the command line and leave with its exit code."""
    clean_path()
    from flows.cli import run_command

    sys.exit(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
