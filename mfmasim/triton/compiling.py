"""Kernels compiled by Triton as code objects, for launches and cases of `verify` without a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.triton.versions import need

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.kernels import Code


def compile(  # noqa: A001  (the contract's name)
    fn: object, signature: Mapping[str, str], constexprs: Mapping[str, Any], arch: str, **options: Any
) -> Code:
    """Compile a kernel of Triton.

    Args:
        fn: a function with `@triton.jit`.
        signature: type of each argument that is not a constant, by name: ``"*fp16"``, ``"i32"``. A pointer is taken as
            a multiple of 16 bytes where the type ends in ``:16``, a number as a multiple of 16 likewise.
        constexprs: value of each constant, by name.
        arch: the architecture.
        options: of Triton's compiler, such as `num_warps`.

    Returns:
        The code; `metadata` has what a launch needs: the kernel's name, waves of a workgroup (`num_warps`), dynamic LDS
        (`shared`), and Triton's other metadata; `asm` has the text of every stage.

    Raises:
        MfmasimError: Triton is missing, an argument has no type or two, or the kernel does not compile.
    """
    triton = need()
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    if not isinstance(fn, triton.runtime.JITFunction):
        raise MfmasimError(f"compile: a function with @triton.jit is expected, not {type(fn).__name__}")
    names = list(fn.arg_names)
    for name in [*signature, *constexprs]:
        if name not in names:
            raise unknown("argument", name, names, f"of {fn.__name__}")
    missing = [name for name in names if name not in signature and name not in constexprs]
    twice = [name for name in names if name in signature and name in constexprs]
    if missing or twice:
        what = f"no type: {', '.join(missing)}" if missing else f"a type and a value: {', '.join(twice)}"
        raise MfmasimError(f"compile: arguments of {fn.__name__} have {what}")
    target = find_arch(arch)
    kinds = {name: str(signature[name]).partition(":")[0] if name in signature else "constexpr" for name in names}
    aligned = {
        (names.index(name),): [["tt.divisibility", 16]] for name in signature if str(signature[name]).endswith(":16")
    }
    constants = {(names.index(name),): value for name, value in constexprs.items()}
    from mfmasim.triton.compiled import TritonCode

    try:
        made = triton.compile(
            ASTSource(fn, kinds, constants, aligned),
            target=GPUTarget("hip", target.name, target.wave_sizes[0]),
            options=options,
        )
    except Exception as error:  # Triton's compiler raises errors of many kinds
        text = " ".join(str(error).split())
        raise MfmasimError(f"{fn.__name__} does not compile for {arch}: {type(error).__name__}: {text}") from error
    return TritonCode.of(made, f"triton {triton.__version__}")
