"""races: unordered accesses of different waves to the same bytes, in the LDS or in global memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.observe.check import Check
from mfmasim.observe.ordering.global_races import GlobalRaces
from mfmasim.observe.ordering.kinds import RACES
from mfmasim.observe.ordering.lds_facts import selects
from mfmasim.observe.ordering.lds_races import LdsRaces

if TYPE_CHECKING:
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding
    from mfmasim.observe.ordering.history import History


class Races(Check):
    """Races in the LDS and in global memory."""

    name = "races"
    about = "accesses of waves to the same bytes of the LDS or of global memory that nothing orders"
    kinds = RACES

    def __init__(self, launch: Launch) -> None:
        """Follow global memory, and the LDS if the launch has one."""
        super().__init__(launch)
        self.memory = GlobalRaces(self, launch)
        self.lds = LdsRaces(self, launch) if launch.lds_bytes else None
        self._bind()

    def _bind(self) -> None:
        """Receive blocks only if the launch has an LDS, and values only of barriers that M0 selects."""
        if self.lds is None:
            return
        self.on_block = self.lds.on_block  # type: ignore[method-assign]
        if self.lds.selects:
            self.watches = selects  # type: ignore[method-assign]
            self.on_value = self.lds.on_value  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the bound methods."""
        return {name: value for name, value in self.__dict__.items() if name not in ("on_block", "watches", "on_value")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle and bind the methods again."""
        self.__dict__ |= state
        self._bind()

    def on_access(self, event: AccessEvent) -> None:
        """Forward an access."""
        if event.space == "global":
            self.memory.sharing.add(event)
        elif self.lds is not None:
            self.lds.on_access(event)

    def on_scalar(self, event: AccessEvent) -> None:
        """Forward a scalar load."""
        self.memory.sharing.add(event)

    def merge(self, other: Races) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""
        if self.lds is not None and other.lds is not None:
            self.lds.found.merge(other.lds.found)
        self.memory.merge(other.memory)

    def again(self) -> History | None:
        """The observer of global memory's history, if waves share dwords."""
        return self.memory.again()

    def take(self) -> None:
        """Analyse the history."""
        self.memory.take()

    def suspects(self) -> list[tuple[Finding, tuple[int, int]]]:
        """Races between two waves, with their numbers in the launch."""
        clusters, per = self.memory.clusters, self.memory.per
        out = []
        for finding, place, other in self.lds.found.suspects() if self.lds is not None else []:
            first = clusters.number(place.workgroup) * per
            out.append((finding, (first + place.wave, first + other)))
        return out + self.memory.suspects

    def findings(self) -> list[Finding]:
        """The findings of the LDS in address order, then those of global memory."""
        return [*(self.lds.found.findings() if self.lds is not None else []), *self.memory.found]
