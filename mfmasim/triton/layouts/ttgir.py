"""Products and LDS tensors of kernels, read from Triton's GPU dialect with the compiler's own parser and layouts.

The compiler's Python bindings leak some of the layouts that they return, and report it when the process ends. So a
process of its own reads them (``python -m mfmasim.triton.layouts.ttgir``), and ends without that report.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.triton.layouts.held import Dot, Held, Shared
from mfmasim.triton.settings import RECORDS

FORMATS = {
    "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "i8": "i8", "i32": "i32", "f8E4M3FN": "e4m3fn",
    "f8E4M3FNUZ": "e4m3fnuz", "f8E5M2": "e5m2", "f8E5M2FNUZ": "e5m2fnuz",
}  # fmt: skip
"""Number formats by MLIR's names."""
SCALED = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn", "bf16", "f16")
"""Number formats by the number of `ScaleDotElemType`."""
DOTS = ("tt.dot", "tt.dot_scaled")
SHARED = ("ttg.local_alloc", "ttg.local_load", "ttg.local_store", "ttg.async_copy_global_to_local")
_ELEMENT = re.compile(r"(?:tensor|memdesc)<(?:\d+x)*([^,>]+)")
_PLACE = re.compile(r'"([^"]*)":(\d+):\d+')
_LDS = re.compile(r"memdesc<((?:\d+x)+)[^,]+, #ttg\.(\w+<.*>), #(?:ttg\.shared_memory|smem)")


def read(texts: Sequence[str], arch: str, wave: int) -> list[tuple[list[Dot], list[Shared]]]:
    """Products and LDS tensors of each kernel, in the order of its text.

    Args:
        texts: kernels in Triton's GPU dialect (``asm["ttgir"]``).
        arch: the architecture they were compiled for.
        wave: lanes of a wave.

    Raises:
        MfmasimError: the installed Triton cannot read them.
    """
    environment = {name: value for name, value in os.environ.items() if name != RECORDS}
    done = subprocess.run(
        [sys.executable, "-m", "mfmasim.triton.layouts.ttgir"],
        input=json.dumps({"texts": list(texts), "arch": arch, "wave": wave}),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise MfmasimError(f"layouts: Triton's reader failed: {last[0]}")
    return [
        ([_dot_of(one) for one in dots], [Shared(**one | {"shape": tuple(one["shape"])}) for one in shared])
        for dots, shared in json.loads(done.stdout)
    ]


def _dot_of(record: dict[str, Any]) -> Dot:
    """A product from its JSON form, which has lists for tuples."""
    operands = {}
    for name, held in record["operands"].items():
        bases = {field: tuple(map(tuple, held[field])) for field in ("registers", "lanes", "waves")}
        operands[name] = Held(**held | bases | {"shape": tuple(held["shape"])})
    return Dot(**record | {"operands": operands, "shape": tuple(record["shape"])})


def main() -> None:
    """Read texts from standard input, and write products and LDS tensors as JSON."""
    given = json.load(sys.stdin)
    found = [_read(text, given["arch"], given["wave"]) for text in given["texts"]]
    sys.stdout.write(json.dumps([[[asdict(one) for one in each] for each in pair] for pair in found]))
    sys.stdout.flush()
    os._exit(0)  # see above


def _read(text: str, arch: str, wave: int) -> tuple[list[Dot], list[Shared]]:
    from triton._C.libtriton import gluon_ir, ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("hip", arch, wave)).load_dialects(context)
    with tempfile.TemporaryDirectory(prefix="mfmasim-triton-") as folder:
        path = Path(folder) / "kernel.ttgir"
        path.write_text(text)
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:  # Triton prints a layout of one wave in a form that it does not read
            return [Dot("", {}, unread=f"Triton cannot read the text that it printed: {error}")], []
    module.context = context  # has to live as long
    builder = gluon_ir.GluonOpBuilder(context)
    dots: list[Dot] = []
    shared: list[Shared] = []

    def visit(operation: Any) -> None:
        name = operation.get_name()
        if name in DOTS:
            dots.append(_dot(operation, builder))
        elif name in SHARED:
            shared.extend(_shared(operation))

    module.walk(visit)
    return dots, shared


def _place(value: Any) -> str:
    """File and line of a value."""
    found = _PLACE.search(str(value.get_loc()))
    return f"{found[1]}:{found[2]}" if found else ""


def _values(operation: Any) -> list[Any]:
    return [operation.get_operand(number) for number in range(operation.get_num_operands())]


def _dot(operation: Any, builder: Any) -> Dot:
    values = _values(operation)
    result = operation.get_result(0)
    names = ["A", "B", "C", "scale_A", "scale_B"]
    formats = {name: _format(value) for name, value in zip(names, values, strict=False)}
    if operation.get_name() == "tt.dot_scaled":
        for name, attribute in (("A", "a_elem_type"), ("B", "b_elem_type")):
            formats[name] = SCALED[operation.get_int_attr(attribute)]
    given = {name: value for name, value in zip(names, values, strict=False) if name != "C"}
    try:
        held = {name: _held(value, formats[name], builder) for name, value in given.items()}
        layout = builder.get_gluon_layout_from_tensor(result)
        held["D"] = _held(result, _format(result), builder)
    except (ValueError, TypeError, AttributeError) as error:  # an encoding that the wheel's Python does not know
        return Dot(_place(result), {}, unread=f"{type(error).__name__}: {error}")
    shape = tuple(int(size) for size in getattr(layout, "instr_shape", ()))
    return Dot(_place(result), held, bool(getattr(layout, "transposed", False)), shape)


def _format(value: Any) -> str:
    found = _ELEMENT.search(str(value.get_type()))
    element = found[1] if found else ""
    return FORMATS.get(element, element)


def _held(value: Any, fmt: str, builder: Any) -> Held:
    layout = builder.get_gluon_layout_from_tensor(value)
    shape = tuple(int(size) for size in value.get_shape())
    linear = builder.to_linear_layout(layout._to_ir(builder), list(shape))  # noqa: SLF001
    bases = (linear.reg_bases, linear.lane_bases, linear.warp_bases)
    registers, lanes, waves = (tuple(tuple(base) for base in each) for each in bases)
    return Held(shape, fmt, registers, lanes, waves, str(value.get_type()))


def _shared(operation: Any) -> list[Shared]:
    """The LDS tensors that an operation allocates, reads or writes."""
    values = _values(operation)
    values += [operation.get_result(number) for number in range(operation.get_num_results())]
    at = _place(operation.get_result(0)) if operation.get_num_results() else _place(values[0])
    found = []
    for value in values:
        described = _LDS.search(str(value.get_type()))
        if described:
            shape = tuple(int(size) for size in described[1].split("x") if size)
            found.append(Shared(at, operation.get_name(), shape, described[2]))
    return found


if __name__ == "__main__":
    main()
