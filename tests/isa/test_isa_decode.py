"""What a decoded instruction says: operands, constants, implicit registers, targets; and what is refused."""

import random
from collections import defaultdict

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.isa import Operand, decode, decode_range, decoder, printer
from mfmasim.isa.family import family
from tests.isa.encode import forms_of, random_code


def one(words, arch="gfx950", pc=0):
    return decode(b"".join(int(word, 16).to_bytes(4, "little") for word in words.split()), arch, pc)


def test_operands_carry_file_number_width_type_and_field():
    ins = one("d3cc8000 13ca0902")  # v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], a[4:5], 1.0
    assert (ins.name, ins.encoding, ins.size) == ("v_mfma_f32_32x32x8_f16", "MAI", 8)
    assert ins.dst == (Operand("a", 0, 16, "f32", field="vdst"),)
    assert ins.src[:2] == (Operand("v", 2, 2, "f16", field="src0"), Operand("a", 4, 2, "f16", field="src1"))
    assert ins.src[2] == Operand("const", 242, 16, "f32", 0x3F800000, field="src2")
    assert ins.modifiers == {"cbsz": 0, "abid": 0, "blgp": 0}
    assert ins.operand("src1").index == 4
    with pytest.raises(MfmasimError, match="no operand 'saddr'"):
        ins.operand("saddr")


@pytest.mark.parametrize(
    ("words", "kind", "bits"),
    [
        ("be8000c1", "b32", 0xFFFFFFFF),  # s_mov_b32 s0, -1
        ("be8001c1", "b64", 0xFFFFFFFFFFFFFFFF),  # s_mov_b64 s[0:1], -1
        ("be8001ff 80000000", "b64", 0x80000000),  # a literal of 64 plain bits grows zeros
        ("908080ff 80000000", "i64", 0xFFFFFFFF80000000),  # s_ashr_i64 s[0:1], 0x80000000, 0: a signed one grows signs
        ("be8001f2", "b64", 0x3FF0000000000000),  # s_mov_b64 s[0:1], 1.0
        ("020002f2", "f32", 0x3F800000),  # v_add_f32 v0, 1.0, v1
        ("3e0002f2", "f16", 0x3C00),  # v_add_f16 v0, 1.0, v1
        ("4c0002f2", "u16", 0x3F800000),  # v_add_u16 v0, 1.0, v1: hardware gives the single-precision bits
        ("d38f4000 180202f2", "pk_f16", 0x3C00),  # v_pk_add_f16 v0, 1.0, v1: low half only
        ("d38a4000 180202c1", "pk_u16", 0xFFFFFFFF),  # v_pk_add_u16 v0, -1, v1
        ("d2800000 00020cf8", "f64", 0x3FC45F306DC9C882),  # v_add_f64 v[0:1], 0.159.., v[6:7]
        ("080004ff 3ff12345", "f64", 0x3FF1234500000000),  # v_fmac_f64 v[0:1], 0x3ff12345, v[2:3]
        ("d3a04000 1c0e04f2", "f16", 0x3C00),  # v_fma_mix_f32 with op_sel_hi: the constant is a half
        ("d3a00000 040e04f2", "f32", 0x3F800000),
    ],
)
def test_constants_have_the_bits_that_their_operand_sees(words, kind, bits):
    source = one(words).src[0]
    assert (source.kind, source.type, hex(source.bits)) == ("const", kind, hex(bits))


def test_implicit_and_tied_operands_are_there_but_not_printed():
    fmac = one("76000501")
    assert fmac.name == "v_fmac_f32"
    assert [operand.printed for operand in fmac.src] == [True, True, False]
    assert fmac.src[2] == Operand("v", 0, 1, "f32", printed=False)
    carry = one("380a0d04")  # v_addc_co_u32_e32
    assert carry.text == "v_addc_co_u32_e32 v5, vcc, v4, v6, vcc"
    assert carry.dst[1].index == carry.src[2].index == 106
    fmas = one("d1e20005 04220d06")
    assert (fmas.name, fmas.src[3]) == ("v_div_fmas_f32", Operand("s", 106, 2, "b64", printed=False))
    compare = one("7da20200")  # v_cmpx_lt_u32: VCC and EXEC
    assert [operand.index for operand in compare.dst] == [106, 126]
    save = one("be94206a")  # s_and_saveexec_b64 s[20:21], vcc
    assert [(o.index, o.printed) for o in (*save.dst, *save.src)] == [
        (20, True),
        (126, False),
        (106, True),
        (126, False),
    ]


def test_memory_operands_stand_at_fixed_places():
    load = one("de539ff0 01040002")
    assert load.text == "global_load_dword v1, v2, s[4:5] offset:-16 sc0 nt sc1"
    assert [o.field for o in load.src] == ["vaddr", "saddr"]
    assert load.modifiers == {"offset": -16, "sc0": 1, "nt": 1, "sc1": 1}
    store = one("dc708000 007f0200")
    assert [o.kind for o in store.src] == ["v", "off", "v"]
    assert store.dst == ()
    atomic, returning = one("dd088000 007f0402"), one("dd098000 017f0402")
    assert (len(atomic.dst), len(returning.dst)) == (0, 1)
    direct = one("e0511000 80010002")
    assert direct.text == "buffer_load_dword v2, s[4:7], 0 offen lds"
    assert direct.dst == ()
    pair = one("d8eeff03 00000001")
    assert (pair.modifiers, pair.dst[0].count) == ({"offset0": 3, "offset1": 255}, 4)


def test_scaled_matrix_instruction_is_one_of_sixteen_bytes():
    ins = one("d3ac1000 08020501 d3ad0800 03ca0904")
    assert (ins.size, ins.name) == (16, "v_mfma_scale_f32_16x16x128_f8f6f4")
    assert [o.field for o in ins.src] == ["src0", "src1", "src2", "scale_src0", "scale_src1"]
    assert (ins.modifiers["op_sel"], ins.modifiers["op_sel_hi"]) == (2, 1)
    assert [o.type for o in ins.src[:2]] == ["fp8", "fp8"]


def test_branch_targets_are_absolute_and_survive_the_cache():
    back, forward = one("bf82fffe", pc=0x1000), one("bf82fffe", pc=0x2000)
    assert (back.target, forward.target) == (0xFFC, 0x1FFC)
    assert back.text == forward.text == "s_branch 65534"
    assert one("bf880005", pc=0x100).target == 0x118
    assert one("ba940003", pc=0).target == 16  # s_call_b64


def test_equal_bytes_are_decoded_and_printed_once(monkeypatch):
    printed = []
    text = printer.text
    monkeypatch.setattr(printer, "text", lambda ins: printed.append(ins.raw) or text(ins))
    monkeypatch.setattr(decoder, "_CACHES", defaultdict(decoder._Cache))
    add, branch = bytes.fromhex("01050002"), bytes.fromhex("feff82bf")
    instructions = [*decode_range((add + branch) * 50, "gfx942", 0x100), decode(add, "gfx942", 4)]
    assert {ins.text for ins in instructions} == {"v_add_f32_e32 v0, v1, v2", "s_branch 65534"}
    assert sorted(printed) == sorted([add, branch])
    assert [ins.pc for ins in instructions[:3]] == [0x100, 0x104, 0x108]
    assert instructions[3].target == 0x10C - 4


def test_memory_of_decoded_bytes_is_bounded(monkeypatch):
    caches = defaultdict(decoder._Cache)
    monkeypatch.setattr(decoder, "_CACHES", caches)
    monkeypatch.setattr(decoder, "_MOST_CACHED", 8)
    words = [bytes((i, 5, 0, 2)) for i in range(100)]
    instructions = decode_range(b"".join(words), "gfx942")
    assert [ins.raw for ins in instructions] == words
    assert all(len(cache.templates) <= 8 for cache in caches.values())


def test_range_counts_addresses():
    code = bytes.fromhex("ff0180be4523010001050002")
    assert [(ins.pc, ins.size) for ins in decode_range(code, "gfx942", 0x100)] == [(0x100, 8), (0x108, 4)]
    assert decode(code, "gfx942", 0x108, offset=8).name == "v_add_f32"


@pytest.mark.parametrize(
    ("words", "arch", "reason"),
    [
        ("ffffffff", "gfx942", "no encoding has this prefix"),
        ("d3ae0014 04f2a128", "gfx942", "MAI has no opcode|VOP3P has no opcode"),  # only gfx950 has f8f6f4
        ("bf850000", "gfx942", None),
        ("be8001ff", "gfx942", "literal lies beyond"),
        ("d3cc8000", "gfx942", "ends inside"),
        ("be810102", "gfx942", "may not start at code 1"),
        ("d2800001 00020cf8", "gfx942", "must start at an even one"),
        ("d2800000 00020cff", "gfx942", "reserved code 255"),  # CDNA has no literal in VOP3
        ("d1ff4000 04060501", "gfx942", "op_sel of v_add3_u32 is not zero"),
        ("d4000000", "gfx908", "VINTRP instructions are not decoded"),
        ("f0000f00 00000000", "gfx1151", "MIMG instructions are not decoded"),
        ("d683007e 00000000", "gfx1201", "vdst of v_s_log_f16 may not be EXEC"),
        ("d0000000 00000000", "gfx1201", "VIMAGE instructions are not decoded"),
        ("d5030000 000204ff", "gfx1151", "literal lies beyond"),
        ("ca100101 01000102", "gfx942", "no encoding has this prefix"),
    ],
)
def test_what_is_no_instruction_is_refused_with_address_bytes_and_architecture(words, arch, reason):
    if reason is None:
        assert one(words, arch).name == "s_cbranch_scc1"
        return
    try:
        decoded = one(words, arch, pc=0x40)
    except MfmasimError as error:
        text = str(error)
        assert any(part in text for part in reason.split("|")), text
        assert arch in text
        assert "0x40" in text
        assert words.split()[0] in text
    else:
        assert decoded.name == "s_nop"


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_mutated_instructions_decode_or_raise(arch):
    rng = random.Random(3)
    decoded = refused = 0
    for encoding, rows in family(arch).rows.items():
        for op, row in rows.items():
            for form in forms_of(encoding, row):
                code = bytearray(random_code(rng, encoding, op, form))
                code[rng.randrange(len(code))] ^= 1 << rng.randrange(8)
                try:
                    assert decode(bytes(code), arch).text
                    decoded += 1
                except MfmasimError:
                    refused += 1
    assert decoded >= 200
    assert refused >= 200


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("81050a710bfe0000", "v_fmaak_f16 v5.h, v1.h, v2.l, 0xfe0b"),
        ("81050b6e013c0000", "v_fmamk_f16 v5.l, v1.h, 0x3c01, v2.h"),
    ],
)
def test_upper_halves_of_operations_without_op_sel(raw, text):
    """Text of llvm-mc 22 with -mattr=+real-true16: the halves are in the register numbers alone."""
    assert decode(bytes.fromhex(raw), "gfx1151").text.strip() == text
