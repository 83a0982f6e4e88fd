"""Code objects as libraries: an interface beside modules, with the same content."""

from __future__ import annotations

import ctypes

from mfmasim.hiprt.calls.modules import (
    hipFuncGetAttribute,
    hipModuleGetFunction,
    hipModuleGetFunctionCount,
    hipModuleGetGlobal,
    hipModuleLoad,
    hipModuleLoadData,
)
from mfmasim.hiprt.launching import unload
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, Text, UInt, serve
from mfmasim.hiprt.runtime import Function, Module, Runtime
from mfmasim.hiprt.words import put_word

INVALID_VALUE, NOT_FOUND = 1, 500


@serve()
def hipLibraryLoadData(
    rt: Runtime,
    out: Pointer,
    image: Pointer,
    options: Pointer,
    values: Pointer,
    count: UInt,
    library_options: Pointer,
    library_values: Pointer,
    library_count: UInt,
) -> None:
    hipModuleLoadData(rt, out, image)


@serve()
def hipLibraryLoadFromFile(
    rt: Runtime,
    out: Pointer,
    name: Text,
    options: Pointer,
    values: Pointer,
    count: UInt,
    library_options: Pointer,
    library_values: Pointer,
    library_count: UInt,
) -> None:
    hipModuleLoad(rt, out, name)


@serve()
def hipLibraryUnload(rt: Runtime, library: Pointer) -> None:
    unload(rt, library)


@serve()
def hipLibraryGetKernel(rt: Runtime, out: Pointer, library: Pointer, name: Text) -> None:
    hipModuleGetFunction(rt, out, library, name)


@serve()
def hipLibraryGetKernelCount(rt: Runtime, out: Pointer, library: Pointer) -> None:
    hipModuleGetFunctionCount(rt, out, library)


@serve()
def hipLibraryEnumerateKernels(rt: Runtime, out: Pointer, count: UInt, library: Pointer) -> None:
    found = rt.find(library, Module)
    for number, name in enumerate(list(found.code.kernels)[:count]):
        put_word(out + 8 * number, rt.add(Function(found, found.code[name])))


@serve()
def hipLibraryGetGlobal(rt: Runtime, out: Pointer, size: Pointer, library: Pointer, name: Text) -> None:
    hipModuleGetGlobal(rt, out, size, library, name)


@serve()
def hipKernelGetFunction(rt: Runtime, out: Pointer, kernel: Pointer) -> None:
    rt.find(kernel, Function)
    put_word(out, kernel)


@serve()
def hipKernelGetLibrary(rt: Runtime, out: Pointer, kernel: Pointer) -> None:
    module = rt.find(kernel, Function).module
    put_word(out, next(handle for handle, thing in rt.handles.items() if thing is module))


@serve()
def hipKernelGetName(rt: Runtime, out: Pointer, kernel: Pointer) -> None:
    found = rt.find(kernel, Function)
    text = rt.texts.setdefault(found.kernel.name, ctypes.create_string_buffer(found.kernel.name.encode()))
    put_word(out, ctypes.addressof(text))


@serve()
def hipKernelGetAttribute(rt: Runtime, out: Pointer, attribute: Int, kernel: Pointer, device: Int) -> None:
    rt.checked(device)
    hipFuncGetAttribute(rt, out, attribute, kernel)


@serve()
def hipKernelGetParamInfo(rt: Runtime, kernel: Pointer, number: Size, offset: Pointer, size: Pointer) -> None:
    arguments = rt.find(kernel, Function).kernel.args
    if number >= len(arguments) or not offset:
        raise HipFailure(INVALID_VALUE)
    put_word(offset, arguments[number].offset)
    if size:
        put_word(size, arguments[number].size)
