"""How undefined bits go through instructions: one row a rule, everything else by what the operands' types read.

``bits``: every bit of a result is a function of one bit of each operand, so that the operation itself, executed on both
values of the undefined bits, tells which bits of the result they decide. ``moves``: bits that come from other lanes or
registers. In both, an operand that steers (a shift, a selector, a lane) and is undefined makes everything undefined.
``sums``: an undefined bit reaches itself and all bits above it. No rule: an undefined bit that is read makes the whole
result undefined.

Source of what operations do: the operations themselves (`mfmasim.machine.ops`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["MIXES", "SHIFTED", "Rule", "rule_of"]


@dataclass(frozen=True)
class Rule:
    """One rule."""

    kind: str
    """``bits``, ``moves``, ``sums`` or ``typed``."""
    steering: tuple[int, ...] = ()
    """Positions among the sources of the operands that steer."""


#  names (regular expression)                                                   rule
ROWS: tuple[tuple[str, Rule], ...] = (
    (r"v_(mov_b(16|32|64)|accvgpr_(read|write|mov)_b32|pk_mov_b32|pack_b32_f16)", Rule("bits")),
    (r"v_(not|and|or|xor|xnor)_b(16|32)|v_(or3|xor3|and_or)_b32|v_bfi_b32",       Rule("bits")),
    (r"v_bitop3_b(16|32)|v_bfrev_b32|v_cndmask_b(16|32)|v_swap_b(16|32)",         Rule("bits")),
    (r"v_(lshl|lshr|ashr)rev_[biu](16|32|64)",                                    Rule("bits", (0,))),
    (r"v_lshl_or_b32",                                                            Rule("bits", (1,))),
    (r"v_bfe_[iu]32",                                                             Rule("bits", (1, 2))),
    (r"v_align(bit|byte)_b32|v_perm_b32",                                         Rule("bits", (2,))),
    (r"v_readfirstlane_b32|ds_swizzle_b32|v_permlane64_b32|v_permlane(16|32)_swap_b32", Rule("moves")),
    (r"v_readlane_b32|v_writelane_b32|v_permlanex?16_var_b32",                    Rule("moves", (1,))),
    (r"v_permlanex?16_b32",                                                       Rule("moves", (1, 2))),
    (r"ds_b?permute(_fi)?_b32",                                                   Rule("moves", (0,))),
    (r"s_(mov_b(32|64)|movk_i32|cmov_b(32|64)|cmovk_i32|cselect_b(32|64))",       Rule("bits")),
    (r"s_(not|and|or|xor|nand|nor|xnor|andn2|orn2|and_not1|or_not1)_b(32|64)",    Rule("bits")),
    (r"s_\w+_(saveexec|wrexec)_b(32|64)|s_(wqm|quadmask|brev)_b(32|64)",          Rule("bits")),
    (r"s_pack_[lh]{2}_b32_b16|s_sext_i32_i(8|16)|s_bitreplicate_b64_b32",         Rule("bits")),
    (r"s_(lshl|lshr|ashr)_[bi](32|64)|s_bfe_[iu](32|64)|s_bitcmp[01]_b(32|64)",   Rule("bits", (1,))),
    (r"s_bitset[01]_b(32|64)",                                                    Rule("bits", (0,))),
    (r"v_(add|sub|subrev)(_nc|_co)?_u(16|32)|v_(add|sub)(_nc)?_i(16|32)",         Rule("sums")),
    (r"v_(addc|subb|subbrev|add_co_ci|sub_co_ci|subrev_co_ci)(_co)?_u32",         Rule("sums")),
    (r"v_add3_u32|v_mul_lo_u(16|32)|v_mad_(legacy_)?u16|v_mul_u32_u24|v_mad_u32_u24", Rule("sums")),
    (r"v_lshl_add_u(32|64)|v_mad_(co_)?u64_u32",                                  Rule("sums")),
    (r"s_(add|sub)k?(_co)?_[iu]32|s_(addc|subb)_u32|s_(add|sub)_co_ci_u32",       Rule("sums")),
    (r"s_mulk?_i32|s_(add_nc|sub_nc|mul)_u64|s_lshl[1-4]_add_u32",                Rule("sums")),
)  # fmt: skip
SHIFTED = {"v_lshl_add_u32": 1, "v_lshl_add_u64": 1}
"""Of the sums: the operand that shifts the first one to the left."""
MIXES = re.compile(r"[vs]_(xn?or|xor3|bfi|bitop3)_")
"""Operations that combine bits otherwise than by and, or and choice: one register twice, in different places, hides
from `bits` what its bits do."""
_COMPILED = tuple((re.compile(names), rule) for names, rule in ROWS)


def rule_of(name: str) -> Rule:
    """The rule of an operation."""
    return next((rule for names, rule in _COMPILED if names.fullmatch(name)), Rule("typed"))
