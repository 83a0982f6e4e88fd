"""`torch.distributed` between processes with simulated devices: gloo, on the bytes of their tensors.

A CPU build has no NCCL. The operations of a group take tensors of ``cuda`` as others do (`native/tensors.cpp`): as CPU
tensors on the same bytes, which the group's backend for the CPU sends.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NCCL, GLOO = "nccl", "gloo"


def backend_of(name: Any) -> Any:
    """The backend that serves where a program asks for one: ``nccl``, alone or for a device, is gloo.

    Args:
        name: as `torch.distributed.init_process_group` takes it, such as ``nccl`` or ``cpu:gloo,cuda:nccl``.
    """
    if not isinstance(name, str) or NCCL not in name.lower():
        return name
    parts = [part.rpartition(":") for part in name.lower().split(",")]
    return ",".join(f"{device}{colon}{GLOO if backend == NCCL else backend}" for device, colon, backend in parts)


def prepare(torch: Any) -> None:
    """Let groups of processes find gloo.

    Args:
        torch: the module.
    """
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_gloo_available():
        return
    module = distributed.distributed_c10d

    def followed(function: Callable[..., Any], position: int) -> Callable[..., Any]:
        @functools.wraps(function)
        def made(*positional: Any, **named: Any) -> Any:
            given = list(positional)
            if len(given) > position:
                given[position] = backend_of(given[position])
            else:
                named["backend"] = backend_of(named.get("backend") or GLOO)
            if named.get("device_id") is not None and torch.device(named["device_id"]).type == "cuda":
                del named["device_id"]  # it would bind a communicator of NCCL to the device
            return function(*given, **named)

        return made

    for name, position in (("init_process_group", 0), ("new_group", 2)):
        made = followed(getattr(module, name), position)
        setattr(module, name, made)
        setattr(distributed, name, made)
    module.is_nccl_available = distributed.is_nccl_available = lambda: True
