"""Short stories of many kinds, each with the title that its next reader should see, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from detectors.registry import detect_episodes
from index.records import Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, refused, run, session, tool

STORIES: dict[str, tuple[list[Turn], str]] = {
    "a port that another program holds": (
        [
            run("docker compose up -d", "Error: Bind for 0.0.0.0:5432 failed: port is already allocated", failed=True),
            agent("Port 5432 is taken by the local database."),
            run("brew services stop postgresql", "ok"),
            run("docker compose up -d", "started"),
        ],
        "Run `brew services stop postgresql` when `docker compose up -d` says",
    ),
    "a file that had to be put in place": (
        [
            run("python manage.py migrate", "ImproperlyConfigured: SECRET_KEY must not be empty", failed=True),
            agent("The settings read `SECRET_KEY` from `.env`, which is missing in this worktree."),
            run("cp ../main/.env .env", ""),
            run("python manage.py migrate", "OK"),
        ],
        "Run `cp ../main/.env .env` when `python manage.py migrate` says",
    ),
    "a command that needs other options": (
        [
            run('psql -c "select 1"', "psql: error: connection to server on socket failed", failed=True),
            agent("The server listens on `localhost:5433`, not on the socket."),
            run('psql -h localhost -p 5433 -c "select 1"', "1"),
        ],
        'Run `psql -h localhost -p 5433 -c "select 1"`, not `psql -c "select 1"`',
    ),
    "a type error whose cause was told": (
        [
            run("npx tsc --noEmit", "src/f.ts(12,5): error TS2345: Argument of type 'undefined'", failed=True),
            agent("The query may be undefined, so `parseFilter` has to accept `undefined`."),
            edit("src/f.ts", "parseFilter(q: string)", "parseFilter(q?: string)"),
            run("npx tsc --noEmit", ""),
        ],
        "The query may be undefined, so `parseFilter` has to accept `undefined`",
    ),
    "a tool that is not there": (
        [run("shellcheck run.sh", "zsh:1: command not found: shellcheck", failed=True), agent("Moving on.")],
        "Do without `shellcheck` here",
    ),
    "a call that wants another one first": (
        [tool("publish", "Run validate first. Checks must pass.", failed=True), agent("Let me see.")],
        "Run `validate` before `publish`",
    ),
    "a sandbox that had to be left": (
        [
            run("git fetch", "error: cannot open '.git/FETCH_HEAD': Operation not permitted", failed=True),
            run("git fetch", "ok"),
        ],
        "Run `git fetch` outside the sandbox, with permission",
    ),
    "a rule of the house": (
        [person("install zod"), run("npm install zod", "added"), person("No, we use pnpm here, not npm")],
        "Use pnpm here, not npm",
    ),
    "a plan turned down": (
        [
            agent("I propose a new layer."),
            replace(refused("plan.md", "Too complicated. Use the repository in `db/repo.py` instead."), action="other"),
            agent("You're right."),
        ],
        "Use the repository in `db/repo.py` instead",
    ),
    "a German session": (
        [
            run("pytest", "E   KeyError: 'preis'", failed=True),
            agent("Das Problem ist, dass `preis` fehlt. Wir müssen `preis` in `fixtures.json` ergänzen."),
            edit("tests/fixtures.json", "", '"preis": 3'),
            run("pytest", "4 passed"),
        ],
        "Wir müssen `preis` in `fixtures.json` ergänzen",
    ),
    "a Chinese session": (
        [
            person("写类型"),
            edit("a.ts", "", "x: any"),
            person("不要用 any，用 unknown"),
            agent("好的，改用 `unknown`。"),
            edit("a.ts", "x: any", "x: unknown"),
        ],
        "不要用 any，用 unknown",
    ),
}
QUIET: dict[str, list[Turn]] = {
    "a mistyped word": [
        run("npm run buidl", "npm ERR! Missing script: buidl", failed=True),
        run("npm run build", "ok"),
    ],
    "a flake": [run("npm test", "Error: timeout of 2000ms exceeded", failed=True), run("npm test", "ok")],
    "a wrong path": [
        run("pytest test/a.py", "ERROR: file or directory not found: No such file or directory", failed=True),
        run("pytest tests/a.py", "ok"),
    ],
    "praise and the next step": [
        person("add it"),
        edit("a.py", "", "x"),
        person("Great, but now also add the other one, not only this"),
        agent("Got it."),
    ],
    "an approach the person turned down": [
        run("go test ./...", "a.go:1:1: undefined: Foo", failed=True),
        agent("I need to use the helper instead of `Foo` because it is shorter."),
        replace(refused("a.go"), said=""),
        edit("a.go", "x", "y"),
        run("go test ./...", "ok"),
    ],
}


@pytest.mark.parametrize("story", STORIES)
def test_a_story_gets_its_title(story: str) -> None:
    """One lesson, and its title begins as it should."""
    turns, title = STORIES[story]
    made = session(*turns)
    titles = [lesson.title for lesson in write_lessons(made, detect_episodes(made))]
    assert len(titles) == 1
    assert titles[0].startswith(title)


@pytest.mark.parametrize("story", QUIET)
def test_a_quiet_story_gets_none(story: str) -> None:
    """Typos, flakes, wrong paths, praise and refuted approaches are nothing to keep."""
    made = session(*QUIET[story])
    assert write_lessons(made, detect_episodes(made)) == ()
