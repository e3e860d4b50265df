"""Draft skills and the decisions about them, as records: read from the store and rendered back.

A draft is a folder `.candidates/<name>/` with SKILL.md, evidence.yaml and, for a long one, references/lessons.md. A
decision is one file `decisions/review-*.yaml`: one file each, so that two machines can decide and git merges cleanly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from curate.branch import Branched
from curate.skills import SKILL_FILE, Skill, parse_skill
from index.decode import safe_yaml
from index.records import Problem
from index.store import CANDIDATES

Choice = Literal["publish", "reject", "later", "merge", "rules"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
ACCEPTED: frozenset[Choice] = frozenset({"publish", "rules"})
EVIDENCE_FILE = "evidence.yaml"
DETAILS_FILE = "references/lessons.md"
DECISIONS = "decisions"
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Evidence:
    """One session that shows the pattern: when, in which project and transcript lines, and what it adds to the draft.

    `tainted` is true where the text derives from web pages, issues or tool servers that no person has reviewed.
    """

    session: str
    date: str
    project: str = ""
    lines: tuple[int, int] | None = None
    solution: str = ""
    tainted: bool = False
    adds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Improvement:
    """The existing skill that a draft improves: its file, that file's hash and its text when the draft was made."""

    path: str
    sha256: str
    before: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill waiting for a person. `news` are the sessions that a rejected predecessor did not have."""

    name: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    why: str = ""
    created: date = date(1970, 1, 1)
    written_sha256: str = ""
    improves: Improvement | None = None
    news: tuple[str, ...] = ()
    details: str = ""
    evidence_text: str = ""

    @property
    def folder(self) -> str:
        """Where it lies, relative to the store."""
        return f"{CANDIDATES}/{self.name}"

    @property
    def digest(self) -> str:
        """16 hex digits that change whenever the draft or its evidence does."""
        return sha256(f"{self.text}\0{self.details}\0{render_evidence(self)}")[:16]

    @property
    def files(self) -> dict[str, str]:
        """The texts that publishing writes, by their path in the skill's folder."""
        return {SKILL_FILE: self.text, **({DETAILS_FILE: self.details} if self.details else {})}

    @property
    def sessions(self) -> frozenset[str]:
        """The keys of the sessions that show it."""
        return frozenset(row.session for row in self.evidence)

    @property
    def solutions(self) -> frozenset[str]:
        """The ids of the solutions it was drafted from."""
        return frozenset(row.solution for row in self.evidence if row.solution)

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects in which it was seen, sorted."""
        return tuple(sorted({row.project for row in self.evidence if row.project}))

    @property
    def days(self) -> tuple[str, ...]:
        """The days on which it was seen, sorted."""
        return tuple(sorted({row.date for row in self.evidence}))

    @property
    def tainted(self) -> bool:
        """Whether any of its evidence is."""
        return any(row.tainted for row in self.evidence)

    @property
    def edited(self) -> bool:
        """Whether a person changed SKILL.md since it was written."""
        return sha256(self.text) != self.written_sha256

    def skill(self) -> Skill | Problem:
        """SKILL.md, parsed."""
        return parse_skill(f"{self.folder}/{SKILL_FILE}", self.text)


@dataclass(frozen=True, slots=True)
class Published:
    """A file that publishing wrote outside the store."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided about one draft, with what it rested on then.

    `until` is the day a `later` ends, `branch` the git branch that holds what was published.
    """

    draft: str
    digest: str
    choice: Choice
    who: str
    when: datetime
    note: str = ""
    name: str = ""
    sessions: frozenset[str] = frozenset()
    solutions: frozenset[str] = frozenset()
    until: date | None = None
    targets: tuple[Published, ...] = ()
    branch: Branched | None = None

    @property
    def path(self) -> str:
        """The record's file, relative to the store."""
        return f"{DECISIONS}/review-{self.when.astimezone(UTC):%Y%m%dT%H%M%S%f}-{self.draft}-{self.choice}.yaml"


def sha256(text: str) -> str:
    """Hex digest of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def render_evidence(draft: Draft) -> str:
    """evidence.yaml: what the draft rests on, for a person and for the next run."""
    improves = draft.improves
    values = {
        "name": draft.name,
        "created": draft.created.isoformat(),
        "why": draft.why,
        "written_sha256": draft.written_sha256,
        "improves": None
        if improves is None
        else {"path": improves.path, "sha256": improves.sha256, "before": improves.before},
        "news": list(draft.news),
        "sessions": [_row(row) for row in draft.evidence],
    }
    return _dump(values)


def _row(row: Evidence) -> dict[str, object]:
    return {
        "session": row.session,
        "date": row.date,
        "project": row.project,
        "lines": list(row.lines) if row.lines else None,
        "solution": row.solution,
        "tainted": row.tainted,
        "adds": list(row.adds),
    }


def _dump(values: Mapping[str, object]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=4096)


def parse_draft(name: str, text: str, evidence: str, details: str = "") -> Draft | Problem:
    """A draft from its files; strict about the evidence, which only we write."""
    path = f"{CANDIDATES}/{name}/{EVIDENCE_FILE}"
    try:
        values = safe_yaml(evidence)
        rows = tuple(_parse_row(row) for row in values["sessions"])
        improves = values.get("improves")
        return Draft(
            name=name,
            text=text,
            evidence=rows,
            why=str(values.get("why") or ""),
            created=date.fromisoformat(str(values["created"])),
            written_sha256=str(values.get("written_sha256") or ""),
            improves=Improvement(*(str(improves[key]) for key in ("path", "sha256", "before"))) if improves else None,
            news=tuple(str(item) for item in values.get("news") or ()),
            details=details,
            evidence_text=evidence,
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        return Problem(path, None, f"cannot be read ({error}); delete the folder and run promote again", "draft")


def _parse_row(row: Mapping[str, Any]) -> Evidence:
    lines = row.get("lines")
    return Evidence(
        session=str(row["session"]),
        date=str(row["date"]),
        project=str(row.get("project") or ""),
        lines=(int(lines[0]), int(lines[1])) if lines else None,
        solution=str(row.get("solution") or ""),
        tainted=bool(row.get("tainted")),
        adds=tuple(str(item) for item in row.get("adds") or ()),
    )


def read_drafts(root: Path) -> tuple[tuple[Draft, ...], tuple[Problem, ...]]:
    """Every draft in the store, oldest first, and the folders that are none."""
    drafts: list[Draft] = []
    problems: list[Problem] = []
    for folder in sorted((root / CANDIDATES).glob("[!.]*")):
        if folder.is_dir() and not folder.is_symlink():
            read = _read_draft(folder)
            if isinstance(read, Problem):
                problems.append(read)
            else:
                drafts.append(read)
    return tuple(sorted(drafts, key=lambda draft: (draft.created, draft.name))), tuple(problems)


def _read_draft(folder: Path) -> Draft | Problem:
    texts = []
    for name in (SKILL_FILE, EVIDENCE_FILE, DETAILS_FILE):
        path, shown = folder / name, f"{CANDIDATES}/{folder.name}/{name}"
        try:
            if name == DETAILS_FILE and not path.exists():
                continue
            if path.stat().st_size > MAX_BYTES:
                return Problem(shown, None, f"larger than {MAX_BYTES} bytes", "draft")
            texts.append(path.read_bytes().decode("utf-8"))
        except UnicodeDecodeError:
            return Problem(shown, None, "not UTF-8; save it as UTF-8", "draft")
        except OSError as error:
            return Problem(shown, None, f"cannot be read: {error.strerror}", "draft")
    return parse_draft(folder.name, *texts)


def render_decided(decided: Decided) -> str:
    """A decision's file."""
    return _dump(
        {
            "draft": decided.draft,
            "digest": decided.digest,
            "choice": decided.choice,
            "who": decided.who,
            "when": decided.when.astimezone(UTC).isoformat(),
            "note": decided.note,
            "name": decided.name,
            "sessions": sorted(decided.sessions),
            "solutions": sorted(decided.solutions),
            "until": decided.until.isoformat() if decided.until else None,
            "targets": [{"path": t.path, "sha256": t.sha256} for t in decided.targets],
            **({"branch": asdict(decided.branch)} if decided.branch else {}),
        }
    )


def parse_decided(path: str, text: str) -> Decided | Problem:
    """A decision from its file."""
    try:
        values = safe_yaml(text)
        choice = next(choice for choice in CHOICES if choice == values["choice"])
        branch = values.get("branch")
        return Decided(
            draft=str(values["draft"]),
            digest=str(values["digest"]),
            choice=choice,
            who=str(values["who"]),
            when=datetime.fromisoformat(str(values["when"])),
            note=str(values.get("note") or ""),
            name=str(values.get("name") or ""),
            sessions=frozenset(str(item) for item in values.get("sessions") or ()),
            solutions=frozenset(str(item) for item in values.get("solutions") or ()),
            until=date.fromisoformat(str(values["until"])) if values.get("until") else None,
            targets=tuple(Published(str(item["path"]), str(item["sha256"])) for item in values.get("targets") or ()),
            branch=Branched(*(str(branch[key]) for key in ("repository", "name", "commit"))) if branch else None,
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        return Problem(path, None, f"cannot be read as a decision ({error}); mend it or delete it", "decision")


def read_decisions(root: Path) -> tuple[tuple[Decided, ...], tuple[Problem, ...]]:
    """Every decision in the store, oldest first, and the files that are none."""
    decisions: list[Decided] = []
    problems: list[Problem] = []
    for path in sorted((root / DECISIONS).glob("review-*.yaml")):
        shown = path.relative_to(root).as_posix()
        try:
            read = parse_decided(shown, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            read = Problem(shown, None, f"cannot be read: {error}", "decision")
        if isinstance(read, Problem):
            problems.append(read)
        else:
            decisions.append(read)
    return tuple(sorted(decisions, key=lambda decided: (decided.when, decided.draft))), tuple(problems)


def published_targets(decisions: Iterable[Decided]) -> dict[str, Published]:
    """What publishing last wrote to each file outside the store."""
    return {target.path: target for decided in decisions if decided.choice == "publish" for target in decided.targets}
