"""Modules and launches: the interface between the runtime and the machine."""

from __future__ import annotations

import ctypes
import hashlib
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.codeobject.names import shown
from mfmasim.debug.attached import device as device_of_process
from mfmasim.devices.early import EarlyErrors
from mfmasim.devices.options import Options as RunOptions
from mfmasim.errors import MfmasimError, TargetError
from mfmasim.hiprt.heap import DEVICE, HOST, INTERNAL, MANAGED, PAGE
from mfmasim.hiprt.limits import connect
from mfmasim.hiprt.registry import HipFailure
from mfmasim.hiprt.runtime import Function, Module, Runtime, Service, say
from mfmasim.hiprt.tables.errors import BY_KIND
from mfmasim.hiprt.written import PART
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.argument_passing import laid_out
from mfmasim.machine.launch.layout import fill, lay_out, load_image, segment_spans, set_aside
from mfmasim.machine.launch.limits import checked
from mfmasim.machine.state.memory import Memory, Region, image_regions
from mfmasim.observe.registry import CHECKS
from mfmasim.program import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.devices import Report
    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.limits import Sizes

INVALID_VALUE, INVALID_CONFIGURATION = 1, 9
ILLEGAL_ADDRESS, LAUNCH_FAILURE = 700, 719
FAULTING = ("bounds-outside-buffer", "bounds-read-only", "alignment-atomic", "faults-repeated")
"""Findings for which a device reports a memory fault."""
OUTSIDE = "bounds-outside-buffer"
COOPERATIVE_TOO_LARGE = 720
CODES = 64
"""Number of code objects that are cached."""


@dataclass(frozen=True)
class Options:
    """Options of a launch, besides its sizes."""

    cluster: tuple[int, int, int] | None = None
    """Workgroups of a cluster; None takes those that the kernel was compiled for."""
    cooperative: bool = False
    """All workgroups are in flight together, so that they can wait for one another."""


PLAIN = Options()


def load_module(rt: Runtime, data: bytes, device: int | None = None) -> Module:
    """Load a code object for a device.

    Args:
        rt: the runtime.
        data: the code object, or a bundle that contains it.
        device: the device; None is the calling thread's.

    Raises:
        HipFailure: it is damaged, or for another architecture.
    """
    device = rt.checked(rt.device if device is None else device)
    arch = rt.archs[device]
    key = (hashlib.sha256(data).digest(), arch.name)
    try:
        code = rt.codes.get(key) or load(data, arch)
    except MfmasimError as error:
        raise HipFailure(BY_KIND[error.kind], f"no code for {arch.name}: {error}") from None
    if len(rt.codes) >= CODES:
        rt.codes.clear()
    rt.codes[key] = code  # decoded instructions are cached for programs that load a file repeatedly
    if code.arch.name != arch.name:
        raise HipFailure(
            BY_KIND[TargetError.kind], f"the code object is for {code.arch.name}, device {device} is {arch.name}"
        )
    spans = segment_spans(code)
    size = max(offset + length for offset, length, _ in spans)
    image = rt.heap.allocate(size, INTERNAL, device, "code object").address
    regions = tuple(image_regions("code object", image, spans))
    load_image(Memory.over(rt.heap.base, rt.heap.arena, regions), code, image)
    for kernel in code:
        for note in kernel.info.disagreements:
            say(f"note: {kernel.title}: {note}")
    module = Module(code, image, device, regions)
    connect(rt, module)
    return module


def unload(rt: Runtime, handle: int) -> None:
    """Unload a module and forget its functions."""
    module = rt.find(handle, Module)
    gone = [h for h, thing in rt.handles.items() if isinstance(thing, Function) and thing.module is module]
    for one in (handle, *gone):
        del rt.handles[one]
    rt.heap.free(module.image)


def launch(
    rt: Runtime,
    function: Function,
    grid: Sequence[int],
    block: Sequence[int],
    shared: int,
    words: Sequence[bytes],
    options: Options = PLAIN,
) -> None:
    """Run a kernel.

    Args:
        rt: the runtime.
        function: the kernel.
        grid: workgroups in x, y, z.
        block: work-items in x, y, z.
        shared: dynamic LDS in bytes.
        words: bytes of every explicit argument.
        options: how it is launched.

    Raises:
        HipFailure: the device rejects the launch. The next synchronising call reports errors of its execution.
    """
    kernel, device = function.kernel, function.module.device
    size = (grid[0], grid[1], grid[2]), (block[0], block[1], block[2])
    if min(*grid, *block) < 1:
        raise HipFailure(INVALID_CONFIGURATION, f"{kernel.name}: grid {size[0]}, block {size[1]}")
    try:
        check_block(kernel, size[1])
        most = kernel.arch.lds_bytes - kernel.info.group_segment_fixed_size
        if shared > most:
            raise HipFailure(INVALID_VALUE, f"{kernel.name}: {shared} bytes of dynamic LDS, at most {most} are left")
        sizes = checked(kernel, *size, shared, options.cluster)
    except MfmasimError as error:
        raise HipFailure(BY_KIND[error.kind], f"{kernel.name}: {error}") from None
    if device in rt.hung:
        return  # the launch waits for work that never ends
    if device in rt.failed:
        raise HipFailure(rt.failed[device])
    memory, regions = _memory(rt, function, sizes, cooperative=options.cooperative)
    memory.between = rt.sharing.between
    prepared = lay_out(kernel, sizes, memory, function.module.image, regions)
    waves = None
    if options.cooperative:
        waves = sizes.waves
        if Machine(prepared, max_waves=waves).workgroups_in_flight() < prepared.workgroups:
            raise HipFailure(COOPERATIVE_TOO_LARGE, f"{kernel.name}: {prepared.workgroups} workgroups together")
    if memory.between is not None:
        waves = sizes.waves  # workgroups may wait for other processes, which wait for workgroups behind them
        memory.between.begin()
    fill(prepared, laid_out(kernel, words))
    if rt.heap.written is not None:
        given = [one.region for one in rt.heap.allocations if one.kind == DEVICE and one.address not in rt.heap.files]
        seen = {region.address for region in memory.regions}
        prepared.undefined += tuple(
            one
            for one in given
            if one.address in seen and rt.heap.written.undefined(one, memory.view(one) if one.size <= PART else None)
        )
        if prepared.gds is not None:
            rt.heap.written.forget(prepared.gds.address, prepared.gds.size)
        first = memory.base - rt.heap.base
        prepared.undefined_bits = rt.heap.written.bits[first : first + memory.size]
    rt.counts.launches += 1
    for one in rt.registered.values():
        ctypes.memmove(one.twin, one.address, one.size)
    touched = memory.follow() if rt.order is not None and rt.order.listens else None
    memory.mapped, memory.beyond = rt.settings.goes_on, False
    begin = time.perf_counter()
    try:
        clock = rt.settings.clock(kernel.arch, rt.counts.launches)
        observers = [EarlyErrors(say), *([clock] if clock is not None else [])]
        chosen = RunOptions(checks=rt.settings.checks, observers=observers, max_waves=waves, budget=rt.settings.budget)
        report = device_of_process().run(prepared, chosen)
    except MfmasimError as error:
        rt.failed[device] = LAUNCH_FAILURE
        raise HipFailure(BY_KIND[error.kind], f"{kernel.name}: {error}") from None
    finally:
        memory.touched = None
    if touched is not None and rt.order is not None:
        rt.order.launched(shown(kernel.name), memory.base, touched, list(rt.services[device].pieces.values()))
    for one in rt.registered.values():
        ctypes.memmove(one.address, one.twin, one.size)
    if report.printed:
        ctypes.CDLL(None).fflush(None)  # earlier output of a compiled program
    for line in report.printed:
        print(line, file=sys.stdout)
    sys.stdout.flush()
    if rt.reported is not None:
        rt.reported(report, time.perf_counter() - begin)
    rt.sharing.launched()
    _judge(rt, device, report, goes_on=memory.mapped and not memory.beyond)


def check_block(kernel: Kernel, block: tuple[int, int, int]) -> None:
    """Refuse a block that the device could run, but for which the kernel was not compiled.

    Raises:
        HipFailure: hipErrorLaunchFailure, as clr answers.
    """
    threads, most = block[0] * block[1] * block[2], kernel.info.metadata.max_flat_workgroup_size
    if most and most < threads <= kernel.arch.max_workgroup:
        raise HipFailure(LAUNCH_FAILURE, f"{kernel.name}: {threads} work-items, compiled for at most {most}")


def _judge(rt: Runtime, device: int, report: Report, *, goes_on: bool) -> None:
    """Print findings, and set the device's error if hardware would report one.

    Args:
        rt: the runtime.
        device: that ran the launch.
        report: of the launch.
        goes_on: whether the accesses outside a buffer were within its pages, and the settings continue after them.
    """
    for finding in report.findings:
        remark = finding.severity == "info"
        if remark and (finding.check not in CHECKS or CHECKS[finding.check].default):
            continue  # checks that the program names in addition are for its reader
        (rt.counts.remarks if remark else rt.counts.findings).append(finding)
        say(finding.line())
        if finding.id in FAULTING and not (goes_on and finding.id == OUTSIDE):
            rt.failed[device] = ILLEGAL_ADDRESS
    if report.stopped:
        rt.failed.setdefault(device, LAUNCH_FAILURE)


def _memory(rt: Runtime, function: Function, sizes: Sizes, *, cooperative: bool) -> tuple[Memory, dict[str, Region]]:
    """The memory that a launch may access: the program's, and the launch's own."""
    device = function.module.device
    service = rt.services.setdefault(device, Service())

    def reserve(name: str, size: int, *, writable: bool = True) -> Region:
        kept = service.pieces.get(name)
        if kept is None or kept.size < size:
            if kept is not None:
                rt.heap.free(kept.address)
            kept = service.pieces[name] = rt.heap.allocate(size, INTERNAL, device, name)
        return Region(name, kept.address, size, writable)

    regions = set_aside(function.kernel, sizes, reserve, cooperative=cooperative)
    key = (rt.heap.changes, function.kernel, tuple(regions.values()))
    if service.memory is None or service.memory[0] != key:
        accessible = {device, *(peer for own, peer in rt.peers if own == device)}
        seen = [
            allocation.region
            for allocation in rt.heap.allocations
            if allocation.kind != INTERNAL and (allocation.kind in (HOST, MANAGED) or allocation.device in accessible)
        ]
        modules = [function.module, *(m for m in rt.program.modules.values() if m.device == device)]
        # The objects of a program share variables by pointers.
        seen += [part for parts in {m.image: m.regions for m in modules}.values() for part in parts]
        chosen = rt.heap.at(rt.kernel_heaps.get(device, 0))
        seen += [*regions.values(), *([chosen.region] if chosen is not None else [])]
        # Only the used range: checks allocate records for all memory that the machine can access.
        first = min(region.address for region in seen) - rt.heap.base
        last = max(region.address + region.size for region in seen) - rt.heap.base
        first, last = first // PAGE * PAGE, (-(-last // PAGE) + 1) * PAGE
        memory = Memory.over(rt.heap.base + first, rt.heap.arena[first:last], seen)
        memory.former = rt.heap.freed
        service.memory = key, memory
    return service.memory[1], regions
