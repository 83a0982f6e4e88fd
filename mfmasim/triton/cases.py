"""Kernels of Triton as cases of `verify`: compiled as a launch with these arguments would compile them."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from mfmasim import verify
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.triton.versions import need
from mfmasim.verify.arguments import Argument
from mfmasim.verify.roles import Tensor, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.kernels import Code
    from mfmasim.triton.compiled import TritonCode

TYPES = {
    "f16": "fp16", "f32": "fp32", "xf32": "fp32", "f64": "fp64", "e4m3fn": "fp8e4nv", "e4m3fnuz": "fp8e4b8",
    "e5m2": "fp8e5", "e5m2fnuz": "fp8e5b16", "e2m1fn": "u8", "e8m0fnu": "u8",
} | {name: name for name in ("bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")}  # fmt: skip
"""Triton's element types by number format; it has bytes for two elements of FP4, and for scales."""


class Pointer:
    """What Triton asks of a tensor before it compiles: element type, alignment, and its bytes."""

    def __init__(self, dtype: str, offset: int, room: int) -> None:
        """A pointer to memory that nothing reads.

        Args:
            dtype: Triton's element type.
            offset: bytes past an aligned address.
            room: bytes of the tensor.
        """
        self.dtype = dtype
        self.data_ptr = lambda: offset
        self.ptr_range = lambda: room


def case(fn: object, **declared: Any) -> Callable[[verify.cases.Build], verify.cases.Build]:
    """Declare a kernel of Triton as a case. It is compiled for its arguments as Triton's own launch would compile it.

    Args:
        fn: a function with `@triton.jit`.
        declared: what `mfmasim.verify.case` takes, without a source, a kernel and flags.

    Returns:
        A decorator, as `mfmasim.verify.case` returns it. The function returns a dict with ``grid``, ``args`` (an entry
        for each parameter of the kernel that is no constant, in order), ``constants`` (what the program passes by name:
        `tl.constexpr` parameters, and options such as `num_warps`) and ``expect``.

    Raises:
        MfmasimError: Triton or PyTorch is missing, or `fn` is no kernel.
    """
    triton = need()
    if not isinstance(fn, triton.runtime.JITFunction):
        raise MfmasimError(
            f"case: a function with @triton.jit is expected, not {type(fn).__name__}; the configuration of an "
            "autotuned kernel stands in the case's constants"
        )

    def decorate(build: verify.cases.Build) -> verify.cases.Build:
        signature = inspect.signature(build)

        def returned(arch: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
            facts = {"arch": arch, "wave": find_arch(arch).wave_sizes[0]}
            return build(**{**parameters, **{name: facts[name] for name in facts if name in signature.parameters}})

        @functools.wraps(fn.fn)
        def make(arch: str, **parameters: Any) -> Code:
            return _compiled(fn, arch, returned(arch, parameters))[0]

        @functools.wraps(build)
        def launch(arch: str, **parameters: Any) -> Mapping[str, Any]:
            fields = returned(arch, parameters)
            code, args = _compiled(fn, arch, fields)
            return {**{name: fields[name] for name in fields if name != "constants"}, **code.fields(args)}

        named = inspect.Parameter("arch", inspect.Parameter.KEYWORD_ONLY, default="")
        others = [one for name, one in signature.parameters.items() if name != "arch"]
        launch.__signature__ = signature.replace(parameters=[*others, named])  # type: ignore[attr-defined]
        verify.case(make, kernel=fn.fn.__name__, **declared)(launch)
        return build

    return decorate


def _compiled(fn: Any, arch: str, fields: Mapping[str, Any]) -> tuple[TritonCode, list[Any]]:
    """The code for a launch, and those of its arguments that the code takes.

    Args:
        fn: the kernel.
        arch: the architecture.
        fields: what the case's function returns.

    Raises:
        MfmasimError: an argument or a constant does not fit, or the kernel does not compile.
    """
    from mfmasim.triton.installation import session

    if not isinstance(fields, dict) or not isinstance(fields.get("args"), list | tuple):
        raise MfmasimError("a dict with grid, args, constants and expect is expected, args a list")
    constants = dict(fields.get("constants", {}))
    names = [name for name in fn.arg_names if name not in constants]
    args = list(fields["args"])
    if len(names) != len(args):
        raise MfmasimError(
            f"{fn.fn.__name__} has {len(names)} parameters that are not among constants ({', '.join(names)}), "
            f"args has {len(args)}"
        )
    with session(arch, "none"):
        given = {name: _stand_in(name, arg, arch) for name, arg in zip(names, args, strict=True)}
        try:
            made = fn.warmup(**given, **constants, grid=(1,))
        except Exception as error:  # Triton's compiler raises errors of many kinds
            text = " ".join(str(error).split())
            raise MfmasimError(
                f"{fn.fn.__name__} does not compile for {arch}: {type(error).__name__}: {text}"
            ) from error
    kinds = made.src.signature  # an argument that is 1 or None becomes a constant
    return _code(made), [arg for name, arg in zip(names, args, strict=True) if kinds[name] != "constexpr"]


@functools.lru_cache(maxsize=64)
def _code(made: object) -> TritonCode:
    from mfmasim.triton.compiled import TritonCode

    return TritonCode.of(made, f"triton {need().__version__}")


def _stand_in(name: str, arg: object, arch: str) -> Any:
    """What Triton is to compile an argument for."""
    if not isinstance(arg, Argument):
        if arg is None or isinstance(arg, bool | int | float):
            return arg
        raise MfmasimError(
            f"argument {name}: a matrix, an array as In, Out or InOut, a number or None is expected, not "
            f"{type(arg).__name__}"
        )
    kind = format_of(arg, find_arch(arch)).name if isinstance(arg, Tensor) else arg.format
    if kind not in TYPES:
        raise unknown("format", kind, TYPES, f"of argument {name} of a Triton kernel")
    reach = 1 + sum((size - 1) * stride for size, stride in zip(arg.shape, arg.strides, strict=True))
    return Pointer(TYPES[kind], arg.offset, reach * arg.element_bits(find_arch(arch)) // 8)
