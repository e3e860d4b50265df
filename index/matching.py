"""Which solutions fit an event: questions to the derived database, answered as scored hits with reasons.

Used by the recall hook and by `index.recall`. Imports only our own import-free modules; a database is anything with
`execute`, so that the hook can pass an `_sqlite3` connection. Every question reads a bounded number of rows.
"""

from index.globs import anchors, clean_path, matches_any
from index.signature import command_parts
from index.words import path_words, stem, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Hits = dict[int, "Hit"]

SCHEMA = 7  # of the database; one of another number is not read
MOST_ROWS = 200
MOST_TERMS = 24
MOST_TERMS_ASKED = 200
MOST_POSTINGS = 800  # rows that all terms of a question together may touch
BACKGROUND = 200  # lessons that a small store is padded with, so that rarity means something in it
COMMON_IN_BACKGROUND = 60
COMMON = frozenset(
    stem(word)
    for word in "add all also build call change check code command create error fail file find fix function get give "
    "help include input issue just know line list look make message name need new now number only open option output "
    "path please print problem project read remove result return run see set show start string support sure test text "
    "thing time try type update use using value version want warning way work write".split()
)


class Hit:
    """One solution that fits, how well, and why. `kinds` are what matched: error, command, path, text."""

    __slots__ = ("kinds", "mid", "reasons", "score")

    def __init__(self, mid: int) -> None:
        self.mid = mid
        self.score = 0.0
        self.kinds: list[str] = []
        self.reasons: list[str] = []

    def add(self, kind: str, score: float, reason: str) -> None:
        """One more match; of one kind only the best counts."""
        if kind not in self.kinds:
            self.kinds.append(kind)
            self.reasons.append(reason)
            self.score += score


def count_lessons(db: "Any") -> int:
    """How many solutions the database holds."""
    return int(db.execute("select value from meta where key = 'count'").fetchone()[0])


def weights_of(db: "Any", words: "Iterable[str]", table: str, total: int) -> "dict[str, tuple[float, int]]":
    """The rarity (a padded inverse document frequency) and the number of solutions of each word."""
    asked = list(dict.fromkeys(words))
    counts: dict[str, int] = {}
    for at in range(0, len(asked), MOST_TERMS_ASKED):
        some = asked[at : at + MOST_TERMS_ASKED]
        marks = ",".join("?" * len(some))
        counts.update(db.execute(f"select term, doc from {table} where term in ({marks})", some).fetchall())  # noqa: S608
    return {word: (rarity(word, counts.get(word, 0), total), counts.get(word, 0)) for word in asked}


def rarity(word: str, count: int, total: int) -> float:
    """log((solutions + background) / (those with the word + background's)), never below 0."""
    known = count + (COMMON_IN_BACKGROUND if word in COMMON else 0.5)
    return max(0.0, log((total + BACKGROUND) / known))


def log(value: float) -> float:
    """The natural logarithm; math would be one more module to load."""
    halvings = 0
    while value > 1.5:
        value, halvings = value / 2, halvings + 1
    while value < 0.75:
        value, halvings = value * 2, halvings - 1
    term = square = (value - 1) / (value + 1)
    total, square = term, square * square
    for odd in (3, 5, 7, 9, 11):
        term *= square
        total += term / odd
    return 2 * total + halvings * 0.6931471805599453


def search_words(
    db: "Any", table: str, weights: "dict[str, tuple[float, int]]", limit: int
) -> "list[tuple[int, float]]":
    """Rows of a full-text table that hold any of the words, best first by BM25; rare words first, postings bounded."""
    chosen: list[str] = []
    postings = 0
    for word, (weight, count) in sorted(weights.items(), key=lambda item: (-item[1][0], item[0])):
        if count and weight > 0.2 and len(chosen) < MOST_TERMS and (not chosen or postings + count <= MOST_POSTINGS):
            chosen.append(word)
            postings += count
    if not chosen:
        return []
    question = " OR ".join(f'"{word}"' for word in chosen)
    # All words are common: the first rows are the most useful solutions, and ranking thousands would take too long.
    columns, order = ("rowid, rank", "rank") if postings <= MOST_POSTINGS else ("rowid, -1.0", "rowid")
    rows = db.execute(
        f"select {columns} from {table} where {table} match ? order by {order} limit ?",  # noqa: S608  our own names
        (question, limit),
    )
    return [(int(row), -float(rank)) for row, rank in rows.fetchall()]


def match_path(db: "Any", path: str, hits: "Hits") -> None:
    """Solutions one of whose path globs takes in a project-relative path."""
    path = clean_path(path)
    keys = list(dict.fromkeys(anchors(path)))[:40]
    marks = ",".join("?" * len(keys))
    rows = db.execute(
        f"select mid, pat, paths from trig join lesson using (mid) where anchor in ({marks}) and ? glob glob "  # noqa: S608
        "order by mid limit ?",
        (*keys, path, MOST_ROWS),
    ).fetchall()
    for mid, pattern, paths in rows:
        if matches_any(paths.split("\n"), path):
            literal = sum(char not in "*?[]{}," for char in pattern)
            hits.setdefault(mid, Hit(mid)).add("path", 2.0 + min(literal, 40) / 40, f"{pattern} takes in {path}")


def match_command(db: "Any", command: str, hits: "Hits") -> None:
    """Solutions one of whose commands is run by a shell line: the same program, its words in the same order."""
    for words in command_parts(command)[:12]:
        keys = list(dict.fromkeys([words[0], *(f"{words[0]} {word}" for word in words[1:30])]))
        keys += [f"{words[0]} {word.rpartition('/')[0]}" for word in words[1:30] if "/" in word]
        marks = ",".join("?" * len(keys))
        rows = db.execute(
            f"select mid, words, shown from cmd where key in ({marks}) order by mid limit ?",  # noqa: S608
            (*keys, MOST_ROWS),
        ).fetchall()
        for mid, wanted, shown in rows:
            if words_follow(wanted.split("\n"), words):
                size = min(len(wanted.split("\n")), 4)
                hits.setdefault(mid, Hit(mid)).add("command", 2.0 + size / 4, f"the command runs `{shown}`")


def words_follow(wanted: "list[str]", words: "list[str]") -> bool:
    """Whether a command's words hold the wanted ones in order; a path also stands for what lies below it."""
    at = 0
    for word in words:
        if at < len(wanted) and same_word(wanted[at], word):
            at += 1
    return at == len(wanted)


def same_word(wanted: str, word: str) -> bool:
    """Whether one word of a command is the wanted one, or lies below it as a path, or adds a value or a test id."""
    bare = wanted.removeprefix("./").rstrip("/")
    word = word.removeprefix("./")
    return word in (wanted, bare) or (len(bare) > 1 and word.startswith((bare + "/", bare + "::", bare + "=")))


def match_text(db: "Any", text: str, hits: "Hits", floor: float = 0.0, most: int = 20) -> "dict[str, float]":
    """Solutions that speak of what a text asks, by BM25; returns the text's known words with their rarity.

    `floor` is the least rarity that the words a solution shares with the text must add up to; 0 takes every hit.
    """
    total = count_lessons(db)
    weights = weights_of(db, in_bounds(words_of(text)), "vdoc", total)
    for mid, rank in search_words(db, "fdoc", weights, most):
        title, tags, sentences = db.execute("select title, tags, sents from lesson where mid = ?", (mid,)).fetchone()
        named = set(words_of(f"{title} {tags}"))
        document = named.union(sentences.split())
        shared = [word for word in weights if word in document and weights[word][0] > 0.2]
        mass = sum(weights[word][0] * (1.5 if word in named else 1.0) for word in shared)
        if mass < floor or (floor and len(shared) < 2):
            continue
        best = sorted(shared, key=lambda word: (-weights[word][0], word))[:4]
        hits.setdefault(mid, Hit(mid)).add("text", min(rank, 30.0) / 15 + mass / 40, f"speaks of {', '.join(best)}")
    return {word: weight for word, (weight, count) in weights.items() if count}


def in_bounds(words: "list[str]") -> "list[str]":
    """A long text's words: its first and its last ones."""
    return words if len(words) <= 160 else words[:100] + words[-60:]


def match_mentions(db: "Any", path: str, context: "Iterable[str]", hits: "Hits", floor: float) -> None:
    """Solutions whose text names a path, its folder or its words: what one wants to know before an edit.

    Only those that declare no paths of their own; one that does fires on them alone. `context` are words of the task
    at hand.
    """
    path = clean_path(path)
    total = count_lessons(db)
    weights = weights_of(db, [*path_words(path)], "vdoc", total)
    around = weights_of(db, [word for word in context if word not in weights], "vdoc", total)
    scores: dict[int, float] = {}
    reasons: dict[int, str] = {}
    for key, value in mention_keys(path):
        named = db.execute("select mid from mention where key = ? order by mid limit 60", (key,)).fetchall()
        for (mid,) in named:  # a name that every second solution bears says little
            scores[mid] = scores.get(mid, 0.0) + value * log((total + 1) / len(named)) / log(total + 2)
            reasons.setdefault(mid, f"names {key}")
    for mid, rank in search_words(db, "fdoc", weights, 40):
        scores[mid] = scores.get(mid, 0.0) + min(rank, 15.0)
        reasons.setdefault(mid, f"speaks of what {path} is about")
    for mid, rank in search_words(db, "fdoc", around, 40):
        scores[mid] = scores.get(mid, 0.0) + CONTEXT_SHARE * min(rank, 15.0)
        reasons.setdefault(mid, "speaks of what was asked for")
    for mid in sorted(scores, key=lambda mid: (-scores[mid], mid))[:20]:
        silent = not db.execute("select paths from lesson where mid = ?", (mid,)).fetchone()[0]
        if silent and scores[mid] >= floor:
            hits.setdefault(mid, Hit(mid)).add("mention", scores[mid] / 15, reasons[mid])


CONTEXT_SHARE = 1.0


def mention_keys(path: str) -> "list[tuple[str, float]]":
    """The forms in which a text may name a path, with what each is worth."""
    parts = path.split("/")
    keys = [(path, 8.0)] if len(parts) > 1 else []
    keys += [("/".join(parts[at:]), 4.0) for at in range(1, len(parts) - 1)]
    keys.append((parts[-1], 3.0))
    keys += [("/".join(parts[max(0, at - 2) : at]) + "/", 1.0) for at in range(1, len(parts))]
    return keys
