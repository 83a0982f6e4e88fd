"""Assembly text to a code object, and one program through the machine and through the slow interpreter."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mfmasim
import mfmasim.machine.ops  # fills OPERATIONS
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.isa import later_llvm
from tests.llvm import assembled, tool, true16
from tests.machine import generators  # noqa: F401  (fills the registry of lines)
from tests.machine.spelling import split
from tests.slow.machine import (
    approximate,  # noqa: F401  (adds to the table of vector operations)
    launch,
)

ARCHITECTURES = ("gfx908", "gfx942", "gfx950")
RDNA = ("gfx1030", "gfx1030:64", "gfx1151", "gfx1151:64", "gfx1201", "gfx1201:64")
"""Architecture and lanes of a wave, 32 unless it says 64."""

TEMPLATE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.amdhsa_code_object_version 5
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
.Lend_{name}:
.size {name}, .Lend_{name} - {name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
{registers}
  .amdhsa_next_free_sgpr 102
  .amdhsa_float_denorm_mode_32 3
  .amdhsa_kernarg_size {kernarg}
{extra}
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{arch}
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: 108
    .vgpr_count: 512
    .agpr_count: 256
    .max_flat_workgroup_size: 1024
{metadata}
    .args:
{arguments}
.end_amdgpu_metadata
"""

REVERSED = """
  ds_write_b32 v6, v3
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_sub_u32_e32 v7, 95, v5
  v_lshlrev_b32_e32 v7, 2, v7
  ds_read_b32 v4, v7
  s_waitcnt lgkmcnt(0)
"""
"""v4: what the lane on the other end of 96 wrote as v3. v5: the lane in the workgroup, v6: 4 * v5."""

_POINTER = "      - {{.offset: {0}, .size: 8, .value_kind: global_buffer, .address_space: global, .name: p{1}}}"
_VALUE = "      - {{.offset: {0}, .size: 8, .value_kind: by_value, .name: p{1}}}"


def source(body, arch, arguments="pp", *, name="test", lds=0, metadata="", extra="", accum_offset=256, vgprs=512):
    """A whole assembly file around the body of a kernel; `arguments` is a word of p (pointer) and v (64-bit value).

    `vgprs` registers of a unified file are allocated, of which `accum_offset` is a0.
    """
    listed = "\n".join((_POINTER if kind == "p" else _VALUE).format(8 * i, i) for i, kind in enumerate(arguments))
    arch, lanes = split(arch)
    registers = f"  .amdhsa_next_free_vgpr {vgprs}\n  .amdhsa_accum_offset {accum_offset}"
    if not find_arch(arch).unified_vgprs:
        registers = f"  .amdhsa_next_free_vgpr {min(vgprs, 256)}"
    if arch.startswith("gfx1"):
        registers = f"  .amdhsa_next_free_vgpr {find_arch(arch).vgprs}\n  .amdhsa_wavefront_size32 {int(lanes == 32)}"
    return TEMPLATE.format(
        arch=arch,
        lanes=lanes,
        registers=registers,
        name=name,
        body=body,
        lds=lds,
        kernarg=8 * len(arguments),
        arguments=listed,
        metadata=metadata,
        extra=extra,
    )


def _assembled(lines, arch, *options):
    """As `assembled`; 16-bit registers have names of their own (v0.l, v0.h) on gfx11 and gfx12."""
    arch, lanes = split(arch)
    features = [*true16(arch), f"-mattr=+wavefrontsize{lanes}"] if arch.startswith("gfx1") else []
    return assembled(lines, arch, *features, *options)


def assemble(text, arch):
    """Assembly file to the bytes of a linked code object."""
    name, lanes = split(arch)
    with tempfile.TemporaryDirectory() as folder:
        first, last = Path(folder, "a.o"), Path(folder, "a.hsaco")
        if name in later_llvm.PROCESSORS:
            first.write_bytes(later_llvm.assembled_object(text, name, f"+wavefrontsize{lanes},+real-true16"))
        else:
            lines = text.splitlines()
            _, refused = _assembled(lines, arch, "-filetype=obj", "-o", str(first))
            assert not refused, [lines[n] for n in sorted(refused)]
        command = [tool("ld.lld"), "-shared", "-o", str(last), str(first)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        return last.read_bytes()


@functools.lru_cache(maxsize=256)
def kernel(body, arch, arguments="pp", on=None, **options):
    """The loaded kernel of an assembly body; `on` is the processor that runs it, where that is another one."""
    return mfmasim.load(assemble(source(body, arch, arguments, **options), arch), arch=on)[options.get("name", "test")]


def accepted(lines, arch):
    """The lines that the assembler takes for this architecture."""
    name, lanes = split(arch)
    if name in later_llvm.PROCESSORS:
        codes = later_llvm.assemble(lines, name, lanes)
        return [line for line, code in zip(lines, codes, strict=True) if code is not None]
    _, refused = _assembled(lines, arch, "-filetype=null")
    return [line for n, line in enumerate(lines) if n not in refused]


@dataclass
class Both:
    """What the two made of one program."""

    fast: list[np.ndarray]
    slow: list[np.ndarray]
    report: object
    waves: dict

    @property
    def compared(self):
        """Dwords compared."""
        return sum(a.size for a in self.fast)

    def different(self):
        """Positions (argument, dword) where they differ."""
        return [
            (k, int(i))
            for k, (a, b) in enumerate(zip(self.fast, self.slow, strict=True))
            for i in np.flatnonzero(a != b)
        ]


def fast(program, grid, block, arrays, **options):
    """Run on the machine with copies of the arrays; (arrays, report)."""
    copies = [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]
    report = mfmasim.device("sim").launch(program, grid=grid, block=block, args=copies, **options)
    return copies, report


def both(program, grid, block, arrays, *, lds_bytes=0, checks="none", arch="gfx942", **options):
    """Run a kernel on the machine and on the slow interpreter with equal uint32 arrays; compare nothing yet."""
    copies, report = fast(program, grid, block, arrays, checks=checks, **options)
    raw = [array.tobytes() if isinstance(array, np.ndarray) else int(array) for array in arrays]
    name, lanes = split(arch)
    outputs, waves = launch.launch(
        program, _three(grid), _three(block), raw, lds_bytes=lds_bytes, arch=name, lanes=lanes
    )
    buffers = [a for a in copies if isinstance(a, np.ndarray)]
    other = [np.frombuffer(data, np.uint32) for data in outputs if data is not None]
    return Both([a.reshape(-1).view(np.uint32) for a in buffers], other, report, waves)


def _three(size):
    parts = size if isinstance(size, tuple) else (size,)
    return (*parts, 1, 1)[:3]


@functools.cache
def rows(arch):
    """name -> [(encoding, row)] of the decoder's tables."""
    found = {}
    for encoding, table in family(split(arch)[0]).rows.items():
        for row in table.values():
            found.setdefault(row.name, []).append((encoding, row))
    return found


def is_matrix(name):
    """Matrix instructions have a judge of their own."""
    return name.startswith(("v_mfma", "v_smfmac", "v_wmma", "v_swmmac"))


def operations():
    """Names of all operations that are not matrix instructions."""
    return sorted(name for name in OPERATIONS if not is_matrix(name))


@functools.cache
def executable(arch):
    """Names of the operations that an architecture's decoder knows and the machine executes."""
    dual = split(arch)[1] == 32  # VOPD is for waves of 32 lanes
    return sorted(
        name
        for name, found in rows(arch).items()
        if name in OPERATIONS and (dual or not all(encoding.startswith("VOPD") for encoding, _ in found))
    )


__all__ = ["ARCHITECTURES", "Both", "MfmasimError", "accepted", "assemble", "both", "fast", "kernel", "operations",
           "rows", "source"]  # fmt: skip
