"""Events of the machine and the observers that receive them. A hook costs nothing where no observer overrides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from mfmasim.machine.launch.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.stepping import Step
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory
    from mfmasim.machine.state.waves import Group
    from mfmasim.matrix import MatrixInstruction
    from mfmasim.matrix.request import Modes, Operands

__all__ = [
    "NOWHERE",
    "AbsentUse",
    "AccessEvent",
    "AccessFault",
    "BlockEvent",
    "MatrixEvent",
    "MulticastEvent",
    "Observer",
    "Origin",
    "Place",
    "ResourceEvent",
    "UndefinedUse",
    "ValueEvent",
    "hooks",
    "nowhere",
]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class MatrixEvent:
    """A matrix instruction was executed by a group of waves."""

    instruction: Instruction
    operation: MatrixInstruction
    waves: NDArray[Any]
    """Global number of each wave: workgroup number times waves per workgroup, plus wave of the workgroup."""
    operands: Operands
    """Registers, uint32 (waves, registers, lanes)."""
    modes: Modes
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event, and of a lane in it."""


class AccessEvent(NamedTuple):
    """A memory instruction accessed a memory space; one with two addresses makes two events."""

    instruction: Instruction
    space: str
    """``global``, ``lds`` or ``scratch``."""
    kind: str
    """``read``, ``write`` or ``atomic``."""
    addresses: NDArray[Any]
    """Per lane, (1 or waves, lanes): uint64 of global memory; int64 bytes from the start of the LDS allocation or of
    the lane's scratch."""
    active: NDArray[np.bool_] | None
    """Active lanes, (1 or waves, lanes); None means all."""
    size: int
    """Bytes a lane."""
    part: int
    """Number of the access, for an instruction with two; else 0."""
    waves: int
    """Number of waves that execute it; equal rows of `addresses` and `active` are stored once."""
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event, and of a lane in it."""
    numbers: NDArray[Any]
    """Number of each wave in the launch: workgroup number times waves per workgroup, plus wave of the workgroup."""
    data: Sequence[NDArray[np.uint32]] = ()
    """Data of a store, dword by dword, each (1 or waves, lanes)."""


class BlockEvent(NamedTuple):
    """A group of waves has executed a block of consecutive instructions."""

    instructions: Sequence[Instruction]
    waves: NDArray[Any]
    """Number of each wave within the batch of workgroups in flight."""
    total: int
    """Waves of the batch."""
    fresh: bool
    """Whether this is the first block of a new batch: all waves start anew."""
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event."""
    place_of: Callable[[int], Place]
    """Place of a wave by its number within the batch, also when the batch is over."""
    mode: int = 0
    """The bits of MODE for which the block was bound (`Arch.vector_mode`)."""


class Walk(NamedTuple):
    """An observer's state machine over known blocks: a number for each wave, which changes along its path.

    Blocks of a loop that runs in C are not reported if the table has their next number.
    """

    table: NDArray[np.int32]
    """The next number, (numbers, blocks); -1 if the block must be reported to the observer."""
    numbers: NDArray[np.int32]
    """Number of each wave of the batch, (waves,); changed in place."""


NOWHERE = 0x7FFFFFFF
"""In place of a branch, Triton's compiler gives this LDS address to lanes that shall not write; hardware drops their
writes (triton-lang/triton, pulls 9761 and 10588)."""
NO_ADDRESS = 0xFFFFFFFF
"""The same in MIOpen's Winograd kernels (v21), for ``ds_write_b32``."""
OUT_OF_RANGE = 0x80000000
"""TensileLite gives lanes beyond the matrix this offset, of buffers and of what they read in the LDS (``BufferOOB`` of
hipBLASLt's ``GlobalWriteBatch.py``): a read returns 0."""


@dataclass(frozen=True)
class AccessFault:
    """A memory access outside every buffer. The machine delivered poison or dropped the store, and continued."""

    instruction: Instruction
    space: str
    kind: str
    address: int
    size: int
    place: Place
    nearest: str
    """The nearest buffer and the distance to it, in words."""
    lanes: int
    """Lanes of this instruction, over all waves of the group, that went outside."""

    nowhere: bool = False
    """Whether it is an access to the LDS whose lanes were masked off by their address."""
    zero: bool = False
    """Whether a load outside every buffer gave 0, and not poison."""


def nowhere(addresses: Any, kind: str = "write") -> Any:
    """Whether LDS addresses mark inactive lanes; 16 bits of immediate offset may have been added to them.

    Args:
        addresses: in bytes.
        kind: ``write``, for `NOWHERE` and `NO_ADDRESS`, or ``read``, for `OUT_OF_RANGE` and whole dwords.
    """
    first = NOWHERE if kind == "write" else OUT_OF_RANGE
    inside = (addresses >= first) & (addresses < first + (1 << 16))
    return inside | (addresses == NO_ADDRESS) if kind == "write" else inside & (addresses % 4 == 0)


@dataclass(frozen=True)
class ResourceEvent:
    """A vector memory instruction reads a buffer resource."""

    instruction: Instruction
    words: NDArray[np.uint32]
    """The resource, (1 or waves, 4)."""
    active: Callable[[], NDArray[np.bool_]]
    """EXEC, (1 or waves, lanes)."""
    outside: Callable[[int], str]
    """Function of an address: the nearest buffer and the distance to it, in words; empty for addresses in buffers."""
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event."""


@dataclass(frozen=True)
class MulticastEvent:
    """A load whose data several workgroups of a cluster may share was issued by a group of waves."""

    instruction: Instruction
    masks: NDArray[np.uint32]
    """Workgroups of the cluster that share the request, by wave; 0 is an ordinary load."""
    requests: Callable[[int], bytes]
    """Request of the i-th wave: equal bytes are equal requests."""
    numbers: NDArray[Any]
    """Number of each wave in the launch."""
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event."""


@dataclass(frozen=True)
class Origin:
    """The origin of undefined bits."""

    space: str
    """``register``, ``lds``, ``scratch`` or ``global``."""
    key: int = 0
    """Key of a register."""
    lane: int | None = None
    """Lane of a vector register."""
    address: int = 0
    """Address of a dword: bytes from the start of the LDS, of the lane's scratch, or of the arena."""


@dataclass(frozen=True)
class UndefinedUse:
    """Undefined bits decide execution, or reach an output."""

    instruction: Instruction
    use: str
    """``branch``, ``exec``, ``skip``, ``address``, ``jump``, ``index``, ``matrix``, ``stored`` or ``atomic``."""
    register: str
    """The register of the bits."""
    bits: int
    """The undefined bits of the first lane."""
    place: Place
    """The first lane."""
    lanes: int
    """Number of lanes, over all waves of the group; for a scalar register, of waves."""
    origin: Origin
    origin_register: str
    """Name of the unwritten register, if the origin is a register."""
    loaded: int | None
    """Address of the instruction that loaded them, if they come from memory."""


class AbsentUse(NamedTuple):
    """A value that an exchange read from an absent lane decides execution, or reaches an output."""

    instruction: Instruction
    use: str
    """As in `UndefinedUse`."""
    register: str
    """The register of the value."""
    place: Place
    """The first lane that uses it."""
    uses: int
    """Lanes, over all waves of the group."""
    exchange: Instruction
    """The exchange that read it."""
    why: str
    """``off``: EXEC had the source lane off; ``half``: the lane that was asked lies in the other half of the wave."""
    lanes: tuple[int, ...]
    """The absent source lanes."""


class ValueEvent(NamedTuple):
    """An instruction that an observer watches was executed; registers as bits, each (1 or waves, 1 or lanes)."""

    instruction: Instruction
    sources: tuple[tuple[NDArray[np.uint32], ...], ...]
    """Registers of each source before the instruction; a constant has two dwords, other operands have none."""
    results: tuple[tuple[NDArray[np.uint32], ...], ...]
    """Registers of each destination."""
    mode: NDArray[np.uint32]
    """MODE, (1 or waves,)."""
    active: Callable[[], NDArray[np.bool_]]
    """EXEC, (1 or waves, lanes)."""
    waves: int
    """Number of waves that execute it; equal rows are stored once."""
    place: Callable[[int, int | None], Place]
    """Place of the i-th wave of this event, and of a lane in it."""
    numbers: Callable[[], NDArray[Any]]
    """Number of each wave in the launch, (waves,)."""


class Observer:
    """Receives the events of a launch: override the hooks that are needed; other hooks cost nothing.

    An object that only has methods of these names, without this base class, is an observer as well.
    """

    name: str = ""
    only_unusual: bool = False
    """Whether `on_value` may be left out for matrix instructions of finite, not denormal values under a full EXEC."""

    def on_start(self, launch: Launch) -> None:
        """Before the first instruction, when memory is laid out."""

    def on_end(self, memory: Memory) -> None:
        """After the last instruction."""

    def on_block(self, event: BlockEvent) -> None:
        """Waves executed a block of consecutive instructions."""

    def walk(self, blocks: Sequence[Sequence[Instruction]], waves: int) -> Walk | None:  # noqa: ARG002
        """The walk by which blocks on registers alone pass without `on_block`; None if each has to be reported.

        Args:
            blocks: instructions of each.
            waves: of the batch, whose first block was reported.
        """
        return None

    def on_access(self, event: AccessEvent) -> None:
        """A vector memory instruction read or wrote memory, the LDS or scratch."""

    def on_scalar(self, event: AccessEvent) -> None:
        """A scalar memory instruction read or wrote memory; its addresses have one lane."""

    def on_resource(self, event: ResourceEvent) -> None:
        """A vector memory instruction read a buffer resource."""

    def on_multicast(self, event: MulticastEvent) -> None:
        """A load was issued whose data several workgroups may share."""

    def on_fault(self, event: AccessFault) -> None:
        """An access went outside every buffer."""

    def on_matrix(self, event: MatrixEvent) -> NDArray[np.uint32] | None:
        """A matrix instruction was executed; a returned value replaces the registers of its result."""

    def on_use(self, event: UndefinedUse) -> None:
        """Undefined bits were used; overriding this makes the machine track which bits are defined."""

    def on_absent(self, event: AbsentUse) -> None:
        """A value of an absent lane was used; overriding this makes the machine follow values from exchanges."""

    def watches(self, instruction: Instruction) -> bool:  # noqa: ARG002
        """Whether `on_value` receives this instruction; called once for each instruction, before it is executed."""
        return True

    def on_value(self, event: ValueEvent) -> None:
        """An instruction that this observer watches was executed."""

    def on_clock(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Ticks that waves, by their numbers in the launch, have spent beyond what the machine counts, (waves,)."""
        return numbers * 0

    def on_turn(self, machine: Any, group: Group, block: Any) -> None:
        """A group of waves is about to execute a block; changes of the machine affect the launch.

        Args:
            machine: `mfmasim.machine.execution.run.Machine`.
            group: the waves.
            block: `mfmasim.machine.execution.basic_block.Block`.
        """

    def before_step(self, step: Step) -> None:
        """An instruction is about to be executed."""

    def after_step(self, step: Step) -> None:
        """An instruction was executed."""


def passing(blocks: Sequence[Sequence[Instruction]], waves: int, matters: Callable[[Instruction], bool]) -> Walk:
    """The walk of an observer without a state, which ignores some instructions.

    Args:
        blocks: as of `Observer.walk`.
        waves: as of `Observer.walk`.
        matters: whether a block with this instruction has to be reported.
    """
    row = [-1 if any(map(matters, block)) else 0 for block in blocks]
    return Walk(np.array([row], np.int32), np.zeros(waves, np.int32))


def hooks(
    observers: Sequence[Observer], method: Callable[Concatenate[Any, Given], Answer]
) -> list[Callable[Given, Answer]]:
    """The bound methods of those observers that override a hook.

    Args:
        observers: in the order in which they are called.
        method: the hook as `Observer` has it, such as ``Observer.on_block``.
    """
    bound: list[Any] = [getattr(observer, method.__name__, method) for observer in observers]
    return [hook for hook in bound if getattr(hook, "__func__", hook) is not method]
