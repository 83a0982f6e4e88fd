"""CPU tensors in place of a GPU's: a mode of PyTorch that gives them the device ``cuda`` in the program's eyes.

A tensor that the program creates on, or moves to, ``cuda`` is a CPU tensor whose storage carries a mark; results of
operations on marked tensors are marked. Moving between devices copies, as it does with a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
CPU = torch.device("cpu")
MARK = "_mfmasim_device"
real: list[bool] = []
"""Not empty once tensors of ``cuda`` are PyTorch's own, as in `mfmasim.extensions`: then none is marked."""


def _storage(tensor: torch.Tensor) -> Any:
    """A tensor's storage; inside `torch.vmap` and `torch.func.grad` that of the tensor which they wrapped."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # noqa: SLF001
        tensor = torch._C._functorch.get_unwrapped(tensor)  # noqa: SLF001
    return tensor.untyped_storage()


def mark(value: object) -> None:
    """Mark the storage of a tensor, or of every tensor in a result."""
    if real:
        return
    if isinstance(value, torch.Tensor):
        if value.layout == torch.strided and value.device.type == "cpu":
            setattr(_storage(value), MARK, True)
    elif isinstance(value, tuple | list):
        for one in value:
            mark(one)


def is_marked(value: object) -> bool:
    """Whether a value is a tensor that stands for one on the GPU, or holds one."""
    if isinstance(value, torch.Tensor):
        return value.layout == torch.strided and hasattr(_storage(value), MARK)
    return isinstance(value, tuple | list) and any(is_marked(one) for one in value)


def _device(value: object) -> torch.device | None:
    """The device that an argument names, if it is one."""
    if isinstance(value, torch.device):
        return value
    if isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu", "hip"):
        return torch.device(value.replace("hip", "cuda"))
    return None


def _moved(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], str]:
    """Arguments with the CPU for every GPU, and the type of the device that they named."""
    named = ""
    found = []
    for value in args:
        device = _device(value)
        if device is not None:
            named = device.type
            value = CPU if named == "cuda" else value  # noqa: PLW2901
        found.append(value)
    changed = dict(kwargs)
    device = _device(changed.get("device"))
    if isinstance(changed.get("device"), int) and not isinstance(changed["device"], bool):
        device = DEVICE
    if device is not None:
        named = device.type
        changed["device"] = CPU if named == "cuda" else device
    return tuple(found), changed, named


COPIES = frozenset({torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu})
NAMES = frozenset({torch.device, torch._C._nn._parse_to})  # noqa: SLF001
"""What reads the name of a device and creates no tensor."""
IGNORED = frozenset({torch.Tensor.record_stream})
SAME = frozenset({torch.Tensor.pin_memory})
ANSWERS = {
    torch.Tensor.device.__get__: DEVICE,
    torch.Tensor.get_device: 0,
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
}
"""What a marked tensor answers of its device."""


class StandIn(TorchFunctionMode):  # type: ignore[misc]
    """The mode."""

    def __torch_function__(self, func: Any, types: Iterable[Any], args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation of PyTorch on the CPU.

        Args:
            func: the operation.
            types: of its tensors.
            args: its arguments.
            kwargs: by name.
        """
        del types
        kwargs = kwargs or {}
        if real:
            return func(*args, **kwargs)
        first = args[0] if args else None
        if func in ANSWERS:
            return ANSWERS[func] if is_marked(first) else func(*args, **kwargs)
        if func in NAMES:
            return func(*args, **kwargs)
        if func in IGNORED:
            return None
        if func in SAME:
            return first
        marked = any(is_marked(value) for value in args) or any(is_marked(value) for value in kwargs.values())
        if func in COPIES:
            return self._move(func, args, kwargs, first=first)
        args, kwargs, named = _moved(args, kwargs)
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        result = func(*args, **kwargs)
        in_place = kwargs.get("out") is not None or result is first
        if (named == "cuda" or (marked and named != "cpu")) and not in_place:
            mark(result)
        return result

    def _move(self, func: Any, args: Any, kwargs: Any, first: torch.Tensor) -> torch.Tensor:
        """`Tensor.to`, `cuda` or `cpu`: a copy if the device changes."""
        was = is_marked(first)
        if func is torch.Tensor.to:
            args, kwargs, named = _moved(args, kwargs)
            other = next((value for value in [*args[1:], kwargs.get("other")] if isinstance(value, torch.Tensor)), None)
            after = named == "cuda" if named else is_marked(other) if other is not None else was
            result = torch.Tensor.to(*args, **kwargs)
        else:
            after = func is torch.Tensor.cuda
            form = kwargs.get("memory_format", torch.preserve_format)
            result = first.to("cpu", memory_format=form)
        if after != was and result.untyped_storage().data_ptr() == first.untyped_storage().data_ptr():
            result = result.clone()
        if after:
            mark(result)
        return result
