"""Every setting, as one frozen dataclass per stage; read once from config.yaml and HOTWASH_* variables."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from index.decode import safe_yaml
from index.errors import SettingsError


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model that may help; `name` is any litellm model string, "" means none is used.

    `api_base` is for local or self-hosted servers; `api_key_env` names the environment variable with the key. Prices
    are in US dollars per token and only needed for a model that litellm does not know.
    """

    name: str = ""
    api_base: str = ""
    api_key_env: str = ""
    timeout_seconds: float = 120.0
    max_tokens: int = 1500
    daily_cap_usd: float = 1.0
    daily_cap_tokens: int = 500_000
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None


@dataclass(frozen=True, slots=True)
class ReflectSettings:
    """How sessions become lessons. A session teaches at most `lessons_per_session`, explicit requests aside; from 3 on
    a long one (over 60 turns) teaches up to three more of what its commands proved.

    A session without an end event counts as over when its file was quiet for `quiet_minutes`; episodes are kept for
    `episode_days`. `projects_off` are projects (as written in `project:`) of which nothing is kept; if `projects_only`
    is not empty, only those are read.
    """

    lessons_per_session: int = 3
    quiet_minutes: int = 30
    episode_days: int = 365
    projects_off: tuple[str, ...] = ()
    projects_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RedactSettings:
    """What is taken out besides secrets: mail addresses, user names in home paths, private hosts and addresses."""

    personal_data: bool = False


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """The poison scan. With `judge` the model of `model:` is asked about lessons that the scan only suspects, about at
    most `judge_per_run` new ones in a run; it may make poison of a suspect one, and never clears any.
    """

    judge: bool = False
    judge_per_run: int = 20


@dataclass(frozen=True, slots=True)
class DedupSettings:
    """When two lessons count as near-duplicates; the arithmetic is beside detectors/duplicates.py.

    `threshold` is the exact Jaccard similarity from which two are candidates; `ratio` rapidfuzz' token_sort_ratio that
    confirms (80 would lose 6 in 1,000 of the pairs above the threshold); `cluster_bound` the least similarity that two
    members of one cluster may have.
    """

    threshold: float = 0.7
    ratio: float = 70.0
    cluster_bound: float = 0.5
    permutations: int = 128
    bands: int = 21
    rows: int = 6
    estimate: float = 0.55
    seed: int = 1


@dataclass(frozen=True, slots=True)
class SpreadSettings:
    """Beyond one machine (docs/scale.md): where the signatures of a large store are made, and its buckets kept.

    `dask` is "" for this process, "local" for `workers` processes of this machine, or the address of a Dask scheduler
    whose workers see the store under the same path. `shard_files` is the number of files in one task. `redis` is the
    address of a server for the buckets, such as redis://buckets.internal:6379/0; "" keeps them in memory.
    """

    dask: str = ""
    workers: int = 2
    shard_files: int = 5_000
    redis: str = ""


@dataclass(frozen=True, slots=True)
class DecaySettings:
    """When a lesson counts as stale and when it is archived, in days since its newest evidence.

    Of the live store at most the share `budget_per_pass` leaves in a pass and `budget_per_quarter` in 91 days without a
    person, but `budget_least` lessons always may.
    """

    stale_days: int = 30
    archive_days: int = 90
    budget_per_pass: float = 0.05
    budget_per_quarter: float = 0.25
    budget_least: int = 3


@dataclass(frozen=True, slots=True)
class PromoteSettings:
    """When a pattern becomes a draft skill, and how many drafts may wait for a person."""

    sessions: int = 3
    days: int = 2
    drafts_per_week: int = 5
    expire_days: int = 60


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """Where a published skill goes, for how long `later` puts a draft off, and when a queue counts as stalled.

    `publish: files` writes it below each of `skills_folders` (`~` is the home folder). `publish: branch` makes a git
    branch with one commit instead, in `repository` (default: the one that the store lies in), below each of
    `branch_folders` in it, starting at `branch_base` (default: the remote's default branch, else what is checked out).
    """

    skills_folders: tuple[str, ...] = ("~/.claude/skills",)
    later_days: int = 7
    stalled_days: int = 14
    publish: str = "files"
    repository: str = ""
    branch_folders: tuple[str, ...] = (".claude/skills",)
    branch_base: str = ""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The managed block of MEMORY.md and the pack: most characters, most tokens, least confidence.

    `targets` are further files that hold the block, such as an agent's own memory (`~` is the home folder); in each it
    takes no more than its agent loads: 200 lines and 25 KB of Claude Code's auto memory, 32 KiB of AGENTS.md.
    """

    max_characters: int = 2_200
    targets: tuple[str, ...] = ()
    pack_tokens: int = 2_000
    pack_confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class SnapshotSettings:
    """How many snapshots are kept."""

    daily: int = 7
    weekly: int = 4
    monthly: int = 12


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The Prefect server that `hotwash serve` starts where PREFECT_API_URL names none; loopback only.

    The schedules are cron lines in the machine's own time; every `sweep_seconds` drafts and spooled sessions that have
    no run yet are given one.
    """

    host: str = "127.0.0.1"
    port: int = 4200
    weekly: str = "30 3 * * 0"
    daily: str = "0 4 * * *"
    sweep_seconds: float = 30.0
    start_seconds: float = 180.0


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a store, each with a default that works."""

    enabled: bool = True
    model: ModelSettings = field(default_factory=ModelSettings)
    reflect: ReflectSettings = field(default_factory=ReflectSettings)
    redact: RedactSettings = field(default_factory=RedactSettings)
    scan: ScanSettings = field(default_factory=ScanSettings)
    dedup: DedupSettings = field(default_factory=DedupSettings)
    spread: SpreadSettings = field(default_factory=SpreadSettings)
    decay: DecaySettings = field(default_factory=DecaySettings)
    promote: PromoteSettings = field(default_factory=PromoteSettings)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    snapshot: SnapshotSettings = field(default_factory=SnapshotSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)


TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
# Least and most of each number: from 0 to what no clock and no count exceeds, but for shares, what counts things there
# must be, spans of days (a hundred years at the most: dates end), and a port.
LARGEST = 10**12
SHARE, SOME, DAYS, ANY = (0, 1), (1, LARGEST), (0, 36_500), (0, LARGEST)
BOUNDS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("threshold", "cluster_bound", "estimate", "pack_confidence"), SHARE),
    **dict.fromkeys(("budget_per_pass", "budget_per_quarter"), SHARE),
    **dict.fromkeys(("permutations", "bands", "rows", "workers", "shard_files", "sessions", "days"), SOME),
    **dict.fromkeys(("stale_days", "archive_days", "episode_days", "expire_days", "later_days", "stalled_days"), DAYS),
    "quiet_minutes": (0, DAYS[1] * 24 * 60),
    "ratio": (0, 100),
    "port": (0, 65_535),
}


def _convert(value: object, wanted: Any, where: str, name: str) -> object:
    """`value` as the annotated type `wanted` of the setting `name`; text from the environment is read as that type."""
    origin = typing.get_origin(wanted)
    if origin in (types.UnionType, typing.Union):
        if value is None or value == "":
            return None
        wanted = next(kind for kind in typing.get_args(wanted) if kind is not type(None))
        origin = typing.get_origin(wanted)
    if origin is tuple:
        items = [item.strip() for item in value.split(",")] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(item for item in items if item)
        raise SettingsError(f"{where}: wanted a list of texts, found {value!r}.")
    if wanted is bool:
        word = str(value).strip().lower()
        if word in TRUE_WORDS | FALSE_WORDS:
            return word in TRUE_WORDS
        raise SettingsError(f"{where}: wanted true or false, found {value!r}.")
    if wanted in (int, float):
        return _number(value, wanted, where, name)
    if isinstance(value, str):
        return value
    raise SettingsError(f"{where}: wanted a text, found {value!r}.")


def _number(value: object, wanted: Any, where: str, name: str) -> int | float:
    """A finite number within the bounds of the setting `name`; of a whole number no fraction is cut off."""
    least, most = BOUNDS.get(name, ANY)
    kind = "a whole number" if wanted is int else "a number"
    try:
        number: int | float = wanted(value)
        fits = (
            not isinstance(value, bool) and math.isfinite(number) and (wanted is float or number == float(str(value)))
        )
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise SettingsError(f"{where}: wanted {kind}, found {value!r}.")
    if not least <= number <= most:
        span = f"{least} or more" if most == LARGEST and number < least else f"from {least} to {most:,}"
        raise SettingsError(f"{where}: wanted {kind}, {span}, found {value!r}.")
    return number


def _build(cls: type, given: object, where: str, env: Mapping[str, str], prefix: str) -> Any:
    """One settings dataclass from a mapping, then from the environment, which wins."""
    if given is None:
        given = {}
    if isinstance(given, str) and cls is ModelSettings:
        given = {"name": given}
    if not isinstance(given, dict):
        raise SettingsError(f"{where}: wanted a mapping of settings, found {given!r}.")
    hints = typing.get_type_hints(cls)
    unknown = sorted(str(key) for key in given if key not in hints)
    if unknown:
        raise SettingsError(f"{where}: unknown setting {unknown[0]!r}. Known here: {', '.join(hints)}.")
    values: dict[str, Any] = {}
    for name, kind in hints.items():
        variable = f"{prefix}{name.upper()}"
        at = f"{where}: {name}"
        if dataclasses.is_dataclass(kind):
            nested = given.get(name)
            if kind is ModelSettings and env.get(variable):
                nested = {**(nested if isinstance(nested, dict) else {}), "name": env[variable]}
            values[name] = _build(typing.cast("type", kind), nested, at, env, f"{variable}_")
        elif env.get(variable):
            values[name] = _convert(env[variable], kind, variable, name)
        elif given.get(name) is not None:
            values[name] = _convert(given[name], kind, at, name)
    return cls(**values)


def read_settings(root: Path, env: Mapping[str, str]) -> Settings:
    """The settings of the store at `root`: config.yaml, then HOTWASH_* variables; an empty variable counts as unset.

    `model:` takes a plain model string or a mapping. Raises SettingsError with the place, wanted and found.
    """
    path = root / "config.yaml"
    given: object = None
    if path.is_file():
        try:
            given = safe_yaml(path.read_text(encoding="utf-8-sig"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{path}: not valid YAML: {' '.join(str(error).split())}. Mend the file or move it away."
            ) from error
    built = _build(Settings, given, str(path), env, "HOTWASH_")
    return typing.cast("Settings", built)
