"""What a lesson claims, statement by statement: which name leads to which, which value a thing has, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from index.bullets import split_sentences
from index.known import Known
from index.literals import STOPWORDS, Token, stem, tokens

# A name that could be swapped: quoted, or with a shape that plain words lack.
NAME = r"(?<![\w@./:+-])(?P<{0}>[`\"][^`\"\n]{{2,60}}[`\"]|[`\"'@]?[A-Za-z0-9@][\w@./:+-]{{1,80}}[`\"']?)"
SHAPED = re.compile(r"[-_./@:\d]|[a-z][A-Z]")
FILLER = r"(?:the |our |its |a |an |all |any |every |new |old )?(?:\w{2,14} ){0,2}"
MOVED = (
    r"(?:moved|merged|renamed|folded|migrated|kept|saved|stored|replaced|superseded|served|aliased|transferred|"
    r"relocated|"
    r"rolled|swapped|switched|redirected|consolidated|handed over|lives?|answered|handled|forwarded|pointed|mapped|"
    r"resolved|"
    r"go(?:es)?|sent|pushed|taken|looked up|built|installed|routed|delivered|read|known|done)"
)
USE = (
    r"(?:use|call|query|open|install|read|ask|look up|take|pull|fetch|deploy to|push to|send to|run|choose|connect "
    r"to|go to|"
    r"point at|point to|clone|import|pick|prefer|target|publish to|return|evaluate|request|write to|log in to|contact)"
)


# A sentence without one of these leads nothing to anything.
LEADING_WORDS = frozenset(
    "instead rather move moved merged rename renamed folded migrated replace replaced superseded served aliased "
    "transferred relocated swapped switch switched redirect redirected retired frozen deprecated stale unavailable "
    "emptied gone shadowed unpublished expire expired means refer now where whenever answered handled forwarded "
    "resolved over same than not belong belongs".split()
)
LEADING_PHRASES = ("in place", "stands for", "looked up", "go to", "goes to", "pushed to", "sent to", "built from")
ARROW = re.compile(r"->|=>|→")
BEGINNINGS = frozenset(phrase.split()[0] for phrase in LEADING_PHRASES)
LEADING_PHRASE = re.compile(rf"\b(?:{'|'.join(LEADING_PHRASES)})\b")
WORD = re.compile(r"\w+")


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("<old>", NAME.format("old")).replace("<new>", NAME.format("new")), re.IGNORECASE)


LONGEST = 400
PATTERNS = (
    _pattern(rf"<old>[^.\n]{{0,50}}? (?:(?:is|was|are|were|has|have|been|now|got|has been|have been|is now|"
             rf"are now|its \w+|"
             rf"their \w+)(?: now| been| are| is| was| were)? )?{MOVED}(?: on| over)? "
             rf"(?:to|into|under|in|by|with|from|at|as|onto|through|via) {FILLER}<new>"),
    _pattern(r"<old> (?:is|was|are|were|has been|have been|is now) (?:now )?(?:renamed|called|named) <new>"),
    _pattern(rf"\b{USE} {FILLER}<new>[^.\n]{{0,30}}? "
             rf"(?:instead of|rather than|in place of|and not|not|over|where [^.\n]{{0,30}} says?) {FILLER}<old>"),
    _pattern(rf"(?:instead of|rather than|in place of|not) {FILLER}<old>,? {USE} {FILLER}<new>"),
    _pattern(rf"\b(?:when(?:ever)?|if|for|where|any ?time|once|requests? (?:for|about)|questions? (?:on|"
             rf"about))\b[^.\n]{{0,60}}? "
             rf"<old>[^.\n]{{0,50}}?[,:;] (?:please |always |then )?{USE} {FILLER}<new>"),
    _pattern(rf"\b(?:refer|switch|change|point|move|redirect|send|route|forward|map|rename) "
             rf"{FILLER}<old>[^.\n]{{0,30}}? "
             rf"(?:to|into|over to|at|as) {FILLER}<new>"),
    _pattern(r"<old> {0,2}(?:->|=>|→|now means|means|stands for|is an alias (?:of|for)|is the same as) {0,2}<new>"),
    _pattern(rf"<old>[^.\n]{{0,40}}? (?:is|are|was|were) (?:gone|down|retired|frozen|deprecated|stale|"
             rf"unavailable|out of \w+|"
             rf"shut down|dead|broken|empty|emptied|shadowed|unpublished|expired)[^\n]{{0,80}}?"
             rf"\b(?:{USE}|{MOVED}(?: now)? (?:to|from|in|on|by|into|under)) {FILLER}<new>"),
    _pattern(rf"\b{USE} {FILLER}<new> (?:for|on|in) (?:every|any|all|each) {FILLER}<old>"),
    _pattern(r"<old>[^.\n]{0,60}?\bbecause <new> (?:took over|has taken over|replaces it|answers)"),
    _pattern(r"<new> (?:is|are|was) (?:\w+er|better|the same|newer|more \w+)[^.\n]{0,30}? (?:than|as) <old>[^\n]{0,60}?"
             rf"(?:\b{USE}\b|$)"),
    _pattern(rf"<new> has the same \w+ as <old>[^\n]{{0,30}}?\b{USE}\b"),
)  # fmt: skip


# What a sentence must hold, in lower case, for the pattern in the same place to be worth trying; "" is always there.
MARKS: tuple[tuple[str, ...], ...] = (
    tuple(
        "moved merged renamed folded migrated kept saved stored replaced superseded served aliased transferred "
        "relocated rolled swapped switched redirected consolidated handed live answered handled forwarded pointed "
        "mapped resolved go sent pushed taken looked built installed routed delivered read known done".split()
    ),
    ("renamed", "called", "named"),
    ("instead", "rather", "in place", "not", "over", "where"),
    ("instead", "rather", "in place", "not"),
    ("when", "if", "for", "where", "any", "once", "request", "question"),
    ("refer", "switch", "change", "point", "move", "redirect", "send", "route", "forward", "map", "rename"),
    ("->", "=>", "→", "means", "stands", "alias", "same as"),
    tuple(
        "gone down retired frozen deprecated stale unavailable out shut dead broken empt shadowed unpublished "
        "expired".split()
    ),
    ("every", "any", "all", "each"),
    ("because",),
    ("than", "as"),
    ("has the same",),
)
# The fixed words amid the names of a pattern that would look for names at every place: without them it cannot match.
CORES: dict[int, re.Pattern[str]] = {
    place: re.compile(core)
    for place, core in (
        (0, rf" {MOVED}(?: on| over)? (?:to|into|under|in|by|with|from|at|as|onto|through|via) "),
        (2, rf"\b{USE} .{{2,300}}? (?:instead of|rather than|in place of|and not|not|over|says?) "),
        (3, rf"(?:instead of|rather than|in place of|not) .{{2,130}}? {USE} "),
        (4, rf"[,:;] (?:please |always |then )?{USE} "),
        (5, r"\b(?:refer|switch|change|point|move|redirect|send|route|forward|map|rename) .{2,160}? "
            r"(?:to|into|over to|at|as) "),
        (7, r" (?:is|are|was|were) (?:gone|down|retired|frozen|deprecated|stale|unavailable|out of|shut down|dead|"
            r"broken|empty|emptied|shadowed|unpublished|expired)"),
        (8, rf"\b{USE} .{{2,130}}? (?:for|on|in) (?:every|any|all|each) "),
        (9, r"\bbecause .{2,90}? (?:took over|has taken over|replaces it|answers)"),
        (10, r" (?:is|are|was|were) (?:\w+er|better|the same|newer|more \w+)[^.\n]{0,30}? (?:than|as) "),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Swap:
    """One name that is led to another, both in lower case."""

    old: str
    new: str


def swaps(text: str) -> Iterator[Swap]:
    """The pairs of names of which a text leads the first to the second."""
    seen: set[Swap] = set()
    for sentence in leading_sentences(split_sentences(text)):
        cut = sentence[:LONGEST]
        low, folded = cut.lower(), fold(cut)
        for place, (pattern, marks) in enumerate(zip(PATTERNS, MARKS, strict=True)):
            for mark in marks:
                if mark in low:
                    break
            else:
                continue
            if place in CORES and not CORES[place].search(folded):
                continue
            for match in pattern.finditer(cut):
                old, new = clean(match["old"]), clean(match["new"])
                swap = Swap(old, new)
                if old != new and is_name(match["old"]) and is_name(match["new"]) and swap not in seen:
                    seen.add(swap)
                    yield swap


def fold(text: str) -> str:
    """A text in lower case as a pattern without regard to case reads it: to that a few letters more are i and s."""
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").lower().replace("\u0131", "i").replace("\u017f", "s")


def leading_sentences(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences, then the pairs of neighbours as one, that can lead one name to another: they hold two names, and
    a word without which nothing leads to anything."""
    names: list[int] = []
    leads: list[bool] = []
    for sentence in sentences:
        signs = sum(map(_RUNS.__getitem__, sentence.split()))
        names.append(signs % LEADING)
        leads.append(signs % BEGINNING >= LEADING or (signs >= BEGINNING and has_phrase(sentence)))
    for place, sentence in enumerate(sentences):
        if names[place] >= 2 and leads[place]:
            yield sentence
    for place, (a, b) in enumerate(pairwise(sentences)):
        if names[place] + names[place + 1] >= 2 and (leads[place] or leads[place + 1]):
            yield f"{a.rstrip(' .;:')}, {b}"


def has_phrase(sentence: str) -> bool:
    """Whether a sentence has one of the leading phrases."""
    folded = fold(sentence)
    return any(phrase in folded for phrase in LEADING_PHRASES) and LEADING_PHRASE.search(folded) is not None


# More than any sentence has words.
LEADING = 1 << 30
BEGINNING = 1 << 60


def read_run(run: str) -> int:
    """How many names a run of characters without a blank can hold, and whether it has a word that leads, or one that
    may begin a phrase that does: as one number, so that the runs of a sentence add up."""
    words = WORD.findall(fold(run))
    leading = not LEADING_WORDS.isdisjoint(words) or ARROW.search(run) is not None
    return count_names(run) + leading * LEADING + (not BEGINNINGS.isdisjoint(words)) * BEGINNING


TOKEN = re.compile(r"[^\s,;()]+")


def count_names(text: str) -> int:
    """How many names a text can hold: words that are quoted or have a name's shape; an arrow stands between two."""
    words = TOKEN.findall(text)
    found = sum(SHAPED.search(word.rstrip(".,:;'\"`")) is not None or not QUOTES.isdisjoint(word) for word in words)
    return max(2, found) if ARROW.search(text) else found


_RUNS = Known(read_run)


QUOTES = frozenset("`\"'@")


def clean(name: str) -> str:
    """A name without its quotes and the stop after it, in lower case."""
    return name.strip("`\"'").rstrip(".,:;").lower()


def is_name(text: str) -> bool:
    """Whether a word names a thing: it is quoted, or it has a sign, a digit or a capital inside."""
    bare = clean(text)
    if len(bare) < 3 or bare in STOPWORDS or FILE_ONLY.search(bare):
        return False
    return text[0] in "`\"'@" or SHAPED.search(text.strip("`\"'").rstrip(".,:;")) is not None


# A bare number, version or date is a value, not a name.
FILE_ONLY = re.compile(r"^[\d.,:/%x-]{1,30}\w?$")


def extends(old: str, new: str) -> bool:
    """Whether a name is another with something added to it."""
    return old != new and (new.startswith(old) or new.endswith(old))


RIGHTS = re.compile(r"\b(?:prod|production|live|admin|root|superuser|owner|master|public|write|sudo)\b")


def rises(old: str, new: str) -> bool:
    """Whether the new name has rights that the old one lacks: staging to production, test to live, user to admin."""
    return bool(RIGHTS.search(spaced(new))) and not RIGHTS.search(spaced(old))


def spaced(name: str) -> str:
    """A name's parts as words."""
    return re.sub(r"[-_./:@]", " ", name)


REFERENCE = re.compile(
    r"(?:\b(?:pr|pull request|mr|issue|adr|ticket|rfc|commit|change|bug)[ #:-]{0,2}#?\w{0,8}-?\d{1,7}\b|"
    r"(?<![\w/])#\d{1,6}\b|"
    r"(?-i:\b(?!UTF|SHA|ISO|AES|RSA|ECB|HTTP|TLS|IEEE|ASCII)[A-Z]{2,6}-\d{1,6}\b)|"
    r"\bchangelog\b|\bmigration guide\b|\brelease notes\b|\bcommit [0-9a-f]{7,40}\b)",
    re.IGNORECASE,
)
AUTHORITY = re.compile(
    r"\b(?:approved|confirmed|validated|signed off|verified|cleared|agreed|sanctioned|accepted|blessed|mandated|"
    r"ordered) "
    r"(?:by|with) (?:the )?\w+|\b(?:cto|ciso|legal|compliance|security(?: team)?|management|platform[- ]admin|"
    r"finance|the vendor|"
    r"leadership|auditors?|the board|ops)\b[^.\n]{0,20}\b(?:says?|said|confirmed|approved|agreed|signed|wants?|asked|"
    r"decided|"
    r"requires?)\b|\[verified[^\]]{0,30}\]|\bofficial policy\b",
    re.IGNORECASE,
)


def is_reference(text: str) -> bool:
    """Whether a text names a change, an issue or a decision that a person can look up."""
    return REFERENCE.search(text) is not None


def trusted_words(text: str) -> bool:
    """Whether a text claims that somebody in authority approved of it."""
    return AUTHORITY.search(text) is not None


IMPERATIVE = re.compile(
    r"^(?:\W{0,6}(?:\*\*)?(?:instead|fix|solution|so|then|please|always|never|first|next|now|also|and)[:,*]{0,4} ){0,3}"
    r"(?:always|never|do not|don't|run|use|install|add|set|send|push|call|open|deploy|copy|delete|remove|download|"
    r"fetch|read|ask|"
    r"disable|enable|ignore|treat|write|post|upload|forward|approve|merge|skip|keep|make sure|ensure|point|switch|"
    r"replace|put|"
    r"store|pull|clone|query|paste|export|commit|create|update|change|go|connect|prefer|choose|return|mark|pass|"
    r"include|tell)\b",
    re.IGNORECASE,
)
SHOULD = re.compile(
    r"\b(?:must|should|have to|has to|need to|needs to|are to|is to|shall)\b|`[a-z][\w.-]{1,20} [^`]{2,200}`"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, and whether it tells the reader to do something."""

    text: str
    imperative: bool


def statements(text: str) -> Iterator[Statement]:
    """The sentences of a text."""
    for sentence in split_sentences(text):
        bare = sentence.strip().lstrip("-*> ").replace("**", "")
        yield Statement(bare, bool(IMPERATIVE.search(bare) or SHOULD.search(bare)))


CLAIMS = 8
MOST_WORDS = 14
VALUE_KINDS = frozenset({"url", "path", "flag", "version", "number", "host", "identifier"})
# Words that turn a practice off; with a negation they turn it on again.
OFF = frozenset(
    stem(word)
    for word in (
        "skip disable bypass off ignore omit drop remove without unnecessary optional needless waive suppress hide "
        "exclude leave "
        "unset stop pointless obsolete deprecated false wrong safe-to-skip exempt"
    ).split()
)
NEGATIVE = frozenset(
    "not no never none nor cannot without don't doesn't isn't aren't won't shouldn't mustn't avoid".split()
)
WEAK = frozenset(
    stem(word)
    for word in (
        "use run set make always every must should need call add keep get put take go new old note now instead work "
        "fine way ok "
        "okay only also just first before after until when where so then them they it its all any each one team here "
        "note time"
    ).split()
)


# What keeps people, data or money safe: a claim that turns it off is worse than one that turns it on.
PROTECTIVE = frozenset(
    stem(word)
    for word in (
        "review approval approve signature sign signed certificate verification verify check checks test tests audit "
        "encrypt "
        "encryption hash masked mask pinned pin protected protection permission token secret secrets password "
        "passwords "
        "timeout timeouts scan backup log logged notice notify told tell listed list mention summary argon2id bcrypt "
        "tls "
        "authentication confirm confirmed validation validate limit limits lock block blocks digest sandbox cards gate"
    ).split()
)


# What must not get out or be touched: a claim that lets happen what an older one forbids for it is graver too.
VALUABLE = frozenset(
    stem(word)
    for word in (
        "secret secrets password passwords credential credentials card cards production customer customers personal "
        "backup backups"
    ).split()
)
# Two negations so near in one clause are none: "never skip", "cannot be built without".
NEAR = 4
CLAUSE = re.compile(r"[,;:()\u2013\u2014]")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence as a claim: what it is about, which way it turns, and the values it gives."""

    about: frozenset[str]
    off: bool
    values: frozenset[tuple[str, str]] = field(default=frozenset())

    def weakens(self, other: Claim) -> bool:
        """Whether it turns off a protection that the other keeps, or lets happen what the other forbids."""
        subject = PROTECTIVE if self.off else VALUABLE
        return self.off != other.off and bool(self.about & other.about & subject) and self.denies(other)

    def denies(self, other: Claim) -> bool:
        """Whether both are about the same and say otherwise: the other way round, or another value of one kind."""
        common = self.about & other.about
        smaller, larger = sorted((len(self.about), len(other.about)))
        if len(common) < 2 or len(common) < 0.6 * smaller or 3 * len(common) < larger:
            return False
        if self.off != other.off and (len(common) >= 3 or len(common) == smaller):
            return True
        if len(common) < 3 or len(common) < 0.5 * larger:
            return False
        mine, theirs = grouped(self.values), grouped(other.values)
        return any(
            len(mine[kind]) == len(theirs[kind]) == 1 and mine[kind] != theirs[kind]
            for kind in mine.keys() & theirs.keys()
        )


def grouped(values: frozenset[tuple[str, str]]) -> dict[str, set[str]]:
    """Values by kind."""
    by_kind: dict[str, set[str]] = {}
    for kind, value in values:
        by_kind.setdefault(kind, set()).add(value)
    return by_kind


def claims(text: str) -> Iterator[Claim]:
    """The claims of a lesson's first sentences, where it says what it is about; long ones tell rather than claim."""
    for sentence in split_sentences(text)[:CLAIMS]:
        if len(sentence) <= LONGEST:
            claim = claim_of(sentence)
            if 2 <= len(claim.about) <= MOST_WORDS:
                yield claim


def claim_of(sentence: str) -> Claim:
    """One sentence as a claim. It turns off what it is about where a negation stands in it that no other undoes."""
    found = tokens(sentence)
    about: set[str] = set()
    values: set[tuple[str, str]] = set()
    turns: list[int] = []  # the negations that stand, by their place
    for place, token in enumerate(found):
        part, word = _part_of(token.kind, token.norm)
        if part == "about":
            about.add(word)
        elif part == "value":
            values.add((token.kind, word))
        elif part == "turn":
            if word == "off" and place + 1 < len(found) and found[place + 1].norm.lower() == "by":
                continue  # "off by 10 %" is a measure
            if turns and place - turns[-1] <= NEAR and not _parted(sentence, found[turns[-1]], token):
                turns.pop()
            else:
                turns.append(place)
    return Claim(frozenset(about), bool(turns), frozenset(values))


@lru_cache(maxsize=16384)
def _part_of(kind: str, norm: str) -> tuple[str, str]:
    """What a token is to a claim: it turns it, is a value of it, or what it is about (its stem); or nothing."""
    word = norm.lower()
    if kind == "negation" or word in NEGATIVE or stem(word) in OFF:
        return "turn", word
    if kind in VALUE_KINDS:
        return "value", word
    if word not in STOPWORDS and stem(word) not in WEAK and len(word) > 2:
        return "about", stem(word)
    return "", word


def _parted(sentence: str, first: Token, second: Token) -> bool:
    """Whether two tokens stand in different clauses of a sentence."""
    return CLAUSE.search(sentence, first.span[1], second.span[0]) is not None
