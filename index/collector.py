"""Python's collector of cyclic garbage, kept from going over every record of a large store again and again.

Records make no cycles, and what makes some (a compiled pattern, an error's trace) is little.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made before the youngest are looked at, and such looks before the older ones are, and the oldest.
SELDOM = (100_000, 50, 100)


@contextmanager
def collector_off() -> Iterator[None]:
    """Collect nothing while many records are made at once."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def collect_seldom() -> Iterator[None]:
    """Collect seldom, for a run that makes and drops millions of objects beside the store's records."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
