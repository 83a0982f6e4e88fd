"""Modules and launches: the interface between the runtime and the machine."""

from __future__ import annotations

import ctypes
import hashlib
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.codeobject.metadata import KERNARG_LIMIT
from mfmasim.devices.sim import SimDevice, chosen_checks
from mfmasim.errors import MfmasimError, TargetError
from mfmasim.hiprt.heap import DEVICE, HOST, INTERNAL, MANAGED, PAGE
from mfmasim.hiprt.limits import connect
from mfmasim.hiprt.registry import HipFailure
from mfmasim.hiprt.runtime import Function, Module, Runtime, Service, say
from mfmasim.machine.cluster import check_cluster
from mfmasim.machine.hostcall import Hostcall, hostcall_bytes
from mfmasim.machine.launch import Launch, check_sizes, fill, load_image, prints, segment_spans
from mfmasim.machine.memory import Memory, Region, image_regions
from mfmasim.machine.passing import laid_out
from mfmasim.machine.printf import PRINTF_BYTES
from mfmasim.machine.run import Machine
from mfmasim.program import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.devices import Report
    from mfmasim.program import Kernel

__all__ = ["Options", "launch", "load_module", "unload"]

INVALID_VALUE, INVALID_CONFIGURATION, INVALID_IMAGE, NO_BINARY = 1, 9, 200, 209
ILLEGAL_ADDRESS, LAUNCH_FAILURE, NOT_SUPPORTED = 700, 719, 801
FAULTING = ("bounds-outside-buffer", "bounds-read-only", "alignment-atomic")
"""Findings for which a device reports a memory fault."""
COOPERATIVE_TOO_LARGE = 720
PACKET_BYTES, BARRIER_BYTES = 64, 64
CODES = 64
"""Number of code objects that are cached."""


@dataclass(frozen=True)
class Options:
    """How a kernel is launched, besides its sizes."""

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
        number = NO_BINARY if isinstance(error, TargetError) else INVALID_IMAGE
        raise HipFailure(number, f"no code for {arch.name}: {error}") from None
    if len(rt.codes) >= CODES:
        rt.codes.clear()
    rt.codes[key] = code  # decoded instructions are cached for programs that load a file repeatedly
    if code.arch.name != arch.name:
        raise HipFailure(NO_BINARY, f"the code object is for {code.arch.name}, device {device} is {arch.name}")
    spans = segment_spans(code)
    size = max(offset + length for offset, length, _ in spans)
    image = rt.heap.allocate(size, INTERNAL, device, "code object").address
    regions = tuple(image_regions("code object", image, spans))
    load_image(Memory.over(rt.heap.base, rt.heap.arena, regions), code, image)
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
    rt: Runtime, function: Function, grid: Sequence[int], block: Sequence[int], shared: int, words: Sequence[bytes],
    options: Options = PLAIN,
) -> None:  # fmt: skip
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
        check_sizes(kernel, *size, shared)
        cluster = check_cluster(kernel, size[0], options.cluster)
    except MfmasimError as error:
        raise HipFailure(INVALID_CONFIGURATION, f"{kernel.name}: {error}") from None
    if device in rt.hung:
        return  # behind work that never ends
    if device in rt.failed:
        raise HipFailure(rt.failed[device])
    count = math.prod(size[0]) * -(-math.prod(size[1]) // kernel.wave)
    service, memory = _memory(rt, function, hostcall_bytes(kernel, count))
    kernarg = Region("kernel arguments", service.kernarg, kernel.info.kernarg_room, writable=False)
    packet = Region("dispatch packet", service.packet, PACKET_BYTES, writable=False)
    printf = Region("printf buffer", service.printf, PRINTF_BYTES) if prints(kernel) else None
    prepared = Launch(kernel, *size, shared, memory, kernarg, packet, function.module.image, printf, cluster=cluster)
    if hostcall_bytes(kernel, count) and service.hostcall is not None:
        prepared.hostcall = Hostcall(memory, service.hostcall, count)
    if kernel.shares:
        prepared.gds = Region("global data share", service.gds, kernel.arch.lds.gds_bytes)
    waves = None
    if options.cooperative:
        waves = prepared.workgroups * prepared.waves_per_workgroup
        if Machine(prepared, max_waves=waves).workgroups_in_flight() < prepared.workgroups:
            raise HipFailure(COOPERATIVE_TOO_LARGE, f"{kernel.name}: {prepared.workgroups} workgroups together")
        at = service.barrier - rt.heap.base
        rt.heap.arena[at : at + BARRIER_BYTES] = 0
        prepared.grid_barrier = Region("grid barrier", service.barrier, BARRIER_BYTES)
    fill(prepared, laid_out(kernel, words))
    if rt.heap.written is not None:
        given = [one.region for one in rt.heap.allocations if one.kind == DEVICE]
        seen = {region.address for region in memory.regions}
        prepared.undefined = tuple(one for one in given if one.address in seen and rt.heap.written.undefined(one))
        if prepared.gds is not None:
            rt.heap.written.forget(prepared.gds.address, prepared.gds.size)
        first = memory.base - rt.heap.base
        prepared.undefined_bits = rt.heap.written.bits[first : first + memory.size]
    if prepared.gds is not None:
        prepared.undefined += (prepared.gds,)
    rt.counts.launches += 1
    for one in rt.registered.values():
        ctypes.memmove(one.twin, one.address, one.size)
    try:
        clock = rt.settings.clock(kernel.arch, rt.counts.launches)
        observers = [clock] if clock is not None else []
        report = SimDevice().run(prepared, chosen_checks(rt.settings.checks), observers=observers, max_waves=waves)
    except MfmasimError as error:
        rt.failed[device] = LAUNCH_FAILURE
        raise HipFailure(NOT_SUPPORTED, f"{kernel.name}: {error}") from None
    for one in rt.registered.values():
        ctypes.memmove(one.address, one.twin, one.size)
    if report.printed:
        ctypes.CDLL(None).fflush(None)  # what a compiled program printed before
    for line in report.printed:
        print(line, file=sys.stdout)
    sys.stdout.flush()
    _judge(rt, device, report)


def check_block(kernel: Kernel, block: tuple[int, int, int]) -> None:
    """Refuse a block that the device could run, but for which the kernel was not compiled.

    Raises:
        HipFailure: hipErrorLaunchFailure, as clr answers.
    """
    threads, most = block[0] * block[1] * block[2], kernel.info.metadata.max_flat_workgroup_size
    if most and most < threads <= kernel.arch.max_workgroup:
        raise HipFailure(LAUNCH_FAILURE, f"{kernel.name}: {threads} work-items, compiled for at most {most}")


def _judge(rt: Runtime, device: int, report: Report) -> None:
    """Print findings, and set the device's error if hardware would report one."""
    for finding in report.findings:
        if finding.severity == "info":
            continue
        text = f"{finding.severity} {finding.check} {finding.source or report.kernel}: {finding.message}"
        rt.counts.findings.append(text)
        say(text)
        if finding.id in FAULTING:
            rt.failed[device] = ILLEGAL_ADDRESS
    if report.stopped:
        rt.failed.setdefault(device, LAUNCH_FAILURE)


def _memory(rt: Runtime, function: Function, calls: int) -> tuple[Service, Memory]:
    """The regions of the heap that a launch may access; `calls` are the bytes by which its kernel calls the host."""
    device = function.module.device
    service = rt.services.get(device)
    if service is None:
        sizes = (KERNARG_LIMIT, PACKET_BYTES, BARRIER_BYTES)
        names = ("kernel arguments", "dispatch packet", "grid barrier")
        pieces = [rt.heap.allocate(size, INTERNAL, device, name) for size, name in zip(sizes, names, strict=True)]
        kernarg, packet, barrier = (piece.address for piece in pieces)
        share = rt.archs[device].lds.gds_bytes
        gds = rt.heap.allocate(share, INTERNAL, device, "global data share").address if share else 0
        service = rt.services[device] = Service(kernarg, packet, barrier, gds)
    if prints(function.kernel) and not service.printf:
        service.printf = rt.heap.allocate(PRINTF_BYTES, INTERNAL, device, "printf buffer").address
    if calls and (service.hostcall is None or service.hostcall.size < calls):
        if service.hostcall is not None:
            rt.heap.free(service.hostcall.address)
        service.hostcall = rt.heap.allocate(calls, INTERNAL, device, "hostcall buffer").region
    key = (rt.heap.changes, function.kernel)
    if service.memory is None or service.memory[0] != key:
        accessible = {device, *(peer for own, peer in rt.peers if own == device)}
        seen = [
            allocation.region
            for allocation in rt.heap.allocations
            if allocation.kind != INTERNAL and (allocation.kind in (HOST, MANAGED) or allocation.device in accessible)
        ]
        modules = [function.module, *(m for m in rt.program.modules.values() if m.device == device)]
        # The objects of a program share variables by pointers.
        seen += [part for regions in {m.image: m.regions for m in modules}.values() for part in regions]
        seen.append(Region("kernel arguments", service.kernarg, function.kernel.info.kernarg_room, writable=False))
        seen.append(Region("dispatch packet", service.packet, PACKET_BYTES, writable=False))
        if prints(function.kernel):
            seen.append(Region("printf buffer", service.printf, PRINTF_BYTES))
        seen += [service.hostcall] if calls and service.hostcall is not None else []
        seen.append(Region("grid barrier", service.barrier, BARRIER_BYTES))
        chosen = rt.heap.at(rt.kernel_heaps.get(device, 0))
        seen += [chosen.region] if chosen is not None else []
        if function.kernel.shares:
            seen.append(Region("global data share", service.gds, function.kernel.arch.lds.gds_bytes))
        # Only the used range: checks allocate records for all memory that the machine can access.
        first = min(region.address for region in seen) - rt.heap.base
        last = max(region.address + region.size for region in seen) - rt.heap.base
        first, last = first // PAGE * PAGE, (-(-last // PAGE) + 1) * PAGE
        memory = Memory.over(rt.heap.base + first, rt.heap.arena[first:last], seen)
        memory.former = rt.heap.freed
        service.memory = key, memory
    return service, service.memory[1]
