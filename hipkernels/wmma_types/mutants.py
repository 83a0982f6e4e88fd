"""Wrong WMMA kernels of other types, and the checks that must catch each."""

from mfmasim.verify import Mutant

BOTH, OUT, MAP = ("outputs", "mapping"), ("outputs",), ("mapping",)
I8, U8, ANY4 = "typedef Bytes<true, true> I8I8;", "typedef Bytes<false, false> U8U8;", "any_i4_i4"
PACKED = "code |= b[1][e] << bits;"

MUTANTS = [
    # Which factors are signed.
    Mutant("a_read_as_unsigned", "i8_i8", (I8, I8.replace("<true,", "<false,")), BOTH, arch="gfx1151"),
    Mutant("b_read_as_unsigned", "i8_i8", (I8, I8.replace(" true>", " false>")), BOTH, arch="gfx1201"),
    Mutant("b_read_as_signed", "u8_u8_bits", (U8, U8.replace(" false>", " true>")), OUT, arch="gfx1151"),
    Mutant(
        "b_read_as_signed_in_small_numbers",
        "u8_u8",
        (U8, U8.replace(" false>", " true>")),
        MAP,
        arch="gfx1201",
        data="integers",
        about="no number below 128 shows it",
    ),
    Mutant(
        "signs_exchanged", "i4_u4", ("Nibbles<true, false> I4U4", "Nibbles<false, true> I4U4"), BOTH, arch="gfx1201"
    ),
    # Which nibble is the first.
    Mutant("nibbles_of_b_exchanged", ANY4, (PACKED, "code = code << bits | b[1][e];"), BOTH, arch="gfx1151"),
    Mutant("nibbles_exchanged_in_memory", ANY4, ("place % 2 * 4", "(place + 1) % 2 * 4"), BOTH, arch="gfx1151"),
    # One half of the registers for each of two tiles.
    Mutant("other_half_stored", "f16_in_f16", ("[2 * r + j % 2]", "[2 * r + 1 - j % 2]"), BOTH, arch="gfx1151"),
    Mutant(
        "one_half_for_both",
        "bf16_in_bf16",
        ("Type::template multiply<true>(a", "Type::template multiply<false>(a"),
        BOTH,
        arch="gfx1151",
    ),
    Mutant(
        "packed_rows_read_as_halves", "f16_in_f16", ("(&of[i][j])[r]", "(&of[i][j])[r / 2 * 2]"), BOTH, arch="gfx1201"
    ),
    # Sums.
    Mutant(
        "clamp_missing",
        "add_i8_u8_clamped",
        ("Bytes<true, false, true> C", "Bytes<true, false> C"),
        OUT,
        arch="gfx1151",
    ),
    Mutant(
        "clamp_missing_in_nibbles", "add_i4_i4_clamped", ("Nibbles<true, true, true> C", "Nibbles<true, true> C"), OUT
    ),
    Mutant("clamped_where_it_wraps", "add_i8_u8", ("Bytes<true, false> I", "Bytes<true, false, true> I"), OUT),
    # Another format of the same width.
    Mutant("e5m2_read_as_e4m3", "e4m3_e5m2", ("(Fp8Bf8, fp8_bf8)", "(Fp8Bf8, fp8_fp8)"), (*BOTH, "executes")),
    Mutant(
        "bf16_read_as_f16",
        "bf16",
        (
            "WMMA(f32_16x16x16_bf16)(AS(line16, a), AS(line16, b), c)",
            "WMMA(f32_16x16x16_f16)(AS(f16x16, a), AS(f16x16, b), c)",
        ),
        (*BOTH, "executes"),
        arch="gfx1151",
    ),
    # RDNA4 has one half of a line in each half of the wave.
    Mutant("lower_half_of_k_twice", "e4m3_e4m3", ("lane / 16 * 8 : 0", "0 : 0"), BOTH),
    # Tails.
    Mutant("rows_not_guarded", "any_bf16", ("if (row < rows && column", "if (column"), ("bounds",), arch="gfx1151"),
    Mutant("stored_beyond_n", "any_i8_i8", ("if (y < g.M && x < g.N)", "if (y < g.M)"), (*BOTH, "bounds", "races")),
]
