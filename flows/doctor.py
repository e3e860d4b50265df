"""The self-check: looks at installation, hooks, store and server, says the repair of each, mends what is safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from flows.context import World
from flows.doctor_checks import Check, check_model, check_store, stale_files
from flows.doctor_machine import check_hooks, check_installation, check_server
from index.errors import HotwashError
from index.shared import complete_shared
from index.store import make_store
from reflect.transcripts.registry import find_sessions

SIGNS = {"ok": "  ok  ", "note": " note ", "bad": "  BAD "}


def examine(world: World) -> tuple[Check, ...]:
    """Every check, in the order of the report; writes nothing outside a temporary folder."""
    agents = frozenset(agent for agent, _ in find_sessions(world.home, world.env))
    return (
        *check_installation(),
        *check_hooks(world, agents),
        *check_store(world),
        *check_model(world),
        *check_server(world),
    )


def mend(world: World, checks: Iterable[Check]) -> tuple[str, ...]:
    """Do the safe repairs that the checks ask for; returns what was done, or why it could not be. Derived and
    temporary files, folders and modes of the store only: never a lesson, never an agent's configuration."""
    wanted = {check.fix for check in checks if check.fix}
    done: list[str] = []
    for fix, repair in _REPAIRS.items():
        if fix in wanted:
            try:
                done.append(repair(world))
            except (OSError, HotwashError) as error:
                done.append(f"could not: {error}")
    return tuple(done)


def _make_folders(world: World) -> str:
    make_store(world.root)
    return f"made the folders of {world.root}"


def _close_store(world: World) -> str:
    world.root.chmod(0o700)
    for path in sorted(world.root.iterdir()):
        if path.is_dir() and not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o700)
    return f"{world.root} is open to its owner alone"


def _complete_shared(world: World) -> str:
    return f"completed {', '.join(complete_shared(world.root)) or 'nothing'} of the shared store"


def _remove_temporary(world: World) -> str:
    stale = stale_files(world)
    for path in stale:
        with suppress(FileNotFoundError):
            path.unlink()
    return f"removed {len(stale)} temporary files"


def _rebuild(world: World) -> str:
    from flows.pipeline import rebuild_index
    from flows.stages import RECALL_KEY

    # Without its key the recall database is made anew, also where it is damaged.
    (world.root / RECALL_KEY).unlink(missing_ok=True)
    rebuild_index(world)
    return "rebuilt the index, the verdicts and the recall database"


def _forget_server(world: World) -> str:
    from flows.prefect_api import read_serving, serve_file

    if read_serving(world.root) is None:
        serve_file(world.root).unlink(missing_ok=True)
    return "removed the note of a server that no longer runs"


# In this order: what cannot be entered cannot be rebuilt.
_REPAIRS = {
    "chmod": _close_store,
    "folders": _make_folders,
    "shared": _complete_shared,
    "temporary": _remove_temporary,
    "index": _rebuild,
    "serve-file": _forget_server,
}


def settings_check(error: HotwashError) -> Check:
    """The check for settings that cannot be read: the rest is looked at with the defaults."""
    return Check("settings", "bad", str(error), "mend config.yaml or the variable; nothing runs until then")


def doctor_json(checks: Sequence[Check], done: Sequence[str]) -> dict[str, Any]:
    """The checks as plain data."""
    return {"checks": [asdict(check) for check in checks], "done": list(done), "bad": count_bad(checks)}


def count_bad(checks: Iterable[Check]) -> int:
    """How many checks need a repair."""
    return sum(check.state == "bad" for check in checks)


def render_doctor(checks: Sequence[Check], done: Sequence[str]) -> str:
    """The checks for people: one line each, the repair below."""
    lines = [f"mended: {text}" for text in done]
    lines += [""] if done else []
    for check in checks:
        lines.append(f"{SIGNS[check.state]} {check.area.ljust(12)} {check.text}")
        if check.repair and check.state != "ok":
            lines.append(f"{' ' * 20}-> {check.repair}")
    fixable = sum(check.state == "bad" and bool(check.fix) for check in checks)
    bad = count_bad(checks)
    lines.append("")
    lines.append(
        "All is well."
        if not bad
        else f"{bad} to repair" + (f"; `hotwash doctor --fix` does {fixable} of them." if fixable else ".")
    )
    return "\n".join(lines) + "\n"
