"""What operations may reach of the machine that executes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, MatrixEvent, Place, ResourceEvent
    from mfmasim.machine.launch import Launch
    from mfmasim.machine.memory import Memory, Outside
    from mfmasim.machine.ops.spaces import Part
    from mfmasim.machine.outcome import Outcome
    from mfmasim.machine.state import Group, Waves
    from mfmasim.program import Kernel

__all__ = ["Bound", "Machine", "Spaces"]

Bound = Callable[["Group"], None]
"""A bound instruction: executes it for a group of waves."""
Reader = Callable[["Group"], "NDArray[Any]"]
"""Reads an operand, as an array of the type that the operation's signature names."""
Writer = Callable[["Group", "NDArray[Any]"], None]
"""Writes a result."""


class Spaces(Protocol):
    """What memory operations reach: the spaces, and the observers of accesses."""

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
    def memory(self) -> Memory:
        """Global memory."""

    @property
    def lds(self) -> NDArray[np.uint8]:
        """LDS of each workgroup in flight, (workgroups, bytes)."""

    @property
    def scratch(self) -> NDArray[np.uint8]:
        """Scratch of each work-item in flight, (work-items, bytes)."""

    @property
    def access_listeners(self) -> list[Callable[[AccessEvent], None]]:
        """Hooks that receive vector accesses."""

    @property
    def scalar_listeners(self) -> list[Callable[[AccessEvent], None]]:
        """Hooks that receive scalar loads."""

    @property
    def resource_listeners(self) -> list[Callable[[ResourceEvent], None]]:
        """Hooks that receive buffer resources."""

    def fault(self, instruction: Instruction, group: Group, space: str, kind: str, size: int, out: Outside) -> None:
        """Report an access outside every buffer.

        Args:
            instruction: what accesses memory.
            group: the waves.
            space: ``global``, ``lds``, ``scratch``, ``buffer`` or ``scalar``.
            kind: ``read``, ``write`` or what is wrong with the access.
            size: bytes a lane.
            out: the lanes that went outside.
        """

    def accessed(
        self, instruction: Instruction, group: Group, part: Part, kind: str, size: int,
        data: Sequence[NDArray[np.uint32]] = (),
    ) -> None:  # fmt: skip
        """Report an access; callers ask first whether an observer listens.

        Args:
            instruction: what accesses memory.
            group: the waves.
            part: space, addresses and lanes.
            kind: ``read``, ``write`` or ``atomic``.
            size: bytes a lane.
            data: what a store writes, dword by dword.
        """

    def read_by_scalars(self, instruction: Instruction, group: Group, address: NDArray[Any], size: int) -> None:
        """Report a scalar load; callers ask first whether an observer listens.

        Args:
            instruction: the load.
            group: the waves.
            address: of the first byte, (1 or waves,).
            size: bytes.
        """

    def described(self, instruction: Instruction, group: Group, words: list[NDArray[np.uint32]]) -> None:
        """Report the buffer resource of an instruction; callers ask first whether an observer listens.

        Args:
            instruction: what accesses memory.
            group: the waves.
            words: four dwords of the resource, each (1 or waves,).
        """


class Machine(Spaces, Protocol):
    """What operations reach."""

    @property
    def waves(self) -> Waves:
        """Registers of all waves in flight."""

    @property
    def outcome(self) -> Outcome:
        """What the launch did so far."""

    @property
    def first_workgroup(self) -> int:
        """Number of the first workgroup in flight."""

    @property
    def matrix_listeners(self) -> list[Callable[[MatrixEvent], NDArray[np.uint32] | None]]:
        """Hooks that receive matrix instructions."""

    def matrix(self, event: MatrixEvent, result: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Report a matrix instruction; returns its result, or what a hook puts in its place."""

    def place(self, waves: NDArray[Any], index: int, lane: int | None = None) -> Place:
        """Where in the grid a wave runs.

        Args:
            waves: numbers of waves within those in flight.
            index: which of them.
            lane: a lane of it.
        """

    def stop(self, check: str, why: str, pc: int, group: Group, wave: int = 0) -> None:
        """End the launch.

        Args:
            check: the check that the finding belongs to.
            why: the reason in words.
            pc: instruction that the finding names.
            group: waves that execute it.
            wave: which of them the finding names.
        """

    def ticks(self, group: Group, pc: int) -> NDArray[np.uint64]:
        """What a clock shows at an instruction of the block that runs, (1 or waves,)."""
