"""List the draft skills that wait, show one, or decide it: publish, reject, later, merge or rules.

The same code as the form in the Prefect UI. An edited name or description is published in place of the draft's; `rules`
adds one line to the AGENTS.md or CLAUDE.md of the projects that a draft comes from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from curate.drafts import CHOICES
from flows.commands.common import open_world, print_json, print_report, say
from index.errors import UsageError
from index.plural import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash review`."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="a draft; without it the waiting ones are listed")
    parser.add_argument("decision", nargs="?", choices=CHOICES, metavar="DECISION", help=", ".join(CHOICES))
    parser.add_argument("--name", dest="new_name", default="", metavar="TEXT", help="publish under this name")
    parser.add_argument("--description", default="", metavar="TEXT", help="publish with this description")
    parser.add_argument("--note", default="", metavar="TEXT", help="the reason, kept with the decision")
    parser.add_argument("--into", default="", metavar="SKILL", help="with merge: the existing skill that takes it")
    parser.add_argument("--who", default="", metavar="NAME", help="who decides (default: the system's user)")


def call(options: argparse.Namespace) -> int:
    """List, show or decide."""
    from curate.review import Decision, current_user
    from flows.review import decide, find_draft, published_branches, published_paths, read_queue, show

    world = open_world(options)
    if options.name is None:
        return _list(options, *read_queue(world))
    if options.decision is None:
        draft = find_draft(world.root, options.name)
        text = show(world, draft)
        say(options, text, name=draft.name, why=draft.why, sessions=draft.sessions, files=draft.files, shown=text)
        return 0
    if options.decision == "merge" and not options.into:
        raise UsageError("hotwash review: merge needs --into SKILL, the skill that takes the draft.")
    who = options.who or current_user()
    choice = Decision(options.decision, who, options.new_name, options.description, options.note, options.into)
    report, problems = decide(world, options.name, choice, Path.cwd())
    code = print_report(report, options)
    if options.format == "text":
        for path in published_paths(report):
            print(f"written: {path}")
        for made in published_branches(report):
            print(f"branch: {made.name} in {made.repository}\npush it: {made.push}")
    return 1 if problems else code


def _list(options: argparse.Namespace, queue: object, decisions: object, problems: object) -> int:
    from curate.review import Queue

    assert isinstance(queue, Queue)  # noqa: S101 - narrows the type for the checker
    groups = {
        "waiting for you": queue.open,
        "waiting for their turn": queue.waiting,
        "put off": queue.later,
        "expired without a decision": queue.expired,
    }
    if options.format == "json":
        print_json({name: [draft.name for draft in drafts] for name, drafts in groups.items()})
        return 0
    for name, drafts in groups.items():
        if drafts:
            print(f"{name}:")
        for draft in drafts:
            seen = f"{plural(len(draft.sessions), 'session')} on {plural(len(draft.days), 'day')}"
            print(f"  {draft.name}: {seen} in {', '.join(draft.projects)}")
    if queue.open:
        print("\nRead one: hotwash review NAME. Decide: hotwash review NAME publish|reject|later|merge.")
    elif not any(groups.values()):
        print("No draft waits.")
    return 0
