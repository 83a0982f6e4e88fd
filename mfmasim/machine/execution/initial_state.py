"""The first state of a batch of workgroups: registers, LDS and scratch as the hardware initialises them.

Sources: LLVM's AMDGPU usage guide, initial kernel execution state; ISA manuals, chapter "Wave state".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfmasim.kernels import Kernel
from mfmasim.machine.launch.dispatch_packet import halves
from mfmasim.machine.launch.launch import Launch
from mfmasim.machine.opcodes.register_allocation import register_counts
from mfmasim.machine.ops import scratch
from mfmasim.machine.ops.scratch import wave_offsets
from mfmasim.machine.state.barriers import FurtherBarriers
from mfmasim.machine.state.memory import POISON_BYTE, POISON_DWORD
from mfmasim.machine.state.waves import TTMP0, TTMPS, Group, Waves


@dataclass(frozen=True)
class FirstState:
    """The initial state of a batch of workgroups."""

    waves: Waves
    lds: NDArray[np.uint8]
    """(workgroups, bytes in whole dwords), all poison."""
    scratch: NDArray[np.uint8]
    """(work-items, bytes), all poison."""


def first_state(launch: Launch, first: int, count: int) -> FirstState:
    """Registers, LDS and scratch of `count` workgroups from the `first` one on.

    Args:
        launch: the launch.
        first: number of the first workgroup.
        count: workgroups.
    """
    kernel, per = launch.kernel, launch.waves_per_workgroup
    waves = Waves(kernel.arch, count * per, kernel.wave, *register_counts(kernel))
    waves.accum_offset = kernel.info.descriptor.accum_offset
    waves.workgroup[:] = np.repeat(np.arange(count), per)
    waves.further = FurtherBarriers(waves.workgroup, kernel.info.descriptor.named_barriers, launch.clusters.workgroups)
    waves.pc = np.array([kernel.info.entry])
    waves.mode = np.array([_mode(kernel)], np.uint32)
    user = np.stack([initial_user_sgprs(each) for each in (launch, *launch.further)])
    each_grid = launch.workgroups // len(user)
    own = (first + waves.workgroup) // each_grid  # the launch of each wave, of those that run together
    for code, values in enumerate(user.T):
        waves.s[code] = values[:1].copy() if (values == values[0]).all() else values[own]
    _place_workgroup_ids(launch, waves, (first + waves.workgroup) % each_grid, user.shape[1])
    _place_workitem_ids(launch, waves)
    return FirstState(
        waves,
        np.full((count, -(-launch.lds_bytes // 4) * 4), POISON_BYTE, np.uint8),
        np.full((waves.count * waves.lanes, launch.scratch_bytes), POISON_BYTE, np.uint8),
    )


def _mode(kernel: Kernel) -> int:
    """MODE as the kernel descriptor sets it."""
    descriptor = kernel.info.descriptor
    return (
        descriptor.float_mode
        | (int(descriptor.dx10_clamp) << 8)
        | (int(descriptor.ieee_mode) << 9)
        | (int(descriptor.fp16_overflow) << 23)
    )


def _place_workgroup_ids(launch: Launch, waves: Waves, number: NDArray[np.int64], place: int) -> None:
    """Ids of the waves' workgroups: in trap temporaries, or in SGPRs from `place` up, those that are enabled.

    The wave within its workgroup and the number of waves follow, and if software sets up the scratch, the wave's offset
    in it.

    Sources: tables "CS SGPR Load" of the ISA manuals (CDNA3 3.13, RDNA3 3.5, RDNA4 3.5.3.4); of trap temporaries that a
    program reads as 0, CDNA3 3.10 and RDNA3 3.4.9.
    """
    clusters = launch.clusters
    x, y, z = clusters.places(number)
    descriptor, arch, per = launch.kernel.info.descriptor, launch.kernel.arch, launch.waves_per_workgroup
    wave, info = np.arange(waves.count) % per, np.full(1, per)
    if arch.ttmp_reads_zero:
        waves.s[TTMP0 : TTMP0 + TTMPS] = [np.zeros(1, np.uint32)] * TTMPS
    if arch.workgroup_id_in_ttmp:
        if clusters.workgroups > 1:  # then the ids are those of the cluster, and ttmp6 has the workgroup's place in it
            x, y, z = clusters.cluster(number)
            waves.s[TTMP0 + 6] = clusters.registers(number)
        # A kernel with the id y or z has both. The number of the dispatch, in the low bits of ttmp8, is 0.
        both = any(descriptor.workgroup_ids[1:])
        waves.s[TTMP0 + 9] = x.astype(np.uint32)
        waves.s[TTMP0 + 8] = (wave << 25 | both << 30).astype(np.uint32)
        waves.s[TTMP0 + 7] = (y | z << 16).astype(np.uint32)
    else:
        for enabled, values in zip(descriptor.workgroup_ids, (x, y, z), strict=True):
            if enabled:
                waves.s[place] = values.astype(np.uint32)
                place += 1
        info = (wave == 0) << 31 | wave << 20 | per
    if descriptor.enable_sgpr_workgroup_info:
        waves.s[place] = info.astype(np.uint32)
        place += 1
    if arch.scratch_resource and descriptor.enable_private_segment:
        waves.s[place] = wave_offsets(waves.count, waves.lanes, launch.scratch_bytes)


def _place_workitem_ids(launch: Launch, waves: Waves) -> None:
    """Work-item ids in the first VGPRs, and EXEC: a lane beyond the workgroup's last work-item is off."""
    per, lanes = launch.waves_per_workgroup, waves.lanes
    times = 1 if per == 1 else waves.count // per  # if a workgroup has one wave, all waves have the same ids
    item = np.arange(per)[:, None] * lanes + np.arange(lanes)
    bx, by, _ = launch.block
    x, y, z = (part.astype(np.uint32) for part in (item % bx, item // bx % by, item // (bx * by)))
    packed = launch.kernel.arch.packed_workitem_ids
    count = 1 if packed else launch.kernel.info.descriptor.workitem_id_mode + 1
    ids = (x | y << np.uint32(10) | z << np.uint32(20),) if packed else (x, y, z)[:count]
    waves.v[:count] = [np.tile(each, (times, 1)) for each in ids]
    Group(waves).write_exec(np.tile(item < launch.work_items, (times, 1)))


def initial_user_sgprs(launch: Launch) -> NDArray[np.uint32]:
    """User SGPRs from s0 up, as uint32 (count,)."""
    descriptor = launch.kernel.info.descriptor
    out: list[int] = []
    for name, count in descriptor.user_sgprs:
        if name == "kernarg_preload":
            first = descriptor.kernarg_preload_offset * 4
            raw = launch.memory.view(launch.kernarg)[first : first + 4 * count]
            out.extend(int(word) for word in np.ascontiguousarray(raw).view(np.uint32))
        elif name in ("kernarg_segment_ptr", "dispatch_ptr"):
            out.extend(halves((launch.kernarg if name.startswith("kern") else launch.packet).address))
        elif name == "private_segment_buffer" and launch.kernel.arch.scratch_resource:
            out.extend(scratch.resource_words(launch.kernel.arch, launch.kernel.wave))
        elif name == "flat_scratch_init" and launch.kernel.arch.scratch_resource:
            out.extend(halves(scratch.SCRATCH_BASE))
        elif name == "private_segment_size":
            out.append(launch.kernel.info.private_segment_fixed_size)
        else:
            out.extend([0] * count)  # queue, dispatch id and old scratch state: not modelled
    out.extend([POISON_DWORD] * (descriptor.user_sgpr_count - len(out)))
    return np.array(out, np.uint32)
