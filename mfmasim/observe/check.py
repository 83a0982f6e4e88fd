"""A check: an observer of one launch that produces findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from mfmasim.machine.events import Observer
from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from mfmasim.machine.events import Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Kind


class Check(Observer, ABC):
    """Observes one launch. `mfmasim.observe.registry` lists the checks."""

    about: ClassVar[str]
    """What the check finds, in one line."""
    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds of its findings."""
    default: ClassVar[bool] = True
    """Whether ``"all"`` includes it; otherwise it runs only when it is named."""
    part: ClassVar[str] = ""
    """For a check that ``"all"`` does not include: the option of `options` with which it is included; or empty."""
    by_parts: bool = True
    """Whether parts of a launch may be checked separately and merged."""
    options: ClassVar[Mapping[str, str]] = {}
    """Options that may follow the check's name and a colon, with their meaning."""

    def __init__(self, launch: Launch, option: str = "") -> None:
        """Prepare for a launch whose memory is laid out, with one of `options` or none."""
        self.kernel, self.option = launch.kernel, option

    @abstractmethod
    def findings(self) -> list[Finding]:
        """The findings, in address order, once the launch is over."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""

    def again(self) -> Observer | None:
        """An observer for a second run of the launch; None if one run is enough."""
        return None

    def take(self) -> None:
        """After the second run: use the result of the observer of `again`."""

    def suspects(self) -> list[tuple[Finding, tuple[int, int]]]:
        """Findings about two waves whose order may change outputs, with the numbers of both waves in the launch."""
        return []

    def finding(self, kind: Kind, message: str, pc: int, place: Place | None = None, **more: Any) -> Finding:
        """Make a finding.

        Args:
            kind: its kind, with check, severity and id.
            message: one sentence.
            pc: address of the instruction.
            place: its place in the grid, if known.
            more: further fields of `Finding`.
        """
        if place is not None:
            more |= {"workgroup": place.workgroup, "wave": place.wave, "lane": place.lane}
        merged, instruction = self.kernel.merged_at(pc), self.kernel.instruction_at(pc)
        if instruction is not None:
            more = {"instruction": instruction.name, "text": instruction.text} | more
        return Finding(
            kind.check,
            kind.severity,
            message if merged in message else message + merged,
            kind.id,
            kernel=self.kernel.name,
            pc=pc,
            source=self.kernel.source_at(pc),
            **more,
        )
