"""Settings and contexts: calls with little effect in AMD's runtime, supported so that programs run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.hiprt.limits import HEAP, limit_of, set_heap
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, UInt, serve
from mfmasim.hiprt.words import put_int, put_word

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE, INVALID_CONTEXT = 1, 201
CONTEXT = 0x100
"""Handle of the first device's context; a device has one, its primary context."""


@serve("hipDeviceSetSharedMemConfig")
def hipCtxSetCacheConfig(rt: Runtime, wish: Int) -> None:
    rt.checked(rt.device)


@serve()
def hipSetDeviceFlags(rt: Runtime, flags: UInt) -> None:
    rt.checked(rt.device)


@serve("hipDeviceGetSharedMemConfig", "hipGetDeviceFlags")
def hipDeviceGetCacheConfig(rt: Runtime, out: Pointer) -> None:
    put_int(out, 0)


@serve()
def hipDeviceSetLimit(rt: Runtime, limit: Int, value: Size) -> None:
    limit_of(rt, limit)  # of the stack and of printf's buffer the size stays
    if limit == HEAP:
        set_heap(rt, value)


@serve("hipProfilerStop")
def hipProfilerStart(rt: Runtime) -> None:
    """Accept the call without effect: no profiler is supported."""


@serve()
def hipDeviceGetP2PAttribute(rt: Runtime, out: Pointer, attribute: Int, first: Int, second: Int) -> None:
    if rt.checked(first) == rt.checked(second) or attribute not in range(4):
        raise HipFailure(INVALID_VALUE)
    put_int(out, int(attribute in (1, 2)))  # access and atomics, no arrays


def _device(rt: Runtime, context: int) -> int:
    if not CONTEXT <= context < CONTEXT + len(rt.archs):
        raise HipFailure(INVALID_CONTEXT)
    return context - CONTEXT


@serve()
def hipDevicePrimaryCtxRetain(rt: Runtime, out: Pointer, device: Int) -> None:
    put_word(out, CONTEXT + rt.checked(device))


@serve("hipDevicePrimaryCtxReset")
def hipDevicePrimaryCtxRelease(rt: Runtime, device: Int) -> None:
    rt.checked(device)


@serve()
def hipDevicePrimaryCtxGetState(rt: Runtime, device: Int, flags: Pointer, active: Pointer) -> None:
    rt.checked(device)
    put_int(flags, 0)
    put_int(active, 1)


@serve()
def hipDevicePrimaryCtxSetFlags(rt: Runtime, device: Int, flags: UInt) -> None:
    rt.checked(device)


@serve()
def hipCtxCreate(rt: Runtime, out: Pointer, flags: UInt, device: Int) -> None:
    rt.device = device
    put_word(out, CONTEXT + device)


@serve()
def hipCtxDestroy(rt: Runtime, context: Pointer) -> None:
    _device(rt, context)


@serve("hipCtxPushCurrent")
def hipCtxSetCurrent(rt: Runtime, context: Pointer) -> None:
    rt.device = _device(rt, context)


@serve("hipCtxPopCurrent")
def hipCtxGetCurrent(rt: Runtime, out: Pointer) -> None:
    put_word(out, CONTEXT + rt.checked(rt.device))


@serve()
def hipCtxGetDevice(rt: Runtime, out: Pointer) -> None:
    put_int(out, rt.checked(rt.device))


@serve()
def hipCtxSynchronize(rt: Runtime) -> None:
    rt.wait(rt.checked(rt.device))
