"""The controlled list of tags, and which of them an episode carries. The list grows only on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterable

from index.signature import command_parts

MOST = 5
# Tag -> the programs that carry it.
_PROGRAMS: dict[str, str] = {
    "git": "git",
    "github": "gh",
    "gitlab": "glab",
    "go": "go gofmt golangci-lint",
    "rust": "cargo rustc rustup",
    "python": "python pip uv poetry pytest ruff mypy tox hatch pdm",
    "node": "node npm npx pnpm yarn bun deno eslint vitest jest vite",
    "typescript": "tsc ts-node tsx",
    "java": "gradle gradlew mvn mvnw javac java",
    "dotnet": "dotnet",
    "swift": "swift xcodebuild",
    "ruby": "ruby bundle rspec rake rails",
    "php": "php composer artisan",
    "docker": "docker docker-compose podman",
    "kubernetes": "kubectl helm",
    "terraform": "terraform tofu",
    "task-runner": "make just mise task",
    "postgres": "psql pg_dump",
    "sqlite": "sqlite3",
    "redis": "redis-cli",
    "http": "curl wget",
    "macos": "brew",
    "linux": "apt apt-get systemctl",
    "windows": "powershell pwsh",
    "ssh": "ssh scp",
    "cloud": "aws gcloud az wrangler flyctl",
    "browser": "playwright",
    "tests": "pytest vitest jest rspec playwright tox",
    "lint": "ruff eslint golangci-lint",
    "types": "mypy tsc pyright",
    "dependencies": "pip",
}
# Tag -> the endings of its files.
_SUFFIXES: dict[str, str] = {
    "python": "py pyi",
    "go": "go",
    "rust": "rs",
    "typescript": "ts tsx mts",
    "node": "js jsx mjs cjs",
    "java": "java kt",
    "ruby": "rb",
    "php": "php",
    "dotnet": "cs",
    "swift": "swift",
    "c": "c h cpp hpp cc",
    "shell": "sh bash zsh",
    "windows": "ps1",
    "sql": "sql",
    "terraform": "tf",
    "docs": "md rst",
    "css": "css scss",
    "html": "html vue svelte",
    "config": "yml yaml toml ini",
}
# What the words of an error or a statement are about -> tag.
_WORDS: dict[str, re.Pattern[str]] = {
    "tests": re.compile(r"\btests?\b|\bspec\b|assert", re.IGNORECASE),
    "lint": re.compile(r"\blint\b|eslint|golangci|ruff|clippy|markdownlint|\((?:goconst|noctx|errcheck|gocritic|"
        r"gosec|ireturn|nilerr|unused|staticcheck|revive)\)", re.IGNORECASE),
    "types": re.compile(r"typecheck|type error|\bTS\d{4}\b|mypy|does not implement|incompatible type", re.IGNORECASE),
    "build": re.compile(r"\bbuild\b|compil|linker|undefined:|undefined reference", re.IGNORECASE),
    "merge": re.compile(r"merge conflict|\brebase\b|cherry-pick|\bmerge\b", re.IGNORECASE),
    "worktree": re.compile(r"worktree|\bstash\b", re.IGNORECASE),
    "sandbox": re.compile(r"sandbox|not permitted|read-only file system|permission denied", re.IGNORECASE),
    "dependencies": re.compile(r"no module named|cannot find (?:module|package)|command not found|not installed|"
        r"requires version", re.IGNORECASE),
    "network": re.compile(r"connection refused|ECONNREFUSED|address already in use|EADDRINUSE|"
        r"could not resolve host|timeout", re.IGNORECASE),
    "config": re.compile(r"\bsettings?\b|\bconfig(?:uration)?\b|\.env\b", re.IGNORECASE),
    "migration": re.compile(r"\bmigrations?\b|\bschema\b", re.IGNORECASE),
    "ci": re.compile(r"\bCI\b|github actions|pipeline|pre-commit|husky"),
    "json": re.compile(r"\bjson\b", re.IGNORECASE),
    "encoding": re.compile(r"\butf-?8\b|unicode|encod", re.IGNORECASE),
    "security": re.compile(r"\bsecurity\b|vulnerab|injection|\btoken\b|credential", re.IGNORECASE),
    "telemetry": re.compile(r"telemetry|analytics", re.IGNORECASE),
    "performance": re.compile(r"\bslow\b|latency|performance|\d ?ms\b", re.IGNORECASE),
}  # fmt: skip
TAGS: frozenset[str] = frozenset({*_PROGRAMS, *_SUFFIXES, *_WORDS})
_BY_PROGRAM = {
    program: [tag for tag, programs in _PROGRAMS.items() if program in programs.split()]
    for programs in _PROGRAMS.values()
    for program in programs.split()
}
PROGRAMS: frozenset[str] = frozenset(_BY_PROGRAM)
_BY_SUFFIX = {name: tag for tag, names in _SUFFIXES.items() for name in names.split()}


def tags_for(commands: Iterable[str], paths: Iterable[str], text: str) -> tuple[str, ...]:
    """At most MOST tags of the list, those of the commands first, then of the files, then of the words."""
    found: dict[str, None] = {}
    for command in commands:
        for words in command_parts(command):
            found.update(dict.fromkeys(_BY_PROGRAM.get(words[0].lower(), ())))
    for path in paths:
        name, dot, suffix = path.rsplit("/", 1)[-1].rpartition(".")
        if dot and name and suffix.lower() in _BY_SUFFIX:
            found[_BY_SUFFIX[suffix.lower()]] = None
    found.update((tag, None) for tag, pattern in _WORDS.items() if pattern.search(text))
    return tuple(found)[:MOST]
