"""Tensors of ``cuda`` in a CPU build of PyTorch: what `torch.cuda` answers, and when their library is loaded."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.extensions import backend, distributed
from mfmasim.extensions.environment import WANTED
from mfmasim.hiprt.settings import Settings

NOTE = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)
_kept: list[Any] = []  # the library holds the callback's address
_why: list[str] = []
"""Why the library that PyTorch's answers come from could not be built."""


def before() -> None:
    """PyTorch is about to be imported: load what answers in its place."""
    try:
        backend.load(backend.answers())
    except (MfmasimError, OSError) as error:
        _why.append(str(error))


def is_cpu_build(torch: Any) -> bool:
    """Whether this PyTorch has no device of its own: another one finds the simulated runtime by itself."""
    return torch.version.cuda is None and not torch.backends.cuda.is_built()


def prepare(torch: Any) -> None:
    """PyTorch is imported, under ``mfmasim hiprt``: `torch.cuda` answers for the simulated devices.

    Args:
        torch: the module.
    """
    if not is_cpu_build(torch):
        return
    settings = Settings.read()
    if not settings.archs:
        return
    from mfmasim.triton import cuda, pytorch

    for owner, name, value in pytorch.common():
        setattr(owner, name, value)
    replaced = {**cuda.answers(settings.archs[0]), **_own(len(settings.archs))}
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    torch.Generator = _generator(torch, pytorch.GeneratorKind)
    for name, value in _storages(torch).items():
        setattr(torch.UntypedStorage, name, value)
    distributed.prepare(torch)


def _generator(torch: Any, kind: type) -> type:
    """`torch.Generator`, which in a CPU build does not wait for the library as other functions with a device do."""

    def made(cls: type, device: Any = "cpu") -> Any:
        del cls
        if torch.device(device).type == "cuda":
            begin()
        return torch._C.Generator(device)  # noqa: SLF001

    made_kind: type = kind("Generator", (torch.Generator,), {"__new__": made, "__doc__": torch.Generator.__doc__})
    return made_kind


def _storages(torch: Any) -> dict[str, Any]:
    """Methods of a storage that make another one: in a CPU build the type makes none on a device."""

    def copied(storage: Any, device: Any) -> Any:
        given = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
        return torch.empty(storage.nbytes(), dtype=torch.uint8, device=device).copy_(given).untyped_storage()

    def clone(self: Any) -> Any:
        return copied(self, self.device)

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        del non_blocking
        return self if self.device == torch.device(device) else copied(self, device)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        del non_blocking
        return to(self, device=torch.device("cuda" if device is None else device))

    return {"clone": clone, "to": to, "cuda": cuda, "_to": to}


def _own(devices: int) -> dict[str, Any]:
    """Names of `torch.cuda` that concern the runtime."""

    def synchronize(device: Any = None) -> None:
        begin()
        chosen = _number(device)
        before = exchange(chosen) if chosen is not None else None
        try:
            check("hipDeviceSynchronize")
        finally:
            if before is not None:
                exchange(before)

    def current_device() -> int:
        begin()
        number = ctypes.c_int()
        check("hipGetDevice", ctypes.byref(number))
        return number.value

    def exchange(device: int) -> int:
        old = current_device()
        if device >= 0 and device != old:
            check("hipSetDevice", ctypes.c_int(device))
        return old

    def set_device(device: Any) -> None:
        number = _number(device)
        if number is not None:
            exchange(number)

    def memory_info(device: Any = None) -> tuple[int, int]:
        del device
        begin()
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        check("hipMemGetInfo", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def allocated(device: Any = None) -> int:
        free, total = memory_info(device)
        return total - free

    return {
        "_lazy_init": begin,
        "init": begin,
        "_is_compiled": lambda: True,
        "device_count": lambda: devices,
        "synchronize": synchronize,
        "current_device": current_device,
        "set_device": set_device,
        "_exchange_device": exchange,
        "_maybe_exchange_device": exchange,
        "mem_get_info": memory_info,
        "memory_allocated": allocated,
        "max_memory_allocated": allocated,
    }


def _number(device: Any) -> int | None:
    """The number of a device that a program names; None for the current one."""
    if device is None or isinstance(device, int):
        return device
    torch = importlib.import_module("torch")
    index: int | None = torch.device(device).index
    return index


def check(name: str, *arguments: Any) -> None:
    """Call the runtime.

    Args:
        name: of the call.
        arguments: as ctypes values.

    Raises:
        RuntimeError: its error, as PyTorch words it.
    """
    hip = ctypes.CDLL("libamdhip64.so")
    code = getattr(hip, name)(*arguments)
    if code:
        hip.hipGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"HIP error: {hip.hipGetErrorString(code).decode()}")


def begin() -> None:
    """Load the library of tensors, once; under ``mfmasim triton`` its stand-ins become tensors of the devices.

    Raises:
        MfmasimError: it cannot be built, or this PyTorch has devices of its own.
    """
    if _kept:
        return
    if _why:
        raise MfmasimError(_why[0])
    library = backend.load(backend.tensors())
    _kept.append(NOTE(_written))
    library.mfmasim_begin_tensors(_kept[0])
    if os.environ.get(WANTED) == "triton":
        from mfmasim.extensions.change import real_tensors

        real_tensors(_own(1))


def _written(address: int, size: int) -> None:
    """PyTorch has written bytes of device memory on the CPU."""
    serving = sys.modules.get("mfmasim.hiprt.serving")
    runtime = serving.current() if serving is not None else None
    if runtime is not None and runtime.heap.written is not None:
        runtime.heap.written.mark(address, size)
