"""Barriers besides that of the workgroup: named ones, for some of its waves, and that of a cluster of workgroups.

Source: CDNA5 ISA manual, 5.6 and S_BARRIER_*. A named barrier is complete when its signal count equals its member
count, whichever waves signalled; it is then complete for the waves that have joined it. The barrier of a cluster is
complete when its signal count equals the number of workgroups of the cluster that have not ended, for all its waves.
Each of these waves may then pass one wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I64, Flags
from mfmasim.machine.state.waves import AT_BARRIER, ENDED, RUNNING, Group, Waves

OF_WORKGROUP, OF_NAME, OF_CLUSTER = range(3)
"""What a stopped wave waits for."""


class FurtherBarriers:
    """The state of named and cluster barriers of a batch of waves."""

    def __init__(self, workgroup: I64, named: int, cluster: int) -> None:
        """Begin without signals.

        Args:
            workgroup: of each wave.
            named: named barriers of a workgroup.
            cluster: workgroups of a cluster.
        """
        groups, count = int(workgroup[-1]) + 1, len(workgroup)
        self.workgroup, self.named, self.cluster = workgroup, named, cluster
        self.members, self.signals = np.zeros((2, groups, named + 1), np.int64)
        """Of named barriers, by workgroup and number."""
        self.joined: I64 = np.zeros(count, np.int64)
        """Named barrier that each wave has joined; 0 is none."""
        self.arrived: I64 = np.zeros(-(-groups // cluster), np.int64)
        """Signals of each cluster's barrier."""
        self.complete: Flags = np.zeros((3, count), np.bool_)
        """Whether a barrier has been complete since a wave's last wait, by what it waits for."""
        self.waits: NDArray[np.int8] = np.zeros(count, np.int8)
        """What each wave waits for, if it is at a barrier."""

    def release(self, waves: Waves, kind: int, those: Flags) -> None:
        """A barrier is complete: waves that wait for it run, the others may pass one wait.

        Args:
            waves: the batch.
            kind: the kind of wait at this barrier.
            those: waves for which it is complete.
        """
        status = np.array(np.broadcast_to(waves.status, (waves.count,)))
        waiting = those & (status == AT_BARRIER) & (self.waits == kind)
        self.complete[kind] |= those & ~waiting
        status[waiting] = RUNNING
        waves.status = status

    def wait(self, g: Group, kind: int, those: Flags) -> None:
        """Pass if the barrier has been complete since the last wait, else stop until it is.

        Args:
            g: the waves.
            kind: the kind of barrier.
            those: mask of the waves that wait; the others go on.
        """
        indices = g.indices()
        passing = self.complete[kind, indices]
        self.complete[kind, indices[those & passing]] = False
        stopping = indices[those & ~passing]
        if len(stopping):
            self.waits[stopping] = kind
            status = np.array(np.broadcast_to(g.waves.status, (g.waves.count,)))
            status[stopping] = AT_BARRIER
            g.waves.status = status

    def signal_cluster(self, g: Group) -> None:
        """Each wave signals the barrier of its cluster."""
        np.add.at(self.arrived, g.workgroup // self.cluster, 1)
        self.settle_clusters(g.waves)

    def settle_clusters(self, waves: Waves) -> None:
        """Complete barriers of clusters; workgroups that have ended are no members."""
        status = np.broadcast_to(waves.status, (waves.count,))
        alive = np.zeros(len(self.members), np.bool_)
        alive[self.workgroup[status != ENDED]] = True
        members = np.zeros(len(self.arrived), np.int64)
        np.add.at(members, np.flatnonzero(alive) // self.cluster, 1)
        done = (self.arrived > 0) & (self.arrived >= members)
        if done.any():
            self.arrived[done] = 0
            self.release(waves, OF_CLUSTER, done[self.workgroup // self.cluster])

    def signal(self, g: Group, number: I64, members: I64) -> Flags:
        """Waves signal named barriers.

        Args:
            g: the waves.
            number: barrier of each; numbers that do not exist are ignored.
            members: its new number of members; 0 leaves it.

        Returns:
            Whether each was the first since the barrier was last complete.
        """
        first = np.zeros(g.count, np.bool_)
        for index, (group, which, count) in enumerate(zip(g.workgroup, number, members, strict=True)):
            if not 0 < which <= self.named:
                continue
            if count:
                self.members[group, which] = count
            first[index] = self.signals[group, which] == 0
            self.signals[group, which] += 1
            self._settle(g.waves, int(group), int(which))
        return first

    def _settle(self, waves: Waves, group: int, which: int) -> None:
        """Complete a named barrier that has been signalled often enough."""
        if 0 < self.members[group, which] <= self.signals[group, which]:
            self.signals[group, which] = 0
            self.release(waves, OF_NAME, (self.workgroup == group) & (self.joined == which))

    def start(self, g: Group, number: I64, members: I64) -> None:
        """Set the members of named barriers, and forget their signals.

        Args:
            g: the waves.
            number: barrier of each; numbers that do not exist are ignored.
            members: its new number of members; 0 leaves it.
        """
        for group, which, count in zip(g.workgroup, number, members, strict=True):
            if 0 < which <= self.named:
                self.signals[group, which] = 0
                if count:
                    self.members[group, which] = count

    def join(self, g: Group, number: I64) -> None:
        """Waves join named barriers, or with 0 none."""
        valid = (number >= 0) & (number <= self.named)
        indices = g.indices()[valid]
        self.joined[indices] = number[valid]
        self.complete[OF_NAME, indices] = False

    def leave(self, g: Group) -> Flags:
        """Waves leave the named barriers that they have joined; returns whether each was the last member."""
        last = np.zeros(g.count, np.bool_)
        for index, (wave, group) in enumerate(zip(g.indices(), g.workgroup, strict=True)):
            which = int(self.joined[wave])
            if which:
                self.joined[wave] = 0
                self.members[group, which] -= 1
                last[index] = self.members[group, which] == 0
                self._settle(g.waves, int(group), which)
        return last

    def state(self, g: Group, number: I64) -> NDArray[np.uint32]:
        """Signals in bits 22 to 16 and members in bits 10 to 4 of named barriers, of each wave."""
        which = np.clip(number, 0, self.named)
        words: Any = self.signals[g.workgroup, which] << 16 | self.members[g.workgroup, which] << 4
        found: NDArray[np.uint32] = words.astype(np.uint32)
        return found

    def missing(self, wave: int) -> str:
        """Why a wave waits, in words."""
        if self.waits[wave] == OF_CLUSTER:
            here = int(self.workgroup[wave]) // self.cluster
            return (
                f"wait at the barrier of a cluster of {self.cluster} workgroups, which was signalled "
                f"{self.arrived[here]} times"
            )
        if self.waits[wave] == OF_NAME:
            which, group = self.joined[wave], self.workgroup[wave]
            return (
                f"wait at the named barrier {which}, which has {self.members[group, which]} members and was signalled "
                f"{self.signals[group, which]} times"
            )
        return "wait at a barrier that not every wave of their workgroup has signalled"
