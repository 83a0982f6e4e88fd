"""hipkernels/conformance/isa: every instruction equals llvm-objdump's text, at two levels of optimisation."""

import re
import subprocess

import pytest

from mfmasim.isa import decode_range
from mfmasim.resources import folder
from mfmasim.toolchain import compile_hip
from tests.llvm import tool
from tests.tiers import tiers

SOURCES = sorted((folder("hipkernels") / "conformance" / "isa").rglob("*.hip"))
LINE = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)", re.MULTILINE)
LEVELS = ("-O1", "-O3")
ARCHS = ("gfx942", "gfx950", "gfx1030", "gfx1151", "gfx1201")
LEAST = 14000
"""The fewest instructions that have to be compared at one level, padding aside."""
PADDING = ("s_nop 0", "s_code_end")


def listing(source, arch, level, output):
    output.write_bytes(compile_hip(source, arch, compiler=tool("clang"), flags=[level]).data)
    text = subprocess.run([tool("llvm-objdump"), "-d", output], capture_output=True, text=True, check=True).stdout
    return [(" ".join(text.split()), int(pc, 16), words.split()) for text, pc, words in LINE.findall(text)]


@pytest.mark.oracle
@pytest.mark.parametrize("arch", tiers(ARCHS, ["gfx950", "gfx1151"]))
@pytest.mark.parametrize("level", LEVELS)
def test_every_instruction_equals_objdump(arch, level, tmp_path):
    tool("ld.lld")
    compared = 0
    for source in SOURCES:
        lines = listing(source, arch, level, tmp_path / "kernels.hsaco")
        if not lines:
            continue  # all of it is for other architectures
        raw = [b"".join(int(word, 16).to_bytes(4, "little") for word in words) for *_, words in lines]
        # One range per file, so that sizes have to add up over code and padding alike.
        instructions = decode_range(b"".join(raw), arch, lines[0][1])
        assert len(instructions) == len(lines), source.name
        for instruction, (text, _, _), code in zip(instructions, lines, raw, strict=True):
            assert instruction.text == text, f"{source.name}: {code.hex(' ')}"
            assert instruction.raw == code
            compared += text not in PADDING
    assert compared >= LEAST
