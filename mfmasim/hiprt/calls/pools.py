"""Memory pools, and hints about managed memory. Pools own no memory: every allocation uses the heap."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mfmasim.hiprt.heap import DEVICE, MANAGED
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, UInt, serve
from mfmasim.hiprt.words import put_int, put_word, words_at

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE = 1
SETTABLE_INTS, THRESHOLD, MEASURED = (1, 2, 3), 4, (5, 6, 7, 8)
"""hipMemPoolAttr: reuse, the release threshold, and reserved and used memory, current and maximum."""
CPU = -1
"""hipCpuDeviceId."""
DEVICE_LOCATION, READ_WRITE = 1, 3


@dataclass(eq=False)
class Pool:
    """A pool."""

    device: int
    values: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1, 4: 0})
    highest: int = 0


def _default(rt: Runtime, device: int) -> int:
    """Handle of a device's default pool."""
    rt.checked(device)
    if device not in rt.pools:
        rt.pools[device] = [rt.add(Pool(device))] * 2
    return rt.pools[device][0]


@serve()
def hipDeviceGetDefaultMemPool(rt: Runtime, out: Pointer, device: Int) -> None:
    put_word(out, _default(rt, device))


@serve()
def hipDeviceGetMemPool(rt: Runtime, out: Pointer, device: Int) -> None:
    _default(rt, device)
    put_word(out, rt.pools[device][1])


@serve()
def hipDeviceSetMemPool(rt: Runtime, device: Int, pool: Pointer) -> None:
    _default(rt, device)
    if rt.find(pool, Pool).device != device:
        raise HipFailure(INVALID_VALUE)
    rt.pools[device][1] = pool


@serve()
def hipMemPoolCreate(rt: Runtime, out: Pointer, given: Pointer) -> None:
    # hipMemPoolProps: allocType, handleTypes, location.type, location.id
    kinds, place = words_at(given, 2)
    if kinds & 0xFFFFFFFF != 1 or place & 0xFFFFFFFF != DEVICE_LOCATION:
        raise HipFailure(INVALID_VALUE, "only pools of pinned allocations on a device are supported")
    put_word(out, rt.add(Pool(rt.checked(place >> 32))))


@serve()
def hipMemPoolDestroy(rt: Runtime, pool: Pointer) -> None:
    found = rt.find(pool, Pool)
    if pool == rt.pools.get(found.device, [0])[0]:
        raise HipFailure(INVALID_VALUE, "a device's default pool cannot be destroyed")
    if pool == rt.pools.get(found.device, [0, 0])[1]:
        rt.pools[found.device][1] = rt.pools[found.device][0]
    del rt.handles[pool]


@serve()
def hipMallocFromPoolAsync(rt: Runtime, out: Pointer, size: Size, pool: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    found = rt.find(pool, Pool)
    put_word(out, 0)
    if size:
        made = rt.heap.allocate(size, DEVICE, found.device, "hipMallocFromPoolAsync").address
        put_word(out, made)
        if rt.order is not None:
            rt.order.fills(made, size)
        found.highest = max(found.highest, rt.heap.used(found.device))


@serve()
def hipMemPoolSetAttribute(rt: Runtime, pool: Pointer, attribute: Int, value: Pointer) -> None:
    found = rt.find(pool, Pool)
    if not value or attribute not in (*SETTABLE_INTS, THRESHOLD, *MEASURED):
        raise HipFailure(INVALID_VALUE)
    wide = ctypes.c_uint64 if attribute not in SETTABLE_INTS else ctypes.c_uint32
    given = wide.from_address(value).value
    if attribute in MEASURED:
        if given or attribute in (5, 7):  # only the maxima can be set, and only to 0
            raise HipFailure(INVALID_VALUE)
        found.highest = 0
    else:
        found.values[attribute] = given


@serve()
def hipMemPoolGetAttribute(rt: Runtime, pool: Pointer, attribute: Int, out: Pointer) -> None:
    found = rt.find(pool, Pool)
    if attribute in SETTABLE_INTS:
        put_int(out, found.values[attribute])
    elif attribute == THRESHOLD:
        put_word(out, found.values[attribute])
    elif attribute in MEASURED:
        used = rt.heap.used(found.device)
        put_word(out, max(found.highest, used) if attribute in (6, 8) else used)
    else:
        raise HipFailure(INVALID_VALUE)


@serve()
def hipMemPoolTrimTo(rt: Runtime, pool: Pointer, size: Size) -> None:
    rt.find(pool, Pool)


@serve()
def hipMemPoolSetAccess(rt: Runtime, pool: Pointer, given: Pointer, count: Size) -> None:
    found = rt.find(pool, Pool)
    # hipMemAccessDesc: location.type, location.id, flags
    words = list((ctypes.c_int32 * (3 * count)).from_address(given)) if given and count else []
    for kind, device, flags in zip(*(words[n::3] for n in range(3)), strict=True):
        if kind != DEVICE_LOCATION or flags not in (0, 1, READ_WRITE):
            raise HipFailure(INVALID_VALUE)
        pair = (rt.checked(device), found.device)
        if device != found.device:
            (rt.peers.add if flags else rt.peers.discard)(pair)
            rt.heap.changes += 1


@serve()
def hipMemPoolGetAccess(rt: Runtime, out: Pointer, pool: Pointer, location: Pointer) -> None:
    found = rt.find(pool, Pool)
    (place,) = words_at(location, 1)
    device = rt.checked(place >> 32)
    put_int(out, READ_WRITE if device == found.device or (device, found.device) in rt.peers else 0)


# --- managed memory: host and devices share it, so hints about its location have no effect


def _managed(rt: Runtime, address: int, size: int, device: int) -> None:
    if device != CPU:
        rt.checked(device)
    found = rt.heap.at(address, size)
    if found is None or found.kind != MANAGED or not size:
        raise HipFailure(INVALID_VALUE)


@serve()
def hipMemPrefetchAsync(rt: Runtime, address: Pointer, size: Size, device: Int, stream: Pointer) -> None:
    rt.stream(stream)
    _managed(rt, address, size, device)


@serve()
def hipMemAdvise(rt: Runtime, address: Pointer, size: Size, advice: Int, device: Int) -> None:
    _managed(rt, address, size, device)


@serve()
def hipStreamAttachMemAsync(rt: Runtime, stream: Pointer, address: Pointer, size: Size, flags: UInt) -> None:
    rt.stream(stream)
    found = rt.heap.at(address)
    if found is None or found.kind != MANAGED:
        raise HipFailure(INVALID_VALUE)
