"""What a person's words do: ask to keep something, lay down a rule, say no, give a task, or only go on."""

from __future__ import annotations

import re

from detectors.agent_words import is_order
from detectors.sentences import either

# An order to keep something in mind, in the languages that agents are talked to in.
_MEMORY = either(r"""
    ^(?:please |and |also |but )?remember\b
    \b(?:please |always |just |and |but )remember (?:to|that|this|these|the following|not|never|we|when|how)\b
    \bfrom now on\b|\bgoing forward\b|\bfrom here on\b|\bnote for (?:the )?future\b|\bas a rule\b
    \bin (?:the )?future\b,? (?:please|always|never|don'?t|do not|use|run|make|ask|write|you|we)\b
    \bnext time\b,? (?:please|always|never|don'?t|do not|use|run|make|ask|write|you)\b
    \bmake (?:a )?note (?:that|of|to)\b|\bkeep in mind\b|\bnever forget\b
    # German
    \bmerke? dir\b|\bdenk (?:immer )?daran\b|\bab jetzt\b|\bab sofort\b|\bin zukunft\b|\bk[üu]nftig\b
    # French
    \bsouviens-toi\b|\brappelle-toi\b|\bd[ée]sormais\b|[àa] partir de maintenant|[àa] l'avenir
    # Spanish
    \brecuerda\b|\bde ahora en adelante\b|\ba partir de ahora\b|\ben el futuro\b
    # Portuguese, Italian, Dutch, Polish
    \blembre-se\b|\bde agora em diante\b|\ba partir de agora\b|\bricorda(?:ti)?\b|\bd'ora in (?:poi|avanti)\b
    \bonthoud\b|\bvanaf nu\b|\bzapami[ęe]taj\b|\bod teraz\b
    # Russian
    запомни|отныне|с этого момента|впредь
    # Chinese
    记住|请记|記住|从现在开始|從現在開始|从今以后|今后|以后(?:都|请|要|不)
    # Japanese
    覚えて(?:おいて|ください)|今後は|これからは|次回から
    # Korean
    기억해|앞으로(?:는)?|이제부터|지금부터
""")
_SAVE = either(r"""
    \b(?:save|add|put|write|note|store) (?:this|that|it|these)(?: rule)? (?:to|in|into|down in) (?:your |the |our )?(?:memory|memories|claude\.md|agents\.md|rules)\b
    \bremember (?:this|that|it)\s{0,3}[.!]?$
    把(?:这|這)[^。]{0,12}(?:记|記|写|寫)(?:到|进|入|下)
""")  # noqa: E501 - one alternative a line
_NOT_MEMORY = either(r"""
    \b(?:do|did|don'?t|can|could|would) (?:you|u|we) (?:still )?remember\b
    \bi (?:don'?t |can'?t |do )?(?:still )?remember\b
    \bremember (?:when|me)\b|\bremember-me\b|\b(?:if|as) (?:i|you) remember\b
    \?\s{0,3}$
    기억\s?안|記憶
""")
# A rule said in passing: it binds the one who works, not the program.
_STANDING = either(r"""
    (?:^|[,;:.!] |\b(?:please|and|but|so|to|you|we|should|must) )(?:always|never) (?:run|use|write|commit|push|merge|ask|read|follow|prefer|format|lint|edit|modify|touch|delete|remove|change|install|deploy|rebase|force|check|verify|mock|import|skip|disable|hard-?code|rewrite|update|test|put|keep|name|start|work)\b
    \b(?:should|must|may|can|do|does|is|are|shall)(?:n'?t| not)\b.{0,80}\bever\b
    \b(?:every (?:single )?time|whenever) (?:you|we) (?:\w{2,14})
    \b[a-z]{4,20}s? (?:must|should) NEVER [a-z]{3,}
    \bunder no circumstances\b|\bwithout exception\b
    \bniemals\b|\bjamais\b|\bnunca\b|никогда не|永远不要|永遠不要|绝不|绝对不要|絶対に.{1,40}ないで|절대 .{1,30}(?:마|않)
""")  # noqa: E501 - one alternative a line
_NOT_STANDING = either(r"""
    \b(?:it|this|that|there|he|she|they|which) (?:has |have |had |is |was )?(?:always|never)\b
    \bi(?:'ve|'m| have| am| was)? (?:always|never)\b
    \?\s{0,3}$
""")

_CONTRAST = either(r"""
    \b(?:no|nope|not|never|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|shouldn'?t|wasn'?t|cannot|can'?t)\b
    \b(?:wrong|incorrect|instead|rather|actually|should(?:n'?t)?|must|only|already|revert|undo|undid|stop|without|unless|but)\b
    \bwhy (?:not|are|did|do|is|would|an?|the|still|so)\b|\breally\?|\bsame mistake\b|\bagain\b
    \btoo (?:much|many|complex|complicated)\b|\boverkill\b|\bover-?engineer\w{0,4}\b
    \b(?:nein|nicht|nie|niemals|keine?[rnms]?|falsch|sondern|stattdessen|warum|non|pas|faux|plut[ôo]t|pourquoi)\b
    \b(?:incorrecto|mal|en vez de|sino|por qu[ée]|n[ãa]o|errado)\b
    не |нет|неправильно|вместо|зачем
    不要|不是|不对|不對|错了|錯了|应该|應該|而不是|别|為什麼|为什么
    違う|違います|ではなく|じゃなくて|ないで|使わない|やめて|なぜ|아니|말고|하지\s?마|틀렸|잘못|대신|왜
""")
_GENERAL = either(r"""
    \b(?:we|our|this (?:project|repo|codebase|team)|you) (?:don'?t|do not|never|always|should(?:n'?t| not)?|must(?:n'?t| not)?|use|prefer|have to|only)\b
    \b(?:should|must)(?:n'?t| not)? (?:be|have|never|always|only|use|go|live|not)\b
    \binstead of\b|\brather than\b|\bprefer\b|\bconvention\b|\bsingle source of truth\b
    \b(?:never|always|don'?t|do not|stop(?! for\b| a\b)|avoid) \w
    \bthe (?:code|test|spec|api|design|docs?) is (?:right|correct|wrong|fine)\b|\bis not correct\b
    \bwhy (?:not|are we|do we|did you|would)\b|\bcan'?t we\b|\bcouldn'?t we\b|\bnobody\b|\bno one\b
    \b(?:is|are) (?:auto-?)?generated (?:from|by)\b|\bgets? overwritten\b|\bbelongs? (?:in|to|under)\b|\bhave to stay\b
    \b(?:are|is|go(?:es)?|lives?|stays?|belongs?) .{3,60}\b(?:here|in this (?:repo|project|codebase|team))\b
    \b(?:all|every|each|any) \w+(?: \w+){0,3} (?:ha(?:s|ve) to|must|should|needs? to|goes?|go)\b
    \beverywhere\b|\bthroughout\b|\btout le projet\b|\btodo el proyecto\b|\bim ganzen projekt\b
    \bno us(?:es|ar|emos)\b|\busamos\b|\bsiempre\b|\bnunca\b|\bn'utilise\w*|\bon (?:utilise|n'utilise)\b|\btoujours\b|\bjamais\b
    \bwir (?:nutzen|verwenden|benutzen|haben)\b|\bnie(?:mals)?\b|\bimmer\b|всегда|никогда
    \bno need\b|\bnot needed\b|\bi(?:'d| would) (?:much |really )?(?:prefer|rather)\b|\bwould prefer\b|\bthe point (?:is|of)\b
    \bmuss\b|\bsoll\b|\bgeh[öo]r(?:t|en) (?:in|nach|zu|unter|an)\b|\bdoit\b|\bil faut\b|\bdebe\b|\bdeber[íi]a\b|нужно|надо
    应该|必须|不要|统一|統一|约定|规范|規約|ルール|べき|해야|하지\s?마|통일|규칙
""")  # noqa: E501 - one alternative a line
_TRIVIAL = re.compile(
    r"^(?:no|nope|stop|wait|cancel|hold on|sorry|continue|go on|go ahead|ok(?:ay)?|yes|yep|y|n|thanks?|thank you"
    r"|never ?mind|later|not now|retry|try again|again|hmm+|weiter|stopp?|nein|ja|non|oui|s[ií]|да|нет"
    r"|好|好的|继续|不|停|はい|いいえ|続けて|네|아니요?|계속)[\s.!,]{0,5}"
    r"(?:continue|go on|please|proceed)?[\s.!]{0,5}$",
    re.IGNORECASE,
)
_ONE_OFF = either(r"""
    \bi(?:'ll| will)? (?:take (?:it|over)|do (?:it|this|that) (?:myself|manually)|got it|handle)\b
    ^(?:no[,.]? )?(?:not (?:now|yet)|(?:wait|hold on)\b(?![,.!—– -]{1,3}\w.{25})|later\b|one (?:moment|sec)|give me)
    \bi meant\b|\bmy (?:bad|mistake|fault)\b|\bsorry\b|\btypo\b|\bignore (?:that|my|the)\b|\bstop for\b
    \btell me (?:where|what|how|why|if)\b|\bshow me\b|\bexplain\b|\bcan you (?:review|check|explain)\b
    \bconsider (?:add|us|mak)ing\b|\bwrong (?:window|chat|tab|branch)\b|\bwhat (?:is|are|does|do)\b
    \bit(?:'s| is) (?:still )?(?:not working|broken|failing)\b|\bstill (?:fails|failing|broken|not)\b
    \bdoesn'?t (?:work|show|load|help)\b|\bnot working\b|\bsame (?:error|issue|problem)\b
""")
_TASK = re.compile(
    r"^(?:ok(?:ay)?|so|and|now|also|then|great|good|thanks?|please|hi|hey|hm+|well|no|yes)?[,.! ]{0,3}"
    r"(?:(?:can|could|would|will) you|please(?! (?:no|not|don'?t|never|avoid|stop)\b)"
    r"|tell me|show me|let'?s|lets|(?:first|next),? we|we need|we should"
    r"|i(?:'d like| would like| want| wanted| need| tried)|add|create|write|implement|build|make|review|check|explain"
    r"|look|run|give|update|change|move|rename|generate|continue|proceed|commit|push|merge|test|find|refactor"
    r"|consider|address)\b",
    re.IGNORECASE,
)
# "Now the vouchers, please" names the next piece of work without a verb.
_NEXT_TASK = re.compile(r"^(?:now|next|then)[, ]+[^.!?\n]{1,60}\bplease\b", re.IGNORECASE)
_APPROVES = either(r"""
    (?:yes|yep|yeah|sure|great|perfect|nice|cool|awesome|excellent|good|ok(?:ay)?|sounds good|looks good|lgtm|thanks?|thank you|agreed|makes sense|do it)\b(?!.{0,20}\bbut (?:please )?(?:don'?t|do not|never|not|no)\b)
    ja\b|super|gut\b|oui|parfait|s[ií]\b|perfecto|sim\b|да\b|хорошо|好的|很好|可以|はい|いいね|좋아|네\b
""")  # noqa: E501 - one alternative a line
_REJECTS = either(r"""
    no\b|nope|wrong|nein|non\b|incorrect|hmm+|not (?:quite|really|what|right)|(?:that|this|it)(?:'s| is) (?:not|wrong|incorrect|still)
    still (?:not|fail|broken|the same|see|get)|it (?:still|doesn'?t)|(?:doesn'?t|didn'?t) (?:work|help)
    same (?:error|issue|problem)|but (?:is|that|this|the|it|why)|you(?:'re| are) wrong|i (?:don'?t think|undid|reverted)
    不是|不对|还是|違|まだ|아니|여전히|нет
""")  # noqa: E501 - one alternative a line
_NOT_NOW = r"(?!.{0,60}\b(?:yet|now|until|first|today|this time|anything|worry|forget|think|know|understand|see)\b)"
_PROHIBITS = re.compile(
    rf"(?:^|[.!;:,] |\b(?:and|so|please|also|but) )(?:don'?t|do not|never|stop|avoid|no more) (?:\w{{2,20}}|`)"
    rf"{_NOT_NOW}"
    r"|\b(?:should|must)(?:n'?t| not)? (?:always |never |only )?(?:use|be|go|live|stay|come|have)\b"
    r"|\bnie(?:mals)? \w|不要|别用|禁止|使わないで|하지\s?마|nicht \w{3,20}en\b|n'utilise|no uses",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:can|could|should|can'?t|couldn'?t|shouldn'?t|why (?:don'?t|not|aren'?t)) (?:we|you|it|i)?(?: not)?"
    r"(?: just| simply| rather| maybe)? ?(\w.{6,240}?)\?",
    re.IGNORECASE,
)
_GERUNDS = {
    "adding": "add", "using": "use", "keeping": "keep", "calling": "call", "making": "make", "putting": "put",
    "doing": "do", "setting": "set",
}  # fmt: skip


def asks_to_remember(sentence: str) -> bool:
    """Whether a sentence orders something to be kept in mind."""
    return (_MEMORY.search(sentence) is not None or asks_to_save(sentence)) and _NOT_MEMORY.search(sentence) is None


def asks_to_save(sentence: str) -> bool:
    """Whether a sentence asks to keep what the others say ("save this to memory")."""
    return _SAVE.search(sentence) is not None


def states_a_rule(sentence: str) -> bool:
    """Whether a sentence lays down a rule for whoever works here."""
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


def is_task(text: str) -> bool:
    """Whether a message gives the agent its next task."""
    return (_TASK.match(text.strip()) or _NEXT_TASK.match(text.strip())) is not None


def approves(text: str) -> bool:
    """Whether a message begins by agreeing to what was done or proposed."""
    return _APPROVES.match(text.strip()) is not None


def rejects(text: str) -> bool:
    """Whether a message begins by turning down what was just said or done."""
    return _REJECTS.match(text.strip()) is not None


def prohibits(text: str) -> bool:
    """Whether words forbid or prescribe a way of doing, not only for the moment."""
    return _PROHIBITS.search(text) is not None


def asked_order(sentence: str) -> str:
    """What a question suggests, as an order ("can't we use x?" gives "use x"), or ""."""
    found = _ASKED.search(sentence)
    if found is None:
        return ""
    first, space, rest = found[1].partition(" ")
    order = f"{_GERUNDS.get(first.lower(), first)}{space}{rest}"
    return order if is_order(order) else ""
