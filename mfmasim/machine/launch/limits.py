"""Limits of the device: sizes of a grid, of its workgroups and their LDS, checked before a launch is laid out.

Sources: HIP's reference of hipModuleLaunchKernel; HSA runtime specification, 2.9.6; LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.codeobject.metadata import KERNARG_LIMIT
from mfmasim.errors import MfmasimError, SizeError
from mfmasim.machine.launch.argument_passing import in_order
from mfmasim.machine.launch.clusters import ONE

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_passing import Arguments

Dim3 = tuple[int, int, int]
SCRATCH_LIMIT = 262_144
"""Scratch of a work-item in bytes: the largest that any of the architectures supports (wave32 on gfx11 and gfx12)."""
GRID_LIMIT = (2**31 - 1, 65535, 65535)
"""Workgroups a dimension, as hipDeviceProp_t.maxGridSize gives it for these devices."""
WORK_ITEMS_LIMIT = 2**32 - 1
"""Work-items a dimension: the dispatch packet counts them in 32 bits (HSA runtime specification, 2.9.6; HIP's reference
of hipModuleLaunchKernel)."""


@dataclass(frozen=True)
class Sizes:
    """Sizes within the device's limits."""

    grid: Dim3
    block: Dim3
    shared_bytes: int
    cluster: Dim3
    waves: int
    """Waves of the launch."""


def dimensions(value: object, what: str) -> Dim3:
    """Read a grid or block: one to three positive integers.

    Raises:
        MfmasimError: anything else.
    """
    parts = tuple(value) if isinstance(value, tuple | list | np.ndarray) and np.ndim(value) == 1 else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts):
        raise SizeError(f"{what} {value!r}: one to three integers are expected")
    if any(p < 1 for p in parts):
        raise SizeError(f"{what} {value!r}: every dimension must be at least 1")
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    return x, y, z


def check_call(
    kernel: Kernel, grid: object, block: object, args: Arguments, shared_bytes: int, cluster: object = None
) -> Sizes:
    """Check sizes and the number of arguments without a device; the arguments' values are checked later.

    Args:
        kernel: the kernel.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: see `mfmasim.machine.launch.argument_passing.in_order`.
        shared_bytes: dynamic LDS in bytes.
        cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.

    Raises:
        MfmasimError: a dimension, a size or a number of arguments that the device would not take.
    """
    if not (hasattr(kernel, "info") and hasattr(kernel, "code")):
        hint = f"; take one of its kernels: {', '.join(kernel.kernels)}" if hasattr(kernel, "kernels") else ""
        raise MfmasimError(f"a kernel is expected, not {type(kernel).__name__}{hint}")
    sizes = checked(kernel, dimensions(grid, "grid"), dimensions(block, "block"), shared_bytes, cluster)
    in_order(kernel, args)
    return sizes


def checked(kernel: Kernel, grid: Dim3, block: Dim3, shared_bytes: int, cluster: object = None) -> Sizes:
    """Refuse a launch beyond the device's limits.

    Args:
        kernel: the kernel.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        shared_bytes: dynamic LDS in bytes.
        cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.

    Raises:
        MfmasimError: the value, and what is allowed.
    """
    _check_sizes(kernel, grid, block, shared_bytes)
    waves = math.prod(grid) * -(-math.prod(block) // kernel.wave)
    return Sizes(grid, block, shared_bytes, check_cluster(kernel, grid, cluster), waves)


def _check_sizes(kernel: Kernel, grid: Dim3, block: Dim3, shared_bytes: int) -> None:
    arch, info = kernel.arch, kernel.info
    for axis, size, limit in zip("xyz", grid, GRID_LIMIT, strict=True):
        if size > limit:
            raise SizeError(f"grid {grid}: {size} workgroups in {axis}, at most {limit} are allowed")
    for axis, size, width in zip("xyz", grid, block, strict=True):
        if size * width > WORK_ITEMS_LIMIT:
            raise SizeError(
                f"grid {grid} of blocks {block}: {size * width} work-items in {axis}, at most {WORK_ITEMS_LIMIT} fit "
                "into a dispatch"
            )
    threads = block[0] * block[1] * block[2]
    limit = min(arch.max_workgroup, info.metadata.max_flat_workgroup_size or arch.max_workgroup)
    if threads > limit:
        why = "" if limit == arch.max_workgroup else f" ({kernel.name} was compiled for at most {limit})"
        raise SizeError(f"block {block} has {threads} work-items, at most {limit} are allowed{why}")
    required = info.metadata.reqd_workgroup_size
    if required and tuple(required) != block:
        raise SizeError(f"block {block}: {kernel.name} requires {tuple(required)}")
    if not isinstance(shared_bytes, int | np.integer) or shared_bytes < 0:
        raise SizeError(f"shared_bytes {shared_bytes!r}: a number of bytes, 0 or more, is expected")
    if info.private_segment_fixed_size > SCRATCH_LIMIT:
        raise SizeError(
            f"{kernel.name} requires {info.private_segment_fixed_size:,} bytes of scratch per work-item, at most "
            f"{SCRATCH_LIMIT:,} are possible"
        )
    if info.kernarg_size > KERNARG_LIMIT:
        raise SizeError(
            f"{kernel.name} requires {info.kernarg_size:,} bytes of kernel arguments, at most {KERNARG_LIMIT:,} are "
            f"possible"
        )
    total = info.group_segment_fixed_size + int(shared_bytes)
    if total > arch.lds_bytes:
        raise SizeError(
            f"LDS of {total} bytes ({info.group_segment_fixed_size} static, {shared_bytes} dynamic) exceeds the "
            f"{arch.lds_bytes} bytes of {arch.name}"
        )


def check_cluster(kernel: Kernel, grid: Dim3, cluster: object) -> Dim3:
    """The cluster of a launch: that of the kernel's compilation, or that of the caller.

    Args:
        kernel: the kernel.
        grid: workgroups in x, y, z.
        cluster: workgroups of a cluster in x, y, z; None takes the kernel's own, or none.

    Raises:
        MfmasimError: the value, and what is allowed.
    """
    own = kernel.info.metadata.cluster_dims
    if cluster is None and own is None:
        return ONE
    size = dimensions(own if cluster is None else cluster, "cluster")
    if own is not None and size != own:
        raise SizeError(f"cluster {size}: {kernel.name} was compiled for clusters of {own}")
    most = kernel.arch.max_cluster
    if math.prod(size) > most:
        has = f"at most {most} workgroups form a cluster" if most > 1 else "no clusters"
        raise SizeError(f"cluster {size}: {kernel.arch.name} has {has}")
    for axis, total, part in zip("xyz", grid, size, strict=True):
        if total % part:
            raise SizeError(f"grid {grid}: {total} workgroups in {axis} are no multiple of the cluster's {part}")
    return size
