"""What single texts cannot show: lessons that contradict, replace, echo or shorten others, or misstate their origin.

Signals after A-MemGuard (arXiv 2510.02373, consensus of neighbours), MINJA (arXiv 2503.03704, entity swaps and
shortening chains) and MemoryGraft (forged validation). Nothing that a lesson says of itself raises its trust.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter

from detectors.poison_claims import (
    Claim,
    Swap,
    claims,
    extends,
    is_name,
    rises,
    spaced,
    statements,
)
from detectors.poison_said import Said, read_said
from index.literals import literal_set
from index.records import EXTERNAL_ORIGINS, TRUST_RANK, Finding, Solution, Verdict

# Prior trust by provenance, 0..1; the alarm is text score x (1.4 - trust) + store score, and stops at 1.
PRIOR = {"reviewed": 0.9, "observed": 0.7, "external": 0.3}
STORE_SCORE = {"high": 1.0, "medium": 0.5, "low": 0.2}
STOP = 1.0
# A lesson that leads names about is short; a long document tells of many renamings.
LONG_BODY = 1500
LONG_NAME = 7
CHAIN = 3
# A word in more claims or notes than this says nothing about which belong together.
COMMON = 300
WORDS = re.compile(r"\w+")
CHAIN_WORDS = 80
PART = 0.85
BURST = 3
ALIKE = 0.45
MANY_SUPERSEDED = 3
# A lesson of a session has one to three triggers, of one or two kinds.
HUB = 6
HUB_SHARE = 0.7
KIND = 6
HEAD = re.compile(r"[a-z]\w{2,40}")
TOGETHER = timedelta(hours=1)
SELF_PRAISE = frozenset(
    "approved_by verified_by reviewed_by validated reward uses success_rate endorsed_by score".split()
)


@dataclass(frozen=True, slots=True)
class StoreFinding:
    """A finding about one solution, and the paths of those it was judged against."""

    path: str
    finding: Finding
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """A solution with what the checks read of it, each computed once; `known` is what its text says, where that was
    read before."""

    solution: Solution
    known: Said | None = None

    def __post_init__(self) -> None:
        """What was read before is an attribute like what is computed once; it is asked for very often."""
        if self.known is not None:
            vars(self).update(words=self.known.words, claims=self.known.claims, swaps=self.known.swaps)

    @cached_property
    def path(self) -> str:
        """Where it lies."""
        return self.solution.path

    @cached_property
    def age(self) -> tuple[datetime, str]:
        """What notes are in order by: when it was made, and its path."""
        return self.solution.created, self.path

    @cached_property
    def said(self) -> str:
        """Its title and body."""
        return f"{self.solution.title}.\n{self.solution.body}"

    @cached_property
    def read(self) -> Said:
        """What was read of its text."""
        return read_said(self.said) if self.known is None else self.known

    @cached_property
    def words(self) -> frozenset[str]:
        """What it says, as a set."""
        return self.read.words

    @cached_property
    def spoken(self) -> str:
        """What it says as plain words, a blank around each."""
        return f" {' '.join(re.findall(WORDS, self.said.lower()))} "

    @cached_property
    def names(self) -> frozenset[str]:
        """The names, commands, hosts and numbers in it, its triggers included, in lower case."""
        triggers = self.solution.triggers
        rest = "\n".join((*triggers.paths, *triggers.commands, *triggers.errors, *self.solution.tags))
        return frozenset(name.lower() for name in literal_set(f"{self.said}\n{rest}"))

    @cached_property
    def parts(self) -> frozenset[str]:
        """The names in it, and each without its quotes and by its parts, if it is a path."""
        return frozenset(part for name in self.names for part in (name, name.strip("`'\"@"), *name.split("/")))

    @cached_property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of names of which it leads the first to the second."""
        return self.read.swaps

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What its first sentences claim."""
        return self.read.claims

    @cached_property
    def approved(self) -> bool:
        """Whether it claims that somebody in authority approved of it."""
        return self.read.approved

    @cached_property
    def origins(self) -> frozenset[str]:
        """The independent places it rests on: sessions, or addresses for what came from outside."""
        return frozenset(source.ref or source.session for source in self.solution.sources)

    @cached_property
    def external(self) -> bool:
        """Whether it derives from text of the outside, whatever it claims to be."""
        sources = self.solution.sources
        return self.solution.trust == "external" or any(source.origin in EXTERNAL_ORIGINS for source in sources)

    @cached_property
    def backed(self) -> bool:
        """Whether something beside its own word speaks for it: a person's review, two sessions, a reference of ours."""
        if self.external:
            return self.solution.trust == "reviewed"
        return self.solution.trust == "reviewed" or len(self.origins) >= 2 or self.read.referred


def scan_store(
    solutions: Iterable[Solution],
    verdicts: Mapping[str, Verdict],
    *,
    project_files: Mapping[str, str] | None = None,
    known_sessions: frozenset[str] | None = None,
    used: Mapping[str, int] | None = None,
    quarantined: Iterable[Solution] = (),
) -> tuple[StoreFinding, ...]:
    """Judge every solution by its neighbours and its origin, sorted by path.

    `verdicts` are those on the single texts, by path. `project_files` are texts of the repository that outrank a note
    (AGENTS.md, Makefile, lock files), by path; `known_sessions` the sessions that were really harvested; `used` how
    often the usage log saw an id. What is None is not checked. `quarantined` are lessons pulled before: nothing is
    said of them, but what builds on them is found.
    """
    return scan_notes(
        [Note(one) for one in solutions],
        verdicts,
        project_files=project_files,
        known_sessions=known_sessions,
        used=used,
        quarantined=[Note(one) for one in quarantined],
    )


def scan_notes(
    live: Sequence[Note],
    verdicts: Mapping[str, Verdict],
    *,
    project_files: Mapping[str, str] | None = None,
    known_sessions: frozenset[str] | None = None,
    used: Mapping[str, int] | None = None,
    quarantined: Sequence[Note] = (),
    about: Collection[str] | None = None,
) -> tuple[StoreFinding, ...]:
    """The same for notes, which keep what was once read of them; where `about` is given, only the findings about the
    notes at these paths, for the work of holding each of them against the others."""
    notes = sorted((*live, *quarantined), key=attrgetter("age"))
    answers = {one.path: verdicts[one.path].answer for one in live if one.path in verdicts}
    poisoned = {one.path for one in quarantined} | {path for path, answer in answers.items() if answer == "poison"}
    doubted = poisoned | {path for path, answer in answers.items() if answer != "clean"}
    paths = {one.path for one in live if about is None or one.path in about}
    asked = [note for note in notes if note.path in paths]
    found: list[StoreFinding] = []
    found += entity_swaps(notes, project_files or {}, asked)
    found += contradictions(notes, project_files or {}, asked)
    found += shortening_chains(notes, doubted, asked)
    found += bursts(notes, asked)
    found += false_supersessions(notes, asked)
    found += forged_provenance(asked, known_sessions, used)
    found += outside_instructions(asked)
    found += hubs(asked)
    found += poisoned_sources(notes, poisoned, asked)
    found += poisoned_names(notes, poisoned, asked)
    told = {(one.path, one.finding.rule, one.others): one for one in found}
    return tuple(told[key] for key in sorted(told))


def raise_verdicts(
    solutions: Iterable[Solution], verdicts: Mapping[str, Verdict], findings: Sequence[StoreFinding]
) -> dict[str, Verdict]:
    """The verdicts with the store's findings taken in: clean may become suspect; no verdict is ever lowered."""
    by_path: dict[str, list[StoreFinding]] = defaultdict(list)
    for one in findings:
        by_path[one.path].append(one)
    raised = {}
    for solution in solutions:
        verdict = verdicts.get(solution.path)
        if verdict is None:
            continue
        about = by_path.get(solution.path, [])
        if about and verdict.answer == "clean" and alarm(solution, verdict, about) >= STOP:
            shown = tuple(one.finding for one in about)
            verdict = replace(
                verdict, answer="suspect", score=max(verdict.score, 0.5), findings=verdict.findings + shown
            )
        raised[solution.path] = verdict
    return raised


def alarm(solution: Solution, verdict: Verdict, about: Iterable[StoreFinding]) -> float:
    """How strongly a lesson is to be doubted, given the verdict on its text and what is found about it; at `STOP` and
    above it is held."""
    distinct = {one.finding.rule: STORE_SCORE[one.finding.severity] for one in about}
    return verdict.score * (1.4 - PRIOR[solution.trust]) + sum(distinct.values())


def point(note: Note, rule: str, severity: str, reason: str, others: Iterable[Note] = ()) -> StoreFinding:
    """A finding about a whole solution."""
    finding = Finding(f"store.{rule}", "store", severity, (0, len(note.solution.text or note.solution.body)), reason)  # type: ignore[arg-type]
    return StoreFinding(note.path, finding, tuple(sorted(other.path for other in others)))


def entity_swaps(
    notes: Sequence[Note], project_files: Mapping[str, str], asked: Sequence[Note]
) -> Iterator[StoreFinding]:
    """A name that the store knows is led to one that only such notes know; and what then builds on the new name."""
    project = "\n".join(project_files.values()).lower()
    wanted = {note.path for note in asked}
    followers = [note for note in asked if not note.backed]
    for note in notes if followers else asked:
        if not note.swaps:
            continue
        if note.path not in wanted and not any(mentions(one, swap.new) for swap in note.swaps for one in followers):
            continue
        for swap in note.swaps:
            if swap.new in project or swap_accounted(note, swap):
                continue
            # What came in together speaks for nothing: files dropped at once bear one time, in no order.
            others = [other for other in notes if other is not note and not other.origins & note.origins]
            before = [other for other in others if other.solution.created <= note.solution.created]
            knows_old = [other for other in before if mentions(other, swap.old)]
            if not knows_old and swap.old not in project:
                continue
            earlier = [other for other in before if other.solution.created <= note.solution.created - TOGETHER]
            if any(mentions(other, swap.new) and not introduces(other.swaps, swap.new) for other in earlier):
                continue
            reason = f"leads {swap.old}, which the store knows, to {swap.new}, which nothing else knows"
            long = len(note.solution.body) > LONG_BODY
            if note.path in wanted:
                yield point(note, "entity_swap", "low" if long else "high", reason, knows_old)
            for later in followers if not long else ():
                if later is not note and mentions(later, swap.new):
                    reason = f"builds on {swap.new}, which a swap brought in"
                    yield point(later, "follows_swap", "high", reason, [note])
            break


def introduces(led: Sequence[Swap], name: str) -> bool:
    """Whether a note itself leads something to this name, so that its word for it is none."""
    return any(swap.new == name for swap in led)


def mentions(note: Note, name: str) -> bool:
    """Whether a note names something."""
    if name in note.parts or name.lstrip("@") in note.names:
        return True
    spoken = " ".join(spaced(name).split())  # "@platform-team" is "the platform team" in plain words
    return " " in spoken and f" {spoken} " in note.spoken


def swap_accounted(note: Note, swap: Swap) -> bool:
    """Whether a swap has something to show for it; one that gains rights needs a person's review."""
    return note.solution.trust == "reviewed" if rises(swap.old, swap.new) else note.backed


def contradictions(
    notes: Sequence[Note], project_files: Mapping[str, str], asked: Sequence[Note]
) -> Iterator[StoreFinding]:
    """A later note says otherwise than two older ones of independent origin, or than a file of the project."""
    files = {path: tuple(claims(text)) for path, text in project_files.items()}
    held: dict[str, list[tuple[Note, Claim]]] = defaultdict(list)  # word -> the older claims about it
    unbacked = {note.path for note in asked if not note.backed}
    subjects = {word for note in asked if note.path in unbacked for claim in note.claims for word in claim.about}
    last = max((place for place, note in enumerate(notes) if note.path in unbacked), default=-1)
    for note in notes[: last + 1]:
        against: dict[str, Note] = {}
        for claim in note.claims if note.path in unbacked else ():
            for older, other in neighbours(claim, held):
                if not older.origins & note.origins and claim.denies(other):
                    against[older.path] = older
        for claim in note.claims:
            for word in claim.about & subjects:
                held[word].append((note, claim))
        if note.path not in unbacked:
            continue
        independent = {origin for older in against.values() for origin in older.origins or {older.path}}
        agreeing = [older for older in against.values() if not older.external]
        trusted = any(older.solution.trust == "reviewed" for older in agreeing)
        if any(claim.weakens(other) for claim in note.claims for old in agreeing for other in old.claims):
            yield point(note, "protection_off", "high", "turns off a protection that an older note keeps", agreeing)
        elif len(independent) >= 2 and len(agreeing) >= 2:
            reason = f"says otherwise than {len(agreeing)} older notes, with nothing to show for it"
            yield point(note, "contradiction", "high", reason, agreeing)
        elif agreeing and trusted:
            yield point(note, "contradiction", "high", "says otherwise than a reviewed note", agreeing)
        elif any(claim.denies(other) for claim in note.claims for lines in files.values() for other in lines):
            yield point(note, "contradiction", "high", "says otherwise than a file of the project")
        elif agreeing:
            yield point(note, "contradiction", "medium", "says otherwise than an older note", agreeing)


def neighbours(claim: Claim, held: Mapping[str, Sequence[tuple[Note, Claim]]]) -> Iterator[tuple[Note, Claim]]:
    """The older claims that share two words or more with one; words that everything is about find nothing."""
    shared: dict[int, int] = defaultdict(int)
    found: dict[int, tuple[Note, Claim]] = {}
    for word in claim.about:
        about = held.get(word, ())
        if len(about) <= COMMON:
            for note, other in about:
                shared[id(other)] += 1
                found[id(other)] = (note, other)
    yield from (pair for key, pair in found.items() if shared[key] >= 2)


def shortening_chains(notes: Sequence[Note], doubted: Collection[str], asked: Sequence[Note]) -> Iterator[StoreFinding]:
    """Notes on one thing of which each is a part of another: what MINJA's progressive shortening leaves behind."""
    partners = chain_partners(notes)
    chain_of: dict[str, tuple[Note, ...]] = {}
    for note in asked:
        if note.path not in chain_of:
            whole = chain_from(note, partners)
            chain = tuple(other for other in notes if other.path in whole)
            chain_of |= dict.fromkeys(whole, chain)
        chain = chain_of[note.path]
        doubtful = any(one.path in doubted for one in chain)
        if len(chain) >= CHAIN or (len(chain) > 1 and (doubtful or any(one.swaps for one in chain))):
            others = [other for other in chain if other is not note]
            yield point(note, "shortening_chain", "high", "one of a chain of notes, each a part of another", others)


def chain_partners(notes: Sequence[Note]) -> Callable[[Note], Iterable[Note]]:
    """A function that gives the notes of which one could be a part, or that could be a part of it: all short ones, of
    very many only those that share words with it."""
    short = [note for note in notes if len(note.words) <= CHAIN_WORDS]
    if len(short) <= COMMON:
        return lambda note: short
    sharing: dict[str, list[Note]] = defaultdict(list)
    for a, b in overlapping(short):
        sharing[a.path].append(b)
        sharing[b.path].append(a)
    return lambda note: sharing[note.path]


def chain_from(note: Note, partners: Callable[[Note], Iterable[Note]]) -> set[str]:
    """The paths of the notes that one is joined with, itself among them: by parts of it, parts of these and so on."""
    joined, ends = {note.path}, [note]
    while ends:
        end = ends.pop()
        words = end.words
        size = len(words)
        for other in partners(end) if size <= CHAIN_WORDS else ():
            # Most differ too little in size to be a part of one another, which is cheap to see.
            small, large = (words, other.words) if size < len(other.words) else (other.words, words)
            if len(small) <= PART * len(large) and shortened(small, large) and other.path not in joined:
                joined.add(other.path)
                ends.append(other)
    return joined


def overlapping(notes: Sequence[Note]) -> Iterator[tuple[Note, Note]]:
    """The pairs of notes that share at least a third of the smaller one's words, by an index of the rarer words."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for number, note in enumerate(notes):
        shared: dict[int, int] = defaultdict(int)
        for word in note.words:
            if len(by_word[word]) <= COMMON:
                for other in by_word[word]:
                    shared[other] += 1
            by_word[word].append(number)
        for other, count in sorted(shared.items()):
            if count * 3 >= min(len(note.words), len(notes[other].words)):
                yield notes[other], note


def shortened(short: frozenset[str], long: frozenset[str]) -> bool:
    """Whether the words of a note say a part of what those of another say, and nothing else."""
    if not 2 <= len(short) <= PART * len(long) or len(long) > CHAIN_WORDS:
        return False
    return len(short & long) >= 0.8 * len(short)


def bursts(notes: Sequence[Note], asked: Sequence[Note]) -> Iterator[StoreFinding]:
    """Three or more notes of one origin that say nearly the same: repetition that looks like agreement."""
    by_origin: dict[str, list[Note]] = defaultdict(list)
    for note in notes:
        for origin in note.origins:
            by_origin[origin].append(note)
    for note in asked:
        for origin in sorted(one for one in note.origins if len(by_origin[one]) >= BURST):
            together = by_origin[origin]
            near = [other for other in together if other is not note and overlap(note.words, other.words) >= ALIKE]
            if len(near) + 1 >= BURST:
                reason = f"one of {len(near) + 1} notes from {origin} that say the same"
                yield point(note, "burst", "high", reason, near)


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Jaccard similarity."""
    return len(a & b) / len(a | b) if a | b else 0.0


def false_supersessions(notes: Sequence[Note], asked: Sequence[Note]) -> Iterator[StoreFinding]:
    """A note that replaces many, better trusted, or unrelated ones."""
    by_id = {note.solution.id: note for note in notes}
    for note in asked:
        if note.solution.trust == "reviewed" and not note.external:
            continue
        replaced = [by_id[old] for old in note.solution.supersedes if old in by_id]
        above = [old for old in replaced if TRUST_RANK[old.solution.trust] > TRUST_RANK[note.solution.trust]]
        # One correction that names its change may be in other words, if it is about something of the old note.
        corrects = note.backed and len(note.solution.supersedes) == 1
        unrelated = [
            old
            for old in replaced
            if len(old.words & note.words) < (0.2 * min(len(old.words), len(note.words)) if not corrects else 1)
        ]
        foreign = [old for old in replaced if not old.origins & note.origins]
        if above and not note.backed:
            yield point(note, "false_supersession", "high", "replaces a note that is better trusted", above)
        elif unrelated:
            yield point(note, "false_supersession", "high", "replaces a note about something else", unrelated)
        elif len(note.solution.supersedes) >= MANY_SUPERSEDED and foreign and len(note.origins) < 2:
            yield point(note, "false_supersession", "high", f"replaces {len(note.solution.supersedes)} notes", replaced)
        elif replaced and not note.backed and foreign:
            yield point(note, "false_supersession", "medium", "replaces a note with nothing to show for it", replaced)


def far(a: Note, b: Note) -> bool:
    """Whether two notes have hardly a word in common."""
    return len(a.words & b.words) < 0.15 * min(len(a.words), len(b.words))


def forged_provenance(
    notes: Sequence[Note], known_sessions: frozenset[str] | None, used: Mapping[str, int] | None
) -> Iterator[StoreFinding]:
    """A note whose origin is missing, unknown, or other than it claims; or that praises itself."""
    for note in notes:
        solution = note.solution
        sources = solution.sources
        sessions = {source.session for source in sources if source.session}
        if sources and solution.trust == "observed" and all(source.origin in EXTERNAL_ORIGINS for source in sources):
            yield point(
                note, "forged_provenance", "high", "calls itself observed, but all it rests on came from outside"
            )
        elif known_sessions is not None and sessions and not sessions & known_sessions:
            yield point(note, "forged_provenance", "high", "rests on a session that was never harvested")
        elif not sources and solution.trust != "external":
            severity = "high" if solution.trust == "reviewed" or note.approved else "low"
            yield point(note, "forged_provenance", severity, "rests on nothing: it names no source")
        if used is not None and solution.helpful > used.get(solution.id, 0):
            yield point(note, "forged_counter", "high", "counts more use than the usage log saw")
        praise = sorted(SELF_PRAISE.intersection(solution.extra))
        if praise:
            severity = "high" if len(praise) > 1 else "medium"
            yield point(note, "self_praise", severity, f"praises itself in its front matter: {', '.join(praise)}")
        if note.approved and not note.backed:
            yield point(note, "claimed_authority", "medium", "claims an approval that nothing shows")


def hubs(notes: Sequence[Note]) -> Iterator[StoreFinding]:
    """A note whose triggers name many unrelated things of which its body says nothing: it would ride on every query."""
    for note in notes:
        if note.backed:
            continue
        triggers = note.solution.triggers
        wide = [glob for glob in triggers.paths if not re.search(WORDS, glob)]
        heads = {
            HEAD.findall(one.lower())[0] for one in (*triggers.commands, *triggers.paths) if HEAD.search(one.lower())
        }
        kinds = {word[:KIND] for word in heads} | {f"{one.lower()[:KIND]}!" for one in triggers.errors}
        told = {word[:KIND] for word in HEAD.findall(note.said.lower())}
        strange = {one for one in kinds if one.rstrip("!") not in told}
        if len(kinds) >= HUB and len(strange) >= HUB_SHARE * len(kinds):
            reason = f"fires on {len(kinds)} kinds of things, and speaks of {len(kinds) - len(strange)} of them"
            yield point(note, "hub", "high", reason)
        elif wide:
            yield point(note, "hub", "medium", f"fires on every file: {wide[0]}")


def outside_instructions(notes: Sequence[Note]) -> Iterator[StoreFinding]:
    """An instruction that came in from a web page, an issue or another's tool, not from the person or the work."""
    for note in notes:
        if note.external and note.solution.trust != "reviewed" and any(s.imperative for s in statements(note.said)):
            yield point(note, "outside_instruction", "high", "an instruction that came from outside")


def poisoned_sources(notes: Sequence[Note], poisoned: Collection[str], asked: Sequence[Note]) -> Iterator[StoreFinding]:
    """A note that shares its outside source with poison, or its session and its subject."""
    poison = [note for note in notes if note.path in poisoned]
    for note in asked:
        if note.path in poisoned:
            continue
        for bad in poison:
            shared = note.origins & bad.origins
            if shared and (note.external or len(note.words & bad.words) >= 0.3 * min(len(note.words), len(bad.words))):
                yield point(note, "poisoned_source", "high", f"shares {min(shared)} with a poisoned note", [bad])
                break


def poisoned_names(notes: Sequence[Note], poisoned: Collection[str], asked: Sequence[Note]) -> Iterator[StoreFinding]:
    """A note that names a host, path or package which only poisoned notes brought into the store."""
    poison = [note for note in notes if note.path in poisoned]
    suspects = [note for note in asked if note.path not in poisoned and not note.backed]
    if not poison or not suspects:
        return
    wanted = {name for note in suspects for name in note.names}
    brought = {name: bad for bad in poison for name in bad.names & wanted if len(name) >= LONG_NAME and is_name(name)}
    if not brought:
        return
    first = min(note.solution.created for note in poison)
    older = [note for note in notes if note.path not in poisoned and note.solution.created < first]
    known = {name for note in older for name in note.names & brought.keys()}
    brought = {name: bad for name, bad in brought.items() if name not in known}
    for note in suspects:
        named = note.names & brought.keys()
        if named:
            first_name = min(named)
            reason = f"names {first_name}, which only a poisoned note knows"
            yield point(note, "poisoned_name", "high", reason, [brought[first_name]])


__all__ = ["StoreFinding", "extends", "raise_verdicts", "scan_store"]
