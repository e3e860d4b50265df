"""What the documents name is there: tests, files, modules and make targets."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PACKAGES = ("index", "detectors", "reflect", "curate", "flows", "tests", "docs", "benchmarks")
# A placeholder, as in `flows/commands/NAME_command.py`.
PLACEHOLDER = re.compile(r"NAME|<|\*")


def test_each_guarantee_names_tests_that_there_are() -> None:
    """A test that is renamed or dropped is missed here."""
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", (ROOT / "docs/guarantees.md").read_text(encoding="utf-8"))
    assert len(named) > 50
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body), f"{path}::{name}"


def test_every_invariant_has_a_guarantee() -> None:
    """Thirteen of them, each with a test."""
    parts = re.split(r"^## ", (ROOT / "docs/guarantees.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [part.partition(".")[0] for part in parts] == [str(number) for number in range(1, 14)]
    assert all("`tests/" in part for part in parts)


def test_paths_and_targets_in_the_documents_are_there() -> None:
    """A file that moves takes its mention along."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for path in re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w./-]*)`", text):
            assert PLACEHOLDER.search(path) or (ROOT / path).exists(), f"{document.name}: {path}"
    for target in re.findall(r"(?:^ {4}|`)make ([a-z]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE):
        assert target in targets, target
