"""Modules, functions and launches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

from mfmasim.errors import unknown
from mfmasim.hiprt.calls.devices import UNITS, properties
from mfmasim.hiprt.images import image_at
from mfmasim.hiprt.launching import Options, launch, load_module, unload
from mfmasim.hiprt.linking import function_of
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, Text, UInt, serve
from mfmasim.hiprt.runtime import Function, Module, Runtime
from mfmasim.hiprt.words import put_int, put_word, words_at

INVALID_VALUE, FILE_NOT_FOUND, NOT_FOUND, NOT_SUPPORTED = 1, 301, 500, 801
BUFFER_POINTER, BUFFER_SIZE, END = 1, 2, 3
"""HIP_LAUNCH_PARAM_: keys of the entries of `extra`."""


@serve()
def hipModuleLoad(rt: Runtime, out: Pointer, name: Text) -> None:
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise HipFailure(FILE_NOT_FOUND, f"{name!r}: {error.strerror or error}") from None
    put_word(out, rt.add(load_module(rt, data)))


@serve()
def hipModuleLoadData(rt: Runtime, out: Pointer, image: Pointer) -> None:
    put_word(out, rt.add(load_module(rt, image_at(image))))


@serve()
def hipModuleLoadDataEx(  # the options are for compilation at load time, which does not exist here
    rt: Runtime, out: Pointer, image: Pointer, count: UInt, options: Pointer, values: Pointer
) -> None:
    hipModuleLoadData(rt, out, image)


@serve()
def hipModuleUnload(rt: Runtime, module: Pointer) -> None:
    unload(rt, module)


@serve()
def hipModuleGetFunction(rt: Runtime, out: Pointer, module: Pointer, name: Text) -> None:
    found = rt.find(module, Module)
    if name not in found.code.kernels:
        raise HipFailure(NOT_FOUND, str(unknown("kernel", name, found.code.kernels, "of the module")))
    put_word(out, rt.add(Function(found, found.code[name])))


@serve()
def hipModuleGetGlobal(rt: Runtime, out: Pointer, size: Pointer, module: Pointer, name: Text) -> None:
    found = rt.find(module, Module)
    symbol = found.code.object.symbols.get(name)
    if symbol is None:
        raise HipFailure(NOT_FOUND, str(unknown("symbol", name, found.code.object.symbols, "of the module")))
    put_word(out, found.image + symbol.address)
    if size:
        put_word(size, symbol.size)


def _attribute(function: Function, attribute: int) -> int:
    """HIP_FUNC_ATTRIBUTE_: see hip_runtime_api.h."""
    kernel = function.kernel
    info, metadata = kernel.info, kernel.info.metadata
    largest = metadata.max_flat_workgroup_size or kernel.arch.max_workgroup
    values = {
        0: min(kernel.arch.max_workgroup, largest),
        1: info.group_segment_fixed_size,
        2: 0,
        3: info.private_segment_fixed_size,
        4: metadata.vgpr_count or 0,
        5: 0,
        6: 0,
        7: 0,
        8: kernel.arch.lds_bytes - info.group_segment_fixed_size,
        9: 0,
    }
    if attribute not in values:
        raise HipFailure(INVALID_VALUE)
    return values[attribute]


@serve()
def hipFuncGetAttribute(rt: Runtime, out: Pointer, attribute: Int, function: Pointer) -> None:
    put_int(out, _attribute(rt.find(function, Function), attribute))


def _resident(function: Function, block: int, shared: int) -> int:
    """Workgroups that one compute unit of a simulated device holds: one, if it fits."""
    return int(0 < block <= _attribute(function, 0) and shared <= _attribute(function, 8))


@serve("hipOccupancyMaxActiveBlocksPerMultiprocessor")
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    rt: Runtime, out: Pointer, function: Pointer, block: Int, shared: Size
) -> None:
    put_int(out, _resident(function_of(rt, function), block, shared))


@serve("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    rt: Runtime, out: Pointer, function: Pointer, block: Int, shared: Size, flags: UInt
) -> None:
    if flags > 1:
        raise HipFailure(INVALID_VALUE)
    put_int(out, _resident(function_of(rt, function), block, shared))


@serve("hipOccupancyMaxPotentialBlockSize")
def hipModuleOccupancyMaxPotentialBlockSize(
    rt: Runtime, grid: Pointer, block: Pointer, function: Pointer, shared: Size, limit: Int
) -> None:
    found = function_of(rt, function)
    size = min(_attribute(found, 0), limit if limit > 0 else found.kernel.arch.max_workgroup)
    put_int(block, size)
    put_int(grid, UNITS * _resident(found, size, shared))


@serve()
def hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    rt: Runtime, grid: Pointer, block: Pointer, function: Pointer, shared: Size, limit: Int, flags: UInt
) -> None:
    if flags > 1:
        raise HipFailure(INVALID_VALUE)
    hipModuleOccupancyMaxPotentialBlockSize(rt, grid, block, function, shared, limit)


@serve()
def hipModuleGetFunctionCount(rt: Runtime, out: Pointer, module: Pointer) -> None:
    put_int(out, len(rt.find(module, Module).code.kernels))


@serve()
def hipModuleLoadFatBinary(rt: Runtime, out: Pointer, image: Pointer) -> None:
    hipModuleLoadData(rt, out, image)


@serve()
def hipFuncSetAttribute(rt: Runtime, function: Pointer, attribute: Int, value: Int) -> None:
    found = function_of(rt, function)
    if attribute not in (8, 9) or value < 0 or (attribute == 8 and value > _attribute(found, 8)):
        raise HipFailure(INVALID_VALUE)


@serve("hipFuncSetSharedMemConfig")
def hipFuncSetCacheConfig(rt: Runtime, function: Pointer, config: Int) -> None:
    function_of(rt, function)


class FuncAttributes(ctypes.Structure):
    """hipFuncAttributes of hip_runtime_api.h."""

    _fields_ = (
        ("binaryVersion", ctypes.c_int),
        ("cacheModeCA", ctypes.c_int),
        ("constSizeBytes", ctypes.c_size_t),
        ("localSizeBytes", ctypes.c_size_t),
        ("maxDynamicSharedSizeBytes", ctypes.c_int),
        ("maxThreadsPerBlock", ctypes.c_int),
        ("numRegs", ctypes.c_int),
        ("preferredShmemCarveout", ctypes.c_int),
        ("ptxVersion", ctypes.c_int),
        ("sharedSizeBytes", ctypes.c_size_t),
    )


@serve()
def hipFuncGetAttributes(rt: Runtime, out: Pointer, function: Pointer) -> None:
    if not out:
        raise HipFailure(INVALID_VALUE)
    found, made = function_of(rt, function), FuncAttributes.from_address(out)
    ctypes.memset(out, 0, ctypes.sizeof(FuncAttributes))
    version = properties(rt, found.module.device)
    made.binaryVersion = made.ptxVersion = version.major * 10 + version.minor
    made.maxThreadsPerBlock, made.sharedSizeBytes = _attribute(found, 0), _attribute(found, 1)
    made.localSizeBytes, made.numRegs = _attribute(found, 3), _attribute(found, 4)
    made.maxDynamicSharedSizeBytes = _attribute(found, 8)


def _from_params(function: Function, params: int) -> list[bytes]:
    """Bytes of the arguments: an array of pointers, one to each."""
    arguments = function.kernel.args
    places = words_at(params, len(arguments)) if arguments else []
    if not all(places):
        raise HipFailure(INVALID_VALUE, f"{function.kernel.name}: argument {places.index(0)} is a null pointer")
    return [ctypes.string_at(place, arg.size) for place, arg in zip(places, arguments, strict=True)]


def _from_extra(function: Function, extra: int) -> list[bytes]:
    """Bytes of the arguments: a buffer laid out as the kernel's argument segment, and its size."""
    buffer = size = 0
    for at in range(extra, extra + 16 * 8, 16):
        key = words_at(at, 1)[0]
        if key == END:
            break
        value = words_at(at + 8, 1)[0]
        if key == BUFFER_POINTER:
            buffer = value
        elif key == BUFFER_SIZE:
            size = words_at(value, 1)[0]
        else:
            raise HipFailure(INVALID_VALUE, f"{function.kernel.name}: unknown key {key} in extra")
    arguments = function.kernel.args
    needed = max((arg.offset + arg.size for arg in arguments), default=0)
    if (arguments and not buffer) or size < needed:
        text = f"{function.kernel.name}: the arguments need {needed} bytes, extra has {size}"
        raise HipFailure(INVALID_VALUE, text)
    return [ctypes.string_at(buffer + arg.offset, arg.size) for arg in arguments]


def _freeze(rt: Runtime, function: int, *rest: int) -> Callable[[], None]:
    """Check a call that launches and read its arguments: sizes, shared, stream, params, extra."""
    sizes, (shared, stream, params, extra) = rest[:6], rest[6:]
    found = rt.find(function, Function)
    rt.stream(stream)
    return freeze_launch(rt, found, sizes, shared, params, extra)


def _freeze_cooperative(rt: Runtime, function: int, *rest: int) -> Callable[[], None]:
    """As `_freeze`, for a call without extra."""
    sizes, (shared, stream, params) = rest[:6], rest[6:]
    rt.stream(stream)
    return freeze_launch(rt, rt.find(function, Function), sizes, shared, params, 0, Options(cooperative=True))


def freeze_launch(
    rt: Runtime,
    found: Function,
    sizes: Sequence[int],
    shared: int,
    params: int,
    extra: int,
    options: Options = Options(),  # noqa: B008
) -> Callable[[], None]:
    """Read the arguments of a launch and return a function that executes it.

    Args:
        rt: the runtime.
        found: the kernel.
        sizes: workgroups, then work-items of one, in x, y, z.
        shared: dynamic LDS in bytes.
        params: address of an array of pointers, one to each argument; or 0.
        extra: address of a list of keys and values; or 0.
        options: how it is launched.

    Raises:
        HipFailure: the arguments do not match the kernel's.
    """
    if params and extra:
        raise HipFailure(INVALID_VALUE, f"{found.kernel.name}: both kernelParams and extra are set")
    if found.kernel.args and not (params or extra):
        raise HipFailure(INVALID_VALUE, f"{found.kernel.name} takes {len(found.kernel.args)} arguments, got none")
    words = _from_extra(found, extra) if extra else _from_params(found, params)
    grid, block = tuple(sizes[:3]), tuple(sizes[3:])
    return lambda: launch(rt, found, grid, block, shared, words, options)


@serve(capture="kernel", freeze=_freeze)
def hipModuleLaunchKernel(
    rt: Runtime,
    function: Pointer,
    grid_x: UInt,
    grid_y: UInt,
    grid_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    shared: UInt,
    stream: Pointer,
    params: Pointer,
    extra: Pointer,
) -> None:
    _freeze(rt, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params, extra)()


@serve(capture="kernel", freeze=_freeze_cooperative)
def hipModuleLaunchCooperativeKernel(
    rt: Runtime,
    function: Pointer,
    grid_x: UInt,
    grid_y: UInt,
    grid_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    shared: UInt,
    stream: Pointer,
    params: Pointer,
) -> None:
    _freeze_cooperative(rt, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params)()
