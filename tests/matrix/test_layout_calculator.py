"""Every place of every instruction against AMD's Matrix Instruction Calculator, for every modifier it knows.

The calculator is not part of this repository: it lies in data/calculator of the shared folder, or MFMASIM_CALCULATOR
names it.
"""

import importlib.util
import itertools
import os
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.matrix.rows import TABLES
from tests.oracles import SHARED, require

pytestmark = pytest.mark.oracle

PATH = Path(os.environ.get("MFMASIM_CALCULATOR", SHARED / "data" / "calculator" / "matrix_calculator.py"))
HOW = "set MFMASIM_CALCULATOR to matrix_calculator.py of github.com/ROCm/amd_matrix_instruction_calculator, 1.3.2"
ARCHES = {"gfx908": "cdna1", "gfx90a": "cdna2", "gfx942": "cdna3", "gfx1100": "rdna3", "gfx1200": "rdna4"}
CLASSES = {"c": "InstCalcGfx9", "3": "InstCalcGfx11", "4": "InstCalcGfx12"}


@pytest.fixture(scope="module")
def calculator():
    require("AMD's matrix instruction calculator", PATH.is_file(), HOW)
    if importlib.util.find_spec("tabulate") is None:  # only its printing needs the package
        sys.modules["tabulate"] = types.SimpleNamespace(tabulate=None)
    spec = importlib.util.spec_from_file_location("amd_matrix_calculator", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calculators(module, arch):
    """(our instruction, the calculator's object) for every instruction and wave size."""
    name = ARCHES[arch]
    family = CLASSES["c" if name.startswith("cdna") else name[-1]]
    for inst, info in module.dict_insts[name].items():
        for wave in mfmasim.arch(arch).wave_sizes:
            yield mfmasim.instruction(arch, inst, wave=wave), getattr(module, family)(inst, info, wave)


def bits(register):
    """First and last bit, over the operand's registers, of the calculator's 'v3.[23:16]', 'v[1:0]' or 'v2'."""
    pair = re.fullmatch(r"v\[(\d+):(\d+)\]", register)
    if pair:
        return int(pair[2]) * 32, int(pair[1]) * 32 + 31
    number, high, low = re.fullmatch(r"v(\d+)(?:\.\[(\d+):(\d+)\])?", register).groups()
    base = int(number) * 32
    return (base, base + 31) if high is None else (base + int(low), base + int(high))


def compare(op, calc, name, **modifiers):
    """Compare all elements of one operand; returns how many places were compared."""
    fragment = op.operand(name, **modifiers)
    table = fragment.table()
    ours = np.sort(table, order=["block", "row", "col", "lane"])
    letter = "K" if name == "index" else name
    given = [modifiers.get(field, 0) for field in ("cbsz", "abid", "blgp", "op_sel")]
    count, at = 0, 0
    for block, row, col in itertools.product(range(fragment.blocks), range(fragment.rows), range(fragment.cols)):
        kept = fragment.axes[1] == "s"
        i, j, k = {"A": (row, 0, col), "K": (row, 0, col), "B": (0, col, row)}.get(letter, (row, col, 0))
        _, register, lanes = calc._get_reg_lanes(letter, i, j, 2 * k if kept else k, block, *given)
        first, last = bits(register)
        for lane in sorted(lanes):
            mine = ours[at]
            start = int(mine["vgpr"]) * 32 + int(mine["bit"])
            assert (mine["row"], mine["col"], mine["block"], mine["lane"]) == (row, col, block, lane)
            if kept:  # the calculator names the bits of both kept elements of a group of four
                half = (last + 1 - first) // 2
                assert half == fragment.width
                assert start == first + half * (col % 2), (row, col)
            else:
                assert (start, start + fragment.width - 1) == (first, last), (row, col, register)
            at += 1
            count += 1
    assert at == len(ours)
    return count


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHES)
def test_default_layouts(calculator, arch):
    count = sum(
        compare(op, calc, name)
        for op, calc in calculators(calculator, arch)
        for name in op.operands
        if not (op.sparse and name == "C")
    )
    assert count == {"gfx908": 43904, "gfx90a": 56576, "gfx942": 102144, "gfx1100": 24576, "gfx1200": 53760}[arch]


@pytest.mark.oracle
def test_broadcast_of_a_and_permutation_of_b(calculator):
    variants = 0
    for op, calc in itertools.chain(calculators(calculator, "gfx90a"), calculators(calculator, "gfx942")):
        words = op.row.modifiers.split()
        if "cbsz" in words:
            for cbsz in range(op.blocks.bit_length()):
                for abid in range(1 << cbsz):
                    assert compare(op, calc, "A", cbsz=cbsz, abid=abid) > 0
                    variants += 1
        if "blgp" in words:
            for blgp in range(8):
                assert compare(op, calc, "B", blgp=blgp) > 0
                variants += 1
    blocked = 3 + 7 + 31  # cbsz and abid of the 2-, 4- and 16-block forms
    assert variants == (5 + 4) * blocked + (25 + 14) * 8


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1200"])
def test_index_sets_and_halves(calculator, arch):
    variants = 0
    for op, calc in calculators(calculator, arch):
        if "op_sel_half" in op.row.modifiers:
            for name, op_sel in itertools.product("CD", (0, 4)):
                assert compare(op, calc, name, op_sel=op_sel) > 0
                variants += 1
        elif op.sparse:
            field = "abid" if "abid_index" in op.row.modifiers else "op_sel"
            assert op.index_sets == calc.get_num_compression_sets()
            for chosen in range(op.index_sets):
                assert compare(op, calc, "index", **{field: chosen}) > 0
                variants += 1
    assert (
        variants
        == {"gfx942": 4 * 4 + 10 * 2, "gfx1100": 2 * 2 * 4, "gfx1200": 8 * (2 + 4) + (2 + 4) + (2 + 2) + (1 + 2)}[arch]
    )


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHES)
def test_shapes_cycles_and_modifiers(calculator, arch):
    known = calculator.dict_insts[ARCHES[arch]]
    assert sorted(known) == mfmasim.instructions(arch)
    for name, info in known.items():
        op = mfmasim.instruction(arch, name)
        assert (op.m, op.n, op.k, op.blocks) == tuple(info[field] for field in ("m", "n", "k", "blocks"))
        assert op.cycles == info["cycles"]
        assert op.sparse == info["sparse"]
        words = op.row.modifiers.split()
        assert bool({"blgp", "negate"} & set(words)) == info["blgp"]
        assert bool({"cbsz", "abid_index"} & set(words)) == info["cbsz_abid"]
        assert bool({"neg", "signed"} & set(words)) == info["neg"]
        assert ("op_sel_half" in words) == info["cd_opsel"]
    assert TABLES[mfmasim.arch(arch).family].rows
