"""What the derived database keeps of a solution: its rows, each from the solution alone; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice

from index.error_matching import mask_label
from index.globs import anchor_of, expand_braces, problem_of, sqlite_glob
from index.known import Known
from index.records import IMPORTANCE_RANK, Solution
from index.signature import command_parts
from index.word_lines import SEVERAL, WORDS, all_words, cut_lines

LONGEST_BODY = 12_000
LONGEST_BRIEF = 700
MOST_SENTENCES = 60
LONGEST_SENTENCES = 5000
MOST_CODE = 200
MOST_MENTIONS = 200
MOST_ERRORS = 64
TRUST_WEIGHT = {"reviewed": 1.1, "observed": 1.0, "external": 0.6}
# A lesson's weight falls by at most this share as it ages, half of it in 90 days.
FADING = 0.15

FENCE = re.compile(r"```([^\n]{0,80})\n(.*?)(?:```|\Z)", re.DOTALL)
CODE = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"(?:[\w.@~-]{1,80}/){1,12}[\w.@*{}-]{0,80}|[\w-]{2,60}\.[A-Za-z]{1,6}\b")
_BLANKS = {code: " " for code in range(33) if chr(code).isspace()}
_IN_PATH = re.compile(r"/|\.[A-Za-z]")  # what every word has that names a path
_AROUND = "`'\"()[]<>,;:!?"  # signs that no path has, and that stand where a text names one
_FLOWING = re.compile(r"\n(?<!\n\n)(?![\n*#>|-])")  # begins with what can be looked for quickly
_NO_PROSE = ("```", "---")
_PARAGRAPH = re.compile(r"\n\s{0,80}\n")
_word = WORDS.__getitem__
_LABEL = re.compile(r"\*\*(?:Why it matters|Instead):\*\*", re.IGNORECASE)


def weight_of(each: Solution, seen: date, today: date) -> float:
    """How useful a solution is before anything is asked: confidence, trust, importance, priority, freshness, record."""
    age = max(0, (today - seen).days)
    fresh = 1 - FADING * (1 - float(0.5 ** (age / 90)))
    record = (each.helpful + 2) / (each.helpful + each.harmful + 2)
    importance = 1 + 0.1 * (IMPORTANCE_RANK[each.importance] - 1)
    return each.confidence * TRUST_WEIGHT[each.trust] * importance * fresh * record + 0.25 * each.priority


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of a solution, joined by spaces: all that it is found by, each sentence's in a line, those of code."""

    words: str
    sentences: str
    code: str


def texts_of(each: Solution) -> Texts:
    """All texts of a solution that are made of words, each part of it cut into words once.

    The same as `document_words`, `sentences_of` and `code_words` give one by one, which is for what has CJK characters.
    """
    body = each.body[:LONGEST_BODY]
    # Prose, then what follows a fence, its code, prose, and so on.
    parts = FENCE.split(body) if "```" in body else [body]
    inline = " ".join([code for part in parts[::3] for code in CODE.findall(part)]) if "`" in body else ""
    parts[::3] = [_FLOWING.sub(" ", part).replace(". ", "\n") for part in parts[::3]]
    texts = (each.title.replace(". ", "\n"), " ".join(each.tags), triggers_text(each), inline, *parts)
    cuts = [text for text in map(cut_lines, texts) if text is not None]
    if len(cuts) < len(texts):
        return _texts_one_by_one(each)
    title, tags, triggers, inline, *parts = cuts
    lines = _lines_of(title)
    names = [*chain.from_iterable(lines), *_words_in(tags)]
    words = [*names, *names, *_words_in(triggers)]
    code: list[str] = []
    for place, part in enumerate(parts):
        if place % 3 == 0:
            new = _lines_of(part)
            lines += new
            words += chain.from_iterable(new)
        else:
            some = _words_in(part)
            words += some
            code += some if place % 3 == 2 else ()
    code += _words_in(inline)
    return Texts(
        "".join(words).replace(SEVERAL, "").rstrip(" "),
        _sentences_in(lines),
        " ".join(list(dict.fromkeys("".join(dict.fromkeys(code)).replace(SEVERAL, "").split()))[:MOST_CODE]),
    )


def _words_in(cut_text: str) -> list[str]:
    """What the words of a text that was cut stand for."""
    return [*map(_word, cut_text.split())]


def _lines_of(cut_text: str) -> list[list[str]]:
    """The same line by line, without those that are empty."""
    return [[*map(_word, line.split())] for line in cut_text.split("\n") if line]


def _sentences_in(lines: Iterable[list[str]]) -> str:
    """Lines of words, each word once in its line; empty ones left out, bounded."""
    texts = ("".join(dict.fromkeys(line)) for line in lines)
    kept = list(islice(filter(None, texts), MOST_SENTENCES))
    text = "\n".join(kept)
    if SEVERAL in text:
        # A part of one word may be another word of the line.
        text = "\n".join([_each_once(line) if SEVERAL in line else line for line in kept])
    return text.replace(" \n", "\n").removesuffix(" ")[:LONGEST_SENTENCES]


def _each_once(line: str) -> str:
    return " ".join(dict.fromkeys(line.replace(SEVERAL, "").split()))


def _texts_one_by_one(each: Solution) -> Texts:
    prose, code = split_code(each.body)
    return Texts(" ".join(document_words(each)), sentences_of(each.title, prose), " ".join(code_words(code)))


def lesson_row(
    mid: int, each: Solution, texts: Texts, seen: date, weight: float, stale_days: int
) -> tuple[object, ...]:
    """One solution's row: what is needed to choose it, to render it and to compare an error with it."""
    lasting = each.type == "principle" or each.priority > 0
    source = each.sources[0].session if each.sources else ""
    paths = [path for path in each.triggers.paths if not problem_of(path)]
    return (
        mid, each.id, each.path, each.title, brief_of(each.body), each.project, each.branch, each.category, each.type,
        each.trust, each.confidence, each.priority, seen.toordinal(), 0 if lasting else seen.toordinal() + stale_days,
        source, " ".join(each.tags), "\n".join(paths), "\n".join(each.triggers.commands),
        "\n".join(each.triggers.errors), int(bool(paths) and all(is_everything(path) for path in paths)),
        weight, texts.sentences, texts.code,
    )  # fmt: skip


def triggers_text(each: Solution) -> str:
    """All that a solution declares, as one text."""
    return " ".join((*each.triggers.paths, *each.triggers.commands, *each.triggers.errors))


def document_words(each: Solution) -> list[str]:
    """The words a solution is found by; those of title and tags count twice."""
    named = all_words(f"{each.title} {' '.join(each.tags)}")
    return [*named, *named, *all_words(f"{triggers_text(each)} {each.body[:LONGEST_BODY]}")]


def brief_of(body: str) -> str:
    """What is given back of a body: its fact, why it matters and what to do instead, each cut at its bound."""
    labelled, plain = list[str](), list[str]()
    for part in _PARAGRAPH.split(body.strip()):
        begins = part.lstrip()[:3]
        if begins[:2] == "**":
            text = _in_one_line(part)
            (labelled if _LABEL.match(text) else plain).append(text)
        elif begins[:1] != "#" and begins not in _NO_PROSE:
            plain.append(part)
    room = LONGEST_BRIEF - sum(min(len(part), 240) for part in labelled)
    kept, used = [], 0
    for part in plain:
        text = _in_one_line(part)
        if not text:
            continue
        if used and used + len(text) > room:
            break
        kept.append(cut(text, max(200, room - used)))
        used += len(text)
    return "\n".join([*kept, *(cut(part, 240) for part in labelled)])


def _in_one_line(text: str) -> str:
    """A text with single spaces for blanks; most texts have no others, which is quickly seen."""
    return text if text.isprintable() and "  " not in f" {text} " else " ".join(text.split())


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, cut at a word."""
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"


def split_code(body: str) -> tuple[str, str]:
    """The prose of a body without its fenced blocks, and all its code."""
    body = body[:LONGEST_BODY]
    blocks = [block for _, block in FENCE.findall(body)]
    prose = FENCE.sub("\n\n", body)
    return prose, " ".join([*blocks, *CODE.findall(prose)])


def sentences_of(title: str, prose: str) -> str:
    """The sentences of a text as lines of words, bounded."""
    flowing = _FLOWING.sub(" ", prose)
    parts = re.split(r"\. |\n", f"{title}\n{flowing}")
    lines = filter(None, (" ".join(dict.fromkeys(all_words(one))) for one in parts))
    return "\n".join(islice(lines, MOST_SENTENCES))[:LONGEST_SENTENCES]


def code_words(code: str) -> list[str]:
    """The words of the code in a text, each once, bounded."""
    return list(dict.fromkeys(all_words(code)))[:MOST_CODE]


def is_everything(pattern: str) -> bool:
    """Whether a glob takes in every file."""
    return not pattern.strip("*/?.")


def trigger_rows(each: Solution) -> list[tuple[str, str, str]]:
    """(anchor, SQLite glob, pattern) of each path glob that says something."""
    rows = []
    for pattern in each.triggers.paths:
        if pattern.startswith("!") or is_everything(pattern) or problem_of(pattern):
            continue
        rows += [(anchor_of(one), sqlite_glob(one), pattern) for one in expand_braces(pattern)]
    return rows


def command_rows(each: Solution) -> list[tuple[str, str, str]]:
    """(key, words, as written) of each command: the key is the program, with its first word where it has one."""
    rows = []
    for command in each.triggers.commands:
        for words in command_parts(command)[:3]:
            first = words[1] if len(words) > 1 else ""
            bare = first.removeprefix("./").rstrip("/")
            rows.append((f"{words[0]} {bare}".strip(), "\n".join(words), command[:200]))
    return rows


def error_rows(each: Solution) -> list[tuple[str, str]]:
    """(signature, as written) of each declared error."""
    return [(mask_label(text), text[:300]) for text in each.triggers.errors if text.strip()][:MOST_ERRORS]


def mentions(each: Solution) -> list[str]:
    """The forms under which a text's paths may be asked for: whole, without leading folders, by name, by folder."""
    text = f"{each.title}\n{each.body[:LONGEST_BODY]}"
    text = text.translate(_BLANKS) if text.isascii() else " ".join(text.split())
    end, keys = 0, list[str]()
    for sign in _IN_PATH.finditer(text):
        if sign.start() >= end:
            end = text.find(" ", sign.end())
            end = len(text) if end < 0 else end
            keys += _KEYS[text[text.rfind(" ", 0, sign.start()) + 1 : end].strip(_AROUND)]
    return list(dict.fromkeys(keys))[:MOST_MENTIONS]


def _keys_of(word: str) -> tuple[str, ...]:
    """The forms under which the paths in a word may be asked for."""
    keys: list[str] = []
    for token in _PATH.findall(word):
        parts = [part for part in token.strip("./~").split("/") if part]
        rest = "/".join(parts[-8:])
        while rest:
            keys.append(rest)
            rest = rest.partition("/")[2]
        folder = ""
        for part in parts if token.endswith("/") else parts[:-1]:
            keys.append(f"{folder}{part}/")
            folder = f"{part}/"
    return tuple(dict.fromkeys(keys))


_KEYS = Known(_keys_of)


def unreachable(solutions: Iterable[Solution], pack_confidence: float = 0.7) -> list[tuple[str, str]]:
    """(path, reason) of solutions that nothing can bring up: no trigger that fires, too unsure for the pack."""
    found = []
    for each in solutions:
        bad = [f"{path!r} {problem_of(path)}" for path in each.triggers.paths if problem_of(path)]
        fires = trigger_rows(each) or command_rows(each) or any(error.strip() for error in each.triggers.errors)
        if not fires and each.confidence < pack_confidence:
            found.append((each.path, f"no trigger, and confidence {each.confidence:g} keeps it out of the pack"))
        elif bad:
            found.append((each.path, f"path trigger {'; '.join(bad)}"))
    return found
