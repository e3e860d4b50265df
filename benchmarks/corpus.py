"""Make a corpus of lessons with known near-duplicates: any size, one lesson at a time, the same on every machine.

Lesson `i` depends on the seed and `i` alone, so memory stays flat and a small corpus is the beginning of a large one.
Some lessons (6 in 100) are an earlier one edited: words replaced here and there, a passage replaced, added, cut off or
moved, or nothing at all. How much is drawn so that Jaccard similarities from .5 to 1 occur; one in ten edits a lesson
from the first forty, so that large clusters occur too. One in twenty-five is in Chinese. Sentences are put together
from stock phrases, so unrelated lessons share some, as real ones do.

    python benchmarks/corpus.py FOLDER --size 10000
    python benchmarks/corpus.py FOLDER --size 10000 --change 0.01 --round 1
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

COPIES = 0.06
CHINESE = 0.04
POPULAR = 40
NOW = 1_790_000_000  # mtimes count back from here, over two years
PER_FOLDER = 1_000

PARTS = (
    "importer exporter scheduler billing ledger invoice basket payment session gateway relay mailer notifier "
    "uploader resizer crawler indexer ranker recommender throttle watchdog collector sampler archive vault "
    "registry catalogue planner dispatcher worker supervisor broker bridge adapter parser lexer compiler linker "
    "bundler formatter renderer layout theme keyboard calendar timeline chart table filter search profile avatar "
    "settings consent audit report"
).split()
TOOLS = (
    "Postgres MySQL SQLite Redis Kafka NATS Celery Django Flask FastAPI Rails Laravel Spring Quarkus React "
    "Svelte Vue Vite webpack Rollup Babel pytest Jest Vitest Cypress Playwright Gradle Maven Bazel CMake Cargo "
    "tokio Go Helm Terraform Ansible Docker Podman Nginx Caddy Envoy Grafana Prometheus Alembic Prisma Drizzle "
    "Poetry uv pip mypy Ruff"
).split()
SIGNS = (
    "`ConnectionRefusedError`|`KeyError: 'tenant'`|`ETIMEDOUT`|`exit status 137`|`HTTP 409`|`HTTP "
    "504`|`EADDRINUSE`|`UnicodeDecodeError`|`IntegrityError`|`lock wait "
    "timeout`|`TS2322`|`E0502`|`OOMKilled`|`SIGSEGV`|`NoSuchKey`|`x509: unknown "
    "authority`|`ModuleNotFoundError`|`ENOSPC`|`deadlock detected`|`stale element`"
).split("|")
WHENS = (
    "the first request of the day comes in|two workers pick the same row|the laptop wakes from sleep|the image "
    "is built without a cache|the branch was rebased|the locale is Turkish|the file ends without a newline|the "
    "queue is empty|the clock is set back an hour|the table has more than a million rows|the proxy strips the "
    "header|the fixture is shared|the token is renewed while a call is open|the disk is nearly full|the package "
    "was installed twice|the container has no name server|the user has two tabs open|the job is started by "
    "hand|the schema is one step ahead|the path has a blank in it|the payload is compressed|a retry overlaps "
    "with the original|the certificate was replaced"
).split("|")
CURES = (
    "take the lock before reading|close the cursor in a finally block|pin the base image by its digest|compare "
    "in UTC|write to a scratch file and rename it|give the client a deadline|make the handler idempotent|split "
    "the migration|open the pool after the fork|sort the keys before hashing|read the port back from the "
    "socket|quote every argument|count in integers|flush before the process exits|drop the cache when the row "
    "changes|check the version at start|stream the answer in parts|mark the test as serial|seed the "
    "generator|ask for the header in lower case|retry with a growing pause|fail loudly when the variable is "
    "missing|keep one connection for each thread"
).split("|")
SENTENCES = (
    "The {part} fails with {sign} when {when}.|{tool} keeps a copy of the {part} in memory, so a change is not "
    "seen until the process starts again.|It took {number} attempts to see that {when}.|The {part} and the "
    "{other} both write to {file}, and the later one wins.|With {tool} the default is {number}, which is too low "
    "for the {part}.|Nothing in the log of the {part} says that {when}.|On the build machine {tool} is a version "
    "older than on ours.|We had believed that {tool} would {cure} by itself.|To see it, run `{command}` with "
    "{number} workers.|The {other} hides {sign} and answers with an empty list.|A test in {file} passed because "
    "it never waited for the {part}.|After that, `{command}` passed {number} times in a row.|It is enough to "
    "{cure} in {file}.|First {cure}, then {cure2}.|Do not {cure} in the {other}: it is called for every row.|The "
    "same happens in the {other} as soon as {when}.|{tool} reads {file} only once, at import.|The figure rose "
    "from {number} to {number2} milliseconds.|Whoever touches {file} should {cure}.|When {when}, the {part} "
    "sends its {number} messages again."
).split("|")
WHYS = (
    "{sign} stops the {part} for everyone, and {when}.|it costs {number} minutes each time, mostly when "
    "{when}.|customers of the {part} see {sign} before we do.|the {other} depends on it, and nobody is told when "
    "{when}."
).split("|")
INSTEADS = (
    "{cure} in {file}, then run `{command}`.|{cure}; only then let the {part} start.|{cure} and {cure2}.|leave "
    "the {other} as it is and {cure}."
).split("|")
CHINESE_SENTENCES = (
    (
        "当{part}启动失败时,日志里只有{sign},没有别的线索。|{tool}的默认值是{number},对{part}来说太小。|需要先清空缓存,再重新部署{part}。|"
        "{part}和{other}同时写入{file},后写的会覆盖先写的。|运行{command}之前请确认数据库已经启动。|升级{tool}以后,旧的配置仍然会被读取一次。|"
        "如果队列为空,{part}会一直等待,直到超时{number}秒。|不要在{other}里重试,否则消息会被发送{number}次。|测试通过只是因为没有等待{part}完成。"
    )
    .replace(",", "，")
    .split("|")
)
CODE = ("```sh\n{command} --workers {number}\n```", "```yaml\n{part}:\n  limit: {number}\n  wait: {number2}\n```")
MODES = ("words", "words", "words", "passage", "passage", "added", "cut", "moved", "same")
TARGETS = tuple(step / 100 for step in range(50, 100, 5))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson of a corpus; `copy_of` is the number of the one it was made from, `mode` how it was edited."""

    number: int
    path: str
    text: str
    mtime: int
    copy_of: int | None = None
    mode: str = ""


def make_lesson(seed: int, number: int) -> Lesson:
    """Lesson `number` of the corpus of this seed."""
    plan = _plan(seed, number)
    if plan is None:
        body, source, mode = _original(seed, number), None, ""
    else:
        source, mode, target = plan
        other = _original(seed, (number * 7_919 + 11) % number)
        body = _edit(_original(seed, source), mode, target, _random(seed, "edit", number), other)
    rng = _random(seed, "file", number)
    age = int(rng.random() ** 2 * 730 * 86_400)
    part = _pick(rng, PARTS)
    made = datetime.fromtimestamp(NOW - age, UTC)
    header = (
        f"---\nid: 01CRPS{number:020d}\ntitle: The {part} and {_pick(rng, TOOLS)}, {number}\n"
        f"category: {_pick(rng, ('bugs', 'patterns', 'knowledge'))}\ntags: [{part}, {_pick(rng, PARTS)}]\n"
        f"created: {made:%Y-%m-%dT%H:%M:%SZ}\nconfidence: {0.7 + rng.random() / 4:.2f}\n---\n"
    )
    return Lesson(number, f"{number // PER_FOLDER:04}/{part}-{number}.md", header + body, NOW - age, source, mode)


def make_lessons(seed: int, size: int) -> Iterator[Lesson]:
    """The first `size` lessons."""
    return (make_lesson(seed, number) for number in range(size))


def write_corpus(folder: Path, size: int, seed: int) -> None:
    """Write the lessons below `folder`, with their mtimes."""
    for lesson in make_lessons(seed, size):
        place = folder / lesson.path
        if lesson.number % PER_FOLDER == 0:
            place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(lesson.text, encoding="utf-8", newline="\n")
        os.utime(place, (lesson.mtime, lesson.mtime))


def change_corpus(folder: Path, size: int, seed: int, share: float, turn: int) -> int:
    """Add a sentence to a share of the files, drawn anew for each turn; returns how many."""
    changed = 0
    for number in range(size):
        rng = _random(seed, f"change {turn}", number)
        if rng.random() < share:
            lesson = make_lesson(seed, number)
            text = f"{lesson.text}\n{_fill(rng, _pick(rng, SENTENCES), _pick(rng, PARTS))}\n"
            (folder / lesson.path).write_text(text, encoding="utf-8", newline="\n")
            changed += 1
    return changed


def _random(seed: int, what: str, number: int) -> random.Random:
    return random.Random(f"{seed} {what} {number}")


def _pick(rng: random.Random, choices: Sequence[str]) -> str:
    return choices[int(rng.random() * len(choices))]


def _plan(seed: int, number: int) -> tuple[int, str, float] | None:
    """(source, mode, target similarity) of an edited lesson; None for an original. Sources are originals."""
    rng = _random(seed, "plan", number)
    if number < POPULAR or rng.random() >= COPIES:
        return None
    source = int(rng.random() * (POPULAR if rng.random() < 0.1 else number))
    while source >= POPULAR and _random(seed, "plan", source).random() < COPIES:
        source -= 1
    return source, _pick(rng, MODES), TARGETS[int(rng.random() * len(TARGETS))]


def _fill(rng: random.Random, sentence: str, part: str) -> str:
    file = f"{_pick(rng, ('src', 'app', 'tests', 'lib'))}/{_pick(rng, PARTS)}_{_pick(rng, PARTS)}.py"
    program = _pick(rng, ("make", "npm run", "cargo", "pytest -k", "uv run", "go test"))
    return sentence.format(
        part=part,
        other=_pick(rng, PARTS),
        tool=_pick(rng, TOOLS),
        sign=_pick(rng, SIGNS),
        when=_pick(rng, WHENS),
        cure=_pick(rng, CURES),
        cure2=_pick(rng, CURES),
        file=file,
        command=f"{program} {_pick(rng, PARTS)}",
        number=2 + int(rng.random() * 900),
        number2=2 + int(rng.random() * 900),
    )


def _original(seed: int, number: int) -> str:
    rng = _random(seed, "body", number)
    part = _pick(rng, PARTS)
    if rng.random() < CHINESE:
        lines = [_fill(rng, _pick(rng, CHINESE_SENTENCES), part) for _ in range(6 + int(rng.random() * 12))]
        return "\n\n".join("".join(lines[at : at + 3]) for at in range(0, len(lines), 3)) + "\n"
    blocks = [f"# {_fill(rng, 'Why the {part} of {tool} gave {sign}', part)}"]
    for heading in ("What happened", "What we tried", "What it was"):
        count = 3 + int(rng.random() * 4)
        sentences = [_fill(rng, _pick(rng, SENTENCES), part) for _ in range(count)]
        blocks.append(f"## {heading}")
        blocks.append("\n".join(f"- {line}" for line in sentences) if rng.random() < 0.3 else " ".join(sentences))
        if rng.random() < 0.3:
            blocks.append(_fill(rng, _pick(rng, CODE), part))
    for _ in range(int(rng.random() * 4)):
        blocks.append(" ".join(_fill(rng, _pick(rng, SENTENCES), part) for _ in range(3)))
    blocks.append(f"**Why it matters:** {_fill(rng, _pick(rng, WHYS), part)}")
    blocks.append(f"**Instead:** {_fill(rng, _pick(rng, INSTEADS), part)}")
    return "\n\n".join(blocks) + "\n"


def _edit(body: str, mode: str, target: float, rng: random.Random, other: str) -> str:
    """The body edited so that about `target` of its shingles of three words stay shared with it."""
    if mode == "same":
        return body
    if mode == "moved":
        blocks = body.rstrip("\n").split("\n\n")
        at = int(rng.random() * len(blocks))
        return "\n\n".join(blocks[at:] + blocks[:at]) + "\n"
    words = body.split(" ")
    filling = other.split(" ")
    if mode == "words":
        # A word is in three shingles: k words replaced of n leave (n - 3k) shared of (n + 3k).
        count = max(1, round(len(words) * (1 - target) / (3 * (1 + target))))
        for turn in range(count):
            place = int((turn + rng.random()) * len(words) / count)
            words[min(place, len(words) - 1)] = _pick(rng, filling) + "s"
        return " ".join(words)
    if mode == "passage":
        count = min(len(words) - 1, max(1, round(len(words) * (1 - target) / (1 + target))))
        at = int(rng.random() * (len(words) - count))
        return " ".join(words[:at] + filling[:count] + words[at + count :])
    if mode == "added":
        return body + "\n" + " ".join(filling[: max(1, round(len(words) * (1 - target) / target))]) + "\n"
    return " ".join(words[: max(1, round(len(words) * target))]) + "\n"


def main() -> None:
    """Write a corpus, or change a share of one."""
    parser = argparse.ArgumentParser(description="Make a corpus of lessons with known near-duplicates.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--change", type=float, help="rewrite this share of the files and stop")
    parser.add_argument("--round", type=int, default=1)
    options = parser.parse_args()
    if options.change is None:
        write_corpus(options.folder, options.size, options.seed)
        print(f"{options.size} lessons in {options.folder}")
    else:
        print(change_corpus(options.folder, options.size, options.seed, options.change, options.round), "changed")


if __name__ == "__main__":
    main()
