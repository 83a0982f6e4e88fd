"""Branches that keep a path for later: the fork and join of gfx9, and the loop over halves of gfx11.

Source: CDNA1 ISA manual, S_CBRANCH_G_FORK, S_CBRANCH_I_FORK, S_CBRANCH_JOIN and 3.5 (MODE.CSP); RDNA1 ISA manual,
S_SUBVECTOR_LOOP_BEGIN and S_SUBVECTOR_LOOP_END.
"""

from __future__ import annotations

from tests.slow.machine.storage import MEMORY


def _pointer(wave, change=0):
    csp = (wave.mode >> 29) + change & 7
    wave.mode = wave.mode & ~(7 << 29) | csp << 29
    return csp


def _fork(wave, ins):
    chosen, active = wave.scalar(ins.src[0]), wave.exec_
    there = wave.scalar(ins.src[1]) if ins.target is None else ins.target
    passing, failing = chosen & active, ~chosen & active
    if passing == active:
        wave.pc = there
    elif failing != active:
        few = failing.bit_count() < passing.bit_count()
        place = 4 * _pointer(wave)
        wave.set_pair(place, passing if few else failing)
        wave.set_pair(place + 2, there if few else wave.pc)
        _pointer(wave, 1)
        wave.exec_ = failing if few else passing
        if not few:
            wave.pc = there


def _join(wave, ins):
    if _pointer(wave) != wave.scalar(ins.src[0]):
        place = 4 * _pointer(wave, -1)
        wave.exec_, wave.pc = wave.pair(place), wave.pair(place + 2)


LOW, HIGH = 126, 127


def _begin(wave, ins):
    to = ins.dst[0].index
    if wave.s[LOW] == wave.s[HIGH] == 0:
        wave.pc = ins.target
    elif wave.s[LOW] == 0:
        wave.s[to] = wave.s[LOW]
    else:
        wave.s[to] = wave.s[HIGH]
        wave.s[HIGH] = 0


def _end(wave, ins):
    held = ins.dst[0].index
    if wave.s[HIGH] != 0:
        wave.s[LOW] = wave.s[held]
    elif wave.s[held] != 0:
        wave.s[HIGH] = wave.s[held]
        wave.s[held] = wave.s[LOW]
        wave.s[LOW] = 0
        wave.pc = ins.target


MEMORY |= {
    "s_cbranch_g_fork": _fork,
    "s_cbranch_i_fork": _fork,
    "s_cbranch_join": _join,
    "s_subvector_loop_begin": _begin,
    "s_subvector_loop_end": _end,
}
