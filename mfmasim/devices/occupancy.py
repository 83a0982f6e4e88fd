"""Occupancy: waves that run at a time on a SIMD, by the kernel's use of each resource and the architecture's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.kernels import Kernel

SIMDS = 4
"""SIMDs over which the waves of a workgroup are spread."""


@dataclass(frozen=True)
class Limit:
    """The limit by one resource."""

    name: str
    used: int
    """What the kernel requires: registers of a wave, bytes of a workgroup, waves of a workgroup."""
    allocated: int
    """The same in whole granules."""
    available: int
    """Total that all waves, or workgroups, share."""
    workgroups: int
    """Workgroups that fit on four SIMDs."""


@dataclass(frozen=True)
class Occupancy:
    """Waves of a kernel that run at a time."""

    limits: tuple[Limit, ...]
    waves: int
    """Waves of a workgroup."""
    workgroups: int
    """Workgroups on four SIMDs; 0 when one does not fit."""

    @property
    def waves_per_simd(self) -> float:
        """Waves on each SIMD, on average."""
        return self.workgroups * self.waves / SIMDS

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The limiting resources."""
        return tuple(limit.name for limit in self.limits if limit.workgroups == self.workgroups)

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "waves_per_simd": self.waves_per_simd,
            "workgroups": self.workgroups,
            "waves": self.waves,
            "limited_by": list(self.limited_by),
            "limits": [vars(limit) for limit in self.limits],
        }


def occupancy(kernel: Kernel, threads: int, lds_bytes: int) -> Occupancy:
    """Count the waves that fit.

    Args:
        kernel: its descriptor and metadata have the registers of a wave.
        threads: work-items of a workgroup.
        lds_bytes: LDS of a workgroup, static and dynamic.

    Returns:
        The limits, each with its workgroups, and what remains.
    """
    arch, metadata = kernel.arch, kernel.info.metadata
    simd = arch.simd
    waves = max(1, -(-threads // kernel.wave))
    total, granule = _vgprs(arch, kernel.wave)
    vgprs = metadata.vgpr_count or 0
    if arch.unified_vgprs:
        vgprs = max(vgprs, kernel.info.descriptor.vgpr_count)  # AGPRs after the VGPRs
    else:
        vgprs = max(vgprs, metadata.agpr_count or 0)  # separate files of equal size
    limits = [_of_waves("VGPRs", vgprs, granule, total, waves)]
    if simd.sgprs:
        limits.append(_of_waves("SGPRs", metadata.sgpr_count or 0, simd.sgpr_granule, simd.sgprs, waves))
    limits.append(Limit("waves", waves, waves, simd.waves * SIMDS, simd.waves * SIMDS // waves))
    if lds_bytes:
        needed = _granules(lds_bytes, arch.lds_granule)
        limits.append(Limit("LDS", lds_bytes, needed, simd.lds_bytes, simd.lds_bytes // needed))
    if waves > 1:
        limits.append(Limit("barriers", 1, 1, simd.barriers, simd.barriers))
    return Occupancy(tuple(limits), waves, min(limit.workgroups for limit in limits))


def waves_of_vgprs(arch: Arch, wave: int, vgprs: int) -> int:
    """Waves on a SIMD when only their VGPRs limit them.

    Args:
        arch: architecture.
        wave: lanes.
        vgprs: VGPRs of a wave, AGPRs included where they share a file.
    """
    total, granule = _vgprs(arch, wave)
    return min(arch.simd.waves, total // _granules(vgprs, granule))


def _vgprs(arch: Arch, wave: int) -> tuple[int, int]:
    """VGPRs of a SIMD, and their granule."""
    return next((total, granule) for lanes, total, granule in arch.simd.vgprs if lanes == wave)


def _granules(used: int, granule: int) -> int:
    return max(1, -(-used // granule)) * granule


def _of_waves(name: str, used: int, granule: int, total: int, waves: int) -> Limit:
    """Registers: whole waves fit on a SIMD, and workgroups are made of them."""
    allocated = _granules(used, granule)
    return Limit(name, used, allocated, total, total // allocated * SIMDS // waves)
