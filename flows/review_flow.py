"""The `review` flow: one suspended run for each draft, resumed by the form in the Prefect UI."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from prefect.states import Completed
from pydantic import ConfigDict, Field, JsonValue, create_model

from curate.drafts import ACCEPTED, CHOICES, Choice, Draft
from curate.review import Decision, current_user
from curate.skills import MAX_DESCRIPTION, MAX_NAME
from flows.context import read_world
from flows.report import Report
from flows.review import (
    NoSuchDraft,
    decide,
    find_draft,
    merge_choices,
    published_branches,
    published_paths,
    rule_targets,
    show,
)
from index.records import Problem

MERGE = "merge into "
NAME_PATTERN = "^[a-z0-9]+(-[a-z0-9]+)*$"

# An effect is never cached and never repeated by itself.
run_decide = task(name="decide", cache_policy=NO_CACHE)(decide)


class ReviewForm(RunInput):
    """What the form asks. The server holds an answer against this schema before the run goes on.

    Few fields, and titles that say it all: Prefect gives the draft above them only the room that they leave.
    """

    model_config = ConfigDict(extra="ignore")

    decision: str = Field(title="Decision")
    skill_name: str = Field(default="", title="Name", max_length=MAX_NAME, pattern=NAME_PATTERN)
    skill_description: str = Field(
        default="", title="Description, which says when to use it", max_length=MAX_DESCRIPTION
    )
    note: str = Field(default="", title="Note, kept with the decision", max_length=2000)


def form_for(
    draft: Draft, text: str, merge_into: Sequence[str], ask_who: bool, may_be_rule: bool = False
) -> type[ReviewForm]:
    """The form for one draft: `text` above it, its name and description in their fields, the skills it may join.

    The choices are an enumeration in the schema alone: an answer stays readable when the skills change meanwhile.
    """
    choices: list[JsonValue] = ["publish", "reject", "later"]
    choices += [*(["rules"] if may_be_rule else []), *(f"{MERGE}{name}" for name in merge_into)]
    fields: dict[str, Any] = {"decision": (str, Field(title="Decision", json_schema_extra={"enum": choices}))}
    skill = draft.skill()
    known = {} if isinstance(skill, Problem) else {"skill_name": skill.name, "skill_description": skill.description}
    # Prefect's own way of giving initial values would drop the titles and bounds of those fields.
    for name, value in known.items():
        info = copy(ReviewForm.model_fields[name])
        info.default = value
        fields[name] = (str, info)
    if ask_who:
        fields["who"] = (str, Field(default="", title="Your name", max_length=100))
    form = create_model("ReviewForm", __base__=ReviewForm, **fields)
    return form.with_initial_data(description=text)


def read_answer(answer: ReviewForm) -> Decision:
    """A form's answer as a decision; who decided is the name given, else the user whom Prefect's process runs as."""
    into = answer.decision.removeprefix(MERGE) if answer.decision.startswith(MERGE) else ""
    choice: Choice = next((choice for choice in CHOICES if choice == answer.decision), "merge")
    who = str(getattr(answer, "who", "")).strip() or current_user()
    return Decision(choice, who, answer.skill_name, answer.skill_description, answer.note, into)


@flow(name="review", flow_run_name="{name}", persist_result=True)
def review(store: str, name: str, digest: str) -> State[str]:
    """Wait for a person's decision about one draft, then carry it out; what went wrong is shown and asked again."""
    draft = _waiting_draft(Path(store), name, digest)
    if draft is None:
        return _say(name, "This draft was decided or has changed; nothing was done.")
    answered = _answered()
    if not answered:
        text = show(read_world(Path(store)), draft)
        create_markdown_artifact(text, key=f"review-{name}", description="The draft and its evidence")
    attempt = max(0, len(answered) - 1)
    problem = ""
    while True:
        world = read_world(Path(store))
        text = show(world, draft, problem, narrow=True)
        # Many people may share a server that is not this store's own.
        ask_who = world.env.get("HOTWASH_SERVE_OWN") != "1"
        form = form_for(draft, text, merge_choices(world, draft), ask_who, bool(rule_targets(world, draft)))
        decision = read_answer(suspend_flow_run(wait_for_input=form, key=f"{digest}-{attempt}"))
        try:
            report, problems = run_decide(read_world(Path(store)), name, decision)
        except NoSuchDraft as error:
            return _say(name, str(error))
        if not problems:
            return _say(name, _outcome(decision, report))
        problem = "That could not be done: " + "; ".join(str(found) for found in problems)
        attempt += 1


def _waiting_draft(root: Path, name: str, digest: str) -> Draft | None:
    try:
        draft = find_draft(root, name)
    except NoSuchDraft:
        return None
    return draft if draft.digest == digest else None


def _answered() -> set[str]:
    """The forms of this run that were answered; a run starts anew from the top after each answer."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return set()
    return context.flow_run.empirical_policy.pause_keys or set()


def _outcome(decision: Decision, report: Report) -> str:
    paths = published_paths(report)
    if decision.choice in ACCEPTED:
        pushes = [f"the branch `{made.name}`; to push it: `{made.push}`" for made in published_branches(report)]
        where = ", ".join([*pushes, *(f"`{path}`" for path in paths)]) or "nothing: it was there already"
        return f"Published by {decision.who}: {where}\n\nTo take it back: `hotwash undo {report.run}`"
    word = {"reject": "Rejected", "later": "Put off", "merge": "Merged; a review of the change follows"}
    return f"{word[decision.choice]} by {decision.who}. To take it back: `hotwash undo {report.run}`"


def _say(name: str, text: str) -> State[str]:
    """End the run with what came of it, as its message and as an artifact."""
    first = text.split("\n", 1)[0]
    create_markdown_artifact(f"## {name}\n\n{text}", key=f"review-{name}", description=first)
    return Completed(message=first, data=text)
