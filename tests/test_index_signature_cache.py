"""The cache saves work and never changes an answer."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from detectors.duplicate_files import Duplicates, duplicates_in, scheme_of
from index.settings import DedupSettings
from index.signature_cache import SignatureCache, read_below, scan_markdown

SETTINGS = DedupSettings()
LATER = time.time_ns() + 10**12  # long after the files of a test were written, so that their times are settled
WORDS = [f"{a}{b}" for a in ("disk", "queue", "token", "cache") for b in range(60)]


def text_of(number: int, variant: int = 0) -> str:
    """A lesson of its own; a variant of it differs in a few words."""
    rng = random.Random(number)  # noqa: S311
    words = [rng.choice(WORDS) for _ in range(150)]
    for place in range(variant):
        words[place * 7] = f"changed{variant}"
    return f"---\ntitle: {number}\n---\n" + " ".join(words) + "\n"


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty lessons in two folders; three have a near copy, one an equal one."""
    root = tmp_path / "lessons"
    write(root, {f"a/{i:02}.md": text_of(i) for i in range(20)})
    write(root, {f"b/{i:02}.md": text_of(i, 2) for i in range(3)})
    write(root, {"b/03.md": text_of(3), "b/empty.md": "", "notes.txt": text_of(1), ".hidden/x.md": text_of(1)})
    return root


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def found(root: Path, cache: Path | None = None) -> Duplicates:
    return duplicates_in(root, SETTINGS, LATER, cache)


def answer(duplicates: Duplicates) -> tuple[object, ...]:
    return duplicates.clusters, duplicates.pairs, duplicates.files


def test_what_is_found(folder: Path) -> None:
    """Pairs by path, front matter left out, hidden folders and other files not read."""
    result = found(folder)
    assert [(pair.a, pair.b) for pair in result.pairs] == [(f"a/0{i}.md", f"b/0{i}.md") for i in range(4)]
    assert (result.files, result.pairs[3].jaccard) == (24 + 1, 1.0)
    assert {cluster.drop for cluster in result.clusters} == {
        (f"{name}.md",) for name in ("a/00", "a/01", "a/02", "b/03")
    }


def test_nothing_changed_nothing_read(folder: Path, cache: Path) -> None:
    """The second run gives the same answer and signs no text."""
    first = found(folder, cache)
    again = found(folder, cache)
    assert answer(first) == answer(again) == answer(found(folder))
    assert (first.signed, again.signed) == (24, 0)


def add(root: Path) -> None:
    write(root, {"c/new.md": text_of(5, 1), "c/other.md": text_of(99)})


def edit(root: Path) -> None:
    write(root, {"b/00.md": text_of(7, 3), "a/01.md": text_of(50)})


def remove(root: Path) -> None:
    (root / "b/01.md").unlink()
    (root / "a/03.md").unlink()


def rename(root: Path) -> None:
    (root / "b/02.md").rename(root / "a/zz.md")


def swap(root: Path) -> None:
    one, two = root / "a/00.md", root / "a/09.md"
    texts = one.read_text(), two.read_text()
    one.write_text(texts[1])
    two.write_text(texts[0])


def touch(root: Path) -> None:
    for path in root.rglob("*.md"):
        os.utime(path, ns=(5, 5))


def same_size_same_mtime(root: Path) -> None:
    place = root / "a/01.md"
    stat = place.stat()
    place.write_text(text_of(1).replace("disk", "risk"))
    os.utime(place, ns=(stat.st_mtime_ns, stat.st_mtime_ns))


def empty_all(root: Path) -> None:
    for path in root.rglob("*.md"):
        path.write_text("")


CHANGES: list[Callable[[Path], None]] = [add, edit, remove, rename, swap, touch, same_size_same_mtime, empty_all]


@pytest.mark.parametrize("change", CHANGES)
def test_after_any_change_the_answer_is_that_of_a_run_without_cache(
    folder: Path, cache: Path, change: Callable[[Path], None]
) -> None:
    """Files added, edited, gone, renamed, swapped, touched or emptied: cached and uncached agree."""
    found(folder, cache)
    change(folder)
    assert answer(found(folder, cache)) == answer(found(folder))
    assert answer(found(folder, cache)) == answer(found(folder))


def test_a_long_life_of_changes(folder: Path, cache: Path) -> None:
    """Twenty-five rounds of random edits keep cache and truth together, through rows freed and used again."""
    rng = random.Random(3)  # noqa: S311
    for step in range(25):
        for _ in range(rng.randrange(3)):
            name = f"{rng.choice('abc')}/{rng.randrange(25):02}.md"
            if rng.random() < 0.3 and (folder / name).exists():
                (folder / name).unlink()
            else:
                write(folder, {name: text_of(rng.randrange(12), rng.randrange(3))})
        assert answer(found(folder, cache)) == answer(found(folder)), step


def test_a_checkout_signs_nothing_anew(folder: Path, cache: Path) -> None:
    """New times on equal texts cost reading, not signing; so does a move of the whole folder."""
    found(folder, cache)
    touch(folder)
    assert found(folder, cache).signed == 0
    moved = folder.rename(folder.parent / "moved")
    assert found(moved, cache).signed == 0


def test_a_file_written_within_the_tick_is_looked_at_again(folder: Path, cache: Path) -> None:
    """A time as young as the scan is not trusted: the next change may bear the same one."""
    stamps = scan_markdown(folder)
    count = len(stamps.paths)
    youngest = max(max(stamps.times[3 * i], stamps.times[3 * i + 1]) for i in range(count))
    reads: list[str] = []

    def read(path: str) -> bytes:
        reads.append(path)
        return read_below(folder)(path)

    for now, wanted in ((youngest + 1, count), (youngest + 10**11, count), (youngest + 10**11, 0)):
        reads.clear()
        with SignatureCache(cache, scheme_of(SETTINGS)) as opened:
            opened.refresh(stamps, read, now)
            opened.add_pairs({})
        assert len(reads) == wanted


def damage_database(cache: Path) -> None:
    (cache / "signatures.db").write_bytes(b"not a database at all, but long enough to be read as a header......")


def cut_array(cache: Path) -> None:
    place = next(cache.glob("bands-*.bin"))
    place.write_bytes(place.read_bytes()[:-100])


def old_arrays(cache: Path) -> None:
    place = next(cache.glob("counts-*.bin"))
    place.write_bytes(b"\0" * 8 + place.read_bytes()[8:])


def drop_arrays(cache: Path) -> None:
    for place in cache.glob("*.bin"):
        place.unlink()


def drop_all(cache: Path) -> None:
    shutil.rmtree(cache)


@pytest.mark.parametrize("harm", [damage_database, cut_array, old_arrays, drop_arrays, drop_all])
def test_a_damaged_cache_is_made_anew(folder: Path, cache: Path, harm: Callable[[Path], None]) -> None:
    """Whatever became of the cache, the answer is right and the next run is quick again."""
    found(folder, cache)
    harm(cache)
    assert found(folder, cache).signed == 24
    assert found(folder, cache).signed == 0
    assert answer(found(folder, cache)) == answer(found(folder))


def test_a_run_cut_off_leaves_no_trace(folder: Path, cache: Path) -> None:
    """An error in the middle of a run: the next one starts from sound rows."""
    found(folder, cache)
    add(folder)
    with contextlib.suppress(KeyError), SignatureCache(cache, scheme_of(SETTINGS)) as opened:
        opened.refresh(scan_markdown(folder), read_below(folder), LATER)
        raise KeyError
    assert answer(found(folder, cache)) == answer(found(folder))


def test_a_locked_or_forbidden_cache_is_done_without(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer, or a folder that cannot be made: the answer comes from memory."""
    monkeypatch.setattr("index.signature_cache._BUSY_SECONDS", 0.0)
    found(folder, cache)
    other = sqlite3.connect(cache / "signatures.db", isolation_level=None)
    other.execute("begin immediate")
    assert answer(found(folder, cache)) == answer(found(folder))
    other.close()
    (folder.parent / "file").write_text("")
    assert answer(found(folder, folder.parent / "file" / "cache")) == answer(found(folder))


def test_other_settings_start_anew(folder: Path, cache: Path) -> None:
    """Rows made by another scheme are never compared with these."""
    found(folder, cache)
    strict = DedupSettings(threshold=0.95)
    other = duplicates_in(folder, strict, LATER, cache)
    assert other.signed == 24
    assert [pair.jaccard for pair in other.pairs] == [1.0]
    assert answer(found(folder, cache)) == answer(found(folder))


def test_a_file_that_cannot_be_read_is_named(folder: Path, cache: Path) -> None:
    """One file that vanishes between listing and reading does not stop the rest."""
    stamps = scan_markdown(folder)
    (folder / "a/00.md").unlink()
    with SignatureCache(cache, scheme_of(SETTINGS)) as opened:
        refreshed = opened.refresh(stamps, read_below(folder), LATER)
    assert refreshed.failed == (("a/00.md", "No such file or directory"),)
    assert refreshed.rows[stamps.paths.index("a/00.md")] == 0
    assert answer(found(folder, cache)) == answer(found(folder))


def test_links_are_not_followed(folder: Path) -> None:
    """A link to a file or a folder is not part of the store."""
    (folder / "link.md").symlink_to(folder / "a/00.md")
    (folder / "linked").symlink_to(folder / "a")
    assert found(folder).files == 25
    with pytest.raises(OSError, match="symbolic"):
        read_below(folder)("link.md")
