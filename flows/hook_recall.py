"""What runs inside an agent before a tool call, after an error, at a prompt and at a session's start: lessons back.

Reads the derived database through `_sqlite3` and nothing else; answers in the agent's own form, or not at all. Like
`flows.hook` it never raises, prints to stderr, denies or waits; a deadline ends whatever takes too long.
"""

import posix
import time

from flows import hook
from flows.hook_call import command_of, error_of, paths_of, prompt_of
from flows.hook_give import CLOSING, OPENING, UNIX_DAY, already, choose, harmless, pack_text, render_lesson
from flows.hook_place import (
    Place,
    add_given,
    append_bounded,
    exists,
    is_current,
    open_layers,
    read_file,
    read_given,
    relative,
    text_of,
)
from index import matching
from index.error_matching import match_error
from index.matching import Hit
from index.signature import error_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_LESSONS = 3
PROMPT_FLOOR = 4.5  # of `matching.bearing`: a rare name and another word, or a rare tag alone
MENTION_FLOOR = 0.5
PROMPT_WORDS = 24  # words of the prompt, known from lessons, that later edits are weighed with
EDITS = frozenset(
    "edit multiedit write notebookedit replace write_file edit_file create_file apply_patch search_replace".split()
)


def main(agent: str, moment: str, code: str) -> None:
    """Answer one event ("start", "prompt", "tool", "error") of an agent. Leaves the process with exit code 0."""
    text = ""
    try:
        if hook.enabled(moment):
            payload = hook.read_payload() or {}
            text = answer(agent, moment, payload, hook.home())
            if moment == "start" and hook.claim_start(f"{hook.home()}/spool", "start"):
                hook.start_run(hook.home(), code)
    except BaseException as error:
        hook.note_failure(hook.home(), f"{agent} {moment}: {type(error).__name__}: {error}")
    try:
        write_out(text.encode("utf-8", "replace"))
    except OSError:
        pass  # the agent is gone
    posix._exit(0)


def write_out(data: bytes) -> None:
    """All of the reply on stdout."""
    while data:
        data = data[posix.write(1, data) :]


def answer(agent: str, moment: str, payload: "dict[str, Any]", root: str) -> str:
    """The reply to an event in the agent's form, "" for none."""
    place = Place(payload, root)
    # Hermes takes context only before a model's call: its pack goes out with the session's first prompt.
    first = moment == "start" if agent != "hermes" else moment == "prompt" and not exists(place.given)
    parts = [failure_line(root), stalled_line(root), pack_text(place)] if first else []
    if moment != "start":
        parts.append(lessons_text(moment, payload, place))
    if agent == "hermes" and moment == "start":
        return ""
    text = "\n\n".join(part for part in parts if part)
    return render_reply(agent, moment, payload, text) if text else ""


def lessons_text(moment: str, payload: "dict[str, Any]", place: Place) -> str:
    """The lessons that fit an event and are new in this session, as one marked block; "" for none."""
    given, context = read_given(place.given)
    layers = open_layers(place)
    chosen: dict[str, tuple[Any, Hit]] = {}
    found_any = asked = False
    known: list[str] = []
    for db, _ in layers:
        hits: dict[int, Hit] = {}
        asked, words = ask(db, moment, payload, place, context, hits)
        known = known or words
        found_any = found_any or bool(hits)
        names = {mid: name_of(db, mid) for mid in hits}
        fresh = {mid: hit for mid, hit in hits.items() if not already(given, names[mid], hit)}
        for hit in choose(db, fresh, place.project, moment):
            chosen.setdefault(names[hit.mid], (db, hit))
    best: list[tuple[str, Any, Hit]] = []
    for name, (db, hit) in sorted(chosen.items(), key=lambda item: -item[1][1].score):
        own, mine, store = own_version(layers, name, db, hit)
        if len(best) < MOST_LESSONS and is_current(own, mine.mid, store):
            best.append((name, own, mine))
    if place.given and (best or known):
        add_given(place.given, [f"{name} {kind}" for name, _, hit in best for kind in hit.kinds], known)
    if asked and not found_any:
        note_empty(place, moment, payload)
    today = int(time.time() // 86400) + UNIX_DAY
    texts = [render_lesson(db, hit, today) for _, db, hit in best]
    return "\n".join([OPENING, *texts, CLOSING]) if texts else ""


def name_of(db: "Any", mid: int) -> str:
    """The id of a row's solution."""
    return str(db.execute("select id from lesson where mid = ?", (mid,)).fetchone()[0])


def own_version(layers: "list[tuple[Any, str]]", name: str, db: "Any", hit: Hit) -> "tuple[Any, Hit, str]":
    """The hit in the first store that holds the solution: the personal store wins on content, whichever fired."""
    for first, store in layers:
        if first is db:
            return db, hit, store
        row = first.execute("select mid from lesson where id = ?", (name,)).fetchone()
        if row:
            mine = Hit(row[0])
            mine.kinds, mine.reasons, mine.score = hit.kinds, hit.reasons, hit.score
            return first, mine, store
    return db, hit, ""


def ask(
    db: "Any", moment: str, payload: "dict[str, Any]", place: Place, context: "list[str]", hits: "dict[int, Hit]"
) -> "tuple[bool, list[str]]":
    """Put an event's questions to a database; (whether anything was asked that a person would want found, the prompt's
    known words)."""
    if moment == "prompt":
        prompt = prompt_of(payload)
        known = matching.match_text(db, prompt, hits, PROMPT_FLOOR)
        return bool(prompt), sorted(known, key=lambda word: (-known[word], word))[:PROMPT_WORDS]
    tool = text_of(payload, "tool_name").lower()
    wanted = payload.get("tool_input")
    if isinstance(wanted, str):
        wanted = hook.parse_object(wanted) or {"command": wanted}
    values = wanted if isinstance(wanted, dict) else {}
    if moment == "error":
        output = error_of(payload)
        if output:
            match_error(db, output, hits)
        return bool(output), []
    command = command_of(values, payload)
    if command:
        matching.match_command(db, command, hits)
    for path in paths_of(values, command)[:20]:
        inside = relative(path, place)
        if inside:
            matching.match_path(db, inside, hits)
            if tool in EDITS:
                matching.match_mentions(db, inside, context, hits, MENTION_FLOOR)
    return False, []


def note_empty(place: Place, moment: str, payload: "dict[str, Any]") -> None:
    """Keep what was asked and not found, masked: the report shows where lessons are missing."""
    asked = error_signature(error_of(payload)) if moment == "error" else plain_prompt(prompt_of(payload))
    entry = {"time": int(time.time()), "kind": moment, "asked": asked, "project": place.project}
    if asked:
        append_bounded(place.root, "empty.jsonl", hook.render_json(entry))


def plain_prompt(prompt: str) -> str:
    """A prompt's first plain words: whatever might be a name, a number or a secret is left out."""
    words = [word for word in prompt[:600].split() if word.isalpha() and len(word) <= 20]
    return " ".join(words[:30])


def failure_line(root: str) -> str:
    """One line for the user when hooks or runs failed three times in a row, with what to do; "" otherwise."""
    hooks = max(hook.read_count(f"{root}/spool/failures"), hook.read_count(f"{hook.fallback()}/failures"))
    runs = hook.read_count(f"{root}/spool/run-failures")
    if max(hooks, runs) < 3:
        return ""
    what = f"its hooks failed {hooks} times" if hooks >= runs else f"its runs failed {runs} times"
    return (
        f"hotwash: {what} in a row, so sessions may be missing. Run `hotwash doctor`; the log is {root}/logs/hook.log."
    )


def stalled_line(root: str) -> str:
    """One line that the last run left when drafts wait too long for a person; "" otherwise."""
    return harmless(read_file(f"{root}/.cache/reviews.stalled", 300).partition("\n")[0])


def render_reply(agent: str, moment: str, payload: "dict[str, Any]", text: str) -> str:
    """A reply that adds context and decides nothing, in the agent's own form."""
    if agent == "hermes":
        return hook.render_json({"context": text})
    if agent == "cursor":
        return hook.render_json({"additional_context": text})
    if agent == "opencode":
        return text
    event = text_of(payload, "hook_event_name") or EVENTS[moment]
    return hook.render_json({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


EVENTS = {"start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PreToolUse", "error": "PostToolUseFailure"}
