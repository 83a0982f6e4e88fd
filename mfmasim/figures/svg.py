"""Small helpers for self-contained SVG: text in, text out, no dependency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

PALETTE = ("#8ecae6", "#ffd166", "#b7e4c7", "#f4a6b8", "#cdb4db", "#f6bd60", "#a0c4ff", "#d9d9d9")
"""Fill colours for eight groups, light enough for black text; their order separates them for colour-blind readers."""

_STYLE = (
    "text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px;fill:#111}"
    "text.head{font-weight:bold;font-size:13px}text.small{font-size:9px}"
    "rect.cell{stroke:#555;stroke-width:.5}rect.paper{fill:#fff}rect.back{fill:#f4f4f4}"
    "path.grid{stroke:#ddd}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect.cell+text{fill:#111}"
    "rect.paper{fill:#161b22}rect.back{fill:#30363d}path.grid{stroke:#444c56}}"
)
"""Colours of fills are the same in both themes, and so are the labels on them; paper and other text are the theme's."""


def shade(colour: str, amount: float) -> str:
    """Mix a colour ``#rrggbb`` with white (amount 0 to 1) or black (0 to -1).

    >>> shade("#204060", 0.5)
    '#8f9faf'
    """
    target = 255 if amount > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{int(part + (target - part) * abs(amount)):02x}" for part in parts)


def text(x: float, y: float, content: str, *, kind: str = "", anchor: str = "start") -> str:
    """Draw text.

    Args:
        x: horizontal position of the anchor, in pixels.
        y: baseline, in pixels.
        content: the text; it is escaped.
        kind: CSS class, ``head`` or ``small``.
        anchor: ``start``, ``middle`` or ``end``.
    """
    style = f' class="{kind}"' if kind else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{style}{place}>{escape(content)}</text>'


def text_width(content: str, kind: str = "") -> float:
    """Pixels that a line of text takes in the widest of the monospace fonts, with some room.

    Args:
        content: the text.
        kind: its class, as for `text`.
    """
    return len(content) * {"head": 8.2, "small": 5.8}.get(kind, 7.0)


def legend(x: float, y: float, entries: Iterable[tuple[str, str]]) -> tuple[list[str], float]:
    """A line of colours with their meanings.

    Args:
        x: left edge, in pixels.
        y: top edge; a line is 14 pixels high.
        entries: fill colour and meaning of each.

    Returns:
        The shapes, and the right edge.
    """
    shapes = []
    for colour, meaning in entries:
        shapes += [rect(x, y, 14, 14, colour), text(x + 20, y + 11, meaning)]
        x += 20 + text_width(meaning) + 14
    return shapes, x


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    *,
    label: str = "",
    title: str = "",
    data: Mapping[str, object] | None = None,
) -> str:
    """Draw a cell: a filled rectangle with a label in its centre.

    Args:
        x: left edge, in pixels.
        y: top edge.
        width: width.
        height: height.
        fill: fill colour.
        label: text in the centre.
        title: hover text.
        data: ``data-`` attributes for scripts.
    """
    attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in (data or {}).items())
    hover = f"<title>{escape(title)}</title>" if title else ""
    shape = f'<rect class="cell" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>'
    name = text(x + width / 2, y + height / 2 + 3.5, label, kind="small", anchor="middle") if label else ""
    return f"<g{attributes}>{hover}{shape}{name}</g>"


def group(x: float, y: float, body: Iterable[str]) -> str:
    """Translate shapes.

    Args:
        x: horizontal offset, in pixels.
        y: vertical offset.
        body: the shapes.
    """
    return f'<g transform="translate({x:g},{y:g})">{"".join(body)}</g>'


def document(width: float, height: float, body: Iterable[str], title: str = "") -> str:
    """Build a complete SVG: black on white, or light on dark where the reader's theme is dark.

    Args:
        width: width in pixels.
        height: height in pixels.
        body: the shapes.
        title: title for screen readers.
    """
    name = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">{name}<style>{_STYLE}</style>'
        f'<rect class="paper" width="100%" height="100%"/>{"".join(body)}</svg>'
    )


def page(title: str, body: str, script: str = "") -> str:
    """Build a complete HTML page without external resources.

    Args:
        title: title of the page.
        body: HTML of the body.
        script: JavaScript at the end of the body.
    """
    code = f"<script>{script}</script>" if script else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>'
        ":root{color-scheme:light dark}body{font-family:system-ui,sans-serif;margin:1.5em}div.figure{overflow:auto}"
        f"table{{border-collapse:collapse}}td,th{{padding:.15em .7em;text-align:left}}</style></head>"
        f"<body>{body}{code}</body></html>\n"
    )
