"""What of an instruction set does not work on one stepping."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Errata:
    """Defects of a stepping; without any, all is as the ISA manual says.

    Source of all: AMD's translators of gfx1250 from stepping B0 to A0, ROCm/llvm-project, ``amd/comgr/src``,
    ``comgr-hotswap-patch-*.cpp`` (COMGR), and ROCm/rocm-systems pull request 8947 (rocjitsu).
    """

    cluster_mask: bool = False
    """Loads for several workgroups need M0 = 0, so that each loads for itself (COMGR trampoline, rocjitsu)."""
    tensor_multicast: bool = False
    """A tensor descriptor may not name workgroups of the cluster (COMGR trampoline)."""
    aligned_pairs: bool = False
    """LDS instructions with two addresses need multiples of the size of one access, else they corrupt the LDS (COMGR
    trampoline; LLVM's feature ``needs-aligned-2addr-lds``)."""
    halt_before_scale: bool = False
    """A halt right before a matrix instruction with scales separates it from its scales (COMGR sethalt-fix)."""
    scale_blocks: bool = False
    """Conversions with scales lack blocks of 16 values (scale_sel; ROCm/rocm-systems pull request 11551 and the header
    that follows from it, LLVM pull request 222597)."""


NO_ERRATA = Errata()
