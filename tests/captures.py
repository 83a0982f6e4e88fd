"""The hardware captures of golden/hardware as arrays."""

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np

HARDWARE = Path(__file__).parents[1] / "golden" / "hardware"
MANIFEST = json.loads((HARDWARE / "manifest.json").read_text(encoding="utf-8"))


@cache
def table(name):
    """Rows of a file, as dictionaries."""
    with (HARDWARE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def dots():
    """By (architecture, instruction, wave): the format of a and b; a (n, 1, k), b (n, k, 1), c and d (n, 1, 1)."""
    found = {}
    for row in table("float_dot.csv"):
        found.setdefault((row["arch"], row["instruction"], row["wave"]), []).append(row)
    return {key: _arrays(each) for key, each in found.items()}


def _arrays(rows):
    a, b = (np.array([[int(x, 16) for x in row[name].split()] for row in rows], np.uint16) for name in "ab")
    c, d = (np.array([int(row[name], 16) for row in rows], np.uint32).reshape(-1, 1, 1) for name in "cd")
    return rows[0]["format"], a[:, None, :], b[:, :, None], c, d
