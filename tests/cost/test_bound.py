"""Bounds: monotone in what is executed, true to hand counts; rates: complete, with sources."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.architectures import ARCHITECTURES, arch
from mfmasim.architectures.rates import CONFIDENCES, NAMES
from mfmasim.cost import Resident, bound_of, record_launch
from mfmasim.cost.bound import RATES_OF
from mfmasim.cost.operation import PIPES, SCOPES
from mfmasim.cost.trace import NOTHING
from mfmasim.devices import SimDevice
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.cost.programs import traces

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_each_architecture_has_each_rate_with_a_source(name):
    rates = arch(name).rates
    assert list(rates.by_name) == list(NAMES)
    for row in rates.rows:
        assert row.source
        assert row.confidence in CONFIDENCES
        low, value, high = row.ends
        assert 0 < low <= value <= high
    assert rates.products
    assert {product.name for product in rates.products} & {*arch(name).products, "MI250"}


def test_each_pipe_has_a_scope_and_its_rates():
    assert set(PIPES) == set(SCOPES) == set(RATES_OF)
    assert {name for names in RATES_OF.values() for name in names} < set(NAMES)


def takes_time(trace):
    """Whether a wave executes an operation that takes cycles: some, as s_delay_alu, take none."""
    return not all(trace.operations[number].free for wave in trace.waves for number in wave.operations)


@QUICK
@given(trace=traces(), passes=st.integers(0, 20))
def test_more_conflicts_never_take_fewer_cycles(trace, passes):
    before = bound_of(trace)
    trace.accesses[0] = replace(trace.accesses[0], lds=trace.accesses[0].lds + passes)
    after = bound_of(trace)
    assert all(after.cycles[pipe] >= before.cycles[pipe] for pipe in PIPES)
    assert after.total >= before.total


@QUICK
@given(trace=traces(), data=st.data())
def test_more_instructions_never_take_fewer_cycles(trace, data):
    before = bound_of(trace)
    wave = data.draw(st.sampled_from(trace.waves))
    place = data.draw(st.integers(0, len(wave.operations) - 1))
    wave.operations.append(wave.operations[place])
    wave.accesses.append(wave.accesses[place])
    after = bound_of(trace)
    assert all(after.cycles[pipe] >= before.cycles[pipe] for pipe in PIPES)
    assert after.total >= before.total
    assert (before.total > 0) == takes_time(trace)


@QUICK
@given(trace=traces())
def test_a_faster_pipe_never_takes_more_cycles(trace):
    before = bound_of(trace)
    rates = trace.arch.rates
    rows = tuple(replace(r, value=2 * r.value) if r.name in ("l1", "l2", "lines") else r for r in rates.rows)
    trace.arch = replace(trace.arch, rates=replace(rates, rows=rows))
    after = bound_of(trace)
    assert all(after.cycles[pipe] <= before.cycles[pipe] for pipe in PIPES)
    assert after.total <= before.total
    assert (after.total > 0) == takes_time(trace)


KERNEL = """
#include <hip/hip_runtime.h>
extern "C" __global__ void strided(float *out, int stride) {
  __shared__ float tile[64 * 64];
  for (int k = 0; k < 64; ++k) tile[threadIdx.x + 64 * k] = threadIdx.x + k;
  __syncthreads();
  float sum = 0;
#pragma nounroll
  for (int k = 0; k < 8; ++k) sum += tile[(threadIdx.x * stride + k) % 4096];
  out[threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def strided(tmp_path_factory):
    source = tmp_path_factory.mktemp("cost") / "strided.hip"
    source.write_text(KERNEL)
    return mfmasim.compile(source, arch="gfx942")["strided"]


@pytest.mark.parametrize(("stride", "degree"), [(1, 1), (2, 2), (8, 8), (32, 32)])
def test_conflicts_of_a_kernel_take_their_passes(strided, stride, degree):
    """On gfx942 a read of 4 bytes has two phases of 32 lanes; a stride of n dwords is n-way."""
    found = record_launch(strided, 1, 64, [np.zeros(64, np.float32), np.int32(stride)])
    bound = bound_of(found.trace, found.head)
    assert bound.looped
    assert bound.turns == 7
    assert bound.cycles["LDS"] == 2 * degree
    assert bound.cycles["LDS port"] == 64 * 4 / 64


@pytest.mark.parametrize(("most", "units", "waves"), [(None, 4, None), (2, 3, 8), (None, 1, 4)])
def test_a_unit_of_a_whole_launch_is_recorded_as_it_is_alone(most, units, waves):
    """Also where the launch runs in several batches."""
    kernel = code_for(folder("hipkernels") / "conformance" / "bench" / "tiled_gemm.hip", "gfx942")["tiled_gemm"]

    def args():
        matrices = [np.ones((side, 64), np.float32) for side in (128, 128)]
        return [*matrices, np.zeros((128, 128), np.float32), np.int32(128), np.int32(64)]

    alone = record_launch(kernel, (2, 2), 256, args(), most=most, units=units)
    unit = Resident(most, units)
    executed = [
        SimDevice().launch(kernel, (2, 2), 256, args(), checks="none", observers=[unit], max_waves=waves).executed
        for _ in range(2)
    ]
    found = unit.recorded(executed[0])
    assert len(found.trace.waves) == 4 * found.resident == 4 * alone.resident
    assert bound_of(found.trace, found.head) == bound_of(alone.trace, alone.head)
    for one, other in zip(found.trace.waves, alone.trace.waves, strict=True):
        assert (one.workgroup, one.wave) == (other.workgroup, other.wave)
        for ours, theirs in zip(steps_of(found.trace, one), steps_of(alone.trace, other), strict=True):
            assert ours == theirs


def steps_of(trace, wave):
    """Addresses of what a wave executed, each with what its access needs."""
    accesses = [None if number == NOTHING else trace.accesses[number] for number in wave.accesses]
    return zip((trace.operations[number].pc for number in wave.operations), accesses, strict=True)
