"""Buckets of signatures in a Redis server, through datasketch's own storage, for what several machines sign.

Two indexes stand side by side: one with the bands of `DedupSettings`, one with the narrow bands of short texts. A file
is known by its place in the listing. Nothing stays behind: `clear` takes away what a name's indexes hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np

from detectors.duplicates import in_reach, short_bands
from index.errors import SettingsError
from index.settings import DedupSettings
from index.signatures import SCHEME, U32, Int

if TYPE_CHECKING:
    from datasketch import MinHashLSH

AT_A_TIME = 5_000  # keys asked for in one request


def fill(url: str, name: str, settings: DedupSettings, places: Int, signatures: U32, counts: Int) -> None:
    """Put the signatures of the files at `places` into the buckets of both indexes."""
    from datasketch import LeanMinHash

    wide, narrow = _indexes(url, name, settings)
    for index, rows in ((wide, np.flatnonzero(counts > 0)), (narrow, np.flatnonzero(in_reach(counts, settings)))):
        with index.insertion_session() as session:
            for row in rows.tolist():
                sketch = LeanMinHash(seed=settings.seed, hashvalues=signatures[row], scheme=SCHEME)
                session.insert(int(places[row]).to_bytes(8, "big"), sketch, check_duplication=False)


def band_count(settings: DedupSettings) -> int:
    """How many bands both indexes have together; `shared` takes any number below it."""
    return settings.bands + short_bands(settings)[0]


def shared(url: str, name: str, settings: DedupSettings, band: int) -> tuple[Int, Int]:
    """The places in those buckets of one band that hold more than one, and the number of the bucket of each."""
    wide, narrow = _indexes(url, name, settings)
    table: Any = wide.hashtables[band] if band < settings.bands else narrow.hashtables[band - settings.bands]
    full = sorted(key for key, count in table.itemcounts().items() if count > 1)
    places: list[int] = []
    buckets: list[int] = []
    for number, members in enumerate(members for part in _parts(full) for members in table.getmany(*part)):
        places += [int.from_bytes(member, "big") for member in members]
        buckets += [number] * len(members)
    return np.array(places, dtype=np.int64), np.array(buckets, dtype=np.int64)


def clear(url: str, name: str, settings: DedupSettings) -> None:
    """Delete both indexes."""
    for index in _indexes(url, name, settings):
        tables: list[Any] = [*index.hashtables, index.keys]
        for table in tables:
            for part in _parts(list(table.keys())):
                table.remove(*part)


@lru_cache(maxsize=2)
def _indexes(url: str, name: str, settings: DedupSettings) -> tuple[MinHashLSH, MinHashLSH]:
    from datasketch import MinHashLSH

    wide, narrow = (settings.bands, settings.rows), short_bands(settings)
    first, second = (
        MinHashLSH(
            num_perm=settings.permutations,
            params=params,
            storage_config={"type": "redis", "basename": f"{name}-{kind}".encode(), "redis": server(url)},
            prepickle=False,
        )
        for kind, params in (("wide", wide), ("narrow", narrow))
    )
    return first, second


def server(url: str) -> dict[str, Any]:
    """The parameters of a Redis client from `redis://[user:password@]host[:port][/database]`."""
    parts = urlsplit(url)
    path = parts.path.strip("/")
    try:
        port = parts.port or 6379
    except ValueError:
        port = 0
    if parts.scheme not in ("redis", "rediss") or not parts.hostname or not port or not (path.isdigit() or not path):
        raise SettingsError(f"spread.redis: wanted an address such as redis://buckets.internal:6379/0, found {url!r}.")
    found: dict[str, Any] = {"host": parts.hostname, "port": port, "db": int(path or 0)}
    found |= {"username": unquote(parts.username)} if parts.username else {}
    found |= {"password": unquote(parts.password)} if parts.password else {}
    return found | ({"ssl": True} if parts.scheme == "rediss" else {})


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[at : at + AT_A_TIME] for at in range(0, len(keys), AT_A_TIME))
