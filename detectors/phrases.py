"""Words by which people and agents give themselves away: a rule, a correction, a cause, what is to be done.

All patterns are bounded and read one sentence at a time.
"""

from __future__ import annotations

import re
from functools import lru_cache

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_LEAD = re.compile(r"^[ \t>]{0,20}(?:[-*+•][ \t]{1,4}|\d{1,3}[.)][ \t]{1,4}|#{1,6}[ \t]{1,4})?")
_STOP = re.compile(r"(?<=[.!?])[\"')\]*_]{0,3}\s+(?=\S)|(?<=[。！？])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|ms|st)\.)$", re.IGNORECASE)
LONGEST_SENTENCE = 420


def sentences(text: str, most: int = 120) -> list[str]:
    """The sentences of a text outside code fences, tables and quotes' marks; list items count as sentences."""
    found: list[str] = []
    fenced = False
    for line in text[:24_000].split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.lstrip().startswith(("|", "---", "===")):
            continue
        found.extend(_split(_LEAD.sub("", line).strip()))
        if len(found) >= most:
            break
    return found[:most]


def _split(line: str) -> list[str]:
    parts: list[str] = []
    for part in _STOP.split(line):
        part = part.strip()
        if not part:
            continue
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return [part for part in parts if len(part) <= LONGEST_SENTENCE]


# An order to keep something in mind, in the languages that agents are talked to in.
_MEMORY = re.compile(
    r"\b(?:please |always |just )?remember (?:to|that|this|these|the following|for|not|never|we|i |when|how|:)|"
    r"^remember\b|"
    r"\bfrom now on\b|\bgoing forward\b|\bfrom here on\b|\bin (?:the )?future\b,?|\bmake (?:a )?note (?:that|of|to)|"
    r"\bkeep in mind\b|\bdon'?t (?:ever )?forget\b|\b(?:save|add|put|write) (?:this|that|it) (?:to|in|"
    r"into) (?:your |the )?"
    r"(?:memory|claude\.md|agents\.md|rules)\b|\bas a rule\b|\bnote for (?:the )?future\b|\bnext time\b|"
    r"\bmerke? dir\b|\bab jetzt\b|\bab sofort\b|\bin zukunft\b|\bk[üu]nftig\b|\bvergiss nicht\b|\bdenk daran\b|"
    r"\bsouviens-toi\b|\brappelle-toi\b|\bd[ée]sormais\b|[àa] partir de maintenant|\bn'oublie (?:pas|jamais)\b|"
    r"[àa] l'avenir|"
    r"\brecuerda\b|\bde ahora en adelante\b|\ba partir de ahora\b|\bno olvides\b|\ben el futuro\b|\ben adelante\b|"
    r"\blembre-se\b|\bde agora em diante\b|\ba partir de agora\b|\bn[ãa]o (?:se )?esque[çc]a\b|"
    r"\bricorda(?:ti)?\b|\bd'ora in (?:poi|avanti)\b|\bnon dimenticare\b|\bonthoud\b|\bvanaf nu\b|\bvergeet niet\b|"
    r"\bzapami[ęe]taj\b|\bod teraz\b|запомни|отныне|с этого момента|впредь|не забудь|не забывай|"
    r"记住|请记|記住|别忘了|不要忘记|从现在开始|從現在開始|从今以后|今后|以后(?:都|请|要|不)|覚えて(?:おいて|ください)|今後は|これからは|"
    r"次回から|忘れないで|기억해|앞으로(?:는)?|이제부터|지금부터|잊지\s?마",
    re.IGNORECASE,
)
_NOT_MEMORY = re.compile(
    r"\b(?:do|did|don'?t|can|could|would) (?:you|u|we) (?:still )?remember\b|\bi (?:don'?t |can'?t |"
    r"do )?(?:still )?remember\b|"
    r"\bremember when\b|\bremember me\b|\b(?:if|as) (?:i|you) remember\b|\bremember[- ]me\b|\?\s*$|"
    r"\b(?:might|may|could|can|will|would|want|plan|need|useful|work|todo|later|"
    r"refactor)\b.{0,60}\bin (?:the )?future\b|"
    r"\bfuture (?:version|work|release|proof)|기억\s?안|記憶",
    re.IGNORECASE,
)
# A rule said in passing: universal words beside an obligation.
_STANDING = re.compile(
    r"\b(?:never|always)\b.{0,120}|\b(?:should|must|may|can|do|does|is|are|shall)(?:n'?t| not)\b.{0,80}\bever\b|"
    r"\bevery (?:single )?time (?:you|we|i)\b|\bwhenever (?:you|we)\b|\bunder no circumstances\b|\bwithout exception\b|"
    r"\bniemals\b|\bjamais\b|\bnunca\b|\bsiempre\b|\btoujours\b|\bimmer\b|никогда|всегда|"
    r"永远不要|永遠不要|绝不|绝对不要|总是|必须始终|一律|絶対に|必ず|常に|절대|항상|반드시",
    re.IGNORECASE,
)
_NOT_STANDING = re.compile(
    r"\b(?:it|this|that|there|he|she|they|which) (?:has |have |had |is |was )?(?:always|never)\b|\bi(?:'ve|'m|"
    r" have| am| was)? (?:always|never)\b|"
    r"\b(?:almost|nearly|not) always\b|\balways (?:fails?|crash|returns?|gets?|shows?|seems?|been|has|had|was|were)\b|"
    r"\bnever (?:been|had|happen|work|get|got|seen|saw|mind|return|fail|show|run|finish|use)(?:s|ed)?\b|\?\s*$",
    re.IGNORECASE,
)

_CONTRAST = re.compile(
    r"\b(?:no|nope|not|never|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|shouldn'?t|wasn'?t|cannot|can'?t|"
    r"wrong|incorrect|"
    r"instead|rather|actually|should(?:n'?t)?|must|only|already|revert|undo|undid|stop|without|unless|"
    r"why (?:not|are|did|do|is|would)|"
    r"really\?|same mistake|again|too (?:much|many|complex|complicated)|overkill|over-?engineer\w{0,4}|but)\b|"
    r"\b(?:nein|nicht|falsch|sondern|stattdessen|warum|non|pas|faux|plut[ôo]t|pourquoi|incorrecto|mal|en vez de|"
    r"sino|por qu[ée]|n[ãa]o|errado)\b|"
    r"不要|不是|不对|不對|错了|錯了|应该|應該|而不是|别|為什麼|为什么|違う|違います|ではなく|じゃなくて|しないで|なぜ|"
    r"아니|말고|하지\s?마|틀렸|잘못|대신|왜|не |нет|неправильно|вместо|зачем",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:we|our|this (?:project|repo|codebase|team)|you) (?:don'?t|do not|never|always|should(?:n'?t| not)?|"
    r"must(?:n'?t| not)?|use|prefer|have to|only)\b|"
    r"\b(?:should|must)(?:n'?t| not)? (?:be|have|never|always|only|use|go|live|not)\b|\binstead of\b|"
    r"\brather than\b|\bprefer\b|\bconvention\b|"
    r"\b(?:never|always|don'?t|do not|stop(?! for\b| a\b)|avoid) \w|\bthe (?:code|test|spec|api|design|"
    r"docs?) is (?:right|correct|wrong|fine)\b|"
    r"\bis not correct\b|\bsingle source of truth\b|\bwhy (?:not|are we|do we|did you|would)\b|\bcan'?t we\b|"
    r"\bcouldn'?t we\b|\bnobody\b|\bno one\b|"
    r"\bno need\b|\bnot needed\b|\bthe point (?:is|of)\b|应该|必须|不要|べき|해야|하지\s?마|нужно|надо|debe|"
    r"deber[íi]a|muss|soll|doit|il faut",
    re.IGNORECASE,
)
_TRIVIAL = re.compile(
    r"^(?:no|nope|stop|wait|cancel|hold on|sorry|continue|go on|go ahead|ok(?:ay)?|yes|yep|y|n|thanks?|"
    r"thank you|never ?mind|later|not now|retry|"
    r"try again|again|hmm+|weiter|stopp?|nein|ja|non|oui|s[ií]|да|нет|好|好的|"
    r"继续|不|停|はい|いいえ|続けて|네|아니요?|계속)[\s.!,]*"
    r"(?:continue|go on|please|proceed)?[\s.!]*$",
    re.IGNORECASE,
)
_ONE_OFF = re.compile(
    r"\bi(?:'ll| will)? (?:take (?:it|over)|do (?:it|this|that) (?:myself|manually)|got it|handle)\b|"
    r"\bi meant\b|\bmy (?:bad|mistake|fault)\b|\bsorry\b|"
    r"\btypo\b|\btell me (?:where|what|how|why|if)\b|\bshow me\b|\bexplain\b|\bstop for\b|\bcan you (?:review|"
    r"check|explain)\b|\bconsider (?:add|us|mak)ing\b|\bignore (?:that|my|the)\b|\bwrong (?:window|chat|tab|"
    r"branch)\b|\bit(?:'s|"
    r" is) (?:still )?(?:not working|broken|failing)\b|\bstill (?:fails|failing|broken|not)\b|"
    r"\bdoesn'?t (?:work|show|load|help)\b|\bnot working\b|\bsame (?:error|issue|problem)\b|\bwhat (?:is|are|"
    r"does|do)\b",
    re.IGNORECASE,
)
_YIELD = re.compile(
    r"^(?:you(?:'re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)|good (?:point|catch|"
    r"question|call|idea)|got it|understood|fair (?:point|enough)|"
    r"ah|oh|of course|makes sense|great (?:point|catch)|sorry|apologies|my (?:mistake|bad|apologies)|"
    r"i (?:apologi[sz]e|misunderstood|see)|thanks for|"
    r"exactly|agreed|noted|true|indeed|du hast recht|sie haben recht|stimmt|vous avez raison|tu as raison|"
    r"tienes raz[óo]n|tem raz[ãa]o|hai ragione|вы правы|ты прав|"
    r"你说得对|您说得对|你說得對|明白了|好的|抱歉|对不起|おっしゃる通り|その通り|失礼しました|申し訳|承知|了解|맞습니다|죄송|알겠습니다)",
    re.IGNORECASE,
)

_STRONG_CAUSE = re.compile(
    r"\broot cause\b|\b(?:the|that(?:'s| is| was)(?: exactly)? the|real|actual|main|underlying|core) (?:real |"
    r"actual |main |underlying |core )?"
    r"(?:issue|problem|bug|cause|culprit|reason|mistake|error)\b(?: here)? (?:is|was|lies|stems|turned)|"
    r"\bthat(?:'s| is| was) (?:the|a|why|because|your|our|exactly)\b|"
    r"\b(?:i )?found (?:it|the (?:\w{1,14} )?(?:issue|problem|bug|cause|culprit|reason))\b|"
    r"\bi (?:can )?(?:now )?(?:clearly )?see the (?:\w{1,12} )?(?:issue|problem|bug)\b|"
    r"\b(?:is|was|are|were|been) caused by\b|\bthis (?:is|was|happens|happened|fails|failed|means) because\b|"
    r"\bturns out\b|\bthe fix (?:is|was)\b|\bthe (?:issue|problem|bug) (?:is|was) that\b|"
    r"\bdas problem (?:ist|war)\b|\bdie ursache\b|\bliegt (?:daran|an)\b|\ble probl[èe]me (?:est|vient|"
    r"[ée]tait)\b|\bla cause\b|\bel problema (?:es|era|est[áa])\b|\bla causa\b|"
    r"\bo problema (?:é|era|está)\b|\bil problema (?:è|era)\b|проблема в|причина|根本原因|"
    r"问题(?:是|在于|出在)|問題(?:は|是|"
    r"在於)|原因(?:是|は|在于)|원인은|문제는|때문입니다|때문이",
    re.IGNORECASE,
)
# Any hit of the pattern above in plain English holds one of these: most sentences need no search.
_CAUSE_WORDS = tuple(
    "cause|issue|problem|bug|culprit|mistake|turns out|the fix |the reason|error is|error was|found it|found "
    "the|that's the|that's a|"
    "that's why|that's your|that's our|that's exactly|that is the|that is why|that was the|problema|liegt".split("|")
)
_WEAK_CAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bdue to\b|\bcaused\b|\bwhich (?:means|is why|broke|breaks)\b|\b(?:does|do|did|was|"
    r"were|is|are|has|have|can)(?:n'?t| not)\b|\bnever\b|\bno longer\b|\bmissing\b|"
    r"\binstead of\b|\bneeds?\b|\brequires?\b|\bexpects?\b|\bmust\b|\bstill\b|\bonly\b|\balready\b|"
    r"\bwas removed\b|\bweil\b|\bda\b|\bparce que\b|\bcar\b|\bporque\b|perché|потому что|"
    r"因为|由于|因為|由於|ため|ので|때문|없|않",
    re.IGNORECASE,
)
_LOOK = (
    "invoke|execute|restart|check|look|see|verify|examine|find|understand|debug|search|investigate|read|view|run|try|test|confirm|inspect|explore|start|begin|continue|proceed|"
    "analy[sz]e|review|get|fetch|list|show|trace|think|figure|dig|measure|re-?run|double|re-?check|also "
    "check|commit|push|stage|summari[sz]e|do that|do it|fix (?:it|this|that|them)|"
    "address|apply|make (?:these|the|this|that) "
    "(?:change|fix|edit)s?|handle|take|work|help|now|first|quickly|re-?apply|re-?read|re-?build|rebuild|retry|clean|wait|mark|"
    "proceed|move on|go|complete|finish|correct (?:it|this|that|them)|resolve (?:it|this|that|them)|use (?:the "
    ")?(?:bash|grep|tool|search)|do (?:this|so)"
)
_PLAN_LOOK = re.compile(
    rf"^(?:now|ok(?:ay)?|great|good|perfect|alright|next|so|first|then|also|and)?[,.:! ]{{0,3}}(?:now )?"
    r"(?:i'?ll|i will|let me|let'?s|i need to|i should|i want to|i can|i'?m going to|we need to|we should) "
    rf"(?:now |also |just |first |quickly |then |try to |go and )?(?:{_LOOK})\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[,:;—–-] ?|\b(?:so|and|then|instead|thus|therefore) )(?:now |so |instead,? )?(?:i'?ll|i will|let me|"
    r"let'?s|i need to|i should|i have to|i must|i can|i'?m going to|we need to|we should|we must|we can|"
    r"you need to|"
    r"you should|you must|need to|needs? to|the (?:simplest |correct |right |proper |real |best )?(?:fix|"
    r"solution) (?:is|was|would be|here is) to|fix:) "
    r"(?:now |also |just |instead |simply |first |then |actually |properly )?(\w.{6,300})",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"^(?:add|adjust|align|allow|always|append|avoid|base|break|build|bump|bypass|cache|call|cap|cast|change|"
    r"check|clear|close|compile|configure|convert|copy|create|declare|default|define|"
    r"delete|disable|do|don'?t|downgrade|drop|enable|ensure|escape|exclude|export|extend|extract|fall back|"
    r"filter|fix|force|give|grant|guard|handle|ignore|import|include|increase|initiali[sz]e|"
    r"inject|insert|install|invoke|keep|leave|limit|link|lock|lower|make|map|mark|match|merge|migrate|mock|move|"
    r"name|never|normali[sz]e|not|omit|open|override|parse|pass|patch|pin|point|prefer|"
    r"preserve|prevent|provide|pull|push|put|quote|raise|rebase|rebuild|recreate|reduce|refactor|regenerate|"
    r"register|reinstall|remove|rename|replace|require|reset|resolve|restart|restore|restrict|"
    r"return|reuse|revert|rewrite|rotate|run|select|separate|serve|set|simplify|skip|sort|specify|split|start|"
    r"stop|store|strip|stub|supply|switch|sync|target|tell|throw|trim|truncate|try|turn|"
    r"unset|update|upgrade|use|validate|wait|widen|wrap|write)\b",
    re.IGNORECASE,
)
LITERAL = re.compile(r"`[^`\n]{2,160}`")
_CODE_WORD = re.compile(
    r"\b(?:[a-z]+[A-Z]\w{1,40}|[A-Z][a-z]+[A-Z]\w{1,40}|\w{1,40}_\w{1,40}|\w{1,40}\(\)|--[a-z][\w-]{1,40}|"
    r"[\w-]{1,60}\.(?:py|ts|tsx|js|go|rs|java|rb|json|ya?ml|toml|sh|md|sql|css|html))"
)


def asks_to_remember(sentence: str) -> bool:
    """Whether a person's sentence orders something to be kept in mind."""
    return _MEMORY.search(sentence) is not None and _NOT_MEMORY.search(sentence) is None


def states_a_rule(sentence: str) -> bool:
    """Whether a person's sentence states a rule that holds always."""
    return _STANDING.search(sentence) is not None and _NOT_STANDING.search(sentence) is None


def contradicts(text: str) -> bool:
    """Whether words say no, not so, or otherwise."""
    return _CONTRAST.search(text) is not None


def is_general(text: str) -> bool:
    """Whether words hold beyond the moment: what we do, what should be, instead of what."""
    return _GENERAL.search(text) is not None


def is_trivial(text: str) -> bool:
    """Whether words carry nothing but go on, stop, yes or no."""
    return len(text.strip()) < 4 or _TRIVIAL.match(text.strip()) is not None


def is_one_off(text: str) -> bool:
    """Whether words are about this moment only."""
    return _ONE_OFF.search(text) is not None


def yields(text: str) -> bool:
    """Whether an agent's answer begins by giving in."""
    return _YIELD.match(text.lstrip(" *#>")) is not None


def has_literal(text: str) -> bool:
    """Whether a sentence names something exactly: code in backticks, an identifier, a flag, a file."""
    return LITERAL.search(text) is not None or _CODE_WORD.search(text) is not None


@lru_cache(maxsize=4096)
def cause_weight(sentence: str) -> int:
    """How much a sentence says about a cause: 0 nothing, 1 a little, 3 it names the cause outright."""
    if is_plan(sentence) and not _WEAK_CAUSE.search(sentence):
        return 0
    low = sentence.lower()
    if (not low.isascii() or any(word in low for word in _CAUSE_WORDS)) and _STRONG_CAUSE.search(sentence):
        return 3
    return 1 if _WEAK_CAUSE.search(sentence) else 0


def is_plan(sentence: str) -> bool:
    """Whether a sentence only announces a look, a try or a next step."""
    return _PLAN_LOOK.match(sentence) is not None


def order_in(sentence: str) -> str:
    """What a sentence says is to be done, as an order ("Use x"), or ""."""
    bare = sentence.strip(" *_")
    if _VERB.match(bare) and not bare.endswith("?"):
        return bare
    for found in _ORDER.finditer(bare):
        order = found[1].strip(" *_")
        if _VERB.match(order) and not re.match(rf"(?:{_LOOK})\b(?! back)", order, re.IGNORECASE):
            return order
    return ""


_DONE = {
    "added": "add",
    "changed": "change",
    "replaced": "replace",
    "removed": "remove",
    "updated": "update",
    "moved": "move",
    "renamed": "rename",
    "used": "use",
    "kept": "keep",
    "wrapped": "wrap",
    "switched": "switch",
    "set": "set",
    "made": "make",
    "passed": "pass",
    "dropped": "drop",
    "reverted": "revert",
    "disabled": "disable",
    "enabled": "enable",
    "pinned": "pin",
    "installed": "install",
    "excluded": "exclude",
    "quoted": "quote",
    "escaped": "escape",
    "converted": "convert",
    "extracted": "extract",
    "increased": "increase",
    "split": "split",
    "ran": "run",
    "configured": "configure",
    "stopped": "stop",
}
_PAST = re.compile(
    rf"(?:^|\b(?:i|we|and|by|fix:|,) )(?:now |have |'ve )?({'|'.join(_DONE)})\b (.{{6,300}})", re.IGNORECASE
)
_BOLD = re.compile(r"\*\*([^*\n]{1,120})\*\*")


def done_in(sentence: str) -> str:
    """What a sentence says was done, as an order ("Replaced x with y" gives "replace x with y"), or ""."""
    bare = _BOLD.sub(r"\1", sentence).strip(" *_✅✓")
    found = _PAST.search(bare)
    return f"{_DONE[found[1].lower()]} {found[2]}" if found else ""


_ASKED = re.compile(
    r"\b(?:can|could|should|can'?t|couldn'?t|shouldn'?t|why (?:don'?t|not|aren'?t)) (?:we|you|it|"
    r"i)?(?: not)?(?: just| simply| rather| maybe)? ?(\w.{6,240}?)\?",
    re.IGNORECASE,
)


def asked_order(sentence: str) -> str:
    """What a question suggests, as an order ("can't we use x?" gives "use x"), or ""."""
    found = _ASKED.search(sentence)
    if found is None:
        return ""
    order = re.sub(
        r"^(adding|using|keeping|calling|making|putting|doing|setting)\b",
        lambda m: _GERUNDS[m[1].lower()],
        found[1],
        flags=re.IGNORECASE,
    )
    return order if _VERB.match(order) or re.match(r"(?:create|have|provide|add)\b", order, re.IGNORECASE) else ""


_GERUNDS = {
    "adding": "add",
    "using": "use",
    "keeping": "keep",
    "calling": "call",
    "making": "make",
    "putting": "put",
    "doing": "do",
    "setting": "set",
}


_TASK = re.compile(
    r"^(?:ok(?:ay)?|so|and|now|also|then|great|good|thanks?|please|hi|hey|hm+|well|no|yes)?[,.! ]{0,3}(?:(?:can|"
    r"could|would|will) you\b|please\b|tell me\b|show me\b|let'?s\b|lets\b|(?:first|next),? we\b|we need\b|"
    r"we should\b|i(?:'d like| would like| want|"
    r" wanted| need| tried)\b|"
    r"(?:add|create|write|implement|build|make|review|check|explain|look|run|give|update|change|move|rename|"
    r"generate|continue|proceed|commit|push|merge|test|find|refactor|consider|address)\b)",
    re.IGNORECASE,
)


def is_task(text: str) -> bool:
    """Whether a message gives the agent its next task."""
    return _TASK.match(text.strip()) is not None


_REJECTS = re.compile(
    r"^(?:no|nope|wrong|nein|non|incorrect|hmm+|not (?:quite|really|what|right)|that'?s (?:not|wrong|incorrect)|"
    r"that is (?:not|wrong|incorrect)|this is (?:not|wrong|incorrect)|"
    r"still (?:not|fail|broken|the same|see|get)|it(?:'s| is)? (?:still|doesn'?t|not)|doesn'?t (?:work|help)|"
    r"didn'?t (?:work|help)|same (?:error|issue|problem)|but (?:is|that|this|the|it|why)|"
    r"you(?:'re| are) wrong|i (?:don'?t think|undid|reverted)|不是|不对|还是|違|まだ|아니|여전히|нет)",
    re.IGNORECASE,
)


def rejects(text: str) -> bool:
    """Whether a message begins by turning down what was just said or done."""
    return _REJECTS.match(text.strip()) is not None


_PROHIBITS = re.compile(
    r"(?:^|[.!;:,] |\b(?:and|so|please|also|but) )(?:don'?t|do not|never|stop|avoid|no more) (?:\w{2,20}|"
    r"`)(?!.{0,60}\b(?:yet|now|for now|until|first|today|this time|anything|worry|forget|think|know|understand|"
    r"see)\b)|"
    r"\b(?:should|must)(?:n'?t| not)? (?:always |never |only )?(?:use|be|go|live|stay|come|have)\b|不要|别用|禁止|"
    r"使わないで|하지\s?마|nicht \w{3,20}en\b|n'utilise|no uses",
    re.IGNORECASE,
)


def prohibits(text: str) -> bool:
    """Whether words forbid or prescribe a way of doing, not only for the moment."""
    return _PROHIBITS.search(text) is not None
