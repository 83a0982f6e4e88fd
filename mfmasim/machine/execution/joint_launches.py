"""Launches of a kernel with different arguments, run together: one NumPy call executes an instruction for all of them.

Their buffers lie in one memory, and their workgroups follow one another. Workgroups are independent, so each launch
behaves as a separate launch, unless the kernel writes to variables of its code object, or reads hardware state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.layout import prepare, shared_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import Observer
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.machine.launch.launch import Launch


def run_together(
    kernel: Kernel,
    grid: object,
    block: object,
    args: Sequence[Arguments],
    shared_bytes: int,
    observers: Sequence[Observer],
) -> bool:
    """Run launches of a kernel together, if each behaves as a separate launch.

    Args:
        kernel: what to run.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: arguments of each launch, whose arrays are updated in place.
        shared_bytes: dynamic LDS in bytes.
        observers: receive the events; the number of a wave counts through all launches.

    Returns:
        Whether they ran; else no array has changed, and the launches have to run one by one.
    """
    if len(args) < 2 or shared_pieces(kernel, 1):
        return False
    if any(ins.opcode.kind == "getreg" for ins in kernel.reachable):
        return False
    launch = prepare(kernel, grid, block, args[0], shared_bytes, further=args[1:])
    machine = Machine(launch, observers)
    if launch.clusters.workgroups > 1 or machine.workgroups_in_flight() < launch.workgroups:
        return False
    before = _variables(launch)
    if machine.run_once().stopped or _variables(launch) != before:
        return False
    for each in (launch, *launch.further):
        each.collect()
    return True


def _variables(launch: Launch) -> list[bytes]:
    """Contents of the writable segments of the code object."""
    memory, caller = launch.memory, launch.kernarg.address
    return [memory.view(region).tobytes() for region in memory.regions if region.writable and region.address < caller]
