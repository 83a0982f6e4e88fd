"""``python -m mfmasim.explorer.rebuild``: record the shipped runs again. It needs a compiler."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from mfmasim.explorer.page import packed
from mfmasim.explorer.recording import record_case
from mfmasim.verify.files import find

__all__ = ["RUNS", "record_all"]

EXAMPLES = Path(str(files(__package__))) / "examples" / "cases.py"

#   family or file        case                        architecture
RUNS = (
    ("intro",             "f32_32x32x2",               "gfx942"),
    ("intro",             "f16_16x16x16",              "gfx942"),
    ("intro",             "fp8_32x32x16[a=fp8,b=fp8]", "gfx942"),
    ("intro",             "scaled_fp8_32x32x64[opsel=1]", "gfx950"),
    ("intro",             "scaled_fp4_32x32x64[opsel=2]", "gfx950"),
    (str(EXAMPLES),       "lds_tile",                  "gfx942"),
    (str(EXAMPLES),       "lds_tile_without_barrier",  "gfx942"),
    ("lds",               "transposed_b",              "gfx950"),
)  # fmt: skip
"""The runs that the page ships: family or case file, case, architecture."""


def record_all() -> list[dict[str, Any]]:
    """The records of all shipped runs, in order."""
    return [
        record_case(case, arch)
        for target, title, arch in RUNS
        for _, cases in find(target)
        for case in cases
        if case.title == title
    ]


def main() -> None:
    """Write the records where the page finds them."""
    path = Path(str(files(__package__))) / "static" / "records.txt"
    path.write_text(packed(record_all()) + "\n")
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
