"""What an opcode does not read may hold anything: every bit of every opcode's encoding, inverted, against llvm-mc."""

import random
import re
from collections import Counter
from itertools import count

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.isa import decode, decoder
from mfmasim.isa.family import family
from tests.isa import encode, encode_rdna
from tests.isa.llvm_oracle import disassemble
from tests.isa.rdna import generation
from tests.isa.sampling import samples_of
from tests.isa.test_isa_rdna import llvm_quirk as rdna_quirk
from tests.isa.test_isa_rdna import named
from tests.isa.test_isa_rows import llvm_quirk as cdna_quirk
from tests.llvm import tool
from tests.longtier import this_round

# A bit of op_sel that no operand takes turns LLVM from true 16-bit registers to whole ones.
HALVES = re.compile(r"\.[lh]\b| op_sel:\[[01,]+\]")
SCALED = "v_mfma_scale_f32_16x16x128_f8f6f4"
CDNA = ["gfx908", "gfx90a", "gfx942", "gfx950"]
RDNA = ["gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"]

# What LLVM drops without a word, although the manuals give it a meaning or forbid it.
LLVM_DROPS = {
    "op_sel": "of a 32-bit operand it must be zero (RDNA3 ISA manual, fields of VOP3)",
    "neg": "undefined for an integer (RDNA3 ISA manual, input modifiers)",
    "abs": "likewise",
    "src0_neg": "likewise, in DPP",
    "src0_abs": "likewise",
    "src1_neg": "likewise",
    "src1_abs": "likewise",
    "neg_lo": "negates A, B or C (CDNA4 ISA manual, V_MFMA_SCALE)",
    "neg_hi": "likewise",
    "clamp": "not supported (likewise)",
    "gds": "1 selects the GWS (CDNA3 ISA manual, fields of DS)",
    "scale_offset": "of gfx1250",
    "nv": "non-volatile memory (CDNA3 ISA manual, fields of SMEM)",
}
# The top bit of a source selects a VGPR, which interpolation requires (RDNA3 ISA manual, VINTERP); LLVM ignores it.
VINTERP_SOURCES = {("VINTERP", "src0"), ("VINTERP", "src1"), ("VINTERP", "src2")}


def samples(arch, drawn):
    """(row, encoding, form, code, instruction) of the forms of rows for which `drawn` returns true."""

    def draw(rng, encoding, op, form, row):
        if arch in RDNA:
            return encode_rdna.random_code(rng, generation(arch), encoding, op, form, row)
        return encode.random_code(rng, encoding, op, form)

    def some(encoding, row):
        forms = (encode_rdna if arch in RDNA else encode).forms_of(encoding, row)
        return [form for form in forms if drawn()]

    return samples_of(arch, None, some, draw, 1, 600, 0)[0]


def operand_bits(arch, code, form):
    """Bits of an instruction other than those of the format's prefix, of its opcode and of a literal."""
    formats = family(arch).dialect.encodings
    found = decoder.encoding_of(family(arch), code)
    fixed = ((1 << len(found.prefix)) - 1) << 32 - len(found.prefix)
    for low, width in (
        found.op,
        found.op_high,
        *(found.fields[name] for name in ("seg", "opy") if name in found.fields),
    ):
        fixed |= ((1 << width) - 1) << low
    if form == "SCALED":
        fixed |= fixed << 64
    assert formats.identify(int.from_bytes(code[:4], "little")) is found
    bits = 128 if form == "SCALED" else 64 if form == "SDWA" or (form == "DPP" and arch in CDNA) else 8 * found.size
    return [bit for bit in range(bits) if not fixed >> bit & 1]


def inverted(code, bit):
    changed = bytearray(code)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def ours(code, arch):
    """The instruction, its text with names of halves as the oracle's, or why there is none."""
    try:
        return named(decode(code, arch))
    except MfmasimError as error:
        return str(error).partition(": ")[2]


def gws_of_agpr(arch, text):
    """Whether LLVM 22 takes bit 25 of a GWS instruction of gfx908, which has no loads into AGPRs, for their bit.

    It does so in every DS instruction of gfx908, but calls the register invalid in all others.
    """
    return arch == "gfx908" and text is not None and re.match(r"ds_gws_\w+ a\d", text) is not None


def compare(arch, drawn):
    """Invert every bit of the samples; what LLVM and we say of each, counted."""
    tool("llvm-mc")
    cases = [
        (row, form, named(instruction), inverted(code, bit))
        for row, _, form, code, instruction in samples(arch, drawn)
        for bit in operand_bits(arch, code, form)
    ]
    texts = disassemble([code for *_, code in cases], arch)
    counts, wrong = Counter(), []
    quirk = rdna_quirk if arch in RDNA else cdna_quirk
    for (row, form, before, code), printed in zip(cases, texts, strict=True):
        # Where LLVM refuses a product, it takes the scales before it for an instruction.
        text = None if form == "SCALED" and (printed or "").startswith("size:") else printed
        after = ours(code + bytes(4), arch)
        refused = isinstance(after, str)
        if refused:
            same = text is not None and HALVES.sub("", before.text) == HALVES.sub("", text)
            field = re.match(r"(?:field )?(\w+)", after)[1]
            dropped = field in LLVM_DROPS or (before.encoding, field) in VINTERP_SOURCES
            if not same or dropped or "may not start" in after:
                counts["refused", field if same else "both"] += 1
                continue
        elif (after.size, after.encoding) != (before.size, before.encoding) or (
            quirk(after) and (arch in RDNA or text is None)
        ):
            # A literal, lane controls or none of them.
            counts["read", "other"] += 1
            continue
        elif after.ignored:
            # The text is the one of zeros, and LLVM says the same or refuses what it expects to be zero.
            counts["unread", "both" if text else "ours"] += 1
            if after.text == (text or before.text) or gws_of_agpr(arch, text):
                continue
        elif text is None or after.text == text:
            counts["read", "both"] += 1
            continue
        wrong.append((row.name, form, code.hex(), text, after if refused else after.text))
    return counts, wrong


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx950", "gfx1151", "gfx1201", "gfx1250"])
def test_a_sample_of_unread_bits(arch):
    rng = random.Random(arch)
    counts, wrong = compare(arch, lambda: rng.random() < 0.04)
    assert not wrong, wrong[:5]
    assert counts["unread", "both"] >= 150
    assert counts["unread", "ours"] >= 20
    assert counts["read", "both"] >= 1000


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("arch", [*CDNA, *RDNA])
def test_every_bit_of_every_opcode(arch):
    """In three rounds every form of every row."""
    numbers = count(this_round())
    counts, wrong = compare(arch, lambda: next(numbers) % 3 == 0)
    assert not wrong, wrong[:5]
    assert counts["unread", "both"] >= 1500
    assert counts["unread", "ours"] >= 250
    assert counts["read", "both"] >= 8000


@pytest.mark.parametrize(
    ("arch", "words", "text", "ignored"),
    [
        # A scale prefix with bits of a third scale, as AMD's assembler leaves them.
        (
            "gfx950",
            "d3ac6000 0003118c d3ad8c00 84021148",
            SCALED + " a[0:3], v[72:75], v[8:11], a[0:3], v140, v136 op_sel_hi:[0,0,0] cbsz:4 blgp:4",
            (("scale_op_sel", 4), ("scale_op_sel_hi2", 1)),
        ),
        # The third source of an operation that has two: newer versions of LLVM write 128.
        ("gfx1201", "d4440000 02020212", "v_cmp_gt_i32_e64 s0, s18, v1", (("src2", 128),)),
        ("gfx1151", "d5268002 02010305", "v_sub_nc_u32_e64 v2, v5, 1 clamp", (("src2", 128),)),
        ("gfx1151", "dc520100 03020300", "global_load_b32 v3, v0, s[2:3] offset:256", (("data", 3),)),
        ("gfx1151", "f4800000 f8000000", "s_gl1_inv", (("soffset", 124),)),
        (
            "gfx908",
            "e8540000 80200000",
            "tbuffer_load_format_d16_x v0, off, s[0:3], 0 format:[BUF_DATA_FORMAT_8_8_8_8]",
            (("reserved", 1 << 53),),
        ),
        ("gfx950", "c0020000 02000008", "s_load_dword s0, s[0:1], 0x8", (("soffset", 1),)),
        ("gfx950", "c0004000 10000009", "s_load_dword s0, s[0:1], s8", (("offset", 9),)),
        ("gfx1151", "d8400000 0302010a", "ds_cmpstore_b32 v10, v1, v2", (("vdst", 3),)),
        (
            "gfx1151",
            "ca2004ff 02000300 00000041",
            "v_dual_mov_b32 v2, 0x41 :: v_dual_add_nc_u32 v1, v0, v1",
            (("src1x", 2),),
        ),
        ("gfx1151", "dc500000 01050002", "flat_load_b32 v1, v[2:3]", (("saddr", 5),)),
        ("gfx1201", "c405007c 00000000 00000000", "buffer_load_b32 v0, off, s[0:3], null", (("format", 0),)),
        (
            "gfx1151",
            "d5030000 000204fa ff50e401",
            "v_add_f32_e64_dpp v0, v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
            (("dpp_neg", 3),),
        ),
        ("gfx942", "7d8404f9 06060501", "v_cmp_eq_i32_sdwa vcc, v1, v2 src0_sel:DWORD src1_sel:DWORD", (("sdst", 5),)),
        ("gfx942", "bf8a0007", "s_barrier", (("simm16", 7),)),
        ("gfx942", "d2850000 08020501", "v_mul_lo_u32 v0, v1, v2", (("omod", 1),)),
        ("gfx950", "d38f4000 98020501", "v_pk_add_f16 v0, v1, v2", (("neg_lo", 4),)),
    ],
)
def test_unread_fields_are_listed_with_their_values(arch, words, text, ignored):
    code = b"".join(int(word, 16).to_bytes(4, "little") for word in words.split())
    instruction = decode(code, arch)
    assert (instruction.text, instruction.ignored) == (text, ignored)
    assert instruction.raw == code


@pytest.mark.parametrize(
    ("arch", "words", "reason"),
    [
        ("gfx942", "d1ff4000 04060501", "op_sel of v_add3_u32"),
        ("gfx1151", "d5250000 20020501", "neg of v_add_nc_u32"),
        ("gfx950", "d3ac0100 00022314 d3ad0c28 8ca27100", "field neg_hi"),
        ("gfx1201", "ee050084 00000001 00000002", "field nv of global_load_b32"),
        ("gfx1201", "ec050004 00000001 00000002", "saddr of a FLAT instruction must be null"),
    ],
)
def test_modifiers_of_operands_that_do_not_take_them_are_refused(arch, words, reason):
    code = b"".join(int(word, 16).to_bytes(4, "little") for word in words.split())
    with pytest.raises(MfmasimError, match=reason):
        decode(code, arch)
