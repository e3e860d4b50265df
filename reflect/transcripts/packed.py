"""Unpacks transcripts that an agent compresses: zstd from Python 3.14 on its own, before with `zstandard`; gzip."""

from __future__ import annotations

import importlib
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

ZSTD = b"\x28\xb5\x2f\xfd"
GZIP = b"\x1f\x8b"
# What a small file may unpack to; no transcript is larger, and the disk must not be filled.
MAX_UNPACKED = 2 << 30
_BLOCK = 1 << 14
# Both give an object with `decompress`, `eof` and `unused_data`.
_MAKERS: dict[str, Callable[[Any], Any]] = {
    "compression.zstd": lambda module: module.ZstdDecompressor(),
    "zstandard": lambda module: module.ZstdDecompressor().decompressobj(),
}


def gzip_decompressor() -> Any:
    """A decompressor for one member of a gzip file."""
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def find_decompressor() -> Callable[[], Any] | None:
    """What makes a decompressor for one frame of zstd; None where this Python has nothing that can."""
    for name, make in _MAKERS.items():
        with suppress(ImportError):
            module = importlib.import_module(name)
            return lambda make=make, module=module: make(module)  # type: ignore[misc]
    return None


def first_line(path: Path, make: Callable[[], Any], most: int) -> bytes:
    """The first line in a compressed file, or its first `most` bytes; "" where it cannot be unpacked."""
    text = b""
    with suppress(Exception), path.open("rb") as source:
        for block in _texts(source, make):
            text += block
            if b"\n" in block or len(text) >= most:
                break
    return text.partition(b"\n")[0][:most]


@contextmanager
def unpacked(path: Path, make: Callable[[], Any]) -> Iterator[tuple[Path, str]]:
    """(a temporary file with the text of a compressed one, what was wrong with it); it is gone afterwards.

    A file that is cut or broken gives what stands before that place. Raises OSError if it cannot be read.
    """
    fault = ""
    with tempfile.NamedTemporaryFile(prefix="hotwash-", suffix=".jsonl") as target:
        with path.open("rb") as source:
            try:
                for text in _texts(source, make):
                    target.write(text)
                    if target.tell() >= MAX_UNPACKED:
                        fault = f"unpacks to more than {MAX_UNPACKED >> 30} GiB; the rest was left out"
                        break
            except OSError:
                raise
            except Exception as error:  # each library has an error type of its own
                fault = f"cannot be unpacked to its end ({error}); what stands before was read"
        target.flush()
        yield Path(target.name), fault


def _texts(source: IO[bytes], make: Callable[[], Any]) -> Iterator[bytes]:
    frame = make()
    while block := source.read(_BLOCK):
        while block:
            frame = make() if frame.eof else frame
            yield frame.decompress(block)
            block = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise ValueError("it is cut")
