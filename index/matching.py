"""Which solutions fit an event: questions to the derived database, answered as scored hits with reasons.

Used by the recall hook and by `index.recall`. Imports only our own import-free modules; a database is anything with
`execute`, so that the hook can pass an `_sqlite3` connection. Every question reads a bounded number of rows.
"""

from index.globs import anchors, clean_path, matches_any
from index.signature import command_parts
from index.words import STOP, TABLE, USUAL, path_words, stem, words_of

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
USUAL_SHARE = 0.4  # how much a usual word counts of its rarity when one asks what a text is about
OUTER_SHARE = 0.5  # and a word of the body, beside those of title and tags
SURE_NAME = 4.0  # a name this rare is enough alone: it is of one solution or a few
MOST_OUTER = 4  # words of the body that count: a long one has some of any text
MOST_MENDED = 6  # unknown words of a text; one that has more of them is about other matters
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


def is_foreign(owner: str, project: str) -> bool:
    """Whether two projects are known by their remotes and differ."""
    return owner != project and is_remote(owner) and is_remote(project)


def is_remote(project: str) -> bool:
    """Whether a project's name is a remote's, host first, and no folder."""
    return "/" in project and not project.startswith(("/", "~")) and "." in project.partition("/")[0]


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

    `floor` is the least that `bearing` must be; 0 takes every hit.
    """
    total = count_lessons(db)
    weights = weights_of(db, in_bounds(words_of(text)), "vdoc", total)
    written = {stem(word): word for word in text.lower().translate(TABLE).split()}
    plain = set(written)
    for wrong, right in mend_words(db, weights).items():
        del weights[wrong]
        weights.update(weights_of(db, [right], "vdoc", total))
        plain.add(right)
    for mid, rank in search_words(db, "fdoc", weights, most):
        title, tags, sentences = db.execute("select title, tags, sents from lesson where mid = ?", (mid,)).fetchone()
        named = set(words_of(f"{title} {tags}"))
        document = named.union(sentences.split())
        shared = [word for word in weights if word in document and weights[word][0] > 0.2]
        if floor and not is_named(title, tags, plain, weights) and bearing(shared, weights, named) < floor:
            continue
        mass = sum(weights[word][0] * (1.5 if word in named else 1.0) for word in shared)
        best = sorted(shared, key=lambda word: (-weights[word][0], word))[:4]
        words = ", ".join(written.get(word, word) for word in best)
        why = f"speaks of {words}" if best else "holds words of the question that many lessons hold"
        hits.setdefault(mid, Hit(mid)).add("text", min(rank, 30.0) / 15 + mass / 40, why)
    return {word: weight for word, (weight, count) in weights.items() if count}


def is_named(title: str, tags: str, plain: "set[str]", weights: "dict[str, tuple[float, int]]") -> bool:
    """Whether a text has all words of a solution's tag, or of a title of one or two, and they are rare together."""
    names = tags.split()
    if title.count(" ") < 2:
        names.append(title)
    for name in names:
        words = {stem(word) for word in name.lower().translate(TABLE).split() if word not in STOP}
        if words and words <= plain:
            alone = len(words) == 1
            rare = sum(
                weights[word][0] * (USUAL_SHARE if alone and word in USUAL else 1.0)
                for word in words
                if word in weights
            )
            if rare >= SURE_NAME:
                return True
    return False


def bearing(shared: "list[str]", weights: "dict[str, tuple[float, int]]", named: "set[str]") -> float:
    """How far a solution is about what a text asks: the rarity of the words they share, most of all of its names.

    One word alone bears nothing; a part of another word (git and hub of github) is no word of its own.
    """
    whole = [word for word in shared if not any(word != other and word in other for other in shared)]
    if len(whole) < 2:
        return 0.0
    worth = {word: weights[word][0] * (USUAL_SHARE if word in USUAL else 1.0) for word in whole}
    outer = sorted((worth[word] for word in whole if word not in named), reverse=True)
    return sum(worth[word] for word in whole if word in named) + OUTER_SHARE * sum(outer[:MOST_OUTER])


def mend_words(db: "Any", weights: "dict[str, tuple[float, int]]") -> "dict[str, str]":
    """What unknown words of a text are misspelt for: a known one with the same beginning and one slip elsewhere."""
    mended: dict[str, str] = {}
    unknown = [word for word, (_, count) in weights.items() if not count and len(word) > 3 and word.isalpha()]
    if len(unknown) > MOST_MENDED:
        return {}
    for word in unknown:
        if word.isascii() and word not in USUAL and word not in COMMON:
            rows = db.execute(
                "select term from vdoc where term >= ? and term < ? and length(term) between ? and ? "
                "order by doc desc, term limit 2000",
                (word[:2], word[:2] + "\x7f", len(word) - (len(word) > 4), len(word) + 1),
            ).fetchall()
            near = next((term for (term,) in rows if one_slip(word, term)), "")
            if near and near not in weights:
                mended[word] = near
    return mended


def one_slip(word: str, other: str) -> bool:
    """Whether a letter left out, added, or two swapped lead from one word to the other; in long ones a wrong letter."""
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = 0
    while at < min(len(word), len(other)) and word[at] == other[at]:
        at += 1
    rest, wanted = word[at:], other[at:]
    if len(word) != len(other):
        return rest[1:] == wanted or rest == wanted[1:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return swapped or (len(word) > 6 and rest[1:] == wanted[1:])


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
