"""The small decisions of the serving process; its life is in test_flows_serve.py."""

from __future__ import annotations

import os
from pathlib import Path

from flows.runner import LEFT_SECONDS, left_in_spool, local_zone


def test_schedules_keep_the_machines_own_hour(tmp_path: Path) -> None:
    """The zone by its name, from TZ or the system's link; UTC where neither says one."""
    assert local_zone({"TZ": ":Europe/Berlin"}) == "Europe/Berlin"
    zone = tmp_path / "zoneinfo" / "Asia" / "Tokyo"
    zone.parent.mkdir(parents=True)
    zone.touch()
    link = tmp_path / "localtime"
    link.symlink_to(zone)
    assert local_zone({}, link) == "Asia/Tokyo"
    assert local_zone({"TZ": "EST5EDT,M3.2.0"}, link) == "UTC"
    assert local_zone({}, tmp_path / "nothing") == "UTC"


def test_only_events_that_nobody_took_up_get_a_run(tmp_path: Path) -> None:
    """A fresh one has a run under way; other files in the spool are none of ours."""
    spool = tmp_path / "spool"
    spool.mkdir()
    for name, age in (("old.json", LEFT_SECONDS + 1), ("fresh.json", LEFT_SECONDS - 1), (".start", LEFT_SECONDS + 1)):
        (spool / name).touch()
        os.utime(spool / name, (10_000 - age, 10_000 - age))
    assert left_in_spool(tmp_path, 10_000) == ["old.json"]
    assert left_in_spool(tmp_path / "none", 10_000) == []
