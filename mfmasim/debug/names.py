"""Meanings of names at a stop: a variable, a register, an argument, a buffer, an array of the LDS."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug.locations import locate, of_memory, of_value
from mfmasim.debug.types import Type
from mfmasim.debug.values import OPTIMISED, Number, Object, Place, decoded
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import format as number_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mfmasim.codeobject.ctypes import CType
    from mfmasim.debug.dwarf import Variable
    from mfmasim.debug.lines import Lines
    from mfmasim.debug.state import State
    from mfmasim.machine.launch.launch import Launch


REGISTER = re.compile(r"([vas])(\d+)")
FORCED = "__register__"
AXES = "xyz"
WHOLE = "lds"
"""All dwords of the LDS, without regard to declared variables."""
SPECIAL = ("vcc", "exec", "scc", "mode", "pc", "m0", "lane", "wave", "workgroup")
DIMENSIONS = ("threadIdx", "blockIdx", "blockDim", "gridDim", "workgroup")


@dataclass(frozen=True)
class Elements:
    """An array in global memory whose elements have names."""

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Bits from one index of each axis to the next."""
    bits: int
    """Bits of an element."""
    format: str = ""
    """Number format; empty for integers."""
    signed: bool = False

    def place(self, index: list[int]) -> tuple[int, int]:
        """Address and first bit of an element.

        Raises:
            MfmasimError: there is no such element.
        """
        if len(index) != len(self.shape) or not all(0 <= i < n for i, n in zip(index, self.shape, strict=False)):
            given = ", ".join(map(str, index))
            raise MfmasimError(f"{self.name}[{given}]: {self.name} is {' x '.join(map(str, self.shape))}")
        bit = sum(i * step for i, step in zip(index, self.strides, strict=True))
        return self.address + bit // 8, bit % 8

    def label(self, address: int) -> str:
        """The element at an address, empty outside."""
        order = sorted(range(len(self.shape)), key=lambda axis: -self.strides[axis])
        left, index = (address - self.address) * 8, [0] * len(self.shape)
        if left < 0:
            return ""
        for axis in order:
            index[axis], left = divmod(left, self.strides[axis])
            if index[axis] >= self.shape[axis]:
                return ""
        return f"{self.name}[{', '.join(map(str, index))}]"


def elements_of(launch: Launch) -> dict[str, Elements]:
    """The arrays of a launch by the names of their arguments."""
    out = {}
    for region, array in launch.buffers:
        name = launch.names.buffer(region.name)
        bits, signed = 8 * array.dtype.itemsize, array.dtype.kind == "i"
        kind = f"f{bits}" if array.dtype.kind == "f" else array.dtype.name
        try:
            fmt = "" if array.dtype.kind in "iub" else number_format(kind).name
        except MfmasimError:
            fmt = ""
        steps = [bits * int(np.prod(array.shape[axis + 1 :])) for axis in range(array.ndim)]
        out[name] = Elements(name, region.address, array.shape, tuple(steps), bits, fmt, signed)
    return out


def type_of(given: CType) -> Type:
    """The layout of a type that metadata, a mangled name or the source has."""
    inner = type_of(given.element) if given.element is not None else None
    kind = {"vector": "array", "other": "struct" if given.size > 8 else "uint"}.get(given.kind, given.kind)
    return Type(given.text, kind, given.size, inner, given.count)


@dataclass
class Names:
    """Names at one place of one wave."""

    state: State
    lines: Lines
    lane: int
    pc: int
    elements: dict[str, Elements] = field(default_factory=dict)
    frame: int = 0

    def find(self, name: str) -> Number | Object:
        """The value of a name.

        Raises:
            MfmasimError: the name has no meaning here.
        """
        if name.startswith(FORCED):
            return self.register(name.removeprefix(FORCED))
        for found in (self._variable(name), self._lds(name), self._parameter(name)):
            if found is not None:
                return found
        if REGISTER.fullmatch(name) or name in SPECIAL:
            return self.register(name)
        if name in self.elements:
            raise MfmasimError(
                f"{name} is an array of {' x '.join(map(str, self.elements[name].shape))}: name an element"
            )
        hint = (
            ""
            if self.lines.information.has_variables
            else "; without debug information (compile with -g) there are no variables"
        )
        close = unknown("name", name, sorted({*self.known(), *SPECIAL}))
        raise MfmasimError(f"{close}{hint}")

    @staticmethod
    def optimised_out(name: str) -> str:
        """The report of a variable without a place; a name of the debugger's own is named as such."""
        own = f"; ${name} is the debugger's own" if REGISTER.fullmatch(name) or name in SPECIAL else ""
        return f"{OPTIMISED}: {name} is a variable of the kernel{own}" if own else f"{name} is {OPTIMISED}"

    def known(self) -> Iterator[str]:
        """Names of variables, arguments, arrays."""
        for variable in self.lines.information.visible(self.pc, self.frame):
            yield variable.name
        yield from (one.name for one in self.state.launch.kernel.lds_variables)
        yield from (one.name for one in self.state.launch.kernel.parameters if one.name)
        yield from self.elements

    def variables(self) -> Iterator[tuple[Variable, Object]]:
        """Variables of the frame, each name once, with their values."""
        seen = set()
        for variable in self.lines.information.visible(self.pc, self.frame):
            if variable.name not in seen:
                seen.add(variable.name)
                found = self._described(variable)
                if found is not None:
                    yield variable, found

    def _variable(self, name: str) -> Object | None:
        for variable in self.lines.information.visible(self.pc, self.frame):
            if variable.name == name:
                return self._described(variable)
        return None

    def _described(self, variable: Variable) -> Object | None:
        if variable.type is None:
            return None
        if variable.constant is not None:
            fixed = np.full(self.state.lanes, variable.constant & (1 << 64) - 1, np.uint64)
            return Object(variable.type, of_value(fixed), dereference=self.behind)
        reader = locate(self.state, variable.location(self.pc) or b"", variable.frame_base)
        if reader is None and not variable.locations:
            stored = self._lds(variable.name, variable.type) or self._parameter(variable.name, variable.type)
            if stored is not None:
                return stored
        return Object(variable.type, reader, dereference=self.behind)

    def _lds(self, name: str, kind: Type | None = None) -> Object | None:
        for one in self.state.launch.kernel.lds_variables:
            if one.name == name:
                made = kind or type_of(one.type)
                size = one.size or len(self.state.lds) - one.offset
                if not made.size and made.element is not None:  # dynamic: up to the end of the LDS
                    made = Type(made.name, "array", size, made.element, size // max(made.element.size, 1))
                where = np.full(self.state.lanes, one.offset, np.int64)
                place = Place("lds", where, size)
                return Object(made, of_memory(self.state.lds_bytes, where), place=place, dereference=self.behind)
        if name == WHOLE:
            size, where = len(self.state.lds), np.zeros(self.state.lanes, np.int64)
            made = Type("uint[]", "array", size, Type("uint", "uint", 4), size // 4)
            return Object(made, of_memory(self.state.lds_bytes, where), place=Place("lds", where, size))
        return None

    def _parameter(self, name: str, kind: Type | None = None) -> Object | None:
        """The passed value of a kernel's argument."""
        kernel = self.state.launch.kernel
        for argument, declared in zip(kernel.args, kernel.parameters, strict=True):
            if declared.name != name:
                continue
            made = kind or (type_of(declared.type) if declared.type is not None else None)
            if made is None or made.size != argument.size:
                pointer = argument.value_kind.endswith("buffer")
                made = kind or Type("", "pointer" if pointer else "uint", argument.size)
            where = np.full(self.state.lanes, self.state.launch.kernarg.address + argument.offset, np.int64)
            return Object(made, of_memory(self.state.memory, where), dereference=self.behind)
        return None

    def behind(self, addresses: object, kind: Type) -> Object:
        """The object at an address of each lane."""
        addresses = np.broadcast_to(np.asarray(addresses, np.int64), (self.state.lanes,))
        return Object(
            kind,
            of_memory(self.state.memory, addresses),
            place=Place("global", addresses, kind.size),
            dereference=self.behind,
        )

    def register(self, name: str) -> Number:
        """A register, or a coordinate of the wave.

        Raises:
            MfmasimError: there is no such register.
        """
        state = self.state
        found = REGISTER.fullmatch(name)
        if found is not None and found[1] != "s":
            return Number(state.vector(found[1], int(found[2])).astype(np.int64), hexadecimal=True, bits=32)
        if found is not None:
            return Number(np.array(state.scalar(int(found[2]))), hexadecimal=True, bits=32)
        readers: dict[str, Callable[[], Any]] = {
            "vcc": lambda: state.vcc,
            "exec": lambda: state.exec,
            "scc": lambda: state.scc,
            "mode": lambda: state.mode,
            "pc": lambda: self.pc,
            "m0": lambda: state.scalar(state.launch.kernel.arch.m0),
            "lane": lambda: np.arange(state.lanes),
            "wave": lambda: state.wave,
            "workgroup": lambda: state.wave // state.launch.waves_per_workgroup,
        }
        if name not in readers:
            raise unknown("register", name, [*SPECIAL, "v0", "a0", "s0"])
        value = np.asarray(readers[name]())
        if value.dtype == np.uint64 or (not value.ndim and int(value) >= 1 << 63):
            value = np.asarray(value, np.uint64).view(np.int64)
        return Number(value.astype(np.int64), hexadecimal=name in ("vcc", "exec", "mode", "pc", "m0"), bits=64)

    def component(self, name: str, axis: str) -> Number | None:
        """``threadIdx.x`` and the like; None for other names."""
        if name not in DIMENSIONS or axis not in AXES:
            return None
        number, launch = AXES.index(axis), self.state.launch
        bx, by, _ = launch.block
        if name == "threadIdx":
            item = self.state.work_items()
            return Number((item % bx, item // bx % by, item // (bx * by))[number])
        three = {
            "blockIdx": self.state.workgroup,
            "workgroup": self.state.workgroup,
            "blockDim": launch.block,
            "gridDim": launch.grid,
        }[name]
        return Number(np.array(three[number]))

    def array_element(self, name: str, index: list[int]) -> Number | None:
        """An element of a named array; None if the name has another meaning."""
        found = self.elements.get(name)
        if found is None or (len(index) == 1 and len(found.shape) != 1 and self._is_variable(name)):
            return None
        address, bit = found.place(index)
        size = -(-(bit + found.bits) // 8)
        codes = self.state.memory(np.array([address]), size)
        if codes is None:
            raise MfmasimError(f"{name}: its memory cannot be read")
        code = codes >> np.uint64(bit) & np.uint64((1 << found.bits) - 1)
        if found.format:
            one = decoded(code, found.format)
            return Number(one.values[0], one.format)
        value = int(code[0])
        if found.signed and value >> (found.bits - 1):
            value -= 1 << found.bits
        return Number(np.array(value))

    def _is_variable(self, name: str) -> bool:
        return self._variable(name) is not None or self._lds(name) is not None or self._parameter(name) is not None

    def own_format(self, name: str) -> str:
        """``fp8`` or ``bf8`` in the flavour of the architecture."""
        return number_format(name, self.state.launch.kernel.arch).name

    def describe(self, address: int) -> str:
        """The element at an address; empty if it is unknown."""
        for one in self.elements.values():
            label = one.label(address)
            if label:
                return label
        found: str = self.state.launch.names.element_at(address)
        return found
