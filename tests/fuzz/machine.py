"""Any instructions, on any architecture, with any checks: a report or an error, and every byte that is not the kernel's
to write stays as it was.

An input's first bytes choose architecture and wave size, work-items, checks and waves in flight; the others are
instructions, of which dwords that do not decode are left out.
"""

import numpy as np

import mfmasim
from mfmasim import isa
from mfmasim.devices import Options
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.layout import prepare
from mfmasim.machine.launch.quota import Meter, Quota
from mfmasim.observe.registry import CHECKS
from tests.fuzz import templates
from tests.fuzz.errors import check_error
from tests.machine.spelling import split

BUDGET = 1000
"""Instructions of a wave; the kernel around the input has about 250."""
HEADER = 5
NAMES = list(CHECKS)


def decodable(code, target):
    """The instructions of some bytes, as far as there is room; what does not decode is left out."""
    name, wave = split(target)
    found, offset, room = [], 0, 4 * templates.DWORDS - 4
    while offset + 4 <= len(code) and room:
        try:
            one = isa.decode(code, name, offset=offset, wave=wave)
        except MfmasimError:
            offset += 4
            continue
        offset += one.size
        if one.size <= room:
            room -= one.size
            found.append(one)
    return found


def chosen(data):
    """Target, work-items, names of the checks, waves in flight, and the instructions."""
    first, size, low, high, waves = data[:HEADER].ljust(HEADER, b"\0")
    target = templates.TARGETS[first % len(templates.TARGETS)]
    mask = low | high << 8
    names = [name for bit, name in enumerate(NAMES) if mask >> bit & 1]
    items = templates.SIZES[size % len(templates.SIZES)]
    return target, items, names, waves % 4 or None, decodable(data[HEADER:], target)


def outside(memory):
    """The bytes that no kernel may change: guard pages and what is read only."""
    kept = np.ones(memory.size, bool)
    for region in memory.regions:
        start = region.address - memory.base
        kept[start : start + region.size] &= not region.writable
    return kept


def run(data):
    target, items, names, waves, instructions = chosen(data)
    kernel = templates.kernel(target, b"".join(one.raw for one in instructions) + templates.end(target))
    arguments = [array.copy() for array in templates.inputs(target)[:3]]
    prepared = prepare(kernel, 2, items, [*arguments, np.zeros(1024, np.uint32)])
    prepared.meter = Meter(Quota(rows=1000))
    kept = outside(prepared.memory)
    before = prepared.memory.arena[kept]
    try:
        report = mfmasim.device("sim").run(prepared, Options(checks=names, budget=BUDGET, max_waves=waves))
    except MfmasimError as error:
        check_error(error)
    else:
        assert sum(report.mix.values()) == sum(report.counts.values())
        assert report.coverage.share <= 1
        for one in report.findings:
            assert one.lines()
            assert one.message.replace("\n", "").isprintable()
    assert np.array_equal(prepared.memory.arena[kept], before)
