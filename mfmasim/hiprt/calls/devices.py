"""Devices: count, selection, properties."""

from __future__ import annotations

import re

from mfmasim.architectures import Arch
from mfmasim.hiprt.limits import limit_of
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Text, UInt, serve
from mfmasim.hiprt.runtime import NO_DEVICE, Runtime
from mfmasim.hiprt.tables.properties import ATTRIBUTES, FIXED, VGPRS, Properties
from mfmasim.hiprt.words import put_bytes, put_int, put_text, put_word
from mfmasim.machine.launch.limits import GRID_LIMIT

INVALID_VALUE, PEER_ENABLED, PEER_NOT_ENABLED = 1, 704, 705
VERSION = 70_253_211
"""Result of hipRuntimeGetVersion, in the form of ROCm 7.2: major * 10**7 + minor * 10**5 + patch."""
UNITS = 4
"""Compute units: few, so that programs that scale their grid with them stay fast."""
SIMULATED = "mfmasim"
"""The first word of a simulated device's name."""


def _major_minor(arch: Arch) -> tuple[int, int]:
    """gfx942 is 9.4, gfx90a is 9.0, gfx1151 is 11.5."""
    found = re.fullmatch(r"gfx(\d+)([0-9a-f])[0-9a-f]", arch.name)
    return (int(found[1]), int(found[2], 16)) if found else (0, 0)


def properties(rt: Runtime, device: int) -> Properties:
    """The properties of a device."""
    arch = rt.archs[rt.checked(device)]
    out = Properties()
    out.name, out.gcnArchName = f"{SIMULATED} {arch.name}".encode(), arch.name.encode()
    out.uuid = f"{SIMULATED} {device:04}".encode()
    out.major, out.minor = _major_minor(arch)
    out.totalGlobalMem, out.totalConstMem = rt.heap.limit, min(rt.heap.limit, (1 << 31) - 1)
    out.warpSize, out.multiProcessorCount = arch.wave_sizes[0], UNITS
    out.sharedMemPerBlock = out.sharedMemPerBlockOptin = arch.lds_bytes
    out.sharedMemPerMultiprocessor = out.maxSharedMemoryPerMultiProcessor = arch.lds_bytes
    out.regsPerBlock = out.regsPerMultiprocessor = 65536
    out.maxThreadsPerBlock = arch.max_workgroup
    out.maxThreadsDim[:] = [arch.max_workgroup] * 3
    out.maxGridSize[:] = GRID_LIMIT
    out.maxThreadsPerMultiProcessor, out.maxBlocksPerMultiProcessor = 2048, 2
    out.memPitch, out.textureAlignment = (1 << 31) - 1, 256
    out.clockRate = out.memoryClockRate = 1_000_000
    out.memoryBusWidth, out.l2CacheSize = 64, 4 << 20
    out.canMapHostMemory = out.unifiedAddressing = out.managedMemory = out.concurrentManagedAccess = 1
    out.concurrentKernels = out.streamPrioritiesSupported = out.isLargeBar = out.cooperativeLaunch = 1
    out.hostRegisterSupported = out.memoryPoolsSupported = out.hostNativeAtomicSupported = 1
    out.pciBusID = device + 1
    return out


@serve()
def hipInit(rt: Runtime, flags: UInt) -> None:
    if flags:
        raise HipFailure(INVALID_VALUE)
    if not rt.archs:
        raise HipFailure(NO_DEVICE)


@serve("hipDriverGetVersion")
def hipRuntimeGetVersion(rt: Runtime, out: Pointer) -> None:
    put_int(out, VERSION)


@serve()
def hipGetDeviceCount(rt: Runtime, out: Pointer) -> None:
    put_int(out, len(rt.archs))
    if not rt.archs:
        raise HipFailure(NO_DEVICE)


@serve()
def hipGetDevice(rt: Runtime, out: Pointer) -> None:
    put_int(out, rt.checked(rt.device))


@serve()
def hipSetDevice(rt: Runtime, device: Int) -> None:
    rt.device = device


@serve()
def hipDeviceGet(rt: Runtime, out: Pointer, device: Int) -> None:
    put_int(out, rt.checked(device))


@serve()
def hipDeviceGetName(rt: Runtime, out: Pointer, length: Int, device: Int) -> None:
    put_text(out, properties(rt, device).name.decode(), length)


@serve()
def hipDeviceGetUuid(rt: Runtime, out: Pointer, device: Int) -> None:
    put_bytes(out, properties(rt, device).uuid.ljust(16, b"\0"))


@serve()
def hipDeviceTotalMem(rt: Runtime, out: Pointer, device: Int) -> None:
    rt.checked(device)
    put_word(out, rt.heap.limit)


@serve()
def hipDeviceComputeCapability(rt: Runtime, major: Pointer, minor: Pointer, device: Int) -> None:
    values = _major_minor(rt.archs[rt.checked(device)])
    put_int(major, values[0])
    put_int(minor, values[1])


@serve("hipGetDeviceProperties")
def hipGetDevicePropertiesR0600(rt: Runtime, out: Pointer, device: Int) -> None:
    if not out:
        raise HipFailure(INVALID_VALUE)
    put_bytes(out, bytes(properties(rt, device)))


@serve()
def hipDeviceGetAttribute(rt: Runtime, out: Pointer, attribute: Int, device: Int) -> None:
    found = properties(rt, device)
    if attribute in FIXED or attribute == VGPRS:
        put_int(out, FIXED.get(attribute, rt.archs[device].vgprs))
        return
    if attribute not in ATTRIBUTES:
        raise HipFailure(INVALID_VALUE, f"device attribute {attribute} is not supported")
    name, place = ATTRIBUTES[attribute]
    value = getattr(found, name)
    put_int(out, min(value if place is None else value[place], (1 << 31) - 1))


@serve()
def hipDeviceGetPCIBusId(rt: Runtime, out: Pointer, length: Int, device: Int) -> None:
    put_text(out, f"0000:{rt.checked(device) + 1:02x}:00.0", length)


@serve()
def hipDeviceGetByPCIBusId(rt: Runtime, out: Pointer, text: Text) -> None:
    found = re.fullmatch(r"0000:([0-9a-f]{2}):00\.0", text)
    if found is None:
        raise HipFailure(INVALID_VALUE)
    put_int(out, rt.checked(int(found[1], 16) - 1))


@serve()
def hipDeviceSynchronize(rt: Runtime) -> None:
    rt.wait(rt.checked(rt.device))


@serve()
def hipDeviceReset(rt: Runtime) -> None:
    device = rt.checked(rt.device)
    rt.wait(device)
    rt.services.pop(device, None)
    rt.pools.pop(device, None)
    rt.kernel_heaps.pop(device, None)
    for key in [key for key in rt.program.modules if key[1] == device]:
        del rt.program.modules[key]
    rt.captures.clear()
    managed = {symbol.managed for symbol in rt.program.variables.values()}  # the program has their addresses
    for allocation in rt.heap.allocations:
        if allocation.device == device and allocation.address not in managed:
            rt.heap.free(allocation.address)
    gone = [h for h, thing in rt.handles.items() if getattr(getattr(thing, "module", thing), "device", -1) == device]
    for handle in gone:
        del rt.handles[handle]


@serve()
def hipDeviceSetCacheConfig(rt: Runtime, config: Int) -> None:
    """Accept the setting without effect: these devices have no alternative."""


@serve()
def hipDeviceGetLimit(rt: Runtime, out: Pointer, limit: Int) -> None:
    put_word(out, limit_of(rt, limit))


@serve()
def hipDeviceCanAccessPeer(rt: Runtime, out: Pointer, device: Int, peer: Int) -> None:
    put_int(out, rt.checked(device) != rt.checked(peer))


@serve()
def hipDeviceEnablePeerAccess(rt: Runtime, peer: Int, flags: UInt) -> None:
    pair = (rt.device, rt.checked(peer))
    if pair[0] == pair[1]:
        raise HipFailure(INVALID_VALUE)
    if pair in rt.peers:
        raise HipFailure(PEER_ENABLED)
    rt.peers.add(pair)
    rt.heap.changes += 1


@serve()
def hipDeviceDisablePeerAccess(rt: Runtime, peer: Int) -> None:
    pair = (rt.device, rt.checked(peer))
    if pair not in rt.peers:
        raise HipFailure(PEER_NOT_ENABLED)
    rt.peers.discard(pair)
    rt.heap.changes += 1
