"""Names of places in memory by the source: ``b[17, 3]`` of a buffer, ``tile[2][5]`` of a variable in the LDS."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.codeobject import LdsVariable
    from mfmasim.codeobject.declared import Parameter
    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_segment import Buffers
    from mfmasim.machine.state.memory import Memory, Region


class Names:
    """Names of buffers and LDS variables of one launch; the source is read for the first name."""

    def __init__(self, kernel: Kernel, memory: Memory, buffers: Buffers) -> None:
        """Keep the shapes of arrays, which may be freed before a finding is read.

        Args:
            kernel: has the names.
            memory: of the launch.
            buffers: the caller's arrays.
        """
        self.kernel = kernel
        self.base = memory.base
        self.regions: list[Region] = memory.regions
        self.arrays = {region.name: (array.shape, array.dtype) for region, array in buffers}
        self.declared: tuple[LdsVariable, ...] = ()
        """Variables of the LDS that the launch declares, by offset."""

    @cached_property
    def variables(self) -> tuple[LdsVariable, ...]:
        """Variables of the LDS at their places: those that the launch declares, and known ones before them."""
        known = self.kernel.lds_variables
        if not self.declared:
            return known
        first = self.declared[0].offset
        return (*(v for v in known if v.size and v.offset + v.size <= first), *self.declared)

    def buffer(self, region_name: str) -> str:
        """The parameter's own name for ``argument 1 (b)``, ``argument 1`` or a field ``argument 1[2]``."""
        return self._buffers.get(region_name, region_name)

    @cached_property
    def _buffers(self) -> dict[str, str]:
        """By the names that a launch gives buffers."""
        known = {name: self._parameter(name) for name in self.arrays}
        return {name: own.name + name[len(name.partition("[")[0]) :] for name, own in known.items() if own and own.name}

    def _parameter(self, name: str) -> Parameter | None:
        """The parameter of a buffer, or of the structure that holds it."""
        head = name.partition("[")[0]
        number = head.removeprefix("argument ").partition(" ")[0]
        known = self.kernel.parameters
        if not head.startswith("argument ") or not number.isdecimal() or int(number) >= len(known):
            return None
        return known[int(number)]

    def _size(self, name: str) -> int:
        """Bytes of an element; for plain bytes, such as a matrix, those of the kernel's declared type."""
        shape, dtype = self.arrays[name]
        if dtype.itemsize == 1 and len(shape) == 1 and "[" not in name and (own := self._parameter(name)) is not None:
            pointee = own.type.element if own.type is not None and own.type.kind == "pointer" else None
            return max(1, pointee.size) if pointee is not None else 1
        return int(dtype.itemsize)

    def element(self, region: Region, offset: int) -> str:
        """The element at a byte of a buffer, which may lie outside: ``b[17, 3]``; empty for memory without elements."""
        if region.name not in self.arrays:
            return ""
        shape, size = self.arrays[region.name][0], self._size(region.name)
        if not math.prod(shape) or not size:
            return ""
        number, byte = divmod(offset, size)
        return self.buffer(region.name) + _index(shape, number) + (f" byte {byte}" if byte else "")

    def element_at(self, address: int) -> str:
        """The element at an address; empty outside every buffer."""
        region = self._region(address)
        return self.element(region, address - region.address) if region is not None else ""

    def at(self, offset: int) -> str:
        """A byte of the arena: its element, else the byte of its buffer."""
        region = self._region(self.base + offset)
        if region is None:
            return f"byte {offset} of memory"
        inside = self.base + offset - region.address
        return self.element(region, inside) or f"byte {inside} of {self.buffer(region.name)}"

    def _region(self, address: int) -> Region | None:
        return next((r for r in self.regions if r.address <= address < r.address + r.size), None)

    def beyond(self, address: int) -> str:
        """The element at an address outside every buffer, counted from the nearest one; empty at a large distance."""
        named = [region for region in self.regions if region.name in self.arrays]
        if not named:
            return ""
        gaps = [(max(r.address - address, address - (r.address + r.size), 0), r) for r in named]
        gap, region = min(gaps, key=lambda pair: pair[0])
        return self.element(region, address - region.address) if gap <= max(region.size, 4096) else ""

    def lds(self, byte: int) -> str:
        """A byte of the LDS: ``tile[2][5]`` with the byte, or the byte alone."""
        found = self.variable(self.variables, byte)
        return f"{found} (byte {byte} of the LDS)" if found else f"byte {byte} of the LDS"

    def past_lds(self, address: int) -> str:
        """Distance of an address from the end of the last LDS variable, in words; empty without known variables."""
        placed = [variable for variable in self.variables if variable.size]
        last = max(placed, key=lambda variable: variable.offset, default=None)
        if last is None or address < last.offset + last.size:
            return ""
        text = self.variable([replace(last, size=0)], address)
        return f", {text} where the last variable is {last.type.text.replace('[', f' {last.name}[', 1)}" if text else ""

    @staticmethod
    def variable(variables: Sequence[LdsVariable], byte: int) -> str:
        """The element of a variable in the LDS at a byte; empty if it is unknown."""
        for variable in variables:
            size = variable.size or 1 << 31  # dynamic LDS reaches to its end
            if not variable.offset <= byte < variable.offset + size:
                continue
            inner = variable.type.innermost
            if not inner.size:
                return variable.name
            number, rest = divmod(byte - variable.offset, inner.size)
            shape = variable.type.shape
            index = f"[{number}]" if len(shape) == 1 else "".join(f"[{i}]" for i in _unravel(shape, number))
            return variable.name + (index if shape else "") + (f" byte {rest}" if rest else "")
        return ""


def _index(shape: tuple[int, ...], number: int) -> str:
    """``[17, 3]``; outside the array, the first index goes on counting."""
    if not shape:
        return ""
    return "[" + ", ".join(str(i) for i in _unravel(shape, number)) + "]"


def _unravel(shape: Sequence[int], number: int) -> list[int]:
    out: list[int] = []
    for size in reversed(shape[1:]):
        number, index = divmod(number, size) if size else (number, 0)
        out.append(index)
    return [number, *reversed(out)]
