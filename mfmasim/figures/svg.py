"""Small helpers for self-contained SVG: text in, text out, no dependency."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["PALETTE", "document", "group", "page", "rect", "shade", "text"]

PALETTE = ("#8ecae6", "#ffd166", "#b7e4c7", "#f4a6b8", "#cdb4db", "#f6bd60", "#a0c4ff", "#d9d9d9")
"""Fill colours for eight groups, light enough for black text and told apart with colour-blind eyes by order."""

_STYLE = (
    "text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px;fill:#111}"
    "text.head{font-weight:bold;font-size:13px}text.small{font-size:9px}"
    "rect.cell{stroke:#555;stroke-width:.5}"
)


def shade(colour: str, amount: float) -> str:
    """Mix a colour ``#rrggbb`` with white (amount 0 to 1) or black (0 to -1).

    >>> shade("#204060", 0.5)
    '#8f9faf'
    """
    target = 255 if amount > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{int(part + (target - part) * abs(amount)):02x}" for part in parts)


def text(x: float, y: float, content: str, *, kind: str = "", anchor: str = "start") -> str:
    """Text with its baseline at (x, y); `kind` is a class (``head``, ``small``), `anchor` start, middle or end."""
    style = f' class="{kind}"' if kind else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{style}{place}>{escape(content)}</text>'


def rect(
    x: float, y: float, width: float, height: float, fill: str, *, label: str = "", title: str = "",
    data: Mapping[str, object] | None = None,
) -> str:  # fmt: skip
    """A cell: filled rectangle, label in its middle, hover text, and ``data-`` attributes for scripts."""
    attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in (data or {}).items())
    hover = f"<title>{escape(title)}</title>" if title else ""
    shape = f'<rect class="cell" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>'
    name = text(x + width / 2, y + height / 2 + 3.5, label, kind="small", anchor="middle") if label else ""
    return f"<g{attributes}>{hover}{shape}{name}</g>"


def group(x: float, y: float, body: Iterable[str]) -> str:
    """Shapes moved by (x, y)."""
    return f'<g transform="translate({x:g},{y:g})">{"".join(body)}</g>'


def document(width: float, height: float, body: Iterable[str], title: str = "") -> str:
    """A whole SVG on a white ground, with a title for screen readers."""
    name = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">{name}<style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>'
    )


def page(title: str, body: str, script: str = "") -> str:
    """A whole HTML page that needs nothing from a network."""
    code = f"<script>{script}</script>" if script else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>'
        "body{font-family:system-ui,sans-serif;margin:1.5em}div.figure{overflow:auto}"
        f"table{{border-collapse:collapse}}td,th{{padding:.15em .7em;text-align:left}}</style></head>"
        f"<body>{body}{code}</body></html>\n"
    )
