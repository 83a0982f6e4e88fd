"""RDNA: every opcode row in every form against llvm-mc, in waves of 32 and 64 lanes, and what the instructions say."""

import dataclasses
import functools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.errors import MfmasimError
from mfmasim.isa import Operand, decode, decode_range
from mfmasim.isa.family import family
from tests.isa.encode_rdna import ENCODINGS, forms_of, random_code
from tests.isa.llvm_oracle import assemble, disassemble
from tests.isa.rdna import generation
from tests.isa.sampling import samples_of
from tests.llvm import tool
from tests.longtier import this_round

ARCHS = ["gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"]
WAVES = [*((arch, 32) for arch in ARCHS), ("gfx1030", 64), ("gfx1151", 64), ("gfx1201", 64)]
OWN = {
    row.name
    for rows in family("gfx1251").rows.values()
    for row in rows.values()
    if row.name not in {own.name for table in family("gfx1250").rows.values() for own in table.values()}
}
"""What gfx1251 has beside gfx1250."""
PER_FORM = 2
TRIES = 600


@functools.cache
def samples(arch, wave):
    """(row, form, code, instruction) for every row and form that we decode, and raw random codes beside them."""

    def draw(rng, encoding, op, form, row):
        return random_code(rng, generation(arch), encoding, op, form, row)

    ours, raw = samples_of(arch, wave, forms_of, draw, PER_FORM, TRIES, 1)
    return [(row, f"{encoding} {form}", code, instruction) for row, encoding, form, code, instruction in ours], raw


def llvm_quirk(instruction):
    """What LLVM 22 prints wrongly or not at all, all of it in DPP forms of VOP3 and VOP3P that compilers do not make.

    A constant beside an accumulating operation shows its code, and conversions to 8-bit floats and v_fma_mix take
    bits of their modifiers for the lane selectors. Of V_MOV_B16 it leaves out ABS, NEG, OMOD and CLAMP, the first two
    of which act on the GPU (bjacob/goc, half_move_hardware.h).
    """
    if instruction.name == "v_mov_b16":
        signs = any(operand.neg or operand.abs for operand in instruction.src)
        return signs or any(instruction.modifiers.get(name) for name in ("omod", "clamp"))
    return (
        instruction.form == "_e64_dpp"
        and (
            instruction.name.startswith(("v_fmac_", "v_cvt_pk_", "v_cvt_sr_", "v_fma_mix"))
            or any(operand.kind == "const" for operand in instruction.src)
        )
    ) or (instruction.name == "v_cndmask_b32" and any(operand.abs for operand in instruction.src))


def text_loses_bits(instruction):
    """Whether the text leaves out bits: the upper half of a 16-bit literal, an f64 literal that is an inline constant,
    the upper selectors where they mean nothing, swizzles and wait counts without effect, NULL where it counts as 0,
    the long form of what has the same name in both.
    """
    return (
        instruction.name
        in (
            "ds_swizzle_b32",
            "s_waitcnt",
            "s_delay_alu",
            "s_setreg_imm32_b32",
            "s_sendmsg",
            "s_sendmsghalt",
            "s_wakeup_barrier",
            "v_nop",
            "v_clrexcp",
            "v_pipeflush",
        )
        or instruction.name.startswith(("v_dot4_", "v_dot8_", "v_cvt_pk_f16_"))
        or instruction.encoding in ("WMMA", "VOP3P")
        or (bool(instruction.halves) and instruction.raw[3] == 0xCF)  # VOPD3, of which VOPD may say the same
        or ("atomic" in instruction.name and instruction.modifiers.get("th", 0) >= 4)
        or any(operand.kind == "const" and operand.index >= 240 for operand in instruction.src)
    )


def named(instruction):
    """The instruction with names of halves in its text."""
    return dataclasses.replace(instruction, named_halves=True)


@pytest.mark.oracle
@pytest.mark.parametrize(("arch", "wave"), [pair for pair in WAVES if pair[0] != "gfx1030"])
def test_default_text_of_16_bit_operands_equals_llvm(arch, wave):
    tool("llvm-mc")
    ours, _ = samples(arch, wave)
    ours = [
        (row, code, instruction)
        for row, _, code, instruction in ours
        if any(operand.half for operand in (*instruction.dst, *instruction.src)) and not llvm_quirk(instruction)
    ]
    texts = disassemble([code for _, code, _ in ours], arch, wave=wave, halves=False)
    shown = set()
    for (row, code, instruction), text in zip(ours, texts, strict=True):
        if not instruction.named_halves or "plain" not in row.flags:
            expected = None if instruction.named_halves and arch.startswith("gfx12") else instruction.text
            assert text == expected, code.hex()
            shown.add(instruction.named_halves)
    assert len(ours) >= 1200
    assert shown == ({False, True} if arch.startswith("gfx12") else {True})


@pytest.mark.oracle
@pytest.mark.parametrize(("arch", "wave"), WAVES)
def test_text_of_every_row_equals_llvm(arch, wave):
    tool("llvm-mc")
    ours, _ = samples(arch, wave)
    ours = [(row, form, code, named(instruction)) for row, form, code, instruction in ours]
    texts = disassemble([code for _, _, code, _ in ours], arch, wave=wave)
    compared, wrong = set(), []
    for (row, form, code, instruction), text in zip(ours, texts, strict=True):
        if instruction.text == text:
            compared.add((row.name, form))
        elif not llvm_quirk(instruction):
            wrong.append((code.hex(), instruction.text, text))
    assert not wrong, wrong[:5]
    wanted = {(row.name, form) for row, form, _, instruction in ours if not llvm_quirk(instruction)}
    assert wanted <= compared
    assert len(texts) >= (3400 if arch == "gfx1030" else 4800)  # without long forms of DPP
    assert len(compared) >= (1700 if arch == "gfx1030" else 2400)


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize(("arch", "wave", "each"), [("gfx1030", 32, 29), ("gfx1030", 64, 29), ("gfx1251", 32, 46)])
def test_many_drawn_instructions_equal_llvm(arch, wave, each):
    """50,000 in each size of waves, 100,000 in the only one, and others each round; without what LLVM 22 lacks."""
    tool("llvm-mc")

    def draw(rng, encoding, op, form, row):
        return random_code(rng, generation(arch), encoding, op, form, row)

    def known(encoding, row):
        return [] if row.name in OWN else forms_of(encoding, row)

    ours, _ = samples_of(arch, wave, known, draw, each, 1200, 0, seed=this_round())
    texts = disassemble([code for *_, code, _ in ours], arch, wave=wave)
    pairs = [(code, ins, text) for (*_, code, ins), text in zip(ours, texts, strict=True) if not llvm_quirk(ins)]
    wrong = [(code.hex(), ins.text, text) for code, ins, text in pairs if named(ins).text != text]
    assert not wrong, wrong[:5]
    assert len(pairs) >= (100_000 if arch == "gfx1251" else 50_000)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_constants_of_unusual_operands_equal_llvm(arch):
    """v_pk_fmac_f16 repeats inline floats; the mask of v_cmp_class_f16 is a half, which LLVM prints as a float."""
    halves = (0, 5, 64, 65, 0xFFF0, 0xFFFF, 0x3118, 0x3C00, 0xBC00, 0x3C01, 0x3F80)
    wide = (*halves, *(half * 0x10001 for half in halves), 0xFFFFFFF0, 0xFFFFFFEF, 0x3E22F983, 0x3F800000, 0x3C000000)
    codes = [bytes.fromhex("ff82f978") + value.to_bytes(4, "little") for value in wide]
    for constant in (*range(128, 209), *range(240, 249)):
        codes.append((0x78F98200 | constant).to_bytes(4, "little"))
        for first, second in ((constant, 256), (256, constant)):
            codes.append((0xD4FD007E | (first | second << 9) << 32).to_bytes(8, "little"))
    for value in wide:
        codes += [
            (0xD4FD007E | src << 32 | value << 64).to_bytes(12, "little") for src in (255 | 256 << 9, 256 | 255 << 9)
        ]
    assert [named(decode(code, arch)).text for code in codes] == disassemble(codes, arch)


@pytest.mark.oracle
@pytest.mark.parametrize(("arch", "wave"), WAVES)
def test_text_of_every_row_assembles_to_the_same_bytes(arch, wave):
    tool("llvm-mc")
    ours, _ = samples(arch, wave)
    # The assembler refuses what hardware forbids but the disassembler prints: registers of one bank in a dual
    # instruction, on gfx1100 a scalar beside DPP controls, and the like.
    codes = assemble([named(instruction).text for *_, instruction in ours], arch, wave)
    back = same = 0
    for (_, _, code, instruction), assembled in zip(ours, codes, strict=True):
        if assembled is None or llvm_quirk(instruction):
            continue
        back += 1
        same += assembled == code
        if not text_loses_bits(instruction):
            assert assembled == code, instruction.text
    assert back >= 0.75 * len(ours)
    assert same >= 0.97 * back


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201", "gfx1250"])
def test_what_llvm_refuses_we_refuse(arch):
    tool("llvm-mc")
    _, raw = samples(arch, 32)
    rng = random.Random(11)
    raw = rng.sample(raw, 700)
    raw += [rng.getrandbits(128).to_bytes(16, "little") for _ in range(900)]
    cut = []
    for code in raw:
        try:
            cut.append(code[: decode(code, arch).size])
        except MfmasimError:
            cut.append(code)
    both = agreed = 0
    for code, text in zip(cut, disassemble(cut, arch, exact=False), strict=True):
        try:
            ours = decode(code, arch)
        except MfmasimError:
            both += text is None
            continue
        # LLVM refuses some fields that the hardware does not read (test_isa_unread.py).
        if not llvm_quirk(ours) and not (text is None and ours.ignored):
            assert named(ours).text == text, code.hex()
            agreed += 1
    assert both >= 100
    assert agreed >= 100


@pytest.mark.parametrize("arch", ARCHS)
def test_mutated_instructions_decode_or_raise(arch):
    rng = random.Random(3)
    decoded = refused = 0
    for _, _, code, _ in samples(arch, 32)[0]:
        mutated = bytearray(code)
        mutated[rng.randrange(len(code))] ^= 1 << rng.randrange(8)
        try:
            assert decode(bytes(mutated), arch).text
            decoded += 1
        except MfmasimError:
            refused += 1
    assert min(decoded, refused) >= 500


@given(code=st.binary(max_size=24), arch=st.sampled_from(ARCHS), wave=st.sampled_from([32, None]))
def test_random_bytes_decode_or_raise(code, arch, wave):
    try:
        instructions = decode_range(code, arch, wave=wave)
    except MfmasimError:
        return
    assert sum(ins.size for ins in instructions) == len(code)
    assert all(ins.text for ins in instructions)


def one(words, arch="gfx1151", wave=None, pc=0):
    return decode(b"".join(int(word, 16).to_bytes(4, "little") for word in words.split()), arch, pc, wave=wave)


def test_halves_are_bits_of_op_sel_in_short_and_long_encodings():
    long = one("d5324800 00020501")
    for ins, bits in ((one("64000581"), 0b0001), (one("65000501"), 0b1000), (long, 0b1001)):
        assert ins.modifiers["op_sel"] == bits, ins.text
        assert all(operand.half and operand.index < 4 for operand in (*ins.dst, *ins.src))
    assert one("65000501").text == "v_add_f16_e32 v0.h, v1.l, v2.l"


def test_texts_name_halves_where_llvm_does():
    """On gfx12 by default only those of which an instruction has no other text; then all of a range."""
    low, high, move, long = "64000501", "65000501", "7e023880", "d5324800 00020501"
    texts = [one(words, "gfx1201").text for words in (low, high, move, long)]
    assert texts == [
        "v_add_f16_e32 v0, v1, v2",
        "v_add_f16_e32 v0.h, v1.l, v2.l",
        "v_mov_b16_e32 v1.l, 0",
        "v_add_f16_e64 v0.h, v1.h, v2.l op_sel:[1,0,1]",
    ]
    assert one("d7034800 00020501", "gfx1201").text == "v_add_nc_u16 v0, v1, v2 op_sel:[1,0,1]"
    code = b"".join(int(word, 16).to_bytes(4, "little") for word in (low, move, "7e020302"))
    assert [ins.text for ins in decode_range(code, "gfx1201", 0x40)] == [
        "v_add_f16_e32 v0.l, v1.l, v2.l",
        "v_mov_b16_e32 v1.l, 0",
        "v_mov_b32_e32 v1, v2",
    ]
    assert decode_range(code[:4] + code[8:], "gfx1201")[0].text == texts[0]
    assert one(low, "gfx1151").text == "v_add_f16_e32 v0.l, v1.l, v2.l"


def test_a_dual_instruction_has_two_operations_and_shares_its_literal():
    dual = one("c8c610ff 02040208 3f9d70a4", pc=0x40)
    x, y = dual.halves
    assert (dual.encoding, dual.size, x.pc, y.pc) == ("VOPD", 12, 0x40, 0x40)
    assert dual.text == f"v_dual_{x.name[2:]} " + dual.text.split(" ", 1)[1]
    assert " :: v_dual_" in dual.text
    assert dual.dst == (*x.dst, *y.dst)
    assert x.dst[0].index % 2 != y.dst[0].index % 2
    with pytest.raises(MfmasimError, match="VOPD has no opcode"):
        one("c8c610ff 02040208 3f9d70a4", wave=64)


def test_the_size_of_a_wave_decides_the_width_of_lane_masks():
    for wave, name, count in ((32, "vcc_lo", 1), (64, "vcc", 2)):
        compare = one("7c220501", wave=wave)
        assert compare.text == f"v_cmp_lt_f32_e32 {name}, v1, v2"
        assert compare.dst == (Operand("s", 106, count, f"b{32 * count}", printed=True),)
    exec_only = one("7da20501", wave=32)
    assert exec_only.name.startswith("v_cmpx_")
    assert exec_only.dst == (Operand("s", 126, 1, "b32", printed=False),)
    save = one("be802004")  # s_and_saveexec_b32 writes the low half whatever the wave
    assert [(o.index, o.count) for o in save.dst] == [(0, 1), (126, 1)]
    with pytest.raises(MfmasimError, match="gfx1151 has no waves of 16 lanes; it has: 32, 64"):
        one("7c220501", wave=16)


def test_null_reads_nothing_and_m0_has_its_own_code():
    assert one("be80007c").src[0] == Operand("null", 124, 1, "b32", field="src0")
    assert one("befc0000").dst[0].kind == "null"
    assert one("be80007d").src[0] == Operand("s", 125, 1, "b32", field="src0")
    assert one("be80007d").text == "s_mov_b32 s0, m0"


def test_lane_controls_stand_in_the_modifiers():
    eight = one("7e0002e9 05397701")
    assert (eight.encoding, eight.form) == ("DPP8", "_dpp")
    assert eight.modifiers == {"dpp8": 0x053977, "fi": 0}
    assert eight.text == "v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]"
    long = one("d5030000 000204e9 05397701")
    assert (long.encoding, long.form, long.size) == ("DPP8", "_e64_dpp", 12)
    sixteen = one("7e0002fa ff0d2101")
    assert sixteen.encoding == "DPP"
    assert sixteen.modifiers == {"dpp_ctrl": 0x121, "row_mask": 15, "bank_mask": 15, "bound_ctrl": 1, "fi": 1}
    with pytest.raises(MfmasimError, match="reserved"):
        one("7e0002fa ff014201")  # row_bcast exists on gfx9 only


def test_the_second_dword_decides_the_size_of_a_long_form_also_when_it_was_seen_before():
    plain, literal = "d5030000 00020501", "d5030000 000204ff 12345678"
    for _ in range(2):
        assert (one(plain).size, one(literal).size) == (8, 12)
    assert one(literal).src[0].bits == 0x12345678


def test_matrix_operands_depend_on_the_wave():
    code = "cc404000 1c220904"
    assert [o.count for o in (*one(code, "gfx1151", 32).dst, *one(code, "gfx1151", 32).src)] == [8, 8, 8, 8]
    assert [o.count for o in (*one(code, "gfx1151", 64).dst, *one(code, "gfx1151", 64).src)] == [4, 8, 8, 4]
    assert [o.count for o in (*one(code, "gfx1201", 32).dst, *one(code, "gfx1201", 32).src)] == [8, 4, 4, 8]


def test_gfx12_names_scope_and_hint():
    load = one("ee050004 00180028 0000100a", "gfx1201")
    assert load.text == "global_load_b32 v40, v10, s[4:5] offset:16 th:TH_LOAD_NT scope:SCOPE_DEV"
    assert load.modifiers == {"offset": 16, "th": 1, "scope": 2}
    assert (load.encoding, load.size) == ("GLOBAL", 12)
    assert dataclasses.replace(load, pc=4).text == load.text
    assert len(ENCODINGS) == 4
