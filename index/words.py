"""The words by which texts are compared and found: lower case, lightly stemmed, identifiers in parts, CJK in pairs.

Imports nothing, so that the recall hook and the builder of its database cut texts in exactly the same way.
"""

STOP = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is "
    "it its me my no not of on or our she so than that the their them then there these they this those to too us was "
    "we were what when where which while who why will with would you your".split()
)
LONGEST_WORD = 40
# Words that turn up in any talk about programs, as `stem` leaves them: alone they tell no lesson from another.
USUAL = frozenset(
    (
        "able above act action activ actual after again against ago already although alway another answer anyway api "
        "app applicat apply area argument around array ask assum async attempt away backend backward bas base basic "
        "batch becom befor begin behavior behaviour below best better between block body both box branch break brief "
        "broken browser bug button care carefully case catch cause certain chanc choic choos clean clear click client "
        "close cluster column come comment commit common compar compil complet component concern config configur "
        "connect connection consider consistent contain content context control conversion convert copy correct cost "
        "coupl cover crash current custom cut cycle daily data databas date day deal debug decid decision default "
        "defin delet depend dependency deploy describ design detail develop development devic differenc different "
        "direct directory disabl discuss display doc document doing domain done doubl down download draft drop "
        "duplicat dur each early easier easy edge edit effect effort either element else email empty enabl end "
        "endpoint enough ensur entir entity entry environment especially even event ever every everyth exact exampl "
        "except exist expect experienc explain explicit export external extra fact factor fair false far fast featur "
        "feel few field filter final finish first flow folder follow force form format former forward found four "
        "framework frontend full further futur general generat global goal going gone good great group grow guess "
        "guidanc guide half hand handl happen hard head header health hear here hide hierarchy high history hit hold "
        "home honest hook hope host hour however html http hundr idea identify ignor image implement important improv "
        "increas index info informat infrastructur initial insid install instanc instead int integrat interfac "
        "internal involv io item job join js json keep key kind knowledg known label land languag large last late "
        "later layer layout lead learn least leave left less let level library life light like likely limit link "
        "listen littl live load local locat log logic long loop lose lot low main maintain major manag manual many "
        "map mark match matter maybe mean measur memory mention merge method metric middl might migrat mind minut "
        "miss mode model modern modul monitor month more most mostly move much multipl must nativ natural near never "
        "next nice nobody node none normal note noth notic object obvious off offer often ok okay old once one onlin "
        "operat opinion opposit order original other otherwis out over overall overview own packag page pair "
        "parameter parent parse part party pass past patch pattern peopl per perfect perform performanc period person "
        "pick piece pipelin place plain plan plus point pool popular port position possibl post practic prefer "
        "preferenc prepar present prevent previous privat probably procedur process production proper property "
        "protect prove provid public pull purpos push put quality query question quick quite random range rate rather "
        "raw reach ready real really reason reasonabl receiv recent recommend record reduc refactor refer referenc "
        "regard regular relat releas relevant reliabl remain remember render repeat replac repo report repository "
        "request requir reset resolv resourc respond respons rest restart retry review right role root round route "
        "row rule runtim safe same sampl save say schedul schem schema scope score screen script search second secret "
        "section security seem select self send sense separat sequenc serve server servic session setup several shape "
        "share short side similar simpl simply since singl site situat size skip slow small smart snippet softwar "
        "solution solve some someon someth sometim soon sort sourc space spe spec special specific spend split stack "
        "stag stage standard state statement static status stay step stick still stop storag store story strategy "
        "stream strict strong structur stuck stuff style subject success such suggest suite summariz summary suppos "
        "switch sync syntax system table tag take talk target task team technical tell term thank theme think third "
        "thought thousand three through throw tie tip title today together token tomorrow tool top topic total touch "
        "track traffic train transfer transform travel treat trick trigger troubl true trust turn two under "
        "understand uniqu unit unknown unless until upload url usage useful user usual utility valid validat variabl "
        "various very via view visibl wait walk watch weak web week weird well whatever whether whole wide window "
        "wish within without wonder word worker world worry worth wrap wrong year yes yesterday yet yourself "
    ).split()
)


class Separators(dict[int, str]):
    """A table for str.translate that keeps letters and digits and turns everything else into a space; fills itself."""

    def __missing__(self, code: int) -> str:
        """Decide once for each character."""
        char = chr(code)
        kept = char if char.isalnum() else " "
        if is_cjk(code):
            kept = f" {char}\x00 "  # each such character alone; words_of pairs neighbours
        self[code] = kept
        return kept


def is_cjk(code: int) -> bool:
    """Whether a character belongs to a script written without spaces: kana, Han, Hangul, Thai and their neighbours."""
    return code >= 0x0E00 and (
        0x2E80 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or code >= 0x20000
        or code < 0x0F00
    )


TABLE = Separators()


def words_of(text: str) -> list[str]:
    """The words of a text in order, stop words and plain numbers left out.

    An identifier in camel case gives itself and its parts; a run of CJK characters its overlapping pairs.
    """
    found: list[str] = []
    before = ""  # the CJK character before this word, if there is one
    for word in text.translate(TABLE).split():
        parts = KNOWN.get(word)
        if parts is None and word[-1] == "\x00":
            if before and found and found[-1] == before:
                found.pop()  # it stood alone until now
            found.append(before + word[0])
            before = word[0]
            continue
        before = ""
        found += word_parts(word) if parts is None else parts
    return found


KNOWN: dict[str, tuple[str, ...]] = {}
MOST_KNOWN = 200_000


def word_parts(word: str) -> tuple[str, ...]:
    """What one word stands for; remembered, since the same words come again and again."""
    low = word.lower()
    parts: list[str] = []
    if not word.isdigit() and len(word) <= LONGEST_WORD:
        if low != word and not word.isupper() and word[1:] != low[1:]:
            parts = [stem(part) for part in camel_parts(word) if part not in STOP]
        if low not in STOP:
            parts.append(stem(low))
    if len(KNOWN) > MOST_KNOWN:
        KNOWN.clear()
    KNOWN[word] = tuple(parts)
    return KNOWN[word]


def camel_parts(word: str) -> list[str]:
    """The lower-cased parts of an identifier in camel case: HTTPServerError gives http, server, error."""
    parts: list[str] = []
    start = 0
    for at in range(1, len(word)):
        new = word[at].isupper() and (not word[at - 1].isupper() or (at + 1 < len(word) and word[at + 1].islower()))
        if new:
            parts.append(word[start:at].lower())
            start = at
    parts.append(word[start:].lower())
    return [part for part in parts if len(part) > 1]


def stem(word: str) -> str:
    """A word without the commonest English endings; the rest keeps four letters, so that short words stay apart."""
    if len(word) < 5 or not word.isascii():
        return word[:-1] if len(word) == 4 and word[-1] == "s" and word[-2] not in "su" else word
    for ending, put in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            kept = word[: len(word) - len(ending)] + put
            if ending in {"ing", "ed"} and len(kept) > 3 and kept[-1] == kept[-2] and kept[-1] not in "lsz":
                kept = kept[:-1]
            return kept.removesuffix("e") if len(kept) > 4 else kept
    return word.removesuffix("e") if len(word) > 5 else word


# Longest first; "ss" stays.
ENDINGS = (
    ("sses", "ss"), ("ations", "at"), ("ation", "at"), ("ities", "iti"), ("ments", "ment"), ("ings", ""), ("ies", "y"),
    ("ied", "y"), ("ing", ""), ("ss", "ss"), ("ers", "er"), ("ed", ""), ("us", "us"), ("is", "is"), ("es", "e"),
    ("s", ""),
)  # fmt: skip


def path_words(path: str) -> list[str]:
    """The words of a path's folders and name, without those that say only what kind of file it is."""
    name = path.replace("\\", "/").rpartition("/")[2]
    kind = name.rpartition(".")[2].lower() if "." in name.strip(".") else ""
    return [word for word in words_of(path.replace("_", " ")) if word != kind]


def bound_tokens(text: str) -> int:
    """At least as many tokens as common tokenizers make of a text; about half as many again as they do of prose.

    One for each three lower-case letters or digits of a run, two for each three capitals, a capital with what follows
    it; one for each other ASCII sign, half a one for each further blank in a row. Beyond ASCII one for each byte of
    UTF-8, the most that byte-pair encoding can make; two for the scripts of China, Japan and Korea, whose common
    characters are one token, rarely two. Made-up lower-case letters in a row may exceed it.
    """
    total, run, before = 0.0, 0, ""
    for char in text:
        code = ord(char)
        kind = "a" if "a" <= char <= "z" else "A" if "A" <= char <= "Z" else "0" if "0" <= char <= "9" else ""
        if not kind:
            total += bound_char(char, code, before)
        elif kind == before or (before == "A" and kind == "a" and run == 1):
            total += (run % 3 < 2) if kind == "A" else (run % 3 == 0)
            run += 1
        else:
            total, run = total + 1, 1
        before = kind or char
    return int(total + 0.5)


def bound_char(char: str, code: int, before: str) -> float:
    """The most tokens that a character makes which is no ASCII letter or digit."""
    if code < 128:
        return (0.5 if before == " " else 0.0) if char == " " else 1.0
    blank = float(before == " ")  # joins only letters it often stands before
    if 0x3040 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7AF:
        return 2.0 + blank
    return blank + (2.0 if code < 0x800 else 3.0 if code < 0x10000 else 4.0)
