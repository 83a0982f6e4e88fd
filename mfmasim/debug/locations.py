"""Locations of variables: DWARF expressions, evaluated for all lanes at once.

LLVM describes a local variable of device code as memory of address space 1 (private), and keeps those operations when
the variable moves to a register: a location that refers to no frame is then the value itself (seen with LLVM 22 at -O1
and above). Register numbers: LLVM's AMDGPU usage guide, "Register Identifier". Operations: DWARF 5, section 2.5.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.debug.state import State

    Lanes = NDArray[np.uint64]
    Reader = Callable[[int, int], Lanes | None]


#  first  count  file  first register
REGISTERS = (
    (32, 64, "s", 0), (1088, 42, "s", 64), (1536, 256, "v", 0), (2560, 256, "v", 0), (2048, 256, "a", 0),
    (3072, 256, "a", 0),
)  # fmt: skip
STEPS = 10_000
BINARY: dict[int, Callable[[Any, Any], Any]] = {
    0x1A: lambda a, b: a & b,
    0x1C: lambda a, b: a - b,
    0x1E: lambda a, b: a * b,
    0x21: lambda a, b: a | b,
    0x22: lambda a, b: a + b,
    0x24: lambda a, b: a << np.where(b < 64, b, 63),
    0x25: lambda a, b: a.view(np.uint64) >> b.view(np.uint64),
    0x26: lambda a, b: a >> np.where(b < 64, b, 63),
    0x27: lambda a, b: a ^ b,
}
FIXED = {0x08: "B", 0x09: "b", 0x0A: "H", 0x0B: "h", 0x0C: "I", 0x0D: "i", 0x0E: "Q", 0x0F: "q"}


class UnknownError(Exception):
    """An operation or register that is not known here."""


def register(number: int) -> tuple[str, int]:
    """File and index of a DWARF register."""
    for first, count, file, index in REGISTERS:
        if first <= number < first + count:
            return file, index + number - first
    raise UnknownError(number)


def held(state: State, file: str, index: int) -> Lanes:
    """The value of a register by lane.

    Args:
        state: registers of the wave.
        file: ``v``, ``a`` or ``s``.
        index: number of the register.
    """
    if file == "s":
        return np.full(state.lanes, state.scalar(index), np.uint64)
    return state.vector(file, index).astype(np.uint64)


def of_registers(state: State, file: str, index: int) -> Reader:
    """Reads bits of consecutive registers.

    Args:
        state: registers of the wave.
        file: ``v``, ``a`` or ``s``.
        index: number of the first register.
    """

    def read(bit: int, width: int) -> Lanes | None:
        total, got = np.zeros(state.lanes, np.uint64), 0
        while got < width:
            word, shift = divmod(bit + got, 32)
            part = held(state, file, index + word) >> np.uint64(shift)
            take = min(32 - shift, width - got)
            total |= (part & np.uint64((1 << take) - 1)) << np.uint64(got)
            got += take
        return total

    return read


def of_value(values: Lanes) -> Reader:
    """Reads bits of a value of at most 64 bits."""

    def read(bit: int, width: int) -> Lanes | None:
        if bit + width > 64:
            return None
        mask = np.uint64((1 << width) - 1)
        found: Lanes = values >> np.uint64(bit) & mask
        return found

    return read


def of_memory(read_bytes: Callable[[Any, int], Lanes | None], addresses: Any) -> Reader:
    """Reads bits of memory; `read_bytes` takes addresses and a size in bytes."""

    def read(bit: int, width: int) -> Lanes | None:
        first, last = bit // 8, (bit + width - 1) // 8
        found = read_bytes(addresses + first, last - first + 1)
        if found is None:
            return None
        bits: Lanes = found >> np.uint64(bit % 8) & np.uint64((1 << width) - 1)
        return bits

    return read


def of_pieces(pieces: list[tuple[int, Reader | None]]) -> Reader:
    """Reads bits of an object whose parts, each (bits, reader), lie in several places."""

    def read(bit: int, width: int) -> Lanes | None:
        total: Lanes | None = None
        first = got = 0
        for size, reader in pieces:
            at = bit + got - first
            if 0 <= at < size and got < width:
                take = min(size - at, width - got)
                part = None if reader is None else reader(at, take)
                if part is None:
                    return None
                total = part if total is None else total | part << np.uint64(got)
                got += take
            first += size
        return total if got == width else None

    return read


def locate(state: State, expression: bytes, frame_base: bytes) -> Reader | None:
    """A reader of a variable's bits; None if the expression cannot be followed, or the variable was optimised out.

    Args:
        state: registers and memory.
        expression: of the variable.
        frame_base: of its function.
    """
    if not expression:
        return None
    try:
        return _Evaluation(state, frame_base).run(expression)
    except (UnknownError, IndexError, struct.error, MfmasimError):
        return None


class _Evaluation:
    """One expression."""

    def __init__(self, state: State, frame_base: bytes) -> None:
        self.state, self.frame_base = state, frame_base
        self.stack: list[Any] = []
        self.frame = self.value = False
        self.single: tuple[str, int] | None = None
        """The register, while the expression consists of it alone."""

    def run(self, data: bytes) -> Reader | None:
        pieces: list[tuple[int, Reader | None]] = []
        at, steps = 0, 0
        here: Reader | None = None
        while at < len(data):
            steps += 1
            if steps > STEPS:
                raise UnknownError("length")
            code = data[at]
            at += 1
            if code == 0x93:  # piece
                size, at = uleb(data, at)
                pieces.append((8 * size, here or self.result()))
                here, self.stack, self.frame, self.value, self.single = None, [], False, False, None
            elif 0x50 <= code <= 0x6F or code == 0x90:  # reg
                number, at = (code - 0x50, at) if code != 0x90 else uleb(data, at)
                here = of_registers(self.state, *register(number))
            else:
                at = self.step(code, data, at)
        if pieces:
            return of_pieces(pieces)
        return here or self.result()

    def result(self) -> Reader | None:
        if not self.stack:
            return None
        if self.frame and not self.value:
            return of_memory(self.state.scratch, self.stack[-1])
        if self.single is not None:
            return of_registers(self.state, *self.single)
        return of_value(np.asarray(self.stack[-1], np.int64).view(np.uint64))

    def step(self, code: int, data: bytes, at: int) -> int:
        stack = self.stack
        if 0x30 <= code <= 0x4F:
            stack.append(self.constant(code - 0x30))
        elif code in FIXED:
            size = struct.calcsize(FIXED[code])
            stack.append(self.constant(struct.unpack_from(f"<{FIXED[code]}", data, at)[0]))
            at += size
        elif code in (0x10, 0x11):
            value, at = uleb(data, at) if code == 0x10 else sleb(data, at)
            stack.append(self.constant(value))
        elif 0x70 <= code <= 0x8F or code == 0x92:  # breg
            number, at = (code - 0x70, at) if code != 0x92 else uleb(data, at)
            offset, at = sleb(data, at)
            place = register(number)
            self.single = place if not stack and not offset else None
            stack.append(held(self.state, *place).astype(np.int64) + offset)
        elif code == 0x91:  # fbreg
            offset, at = sleb(data, at)
            self.frame = True
            stack.append(self.base() + offset)
        elif code == 0x12:
            stack.append(stack[-1])
        elif code == 0x16:
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif code == 0x18:  # xderef of address space 1: private memory in LLVM
            stack.pop(-2 if len(stack) > 1 else -1)
            # The operand order is space, address; the address stays.
        elif code in BINARY:
            right = stack.pop()
            stack[-1] = BINARY[code](stack[-1], right)
            self.single = None
        elif code in (0x1F, 0x20):
            stack[-1] = -stack[-1] if code == 0x1F else ~stack[-1]
            self.single = None
        elif code == 0x23:
            value, at = uleb(data, at)
            stack[-1] = stack[-1] + value
            self.single = None
        elif code == 0x94:
            at += 1
        elif code == 0x9F:
            self.value = True
            if self.frame:
                self.frame = False
        elif code == 0xA8:  # convert: to a type of the same width, for sign extension
            _, at = uleb(data, at)
        elif code != 0x96:
            raise UnknownError(code)
        return at

    def constant(self, value: int) -> Any:
        return np.full(self.state.lanes, (value + (1 << 63)) % (1 << 64) - (1 << 63), np.int64)

    def base(self) -> Any:
        """The frame's address in a lane's scratch."""
        data = self.frame_base
        if not data:
            raise UnknownError("frame base")
        number = data[0] - 0x50 if 0x50 <= data[0] <= 0x6F else uleb(data, 1)[0]
        file, index = register(number)
        value = held(self.state, file, index).astype(np.int64)
        # If scratch is a buffer of interleaved dwords, stack registers count the bytes of a whole wave.
        return value // self.state.lanes if self.state.launch.kernel.arch.scratch_resource else value


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def sleb(data: bytes, at: int) -> tuple[int, int]:
    """A signed LEB128 number, and the offset behind it."""
    begin = at
    value, at = uleb(data, at)
    bits = 7 * (at - begin)
    return value - (1 << bits) if data[at - 1] & 0x40 else value, at
