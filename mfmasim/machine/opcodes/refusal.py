"""Errors for instructions that the machine does not execute: they name the instruction, its address and its bytes.

The opcodes that no table row executes are listed here with the reason, as in docs/machine.md; a test compares the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import UnsupportedError
from mfmasim.isa import Instruction


@dataclass(frozen=True)
class Excluded:
    """Opcodes that are not executed for one reason."""

    group: str
    """What they belong to, such as ``debugging``."""
    names: tuple[str, ...]
    why: str
    source: str


EXCLUDED = (
    Excluded(
        "trap handler", ("s_rfe_b64", "s_rfe_i64", "s_rfe_restore_b64"), "returns from a trap handler",
        "CDNA3, CDNA5 and RDNA3 ISA manuals, SOP1, SOP2",
    ),
    Excluded(
        "trap handler", ("s_endpgm_saved",), "ends a wave that the trap handler of the context switch has saved",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "not public", ("tensor_save", "tensor_stop"),
        "saves or stops tensor instructions; the manual does not have them",
        "LLVM, FLATInstructions.td",
    ),
    Excluded(
        "prefixes", ("v_wmma_ld_scale_paired_b32", "v_wmma_ld_scale16_paired_b64"),
        "holds the scales of the WMMA that has to follow; both are decoded as one instruction",
        "CDNA5 ISA manual, VOP3PX2",
    ),
    Excluded(
        "debugging", ("s_sethalt", "s_sendmsghalt"), "halts the wave until the host or a debugger resumes it",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "debugging", ("s_setkill",), "sets STATUS.KILL, to debug how the host ends waves",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "debugging",
        ("s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"),
        "branches on flags that the driver or a debugger sets", "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "images",
        ("ds_bvh_stack_rtn_b32", "ds_bvh_stack_push4_pop1_rtn_b32", "ds_bvh_stack_push8_pop1_rtn_b32",
         "ds_bvh_stack_push8_pop2_rtn_b64"),
        "keeps the stack of a ray that image instructions trace", "RDNA3 and RDNA4 ISA manuals, DS",
    ),
    Excluded(
        "global data share",
        ("ds_gws_barrier", "ds_gws_init", "ds_gws_sema_br", "ds_gws_sema_p", "ds_gws_sema_release_all",
         "ds_gws_sema_v"),
        "synchronises workgroups through resources that the driver allocates", "CDNA3 ISA manual, 12.13, DS_GWS",
    ),
    Excluded(
        "global data share", ("ds_ordered_count", "ds_add_gs_reg_rtn", "ds_sub_gs_reg_rtn"),
        "counts in the order of the dispatcher, or in its registers", "RDNA3 ISA manual, 12.5",
    ),
    Excluded(
        "driver", ("s_alloc_vgpr",), "changes the number of VGPRs, in a mode that the driver turns on",
        "RDNA4 ISA manual, 3.3.3",
    ),
    Excluded(
        "graphics", ("global_atomic_ordered_add_b64",), "wraps its ticket at VGT_GS_MAX_WAVE_ID, which graphics sets",
        "RDNA4 ISA manual, VGLOBAL",
    ),
    Excluded(
        "graphics", ("v_screen_partition_4se_b32",), "divides the screen by a table that the manual only sketches",
        "Vega ISA manual, VOP1",
    ),
)  # fmt: skip


def excluded(name: str) -> Excluded | None:
    """The row of a mnemonic; None if the mnemonic is executed, or is in no table."""
    return next((row for row in EXCLUDED if name in row.names), None)


def unsupported(instruction: Instruction, what: str) -> UnsupportedError:
    """The error for an operand, modifier or state that an operation does not take."""
    return UnsupportedError(
        f"{what}: {instruction.text.strip()} at {instruction.pc:#x} (bytes {instruction.raw.hex()}) is not supported"
    )


def unknown_operation(instruction: Instruction) -> UnsupportedError:
    """The error for an instruction whose operation is not registered."""
    row = excluded(instruction.name)
    return UnsupportedError(
        f"unsupported instruction {instruction.text.strip()} at {instruction.pc:#x} "
        f"(bytes {instruction.raw.hex()}, {instruction.arch}){f': it {row.why} ({row.group})' if row else ''}"
    )
