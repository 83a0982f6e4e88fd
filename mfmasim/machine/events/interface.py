"""The part of the machine that operations may use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections import Counter

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import AbsentUse, MatrixEvent, Observer, Place, UndefinedUse
    from mfmasim.machine.events.notify import Notify, Part
    from mfmasim.machine.events.outcome import Outcome
    from mfmasim.machine.events.stepping import Step
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory
    from mfmasim.machine.state.waves import Group, Waves

Bound = Callable[["Group"], None]
"""A bound instruction: executes it for a group of waves."""
Reader = Callable[["Group"], "NDArray[Any]"]
"""Reads an operand, as an array of the type that the operation's signature names."""
Writer = Callable[["Group", "NDArray[Any]"], None]
"""Writes a result."""


class Definedness(Protocol):
    """The part that follows undefined bits through a launch (`mfmasim.machine.definedness`)."""

    def defined(self, instructions: Iterable[Instruction]) -> Callable[[], bool]:
        """Whether all bits of the registers that instructions read are defined, at the time of the call."""

    def define(self, instructions: Iterable[Instruction]) -> Bound:
        """Mark the destinations of instructions under a full EXEC as defined in all bits."""


class Spaces(Protocol):
    """The interface for memory operations: the spaces of memory, and the observers."""

    @property
    def arch(self) -> Arch:
        """The architecture."""

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs."""

    @property
    def launch(self) -> Launch:
        """Sizes and buffers of the launch."""

    @property
    def content(self) -> str:
        """Meaning of its bytes: ``values``, or in a plane the ``undefined`` bits or their ``origins``."""

    @property
    def memory(self) -> Memory:
        """Global memory."""

    @property
    def lds(self) -> NDArray[np.uint8]:
        """LDS of each workgroup in flight, (workgroups, bytes)."""

    @property
    def scratch(self) -> NDArray[np.uint8]:
        """Scratch of each work-item in flight, (work-items, bytes)."""

    @property
    def notify(self) -> Notify:
        """The observers."""

    @property
    def outcome(self) -> Outcome:
        """Counts of the launch so far."""


class Noting(ABC):
    """In place of the machine: notes the accesses of an operation, and makes none (`mfmasim.machine.native`)."""

    @abstractmethod
    def load(self, instruction: Instruction, part: Part, size: int) -> list[Any]:
        """Note a load.

        Args:
            instruction: the load.
            part: its addresses.
            size: bytes of each lane.

        Returns:
            The loaded dwords, as symbols.
        """

    @abstractmethod
    def store(self, instruction: Instruction, part: Part, words: list[Any], size: int) -> None:
        """Note a store.

        Args:
            instruction: the store.
            part: its addresses.
            words: the stored dwords.
            size: bytes of each lane.
        """


class Machine(Spaces, Protocol):
    """The interface for operations."""

    @property
    def waves(self) -> Waves:
        """Registers of all waves in flight."""

    @property
    def first_workgroup(self) -> int:
        """Number of the first workgroup in flight."""

    @property
    def matrix_hooks(self) -> list[Callable[[MatrixEvent], NDArray[np.uint32] | None]]:
        """Hooks that receive matrix instructions."""

    @property
    def value_observers(self) -> list[Observer]:
        """Observers that receive values of instructions."""

    @property
    def use_hooks(self) -> list[Callable[[UndefinedUse], None]]:
        """Hooks that receive uses of undefined bits."""

    @property
    def absent_hooks(self) -> list[Callable[[AbsentUse], None]]:
        """Hooks that receive uses of values of absent lanes."""

    @property
    def before_hooks(self) -> list[Callable[[Step], None]]:
        """Hooks that receive an instruction before it is executed."""

    @property
    def after_hooks(self) -> list[Callable[[Step], None]]:
        """Hooks that receive an instruction after it was executed."""

    @property
    def over(self) -> bool:
        """Whether the launch is to end: no further instruction is executed."""

    @property
    def skipped(self) -> Counter[int]:
        """Wave-instructions that a block counts, but that were skipped, by address."""

    @property
    def definedness(self) -> Definedness | None:
        """The part that follows undefined bits; None if no observer needs it."""

    @property
    def followers(self) -> Iterable[Definedness]:
        """The parts that follow bits through the launch: undefined bits, and values of absent lanes."""

    @property
    def late(self) -> object | None:
        """The schedule that delivers loads late; None if loads complete at once."""

    def matrix(self, event: MatrixEvent, compute: Callable[[], NDArray[np.uint32]]) -> NDArray[np.uint32]:
        """Report a matrix instruction; returns its result, computed unless a hook replaces it."""

    def place(self, waves: NDArray[Any], index: int, lane: int | None = None) -> Place:
        """Place of a wave in the grid.

        Args:
            waves: numbers of waves within those in flight.
            index: index of the wave among them.
            lane: a lane of it.
        """

    def stop(self, check: str, why: str, pc: int, group: Group, wave: int = 0) -> None:
        """End the launch.

        Args:
            check: the check that the finding belongs to.
            why: the reason in words.
            pc: instruction that the finding names.
            group: waves that execute it.
            wave: index of the wave that the finding names.
        """

    def ticks(self, group: Group, pc: int) -> NDArray[np.uint64]:
        """Value of a clock at an instruction of the current block, (1 or waves,)."""
