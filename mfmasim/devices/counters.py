"""Performance counters: values of the hardware's counters after a launch, under the names of profilers.

Each is a count of executed instructions, waves or clocks of the LDS, so it follows from the execution; counters of
caches, stalls or time are omitted. Names of CDNA: AMD's documents "MI300 and MI200 series performance counters and
metrics" and "MI350 Series performance counters". Names of RDNA: those that rocprofv3 lists on gfx1151 and gfx1201.
Which of them captures confirm: `mfmasim.architectures.Arch.captured_counters`.

Omitted, because no capture shows which instructions they count: SQ_INSTS_FLAT, and on RDNA SQ_INSTS_TEX_LOAD and
SQ_INSTS_TEX_STORE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import ARCHITECTURES
from mfmasim.devices.coverage import family_of
from mfmasim.machine.opcodes.matrix import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel

_DEFAULT, _CDNA = ("CDNA", "RDNA", "CDNA5"), ("CDNA",)
_MFMA = {
    "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "i8": "I8", "xf32": "XF32", "fp8": "F8", "bf8": "F8",
    "f8f6f4": "F6F4",
}  # fmt: skip


@dataclass(frozen=True)
class HardwareCounter:
    """One counter."""

    name: str
    meaning: str
    """What it counts."""
    of: Callable[[Instruction], bool] | str
    """Whether it counts an instruction; or what else it counts: ``waves``, ``clocks``, ``conflicts``."""
    profiles: tuple[str, ...] = _DEFAULT
    """`mfmasim.architectures.Arch.profile` of the architectures that have it under this name."""

    @property
    def captures(self) -> tuple[str, ...]:
        """Architectures on which captures equal it."""
        return tuple(name for name, row in ARCHITECTURES.items() if self.name in row.captured_counters)


def _family(*names: str) -> Callable[[Instruction], bool]:
    return lambda instruction: family_of(instruction) in names


def _vector_memory(*accesses: str, buffer: bool | None = None) -> Callable[[Instruction], bool]:
    def counted(instruction: Instruction) -> bool:
        opcode = instruction.opcode
        return (
            opcode.unit == "VMEM"
            and (not accesses or opcode.access in accesses)
            and (buffer is None or buffer == (instruction.encoding in ("MUBUF", "MTBUF", "VBUFFER")))
        )

    return counted


ROWS = (
    HardwareCounter("SQ_WAVES", "waves launched", "waves"),
    HardwareCounter("SQ_INSTS_VALU", "vector instructions, matrix instructions included; a dual instruction once",
                    _family("VALU", "MATRIX")),
    HardwareCounter("SQ_INSTS_MFMA", "matrix instructions", _family("MATRIX"), _CDNA),
    HardwareCounter("SQ_INSTS_SALU", "scalar instructions without branches, waits, barriers, hints and messages",
                    _family("SALU")),
    HardwareCounter("SQ_INSTS_SMEM", "scalar memory instructions", _family("SMEM")),
    HardwareCounter("SQ_INSTS_BRANCH", "branches, taken or not; not the end of a program",
                    lambda i: bool(i.opcode.flow) and i.opcode.flow not in ("end", "trap"), _CDNA),
    HardwareCounter("SQ_INSTS_SENDMSG", "messages", lambda i: i.opcode.kind == "message", _CDNA),
    HardwareCounter("SQ_INSTS_LDS", "LDS instructions, FLAT aside", _family("LDS")),
    HardwareCounter("SQ_INSTS_VMEM", "vector memory instructions: buffer, FLAT, global, scratch",
                    _vector_memory(), _CDNA),
    HardwareCounter("SQ_INSTS_VMEM_RD", "of these, loads", _vector_memory("load"), _CDNA),
    HardwareCounter("SQ_INSTS_VMEM_WR", "of these, stores", _vector_memory("store"), _CDNA),
    HardwareCounter("TA_BUFFER_READ_WAVEFRONTS_sum", "buffer loads that a texture addresser processes",
                    _vector_memory("load", buffer=True), _CDNA),
    HardwareCounter("TA_BUFFER_WRITE_WAVEFRONTS_sum", "buffer stores, likewise",
                    _vector_memory("store", buffer=True), _CDNA),
    HardwareCounter("TA_BUFFER_ATOMIC_WAVEFRONTS_sum", "buffer atomics, likewise",
                    _vector_memory("atomic", buffer=True), _CDNA),
    HardwareCounter("TA_FLAT_READ_WAVEFRONTS_sum", "FLAT, global and scratch loads, likewise",
                    _vector_memory("load", buffer=False), _CDNA),
    HardwareCounter("TA_FLAT_WRITE_WAVEFRONTS_sum", "FLAT, global and scratch stores, likewise",
                    _vector_memory("store", buffer=False), _CDNA),
    HardwareCounter("TA_FLAT_ATOMIC_WAVEFRONTS_sum", "FLAT and global atomics, likewise",
                    _vector_memory("atomic", buffer=False), _CDNA),
    HardwareCounter("SQ_LDS_IDX_ACTIVE", "clocks of LDS accesses: a clock for each phase, and conflicts", "clocks",
                    _CDNA),
    HardwareCounter("SQ_LDS_BANK_CONFLICT", "of these, those for conflicts", "conflicts", _CDNA),
    HardwareCounter("SQC_LDS_IDX_ACTIVE", "clocks of LDS accesses: a clock for each phase, and conflicts", "clocks",
                    ("RDNA",)),
    HardwareCounter("SQC_LDS_BANK_CONFLICT", "of these, those for conflicts (gfx1201's counter reads 0 also with "
                    "conflicts: rocm-systems 5953)", "conflicts", ("RDNA",)),
)  # fmt: skip


def rows_of(kernel: Kernel) -> tuple[HardwareCounter, ...]:
    """Counters of a kernel's architecture, those of its matrix types included."""
    profile = kernel.arch.profile
    return tuple(row for row in ROWS if profile in row.profiles) + (_of_types(kernel) if profile in _CDNA else ())


def _of_types(kernel: Kernel) -> tuple[HardwareCounter, ...]:
    """Counters of the types of matrix instructions that the kernel has."""
    types = sorted({_type(ins) for ins in kernel.instructions if ins.opcode.matrix} - {""})
    return tuple(
        HardwareCounter(
            f"SQ_INSTS_VALU_MFMA_{kind}", f"matrix instructions with {kind} operands", _of_type(kind), _CDNA
        )
        for kind in types
    )


def _of_type(kind: str) -> Callable[[Instruction], bool]:
    return lambda instruction: _type(instruction) == kind


def _type(instruction: Instruction) -> str:
    return _MFMA.get(instruction.opcode.matrix_type, "")


def table_of(kernel: Kernel, values: Mapping[str, int]) -> list[list[Any]]:
    """Name, value, meaning and the captures that confirm it, of each counter that a launch has."""
    rows = {row.name: row for row in rows_of(kernel)}
    return [
        [
            name,
            value,
            row.meaning if (row := rows.get(name)) else "512ths of the matrix operations of that type",
            ", ".join(row.captures) if row else "",
        ]
        for name, value in values.items()
    ]


def not_counted(kernel: Kernel, lds: Mapping[str, Any]) -> str:
    """Counters of the kernel's architecture that a launch could not count, with the reason.

    Args:
        kernel: what was executed.
        lds: a report's record of bank conflicts.
    """
    names = [row.name for row in rows_of(kernel) if row.of in ("clocks", "conflicts")]
    if not names or ("sites" in lds and not lds["uncounted"]):
        return ""
    why = (
        "some accesses have no table of phases" if "sites" in lds else "the check conflicts, which counts, did not run"
    )
    return f"{', '.join(names)}: not counted, {why}"


def counters_of(kernel: Kernel, executed: Mapping[int, int], waves: int, lds: Mapping[str, Any]) -> dict[str, int]:
    """Values of the counters.

    Args:
        kernel: what was executed.
        executed: wave-instructions by address.
        waves: waves of the launch.
        lds: a report's record of bank conflicts; without one, or where accesses have no phase table, the LDS's counters
            are left out.
    """
    counted = [(kernel.code.instruction_at(pc, kernel.wave), n) for pc, n in executed.items() if n]
    others: dict[str, int] = {"waves": waves}
    if "sites" in lds and not lds["uncounted"]:
        others |= {"clocks": lds["clocks"], "conflicts": lds["extra_passes"]}
    out: dict[str, int] = {}
    for row in rows_of(kernel):
        if isinstance(row.of, str):
            if row.of in others:
                out[row.name] = others[row.of]
        else:
            of = row.of
            out[row.name] = sum(n for instruction, n in counted if of(instruction))
    if kernel.arch.profile in _CDNA:
        for instruction, n in counted:
            if kind := _type(instruction):
                name = f"SQ_INSTS_VALU_MFMA_MOPS_{kind}"
                out[name] = out.get(name, 0) + n * (resolve(instruction, kernel.arch, kernel.wave)[0].flops // 512)
    return out
