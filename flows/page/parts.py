"""The parts of the report page: cards, tables and cells. What was read goes through the cells, which escape it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flows.page.charts import safe


def render_card(title: str, about: str, body: str, single: bool = False) -> str:
    """A card of the page; a single one is as wide as the page."""
    told = f'<p class="about">{about}</p>' if about else ""
    return f"<section{' class=single' if single else ''}><h2>{title}</h2>{told}{body}</section>"


def render_pair(*sections: str) -> str:
    """Two cards side by side where there is room."""
    return f'<div class="pair">{"".join(sections)}</div>'


def render_table(heads: Sequence[str], rows: Iterable[Sequence[str]], none: str) -> str:
    """A table; a head that starts with # is a column of numbers, with @ one that does not break, with * a wide one."""
    rows = list(rows)
    if not rows:
        return f'<p class="none">{none}</p>'
    styles = [{"#": "n", "@": "day", "*": "long"}.get(head[:1], "") for head in heads]
    top = "".join(f'<th class="{style}">{head.lstrip("#@*")}</th>' for head, style in zip(heads, styles, strict=True))
    body = "".join(
        "<tr>" + "".join(f'<td class="{s}">{cell}</td>' for cell, s in zip(row, styles, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def text_cell(text: object) -> str:
    """Text that was read, escaped, with its own direction."""
    return f"<bdi>{safe(text)}</bdi>"


def code_cell(text: object) -> str:
    """The same as code."""
    return f"<code><bdi>{safe(text)}</bdi></code>"
