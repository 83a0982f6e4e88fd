"""What the cast kernels have to give: f32 multiplication, one rounding, the largest magnitude, the inverse scale."""

import numpy as np

import mfmasim

F32 = np.float32
SIGN = np.uint32(1 << 31)
RULES = {"clamp": "saturate", "ovfl": "saturate", "plain": "infinity_or_nan"}
"""What each kernel's way with values beyond the range is called in `mfmasim.format(...).encode`."""


def target_format(target, arch):
    """Name of a target in the architecture's own flavour."""
    fnuz = mfmasim.arch(arch).fp8 == "fnuz"
    return {"e4m3": "e4m3fn", "e5m2": "e5m2"}[target].removesuffix("fn" if fnuz else "") + ("fnuz" if fnuz else "")


def widened(x):
    """Elements as f32: exact. bf16 comes as its codes."""
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << np.uint32(16)).view(F32)
    return x.astype(F32)


def multiplied(x, scale):
    """The product as the GPU gives it: the first operand's NaN is kept, a NaN of Inf * 0 is positive."""
    with np.errstate(all="ignore"):
        product = widened(x) * F32(scale)
    bits = product.view(np.uint32).copy()
    made = np.isnan(product) & ~np.isnan(widened(x)) & ~np.isnan(F32(scale))
    bits[made] &= ~SIGN
    return bits.view(F32)


def cast(x, scale, fmt, how):
    """FP8 codes of x * scale."""
    return mfmasim.format(fmt).encode(multiplied(x, scale), overflow=RULES[how])


def amax(x, preset):
    """The largest of the preset and every magnitude, compared as signed integers: NaN is above infinity."""
    bits = (widened(x).view(np.uint32) & ~SIGN).view(np.int32)
    return np.maximum(np.max(bits, initial=np.int32(0)), F32(preset).view(np.int32)).astype(np.int32).view(F32)


def scale_inv(scale):
    """1 / scale, correctly rounded."""
    with np.errstate(all="ignore"):
        return F32(1) / F32(scale)


TOPS = {"e4m3fn": (8, 0x600000), "e5m2": (15, 0x600000), "e2m1fn": (2, 0x400000)}
"""Largest number of each element format: exponent, and mantissa as that of an f32."""


def blocks_of(x, way):
    """(blocks, 32) of a matrix, by rows or by columns, in the order in which the scales lie."""
    if way == "row":
        return x.reshape(-1, 32)
    return x.reshape(-1, 32, x.shape[1]).transpose(0, 2, 1).reshape(-1, 32)


def matrix_of(blocks, shape, way):
    """The inverse of `blocks_of`."""
    if way == "row":
        return blocks.reshape(shape)
    return np.ascontiguousarray(blocks.reshape(-1, shape[1], 32).transpose(0, 2, 1)).reshape(shape)


def mx_scales(blocks, fmt):
    """E8M0 codes: the smallest power of two with which the largest magnitude fits; NaN 0xff, Inf 0xfe."""
    highest = np.max(blocks.view(np.uint32) & ~SIGN, axis=1).astype(np.int64)
    exponent, mantissa = TOPS[fmt]
    codes = np.maximum(0, (highest >> 23) - exponent + ((highest & 0x7FFFFF) > mantissa))
    codes[highest == 0x7F800000] = 0xFE
    codes[highest > 0x7F800000] = 0xFF
    return codes.astype(np.uint8)


def powers(codes):
    """E8M0 codes as f32: every one is exact."""
    return mfmasim.format("e8m0fnu").decode(codes).astype(F32)


def mx_quantise(x, fmt, way):
    """Codes and scales of a matrix; FP4 two to a byte, the first in the low nibble. A NaN's sign does not count."""
    blocks = blocks_of(widened(x), way)
    scales = mx_scales(blocks, fmt)
    with np.errstate(all="ignore"):
        divided = blocks.astype(np.float64) / powers(scales).astype(np.float64)[:, None]
    codes = mfmasim.format(fmt).encode(divided)
    if fmt == "e2m1fn":
        codes = codes[:, ::2] | codes[:, 1::2] << 4
        return codes.reshape(x.shape[0], -1), scales
    return matrix_of(codes, x.shape, way), scales


def mx_dequantise(codes, scales, fmt, way):
    """f32 values of FP8 codes and their scales."""
    values = blocks_of(mfmasim.format(fmt).decode(codes).astype(F32), way)
    with np.errstate(all="ignore"):
        return matrix_of(values * powers(scales)[:, None], codes.shape, way)
