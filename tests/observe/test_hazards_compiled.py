"""hazards: compiled kernels have none, and almost every s_nop that the compiler put in is missed when it is taken out.

Code is walked from top to bottom as it stands, which reaches more than a launch would.
"""

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import mfmasim
from mfmasim.isa.hazards.follow import State
from mfmasim.machine.events import Place
from mfmasim.machine.opcodes.matrix import passes
from mfmasim.observe.hazards import Hazards

KERNELS = Path(__file__).resolve().parents[1] / "isa" / "kernels"
AWAY = ("s_endpgm", "s_branch", "s_setpc_b64")
SOURCES = {
    "gfx908": ("maths", "integers", "compares", "control", "mfma_cdna1"),
    "gfx90a": ("maths", "lanes", "integers", "memory"),
    "gfx942": ("maths", "lanes", "half", "mfma", "compares", "integers"),
    "gfx950": ("maths", "lanes", "mfma", "cdna4", "compares", "control"),
    "gfx1100": ("maths", "lanes", "rdna", "half"),
    "gfx1151": ("maths", "rdna"),
    "gfx1201": ("maths", "rdna"),
}
# Where LLVM inserts more than the manuals ask for: next to an instruction of this kind.
STRICTER = {
    "carry": re.compile(r"v_(addc|subb)"),  # 0 wait states as a carry (CDNA3 ISA manual 4.5)
    "clause": re.compile(r"(global|flat|buffer|scratch)_(load|atomic)"),  # replays of clauses with XNACK
    "packed": re.compile(r"v_pk_"),  # OP_SEL of packed operands moves no result
    "inline": re.compile(r"v_accvgpr_mov"),  # assembly, of which it assumes the worst
}


@dataclasses.dataclass
class Block:
    instructions: list

    def place(self, index, lane):
        return Place((0, 0, 0), 0)


def reported(kernel, instructions):
    """Findings of instructions in a row, with no memory across an unconditional branch."""
    check = Hazards(SimpleNamespace(kernel=kernel, passes=passes), "manual")
    state = State()
    for instruction in instructions:
        state = check.after(state, Block([instruction]), 0)
        if instruction.name.startswith(AWAY):
            state = State()
    return check.findings()


def kernels(arch):
    for name in SOURCES[arch]:
        path = KERNELS / f"{name}.hip"
        if path.exists():
            code = mfmasim.compile(path, arch=arch)
            yield from (code[kernel] for kernel in code.kernels)


def shorter(instructions, k):
    """The instructions without one of them, or with an s_nop of one state fewer."""
    nop = instructions[k]
    states = nop.modifiers.get("simm16", 0)
    raw = (states - 1).to_bytes(2, "little") + nop.raw[2:] if states else b""
    fewer = [dataclasses.replace(nop, modifiers={"simm16": states - 1}, pc=-states, raw=raw)] if states else []
    return [*instructions[max(0, k - 40) : k], *fewer, *instructions[k + 1 : k + 30]]


@pytest.mark.parametrize("arch", SOURCES)
def test_compiled_code_has_none_and_needs_its_nops(arch):
    seen, needed, kept = 0, 0, []
    for kernel in kernels(arch):
        instructions = list(kernel.decodable)
        assert not (found := reported(kernel, instructions)), [f.message for f in found]
        seen += len(instructions)
        for k, nop in enumerate(instructions):
            around = [instructions[i].name for i in (k - 1, k + 1) if 0 <= i < len(instructions)]
            if nop.name not in ("s_nop", "v_nop") or "s_nop" in around or around[0].startswith(AWAY):
                continue  # padding to a boundary
            if reported(kernel, shorter(instructions, k)):
                needed += 1
            elif not any(pattern.match(name) for pattern in STRICTER.values() for name in around):
                kept.append((kernel.name, hex(nop.pc), around))
    assert seen > 500
    assert not kept
    assert needed >= {"gfx908": 30, "gfx942": 50, "gfx950": 50}.get(arch, 0), needed
