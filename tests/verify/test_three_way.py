"""Simulator, device and reference on matrices that hypothesis draws, over the introductory family; on a GPU also on a
drawn trial of every family that has kernels for it: GEMM, casts, attention, ... Where the introductory family has no
kernel, single products are drawn instead, as in test_three_way_products.py, so that every architecture has trials.

The device is MFMASIM_TEST_DEVICE (as in tests/devices): without it the simulator is compared with the reference alone.
`tests/hiprt/test_hiprt_suites.py` runs this file once more on the back end hip through the simulated HIP runtime. The
reference is golden's, which shares no code with the simulator.
"""

import os
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import mfmasim
from golden.cases import FAMILIES, FAMILY_OF
from golden.reference import models
from mfmasim.architectures import arch as find_arch
from mfmasim.testing import codes, sparse_changes
from mfmasim.testing.drawn_trials import smallest, trials
from mfmasim.verify import families, select
from mfmasim.verify import find as find_cases
from mfmasim.verify.compare import bit_exact
from mfmasim.verify.files import WRONG
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.roles import Tensor, bytes_of, codes_of, format_of, untouched
from tests.verify.products import canonical
from tests.verify.products import launch as product
from tests.verify.products import reference as product_reference
from tests.verify.test_three_way_products import DEVICE, NAME, devices, products

EXAMPLES = int(os.environ.get("MFMASIM_TEST_EXAMPLES", "120"))
ARCHS = [DEVICE.arch] if NAME != "sim" else ["gfx942", "gfx950"]
EVERY = [(case, arch) for _, cases in find_cases("intro") for case in cases for arch in case.arch]
CASES = [(case, arch) for case, arch in EVERY if arch in ARCHS]
GOLDEN = {case.name: case for case in FAMILIES["intro"]}
MOST = 5
"""Codes that differ from an operand's background: few, so that a failure shrinks to the one that matters."""


ANY = st.sampled_from(CASES) if CASES else st.nothing()


@dataclass
class Drawn:
    """Operands: codes by role."""

    case: object
    arch: str
    operands: dict

    def __repr__(self):
        parts = [f"{self.case.title} on {self.arch}"]
        for role, array in self.operands.items():
            values, counts = np.unique(array, return_counts=True)
            common = values[counts.argmax()]
            places = [f"{list(map(int, p))}: {int(array[tuple(p)]):#x}" for p in np.argwhere(array != common)[:MOST]]
            parts.append(f"{role} {int(common):#x}" + (f" but {', '.join(places)}" if places else ""))
        return "; ".join(parts)


def tensors_of(case):
    return [arg for arg in case.make().args if isinstance(arg, Tensor)]


@st.composite
def operands(draw, which=ANY):
    case, arch = draw(which)
    out = {}
    for tensor in tensors_of(case):
        if tensor.role == "C":
            continue
        fmt = format_of(tensor, find_arch(arch))
        out[tensor.role] = draw(sparse_changes(tensor.stored_shape, codes(fmt), fmt.carrier, MOST))
    return Drawn(case, arch, out)


def launch(device, drawn):
    """C as a device computes it."""
    arch = find_arch(drawn.arch)
    built = drawn.case.make()
    args = [bytes_of(t, drawn.operands[t.role] if t.role != "C" else untouched(t, arch), arch) for t in built.args]
    kernel = code_for(drawn.case.source, drawn.arch, None, drawn.case.flags)[drawn.case.kernel_name()]
    report = device.launch(kernel, built.grid, built.block, args, checks="all")
    assert report.ok
    output = next(n for n, t in enumerate(built.args) if t.role == "C")
    return codes_of(built.args[output], args[output], arch)


def reference(drawn, rows, cols):
    """Some rows and columns of C as golden's reference computes them."""
    golden = GOLDEN[drawn.case.golden_name()]
    a, b = drawn.operands["A"][rows], drawn.operands["B"][:, cols]
    scales = {}
    if "scale_A" in drawn.operands:
        byte = drawn.case.parameters["opsel"]
        scales = {
            "scale_a": drawn.operands["scale_A"][rows][..., byte],
            "scale_b": drawn.operands["scale_B"][:, cols][..., byte],
        }
    rule = models.RULES[FAMILY_OF[drawn.arch], golden.kind]
    return models.matmul(a, b, *golden.formats(drawn.arch), rule, **scales)


def disagreement(drawn, device):
    """Which of the three differ on a drawn case; empty when they agree."""
    fmt = mfmasim.format("f32")
    results = {"simulator": launch(mfmasim.device("sim"), drawn)}
    if device is not None:
        results["device"] = launch(device, drawn)
        if bit_exact(results["device"], results["simulator"], fmt).mismatches:
            return "simulator and device"
    # Rows and columns that hold something else than the background, and one that does not.
    rows = touched(drawn.operands["A"], 0) + touched(drawn.operands.get("scale_A"), 0)
    cols = touched(drawn.operands["B"], 1) + touched(drawn.operands.get("scale_B"), 1)
    rows, cols = sorted({0, 17 % len(drawn.operands["A"]), *rows}), sorted({0, 9, *cols})
    want = reference(drawn, rows, cols)
    for name, have in results.items():
        if bit_exact(np.ascontiguousarray(have[np.ix_(rows, cols)]), want, fmt).mismatches:
            return f"{name} and reference"
    return ""


def touched(array, axis):
    """Lines of an array that differ from the others."""
    if array is None:
        return []
    values, counts = np.unique(array, return_counts=True)
    return np.unique(np.argwhere(array != values[counts.argmax()])[:, axis]).tolist()


def test_simulator_device_and_reference_agree():
    judged = []

    @given(operands() if CASES else products(ARCHS[0]))
    @settings(max_examples=EXAMPLES if CASES else EXAMPLES // 4)
    def agree(drawn):
        if CASES:
            assert not disagreement(drawn, DEVICE if NAME != "sim" else None)
        else:
            assert not product_disagreement(*drawn)
        judged.append(drawn)

    agree()
    assert len(judged) >= 10


def product_disagreement(case, a, b, scales):
    """Which of the three differ on a single product; empty when they agree."""
    want = product_reference(case, ARCHS[0], a, b, **scales)
    for name, device in devices().items():
        if not np.array_equal(canonical(product(device, case, ARCHS[0], a, b, **scales)), want):
            return f"{name} and reference: {case.name}"
    return ""


def test_every_case_of_the_family_is_drawn_from():
    assert len(CASES) == sum(len(set(case.arch) & set(ARCHS)) for _, cases in find_cases("intro") for case in cases)
    assert {case.golden_name() for case, _ in CASES} <= set(GOLDEN)


def pairs_of(family):
    """Cases of a family for the device's architecture."""
    cases = next(cases for name, cases in find_cases(family) if name == family)
    return [pair for pair in select(cases, ARCHS[0]) if pair[1] not in pair[0].skip]


WITH = [] if NAME == "sim" else [family for family in families() if family not in WRONG and pairs_of(family)]
"""Families with kernels for the device."""

if WITH:

    @pytest.mark.parametrize("family", WITH)
    def test_a_trial_of_every_family(family):
        judged = []
        found = smallest(
            trials(pairs_of(family), 1.0), examples=1, report=judged.append, device=lambda _: DEVICE, checks="bounds"
        )
        assert found is None, "\n".join(found.lines())
        assert judged
        assert all(verdict.device is not None for verdict in judged)


class Wrong:
    """A device that gets one thing wrong: a subnormal in A counts as zero."""

    def launch(self, kernel, grid, block, args, *others, **options):
        a = args[0].view(np.float16)
        kept = a.copy()
        a[np.abs(a) < 2.0**-14] = 0
        report = mfmasim.device("sim").launch(kernel, grid, block, args, *others, **options)
        a[:] = kept
        return report


def test_a_failure_shrinks_to_the_element_that_matters():
    case = next(pair for pair in EVERY if pair[0].title == "f16_16x16x16" and pair[1] == "gfx942")
    found = find(
        operands(st.just(case)),
        lambda drawn: disagreement(drawn, Wrong()) == "simulator and device",
        settings=settings(max_examples=2000, phases=(Phase.generate, Phase.shrink), derandomize=True, database=None),
    )
    a, b = found.operands["A"], found.operands["B"]
    assert len(np.unique(a)) + len(np.unique(b)) <= 3  # at most one element stands out
    tiny = a[(a & 0x7FFF) != 0]
    assert ((tiny & 0x7C00) == 0).all()  # what is left of A is a subnormal
