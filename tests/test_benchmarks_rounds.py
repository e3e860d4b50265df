"""A store that is consolidated week after week by a model that lies keeps every fact of its first day."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rounds import Outcome, play, serve
from tests.local_model import CannotInstall, model_folder


def holds(found: Outcome, rounds: int) -> None:
    assert found.rounds == rounds
    assert found.merges > rounds
    assert (found.lost, found.not_found, found.invented) == ([], [], [])


def test_an_adversary_at_the_models_endpoint_takes_nothing_and_adds_nothing(tmp_path: Path) -> None:
    """It truncates, empties, invents, swaps values, splices, repeats, injects and fails, over HTTP and on disk."""
    with serve("adversary", tmp_path) as model:
        found = play(tmp_path / "store", 2, model)
    assert found.calls >= found.merges // 2
    holds(found, 2)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["adversary", "none"])
def test_fifty_rounds(tmp_path: Path, kind: str) -> None:
    """The same for a year of weeks, with the adversary and without a model."""
    with serve(kind, tmp_path) as model:
        holds(play(tmp_path / "store", 50, model), 50)


@pytest.mark.model
@pytest.mark.nightly
def test_rounds_with_a_real_small_model(tmp_path: Path) -> None:
    """The smallest model of all, which drops, splices and invents by itself."""
    try:
        with serve("local", model_folder()) as model:
            holds(play(tmp_path / "store", 5, model), 5)
    except CannotInstall as error:
        pytest.skip(str(error))
