"""Witnesses of races: orders of waves that change the outputs of a launch.

For each race, one of its two waves goes first or last, or loads are delivered late, and the buffers are compared with
those of the usual order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.machine.execution.run import Machine
from mfmasim.machine.execution.wave_orders import schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.finding import Finding

FEW = 64
"""Waves of a launch up to which every order is tried, not only those of two waves."""
MOST = 12
"""Races for which witnesses are searched."""


@dataclass(frozen=True)
class Witness:
    """An order in which outputs change."""

    schedule: str
    changes: str
    """What changes, in words."""
    memory: dict[str, NDArray[np.uint8]]
    """Bytes of each buffer afterwards."""


def _orders(waves: tuple[int, int], total: int) -> Iterator[str]:
    """Orders to try for a race."""
    for wave in dict.fromkeys(waves):
        yield f"last:{wave}"
        yield f"first:{wave}"
    yield "late"
    if total <= FEW:
        yield from ("reversed", "forward", "random:0", "random:1", "random:2")


def _buffers(launch: Launch) -> dict[str, NDArray[np.uint8]]:
    return {region.name: launch.memory.view(region) for region, _ in launch.buffers if region.writable}


def _changes(before: dict[str, NDArray[np.uint8]], launch: Launch) -> str:
    """The elements of buffers that differ, in words; empty if none do."""
    words = []
    for region, array in launch.buffers:
        if region.name not in before:
            continue
        width = array.dtype.itemsize
        now = launch.memory.view(region)
        count = int((before[region.name] != now).reshape(-1, width).any(axis=1).sum()) if now.size else 0
        if count:
            words.append(
                f"{count} element{'s' * (count > 1)} of {launch.names.buffer(region.name)} change{'s' * (count == 1)}"
            )
    return " and ".join(words)


def find_witnesses(
    launch: Launch,
    suspects: Sequence[tuple[Finding, tuple[int, int]]],
    again: Callable[[], Launch],
    budget: int,
    max_waves: int | None,
) -> tuple[list[Finding], Witness | None]:
    """Search for a witness of each race.

    Args:
        launch: after the usual order.
        suspects: found races, each with the numbers in the launch of its two waves.
        again: returns the launch in its initial state.
        budget: instructions a wave may execute.
        max_waves: waves in flight.

    Returns:
        The findings, each with the result in its message, and the first witness.
    """
    before = {name: view.copy() for name, view in _buffers(launch).items()}
    total = launch.workgroups * launch.waves_per_workgroup
    tried: dict[str, Witness | None] = {}
    findings, first = [], None
    for number, (finding, waves) in enumerate(suspects):
        names = list(_orders(waves, total)) if number < MOST else []
        found = None
        for name in names:
            if name not in tried:
                tried[name] = _try(name, before, again, budget, max_waves)
            found = tried[name]
            if found is not None:
                break
        first = first or found
        if found is not None:
            text = f"; with --schedule {found.schedule} {found.changes}"
        elif names:
            text = f"; none of the orders tried changes an output ({', '.join(names)})"
        else:
            text = f"; no order was tried, as there are more than {MOST} races"
        findings.append(replace(finding, message=finding.message + text))
    return findings, first


def _try(
    name: str, before: dict[str, NDArray[np.uint8]], again: Callable[[], Launch], budget: int, max_waves: int | None
) -> Witness | None:
    launch = again()
    outcome = Machine(launch, (), budget, max_waves, schedule(name)).run_once()
    changes = "the launch does not end" if outcome.stopped else _changes(before, launch)
    return Witness(name, changes, _buffers(launch)) if changes else None


def witnessed(
    launch: Launch,
    listening: Sequence[Check],
    findings: list[Finding],
    again: Callable[[], Launch],
    budget: int,
    max_waves: int | None,
) -> tuple[list[Finding], str]:
    """Search for witnesses of the races; the buffers of the launch then have the result of the first one.

    Args:
        launch: after the usual order.
        listening: the checks.
        findings: their findings.
        again: returns the launch in its initial state.
        budget: instructions a wave may execute.
        max_waves: waves in flight.

    Returns:
        The findings, those about races with the result of the search, and a note on the launch.
    """
    suspects = [suspect for check in listening for suspect in check.suspects()]
    if not suspects:
        return findings, "schedule witness: no race between two waves was found, so no order was tried"
    said, witness = find_witnesses(launch, suspects, again, budget, max_waves)
    place = {id(finding): number for number, (finding, _) in enumerate(suspects)}
    findings = [said[place[id(finding)]] if id(finding) in place else finding for finding in findings]
    if witness is None:
        return findings, "schedule witness: none of the orders tried changes an output"
    for region, _ in launch.buffers:
        if region.name in witness.memory:
            launch.memory.view(region)[:] = witness.memory[region.name]
    return findings, f"schedule witness: the buffers are those of --schedule {witness.schedule}: {witness.changes}"
