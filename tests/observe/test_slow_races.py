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

    def __init__(self, kernel, groups, per):
        launch = SimpleNamespace(
            kernel=SimpleNamespace(arch=kernel.arch, reachable=kernel.instructions, source_at=lambda _: "", memos={}),
            names=SimpleNamespace(lds=str),
            lds_bytes=SIZE,
            waves_per_workgroup=per,
        )
        self.races = lds_races.LdsRaces(SimpleNamespace(finding=lambda kind, *_, **__: kind.id), launch)
        self.per, self.total, self.fresh = per, groups * per, True
        self.slow = [SlowRaces(per, SIZE) for _ in range(groups)]

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
            for row, wave in enumerate(waves.tolist()):
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
