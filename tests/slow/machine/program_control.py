"""Program control: branches, calls, the barrier and the end of a wave.

Source: CDNA3 ISA manual, chapter 4 and section 12.5 (SOPP).
"""

from __future__ import annotations

from tests.slow.machine.storage import MEMORY

BRANCH = {
    "s_branch": lambda wave: True,
    "s_cbranch_scc0": lambda wave: wave.scc == 0,
    "s_cbranch_scc1": lambda wave: wave.scc == 1,
    "s_cbranch_vccz": lambda wave: wave.vcc == 0,
    "s_cbranch_vccnz": lambda wave: wave.vcc != 0,
    "s_cbranch_execz": lambda wave: wave.exec_ == 0,
    "s_cbranch_execnz": lambda wave: wave.exec_ != 0,
}


def _branch(wave, ins):
    if BRANCH[ins.name](wave):
        wave.pc = ins.target


def _end(wave, ins):
    wave.ended = True


def _barrier(wave, ins):
    wave.waiting = True


def _get_pc(wave, ins):
    wave.write_scalar(ins.dst[0], wave.pc)


def _set_pc(wave, ins):
    wave.pc = wave.scalar(ins.src[0])


def _swap_pc(wave, ins):
    target = wave.scalar(ins.src[0])
    wave.write_scalar(ins.dst[0], wave.pc)
    wave.pc = target


def _add_to_pc(wave, ins):
    distance = wave.scalar(ins.src[0])
    wave.pc += distance - (1 << 64) if distance >> 63 else distance


def _call(wave, ins):
    wave.write_scalar(ins.dst[0], wave.pc)
    wave.pc = ins.target


def _set_skip(wave, ins):
    """S_SETVSKIP: bit S1[4:0] of S0 becomes bit 28 of MODE."""
    value, place = (wave.scalar(operand) for operand in ins.src)
    wave.mode = wave.mode & ~(1 << 28) | (value >> (place & 31) & 1) << 28


def skipped(wave, ins):
    """Whether VSKIP is set and the instruction is a vector one: VOP, memory by lanes, LDS (CDNA3 ISA manual, 3.5)."""
    return bool(wave.facts.vector_mode and wave.mode >> 28 & 1 and not ins.name.startswith("s_"))


MEMORY |= dict.fromkeys(BRANCH, _branch)
MEMORY["s_setvskip"] = _set_skip
MEMORY |= dict.fromkeys(("s_endpgm_ordered_ps_done", "s_code_end"), _end)
MEMORY |= {
    "s_endpgm": _end,
    "s_barrier": _barrier,
    "s_getpc_b64": _get_pc,
    "s_setpc_b64": _set_pc,
    "s_swappc_b64": _swap_pc,
    "s_call_b64": _call,
    "s_add_pc_i64": _add_to_pc,
}
