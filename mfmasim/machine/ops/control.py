"""Branches, barriers, waits and scheduling hints. Source: CDNA3 ISA manual, SOPP and SOP1.

Waits change nothing in a machine that delivers every load at once; checks that need the order track it themselves.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.barrier import settle
from mfmasim.machine.state.waves import ENDED, EXEC, VCC

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

    Condition = Callable[[Group], NDArray[np.bool_]]


def _nothing(_instruction: Instruction, _machine: Machine) -> Bound:
    return lambda g: None  # noqa: ARG005


direct(
    "s_nop s_waitcnt s_waitcnt_vscnt s_waitcnt_depctr s_sleep s_clause s_delay_alu "
    "s_set_inst_prefetch_distance s_inst_prefetch s_icache_inv s_dcache_wb s_dcache_inv s_wait_alu "
    "s_wait_loadcnt s_wait_storecnt s_wait_dscnt s_wait_kmcnt s_wait_expcnt s_wait_samplecnt s_wait_bvhcnt "
    "s_waitcnt_vmcnt s_waitcnt_expcnt s_waitcnt_lgkmcnt s_wait_event s_sleep_var s_gl1_inv s_version s_prefetch_data "
    "s_prefetch_data_pc_rel s_prefetch_inst s_prefetch_inst_pc_rel s_buffer_prefetch_data "
    "s_wakeup_barrier global_prefetch_b8 flat_prefetch_b8 "
    "s_wait_idle s_wait_loadcnt_dscnt s_wait_storecnt_dscnt s_sched_barrier s_ttracedata s_ttracedata_imm "
    "s_incperflevel s_decperflevel s_wait_asynccnt s_wait_tensorcnt s_wait_xcnt s_monitor_sleep"
)(_nothing)


def _end(_instruction: Instruction, _machine: Machine) -> Bound:
    def run(g: Group) -> None:
        g.stop(ENDED)
        if g.waves.signalled.any():
            settle(g.waves)  # no wave waits for one that has ended
        if g.waves.further.arrived.any():
            g.waves.further.settle_clusters(g.waves)

    return run


direct("s_endpgm s_endpgm_ordered_ps_done")(_end)


def _padding(instruction: Instruction, machine: Machine) -> Bound:
    """Behind the end of a program: the hardware raises an exception (RDNA3 ISA manual, S_CODE_END)."""

    def run(g: Group) -> None:
        g.stop(ENDED)
        machine.stop("trap", "execution runs into s_code_end, behind the end of the program", instruction.pc, g)

    return run


direct("s_code_end")(_padding)


def _zero(g: Group, code: int) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = g.s(code) == 0
    if g.lanes == 64:
        out = out & (g.s(code + 1) == 0)
    return out


# What each conditional branch tests, for every wave of the group, and what it must be for the branch to be taken.
TAKEN: dict[str, tuple[Condition, bool]] = {
    "s_cbranch_scc0": (lambda g: g.scc, False),
    "s_cbranch_scc1": (lambda g: g.scc, True),
    "s_cbranch_vccz": (lambda g: _zero(g, VCC), True),
    "s_cbranch_vccnz": (lambda g: _zero(g, VCC), False),
    "s_cbranch_execz": (lambda g: _zero(g, EXEC), True),
    "s_cbranch_execnz": (lambda g: _zero(g, EXEC), False),
}


def _branch(condition: Condition | None, wanted: bool, instruction: Instruction, machine: Machine) -> Bound:
    target = instruction.target
    if target is None:
        raise unsupported(instruction, "branch without a target")
    if not machine.kernel.code.is_code(target):
        return _astray(instruction, machine, None if condition is None else lambda g: condition(g) == wanted)
    there, after = np.array([target]), np.array([instruction.pc + instruction.size])
    if_true, if_false = (there, after) if wanted else (after, there)

    def run(g: Group) -> None:
        if condition is None:
            g.pc = there
            return
        found = condition(g)
        if len(found) == 1:
            g.pc = if_true if found[0] else if_false
        else:
            g.pc = np.where(found, if_true, if_false)

    return run


def _astray(instruction: Instruction, machine: Machine, condition: Condition | None) -> Bound:
    """A branch outside the code: it ends the launch when a wave takes it."""

    def run(g: Group) -> None:
        taken = np.ones(1, np.bool_) if condition is None else condition(g)
        if taken.any():
            machine.stop("fetch", no_code(machine, instruction.target), instruction.pc, g, int(taken.argmax()))

    return run


def no_code(machine: Machine, address: int | None) -> str:
    """What is wrong with a jump to an address of the code object."""
    absolute = (machine.launch.image_base + (address or 0)) & 0xFFFF_FFFF_FFFF_FFFF
    region = machine.memory.region_at(absolute)
    if machine.kernel.code.is_code((address or 0) & ~3):
        why = "which is not a multiple of 4"
    else:
        why = f"which is outside the code: {f'in {region.name}' if region else machine.memory.nearest(absolute)}"
    return f"jump to {absolute:#x}, {why}"


direct("s_branch")(partial(_branch, None, True))
for _name, (_condition, _wanted) in TAKEN.items():
    direct(_name)(partial(_branch, _condition, _wanted))


def _getpc(instruction: Instruction, machine: Machine) -> Bound:
    write = scalar_writer(instruction.dst[0], "u64", instruction)
    value = np.array([machine.launch.image_base + instruction.pc + instruction.size], np.uint64)
    return lambda g: write(g, value)


direct("s_getpc_b64 s_get_pc_i64")(_getpc)


def _addpc(instruction: Instruction, machine: Machine) -> Bound:
    """Jump by a distance in bytes from the next instruction, as LLVM uses it; the manual names the opcode only."""
    read = scalar_reader(instruction.src[0], "i64", instruction)
    is_code = machine.kernel.code.is_code

    def run(g: Group) -> None:
        target = read(g) + np.int64(instruction.pc + instruction.size)
        for address in set(target.tolist()):
            if not is_code(address):
                machine.stop("fetch", no_code(machine, address), instruction.pc, g, target.tolist().index(address))
                return
        g.pc = target

    return run


direct("s_add_pc_i64", "assumed")(_addpc)


def _setpc(instruction: Instruction, machine: Machine) -> Bound:
    """s_setpc jumps; s_swappc also saves the address of the next instruction."""
    read = scalar_reader(instruction.src[0], "u64", instruction)
    save = scalar_writer(instruction.dst[0], "u64", instruction) if instruction.dst else None
    base, is_code = machine.launch.image_base, machine.kernel.code.is_code
    back = np.array([base + instruction.pc + instruction.size], np.uint64)

    def run(g: Group) -> None:
        target = read(g).astype(np.int64) - base
        for address in set(target.tolist()):
            if not is_code(address):
                machine.stop("fetch", no_code(machine, address), instruction.pc, g, target.tolist().index(address))
                return
        if save is not None:
            save(g, back)
        g.pc = target

    return run


direct("s_setpc_b64 s_swappc_b64 s_set_pc_i64 s_swap_pc_i64")(_setpc)
