"""FLAT, GLOBAL and SCRATCH: an address tells the space, and a work-item has memory of its own.

Source: CDNA3 and CDNA4 ISA manuals, chapters 9 and 10 and section 12.15, read apart from the machine.
"""

from __future__ import annotations

from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY, SMALL_LOADS, SMALL_STORES, WORDS, Whole, load_lane, size_of, store_lane

M32, M64 = (1 << 32) - 1, (1 << 64) - 1

SCRATCH_BYTES = 96
"""Scratch of a work-item in the probes' kernels."""
SHARED, PRIVATE = 0x10000, 0x20000
"""Upper halves of the addresses in the LDS and scratch apertures."""


class Scratch:
    """The scratch of one lane; reads outside give poison, writes outside are dropped."""

    def __init__(self, wave, lane):
        if not hasattr(wave, "scratch"):
            wave.scratch = [bytearray(b"\xa5" * SCRATCH_BYTES) for _ in range(64)]
        self.data = wave.scratch[lane]

    def load(self, address, size):
        """Little-endian integer; an access that ends outside gives poison as a whole."""
        if not 0 <= self.first <= len(self.data) - self.whole:
            return 0xA5A5A5A5 & (1 << 8 * size) - 1
        return int.from_bytes(self.data[address : address + size], "little")

    def store(self, address, value, size):
        """Write the low bytes."""
        if 0 <= self.first <= len(self.data) - self.whole:
            self.data[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def access(self, first, whole):
        """The access that the following loads and stores are parts of."""
        self.first, self.whole = first, whole
        return self


def space_of(wave, lane, address, size):
    """(memory, address in it) of a flat address."""
    high, low = address >> 32, address & M32
    if high == SHARED:
        return Whole(wave.lds, low, size), low
    if high == PRIVATE:
        return Scratch(wave, lane).access(low, size), low
    return wave.memory, address


def vector_address(wave, ins, lane):
    """Address of a FLAT or GLOBAL access: a 64-bit VGPR pair, or an SGPR base and an unsigned 32-bit offset."""
    vaddr, saddr = ins.src[:2]
    v = wave.v[vaddr.index][lane]
    base = v | wave.v[vaddr.index + 1][lane] << 32 if saddr.kind == "off" else wave.pair(saddr.index) + v
    return base + ins.modifiers["offset"] & M64


def flat_address(wave, ins, lane):
    vaddr = ins.src[0].index
    return (wave.v[vaddr][lane] | wave.v[vaddr + 1][lane] << 32) + ins.modifiers["offset"] & M64


def scratch_address(wave, ins, lane):
    vaddr, saddr = ins.src[:2]
    total = wave.v[vaddr.index][lane] if vaddr.kind == "v" else 0
    total += wave.s[saddr.index] if saddr.kind == "s" else 0
    return signed(total) + ins.modifiers["offset"]


def _private(wave, ins):
    """FLAT_* and SCRATCH_* loads and stores."""
    segment, direction, what = ins.name.split("_", 2)
    size = size_of(what)
    places = []
    for lane in wave.active():
        if segment == "flat":
            places.append((lane, *space_of(wave, lane, flat_address(wave, ins, lane), size)))
        else:
            address = scratch_address(wave, ins, lane)
            places.append((lane, Scratch(wave, lane).access(address, size), address))
    for lane, memory, address in places:
        if direction == "load":
            load_lane(wave, ins, lane, what, memory.load, address)
        else:
            store_lane(wave, lane, what, ins.src[2], memory.store, address)


def _global(wave, ins):
    """GLOBAL_LOAD_*, GLOBAL_STORE_*."""
    _, direction, what = ins.name.split("_", 2)
    # All lanes load before any destination is written: the destination may be the address.
    lanes = [(lane, vector_address(wave, ins, lane)) for lane in wave.active()]
    for lane, address in lanes:
        if direction == "load":
            load_lane(wave, ins, lane, what, wave.memory.load, address)
        else:
            store_lane(wave, lane, what, ins.src[2], wave.memory.store, address)


def _global_by_lane(wave, ins):
    """GLOBAL_LOAD_ADDTID, GLOBAL_STORE_ADDTID: scalar base, offset and four bytes a lane."""
    base = next((x for x in ins.src if x.kind == "s"), None)
    start = (wave.pair(base.index) if base else 0) + ins.modifiers["offset"]
    for lane in wave.active():
        if ins.dst:
            wave.v[ins.dst[0].index][lane] = wave.memory.load(start + 4 * lane, 4)
        else:
            wave.memory.store(start + 4 * lane, wave.v[ins.src[-1].index][lane], 4)


for _unit, _run in (("global", _global), ("flat", _private), ("scratch", _private)):
    MEMORY |= {f"{_unit}_load_{what}": _run for what in SMALL_LOADS | WORDS}
    MEMORY |= {f"{_unit}_store_{what}": _run for what in SMALL_STORES | WORDS}
MEMORY |= {f"global_{way}_addtid_b32": _global_by_lane for way in ("load", "store")}
