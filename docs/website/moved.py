"""Sections that moved to another page: an address of before leads to where the section is now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MOVED", "write_moved"]

MOVED = {
    "gemm.html": {
        name: f"gemm-kernels.html#{name}"
        for name in (
            "block-scales",
            "scales-in-f32-for-blocks-of-128",
            "fused-epilogues",
            "split-k-and-stream-k-in-fp8",
            "orders-of-workgroups-on-xcds",
            "sparse-a",
            "rdna",
            "alpha-and-beta",
            "split-k-and-stream-k",
            "other-types",
            "what-is-proved-of-each-family",
        )
    },
    "cases.html": {
        "the-decorator": "case-reference.html#the-decorator",
        "arguments": "case-reference.html#matrices",
        "comparison": "case-reference.html#comparison",
        "findings": "case-reference.html#findings",
        "claims": "case-reference.html#claims",
    },
}
"""By page and anchor of before: page and anchor of today."""

_SCRIPT = """\
const moved = %s;
const follow = () => {
  const anchor = location.hash.slice(1);
  const place = moved[location.pathname.split("/").pop()]?.[anchor];
  if (place && !document.getElementById(anchor)) location.replace(place);
};
addEventListener("hashchange", follow);
follow();
"""


def write_moved(folder: Path) -> None:
    """Write the script that every page loads, ``moved.js``.

    Args:
        folder: the folder of the site's scripts.
    """
    (folder / "moved.js").write_text(_SCRIPT % json.dumps(MOVED, indent=2), encoding="utf-8")
