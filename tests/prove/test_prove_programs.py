"""Drawn programs: what a symbolic execution holds of registers is what the machine leaves in them.

Halves and bytes are loaded from memory and from the LDS, moved, and written under lane masks, guards, and in blocks
that some waves skip. At the end every register of which a word or the content of a byte is known is compared.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.devices import SimDevice
from mfmasim.prove.contents import held
from mfmasim.prove.elements import Elements
from mfmasim.prove.execution import Execution
from mfmasim.prove.objects import open_contract
from mfmasim.prove.state import State
from mfmasim.prove.words import known
from tests.machine import harness
from tests.prove.hostile import RDNA, START

ITEMS, REGISTERS, BYTES = 128, range(2, 7), 2048
LOADS = {
    "gfx942": ("short_d16", "short_d16_hi", "ubyte_d16", "ubyte_d16_hi", "ubyte", "ushort", "sbyte_d16", "dword"),
    "gfx1151": ("d16_b16", "d16_hi_b16", "d16_u8", "d16_hi_u8", "u8", "u16", "d16_i8", "b32"),
}
LDS_LOADS = {
    "gfx942": ("read_u16_d16", "read_u16_d16_hi", "read_u8_d16", "read_u8_d16_hi", "read_u8", "read_u16", "read_b32"),
    "gfx1151": ("load_u16_d16", "load_u16_d16_hi", "load_u8_d16", "load_u8_d16_hi", "load_u8", "load_u16", "load_b32"),
}
LDS_STORES = {
    "gfx942": ("write_b32", "write_b16", "write_b8", "write_b16_d16_hi", "write_b8_d16_hi"),
    "gfx1151": ("store_b32", "store_b16", "store_b8", "store_b16_d16_hi", "store_b8_d16_hi"),
}


def drawn(rng: Random, arch: str) -> str:
    """Instructions: moves, loads and stores, some of them under a mask, a guard, or for one wave alone."""
    lanes, wait, add = (64, "s_waitcnt vmcnt(0) lgkmcnt(0)", "v_add_u32")
    if arch != "gfx942":
        lanes, add = 32, "v_add_nc_u32"
    every, some = ("exec", "s[20:21]") if lanes == 64 else ("exec_lo", "s20")
    width, condition = f"b{lanes}", "vcc" if lanes == 64 else "vcc_lo"

    def register() -> str:
        return f"v{rng.choice(REGISTERS)}"

    def one() -> str:
        kind = rng.randrange(8)
        to, a, b = register(), register(), register()
        if kind < 3:
            return f"global_load_{rng.choice(LOADS[arch])} {to}, v1, s[8:9] offset:{2 * rng.randrange(100)}\n {wait}"
        if kind == 3:
            return f"ds_{rng.choice(LDS_STORES[arch])} v1, {a} offset:{rng.choice((0, 512))}\n {wait}"
        if kind == 4:
            return f"ds_{rng.choice(LDS_LOADS[arch])} {to}, v1 offset:{rng.choice((0, 512))}\n {wait}"
        if kind == 5:
            return rng.choice(
                (f"v_mov_b32 {to}, {rng.choice((0, 7, -1))}", f"v_mov_b32 {to}, {a}", f"{add} {to}, v0, {a}")
            )
        if kind == 6:
            selector = rng.choice(("0x05040100", "0x07060302", "0x03020706", "0x0c0c0104"))
            return f"s_mov_b32 s22, {selector}\n v_perm_b32 {to}, {a}, {b}, s22"
        return rng.choice((f"v_lshlrev_b32 {to}, 16, {a}", f"v_lshrrev_b32 {to}, 8, {a}", f"v_or_b32 {to}, {a}, {b}"))

    out = []
    for number in range(rng.randint(4, 9)):
        inner = "\n ".join(one() for _ in range(rng.randint(1, 3)))
        how = rng.randrange(5)
        if how == 0:  # lanes that are known
            mask = rng.choice(("0x0000ffff", "0x55555555", "1"))
            saved, narrow = f"s_mov_{width} {some}, {every}", f"s_mov_{width} {every}, {mask}"
            inner = f"{saved}\n {narrow}\n {inner}\n s_mov_{width} {every}, {some}"
        elif how == 1:  # lanes below a size
            skip = "" if rng.randrange(2) else f"s_cbranch_execz meet{number}\n"
            inner = (
                f"v_cmp_gt_u32 {condition}, s12, v0\n s_and_saveexec_{width} {some}, {condition}\n {skip} {inner}\n"
                f"meet{number}:\n s_or_{width} {every}, {every}, {some}"
            )
        elif how == 2:  # one wave alone
            inner = f"s_cmp_eq_u32 s6, {rng.randrange(2)}\n s_cbranch_scc0 skip{number}\n {inner}\nskip{number}:"
        out.append(inner)
    return "\n ".join(out)


def compared(seed: int, arch: str) -> int:
    """Compare a program, and say how many bytes of registers were known."""
    rng = Random(seed)
    start = (RDNA if arch.startswith("gfx1") else START) + "".join(f" v_mov_b32 v{n}, {n}\n" for n in REGISTERS)
    wave = f" v_lshrrev_b32 v9, {6 if arch == 'gfx942' else 5}, v0\n v_readfirstlane_b32 s6, v9\n"
    store = "global_store_dword" if arch == "gfx942" else "global_store_b32"
    end = "".join(f" {store} v1, v{n}, s[10:11] offset:{4 * ITEMS * (n - 2)}\n" for n in REGISTERS) + " s_endpgm\n"
    text = start + wave + drawn(rng, arch) + "\n" + end
    kernel = harness.kernel(text, arch, "ppvv", lds=1024)
    contract = open_contract(kernel, (ITEMS,))
    first = replace(contract.args[0], tensor=SimpleNamespace(select=1), bits=8, writes=False)  # type: ignore[arg-type]
    contract = replace(contract, args=[first, *contract.args[1:]])
    execution = Execution(kernel, contract)
    execution.elements = Elements(kernel, contract, execution.segment.data)
    memory = np.random.default_rng(seed).integers(0, 256, BYTES, np.uint8)
    out, size = np.zeros((len(REGISTERS), ITEMS), np.uint32), rng.choice((1, 40, 70, 200))
    SimDevice().launch(kernel, 1, ITEMS, [memory, out, np.int64(size), np.int64(0)])
    count = 0
    for state in execution.run():
        if any(held_ != _holds(condition, size) for condition, held_ in state.decisions.items()):
            continue
        count += _compared(state, kernel.wave, out, memory, first.pointer)
    return count


def _holds(condition: object, size: int) -> bool:
    """A decision of a path, for the size that was run: programs decide nothing that all lanes share."""
    raise AssertionError(f"{condition} was decided, n is {size}")


def _compared(state: State, lanes: int, out: np.ndarray, memory: np.ndarray, pointer: object) -> int:
    count = 0
    shape = (len(state.waves), lanes)
    for place, number in enumerate(REGISTERS):
        machine = out[place].reshape(-1, lanes)[state.waves]
        value = known(state.vector("v", number))
        if value is not None:
            assert (np.broadcast_to(np.asarray(value, np.int64), shape) == machine).all(), (number, value, machine)
            count += machine.size
        for byte in range(4):
            content = held(state, ("v", number, byte))
            if content is None:
                continue
            base = np.broadcast_to(np.asarray(content.terms.get((pointer,), 0), np.int64), shape)
            assert set(content.terms) <= {(), (pointer,)}, content
            assert ((base == 0) | (base == 1)).all()
            offset = np.broadcast_to(np.asarray(content.constant, np.int64), shape)
            wanted = np.where(base == 1, memory[np.where(base == 1, offset, 0)], offset)
            assert (wanted == machine >> 8 * byte & 0xFF).all(), (number, byte, content)
            count += machine.size
    return count


@pytest.mark.parametrize("arch", sorted(LOADS))
def test_registers_of_drawn_programs_are_those_of_the_machine(arch: str) -> None:
    assert sum(compared(seed, arch) for seed in range(6)) >= 2000


@pytest.mark.long
@pytest.mark.parametrize("arch", sorted(LOADS))
def test_registers_of_many_drawn_programs_are_those_of_the_machine(arch: str) -> None:
    assert sum(compared(seed, arch) for seed in range(6, 150)) >= 50_000
