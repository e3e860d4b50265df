"""The proof finds a text in every form in which a store may hold it: a search that misses proves nothing."""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from curate.proof import prove
from curate.traces import Traces

TEXT = 'Grüße from "Acme\\Corp" & it\'s partners'
TRACES = Traces(True, "", frozenset({"01KB7ZC4S0T2J5Q8XW3N6M9RVE"}), frozenset({TEXT}))


def packed(raw: bytes, name: str = "inner.txt") -> bytes:
    """A gzipped tar that holds one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(raw)
        tar.addfile(info, io.BytesIO(raw))
    return buffer.getvalue()


def database(path: Path) -> None:
    """A database whose full-text index holds the text, in a column of its own."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("create virtual table words using fts5(w)")
        db.execute("insert into words values (?)", (TEXT,))
        db.commit()


FORMS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "as it is": ("a.md", TEXT.encode),
    "wrapped": ("a.md", lambda: TEXT.replace(" ", "\n  ").encode()),
    "in upper case": ("a.md", lambda: TEXT.upper().encode()),
    "JSON": ("a.json", lambda: json.dumps({"x": [TEXT]}).encode()),
    "JSON lines": ("a.jsonl", lambda: b"{}\n" + json.dumps({TEXT: 1}, ensure_ascii=False).encode() + b"\n{cut"),
    "JSON in JSON": ("a.jsonl", lambda: json.dumps({"was": json.dumps(TEXT)}).encode()),
    "YAML, single quotes": ("a.yaml", ("x: '" + TEXT.replace("'", "''") + "'").encode),
    "base64 of a packed file": (
        "a.jsonl",
        lambda: json.dumps({"was": {"base64": base64.b64encode(gzip.compress(TEXT.encode())).decode()}}).encode(),
    ),
    "an address": ("a.md", lambda: b"https://example.org/?q=" + quote(TEXT, safe="").encode()),
    "gzip": ("a.gz", lambda: gzip.compress(TEXT.encode())),
    "gzip in a snapshot": ("a.tar.gz", lambda: packed(gzip.compress(TEXT.encode()), "x.gz")),
    "a name in a snapshot": (
        "a.tar.gz",
        lambda: packed(b"", "solutions/bugs/lesson-6m9rve.md".replace("6m9rve", "3n6m9rve")),
    ),
    "a damaged snapshot": ("a.tar.gz", lambda: b"\x1f\x8bnothing"),
    "bytes that are no UTF-8": ("a.bin", lambda: b"\xff\xfe" + TEXT.encode() + b"\xff"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found(tmp_path: Path, form: str) -> None:
    """One file, one hit, which names it."""
    name, content = FORMS[form]
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / name).write_bytes(content())
    (tmp_path / "other.md").write_text("Grüße from Acme")
    hits = prove(tmp_path, TRACES).hits
    assert len(hits) == 1
    assert name in hits[0]


def test_a_database_and_a_file_name_are_searched_too(tmp_path: Path) -> None:
    """Rows of every table; a name that was made of the text."""
    database(tmp_path / "recall.db")
    (tmp_path / "grusse-from-acme-corp-it-s-partners.md").write_text("")
    names = prove(tmp_path, TRACES).hits
    assert [name.partition(".")[0] for name in names] == ["grusse-from-acme-corp-it-s-partners", "recall"]


def test_a_project_name_ends_where_a_name_ends(tmp_path: Path) -> None:
    """`shop` is not `shop-two`, while a session's id is found within a longer name."""
    traces = Traces(False, "example.org/acme/shop", frozenset(), frozenset({"example.org/acme/shop", "3f2a9c1d"}))
    assert traces.found_in("see example.org/acme/shop.git")
    assert traces.found_in("see example.org/acme/shop/src")
    assert not traces.found_in("see example.org/acme/shop-two")
    assert not traces.found_in("see example.org/acme/shop.js")
    assert traces.found_in("claude-code-3f2a9c1d-42d49d.json")


def test_nothing_found_is_no_hit(tmp_path: Path) -> None:
    """The files are counted, those in a snapshot too; a link out of the store is not followed."""
    (tmp_path / "store").mkdir()
    (tmp_path / "outside").write_text(TEXT)
    (tmp_path / "store" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "store" / "a.md").write_text("quiet")
    (tmp_path / "store" / "b.tar.gz").write_bytes(packed(b"quiet"))
    proof = prove(tmp_path / "store", TRACES)
    assert (proof.files, proof.hits) == (3, ())
