"""The part of the machine that operations may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.machine.events import MatrixEvent, Place
    from mfmasim.machine.events.notify import Notify
    from mfmasim.machine.events.outcome import Outcome
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory
    from mfmasim.machine.state.waves import Group, Waves
    from mfmasim.program import Kernel

__all__ = ["Bound", "Machine", "Spaces"]

Bound = Callable[["Group"], None]
"""A bound instruction: executes it for a group of waves."""
Reader = Callable[["Group"], "NDArray[Any]"]
"""Reads an operand, as an array of the type that the operation's signature names."""
Writer = Callable[["Group", "NDArray[Any]"], None]
"""Writes a result."""


class Spaces(Protocol):
    """What memory operations use: the spaces of memory, and the observers."""

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
        """What its bytes are: ``values``, or of a plane the ``undefined`` bits or their ``origins``."""

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
        """What the launch has done so far."""


class Machine(Spaces, Protocol):
    """What operations use."""

    @property
    def waves(self) -> Waves:
        """Registers of all waves in flight."""

    @property
    def first_workgroup(self) -> int:
        """Number of the first workgroup in flight."""

    @property
    def matrix_hooks(self) -> list[Callable[[MatrixEvent], NDArray[np.uint32] | None]]:
        """Hooks that receive matrix instructions."""

    def matrix(self, event: MatrixEvent, compute: Callable[[], NDArray[np.uint32]]) -> NDArray[np.uint32]:
        """Report a matrix instruction; returns its result, computed unless a hook replaces it."""

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
