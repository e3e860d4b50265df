"""One place of a JSON text changes; every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.install.jsonedit import ParseError, insert_last, parse_json, remove_element

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
boxes = st.lists(plain, min_size=1, max_size=4) | st.dictionaries(st.text(max_size=5), plain, min_size=1, max_size=4)


@given(boxes, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans())
def test_insert_then_remove_gives_every_byte_back(value: Any, indent: int | str | None, windows: bool) -> None:
    """An element put last into a box is read back there, and taking it out restores the text."""
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if windows else text
    box = parse_json(text)
    element = '{"x": [1]}' if box.kind == "array" else '"new key": {"x": [1]}'
    more = insert_last(text, box, lambda _: element)
    wanted = [*value, {"x": [1]}] if isinstance(value, list) else {**value, "new key": {"x": [1]}}
    assert json.loads(more) == wanted
    again = parse_json(more)
    last = len(again.items or again.members) - 1
    assert remove_element(more, again, last) == text


@given(boxes, st.sampled_from([None, 2]), st.data())
def test_remove_takes_out_that_element_alone(value: Any, indent: int | None, data: st.DataObject) -> None:
    """Whichever element goes, the others are read as before."""
    text = json.dumps(value, indent=indent)
    number = data.draw(st.integers(0, len(value) - 1))
    left = json.loads(remove_element(text, parse_json(text), number))
    if isinstance(value, list):
        assert left == [item for at, item in enumerate(value) if at != number]
    else:
        assert left == {key: item for at, (key, item) in enumerate(value.items()) if at != number}


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // first\n  "a": 1, // note\n}\n',
        '{\n  "a": 1 // note, with a comma\n}\n',
        '{ "a": [1, 2], /* why */ "b": "// no comment" }',
        '\ufeff{\n\t"a": {"b": []}\n\t/* end */\n}',
    ],
)
def test_comments_and_trailing_commas_stay(text: str) -> None:
    """JSONC as editors write it survives an insertion and its removal byte for byte."""
    more = insert_last(text, parse_json(text), lambda _: '"z": 0')
    node = parse_json(more)
    assert node.get("z") is not None
    assert remove_element(more, node, len(node.members) - 1) == text


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', '{"a": nope}', "{} {}", '{"a": "open}', "[" * 10_000, "{/* open"])
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    """A broken text raises ParseError and names the line; nothing recurses without bound."""
    with pytest.raises(ParseError, match="line 1: wanted"):
        parse_json(text)
