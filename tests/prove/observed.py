"""What the simulator does at an instruction: registers of a workgroup before and after it, and its accesses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.machine.execution.run import Machine

FILES = {"v": (*range(47), *range(98, 134)), "a": (*range(10), *range(98, 106))}
"""Vector registers that are looked at: those that the frame of the probes uses."""
BUDGET = 400_000


@dataclass
class Snapshot:
    """Registers of some waves: (waves, lanes) of a vector register, (waves,) of a scalar one."""

    v: dict
    s: np.ndarray
    exec: np.ndarray
    scc: np.ndarray
    mode: np.ndarray
    pc: np.ndarray


@dataclass
class Executed:
    """What the simulator did at one instruction, in the waves of one workgroup."""

    instruction: object
    numbers: np.ndarray
    """Of the waves in their workgroup."""
    before: Snapshot
    after: Snapshot = None
    accesses: list = field(default_factory=list)
    """Space, kind, addresses and active lanes of these waves (1 for a scalar access), and bytes."""


class Watch(Observer):
    """Keeps what is executed at some addresses, once for each, in the waves of one workgroup."""

    def __init__(self, addresses=None, workgroup=None):
        """Watch `addresses`, or all; of one workgroup, or of another one at each address."""
        self.addresses, self.workgroup, self.found, self._now = addresses, workgroup, {}, None

    def before_step(self, step):
        """Keep the registers before an instruction."""
        self._now = None
        if (self.addresses is not None and step.pc not in self.addresses) or step.pc in self.found:
            return
        per = step.machine.launch.waves_per_workgroup
        workgroup = step.waves // per
        own = workgroup[step.pc // 4 % len(workgroup)] if self.workgroup is None else self.workgroup
        rows = np.flatnonzero(workgroup == own)
        if not len(rows):
            return
        self._rows, self._waves = rows, step.waves[rows]
        self._now = Executed(step.instruction, step.waves[rows] % per, _snapshot(step, rows))

    def after_step(self, step):
        """Keep those after it."""
        if self._now is not None:
            self._now.after = _snapshot(step, self._rows)
            self.found[step.pc] = self._now

    def on_access(self, event):
        """Keep an access of the instruction that is executed."""
        if self._now is None:
            return
        rows = np.flatnonzero(np.isin(event.numbers, self._waves))
        shape = (event.waves, np.shape(event.addresses)[1])
        pick = lambda array: np.broadcast_to(array, shape)[rows]  # noqa: E731
        active = np.ones(shape, np.bool_)[rows] if event.active is None else pick(event.active)
        self._now.accesses.append((event.space, event.kind, pick(event.addresses).astype(object), active, event.size))

    def on_scalar(self, event):
        """Likewise of scalar memory."""
        self.on_access(event)


class Registers(dict):
    """Vector registers, int64 (waves, lanes), made when they are asked for."""

    def __init__(self, held, count, rows):
        """Keep copies of (1 or waves, lanes)."""
        super().__init__(held)
        self.count, self.rows = count, rows

    def __getitem__(self, key):
        held = super().__getitem__(key)
        return np.broadcast_to(held, (self.count, held.shape[1]))[self.rows].astype(np.int64)

    def get(self, key, default=None):
        """The register, or `default` where it is not kept."""
        try:
            return self[key]
        except KeyError:
            return default


def _snapshot(step, rows):
    group = step._group
    waves = group.waves
    files = {"v": waves.v, "a": waves.a}
    first = {"v": 0, "a": 0}
    if waves.accum_offset:
        files["a"], first["a"] = waves.v, waves.accum_offset
    found = {}
    for name, numbers in FILES.items():
        for k in numbers:
            if first[name] + k < len(files[name]):
                found[name, k] = np.array(group.v("v" if first[name] else name, first[name] + k))
    full = lambda values: np.array(np.broadcast_to(values, (group.count, *np.shape(values)[1:])))[rows]  # noqa: E731
    scalars = np.stack([full(group.s(code)) for code in range(128)], axis=1).astype(np.int64)
    active = np.array(np.broadcast_to(group.active, (group.count, group.lanes)))[rows]
    return Snapshot(
        Registers(found, group.count, rows), scalars, active, full(group.scc), full(group.mode), full(group.pc)
    )


def watched(launch, addresses=None, workgroup=None):
    """Run a launch, and give what was executed at each address, by the waves of one workgroup."""
    watch = Watch(addresses, workgroup)
    Machine(launch, [watch], BUDGET).run()
    return watch.found


__all__ = ["Executed", "Registers", "Snapshot", "Watch", "watched"]
