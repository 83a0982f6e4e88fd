"""The page: rows, recorded runs, script and style in one file that needs no network."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import mfmasim
from mfmasim.errors import unknown
from mfmasim.explorer.rows import all_rows

VIEWS = ("fragment", "lds", "formats", "stepper", "time", "puzzles", "slides")
"""Views of the page, by their names in its address."""

_IMPORT = re.compile(r"^import [^;]*?from \"\./(\w+)\.js\";\n", re.MULTILINE)


def explorer_page(records: Sequence[Mapping[str, Any]] = (), start: str = "") -> str:
    """The explorer as one HTML file, without any request to a network.

    Args:
        records: recorded runs for the stepper, as `mfmasim.explorer.recording` makes them, instead of the shipped ones.
        start: state that the page opens with, as `view_state` makes it; empty for the first view.

    Returns:
        The text of the file.
    """
    parts = {
        "start": escape(start),
        "version": mfmasim.__version__,
        "style": _static("style.css"),
        "rows": _packed_rows(),
        "records": packed(list(records)) if records else _static("records.txt").strip(),
        "timelines": _static("timelines.txt").strip(),
        "script": _script(),
    }
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _static("page.html"))


def view_state(view: str, **values: Any) -> str:
    """The end of the page's address that opens a view, such as ``#lds?arch=gfx950&ds=ds_read_b128``.

    Args:
        view: one of `VIEWS`.
        values: what its controls hold; None is left out.

    Raises:
        MfmasimError: no such view.

    >>> view_state("fragment", arch="gfx942", op="v_mfma_f32_32x32x8_f16", sel="D:5,30,0")
    '#fragment?arch=gfx942&op=v_mfma_f32_32x32x8_f16&sel=D%3A5%2C30%2C0'
    """
    if view not in VIEWS:
        raise unknown("view", view, VIEWS)
    given = {name: value for name, value in values.items() if value is not None}
    return f"#{view}" + (f"?{urlencode(given)}" if given else "")


def _static(name: str) -> str:
    return (files(__package__) / "static" / name).read_text("utf-8")


@cache
def _packed_rows() -> str:
    return packed(all_rows())


def packed(data: object) -> str:
    """JSON, compressed by gzip, as base64."""
    text = json.dumps(data, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@cache
def _script() -> str:
    """The modules of the page in one scope, each after those that it imports."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        text = _static(f"{name}.js")
        for other in _IMPORT.findall(text):
            add(other)
        done[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add("main")
    return "\n".join(done.values())
