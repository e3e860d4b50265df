"""A snapshot's bytes: a tar of a store's files, a manifest of their hashes first, gzipped in blocks.

A block is a gzip member of its own (a reader sees one stream), and where blocks begin depends on the files' names and
sizes alone. So a block of which no file changed has the same bytes again, and can be taken over as it is.
"""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from json.encoder import encode_basestring_ascii
from typing import TypeVar

MANIFEST = "MANIFEST.json"
LEVEL = 1  # a third of the time of gzip's usual 6, for files a sixth larger
FILES = 16  # in a block, on average
LARGEST = 1 << 20  # bytes of files in a block, but for a larger file
BILLION = 1_000_000_000
END = b"\0" * 1024

# Made by hand, since tarfile takes longer over a header than over the reading and packing of a lesson: what is the same
# for every file, and its part of the check sum.
_MODE = 0o600


def _made(name: str, size: int, mtime: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode, info.type = size, mtime, _MODE, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


_SAMPLE = _made("x", 0, 0)
_OWNER, _REST = _SAMPLE[100:124], _SAMPLE[156:]
_SUM = sum(_OWNER) + sum(_REST) + 8 * 0x20
_MOST = 8**11  # what a number's field holds
_TIME = b"30 mtime=%d.%09d\n"
_TIME_HEADER = _made("././@PaxHeader", 30, 0, tarfile.XHDTYPE)


def is_start(name: str) -> bool:
    """Whether a file of this name begins a new block."""
    mixed = zlib.crc32(name.encode("utf-8", "surrogateescape")) * 0x9E3779B1 & 0xFFFFFFFF  # names that count up too
    return mixed < (1 << 32) // FILES


Kept = TypeVar("Kept")


def cut_blocks(files: Iterable[tuple[str, int, Kept]]) -> Iterator[list[tuple[str, int, Kept]]]:
    """Files (name, size, anything) as the blocks that they are packed in."""
    block: list[tuple[str, int, Kept]] = []
    bytes_in = 0
    for one in files:
        if block and (is_start(one[0]) or bytes_in + one[1] > LARGEST):
            yield block
            block, bytes_in = [], 0
        block.append(one)
        bytes_in += one[1]
    if block:
        yield block


def pack_block(files: Iterable[tuple[str, bytes, int]]) -> bytes:
    """One block of files: (name, bytes, mtime in ns)."""
    parts: list[bytes] = []
    for name, content, mtime_ns in files:
        parts += (tar_header(name, len(content), mtime_ns), content, b"\0" * (-len(content) % 512))
    return zlib.compress(b"".join(parts), LEVEL, wbits=31)


def pack_manifest(hashes: Mapping[str, str]) -> bytes:
    """The first block: the SHA-256 of each file by name, as JSON."""
    lines = [f'\n {encode_basestring_ascii(name)}: "{hashes[name]}"' for name in sorted(hashes)]
    text = "{" + ",".join(lines) + ("\n}" if lines else "}")
    return pack_block([(MANIFEST, text.encode(), 0)])


def pack_end() -> bytes:
    """What a tar ends with."""
    return zlib.compress(END, LEVEL, wbits=31)


def sha256(content: bytes) -> str:
    """A file's hash as the manifest has it."""
    return hashlib.sha256(content).hexdigest()


def tar_header(name: str, size: int, mtime_ns: int) -> bytes:
    """The header blocks of a file, its time in ns and its name whole."""
    seconds, rest = divmod(mtime_ns, BILLION)
    timely = BILLION <= seconds < _MOST if rest else 0 <= seconds < _MOST
    if not timely or size >= _MOST or len(name) > 100 or not name.isascii():
        return _unusual_header(name, size, mtime_ns)
    raw, numbers = name.encode(), b"%011o\0%011o\0" % (size, seconds)
    check = b"%06o\0 " % (_SUM + sum(raw) + sum(numbers))
    header = raw.ljust(100, b"\0") + _OWNER + numbers + check + _REST
    if not rest:
        return header
    return b"".join((_TIME_HEADER, (_TIME % (seconds, rest)).ljust(512, b"\0"), header))


def _unusual_header(name: str, size: int, mtime_ns: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, _MODE, max(0, mtime_ns // BILLION)
    sign, (seconds, rest) = "-" if mtime_ns < 0 else "", divmod(abs(mtime_ns), BILLION)
    info.pax_headers = {"mtime": f"{sign}{seconds}.{rest:09d}"}
    return info.tobuf(tarfile.PAX_FORMAT)


def mtime_of(member: tarfile.TarInfo) -> int:
    """A file's time in ns, to the last digit."""
    written = member.pax_headers.get("mtime", "")
    seconds, _, rest = written.lstrip("-").partition(".")
    if not seconds.isdigit() or not (rest.isdigit() or not rest):
        return int(member.mtime) * BILLION
    found = int(seconds) * BILLION + int(f"{rest:0<9.9}")
    return -found if written.startswith("-") else found
