"""Hypothesis strategies for trials of kernel cases, and the smallest failing trial.

Shapes, strides, offsets, factors and inputs are drawn from a case's declaration (`mfmasim.lab.agreement.domain`).
Every draw shrinks towards the simplest: the smallest shape, packed matrices of zeros, a single element that differs.
"""

from __future__ import annotations

import importlib.util
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.devices.ways import Ways
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.domain import Domain
from mfmasim.lab.agreement.trial import Trial, judge
from mfmasim.lab.covering.covering import covering_of
from mfmasim.lab.covering.looking import look
from mfmasim.testing.drawn_codes import codes
from mfmasim.verify.arguments import leaves
from mfmasim.verify.arrays import Array, draw_array
from mfmasim.verify.data import LARGEST, draw
from mfmasim.verify.roles import Tensor, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats import Format
    from mfmasim.lab.agreement.trial import Verdict
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch

FEW = 5
"""Most elements of an input that differ from its background: few, so that failures shrink to the relevant ones."""
CLASSES = ("integers", "uniform", "one_hot", "special", "normal")
"""Data classes for whole matrices."""
SCALES = 10
"""Largest distance of a drawn block scale from 1, in powers of two; products stay well within f32."""
SMALL = 9
LARGEST_LOOK = 3_000_000
"""Wave-instructions of a case that is searched for the sizes of its first trials."""


def hypothesis() -> None:
    """Check that hypothesis is installed.

    Raises:
        MfmasimError: it is not.
    """
    if importlib.util.find_spec("hypothesis") is None:
        raise MfmasimError("trials need hypothesis, which is not installed: pip install 'mfmasim[explore]'")


def trials(pairs: Sequence[tuple[Case, str]], growth: float = 1.0) -> SearchStrategy[Trial]:
    """Build a strategy of trials.

    Args:
        pairs: cases, each with one of its architectures; see `mfmasim.verify.select`.
        growth: largest number of elements relative to the case's shape.

    Returns:
        A hypothesis strategy. Trials that violate a case's contract, and cases without a reference, are not drawn.
    """
    hypothesis()
    from hypothesis import assume
    from hypothesis import strategies as st

    domains: dict[int, Domain] = {}

    @st.composite
    def one(draw_: DrawFn) -> Trial:
        number = draw_(st.integers(0, len(pairs) - 1))
        case, arch = pairs[number]
        if number not in domains:
            domains[number] = Domain(case, arch, growth)
        domain = domains[number]
        chosen: dict[str, Any] = {}
        for name in domain.kinds:
            chosen[name] = draw_(st.sampled_from(domain.values(name, chosen)))
        assume(domain.admits(chosen))
        drawn = domain.case.with_parameters(chosen)
        launch = drawn.make()
        assume(launch.expect is not None)  # there is a reference to agree with
        return Trial(drawn, arch, draw_(_inputs(drawn, launch, find_arch(arch), domain.largest)))

    return one()


def covering(pairs: Sequence[tuple[Case, str]]) -> list[Trial]:
    """The first trials: the smallest sizes at which loops turn three times and branches go the other way.

    Args:
        pairs: as for `trials`; of the cases of one kernel the first is taken.

    Raises:
        MfmasimError: a case is invalid, or its kernel cannot be executed.
    """
    found, kernels = [], set()
    for case, arch in pairs:
        key = case.build, case.source, case.kernel_name(), case.flags, arch
        if key in kernels:
            continue
        kernels.add(key)
        kernel, ways = case.compiled(find_arch(arch).name), Ways()
        if look(case, kernel, {}, LARGEST_LOOK, ways) is not None:
            own = covering_of(case, kernel, ways)
            found += [Trial(case.with_parameters(one.parameters), arch) for one in own.runs]
    return found


def _inputs(case: Case, launch: CaseLaunch, arch: Arch, largest: float) -> SearchStrategy[dict[str, NDArray[Any]]]:
    """Contents of arguments and fields, by name, except those that the case fixes."""
    from hypothesis import strategies as st

    seeds = st.integers(0, 99).map(lambda seed: f"{case.title}/{seed}")
    kinds = [kind for kind in CLASSES if largest >= LARGEST or kind != "special"]
    parts: dict[str, SearchStrategy[NDArray[Any]]] = {}
    for place, arg in leaves(launch.args):
        if isinstance(arg, Tensor):
            fmt = format_of(arg, arch)
            whole = st.tuples(st.just(arg), st.sampled_from(kinds), seeds, st.just(arch)).map(_drawn)
            parts[place] = _filled(arg.stored_shape, fmt.carrier, codes_of(arg, fmt, largest), whole)
        elif isinstance(arg, Array) and arg.reads and (element := _element(arg)) is not None:
            whole = st.tuples(st.just(arg), seeds).map(lambda pair: draw_array(*pair))
            parts[place] = _filled(arg.shape, arg.dtype, element, whole)
    return st.fixed_dictionaries(parts)


def _drawn(what: tuple[Tensor, str, str, Arch]) -> NDArray[Any]:
    return draw(*what)


def _filled(
    shape: tuple[int, ...], dtype: Any, element: SearchStrategy[int], whole: SearchStrategy[NDArray[Any]]
) -> SearchStrategy[NDArray[Any]]:
    """A constant or a data class, with a few different elements."""
    from hypothesis import strategies as st

    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    background = st.one_of(element.map(lambda code: np.full(shape, code, bits).view(dtype)), whole)
    place = st.tuples(*(st.integers(0, n - 1) for n in shape))

    def put(array: NDArray[Any], found: list[tuple[tuple[int, ...], int]]) -> NDArray[Any]:
        out = np.array(array)
        for where, code in found:
            out.view(bits)[where] = code
        return out

    return st.builds(put, background, st.lists(st.tuples(place, element), max_size=FEW))


def codes_of(tensor: Tensor, fmt: Format, largest: float) -> SearchStrategy[int]:
    """Codes of a matrix: all except magnitudes whose products overflow in some order of summation; scales near 1.

    Args:
        tensor: the matrix, or its block scales.
        fmt: format of its elements.
        largest: largest finite magnitude of an element.
    """
    from hypothesis import strategies as st

    if tensor.role.startswith("scale"):
        powers = [min(2.0 ** ((n + 1) // 2 * (-1) ** n), fmt.max) for n in range(2 * SCALES + 1)]
        near = st.sampled_from([int(code) for code in fmt.encode(np.array(powers))])
        return near if fmt.nan_code is None else st.one_of(near, st.just(fmt.nan_code))
    drawn = codes(fmt)
    if fmt.integer or float(fmt.decode(np.array([fmt.max_code], fmt.carrier))[0]) <= largest:
        return drawn

    def tamed(code: int) -> int:
        value = float(fmt.decode(np.array([code], fmt.carrier))[0])
        large = np.isfinite(value) and abs(value) > largest
        return int(fmt.encode(np.array([np.copysign(largest, value)]))[0]) if large else int(code)

    return drawn.map(tamed)


def _element(array: Array) -> SearchStrategy[int] | None:
    """Bits of an element within the array's data class; None if the case gives the values."""
    from hypothesis import strategies as st

    fmt, size = array.number_format, 8 * array.dtype.itemsize
    kind = array.drawn or (array.data if isinstance(array.data, str) else "")
    if kind in ("bits", "special") or (kind == "normal" and fmt is None):
        return codes(fmt) if fmt is not None else st.integers(0, (1 << size) - 1)
    if kind not in ("normal", "integers"):
        return None
    low = 0 if fmt is None and array.dtype.kind == "u" else -SMALL
    small = st.one_of(st.integers(0, SMALL), st.integers(low, SMALL))
    if fmt is None:
        return small.map(lambda n: n & ((1 << size) - 1))
    values: SearchStrategy[float] = small.map(float)
    if kind == "normal":
        values = st.one_of(values, st.integers(-999, 999).map(lambda n: n / 300))
    return values.map(lambda value: int(fmt.encode(np.array([value]))[0]))


def smallest(
    strategy: SearchStrategy[Trial],
    *,
    examples: int = 100,
    seed: int | None = 0,
    report: Callable[[Verdict], None] | None = None,
    **how: Any,
) -> Verdict | None:
    """Draw and judge trials; shrink a failure to the smallest trial that fails in the same way.

    Args:
        strategy: such as `trials`.
        examples: number of trials.
        seed: seed of the draws; None for a new one each time.
        report: called with every verdict.
        how: passed to `mfmasim.lab.agreement.trial.judge`: `device`, `kernel`, `checks`; `device` may be a function
            from an architecture to a device.

    Returns:
        The verdict on the smallest failing trial, or None.

    Raises:
        MfmasimError: a case is invalid, its kernel cannot be executed, or no trial can be drawn.
    """
    hypothesis()
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis import find as find_smallest
    from hypothesis.errors import NoSuchExample, Unsatisfiable

    failed: list[Verdict] = []
    give = how.pop("device", None)

    def wrong(trial: Trial) -> bool:
        device = give(trial.arch) if callable(give) else give
        try:
            verdict = judge(trial, device, **how)
        except MfmasimError as error:
            raise MfmasimError(f"{error}; the trial: {trial}") from error
        if report is not None:
            report(verdict)
        if verdict.ok or (failed and not verdict.like(failed[0])):
            return False
        failed[:] = failed or [verdict]
        return True

    try:
        found = find_smallest(
            strategy,
            wrong,
            settings=settings(
                max_examples=examples,
                database=None,
                deadline=None,
                derandomize=False,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
            # A generator of its own also for new draws: hypothesis prints how to seed one that it makes itself.
            random=Random(seed),  # noqa: S311
        )
    except NoSuchExample:
        return None
    except Unsatisfiable:
        text = "no trial can be drawn: a case needs a reference (expect=) and values that keep needs="
        raise MfmasimError(text) from None
    device = give(found.arch) if callable(give) else give
    return judge(found, device, **how)
