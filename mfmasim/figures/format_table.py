"""Picture of a number format: the fields of a code and the value of every code, coloured by class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from mfmasim.errors import MfmasimError
from mfmasim.figures import svg
from mfmasim.formats import Explanation, Format, value_table
from mfmasim.formats import format as lookup
from mfmasim.formats.explain import exact_text

COLOURS = {
    "zero": svg.PALETTE[7],
    "subnormal": svg.PALETTE[1],
    "normal": svg.PALETTE[0],
    "inf": svg.PALETTE[4],
    "nan": svg.PALETTE[3],
    "integer": svg.PALETTE[0],
}
"""Fill colour of each class of codes."""

_FIELDS = {"sign": svg.PALETTE[3], "exponent": svg.PALETTE[2], "mantissa": svg.PALETTE[0], "number": svg.PALETTE[0]}
_WIDTH, _HEIGHT, _LEFT = 66, 22, 50


def field_cells(fmt: Format) -> list[tuple[int, str]]:
    """Bits of a code from the highest to the lowest, each with the name of its field."""
    if fmt.integer:
        return [(bit, "number") for bit in reversed(range(fmt.bits))]
    names = ["sign"] * int(fmt.signed) + ["exponent"] * fmt.exponent_bits + ["mantissa"] * fmt.mantissa_bits
    return list(zip(reversed(range(fmt.bits)), names, strict=True))


def value_cells(fmt: Format) -> Iterator[tuple[int, int, Explanation]]:
    """Line, column and meaning of every code: the code is 16 * line + column."""
    for found in value_table(fmt):
        yield found.code // 16, found.code % 16, found


def format_svg(fmt: str | Format) -> str:
    """Draw the bit fields and the value table of a format of at most 8 bits.

    Raises:
        MfmasimError: a wider format, whose table is too large for a picture.
    """
    fmt = lookup(fmt)
    if fmt.bits > 8:
        raise MfmasimError(f"a picture holds the codes of at most 8 bits, {fmt.name} has {fmt.bits}; use --format csv")
    lines = max(1, (1 << fmt.bits) // 16)
    width, top = _LEFT + 16 * _WIDTH + 20, 108
    shapes = [svg.text(20, 24, f"{fmt.name}: {fmt.source}", kind="head"), *_ruler(fmt)]
    shapes += [
        svg.text(_LEFT + (column + 0.5) * _WIDTH, top - 6, f"{column:x}", anchor="middle") for column in range(16)
    ]
    shapes += [
        svg.text(_LEFT - 8, top + (line + 0.65) * _HEIGHT, f"{16 * line:#04x}", anchor="end") for line in range(lines)
    ]
    for line, column, found in value_cells(fmt):
        title = f"{found.code:#x} = {found.bits}: {found.formula}"
        shapes.append(
            svg.rect(
                _LEFT + column * _WIDTH,
                top + line * _HEIGHT,
                _WIDTH,
                _HEIGHT,
                COLOURS[found.kind],
                label=exact_text(found.value, 10),
                title=title,
                data={"code": found.code, "kind": found.kind},
            )
        )
    kinds = dict.fromkeys(found.kind for _, _, found in value_cells(fmt))
    bottom = top + lines * _HEIGHT + 14
    shapes += svg.legend(_LEFT, bottom, [(COLOURS[kind], kind) for kind in kinds])[0]
    return svg.document(width, bottom + 34, shapes, f"Value table of {fmt.name}")


def format_page(fmt: Format, limits: Iterable[tuple[str, object]]) -> str:
    """HTML page: the limits of a format, and its picture.

    Raises:
        MfmasimError: a format of more than 8 bits.
    """
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in limits)
    body = f'<h1>{fmt.name}</h1><div class="figure">{format_svg(fmt)}</div><table>{lines}</table>'
    return svg.page(fmt.name, body)


def _ruler(fmt: Format) -> Iterator[str]:
    """The bits of a code as boxes, with the name of each field above its first bit."""
    seen = set()
    for place, (bit, name) in enumerate(field_cells(fmt)):
        x = _LEFT + 70 * place
        if name not in seen:
            seen.add(name)
            bias = f", bias {fmt.bias}" if name == "exponent" else ""
            yield svg.text(x, 46, name + bias, kind="small")
        yield svg.rect(x, 52, 70, 24, _FIELDS[name], label=f"bit {bit}", title=f"bit {bit}: {name}")
