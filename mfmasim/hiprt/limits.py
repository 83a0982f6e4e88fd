"""Limits of a device: stack, printf's buffer, and the heap from which kernels allocate.

A code object has a heap of its own (include/mfmasim/heap.h), which a variable points to. Once a program has
chosen a size, all code objects of the device have one heap of that size, outside of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.hiprt.heap import INTERNAL
from mfmasim.hiprt.registry import HipFailure
from mfmasim.machine.launch.printf import PRINTF_BYTES

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Module, Runtime

INVALID_VALUE, UNSUPPORTED_LIMIT = 1, 215
STACK, PRINTF, HEAP = range(3)
"""hipLimit_t."""
LIMITS = {STACK: 16384, PRINTF: PRINTF_BYTES, HEAP: 1 << 20}
"""Default limits; the heap's is MFMASIM_HEAP_BYTES of the header."""
HEAP_NAME = "heap of the kernels"
POINTER = "_ZN7mfmasim11device_heapE"
"""The variable of a code object that points to its heap."""
SIZES, BLOCK, LARGEST = 112, 16, 1 << 32
"""Constants of the header: lists of free blocks, bytes before a block, and the end of offsets."""
USED, SIZE = 8 * SIZES, 8 * SIZES + 8
STATE = -(-(SIZE + 8) // 16) * 16
"""Bytes before the first block: lists, bytes in use, size."""


def limit_of(rt: Runtime, limit: int) -> int:
    """A limit of the calling thread's device.

    Args:
        rt: the runtime.
        limit: hipLimit_t.

    Raises:
        HipFailure: there is no such limit.
    """
    if limit not in LIMITS:
        raise HipFailure(UNSUPPORTED_LIMIT)
    place = rt.kernel_heaps.get(rt.checked(rt.device))
    return rt.heap.word(place + SIZE) if place and limit == HEAP else LIMITS[limit]


def set_heap(rt: Runtime, size: int) -> None:
    """Choose the size of the heap of the calling thread's device.

    Args:
        rt: the runtime.
        size: bytes; at least two blocks are made.

    Raises:
        HipFailure: kernels have allocated already, or there is not so much memory.
    """
    device = rt.checked(rt.device)
    modules = rt.modules(device)
    pointers = [module.image + at for module in modules if (at := _pointer(module)) is not None]
    if any(rt.heap.word(rt.heap.word(at) + USED) for at in pointers):
        raise HipFailure(
            INVALID_VALUE, f"the heap of kernels has {limit_of(rt, HEAP)} bytes: they have used it already"
        )
    if size > LARGEST - BLOCK:
        raise HipFailure(INVALID_VALUE, f"a heap of {size} bytes: at most {LARGEST - BLOCK} are possible")
    size = max(size, 2 * BLOCK)
    made = rt.heap.allocate(STATE + size, INTERNAL, device, HEAP_NAME).address
    before = rt.kernel_heaps.pop(device, None)
    if before is not None:
        rt.heap.free(before)
    rt.kernel_heaps[device] = made
    rt.heap.put_word(made + SIZE, size)
    for module in modules:
        connect(rt, module)


def connect(rt: Runtime, module: Module) -> None:
    """Let a loaded code object use the heap whose size the program has chosen for its device, if there is one."""
    place, at = rt.kernel_heaps.get(module.device), _pointer(module)
    if place is not None and at is not None:
        rt.heap.put_word(module.image + at, place)


def _pointer(module: Module) -> int | None:
    found = module.code.object.symbols.get(POINTER)
    return None if found is None else found.address
