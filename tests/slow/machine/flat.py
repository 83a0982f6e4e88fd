"""FLAT_* and SCRATCH_*: an address tells the space, and a work-item has memory of its own.

Source: CDNA3 and CDNA4 ISA manuals, chapters 9 and 10, read apart from the machine.
"""

from __future__ import annotations

from tests.slow.machine.memory import _SMALL_LOADS, _SMALL_STORES, _WORDS, MEMORY, _load, _store
from tests.slow.machine.scalar_alu import signed

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


# FLAT and SCRATCH.

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


def _size(what):
    table = {**{k: 4 * v for k, v in _WORDS.items()}, **{k: v[0] for k, v in (_SMALL_LOADS | _SMALL_STORES).items()}}
    return table[what]


class _Whole:
    """LDS access in parts that is inside or outside as a whole."""

    def __init__(self, lds, first, size):
        self.lds, self.fine = lds, first + size <= len(lds.data)

    def load(self, address, size):
        """0 when the whole access does not fit."""
        return self.lds.load(address, size) if self.fine else 0

    def store(self, address, value, size):
        """Nothing when the whole access does not fit."""
        if self.fine:
            self.lds.store(address, value, size)


def _space(wave, lane, address, size):
    """(memory, address in it) of a flat address."""
    high, low = address >> 32, address & M32
    if high == SHARED:
        return _Whole(wave.lds, low, size), low
    if high == PRIVATE:
        return Scratch(wave, lane).access(low, size), low
    return wave.memory, address


def _flat_address(wave, ins, lane):
    vaddr = ins.src[0].index
    return (wave.v[vaddr][lane] | wave.v[vaddr + 1][lane] << 32) + ins.modifiers["offset"] & M64


def _scratch_address(wave, ins, lane):
    vaddr, saddr = ins.src[:2]
    total = wave.v[vaddr.index][lane] if vaddr.kind == "v" else 0
    total += wave.s[saddr.index] if saddr.kind == "s" else 0
    return signed(total) + ins.modifiers["offset"]


def _private(wave, ins):
    """FLAT_* and SCRATCH_* loads and stores."""
    segment, direction, what = ins.name.split("_", 2)
    size = _size(what)
    places = []
    for lane in wave.active():
        if segment == "flat":
            places.append((lane, *_space(wave, lane, _flat_address(wave, ins, lane), size)))
        else:
            address = _scratch_address(wave, ins, lane)
            places.append((lane, Scratch(wave, lane).access(address, size), address))
    for lane, memory, address in places:
        if direction == "load":
            _load(wave, ins, lane, what, memory.load, address)
        else:
            _store(wave, lane, what, ins.src[2], memory.store, address)


MEMORY |= {f"{unit}_load_{what}": _private for unit in ("flat", "scratch") for what in _SMALL_LOADS | _WORDS}
MEMORY |= {f"{unit}_store_{what}": _private for unit in ("flat", "scratch") for what in _SMALL_STORES | _WORDS}

_NEW = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "u8": "ubyte", "i8": "sbyte",
        "u16": "ushort", "i16": "sshort", "b8": "byte", "b16": "short"}  # fmt: skip
ALIASES = {}
"""gfx11 and gfx12 spelling: gfx9 spelling."""
for _unit in ("flat", "scratch"):
    for _way in ("load", "store"):
        ALIASES |= {f"{_unit}_{_way}_{new}": f"{_unit}_{_way}_{old}" for new, old in _NEW.items()}
        ALIASES |= {f"{_unit}_{_way}_d16_{half}{new}": f"{_unit}_{_way}_{_NEW[new]}_d16{'_hi' if half else ''}"
                    for half in ("", "hi_") for new in ("u8", "i8", "b8", "b16")}  # fmt: skip
for _half in ("u8", "i8"):
    ALIASES |= {f"ds_load_{_half}_d16{hi}": f"ds_read_{_half}_d16{hi}" for hi in ("", "_hi")}
ALIASES["ds_store_b8_d16_hi"] = "ds_write_b8_d16_hi"
ALIASES = {new: old for new, old in ALIASES.items() if old in MEMORY}
