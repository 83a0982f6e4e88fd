"""Kernels written by hipBLASLt's generator TensileLite without ROCm: code objects, and the state of each solution.

``python -m tests.foreign.tensile TENSILELITE LOGIC.yaml --out FOLDER [--count N]``; TENSILELITE is the folder of that
name of a hipBLASLt checkout, LOGIC.yaml a file of its folder ``Logic``. The generator asks the assembler (clang, 22
here) which instructions each architecture has: naming one architecture alone takes seconds rather than minutes.
It imports ``joblib``, ``simplejson``, ``ujson``, ``orjson``, ``yaml``, ``msgpack`` and ``packaging``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any


def prepare(folder: Path, isa: tuple[int, ...], out: Path) -> None:
    """Import TensileLite and set what a ROCm installation sets.

    Args:
        folder: TensileLite's folder, the parent of the package ``Tensile``.
        isa: the one architecture, such as (9, 4, 2).
        out: folder for what it writes.
    """
    rocm = Path(tempfile.mkdtemp())
    for name in ("bin", "llvm/bin"):
        (rocm / name).mkdir(parents=True)
        for tool in ("clang++", "ld.lld", "clang-offload-bundler"):
            (rocm / name / tool.replace("clang++", "amdclang++")).symlink_to(str(shutil.which(f"{tool}-22")))
    os.environ["ROCM_PATH"] = str(rocm)
    os.environ["TENSILE_ROCM_ASSEMBLER_PATH"] = str(rocm / "bin" / "amdclang++")
    sys.path.insert(0, str(folder))
    from Tensile import Common

    Common.globalParameters["SupportedISA"] = [isa]
    Common.globalParameters["PrintLevel"] = 0
    Common.globalParameters["CurrentISA"] = isa
    Common.assignGlobalParameters({})
    Common.globalParameters["WorkingPath"] = str(out)


def architecture(logic: Path) -> tuple[int, ...]:
    """The architecture that a logic file names, read from its first lines."""
    with logic.open() as file:
        head = "".join(line for line, _ in zip(file, range(40), strict=False))
    found = re.search(r"gfx(\d+)(\d|[a-f])(\d|[a-f])\b", head)
    assert found, f"{logic}: no architecture in its first 40 lines"
    return int(found[1]), int(found[2], 16), int(found[3], 16)


def spread(total: int, count: int) -> list[int]:
    """`count` numbers below `total`, evenly spaced."""
    return sorted({index * total // count for index in range(min(count, total))})


def generate(folder: Path, logic: Path, out: Path, count: int) -> list[Path]:
    """Write `count` kernels of a logic file, spread over its solutions; the JSON files of their states."""
    out.mkdir(parents=True, exist_ok=True)
    prepare(folder, architecture(logic), out.resolve())
    import yaml
    from Tensile import LibraryIO, TensileCreateLibrary
    from Tensile.TensileInstructions import TensileInstructions

    data: Any = yaml.load(logic.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    solutions = data[5]
    data[5] = [solutions[index] for index in spread(len(solutions), count)]
    for index, solution in enumerate(data[5]):
        solution["SolutionIndex"] = index
    table = data[7]
    for row in table or []:
        row[1][0] = 0
    parsed = LibraryIO.parseLibraryLogicData(data, str(logic))
    kernels = TensileCreateLibrary.generateKernelObjectsFromSolutions(parsed.solutions)[0]
    writer = TensileCreateLibrary.getSolutionAndKernelWriters(parsed.solutions, kernels)[0]
    written = []
    for kernel in kernels:
        kernel.duplicate = False
        error, *_, name, _ = TensileCreateLibrary.processKernelSource(kernel, writer, TensileInstructions())
        made = Path(writer.getAssemblyDirectory()) / f"{name}.co"
        if error or not made.exists():
            print(f"{name}: error {error}", file=sys.stderr)
            continue
        shutil.copyfile(made, out / f"{name}.co")
        problem = {key: str(value) for key, value in kernel["ProblemType"].state.items()}
        (out / f"{name}.json").write_text(json.dumps(kernel._state | {"ProblemType": problem}, default=str))
        written.append(out / f"{name}.json")
    return written


def main() -> int:
    """Print the files that were written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tensilelite", type=Path)
    parser.add_argument("logic", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=3)
    args = parser.parse_args()
    for path in generate(args.tensilelite, args.logic, args.out, args.count):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
