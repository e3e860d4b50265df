"""A command that waits for an answer is told with the one that needs none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from detectors.waiting_prompt import detect, question_of, unattended
from index.records import Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, person, run, session

ASKS = {
    "a menu that ran into the time limit": (
        [
            run("npx degit-app new shop", "Command timed out after 2m\n? Which template? › basic / full", failed=True),
            agent("It waits for interactive input. Passing the answers as flags."),
            run("npx degit-app new shop --template basic --yes", "created"),
        ],
        "Run `npx degit-app new shop --template basic --yes`: without `--yes` it waits for an answer",
    ),
    "a question of a package manager": (
        [
            run("apt-get install libpq-dev", "Do you want to continue? [Y/n] Abort.", failed=True),
            run("apt-get install -y libpq-dev", "Setting up libpq-dev"),
        ],
        "Run `apt-get install -y libpq-dev`: without `-y` it waits for an answer",
    ),
    "a pager": (
        [
            run("git log --all", "commit 1\n(END)", failed=True),
            agent("That opened a pager."),
            run("git --no-pager log --all", "commit 1"),
        ],
        "Run `git --no-pager log --all`: without `--no-pager` it waits for an answer",
    ),
    "a tool that will not ask without a terminal": (
        [
            run("acme login", "Error: cannot prompt, stdin is not a TTY", failed=True),
            run("CI=1 acme login", "ok"),
        ],
        "Run `CI=1 acme login`: without `CI=1` it waits for an answer",
    ),
    "a name to be typed": (
        [
            run(
                "acme reset -a shop", 'To proceed, type "shop" or re-run this command with --confirm shop', failed=True
            ),
            run("acme reset -a shop --confirm shop", "done"),
        ],
        "Run `acme reset -a shop --confirm shop`: without `--confirm` it waits for an answer",
    ),
    "an editor, done another way": (
        [
            run("git rebase -i HEAD~2", "error: There was a problem with the editor 'vi'.", failed=True),
            agent("There is no terminal for an editor here."),
            run("git reset --soft HEAD~2", ""),
        ],
        "Run `git reset --soft HEAD~2`, not `git rebase -i HEAD~2`: that one waits for an answer",
    ),
    "an agent that records no exit codes": (
        [
            replace(run("make seed", "Overwrite the data? [y/N]"), outcome="unknown", exit_code=None),
            agent("It is waiting for confirmation; piping the answer in."),
            run("yes | make seed", "seeded"),
        ],
        "Run `yes | make seed`: without `yes |` it waits for an answer",
    ),
}
SILENT = {
    "a password": [
        run("sudo systemctl restart web", "Password: ", failed=True),
        run("sudo -n systemctl restart web --no-ask", "ok"),
    ],
    "a question that was in passing": [
        run("npm run build", "Did you know? (y) is short for yes.\nbuilt"),
        run("npm run build --yes", "built"),
    ],
    "nothing that spared it": [
        run("acme deploy", "Deploy now? [y/N]", failed=True),
        run("acme status", "idle"),
    ],
    "the person answered": [
        run("acme deploy", "Deploy now? [y/N]", failed=True),
        person("I deployed it by hand"),
        run("acme deploy --yes", "ok"),
    ],
}


@pytest.mark.parametrize("story", ASKS)
def test_a_question_is_told_with_what_spares_it(story: str) -> None:
    """The command, the question it stops at, and the way that needs no answer."""
    turns, title = ASKS[story]
    made = session(*turns)
    (episode,) = detect(made)
    (lesson,) = write_lessons(made, [episode])
    assert lesson.title == title
    assert "stops at" in lesson.body


@pytest.mark.parametrize("story", SILENT)
def test_no_question_is_made_up(story: str) -> None:
    """Secrets, prose, and questions that nothing later was spared."""
    assert not list(detect(session(*SILENT[story])))


def test_what_spares_a_question_is_what_the_later_command_has_more() -> None:
    """Options, variables and a piped answer; nothing that the first one had as well."""
    assert unattended("npm init", "npm init -y") == ("-y",)
    assert unattended("make seed", "CI=1 make seed") == ("CI=1",)
    assert unattended("apt install -y x", "apt install -y y") == ()
    assert unattended("acme new", 'yes "" | acme new --fast')[0].startswith("yes")


def test_a_secret_is_no_question() -> None:
    """A line that asks for a passphrase is not quoted."""
    turn: Turn = run("ssh-add", "Enter passphrase for key (y/n): ", failed=True)
    assert question_of(turn) == ""
