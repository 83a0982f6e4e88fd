"""The change from stand-ins to tensors of the simulated devices, in a program of ``mfmasim triton``.

Triton's kernels do with CPU tensors that carry a mark. Compiled code looks at the device of a tensor: from the first
extension on, tensors of ``cuda`` are PyTorch's own, and those that carry a mark become such tensors.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mfmasim.triton import tensors
from mfmasim.triton.records import Recorder
from mfmasim.triton.settings import RECORDS


def real_tensors(names: Mapping[str, Any]) -> None:
    """Change every marked tensor of the program.

    Args:
        names: what `torch.cuda` answers from now on.
    """
    marked = [
        found
        for found in gc.get_objects()
        if issubclass(type(found), torch.Tensor) and found.device.type == "cuda" and tensors.is_marked(found)
    ]
    for name, value in names.items():
        setattr(torch.cuda, name, value)
    tensors.real.append(True)
    storages: dict[int, torch.UntypedStorage] = {}
    with torch.no_grad():
        for one in marked:
            own = one.untyped_storage()
            if own.data_ptr() not in storages:
                storages[own.data_ptr()] = torch.empty(0, dtype=torch.uint8).set_(own).to("cuda").untyped_storage()
            place = storages[own.data_ptr()]
            one.data = torch.empty(0, dtype=one.dtype, device="cuda").set_(
                place, one.storage_offset(), one.size(), one.stride()
            )
    folder = os.environ.get(RECORDS)
    from mfmasim.hiprt.serving import current

    runtime = current()
    if folder and runtime is not None:
        runtime.reported = Recorder(Path(folder)).launch
