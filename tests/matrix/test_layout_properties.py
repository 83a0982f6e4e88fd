"""Every operand of every instruction: bijection or documented replication, inverse, packing, one-hot products."""

import itertools
import zlib

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.matrix.layout import parse
from mfmasim.matrix.request import F8F6F4
from mfmasim.matrix.rows import TABLES

# One architecture for each table of rows: what follows from a row need not be computed twice.
ARCHES = ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250"]

# 1.0 in each format, and 1 for integers.
ONE = {"f64": 0x3FF0000000000000, "f32": 0x3F800000, "xf32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80,
       "e4m3fn": 0x38, "e4m3fnuz": 0x40, "e5m2": 0x3C, "e5m2fnuz": 0x40, "e2m3fn": 0x08, "e3m2fn": 0x0C,
       "e2m1fn": 0x2, "i8": 1, "u8": 1, "i4": 1, "u4": 1, "i32": 1}  # fmt: skip


def operations(arch):
    found = []
    for name in mfmasim.instructions(arch):
        pairs = zip(F8F6F4, F8F6F4[1:] + F8F6F4[:1], strict=True) if "f8f6f4" in name else [(None, None)]
        for (a, b), wave in itertools.product(pairs, mfmasim.arch(arch).wave_sizes):
            found.append(mfmasim.instruction(arch, name, a, b, wave))
    assert len(found) >= 10
    assert all(op.operands for op in found)
    return found


def test_every_architecture_has_one_of_these_tables():
    covered = {id(TABLES[mfmasim.arch(arch).generation]) for arch in ARCHES}
    assert len(covered) == len(ARCHES)
    for arch in filter(mfmasim.instructions, ARCHITECTURES.values()):
        assert id(TABLES[arch.generation]) in covered
        twin = next(other for other in ARCHES if TABLES[mfmasim.arch(other).generation] is TABLES[arch.generation])
        assert arch.wave_sizes == mfmasim.arch(twin).wave_sizes
        assert arch.fp8 == mfmasim.arch(twin).fp8


def random_codes(rng, fragment, batch=()):
    top = (1 << fragment.width) - 1
    return rng.integers(0, top, (*batch, *fragment.shape), np.uint64, endpoint=True).astype(fragment.dtype)


@pytest.mark.parametrize("arch", ARCHES)
def test_table_is_a_bijection_and_element_its_inverse(arch):
    places = 0
    for op in operations(arch):
        for fragment in op.operands.values():
            table = fragment.table()
            copies = fragment.layout.replicas
            assert len(table) == fragment.blocks * fragment.rows * fragment.cols * copies
            start = table["vgpr"].astype(int) * 32 + table["bit"]
            bits = (table["lane"].astype(int) * fragment.vgprs * 32 + start)[:, None] + np.arange(fragment.width)
            assert len(np.unique(bits)) == bits.size, "two elements share a bit"
            assert table["lane"].max() < op.wave
            assert (start + fragment.width).max() <= fragment.vgprs * 32
            elements = np.stack([table[name] for name in ("block", "row", "col")])
            assert (np.unique(elements, axis=1, return_counts=True)[1] == copies).all()
            for row in table[:: max(1, len(table) // 64)]:
                wanted = (row["row"], row["col"], row["block"])
                assert fragment.element(int(row["lane"]), int(row["vgpr"]), int(row["bit"])) == wanted
                last = int(row["vgpr"]) * 32 + int(row["bit"]) + fragment.width - 1
                assert fragment.element(int(row["lane"]), last // 32, last % 32) == wanted
                assert (row["lane"], row["vgpr"], row["bit"]) in fragment.locate(*map(int, wanted))
            places += len(table)
    assert places > 20000


@pytest.mark.parametrize("arch", ARCHES)
def test_dense_registers_are_full_but_where_documented(arch):
    loose = set()
    for op in operations(arch):
        for fragment in op.operands.values():
            used = sum(int(word).bit_count() for word in fragment.mask.ravel())
            table = fragment.table()
            assert used == len(table) * fragment.width
            if used < fragment.vgprs * op.wave * 32 and fragment.name in "ABCD":
                loose.add((op.name, op.wave))
    documented = {
        "RDNA3": {
            ("v_wmma_f16_16x16x16_f16", 32),
            ("v_wmma_f16_16x16x16_f16", 64),
            ("v_wmma_bf16_16x16x16_bf16", 32),
            ("v_wmma_bf16_16x16x16_bf16", 64),
        },
        "RDNA4": {("v_wmma_i32_16x16x16_iu4", 64), ("v_swmmac_i32_16x16x32_iu4", 64)},
    }
    assert loose == documented.get(mfmasim.arch(arch).family.removesuffix(".5"), set())


@pytest.mark.parametrize("arch", ARCHES)
def test_packing_follows_the_table(arch):
    """pack puts every code where table() says, written out bit by bit; unpack is its inverse, for batches too."""
    for op in operations(arch):
        rng = np.random.default_rng(zlib.crc32(op.name.encode()))
        for fragment in op.operands.values():
            codes = random_codes(rng, fragment)
            table = fragment.table()
            streams = [0] * op.wave  # the registers of each lane as one long integer
            values = codes.reshape(fragment.blocks, fragment.rows, fragment.cols)[
                table["block"], table["row"], table["col"]
            ].tolist()
            starts = (table["vgpr"].astype(int) * 32 + table["bit"]).tolist()
            for lane, start, value in zip(table["lane"].tolist(), starts, values, strict=True):
                streams[lane] |= value << start
            expected = [[stream >> 32 * vgpr & 0xFFFFFFFF for stream in streams] for vgpr in range(fragment.vgprs)]
            packed = fragment.pack(codes)
            assert packed.dtype == np.uint32
            assert np.array_equal(packed, expected)
            batch = np.stack([codes, np.zeros_like(codes), codes])[:, None]
            registers = fragment.pack(batch)
            assert registers.shape == (3, 1, fragment.vgprs, op.wave)
            assert np.array_equal(registers[2, 0], packed)
            assert np.array_equal(fragment.unpack(registers), batch)
            noise = rng.integers(0, 2**32, packed.shape, np.uint32) & ~fragment.mask
            more = np.concatenate([packed | noise, packed[:1]])  # a surplus register
            assert np.array_equal(fragment.unpack(np.asfortranarray(more)), codes)


@pytest.mark.parametrize("arch", ARCHES)
def test_one_hot_products_meet_at_the_right_element(arch):
    """Every k, with some rows and one column for each, in the last block."""
    assert sum(one_hot_probes(op, op.blocks - 1) for op in operations(arch)) > 500


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHES)
def test_every_one_hot_product(arch):
    """Every row with every k, and every k with every column, in every block: by linearity every (m, n, k)."""
    for op in operations(arch):
        probes = 0
        for block in range(op.blocks):
            probes += one_hot_probes(op, block, every=True)
            probes += one_hot_probes(op, block, every=True, columns=True)
        assert probes == op.blocks * op.A.cols * (op.m + op.n)


def one_hot_probes(op, block, *, every=False, columns=False):
    """One element of A times one of B gives one of D, and no other k adds to it; returns how many were tried."""
    rng = np.random.default_rng(7)
    index = None
    dense_k = np.arange(op.A.cols)
    if op.sparse:
        # Any two of four: the same choice for all rows keeps the probe simple, another for every group.
        choice = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [0, 3], [1, 2]])[rng.integers(0, 6, op.k // 4)]
        dense_k = (np.arange(op.k // 4)[:, None] * 4 + choice).ravel()
        index = op.index.pack(np.broadcast_to(choice.ravel(), op.index.shape).astype(np.uint8))
    given = {} if index is None else {"index": index}
    c = op.C.pack(np.zeros(op.C.shape, op.C.dtype))
    step = 1 if every or op.m * op.A.cols <= 256 else 7 if op.k <= 32 else 15
    size = op.n if columns else op.m
    cases = [(i, s) for s in range(op.A.cols) for i in range(s % step, size, step)]
    for start in range(0, len(cases), 256):
        some = cases[start : start + 256]
        a = np.zeros((len(some), op.blocks, op.m, op.A.cols), op.A.dtype)
        b = np.zeros((len(some), op.blocks, op.k, op.n), op.B.dtype)
        expected = np.zeros((len(some), op.blocks, op.m, op.n), op.D.dtype)
        others = np.full_like(b, ONE[op.b])
        for number, (line, s) in enumerate(some):
            i, j = (3 * line + 5 * s, line) if columns else (line, 3 * line + 5 * s)
            i, j = i % op.m, j % op.n
            a[number, block, i, s] = ONE[op.a]
            b[number, block, dense_k[s], j] = ONE[op.b]
            expected[number, block, i, j] = ONE[op.d]
            others[number, block, dense_k[s]] = 0
        a_regs = op.A.pack(a.reshape(-1, *op.A.shape))
        d = op.execute(a_regs, op.B.pack(b.reshape(-1, *op.B.shape)), c, **given)
        assert np.array_equal(op.D.unpack(d).reshape(expected.shape), expected), op
        d = op.execute(a_regs, op.B.pack(others.reshape(-1, *op.B.shape)), c, **given)
        assert not op.D.unpack(d).any(), op
    return len(cases)


def test_registers_and_matrices_agree():
    rng = np.random.default_rng(3)
    count = 0
    for arch in ("gfx90a", "gfx950", "gfx1100", "gfx1201"):
        for op in operations(arch):
            a, b, c = (random_codes(rng, op.operands[name], (2,)) for name in "ABC")
            logical, registers = {}, {}
            for name, key in (("scale_A", "scale_a"), ("scale_B", "scale_b"), ("index", "index")):
                if name in op.operands:
                    logical[key] = random_codes(rng, op.operands[name], (2,))
                    registers[key] = op.operands[name].pack(logical[key])
            d = op.multiply(a, b, c, **logical)
            assert d.dtype == op.D.dtype
            run = op.execute(op.A.pack(a), op.B.pack(b), op.C.pack(c), **registers)
            assert np.array_equal(op.D.unpack(run), d)
            if "scale_b" in logical:  # scales of B also by rows of blocks
                logical["scale_b"] = np.swapaxes(logical["scale_b"], -1, -2)
                assert np.array_equal(op.multiply(a, b, c, **logical), d)
            count += 1
    assert count > 150


def test_notation_reads_back():
    having = [arch for arch in ARCHITECTURES if mfmasim.instructions(arch)]
    assert len(having) >= 8
    for arch in having:
        for op in operations(arch):
            for fragment in op.operands.values():
                layout = fragment.layout
                assert parse(str(layout), layout.width, layout.stride) == layout


@pytest.mark.parametrize("arch", ARCHES)
def test_a_and_b_meet_in_a_lane(arch):
    """The products of one k are formed in the lane that holds A[0, k] and B[k, 0]; so with sparse groups of four."""
    apart = set()
    for op in operations(arch):
        if op.a != op.b and op.row.a == "f8f6f4":
            continue  # formats of different widths are laid out each by its own rule
        for block, k in itertools.product(range(op.blocks), range(op.k)):
            a = op.A.locate(0, k // 4 * 2 if op.sparse else k, block)
            b = op.B.locate(k, 0, block)
            if [place.lane for place in a] != [place.lane for place in b]:
                apart.add((op.name, op.wave))
    # RDNA4 ISA manual table 43: sparse A of 4 bits and K = 32 fills half a wave of 64, B the whole.
    assert apart == ({("v_swmmac_i32_16x16x32_iu4", 64)} if arch == "gfx1200" else set())


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1200"])
def test_index_follows_the_items_of_a(arch):
    """Two bits for each kept element, in the lane of the element and in the order of its items, in every set."""
    count = 0
    for op in operations(arch):
        if not op.sparse:
            continue
        field = "abid" if "abid_index" in op.row.modifiers else "op_sel"
        for chosen in range(op.index_sets):
            index = op.operand("index", **{field: chosen}).table()
            a = op.A.table()
            item = (a["vgpr"].astype(int) * 32 + a["bit"]) // op.A.width
            assert np.array_equal(index[["row", "col", "lane"]], a[["row", "col", "lane"]])
            assert np.array_equal(index["bit"], 2 * item + 32 // op.index_sets * chosen)
            assert not index["vgpr"].any()
            count += len(index)
    assert count > 10000
