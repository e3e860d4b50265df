"""What an audit finds among skills: ghosts, faults, copies, overlaps, what is never used; pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from curate.audit_checks import find_references, listed_text, long_body, skill_faults, too_long
from curate.places import Ground
from curate.skills import Skill
from index.plural import plural
from index.records import Problem
from index.words import words_of
from reflect.usage import Usage

# Below so many sessions of an agent, or for a skill younger than this, "never used" says nothing.
FEWEST_SESSIONS = 5
NEW_DAYS = 14
# Cosine of two descriptions' words, weighted by rarity, from which two skills compete for the same request. Among 161
# published skills the closest pair that is meant to be two (one task for two languages) comes to 0.48.
OVERLAP = 0.5
FEWEST_WORDS = 6
_AGENT_FOLDERS = frozenset(
    ".claude .codex .hermes .agents .gemini .config .cursor .copilot .factory .opencode .github".split()
)

# What to do about each kind of finding; the order is that of the report.
ADVICE = {
    "ghost": "Mend or remove the reference, or install the skill: the agent looks for it and finds nothing.",
    "invalid": "Mend the front matter: stricter readers skip the skill.",
    "long-description": "Shorten the description to what it does and when to use it; move the rest into the body.",
    "duplicate": "Keep one copy and remove the others: each is listed, and only one is loaded.",
    "overlap": "Merge the two, or say in each description when the other one is meant.",
    "drift": "The copies for two agents differ; make them the same again, or one a link to the other.",
    "memory": "Move what is seldom needed into a file of its own that is named here, or into a skill.",
    "never-used": "Remove it, or sharpen its description; it is listed in every session.",
    "long-body": "Move details into files beside it that are read when needed.",
}


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing to do something about; `kind` is a key of ADVICE."""

    kind: str
    agent: str
    name: str
    path: str
    text: str


def find_ghosts(skills: Sequence[Skill], ground: Ground, usage: Usage) -> Iterator[AuditFinding]:
    """Skills that were asked for, referred to, or stand as an empty folder, and are nowhere."""
    known = {skill.name for skill in skills} | {Path(skill.path).parent.name for skill in skills} | ground.commands
    for used in usage.used.values():
        if used.kind == "unknown" and used.name not in known and used.name.rpartition(":")[2] not in known:
            last = f", last on {used.last.date()}" if used.last else ""
            text = f"asked for {plural(used.count, 'time')}{last}; the agent answered that there is no such skill"
            yield AuditFinding("ghost", used.agent, used.name, "", text)
    for agent, path in ground.empty:
        yield AuditFinding("ghost", agent, Path(path).name, path, "lies among the skills and holds no SKILL.md")
    texts = [(skill.agent, skill.path, skill.text) for skill in skills]
    texts += [(file.agent, file.path, file.text) for file in ground.memory]
    for agent, path, text in texts:
        for name in find_references(text):
            if name not in known and name.rpartition(":")[2] not in known:
                yield AuditFinding("ghost", agent, name, path, f"refers to the skill {name}, which is nowhere")


def find_faults(skills: Sequence[Skill], unread: Sequence[Problem]) -> Iterator[AuditFinding]:
    """Files that are no skill, front matter that readers refuse, descriptions and bodies that are too long."""
    for problem in unread:
        name = Path(problem.path).parent.name
        where = f"line {problem.line}: " if problem.line else ""
        yield AuditFinding("invalid", "", name, problem.path, f"{where}{problem.reason}")
    for skill in skills:
        faults = skill_faults(skill)
        if faults:
            yield AuditFinding("invalid", skill.agent, skill.name, skill.path, "; ".join(faults))
        for text in too_long(skill):
            yield AuditFinding("long-description", skill.agent, skill.name, skill.path, text)
        if text := long_body(skill):
            yield AuditFinding("long-body", skill.agent, skill.name, skill.path, text)


def find_alike(skills: Sequence[Skill], alike: Iterable[tuple[int, int]], home: Path) -> Iterator[AuditFinding]:
    """Copies: of one agent they are duplicates; for two agents they should at least be the same."""
    named: dict[tuple[str, str], list[Skill]] = defaultdict(list)
    for skill in skills:
        named[skill.agent, skill.name].append(skill)
    same_name = {(one.path, two.path) for group in named.values() for one in group for two in group if one is not two}
    for (agent, name), group in sorted(named.items()):
        for skill in group[1:]:
            if one_reach(group[0], skill, home):
                text = f"the name {name} stands in {group[0].path} too"
                yield AuditFinding("duplicate", agent, name, skill.path, text)
    for a, b in alike:
        one, two = skills[a], skills[b]
        if one.agent == two.agent and one_reach(one, two, home) and (one.path, two.path) not in same_name:
            yield AuditFinding("duplicate", two.agent, two.name, two.path, f"says nearly the same as {one.path}")
        elif one.agent != two.agent and one.name == two.name and one.body.strip() != two.body.strip():
            yield AuditFinding("drift", two.agent, two.name, two.path, f"differs a little from {one.path}")


def one_reach(one: Skill, two: Skill, home: Path) -> bool:
    """Whether one session can see both: not two skills of two projects."""
    a, b = project_of(one.path, home), project_of(two.path, home)
    return a == b or not a or not b


def project_of(path: str, home: Path) -> str:
    """The project to which a skill belongs: the folder that holds the agent's own; "" for one of the user's."""
    below = Path(path)
    inner = below.relative_to(home).parts if below.is_relative_to(home) else below.parts
    at = next((place for place, part in enumerate(inner) if part in _AGENT_FOLDERS), 0)
    return str(Path(*inner[:at])) if at else ""


def find_overlaps(skills: Sequence[Skill], home: Path) -> Iterator[AuditFinding]:
    """Pairs of one agent whose descriptions speak of the same."""
    words = [frozenset(words_of(f"{skill.name.replace('-', ' ')} {skill.description}")) for skill in skills]
    spread = Counter(word for each in words for word in each)
    weight = {word: math.log(1 + len(skills) / count) ** 2 for word, count in spread.items()}
    norm = [math.sqrt(sum(weight[word] for word in each)) for each in words]
    by_agent: dict[str, list[int]] = defaultdict(list)
    for place, skill in enumerate(skills):
        if len(words[place]) >= FEWEST_WORDS and listed_text(skill):
            by_agent[skill.agent].append(place)
    for agent, places in sorted(by_agent.items()):
        for at, a in enumerate(places):
            for b in places[at + 1 :]:
                if skills[a].name == skills[b].name or not one_reach(skills[a], skills[b], home):
                    continue
                shared = sum(weight[word] for word in words[a] & words[b])
                if shared >= OVERLAP * norm[a] * norm[b]:
                    text = f"its description overlaps with that of {skills[a].name} ({shared / norm[a] / norm[b]:.0%})"
                    yield AuditFinding("overlap", agent, skills[b].name, skills[b].path, text)


def find_never_used(
    skills: Sequence[Skill],
    uses: Sequence[int],
    tokens: Sequence[int],
    usage: Usage,
    today: date,
    ages: Mapping[str, date],
) -> Iterator[AuditFinding]:
    """Skills older than NEW_DAYS that no session used; `uses` and `tokens` are each skill's count and listing cost."""
    total = sum(usage.files.values())
    for skill, count, cost in zip(skills, uses, tokens, strict=True):
        sessions = total if skill.agent == "agents" else usage.files.get(skill.agent, 0)
        young = ages.get(skill.path, date.min) > today - timedelta(days=NEW_DAYS)
        if count or sessions < FEWEST_SESSIONS or young:
            continue
        text = f"not used in {plural(sessions, 'session')}; its listing costs about {cost} tokens in each"
        yield AuditFinding("never-used", skill.agent, skill.name, skill.path, text)
