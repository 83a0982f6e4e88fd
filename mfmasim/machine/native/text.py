"""The C text of blocks: one function a block, which changes the registers of one wave.

A wave has its scalar registers in ``s``, a dword each, the lanes of its vector registers in ``v``, one register after
another, and in ``act`` all ones for each lane that EXEC enables, else 0; two more dwords there collect all lanes that
EXEC has enabled. Each instruction is a scope of its own: values
that all lanes share first, then one loop over the lanes, then what follows from lane masks, then what is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.native.loops import LOOPS, converted, name
from mfmasim.machine.native.memory import WORDS
from mfmasim.machine.native.nodes import Node, UntraceableError
from mfmasim.machine.state.waves import EXEC

if TYPE_CHECKING:
    from mfmasim.machine.native.effects import Access, Effects

SCC = -1
"""The place of SCC among operand codes of scalar registers."""


@dataclass
class Registers:
    """Registers of a region, and what of them is written."""

    vectors: dict[tuple[str, int], int] = field(default_factory=dict)
    """Place of each register of a dword a lane, by file and number."""
    scalars: dict[int, int] = field(default_factory=dict)
    """Place of each scalar register, by operand code or `SCC`."""
    written: set[int | tuple[str, int]] = field(default_factory=set)
    """Those that are written."""

    def __post_init__(self) -> None:
        """EXEC and SCC are always among them."""
        for code in (SCC, EXEC, EXEC + 1):
            self.scalar(code)

    def vector(self, register: tuple[str, int]) -> int:
        """Place of a register of a dword a lane."""
        return self.vectors.setdefault(register, len(self.vectors))

    def scalar(self, code: int) -> int:
        """Place of a scalar register."""
        return self.scalars.setdefault(code, len(self.scalars))


class _Instruction:
    """The text of one instruction."""

    def __init__(self, effects: Effects, registers: Registers, lanes: int) -> None:
        self.registers, self.lanes = registers, lanes
        self.names: dict[int, str] = {}
        self.before: list[str] = []
        """What all lanes share, and arrays of lanes that are made ahead of the loop."""
        self.loop: list[str] = []
        self.after: list[str] = []
        """What follows from lane masks."""
        self.late: set[int] = set()
        """Nodes that do."""
        self.kept: list[Node] = []
        """Nodes, so that no identity is used twice."""
        self.effects, self.numbers = effects, 0
        self.inner: set[int] = set()
        """Nodes whose names hold within one loop over the lanes."""
        self.reached: set[int] = set()
        """Loads whose places are known."""

    def short(self) -> list[str]:
        """Lines that write where the guards hold in every lane; they end in ``else``."""
        kept, writes = [], []
        for number, (register, node) in enumerate(self.effects.vectors.items()):
            kept.append(f"r{number}[l] = {self.value(node)};")
            writes.append(f"v[{self.registers.vector(register) * self.lanes} + l] = r{number}[l];")
        guards = {id(guard): guard for guard in self.effects.guards}.values()
        tests = " | ".join(f"!({self.value(guard)})" for guard in guards)
        return [
            *self.before,
            f"u32 {', '.join(f'r{number}[{self.lanes}]' for number in range(len(writes)))}, failed = 0;",
            f"for (int l = 0; l < {self.lanes}; l++) {{",
            *self.loop,
            *kept,
            f"failed |= {tests};",
            f"}} if (!failed) {{ for (int l = 0; l < {self.lanes}; l++) {{",
            *writes,
            "} } else",
        ]

    def text(self) -> list[str]:
        """Its lines."""
        effects, places = self.effects, self.registers
        ends = []
        for number, access in enumerate(effects.stores):
            ends += self._prepared(number, access)
        for register, node in effects.vectors.items():
            value = self.value(node)
            ends.append(f"v[{places.vector(register) * self.lanes} + l] = {value};")
            places.written.add(register)
        scalars = [(code, node) for code, node in effects.scalars.items()]
        stores = []
        for code, node in scalars:
            stores.append(f"s[{places.scalar(code)}] = {self.value(node)};")
            places.written.add(code)
        if effects.scc is not None:
            stores.append(f"s[{places.scalar(SCC)}] = {self.value(effects.scc)};")
            places.written.add(SCC)
        if {EXEC, EXEC + 1} & {code for code, _ in scalars}:
            low, high = places.scalar(EXEC), places.scalar(EXEC + 1)
            stores.append(f"expand{self.lanes}(act, s[{low}], s[{high}]);")
            stores += [f"act[{self.lanes}] |= s[{low}];", f"act[{self.lanes + 1}] |= s[{high}];"]
        lines = [*self.before]
        accesses = bool(effects.loads or effects.stores)
        if accesses:
            lines.append("u32 failed = 0;")
        if self.loop or ends:
            lines += [f"for (int l = 0; l < {self.lanes}; l++) {{", *self.loop, *ends, "}"]
        if accesses:
            lines.append("if (failed) return -1;")
        return [*lines, *self.after, *stores]

    def _reached(self, access: Access, name: str, *, write: bool) -> None:
        """A pointer to the bytes of each lane, null where it takes no part."""
        place = f"in_{access.space}(m, (u64){self.value(access.address)}, {access.size}, {int(write)}, w)"
        on = self.value(access.mask)
        self.loop.append(f"u8 *const {name} = ({on}) ? {place} : 0;")
        self.loop.append(f"failed |= ({on}) & !{name};")

    def _prepared(self, number: int, access: Access) -> list[str]:
        """A store, which is written when all waves have prepared it."""
        self._reached(access, f"p{number}", write=True)
        lines = [f"((u8 **)m[M_AT])[w * {self.lanes} + l] = p{number};"]
        for k, word in enumerate(access.words):
            lines.append(f"((u32 *)m[M_DATA])[(w * {WORDS} + {k}) * {self.lanes} + l] = {self.value(word)};")
        return lines

    def _loaded(self, number: int, k: int) -> str:
        """A dword, byte or 16 bits of a load."""
        access = self.effects.loads[number]
        if number not in self.reached:
            self.reached.add(number)
            self._reached(access, f"q{number}", write=False)
        return f"q{number} ? get(q{number} + {4 * k}, {min(access.size, 4)}) : 0"

    def _number(self) -> int:
        """A number that no other name has."""
        self.numbers += 1
        return self.numbers

    def value(self, node: Node) -> str:
        """The name that holds a node's value."""
        found = self.names.get(id(node))
        if found is None:
            self.kept.append(node)
            if node.lanes:
                self.inner.add(id(node))
            found = self.names[id(node)] = self._made(node)
        return found

    def _made(self, node: Node) -> str:
        if node.op == "const":
            return _constant(node)
        if node.op == "pack":
            return self._packed(node)
        if node.op in ("exchange", "pick"):
            return self._exchanged(node)
        if node.op == "first":
            first = f"t{self._number()}"
            self.before += [f"i64 {first} = 0;", f"while ({first} < {self.lanes} && !act[{first}]) {first}++;"]
            self.before.append(f"if ({first} == {self.lanes}) {first} = 0;")
            return first
        args = [self.value(arg) for arg in node.args]
        late = any(id(arg) in self.late for arg in node.args)
        if late and node.lanes:
            raise UntraceableError("lanes depend on a lane mask of the same instruction")
        number = self._number()
        variable = f"t{number}"
        if node.op == "lane":
            array = f"m{number}"
            words = ", ".join(args if len(args) == 2 else [*args, "0"])
            self.before += [f"u32 {array}[{self.lanes}]; expand{self.lanes}({array}, {words});"]
            return f"({array}[l] != 0)"
        if late:
            self.late.add(id(node))
        text = f"const {name(node.dtype)} {variable} = {self._spelled(node, args)};"
        (self.after if late else self.loop if node.lanes else self.before).append(text)
        return variable

    def _exchanged(self, node: Node) -> str:
        """A value of another lane: those of all lanes are made in a loop of their own."""
        values, index = node.args
        array = f"x{self._number()}"
        outer, names, self.loop = self.loop, self.names, []
        self.names = {key: text for key, text in names.items() if key not in self.inner}
        text, inner = self.value(values), self.loop
        shared = {key: text for key, text in self.names.items() if key not in self.inner}
        self.loop, self.names = outer, {**names, **shared}
        self.before += [f"{name(node.dtype)} {array}[{self.lanes}];", f"for (int l = 0; l < {self.lanes}; l++) {{"]
        self.before += [*inner, f"{array}[l] = {text};", "}"]
        chosen = f"{array}[(u32){self.value(index)} & {self.lanes - 1}]"
        if node.op == "pick":
            variable = f"t{self._number()}"
            self.before.append(f"const {name(node.dtype)} {variable} = {chosen};")
            return variable
        return chosen

    def _packed(self, node: Node) -> str:
        number = self._number()
        self.before.append(f"u8 c{number}[{self.lanes}];")
        self.loop.append(f"c{number}[l] = (u8){self.value(node.args[0])};")
        self.late.add(id(node))
        self.after.append(f"const u64 t{number} = pack{self.lanes}(c{number});")
        return f"t{number}"

    def _spelled(self, node: Node, args: list[str]) -> str:
        op, dtype = node.op, node.dtype
        if op == "vector":
            return f"v[{self.registers.vector((node.data[0], node.data[1])) * self.lanes} + l]"
        if op == "scalar":
            return f"s[{self.registers.scalar(node.data[0])}]"
        if op == "scc":
            return f"s[{self.registers.scalar(SCC)}]"
        if op == "loaded":
            return self._loaded(node.data[0], node.data[1])
        if op == "active":
            return "act[l] != 0"
        if op == "table":
            return _table(node, self.before, self._number())
        if op == "cast":
            return converted(node.args[0].dtype, dtype, args[0])
        if op == "bitcast":
            return _bits(node, args[0])
        if op == "where":
            return self._choice(node, args)
        return LOOPS[op, node.args[0].dtype.kind](node.args[0].dtype, args)

    def _choice(self, node: Node, args: list[str]) -> str:
        """A choice; by EXEC, of dwords, without a comparison."""
        test, yes, no = args
        if node.args[0].op == "active" and node.dtype == np.uint32:
            return f"{no} ^ (({yes} ^ {no}) & act[l])"
        return f"{test} ? {yes} : {no}"


def _constant(node: Node) -> str:
    bits, dtype = node.data[0], node.dtype
    if dtype.kind == "b":
        return str(int(bits))
    if dtype.kind == "f" and dtype.itemsize > 2:
        return f"real{8 * dtype.itemsize}({bits:#x}u{'ll' if dtype.itemsize == 8 else ''})"
    return f"({name(dtype)}){bits:#x}u{'ll' if dtype.itemsize == 8 else ''}"


def _table(node: Node, before: list[str], number: int) -> str:
    dtype, width = node.dtype, 8 * node.dtype.itemsize
    word = "u8" if dtype.kind == "b" else f"u{width}"
    listed = ", ".join(f"{int(bits):#x}u{'ll' if width == 64 else ''}" for bits in node.data)
    before.append(f"static const {word} k{number}[] = {{{listed}}};")
    return f"real{width}(k{number}[l])" if dtype.kind == "f" else f"({name(dtype)})k{number}[l]"


def _bits(node: Node, text: str) -> str:
    source, target = node.args[0].dtype, node.dtype
    width = 8 * target.itemsize
    if source.kind == "f" and width > 16:
        text = f"bits{width}({text})"
    return f"real{width}({text})" if target.kind == "f" and width > 16 else f"({name(target)}){text}"


def instruction_text(effects: Effects, registers: Registers, lanes: int, short: Effects | None = None) -> list[str]:
    """Lines of C that do what an instruction does, in a scope of its own.

    Args:
        effects: what it does, without its jump.
        registers: of the region; those of the instruction are added.
        lanes: of a wave.
        short: what it does where guards hold.

    Raises:
        UntraceableError: its values do not follow from one loop over the lanes.
    """
    general = _Instruction(effects, registers, lanes).text()
    if short is None or short.vectors.keys() != effects.vectors.keys():
        return general
    return [*_Instruction(short, registers, lanes).short(), "{", *general, "}"]


def condition_text(condition: Node, registers: Registers, lanes: int) -> tuple[list[str], str]:
    """What a branch tests: lines of C and an expression.

    Args:
        condition: of one value a wave.
        registers: as of `instruction_text`.
        lanes: of a wave.
    """
    from mfmasim.machine.native.effects import Effects

    made = _Instruction(Effects(), registers, lanes)
    value = made.value(condition)
    return made.before, value
