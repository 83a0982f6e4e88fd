"""Clocks, traps, messages and caches. Source: CDNA3 ISA manual, SMEM, SOPP, MUBUF.

A clock here counts what the wave has executed, four ticks an instruction: it grows along every path and is the same in
every run, but it does not measure time.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.launch.hostcall import INTERRUPT
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.control import no_code
from mfmasim.machine.state.waves import ENDED, Group


def _nothing(_instruction: Instruction, _machine: Machine) -> Bound:
    return lambda g: None  # noqa: ARG005


# Memory is coherent: caches and wake-ups change nothing.
direct(
    "s_atc_probe s_atc_probe_buffer "
    "v_nop ds_nop v_clrexcp s_wakeup s_dcache_inv_vol s_dcache_wb_vol buffer_inv buffer_wbl2 buffer_invl2 "
    "buffer_wbinvl1 buffer_wbinvl1_vol buffer_gl0_inv buffer_gl1_inv global_inv global_wb global_wbinv v_pipeflush"
)(_nothing)
# What a line held that is discarded may have been written back before.
direct("s_dcache_discard s_dcache_discard_x2", "assumed")(_nothing)


def _clock(instruction: Instruction, machine: Machine) -> Bound:
    write = scalar_writer(instruction.dst[0], "u64", instruction)
    return lambda g: write(g, machine.ticks(g, instruction.pc))


direct("s_memtime s_memrealtime s_get_shader_cycles_u64", "assumed")(_clock)


def _message(instruction: Instruction, machine: Machine) -> Bound:
    """An interrupt lets the host answer the calls that are ready; other messages change nothing."""
    calls = machine.launch.hostcall
    if calls is None or instruction.src[0].bits & 0xFF != INTERRUPT:
        return _nothing(instruction, machine)
    return lambda g: calls.serve()  # noqa: ARG005


direct("s_sendmsg")(_message)

GET_REALTIME = 0x83


def _message_answer(kind: str, instruction: Instruction, machine: Machine) -> Bound:
    """The message that returns the time (RDNA3 ISA manual, S_SENDMSG_RTN); other messages are not supported."""
    number = instruction.src[0].bits & 0xFF
    if number != GET_REALTIME:
        raise unsupported(instruction, f"message {number:#x} with an answer")
    write = scalar_writer(instruction.dst[0], kind, instruction)
    return lambda g: write(g, machine.ticks(g, instruction.pc).astype(kind.replace("u", "uint")))


for _name, _kind in (("s_sendmsg_rtn_b32", "u32"), ("s_sendmsg_rtn_b64", "u64")):
    direct(_name, "assumed")(partial(_message_answer, _kind))


def _trap(instruction: Instruction, machine: Machine) -> Bound:
    """Without a trap handler a trap ends the kernel."""
    number = instruction.src[0].bits

    def run(g: Group) -> None:
        g.stop(ENDED)
        machine.stop("trap", f"the kernel trapped (s_trap {number})", instruction.pc, g)

    return run


direct("s_trap")(_trap)


def _call(instruction: Instruction, machine: Machine) -> Bound:
    """Save the address of the next instruction and jump."""
    save = scalar_writer(instruction.dst[0], "u64", instruction)
    back = np.array([machine.launch.image_base + instruction.pc + instruction.size], np.uint64)
    target = np.array([instruction.target], np.int64)
    if instruction.target is None or not machine.kernel.code.is_code(instruction.target):
        return lambda g: machine.stop("fetch", no_code(machine, instruction.target), instruction.pc, g)

    def run(g: Group) -> None:
        save(g, back)
        g.pc = target

    return run


direct("s_call_b64 s_call_i64")(_call)
