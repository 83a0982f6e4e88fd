"""Small kernels: no fault is missed, and no right kernel is accused. docs/checks.md has the counts."""

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from tests.machine import harness
from tests.observe.faults import (
    further,
    gfx942,
    gfx1201,
    gfx1250,
    in_hip,
    others,  # noqa: F401  (adds to the tables of `further`)
    tickets,
)

pytestmark = pytest.mark.oracle

ROOT = Path(__file__).resolve().parents[2]
TABLES = [("gfx942", gfx942), ("gfx1201", gfx1201), ("gfx1250", gfx1250), *tickets.TABLES, *further.TABLES]
FOUND = {
    "lds flag written first", "lds spin lock", "lds lock taken by an exchange", "named barrier, store in flight",
    "named barrier, stored after the signal", "named barrier, a ring without the way back",
    "a register loaded twice, the first not waited for", "ticket, not written back",
    "scalar load of another dword of the line", "scalar load while the store is in flight",
    "scalar load in flight at the barrier before the store", "the copy arrives",
}  # fmt: skip
"""What was missed, or falsely reported, before: these run in the quick tier."""
FAULTS = {(name, number): fault for name, row in in_hip.KERNELS.items() for number, fault in enumerate(row[2])}


def rows():
    """Architecture and name of each kernel in assembly."""
    for arch, table in TABLES:
        for name, row in table.KERNELS.items():
            yield pytest.param(arch, table, row, id=f"{arch}-{name}", marks=[] if name in FOUND else pytest.mark.long)


def reported(report):
    """Kinds of the findings that are errors or warnings."""
    return {finding.id for finding in report.findings if finding.severity != "info"}


def alike(kind, wanted):
    """Whether a kind is the wanted one, or of the wanted check."""
    return kind == wanted or kind.startswith(f"{wanted}-")


@pytest.mark.parametrize(("arch", "table", "row"), list(rows()))
def test_in_assembly(arch, table, row):
    _, lines, wanted, options = row
    text = "\n".join([table.BEGIN, *lines, table.END])
    kernel = harness.kernel(text, arch, "pp", lds=2048, extra=options.get("extra", ""))
    arrays = [np.zeros(4096, np.uint32), np.zeros(4096, np.uint32)]
    found = reported(mfmasim.device("sim").launch(kernel, options.get("grid", 2), 128, arrays, budget=20_000))
    assert all(any(alike(kind, one) for kind in found) for one in wanted), found
    assert all(any(alike(kind, one) for one in wanted) for kind in found), found


@cache
def compiled(arch, folder):
    """The HIP kernels, right ones as ``k3`` and faulty ones as ``k3_1``."""
    text = in_hip.HEAD
    for place, (name, (_, body, faults)) in enumerate(in_hip.KERNELS.items()):
        right = " ".join(body.split())
        bodies = {"": right} | {f"_{n}": right.replace(*fault[:2]) for n, fault in enumerate(faults)}
        assert len(set(bodies.values())) == len(bodies), name
        for suffix, one in bodies.items():
            split = one.replace("; ", ";\n").replace("{ ", "{\n")  # a line each: findings go by lines
            text += f"KERNEL(k{place}{suffix}) {{ const int t = threadIdx.x;\n{split}\n}}\n"
    path = folder / "faults.hip"
    path.write_text(text)
    return mfmasim.compile(path, arch=arch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_in_hip(arch, folder):
    code, wrong = compiled(arch, folder), []
    for place, (name, (_, _, faults)) in enumerate(in_hip.KERNELS.items()):
        for suffix, wanted in [("", ()), *((f"_{n}", fault[2]) for n, fault in enumerate(faults))]:
            data, lds = np.arange(256, dtype=np.int32), 2048 if "dyn" in in_hip.KERNELS[name][1] else 0
            arrays = [np.zeros(4096, np.int32), data, np.zeros(4096, np.int32)]
            kernel = code[f"k{place}{suffix}"]
            found = reported(mfmasim.device("sim").launch(kernel, 4, 256, arrays, shared_bytes=lds, budget=50_000))
            if any(alike(kind, one) for kind in found for one in wanted) != bool(wanted) or (found and not wanted):
                wrong.append((name, suffix, found))
    # Without a fence the barrier has the wait, which is all that LLVM inserts for a release where there is one L2.
    without_fence = [("last block", "_0")] if arch in ("gfx1100", "gfx1201") else []
    assert [each[:2] for each in wrong] == without_fence, wrong


def test_the_table_in_docs():
    """Kinds of kernels tried, right and faulty."""
    right, faulty = Counter(), Counter()
    for _, table in TABLES:
        for kind, _, wanted, _ in table.KERNELS.values():
            (faulty if wanted else right)[kind] += 1
    for kind, _, faults in in_hip.KERNELS.values():
        right[kind] += 1
        faulty[kind] += len(faults)
    text = (ROOT / "docs" / "checks.md").read_text()
    assert len(right) > 10
    for kind in right | faulty:
        assert f"| {kind} | {right[kind]} | {faulty[kind]} |" in text, (kind, right[kind], faulty[kind])
