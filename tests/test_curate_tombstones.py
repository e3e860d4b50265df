"""A tombstone knows what was forgotten, and nobody can read it there."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from curate.tombstones import (
    FORGOTTEN,
    Kind,
    Tombstones,
    hash_name,
    make_tombstone,
    parse_tombstone,
    plain_form,
    tombstones_in,
)

DAY = "2026-11-28"
SALT = "00" * 16


def test_a_name_is_known_by_its_hash_alone() -> None:
    """The file holds neither the name nor a part of it, and two stores hash it differently."""
    kinds: tuple[Kind, ...] = ("lesson", "session", "project", "string")
    for kind in kinds:
        stone = make_tombstone(kind, "Acme Corporation", DAY)
        assert b"acme" not in stone.render().lower()
        assert parse_tombstone(stone.render()) == stone
        assert make_tombstone(kind, "Acme Corporation", DAY).digest != stone.digest
        known = Tombstones((stone,))
        if kind != "string":
            assert known.forgets(kind, "Acme Corporation")
            assert not known.forgets(kind, "Acme")
            assert not known.forgets("lesson" if kind != "lesson" else "session", "Acme Corporation")


def test_the_tombstones_of_a_store_share_a_salt() -> None:
    """So that a name is hashed once, however many there are."""
    first = make_tombstone("project", "a/b", DAY)
    assert make_tombstone("project", "c/d", DAY, [first]).salt == first.salt


around = st.text(alphabet="ab cd\n.,-_é", max_size=30)


@settings(max_examples=60, deadline=None)
@given(before=around, after=around, string=st.sampled_from(["Acme Corp", "Straße 7", "@handle.one", "x1y2"]))
def test_a_forgotten_string_is_found_wherever_it_begins_a_word(before: str, after: str, string: str) -> None:
    """In any case and with any white space between its words; the text around it stays as it is."""
    plain = plain_form(string)
    known = Tombstones((make_tombstone("string", string, DAY, [make_tombstone("lesson", "x", DAY)]),))
    written = string.upper().replace(" ", " \n ")
    redacted = known.redact(f"{before} {written} {after}")
    assert plain not in plain_form(redacted)
    assert redacted.startswith(f"{before} ")
    assert redacted.endswith(f" {after}")
    assert FORGOTTEN in redacted
    assert known.redact(before) == before
    hash_name.cache_clear()


def test_what_is_no_tombstone_is_passed_over() -> None:
    """A damaged file, one of another kind, a salt that is none."""
    files = {
        "decisions/forgotten-1.json": b"{",
        "decisions/forgotten-2.json": b'{"kind": "lesson", "salt": "no hex", "digest": "x", "day": "x"}',
        "decisions/forgotten-3.json": b"[]",
        "decisions/release-1.json": make_tombstone("lesson", "x", DAY).render(),
        "decisions/forgotten-4.json": make_tombstone("lesson", "x", DAY).render(),
    }
    assert len(tombstones_in(files).stones) == 1
