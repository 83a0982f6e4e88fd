"""GEMM kernels that hipBLASLt has as assembly (``CustomKernels``): launched, and compared with NumPy.

``python -m tests.foreign.custom_gemms [--checks all] SOURCES FILE.co ...`` prints a line for each; SOURCES is the
folder of their ``.s`` files, whose ``custom.config`` has the tile where the name has none. Their arguments differ from
those of generated kernels in three ways (``generateSingleCallGroupedGemm`` of hipBLASLt 7d9fb683):

* older ones have ``internalArgs`` among the arguments, and no ``Gemm info``;
* some list ``SizesFree0`` first in their metadata and read ``Gemm info`` and ``kernel info`` first;
* grouped ones (``GG``) read the number of problems and a pointer to ``DeviceUserArguments``, a structure for each.

M is a multiple of the elements that a lane reads of A at once: eight of the grouped ones for FP8 (`shortname8` to 11)
state that any M will do and compute the last M % 4 rows from A four elements too far.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from tests.foreign.gemms import Gemm, Problem, Values, differences

TYPES = {  # as in the names: A, B, D, sum
    "F8H_HHS": "F8 H H S", "F8H_HSS": "F8 H S S", "HHS": "H H H S", "HSS": "H H S S", "BBS": "B B B S",
    "F8BS": "F8 F8 B S",
}  # fmt: skip

USER = [
    *((name, 4) for name in ("SizesFree0", "SizesFree1", "SizesFree2", "SizesSum0")), *((name, 8) for name in "DCAB"),
    *((f"stride{matrix}{number}", 4) for matrix in "DCAB" for number in (0, 1)),
    ("alpha", 4), *[("", 4)] * 3, ("beta", 4), *[("", 4)] * 3,
    *((f"AddressScale{name}", 8) for name in ("A", "B", "C", "D", "AlphaVec")), ("bias", 8), ("biasType", 4), ("", 4),
    ("E", 8), *[("", 4)] * 5,
]  # fmt: skip
"""``DeviceUserArguments``: names and bytes of its fields."""


def state_of(name: str, source: Path, threads: int) -> Values:
    """What a solution's state would have, from a kernel's name and its source."""
    text = source.read_text(errors="replace")[:8000] if source.exists() else ""
    tile = re.search(r"_MT(\d+)x(\d+)x(\d+)_", name)
    if tile:
        sizes = [int(number) for number in tile.groups()]
    else:
        listed = re.search(r"MatrixInstruction: \[([\d, ]+)\]", text)
        depth = re.search(r"DepthU: (\d+)", text)
        assert listed, f"{name}: no tile in its name or source"
        assert depth, f"{name}: no DepthU in its source"
        m, n, _, _, _, tiles_m, tiles_n, waves_m, waves_n = map(int, listed[1].split(","))
        sizes = [m * tiles_m * waves_m, n * tiles_n * waves_n, int(depth[1])]
    kinds = re.search(r"Cijk_A\w{3}_B\w{3}_(F8H_HHS|F8H_HSS|HHS|HSS|BBS|F8BS)_", name)
    assert kinds, f"{name}: types"
    a, b, d, compute = TYPES[kinds[1]].split()
    multiples = {key: int(number) for key, number in re.findall(r"(Assert\w+ElementMultiple): (\d+)", text)}
    wide = re.search(r"GlobalReadVectorWidthA: (\d+)", text)  # without a source: whole tiles
    multiples["AssertFree0ElementMultiple"] = int(wide[1]) if wide else sizes[0]
    problem = {
        "DataType": a,
        "DataTypeA": a,
        "DataTypeB": b,
        "DestDataType": d,
        "ComputeDataType": compute,
        "UseE": "False",
        "UseBias": "1",
        "BiasDataTypeList": "[S]",
        "UseScaleAB": "Vector" if "SABV" in name else "Scalar",
    }
    return multiples | {
        "MacroTile0": sizes[0],
        "MacroTile1": sizes[1],
        "DepthU": sizes[2],
        "NumThreads": threads,
        "StaggerU": 0,
        "StaggerUMapping": 0,
        "WorkGroupMapping": 1,
        "ProblemType": problem,
    }


def fields(gemm: Gemm, names: list[tuple[str, int]]) -> list[Any]:
    """Arguments in order as a structure has them."""
    values = [gemm.args.get(name, np.uint32(0) if size == 4 else None) for name, size in names]
    return [np.uint32(value) if isinstance(value, int) else value for value in values]


def segment(values: list[Any], size: int) -> tuple[bytes, dict[int, Any]]:
    """Bytes of arguments one after another, without gaps, and what their pointers point to."""
    raw, buffers = bytearray(), {}
    for value in values:
        if isinstance(value, np.generic):
            raw += value.tobytes()
            continue
        if value is not None:
            buffers[len(raw)] = value
        raw += bytes(8)
    return bytes(raw) + bytes(max(size - len(raw), 0)), buffers


def launch(path: Path, sources: Path, checks: Any = "all") -> tuple[dict[str, float], Any, Gemm]:
    """Launch a code object; differences, the report, and what was launched."""
    split = 2 if "_GSUM_" in path.stem else 1  # parts of K; these kernels add them without another launch
    code = mfmasim.load(path)
    kernel = code[code.kernels[0]]
    name, metadata = path.stem, kernel.info.metadata
    state = state_of(name, sources / f"{path.stem}.s", metadata.max_flat_workgroup_size)
    names = [(arg.name, arg.size) for arg in kernel.args]
    listed = {name for name, _ in names}
    problem = Problem(state, name, ocp=False, split=split)
    gemm = problem.gemm(listed, 2, flat="kernel info0" in listed or "_GG_" in name)
    if "dstD" in listed:  # the last workgroup of a tile adds the parts, which the others left in the workspace ("D")
        final = gemm.args["D"] if split == 1 else np.zeros((problem.n, problem.m), problem.types["d"])
        gemm.args |= {"dstD": final, "Synchronizer": np.zeros(4096, np.uint32)}
        gemm.outputs = [("D", final, gemm.whole)]
    size = metadata.kernarg_segment_size
    if "_GG_" in name:  # one problem: its number, the user's arguments, the library's, workgroups, internal arguments
        head = [np.uint32(1), fields(gemm, USER), None, np.uint32(gemm.grid[0]), np.uint32(split)]
        raw, buffers = segment([*head, np.zeros(4096, np.uint32), np.zeros(4096, np.uint32)], size)
    else:
        if "kernel info" in listed:
            names.sort(key=lambda one: one[0] not in ("Gemm info", "kernel info"))
        raw, buffers = segment(fields(gemm, names), size)
    report = mfmasim.device("sim").launch(
        kernel, gemm.grid, gemm.block, raw[:size], buffers=buffers, checks=checks, budget=300_000
    )
    return differences(gemm, 1), report, gemm


def main() -> int:
    """Print a line for each code object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--checks", default="all")
    args = parser.parse_args()
    for path in args.files:
        begun = time.process_time()
        try:
            off, report, _ = launch(path, args.sources, args.checks)
        except Exception as error:  # noqa: BLE001 one line for each file
            print(f"{path.stem} {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        found = Counter((one.severity, one.id) for one in report.findings if one.severity != "info")
        print(f"{path.stem} {off} {time.process_time() - begun:.1f} s {dict(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
