"""Names and operand registers of every row, confirmed by assembling it with LLVM; wrong ones must be refused."""

import itertools
import re

import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.errors import MfmasimError
from mfmasim.matrix.request import F8F6F4
from tests.llvm import assembled


def assemble(lines, arch, wave):
    """For every line what LLVM prints back, or None where it reports an error."""
    options = [f"--mattr=+wavefrontsize{wave}"] if len(mfmasim.arch(arch).wave_sizes) > 1 else []
    # A label per line ties LLVM's output to its input.
    text, failed = assembled([f"line{number}: {line}" for number, line in enumerate(lines)], arch, "-o", "-", *options)
    found = re.split(r"^line\d+:\n?", text, flags=re.MULTILINE)[1:]
    assert len(found) == len(lines), failed
    return [None if number in failed else printed.strip() for number, printed in enumerate(found)]


def registers(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


FORMAT_WORDS = ("FP8", "BF8", "FP6", "BF6", "FP4")


def statement(op, a=0, b=0, c=0):
    """One instruction; a, b and c change the number of registers of an operand."""
    file = "a" if op.arch.agprs and not op.arch.unified_vgprs else "v"  # CDNA1 accumulates in AGPRs only
    text = f"{op.name} {registers(0, op.C.vgprs + c if op.sparse else op.D.vgprs, file)}, "
    text += f"{registers(40, op.A.vgprs + a)}, {registers(60, op.B.vgprs + b)}, "
    text += registers(80, op.index.vgprs) if op.sparse else registers(0, op.C.vgprs + c, file)
    if op.scale_A is not None:
        text += f", {registers(82, op.scale_A.vgprs)}, {registers(84, op.scale_B.vgprs)}"
    if op.row.a == "f8f6f4" and op.kind.startswith("wmma"):
        for side, fmt in (("a", op.a), ("b", op.b)):
            text += f" matrix_{side}_fmt:MATRIX_FMT_{FORMAT_WORDS[F8F6F4.index(fmt)]}"
    elif op.row.a == "f8f6f4":
        text += f" cbsz:{F8F6F4.index(op.a)} blgp:{F8F6F4.index(op.b)}"
    return text


def operations(arch):
    """Every instruction, wave size and choice of formats of an architecture."""
    for name in mfmasim.instructions(arch):
        pairs = itertools.product(F8F6F4, F8F6F4) if "f8f6f4" in name else [(None, None)]
        for (a, b), wave in itertools.product(pairs, mfmasim.arch(arch).wave_sizes):
            yield mfmasim.instruction(arch, name, a, b, wave)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_row_assembles_with_its_registers(arch):
    count = 0
    for wave in mfmasim.arch(arch).wave_sizes:
        ops = [op for op in operations(arch) if op.wave == wave]
        for op, text in zip(ops, assemble([statement(op) for op in ops], arch, wave), strict=True):
            assert text is not None, statement(op)
            assert text.split()[0] == op.name
            count += 1
    many = {"gfx908": 20, "gfx90a": 27, "gfx942": 46, "gfx950": 64 + 4 * 25, "gfx1250": 40 + 3 * 25}
    assert count == many.get(arch, 2 * len(mfmasim.instructions(arch)))


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_other_register_counts_are_refused(arch):
    count = 0
    for wave in mfmasim.arch(arch).wave_sizes:
        ops = [op for op in operations(arch) if op.wave == wave]
        for operand in "abc":
            lines = [statement(op, **{operand: 1}) for op in ops]
            for line, text in zip(lines, assemble(lines, arch, wave), strict=True):
                assert text is None, line
                count += 1
    assert count >= 3 * len(mfmasim.instructions(arch))


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_names_are_known_exactly_where_llvm_knows_them(arch):
    """Every name of every architecture: LLVM refuses what is not listed here, and means the same by what it takes."""
    wave = mfmasim.arch(arch).wave_sizes[0]
    names, lines = [], []
    for other in ARCHITECTURES:
        for name in mfmasim.instructions(other):
            names.append(name)
            lines.append(statement(mfmasim.instruction(arch if name in mfmasim.instructions(arch) else other, name)))
    refused = kept = 0
    for name, text in zip(names, assemble(lines, arch, wave), strict=True):
        if name in mfmasim.instructions(arch):
            assert text is not None, name
        elif text is not None and arch == "gfx1250" and name in mfmasim.instructions("gfx1200"):
            kept += 1  # LLVM encodes RDNA4's, of which the manual's lists of opcodes have none
        elif text is not None:
            assert mfmasim.instruction(arch, name).name == text.split()[0], (name, text)
        else:
            refused += 1
    assert refused >= 20
    assert kept == (44 if arch == "gfx1250" else 0)


def test_names_of_other_architectures_name_them():
    with pytest.raises(MfmasimError, match="gfx942 has it"):
        mfmasim.instruction("gfx950", "v_mfma_f32_16x16x8_xf32")
    with pytest.raises(MfmasimError, match="did you mean 'v_mfma_f32_32x32x8_f16'"):
        mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f161")
    with pytest.raises(MfmasimError, match="gfx1200, gfx1201, gfx1170 have it"):
        mfmasim.instruction("gfx1100", "v_swmmac_f32_16x16x32_f16")
