"""Find the literals of a text, and the values in which two texts that are alike differ.

A literal is what no rewording may touch: commands, paths, flags, numbers, versions, hosts, addresses, quoted strings,
error codes, identifiers, names; and the words that turn a statement round: negations, and words with an opposite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from index.bullets import split_sentences
from index.known import Known

Kind = Literal[
    "url", "path", "flag", "version", "number", "host", "error", "identifier", "quoted", "name", "negation", "opposite"
]

_SCRIPTS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NEGATIONS_CJK = (
    "不要|不能|不可|不得|不会|不會|不是|不应|不應|不再|没有|沒有|无法|無法|无需|無需|切勿|从不|從不|绝不|決して|"
    "てはいけない|ではなく|ではない|じゃない|しない|せずに|せず|なかった|ません|ない|不|没|沒|未|勿|別"
)
_OPPOSITES_CJK = (
    "启用|啟用|禁用|停用|有効|無効|允许|允許|拒绝|拒絕|許可|禁止|拒否|总是|總是|始终|始終|必须|必須|之前|之后|之後|"
    "生产|生產|测试|測試|开发|本番|開発|検証|可以|以前|以后|以後|増加|减少|減少|增加|同步|异步|異步|同期|非同期|成功|失败|失敗|打开|打開|关闭|關閉|最大|最小|"
    "包含|包括|排除|新增|删除|削除|追加|真|假|開|閉|前|后|後"
)
_UNIT = r"(?:%|(?:ms|s|min|h|[KMGT]i?B|kB|Hz|x)\b)"
# A word that nothing could lengthen into another kind: tried first, since the others each read it to its end.
_PLAIN = r"(?P<plain>[A-Za-z]{1,80}+(?![.:]?+[\w.+@/\\:*$<>{}'’(-]))|"
# What only a run with one of these signs can hold; to look for it, each character of a long run is read many times.
_LINKING = re.compile(r"[/\\~@]")
_URL = r"(?P<url>[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"'`)\]，。、」』）]{1,400})|"
_MAIL = r"(?P<mail>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})|"
_PATH = (
    r"(?P<path>(?:[A-Za-z]:\\|~/|\.{1,2}/|/)?(?:[\w.@*+$<>{}-]{1,100}[/\\]){1,24}[\w.@*+$<>{}-]{0,100}"
    r"|(?<![\w/])[~/][\w.@*-]{1,100})|"
)
_FLAG = r"(?P<flag>(?<![\w-])--?[A-Za-z][\w-]{0,60}(?:=[^\s`\"',;)]{1,120})?)|"
_OTHERS = (
    r"(?P<version>(?<![\w.])v?\d{1,6}(?:\.\d{1,8}){1,4}(?:[-.+]?(?:rc|alpha|beta|post|dev|a|b)\.?\d{0,4})?(?![\w]))"
    r"|(?P<number>(?<![\w.])(?:(?<![\w)\]-])-)?\d{1,18}(?:[.,:_-]\d{1,12}){0,8}(?:\s?" + _UNIT + r"|[A-Za-z]{1,4}\b)?)"
    r"|(?P<dotted>\$?[A-Za-z_][\w-]{0,80}(?:(?:\.|::|->)[A-Za-z_][\w-]{0,80}){1,8}(?:\(\))?)"
    rf"|(?P<cjkneg>{_NEGATIONS_CJK})|(?P<cjkopp>{_OPPOSITES_CJK})"
    r"|(?P<katakana>[\u30a0-\u30ff]{2,40})"
    rf"|(?P<cjk>[{_SCRIPTS}])"
    r"|(?P<hangulneg>[\uac00-\ud7af]{0,12}(?:않|없|못|말고|마세요|아니|금지)[\uac00-\ud7af]{0,12})"
    r"|(?P<hangul>[\uac00-\ud7af]{1,40})"
    rf"|(?P<word>\$?[^\W{_SCRIPTS}]{{1,80}}(?:['’-][^\W{_SCRIPTS}]{{1,60}}){{0,8}}(?:\(\))?)"
)
_LINKED = re.compile(_PLAIN + _URL + _MAIL + _FLAG + _PATH + _OTHERS)
_UNLINKED = re.compile(_PLAIN + _FLAG + _OTHERS)
_SLASH = re.compile(r"([/\\])")
_UNWORDLY = re.compile(r"[.\d_*@$<{\\-]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|\s")
_QUOTED = re.compile(
    r"`([^`\n]{1,300})`|\"([^\"\n]{2,300})\"|「([^」\n]{1,200})」|『([^』\n]{1,200})』|“([^”\n]{2,200})”"
)
_ERROR = re.compile(r"^(?:[A-Za-z_.]{0,60}(?:Error|Exception|Warning|Fault)|E[A-Z]{3,20}|[A-Z]{1,6}\d{2,6})$")
_SHAPED = re.compile(r"[A-Za-z0-9$]*(?:_|\d|[a-z][A-Z]|\(\))|^\$|^[A-Z]{2,}s?$")
_TOP_LEVEL = frozenset(
    "com org net io dev ai app co local internal lan localhost test example cn jp kr de uk fr eu ru us cloud".split()
)

_NEGATIONS = frozenset(
    "not no never none nothing nor neither cannot cant can't without don't doesn't didn't won't isn't aren't wasn't "
    "weren't shouldn't mustn't couldn't wouldn't hasn't haven't hadn't needn't dont doesnt didnt wont isnt arent "
    "shouldnt avoid refuse forbid forbidden prohibit prohibited skip unless except".split()
)
_OPPOSITE_PAIRS = (
    "enable disable|allow deny|allow block|allow forbid|allow reject|permit deny|accept reject|always never|"
    "before after|true false|yes no|on off|include exclude|add remove|add delete|insert delete|create delete|"
    "create destroy|open close|start stop|start end|first last|min max|minimum maximum|minimal maximal|more less|"
    "more fewer|most least|greater less|greater smaller|larger smaller|bigger smaller|higher lower|high low|"
    "upper lower|"
    "increase decrease|raise lower|grow shrink|up down|left right|top bottom|above below|over under|inside outside|"
    "internal external|in out|input output|read write|push pull|get set|get put|upload download|import export|"
    "lock unlock|load unload|mount unmount|encode decode|encrypt decrypt|pack unpack|wrap unwrap|"
    "success failure|succeed fail|pass fail|valid invalid|safe unsafe|secure insecure|public private|"
    "sync async|synchronous asynchronous|required optional|require forbid|must may|mutable immutable|"
    "local remote|client server|staging production|prod dev|production development|debug release|primary replica|"
    "primary secondary|master slave|source target|source destination|sender receiver|request response|"
    "old new|older newer|oldest newest|early late|earlier later|eager lazy|strict loose|strict lenient|"
    "ascending descending|asc desc|forward backward|next previous|with without|use avoid|prefer avoid|keep drop|"
    "keep remove|keep delete|keep discard|show hide|visible hidden|full empty|same different|equal unequal|fast slow|"
    "cheap expensive|hard soft|manual automatic|manually automatically|static dynamic|global local|parallel serial|"
    "parallel sequential|concurrent sequential|online offline|connect disconnect|attach detach|subscribe unsubscribe|"
    "commit revert|commit rollback|merge rebase|upgrade downgrade|install uninstall|frontend backend|"
    "foreground background|horizontal vertical|row column|even odd|positive negative|plus minus|any all|both neither|"
    "only also|once repeatedly|inclusive exclusive|blocking nonblocking|persistent ephemeral|temporary permanent|"
    "whitelist blacklist|allowlist denylist|warning error|daily weekly|hourly daily|weekly monthly"
)
_OPPOSITE_PAIRS_CJK = (
    "启用 禁用|启用 停用|啟用 停用|有効 無効|允许 拒绝|允许 禁止|允許 拒絕|許可 禁止|許可 拒否|总是 从不|"
    "始终 从不|總是 從不|"
    "必须 禁止|必須 禁止|之前 之后|之前 之後|以前 以后|以前 以後|前 后|前 後|増加 減少|增加 减少|同步 异步|同步 異步|"
    "同期 非同期|成功 失败|成功 失敗|打开 关闭|打開 關閉|最大 最小|包含 排除|包括 排除|新增 删除|追加 削除|真 假|開 閉|"
    "生产 测试|生产 开发|生產 測試|本番 開発|本番 検証|可以 禁止|可以 不可"
)
_UNMAKING = ("un", "in", "im", "ir", "non", "non-", "dis", "de", "a", "anti", "mis")
_SYNONYMS = tuple(
    frozenset(words.split())
    for words in (
        "run execute launch start invoke call|ensure guarantee|make build|use employ|need require want|"
        "fail break crash|error failure fault|fix repair resolve solve correct|because since as|bare plain|"
        "must should shall need|show display print|find locate|quick fast|begin start|big large|small little|"
        "change modify alter edit update|check verify confirm test|get obtain fetch|"
        "remove delete drop|give provide supply|stop halt|keep retain preserve|also too|but however yet|"
        "occur happen arise|then afterwards|directory folder|repo repository|config configuration settings|"
        "docs documentation|function method|parameter argument option|create make|choose pick select|"
        "so thus hence therefore|problem issue|cause reason|often frequently|mostly mainly|whole entire|"
        "only just|when whenever if|which that|this that the a an|these those"
    ).split("|")
)
STOPWORDS = frozenset(
    "a an the this that these those it its they them their there here i we you he she us our your my is are was were "
    "be been being am do does did doing done have has had having will would can could should shall may might must of "
    "to in on at by for from with into onto as than then so such and or but if when while which who whom whose what "
    "where why how also just very too quite rather about".split()
)


class Token(NamedTuple):
    """One word or literal of a text; `norm` is what is compared, `span` its place in the text."""

    kind: Kind | Literal["word"]
    norm: str
    span: tuple[int, int]

    @property
    def fixed(self) -> bool:
        """Whether no rewording may touch it."""
        return self.kind != "word"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two statements that are alike differ: the words on each side ("" for none), and the statements."""

    kind: Kind
    a: str
    b: str
    in_a: str
    in_b: str

    def __str__(self) -> str:
        return f'{self.kind}: "{self.a}" against "{self.b}"'


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[Token, ...]:
    """The words and literals of a text in order. Characters of Chinese and Japanese are words of their own."""
    return tuple(_tokens(text))


def literals(text: str) -> tuple[Token, ...]:
    """The literals of a text in order: quoted strings as wholes, and every fixed token inside and outside of them."""
    found = [token for token in _tokens(text) if token.fixed]
    found += [Token("quoted", inner, span) for inner, span in _quoted(text)]
    return tuple(sorted(found, key=lambda token: (token.span, token.kind)))


def literal_set(text: str) -> frozenset[str]:
    """The distinct literals of a text that name something: no negations, no opposites, no bare one-digit numbers."""
    found = {token.norm for run in _runs(text) for token in run.tokens if token.kind not in _UNNAMING}
    found.update(inner for inner, _ in _quoted(text))
    return frozenset(norm for norm in found if len(norm) > 1)


def content(text: str) -> tuple[str, ...]:
    """What a text says, in order: stems of its words but the most common, and its literals as they are."""
    return tuple(
        stem(token.norm) if token.kind in _WORDED else token.norm
        for run in _runs(text)
        for token in run.tokens
        if token.kind != "word" or token.norm not in STOPWORDS
    )


def _quoted(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """What stands in quotation marks, its blanks joined, and its place with the marks."""
    for match in _QUOTED.finditer(text):
        yield " ".join(match[match.lastindex or 0].split()), match.span()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its English ending; rough on purpose: it only has to map both forms of one word together."""
    if not word.isascii() or len(word) < 4:
        return word
    for ending in ("ingly", "edly", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            if ending in ("ied", "ies"):
                return base + "y"
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
                base = base[:-1]
            return base[:-1] if base.endswith("e") and len(base) > 3 else base
    return word


def differs(a: str, b: str, alike: float = 0.72) -> tuple[Difference, ...]:
    """The values in which statements of two texts that are otherwise alike differ; empty where none does.

    Every statement of `a` that `b` lacks is set beside the most similar one that `a` lacks; literals count as alike
    when they are of one kind, so "port 5432" finds "port 5433". `alike` is the least similarity (0..1) of two
    statements that are set against each other. A statement without a partner is an addition, not a difference.
    """
    return tuple(dict.fromkeys(find_differences(a, b, alike)))


def find_differences(a: str, b: str, alike: float = 0.72) -> Iterator[Difference]:
    """The same one by one, each as often as it is found: the first is enough to know that there is one."""
    for in_a, in_b in _partners(split_sentences(a), split_sentences(b), alike):
        yield from _differences(in_a.text, in_a.runs, in_b.text, in_b.runs)


def statement_differences(a: str, b: str) -> tuple[Difference, ...]:
    """The values in which two single statements differ, each span of rapidfuzz's alignment of their tokens in turn."""
    return _differences(a, _runs(a), b, _runs(b))


def _differences(a: str, runs_a: Sequence[_Run], b: str, runs_b: Sequence[_Run]) -> tuple[Difference, ...]:
    from rapidfuzz.distance import Levenshtein

    turned = a > b  # so that an alignment does not hang on which of the two is given first
    if turned:
        a, runs_a, b, runs_b = b, runs_b, a, runs_a
    left = [token for run in runs_a for token in run.tokens]
    right = [token for run in runs_b for token in run.tokens]
    codes = [
        code
        for code in Levenshtein.opcodes([token.norm for token in left], [token.norm for token in right])
        if code.tag != "equal"
    ]
    edits = [(left[c.src_start : c.src_end], right[c.dest_start : c.dest_end]) for c in codes]
    found: list[Difference] = []
    for code, (gone, new) in zip(codes, edits, strict=True):
        kind = _judge_span(gone, new, edits)
        if kind is not None:
            words = _shown(a, runs_a, code.src_start, gone), _shown(b, runs_b, code.dest_start, new)
            found.append(Difference(kind, *words[::-1], b, a) if turned else Difference(kind, *words, a, b))
    return tuple(found)


def _judge_span(gone: Sequence[Token], new: Sequence[Token], edits: Sequence[Edit]) -> Kind | None:
    """What kind of value one of the spans in which two statements differ changes; None for mere wording, or additions
    that contradict nothing."""
    negated = _negates(gone), _negates(new)
    if negated[0] != negated[1] and max(len(gone), len(new)) <= 6:
        return "negation"
    if not gone or not new:
        added = any(t.kind == "flag" and not _moved(t.norm, edits) for t in gone or new)
        return "flag" if added else None
    for x in gone:
        for y in new:
            if _opposite(x.norm, y.norm):
                return "opposite"
    lone = len(gone) == len(new) == 1
    fixed = [[t for t in side if t.kind not in _UNNAMING] for side in (gone, new)]
    for x in fixed[0]:
        for y in fixed[1]:
            if x.norm != y.norm and (x.kind == y.kind or {x.kind, y.kind} <= _VALUES or lone):
                return _kind_of(x)
    for side, other in ((fixed[0], new), (fixed[1], gone)):
        if len(other) <= 1 and any(t.kind == "flag" and not _moved(t.norm, edits) for t in side):
            return "flag"
    if lone and (fixed[0] or fixed[1]) and not (gone[0].norm in STOPWORDS or new[0].norm in STOPWORDS):
        return _kind_of((fixed[0] or fixed[1])[0])
    if len(edits) <= 2 and not any(negated) and _renamed(gone, new):
        return "name"
    return None


def _negates(span: Sequence[Token]) -> bool:
    """Whether the negations of a span do not cancel each other."""
    count = 0
    for token in span:
        if token.kind == "negation":
            count += 1
    return count % 2 == 1


def _kind_of(token: Token) -> Kind | None:
    return token.kind if token.kind != "word" else None


def _moved(norm: str, edits: Sequence[Edit]) -> bool:
    """Whether a token that is gone in one place is new in another."""
    return all(any(t.norm == norm for edit in edits for t in edit[side]) for side in (0, 1))


Edit = tuple[Sequence[Token], Sequence[Token]]
_UNNAMING = frozenset({"word", "negation", "opposite"})
_VALUES = frozenset({"version", "number"})
_WORDED = frozenset({"word", "name", "opposite"})
_AUXILIARIES = frozenset("do does did be is are was were する した します 하다 한다".split())


def _renamed(gone: Sequence[Token], new: Sequence[Token]) -> bool:
    """Whether a span that is all that two statements differ in may name another thing: a word, a few characters."""
    if len(gone) == len(new) == 1:
        return _unlike(gone[0].norm, new[0].norm)
    sides = [[token.norm for token in side if not "\u3041" <= token.norm <= "\u309f"] for side in (gone, new)]
    return all(1 <= len(side) <= 4 and all(norm[0] > "\u2e80" for norm in side) for side in sides)


def _unlike(a: str, b: str) -> bool:
    """Whether two words may name two things: not forms of one word, not small words, not known to mean the same."""
    if a in STOPWORDS or b in STOPWORDS or stem(a) == stem(b):
        return False
    groups = _synonym_stems()
    return groups.get(stem(a), frozenset()).isdisjoint(groups.get(stem(b), frozenset()))


@cache
def _synonym_stems() -> dict[str, frozenset[int]]:
    """The groups of synonyms that a stem is in, by their places."""
    groups: dict[str, set[int]] = {}
    for place, group in enumerate(_SYNONYMS):
        for word in group:
            groups.setdefault(stem(word), set()).add(place)
    return {word: frozenset(places) for word, places in groups.items()}


@cache
def _opposites() -> dict[str, set[str]]:
    """The opposites of a word or stem."""
    opposites: dict[str, set[str]] = {}
    for pair in f"{_OPPOSITE_PAIRS}|{_OPPOSITE_PAIRS_CJK}".split("|"):
        x, y = pair.split()
        for a, b in ((stem(x), stem(y)), (x, y)):
            opposites.setdefault(a, set()).add(b)
            opposites.setdefault(b, set()).add(a)
    return opposites


def _opposite(a: str, b: str) -> bool:
    x, y = stem(a), stem(b)
    opposites = _opposites()
    if y in opposites.get(x, ()) or b in opposites.get(a, ()):
        return True
    short, long = (y, x) if len(x) > len(y) else (x, y)
    return long.endswith(short) and len(short) >= 4 and long[: -len(short)] in _UNMAKING


class _Statement(NamedTuple):
    """A statement; its words without what is between them; the same with values replaced by their kind and without
    negations, so that alike ones find each other."""

    text: str
    folded: str
    skeleton: str
    runs: Sequence[_Run]


# A text is compared with several others in turn; these are the statements of some hundreds.
@lru_cache(maxsize=16384)
def _statement(text: str) -> _Statement:
    runs = _runs(text)
    folded = "".join([run.folded for run in runs])[1:]
    return _Statement(text, folded, "".join([run.skeleton for run in runs])[1:], runs)


def _partners(a: Sequence[str], b: Sequence[str], alike: float) -> Iterator[tuple[_Statement, _Statement]]:
    """Statements only one side has, each beside its nearest on the other side, the most alike first."""
    from rapidfuzz import fuzz, process

    alone = set(a) ^ set(b)  # what both have word for word needs no further look
    folded = (
        {(one := _statement(text)).folded: one for text in a if text in alone},
        {(one := _statement(text)).folded: one for text in b if text in alone},
    )
    left = [one for key, one in folded[0].items() if key not in folded[1]]
    right = [one for key, one in folded[1].items() if key not in folded[0]]
    if not left or not right:
        return
    scores = process.cdist(
        [one.skeleton for one in left],
        [one.skeleton for one in right],
        scorer=fuzz.ratio,
        score_cutoff=alike * 100,
    )
    rows, columns = scores.nonzero()
    ranked = sorted(zip((-scores[rows, columns]).tolist(), rows.tolist(), columns.tolist(), strict=True))
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, row, column in ranked:
        if row not in taken[0] and column not in taken[1]:
            taken[0].add(row)
            taken[1].add(column)
            yield left[row], right[column]


def _bone(token: Token) -> str:
    if token.kind == "negation" or token.norm in _AUXILIARIES or "\u3041" <= token.norm <= "\u309f":
        return ""
    if "\uac00" <= token.norm[:1] <= "\ud7af":
        return token.norm[:2]
    if token.kind in ("word", "opposite"):
        return "<name>" if len(token.norm) > 1 and token.norm[:1] > "\u2e80" else token.norm
    return "<name>" if token.kind in ("name", "identifier", "error") else f"<{token.kind}>"


def _shown(text: str, runs: Sequence[_Run], place: int, span: Sequence[Token]) -> str:
    """The words of a span as they stand in the text of the runs; `place` is that of its first token among all."""
    if not span:
        return ""
    first = last = _start_of(runs, place)
    if len(span) > 1:
        last = _start_of(runs, place + len(span) - 1)
    return text[first + span[0].span[0] : last + span[-1].span[1]]


def _start_of(runs: Sequence[_Run], place: int) -> int:
    """Where the run begins that the token in a place is of."""
    start = count = 0
    for run in runs:
        count += len(run.tokens)
        if count > place:
            break
        start += run.step
    return start


@dataclass(frozen=True, slots=True)
class _Run:
    """The tokens of a run of characters, their spans from its beginning; `step` leads from there to the next run.

    `folded` are their norms, `skeleton` their bones, each with a blank before it.
    """

    tokens: tuple[Token, ...]
    step: int
    folded: str
    skeleton: str


# Where a run stands: inside a sentence, after the end of one, or before any word of its text.
_INSIDE, _AFTER, _FIRST = range(3)
# The run as it reads in each of these places, and where the next one then stands.
_Readings = tuple[tuple[_Run, int], tuple[_Run, int], tuple[_Run, int]]
_ALONE = re.compile(r"[\"'`(\[*]*([A-Za-z]{1,80})([.,;:!?)\]\"'`*]*)")
_BREAK = re.compile(rf"\n(?:(?<!\d\n)|(?!{_UNIT}))")
_APART = re.compile(rf"\d[ \n]{_UNIT}")
_BLANK = re.compile(rf"(?<=\d) (?={_UNIT})")
_BETWEEN = " *_`\"'([-#"
_ENDS = frozenset(".!?:\n")


def _runs(text: str) -> list[_Run]:
    """A text as its runs between blanks: but a number and its unit no token goes beyond one, and most come again."""
    if _APART.search(text):
        # One kind of blank for another: both are none of a token but of a number with its unit.
        text = _BLANK.sub("\x1f", _BREAK.sub(" \n ", text))
    elif "\n" in text:
        text = text.replace("\n", " \n ")
    found: list[_Run] = []
    known, place = _READINGS, _FIRST
    for raw in text.split(" "):
        run, place = known[raw][place]
        found.append(run)
    return found


def _tokens(text: str) -> Iterator[Token]:
    start = 0
    for run in _runs(text):
        for kind, norm, span in run.tokens:
            yield Token(kind, norm, (start + span[0], start + span[1]))
        start += run.step


def _readings(raw: str) -> _Readings:
    """A run of characters at every place where it can stand."""
    if alone := _ALONE.fullmatch(raw):
        return _readings_of_word(raw, alone[1], alone.start(1), alone[2])
    opened: tuple[Token, ...] = ()  # the first word of the run where it opens a sentence
    closed: tuple[Token, ...] = ()  # the same where it does not
    rest: list[Token] = []
    leads: bool | None = None  # what is before the first word in the run settles which it is
    last = 0
    for match in (_LINKED if _LINKING.search(raw) else _UNLINKED).finditer(raw):
        before = raw[last : match.start()].rstrip(_BETWEEN)
        opening = before[-1] in _ENDS if before else None
        if last:
            rest += _found(match, bool(opening))
        else:
            leads = opening
            opened = _found(match, True)
            same = match.lastgroup not in _OPENING or match[0].islower()
            closed = opened if same else _found(match, False)
        last = match.end()
    tail = raw[last:].rstrip(_BETWEEN)
    following = _AFTER if tail and tail[-1] in _ENDS else _INSIDE
    # A line's end stands between two blanks that the text itself does not have.
    step = 0 if raw == "\n" else len(raw) + 1
    opens = _run_of((*opened, *rest), step)
    stays = opens if opened == closed else _run_of((*closed, *rest), step)
    if not last:
        return (opens, following if tail else _INSIDE), (opens, following if tail else _AFTER), (opens, _FIRST)
    first = (opens, following)
    other = first if stays is opens else (stays, following)
    return first if leads else other, other if leads is False else first, first


def _readings_of_word(raw: str, word: str, start: int, tail: str) -> _Readings:
    """The readings of a run that is one plain word but for signs around it, which is what most are."""
    tail = tail.rstrip(_BETWEEN)
    following = _AFTER if tail and tail[-1] in _ENDS else _INSIDE
    token = _named("plain", word, start, opening=True)
    first = (_run_of((token,), len(raw) + 1), following)
    if word.islower() or (other := _named("plain", word, start, opening=False)) == token:
        return first, first, first
    return (_run_of((other,), len(raw) + 1), following), first, first


_READINGS = Known(_readings)


def _run_of(found: tuple[Token, ...], step: int) -> _Run:
    if len(found) == 1:
        bone = _bone(found[0])
        return _Run(found, step, " " + found[0].norm, " " + bone if bone else "")
    folded = "".join([" " + token.norm for token in found])
    return _Run(found, step, folded, "".join([" " + bone for token in found if (bone := _bone(token))]))


def _found(match: re.Match[str], opening: bool) -> tuple[Token, ...]:
    """The tokens of one match, without the signs around it; `and/or` falls back into two words."""
    raw, group, start = match[0], match.lastgroup or "word", match.start()
    if group in _CASELESS:
        return (Token("word", raw, match.span()),)
    trimmed = raw.rstrip(".,:;'’\\") if group in _TRIMMED else raw
    if group == "word" and "_" in (raw[0], raw[-1]) and raw[:2] != "__":
        trimmed = trimmed.strip("_")
        start = match.end() - len(raw.lstrip("_"))
    if not trimmed:
        return ()
    if group != "path" or _is_path(trimmed):
        return (_named(group, trimmed, start, opening),)
    found: list[Token] = []
    for part in _SLASH.split(trimmed):
        if part and part not in "/\\":
            found.append(_named("word", part, start, opening))
        start += len(part)
    return tuple(found)


_CASELESS = frozenset({"cjk", "katakana", "hangul"})  # of these scripts what is more than a word has its own pattern
_TRIMMED = frozenset({"url", "path", "flag", "word", "dotted"})
_OPENING = frozenset({"plain", "word", "path"})  # what may be a name unless it opens a sentence
_AS_WRITTEN = frozenset({"url", "flag", "path", "version", "number"})


# One machine under its several names: an error that quotes one of them is the same error with another.
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def _named(group: str, raw: str, start: int, opening: bool) -> Token:
    """One match as a token, its kind settled by its form."""
    low = raw.lower()
    kind: Kind | Literal["word"]
    norm = raw
    if group in _AS_WRITTEN:
        kind = group  # type: ignore[assignment]
        if kind in _VALUES:
            norm = (low if low.isalnum() else _THOUSANDS.sub("", low)).removeprefix("v")
    elif group == "mail":
        kind = "host"
    elif group == "dotted":
        kind = "host" if low.rsplit(".", 1)[-1] in _TOP_LEVEL else "error" if _ERROR.match(raw) else "identifier"
    elif group in ("cjkneg", "hangulneg") or low.replace("’", "'") in _NEGATIONS:
        kind, norm = "negation", _negation(low.replace("’", "'"))
    elif group == "cjkopp" or stem(low) in _opposites() or low in _opposites():
        kind, norm = "opposite", low
    elif _ERROR.match(raw):
        kind = "error"
    elif _SHAPED.match(raw) and len(raw) > 1:
        kind = "identifier"
    elif raw[:1].isupper() and not opening and len(raw) > 1:
        kind, norm = "name", low
    else:
        kind, norm = "word", low
    if low in _LOOPBACK:
        kind, norm = "host", "localhost"
    return Token(kind, norm, (start, start + len(raw)))


def _negation(word: str) -> str:
    """Contractions as "not", so that "don't" and "do not" are one."""
    return "not" if word.endswith(("n't", "nt")) or word == "cannot" else word


def _is_path(raw: str) -> bool:
    """Whether a run with slashes is a path rather than two words set side by side."""
    return (
        raw[:1] in "/~.$"
        or raw.endswith(("/", "\\"))
        or raw.count("/") + raw.count("\\") > 1
        or _UNWORDLY.search(raw) is not None
    )
