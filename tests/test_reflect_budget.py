"""Money has a gate: what a call may cost is known before it, and the day's caps hold across processes."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import ModelError
from index.settings import ModelSettings
from reflect.budget import (
    Budget,
    Price,
    Spend,
    is_loopback,
    most_tokens,
    parse_spend,
    price_of,
    read_prices,
    read_spend,
    refusal,
    render_spend,
    spend_path,
)

DAY = date(2026, 11, 30)
MAP = {
    "acme-1": {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6},
    "deep": {
        "litellm_provider": "acme",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "input_cost_per_token_above_200k_tokens": 2e-6,
        "input_cost_per_token_priority": 9e-6,
        "output_cost_per_token": 4e-6,
        "output_cost_per_reasoning_token": 5e-6,
    },
    "by-second": {"litellm_provider": "acme", "mode": "chat", "input_cost_per_second": 0.01},
    "pictures": {
        "litellm_provider": "acme",
        "mode": "image_generation",
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
    },
}


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:8080", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://localhost.example.org", False),
        ("https://api.example.org/127.0.0.1", False),
        ("http://10.0.0.3:8080", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_the_address_itself(address: str, loopback: bool) -> None:
    """Only a host that is this machine by its own form is free of cost."""
    assert is_loopback(address) is loopback


def test_prices() -> None:
    """From the settings first, nothing on loopback, then the map at its dearest step; unknown is unknown."""
    assert price_of(ModelSettings(name="acme/acme-1"), MAP) == Price(1e-6, 4e-6)
    assert price_of(ModelSettings(name="acme-1"), MAP) == Price(1e-6, 4e-6)
    assert price_of(ModelSettings(name="deep"), MAP) == Price(2e-6, 5e-6)
    assert price_of(ModelSettings(name="other/acme-1"), MAP) is None
    assert price_of(ModelSettings(name="by-second"), MAP) is None
    assert price_of(ModelSettings(name="pictures"), MAP) is None
    assert price_of(ModelSettings(name="x", api_base="http://127.0.0.1:1/v1"), MAP) == Price(0, 0)
    assert price_of(ModelSettings(name="x", api_base="https://api.example.org"), MAP) is None
    mine = ModelSettings(name="x", input_cost_per_token=3e-6, output_cost_per_token=0.0)
    assert price_of(mine, MAP) == Price(3e-6, 0.0)


def test_the_map_that_litellm_brings_is_found() -> None:
    """The price file is where we look for it and prices well-known models, without importing litellm."""
    code = (
        "import sys; from reflect.budget import read_prices, price_of; from index.settings import ModelSettings as M;"
        "p = price_of(M(name='openai/gpt-4o-mini'), read_prices()); assert p and 0 < p.input < p.output, p;"
        "assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
    assert len(read_prices()) > 500


@given(st.text(max_size=400))
def test_the_estimate_is_never_below_the_words(text: str) -> None:
    """More tokens are reserved than there are words, in any script."""
    assert most_tokens(text) >= max(len(text.split()), len(text) // 2)


def test_caps() -> None:
    """Either cap stops a call, each saying which setting it was; a call that costs nothing needs no money."""
    settings = ModelSettings(name="m", daily_cap_usd=0.01, daily_cap_tokens=1000)
    assert refusal(Spend(), Spend(0.01, 1000, 1), settings) == ""
    assert "daily_cap_usd" in refusal(Spend(0.005), Spend(0.006, 1, 1), settings)
    assert "daily_cap_tokens" in refusal(Spend(0, 900), Spend(0, 101, 1), settings)
    assert refusal(Spend(0.02), Spend(0, 1, 1), settings) == ""


@given(st.floats(0, 1e4), st.integers(0, 10**9), st.integers(0, 10**6))
def test_a_ledger_is_read_as_it_was_written(usd: float, tokens: int, calls: int) -> None:
    """parse(render(x)) == x."""
    assert parse_spend(render_spend(Spend(usd, tokens, calls))) == Spend(usd, tokens, calls)


def test_reserve_and_settle(tmp_path: Path) -> None:
    """What is reserved counts at once; what was really taken replaces it; another store's process sees both."""
    settings = ModelSettings(name="m", daily_cap_usd=1.0)
    budget = Budget(tmp_path, DAY, settings)
    budget.reserve(Spend(0.8, 100, 2))
    with pytest.raises(ModelError, match="daily_cap_usd"):
        Budget(tmp_path, DAY, settings).reserve(Spend(0.3, 10, 1))
    budget.settle(Spend(0.8, 100, 2), Spend(0.1, 40, 1))
    assert read_spend(tmp_path, DAY) == budget.run == Spend(0.1, 40, 1)
    Budget(tmp_path, DAY, settings).reserve(Spend(0.3, 10, 1))
    assert read_spend(tmp_path, date(2026, 12, 1)) == Spend()


def test_a_broken_ledger_stops_spending(tmp_path: Path) -> None:
    """Where the ledger cannot be read nothing is spent, and the message names the file."""
    path = spend_path(tmp_path, DAY)
    path.parent.mkdir(parents=True)
    path.write_text("{oops")
    with pytest.raises(ModelError, match=r"2026-11-30\.json"):
        Budget(tmp_path, DAY, ModelSettings(name="m")).reserve(Spend(0, 1, 1))
