"""The index of the site's search: words by which readers ask for a section, and what is not to come first.

The theme's search finds a section only if it has every word of the query, in its title, its text, or the path to it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["WORDS", "improved", "place_script", "rewrite"]

WORDS = {
    "lds.html": "bank conflict conflicts swizzle shared memory padding",
    "formats.html": "fnuz ocp fp8 bf8 e4m3 e5m2 flavour",
    "start.html": "install pip windows macos mac linux wsl wsl2 arm64 platform system requirements python version",
    "explore.html": "random seed fuzz fuzzing property hypothesis shrink trials reproduce",
    "debugger.html": "vscode vs code editor gdb breakpoint dap step",
    "case-reference.html#tolerances": "tolerance atol rtol ulp bound absolute relative accuracy compare",
    "cases.html": "declare write case own kernel tolerance",
    "layouts.html": "lane holds element register fragment mapping",
    "explorer.html": "lane holds element register visual picture",
    "checks.html": "race races barrier syncthreads uninitialised bounds missing wait memcheck racecheck sanitizer",
    "findings.html#races-no-barrier": "missing barrier __syncthreads syncthreads race find",
    "fidelity.html": "accurate accuracy exact precise trust gfx950 gfx942 mi355x mi300x hardware rounding",
    "ci.html": "github actions workflow gitlab pipeline sarif jenkins continuous integration",
    "hazards.html": "vmcnt lgkmcnt s_waitcnt s_nop wait states counter",
    "findings.html#waits-read-in-flight": "vmcnt lgkmcnt s_waitcnt missing wait counter load",
    "attention.html": "paged attention kv cache decode flash softmax",
    "cost.html": "occupancy performance speed roofline stall bottleneck tflops",
    "code-objects.html": "occupancy registers vgpr hsaco elf metadata",
    "learn.html": "jupyter notebook tutorial exercise beginner",
    "triton.html": "pytorch torch jit",
    "prove.html": "all sizes symbolic formal verification proof",
    "pytest.html": "unit test fixture",
    "toolchain.html": "compiler clang hipcc rocm ziglang",
}
"""Words that a section is asked by, by its place in the site, beside those that it has."""
LAST = ("changes.html", "changelog.html", "api/", "cli/", "command-line.html", "texts/", "listings.html")
"""Pages that have every word somewhere: they are found by their titles."""


def improved(index: dict[str, Any]) -> dict[str, Any]:
    """An index with `WORDS`, and without the texts of the pages `LAST` and the members of classes.

    Args:
        index: as Zensical writes it: `items`, each with `location`, `level`, `title` and `text`.
    """
    items = []
    for item in index["items"]:
        place = item["location"]
        if place.startswith("api/") and int(item["level"]) > 2:
            continue
        more = WORDS.get(place, "")
        text = "" if place.startswith(LAST) or item["title"].endswith(".hip") else item["text"]
        # What matches near the beginning comes first.
        items.append({**item, "text": f"{more}. {text}" if more else text})
    return {**index, "items": items}


def place_script(site: Path) -> None:
    """Put ``assets/search.js`` before the theme's script on every page: it decides when the index is fetched."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        found = re.sub(
            r'(<script src="([^"]*)assets/javascripts/bundle)',
            r'<script src="\2assets/search.js"></script>\1',
            text,
            count=1,
        )
        if found != text:
            path.write_text(found, encoding="utf-8")


def rewrite(path: Path) -> None:
    """Improve the index of a site that was built."""
    index = improved(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
