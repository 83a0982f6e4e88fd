declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x32.f16.v8f32.v16f16(i1, <16 x half>, i1, <16 x half>, i16, <8 x float>, i1, i1)
declare <8 x i32> @llvm.amdgcn.wmma.i32.16x16x64.iu8.v8i32.v8i32(i1, <8 x i32>, i1, <8 x i32>, <8 x i32>, i1, i1)
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x64.fp8.fp8.v8f32.v8i32(<8 x i32>, <8 x i32>, i16, <8 x float>, i1, i1)
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x4.f32.v8f32.v2f32(i1, <2 x float>, i1, <2 x float>, i16, <8 x float>, i1, i1)
declare float @llvm.amdgcn.rcp.f32(float)
define amdgpu_ps <8 x float> @chain(<16 x half> %a, <16 x half> %b, <8 x float> %c) {
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x32.f16.v8f32.v16f16(i1 0, <16 x half> %a, i1 0, <16 x half> %b, i16 0, <8 x float> %c, i1 0, i1 0)
  %x = bitcast <8 x float> %d to <16 x half>
  %e = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x32.f16.v8f32.v16f16(i1 0, <16 x half> %x, i1 0, <16 x half> %b, i16 0, <8 x float> %c, i1 0, i1 0)
  %f = fadd <8 x float> %e, %c
  ret <8 x float> %f
}
define amdgpu_ps <8 x i32> @integers(<8 x i32> %a, <8 x i32> %b, <8 x i32> %c) {
  %d = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x64.iu8.v8i32.v8i32(i1 0, <8 x i32> %a, i1 0, <8 x i32> %b, <8 x i32> %c, i1 0, i1 0)
  %e = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x64.iu8.v8i32.v8i32(i1 0, <8 x i32> %d, i1 0, <8 x i32> %b, <8 x i32> %c, i1 0, i1 0)
  %f = add <8 x i32> %e, %c
  ret <8 x i32> %f
}
define amdgpu_ps <8 x float> @eight(<8 x i32> %a, <8 x i32> %b, <8 x float> %c) {
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x64.fp8.fp8.v8f32.v8i32(<8 x i32> %a, <8 x i32> %b, i16 0, <8 x float> %c, i1 0, i1 0)
  %f = fadd <8 x float> %d, %c
  ret <8 x float> %f
}
define amdgpu_ps <8 x float> @single(<2 x float> %a, <2 x float> %b, <8 x float> %c) {
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x4.f32.v8f32.v2f32(i1 0, <2 x float> %a, i1 0, <2 x float> %b, i16 0, <8 x float> %c, i1 0, i1 0)
  %f = fadd <8 x float> %d, %c
  ret <8 x float> %f
}
define amdgpu_ps float @trans(float %a, float %b) {
  %d = call float @llvm.amdgcn.rcp.f32(float %a)
  %e = fadd float %d, %b
  ret float %e
}
