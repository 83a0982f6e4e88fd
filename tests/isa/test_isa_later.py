"""Processors that LLVM 22 does not know against the assembler of LLVM 24: text to bytes, and which names there are."""

import re
from functools import cache

import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa import decode
from mfmasim.isa.family import family
from tests.isa import later_llvm
from tests.isa.encode_rdna import forms_of, random_code
from tests.isa.llvm_oracle import assemble, disassemble
from tests.isa.rdna import generation
from tests.isa.sampling import samples_of
from tests.isa.test_isa_rdna import llvm_quirk, named, text_loses_bits
from tests.llvm import tool
from tests.longtier import this_round

LIKE = {"gfx1170": ("gfx1151", "gfx1201"), "gfx1251": ("gfx1250",)}
"""Architectures with the same encodings of vector operations that LLVM 22 knows."""


SMALL = re.compile(r"\b0x([0-9a-f]+)\b")
"""Literals, of which the assembler makes inline constants where it can."""


def decimal(found):
    """A literal as the inline constant that it becomes."""
    return str(int(found[1], 16)) if int(found[1], 16) <= 64 else found[0]


def drawn(arch, wave, each, seed, wanted=lambda row: True):
    """(row, encoding, bytes, instruction with names of halves) of every row and form."""

    def draw(rng, encoding, op, form, row):
        return random_code(rng, generation(arch), encoding, op, form, row)

    def forms(encoding, row):
        return forms_of(encoding, row) if wanted(row) else []

    ours, _ = samples_of(arch, wave, forms, draw, each, 3000, 0, seed=seed)
    return [(row, encoding, code, named(instruction)) for row, encoding, _, code, instruction in ours]


def places(arch, wave):
    """(encoding, opcode, name) of every row."""
    return {(encoding, row.op, row.name) for encoding, rows in family(arch, wave).rows.items() for row in rows.values()}


def cleared(code, arch, wave):
    """An instruction with 0 in the sources that it does not read, where LLVM 24 writes the constant 0."""
    word = int.from_bytes(code, "little")
    fields = family(arch).dialect.encodings.by_name["VOP3"].fields
    for name, value in decode(code, arch, wave=wave).ignored:
        if name in ("src1", "src2") and value == 128:
            low, width = fields[name]
            word &= ~(((1 << width) - 1) << low)
    return word.to_bytes(len(code), "little")


def compare(arch, wave, each, seed, wanted=lambda row: True):
    """(instructions compared, wrong ones, those that LLVM 24 refuses and LLVM 22 assembles to the same bytes).

    The text of a few loses bits, such as the upper half of a 16-bit literal: then LLVM 22 loses the same.
    """
    ours = drawn(arch, wave, each, seed, wanted)
    texts = [instruction.text for *_, instruction in ours]
    codes = later_llvm.assemble(texts, arch, wave)
    # The names of gfx1151 for what gfx1170 has at the same places.
    older = [re.sub(r"\b(v_\w+)_num(_f\d+)", r"\1\2", text) for text in texts]
    others = [assemble(those, like, wave) for like in LIKE[arch] for those in (texts, older)]
    compared, wrong, refused = 0, [], []
    for (_, _, code, instruction), made, *known in zip(ours, codes, *others, strict=True):
        if made is None:
            refused += [instruction.text] if code in known else []
            continue
        compared += 1
        if made == code or made in known or llvm_quirk(instruction):
            continue
        made = cleared(made, arch, wave)  # noqa: PLW2901
        if made == code or made in known:
            continue
        back = named(decode(made, arch, wave=wave)).text
        if not text_loses_bits(instruction) or SMALL.sub(decimal, back) != SMALL.sub(decimal, instruction.text):
            wrong.append((instruction.text, code.hex(), made.hex()))
    return compared, wrong, refused


NARROWED = (
    r"v_cvt_(pk|sr)_[fb][pf]8_f16\S* .* clamp\b",
    r"v_wmma_scale(16)?_f32_16x16x128_f8f6f4 .*_scale_fmt:MATRIX_SCALE_FMT_E[45]M3",
    r"v_wmma_(f32|f16|bf16|bf16f32)_16x16x(4_f32|32_f16|32_bf16) .*neg_(lo|hi):\[(1,[01]|0,1),[01]\]",
)
"""What LLVM 24 refuses on gfx1250 and gfx1251 and LLVM 22 assembles: CLAMP of conversions from f16 to 8 bits, scales in
E4M3 and E5M3 of other factors than FP4, NEG of A and B where the factors have 16 or 32 bits."""


@pytest.mark.oracle
@pytest.mark.long
def test_what_gfx1251_has_beside_gfx1250_assembles_to_the_same_bytes():
    own = {name for *_, name in places("gfx1251", 32)} - {name for *_, name in places("gfx1250", 32)}
    ours = drawn("gfx1251", 32, 8, 5, lambda row: row.name in own)
    codes = later_llvm.assemble([instruction.text for *_, instruction in ours], "gfx1251", 32)
    for (_, _, code, instruction), made in zip(ours, codes, strict=True):
        # The upper bit of OP_SEL_HI, which a matrix instruction does not read, is set in LLVM's older tests.
        bits = int.from_bytes(code, "little") & ~(instruction.name.startswith("v_wmma") << 14)
        assert cleared(made, "gfx1251", 32) == bits.to_bytes(len(code), "little"), instruction.text
    assert len(own) == 9
    assert len(ours) >= 60
    assert later_llvm.assemble([instruction.text for *_, instruction in ours], "gfx1250", 32) == [None] * len(ours)


@pytest.mark.oracle
@pytest.mark.long
def test_many_drawn_instructions_of_gfx1251_assemble_to_the_same_bytes():
    compared, wrong, refused = compare("gfx1251", 32, 10, this_round())
    assert not wrong, wrong[:5]
    refused = [text for text in refused if not any(re.match(pattern, text) for pattern in NARROWED)]
    assert not refused, refused[:5]
    assert compared >= 25_000


@pytest.mark.oracle
@pytest.mark.long
def test_gfx1251_has_the_mnemonics_of_the_assembler():
    known = {arch: later_llvm.mnemonics(arch) for arch in ("gfx1250", "gfx1251")}
    own = {name for *_, name in places("gfx1251", 32)} - {name for *_, name in places("gfx1250", 32)}
    assert (known["gfx1251"] - known["gfx1250"], known["gfx1250"] - known["gfx1251"]) == (own, set())


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize(("wave", "each"), [(32, 24), (64, 24)])
def test_many_drawn_instructions_assemble_to_the_same_bytes(wave, each):
    """More than 50,000 in each size of waves, and others each round."""
    compared, wrong, refused = compare("gfx1170", wave, each, this_round())
    assert not wrong, wrong[:5]
    assert not refused, refused[:5]
    assert compared >= 50_000


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("wave", [32, 64])
def test_what_gfx1151_lacks_assembles_to_the_same_bytes(wave):
    own = {name for *_, name in places("gfx1170", wave)} - {name for *_, name in places("gfx1151", wave)}
    matrix = set(mfmasim.instructions("gfx1170"))
    compared, wrong, refused = compare("gfx1170", wave, 2, 3, lambda row: row.name in own | matrix)
    assert not wrong, wrong[:5]
    assert not refused, refused[:5]
    assert compared >= 150
    assert len(own | matrix) >= 60


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("wave", [32, 64])
def test_texts_are_those_of_llvm_22_for_what_it_knows(wave):
    """The bytes as instructions of gfx1151 and, where that has another operation, of gfx1201."""
    ours = drawn("gfx1170", wave, 2, this_round())
    codes = [code for _, _, code, _ in ours]
    old, new = (disassemble(codes, like, wave=wave) for like in LIKE["gfx1170"])
    mine = places("gfx1170", wave)
    shared, own = (mine & places(like, wave) for like in LIKE["gfx1170"])
    wrong, compared = [], 0
    for (row, encoding, code, instruction), first, second in zip(ours, old, new, strict=True):
        key = encoding, row.op, row.name
        matrix = encoding == "WMMA"
        vector = encoding in ("VOP1", "VOP2", "VOP3", "VOP3P", "WMMA")
        if llvm_quirk(instruction) or encoding.startswith("VOPD"):
            continue
        text = first if key in shared and not matrix else second if key in own and vector else ""
        if text:
            compared += 1
            wrong += [(code.hex(), instruction.text, text)] if instruction.text != text else []
    assert not wrong, wrong[:5]
    assert compared >= 4500


@pytest.mark.oracle
@pytest.mark.long
def test_matrix_instructions_of_gfx1170_are_those_of_gfx12():
    """Every WMMA and SWMMAC of gfx12, gfx1250 and gfx1251, in waves of both sizes, as the assembler takes it."""
    for wave in (32, 64):
        taken, tried = set(), set()
        for like in ("gfx1201", "gfx1250", "gfx1251") if wave == 32 else ("gfx1201",):
            ours = drawn(like, wave, 4, 7, lambda row: bool(row.opcode.matrix))
            codes = later_llvm.assemble([instruction.text for *_, instruction in ours], "gfx1170", wave)
            tried |= {instruction.name for *_, instruction in ours}
            taken |= {ins.name for (*_, ins), code in zip(ours, codes, strict=True) if code is not None}
        assert len(tried) >= (60 if wave == 32 else 22)
        assert taken == set(mfmasim.instructions("gfx1201")) == set(mfmasim.instructions("gfx1170"))


@cache
def shown_mnemonics():
    """Mnemonics of the assembler by processor, without their encoding."""
    archs = ("gfx1151", "gfx1154", "gfx1170", "gfx1171", "gfx1172")
    return {arch: {re.sub(r"_e(32|64)$", "", name) for name in later_llvm.mnemonics(arch)} for arch in archs}


@pytest.mark.oracle
@pytest.mark.long
def test_no_mnemonic_of_the_assembler_is_missing():
    """What the assembler has beside gfx1151's, all of it, is a row, but other names of what gfx1170 calls otherwise."""
    known = shown_mnemonics()
    assert known["gfx1154"] == known["gfx1151"]
    assert known["gfx1171"] == known["gfx1172"] == known["gfx1170"]
    rows = {arch: {name for *_, name in places(arch, 32)} for arch in ("gfx1151", "gfx1170")}
    dual = {name.replace("v_dual_", "v_") for name in known["gfx1170"]}
    assert {name.replace("v_dual_", "v_") for name in known["gfx1170"] - known["gfx1151"]} <= rows["gfx1170"]
    assert rows["gfx1170"] <= dual
    gone = rows["gfx1151"] - rows["gfx1170"]
    assert {re.sub(r"_num", "", name) for name in rows["gfx1170"] - rows["gfx1151"]} >= gone
    lost = "v_dot2acc_f32_f16 v_dot2c_f32_f16 v_dual_max_f32 v_dual_min_f32"
    assert known["gfx1151"] - known["gfx1170"] == set(lost.split())


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*later_llvm.PROCESSORS, "gfx1251"])
def test_numbers_and_features_are_llvms(name):
    """EF_AMDGPU_MACH, and the target features in ``e_flags`` of what code does not choose."""
    elf = later_llvm.assembled_object("s_nop 0", name)
    found = mfmasim.arch(name)
    assert later_llvm.flags(elf) & 0xFF == found.elf_machine
    assert later_llvm.flags(elf) & 0x300 == 0
    assert later_llvm.flags(elf) >> 8 & 0xFF == {"gfx1251": 4}.get(name, 0)  # replays always, or never


@pytest.mark.oracle
@pytest.mark.long
def test_what_gfx1154_has_is_what_gfx1151_has():
    ours = drawn("gfx1151", 32, 1, 5)
    texts = [instruction.text for *_, instruction in ours]
    one, other = (later_llvm.assemble(texts, arch, 32) for arch in ("gfx1151", "gfx1154"))
    assert one == other
    assert sum(code is not None for code in one) >= 2400


def test_gfx1170_lacks_the_wide_operands_and_med3_of_gfx1151():
    assert decode(bytes.fromhex("084040cc0819221c"), "gfx1170").src[0].count == 4
    for code, name in (("0000 1fd6 0105 0e04", "VOP3"), ("0105 0004", "VOP2")):
        with pytest.raises(MfmasimError, match=f"{name} has no opcode"):
            decode(bytes.fromhex(code), "gfx1170")
    assert decode(bytes.fromhex("000031d601050e04"), "gfx1170").text == "v_med3_num_f32 v0, v1, v2, v3"
    tool("llvm-mc")
    assert disassemble([bytes.fromhex("000031d601050e04")], "gfx1201") == ["v_med3_num_f32 v0, v1, v2, v3"]
