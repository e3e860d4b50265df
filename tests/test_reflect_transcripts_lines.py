"""JSON lines are read whole, in bounded memory, up to the size the file had at the start."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.transcripts import lines
from reflect.transcripts.lines import Tail, parse_values, read_lines
from reflect.transcripts.protocol import Mark


def write(tmp_path: Path, raw: bytes) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    ("raw", "values", "fault"),
    [
        (b'{"a":1}{"b":2}', ({"a": 1}, {"b": 2}), ""),
        (b'{"a":1} junk', ({"a": 1},), "bad-json"),
        (b'{"a":"\xff"}', ({"a": "\ufffd"},), ""),
        (b'{"a":"\\ud83d"}', ({"a": "?"},), ""),
        (b'{"a":"x\x01y"}', ({"a": "x\x01y"},), ""),
        (b'\x00\x00{"a":1}', ({"a": 1},), ""),
        (b'{"a":1}\r', ({"a": 1},), ""),
        (b"   ", (), ""),
        (b"\x00\x00\x00\n", (), "nul-line"),
        (b"[" * 100_000, (), "bad-json"),
        (b'{"a":', (), "bad-json"),
    ],
)
def test_what_can_be_read_of_a_line_is_read(raw: bytes, values: tuple[object, ...], fault: str) -> None:
    """Glued objects, bad UTF-8, half surrogates, control characters, padding: the good part is kept."""
    assert parse_values(raw) == (values, fault)


def test_line_breaks_are_only_newlines(tmp_path: Path) -> None:
    """Line and paragraph separators, form feeds and carriage returns stand inside JSON strings."""
    path = write(tmp_path, '{"a":"x\u2028y\u0085z"}\r\n\n{"b":1}\n'.encode())
    assert [(line.number, line.values[0]) for line in read_lines(path)] == [
        (1, {"a": "x\u2028y\u0085z"}),
        (3, {"b": 1}),
    ]


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    """A mark at the start of the file belongs to no value."""
    (line,) = read_lines(write(tmp_path, b'\xef\xbb\xbf{"a":1}\n'))
    assert line.values == ({"a": 1},)


def test_a_cut_last_line_is_left_for_the_next_reading(tmp_path: Path) -> None:
    """What is read ends before it; when the rest is written, the line is read whole under its number."""
    tail = Tail()
    path = write(tmp_path, b'{"a":1}\n{"b":')
    assert [line.fault for line in read_lines(path, tail=tail)] == ["", "cut-line"]
    assert (tail.ended_at, tail.lines) == (8, 1)
    path = write(tmp_path, b'{"a":1}\n{"b":2}\n')
    assert [(line.number, line.values) for line in read_lines(path, Mark(8, 1))] == [(2, ({"b": 2},))]


def test_a_last_line_without_its_end_counts_if_it_is_whole(tmp_path: Path) -> None:
    """Not every writer ends the last line."""
    tail = Tail()
    path = write(tmp_path, b'{"a":1}\n{"b":2}')
    assert [line.fault for line in read_lines(path, tail=tail)] == ["", ""]
    assert tail.ended_at == path.stat().st_size


def test_a_file_that_grows_is_read_to_its_first_size(tmp_path: Path) -> None:
    """Lines written while it is read are for the next reading."""
    path = write(tmp_path, b'{"a":1}\n{"a":2}\n')
    seen = []
    for line in read_lines(path):
        seen.append(line.values[0])
        with path.open("ab") as file:
            file.write(b'{"a":3}\n')
    assert seen == [{"a": 1}, {"a": 2}]


def test_a_line_beyond_measure_is_counted_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines around it are read; their numbers, the end and the digest are those of the file."""
    monkeypatch.setattr(lines, "MAX_LINE", 1000)
    monkeypatch.setattr(lines, "BUFFER", 128)
    raw = b'{"a":1}\n{"b":"' + b"x" * 5000 + b'"}\n{"c":3}\n'
    tail = Tail()
    read = list(read_lines(write(tmp_path, raw), tail=tail))
    assert [(line.number, line.fault) for line in read] == [(1, ""), (2, "huge-line"), (3, "")]
    assert (tail.ended_at, tail.digest.hexdigest()) == (len(raw), hashlib.sha256(raw).hexdigest())


@given(
    values=st.lists(st.dictionaries(st.text(), st.text(max_size=300), max_size=3), max_size=30),
    block=st.integers(2, 90),
)
def test_blocks_do_not_show(values: list[dict[str, str]], block: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """However the file is cut into blocks, the same values come out, each at its own place."""
    path = tmp_path_factory.mktemp("blocks") / "x.jsonl"
    rows = [json.dumps(value).encode() for value in values]
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    tail = Tail()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BUFFER", block)
        read = list(read_lines(path, tail=tail))
    assert [line.values[0] for line in read] == values
    assert [line.offset for line in read] == [sum(len(row) + 1 for row in rows[:at]) for at in range(len(rows))]
    assert tail.digest.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


@given(values=st.lists(st.integers(), min_size=1, max_size=20), at=st.integers(0, 20))
def test_reading_on_gives_the_rest(values: list[int], at: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reading up to any line and on from its mark is reading the whole."""
    path = tmp_path_factory.mktemp("mark") / "x.jsonl"
    path.write_bytes(b"".join(b"%d\n" % value for value in values))
    whole = list(read_lines(path))
    at = min(at, len(whole) - 1)
    mark = Mark(whole[at].offset, whole[at].number - 1)
    tail = Tail()
    assert list(read_lines(path, mark, tail)) == whole[at:]
    assert tail.digest.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()
