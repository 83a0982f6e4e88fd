"""cluster: multicast loads of a cluster whose mask is wrong, or that not all workgroups of the mask issue.

A multicast load is combined when every workgroup of its mask issues the same request; else it waits for a timeout, and
each workgroup is served alone. A workgroup outside its own mask receives nothing (CDNA5 ISA manual, 10.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import MulticastEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

OMITTED = Kind(
    "cluster-mask-omits-itself",
    "error",
    "A workgroup issues a multicast load whose mask leaves it out",
    "Only workgroups of the mask receive the data: here the LDS, or the registers, keep what they held.",
    "mask = 0b0110;  // in workgroup 0 of the cluster",
    "Set the bit of the workgroup that issues the load: 1 << its number in the cluster.",
    place="wave",
)
BEYOND = Kind(
    "cluster-mask-beyond",
    "error",
    "The mask of a multicast load names workgroups that do not exist",
    "A bit stands for a workgroup of the cluster; a tensor descriptor's mask has to be 0 outside a cluster.",
    "mask = 0b11110;  // in a cluster of four",
    "Use bits below the number of workgroups of the cluster.",
    place="wave",
)
MISSING = Kind(
    "cluster-request-missing",
    "warning",
    "Not every workgroup of a multicast load's mask issues it",
    "The request waits for a timeout and is not combined: the data are right, the bandwidth is not saved.",
    "if (cluster_workgroup_id == 0) load_for(0b0011);",
    "Issue the same load, with the same mask, in every workgroup of the mask.",
    place="wave",
)

STEPPING = Kind(
    "cluster-mask-stepping",
    "error",
    "A load for several workgroups has a mask on a stepping that does not execute it",
    "On gfx1250-strict (A0) loads of clusters need M0 = 0: each workgroup then loads for itself. M0 may be restored "
    "only after s_wait_xcnt 0, because the load may be replayed.",
    "s_mov_b32 m0, 3; cluster_load_b32 v1, v[2:3], off  // gfx1250-strict",
    "Set M0 to 0 before the load, or compile for gfx1250 and run it on stepping B0.",
)


@dataclass
class Seen:
    """The first place of a finding, and the number of places."""

    place: Place
    message: str
    count: int = 1


class ClusterLoads(Check):
    """Collects the requests of every cluster."""

    name = "cluster"
    about = "loads for several workgroups of a cluster with wrong masks, or that not all of them issue"
    kinds = (OMITTED, BEYOND, MISSING, STEPPING)

    def __init__(self, launch: Launch) -> None:
        """Start without requests."""
        super().__init__(launch)
        self.size, self.per = launch.clusters.workgroups, launch.waves_per_workgroup
        self.masks_fail = self.kernel.arch.errata.cluster_mask
        self._seen: dict[tuple[int, str], tuple[Kind, Seen, str]] = {}
        self._requests: dict[tuple[int, int, bytes], list[tuple[int, int, str, Place]]] = {}
        """Requests by cluster, mask and request: workgroup in the cluster, instruction, its name and place."""

    def on_multicast(self, event: MulticastEvent) -> None:
        """Check the masks, and record the requests."""
        ins = event.instruction
        tensor = ins.opcode.kind == "tensor"
        for index, (mask, number) in enumerate(zip(event.masks.tolist(), event.numbers.tolist(), strict=True)):
            if not mask or (self.size == 1 and not tensor and not self.masks_fail):
                continue  # an ordinary load
            if self.masks_fail:
                self._add(STEPPING, ins.pc, event.place(index, None), f"M0 is {mask:#x}, 0 is required", ins.name)
                continue
            workgroup = number // self.per
            cluster, own = divmod(workgroup, self.size)
            place = event.place(index, None)
            if self.size == 1 or mask >> self.size:
                has = f"the cluster has {self.size} workgroups" if self.size > 1 else "there is no cluster"
                self._add(BEYOND, ins.pc, place, f"mask {mask:#x}: {has}", ins.name)
            elif not mask >> own & 1:
                self._add(
                    OMITTED,
                    ins.pc,
                    place,
                    f"mask {mask:#x} leaves out workgroup {own} of the cluster, which "
                    "issues the load and receives nothing",
                    ins.name,
                )
            key = cluster, mask, event.requests(index)
            self._requests.setdefault(key, []).append((own, ins.pc, ins.name, place))

    def _add(self, kind: Kind, pc: int, place: Place, message: str, name: str) -> None:
        """Keep the first wave in the order of the grid, not in the order of execution."""
        old = self._seen.get((pc, kind.id))
        if old is None:
            self._seen[pc, kind.id] = kind, Seen(place, message), name
            return
        old[1].count += 1
        if place.order < old[1].place.order:
            old[1].place, old[1].message = place, message

    def _close(self) -> None:
        """Find requests that the workgroups of their mask have not issued equally often."""
        for (_, mask, _), issued in self._requests.items():
            counts = {own: sum(each[0] == own for each in issued) for own in range(self.size) if mask >> own & 1}
            lacking = [own for own, count in counts.items() if count < max(counts.values())]
            if lacking:
                _, pc, name, place = min(issued, key=lambda each: (each[1], each[3].order))
                workgroups = f"workgroup{'s' * (len(lacking) > 1)} {', '.join(map(str, lacking))}"
                self._add(
                    MISSING,
                    pc,
                    place,
                    f"mask {mask:#x} names {workgroups} of the cluster, which "
                    f"{'do' if len(lacking) > 1 else 'does'} not issue this load",
                    name,
                )
        self._requests.clear()

    def __getstate__(self) -> dict[str, object]:
        """The state for another process: the findings."""
        self._close()
        return self.__dict__

    def merge(self, other: ClusterLoads) -> None:
        """Add the findings of another part of the same launch; a part has whole clusters."""
        other._close()
        for (pc, _), (kind, seen, name) in other._seen.items():
            self._add(kind, pc, seen.place, seen.message, name)
            self._seen[pc, kind.id][1].count += seen.count - 1

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        self._close()
        return [
            self.finding(kind, seen.message, pc, seen.place, instruction=name, count=seen.count)
            for (pc, _), (kind, seen, name) in sorted(self._seen.items())
        ]
