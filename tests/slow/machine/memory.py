"""Memory of the slow interpreter, byte by byte, and the memory instructions that use it.

Source: CDNA3 ISA manual, chapters 8, 10 and 11 and sections 12.12 (DS), 12.15 (FLAT, GLOBAL).
"""

from __future__ import annotations

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


class Memory:
    """Buffers at addresses of our own choosing, far apart."""

    def __init__(self):
        self.buffers = []

    def place(self, data):
        """Put bytes somewhere; returns their address."""
        address = 0x10_0000_0000 * (len(self.buffers) + 1)
        self.buffers.append((address, bytearray(data)))
        return address

    def _find(self, address):
        for start, data in self.buffers:
            if start <= address < start + len(data):
                return data, address - start
        raise AssertionError(f"the program under test uses address {address:#x}, which is in no buffer")

    def load(self, address, size):
        """Little-endian integer of `size` bytes."""
        return sum(self.byte(address + i) << 8 * i for i in range(size))

    def byte(self, address):
        """One byte."""
        data, offset = self._find(address)
        return data[offset]

    def store(self, address, value, size):
        """Write the low `size` bytes."""
        for i in range(size):
            data, offset = self._find(address + i)
            data[offset] = value >> 8 * i & 0xFF


class Lds:
    """The LDS of one workgroup: reads outside return 0, writes outside are dropped (section 3.6.1)."""

    def __init__(self, size):
        self.data = bytearray(b"\xa5" * size)

    def load(self, address, size):
        """Little-endian integer of `size` bytes; 0 when any of them is outside."""
        if address + size > len(self.data):
            return 0
        return int.from_bytes(self.data[address : address + size], "little")

    def store(self, address, value, size):
        """Write the low `size` bytes unless any of them is outside."""
        if address + size <= len(self.data):
            self.data[address : address + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


_WORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16,
          "b32": 1, "b64": 2, "b96": 3, "b128": 4}  # fmt: skip

# name without its unit: (bytes, sign-extended, None | "lo" | "hi" half of the register)
_SMALL_LOADS = {
    "ubyte": (1, False, None), "sbyte": (1, True, None), "ushort": (2, False, None), "sshort": (2, True, None),
    "ubyte_d16": (1, False, "lo"), "ubyte_d16_hi": (1, False, "hi"), "sbyte_d16": (1, True, "lo"),
    "sbyte_d16_hi": (1, True, "hi"), "short_d16": (2, False, "lo"), "short_d16_hi": (2, False, "hi"),
    "u8": (1, False, None), "i8": (1, True, None), "u16": (2, False, None), "i16": (2, True, None),
    "u8_d16": (1, False, "lo"), "u8_d16_hi": (1, False, "hi"), "i8_d16": (1, True, "lo"),
    "i8_d16_hi": (1, True, "hi"), "u16_d16": (2, False, "lo"), "u16_d16_hi": (2, False, "hi"),
}  # fmt: skip
_SMALL_STORES = {
    "byte": (1, 0), "byte_d16_hi": (1, 16), "short": (2, 0), "short_d16_hi": (2, 16),
    "b8": (1, 0), "b8_d16_hi": (1, 16), "b16": (2, 0), "b16_d16_hi": (2, 16),
}  # fmt: skip


def _extended(raw, size, sign, half, old):
    if sign and raw >> (8 * size - 1):
        raw -= 1 << 8 * size
    if half is None:
        return raw & M32
    return old & 0xFFFF0000 | raw & 0xFFFF if half == "lo" else old & 0xFFFF | (raw & 0xFFFF) << 16


def _load(wave, ins, lane, what, read, address):
    """One lane's load of `what` from a byte-addressed `read` into the destination."""
    to = ins.dst[0]
    file = wave.file(to.kind)
    if what in _WORDS:
        raw = [read(address + 4 * k, 4) for k in range(_WORDS[what])]
        for k, word in enumerate(raw):
            file[to.index + k][lane] = word
    else:
        size, sign, half = _SMALL_LOADS[what]
        file[to.index][lane] = _extended(read(address, size), size, sign, half, file[to.index][lane])


def _store(wave, lane, what, data, write, address):
    file = wave.file(data.kind)
    if what in _WORDS:
        for k in range(_WORDS[what]):
            write(address + 4 * k, file[data.index + k][lane], 4)
    else:
        size, shift = _SMALL_STORES[what]
        write(address, file[data.index][lane] >> shift, size)


def vector_address(wave, ins, lane):
    """Address of a FLAT or GLOBAL access: a 64-bit VGPR pair, or an SGPR base and an unsigned 32-bit offset."""
    vaddr, saddr = ins.src[:2]
    v = wave.v[vaddr.index][lane]
    base = v | wave.v[vaddr.index + 1][lane] << 32 if saddr.kind == "off" else wave.pair(saddr.index) + v
    return base + ins.modifiers["offset"] & M64


def vector_memory(wave, ins):
    """GLOBAL_LOAD_*, GLOBAL_STORE_* and their FLAT forms."""
    _, direction, what = ins.name.split("_", 2)
    # All lanes load before any destination is written: the destination may be the address.
    lanes = [(lane, vector_address(wave, ins, lane)) for lane in wave.active()]
    for lane, address in lanes:
        if direction == "load":
            _load(wave, ins, lane, what, wave.memory.load, address)
        else:
            _store(wave, lane, what, ins.src[2], wave.memory.store, address)


def ds(wave, ins):
    """DS_READ*, DS_WRITE*, with one offset or two."""
    _, direction, what = ins.name.split("_", 2)
    base = ins.src[0]
    for lane in wave.active():
        address = wave.v[base.index][lane]
        if "offset0" in ins.modifiers:
            _two(wave, ins, lane, direction, what, address)
        elif direction == "read":
            _load(wave, ins, lane, what, wave.lds.load, address + ins.modifiers["offset"] & M32)
        else:
            _store(wave, lane, what, ins.src[1], wave.lds.store, address + ins.modifiers["offset"] & M32)


def _two(wave, ins, lane, direction, what, address):
    words = _WORDS[what]
    step = 4 * words * (64 if "st64" in direction else 1)
    places = [address + ins.modifiers[f"offset{i}"] * step & M32 for i in (0, 1)]
    if direction.startswith("read"):
        raw = [wave.lds.load(place + 4 * k, 4) for place in places for k in range(words)]
        to = ins.dst[0]
        for k, word in enumerate(raw):
            wave.file(to.kind)[to.index + k][lane] = word
    else:
        for place, data in zip(places, ins.src[1:3], strict=True):
            _store(wave, lane, what, data, wave.lds.store, place)


def scalar_load(wave, ins):
    """S_LOAD_DWORD*: the two low bits of every part of the address are ignored."""
    base, soffset = ins.src[:2]
    offset = ins.modifiers.get("offset", 0)
    if soffset.kind == "s":
        offset += wave.s[soffset.index]
    address = (wave.pair(base.index) & ~3) + (offset & ~3)
    count = _WORDS[ins.name.removeprefix("s_load_")]
    words = [wave.memory.load(address + 4 * k, 4) for k in range(count)]
    for k, word in enumerate(words):
        wave.s[ins.dst[0].index + k] = word


MEMORY = {f"{unit}_load_{what}": vector_memory for unit in ("global", "flat") for what in _SMALL_LOADS | _WORDS}
MEMORY |= {f"{unit}_store_{what}": vector_memory for unit in ("global", "flat") for what in _SMALL_STORES | _WORDS}
MEMORY |= {f"ds_read_{what}": ds for what in _SMALL_LOADS | _WORDS}
MEMORY |= {f"ds_write_{what}": ds for what in _SMALL_STORES | _WORDS}
MEMORY |= {f"ds_{way}{stride}_{what}": ds for way in ("read2", "write2") for stride in ("", "st64")
           for what in ("b32", "b64")}  # fmt: skip
MEMORY |= {f"s_load_{what}": scalar_load for what in _WORDS if what.startswith("dword")}
