"""HeCBench's ports to HIP, compiled for an architecture and run at small sizes: a table of what came out.

``MFMASIM_LIBRARIES=FOLDER python -m tests.foreign.hecbench [--arch gfx942] [--checks all] [NAME ...]``, where
``FOLDER/HeCBench`` is a clone of zjin-lcf/HeCBench; some need hipCUB and rocThrust beside it. Sources and options are
those of each program's Makefile.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

from tests.foreign import libraries, programs

SOURCES = libraries.FOLDER / "HeCBench" / "src"
RIGHT = r"(?i)\bpass|success|verified|correct|\bok\b"
WRONG = r"(?i)\b(fail|failed|failure)\b|mismatch|incorrect|verifying: false"
PROGRAMS = {
    "atomicCAS": "1", "base64e": "", "bincount": "10000 1", "bitonic-sort": "10 2", "blockScan": "8 1",
    "blockexchange": "64 64 1", "crc64": "1 1 126000", "dct8x8": "64 64 1", "dp4a": "65536 1",
    "floydwarshall": "64 1 16", "layernorm": "1 16 768 1", "matrixT": "256 256 1",
    "merge": "20000 1", "moe-align": "1", "nonzero": "64 64 1", "quicksort": "1 64 64", "scan": "4096 1",
    "scan2": "1 4096 256", "scan3": "1 4096", "scatterAdd": "1000 32 8 1", "segsort": "",
    "softmax": "100 784 0 1", "sort": "1 1", "sortKV": "2000 1", "stencil1d": "65536 1", "topk": "8 1",
    "warpexchange": "64 64 1", "wyllie": "2000 1 1",
}  # fmt: skip
"""Arguments of each program."""


def command(name: str, arch: str, to: Path) -> list[str]:
    """Arguments of hipcc, from the Makefile's ``source`` and ``CFLAGS``."""
    del arch, to
    place = SOURCES / f"{name}-hip"
    makefile = (place / "Makefile").read_text().replace("\\\n", " ")
    (sources,) = re.findall(r"(?m)^source\s*=\s*(.*)$", makefile)
    options = " ".join(re.findall(r"(?m)^\s*CFLAGS\s*[:+]?=(.*)$", makefile))
    for variable, value in re.findall(r"(?m)^(\w+)\s*[:?]?=\s*(.*?)\s*$", makefile):
        options = options.replace(f"$({variable})", value)
    words = [
        word for word in options.split() if re.match(r"-[DIf]|-std", word) and "$" not in word and word != "-DDEBUG"
    ]
    folders = [str(place / word[2:]) for word in words if word.startswith("-I")]
    return [
        *(word for word in words if not word.startswith("-I")),
        *(f"-I{folder}" for folder in folders),
        *libraries.includes(),
        *(str(place / source) for source in sources.split()),
    ]


if __name__ == "__main__":
    libraries.prepare()
    listed = [programs.Program(n, partial(command, n), (words,), RIGHT, WRONG) for n, words in PROGRAMS.items()]
    sys.exit(programs.main(__doc__, listed))
