"""Reference of each LDS instruction, lane after lane on bytes, from the ISA manuals' DS chapters.

Sources: CDNA3 and CDNA4 ISA manuals, 12.13 (LDS and GWS instructions); RDNA3 and RDNA4 ISA manuals, DS/LDS opcodes.
From RDNA3 on, a compare-and-store takes the new value first and the comparand second, as memory atomics do.
"""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

SINGLE = 32  # bytes: the offset in the sources
PAIR = (1, 6)  # elements
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "96": 12, "128": 16}


def integers(bits: int, *, signed: bool = False) -> Callable[..., Any]:
    """From raw bits to a Python integer and back."""
    half = 1 << (bits - 1)
    return lambda raw: raw - (1 << bits) if signed and raw >= half else raw


def bfloat(raw: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", raw << 16))[0])


def floats(bits: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    kind, carrier = np.dtype(f"f{bits // 8}").type, np.dtype(f"u{bits // 8}").type
    return lambda raw: carrier(raw).view(kind), lambda value: int(kind(value).view(carrier))


def added(kind: str, bits: int) -> Callable[..., Any]:
    """Floating-point addition, rounded to nearest even once."""
    if kind == "bf":

        def add(old: int, data: int) -> int:
            wide = np.float32(bfloat(old)) + np.float32(bfloat(data))
            raw = int(wide.view(np.uint32))
            return (raw + 0x7FFF + (raw >> 16 & 1)) >> 16 & 0xFFFF

        return add
    load, store = floats(bits)
    return lambda old, data: store(load(old) + load(data))


def halves(add: Callable[..., int]) -> Callable[..., int]:
    return lambda old, data: add(old & 0xFFFF, data & 0xFFFF) | add(old >> 16, data >> 16) << 16


def smaller(kind: str, bits: int) -> Callable[..., Any]:
    read = floats(bits)[0] if kind == "f" else integers(bits, signed=kind == "i")
    return lambda old, data: data if read(data) < read(old) else old


def larger(kind: str, bits: int) -> Callable[..., Any]:
    read = floats(bits)[0] if kind == "f" else integers(bits, signed=kind == "i")
    return lambda old, data: data if read(data) > read(old) else old


def exchanged_if_marked(old: int, data: int) -> int:
    """Each half of 64 bits: its top bit says whether its other bits are stored."""
    out = 0
    for shift in (0, 32):
        mine, theirs = data >> shift & 0xFFFFFFFF, old >> shift & 0xFFFFFFFF
        out |= (mine & 0x7FFFFFFF if mine >> 31 else theirs) << shift
    return out


def operation(stem: str, kind: str, bits: int, newer: bool) -> Callable[..., Any] | None:
    """New value from the old one and one or two data operands; None if it is not an atomic operation."""
    top = 1 << bits

    def compared(old: int, new: int, want: int) -> int:
        same = floats(bits)[0](old) == floats(bits)[0](want) if kind == "f" else old == want
        return new if same else old

    table: dict[str, Callable[..., Any] | None] = {
        "add": added(kind, bits) if kind == "f" else lambda old, data: (old + data) % top,
        "sub": lambda old, data: (old - data) % top,
        "rsub": lambda old, data: (data - old) % top,
        "inc": lambda old, data: 0 if old >= data else old + 1,
        "dec": lambda old, data: data if old == 0 or old > data else old - 1,
        "min": smaller(kind, bits),
        "max": larger(kind, bits),
        "min_num": smaller(kind, bits),
        "max_num": larger(kind, bits),
        "and": lambda old, data: old & data,
        "or": lambda old, data: old | data,
        "xor": lambda old, data: old ^ data,
        "mskor": lambda old, mask, data: old & ~mask | data,
        "cmpst": lambda old, want, new: compared(old, new, want),
        "cmpstore": compared if newer else None,
        "wrxchg": lambda old, data: data,
        "storexchg": lambda old, data: data,
        "condxchg32": exchanged_if_marked,
        "wrap": lambda old, data, more: old - data if old >= data else (old + more) % top,
        "sub_clamp": lambda old, data: max(old - data, 0),
        "cond_sub": lambda old, data: old - data if old >= data else old,
    }
    if stem == "pk_add":
        return halves(added("bf" if kind == "bf" else "f", 16))
    return table.get(stem)


def dwords(values: Any) -> NDArray[Any]:
    return np.array(values, np.uint32)


class Wave:
    """The LDS as bytes, and what one instruction does for every lane in order."""

    def __init__(
        self, name: str, fill: NDArray[Any], addresses: NDArray[Any], data: NDArray[Any], results: NDArray[Any]
    ) -> None:
        self.name, self.memory = name, bytearray(fill.tobytes())
        self.addresses = addresses.astype(int).tolist()
        self.data, self.results = data.reshape(-1, 4), results.reshape(-1, 4).copy()

    def raw(self, lane: int, first: int, size: int) -> int:
        """A data operand of a lane as an integer."""
        return int.from_bytes(self.data[lane].tobytes()[4 * first : 4 * first + size], "little")

    def read(self, place: int, size: int) -> int:
        return int.from_bytes(self.memory[place : place + size], "little")

    def write(self, place: int, size: int, value: int) -> None:
        self.memory[place : place + size] = value.to_bytes(size, "little")

    def give(self, lane: int, value: int, size: int, first: int = 0) -> None:
        words = np.frombuffer(value.to_bytes(size, "little"), np.uint32)
        self.results[lane, first : first + len(words)] = words

    def run(self) -> tuple[NDArray[Any], NDArray[Any]]:
        words = self.name.removeprefix("ds_").split("_")
        if "tr" in words:
            self.transposed(int(words[-1][1:]), int(words[1][1:]))
        elif "addtid" in words:
            for lane in range(len(self.addresses)):
                self.addresses[lane] = 4 * lane
            self.plain(words[0], ["b32"])
        elif words[0] in ("read", "load", "write", "store") and words[1][0] in "uib":
            self.plain(words[0], words[1:])
        elif words[0].endswith(("d2", "e2", "xchg2", "st64")) or "2addr" in words:
            self.pair(words)
        else:
            self.atomic(words)
        return self.results.reshape(-1), np.frombuffer(bytes(self.memory), np.uint32)

    def plain(self, verb: str, words: list[str]) -> None:
        size, signed = SIZES[words[0][1:]], words[0][0] == "i"
        half = "high" if words[-1] == "hi" else "low" if words[-1] == "d16" else ""
        for lane, address in enumerate(self.addresses):
            place = address + SINGLE
            if verb in ("write", "store"):
                value = self.raw(lane, 0, max(size, 4)) >> (16 if half else 0)
                self.write(place, size, value & ((1 << 8 * size) - 1))
                continue
            value = self.read(place, size)
            if size < 4:
                width = 16 if half else 32
                value = integers(8 * size, signed=signed)(value) & ((1 << width) - 1)
                old = int(self.results[lane, 0])
                value = value << 16 | old & 0xFFFF if half == "high" else value | old & 0xFFFF0000 if half else value
            self.give(lane, value, max(size, 4))

    def pair(self, words: list[str]) -> None:
        size = SIZES[words[-1][1:]]
        stride = size * (64 if "st64" in words[0] or "stride64" in words else 1)
        exchange = "xchg" in words[0]
        for lane, address in enumerate(self.addresses):
            for number, offset in enumerate(PAIR):
                place = address + offset * stride
                if exchange or words[0].startswith(("read", "load")):
                    self.give(lane, self.read(place, size), size, number * size // 4)
                if exchange or words[0].startswith(("write", "store")):
                    self.write(place, size, self.raw(lane, 2 * number, size))

    def atomic(self, words: list[str]) -> None:
        returns = "rtn" in words
        words = [word for word in words if word != "rtn"]
        stem, kind = "_".join(words[:-1]), words[-1].rstrip("0123456789")
        packed = stem == "pk_add"
        size = 4 if packed else SIZES[words[-1][len(kind) :]]
        apply = operation(stem, kind, 8 * size, newer="cmpstore" in self.name)
        count = 2 if stem in ("mskor", "cmpst", "cmpstore", "wrap") else 1
        if apply is None:
            raise NotImplementedError(self.name)
        for lane, address in enumerate(self.addresses):
            old = self.read(address + SINGLE, size)
            self.write(address + SINGLE, size, apply(old, *[self.raw(lane, 2 * k, size) for k in range(count)]))
            if returns:
                self.give(lane, old, size)

    def transposed(self, bits: int, read: int) -> None:
        """Sixteen lanes read a tile of rows of sixteen elements; lane t receives column t."""
        size, count = read // 8, read // bits
        for first in range(0, len(self.addresses), 16):
            tile = 0
            for lane in range(16):
                tile |= self.read(self.addresses[first + lane] + SINGLE, size) << (lane * read)
            for lane in range(16):
                value = 0
                for row in range(count):
                    element = tile >> ((16 * row + lane) * bits) & ((1 << bits) - 1)
                    value |= element << (row * bits)
                self.give(first + lane, value, size)


def instruction(name: str) -> Callable[..., Any]:
    """The reference of one instruction's kernel: (fill, addresses, data, results) to what it writes."""
    return lambda fill, addresses, data, results: Wave(name, fill, addresses, data, results).run()


def copied(source: NDArray[Any], floats: int) -> NDArray[Any]:
    """A copy whose last elements are out of the buffer's range."""
    out = source.copy()
    out[floats:] = 0
    return out


def numbered(count: int) -> NDArray[Any]:
    """Floats 1, 2, ...: none is the 0 of a load out of range."""
    return np.arange(1, count + 1, dtype=np.float32)
