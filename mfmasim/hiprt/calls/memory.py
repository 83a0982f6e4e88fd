"""Allocation, and attributes of pointers."""

from __future__ import annotations

import ctypes

from mfmasim.hiprt.heap import DEVICE, HOST, INTERNAL, MANAGED, Allocation
from mfmasim.hiprt.order import ALLOCATING
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, UInt, serve
from mfmasim.hiprt.runtime import Registered, Runtime
from mfmasim.hiprt.words import put_int, put_word

INVALID_VALUE, ALREADY_REGISTERED, NOT_REGISTERED, NOT_SUPPORTED = 1, 712, 713, 801
EXTENDED = (0, 1, 2, 3, 4)
"""Flags of hipExtMallocWithFlags: default, fine-grained, signal memory, uncached, contiguous (hip_runtime_api.h)."""
PITCH = 256
"""Rows of a pitched allocation start at multiples of this."""


def _allocate(rt: Runtime, out: int, size: int, kind: int, name: str, flags: int = 0) -> None:
    put_word(out, 0)
    if size:
        made = rt.heap.allocate(size, kind, rt.checked(rt.device), name, flags).address
        put_word(out, made)
        if rt.order is not None and name in ALLOCATING:
            rt.order.fills(made, size)


def _free(rt: Runtime, address: int, *kinds: int) -> Allocation | None:
    if not address:
        return None
    found = rt.heap.at(address)
    if found is None or found.address != address or found.kind not in kinds or found.imported:
        raise HipFailure(INVALID_VALUE)
    rt.heap.free(address)
    return found


@serve()
def hipExtMallocWithFlags(rt: Runtime, out: Pointer, size: Size, flags: UInt) -> None:
    if flags not in EXTENDED:
        raise HipFailure(INVALID_VALUE)
    _allocate(rt, out, size, DEVICE, "hipExtMallocWithFlags")


@serve()
def hipMalloc(rt: Runtime, out: Pointer, size: Size) -> None:
    _allocate(rt, out, size, DEVICE, "hipMalloc")


@serve()
def hipMallocAsync(rt: Runtime, out: Pointer, size: Size, stream: Pointer) -> None:
    rt.stream(stream)
    _allocate(rt, out, size, DEVICE, "hipMallocAsync")


@serve()
def hipMallocManaged(rt: Runtime, out: Pointer, size: Size, flags: UInt) -> None:
    _allocate(rt, out, size, MANAGED, "hipMallocManaged", flags)


@serve("hipHostAlloc")
def hipHostMalloc(rt: Runtime, out: Pointer, size: Size, flags: UInt) -> None:
    _allocate(rt, out, size, HOST, "hipHostMalloc", flags)


@serve("hipMemAllocHost")
def hipMallocHost(rt: Runtime, out: Pointer, size: Size) -> None:
    _allocate(rt, out, size, HOST, "hipMallocHost")


@serve()
def hipMallocPitch(rt: Runtime, out: Pointer, pitch: Pointer, width: Size, height: Size) -> None:
    row = -(-width // PITCH) * PITCH
    put_word(pitch, row)
    _allocate(rt, out, row * height, DEVICE, "hipMallocPitch")


@serve()
def hipMemAllocPitch(rt: Runtime, out: Pointer, pitch: Pointer, width: Size, height: Size, element: UInt) -> None:
    if element not in (4, 8, 16):
        raise HipFailure(INVALID_VALUE)
    hipMallocPitch(rt, out, pitch, width, height)


@serve()
def hipFree(rt: Runtime, address: Pointer) -> None:
    _free(rt, address, DEVICE, MANAGED, HOST)  # ROCm's frees pinned memory, too: hip-tests, BuiltIns_fadd.cc


@serve()
def hipFreeAsync(rt: Runtime, address: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    freed = _free(rt, address, DEVICE, MANAGED)
    if rt.order is not None and freed is not None:
        rt.order.fills(freed.address, freed.size)


@serve("hipFreeHost")
def hipHostFree(rt: Runtime, address: Pointer) -> None:
    _free(rt, address, HOST)


@serve()
def hipHostGetDevicePointer(rt: Runtime, out: Pointer, address: Pointer, flags: UInt) -> None:
    for one in rt.registered.values():
        if one.address <= address < one.address + one.size:
            put_word(out, one.twin + address - one.address)
            return
    _known(rt, address, HOST)
    put_word(out, address)


@serve()
def hipHostGetFlags(rt: Runtime, out: Pointer, address: Pointer) -> None:
    put_int(out, _known(rt, address, HOST).flags)


@serve()
def hipHostRegister(rt: Runtime, address: Pointer, size: Size, flags: UInt) -> None:
    if not address or not size or rt.heap.holds(address):
        raise HipFailure(INVALID_VALUE)
    if any(address < one.address + one.size and one.address < address + size for one in rt.registered.values()):
        raise HipFailure(ALREADY_REGISTERED)
    twin = rt.heap.allocate(size, HOST, rt.checked(rt.device), "hipHostRegister", flags).address
    rt.registered[address] = Registered(address, size, twin)


@serve()
def hipHostUnregister(rt: Runtime, address: Pointer) -> None:
    found = rt.registered.pop(address, None)
    if found is None:
        raise HipFailure(NOT_REGISTERED)
    rt.heap.free(found.twin)


def _known(rt: Runtime, address: int, *kinds: int) -> Allocation:
    found = rt.heap.at(address)
    if found is None or found.kind == INTERNAL or (kinds and found.kind not in kinds):
        raise HipFailure(INVALID_VALUE)
    return found


@serve()
def hipMemGetInfo(rt: Runtime, free: Pointer, total: Pointer) -> None:
    limit = rt.heap.limit
    put_word(free, limit - rt.heap.used(rt.checked(rt.device)))
    put_word(total, limit)


@serve()
def hipMemGetAddressRange(rt: Runtime, base: Pointer, size: Pointer, address: Pointer) -> None:
    found = _known(rt, address)
    put_word(base, found.address)
    put_word(size, found.size)


@serve()
def hipMemPtrGetInfo(rt: Runtime, address: Pointer, size: Pointer) -> None:
    put_word(size, _known(rt, address).size)


class PointerAttribute(ctypes.Structure):
    """hipPointerAttribute_t of hip_runtime_api.h, ROCm 6 and 7."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("devicePointer", ctypes.c_void_p),
        ("hostPointer", ctypes.c_void_p),
        ("isManaged", ctypes.c_int),
        ("allocationFlags", ctypes.c_uint),
    )


@serve()
def hipPointerGetAttributes(rt: Runtime, out: Pointer, address: Pointer) -> None:
    if not out or not address:
        raise HipFailure(INVALID_VALUE)
    found = rt.heap.at(address)
    attributes = PointerAttribute.from_address(out)
    if found is None or found.kind == INTERNAL:
        ctypes.memset(out, 0, ctypes.sizeof(PointerAttribute))  # hipMemoryTypeUnregistered
        attributes.device = -1
        return
    attributes.type, attributes.device = found.kind, found.device
    attributes.devicePointer = address
    attributes.hostPointer = None if found.kind == DEVICE else address
    attributes.isManaged, attributes.allocationFlags = found.kind == MANAGED, found.flags


@serve()
def hipPointerGetAttribute(rt: Runtime, out: Pointer, attribute: Int, address: Pointer) -> None:
    found = _known(rt, address)
    # HIP_POINTER_ATTRIBUTE_: MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, IS_MANAGED, DEVICE_ORDINAL, RANGE_*, MAPPED
    ints = {2: found.kind, 8: found.kind == MANAGED, 9: found.device, 13: True}
    words = {3: address, 4: 0 if found.kind == DEVICE else address, 11: found.address, 12: found.size}
    if attribute in ints:
        put_int(out, int(ints[attribute]))
    elif attribute in words:
        put_word(out, words[attribute])
    else:
        raise HipFailure(NOT_SUPPORTED, f"pointer attribute {attribute} is not supported")
