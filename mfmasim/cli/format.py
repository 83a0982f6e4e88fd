"""``mfmasim show formats``: number formats, the value table of one, decoded codes and encoded values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.cli.needs import needed
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.formats import Explanation, Format

ROUNDINGS = ("nearest_even", "toward_zero", "up", "down")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser("format", help="show number formats: limits, value tables, decoded codes")
    parser.add_argument("name", nargs="?", help="format, such as e4m3fnuz (default: list all formats and their limits)")
    parser.add_argument("--arch", help="architecture or product whose flavour fp8 and bf8 mean")
    parser.add_argument("codes", nargs="*", help="codes to decode, such as 0x2b or 0b101")
    parser.add_argument("--encode", nargs="+", type=float, metavar="VALUE", help="numbers to encode (as float64)")
    parser.add_argument("--rounding", choices=ROUNDINGS, help="for --encode (default: nearest_even)")
    parser.add_argument("--overflow", help="for --encode: saturate (default) or infinity_or_nan")
    add_formats(parser, (*FORMATS, "svg", "html"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print limits, value tables, decoded codes or encoded values."""
    from mfmasim.architectures import arch as find_arch
    from mfmasim.errors import MfmasimError
    from mfmasim.formats import FORMATS as ALL
    from mfmasim.formats import explain, format  # noqa: A004

    form = wanted_format(args)
    if args.name is None:
        needed(args, {"--arch": "arch", "--encode": "encode"}, "a format")
    if not args.encode:
        needed(args, {"--rounding": "rounding", "--overflow": "overflow"}, "--encode")
    if args.arch is not None:
        find_arch(args.arch)
    if args.name is None:
        _no_picture(form)
        names = [name for name, _ in limit_rows(ALL["f32"])]
        rows = [[value for _, value in limit_rows(fmt)] for fmt in ALL.values()]
        if form == "terminal":  # two narrow tables instead of one of 17 columns
            cut = names.index("code of largest")
            print(table(names[:cut], [row[:cut] for row in rows], form, "number formats"), end="")
            names, rows = ["format", *names[cut:]], [[row[0], *row[cut:]] for row in rows]
        print(table(names, rows, form, "codes" if form == "terminal" else "number formats"), end="")
        return 0
    fmt = format(args.name, args.arch)
    if args.encode:
        _no_picture(form)
        if args.codes:
            raise MfmasimError("codes and --encode cannot be combined")
        rounding, overflow = args.rounding or "nearest_even", args.overflow or "saturate"
        rows = list(encode_rows(fmt, args.encode, rounding, overflow))
        print(table(ENCODE_COLUMNS, rows, form, f"{fmt.name}, {rounding}, {overflow}"), end="")
        return 0
    if args.codes:
        codes = [_number(text) for text in args.codes]
        if form == "terminal":
            for code in codes:
                print(*explain(fmt, code).lines(), sep="\n")
            return 0
        _no_picture(form)
        print(table(CODE_COLUMNS, [code_row(fmt, explain(fmt, code)) for code in codes], form, fmt.name), end="")
        return 0
    print(_whole(fmt, form), end="")
    return 0


def _whole(fmt: Format, form: str) -> str:
    """Everything about one format: its limits, and the values of its codes."""
    if form == "svg":
        from mfmasim.figures.format_table import format_svg

        return format_svg(fmt) + "\n"
    if form == "html":
        from mfmasim.figures.format_table import format_page

        return format_page(fmt, limit_rows(fmt))
    if form in {"csv", "json"} and fmt.bits <= 16:
        from mfmasim.formats import value_table

        return table(CODE_COLUMNS, [code_row(fmt, found) for found in value_table(fmt)], form, fmt.name)
    text = table(("property", "value"), limit_rows(fmt), form, fmt.name)
    if fmt.bits <= 8:
        text += table(*value_grid(fmt), form, f"values of {fmt.name}: code = row + column")
    return text


def _no_picture(form: str) -> None:
    from mfmasim.errors import MfmasimError

    if form in {"svg", "html"}:
        raise MfmasimError(f"--format {form} draws the value table of a format: mfmasim show NAME --format {form}")


def _number(text: str) -> int:
    from mfmasim.errors import MfmasimError

    try:
        return int(text, 0)
    except ValueError:
        raise MfmasimError(f"{text!r} is not a code; write it like 43, 0x2b or 0b101011") from None


def limit_rows(fmt: Format) -> list[tuple[str, Any]]:
    """Property and value of a format: fields, limits, special codes and source."""

    def code(number: int | None) -> str | None:
        return None if number is None else f"{number:#x}"

    fields = (fmt.bits, fmt.exponent_bits, fmt.mantissa_bits, fmt.bias)
    return [
        ("format", fmt.name),
        *zip(("bits", "exponent bits", "mantissa bits", "bias"), fields, strict=True),
        ("largest", fmt.max),
        ("lowest", fmt.min),
        ("smallest normal", fmt.smallest_normal),
        ("smallest subnormal", fmt.smallest_subnormal),
        ("code of largest", code(fmt.max_code)),
        ("zero", code(fmt.zero_code)),
        ("-0", code(fmt.negative_zero_code)),
        ("Inf", code(fmt.inf_code)),
        ("NaN", code(fmt.nan_code)),
        ("aliases", " ".join(fmt.aliases)),
        ("source", fmt.source),
    ]


CODE_COLUMNS = ("code", "hex", "bits", "kind", "sign", "exponent", "mantissa", "value", "formula")


def code_row(fmt: Format, found: Explanation) -> list[Any]:
    """Fields and value of one code; infinities and NaN are text, as JSON has no numbers for them."""
    return [
        found.code,
        f"{found.code:#0{2 + (fmt.bits + 3) // 4}x}",
        found.bits,
        found.kind,
        found.sign,
        found.exponent,
        found.mantissa,
        _plain(found.value),
        found.formula,
    ]


def _plain(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)


ENCODE_COLUMNS = ("value", "code", "bits", "decoded", "below", "above")


def encode_rows(fmt: Format, values: list[float], rounding: str, overflow: str) -> Iterator[list[Any]]:
    """Encode values.

    Args:
        fmt: the format.
        values: numbers to encode.
        rounding: one of `mfmasim.formats.ROUNDINGS`.
        overflow: ``saturate`` or ``infinity_or_nan``.

    Yields:
        Rows of `ENCODE_COLUMNS`: a value, its code, and the neighbouring values of the format.
    """
    import numpy as np

    from mfmasim.formats import explain

    array = np.array(values)
    codes = fmt.encode(array, rounding, overflow)  # type: ignore[arg-type]  # encode checks them
    below, above = (fmt.decode(fmt.encode(array, way)) for way in ("down", "up"))
    for value, code, low, high in zip(values, codes, below, above, strict=True):
        found = explain(fmt, int(code))
        yield [_plain(value), f"{int(code):#x}", found.bits, *map(_plain, (found.value, float(low), float(high)))]


def value_grid(fmt: Format) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the value table, sixteen values per row."""
    from mfmasim.formats import value_table

    rows = value_table(fmt)
    columns = ["", *(f"{column:x}" for column in range(16))]
    lines = [
        [f"{start:#04x}", *(f"{found.value:.4g}" for found in rows[start : start + 16])]
        for start in range(0, len(rows), 16)
    ]
    return columns, lines
