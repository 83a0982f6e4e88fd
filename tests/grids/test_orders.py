"""Orders of workgroups: permutations for any size, the cache model again with lists, and against executed accesses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import MfmasimError, device, grids
from mfmasim.cli import main
from mfmasim.grids import Caches, Grid, Work, traffic
from mfmasim.machine.events import Observer
from mfmasim.verify import find
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.runner import set_parameters

LINE = 128


def slow(work, order, caches):
    """Step by step, workgroup by workgroup; caches are lists, used longest ago first."""
    accesses = {}
    for workgroup, step, tile, store in zip(work.workgroup, work.step, work.tile, work.stores, strict=True):
        accesses.setdefault((int(workgroup), int(step)), []).append((int(tile), bool(store)))
    lengths = {}
    for workgroup, step in accesses:
        lengths[workgroup] = max(lengths.get(workgroup, 0), step + 1)
    waiting = [[int(w) for w in order[xcd :: caches.xcds]] for xcd in range(caches.xcds)]
    running = [[] for _ in range(caches.xcds)]
    held, below, asked, time = [[] for _ in range(caches.xcds)], [], [0, 0, 0], 0

    def use(cache, capacity, tile):
        """Whether a cache holds a tile; if it holds any, it holds this one afterwards."""
        if not capacity:
            return False
        hit = tile in cache
        if hit:
            cache.remove(tile)
        cache.append(tile)
        while sum(int(work.size[one]) for one in cache) > capacity:
            cache.pop(0)
        return hit

    while any(waiting) or any(running):
        passed = set()
        for xcd in range(caches.xcds):
            while waiting[xcd] and len(running[xcd]) < caches.slots:
                running[xcd].append([waiting[xcd].pop(0), 0])
            mine = set()
            for workgroup, step in running[xcd]:
                for tile, store in accesses.get((workgroup, step), ()):
                    mine.add((tile, not store))
                    asked[0] += 0 if store else int(work.size[tile])
            for tile, load in sorted(mine):
                hit = use(held[xcd], caches.l2_bytes, tile)
                asked[1] += int(work.size[tile]) if load and not hit else 0
                if not (load and hit):
                    passed.add((tile, load))
            for one in running[xcd]:
                one[1] += 1
            running[xcd] = [one for one in running[xcd] if one[1] < lengths.get(one[0], 0)]
        for tile, load in sorted(passed):
            hit = use(below, caches.llc_bytes, tile)
            asked[2] += int(work.size[tile]) if load and not hit else 0
        time += 1
    return (*asked, time)


@st.composite
def works(draw):
    """Work of few workgroups, all of which have steps, on few tiles of several sizes."""
    workgroups, tiles = draw(st.integers(1, 9)), draw(st.integers(1, 7))
    size = np.array(draw(st.lists(st.integers(1, 4), min_size=tiles, max_size=tiles)))
    rows = [(w, s) for w in range(workgroups) for s in range(draw(st.integers(1, 4)))]
    one = st.tuples(st.integers(0, tiles - 1), st.booleans())
    found = [(w, s, *draw(one)) for w, s in rows for _ in range(draw(st.integers(1, 2)))]
    found = list(dict.fromkeys(found))
    w, s, t, store = (np.array(part) for part in zip(*found, strict=True))
    return Work(("workgroup",), (workgroups,), w, s, t, size, store)


@given(works(), st.data())
def test_the_model_is_what_lists_count(work, data):
    order = np.array(data.draw(st.permutations(range(work.workgroups))))
    few = st.integers(0, 12)
    caches = Caches(data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), data.draw(few), data.draw(few))
    found = traffic(work, order, caches)
    assert (found.reads, found.from_llc, found.from_memory, found.steps) == slow(work, order, caches)


@given(st.integers(1, 1 << 40), st.integers(1, 64), st.data())
def test_shares_are_a_permutation_of_any_number_of_workgroups(count, xcds, data):
    """An inverse, and numbers below the count: on a finite set that is a permutation."""
    ids = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=20)))
    numbers = grids.shares(ids, count, xcds)
    assert ((numbers >= 0) & (numbers < count)).all()
    each, more = divmod(count, xcds)
    begins = [xcd * each + min(xcd, more) for xcd in range(xcds + 1)]
    xcd = np.array([max(x for x in range(xcds) if begins[x] <= n < begins[x + 1]) for n in numbers.tolist()])
    assert np.array_equal((numbers - np.array(begins)[xcd]) * xcds + xcd, ids)


@given(st.integers(1, 1 << 40), st.integers(1, 64), st.integers(1, 1 << 12), st.data())
def test_chunks_are_a_permutation_of_any_number_of_workgroups(count, xcds, chunk, data):
    ids = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=20)))
    numbers = grids.remap_xcd(ids, Grid(1, count, xcds, 1, chunk))
    assert ((numbers >= 0) & (numbers < count)).all()
    block = xcds * chunk
    whole = numbers < count // block * block
    inside = numbers % block
    back = numbers // block * block + (inside % chunk) * xcds + inside // chunk
    assert np.array_equal(np.where(whole, back, numbers), ids)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any), st.integers(1, 9))
def test_bands_have_every_tile_once_column_by_column(heights, cols):
    ids = np.arange(sum(heights) * cols)
    row, col = grids.banded(ids, heights, cols)
    wanted = [
        (r, c)
        for b, h in enumerate(heights)
        for c in range(cols)
        for r in range(sum(heights[:b]), sum(heights[: b + 1]))
    ]
    assert list(zip(row.tolist(), col.tolist(), strict=True)) == wanted


SMALL = {
    "gemm": [{"M": 300, "N": 260, "K": 512}, {"M": 256, "N": 256, "K": 640, "parts": 3}],
    "stream": [{"M": 256, "N": 300, "K": 640, "workgroups": 7}],
    "moe": [{"counts": (130, 0, 60, 300), "N": 384, "K": 256}],
    "attention": [
        {"queries": 300, "keys": 200, "heads": 6, "kv_heads": 2},
        {"queries": 300, "keys": 400, "heads": 2, "kv_heads": 2, "sequences": 2, "causal": True},
    ],
}
PAIRS = [(kind, sizes) for kind, several in SMALL.items() for sizes in several]


@pytest.mark.parametrize(("kind", "sizes"), PAIRS)
def test_every_order_is_a_permutation_and_the_first_reads_least(kind, sizes):
    work = grids.WORKS[kind](**sizes)
    caches = Caches(3, 2, 96 << 10, 200 << 10)
    found = grids.search(work, caches)
    assert len(found) == len({one.order.workgroups.tobytes() for one in found}) >= 3
    for one in found:
        assert sorted(one.order.workgroups.tolist()) == list(range(work.workgroups))
    best = found[0].reuse
    wanted = min(slow(work, one.order.workgroups, caches)[2:0:-1] for one in found)
    assert (best.from_memory, best.from_llc) == wanted
    assert any(one.order.hardware for one in found)


class Lines(Observer):
    """Lines of some buffers that each workgroup reads."""

    def __init__(self, names, waves):
        self.names, self.waves, self.found = names, waves, set()

    def on_start(self, launch):
        names = {f"argument {number}": number for number in self.names}
        regions = [(r.address, r.size, r.name.partition(" (")[0]) for r in launch.memory.regions]
        self.regions = [(at, size, names[name]) for at, size, name in regions if name in names]

    def on_access(self, event):
        if event.space != "global" or event.kind != "read":
            return
        addresses = np.broadcast_to(event.addresses, (event.waves, event.addresses.shape[1])).astype(np.int64)
        active = np.broadcast_to(True if event.active is None else event.active, addresses.shape)
        for wave, number in enumerate(np.asarray(event.numbers).tolist()):
            at = addresses[wave][active[wave]]
            for begin, size, name in self.regions:
                mine = at[(at >= begin) & (at < begin + size)] - begin
                for first in range(0, event.size, LINE):
                    self.found |= {
                        (number // self.waves, name, int(line)) for line in np.unique((mine + first) // LINE)
                    }


def executed(family, title, arch, buffers, step, **parameters):
    """What workgroups of a kernel were seen to read, line by line, as the model's work; `step`: of a buffer's line."""
    ((_, cases),) = find(family)
    case = set_parameters(
        next(c for c in cases if c.title.partition("[")[0] == title).with_parameters(parameters), arch=arch
    )
    kernel = case.compiled(arch)
    launch = set_parameters(case, wave=kernel.wave).make()
    memory = {name: array.placed(draw_array(array, name).copy()) for name, array in launch.arrays.items()}
    lines = Lines(buffers, launch.block // kernel.wave)
    launch.run(device("sim"), kernel, memory, {"observers": [lines], "checks": "none"})
    found = sorted(lines.found)
    named = {key: n for n, key in enumerate(dict.fromkeys((name, line) for _, name, line in found))}
    w, t = (np.array([f[0] for f in found]), np.array([named[f[1:]] for f in found]))
    s = np.array([step(name, line * LINE) for _, name, line in found])
    return w, s, t, np.full(len(named), LINE)


def alike(work, trace):
    """The loads of a work and the executed ones are as many bytes in every order, of caches of two sizes."""
    w, s, t, size = trace
    assert w.max() + 1 == work.workgroups
    seen = Work(work.axes, work.shape, w, s, t, size, np.zeros(len(w), bool), work.bands)
    compared = 0
    for order in grids.orders(work, 2):
        for slots, capacity in product((1, 2, work.workgroups), (0, 1 << 30)):
            caches = Caches(2, slots, capacity, capacity)
            found, wanted = (traffic(one, order.workgroups, caches) for one in (work, seen))
            assert (found.reads, found.from_llc, found.from_memory) == (
                wanted.reads,
                wanted.from_llc,
                wanted.from_memory,
            )
            compared += 1
    assert compared >= 30
    # With caches between, lines are replaced one by one, and tiles whole: the best order is the same.
    caches = Caches(2, 1, 48 << 10, 64 << 10)
    key = lambda one: (one.reuse.from_memory, one.reuse.from_llc)  # noqa: E731
    best = grids.search(work, caches)[0]
    brute = {o.workgroups.tobytes(): traffic(seen, o.workgroups, caches) for o in grids.orders(work, 2)}
    least = min((r.from_memory, r.from_llc) for r in brute.values())
    chosen = brute[best.order.workgroups.tobytes()]
    assert (chosen.from_memory, chosen.from_llc) == least
    assert key(grids.search(work, caches)[-1]) > key(best)


@pytest.mark.long
@pytest.mark.parametrize(
    ("queries", "keys", "causal", "ahead"),
    [
        ((300, 300), (192, 192), False, 0),
        # The kernel fetches two tiles of K and one of V before it knows that a block of queries needs no more.
        ((300,), (320,), True, 3 * 64),
    ],
)
def test_attention_reads_what_its_work_says(queries, keys, causal, ahead):
    sizes = {"queries": queries, "keys": keys, "heads": 4, "kv_heads": 2, "causal": causal}
    step = lambda name, at: 0 if name == 0 else at // 256 % keys[0] // 64  # noqa: E731
    w, s, t, size = executed("attention_fp8", "forward", "gfx950", (0, 1, 2), step, **sizes)
    work = grids.attention(queries[0], keys[0], heads=4, kv_heads=2, sequences=len(queries), causal=causal)
    needed = s < work.lengths[w]
    assert (~needed).sum() == 4 * ahead
    alike(work, (w[needed], s[needed], t[needed], size))


def test_experts_read_what_their_work_says():
    counts, N, K = (130, 0, 60, 200), 384, 256

    def step(name, at):
        return at % K // 128 if name == 0 else at % (16 * K) // (16 * 128)  # B is in AITER's order

    trace = executed("gemm_blockscale", "grouped", "gfx950", (0, 1), step, counts=counts, N=N, K=K, fold=1, empty=0)
    alike(grids.grouped(counts, N, K), trace)


def test_slices_of_k_read_what_their_work_says():
    M, N, K, parts = 200, 300, 640, 2
    trace = executed(
        "gemm_fp8/streams", "split_k", "gfx950", (0, 1), lambda name, at: at % K // 128, M=M, N=N, K=K, parts=parts
    )
    w, s, t, size = trace
    depth = K // 128
    s = s - np.where(w >= 6, depth // parts, 0)  # the second slice begins at step 0
    work = grids.gemm(M, N, K, parts=parts)
    factors = work.tile < (2 + 3) * depth
    assert (~factors).sum() == 6 * parts * 2  # sums: each stored and loaded once
    loads = Work(
        work.axes,
        work.shape,
        *(x[factors] for x in (work.workgroup, work.step, work.tile)),
        work.size,
        work.stores[factors],
    )
    alike(loads, (w, s, t, size))


def follows(work, trace, order):
    """What a kernel reads in the hardware's order is what the work reads in `order`, which misses L2 less often."""
    assert sorted(order.tolist()) == list(range(work.workgroups))
    own = np.arange(work.workgroups)
    w, s, t, size = trace
    seen = Work(work.axes, work.shape, w, s, t, size, np.zeros(len(w), bool), work.bands)
    for slots, capacity in product((1, 2, work.workgroups), (0, 1 << 30)):
        caches = Caches(8, slots, capacity, capacity)
        found, wanted = traffic(seen, own, caches), traffic(work, order, caches)
        assert (found.reads, found.from_llc, found.from_memory) == (wanted.reads, wanted.from_llc, wanted.from_memory)
    caches = Caches(8, work.workgroups, 1 << 30, 1 << 30)
    return traffic(work, own, caches).from_llc / traffic(seen, own, caches).from_llc


def by_columns(rows, cols, parts):
    """Number in the hardware's order of the work that each workgroup of split_k_by_columns does."""
    tiles = rows * cols
    number = grids.remap_xcd(np.arange(parts * tiles), grids.Grid(parts, tiles, 8, 1, 4))
    strip = number // rows
    return strip % parts * tiles + number % rows * cols + strip // parts


def test_by_columns_is_a_permutation_of_every_grid():
    grid = list(product(range(1, 12), range(1, 12), range(1, 6)))
    assert len(grid) == 605
    for rows, cols, parts in grid:
        assert sorted(by_columns(rows, cols, parts)) == list(range(rows * cols * parts))


def test_split_k_by_columns_reads_as_its_order_says():
    M, N, K, parts = 400, 500, 256, 2
    sizes = {"M": M, "N": N, "K": K, "parts": parts}
    trace = executed("gemm_fp8/streams", "split_k_by_columns", "gfx950", (0, 1), lambda *_: 0, **sizes)
    work = grids.gemm(M, N, K, parts=parts)
    factors = work.tile < (4 + 4) * K // 128
    parts_of = (x[factors] for x in (work.workgroup, work.step, work.tile))
    loads = Work(work.axes, work.shape, *parts_of, work.size, work.stores[factors])
    assert follows(loads, trace, by_columns(4, 4, parts)) > 1.2


@pytest.mark.long
def test_attention_by_xcd_reads_as_its_order_says():
    sizes = {"queries": (130,), "keys": (65,), "heads": 16, "kv_heads": 8, "order": "_xcd"}
    step = lambda name, at: 0 if name == 0 else at // 1024 % 65 // 64  # noqa: E731
    trace = executed("attention_fp8", "forward", "gfx950", (0, 1, 2), step, **sizes)
    work = grids.attention(130, 65, heads=16, kv_heads=8)
    order = grids.remap_xcd(np.arange(32), grids.Grid(16, 2, 8, 1, 4))
    assert follows(work, trace, order) > 1.5


def by_experts(heights, cols, chunk):
    """Number in the hardware's order of the work that each workgroup of grouped_xcd does."""
    grid = grids.Grid(sum(heights), cols, 8, 1, chunk)
    row, col = grids.banded(grids.remap_xcd(np.arange(grid.rows * cols), grid), heights, cols)
    return row * cols + col


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any), st.integers(1, 9), st.integers(1, 40))
def test_by_experts_is_a_permutation(heights, cols, chunk):
    order = by_experts(heights, cols, chunk)
    assert sorted(order) == list(range(sum(heights) * cols))


def test_experts_by_xcd_read_as_their_order_says():
    counts, N = (300, 0, 130, 250), 512
    sizes = {"counts": counts, "N": N, "K": 128, "fold": 1, "empty": 0, "chunk": 3}
    trace = executed("gemm_blockscale", "grouped_xcd", "gfx950", (0, 1), lambda *_: 0, **sizes)
    order = by_experts([-(-count // 128) for count in counts], N // 128, 3)
    assert follows(grids.grouped(counts, N, 128), trace, order) > 1.2


def test_published_hit_rates_of_attention_on_mi300x():
    """Choudhary et al. (arXiv 2511.02132): 80 to 97 % of reads hit in L2 when all blocks of a head are on one XCD.

    The model's workgroups keep step, so that its rate is an upper one.
    """
    caches = Caches(8, 38)
    work = grids.attention(8192, 8192, heads=16, kv_heads=16, tile=256, element=2)
    found = grids.search(work, caches)
    own = next(one for one in found if one.order.hardware)
    heads = next(one for one in found if (one.order.numbering, one.order.deal) == ("kv_head, block", "chunks of 64"))
    assert (own.order.numbering, own.order.deal) == ("kv_head, block", "in turn")
    assert own.reuse.l2 < 0.85
    assert 0.80 <= heads.reuse.l2 <= 0.97
    assert heads.reuse.from_memory == found[0].reuse.from_memory


def test_the_command_ranks_orders(capsys):
    words = ["lds", "grid", "--search", "attention", "--set", "queries=1024", "--set", "keys=512", "--format", "csv"]
    assert main(words) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith('"axes, the last one fastest",on XCDs,MB from memory')
    assert len(rows) == 9 + ("in turn" not in "".join(rows[1:9]))
    assert main(["lds", "grid", "--search", "moe", "--set", "counts=300,0,20", "--set", "N=512", "--set", "K=256"]) == 0
    out = capsys.readouterr().out
    assert "the hardware's own order is number" in out
    assert "assumed: workgroups keep step" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["attn"], "did you mean 'attention'"),
        (["attention"], "needs --set queries=..., --set keys=..."),
        (["gemm", "--set", "m=1"], "unknown size of gemm 'm'"),
        (["moe", "--set", "counts=2", "--set", "N=x", "--set", "K=3"], "--set N=x: a number expected"),
        (["gemm", "--set", "M=0", "--set", "N=1", "--set", "K=1"], "M=0 of gemm: 1 or more"),
        (["gemm", "--set", "M=1", "--set", "N=1", "--set", "K=1", "--set", "parts=2"], "at most 1, one a step of 128"),
        (["moe", "--set", "counts=0", "--set", "N=1", "--set", "K=3"], "rows of each expert"),
        (["attention", "--set", "queries=1", "--set", "keys=1", "--set", "heads=3"], "a multiple of kv_heads=8"),
        (
            ["gemm", "--set", "M=1", "--set", "N=1", "--set", "K=1", "--arch", "mi250x"],
            "caches of MI250X are not stated",
        ),
        (["gemm", "--set", "M=1", "--set", "N=1", "--set", "K=1", "--xcds", "0"], "--xcds 0: a whole number from 1"),
    ],
)
def test_bad_words_are_refused(words, message, capsys):
    assert main(["lds", "grid", "--search", *words]) == 2
    assert message in capsys.readouterr().err


def test_bad_orders_are_refused():
    work = grids.gemm(256, 256, 128)
    with pytest.raises(MfmasimError, match="no permutation of 4 workgroups"):
        traffic(work, np.zeros(4, np.int64), Caches())
    with pytest.raises(MfmasimError, match="larger tiles have fewer"):
        grids.gemm(65536, 65536, 65536)
