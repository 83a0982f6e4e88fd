"""The dispatch packet and the hidden kernel arguments of a launch.

Sources: LLVM's AMDGPU usage guide (hidden kernel arguments of code object v4 to v6); HSA runtime specification, 2.9.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import UnsupportedError
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE

if TYPE_CHECKING:
    from mfmasim.codeobject import Argument
    from mfmasim.machine.launch.launch import Launch


def hidden(launch: Launch, arg: Argument) -> bytes:
    """The bytes of a hidden argument.

    Raises:
        MfmasimError: a launch of the simulator cannot provide it.
    """
    grid, block = launch.grid, launch.block
    axis = {"x": 0, "y": 1, "z": 2}.get(arg.value_kind[-1], 0)
    values = {
        "hidden_block_count": grid[axis],
        "hidden_group_size": block[axis],
        "hidden_remainder": 0,  # the grid counts whole workgroups
        "hidden_global_offset": 0,
        "hidden_grid_dims": 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1,
        "hidden_dynamic_lds_size": launch.shared_bytes,
        "hidden_none": 0,
        "hidden_printf_buffer": launch.printf.address if launch.printf else 0,
        "hidden_hostcall_buffer": launch.hostcall.region.address if launch.hostcall else 0,
        "hidden_multigrid_sync_arg": launch.grid_barrier.address if launch.grid_barrier else 0,
        "hidden_heap_v1": 0,
        "hidden_default_queue": 0,
        "hidden_completion_action": 0,
        "hidden_queue_ptr": 0,
        "hidden_private_base": PRIVATE_BASE >> 32,
        "hidden_shared_base": SHARED_BASE >> 32,
    }
    kind = arg.value_kind
    value = values.get(kind, values.get(kind[:-2] if kind[-2:] in ("_x", "_y", "_z") else kind))
    if value is None:
        raise UnsupportedError(f"{launch.kernel.name} requires {kind}, which this launch cannot provide")
    return int(value).to_bytes(arg.size, "little")


def packet(launch: Launch) -> bytes:
    """The AQL kernel dispatch packet that dispatch_ptr points to (HSA runtime specification, 2.9.6)."""
    grid, block = launch.grid, launch.block
    words = np.zeros(16, np.uint32)
    words[0] = 2 | (3 << 16)  # header: kernel dispatch; setup: three dimensions
    words[1] = block[0] | block[1] << 16
    words[2] = block[2]
    words[3:6] = [(g * b) & 0xFFFFFFFF for g, b in zip(grid, block, strict=True)]
    words[6] = launch.kernel.info.private_segment_fixed_size
    words[7] = launch.lds_bytes
    words[8], words[9] = halves(launch.kernel.info.descriptor_address + launch.image_base)
    words[10], words[11] = halves(launch.kernarg.address)
    return words.tobytes()


def halves(value: int) -> tuple[int, int]:
    """The low and the high dword of an address."""
    return value & 0xFFFFFFFF, value >> 32
