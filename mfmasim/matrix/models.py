"""Accumulation models as rows: how one output element of a matrix instruction is rounded.

A `Model` is data only. Two implementations use the rows: the fast NumPy one (`mfmasim.matrix.arithmetic`) and the slow,
obvious one (`tests/slow/matrix`); changing a row changes both. A row that is ``assumed`` is corrected by editing
that row.

**Common words.** A factor with sign s, significand M (an integer with the hidden bit, of mb fraction bits) and
exponent e has the value (-1)^s * M * 2^(e-mb); e = max(exponent field, 1) - bias, so a subnormal keeps the smallest
e and M is not normalised. A product has M = Ma*Mb (exact) and E = ea+eb, *not* renormalised (1.5 * 1.5 has E = 0).
``lead(x)`` is floor(log2 |x|). Grid q: the multiples of 2^q. ``floor`` goes toward minus infinity, ``truncate``
toward zero. A *step* adds `Model.group` consecutive products (ascending k; fewer when the instruction's K is
smaller) to the running value; its rounded result is the running value of the next step. Sparse instructions step
over the *kept* elements of A in the order of their register slots, each with the row of B that its index selects.

**Before any arithmetic**, in this order: ``input_mantissa_bits`` (low bits of both factors cleared), flushing, then
specials.

**Algorithms** (`Model.algorithm`):

* ``fma``: c = fma(a[k], b[k], c) for each k, IEEE in the format of d; keeps signed zeros (the only one that gives
  -0 from zeros).
* ``exact``: c = RNE(c + exact sum of the step's products), rounded once. A zero sum is +0.
* ``flush_pairwise``: p = fl(a*b) rounded to f32; sums ((p0+p1)+(p2+p3)) for a group of 4, (p0+p1) for 2; then c +
  that. Every product and every addition is rounded to f32 (RNE) and flushed (``flush_output``).
* ``aligned``: see the fields ``product_bits`` ... ``final_bits``. With D the products of the step:

  1. e_dot = max E over products with M != 0 (of each partial sum, even and odd k, when ``partial_sums`` is 2);
     S = sum of the products rounded (``product_rounding``) to grid e_dot - ``product_bits``.
  2. two partial sums: e_dot = max(e_0, e_1); S = S_0 + S_1, each rounded (``partial_rounding``) to grid e_dot -
     ``partial_bits``.
  3. ``scale_point`` = ``after_group``: S is multiplied by the block's scales, exactly, and e_dot raised by their
     exponents (with a mantissa: max(exponent field, 1) - bias). A scale of zero leaves no non-zero product.
  4. e_c = max(exponent field of c, 1) - 127; e_max = max(e_dot, e_c). No non-zero product: S = 0 and e_max = e_c.
  5. S to grid e_max - ``sum_bits``, c to grid e_max - ``addend_bits`` (``sum_rounding``, ``addend_rounding``); but
     c counts as 0 when ``drop_addend_below`` is not None and e_c < e_max - ``drop_addend_below``.
  6. T = S + c. T = 0 gives +0. ``final_bits`` not None: T to grid max(lead(T), -126) - ``final_bits``
     (``final_rounding``).
  7. RNE to f32, gradual underflow; overflow gives Inf; a tiny negative T may round to -0.

* ``dot2`` (gfx11): grid g = max(E over non-zero products) - ``product_bits``, or lead - ``addend_bits`` if that is
  larger, with lead = max(lead(c), ``addend_lead_floor``) and lead(0) = -1024. Each of c and the two products
  contributes m = floor(|x| / 2^g) when its sign is c's sign, else -m-1 (also for a zero product). The sum T, in
  units of 2^g and in c's sign frame, is rounded RNE to 24 bits; T = 0 gives +0, and so do c = 0 with both products
  0. A result below 2^-126 is flushed to +0, tested on the rounded value.
* ``dot4`` (gfx12): each ``pair`` of neighbouring products is floored to grid max(E over the pair's non-zero
  products) - ``product_bits`` and added; then g as in ``dot2``; pair sums and c are floored to g and added. A
  negative c with |c| < 2^g counts as 0 when g > ``addend_lead_floor`` (and as -1 unit otherwise). RNE, gradual
  underflow; T = 0 and whatever rounds to zero give +0.
* ``integer``: exact sum of all products and c; wraps to 32 bits, or with clamp saturates to [-2^31, 2^31-1].

**Narrow outputs** of ``aligned``: c is widened, the steps are those of f32, and the result of an instruction is rounded
once (RNE, subnormals and -0 kept; a finite overflow gives Inf, or the largest number with FP16_OVFL = 1). Of ``dot2``
and ``dot4``: d = f16: c is widened exactly, and after *every* step T is rounded directly to f16 (RNE, subnormals kept,
zero is +0; finite overflow as above). d = bf16: c is widened, and after every step the f32 result is cut to 16 bits.

**Specials.** ``nan_rules`` = ``ieee``: NaN factor, NaN c, Inf*0 or Inf - Inf (over products and c) gives
``nan_invalid`` (the payload on CDNA is not known; this is a canonical choice); otherwise any Inf gives that Inf.
``nan_rules`` = ``rdna``, in this order: a NaN factor gives ``nan_factor``; Inf*0, or product Infs of both signs,
gives ``nan_invalid``; NaN c gives c with its quiet bit set; any Inf gives that Inf, c and product Infs of opposite
sign ``nan_invalid``. A flushed factor counts as the zero it became. ``nan_factor``, ``nan_invalid`` and the quiet
bit (the top bit of the fraction) are those of the format of d. ``product_overflow``: a finite product of magnitude
>= 2^128 counts as an Inf of its sign.

**Clamp** (`Model.clamp`): ``saturate``: integer d saturates when clamp or FP16_OVFL (CDNA: the manual binds clamp
to that MODE bit; there is no clamp bit in the encoding) is set; ``max``: with clamp or FP16_OVFL, a step of
*finite* factors and c whose result is infinite gives +-MAX of the format of d; ``saturate_clamp``: integer d
saturates with clamp only; ``saturate_halves``: with clamp only, after the first half of K and again after the
second; ``none``: clamp is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.fidelity import LEVELS
from mfmasim.matrix.request import F8F6F4

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

_FACTORS = frozenset({"input_mantissa_bits", "flush_inputs", "mode_denormals", "product_overflow"})
_FLUSHING = frozenset({"flush_inputs", "flush_addend", "flush_output"})
_DOT = _FACTORS | {"flush_addend", "flush_output", "product_bits", "addend_bits", "addend_lead_floor"}
_ALIGNED = _FACTORS | _FLUSHING | {"partial_sums", "product_bits", "product_rounding", "partial_bits"}
_ALIGNED |= {"partial_rounding", "sum_bits", "sum_rounding", "addend_bits", "addend_rounding", "drop_addend_below"}
_ALIGNED |= {"final_bits", "final_rounding", "scale_point"}

PARAMETERS: dict[str, frozenset[str]] = {
    "fma": frozenset({"mode_denormals"}) | _FLUSHING,
    "exact": _FACTORS,
    "flush_pairwise": _FACTORS - {"product_overflow"} | {"flush_addend", "flush_output"},
    "aligned": _ALIGNED,
    "dot2": _DOT,
    "dot4": _DOT | {"pair"},
    "integer": frozenset(),
}
"""Algorithms, and the parameters that each reads; a row that sets another parameter is refused."""

_EVERYWHERE = frozenset(
    {"name", "algorithm", "group", "fidelity", "evidence", "source", "nan_rules", "nan_factor", "nan_invalid", "clamp"}
)


@dataclass(frozen=True)
class Model:
    """One accumulation model. The module's docstring defines every parameter."""

    name: str
    algorithm: str
    """fma, exact, flush_pairwise, aligned, dot2, dot4 or integer."""
    group: int
    """Products per step."""
    fidelity: str
    """One of `mfmasim.fidelity.LEVELS`."""
    evidence: str
    """What supports the row, in a few words."""
    source: str
    """Where the facts are published."""

    input_mantissa_bits: int | None = None
    """Fraction bits kept of a 32-bit factor (xf32: 10), the rest cleared before anything else; None keeps all."""
    flush_inputs: str = ""
    """Subnormal factors: "" kept, "positive" become +0 (so does -0), "signed" become a zero of their sign."""
    flush_addend: str = ""
    """The same for a subnormal c, where an instruction reads it (not between the steps of one instruction)."""
    flush_output: str = ""
    """The same for every rounded result."""
    mode_denormals: bool = False
    """Whether MODE.denorm = flush turns subnormal factors (not c) into zeros of their sign."""

    partial_sums: int = 1
    """1: one sum over the group; 2: even and odd k are summed separately first."""
    product_bits: int = 24
    product_rounding: str = "truncate"
    product_overflow: bool = False
    partial_bits: int = 24
    partial_rounding: str = "floor"
    sum_bits: int = 32
    sum_rounding: str = "floor"
    addend_bits: int = 24
    addend_rounding: str = "floor"
    drop_addend_below: int | None = None
    final_bits: int | None = 31
    final_rounding: str = "floor"
    scale_point: str = ""
    """"after_group": block scales multiply the group's sum before c is added; "": no scales."""

    pair: int = 2
    """dot4: neighbouring products that share a first grid."""
    addend_lead_floor: int = -1024
    """dot2, dot4: smallest lead(c) used for the grid."""

    nan_rules: str = "ieee"
    nan_factor: int = 0x7FC00000
    """Bits of d (see nan_rules)."""
    nan_invalid: int = 0x7FC00000
    """Bits of d (see nan_rules)."""
    clamp: str = "none"

    @property
    def keeps_exact_sums(self) -> bool:
        """Whether terms and sums that fit one grid of a significand come out exactly, as integers do.

        ``dot2`` counts every term against the sign of c one unit of its grid too low, -13 + 0 included.
        """
        return self.algorithm != "dot2"

    def __post_init__(self) -> None:
        where = f"in model {self.name}"
        if self.fidelity not in LEVELS:
            raise unknown("fidelity", self.fidelity, LEVELS, where)
        if self.algorithm not in PARAMETERS:
            raise unknown("algorithm", self.algorithm, PARAMETERS, where)
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.name in _EVERYWHERE | PARAMETERS[self.algorithm] or value == parameter.default:
                continue
            raise MfmasimError(
                f"model {self.name}: {parameter.name} = {value!r} has no effect on {self.algorithm}, which reads "
                f"{', '.join(sorted(PARAMETERS[self.algorithm])) or 'no parameter'}"
            )
        if self.partial_sums not in (1, 2):
            raise MfmasimError(f"model {self.name}: partial_sums must be 1 or 2, not {self.partial_sums}")
        if self.flush_output == "signed" and self.algorithm in ("dot2", "dot4"):
            raise MfmasimError(
                f"model {self.name}: {self.algorithm} flushes results to +0, so flush_output is positive"
            )


@dataclass(frozen=True)
class Route:
    """Which model an instruction uses."""

    families: tuple[str, ...]
    kinds: tuple[str, ...]
    inputs: tuple[str, ...]
    """Formats of a and of b (each may be any of them)."""
    output: str
    model: str
    ks: tuple[int, ...] = ()
    """Only for these K, where several instructions share their types; () is every K."""
    variant: str = ""
    """"1k" for the _1k forms of bf16 (which types and shape do not distinguish); "" for all others."""


_XIE = "arXiv 2511.10909v2; PyPI mmasim 2.1.1"
_MI = "about 10^6 random tests per instruction equal to {} (paper); tests here against the published model"
_RJ = "ROCm/rocm-systems rocjitsu, PR 12120, issue 12056"
_F64_NAN = 0x7FF8000000000000
_FACTOR, _INVALID = 0xFFC00A3D, 0xFFC00000
_F16_NANS: dict[str, Any] = {"nan_factor": 0xFE3D, "nan_invalid": 0xFE00}
_BF16_NANS: dict[str, Any] = {"nan_factor": 0xFFFD, "nan_invalid": 0xFFC0}

_FMA = Model("cdna_f32", "fma", 1, "reference", _MI.format("MI100, MI250X, MI300X"), _XIE, mode_denormals=True)
_TR = Model("cdna3_16bit", "aligned", 8, "reference", _MI.format("MI300X"), _XIE, product_overflow=True, clamp="max")
_GTR = replace(_TR, name="cdna3_fp8", group=16, partial_sums=2, drop_addend_below=25)
_GUESS4 = "no public model: the CDNA3 rules with CDNA4's formats"
_CDNA4 = "CDNA4 ISA manual 7.1 to 7.4 (formats, scales, RNE, denormals only)"
_CAPTURED = "captures, NaN payloads included"
_DOT2 = Model("rdna3_f16", "dot2", 2, "hardware", f"equal to gfx1100 {_CAPTURED}; gfx1151 reported the same", _RJ,
              addend_bits=26, flush_addend="signed", flush_output="positive",
              nan_rules="rdna", nan_factor=_FACTOR, nan_invalid=_INVALID)  # fmt: skip
_DOT4 = Model("rdna4_16bit", "dot4", 4, "hardware", f"equal to gfx1201 {_CAPTURED}", _RJ,
              addend_bits=26, addend_lead_floor=-126,
              nan_rules="rdna", nan_factor=_FACTOR, nan_invalid=_INVALID)  # fmt: skip
_GUESS5 = "no public model: as CDNA4 is assumed, whose matrix units are also XDL; 16-bit results rounded once"
_CDNA5 = "CDNA5 ISA manual 7.12 (formats, scales, RNE, denormals, NaN, FP16_OVFL only)"
_XDL5 = replace(_TR, name="cdna5_16bit", clamp="none", fidelity="assumed", evidence=_GUESS5, source=_CDNA5)
_XDL5_8 = replace(_XDL5, name="cdna5_fp8", group=16, partial_sums=2, drop_addend_below=25)
_INT = Model("cdna_i8", "integer", 0, "specified", "exact integers; the manual defines wrap and clamp",
             "CDNA3 ISA manual 7.1.2", clamp="saturate")  # fmt: skip
_PACKED = "published model, qualified by its authors on W7900 and R9700; the captures held here have f32 outputs"
_SPARSE = "same steps over the kept elements; no measurement is published"
_GUESS4M = "nothing is public: as RDNA4, whose instructions these are"
_DOT4_FP8 = "steps of V_DOT4_F32_FP8 (measured); the matrix form was not measured"

_ROWS: tuple[Model, ...] = (
    # FMA chains: every k is one IEEE fma. MODE.denorm touches only the f32 form's A and B (CDNA2 table 25,
    # CDNA3 7.3, CDNA4 7.4).
    replace(_FMA, name="cdna12_f32"),
    replace(_FMA, name="cdna3_f32", clamp="max"),
    replace(_FMA, name="cdna4_f32", clamp="max", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    replace(_FMA, name="cdna_f64", mode_denormals=False, nan_factor=_F64_NAN, nan_invalid=_F64_NAN,
            evidence=_MI.format("MI250X, MI300X")),
    replace(_FMA, name="cdna4_f64", mode_denormals=False, nan_factor=_F64_NAN, nan_invalid=_F64_NAN,
            fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    # CDNA1: the step's sum is exact.
    Model("cdna1_f16", "exact", 4, "reference", _MI.format("MI100"), _XIE),
    Model("cdna1_bf16", "exact", 2, "reference", _MI.format("MI100"), _XIE),
    # CDNA2: pairwise in f32, everything flushed.
    Model("cdna2_f16", "flush_pairwise", 4, "reference", _MI.format("MI250X"), _XIE + "; CDNA2 ISA manual table 25",
          flush_inputs="positive", flush_addend="positive", flush_output="signed"),
    Model("cdna2_bf16", "flush_pairwise", 2, "reference", _MI.format("MI250X"), _XIE + "; CDNA2 ISA manual table 25",
          flush_inputs="positive", flush_addend="positive", flush_output="signed"),
    # CDNA3: aligned sums.
    _TR,
    replace(_TR, name="cdna3_xf32", group=4, input_mantissa_bits=10),
    _GTR,
    replace(_TR, name="cdna3_sparse_16bit", fidelity="assumed", evidence=_SPARSE, source=_XIE + " (dense form)"),
    replace(_GTR, name="cdna3_sparse_fp8", fidelity="assumed", evidence=_SPARSE, source=_XIE + " (dense form)"),
    # CDNA4: assumed throughout.
    replace(_TR, name="cdna4_16bit", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    replace(_GTR, name="cdna4_fp8", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    replace(_GTR, name="cdna4_f8f6f4", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    replace(_GTR, name="cdna4_f8f6f4_scale", fidelity="assumed", evidence=_GUESS4, source=_CDNA4,
            scale_point="after_group"),
    replace(_TR, name="cdna4_sparse_16bit", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    replace(_GTR, name="cdna4_sparse_fp8", fidelity="assumed", evidence=_GUESS4, source=_CDNA4),
    # CDNA5: assumed throughout. MODE.denorm is ignored, FP16_OVFL reads narrow results only.
    replace(_FMA, name="cdna5_f32", mode_denormals=False, fidelity="assumed", evidence=_GUESS5, source=_CDNA5),
    replace(_FMA, name="cdna5_f64", mode_denormals=False, nan_factor=_F64_NAN, nan_invalid=_F64_NAN,
            fidelity="assumed", evidence="chain of FMAs as CDNA2 and CDNA3 have it; no capture is public", source=_XIE),
    _XDL5,
    _XDL5_8,
    replace(_XDL5_8, name="cdna5_scale", scale_point="after_group"),
    replace(_XDL5, name="cdna5_sparse_16bit"),
    replace(_XDL5_8, name="cdna5_sparse_fp8"),
    # RDNA3, RDNA3.5: chains of DOT2. A packed f16 c aligns no lower than 2^-14.
    _DOT2,
    replace(_DOT2, name="rdna3_bf16", flush_inputs="signed"),
    replace(_DOT2, name="rdna3_f16_out", fidelity="reference", evidence=_PACKED, addend_lead_floor=-14, **_F16_NANS),
    replace(_DOT2, name="rdna3_bf16_out", fidelity="reference", evidence=_PACKED, flush_inputs="signed",
            **_BF16_NANS),
    # RDNA4: chains of DOT4.
    _DOT4,
    replace(_DOT4, name="rdna4_f16_out", fidelity="reference", evidence="equal to 512 captured results of gfx1201",
            addend_lead_floor=-14, **_F16_NANS),
    replace(_DOT4, name="rdna4_bf16_out", fidelity="reference", evidence=_PACKED, **_BF16_NANS),
    replace(_DOT4, name="rdna4_fp8", fidelity="assumed", evidence=_DOT4_FP8, pair=4, nan_invalid=_FACTOR),
    replace(_DOT4, name="rdna4_sparse_16bit", fidelity="assumed", evidence=_SPARSE),
    replace(_DOT4, name="rdna4_sparse_f16_out", fidelity="assumed", evidence=_SPARSE, addend_lead_floor=-14,
            **_F16_NANS),
    replace(_DOT4, name="rdna4_sparse_bf16_out", fidelity="assumed", evidence=_SPARSE, **_BF16_NANS),
    replace(_DOT4, name="rdna4_sparse_fp8", fidelity="assumed", evidence=_SPARSE, pair=4, nan_invalid=_FACTOR),
    # RDNA 4m: RDNA4's instructions.
    *(replace(model, fidelity="assumed", evidence=_GUESS4M, source="LLVM pull request 180731") for model in (
        replace(_DOT4, name="rdna4m_16bit"),
        replace(_DOT4, name="rdna4m_f16_out", addend_lead_floor=-14, **_F16_NANS),
        replace(_DOT4, name="rdna4m_bf16_out", **_BF16_NANS),
        replace(_DOT4, name="rdna4m_fp8", pair=4, nan_invalid=_FACTOR),
        replace(_INT, name="rdna4m_int", clamp="saturate_halves"),
    )),
    # Integers. That saturation happens once, after the exact sum, is the plain reading of the manuals; an RX 9070 was
    # seen to saturate after each half of K.
    _INT,
    replace(_INT, name="cdna5_int", source="CDNA5 ISA manual 7.12"),
    replace(_INT, name="rdna_int", source="RDNA3 ISA manual 7.9", clamp="saturate_clamp"),
    replace(_INT, name="rdna4_int", clamp="saturate_halves",
            evidence="exact integers; two saturations, as digests of an RX 9070 have it",
            source="RDNA4 ISA manual 7.12; bjacob/goc, integer_wmma_hardware.h"),
)  # fmt: skip

MODELS: dict[str, Model] = {row.name: row for row in _ROWS}
"""Every model by name."""

_FP8 = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")
_CDNA = ("CDNA1", "CDNA2", "CDNA3", "CDNA4")
_RDNA3 = ("RDNA3", "RDNA3.5")

ROUTES: tuple[Route, ...] = (
    #     families             kinds          inputs           output  model                    K         variant
    Route(("CDNA1", "CDNA2"), ("mfma",), ("f32",), "f32", "cdna12_f32"),
    Route(("CDNA3",), ("mfma",), ("f32",), "f32", "cdna3_f32"),
    Route(("CDNA4",), ("mfma",), ("f32",), "f32", "cdna4_f32"),
    Route(("CDNA2", "CDNA3"), ("mfma",), ("f64",), "f64", "cdna_f64"),
    Route(("CDNA4",), ("mfma",), ("f64",), "f64", "cdna4_f64"),
    Route(("CDNA1",), ("mfma",), ("f16",), "f32", "cdna1_f16"),
    Route(("CDNA1",), ("mfma",), ("bf16",), "f32", "cdna1_bf16"),
    Route(("CDNA2",), ("mfma",), ("f16",), "f32", "cdna2_f16"),
    Route(("CDNA2",), ("mfma",), ("bf16",), "f32", "cdna2_bf16"),
    Route(("CDNA2",), ("mfma",), ("bf16",), "f32", "cdna2_f16", (), "1k"),
    Route(("CDNA3",), ("mfma",), ("f16", "bf16"), "f32", "cdna3_16bit"),
    Route(("CDNA3",), ("mfma",), ("xf32",), "f32", "cdna3_xf32"),
    Route(("CDNA3",), ("mfma",), _FP8, "f32", "cdna3_fp8"),
    Route(("CDNA3",), ("smfmac",), ("f16", "bf16"), "f32", "cdna3_sparse_16bit"),
    Route(("CDNA3",), ("smfmac",), _FP8, "f32", "cdna3_sparse_fp8"),
    Route(("CDNA4",), ("mfma",), ("f16", "bf16"), "f32", "cdna4_16bit"),
    Route(("CDNA4",), ("mfma",), _FP8[:2], "f32", "cdna4_fp8", (16, 32)),
    Route(("CDNA4",), ("mfma",), F8F6F4, "f32", "cdna4_f8f6f4", (64, 128)),
    Route(("CDNA4",), ("mfma_scale",), F8F6F4, "f32", "cdna4_f8f6f4_scale"),
    Route(("CDNA4",), ("smfmac",), ("f16", "bf16"), "f32", "cdna4_sparse_16bit"),
    Route(("CDNA4",), ("smfmac",), _FP8, "f32", "cdna4_sparse_fp8"),
    Route(_CDNA, ("mfma", "smfmac"), ("i8", "u8"), "i32", "cdna_i8"),
    Route(("CDNA5",), ("wmma",), ("f32",), "f32", "cdna5_f32"),
    Route(("CDNA5",), ("wmma",), ("f64",), "f64", "cdna5_f64"),
    *(
        Route(("CDNA5",), (kind,), (d,), to, model)
        for kind, model in (("wmma", "cdna5_16bit"), ("swmmac", "cdna5_sparse_16bit"))
        for d in ("f16", "bf16")
        for to in ("f32", d)
    ),
    *(Route(("CDNA5",), ("wmma",), formats, d, "cdna5_fp8") for formats, d in ((F8F6F4, "f32"), (_FP8[:2], "f16"))),
    Route(("CDNA5",), ("wmma_scale", "wmma_scale16"), F8F6F4, "f32", "cdna5_scale"),
    *(Route(("CDNA5",), ("swmmac",), _FP8[:2], d, "cdna5_sparse_fp8") for d in ("f32", "f16")),
    Route(("CDNA5",), ("wmma", "swmmac"), ("i8", "u8"), "i32", "cdna5_int"),
    Route(_RDNA3, ("wmma",), ("f16",), "f32", "rdna3_f16"),
    Route(_RDNA3, ("wmma",), ("bf16",), "f32", "rdna3_bf16"),
    Route(_RDNA3, ("wmma",), ("f16",), "f16", "rdna3_f16_out"),
    Route(_RDNA3, ("wmma",), ("bf16",), "bf16", "rdna3_bf16_out"),
    Route(("RDNA4",), ("wmma",), ("f16", "bf16"), "f32", "rdna4_16bit"),
    Route(("RDNA4",), ("wmma",), ("f16",), "f16", "rdna4_f16_out"),
    Route(("RDNA4",), ("wmma",), ("bf16",), "bf16", "rdna4_bf16_out"),
    Route(("RDNA4",), ("wmma",), _FP8, "f32", "rdna4_fp8"),
    Route(("RDNA4",), ("swmmac",), ("f16", "bf16"), "f32", "rdna4_sparse_16bit"),
    Route(("RDNA4",), ("swmmac",), ("f16",), "f16", "rdna4_sparse_f16_out"),
    Route(("RDNA4",), ("swmmac",), ("bf16",), "bf16", "rdna4_sparse_bf16_out"),
    Route(("RDNA4",), ("swmmac",), _FP8, "f32", "rdna4_sparse_fp8"),
    *(
        Route(("RDNA4m",), ("wmma", "swmmac"), inputs, d, model)
        for inputs, d, model in (
            (("f16", "bf16"), "f32", "rdna4m_16bit"),
            (("f16",), "f16", "rdna4m_f16_out"),
            (("bf16",), "bf16", "rdna4m_bf16_out"),
            (_FP8, "f32", "rdna4m_fp8"),
            (("i8", "u8", "i4", "u4"), "i32", "rdna4m_int"),
        )
    ),
    Route(_RDNA3, ("wmma", "swmmac"), ("i8", "u8", "i4", "u4"), "i32", "rdna_int"),
    Route(("RDNA4",), ("wmma", "swmmac"), ("i8", "u8", "i4", "u4"), "i32", "rdna4_int"),
)


def model_for(arch: Arch, kind: str, a: str, b: str, d: str, k: int, variant: str = "") -> Model:
    """Find the accumulation model of an instruction.

    Args:
        arch: the architecture; only its ``family`` matters.
        kind: ``mfma``, ``mfma_scale``, ``smfmac``, ``wmma`` or ``swmmac``.
        a: format of A's elements (``i8``, ``u8``, ``i4``, ``u4`` for integers).
        b: format of B's elements.
        d: format of C and D (``f32``, ``f64``, ``f16``, ``bf16``, ``i32``).
        k: the instruction's K (dense). A step never crosses an instruction, so a model's group is at most this.
        variant: ``"1k"`` for ``v_mfma_f32_*_bf16_1k`` (a group of 4 on CDNA2, where plain bf16 has 2).

    Returns:
        The row.

    Raises:
        MfmasimError: no such combination on this architecture.
    """
    kinds = sorted({name for route in ROUTES if arch.family in route.families for name in route.kinds})
    if kind not in kinds:
        raise unknown("matrix instruction kind", kind, kinds, f"on {arch.name} ({arch.family})")
    if k < 1:
        raise MfmasimError(f"K must be at least 1, not {k}")
    fits = [
        route
        for route in ROUTES
        if arch.family in route.families
        and kind in route.kinds
        and a in route.inputs
        and b in route.inputs
        and route.output == d
        and (not route.ks or k in route.ks)
    ]
    # A row of the requested variant takes precedence; architectures without a difference have only the plain row.
    fits.sort(key=lambda route: route.variant != variant)
    if not fits or fits[0].variant not in ("", variant):
        own = [route for route in ROUTES if arch.family in route.families and kind in route.kinds]
        allowed = sorted({f"{'/'.join(route.inputs)} -> {route.output}" for route in own})
        raise MfmasimError(f"{kind} on {arch.name} has no {a} x {b} -> {d} with K = {k}; it has {'; '.join(allowed)}")
    return MODELS[fits[0].model]
