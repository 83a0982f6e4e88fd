"""The record of every opcode of every architecture, against what the tables and other packages know apart from it."""

import dataclasses
import pickle
import re
from functools import cache

import pytest

from mfmasim import lds, matrix
from mfmasim.architectures import ARCHITECTURES
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import raised
from mfmasim.isa.dialects import DIALECTS
from mfmasim.isa.family import family
from mfmasim.isa.opcode import dual, opcode, scaled
from mfmasim.lds.instructions import ds_instruction

ARCHS = [arch for arch in ARCHITECTURES.values() if arch.encoding in DIALECTS]
SPACES = {
    "SMEM": ("global",), "DS": ("lds", "gds"), "FLAT": ("flat",), "GLOBAL": ("global",),
    "SCRATCH": ("scratch",), "MUBUF": ("global",), "MTBUF": ("global",), "VIMAGE": ("global",),
}  # fmt: skip
SMALL = {"u8", "i8", "b8", "u16", "i16", "b16"}
# Names as the ISA manuals list them for the transcendental unit: CDNA3, table 12; RDNA4, "Transcendental".
TRANS = {
    "gfx942": {
        f"v_{word}_{size}" for word in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos") for size in ("f16", "f32")
    }
    | {"v_rcp_f64", "v_rsq_f64", "v_sqrt_f64", "v_rcp_iflag_f32", "v_exp_legacy_f32", "v_log_legacy_f32"},
    "gfx1201": {
        f"v_{word}_{size}" for word in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos") for size in ("f16", "f32")
    }
    | {f"v_s_{word}_{size}" for word in ("exp", "log", "rcp", "rsq", "sqrt") for size in ("f16", "f32")}
    | {"v_rcp_f64", "v_rsq_f64", "v_sqrt_f64", "v_rcp_iflag_f32"},
}
FLOW = {
    "branch": {"s_branch"},
    "call": {"s_call_b64", "s_swappc_b64", "s_call_i64", "s_swap_pc_i64"},
    "trap": {"s_trap"},
    "jump": {"s_setpc_b64", "s_rfe_b64", "s_rfe_restore_b64", "s_set_pc_i64", "s_add_pc_i64"},
    "end": {"s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"},
}
BARRIERS = {
    "whole": {"s_barrier"},
    "signal": {"s_barrier_signal", "s_barrier_signal_isfirst"},
    "wait": {"s_barrier_wait"},
    "join": {"s_barrier_join"},
    "other": {"s_barrier_init", "s_barrier_leave", "s_get_barrier_state", "s_wakeup_barrier"},
}
LANES = {
    "readlane": {"v_readlane_b32"}, "writelane": {"v_writelane_b32"}, "readfirstlane": {"v_readfirstlane_b32"},
    "permlane": {
        "v_permlane16_b32", "v_permlanex16_b32", "v_permlane16_var_b32", "v_permlanex16_var_b32", "v_permlane64_b32",
        "v_permlane16_swap_b32", "v_permlane32_swap_b32", "v_permlane_bcast_b32", "v_permlane_up_b32",
        "v_permlane_down_b32", "v_permlane_xor_b32", "v_permlane_idx_gen_b32",
    },
}  # fmt: skip


@cache
def rows():
    """(Architecture, encoding, row) of everything that is decoded."""
    found = [
        (arch, encoding, row)
        for arch in ARCHS
        for wave in arch.wave_sizes
        for encoding, table in family(arch, wave).rows.items()
        for row in table.values()
    ]
    assert len(found) >= 10_000
    return found


@cache
def records():
    """Every opcode once."""
    return {row.name: row.opcode for _, _, row in rows()}


def named(field):
    """Values of a field, empty ones left out, to the mnemonics that have them."""
    found = {}
    for name, record in records().items():
        if value := getattr(record, field):
            found.setdefault(value, set()).add(name)
    return found


def test_a_mnemonic_has_one_record_in_all_tables():
    seen = {}
    for _, encoding, row in rows():
        first = seen.setdefault(row.name, row.opcode)
        assert dataclasses.astuple(first) == dataclasses.astuple(row.opcode), (row.name, encoding)
    assert len(seen) >= 1800
    sample = records()["v_add_f32"]
    assert pickle.loads(pickle.dumps(sample)) == sample != records()["v_add_f16"]


def test_the_unit_is_the_encodings():
    units = dict.fromkeys(SPACES, "VMEM") | {"DS": "LDS", "SMEM": "SMEM"}
    for _, encoding, row in rows():
        usual = "VALU" if encoding.startswith(("V", "MAI", "WMMA")) else "SALU"
        assert row.opcode.unit == units.get(encoding, usual), (row.name, encoding)
        assert row.opcode.scalar == (encoding.startswith("SOP") or encoding == "SMEM")


def test_memory_operations_have_the_operands_of_their_access():
    """Operands and flags of a row were measured from llvm-mc, the access follows from the mnemonic."""
    seen = set()
    for _, encoding, row in rows():
        record, data = row.opcode, [slot for slot in row.src if slot.file.startswith(("data", "vdst"))]
        if encoding not in SPACES:
            assert (record.access, record.space, record.memory) == ("", "", False), row.name
            continue
        seen.add(record.access)
        if record.access == "load":
            assert bool(row.dst) != record.to_lds, row.name
        elif record.access == "store":
            assert not row.dst
            assert data or encoding in ("SMEM", "VIMAGE"), row.name
        elif record.access == "atomic" and encoding != "DS":
            returns = row.dst and row.dst[0].file == "rtn"
            assert returns or encoding in ("SMEM", "GLOBAL"), row.name
        elif record.access == "cache":
            assert (row.dst, data) == ((), []), row.name
        if record.memory:
            assert record.space in SPACES[encoding], row.name
            small = {slot.type for slot in (*row.dst, *data)} & SMALL
            assert record.narrow == bool(small or record.d16 or record.typed) or encoding == "SMEM", row.name
    assert seen == {"load", "store", "atomic", "prefetch", "cache", "exchange", ""}


def test_what_counts_is_memory_or_answers_like_it():
    answers = {"message", "clock", "probe", "gws", "tensor"}
    for arch, encoding, row in rows():
        record = row.opcode
        up = raised(arch, record, returns=bool(row.dst))
        if record.memory:
            assert len(up) == 1 + (encoding == "FLAT"), row.name
        assert not up or record.access or record.kind in answers or record.barrier == "other", row.name
        assert all(one.counter in arch.counters.limits for one in up)
        assert record.counter in {"SMEM": ("scalar", ""), "DS": ("lds", "async", "")}.get(encoding, (record.counter,))


def test_fields_of_waits_are_as_wide_as_their_counters():
    compared = 0
    for arch, _, row in rows():
        assert bool(row.opcode.wait) == row.name.startswith("s_wait")
        assert bool(row.opcode.waits) == (row.opcode.wait == "counts")
        for counter, _, width in row.opcode.waits:
            assert (1 << width) - 1 == arch.counters.limits.get(counter, (1 << width) - 1), (arch.name, counter)
            compared += counter in arch.counters.limits
    assert compared >= 40


def test_flow_is_of_what_has_a_target_or_ends():
    assert {kind: names for kind, names in named("flow").items() if kind != "conditional"} == FLOW
    for _, _, row in rows():
        jumps = any(slot.type == "label" for slot in row.src)
        assert not jumps or row.opcode.flow in ("branch", "conditional", "call"), row.name
        assert row.opcode.goes_on == (row.name not in FLOW["branch"] | FLOW["jump"] | FLOW["end"])
    assert {name for name, record in records().items() if record.condition} == {
        f"s_cbranch_{what}" for what in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz")
    }
    ends = {name for name, record in records().items() if record.ends_block and not record.flow}
    assert ends == set().union(*BARRIERS.values()) | {"s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_setvskip"}


@pytest.mark.parametrize(("field", "wanted"), [("barrier", BARRIERS), ("lane", LANES)])
def test_barriers_and_lane_accesses(field, wanted):
    assert named(field) == wanted


def test_the_value_at_which_a_branch_is_taken():
    """ISA manuals, "Conditional branch": SCC0 and SCC1; VCCZ and EXECZ are set when the mask is 0."""
    wanted = {"scc0": False, "scc1": True, "vccz": False, "vccnz": True, "execz": False, "execnz": True}
    assert {word: opcode(f"s_cbranch_{word}", "SOPP").taken_if for word in wanted} == wanted


def test_compares_that_write_exec():
    assert opcode("v_cmpx_lt_f32", "VOPC").writes_exec
    assert not opcode("v_cmp_lt_f32", "VOPC").writes_exec
    assert not opcode("s_cmp_lt_i32", "SOPC").writes_exec


@pytest.mark.parametrize("arch", TRANS)
def test_transcendental_operations(arch):
    found = {row.name for table in family(arch).rows.values() for row in table.values() if row.opcode.trans}
    assert found == TRANS[arch]


def test_vector_properties_follow_from_encoding_and_operands():
    for _, encoding, row in rows():
        record = row.opcode
        masks = any(slot.type == "vcc" for slot in row.dst) and any(slot.type == "vcc" for slot in row.src)
        assert record.compare == (encoding == "VOPC"), row.name
        assert record.carries == (masks and record.unit == "VALU"), row.name
        assert bool(record.matrix) == (encoding in ("MAI", "WMMA") and len(row.src) > 2), row.name
        assert record.sparse == (bool(record.matrix) and len(row.src) > 3), row.name
        assert record.saves_exec == (encoding == "SOP1" and any(s.type.startswith("exec") for s in row.dst)), row.name


@pytest.mark.parametrize("arch", [arch.name for arch in ARCHS])
def test_shapes_are_those_of_the_matrix_package(arch):
    compared = 0
    for name in matrix.instructions(arch):
        record = records().get(re.sub("_scale(16)?", "", name))
        found = matrix.instruction(arch, name)
        assert record is not None
        assert record.shape == (found.m, found.n, found.k), name
        assert record.matrix.startswith("s") == found.sparse, name
        compared += 1
    assert compared >= (0 if arch == "gfx1030" else 5)


@pytest.mark.parametrize("arch", [arch.name for arch in ARCHS])
def test_accesses_of_the_lds_are_those_of_the_package_lds(arch):
    kinds = {"read": "load", "write": "store", "atomic": "atomic"}
    compared = 0
    for name in lds.instructions.ds_instructions(arch):
        if (record := records().get(name)) is not None:
            row = ds_instruction(arch, name)
            assert record.access == kinds[row.kind], name
            assert record.narrow == (row.size < 4), name
            compared += 1
    assert compared >= 80


def test_atomic_operations_that_replace_or_compare():
    names = {name for name, record in records().items() if record.access == "atomic"}
    found = named("atomic")
    assert found["compare"] == {name for name in names if "cmps" in name}
    assert found["exchange"] == {
        name for name in names if "xchg" in name or "_swap" in name or "write_src2" in name
    } - {"ds_condxchg32_rtn_b64"}
    assert set().union(*found.values()) == names


def test_scale_prefix_and_dual_instructions_have_records():
    f8f6f4 = records()["v_mfma_f32_16x16x128_f8f6f4"]
    both = scaled(f8f6f4)
    assert (both.name, both.shape, both.matrix) == ("v_mfma_scale_f32_16x16x128_f8f6f4", (16, 16, 128), "mfma")
    pair = dual(records()["v_mov_b32"], records()["v_add_f32"])
    assert (pair.name, pair.unit) == ("v_dual_mov_b32 :: v_dual_add_f32", "VALU")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("s_new_control", "SOPP"),
        ("ds_frobnicate_b32", "DS"),
        ("x_add_f32", "VOP2"),
        ("v_add_f32", "SOP2"),
        ("global_fetch_b32", "GLOBAL"),
        ("buffer_flush", "MUBUF"),
        ("s_fetch_b32", "SMEM"),
    ],
)
def test_an_opcode_of_which_nothing_is_known_is_refused(name, encoding):
    with pytest.raises(MfmasimError, match=f"no row for the {encoding} opcode {name}"):
        opcode(name, encoding)
