"""Charts as inline SVG, drawn from numbers alone; colours are the page's classes, so they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 540, 210
LEFT, BOTTOM, TOP = 40, 26, 12
BAR_HEIGHT, BAR_GAP, LABEL_WIDTH = 20, 11, 150
# Marks that turn the direction of text; a lesson must not make the page say something else than it holds.
_HIDDEN = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C), "\ufffd")


def safe(text: object) -> str:
    """Text for the page: escaped, without control characters and without those that turn its direction."""
    shown = "".join(char if char.isprintable() or char in "\n\t " else "\ufffd" for char in str(text))
    return escape(shown.translate(_HIDDEN), quote=True)


def nice_top(most: float) -> float:
    """The end of an axis: 1, 2, 4, 5 or 10 times a power of ten, not below `most`."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(float(step * power) for step in (1, 2, 4, 5, 10) if step * power >= most * (1 - 1e-9))


def render_legend(names: Sequence[str], classes: Sequence[str]) -> str:
    """What each colour means."""
    items = (
        f'<li><span class="key {style}"></span>{safe(name)}</li>' for name, style in zip(names, classes, strict=True)
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def render_columns(
    rows: Sequence[tuple[str, Sequence[float]]],
    names: Sequence[str],
    classes: Sequence[str],
    about: str,
    unit: str = "",
) -> str:
    """Stacked columns: one for each row (label, one value for each name), with an axis and a tip on each part."""
    top = nice_top(max((sum(values) for _, values in rows), default=0))
    whole = all(float(value).is_integer() for _, values in rows for value in values)
    room = (WIDTH - LEFT - 8) / max(1, len(rows))
    width = min(34.0, room * 0.72)
    floor, span = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    parts = [_axis(top, whole, floor, span)]
    every = math.ceil(len(rows) / 8)
    for place, (label, values) in enumerate(rows):
        x, y = LEFT + room * place + (room - width) / 2, float(floor)
        for name, style, value in zip(names, classes, values, strict=True):
            if value <= 0:
                continue
            height = span * value / top
            y -= height
            tip = f"{label}: {_number(value)}{unit} {name}"
            parts.append(
                f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.8):.1f}" '
                f'rx="1.5"><title>{safe(tip)}</title></rect>'
            )
        if place % every == 0:
            middle = x + width / 2
            parts.append(
                f'<text class="tick" x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{safe(label)}</text>'
            )
    return _svg(WIDTH, HEIGHT, about, parts)


def _axis(top: float, whole: bool, floor: float, span: float) -> str:
    """The horizontal lines with their numbers; whole numbers only where the values are."""
    steps = next(part for part in (4, 2, 1) if not whole or (top / part).is_integer())
    lines = []
    for step in range(steps + 1):
        value, y = top * step / steps, floor - span * step / steps
        lines.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}"/>')
        text = f'<text class="tick" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>'
        lines.append(text)
    return "".join(lines)


def render_bars(
    rows: Sequence[tuple[str, Sequence[float]]], names: Sequence[str], classes: Sequence[str], about: str
) -> str:
    """Stacked bars that lie: one for each row, with the label on the left and the sum on the right."""
    most = max((sum(values) for _, values in rows), default=0) or 1
    room = WIDTH - LABEL_WIDTH - 60
    parts = []
    for place, (label, values) in enumerate(rows):
        y, x = place * (BAR_HEIGHT + BAR_GAP) + 4, float(LABEL_WIDTH)
        middle = y + BAR_HEIGHT / 2 + 4
        shown = label if len(label) <= 26 else f"{label[:25]}…"
        parts.append(f'<text class="label" x="{LABEL_WIDTH - 10}" y="{middle}" text-anchor="end">{safe(shown)}</text>')
        for name, style, value in zip(names, classes, values, strict=True):
            if value <= 0:
                continue
            width = max(room * value / most, 2.0)
            parts.append(
                f'<rect class="{style}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR_HEIGHT}" rx="2">'
                f"<title>{safe(f'{label}: {_number(value)} {name}')}</title></rect>"
            )
            x += width
        parts.append(f'<text class="label" x="{x + 8:.1f}" y="{middle}">{_number(sum(values))}</text>')
    return _svg(WIDTH, len(rows) * (BAR_HEIGHT + BAR_GAP) + 4, about, parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}".rstrip("0")


def _svg(width: float, height: float, about: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{safe(about)}" xmlns="http://www.w3.org/2000/svg">'
        f"{''.join(parts)}</svg>"
    )
