"""The fields of a decoded instruction and of its operands, which the printer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from mfmasim.errors import MfmasimError
from mfmasim.isa.opcode import Opcode


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an instruction.

    Kinds:
        ``v``, ``a``: a vector register; ``index`` is its number in its own file.
        ``s``: a scalar register; ``index`` is the hardware code: 0..101 SGPRs, 102/103 FLAT_SCRATCH, 104/105
        XNACK_MASK, 106/107 VCC, 108..123 TTMP0..15, 124 M0, 126/127 EXEC. On RDNA: 0..105 SGPRs,
        106/107 VCC, 108..123 TTMP0..15, 125 M0, 126/127 EXEC.
        ``null``: RDNA's scalar register 124: it reads as 0 and ignores writes.
        ``special``: a read-only hardware value; ``index`` is its source code, such as 235 SRC_SHARED_BASE, 251 VCCZ,
        252 EXECZ, 253 SCC, 254 LDS_DIRECT.
        ``const``: an inline constant (``index`` is its source code) or a literal (``index`` 255) of value ``bits``.
        ``imm``: an immediate field of the instruction (SIMM16, a memory offset); ``bits`` is its raw value.
        ``label``: a branch offset; ``bits`` is the raw SIMM16, the instruction's ``target`` the absolute address.
        ``off``: an address operand that this instruction does not use.
    """

    kind: str
    index: int = 0
    count: int = 1
    """Registers (dwords) that the operand spans."""
    type: str = "b32"
    """Operand type as in the opcode tables: ``f32``, ``pk_f16``, ``b64``; of a matrix, the type of one element."""
    bits: int = 0
    """Raw bits of a constant as an operand of this type sees them. The float constants of a 16-bit float operand are
    16-bit floats; inline integers are sign-extended to 32 or 64 bits; a literal is the high dword of an ``f64``, is
    sign-extended for ``i64`` and zero-extended for ``u64`` and ``b64``."""
    neg: bool = False
    abs: bool = False
    sext: bool = False
    """SDWA: sign-extend the selected part of an integer."""
    sel: int = 6
    """SDWA: part that is selected: 0..3 byte, 4 low half, 5 high half, 6 dword. `op_sel` stands in the modifiers."""
    printed: bool = True
    """Whether LLVM prints the operand; implicit ones (VCC of v_div_fmas, EXEC of v_cmpx, the destination that
    v_fmac reads) are not."""
    field: str = ""
    """Field of the encoding that the operand comes from (``vdst``, ``src0``, ``vaddr``, ...); empty when implicit."""
    half: bool = False
    """True16: one half of the register, ``.l`` or ``.h`` in LLVM's syntax. Which one, ``modifiers["op_sel"]`` says,
    in short encodings as in long ones: bit 0, 1, 2 for source 0, 1, 2 and bit 3 for the destination."""
    accum_offset: int = 0
    """Of an AGPR that the machine has found in the unified register file: the VGPR that is a0. `kind` is then ``v`` and
    `index` the VGPR. Decoding does not know it: each kernel's descriptor says where its AGPRs begin."""

    @property
    def lds_direct(self) -> bool:
        """Whether it is the value of the LDS at M0."""
        return self.kind == "special" and self.index == 254

    @property
    def written(self) -> tuple[str, int]:
        """Register file and first register as the code names them."""
        return ("a", self.index - self.accum_offset) if self.accum_offset else (self.kind, self.index)


@dataclass(frozen=True)
class InstructionFields:
    """One decoded instruction.

    Operands stand in the ISA manual's order: ``dst`` (vector result, then lane mask, then EXEC), ``src`` S0, S1, S2,
    then implicit ones. An operation that reads its own destination (v_fmac, s_addk, v_cvt_pk_fp8) has it among its
    sources with ``printed=False``. SCC, MODE and M0 are implied by the operation and not listed.

    Memory operations have fixed positions in ``src``: FLAT (vaddr, saddr[, data]); DS (addr[, data0[, data1]]);
    MUBUF and MTBUF (vaddr, srsrc, soffset[, data]); SMEM (sbase, soffset[, data]). ``modifiers["offset"]`` is signed
    where the hardware reads it as signed. An atomic that does not return its old value has no ``dst``; a load with
    ``modifiers["lds"]`` or "lds" in its name has none either. MTBUF has the number of its data format in ``format``, on
    gfx9 in ``data_format`` and ``num_format``.

    Of an RDNA instruction with true16 operands (`Operand.half`), ``modifiers["op_sel"]`` selects the halves in every
    encoding, the destination read back included (v_fmac_f16); the other half of the destination stays. DPP has its
    controls in the modifiers: ``dpp_ctrl row_mask bank_mask bound_ctrl fi``, or ``dpp8`` (eight selectors of three
    bits, lane 0 lowest) and ``fi``; `encoding` is DPP or DPP8, also for the long forms, whose `form` is ``_e64_dpp``.
    A dual instruction (VOPD) has its two operations in `halves`; both read before either writes. gfx12 states cache
    behaviour as ``th`` and ``scope``. A lane mask has as many dwords as a wave has lanes divided by 32.
    """

    pc: int
    """Address of the instruction."""
    size: int
    """Bytes, literal included."""
    raw: bytes
    opcode: Opcode
    """Record of its opcode."""
    encoding: str
    """Empty of a dword that is not an instruction, else ``SOP1 SOP2 SOPC SOPK SOPP SMEM VOP1 VOP2 VOPC VOP3 VOP3P MAI
    SDWA DPP DS FLAT GLOBAL SCRATCH MUBUF MTBUF``, on RDNA also ``WMMA VOPD DPP8``."""
    dst: tuple[Operand, ...] = ()
    src: tuple[Operand, ...] = ()
    modifiers: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Modifiers that the encoding of this opcode has, by their name in the manual; absent ones do not apply."""
    target: int | None = None
    """Absolute address that a branch goes to."""
    arch: str = ""
    """Architecture that the bytes were decoded for."""
    form: str = ""
    """Suffix of the mnemonic in LLVM's syntax (``_e32``, ``_e64``, ``_dpp``, ``_e64_dpp``, ``_sdwa`` or nothing)."""
    halves: tuple[Self, ...] = ()
    """The operations X and Y of a dual instruction; empty for all others."""
    named_halves: bool = field(default=False, compare=False)
    """Whether its text names the halves of 16-bit operands (``v0.l``); else only `op_sel` tells them (LLVM's default
    on gfx12, where it has instructions that exist with names only)."""
    ignored: tuple[tuple[str, int], ...] = ()
    """Fields that the opcode does not read and that are not zero, with their values, such as ``(("src2", 128),)``; of
    ``reserved``, the value is a mask of the instruction's bits. They change neither text nor execution."""

    @property
    def name(self) -> str:
        """Base mnemonic without encoding suffix, such as ``v_add_f32``."""
        return self.opcode.name

    @cached_property
    def reads_lds_direct(self) -> bool:
        """Whether a source is the value of the LDS at M0."""
        return any(operand.lds_direct for operand in self.src)

    @property
    def in_gds(self) -> bool:
        """Whether it addresses the global data share instead of the LDS."""
        return bool(self.modifiers.get("gds"))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """`Operand.index` of each operand: MODE may extend them, so that forms of one instruction differ."""
        parts = self.halves or (self,)
        return tuple(operand.index for part in parts for operand in (*part.dst, *part.src))

    @property
    def space(self) -> str:
        """Address space of its access, as in `Opcode`; the global data share is shared like global memory."""
        return "global" if self.in_gds and self.opcode.space == "lds" else self.opcode.space

    def written(self, register: tuple[str, int]) -> tuple[str, int]:
        """A register, by file and number, as this instruction names it: in a unified file it may be an AGPR."""
        file, number = register
        for operand in (*self.dst, *self.src):
            if operand.accum_offset and operand.kind == file and 0 <= number - operand.index < operand.count:
                return "a", number - operand.accum_offset
        return register

    def operand(self, name: str) -> Operand:
        """The operand of an encoding field, such as ``vaddr``.

        Raises:
            MfmasimError: the instruction has no operand of that field.
        """
        for operand in (*self.dst, *self.src):
            if operand.field == name:
                return operand
        raise MfmasimError(f"{self.name} at {self.pc:#x} has no operand {name!r}")
