"""What model calls may cost: the price of a model, the most a call can cost, and the day's ledger that caps both.

A call is priced before it is made, at the most it can cost: every byte pair of the prompt as a token, and the longest
answer it may give, for each attempt. That sum is written to the ledger first, so that a killed process or a second one
cannot spend it again; what the call really took replaces it afterwards.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import filelock

from index.decode import load_json
from index.errors import ModelError
from index.settings import ModelSettings
from index.store import SPOOL

LOCK_SECONDS = 30.0
# The price map that litellm brings along; read from its folder, for importing litellm takes seconds.
PRICE_FILE = "model_prices_and_context_window_backup.json"
_OTHER_TARIFFS = ("_batches", "_priority", "_flex")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per token, of the prompt and of the answer."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost."""
        return input_tokens * self.input + output_tokens * self.output


@dataclass(frozen=True, slots=True)
class Spend:
    """What was spent: US dollars, tokens in both directions, calls."""

    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    def plus(self, other: Spend) -> Spend:
        """Both together."""
        return Spend(round(self.usd + other.usd, 9), self.tokens + other.tokens, self.calls + other.calls)

    def minus(self, other: Spend) -> Spend:
        """Without the other."""
        return Spend(round(max(0.0, self.usd - other.usd), 9), self.tokens - other.tokens, self.calls - other.calls)


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine by its own form; no name is looked up."""
    host = urlsplit(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def read_prices() -> Mapping[str, Mapping[str, Any]]:
    """litellm's own price map; empty where litellm is not installed."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        found: Mapping[str, Mapping[str, Any]] = load_json((Path(spec.origin).parent / PRICE_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found


def price_of(settings: ModelSettings, known: Mapping[str, Mapping[str, Any]]) -> Price | None:
    """The price of the configured model: of the settings, nothing on loopback, of the map; None if nobody knows it."""
    if settings.input_cost_per_token is not None and settings.output_cost_per_token is not None:
        return Price(settings.input_cost_per_token, settings.output_cost_per_token)
    if settings.api_base and is_loopback(settings.api_base):
        return Price(0.0, 0.0)
    provider, _, bare = settings.name.partition("/")
    entry = known.get(settings.name)
    if entry is None and bare:
        entry = known.get(bare)
        if entry is not None and not str(entry.get("litellm_provider", "")).startswith(provider):
            entry = None
    if entry is None:
        return None
    paid = [_dearest(entry, "input_cost_per_token"), _dearest(entry, "output_cost_per_token")]
    if None in paid or entry.get("mode") not in {"chat", "completion", "responses"}:
        return None
    thought = _dearest(entry, "output_cost_per_reasoning_token") or 0.0
    cached = _dearest(entry, "cache_creation_input_token_cost") or 0.0
    return Price(max(paid[0] or 0.0, cached), max(paid[1] or 0.0, thought))


def _dearest(entry: Mapping[str, Any], key: str) -> float | None:
    """The highest of a price and its steps for long prompts, without the tariffs that must be asked for."""
    found = [
        float(value)
        for name, value in entry.items()
        if name.startswith(key) and not name.endswith(_OTHER_TARIFFS) and isinstance(value, int | float)
    ]
    return max(found) if key in entry and found else None


def most_tokens(*texts: str) -> int:
    """More tokens than any tokenizer makes of the texts in practice: one for every two bytes, and the frame."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 2 + 64


def refusal(spent: Spend, wanted: Spend, settings: ModelSettings) -> str:
    """Why a call must not be made today; "" when it may."""
    if spent.usd + wanted.usd > settings.daily_cap_usd and wanted.usd > 0:
        return (
            f"today's cap of {settings.daily_cap_usd:g} USD (model.daily_cap_usd) does not hold the call: "
            f"{spent.usd:.4f} USD are spent and it may cost {wanted.usd:.4f}"
        )
    if spent.tokens + wanted.tokens > settings.daily_cap_tokens:
        return (
            f"today's cap of {settings.daily_cap_tokens} tokens (model.daily_cap_tokens) does not hold the call: "
            f"{spent.tokens} are used and it may take {wanted.tokens}"
        )
    return ""


def render_spend(spend: Spend) -> str:
    """A day's ledger as its file holds it."""
    return json.dumps(asdict(spend)) + "\n"


def parse_spend(text: str) -> Spend | None:
    """A day's ledger from its file; None if it is not one."""
    try:
        row = load_json(text)
        return Spend(float(row["usd"]), int(row["tokens"]), int(row["calls"]))
    except (ValueError, TypeError, KeyError):
        return None


def spend_path(root: Path, day: date) -> Path:
    """Where a day's ledger lies."""
    return root / SPOOL / "spend" / f"{day.isoformat()}.json"


def read_spend(root: Path, day: date) -> Spend:
    """What was spent on a day. A ledger that cannot be read raises ModelError: nothing is spent on a guess."""
    path = spend_path(root, day)
    try:
        spend = parse_spend(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Spend()
    except OSError as error:
        raise ModelError(f"{path}: the day's spending cannot be read ({error.strerror}). Make it readable.") from error
    if spend is None:
        raise ModelError(f"{path}: wanted the day's spending as JSON. Correct it, or delete it to start the day anew.")
    return spend


class Budget:
    """The ledger of one store and day: sums are reserved before a call and settled after it. Safe across processes."""

    def __init__(self, root: Path, day: date, settings: ModelSettings) -> None:
        self.root, self.day, self.settings = root, day, settings
        self.run = Spend()

    def reserve(self, wanted: Spend) -> None:
        """Write the most a call can cost to the ledger; raises ModelError where a cap does not hold it."""
        with self._held():
            spent = read_spend(self.root, self.day)
            reason = refusal(spent, wanted, self.settings)
            if reason:
                raise ModelError(f"{self.settings.name}: not called, {reason}. Raise the cap, or wait for tomorrow.")
            self._write(spent.plus(wanted))

    def settle(self, reserved: Spend, took: Spend) -> None:
        """Put what a call really took in the place of what was reserved for it."""
        with self._held():
            self._write(read_spend(self.root, self.day).minus(reserved).plus(took))
        self.run = self.run.plus(took)

    def _held(self) -> filelock.BaseFileLock:
        folder = spend_path(self.root, self.day).parent
        folder.mkdir(parents=True, exist_ok=True)
        return filelock.FileLock(folder / ".lock", timeout=LOCK_SECONDS, mode=0o600)

    def _write(self, spend: Spend) -> None:
        path = spend_path(self.root, self.day)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_text(render_spend(replace(spend, tokens=max(0, spend.tokens), calls=max(0, spend.calls))), "utf-8")
        beside.replace(path)
