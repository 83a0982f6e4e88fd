"""Registers of a matrix operand, element by element: "this is A[3, 17], and it is 0.5"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.errors import MfmasimError, decimal
from mfmasim.formats import format as number_format
from mfmasim.isa import Instruction, Operand
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.matrix import Fragment


def matrix_operands(instruction: Instruction, arch: Arch, wave: int) -> dict[str, tuple[Fragment, Operand]]:
    """Operands of a matrix instruction by name: the layout under its modifiers and wave size, and the registers.

    Empty for any other instruction. A sparse instruction reads C from D's registers.

    Args:
        instruction: any instruction.
        arch: the architecture.
        wave: lanes of a wave.
    """
    if not instruction.opcode.matrix:
        return {}
    operation, modes = resolve(instruction, arch, wave)
    places = dict(zip(operation.row.sources, instruction.src, strict=True)) | {"D": instruction.dst[0]}
    return {name: (fragment, places[name]) for name, fragment in operation.under(modes).items()}


@dataclass(frozen=True, eq=False)
class FragmentValues:
    """An operand of one wave.

    Attributes:
        fragment: the layout.
        kind: ``v`` or ``a``.
        first: number of the operand's first register.
        registers: their values, uint32 (registers, lanes).
    """

    fragment: Fragment
    kind: str
    first: int
    registers: NDArray[np.uint32]

    @cached_property
    def table(self) -> NDArray[np.void]:
        """One row per place: the columns of `Fragment.table`, ``code`` (uint64) and ``value`` (float64, exact)."""
        places = self.fragment.table()
        code = self._codes(places)
        dtype = [(name, places.dtype[name]) for name in places.dtype.names or ()]
        out = np.zeros(len(places), [*dtype, ("code", np.uint64), ("value", np.float64)])
        for name, _ in dtype:
            out[name] = places[name]
        out["code"], out["value"] = code, self._decode(code)
        return out

    def _codes(self, places: NDArray[np.void]) -> NDArray[np.uint64]:
        words = self.registers.astype(np.uint64)
        width = int(self.fragment.width)
        first = places["vgpr"].astype(np.int64) * 32 + places["bit"]
        low, shift = first // 32, (first % 32).astype(np.uint64)
        high = np.minimum(low + 1, len(words) - 1)
        lane = places["lane"]
        both = words[low, lane] | np.where(high > low, words[high, lane], np.uint64(0)) << np.uint64(32)
        mask = np.uint64((1 << width) - 1)
        found: NDArray[np.uint64] = both >> shift & mask
        return found

    def _decode(self, codes: NDArray[np.uint64]) -> NDArray[np.float64]:
        if self.fragment.format == "index":
            return codes.astype(np.float64)
        decoded: NDArray[np.float64] = number_format(self.fragment.format).decode(codes)
        return decoded

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The values as a matrix, float64 ([blocks,] rows, cols)."""
        out = np.full((self.fragment.blocks, self.fragment.rows, self.fragment.cols), np.nan)
        table = self.table
        out[table["block"], table["row"], table["col"]] = table["value"]
        return out.reshape(self.fragment.shape)

    def at(self, register: int | str, lane: int) -> list[str]:
        """Elements in a register of a lane, lowest bit first, such as ``["A[3, 17] = 0.5"]``.

        Args:
            register: number of the register, or its name (``"v12"``, ``"a3"``).
            lane: lane of the wave.

        Raises:
            MfmasimError: the register is not part of this operand, or the lane does not exist.
        """
        last = self.first + len(self.registers) - 1
        span = f"{self.fragment.name} is in {self.kind}[{self.first}:{last}]"
        text = str(register)
        kind, digits = (text[0], text[1:]) if text[:1] in ("v", "a") else (self.kind, text)
        number = decimal(digits)
        if kind != self.kind or not self.first <= number <= last:
            raise MfmasimError(f"register {register!r}: {span}")
        if not 0 <= lane < self.registers.shape[1]:
            raise MfmasimError(f"lane {lane!r}: the wave has lanes 0 to {self.registers.shape[1] - 1}")
        table = self.table
        begin = table["vgpr"] * 32 + table["bit"]
        wanted = 32 * (number - self.first)
        rows = table[(table["lane"] == lane) & (begin < wanted + 32) & (begin + table["width"] > wanted)]
        return [self._text(row) for row in np.sort(rows, order=["vgpr", "bit"])]

    def _text(self, row: Any) -> str:
        block = f", block {row['block']}" if self.fragment.blocks > 1 else ""
        return f"{self.fragment.name}[{row['row']}, {row['col']}{block}] = {row['value']:.9g}"

    def __str__(self) -> str:
        """The matrix as text, with its registers; long matrices are abbreviated as by NumPy."""
        last = self.first + len(self.registers) - 1
        head = f"{self.fragment.name} {self.fragment.shape_text} {self.fragment.format} in {self.kind}"
        body = np.array2string(self.matrix, precision=6, max_line_width=120)
        return f"{head}[{self.first}:{last}]\n{body}"
