"""What is being done, on one line of a terminal, for anything that takes over two seconds.

A text that holds "N of M" is drawn with a bar. Nothing is drawn where the stream is no terminal.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TextIO

LEAST_SECONDS = 2.0  # what ends sooner needs no telling
TICK_SECONDS = 0.25
BAR = 30  # columns
CLEAR = "\r\x1b[2K"
_COUNTED = re.compile(r"\b(\d+) of (\d+)\b")


class ProgressLine:
    """Call it with what is being done, as often as you like; `close` takes the line away.

    A thread draws, so that a single long step is seen too.
    """

    def __init__(self, stream: TextIO, least: float = LEAST_SECONDS) -> None:
        self._stream = stream
        self._least = least
        self._text = ""
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, text: str) -> None:
        """Say what is being done now."""
        self._text = text
        if self._thread is None:
            self._began = time.monotonic()
            self._ended.clear()
            self._thread = threading.Thread(target=self._draw_on, name="progress", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Take the line away; what is written next starts in the first column."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None

    def _draw_on(self) -> None:
        drawn = False
        if not self._ended.wait(self._least):
            while True:
                drawn = True
                seconds = int(time.monotonic() - self._began)
                self._stream.write(CLEAR + render_line(self._text, seconds))
                self._stream.flush()
                if self._ended.wait(TICK_SECONDS):
                    break
        if drawn:
            self._stream.write(CLEAR)
            self._stream.flush()


_lines: list[ProgressLine] = []


def begin_progress(stream: TextIO) -> Callable[[str], None]:
    """A function that shows what is being done on a terminal, until `end_progress`; it does nothing elsewhere."""
    if not stream.isatty():
        return lambda text: None
    line = ProgressLine(stream)
    _lines.append(line)
    return line


def end_progress() -> None:
    """Take the line away before anything else is printed."""
    while _lines:
        _lines.pop().close()


def render_line(text: str, seconds: int) -> str:
    """The line: a bar where the text counts, what is being done, and for how long all of it has taken."""
    shown = f"{text[:70]} ({seconds} s)"
    counted = _COUNTED.search(text)
    if counted is None or not int(counted[2]):
        return shown
    from rich.console import Console
    from rich.progress_bar import ProgressBar

    console = Console(width=BAR, force_terminal=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(ProgressBar(total=int(counted[2]), completed=int(counted[1]), width=BAR), end="")
    return f"{capture.get().rstrip()} {shown}"
