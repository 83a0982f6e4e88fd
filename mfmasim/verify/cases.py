"""Kernel cases: what a user declares about a kernel."""

from __future__ import annotations

import inspect
import re
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mfmasim.architectures import arch as find_arch
from mfmasim.devices.options import chosen_checks
from mfmasim.errors import MfmasimError, one_line, unknown
from mfmasim.verify.contract import Parameters, broken
from mfmasim.verify.data import CLASSES
from mfmasim.verify.launch import launch_of
from mfmasim.verify.orders import orders_of
from mfmasim.verify.patterns import check_pattern
from mfmasim.verify.prebuilt import code_for, placed_flags
from mfmasim.verify.python_source import extracted, is_python_text
from mfmasim.verify.suppress import check_declared, check_suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType

    from mfmasim.kernels import Code, Kernel
    from mfmasim.verify.claims import Claim
    from mfmasim.verify.launch import CaseLaunch

Build: TypeAlias = "Callable[..., Mapping[str, Any]]"
"""A case function: from parameters to a `LaunchDict`."""
Maker: TypeAlias = "Callable[..., Code]"
"""From an architecture, and parameters by name, to a code object."""
MATRIX = re.compile("mfma|wmma|smfmac|swmmac")
_Build = TypeVar("_Build", bound=Build)


@dataclass(frozen=True)
class Case:
    """A declared kernel case. `build` called with the parameters gives grid, block, args and expect."""

    name: str
    source: Path
    kernel: str
    """Kernel name; ``{parameter}`` is replaced."""
    arch: tuple[str, ...]
    build: Build
    parameters: Parameters
    """Defaults of `build`, overridden by one entry of ``each``."""
    needs: str = ""
    """The contract: a Python condition over the parameters."""
    golden: str = ""
    data: tuple[str, ...] = ("integers", "normal")
    flags: tuple[str, ...] = ()
    mapping: Parameters | None = field(default_factory=dict)
    """Parameters for the mapping check (such as alpha=1, beta=0); None leaves the check out."""
    executes: tuple[str, ...] = ()
    """Patterns (regular expressions over whole mnemonics) that executed instructions have to match."""
    skip: Mapping[str, str] = field(default_factory=dict)
    """Architectures of `arch` that are left out, each with its reason."""
    suppress: Mapping[str, str] = field(default_factory=dict)
    """Ids of findings, or checks, that do not count, each with its reason."""
    claims: tuple[Claim, ...] = ()
    """Counts that a text states about the kernel; ``mfmasim report`` judges them."""
    draws: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Values of parameters that drawn trials may take in addition to sizes that the contract allows."""
    checks: str = "all"
    """Checks of the simulator."""
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Orders that turns of the main loop have to have, by architecture (`mfmasim.verify.orders`)."""
    fails: tuple[str, ...] = ()
    """Ids of findings, or checks, that this wrong kernel is declared to have."""
    demands_matrix: bool = False
    """Whether matrix instructions have to be executed: ``mapping=`` is given, or a pattern of `executes` names them."""
    maker: Maker | None = None
    """Makes the code object where it is not compiled from `source`, which then only names the kernel's file."""
    compiler: str | None = None
    """Compile with this one, whatever is prebuilt."""

    def __repr__(self) -> str:
        return f"<Case {self.title}: {self.kernel} of {self.source.name} for {', '.join(self.arch)}>"

    @property
    def title(self) -> str:
        """Name with the parameters that distinguish this variant."""
        return self.name

    def kernel_name(self) -> str:
        """Kernel name with the parameters filled in."""
        return self._filled(self.kernel)

    def golden_name(self) -> str:
        """Golden case with the parameters filled in."""
        return self._filled(self.golden)

    def _filled(self, text: str) -> str:
        try:
            return str(text).format_map(dict(self.parameters))
        except (KeyError, ValueError, IndexError) as error:
            raise MfmasimError(f"case {self.name}: {text!r} cannot be filled with its parameters: {error}") from None

    def with_parameters(self, changes: Parameters) -> Case:
        """The case with some parameters changed.

        Raises:
            MfmasimError: a parameter the case does not have.
        """
        for name, value in changes.items():
            if name not in self.parameters:
                raise unknown("parameter", name, self.parameters, f"of case {self.name}")
            default = self.parameters[name]
            number = isinstance(default, int | float)
            truth = isinstance(value, bool) and not isinstance(default, bool)
            if number and (truth or isinstance(value, str) or not isinstance(value, type(default) | int)):
                raise MfmasimError(
                    f"parameter {name}={value!r} of case {self.name}: {type(default).__name__} is expected"
                )
        return replace(self, parameters={**self.parameters, **changes})

    def with_source(self, path: Path) -> Case:
        """The case with a changed copy of its source; headers: beside the copy, then beside the original."""
        return replace(self, source=path, flags=(*self.flags, f"-iquote{self.source.parent}"))

    def compiled(self, arch: str, compiler: str | None = None) -> Kernel:
        """The case's kernel: prebuilt, compiled now, or from the case's own maker.

        Args:
            arch: architecture.
            compiler: the compiler to use instead of prebuilt code; default: the case's `compiler`.

        Raises:
            MfmasimError: it does not compile, the maker fails, or the code object lacks the kernel.
        """
        compiler = compiler or self.compiler
        if self.maker is None:
            return code_for(self.source, arch, compiler, self.flags)[self.kernel_name()]
        if compiler is not None:
            raise MfmasimError(f"case {self.name} makes its code itself: no compiler can be chosen, not {compiler!r}")
        given = {name: value for name, value in self.parameters.items() if name not in ("arch", "wave")}
        code: Code = self._called(self.maker, find_arch(arch).name, **given)
        return code[self.kernel_name()]

    def make(self, changes: Parameters | None = None) -> CaseLaunch:
        """Call the case function and check its result.

        Args:
            changes: parameters that differ from the case's own.

        Returns:
            The launch.

        Raises:
            MfmasimError: the function fails, or does not return a valid case; names file and line.
        """
        return launch_of(self._called(self.build, **{**self.parameters, **(changes or {})}), self._where)

    @property
    def _where(self) -> str:
        code = _code(self.build)
        return f"{Path(code.co_filename).name}:{code.co_firstlineno}: {self.name}"

    @contextmanager
    def named(self) -> Iterator[None]:
        """Add the case's file and line to errors about the arguments that it returned.

        Raises:
            MfmasimError: as raised within, with file, line and name of the case.
        """
        try:
            yield
        except MfmasimError as error:
            said = str(error)
            if type(error) is not MfmasimError or self._where in said:
                raise
            raise MfmasimError(f"{self._where}: {error}") from error

    def _called(self, function: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """The result of a function of the case file; its errors have the line."""
        try:
            return function(*args, **given)
        except MfmasimError as error:
            raise MfmasimError(f"{self._where}: {error}") from None
        except Exception as error:  # a user's function may fail in any way; say where
            path = Path(_code(self.build).co_filename)
            raise MfmasimError(f"{path.name}{line_in(error, path)}: {one_line(error)}") from error

    def check_contract(self) -> None:
        """Refuse parameters that the kernel was not written for.

        Raises:
            MfmasimError: the condition does not hold; names it and the values.
        """
        part = broken(self.needs, self.parameters) if self.needs else ""
        if part:
            whole = f" (of '{self.needs}')" if " and " in self.needs else ""
            raise MfmasimError(f"{self.name}: the contract {part}{whole}")


_collected: ContextVar[list[Case] | None] = ContextVar("collected", default=None)
_folder: ContextVar[Path] = ContextVar("folder", default=Path())
_own_only: ContextVar[bool] = ContextVar("own_only", default=False)
CASE_FILE = "mfmasim_cases"
"""Name under which a case file runs."""


def case(
    source: str | Maker,
    *,
    kernel: str,
    arch: str | Sequence[str],
    needs: str = "",
    golden: str = "",
    each: Sequence[Parameters] = (),
    data: Sequence[str] = ("integers", "normal"),
    flags: Sequence[str] = (),
    mapping: Parameters | None = None,
    trace: bool = True,
    executes: str | Sequence[str] = (),
    skip: Mapping[str, str] | None = None,
    suppress: Mapping[str, str] | None = None,
    claims: Sequence[Claim] = (),
    draws: Mapping[str, Sequence[Any]] | None = None,
    checks: str = "all",
    fails: str | Sequence[str] = (),
    order: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
) -> Callable[[_Build], _Build]:
    """Declare a kernel case. The function's parameters are the shape and whatever else varies, with defaults.

    Args:
        source: the ``.hip`` source or an ``.hsaco``, relative to the case file; a string of a Python file, as
            ``"submission.py::CUDA_SRC"``, which is read and not executed; or a function that makes the code: it is
            called with the architecture, and the case's parameters by name.
        kernel: kernel name; ``{parameter}`` is replaced by a parameter's value.
        arch: architectures that the case supports.
        needs: the contract, such as ``"M % 64 == 0 and K >= 256"``; parameters that break it are refused.
        golden: golden case whose inputs and outputs are compared bit for bit (also with ``{parameter}``).
        each: variants: parameter values, each a separate case.
        data: data classes for inputs that are drawn (without golden data).
        flags: compiler flags, for a source that is compiled; folders are relative to that source.
        mapping: parameters for the mapping check where they differ, such as ``{"alpha": 1.0, "beta": 0.0}``; without
            it parameters named alpha and beta are 1 and 0 there.
        trace: whether the mapping check makes sense for this kernel.
        executes: patterns of mnemonics that have to be executed; each is a regular expression for a whole name.
        skip: architectures to leave out, each with its reason.
        suppress: ids of findings, or names of checks, that do not count, each with its reason; they stay in
            the result. One that matches nothing is reported.
        claims: counts that a text states about the kernel, such as `Claim("32 in a turn", "v_mfma.*", 32)`.
        draws: values of parameters that `mfmasim explore` may take, the simplest first, such as
            ``{"window": (1, 2, 5)}``; sizes in `needs`, strides, offsets and factors need no declaration.
        checks: checks of the simulator, as `launch` takes them, such as ``"all,hazards:manual"``.
        fails: ids of findings, or names of checks, that this kernel is wrong by, on purpose. The case fails, also
            where they are warnings; and it fails with ``fails-missing`` where one of them is not found.
        order: orders of the main loop, such as ``"R4 F2 B lgkmcnt(0) M8"``: every turn has to have one of them, and
            each has to occur; also by architecture.

    Returns:
        A decorator. The function returns a dict with ``grid``, ``block``, ``args``, ``expect`` and optionally
        ``shared_bytes``.
    """

    def decorate(build: _Build) -> _Build:
        collected = _collected.get()
        defaults = {}
        for name, parameter in inspect.signature(build).parameters.items():
            if parameter.default is parameter.empty or parameter.kind is parameter.VAR_POSITIONAL:
                raise MfmasimError(f"case {build.__name__}: parameter {name} needs a default value")
            defaults[name] = parameter.default
        if not data and not golden:
            raise MfmasimError(f"case {build.__name__}: data names no class of inputs")
        for name in data:
            if name not in CLASSES:
                raise unknown("data class", name, CLASSES, f"in case {build.__name__}")
        patterns = (executes,) if isinstance(executes, str) else tuple(executes)
        for pattern in patterns:
            check_pattern(pattern, f"case {build.__name__}: executes pattern")
        for where, names in (("mapping", mapping or {}), ("draws", draws or {})):
            for name in names:
                if name not in defaults:
                    raise unknown("parameter", name, defaults, f"in {where}= of case {build.__name__}")
        maker = source if callable(source) else None
        if maker is not None and flags:
            raise MfmasimError(f"case {build.__name__}: flags={flags!r} without a source to compile")
        home = _folder.get()
        path = (home / (_code(source).co_filename if callable(source) else source)).resolve()
        given = placed_flags(flags, path.parent)
        if isinstance(source, str) and is_python_text(source):
            given = (*placed_flags(flags, path.parent), f"-I{path.parent}")  # headers beside the Python file
            path = extracted(source, home)
        archs = tuple(find_arch(a).name for a in ([arch] if isinstance(arch, str) else arch))
        for name, reason in (skip or {}).items():
            if name not in archs or not reason:
                raise MfmasimError(
                    f"case {build.__name__}: skip={{{name!r}: {reason!r}}} needs one of arch= and a reason"
                )
        chosen_checks(checks)
        check_suppressions(suppress or {}, f"case {build.__name__}")
        declared = (fails,) if isinstance(fails, str) else tuple(fails)
        check_declared(declared, f"case {build.__name__}")
        orders = orders_of(order, archs, f"order of case {build.__name__}")
        for variant in each or ({},):
            for name in variant:
                if name not in defaults:
                    raise unknown("parameter", name, defaults, f"in each= of case {build.__name__}")
            label = f"[{','.join(f'{k}={v}' for k, v in variant.items())}]" if variant else ""
            parameters = {**defaults, **variant}
            traced = (
                dict(mapping)
                if mapping is not None
                else {name: value for name, value in (("alpha", 1.0), ("beta", 0.0)) if name in parameters}
            )
            if collected is not None and not (_own_only.get() and _imported()):
                collected.append(
                    Case(
                        build.__name__ + label,
                        path,
                        kernel,
                        archs,
                        build,
                        parameters,
                        needs,
                        golden,
                        tuple(data),
                        given,
                        traced if trace else None,
                        patterns,
                        dict(skip or {}),
                        dict(suppress or {}),
                        tuple(claims),
                        dict(draws or {}),
                        checks,
                        orders,
                        declared,
                        mapping is not None or any(MATRIX.search(pattern) for pattern in patterns),
                        maker,
                    )
                )
        return build

    return decorate


def _imported() -> bool:
    """Whether the case file is importing the module that declares a case."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame is not None and frame.f_globals.get("__name__") != CASE_FILE:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@contextmanager
def collecting(path: Path, *, own: bool = False) -> Iterator[list[Case]]:
    """Gather the cases that a file declares while it runs.

    Args:
        path: the file.
        own: exclude cases of modules that the file imports.
    """
    found: list[Case] = []
    tokens = _collected.set(found), _folder.set(path.parent), _own_only.set(own)
    try:
        yield found
    finally:
        _collected.reset(tokens[0])
        _folder.reset(tokens[1])
        _own_only.reset(tokens[2])


def _code(function: Callable[..., Any]) -> CodeType:
    """The code of the function in a file, without its wrappers."""
    return inspect.unwrap(function).__code__  # type: ignore[no-any-return]


def line_in(error: Exception, path: Path) -> str:
    """The line of a file at which an exception was raised, as ``:line``; empty if it was raised elsewhere."""
    trace, line = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line
