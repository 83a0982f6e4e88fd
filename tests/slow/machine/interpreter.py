"""A slow, obvious interpreter: one wave at a time, one lane at a time, Python integers only.

It judges the machine and shares nothing with it but the decoded instruction record. Never make it fast.
"""

from __future__ import annotations

import dataclasses

from tests.slow.machine import (
    approximate,  # noqa: F401
    conversions,  # noqa: F401  (adds to the tables below)
    dpp,
    gds,
    high_registers,
    lanes,
    paths,  # noqa: F401
    rdna,  # noqa: F401
    vector_integers,  # noqa: F401
)
from tests.slow.machine import float_mode as more
from tests.slow.machine.architectures import OWN_AGPRS, facts
from tests.slow.machine.lanes_rdna import dual
from tests.slow.machine.names import ALIASES, WAITS
from tests.slow.machine.program_control import skipped
from tests.slow.machine.scalar_alu import FLAG, NOTHING, ONE, SAVEEXEC, TIED, TWO, WREXEC
from tests.slow.machine.storage import MEMORY
from tests.slow.machine.vector_alu import VECTOR
from tests.slow.machine.vector_execution import vector

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
POISON = 0xA5A5A5A5

MODELS = (TWO, ONE, FLAG, TIED, SAVEEXEC, WREXEC, NOTHING, WAITS, MEMORY, VECTOR, more.EXTRA)


def models(name):
    """Whether the interpreter knows an operation, under this name or its gfx9 one."""
    name = name.replace("v_dual_", "v_")
    name = ALIASES.get(name, name)
    return any(name in table for table in MODELS)


class Wave:
    """Registers and place of one wave."""

    def __init__(self, code, entry, memory, lds, *, arch="gfx942", lanes=64, accum_offset=256, vgprs=512):
        self.code, self.pc, self.memory, self.lds = code, entry, memory, lds
        self.arch, self.lanes, self.facts = arch, lanes, facts(arch)
        self.vgprs = vgprs  # of the wave's allocation (GPR_ALLOC.VGPR_SIZE), which register numbers are checked against
        self.v = [[POISON] * lanes for _ in range(1024)]
        # The same lists, one file under two names, or another file.
        self.a = [[POISON] * lanes for _ in range(256)] if arch in OWN_AGPRS else self.v[accum_offset:]
        self.s = [POISON] * 128
        self.scc, self.ended, self.waiting, self.steps = 0, False, False, 0
        self.mode = self.facts.mode
        self.exec_ = (1 << lanes) - 1

    @property
    def exec_(self):
        """EXEC: a bit a lane; EXEC_HI is no part of it in a wave of 32."""
        return self.mask(126)

    @exec_.setter
    def exec_(self, value):
        self.s[126 : 126 + self.lanes // 32] = [value >> 32 * k & M32 for k in range(self.lanes // 32)]

    @property
    def vcc(self):
        """VCC: a bit a lane."""
        return self.mask(106)

    def mask(self, index):
        """A lane mask: one register a wave of 32, two a wave of 64."""
        return self.s[index] if self.lanes == 32 else self.pair(index)

    def set_mask(self, operand, value):
        """Write a lane mask; NULL drops it."""
        if operand.kind == "s" and self.lanes == 32:
            self.s[operand.index] = value
        elif operand.kind == "s":
            self.set_pair(operand.index, value)

    @property
    def m0(self):
        """M0, which has its own place in each generation."""
        return self.s[self.facts.m0]

    def pair(self, index):
        """A 64-bit scalar value."""
        return self.s[index] | self.s[index + 1] << 32

    def set_pair(self, index, value):
        """Write a 64-bit scalar value."""
        self.s[index], self.s[index + 1] = value & M32, value >> 32 & M32

    def file(self, kind):
        """The VGPRs or the AGPRs."""
        return self.a if kind == "a" else self.v

    def active(self):
        """Lanes that EXEC enables."""
        mask = self.exec_
        return [lane for lane in range(self.lanes) if mask >> lane & 1]

    def scalar(self, operand):
        """A scalar source of 32 or 64 bits."""
        if operand.kind == "s":
            return self.pair(operand.index) if operand.count == 2 else self.s[operand.index]
        if operand.kind in ("const", "imm"):
            return operand.bits
        if operand.kind == "null":
            return 0
        if operand.kind == "special":
            return {235: 1 << 48, 237: 2 << 48, 251: int(self.vcc == 0), 252: int(self.exec_ == 0), 253: self.scc}[
                operand.index
            ]
        raise AssertionError(f"scalar source of kind {operand.kind}")

    def write_scalar(self, operand, value):
        """A scalar destination of 32 or 64 bits; NULL drops it."""
        if operand.kind == "null":
            return
        if operand.count == 2:
            self.set_pair(operand.index, value)
        else:
            self.s[operand.index] = value & M32

    # One instruction.

    def step(self):
        """Fetch and execute one instruction."""
        ins = high_registers.selected(self, lanes.indexed(self, self.code.instruction_at(self.pc)))
        self.pc += ins.size
        if skipped(self, ins):
            return
        self.steps += 1
        name = ALIASES.get(ins.name, ins.name)
        if name != ins.name:
            ins = dataclasses.replace(ins, opcode=dataclasses.replace(ins.opcode, name=name))
        more.NOW.mode, more.NOW.arch = self.mode | (0 if self.facts.ieee else 0x100), ins.arch
        more.NOW.omod_always = not self.facts.ieee
        more.NOW.rdna, more.NOW.function_tables = self.facts.rdna3, self.facts.function_tables
        more.NOW.quiets = bool(self.mode >> 9 & 1) or not self.facts.quiets_in_ieee
        more.NOW.plus_zero, more.NOW.first_nan = self.facts.clamps_to_plus_zero, self.facts.rdna3
        if dual(self, ins):
            return
        if name in more.EXTRA:
            crossing = "dpp_ctrl" in ins.modifiers or "dpp8" in ins.modifiers
            (dpp.moved if crossing else _run)(self, ins, more.EXTRA[name])
        elif name in VECTOR:
            vector(self, ins, *VECTOR[name])
        elif name in MEMORY:
            (gds.shared if ins.modifiers.get("gds") else _run)(self, ins, MEMORY[name])
        elif name not in NOTHING | WAITS:
            _scalar(self, ins)


def _run(wave, ins, function):
    function(wave, ins)


def _scalar(wave, ins):
    name = ins.name
    src = [wave.scalar(operand) for operand in ins.src]
    if name in FLAG:
        wave.scc = int(FLAG[name](src[0], src[1]))
        return
    if name in SAVEEXEC or name in WREXEC:
        old = wave.exec_
        wave.exec_ = ({**SAVEEXEC, **WREXEC}[name](src[0], old)) & M64
        wave.write_scalar(ins.dst[0], old if name in SAVEEXEC else wave.exec_)
        wave.scc = int(wave.exec_ != 0)
        return
    if name in TWO:
        result, scc = TWO[name](src[0], src[1], wave.scc)
    elif name in ONE:
        result, scc = ONE[name](src[0], wave.scc)
    elif name in TIED:
        old = wave.scalar(ins.dst[0])
        immediate = next(x.bits if x.kind == "imm" else wave.scalar(x) for x in ins.src if x.printed)
        result, scc = TIED[name](immediate, old, wave.scc)
    else:
        raise NotImplementedError(f"no slow model for {name}")
    if result is not None:
        wave.write_scalar(ins.dst[0], result)
    if scc is not None:
        wave.scc = scc
