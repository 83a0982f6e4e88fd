"""Definedness without a second model: programs are run again with other values in their undefined bits.

Some bits of the inputs are declared undefined. Whatever differs between two runs whose inputs differ in those bits only
depends on them, so it has to be undefined in what the machine follows; what it calls undefined, and never differs in
many runs, is a false alarm, which is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mfmasim.machine.definedness import memory
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.layout import prepare
from mfmasim.machine.state.memory import Memory
from tests.machine import frame, harness

RUNS = 6


@dataclass
class Tally:
    """What was compared."""

    dwords: int = 0
    differing: int = 0
    """Output dwords that depend on undefined bits."""
    missed: list[str] = field(default_factory=list)
    """Lines whose results differ where they are called defined."""
    alarms: dict[str, int] = field(default_factory=dict)
    """Undefined bits of results that never differed, by operation."""
    names: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    """Uses that were reported."""


class Uses:
    """Addresses of instructions whose undefined operands decide something: afterwards anything may differ."""

    def __init__(self):
        """Nothing was reported."""
        self.found = {}

    def on_use(self, event):
        """Remember a use."""
        self.found.setdefault(event.instruction.pc, event.use)


def masks(rng, data, scalars):
    """Undefined bits of the inputs: in some lanes whole registers, halves, bytes, or random bits. No addresses."""
    shape = data.shape
    kinds = np.array([0, 0xFFFFFFFF, 0xFFFF0000, 0xFFFF, 0xFF, 0xFF00, 0x80000000, 1, 0x7FFFFFFF], np.uint32)
    bits = kinds[rng.integers(0, len(kinds), shape)]
    some = rng.integers(0, 1 << 32, shape, np.uint32) & rng.integers(0, 1 << 32, shape, np.uint32)
    vectors = np.where(rng.random(shape) < 0.3, some, bits)
    vectors[rng.random(shape) < 0.4] = 0
    vectors[:, 32:] = vectors[:, :1] = 0
    some = kinds[rng.integers(0, len(kinds), scalars.shape)]
    some[rng.random(scalars.shape) < 0.6] = 0
    some[:, 32:] = 0  # EXEC is made of these
    some[:, 17] = 0  # M0
    return vectors, some


def run(program, arrays, undefined):
    """The outputs of a run; with masks of undefined bits also those of the outputs, and the uses.

    Args:
        program: the kernel.
        arrays: its buffers, copied.
        undefined: by number of the buffer, its undefined bits.
    """
    uses = Uses()
    copies = [array.copy() for array in arrays]
    launch = prepare(program, frame.GROUPS, frame.ITEMS, copies)
    if undefined:
        launch.undefined = tuple(launch.buffers[k][0] for k in undefined)
    machine = Machine(launch, [uses] if undefined else [])
    shadow = Memory()
    if undefined:
        plane = machine.definedness.plane.memory
        for number, bits in undefined.items():
            plane.view(launch.buffers[number][0])[:] = bits.reshape(-1).view(np.uint8)
        shadow.__setstate__(launch.memory.__getstate__() | {"bytes": np.zeros(launch.memory.size, np.uint8)})
        store = memory.GlobalBits.store

        def recorded(self, addresses, words, size, mask=None):
            if self is plane:
                shadow.store(addresses, words, size, mask)
            return store(self, addresses, words, size, mask)

        memory.GlobalBits.store = recorded
        try:
            machine.run()
        finally:
            memory.GlobalBits.store = store
    else:
        machine.run()
    launch.collect()
    if not undefined:
        return copies, None, uses
    return copies, [shadow.view(region).copy() for region, _ in launch.buffers], uses


def compare(probes, arch, rng, tally):
    """Run probes with undefined inputs and again with others, and add to a tally."""
    data = frame.inputs(rng, arch)
    vectors, scalars = masks(rng, *data[:2])
    for body, places in frame.programs(probes, arch):
        program = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES, extra=frame.PRIVATE)
        first, undefined, uses = run(program, data, {0: vectors, 1: scalars})
        differ = np.zeros_like(first[3])
        for _ in range(RUNS):
            noise = (
                rng.integers(0, 1 << 32, vectors.shape, np.uint32),
                rng.integers(0, 1 << 32, scalars.shape, np.uint32),
            )
            if rng.random() < 0.4:  # all of them at once, as corners are
                noise = tuple(np.full_like(each, 0xFFFFFFFF) for each in noise)
            others = [data[0] ^ noise[0] & vectors, data[1] ^ noise[1] & scalars, *data[2:]]
            again, _, _ = run(program, others, {})
            differ |= again[3] ^ first[3]
        bits = undefined[3].view(np.uint32).reshape(differ.shape)
        _judge(tally, program, body, places, differ, bits, uses)


def _judge(tally, program, body, places, differ, bits, uses):
    lines = [line.strip() for line in body.splitlines() if line.strip() and not line.strip().endswith(":")]
    decided = {lines[k] for k, ins in enumerate(program.instructions) if uses.found.get(ins.pc, "stored") != "stored"}
    tally.reported |= set(uses.found.values())
    tally.dwords += differ.size
    tally.differing += int((differ != 0).sum())
    for slot, probe in enumerate(places):
        tally.names.add(probe.name)
        if probe.line in decided or any(line in decided for line in probe.before):
            continue
        missed = differ[:, slot] & ~bits[:, slot]
        if missed.any():
            item = int(np.flatnonzero(missed)[0])
            tally.missed.append(f"{probe.line}  item {item} bits {int(missed[item]):#x} ({probe.before})")
        extra = int(np.bitwise_count(bits[:, slot] & ~differ[:, slot]).sum())
        if extra:
            tally.alarms[probe.name] = tally.alarms.get(probe.name, 0) + extra
