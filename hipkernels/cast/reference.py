"""Reference of the cast kernels: f32 multiplication, one rounding, the largest magnitude, the inverse scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from mfmasim.formats import Overflow

F32 = np.float32
SIGN = np.uint32(1 << 31)
RULES: dict[str, Overflow] = {"clamp": "saturate", "ovfl": "saturate", "plain": "infinity_or_nan"}
"""Overflow rule of each kernel, as named in `mfmasim.format(...).encode`."""


def rule(how: str, arch: str) -> Overflow:
    """Overflow rule of a kernel on an architecture: under FP16_OVFL some let the results of infinities be."""
    stays = how == "ovfl" and mfmasim.arch(arch).conversions.infinity_stays
    return "saturate_finite" if stays else RULES[how]


def target_format(target: str, arch: str) -> str:
    """Name of a target format in the architecture's flavour."""
    fnuz = mfmasim.arch(arch).fp8 == "fnuz"
    return {"e4m3": "e4m3fn", "e5m2": "e5m2"}[target].removesuffix("fn" if fnuz else "") + ("fnuz" if fnuz else "")


def widened(x: NDArray[Any]) -> NDArray[Any]:
    """Elements as f32: exact. bf16 comes as its codes."""
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << np.uint32(16)).view(F32)
    return x.astype(F32)


def multiplied(x: NDArray[Any], scale: np.float32) -> NDArray[Any]:
    """The product as the GPU gives it: the first operand's NaN is kept, a NaN of Inf * 0 is positive."""
    with np.errstate(all="ignore"):
        product = widened(x) * F32(scale)
    bits = product.view(np.uint32).copy()
    made = np.isnan(product) & ~np.isnan(widened(x)) & ~np.isnan(F32(scale))
    bits[made] &= ~SIGN
    return bits.view(F32)


def with_nan(codes: NDArray[Any], values: NDArray[Any], arch: str) -> NDArray[Any]:
    """Codes of values with the NaN that the architecture's conversion gives."""
    if not mfmasim.arch(arch).conversions.negative_nan:
        return codes
    return np.where(np.isnan(values), codes | np.uint8(0x80), codes)


def cast(x: NDArray[Any], scale: np.float32, fmt: str, how: str, arch: str = "gfx950") -> NDArray[Any]:
    """FP8 codes of x * scale, as the architecture converts."""
    values = multiplied(x, scale)
    return with_nan(mfmasim.format(fmt).encode(values, overflow=rule(how, arch)), values, arch)


def amax(x: NDArray[Any], preset: np.float32) -> np.float32:
    """The largest of the preset and every magnitude, compared as signed integers: NaN is above infinity."""
    bits = (widened(x).view(np.uint32) & ~SIGN).view(np.int32)
    return np.maximum(np.max(bits, initial=np.int32(0)), F32(preset).view(np.int32)).astype(np.int32).view(F32)


def scale_inv(scale: float | np.float32) -> np.float32:
    """1 / scale, correctly rounded."""
    with np.errstate(all="ignore"):
        return F32(1) / F32(scale)
