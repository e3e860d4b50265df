"""The cues in a lesson's words that tell a pattern from a bug from a piece of knowledge.

A cue is a named number in 0..1, read from the title, the headings, the opening or the whole text. They are words of
the genre (symptom, root cause, decision, "when to apply"), never of a subject, so that they hold in any repository.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

OPENING_CHARS = 1200
BODY_CHARS = 40_000
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING = re.compile(r"^ {0,3}(#{1,4})[ \t]{1,8}(\S.{0,200}?)[ \t]{0,8}#{0,8}\r?$")
_BOLD_LABEL = re.compile(r"^(?:[-*+] )?\*\*([^*\n]{2,60}?):?\*\*:?")
_WORD = re.compile(r"[^\W\d_][\w'-]{0,40}")
_MARKUP = re.compile(r"[`*_\"'“”‘’]")


@dataclass(frozen=True, slots=True)
class Document:
    """A lesson cut into the places that cues look at, all in lower case except `prose` and `code`."""

    title: str
    headings: tuple[str, ...]
    opening: str
    prose: str
    code: str
    words: int


def read_document(title: str, body: str) -> Document:
    """Cut a lesson into title, headings, opening, prose and code; the title falls back to the first heading."""
    headings: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    fenced = False
    for line in body[:BODY_CHARS].split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            code.append(line)
            continue
        heading = _HEADING.match(line)
        if heading is None:
            prose.append(line)
            label = _BOLD_LABEL.match(line)
            if label is not None:
                headings.append(_plain(label[1]))
        elif len(heading[1]) == 1:
            title = title or heading[2]
        else:
            headings.append(_plain(heading[2]))
    text = "\n".join(prose).strip()
    return Document(
        title=_plain(title),
        headings=tuple(headings),
        opening=text[:OPENING_CHARS].lower(),
        prose=text,
        code="\n".join(code),
        words=max(1, len(_WORD.findall(text)) + sum(1 for c in text if "\u3040" <= c <= "\ud7a3") // 2),
    )


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).lower().split())


def _any(text: str) -> re.Pattern[str]:
    """A pattern for any of the words, `_` standing for a space; those in Latin letters must stand alone."""
    words = [word.replace("_", " ") for word in text.split()]
    latin = [w for w in words if w.isascii()]
    other = [w for w in words if not w.isascii()]
    parts = ([rf"\b(?:{'|'.join(latin)})\b"] if latin else []) + ([f"(?:{'|'.join(other)})"] if other else [])
    return re.compile("|".join(parts))


# What a heading (or a bold label) announces. English, Japanese, Chinese, Korean, and some German, French, Spanish.
HEADINGS: dict[str, re.Pattern[str]] = {
    "symptom": _any("symptoms? symptome? síntomas? observed error errors? 現象 症状 증상 错误 エラー"),
    "cause": _any("(?:root_|direct_)?causes? root-cause why_it_(?:broke|failed|happened) ursache causa 原因 원인"),
    "problem": _any("problems? issues? the_(?:bug|failure) bug 问题 問題 문제"),
    "fix": _any(
        "(?:the_|working_)?(?:fix|fixes|solution|resolution) what_fixed_it lösung solución 解决 解決 修正 修复 해결"
    ),
    "tried": _any(
        "what_didn'?t_work didnt_work attempts? investigation(?:_steps)? what_we_tried dead_ends? 尝试 調査 시도"
    ),
    "prevent": _any(
        "prevention prevent(?:ing)? how_to_avoid avoid_this regression_tests? 予防 預防 预防 再発防止 예방"
    ),
    "incident": _any(
        "timeline impact detection action_items five_whys postmortem post-mortem what_happened incident "
        "タイムライン 影響 检测 検知 时间线 영향 타임라인"
    ),
    "checked": _any("verification verified tests?_added test_cases? files?_(?:modified|changed) proof 検証 验证 검증"),
    "context": _any("context background kontext contexto 背景 上下文 배경"),
    "decision": _any("(?:key_)?decisions? decided rationale entscheidung 決定 决定 决策 결정"),
    "record": _any("status consequences supersedes superseded accepted deciders ステータス 後果 后果 결과"),
    "options": _any(
        "alternatives?(?:_considered|_rejected)? options?(?:_considered)? non-goals? trade-?offs? revisit "
        "out_of_scope rejected 代替案 备选 대안"
    ),
    "guide": _any(
        "guidance guidelines? the_(?:pattern|practice|convention) best_practices? how_to how_to_apply "
        "when_to_(?:use|apply) when_not_to dos? donts? checklist principles? recommendations? hard_stops? 指导 "
        "指针 指針 原则 原則 何时 适用 원칙 방법"
    ),
    "rule": _any("(?:the_|reusable_)?rules? 规则 ルール 규칙"),
    "why": _any("why why_this_matters why_it_matters 为什么 なぜ 重要 이유"),
    "examples": _any("examples? example_usage usage steps? before(?:_and_|/)after 示例 例 步骤 예시 단계"),
    "facts": _any(
        "overview how_it_works reference notes? quirks? gotchas? limits? limitations? behaviou?r findings? "
        "environment configuration facts? architecture api constraints? 概要 说明 仕様 개요 참고"
    ),
}

_IMPERATIVES = (
    "add align always avoid aggregate ask assert batch benchmark bind build cache call capture centralize change "
    "check choose classify clone compile configure convert copy create debug declare default defer define delete "
    "derive describe design do document don't dont emit enforce ensure explicitly export extract fail fetch fix "
    "follow gate generate give guard handle hard-correct install isolate keep let lock log make measure merge "
    "mock model move name never normalize offload only parse pass pin prefer preserve probe prove pull push put "
    "query read reference refuse register reject release remove replace require reserve reset resolve restart "
    "restore return reuse review route run scope send separate serve set share ship skip sort split stage start "
    "state stop store stub sync test track treat trust try tune update use validate verify wait watch wire wrap "
    "write"
).split()
_FAILURE = _any(
    "fail(?:s|ed|ing|ure|ures)? errors? crash(?:es|ed|ing)? bugs? races? leak(?:s|ed|ing)? broken breaks? "
    "timeouts? time(?:s|d)_out wrong(?:ly)? duplicated? missing silent(?:ly)? drop(?:s|ped) "
    "los(?:t|es|ing) stale hang(?:s|ing)? hung stuck deadlocks? corrupt(?:s|ed|ion)? regressions? gaps? "
    "conflicts? desync incorrect(?:ly)? ignor(?:es|ed) overwrit(?:es|ten) can'?t cannot doesn'?t "
    "not_(?:working|found|loading) mismatch rejects? rejected overflow exhaust(?:ed|ion) bogus blocks "
    "kills? insecure misses strips truncat(?:es|ed|ion) never_(?:fires?|runs?) causes "
    "障害 失敗 エラー 停止 タイムアウト 不具合 ループ デッドロック 遅延 欠落 "
    "错误 失败 破坏 崩溃 丢失 오류 실패 문제 누락"
)

TITLES: dict[str, re.Pattern[str]] = {
    "names a failure": _FAILURE,
    "says it was fixed": _any(
        "fix(?:es|ed|ing)? hardened hardening recover(?:y|s|ed) solutions? resolved now robustness 修复 修正 해결"
    ),
    "starts with an order": re.compile(
        rf"^(?:{'|'.join(_IMPERATIVES)})(?=[\s:])|^(?:优先|使用|避免|必须|不要|始终|禁止|保持)|(?:せよ|こと|하라|하기|하세요)$"
    ),
    "starts with -ing": re.compile(r"^[a-z-]{2,20}ing\b"),
    "should or must": _any("should must needs? has_to belongs? required? 必须 应 べき 해야"),
    "always or never": _any("always never prefer avoid don'?t do_not instead_of before not only 避免 优先"),
    "names a practice": _any(
        "patterns? conventions? practices? workflows? guidelines? rules? strategy lifecycle gates? "
        "boundar(?:y|ies) methodology checklist hygiene loop discipline framework how_to principles? 原则 实践 "
        "方法论 规范 패턴 원칙"
    ),
    "names a record": re.compile(
        r"\badr\b|^\d{1,4}[.:]|\bdecision\b|→|\bvs\.?\b|\bover\b|\binstead of\b|決定|决策|결정"
    ),
    "numbered incident": re.compile(r"\bpm-\d|postmortem|post-mortem|incident|ポストモーテム|复盘|사후"),
    "states a fact": re.compile(r"\b(?:is|are|isn't|has|have|can|does|lives?|uses|means|lacks?)\b|は|(?<!不)是|는 "),
    "names a reference": _any(
        "notes? overview reference internals quirks limitations limits tips cheat_?sheet glossary map"
    ),
    "starts with an article": re.compile(r"^(?:the|an?|what|how [a-z]+ (?:works?|is|are))\b"),
    "a name alone": re.compile(r"^[a-z0-9_.+#/()-]{1,40}(?: [a-z0-9_.+#/()-]{1,40}){0,2}$"),
}

PROSE: dict[str, tuple[re.Pattern[str], float]] = {
    # cue -> (pattern, occurrences per 100 words that count as full)
    "root cause": (_any("root_causes? caused_by the_cause turned_out because_of culprit 原因 원인"), 0.6),
    "failed": (
        _any(
            "fail(?:s|ed|ing|ure|ures)? crash(?:es|ed)? broke broken hung hangs stale corrupt(?:s|ed)? dropped "
            "lost errors? bugs? regressions? 失敗 障害 エラー 错误 失败 오류 실패"
        ),
        2.0,
    ),
    "fixed": (_any("fix(?:es|ed)? resolved patched workaround 修正 修复 解決 수정"), 1.0),
    "reproduced": (_any("reproduc(?:e|es|ed|tion|ible) repro stack_trace traceback symptoms? 再現 重现 재현"), 0.4),
    "was and had": (_any("was were had did didn'?t wasn'?t した していた 了 했다"), 4.0),
    "decided": (
        _any(
            "decisions? decid(?:e|ed) chos(?:e|en) adopt(?:s|ed)? adr accepted superseded?s? trade-?offs? "
            "alternatives? rejected consequences? rationale 採用 决定 選択 결정"
        ),
        0.8,
    ),
    "obliged": (
        _any(
            "should must always never prefer avoid don'?t do_not only required? 必须 应该 不要 避免 べき 必ず 해야 하지"
        ),
        2.5,
    ),
    "will and keeps": (_any("will remains? stays? keeps? owns? provides? supports? defines?"), 2.0),
    "you": (_any("you your you'll 你 您"), 2.0),
    "i": (_any("i i'm i've my today_i_learned til"), 1.5),
    "we": (_any("we our us 我们 우리"), 1.5),
    "when and if": (_any("when whenever if unless every any each 当 如果 場合 때"), 3.0),
    "how to": (
        _any(
            "how_to here'?s_how this_(?:pattern|approach|technique|trick) figured_out wanted_to i_use useful_for "
            "recipe using"
        ),
        0.8,
    ),
    "steps": (re.compile(r"(?m)^ {0,3}\d{1,2}[.)] "), 1.5),
    "bullets": (re.compile(r"(?m)^ {0,3}[-*+] "), 4.0),
    "versions and dates": (re.compile(r"\b20\d\d-\d\d-\d\d\b|\bv?\d+\.\d+\.\d+\b"), 1.0),
    "clock times": (re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\b"), 0.5),
}

OPENINGS: dict[str, re.Pattern[str]] = {
    "opens with a failure": _FAILURE,
    "opens with still or even though": _any("still but although even_though however despite intermittent(?:ly)?"),
    "opens with a wish": _any(
        "i_wanted i_needed i_want today_i_learned i_figured_out how_to here'?s_how i_used i'm lets_you"
    ),
    "opens with a status": re.compile(
        r"(?:^|\n)[-* ]{0,4}\**(?:status|ステータス|状态|상태)\**\s{0,3}[:：]|\baccepted\b|\bproposed\b|\bsuperseded\b"
    ),
    "opens with a rule": _any("should must always never prefer avoid rule convention 不要 必须 应"),
    "opens with what exists": _any(
        "is_a is_an are_the there_(?:is|are) uses? supports? provides? lives?_in endpoint api"
    ),
}

CODE: dict[str, re.Pattern[str]] = {
    "error text in code": re.compile(
        r"\bError\b|\w(?:Error|Exception)\b|error[:\[]|Traceback|panic|FAIL|fatal:|not found"
        r"|\bat \S{1,80}:\d|[Ee]xit (?:code|status)"
    ),
    "before and after code": re.compile(
        r"(?im)^[ \t]{0,40}(?://|#|<!--|--)[ \t]{0,8}(?:before|after|wrong|right|bad|good|❌|✅|old|new)\b|^[-+] \S"
    ),
}


def read_cues(title: str, body: str) -> dict[str, float]:
    """All cues of a text by name, each in 0..1; those that are absent are left out."""
    document = read_document(title, body)
    cues: dict[str, float] = {}
    for name, pattern in HEADINGS.items():
        if any(pattern.search(heading) for heading in document.headings):
            cues[f"heading: {name}"] = 1.0
    for name, pattern in TITLES.items():
        if pattern.search(document.title):
            cues[f"title: {name}"] = 1.0
    for name, pattern in OPENINGS.items():
        if pattern.search(document.opening):
            cues[f"opening: {name}"] = 1.0
    lowered = document.prose.lower()
    for name, (pattern, full) in PROSE.items():
        share = 100.0 * sum(1 for _ in pattern.finditer(lowered)) / document.words
        if share > 0:
            cues[f"text: {name}"] = round(min(1.0, share / full), 4)
    for name, pattern in CODE.items():
        if pattern.search(document.code):
            cues[f"code: {name}"] = 1.0
    if document.code.strip():
        cues["code: any"] = 1.0
    if not document.headings:
        cues["heading: none"] = 1.0
    if document.words < 120:
        cues["text: short"] = 1.0
    elif document.words > 900:
        cues["text: long"] = 1.0
    return cues


# What a front matter says of itself. Spellings drift (84 were seen for one key): single words are matched, not values.
_TYPE_KEYS = ("category", "problem_type", "problem-type", "type", "kind", "class", "track", "lesson_type")
_TYPE_WORDS: dict[str, re.Pattern[str]] = {
    "bug": re.compile(
        r"bug|error|fail|issue|crash|race|loss|leak|regress|exhaust|postmortem|incident|desync|outage|debt|problem|defect|correctness|"
        r"security|perf|障害|错误|오류"
    ),
    "pattern": re.compile(
        r"pattern|practice|convention|workflow|feedback|guide|how.?to|recipe|skill|style|playbook|process|principle|technique|rule"
    ),
    "knowledge": re.compile(
        r"knowledge|decision|adr\b|fact|reference|gotcha|document|config|tooling|environment|\bnote|gap|quirk|model\b|architecture"
    ),
}
_FIELDS: dict[str, frozenset[str]] = {
    "symptoms": frozenset({"symptoms", "symptom", "error", "error_message", "errors"}),
    "root cause": frozenset({"root_cause", "root-cause", "cause", "root_cause_type", "root_cause_detail"}),
    "applies when": frozenset({"applies_when", "applies-when", "when_to_use", "when", "globs", "alwaysapply", "paths"}),
    "deciders": frozenset({"deciders", "decision", "supersedes", "superseded_by", "consulted"}),
}


def read_field_cues(frontmatter: Mapping[str, object]) -> dict[str, float]:
    """The cues of a front matter: the words of its own type fields, and which fields it has."""
    cues: dict[str, float] = {}
    fields = {str(key).strip().lower(): value for key, value in frontmatter.items()}
    for key in _TYPE_KEYS:
        value = str(fields.get(key) or "").lower()
        for name, pattern in _TYPE_WORDS.items():
            if value and pattern.search(value.rsplit("solutions/", 1)[-1]):
                cues[f"{'category' if key == 'category' else 'type'} field: {name}"] = 1.0
    for name, keys in _FIELDS.items():
        if any(fields.get(key) for key in keys):
            cues[f"field: {name}"] = 1.0
    if "fix" in str(fields.get("resolution_type") or "").lower():
        cues["resolution field: fix"] = 1.0
    return cues
