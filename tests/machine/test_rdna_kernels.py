"""The decoder's corpus on gfx11 and gfx12: the same source and inputs give what they give on gfx942."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from tests.llvm import tool

FOLDER = Path(__file__).parents[1] / "isa" / "kernels"
# The other files use instructions that only CDNA has.
FILES = ("compares", "integers", "lds", "maths")
WORDS = 1 << 13


def compiled(name, arch, folder, *flags):
    """The code object of a file of the corpus, with further flags of the compiler."""
    output = str(folder / f"{name}.{arch}{'.'.join(flags)}")
    subprocess.run(
        [
            tool("clang"),
            "-x",
            "hip",
            "--cuda-device-only",
            "-nogpuinc",
            "-nogpulib",
            "--no-gpu-bundle-output",
            "-w",
            "-O2",
            "-std=c++20",
            f"--offload-arch={arch}",
            *flags,
            "-o",
            output,
            str(FOLDER / f"{name}.hip"),
        ],
        check=True,
    )
    return mfmasim.load(output)


def outputs(kernel):
    """Every buffer after a launch on numbers that are good as integers and as indices."""
    rng = np.random.default_rng(3)
    arguments = [
        rng.integers(0, 64, WORDS, dtype=np.uint32) if arg.is_pointer else (7).to_bytes(arg.size, "little")
        for arg in kernel.args
    ]
    mfmasim.device("sim").launch(kernel, grid=2, block=64, args=arguments, checks="none")
    return [x for x in arguments if isinstance(x, np.ndarray)]


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_equal_to_gfx942(name, tmp_path):
    """Whatever the width of a wave and the spelling of the instructions."""
    reference = compiled(name, "gfx942", tmp_path)
    compared = 0
    for arch in ("gfx1151", "gfx1201"):
        code = compiled(name, arch, tmp_path)
        for kernel in code.kernels:
            for wanted, found in zip(outputs(reference[kernel]), outputs(code[kernel]), strict=True):
                assert (wanted == found).all(), (arch, kernel)
                compared += 1
    assert compared >= 4


@pytest.mark.oracle
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_halves_of_registers_change_no_result(arch, wave, tmp_path):
    """Kernels of 16-bit types, compiled for 16-bit registers and without them."""
    compared, uppers = 0, []
    for name in ("compares", "half", "integers", "lds"):
        codes = [
            compiled(
                name,
                arch,
                tmp_path,
                f"-mwavefrontsize{wave}" if wave == 64 else "-mno-wavefrontsize64",
                "-Xclang",
                "-target-feature",
                "-Xclang",
                f"{sign}real-true16",
            )
            for sign in "+-"
        ]
        for kernel in codes[0].kernels:
            one, two = (code[kernel] for code in codes)
            selected = [sum(map(selects, each.instructions)) for each in (one, two)]
            if [ins.raw for ins in one.instructions] == [ins.raw for ins in two.instructions]:
                continue
            for wanted, found in zip(outputs(one), outputs(two), strict=True):
                assert (wanted == found).all(), (name, kernel)
                compared += 1
            uppers.append(selected)
    assert compared >= 4
    assert sum(first for first, _ in uppers) >= 20 > 2 * sum(second for _, second in uppers)


def selects(instruction):
    """Whether an operand is the upper half of a register."""
    halves = any(operand.half for operand in (*instruction.dst, *instruction.src))
    return halves and bool(instruction.modifiers.get("op_sel"))
