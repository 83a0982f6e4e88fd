"""Code objects of versions 2 and 3, in assembly: LLVM 22 does not make them any more."""

from __future__ import annotations

import struct
import textwrap

import msgpack

from tests.codeobject.codeobject_builds import assemble

BODY = """
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  s_load_dword s2, s[4:5], 0x8
  s_lshl_b32 s3, s6, 6
  v_add_u32_e32 v1, s3, v0
  v_lshlrev_b32_e32 v2, 2, v1
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v1, s2
  global_store_dword v2, v1, s[0:1]
  s_endpgm
"""
"""out[i] = i * factor: kernel arguments in s[4:5] behind the private segment buffer, the workgroup in s6."""

YAML = """
---
Version: [ 1, 0 ]
Printf:
  - '1:1:4:factor %d\\n'
Kernels:
  - Name:            scale
    SymbolName:      'scale@kd'
    Language:        OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [ 64, 1, 1 ]
    Args:
      - Name:            out
        TypeName:        'uint*'
        Size:            8
        Align:           8
        ValueKind:       GlobalBuffer
        ValueType:       U32
        AddrSpaceQual:   Global
        AccQual:         Default
        IsConst:         true
      - Name:            factor
        Size:            4
        Align:           4
        ValueKind:       ByValue
        ValueType:       U32
      - Size:            8
        Align:           8
        ValueKind:       HiddenGlobalOffsetX
        ValueType:       I64
      - Size:            8
        Align:           8
        ValueKind:       HiddenMultiGridSyncArg
        ValueType:       I8
    CodeProps:
      KernargSegmentSize: 32
      GroupSegmentFixedSize: 0
      PrivateSegmentFixedSize: 0
      KernargSegmentAlign: 8
      WavefrontSize:   64
      NumSGPRs:        8
      NumVGPRs:        8
      MaxFlatWorkGroupSize: 64
...
"""

METADATA_3 = {
    "amdhsa.version": [1, 0],
    "amdhsa.kernels": [
        {
            ".name": "scale", ".symbol": "scale.kd", ".kernarg_segment_size": 16, ".kernarg_segment_align": 8,
            ".group_segment_fixed_size": 0, ".private_segment_fixed_size": 0, ".wavefront_size": 64,
            ".max_flat_workgroup_size": 64,
            ".args": [
                {".name": "out", ".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global"},
                {".name": "factor", ".offset": 8, ".size": 4, ".value_kind": "by_value", ".value_type": "u32"},
            ],
        }
    ],
}  # fmt: skip

DESCRIPTOR = """
.rodata
.p2align 6
.amdhsa_kernel scale
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
"""
RSRC1 = 1 | 1 << 6 | 0xC0 << 12 | 1 << 21 | 1 << 23  # 8 VGPRs, 16 SGPRs, denormals of f16 and f64, DX10_CLAMP, IEEE
RSRC2 = 6 << 1 | 1 << 7  # 6 user SGPRs, workgroup id x
PROPERTIES = 1 | 1 << 3 | 1 << 19  # private segment buffer, kernel argument pointer, 64-bit pointers


def _bytes(data):
    return "\n".join(f"  .byte {', '.join(map(str, data[k : k + 16]))}" for k in range(0, len(data), 16))


def _note(vendor, kind, data):
    name = vendor.encode() + b"\0"
    raw = struct.pack("<III", len(name), len(data), kind) + name.ljust(-(-len(name) // 4) * 4, b"\0")
    return raw + data + bytes(-len(data) % 4)


def _object(notes, code, abi, flags, arch):
    text = f'.section .note,"a",@note\n.p2align 2\n{_bytes(notes)}\n{code}'
    data = bytearray(assemble(text, arch))
    data[8] = abi
    data[48:52] = struct.pack("<I", flags)
    return bytes(data)


def header(properties=PROPERTIES, *, entry=256, wave=6):
    """amd_kernel_code_t: offsets as LLVM's AMDKernelCodeT.h has them."""
    data = bytearray(256)
    struct.pack_into("<IIHHHH", data, 0, 1, 2, 1, 9, 0, 8)
    struct.pack_into("<q", data, 16, entry)
    struct.pack_into("<IIIIII", data, 48, RSRC1, RSRC2, properties, 0, 0, 0)
    struct.pack_into("<Q", data, 72, 32)
    struct.pack_into("<HH", data, 84, 8, 8)
    data[100:104] = bytes((4, 4, 4, wave))
    return bytes(data)


def version2(yaml=YAML, *, isa=(9, 0, 8), flags=0x1, head=None, arch="gfx908"):
    """A code object of version 2; `yaml` is text or bytes."""
    yaml = textwrap.dedent(yaml).encode() if isinstance(yaml, str) else yaml
    notes = _note("AMD", 1, struct.pack("<II", 2, 1))
    notes += _note("AMD", 3, struct.pack("<HHIII", 4, 7, *isa) + b"AMD\0AMDGPU\0") + _note("AMD", 10, yaml)
    code = f".text\n.globl scale\n.p2align 8\n.type scale,@function\nscale:\n{_bytes(head or header())}\n{BODY}"
    return _object(notes, code + ".Lend:\n.size scale, .Lend - scale\n", 0, flags, arch)


def version3(metadata=METADATA_3, *, flags=0x130, arch="gfx908"):
    """A code object of version 3."""
    code = f".text\n.globl scale\n.p2align 8\n.type scale,@function\nscale:\n{BODY}.Lend:\n.size scale, .Lend - scale\n"
    return _object(_note("AMDGPU", 32, msgpack.packb(metadata)), code + DESCRIPTOR, 1, flags, arch)
