"""Path globs in gitignore style, matched exactly and without regular expressions; pure, imports nothing.

Follows gitignore(5): a pattern without an inner slash matches at any depth, with one from the project's root; `*` and
`?` stay within a segment, `**` as a whole segment spans any number; a trailing slash or a literal last segment takes
in what lies below; `!` excludes. Braces (`*.{ts,tsx}`) are expanded first, as editors' rule files use them.
"""

MOST_EXPANSIONS = 256
LONGEST_PATTERN = 400


def matches_any(patterns: "tuple[str, ...] | list[str]", path: str) -> bool:
    """Whether the last pattern that matches a project-relative path is no exclusion."""
    taken = False
    for pattern in patterns:
        excluding = pattern.startswith("!")
        if taken == excluding and matches(pattern.removeprefix("!"), path):
            taken = not excluding
    return taken


def matches(pattern: str, path: str) -> bool:
    """Whether one pattern matches a project-relative path with `/`."""
    segments = clean_path(path).split("/")
    return any(match_segments(compile_glob(each), segments) for each in expand_braces(pattern.strip()))


def clean_path(path: str) -> str:
    """A path with `/`, without a leading `./` or `/`."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.lstrip("/")


def compile_glob(pattern: str) -> list[str]:
    """A brace-free pattern as the list of its segments, from the project's root."""
    rooted = pattern.startswith("/")
    below = pattern.endswith("/")
    while pattern.startswith("./"):
        pattern, rooted = pattern[2:], True
    segments = [segment for segment in pattern.split("/") if segment]
    if not segments:
        return []
    if len(segments) == 1 and not rooted and segments[0] != "**":
        segments.insert(0, "**")
    if below or is_literal(segments[-1]):
        segments.append("**" if below else "**?")
    return segments


def is_literal(segment: str) -> bool:
    """Whether a segment stands for itself."""
    return not any(char in segment for char in "*?[")


def match_segments(pattern: list[str], path: list[str]) -> bool:
    """Whether a pattern's segments match a path's; `**?` is a tail that may be empty."""
    rows = len(path)
    reach = [True] + [False] * rows  # reach[k]: the pattern so far matches the first k segments
    for number, segment in enumerate(pattern):
        last = number + 1 == len(pattern)
        if segment == "**?":
            return any(reach[1:])
        if segment == "**":
            if last:
                return any(reach[k] for k in range(rows))  # a trailing ** needs something below
            spread = False
            for k in range(rows + 1):
                spread = spread or reach[k]
                reach[k] = spread
        else:
            reach = [False] + [reach[k] and match_one(segment, path[k]) for k in range(rows)]
        if not any(reach):
            return False
    return bool(pattern) and reach[rows]


def match_one(pattern: str, text: str) -> bool:
    """Whether a segment's pattern matches a segment; greedy with one point of return, so linear in practice."""
    at = place = 0
    star = mark = -1
    while place < len(text):
        step = match_char(pattern, at, text[place]) if at < len(pattern) and pattern[at] != "*" else 0
        if step:
            at, place = at + step, place + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, mark = at, place
            at += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")


def match_char(pattern: str, at: int, char: str) -> int:
    """How many characters of the pattern match one character of the text; 0 for none."""
    if pattern[at] == "?":
        return 1
    if pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
        inside = pattern[at + 1 : end]
        negated = inside[0] in "!^"
        return end + 1 - at if in_class(inside[1:] if negated else inside, char) != negated else 0
    if pattern[at] == "\\" and at + 1 < len(pattern):
        return 2 if pattern[at + 1] == char else 0
    return 1 if pattern[at] == char else 0


def in_class(inside: str, char: str) -> bool:
    """Whether a character is in the inside of a bracket expression."""
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            if inside[at] <= char <= inside[at + 2]:
                return True
            at += 3
        else:
            if inside[at] == char:
                return True
            at += 1
    return False


def expand_braces(pattern: str) -> list[str]:
    """The patterns that `{a,b}` stands for, nested ones too; braces without a comma stand for themselves."""
    done: list[str] = []
    waiting = [pattern[:LONGEST_PATTERN]]
    while waiting and len(done) + len(waiting) <= MOST_EXPANSIONS:
        one = waiting.pop(0)
        found = find_braces(one)
        if found is None:
            done.append(one)
        else:
            start, end, parts = found
            waiting[:0] = [one[:start] + part + one[end:] for part in parts]
    return done + waiting


def find_braces(pattern: str) -> "tuple[int, int, list[str]] | None":
    """The first brace group with a comma: where it starts and ends, and its parts."""
    start = pattern.find("{")
    while start >= 0:
        depth, parts, part = 0, [], start + 1
        for at in range(start, len(pattern)):
            char = pattern[at]
            if char == "{":
                depth += 1
            elif char == "," and depth == 1:
                parts.append(pattern[part:at])
                part = at + 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    if parts:
                        return start, at + 1, [*parts, pattern[part:at]]
                    break
        start = pattern.find("{", start + 1)
    return None


def problem_of(pattern: str) -> str:
    """Why a pattern can never match or would match everything; "" for a good one."""
    bare = pattern.strip().removeprefix("!")
    if not bare.strip("/"):
        return "is empty"
    if len(pattern) > LONGEST_PATTERN:
        return f"is longer than {LONGEST_PATTERN} characters"
    if ".." in bare.split("/"):
        return "leaves the project"
    if "\n" in pattern or "\x00" in pattern:
        return "holds a line break"
    return ""


def anchor_of(pattern: str) -> str:
    """What every path that a brace-free pattern matches has among its `anchors`: the longest literal segment, else the
    literal end of the name (".ts"), else ""."""
    segments = [segment for segment in compile_glob(pattern) if segment not in {"**", "**?"} and "\\" not in segment]
    literal = [segment for segment in segments if is_literal(segment)]
    if literal:
        return max(literal, key=len)
    ending = segments[-1].rpartition(".")[2] if segments and "." in segments[-1] else ""
    tail = compile_glob(pattern)[-1]
    return f".{ending}" if ending and is_literal(ending) and segments and tail == segments[-1] else ""


def anchors(path: str) -> list[str]:
    """The segments of a path, the ends of its name from each dot on, and ""."""
    segments = [segment for segment in clean_path(path).split("/") if segment]
    name = segments[-1] if segments else ""
    return [*segments, *(f".{part}" for part in name.split(".")[1:]), ""]


def sqlite_glob(pattern: str) -> str:
    """A pattern for SQLite's GLOB that matches at least every path that a brace-free pattern matches."""
    segments = compile_glob(pattern)
    parts: list[str] = []
    for number, segment in enumerate(segments):
        last = number + 1 == len(segments)
        if segment == "**?":
            parts[-1] = parts[-1].removesuffix("/") + "*"
        elif segment == "**":
            parts.append("*")
        else:
            plain = segment.replace("[!", "[^") if "\\" not in segment else "*"
            parts.append(plain if last else plain + "/")
    return "".join(parts)
