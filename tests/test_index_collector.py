"""The collector is as it was afterwards, whatever happens meanwhile."""

from __future__ import annotations

import gc

import pytest

from index.collector import SELDOM, collect_seldom, collector_off


def test_off_and_on_again() -> None:
    """Also where it was off before, and after an error."""
    with collector_off():
        assert not gc.isenabled()
    with pytest.raises(KeyError), collector_off():
        raise KeyError
    assert gc.isenabled()
    with collector_off(), collector_off():
        pass
    assert gc.isenabled()


def test_seldom_for_a_while() -> None:
    """The thresholds come back."""
    before = gc.get_threshold()
    with collect_seldom():
        assert gc.get_threshold() == SELDOM
    assert gc.get_threshold() == before
    with pytest.raises(KeyError), collect_seldom():
        raise KeyError
    assert gc.get_threshold() == before
