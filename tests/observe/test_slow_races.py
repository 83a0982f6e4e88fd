"""races in the LDS against the slow model: random accesses, waits and barriers of waves of some workgroups."""

from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.machine.events import AccessEvent, BlockEvent, Place
from mfmasim.observe.ordering import lds_races, records, shadow
from mfmasim.observe.ordering.lds_races import STEPS
from mfmasim.observe.ordering.progress import Step
from tests.machine import harness
from tests.observe.slow_races import SlowRaces

SIZE, LANES, BLOCKS = 128, 4, 10
#        kind, bytes, whether it is a load to the LDS
ACCESSES = {
    "ds_read_b32 v4, v2": ("read", 4, False),
    "ds_write_b32 v2, v4": ("write", 4, False),
    "ds_add_u32 v2, v4": ("atomic", 4, False),
    "ds_read_b64 v[4:5], v2": ("read", 8, False),
    "ds_write_b128 v2, v[4:7]": ("write", 16, False),
    "global_load_lds_dword v2, s[8:9]": ("write", 4, True),
    "ds_write_b8 v2, v4": ("write", 1, False),
    "ds_read_u8 v4, v2": ("read", 1, False),
}
NARROW = ("ds_write_b8", "ds_read_u8")
OTHERS = ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(1)", "s_barrier", "s_barrier")


def kernel_of(*, narrow):
    """One whose blocks have each of the instructions, so that each pair of accesses is its own finding.

    Returns:
        The kernel, and of each block the instructions and what each does.
    """
    lines = [line for line in ACCESSES if narrow or not line.startswith(NARROW)] + list(OTHERS)
    text = "\n".join(["s_mov_b32 m0, 0", *lines * BLOCKS, "s_endpgm"])
    kernel = harness.kernel(text, "gfx942", "p", lds=SIZE)
    does = [ACCESSES.get(line) for line in lines]
    blocks = np.array(kernel.instructions[1:-1], object).reshape(BLOCKS, len(lines)).tolist()
    return kernel, [dict(zip(block, does, strict=True)) for block in blocks]


@pytest.fixture(scope="module")
def kernels():
    return [kernel_of(narrow=narrow) for narrow in (False, True)]


class Run:
    """The check and the slow models of a batch of workgroups, which receive the same events."""

    def __init__(self, kernel, groups, per, *, slow=True):
        launch = SimpleNamespace(
            kernel=SimpleNamespace(
                arch=kernel.arch,
                reachable=kernel.instructions,
                source_at=lambda _: "",
                line_at=hex,
                place_at=hex,
                address_at=lambda _: "",
                memos={},
            ),
            names=SimpleNamespace(lds=str),
            lds_bytes=SIZE,
            waves_per_workgroup=per,
        )
        self.races = lds_races.LdsRaces(SimpleNamespace(finding=lambda kind, *_, **__: kind.id), launch)
        self.per, self.total, self.fresh = per, groups * per, True
        self.slow = [SlowRaces(per, SIZE) for _ in range(groups if slow else 0)]

    def place(self, index, _=None):
        return Place((index // self.per, 0, 0), index % self.per)

    def block(self, waves, body):
        """Some waves execute instructions: pairs with what each does, and addresses (waves, lanes)."""
        for ins, does, addresses in body:
            step = Step(ins, self.races.arch)
            if does:
                kind, size, direct = does
                self.races.on_access(
                    AccessEvent(ins, "lds", kind, addresses, None, size, 0, len(waves), self.place, waves)
                )
            for row, wave in enumerate(waves.tolist() if self.slow else ()):
                slow, number = self.slow[wave // self.per], wave % self.per
                if does:
                    inside = [int(a) for a in addresses[row] if 0 <= a <= SIZE - size]
                    octets = {a + k for a in inside for k in range(size)}
                    slow.access(number, ins.pc, kind, direct, step.up[-1], octets)
                for counter, left in step.waits:
                    slow.wait(number, counter, left)
                if step.signals:
                    slow.barrier(number)
        self.races.kernel.memos.pop(STEPS, None)  # instructions of a block are neighbours elsewhere
        event = BlockEvent([ins for ins, *_ in body], waves, self.total, self.fresh, self.place, self.place)
        self.races.on_block(event)
        self.fresh = False

    def agree(self):
        """Both find the same pairs of instructions; of several reasons the check names one."""
        fits = {}
        for slow in self.slow:
            for key, kinds in slow.found.items():
                fits.setdefault(key, set()).update(kinds)
        assert self.races.found.errors.keys() == fits.keys()
        assert all(kind in fits[key] for key, kind in self.races.found.errors.items())
        return bool(fits)


@pytest.fixture(params=[False, True], ids=["kept", "forgotten"])
def _forgetful(request, monkeypatch):
    """Marks and accesses in flight are kept, or forgotten as soon as they may be."""
    if request.param:
        monkeypatch.setattr(records, "FEW", 0)
        monkeypatch.setattr(shadow, "MANY", 0)


@pytest.mark.usefixtures("_forgetful")
@pytest.mark.parametrize("seed", range(24))
def test_random_accesses(kernels, seed):
    random = np.random.default_rng(seed)
    kernel, blocks = kernels[seed % 2]
    groups, per = int(random.integers(1, 4)), int(random.integers(2, 5))
    run = Run(kernel, groups, per)
    parts = random.integers(BLOCKS) if seed % 3 else BLOCKS
    for number, block in enumerate(blocks):
        some = np.flatnonzero(random.random(per) < 0.7)
        waves = (np.arange(groups)[:, None] * per + (some if len(some) else 0)).ravel()
        if number > parts:
            waves = np.unique(random.integers(0, groups * per, groups * per))
        body = []
        for ins, does in block.items():
            if random.random() < 0.6:
                continue
            size = does[1] if does else 4
            first = random.integers(0, SIZE // size, (per, 1)) if random.random() < 0.6 else random.integers(30)
            addresses = (first + np.arange(LANES) + np.zeros((per, 1), np.int64))[waves % per] * size
            if number >= parts and random.random() < 0.3:
                addresses = addresses + waves[:, None] // per * size
            body.append((ins, does, addresses))
        if body:
            run.block(waves, body)
    run.agree()


def state(races):
    """What a check knows: the last accesses to each unit, those in flight, and the counters."""
    marks = races.shadow.marks
    last = [column[races.shadow.last].tolist() for column in (marks.wave, marks.issued, marks.complete, marks.record)]
    flying = {
        (*sort, *table[[records.WAVE, records.ORDER, records.NUMBER, records.LOW, records.HIGH], column].tolist())
        for sort in races._flying._tables
        for table in [races._flying._table(sort)]
        for column in range(table.shape[1])
    }
    counters = [{key: of[key].tolist() for key in of} for of in (races.progress.issued, races.progress.complete)]
    return last, flying, counters, races.found.errors, races._kinds


def orderly(random, kernel_and_blocks, groups, per):
    """Blocks, most of them in order: waves change places between barriers, and wait before them."""
    _, blocks = kernel_and_blocks
    for block in blocks:
        waves = np.arange(groups * per)
        if random.random() < 0.2:
            waves = waves[waves % per < max(1, per - 1)]
        turn, body = int(random.integers(per)), []
        for ins, does in block.items():
            if not does:
                body += [(ins, None, None)] * (random.random() < 0.9)
            elif does[0] != "atomic" and random.random() < (0.1 if does[2] else 0.5):
                own = (waves + turn + (random.random() < 0.03)) % per * 32
                addresses = own[:, None] + does[1] * (np.arange(LANES) % (32 // does[1]))
                body.append((ins, does, addresses + waves[:, None] // per * (4 if random.random() < 0.02 else 0)))
        yield waves, body


def test_a_stretch_at_once_is_its_accesses_one_after_the_other(kernels, monkeypatch):
    """Random blocks, replayed by stretches where that is possible, and access by access."""
    together, at_once, widened = lds_races.LdsRaces._together, [], 0
    for seed in range(18):
        random = np.random.default_rng(seed)
        groups, per = int(random.integers(1, 4)), int(random.integers(2, 5))
        one, other = (Run(kernels[seed % 2][0], groups, per, slow=False) for _ in range(2))

        def counted(races, stretch, accesses, event, alone=other.races):
            done = races is not alone and together(races, stretch, accesses, event)
            at_once.extend([len(accesses)] * done)
            return done

        monkeypatch.setattr(lds_races.LdsRaces, "_together", counted)
        for waves, body in orderly(random, kernels[seed % 2], groups, per):
            one.block(waves, body)
            other.block(waves, body)
            assert state(one.races) == state(other.races), seed
        widened += one.races.shadow.groups > 1
    assert len(at_once) > 50
    assert max(at_once) >= 5
    assert widened


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        ([("ds_write_b32", 0), ("ds_read_b32", 0)], True),  # each wave its own places
        ([("ds_write_b32", 0), ("ds_read_b32", 16)], False),  # what the other one writes
        ([("ds_write_b32", 0), ("ds_write_b32", 16)], False),
        ([("ds_read_b32", 0), ("ds_read_b32", 16)], True),
        ([("global_load_lds_dword", 0), ("ds_read_b32", 0)], False),  # not waited for
        ([("ds_add_u32", 0)], False),
    ],
)
def test_which_accesses_are_examined_at_once(kernels, accesses, expected, monkeypatch):
    kernel, (table, *_) = kernels[0]
    by_name = {ins.name: (ins, does) for ins, does in table.items()}
    run, own, together, done = Run(kernel, 1, 2), np.arange(8).reshape(2, 4) * 4, lds_races.LdsRaces._together, []
    monkeypatch.setattr(lds_races.LdsRaces, "_together", lambda *args: (done.append(together(*args)), done[-1])[1])
    run.block(np.arange(2), [(*by_name[name], (own + shift) % 32) for name, shift in accesses])
    assert done == [expected]
    run.agree()


def exchange(kernels, wait, barriers, *, groups=2, shift=0):
    """Each wave writes its own place, waits and comes to a barrier or not, and reads the place of the next one."""
    kernel, (table, *_) = kernels[0]
    by_name = {ins.name: (ins, does) for ins, does in table.items()}
    write, read = by_name["ds_write_b32"], by_name["ds_read_b32"]
    waits = next((ins, None, None) for ins in table if ins.text.endswith("lgkmcnt(0)"))
    run, waves = Run(kernel, groups, 3), np.arange(3 * groups)
    own = (waves % 3 * 16)[:, None] + 4 * np.arange(LANES) + (waves // 3)[:, None] * shift
    run.block(waves, [(*write, own), *[waits] * wait, *[(*by_name["s_barrier"], None)] * barriers])
    run.block(waves, [(*read, (own + 16) % 48)])
    run.agree()
    return set(run.races.found.errors.values()), run


@pytest.mark.parametrize("shift", [0, 4], ids=["alike", "apart"])
def test_an_exchange_between_waves(kernels, shift):
    assert exchange(kernels, 1, 1, shift=shift)[0] == set()
    assert exchange(kernels, 1, 0, shift=shift)[0] == {"races-no-barrier"}
    found, run = exchange(kernels, 0, 1, shift=shift)
    assert found == {"races-not-done-at-barrier"}
    assert run.races.shadow.groups == (2 if shift else 1)
    assert exchange(kernels, 0, 2, shift=shift)[0] == {"races-not-done-at-barrier"}


def test_readers_of_one_access_are_all_remembered(kernels):
    """Three waves read the same places at once; then the last but one of them writes there, ordered or not."""
    kernel, (table, *_) = kernels[0]
    by_name = {ins.name: (ins, does) for ins, does in table.items()}
    for writer in range(3):
        run = Run(kernel, 1, 3)
        places = np.broadcast_to(4 * np.arange(LANES), (3, LANES))
        run.block(np.arange(3), [(*by_name["ds_read_b32"], places)])
        run.block(np.array([writer]), [(*by_name["ds_write_b32"], places[:1])])
        assert run.agree(), writer
