"""Memory and the LDS of the slow interpreter, byte by byte, and how lanes load from them and store to them.

Source: CDNA3 ISA manual, chapters 8 to 11.
"""

from __future__ import annotations

M32 = (1 << 32) - 1

MEMORY = {}
"""Operations that take the whole wave, by name: memory and what else is no function of a lane's values."""


class Memory:
    """Buffers at addresses of our own choosing, far apart."""

    def __init__(self):
        self.buffers = []
        self.gds = bytearray(b"\xa5" * 4096)

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


class Whole:
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


WORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16,
          "b32": 1, "b64": 2, "b96": 3, "b128": 4}  # fmt: skip

# name without its unit: (bytes, sign-extended, None | "lo" | "hi" half of the register)
SMALL_LOADS = {
    "ubyte": (1, False, None), "sbyte": (1, True, None), "ushort": (2, False, None), "sshort": (2, True, None),
    "ubyte_d16": (1, False, "lo"), "ubyte_d16_hi": (1, False, "hi"), "sbyte_d16": (1, True, "lo"),
    "sbyte_d16_hi": (1, True, "hi"), "short_d16": (2, False, "lo"), "short_d16_hi": (2, False, "hi"),
    "u8": (1, False, None), "i8": (1, True, None), "u16": (2, False, None), "i16": (2, True, None),
    "u8_d16": (1, False, "lo"), "u8_d16_hi": (1, False, "hi"), "i8_d16": (1, True, "lo"),
    "i8_d16_hi": (1, True, "hi"), "u16_d16": (2, False, "lo"), "u16_d16_hi": (2, False, "hi"),
}  # fmt: skip
SMALL_STORES = {
    "byte": (1, 0), "byte_d16_hi": (1, 16), "short": (2, 0), "short_d16_hi": (2, 16),
    "b8": (1, 0), "b8_d16_hi": (1, 16), "b16": (2, 0), "b16_d16_hi": (2, 16),
}  # fmt: skip


def _extended(raw, size, sign, half, old):
    if sign and raw >> (8 * size - 1):
        raw -= 1 << 8 * size
    if half is None:
        return raw & M32
    return old & 0xFFFF0000 | raw & 0xFFFF if half == "lo" else old & 0xFFFF | (raw & 0xFFFF) << 16


def load_lane(wave, ins, lane, what, read, address):
    """One lane's load of `what` from a byte-addressed `read` into the destination."""
    to = ins.dst[0]
    file = wave.file(to.kind)
    if what in WORDS:
        raw = [read(address + 4 * k, 4) for k in range(WORDS[what])]
        for k, word in enumerate(raw):
            file[to.index + k][lane] = word
    else:
        size, sign, half = SMALL_LOADS[what]
        old = 0 if wave.facts.clears_halves else file[to.index][lane]
        file[to.index][lane] = _extended(read(address, size), size, sign, half, old)


def store_lane(wave, lane, what, data, write, address):
    file = wave.file(data.kind)
    if what in WORDS:
        for k in range(WORDS[what]):
            write(address + 4 * k, file[data.index + k][lane], 4)
    else:
        size, shift = SMALL_STORES[what]
        write(address, file[data.index][lane] >> shift, size)


def size_of(what):
    table = {**{k: 4 * v for k, v in WORDS.items()}, **{k: v[0] for k, v in (SMALL_LOADS | SMALL_STORES).items()}}
    return table[what]
