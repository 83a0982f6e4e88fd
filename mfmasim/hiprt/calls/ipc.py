"""Memory and events of devices that processes share.

Results of wrong arguments are those of ROCm's clr, hip_memory.cpp and hip_event_ipc.cpp.
"""

from __future__ import annotations

import ctypes
import os
import struct

from mfmasim.hiprt.registry import HipFailure, Pointer, UInt, serve
from mfmasim.hiprt.runtime import Event, Runtime
from mfmasim.hiprt.words import put_bytes, put_word

INVALID_VALUE, INVALID_CONFIGURATION, INVALID_CONTEXT = 1, 9, 201
HANDLE = 64
"""Bytes of a handle."""
LAZY = 1
"""hipIpcMemLazyEnablePeerAccess, the only flag and a required one."""
DISABLE_TIMING, INTERPROCESS = 2, 4
"""hipEventDisableTiming and hipEventInterprocess: such an event has both."""
OF_EVENT = struct.Struct("<8sI")
EVENT = b"mfmasimE"


@serve()
def hipIpcGetMemHandle(rt: Runtime, handle: Pointer, address: Pointer) -> None:
    if not handle or not address:
        raise HipFailure(INVALID_VALUE)
    rt.wait()
    put_bytes(handle, rt.sharing.handle(address).ljust(HANDLE, b"\0"))


@serve()
def hipIpcOpenMemHandle(rt: Runtime, out: Pointer, handle: Pointer, flags: UInt) -> None:
    if not out or flags != LAZY:
        raise HipFailure(INVALID_VALUE)
    put_word(out, rt.sharing.open(ctypes.string_at(handle, HANDLE), rt.checked(rt.device)))


@serve()
def hipIpcCloseMemHandle(rt: Runtime, address: Pointer) -> None:
    rt.wait()
    if not address:
        raise HipFailure(INVALID_VALUE)
    rt.sharing.close(address)


@serve()
def hipIpcGetEventHandle(rt: Runtime, handle: Pointer, event: Pointer) -> None:
    if not handle or not event:
        raise HipFailure(INVALID_VALUE)
    if rt.find(event, Event).flags & (DISABLE_TIMING | INTERPROCESS) != DISABLE_TIMING | INTERPROCESS:
        raise HipFailure(INVALID_CONFIGURATION)
    put_bytes(handle, OF_EVENT.pack(EVENT, os.getpid()).ljust(HANDLE, b"\0"))


@serve()
def hipIpcOpenEventHandle(rt: Runtime, out: Pointer, handle: Pointer) -> None:
    """The work before an event is complete when the call that records it returns, in every process."""
    if not out:
        raise HipFailure(INVALID_VALUE)
    magic, process = OF_EVENT.unpack_from(ctypes.string_at(handle, HANDLE))
    if magic != EVENT:
        raise HipFailure(INVALID_VALUE)
    if process == os.getpid():
        raise HipFailure(INVALID_CONTEXT)
    put_word(out, rt.add(Event(rt.checked(rt.device), DISABLE_TIMING | INTERPROCESS)))
