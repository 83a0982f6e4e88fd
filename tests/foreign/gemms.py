"""GEMM kernels of hipBLASLt's generator TensileLite: arguments from a solution's state, and what NumPy computes.

``python -m tests.foreign.gemms [--checks all] FILE.json ...`` launches code objects that ``tests.foreign.tensile``
wrote and prints a line for each. How the arguments follow from the state: ``ContractionSolution.cpp`` of hipBLASLt
7d9fb683 (``kernelArgs``, ``singleCallArgs``, ``generateSingleCall``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import mfmasim

Values = dict[str, Any]
PLAIN = {
    "H": np.float16, "B": ml_dtypes.bfloat16, "S": np.float32, "X": np.float32, "D": np.float64,
    "I": np.int32, "I8": np.int8,
}  # fmt: skip
EIGHT_BITS = {
    False: {"F8": ml_dtypes.float8_e4m3fnuz, "B8": ml_dtypes.float8_e5m2fnuz},
    True: {"F8": ml_dtypes.float8_e4m3fn, "B8": ml_dtypes.float8_e5m2},
}
"""FP8 of an architecture: gfx94x has FNUZ, later ones OCP's."""
LARGEST = {"F8": {False: 240, True: 448}, "B8": {False: 57344, True: 57344}, "I8": {False: 127, True: 127}}
NUMBERS = {"S": 0, "D": 1, "H": 4, "I": 6, "B": 7, "I8": 8}
"""TensileLite's ``DataType``, as ``biasType`` has it."""


@dataclass
class Gemm:
    """One launch: arguments by name, grid in workgroups, and outputs with the values they have to hold."""

    grid: tuple[int, int, int]
    block: int
    args: Values
    outputs: list[tuple[str, np.ndarray, np.ndarray]]
    whole: np.ndarray
    """D as it has to be once the parts of a split sum are added."""


def letters(state: Values, name: str) -> dict[str, str]:
    """Types of A, B, D, of the sum, and of bias and E, as TensileLite abbreviates them."""
    problem = state["ProblemType"]
    if isinstance(problem, str):
        token = name.split("_")[3]
        both = {"HHS": "HHS", "BBS": "BBS"}.get(token) or ["F8", "F8", "S"]
        return {"a": both[0], "b": both[0], "d": both[1], "compute": both[2], "bias": "S", "e": both[1]}
    pair = {"F8B8": ("F8", "B8"), "B8F8": ("B8", "F8")}.get(problem["DataType"])
    a, b = pair or (problem["DataTypeA"], problem["DataTypeB"])
    listed = problem["BiasDataTypeList"].strip("[]").split(", ") if problem["UseBias"] != "0" else ["S"]
    return {
        "a": a,
        "b": b,
        "d": problem["DestDataType"],
        "compute": problem["ComputeDataType"],
        "bias": "S" if "S" in listed else listed[0],
        "e": problem["DataTypeE"] if problem["UseE"] == "True" else "S",
    }


def multiple(number: int, of: int) -> int:
    """The largest multiple up to a number, at least one."""
    return max(number // of, 1) * of


class Problem:
    """A small problem for a solution: its arrays, arguments and results.

    Args:
        state: the solution's.
        name: of the kernel, which says how A and B are stored.
        ocp: whether FP8 is OCP's.
        split: GlobalSplitU, parts of K.
        alpha, beta: factors.
        seed: of the values.
    """

    def __init__(
        self, state: Values, name: str, ocp: bool, split: int = 1, alpha: float = 1.0, beta: float = 1.0, seed: int = 1
    ) -> None:
        self.state, self.name, self.ocp = state, name, ocp
        self.split, self.alpha, self.beta = split, alpha, beta
        self.problem = state["ProblemType"] if isinstance(state["ProblemType"], dict) else {}
        self.letters = letters(state, name)
        self.m = multiple(state["MacroTile0"] - 3, state.get("AssertFree0ElementMultiple", 1))
        self.n = multiple(state["MacroTile1"], state.get("AssertFree1ElementMultiple", 1))
        self.k = multiple(2 * state["DepthU"] + 16, state.get("AssertSummationElementMultiple", 1))
        self.rng = np.random.default_rng(seed)
        self.types = {use: PLAIN.get(letter) or EIGHT_BITS[ocp][letter] for use, letter in self.letters.items()}

    def small(self, shape: int | tuple[int, ...], dtype: Any, size: int = 3) -> np.ndarray:
        """Integers of up to `size`."""
        return self.rng.integers(-size, size + 1, shape).astype(dtype)

    def rounded(self, values: np.ndarray, use: str = "d") -> np.ndarray:
        """Values as the type of a use holds them, saturated where its range is small."""
        if (largest := LARGEST.get(self.letters[use])) is not None:
            values = np.clip(values, -largest[self.ocp], largest[self.ocp])
        return values.astype(self.types[use]).astype(float)

    def factor(self, value: float) -> np.generic | np.ndarray:
        """Alpha or beta: the type of the sum, f16 twice."""
        number = self.types["compute"](value)
        return np.array([number, number]).view(np.uint32)[0] if self.letters["compute"] == "H" else number

    def scales(self, given: set[str], ab: np.ndarray) -> tuple[Values, np.ndarray]:
        """Scales of A, B and alpha, all powers of two, and the scaled product."""
        scale = np.float32 if self.letters["compute"] not in "ID" else self.types["compute"]
        values: Values = {}
        for index, size in enumerate((self.m, self.n)):
            if (name := f"AddressScale{'AB'[index]}") in given:
                vector = self.problem.get("UseScaleAB") == "Vector"
                values[name] = (2.0 ** self.rng.integers(-1, 2, size) if vector else np.full(size, 2)).astype(scale)
                ab = ab * np.broadcast_to(values[name].astype(float), size).reshape([(-1, 1), (1, -1)][index])
        if "AddressScaleAlphaVec" in given:
            values["AddressScaleAlphaVec"] = vector = self.rng.integers(1, 3, self.m).astype(scale)
            ab = ab * vector.astype(float)[:, None]
        return values, ab

    def gemm(self, given: set[str], version: int, flat: bool) -> Gemm:
        """Arguments and results.

        Args:
            given: names of the kernel's arguments.
            version: ``KernArgsVersion``.
            flat: whether the grid has one dimension.
        """
        m, n, k, kinds = self.m, self.n, self.k, self.types
        small = 1 if self.letters["d"] in LARGEST else 3
        a, b, c = (
            self.small(shape, kind, small)
            for shape, kind in zip(((m, k), (k, n), (m, n)), (kinds["a"], kinds["b"], kinds["d"]), strict=True)
        )
        product = a.astype(float) @ b.astype(float)
        values, scaled = self.scales(given, product)
        outputs, sums = [], self.alpha * scaled
        if "bias" in given:
            values |= {"bias": self.small(m, kinds["bias"], 4), "biasType": NUMBERS[self.letters["bias"]]}
            if self.problem.get("Gradient") == "True" and self.problem["BiasSrc"] == "D":
                values["bias"] = np.zeros(m * 64, np.float32)  # sums of D by parts, which another kernel adds
            elif (source := self.problem.get("BiasSrc", "D")) == "D":
                sums = sums + values["bias"].astype(float)[:, None]
            else:
                summed = (a.astype(float).sum(1), b.astype(float).sum(0))["AB".index(source)]
                values["bias"] = np.zeros(summed.size, kinds["bias"])
                outputs.append(("bias", values["bias"], summed))
        if "E" in given:
            values["E"] = np.zeros((n, m), kinds["e"])
            if self.problem["Gradient"] == "False":
                outputs.append(("E", values["E"], self.rounded(sums + self.beta * c.astype(float), "e").T))
        whole = expected = self.rounded(sums + self.beta * c.astype(float)).T
        by_row = "Alik" in self.name, "Bjlk" in self.name  # A with K fastest, B with N fastest
        memory = {
            "A": a if by_row[0] else np.ascontiguousarray(a.T),
            "B": b if by_row[1] else np.ascontiguousarray(b.T),
            "C": np.ascontiguousarray(c.T),
            "D": np.zeros((n, m), kinds["d"]),
        }
        if self.split > 1:  # parts of the product, which another kernel adds
            memory["D"] = np.zeros((self.split, n, m), kinds["compute"])
            expected = product.T
        lead = {"A": k if by_row[0] else m, "B": n if by_row[1] else k, "C": m, "D": m, "E": m}
        for matrix, stride in lead.items():
            values |= {f"stride{matrix}0": stride, f"Stride{matrix}0": stride}
            values |= {f"stride{matrix}1": m * n, f"Stride{matrix}1": m * n}
        values |= {"strideA1": a.size, "strideB1": b.size}
        outputs = [("D", memory["D"], expected), *outputs]
        gemm = Gemm((0, 0, 0), self.state["NumThreads"], values | memory, outputs, whole)
        return self._launch(gemm, version, flat)

    def _launch(self, gemm: Gemm, version: int, flat: bool) -> Gemm:
        state = self.state
        stagger = (state["StaggerU"] & 0xFF) | (state.get("_staggerStrideShift", 0) << 8 & 0x1F00)
        stagger |= state["StaggerUMapping"] << 13
        tiles = -(-self.m // state["MacroTile0"]), -(-self.n // state["MacroTile1"]) * self.split
        gemm.args |= {
            "Gemm info": 1,
            "kernel info0": self.split | stagger << 16,
            "kernel info1": state["WorkGroupMapping"] & 0xFFFF if version == 1 else 0x3FF << 22 | 1 << 16 | 1,
            "internalArgs": self.split | 1 << 8,
            "kernel info": self.split | 1 << 8,
            "numWG": tiles[0] * tiles[1],
            "SizesFree0": self.m,
            "SizesFree1": self.n,
            "SizesFree2": 1,
            "SizesSum0": self.k,
            "alpha": self.factor(self.alpha),
            "beta": self.factor(self.beta),
        }
        gemm.grid = (tiles[0] * tiles[1], 1, 1) if flat else (*tiles, 1)
        return gemm


def differences(gemm: Gemm, split: int) -> dict[str, float]:
    """The largest difference of each output from what it has to hold."""
    held = {name: out.astype(float) for name, out, _ in gemm.outputs}
    if split > 1:
        held["D"] = held["D"].sum(0)
    return {name: float(np.abs(held[name] - want).max()) for name, _, want in gemm.outputs}


def launch(path: Path, checks: Any = "all", **given: Any) -> tuple[dict[str, float], Any, Problem, Gemm]:
    """Launch the code object beside a state; differences, the report, the problem and what was launched."""
    near = path.parent / f"{path.stem}.co"
    code = mfmasim.load(near if near.exists() else path.parent / "assembly" / near.name)
    kernel = code[code.kernels[0]]
    names = {arg.name for arg in kernel.args}
    assert {"A", "B", "C", "D", "SizesSum0", "kernel info0"} <= names, names
    newer = kernel.arch.name.startswith("gfx12")
    problem = Problem(json.loads(path.read_text()), path.stem, newer or kernel.arch.name == "gfx950", **given)
    version = (problem.state.get("InternalSupportParams") or {}).get("KernArgsVersion", 2)
    gemm = problem.gemm(names, version, flat=not newer and version >= 1)
    args = {arg.name: gemm.args.get(arg.name, None if arg.is_pointer else bytes(arg.size)) for arg in kernel.args}
    report = mfmasim.device("sim").launch(kernel, gemm.grid, gemm.block, args, checks=checks)
    return differences(gemm, problem.split), report, problem, gemm


def main() -> int:
    """Print a line for each solution."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--checks", default="all")
    parser.add_argument("--split", type=int, default=1)
    args = parser.parse_args()
    for path in args.files:
        begun = time.process_time()
        try:
            off, report, *_ = launch(path, args.checks, split=args.split)
        except Exception as error:  # noqa: BLE001 one line for each file
            print(f"{path.parent.name}/{path.stem[-12:]} {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        found = Counter((one.severity, one.id) for one in report.findings)
        took = time.process_time() - begun
        print(f"{path.parent.name}/{path.stem[-12:]} {off} {took:.1f} s {dict(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
