"""A person decides about drafts in the Prefect UI: headless Chromium against a real server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from curate.drafts import read_decisions, read_drafts
from tests.served import DESCRIPTION, Serving, make_draft, wait_for, write_draft_files

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.prefect,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One `hotwash serve` for this file, stopped at its end."""
    serving = Serving(tmp_path_factory.mktemp("serving"))
    serving.root.mkdir()
    serving.start()
    yield serving
    serving.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


def open_form(browser: Any, serving: Serving, run: str) -> tuple[Any, Any]:
    """The page of a suspended run and its form, opened as a person does."""
    page = browser.new_page(viewport={"width": 1400, "height": 1600})
    page.set_default_timeout(90_000)
    page.goto(f"http://127.0.0.1:{serving.port}/runs/flow-run/{run}")
    page.get_by_role("button", name="Resume").click()
    form = page.get_by_role("dialog")
    form.get_by_text("Note, kept").wait_for()
    return page, form


def choose(page: Any, form: Any, place: int) -> None:
    """Choose the decision at `place` (1 is the first) with the keyboard."""
    form.locator(".p-select-button__control").first.click()
    page.wait_for_timeout(300)
    for _ in range(place):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def fill(form: Any, label: str, text: str) -> None:
    """Put a text into the field below a label."""
    form.locator(".p-label", has_text=label).locator("textarea").first.fill(text)


def test_publish_with_an_edited_description(serving: Serving, browser: Any) -> None:
    """The form shows draft and evidence; what the person edits is what the skills folder then holds."""
    write_draft_files(serving.root, make_draft("services-to-publish"))
    page, form = open_form(browser, serving, serving.suspended("services-to-publish"))
    shown = form.inner_text()
    for part in ("services-to-publish", "3 sessions", "2 projects", "claude-code:s2", "make test-int", "tokens"):
        assert part in shown
    assert DESCRIPTION in [area.input_value() for area in form.locator("textarea").all()]
    choose(page, form, 1)
    fill(form, "Description", "Use when the integration suite cannot reach its database.")
    fill(form, "Note", "met it three times")
    form.get_by_role("button", name="Submit").click()
    place = serving.home / ".claude" / "skills" / "services-to-publish" / "SKILL.md"
    wait_for("the published skill", place.is_file)
    assert 'description: "Use when the integration suite cannot reach its database."' in place.read_text()
    wait_for("the draft to leave", lambda: not (serving.root / ".candidates" / "services-to-publish").exists())
    decided = next(found for found in read_decisions(serving.root)[0] if found.draft == "services-to-publish")
    assert (decided.choice, decided.note) == ("publish", "met it three times")
    page.close()


def test_the_bare_address_leads_to_the_interface_with_the_form(serving: Serving, browser: Any) -> None:
    """Prefect has two interfaces, and only the older one shows the form of a suspended run."""
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{serving.port}/")
    page.get_by_text("Switch to V2 UI").wait_for(timeout=90_000)
    assert "/v2" not in page.url
    page.close()


def test_reject(serving: Serving, browser: Any) -> None:
    """A rejected draft goes to the archive with the note, and no skill is written."""
    write_draft_files(serving.root, make_draft("services-to-reject"))
    page, form = open_form(browser, serving, serving.suspended("services-to-reject"))
    choose(page, form, 2)
    fill(form, "Note", "too special")
    form.get_by_role("button", name="Submit").click()
    wait_for("the draft to leave", lambda: not (serving.root / ".candidates" / "services-to-reject").exists())
    assert not (serving.home / ".claude" / "skills" / "services-to-reject").exists()
    assert list((serving.root / "archive" / ".candidates").glob("services-to-reject-*/SKILL.md"))
    page.close()


def test_what_cannot_be_done_is_asked_again(serving: Serving, browser: Any) -> None:
    """A file that a person wrote is not written over: the same run shows why and takes another answer."""
    place = serving.home / ".claude" / "skills" / "services-twice" / "SKILL.md"
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    write_draft_files(serving.root, make_draft("services-twice"))
    run = serving.suspended("services-twice")
    page, form = open_form(browser, serving, run)
    choose(page, form, 1)
    form.get_by_role("button", name="Submit").click()
    page.wait_for_timeout(5_000)
    page.close()
    assert serving.suspended("services-twice") == run
    page, form = open_form(browser, serving, run)
    assert "is there already and is not ours" in form.inner_text()
    choose(page, form, 1)
    fill(form, "Name", "services-again")
    form.get_by_role("button", name="Submit").click()
    other: Path = serving.home / ".claude" / "skills" / "services-again" / "SKILL.md"
    wait_for("the skill under its other name", other.is_file)
    assert place.read_text() == "mine\n"
    wait_for("the draft to leave", lambda: not read_drafts(serving.root)[0])
    page.close()


def test_an_expired_draft_leaves_the_queue_and_may_come_back(serving: Serving, browser: Any) -> None:
    """Its run is ended with the reason, the draft stays; open again it gets a run anew."""
    config = serving.root / "config.yaml"
    patient = "promote:\n  expire_days: 36500\n"
    config.write_text(patient)
    write_draft_files(serving.root, make_draft("services-expired", created=date(2020, 1, 1)))
    run = serving.suspended("services-expired")
    config.unlink()

    def state() -> str:
        return next(str(found["state_name"]) for found in serving.reviews() if found["id"] == run)

    wait_for("the expired draft's run to end", lambda: state() == "Cancelled")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"http://127.0.0.1:{serving.port}/runs/flow-run/{run}")
    page.get_by_text("Cancelled").first.wait_for(timeout=90_000)
    assert page.get_by_role("button", name="Resume").count() == 0
    page.close()
    assert (serving.root / ".candidates" / "services-expired" / "SKILL.md").is_file()
    config.write_text(patient)
    assert serving.suspended("services-expired") != run
    config.unlink()
    shutil.rmtree(serving.root / ".candidates" / "services-expired")


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_form_outlives_restarts_and_its_server_s_database(tmp_path: Path, browser: Any) -> None:
    """A draft made while no server was up; a restart with the form open; a deleted database: published once."""
    serving = Serving(tmp_path)
    serving.root.mkdir()
    write_draft_files(serving.root, make_draft("services"))
    try:
        serving.start()
        run = serving.suspended("services")
        page, form = open_form(browser, serving, run)
        fill(form, "Note", "not sent yet")
        assert serving.stop() == 0
        serving.start()
        assert serving.suspended("services") == run
        page.close()
        page, form = open_form(browser, serving, run)
        page.close()
        assert serving.stop() == 0
        for file in (serving.root / ".cache" / "prefect").glob("prefect.db*"):
            file.unlink()
        serving.start()
        anew = serving.suspended("services")
        assert anew != run
        page, form = open_form(browser, serving, anew)
        assert "3 sessions" in form.inner_text()
        choose(page, form, 1)
        form.get_by_role("button", name="Submit").click()
        place = serving.home / ".claude" / "skills" / "services" / "SKILL.md"
        wait_for("the published skill", place.is_file, 300)
        stamp = place.stat().st_mtime_ns
        wait_for("the run's end", lambda: [found["state_type"] for found in serving.reviews()] == ["COMPLETED"])
        # Prefect's runner calls a run cancelled whose process it ends as it stops, also one that has just completed.
        page.wait_for_timeout(15_000)
        assert serving.stop() == 0
        serving.start()
        page.wait_for_timeout(5_000)
        assert [found["state_type"] for found in serving.reviews()] == ["COMPLETED"]
        assert place.stat().st_mtime_ns == stamp
        assert len(read_decisions(serving.root)[0]) == 1
        page.close()
    finally:
        if serving.process is not None and serving.process.poll() is None:
            serving.stop()
