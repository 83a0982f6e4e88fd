"""The tools as a client sees them: name, one sentence, and the JSON Schema of the arguments."""

from __future__ import annotations

from typing import Any

from mfmasim.architectures import DEFAULT, SIMULATED

__all__ = ["MOST_SECONDS", "SECONDS", "TOOLS"]

SECONDS = 30.0
"""That a question may take, unless it says so."""
MOST_SECONDS = 300.0

Schema = dict[str, Any]


def _text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


def _object(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


SIZES = {"anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": {"type": ["integer", "string"]}}]}
ARGUMENT = _object(
    {
        "name": _text("name in expressions, such as a"),
        "kind": _text(
            "A, B, C: matrices whose fragments are followed (C is the result); scale_A, scale_B: MX scales; in, out, "
            "inout: plain arrays; value: a number; null: a null pointer",
            enum=["A", "B", "C", "scale_A", "scale_B", "in", "out", "inout", "value", "null"],
        ),
        "format": _text("f32, f16, bf16, fp8 (the architecture's own), e4m3fn, i32, ...; of a value i32, f32, ..."),
        "shape": {**SIZES, "description": "A: [M, K], B: [K, N], C: [M, N]; sizes are expressions over `sizes`"},
        "order": _text("row (elements of a row are neighbours) or column", enum=["row", "column"]),
        "ld": {"type": ["integer", "string"], "description": "elements from one line to the next; without it no gap"},
        "read": _text("format to which the kernel converts the elements before it multiplies"),
        "data": {
            "type": ["string", "array"],
            "description": "normal, integers, special, bits, index, zeros; values; or an expression of NumPy",
        },
        "value": {"type": ["number", "string"], "description": "of a value: an expression; without it its name's size"},
    },
    ("kind",),
)
KERNEL = {
    "source": _text("the HIP source; or give file"),
    "file": _text("path of a source (.hip, .s) or code object (.hsaco, .co) in a folder that the server may read"),
    "arch": _text(f"architecture; without it {DEFAULT}", enum=list(SIMULATED)),
    "kernel": _text("name of the kernel, where there are several"),
    "defines": {
        "type": "object",
        "description": "macros of the compiler",
        "additionalProperties": {"type": ["string", "number"]},
    },
}
PROBLEM = {
    **KERNEL,
    "sizes": {
        "type": "object",
        "description": "numbers by name, such as {M: 128, N: 192, K: 64}; all different, so that a swap shows",
        "additionalProperties": {"type": "number"},
    },
    "grid": {**SIZES, "description": "workgroups, such as ['N // 64', 'M // 64']"},
    "block": {**SIZES, "description": "work-items of a workgroup, such as [256]"},
    "shared_bytes": {"type": ["integer", "string"], "description": "dynamic LDS"},
    "arguments": {"type": "array", "items": ARGUMENT, "description": "what the kernel takes, in order"},
    "expect": _text(
        "the reference: with matrices an expression such as alpha * (a @ b) + beta * c; with plain "
        "arrays an expression or "
        "a function of the inputs (those of kind in and inout, in order) in NumPy's or PyTorch's "
        "words: it is evaluated, "
        "not executed, in float64"
    ),
    "needs": _text(
        "the contract, such as M % 64 == 0 and K % 32 == 0; the kernel is judged at further sizes of it, too"
    ),
    "tolerance": _object({"absolute": {"type": "number"}, "relative": {"type": "number"}, "ulp": {"type": "integer"}}),
    "data": {"type": "array", "items": {"type": "string"}, "description": "classes of inputs of matrices"},
}
TIME = {
    "seconds": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": MOST_SECONDS,
        "description": f"that it may take; without it {SECONDS:g}",
    }
}

TOOLS: dict[str, tuple[str, Schema]] = {
    "check": (
        (
            "Is a kernel right? Compiles it, executes it lane by lane, compares outputs with the reference, follows "
            "every matrix fragment, looks for races, waits, bounds, uninitialised values. Answers with the one finding "
            "that matters and edits that may repair it: apply one, check again."
        ),
        _object({**PROBLEM, **TIME}, ("arguments", "grid", "block", "expect")),
    ),
    "inspect": (
        (
            "What a code object or source holds: kernels, arguments, registers, LDS, occupancy, matrix instructions, "
            "what cannot be executed."
        ),
        _object({**KERNEL, **TIME}),
    ),
    "show": (
        (
            "An architecture, a product, a number format, a matrix instruction, the layout of an "
            "operand, or where an element "
            "lies: lane, register, bits."
        ),
        _object(
            {
                "what": _text("an architecture (gfx950), a product (mi300x), a number format (e4m3fn), an instruction"),
                "instruction": _text("with an architecture: a matrix instruction"),
                "element": _text("an element of an operand, such as D[5,17]"),
                "operand": _text("layout of this operand", enum=["A", "B", "C", "D", "scale_A", "scale_B", "index"]),
                "a": _text("number format of A, where the instruction has a choice"),
                "b": _text("of B"),
                **TIME,
            },
            ("what",),
        ),
    ),
    "lds": (
        (
            "Bank conflicts of an LDS access by a wave, phase by phase; with tile: a search for a "
            "swizzle without conflicts."
        ),
        _object(
            {
                "arch": KERNEL["arch"],
                "instruction": _text("such as ds_read_b128"),
                "address": _text("byte address by lane, such as lane % 16 * 128 + lane // 16 * 16"),
                "stride": {"type": "integer", "description": "bytes from lane to lane, instead of address"},
                "layout": _text("a layout, such as Swizzle<3,3,3> o (16,4):(64,8), instead of address"),
                "element_bytes": {"type": "integer", "description": "bytes of an element of layout or tile"},
                "active": _text("active lanes, such as lane < 48"),
                "swizzle": _text("a published swizzle, applied to the address"),
                "tile": _text("ROWSxBYTES of a tile: find a swizzle for it"),
                "write": _text("with tile: the instruction that stores it"),
                "operands": {
                    "type": "array",
                    "description": "with tile: rows of LDS instruction, matrix instruction, operand",
                    "items": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
                },
                "reads": {
                    "type": "array",
                    "description": "with tile: rows of LDS instruction, row and column as expressions of lane and n",
                    "items": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
                },
                "accesses": {"type": "integer", "description": "with reads: values of n"},
                **TIME,
            }
        ),
    ),
    "why": (
        "Why an element of an output has its value: products, lanes, registers, LDS bytes, lines, inputs.",
        _object(
            {**PROBLEM, "element": _text("such as C[17,3] or out[5]"), **TIME},
            ("arguments", "grid", "block", "expect", "element"),
        ),
    ),
    "cost": (
        "What bounds the kernel: cycles of each pipe, source lines that make the bound, occupancy, registers.",
        _object(
            {**PROBLEM, "product": _text("a GPU, such as mi300x"), **TIME}, ("arguments", "grid", "block", "expect")
        ),
    ),
    "prove": (
        (
            "What holds for all sizes of the contract: bounds, races, waits, bank conflicts, fragments; "
            "proved, refuted with a "
            "size, or unknown. Without arguments: of any launch of the kernel."
        ),
        _object({**PROBLEM, **TIME}),
    ),
    "compare": (
        "Two kernels on one problem: outputs bit by bit, findings, conflicts, registers, counters, cost.",
        _object(
            {**PROBLEM, "other": _object({"source": KERNEL["source"], "file": KERNEL["file"]}), **TIME},
            ("arguments", "grid", "block", "expect", "other"),
        ),
    ),
    "rest": (
        "Lines of an earlier answer that its first part left out.",
        _object(
            {
                "id": _text("the answer's id"),
                "from": {"type": "integer", "minimum": 0, "description": "the first line, counted from 0"},
            },
            ("id",),
        ),
    ),
}
"""Tools by name: what they do, and the schema of their arguments."""
