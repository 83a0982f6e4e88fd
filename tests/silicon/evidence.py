"""The table of evidence: values of golden/hardware by operation, architecture and capture.

``python -m tests.silicon.evidence`` writes mfmasim/evidence.csv.
"""

import csv
import io
import re
from collections import Counter
from pathlib import Path

from mfmasim import evidence
from tests.captures import table
from tests.silicon.test_functions import GROUPS, OPEN

PATH = Path(evidence.__file__).with_suffix(".csv")
SCALAR = ("v_exp", "v_log", "v_rcp", "v_rsq", "v_sqrt")
"""Whose scalar forms were seen to give identical words on gfx1201 (transcendental_valu_test.cpp)."""


def counted():
    """Rows of the table."""
    found = Counter()
    for row in table("float_dot.csv"):
        found[row["instruction"], row["arch"], "rocjitsu tests/fixtures/float_dot"] += 1
    for row in table("packed_wmma.csv"):
        found[row["instruction"], row["arch"], "rocjitsu packed_wmma_cases.h"] += len(row["d"].split())
    for row in table("rows.csv"):
        operation = re.sub(r"_e(32|64)$", "", row["instruction"].split()[0])
        found[operation, row["arch"], row["capture"]] += len(row["rows"].split("; "))
    for row in table("digests.csv"):
        for name, count in zip(row["operation"].split(), row["values"].split(), strict=True):
            found[name, row["arch"], row["capture"]] += int(count)
    for row in table("function_digests.csv"):
        count = 1 << int(row["sources"].split(" for 2^")[1])
        for name in row["instructions"].split():
            found[name, row["arch"], row["capture"]] += count
            if row["arch"] == "gfx1201" and name.startswith(SCALAR):
                found[name.replace("v_", "v_s_", 1), row["arch"], row["capture"]] += count
    different = Counter()
    for (arch, name, *_), rows in GROUPS.items():
        found[name, arch, rows[0]["capture"]] += len(rows)
        different[name, arch, rows[0]["capture"]] += OPEN.get(name, 0)
    return [(*key, n, n - different[key]) for key, n in sorted(found.items())]


def text():
    """The file's text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("operation", "arch", "capture", "values", "equal"))
    writer.writerows(counted())
    return out.getvalue()


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
    print(f"{len(counted())} rows in {PATH.name}")
