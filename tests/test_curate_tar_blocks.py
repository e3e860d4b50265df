"""The tar that we write by hand is one that Python and GNU tar read, name, time and bytes."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.snapshot import pack_snapshot, read_snapshot
from curate.tar_blocks import MANIFEST, cut_blocks, mtime_of, tar_header

BILLION = 10**9
NAMES = st.one_of(
    st.from_regex(r"(?:[a-z][a-z0-9 -]{0,30}/){0,5}[a-z0-9]{1,90}\.md", fullmatch=True),
    st.sampled_from(
        ["solutions/é.md", "ä" * 80 + "/lesson.md", "x" * 100, "x" * 101, "d/" * 90 + "端口.md", "archive/\udcff.md"]
    ),
)
TIMES = st.one_of(
    st.integers(-(10**18), 4 * 10**18),
    st.sampled_from([0, 1, -1, BILLION, BILLION**2 - 1, BILLION**2, 8**11 * BILLION, 9_999_999_999_999_999_999]),
)
FILES = st.dictionaries(NAMES, st.tuples(st.binary(max_size=1100), TIMES), max_size=6)


@given(FILES)
def test_every_file_comes_back(files: dict[str, tuple[bytes, int]]) -> None:
    """Times to the nanosecond, long names and names in any script, sizes around that of a block."""
    with tarfile.open(fileobj=io.BytesIO(pack_snapshot(files)), mode="r:gz") as tar:
        members = tar.getmembers()
        assert [member.name for member in members] == [MANIFEST, *files]
        read = {member.name: (tar.extractfile(member) or io.BytesIO()).read() for member in members[1:]}
        assert {member.name: (read[member.name], mtime_of(member)) for member in members[1:]} == files
    assert {(member.mode, member.uid, member.gid, member.uname) for member in members} == {(0o600, 0, 0, "")}


@given(st.integers(0, 8**11 * 4), TIMES)
def test_a_header_says_any_size(size: int, mtime_ns: int) -> None:
    """A file of more than eight gigabytes too."""
    member = tarfile.TarFile.open(fileobj=io.BytesIO(tar_header("a.bin", size, mtime_ns))).next()
    assert member is not None
    assert (member.name, member.size, mtime_of(member)) == ("a.bin", size, mtime_ns)


def test_blocks_begin_where_names_and_sizes_say() -> None:
    """A file that changes its bytes moves no border; a large one stands in a block that is soon full."""
    files = [(f"lesson-{number}.md", 300_000 if number % 50 == 7 else 2000, number) for number in range(400)]
    blocks = list(cut_blocks(files))
    assert [one for block in blocks for one in block] == files
    assert 10 < len(blocks) < 60
    assert list(cut_blocks(files[5:]))[1:] == blocks[-len(list(cut_blocks(files[5:]))) + 1 :]
    assert all(sum(size for _, size, _ in block) <= 1 << 20 or len(block) == 1 for block in blocks)


@pytest.mark.skipif(shutil.which("tar") is None, reason="no tar here")
def test_tar_unpacks_a_snapshot(tmp_path: Path) -> None:
    """A person needs no hotwash to get a lesson back."""
    files = {
        "solutions/bugs/a.md": (b"fact\n" * 300, 1_234_567_891_234_567_891),
        "d/" * 60 + "long.md": (b"x", 1_700_000_000 * BILLION),
        "episodes/é.gz": (bytes(range(256)) * 2, 5),
    }
    place = tmp_path / "s.tar.gz"
    place.write_bytes(pack_snapshot(files))
    done = subprocess.run(["tar", "-xzf", place, "-C", tmp_path], capture_output=True, check=True)
    assert done.stderr == b""
    for name, (content, mtime_ns) in files.items():
        assert (tmp_path / name).read_bytes() == content
        assert (tmp_path / name).stat().st_mtime_ns == mtime_ns
    assert read_snapshot(place) == files
