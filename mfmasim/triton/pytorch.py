"""What PyTorch answers beside `torch.cuda` in a session: random numbers, default devices, the accelerator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils._device import DeviceContext, _device_constructors

from mfmasim.errors import MfmasimError
from mfmasim.triton.cuda import HIP_VERSION, Stream, constant
from mfmasim.triton.tensors import CPU, StandIn, mark, real

NVTX = "mark range_end range_pop range_push range_start"
_generator = torch.default_generator
"""Random numbers of the device are the CPU's: where tensors are made."""


class GeneratorKind(type(torch.Generator)):  # type: ignore[misc]
    """A generator that PyTorch made is one, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch._C.Generator)  # noqa: SLF001


class Generator(torch.Generator, metaclass=GeneratorKind):  # type: ignore[misc]
    """`torch.Generator`: one of the CPU, whatever device it names."""

    def __new__(cls, device: Any = "cpu") -> Generator:  # noqa: PYI034
        """Make one.

        Args:
            device: what `device` answers.
        """
        made: Generator = super().__new__(cls, device if real else "cpu")
        made._named = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:
        """What the program named."""
        return self._named


class CUDAGraph:
    """`torch.cuda.CUDAGraph`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Refuse.

        Raises:
            MfmasimError: always.
        """
        del args, kwargs
        raise MfmasimError("torch.cuda.CUDAGraph: graphs are not recorded; call the function instead of a replay")


def as_written(model: Any = None, **options: Any) -> Any:
    """`torch.compile` without a compilation: a function computes the same as it stands.

    Args:
        model: a function or module; None where `torch.compile` makes a decorator.
        options: of the compilation.
    """
    del options
    return model if model is not None else lambda decorated: decorated


_own_context = DeviceContext.__torch_function__


def _in_context(context: DeviceContext, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What `torch.set_default_device` and `with torch.device(...)` do to a function that makes tensors."""
    if real:
        return _own_context(context, func, types, args, kwargs)
    kwargs = kwargs or {}
    if func not in _device_constructors() or kwargs.get("device") is not None:
        return func(*args, **kwargs)
    if context.device.type != "cuda":
        return func(*args, **{**kwargs, "device": context.device})
    result = func(*args, **{**kwargs, "device": CPU})
    mark(result)
    return result


def _random() -> dict[str, Any]:
    """Names of `torch.cuda` for random numbers."""

    def seed(number: int) -> None:
        _generator.manual_seed(number)

    def seed_all(number: int) -> None:
        _generator.manual_seed(number)

    def random_seed() -> None:
        _generator.seed()

    def random_seed_all() -> None:
        _generator.seed()

    def state(device: Any = "cuda") -> torch.Tensor:
        del device
        return _generator.get_state()

    def states() -> list[torch.Tensor]:
        return [_generator.get_state()]

    def set_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
        del device
        _generator.set_state(new_state)

    def set_states(new_states: Iterable[torch.Tensor]) -> None:
        for one in new_states:
            _generator.set_state(one)

    return {
        "default_generators": (_generator,),
        "manual_seed": seed,
        "manual_seed_all": seed_all,
        "seed": random_seed,
        "seed_all": random_seed_all,
        "initial_seed": _generator.initial_seed,
        "get_rng_state": state,
        "get_rng_state_all": states,
        "set_rng_state": set_state,
        "set_rng_state_all": set_states,
    }


_run_backward = torch.autograd._engine_run_backward  # noqa: SLF001


def _backward(*args: Any, **kwargs: Any) -> Any:
    """Derivatives: functions of the program run on the way, where PyTorch has switched its modes off."""
    with StandIn():
        return _run_backward(*args, **kwargs)


def replaced() -> Iterator[tuple[Any, str, Any]]:
    """Owner, name and value of what stands in PyTorch during a session, but for `torch.cuda.answers`."""
    yield from common()
    yield torch, "Generator", Generator
    yield torch.autograd, "_engine_run_backward", _backward
    yield DeviceContext, "__torch_function__", _in_context


def common() -> Iterator[tuple[Any, str, Any]]:
    """What of it also stands where tensors of ``cuda`` are PyTorch's own, as in `mfmasim.extensions`."""
    yield torch.version, "hip", HIP_VERSION
    yield torch, "compile", as_written
    yield torch.cuda, "CUDAGraph", CUDAGraph
    for name in NVTX.split():
        yield torch.cuda.nvtx, name, constant(None)
    for name, answer in _random().items():
        yield torch.cuda, name, answer
    accelerator = {
        "is_available": True,
        "device_count": 1,
        "current_accelerator": torch.device("cuda"),
        "current_device_index": 0,
        "current_device_idx": 0,
        "current_stream": Stream(),
        **dict.fromkeys(("set_device_index", "set_device_idx", "set_stream", "synchronize", "empty_cache")),
    }
    for name, value in accelerator.items():
        yield torch.accelerator, name, constant(value)
