"""The launch that a case declares: the checked result of its function, with every matrix and array named."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Required, TypeAlias, TypedDict

from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.arguments import Argument, leaves, replaced
from mfmasim.verify.arrays import Array
from mfmasim.verify.elements.sources import Source, check_declared, product_of
from mfmasim.verify.expression import Expression
from mfmasim.verify.roles import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report, SimDevice
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import Observer

Expected: TypeAlias = (
    "Expression | Callable[..., Any] | Sequence[NDArray[Any]] | NDArray[Any] | tuple[Expression, Any] | None"
)
"""A matrix expression; for plain arrays the outputs, or a function that gives them from the inputs.

With (values, bound) in place of values, errors up to that number, or array of numbers, are allowed.
"""


class LaunchDict(TypedDict, total=False):
    """The result of a case function: the fields of `CaseLaunch`."""

    grid: Required[int | Sequence[int]]
    block: Required[int | Sequence[int]]
    args: Required[Sequence[Any]]
    expect: Expected
    shared_bytes: int
    sources: Sequence[Source]
    lds: Mapping[str, Any]


@dataclass(frozen=True)
class CaseLaunch:
    """One launch of a kernel, as its case declares it."""

    grid: int | Sequence[int]
    block: int | Sequence[int]
    args: Sequence[Any]
    """Matrices, plain arrays, numbers, None, and lists of those for structures."""
    expect: Expected = None
    shared_bytes: int = 0
    sources: Sequence[Source] = ()
    """Where elements of plain arrays come from: other arrays, or the sums of the product."""
    lds: Mapping[str, Any] | None = None
    """Variables of the LDS, as `mfmasim.devices.Options` takes them."""

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Matrices by name, in the order of the arguments; one that is passed twice (C in place) comes once."""
        return {arg.name: arg for _, arg in leaves(self.args) if isinstance(arg, Tensor)}

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """Plain arrays by name, in order; those in fields of structures, too."""
        return {place: arg for place, arg in leaves(self.args) if isinstance(arg, Array)}

    @property
    def plain(self) -> bool:
        """Whether its arguments in memory are plain arrays alone."""
        return bool(self.arrays) and not self.tensors

    @property
    def output(self) -> Tensor | None:
        """The matrix that the kernel writes."""
        return self.tensors.get("C")

    @property
    def expression(self) -> Expression | None:
        """The expected C."""
        found = self.expect[0] if isinstance(self.expect, tuple) and len(self.expect) == 2 else self.expect
        return found if isinstance(found, Expression) else None

    @property
    def bound(self) -> Any:
        """Largest errors of C, if the case gives them with its expression."""
        given = self.expression is not None and isinstance(self.expect, tuple)
        return self.expect[1] if given else None  # type: ignore[index]

    def run(
        self,
        device: Device,
        kernel: Kernel,
        memory: Mapping[str, NDArray[Any]],
        options: Mapping[str, object] | None = None,
    ) -> Report:
        """Launch a kernel.

        Args:
            device: back end.
            kernel: the kernel.
            memory: contents of every matrix and array, by name, as from `Argument.placed`; updated in place.
            options: further arguments of `SimDevice.launch`, by name; all checks if it does not choose some.

        Returns:
            What the device reports.
        """
        args = replaced(self.args, partial(_held_by, memory))
        given: dict[str, Any] = {"checks": "all", **(options or {})}
        if self.lds:
            given["lds"] = self.lds
        return device.launch(kernel, self.grid, self.block, args, self.shared_bytes, **given)

    def run_together(
        self,
        device: SimDevice,
        kernel: Kernel,
        memories: Sequence[Mapping[str, NDArray[Any]]],
        observers: Sequence[Observer],
    ) -> bool:
        """Launch a kernel on several memories at once, without checks.

        Args:
            device: the simulator.
            kernel: the kernel.
            memories: contents of every matrix, by name, for each launch; updated in place.
            observers: receive the events, in which the number of a wave counts through all launches.

        Returns:
            Whether each launch behaved as a separate launch; if not, no memory has changed.
        """
        args = [replaced(self.args, partial(_held_by, held)) for held in memories]
        return device.launch_together(kernel, self.grid, self.block, args, self.shared_bytes, observers)


def _held_by(memory: Mapping[str, NDArray[Any]], argument: Argument) -> NDArray[Any]:
    return memory[argument.name]


KEYS = tuple(field.name for field in fields(CaseLaunch))


def launch_of(returned: object, where: str) -> CaseLaunch:
    """Check the result of a case function.

    Args:
        returned: a dict with the keys grid, block and args, and those of expect, shared_bytes and sources it needs.
        where: file, line and name of the case, for messages.

    Returns:
        The launch; its plain arrays have names.

    Raises:
        MfmasimError: a key is missing or unknown, or values do not fit together.
    """
    if not isinstance(returned, dict):
        raise MfmasimError(f"{where} returns {type(returned).__name__}, a dict with {', '.join(KEYS[:4])} is expected")
    for key in returned:  # first, as a misspelt key is missing, too
        if key not in KEYS:
            raise unknown("key", key, KEYS, f"in what {where} returns")
    for key in KEYS[:3]:
        if key not in returned:
            raise MfmasimError(f"{where} returns no {key!r}")
    args = returned["args"]
    if not isinstance(args, list | tuple):
        raise MfmasimError(f"{where}: args has to be a list, not {type(args).__name__}")
    launch = CaseLaunch(**returned)
    if launch.tensors or not launch.arrays:
        _check_matrices(launch, where)
    if launch.arrays:
        return _named(launch, where)
    if "sources" in returned:
        raise MfmasimError(f"{where}: sources are for plain arrays; matrices say by their roles what they are")
    return launch


def _check_matrices(launch: CaseLaunch, where: str) -> None:
    """Check a case of matrices."""
    different = list({arg: arg.role for _, arg in leaves(launch.args) if isinstance(arg, Tensor)}.values())
    if len(different) != len(launch.tensors):
        raise MfmasimError(f"{where}: one argument per role is expected, args has {', '.join(different)}")
    if launch.expect is None:
        return
    if launch.expression is None:
        found = type(launch.expect).__name__
        more = "; a function is for a case of plain arrays (In, Out, InOut)" if callable(launch.expect) else ""
        raise MfmasimError(f"{where}: expect has to be a matrix expression such as a @ b, not {found}{more}")
    for part in launch.expression.parts():
        if isinstance(part, Tensor) and part is not launch.tensors.get(part.name):
            raise MfmasimError(f"{where}: expect uses a matrix {part.role} that is not among args")
    if launch.output is None:
        raise MfmasimError(f"{where}: args has no C to hold what is expected")
    if launch.expression.shape != launch.output.shape:
        raise MfmasimError(f"{where}: expect has shape {launch.expression.shape}, C has {launch.output.shape}")


def _named(launch: CaseLaunch, where: str) -> CaseLaunch:
    """Check plain arrays, with or without matrices, and name them by their places among the arguments."""
    named: dict[Argument, Array] = {array: replace(array, name=place) for place, array in launch.arrays.items()}
    if len(named) != len(launch.arrays):
        raise MfmasimError(f"{where}: args has one array twice; make one for each")
    check_declared(launch.sources, list(launch.arrays.values()), where, bool(launch.tensors))
    if launch.plain:
        _check_plain(launch, where)

    def renamed(source: Source) -> Source:
        given = named[source.input] if isinstance(source.input, Array) else product_of(source.input)
        return replace(source, output=named[source.output], input=given)

    return replace(
        launch, args=replaced(launch.args, lambda arg: named.get(arg, arg)), sources=[*map(renamed, launch.sources)]
    )


def _check_plain(launch: CaseLaunch, where: str) -> None:
    """Check the expected outputs of a case of plain arrays alone."""
    if not any(array.writes for array in launch.arrays.values()):
        raise MfmasimError(f"{where}: args has no Out or InOut, so there is nothing to compare")
    if launch.expect is None:
        outputs = sum(array.writes for array in launch.arrays.values())
        raise MfmasimError(
            f"{where}: expect is missing: a function of the input arrays, such as expect=lambda x: ..., or "
            f"{'an array' if outputs == 1 else f'{outputs} arrays'}"
        )
    if launch.expression is not None:
        raise MfmasimError(f"{where}: expect has to be an array or a function of the input arrays")
