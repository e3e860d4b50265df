"""Runs an action in a child process whose n-th change of the disk kills it (SIGKILL) or is refused; a write is torn."""

from __future__ import annotations

import builtins
import io
import os
import posix
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHANGING = ("fsync", "utime", "rename", "replace", "unlink", "mkdir", "rmdir", "link", "fchmod", "truncate")
FREEING = frozenset({"rename", "replace", "unlink", "rmdir", "truncate"})  # what a full disk still allows
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Countdown:
    """Counts the changes of the disk, and kills its own process before the one that was chosen.

    With `refusal`, an error number, nothing dies: that change and all that would need room after it are refused.
    """

    def __init__(self, kill_at: int, refusal: int = 0) -> None:
        self.kill_at = kill_at
        self.refusal = refusal
        self.calls = 0

    def due(self) -> bool:
        """Count one change; true if the process is to die at it."""
        self.calls += 1
        return self.calls == self.kill_at or bool(self.refusal and self.calls > self.kill_at > 0)

    def die(self) -> None:
        """No handler, no `finally`, no buffer is flushed."""
        if self.refusal:
            raise OSError(self.refusal, os.strerror(self.refusal))
        os.kill(os.getpid(), signal.SIGKILL)

    def counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if self.due() and not (self.refusal and function.__name__ in FREEING):
                self.die()
            return function(*given, **named)

        return call

    def opening(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, flags: int, *given: Any, **named: Any) -> Any:
            if flags & WRITING and self.due():
                self.die()
            return function(path, flags, *given, **named)

        return call

    def tearing(self, function: Callable[..., int]) -> Callable[..., int]:
        def call(descriptor: int, data: Any) -> int:
            if self.due():
                function(descriptor, memoryview(data)[: len(data) // 2])
                self.die()
            return function(descriptor, data)

        return call

    def opening_file(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
            if set(mode) & set("wax+") and self.due():
                self.die()
            return function(file, mode, *given, **named)

        return call

    def arm(self) -> None:
        """Put the counting in place of the calls that change the disk."""
        for name in CHANGING:
            counted = self.counting(getattr(os, name))
            for module in (os, posix):
                setattr(module, name, counted)
        for name, counted in (("open", self.opening(os.open)), ("write", self.tearing(os.write))):
            for module in (os, posix):
                setattr(module, name, counted)
        opened_file = self.opening_file(io.open)
        io.open = opened_file
        builtins.open = opened_file


def run_killed(action: Callable[[], object], kill_at: int, refusal: int = 0) -> int:
    """Run the action in a child that dies at its `kill_at`-th change of the disk.

    Returns 0 where it died, else the number of changes that the whole action makes. Raises where the action fails.
    With `refusal` it does not die, but finds the disk so from then on.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        countdown = _Countdown(kill_at, refusal)
        write = os.write
        try:
            countdown.arm()
            action()
            write(writer, b"%d" % countdown.calls)
        except BaseException:
            write(writer, traceback.format_exc().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return 0
    assert said.isdigit(), said.decode()
    return int(said)


def points(changes: int, most: int | None) -> Iterator[int]:
    """The changes to die at: every one, or at most so many, evenly spread, the first and the last among them."""
    if most is None or changes <= most:
        yield from range(1, changes + 1)
    else:
        yield from sorted({1 + round(step * (changes - 1) / (most - 1)) for step in range(most)})


def leftovers(*folders: Path) -> list[str]:
    """Temporary files that nobody will take away."""
    return [
        str(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and (path.name.endswith(("-tmp", ".tmp")) or "-journal" in path.name)
    ]
