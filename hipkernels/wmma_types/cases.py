"""GEMMs by RDNA's WMMA in other types: bf16, sums in 16 bits, integers of 8 and 4 bits, and FP8 on RDNA4."""

from hipkernels.wmma_types.problem import declare, declare_sum

FINITE = ("integers", "normal")  # with special data f16 sums overflow at a place that depends on the order
IU8, IU4 = "v_wmma_i32_16x16x16_iu8", "v_wmma_i32_16x16x16_iu4"

declare("floats.hip", "bf16", "bf16", "bf16", "f32", "v_wmma_f32_16x16x16_bf16")
declare("floats.hip", "f16_in_f16", "f16", "f16", "f16", "v_wmma_f16_16x16x16_f16", data=FINITE)
declare("floats.hip", "bf16_in_bf16", "bf16", "bf16", "bf16", "v_wmma_bf16_16x16x16_bf16")
for source, instruction, bits in (("bytes.hip", IU8, 8), ("nibbles.hip", IU4, 4)):
    for a in (f"i{bits}", f"u{bits}"):
        for b in (f"i{bits}", f"u{bits}"):
            declare(source, f"{a}_{b}", a, b, "i32", instruction)
for clamp in (False, True):
    declare_sum("bytes.hip", "add_i8_u8" + "_clamped" * clamp, "i8", "u8", IU8, clamp=clamp)
    declare_sum("nibbles.hip", "add_i4_i4" + "_clamped" * clamp, "i4", "i4", IU4, clamp=clamp)
FP8 = {"e4m3": ("e4m3fn", "fp8"), "e5m2": ("e5m2", "bf8")}
for a, (a_format, a_name) in FP8.items():
    for b, (b_format, b_name) in FP8.items():
        name = f"v_wmma_f32_16x16x16_{a_name}_{b_name}"
        declare("fp8.hip", f"{a}_{b}", a_format, b_format, "f32", name, arch="gfx1201")
