"""The dword of DPP controls that follows an RDNA instruction whose src0 is 250, 233 or 234."""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.isa.encodings_rdna import DPP8_WORD, DPP16_WORD
from mfmasim.isa.fields import Fields, Refused
from mfmasim.isa.operands import DPP, DPP8, DPP8_FI
from mfmasim.isa.unread import absent_sources

CODES = frozenset((DPP, DPP8, DPP8_FI))
"""Codes of src0 that announce the dword."""


@dataclass(frozen=True, slots=True)
class Controls:
    """Contents of the dword."""

    encoding: str
    """``DPP`` or ``DPP8``."""
    number: int
    """Field of the vector register that is source 0."""
    negative: int
    """Sources that are negated; only DPP16 of a short encoding has such bits."""
    absolute: int
    modifiers: dict[str, int]


def _exists(control: int) -> bool:
    """Whether a DPP16 control exists (RDNA3 and RDNA4 ISA manuals, table of DPP16 controls)."""
    rows = control >> 4 in (0x10, 0x11, 0x12) and control & 15
    return control < 0x100 or bool(rows) or control in (0x140, 0x141) or control >> 4 in (0x15, 0x16)


def take_controls(fields: Fields, *, long_form: bool) -> Controls:
    """Read the dword.

    Args:
        fields: the instruction; its src0 is taken.
        long_form: VOP3 and VOP3P have neg and abs themselves.

    Raises:
        Refused: the operation has no DPP form, or a control is reserved.
    """
    row = fields.row
    if ("e64dpp" if long_form else "dpp") not in row.flags:
        raise Refused(f"{row.name} has no DPP form")
    code, word = fields.take("src0"), fields.literal()
    fields.controlled = True
    layout = DPP16_WORD if code == DPP else DPP8_WORD
    values = {name: word >> low & ((1 << width) - 1) for name, (low, width) in layout.items()}
    number = values.pop("dpp_src0")
    if code != DPP:
        return Controls("DPP8", number, 0, 0, {"dpp8": values["dpp8"], "fi": int(code == DPP8_FI)})
    negative = values.pop("src0_neg") | values.pop("src1_neg") << 1
    absolute = values.pop("src0_abs") | values.pop("src1_abs") << 1
    # The long forms use their own neg and abs and ignore these (RDNA3 ISA manual, "DPP").
    signed = 0 if long_form else sum(1 << i for i, slot in enumerate(s for s in row.src if s.printed) if slot.signed)
    unread = 3 if long_form else absent_sources(row)
    if (negative | absolute) & ~signed & ~unread:
        raise Refused(f"neg or abs on a source of {row.name} that has none")
    fields.ignore("dpp_neg", negative & ~signed)
    fields.ignore("dpp_abs", absolute & ~signed)
    fields.ignore("dpp_reserved", word >> 17 & 1)
    negative, absolute = negative & signed, absolute & signed
    if not _exists(values["dpp_ctrl"]):
        raise Refused(f"dpp_ctrl {values['dpp_ctrl']:#x} is reserved")
    order = ("dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl", "fi")
    return Controls("DPP", number, negative, absolute, {name: values[name] for name in order})
