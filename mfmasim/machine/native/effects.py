"""What a bound instruction does, found by executing it for a group of waves whose registers are symbolic.

`SymbolicGroup` is to `mfmasim.machine.state.waves.Group` what a symbolic array is to an array: bound instructions read
and write their operands through it. So operands, modifiers and MODE have their one definition in
`mfmasim.machine.binding`, and an operation in its body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mfmasim.machine.binding.bind import bind, operation_of
from mfmasim.machine.events.interface import Noting
from mfmasim.machine.native.nodes import Node, UntraceableError, bitcast, cast, constant, made
from mfmasim.machine.native.symbolic import GUARDS, WAVES, Symbolic, symbolic
from mfmasim.machine.state.waves import AT_BARRIER, EXEC

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events.notify import Part
    from mfmasim.machine.numerics.float_mode import FloatMode

U32, U64, BOOL = np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.bool_)


@dataclass
class Access:
    """An access to memory by the lanes of a wave."""

    space: str
    """``global`` or ``lds``."""
    size: int
    """Bytes per lane."""
    address: Node
    mask: Node
    """The lanes that take part."""
    words: list[Node] = field(default_factory=list)
    """What a store writes, dword by dword."""


@dataclass
class Effects:
    """What an instruction leaves, as nodes of what was before it."""

    vectors: dict[tuple[str, int], Node] = field(default_factory=dict)
    """Registers of a dword a lane, by file (``v``, ``a``) and number; with the lanes that keep their value."""
    scalars: dict[int, Node] = field(default_factory=dict)
    """Scalar registers, by operand code."""
    scc: Node | None = None
    barrier: bool = False
    """Whether the wave then waits for the others of its workgroup."""
    target: tuple[Node | None, int, int] | None = None
    """A condition, and the addresses of what follows where it is true and where not."""
    loads: list[Access] = field(default_factory=list)
    stores: list[Access] = field(default_factory=list)
    guards: list[Node] = field(default_factory=list)
    """What has to hold in every lane of a wave, else the effects are those of the general way."""


class _File:
    """A register file that is read by index."""

    def __init__(self, read: Callable[[int], Symbolic]) -> None:
        self._read = read

    def __getitem__(self, index: int) -> Symbolic:
        return self._read(index)


class _Waves:
    """Of `Waves` what bound instructions look at."""

    def __init__(self, mode: FloatMode) -> None:
        self.float_mode = mode

    def __getattr__(self, name: str) -> NoReturn:
        raise UntraceableError(f"waves.{name}")


class SymbolicGroup:
    """A group of waves, none of whose registers is known."""

    all = False
    count = WAVES

    def __init__(self, lanes: int, mode: FloatMode) -> None:
        """Waves of so many lanes in one mode."""
        self.lanes = lanes
        self.waves = _Waves(mode)
        self.effects = Effects()
        self.vgprs = _File(lambda index: self.v("v", index))
        self.agprs = _File(lambda index: self.v("a", index))
        self.sgprs = _File(self.s)
        self._mask: Symbolic | None = None
        self._exec_written = False

    def __getattr__(self, name: str) -> NoReturn:
        """Anything else that groups have."""
        raise UntraceableError(f"group.{name}")

    def take(self, values: Symbolic) -> Symbolic:
        """The group's part of what all waves have."""
        return values

    def refresh(self) -> None:
        """The mask is EXEC again."""
        self._mask = None

    def by_mode(self, step: Callable[[Any, FloatMode], None]) -> None:
        """All waves have one mode."""
        step(self, self.waves.float_mode)

    def v(self, kind: str, index: int) -> Symbolic:
        """A register of a dword a lane."""
        written = self.effects.vectors.get((kind, index))
        node = written or made("vector", U32, data=(kind, index), lanes=True)
        return Symbolic(node, (WAVES, self.lanes))

    def s(self, code: int) -> Symbolic:
        """A scalar register."""
        return Symbolic(self.effects.scalars.get(code) or made("scalar", U32, data=(code,)), (WAVES,))

    @property
    def active(self) -> Symbolic:
        """EXEC as booleans."""
        if self._exec_written:
            raise UntraceableError("EXEC is read after it was written")
        return Symbolic(made("active", BOOL, lanes=True), (WAVES, self.lanes))

    @property
    def mask(self) -> Symbolic:
        """The lanes that are written."""
        return self.active if self._mask is None else self._mask

    @mask.setter
    def mask(self, value: Any) -> None:
        self._mask = symbolic(value)

    @property
    def scc(self) -> Symbolic:
        """SCC as booleans."""
        return Symbolic(self.effects.scc or made("scc", BOOL), (WAVES,))

    @scc.setter
    def scc(self, value: Any) -> None:
        self.effects.scc = self._scalar(value, BOOL)

    @property
    def pc(self) -> NoReturn:
        """The address is no value that an instruction of a region reads."""
        raise UntraceableError("group.pc")

    @pc.setter
    def pc(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.size == 1:
            self.effects.target = None, int(value[0]), int(value[0])
            return
        node = symbolic(value).node
        if node.op != "where" or any(arg.op != "const" for arg in node.args[1:]) or node.lanes:
            raise UntraceableError("a jump to an address that is computed")
        self.effects.target = node.args[0], node.args[1].data[0], node.args[2].data[0]

    def _scalar(self, value: Any, dtype: np.dtype[Any]) -> Node:
        node = symbolic(value).node
        if node.lanes:
            raise UntraceableError("a scalar result that depends on the lane")
        return node if node.dtype == dtype else bitcast(node, dtype)

    def write_s(self, code: int, value: Any) -> None:
        """Write a scalar register."""
        self.effects.scalars[code] = self._scalar(value, U32)
        self._exec_written |= code >= EXEC

    def write_pair(self, code: int, value: Any) -> None:
        """Write two scalar registers."""
        whole = self._scalar(value, U64)
        self.write_s(code, Symbolic(cast(whole, U32), (WAVES,)))
        self.write_s(code + 1, Symbolic(cast(made("right_shift", U64, whole, constant(32, U64)), U32), (WAVES,)))

    def write_exec64(self, value: Any) -> None:
        """Write EXEC_LO and EXEC_HI."""
        self.write_pair(EXEC, value)

    def write_v(self, kind: str, index: int, value: Any) -> None:
        """Write a register of a dword a lane in the lanes of the mask.

        Args:
            kind: ``v`` or ``a``.
            index: its number.
            value: by lane.
        """
        old, new = self.v(kind, index).node, symbolic(value).node
        self.effects.vectors[kind, index] = made("where", U32, self.mask.node, bitcast(new, U32), old)

    def stop(self, status: int) -> None:
        """The waves wait at a barrier."""
        if status != AT_BARRIER:
            raise UntraceableError("the end of a wave")
        self.effects.barrier = True

    def write_all_lanes(self, kind: str, index: int, value: Any) -> None:
        """Write a register of a dword a lane in all lanes, whatever EXEC says.

        Args:
            kind: ``v`` or ``a``.
            index: its number.
            value: by lane.
        """
        self.effects.vectors[kind, index] = bitcast(symbolic(value).node, U32)

    def lane_mask(self, code: int) -> Symbolic:
        """A lane mask as booleans."""
        words = [self.s(code).node] + ([self.s(code + 1).node] if self.lanes == 64 else [])
        return Symbolic(made("lane", BOOL, *words, lanes=True), (WAVES, self.lanes))

    def write_mask(self, code: int, mask: Any) -> None:
        """Write a lane mask; the others give 0."""
        node = symbolic(mask).node
        if node.dtype != BOOL:
            raise UntraceableError("a lane mask of numbers")
        packed = Node("pack", U64, (made("bitwise_and", BOOL, node, self.mask.node),))
        if self.lanes == 64:
            self.write_pair(code, Symbolic(packed, (WAVES,)))
        else:
            self.write_s(code, Symbolic(cast(packed, U32), (WAVES,)))


@dataclass(frozen=True)
class _Bare(Noting):
    """Of a machine what binding an instruction of a region may look at: nothing that belongs to a launch."""

    kernel: Kernel
    effects: Effects = field(default_factory=Effects)

    def load(self, instruction: Instruction, part: Part, size: int) -> list[Symbolic]:
        """Words that are nodes of what the memory holds."""
        if self.effects.stores:
            raise UntraceableError("a load behind a store of the same instruction")
        access = _access(instruction, part, size)
        self.effects.loads.append(access)
        nodes = [made("loaded", U32, data=(len(self.effects.loads) - 1, k), lanes=True) for k in range(-(-size // 4))]
        return [Symbolic(node, part.address.shape) for node in nodes]

    def store(self, instruction: Instruction, part: Part, words: list[Any], size: int) -> None:
        """The words are noted."""
        if self.effects.loads:
            raise UntraceableError("a store behind a load of the same instruction")
        access = _access(instruction, part, size)
        access.words.extend(bitcast(symbolic(word).node, U32) for word in words)
        self.effects.stores.append(access)

    @property
    def arch(self) -> Any:
        return self.kernel.arch

    def __getattr__(self, name: str) -> NoReturn:
        raise UntraceableError(f"machine.{name}")


def _access(instruction: Instruction, part: Part, size: int) -> Access:
    """An access; of LDS addresses that stand for no place none is within the allocation."""
    if part.space not in ("global", "lds") or part.mask is None or instruction.in_gds:
        raise UntraceableError(f"an access to {part.space}")
    return Access(part.space, size, symbolic(part.address).node, symbolic(part.mask).node)


def short_way(instruction: Instruction, kernel: Kernel, mode: FloatMode) -> Effects | None:
    """What a vector instruction does where the tests of its body for a short way hold; None if there is none.

    Args:
        instruction: one that can be traced.
        kernel: as of `traced`.
        mode: as of `traced`.
    """
    operations = [operation_of(part) for part in instruction.halves or (instruction,)]
    if not any(one.unit == "vector" and one.results[0].startswith("f") for one in operations):
        return None
    guards: list[Node] = []
    token = GUARDS.set(guards)
    try:
        effects = traced(instruction, kernel, mode)
    except UntraceableError:
        return None
    finally:
        GUARDS.reset(token)
    effects.guards = guards
    only_vectors = effects.vectors and not effects.scalars and effects.scc is None and effects.target is None
    return effects if guards and only_vectors else None


def traced(instruction: Instruction, kernel: Kernel, mode: FloatMode) -> Effects:
    """What an instruction does.

    Args:
        instruction: one that accesses registers alone.
        kernel: whose it is.
        mode: what its waves have in MODE.

    Raises:
        UntraceableError: it does what cannot be expressed for one element.
    """
    group: Any = SymbolicGroup(kernel.wave, mode)
    machine: Any = _Bare(kernel, group.effects)
    try:
        with np.errstate(all="ignore"):
            bind(instruction, machine)(group)
    except UntraceableError:
        raise
    except Exception as error:  # NumPy and bodies meet an array that is none: whatever they raise, it is not traced
        raise UntraceableError(f"{instruction.name}: {error!r}") from error
    found: Effects = group.effects
    return found
