"""AGPRs in a unified register file: the wave's register of each AGPR.

On architectures with one file (`Arch.unified_vgprs`) a wave's registers are allocated in one piece. VGPR number n is
register n of it; the kernel's ``accum_offset`` is the number of a0's register. A VGPR number from there on and an AGPR
are then two names of one register, in values, definedness and provenance. So the machine and its observers use the
register, and only texts have its name in the code (`Operand.written`).

Sources: CDNA3 ISA manual, 3.6.4 and table 21 (GPR_ALLOC.ACCV_OFF counts from VGPR_BASE); LLVM's AMDGPU usage guide,
compute_pgm_rsrc3 ACCUM_OFFSET: VGPR numbers are limited only by the allocation.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.errors import DamagedError
from mfmasim.isa import Instruction, Operand
from mfmasim.kernels import Kernel
from mfmasim.machine.state.waves import SCALARS


def register_counts(kernel: Kernel) -> tuple[int, int]:
    """Registers of a wave of this kernel: VGPRs (in a unified file with the AGPRs), and AGPRs in a file of their own.

    The hardware checks register numbers against the allocation alone. ``accum_offset`` says which of a wave's registers
    is a0, and a VGPR number above it reaches the same register (CDNA3 ISA manual, 3.6.4; LLVM's AMDGPU usage guide,
    ``accum_offset``).
    """
    descriptor, arch = kernel.info.descriptor, kernel.arch
    # With separate files, the count of the descriptor holds for either.
    return descriptor.vgpr_count, 0 if arch.unified_vgprs else min(descriptor.vgpr_count, arch.agprs)


def allocated(instruction: Instruction, kernel: Kernel) -> Instruction:
    """The instruction with its AGPRs as registers of the file that they share with the VGPRs.

    Args:
        instruction: as decoded.
        kernel: that executes it.

    Raises:
        MfmasimError: a register exceeds the allocation of the kernel's descriptor.
    """
    start = kernel.info.descriptor.accum_offset
    if start and any(operand.kind == "a" for operand in (*instruction.src, *instruction.dst)):
        instruction = replace(
            instruction,
            src=tuple(_physical(operand, start) for operand in instruction.src),
            dst=tuple(_physical(operand, start) for operand in instruction.dst),
        )
    vgprs, agprs = register_counts(kernel)
    limits = {"v": vgprs, "a": agprs, "s": SCALARS}
    for operand in (*instruction.dst, *instruction.src):
        limit = limits.get(operand.kind)
        if limit is not None and operand.index + operand.count > limit:
            file, first = operand.written
            count = max(limit - operand.accum_offset, 0)
            what = f"the kernel allocates {count}" if file != "s" else "no such scalar register"
            last = f"{file}{first + operand.count - 1}"
            raise DamagedError(f"{last} in {instruction.text.strip()} at {instruction.pc:#x}: {what}")
    return instruction


def _physical(operand: Operand, start: int) -> Operand:
    if operand.kind != "a":
        return operand
    return replace(operand, kind="v", index=operand.index + start, accum_offset=start)
