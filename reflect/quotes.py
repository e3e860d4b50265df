"""Choose the sentences of an episode that say why and what to do, and make titles and short quotes of them.

Nothing is put into words here that does not stand in the session: sentences are taken as they are, apart from a
leading "I need to", a filler or a list mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from detectors.agent_words import OUTRIGHT, cause_weight, done_in, is_order, is_plan, order_in
from detectors.sentences import LITERAL, has_literal, sentences

MOST_LINES = 24  # of an edit, compared with one another, if no longer than
LONGEST_LINE = 240
LONGEST_TITLE = 120
LONGEST_QUOTE = 320
_NAME = re.compile(r"[A-Za-z_][\w.-]{3,60}|\b\d{4,5}\b")
_FILLER = re.compile(
    r"^(?:(?:ah|oh|ok(?:ay)?|right|great|good|perfect|excellent|interesting|wait|hmm+|now|so|yes|yep|got it|"
    r"i see|found it|fixed|done|found the (?:issue|problem|bug|cause)|that makes sense|makes sense|"
    r"good (?:point|catch|question)|you(?:['’]re| are) (?:absolutely |completely |totally )?(?:right|correct)|"
    r"fair point|(?:the )?(?:fix|solution)(?=:)|actually|however|instead|but|clear(?: picture)?(?: now)?|"
    r"understood|i understand(?: now)?|"
    r"i (?:can )?(?:now )?(?:clearly )?see the (?:issue|problem|bug)(?: more clearly)?(?: now)?|"
    r"now i (?:understand|see)(?: the (?:issue|issues|problem))?)[ ]?[.,!:;—–-]{1,3}\s{0,3})+",
    re.IGNORECASE,
)
_PATHS = re.compile(r"(?:[A-Za-z]:)?(?:[\w.@+~-]{0,80}[/\\]){1,30}[\w.@+~-]{0,120}")
_AND_CHECK = re.compile(
    r",? and (?:then )?(?:let'?s |i'?ll |we )?(?:re-?run|run|verify|check|try|test|see|confirm|commit|"
    r"push) [^`]{1,80}$",
    re.IGNORECASE,
)
_PRAISE = re.compile(r", (?:thereby )?ensuring [^`]{1,160}$", re.IGNORECASE)
_ARTICLES = frozenset(
    "the a an this that these those it its they he she you your his her both there we our no each all "
    "only when if with "
    "in on at by for since because and some any every most what which without after before test tests".split()
)
_COMMENT = re.compile(r"^(?://|#|/?\*|<!--|--)")
# Programs that are written small, and are no English words.
LOWER_CASE = frozenset(
    "npm npx pnpm yarn git gh pip uv pytest mypy ruff kubectl docker helm cargo rustc tsc eslint vite "
    "vitest psql ssh curl "
    "wget sed awk grep jq rg zsh bash systemd systemctl apt brew gcloud aws terraform ansible alembic mise".split()
)
# A line that only says something: its words are no part of a fix.
_MESSAGE = re.compile(
    r"^(?:t\.(?:Error|Fatal|Log)f?|console\.\w+|print(?:ln|f)?|fmt\.Print(?:ln|f)?|log(?:ger)?\.\w+|echo|puts|"
    r"System\.out\.\w+|println!|eprintln!|return fmt\.Errorf|return errors\.New|throw new \w+|raise \w+)[( ]['\"`f].*$"
)
_LETTERS = re.compile(r"[^\w]")
_FILLER_ELSEWHERE = re.compile(
    r"^(?:好的|明白了|你说得对|您说得对|抱歉|对不起|了解(?:しました)?|承知(?:しました)?|申し訳ありません|알겠습니다|죄송합니다|네)"
    r"[，,。、！! ]{1,3}"
)
_MARK = re.compile(r"\*\*|__|^#{1,6} |^[-*•] |[✅✓✗❌⚠️🎉🔧]")
_NOISE = frozenset(
    "this that with from have been will when what which there their they them then than into error errors "
    "failed fails failure test tests file files line lines code "
    "need needs should would could must does make made only also just issue problem return value type func "
    "function string name main true false null none".split()
)
_CAUSE_LEAD = re.compile(
    r"^(?:so |and )?(?:it )?(?:turns out|turned out)(?: that)?,?:? (?=\S)|"
    r"^(?:the |that's the |so the )?(?:real |actual |main |root |underlying |true )*(?:cause|culprit|"
    r"issue|problem|reason)"
    r"(?: here)?: (?=\S)|"
    r"^(?:the |that's the |so the )?(?:real |actual |main |root |underlying )?(?:issue|problem|bug|cause|"
    r"reason)(?: here)? (?:is|was)(?: clear)?(?: that)?:?(?: [-–—])? (?=\S)",
    re.IGNORECASE,
)
_REQUIRES = re.compile(
    r"\b(?:must(?:n'?t| not)?|needs?(?! (?:to be )?(?:fix|updat|chang|adjust))|requires?|ha(?:s|ve) to|"
    r"expects?(?= an?\b| `)"
    r"|only (?:works?|accepts?|takes?|runs?|supports?)|(?:is|are) required|enforces?"
    r"|can only|may only|cannot be|can'?t be"
    r"|(?:does not|doesn't|do not|don't) (?:support|accept|allow))\b",
    re.IGNORECASE,
)
_NEEDS_WORK = re.compile(
    r"\b(?:needs?|requires?|ha(?:s|ve) to) (?:\w+ )?(?:\w+ )?(?:more|careful|fixing|updating|attention|"
    r"work|the correct|"
    r"the right|proper|changes?|to be (?:fixed|updated|changed))\b|\bfirst$|^(?:i|we|it|this|that|each|"
    r"they|these|those|both|one|he|she|all)\b|"
    r"\b(?:tests?|assertions?) (?:still )?expects?\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:instead|rather than|because|since|due to|so that|by \w{3,20}ing|before|after|only|never|"
    r"always)\b|, not ",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(r"(?:the |our |my )?next (?:step|thing)\b", re.IGNORECASE)
_BY_DOING = re.compile(r"\bby \w{3,20}ing\b|\bso that\b|\binstead of\b", re.IGNORECASE)
# A left-over of the change under way, or a file that is changed in no way that is told.
_LEFT_OVER = re.compile(
    r"(?:remove|drop|delete) (?:the |an? |those |these )?(?:now )?unused\b|"
    r"(?:update|fix|edit|change|modify|adjust|rewrite|refactor) `[^`]+`[.:]?$",
    re.IGNORECASE,
)
_PUT_RIGHT = re.compile(
    r"^(?:fix|update|correct|restart|address|resolve|refactor|adjust|rewrite|change|modify|improve|clean|handle|try|do|"
    r"run|create|add|write|make|open|build|use) "
    r"(?:up )?(?:the |all |all the |only the |these |those |this |that |any |both |some |remaining |a |an |our |"
    r"my |its |it |them )?(?:[\w-]{1,24} ){0,3}"
    r"(?:errors?|tests?|lint|issues?|references?|findings?|failures?|warnings?|code|file|files|docs?|"
    r"documentation|assertions?|expectations?|imports?|plan|todos?|pr|branch|commit|summary|work|same|"
    r"change|changes|edit|edits|staging|sense)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^\w{2,14} "
    r"(?:it|them|this(?! \w{3,20} to \w)|that(?! (?:the|an?|all|every|each|no|only|both)\b)|one|ones|these|those|"
    r"both|(?:each|another)(?= of| in| to|[.,]|$))\b(?! `)",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"(?:revert|undo|drop|remove|delete|put|take|keep|leave|do|fix|update|try|test)\b", re.IGNORECASE
)
_CAUSAL = re.compile(r"\b(?:because|since|due to|so|as)\b|因为|ため|때문", re.IGNORECASE)
_FIXED = re.compile(
    r"^(?:the |a |one )?(?:\w{1,12} )?(?:fix|solution)(?: (?:is|was|would)\b|:)|\b(?:issue|problem|bug|error)s? (?:is|"
    r"are|was|were|has been|have been) (?:now )?(?:resolved|fixed|solved|gone|addressed)",
    re.IGNORECASE,
)
_THEREFORE = re.compile(r",? (?:so|thus|therefore|hence|which means) (?=(?:that )?\S)", re.IGNORECASE)
_ASIDES = re.compile(r",? \b(?:since|because|so that|instead of|rather than)\b")
_THEN_I = re.compile(r"(?:[;,:]| [—–-]) (?:so |and |then )?(?=(?:I(?:'ll| will|'m going to)|let me) )", re.IGNORECASE)
_FIX_IS = re.compile(r"\bthe (?:\w+ )?(?:fix|solution) (?:is|was|here is) to\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^)]{0,200}\)")
_TO_FIX = re.compile(
    r"\bneeds? (?:also |more |some |to be )*(?:fix|careful|updat|chang|adjust|attention)", re.IGNORECASE
)
_WILL = re.compile(
    r"\b(?:I(?:'ll| will| am going to|'m going to)|let me|let's) (?:now |also |just )?[a-z]+", re.IGNORECASE
)
_RESTATES = re.compile(r"\b(?:fail(?:s|ed|ing)?|broke|error(?:s|ed)?|not passing)\b", re.IGNORECASE)
_QUOTES = re.compile(r"\"[^\"]{0,200}\"|`[^`]{0,200}`|“[^”]{0,200}”")
_VAGUE = re.compile(
    r"\b(?:this|that|it|them|these|those|both|everything|all issues|the (?:issue|issues|test|tests|"
    r"error|errors|problem|file|code|change|changes|fix))\b[.:]?$",
    re.IGNORECASE,
)


def names_in(*texts: str) -> frozenset[str]:
    """The words by which one thing is told from another: identifiers and their parts, files, tools; in lower case."""
    found: set[str] = set()
    for text in texts:
        for word in _NAME.findall(text):
            low = word.lower().strip(".-_")
            found.update(part for part in (low, *low.split(".")) if len(part) > 3 and part not in _NOISE)
    return frozenset(found)


def best_cause(texts: Sequence[str], names: frozenset[str], least: int = 1, near: bool = False) -> str:
    """The sentence that best says why, or "": it names the cause, is exact, and speaks of the same things.

    Of equals the later wins: what is said last before a change is what the change was made for. With `near` that last
    text need not name what the change touched.
    """
    best, most = "", 0.0
    for late, text in enumerate(texts):
        said = sentences(text)
        carried = 0
        for at, one in enumerate(said):
            one = _THEN_I.split(one)[0]
            clean = tidy(one)
            weight = max(cause_weight(one), carried)
            if weight == 1 and not cause_weight(_BRACKETS.sub("", one)):
                continue
            bare_mark = cause_weight(one) >= OUTRIGHT and not has_literal(one) and len(clean) < 60
            carried = OUTRIGHT if bare_mark else (carried if carried and at and is_bare(said[at - 1]) else 0)
            if (
                weight < least
                or len(clean) < 20
                or clean.endswith(("?", ":"))
                or (weight < OUTRIGHT and (is_plan(one) or order_in(clean)))
            ):
                continue
            if _NEXT_STEP.match(clean) or (weight < OUTRIGHT and (_WILL.search(one) or _TO_FIX.search(one))):
                continue
            if _FIXED.search(one) or (
                weight == 1 and _RESTATES.search(_QUOTES.sub("", one)) and not _CAUSAL.search(one)
            ):
                continue
            shared = len(names_in(one) & names)
            if not shared and not (near and late == len(texts) - 1 and (has_literal(one) or _CAUSAL.search(one))):
                continue
            score = weight + has_literal(one) + min(shared, 3) * 0.7 + 0.8 * late / len(texts) - len(clean) / 400
            if score >= most:
                best, most = clean, score
    return shorten(capital(_CAUSE_LEAD.sub("", best)), LONGEST_QUOTE)


def is_bare(sentence: str) -> bool:
    """Whether a sentence only says that the cause was found, and leaves it to the next to name it."""
    return cause_weight(sentence) >= OUTRIGHT and not has_literal(sentence) and len(sentence) < 60


def best_order(texts: Sequence[str], names: frozenset[str], near: bool = False) -> str:
    """What the texts say is to be done, as an order, or "": exact, and about the same things.

    With `near`, the last text was said right before the change and need not name what the change touched.
    """
    best, most = "", 0.9
    for late, text in enumerate(texts):
        for one in sentences(text):
            clean = tidy(one)
            for order, worth in ((order_in(clean), 1.2), (done_in(clean), 0.8)):
                if not is_telling(order):
                    continue
                shared = len(names_in(order) & names)
                exact = has_literal(order) or _FIX_IS.search(clean) or (len(order) > 40 and _BY_DOING.search(order))
                if not shared and not (near and late == len(texts) - 1 and exact):
                    continue
                score = worth + 0.9 * has_literal(order) + min(shared, 3) * 0.6 + 0.8 * late / len(texts)
                score += 0.6 * bool(_BECAUSE.search(order)) - len(order) / 300
                if score > most:
                    best, most = order, score
    return capital(shorten(clean_end(_PRAISE.sub("", _AND_CHECK.sub("", clean_end(best)))), LONGEST_QUOTE))


def points_back(order: str) -> bool:
    """Whether an order leaves to what was said before it what it is about ("Switch it to `x`")."""
    return _PRONOUN.match(order) is not None


def is_telling(order: str) -> bool:
    """Whether an order says what to do, not only that something is to be put right."""
    if not order or order.rstrip().endswith("?") or (len(order.split()) < 2 and order.isascii()):
        return False
    main = _ASIDES.split(order)[0]
    if _LEFT_OVER.match(order):
        return False
    if not has_literal(order) and (_VAGUE.search(main.strip(" .:")) or points_back(order)):
        return False
    if points_back(order) and _BACKWARD.match(order):
        return False
    return not _PUT_RIGHT.match(order) or _BECAUSE.search(order) is not None


def tidy(sentence: str) -> str:
    """A sentence without list marks, bold marks and fillers at its start."""
    # What stands in backticks is taken as it is: two asterisks there are no bold mark.
    parts = sentence.split("`")
    text = "`".join(part if at % 2 else _MARK.sub("", part) for at, part in enumerate(parts)).strip()
    while True:
        shorter = _FILLER_ELSEWHERE.sub("", _FILLER.sub("", text)).strip()
        if shorter == text or not shorter:
            return capital(text)
        text = shorter


def clean_end(text: str) -> str:
    """Text without the colon, dash or full stop that it trails off with."""
    return text.strip().rstrip(" :;,.。—–-…")


def capital(text: str) -> str:
    """Text that starts with a capital, unless its first word is code or an identifier: their case is a part of them."""
    return text[:1].upper() + text[1:] if text and not _keeps_case(text.split(" ", 1)[0]) else text


def uncapital(text: str) -> str:
    """Text for the middle of a sentence: a small letter at its start, unless the first word is a name or code."""
    first = text.split(" ", 1)[0]
    plain = first[1:].islower() or len(first) == 1
    small = plain and first != "I" and (is_order(text) or first.lower() in _ARTICLES)
    return text[:1].lower() + text[1:] if small else text


def _keeps_case(word: str) -> bool:
    """Whether a word is an identifier, a file, an option or a program's name, by its shape."""
    bare = word.rstrip(".,:;!?")
    inner = any(char.isupper() for char in bare[1:]) and not bare.isupper()
    return inner or bare in LOWER_CASE or any(char in "_./\\()=<>{}[]#@$*&|~`" or char.isdigit() for char in bare)


def sentence(text: str) -> str:
    """Text closed as a sentence."""
    text = text.strip().rstrip(":—–- ")
    return text if not text or text[-1] in ".!?。！？" else f"{text}."


def shorten(text: str, most: int) -> str:
    """One line of at most `most` characters, cut between words; a literal cut open is closed again."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:")
    return f"{cut}…`" if cut.count("`") % 2 else f"{cut}…"


def without_paths(text: str) -> str:
    """Text whose long paths are cut to an ellipsis, for titles and for telling what an error is about."""
    return " ".join(_PATHS.sub("…", text).split())


def is_requirement(cause: str) -> bool:
    """Whether a cause says what something needs, so that it tells what to do as it stands."""
    return _REQUIRES.search(cause) is not None and _NEEDS_WORK.search(cause) is None


def best_need(texts: Sequence[str], names: frozenset[str]) -> str:
    """Of the sentences that say what something needs, the last that is exact and about the same things, or ""."""
    for text in reversed(texts):
        for one in reversed(sentences(text)):
            clean = clean_end(tidy(_THEREFORE.split(_CAUSE_LEAD.sub("", tidy(one)))[-1]))
            if is_requirement(clean) and has_literal(clean) and names_in(clean) & names and not _WILL.search(clean):
                return capital(shorten(clean, LONGEST_QUOTE))
    return ""


# What differs begins within a string: cut out of its line it cannot be read.
_CUT_STRING = re.compile(r"[^'\"]*\w['\"](?!\w)")


def act_on(cause: str, changes: Sequence[str], paths: Sequence[str], said: Sequence[str] = ()) -> str:
    """A title from a cause where no words say what to do: what the change itself did about it, or "".

    The cause as it stands where it states a need; else the replaced line; else a line or the names that were added and
    that the cause, or what was `said` with it, quotes.
    """
    cause = clean_end(cause)
    if cause and is_requirement(cause):
        return capital(cause)
    names = names_in(cause)
    old, new = line_pair(changes, names)
    if old and len(old) + len(new) < 90:
        return f"Write {code(new, 60)}, not {code(old, 60)}"
    gone, put = differing_part(old, new)
    if _CUT_STRING.match(put) or _CUT_STRING.match(gone):
        gone, put = "", new if len(new) < 100 else ""
        if put:
            return f"Write {code(put, 100)}"
    if put and len(gone) + len(put) < 80:
        return f"Write {code(put)}, not {code(gone)}" if gone else f"Add {code(put)}"
    come = added_names(changes)
    quoted = {part for text in (cause, *said) for literal in LITERAL.findall(text) for part in _NAME.findall(literal)}
    line = added_line(changes, frozenset(name.lower() for name in quoted))
    if line and len(line) < 70 and quoted & set(_NAME.findall(line)):
        return f"Add {code(line)}"
    told = [name for name in come if name in quoted][:3]
    if told and paths:
        return f"Set {', '.join(code(name) for name in told)} in {code(paths[0].rsplit('/', 1)[-1], 60)}"
    return ""


def differing_part(old: str, new: str) -> tuple[str, str]:
    """(what of the old line went, what of the new one came): between what both begin and end with, whole words."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    inside = any(part[:1].isalnum() for part in (old[start : len(old) - end], new[start : len(new) - end]))
    while inside and start and old[start - 1].isalnum():
        start -= 1
    inside = any(part[-1:].isalnum() for part in (old[start : len(old) - end], new[start : len(new) - end]))
    while inside and end and old[len(old) - end].isalnum():
        end -= 1
    return old[start : len(old) - end].strip(" ,."), new[start : len(new) - end].strip(" ,.")


def added_names(changes: Sequence[str]) -> list[str]:
    """The identifiers that edits wrote and that no line that they took out holds, in order."""
    gone = {name for change in changes for line in signed_lines(change, "-") for name in _NAME.findall(line)}
    come = [name for change in changes for line in signed_lines(change, "+") for name in _NAME.findall(line)]
    return list(dict.fromkeys(name for name in come if name not in gone and len(name) < 40))


def as_title(text: str) -> str:
    """A title: one line, a capital, no full stop, cut at a clause where it is long."""
    line = clean_end(" ".join(text.split()))
    if len(line) > LONGEST_TITLE:
        for mark in (
            ". ",
            "; ",
            " — ",
            " – ",
            " - ",
            " (",
            ", so that ",
            ", which ",
            ", even though ",
            ", because ",
            ", i ",
            ", we ",
        ):
            head = line[:LONGEST_TITLE].rpartition(mark)[0]
            if len(head) > 30 and head.count("`") % 2 == 0 and head.count("(") == head.count(")"):
                line = head
                break
    return capital(shorten(clean_end(line), LONGEST_TITLE))


def code(text: str, most: int = 160) -> str:
    """A literal in backticks: one line, cut when long; doubled marks where it holds backticks itself."""
    line = " ".join(text.split())
    if len(line) > most:
        line = line[: most - 1].rstrip() + "…"
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def line_pair(changes: Sequence[str], names: frozenset[str]) -> tuple[str, str]:
    """(old, new): of all edits the replaced line that speaks most of `names`, or a lone one; else ("", "")."""
    found: list[tuple[float, tuple[str, str]]] = []
    for at, change in enumerate(changes):
        old, new = signed_lines(change, "-"), signed_lines(change, "+")
        undone = taken_out(changes[at + 1 :])
        gone = [line for line in old if len(line) <= LONGEST_LINE and line not in new][:MOST_LINES]
        come = [line for line in new if len(line) <= LONGEST_LINE and line not in old and line not in undone][
            :MOST_LINES
        ]
        for left in gone:
            likeness, right = max(((alike(left, line), line) for line in come), default=(0.0, ""))
            if likeness > 0.4 and _LETTERS.sub("", left) != _LETTERS.sub("", right) and len(left) + len(right) < 300:
                shared = len((names_in(left) ^ names_in(right)) & names)
                found.append(
                    (shared + 0.3 * len(names_in(left, right) & names) - len(left + right) / 300, (left, right))
                )
    if not found:
        return "", ""
    best, pair = max(found)
    return pair if best > 0.2 or len(found) == 1 else ("", "")


def signed_lines(change: str, sign: str) -> list[str]:
    """The removed ("-") or added ("+") lines of an edit that hold code: neither blank, a comment nor a message."""
    lines = (line[1:].strip() for line in change.split("\n") if line.startswith(sign))
    return [line for line in lines if line and not _COMMENT.match(line) and not _MESSAGE.match(line)]


def taken_out(changes: Sequence[str]) -> set[str]:
    """The lines that edits removed and did not put back."""
    return {line for one in changes for line in set(signed_lines(one, "-")) - set(signed_lines(one, "+"))}


def alike(left: str, right: str) -> float:
    """How alike two lines are, 0..1 (Ratcliff and Obershelp's measure, as difflib computes it)."""
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def added_line(changes: Sequence[str], names: frozenset[str]) -> str:
    """Of the lines that edits added, the one that speaks most of `names`; or the only one; or ""."""
    found: list[str] = []
    for at, change in enumerate(changes):
        undone = taken_out(changes[at + 1 :]) | set(signed_lines(change, "-"))
        found += [line for line in signed_lines(change, "+") if line not in undone and 3 < len(line) < LONGEST_LINE]
    if len(found) == 1 and not any(line.startswith("-") for change in changes for line in change.split("\n")):
        return found[0]
    best = max(((len(names_in(line) & names), -at) for at, line in enumerate(found)), default=(0, 0))
    return found[-best[1]] if best[0] else ""
