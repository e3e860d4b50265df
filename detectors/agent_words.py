"""What an agent's sentence does: give in, name a cause, announce a step, say what to do or what was done."""

from __future__ import annotations

import re
from functools import lru_cache

from detectors.sentences import either, has_literal

OUTRIGHT = 3

_YIELD = either(r"""
    you(?:'re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)
    right[,.!:]|(?:good|great|fair) (?:point|catch|question|call|idea|enough)
    got it|understood|of course|makes sense|exactly|agreed|noted|true|indeed|ah\b|oh\b
    sorry|apologies|my (?:mistake|bad|apologies)|i (?:apologi[sz]e|misunderstood|see)\b|thanks for
    # German, French, Spanish, Portuguese, Italian, Russian
    du hast recht|sie haben recht|stimmt|verstanden|alles klar|compris|entendido|de acuerdo|понял
    vous avez raison|tu as raison|tienes raz[óo]n|tem raz[ãa]o|hai ragione
    вы правы|ты прав
    # Chinese, Japanese, Korean
    你说得对|您说得对|你說得對|明白了|好的|抱歉|对不起
    おっしゃる通り|その通り|失礼しました|申し訳|承知|了解|맞습니다|죄송|알겠습니다
""")
# Of these the ones that grant an argument, not only an order.
_CONCEDE = either(r"""
    you(?:'re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)
    (?:good|great|fair|excellent|valid) (?:point|catch|call)|right[,.!]|agreed|that(?:'s| is) (?:right|true|a (?:good|fair|valid) point)|my (?:mistake|bad)
    du hast recht|sie haben recht|stimmt|vous avez raison|tu as raison|tienes raz[óo]n|tem raz[ãa]o|hai ragione
    вы правы|ты прав|你说得对|您说得对|你說得對|おっしゃる通り|その通り|맞습니다
""")  # noqa: E501 - one alternative a line
_NAMED_CAUSE = either(r"""
    \broot cause\b|^(?:\*\*)?(?:the )?(?:real |actual |true )?(?:cause|culprit):
    \b(?:the|that(?:'s| is| was)(?: exactly)? the) (?:real |actual |main |underlying |core )?(?:issue|problem|bug|cause|culprit|reason|mistake|error)\b(?: here)? (?:is|was|lies|stems|turned)
    \bthat(?:'s| is| was) (?:the|a|why|because|your|our|exactly)\b
    \bfound (?:it|the (?:\w{1,14} )?(?:issue|problem|bug|cause|culprit|reason))\b
    \bi (?:can )?(?:now )?(?:clearly )?see the (?:\w{1,12} )?(?:issue|problem|bug)\b
    \b(?:is|was|are|were|been) caused by\b
    \bthis (?:is|was|happens|happened|fails|failed|means) because\b
    ^(?:so |then |ah,? |oh,? )?it(?:'s| is| was) (?:actually )?(?:because\b|the \w+ ?\w*:)
    \b(?:came|comes|stems|stemmed|results|resulted) from\b.{0,80}(?:`|which|\(\))
    \bturns out\b|\bthe fix (?:is|was)\b
    ^(?:so |and |then )?\w{2,14}ing\b.{6,200} (?:fixes|resolves|solves|cures) (?:it|this|that|both)\b
    ^\W{0,4}(?:fixed|resolved|corrected|solved|patched)\b.{4,240}(?:\bby \w{2,14}ing .{6,}[^:]$|: `?\w.{8,}[^:]$)
    \b(?:uses?|using|used|called|imported|imports?|had) .{2,80}\b(?:but|where it) should (?:be|have been)\b
    \bmust be \w{3,14} .{2,80}, not\b|\bshould (?:be|have been) .{2,60}, not\b
    # German, French, Spanish, Portuguese, Italian, Russian
    \bdas problem (?:ist|war)\b|\bdie ursache\b|\bliegt (?:daran|an)\b
    \ble probl[èe]me (?:est|vient|[ée]tait)\b|\bla cause\b
    \bel problema (?:es|era|est[áa])\b|\bla causa\b|\bo problema (?:é|era|está)\b|\bil problema (?:è|era)\b
    проблема в|причина
    # Chinese, Japanese, Korean
    根本原因|问题(?:是|在于|出在)|問題(?:は|是|在於)|原因(?:是|は|在于)|원인은|문제는|때문입니다|때문이
""")  # noqa: E501 - one alternative a line
# A hit of the pattern above in plain English holds one of these: most sentences need no search.
_CAUSE_WORDS = (
    "came from", "comes from", "stem", "result", "cause", "issue", "problem", "bug", "culprit", "mistake",
    "turns out", "the fix ", "the reason", "error is", "error was", "es it", "es this", "es that", "es both",
    "fixed", "resolved", "corrected", "solved", "patched", "must be", "should ", "found it", "found the", "it's ",
    "it is ", "it was ", "that's ", "that is ", "that was ", "liegt",
)  # fmt: skip
_HINT_OF_CAUSE = either(r"""
    \bbecause\b|\bsince\b|\bdue to\b|\bcaused\b|\bwhich (?:means|is why|broke|breaks)\b|\binstead of\b|\bwas removed\b
    \b(?:does|do|did|was|were|is|are|has|have|can)(?:n'?t| not)\b|\bnever\b|\bno longer\b|\bmissing\b
    \bneeds?\b|\brequires?\b|\bexpects?\b|\bmust\b|\bha(?:s|ve) to\b|\bm(?:ay|ight) be\b|\bdepends? on\b
    \b(?:is|are|was|were|gets?|got) (?:\w+ )?(?:slower|worse|heavier|larger)\b|\bbreaks?\b|\bcosts? more\b
    \blacks?\b|\bneeded\b|\brequired\b|\bignores?\b
    \blives? (?:in|under|at)\b|\benforces?\b|\b(?:refuses?|rejects?)\b|\bshares?\b|\bleaks?\b|\bcollides?\b
    \bstill\b|\bonly\b|\balready\b|\bbut\b|\btaken by\b|\bin use\b|\bwhile\b|\bbefore `|\bat import\b|\bby default\b
    \bleads? to\b|\bresults? in\b|\bwhich (?!is\b|was\b|are\b|has\b|i\b|we\b|should\b|will\b|means\b)[a-z]{3,12}s\b
    , so (?:it|they|every|each|both|nothing|no|`)\b
    , so (?!i\b|we\b|let|that\b|you\b|far\b)(?:\w+ ){1,3}(?:is|are|was|were|has|have|had|never)\b
    , so (?!i\b|we\b|let|that\b|you\b|far\b)(?:\w+ ){1,3}(?:gets?|goes|does|can|cannot)\b
    , so (?!i\b|we\b|let|that\b|you\b|far\b)(?:\w+ ){1,3}(?:finds?|wins?|keeps?|stays?|sees?)\b
    # German, French, Spanish, Italian, Russian
    \bweil\b|\bda\b|\bparce que\b|\bcar\b|\bporque\b|perché|потому что
    # Chinese, Japanese, Korean
    因为|由于|因為|由於|ため|ので|때문|없|않
""")
_STEP = (
    r"invoke|execute|restart|check|look|see|verify|examine|find|understand|debug|search|investigate|read|view|run|try"
    r"|test|confirm|inspect|explore|start|begin|continue|proceed|analy[sz]e|review|get|fetch|list|show|trace|think"
    r"|navigate|locate|reproduce|scroll|paste|figure|dig|measure|re-?run|double|re-?check|commit|push|stage|summari[sz]e|handle|take|work|help|now|first"
    r"|quickly|re-?apply|re-?read|re-?build|retry|clean|wait|mark|move on|go|complete|finish|address|apply"
    r"|make (?:these|the|this|that) (?:change|fix|edit)s?|use (?:the )?(?:bash|grep|tool|search)"
    r"|(?:do|fix|correct|resolve) (?:it|so|this|that|them)"
)
_ANNOUNCED = (
    r"(?:i'?ll|i will|let me|let'?s|i need to|i should|i want to|i can|i'?m going to|we need to|we should) "
    r"(?:now |also |just |first |quickly |then |try to |go and )?"
)
_PLAN = re.compile(
    r"^(?:now|ok(?:ay)?|great|good|perfect|alright|next|so|first|then|also|and)?[,.:! ]{0,3}(?:now )?"
    rf"{_ANNOUNCED}(?:{_STEP})\b",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"(?:^|^.{3,60}? (?=I'?(?:ll| will| need to) )|[,:;—–-] ?|\b(?:so|and|then|instead|thus|therefore) )"
    r"(?:now |so |instead,? )?"
    r"(?:i'?ll|i will|let me|let'?s|i need to|i should|i have to|i must|i can|i'?m going to|we need to|we should"
    r"|we must|we can|you need to|you should|you must|need to|needs? to|fix:"
    r"|the (?:simplest |correct |right |proper |real |best )?(?:fix|solution) (?:is|was|would be|here is) to) "
    r"(?:now |also |just |instead |simply |first |then |actually |properly )?(\w.{6,300})",
    re.IGNORECASE,
)
_CURES = re.compile(
    r"^(?:so |and |then )?(\w{2,14}ing\b.{6,200}?) (?:fixes|resolves|solves|cures|avoids) "
    r"(?:it|this|that|both|the \w+)\b",
    re.IGNORECASE,
)
# "Passing `x` so that y": what an agent says that it is about to do.
_DOING = re.compile(
    r"(?:^|[;,] (?:so |and )?|\. |[—–] )(?:now |so |instead,? )?(?P<doing>\w{2,12}ing\b .{4,240})", re.IGNORECASE
)
# A verb of its own makes a thing of the doing ("Running x is slow").
_OF_ITS_OWN = re.compile(
    r"\b(?:is|are|was|were|be|will|would|can|could|may|might|should|must|does|did|do|has|had|have|makes?|takes?|seems?|"
    r"costs?|needs?|fail(?:s|ed)|works?|gives?|breaks?|returns?|throws?|causes?|leads?|means?|helps?|leaves?|"
    r"shows?|looks?|requires?|avoids?|keeps?|lets?|allows?|ensures?|saves?|removes?|changes?|\w+n't)\b"
)
# A step that says exactly how ("rerun with `--no-cache`") is more than a step.
_IN_A_WAY = re.compile(
    r"(?:re-?build|re-?run|retry|run|apply|re-?install) (?:\S+ ){0,4}(?:with|using|without|under) `", re.I
)
_SUBORDINATE = re.compile(r"[,;:(]| [—–-] | (?:so|because|since|which|that|as|where|when|while|until|instead of) ")
# In these languages what is to be done is said of the thing; the whole sentence is the order.
_TO_DO_ELSEWHERE = either(r"""
    \b(?:muss|müssen|sollte|sollten)\b|\bil faut\b|\bhay que\b|\b(?:debemos|necesitamos|precisamos)\b|\bbisogna\b
    нужно|надо|необходимо
    需要|应该|應該|必须|改为|改用|换成|換成|必要があ|べき|に変更|を使う|を使用|해야|바꿔|변경|사용해
""")
_VERBS = (
    "apply choose clamp classify compute delegate detect duplicate emulate group iterate order propagate "
    "recompute refuse reject surface track treat unify add adjust accept align alias allow always "
    "annotate batch coerce debounce defer inline isolate memoize paginate qualify revoke symlink throttle "
    "vendor append assign attach avoid await base bind break build bump bypass cache call cap cast catch "
    "change check clear clone close collect combine compile configure connect convert copy create declare "
    "declare decode default define delete derive disable do don'?t downgrade drop emit enable encode ensure "
    "escape exclude export expose extend extract fall filter fix flush force format generate give grant "
    "guard handle have hold ignore import include increase initiali[sz]e inject insert install invoke "
    "keep leave lift limit link load lock lower make map mark match merge migrate mock modify move mutate "
    "name never normali[sz]e not omit open override pad parse pass patch persist pin point poll prefer "
    "prefix preserve prevent provide pull push put quote raise rebase rebuild recreate reduce refactor "
    "regenerate register reinstall remove rename render replace require reset resolve restart restore "
    "restrict retry return roll reuse revert rewrite rotate round run sanitize save scope seed select "
    "send separate seriali[sz]e serve set shrink sign simplify skip sort specify split start stop store "
    "strip stub supply swap switch sync tag target tell throw trim truncate try turn type unlock unset "
    "unwrap update upgrade use validate wait widen wire wrap write"
).split()
_ANY_VERB = re.compile(
    r"(?!(?:see|know|think|wonder|be|not|need|want|like|ask|explain|tell|note|assume|guess|probably|also|only|still|just|"
    r"keep you|let|get|leave (?:it|that|this)|report|use the)\b)[a-z][a-z-]{3,14} \S",
    re.IGNORECASE,
)
_I_DO = re.compile(r"^(?:so )?I (?:now |also |therefore )?(\w{2,12} .{6,200}?)(?: now)?[.!]?$")
_VERB = re.compile(rf"^(?:re-?)?(?:{'|'.join(_VERBS)})\b", re.IGNORECASE)
_ONLY_A_STEP = re.compile(rf"(?:{_STEP})\b(?! back)", re.IGNORECASE)
_PAST_TO_ORDER = dict(
    pair.split(":")
    for pair in (
        "added:add changed:change replaced:replace removed:remove updated:update moved:move renamed:rename used:use "
        "kept:keep wrapped:wrap switched:switch set:set made:make passed:pass dropped:drop reverted:revert "
        "disabled:disable enabled:enable pinned:pin installed:install excluded:exclude quoted:quote escaped:escape "
        "converted:convert extracted:extract increased:increase split:split ran:run configured:configure stopped:stop"
    ).split()
)
_THING_CURES = re.compile(
    r"^(`[^`]{2,80}`[^.]{0,80}?) (?:fixes|resolves|solves|cures|avoids|prevents) (?:it|this|that)\b"
)
_BY_DOING = re.compile(
    r"^\W{0,4}(?:fixed|resolved|corrected|solved|patched)\b.{4,240}?\bby (\w{2,14}ing\b.{6,240})", re.IGNORECASE
)
# "`total` now checks x" tells what it was made to do.
_NOW_DOES = re.compile(
    r"(`[^`]{2,60}`|\b[\w.]{3,40}\(\)) now (?:also |only |always |correctly |first )?(\w{3,12}?)(?:es|s) (.{8,220})"
)
_DONE = re.compile(
    rf"(?:^|\b(?:i|we|and|by|fix:|,) )(?:now |have |'ve )?({'|'.join(_PAST_TO_ORDER)})\b (.{{6,300}})", re.IGNORECASE
)
# What was done at some time, told beside what this is about ("since we moved to x").
_ASIDE_OF = re.compile(r"\b(?:since|after|when|because|until|before|if|although|where|which) $", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,120})\*\*")


def yields(text: str) -> bool:
    """Whether an answer begins by giving in."""
    return _YIELD.match(text.lstrip(" *#>")) is not None


def concedes(text: str) -> bool:
    """Whether an answer begins by granting that the person is right."""
    return _CONCEDE.match(text.lstrip(" *#>")) is not None


@lru_cache(maxsize=4096)
def cause_weight(sentence: str) -> int:
    """How much a sentence says about a cause: 0 nothing, 1 a little, OUTRIGHT where it names the cause."""
    hinted = _HINT_OF_CAUSE.search(sentence) is not None
    if is_plan(sentence) and not hinted:
        return 0
    low = sentence.lower()
    if (not low.isascii() or any(word in low for word in _CAUSE_WORDS)) and _NAMED_CAUSE.search(sentence):
        return OUTRIGHT
    return int(hinted)


def is_plan(sentence: str) -> bool:
    """Whether a sentence only announces a look, a try or a next step."""
    return _PLAN.match(sentence) is not None


def is_order(text: str) -> bool:
    """Whether a text begins with a verb that tells what to do."""
    return _VERB.match(text) is not None


def order_in(sentence: str) -> str:
    """What a sentence says is to be done, as an order ("Use x"; "Using x fixes it" gives it too), or ""."""
    bare = sentence.strip(" *_")
    if is_order(bare) and not bare.endswith("?"):
        return bare
    cures = _CURES.match(bare) or _BY_DOING.match(bare)
    if cures and not cures[1].endswith((" and", " which", " that")) and is_order(order := from_gerund(cures[1])):
        return order
    thing = _THING_CURES.match(bare)
    if thing:
        return f"use {thing[1]}"
    now = _NOW_DOES.search(bare)
    if now and is_order(now[2]):
        return f"have {now[1]} {now[2]} {now[3]}"
    for found in _TO_DO.finditer(bare):
        order = found[1].strip(" *_")
        # What an agent says that it will do is a verb, known or not; an unknown one has to name what it is about.
        known = is_order(order) or (has_literal(order) and _ANY_VERB.match(order) is not None)
        if known and not _ONLY_A_STEP.match(order):
            return order
    if doing := _doing(bare):
        return doing
    told = _I_DO.match(bare)
    if told and is_order(told[1]) and has_literal(told[1]) and not _ONLY_A_STEP.match(told[1]):
        return told[1]
    return bare if has_literal(bare) and len(bare) < 200 and _TO_DO_ELSEWHERE.search(bare) else ""


def _doing(sentence: str) -> str:
    """What a sentence says the agent is about to do, as an order ("Passing `x` to y" gives "pass `x` to y"), or ""."""
    if "ing " not in sentence:
        return ""
    for found in _DOING.finditer(sentence):
        order = from_gerund(found["doing"])
        main = _SUBORDINATE.split(order)[0]
        step = _ONLY_A_STEP.match(order) is not None and _IN_A_WAY.match(order) is None
        if is_order(order) and not step and not _OF_ITS_OWN.search(main):
            return order
    return ""


_ING = re.compile(r"^(\w{2,12}?)(?:([b-df-hj-np-tv-z])\2)?ing\b", re.IGNORECASE)


def from_gerund(text: str) -> str:
    """ "caching x" as "cache x", where the verb is a known one; else the text as it stands."""
    found = _ING.match(text)
    if not found:
        return text
    last = found[2] or ""
    for verb in (found[1], f"{found[1]}e", f"{found[1]}{last}", f"{found[1]}{last}{last}"):
        if is_order(f"{verb} "):
            return verb + text[found.end() :]
    return text


def done_in(sentence: str) -> str:
    """What a sentence says was done, as an order ("Replaced x with y" gives "replace x with y"), or ""."""
    bare = _BOLD.sub(r"\1", sentence).strip(" *_✅✓")
    found = next((one for one in _DONE.finditer(bare) if not _ASIDE_OF.search(bare[: one.start()])), None)
    return f"{_PAST_TO_ORDER[found[1].lower()]} {found[2]}" if found else ""
