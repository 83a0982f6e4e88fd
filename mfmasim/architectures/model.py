"""Differences between architectures as data: algorithms read fields and never compare names."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mfmasim.architectures.buffers import GFX9, BufferLayout
from mfmasim.architectures.errata import NO_ERRATA, Errata
from mfmasim.architectures.groups import Conversions, Counters, FloatRules, Lds, Simd
from mfmasim.architectures.internal import NO_REGISTERS, HardwareRegisters
from mfmasim.architectures.rates import Rates
from mfmasim.markup import facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.architectures.generic import Generic

__all__ = ["Arch", "Conversions", "Counters", "Errata", "FloatRules", "Lds", "Simd"]


@dataclass(frozen=True)
class Arch:
    """One GPU architecture.

    Sizes are in bytes, counts in registers or lanes. Sources are named in the file of each architecture.
    """

    name: str
    """LLVM's processor name, such as ``gfx942``."""
    family: str
    """AMD's architecture name, such as ``CDNA3``."""
    products: tuple[str, ...]
    """Products with this architecture."""
    encoding: str
    """Instruction encodings, by the first family that had them: ``CDNA1`` to ``CDNA5``, ``RDNA2`` to ``RDNA4``."""
    elf_machine: int
    """EF_AMDGPU_MACH, the low byte of the ELF header's ``e_flags``."""
    wave_sizes: tuple[int, ...]
    """Lanes of a wave; the first is what compilers use by default."""
    fp8: str
    """Flavour of the 8-bit formats: ``fnuz``, ``ocp``, or ``none`` where no instruction uses them."""
    lds_bytes: int
    """Largest LDS allocation of one workgroup."""
    lds_granule: int
    """LDS allocation granularity."""
    sgprs: int
    """Addressable SGPRs of a wave, without VCC and trap registers."""
    vgprs: int
    """Addressable architectural VGPRs of a wave."""
    agprs: int
    """Addressable accumulation VGPRs of a wave (0: none)."""
    unified_vgprs: bool
    """Whether AGPRs share one file with the VGPRs, split by the descriptor's ``accum_offset``."""
    even_vgprs: bool
    """Operands of two and more VGPRs start at an even one (CDNA3 ISA manual, 3.6.1; CDNA5, 3.3.2.1)."""
    packed_workitem_ids: bool
    """Work-item ids x, y, z are passed in 10-bit fields of v0, not in v0, v1, v2."""
    workgroup_id_in_ttmp: bool
    """Workgroup ids are passed in trap temporaries (gfx12), not in SGPRs."""
    simd: Simd
    """Limits of occupancy."""
    counters: Counters
    """Wait counters."""
    lds: Lds
    """The LDS."""
    conversions: Conversions
    """Conversion instructions."""
    descriptor: str
    """Layout of the kernel descriptor: ``GFX9``, ``GFX10``, ``GFX11`` or ``GFX12``, as in LLVM's AMDGPU usage guide."""
    descriptor_vgprs: Mapping[int, int]
    """By lanes of a wave, the VGPRs that a step of the descriptor's count means (a granule of the encoding, which on
    some products is finer than that of allocation)."""
    kernarg_preload: bool = False
    """The kernel descriptor can request preloaded kernel arguments in user SGPRs."""
    max_workgroup: int = 1024
    """Most work-items of a workgroup."""
    max_cluster: int = 1
    """Most workgroups of a cluster (1: none)."""
    named_barriers: int = 0
    """Most named barriers of a workgroup."""
    m0: int = 124
    """Operand code of M0."""
    scratch_resource: bool = False
    """Scratch is a buffer resource and FLAT_SCRATCH, which software sets up from SGPRs; else the hardware does (LLVM's
    AMDGPU usage guide, "Flat Scratch": offset and architected)."""
    keeps_halves: bool = False
    """A 16-bit vector result preserves the other half of its register (before gfx10 most operations clear it; LLVM:
    zeroesHigh16BitsOfDest)."""
    vector_mode: int = 3 << 27
    """Bits of MODE that decide how vector instructions execute: GPR_IDX_EN (27) and VSKIP (28; CDNA3 ISA manual, table
    4 of 3.5). RDNA has neither. CDNA5: the bits above the numbers of VGPRs (its ISA manual, 3.4.3)."""
    path_stack: bool = True
    """Has the branches S_CBRANCH_G_FORK, I_FORK and JOIN, and MODE.CSP (CDNA3 ISA manual, 4.6). RDNA has neither."""
    hardware_registers: HardwareRegisters = NO_REGISTERS
    """What S_GETREG reads and S_SETREG writes."""
    ttmp_reads_zero: bool = False
    """A program reads trap temporaries as 0."""
    buffers: BufferLayout = GFX9
    """Buffer resources: their fields, and how an access reads them."""
    several_l2: bool = False
    """A device may have several L2 caches: workgroups see each other's plain stores once they are written back (LLVM,
    SIMemoryLegalizer: a release at agent scope has BUFFER_WBL2 SC1 on gfx942 and gfx950, GLOBAL_WB on gfx1250)."""
    signed_lane_offsets: bool = False
    """Beside a scalar base address the lane's 32-bit offset is signed (CDNA5 ISA manual, 10.2); else unsigned."""
    lds_parts: bool = False
    """An LDS access that is partly out of range loads the dwords and stores the bytes that are inside."""
    trans_use_hazard: bool = False
    """A vector instruction may not read a transcendental result too early (LLVM: hasVALUTransUseHazard)."""
    floats: FloatRules = field(default_factory=FloatRules)
    """How floating-point operations behave."""
    rates: Rates = field(default_factory=Rates)
    """What each pipe does in a clock, latencies, and the products."""
    profile: str = "RDNA"
    """Names of performance counters (`mfmasim.devices.counters`): ``CDNA``, ``RDNA``, or ``CDNA5``, where only those
    that all have are expected."""
    captured_counters: tuple[str, ...] = ()
    """Performance counters of which captures on it are equal to the simulator (golden/hardware/launches.json)."""
    features: tuple[str, ...] = ()
    """Target features that code may choose (LLVM's AMDGPU usage guide, table of processors)."""
    fixed: tuple[str, ...] = ()
    """Of these, what every target has and no target id names: clang refuses a choice (gfx1250 always replays)."""
    isa: str = ""
    """The architecture whose instruction tables it has, where these are not its own."""
    without: frozenset[str] = frozenset()
    """Operations in the tables that it lacks; ``*`` stands for the rest of a name."""
    variant: str = ""
    """Which chip or stepping of its family it is, where their matrix instructions take different times."""
    elsewhere: str = ""
    """What has the operations of `without`, for messages."""
    runs: tuple[str, ...] = ()
    """Processors whose code objects it also loads."""
    errata: Errata = NO_ERRATA
    """What of the instruction set does not work on it."""
    generic: Generic | None = None
    """The generic target that code was compiled for, where it runs on this architecture as one of several."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        lanes = " or ".join(map(str, self.wave_sizes))
        return f"<{self.target}: {self.family}, waves of {lanes}, FP8 {self.fp8}, LDS of {self.lds_bytes:,} bytes>"

    def _repr_html_(self) -> str:
        """Sizes, for notebooks."""
        pairs = [
            ("family", self.family),
            ("products", ", ".join(self.products)),
            ("lanes of a wave", " or ".join(map(str, self.wave_sizes))),
            ("FP8", self.fp8_format or "none"),
            ("BF8", self.bf8_format or "none"),
            ("LDS of a workgroup", f"{self.lds_bytes:,} bytes"),
            ("VGPRs of a wave", self.vgprs),
            ("AGPRs of a wave", f"{self.agprs}{', of the same registers' if self.unified_vgprs else ''}"),
            ("SGPRs of a wave", self.sgprs),
            ("most work-items of a workgroup", self.max_workgroup),
        ]
        return facts(self.target, pairs)

    @property
    def selectable(self) -> tuple[str, ...]:
        """Target features that a target id names."""
        return tuple(feature for feature in self.features if feature not in self.fixed)

    def lacks(self, operation: str) -> bool:
        """Whether an operation in its instruction tables is none of its own."""
        return any(fnmatchcase(operation, pattern) for pattern in self.without)

    def absent(self, what: str) -> str:
        """Why an operation, or a part of one, is refused: it is not available on the target.

        Args:
            what: the operation, or what of it is lacking.
        """
        return f"{what} is not available on {self.target}" + (f": {self.elsewhere}" if self.elsewhere else "")

    @property
    def generation(self) -> str:
        """Name of its table of matrix instructions: its family and, where that has several, which one it is."""
        return f"{self.family} {self.variant}".strip()

    @property
    def instruction_set(self) -> str:
        """The architecture whose instruction tables it has."""
        return self.isa or self.name

    @property
    def target(self) -> str:
        """Name for compilers: of the generic target, where there is one, or of the architecture."""
        return self.generic.name if self.generic else self.name

    @property
    def fp8_format(self) -> str:
        """Number format that this architecture calls FP8 (E4M3)."""
        return {"fnuz": "e4m3fnuz", "ocp": "e4m3fn", "none": ""}[self.fp8]

    @property
    def bf8_format(self) -> str:
        """Number format that this architecture calls BF8 (E5M2)."""
        return {"fnuz": "e5m2fnuz", "ocp": "e5m2", "none": ""}[self.fp8]

    def format_name(self, name: str) -> str:
        """The number format of a name: FP8 and BF8 are those of the architecture, empty where it has none."""
        return {"fp8": self.fp8_format, "bf8": self.bf8_format}.get(name.lower(), name)
