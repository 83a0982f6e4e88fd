"""Kernels and variables of registered device code by addresses of the program."""

from __future__ import annotations

from mfmasim.hiprt.images import image_at
from mfmasim.hiprt.launching import load_module
from mfmasim.hiprt.registry import HipFailure
from mfmasim.hiprt.runtime import Function, Module, Runtime, Symbol

INVALID_SYMBOL, INVALID_FUNCTION = 13, 98


def function_of(rt: Runtime, word: int, device: int | None = None) -> Function:
    """The kernel of a handle, or of the address of a host function.

    Args:
        rt: the runtime.
        word: hipFunction_t, or a function of the program.
        device: device of a host function's code; None means the calling thread's device.

    Raises:
        HipFailure: the word is neither, or the program has no code for the device.
    """
    thing = rt.handles.get(word)
    if isinstance(thing, Function):
        return thing
    symbol = rt.program.kernels.get(word)
    if symbol is None:
        raise HipFailure(INVALID_FUNCTION, f"{word:#x} is no kernel of this program")
    module = _module(rt, symbol, device)
    if symbol.name not in module.code.kernels:
        raise HipFailure(INVALID_FUNCTION, f"the device code for {module.code.arch.name} has no kernel {symbol.name}")
    return Function(module, module.code[symbol.name])


def place_of(rt: Runtime, word: int, device: int | None = None) -> tuple[int, int]:
    """Address and size on a device of a variable.

    Args:
        rt: the runtime.
        word: address of its host variable.
        device: see `function_of`.

    Raises:
        HipFailure: it is not a variable, or the program has no code for the device.
    """
    symbol = rt.program.variables.get(word)
    if symbol is None:
        raise HipFailure(INVALID_SYMBOL, f"{word:#x} is no device variable of this program")
    if symbol.managed:
        return symbol.managed, symbol.size
    module = _module(rt, symbol, device)
    found = module.code.object.symbols.get(symbol.name)
    if found is None:
        raise HipFailure(INVALID_SYMBOL, f"the device code has no variable {symbol.name}")
    return module.image + found.address, symbol.size


def _module(rt: Runtime, symbol: Symbol, device: int | None) -> Module:
    """The module of a registration on a device, loaded when it is needed first."""
    number = rt.checked(rt.device if device is None else device)
    key = (symbol.image, number)
    module = rt.program.modules.get(key)
    if module is None:
        module = load_module(rt, image_at(rt.program.images[symbol.image]), number)
        rt.program.modules[key] = module
        for one in rt.program.variables.values():
            pointer = module.code.object.symbols.get(one.name)
            if one.image == symbol.image and one.managed and pointer is not None:
                rt.heap.put_word(module.image + pointer.address, one.managed)
    return module
