// What the kernels of this corpus share; no header of any toolchain is needed.
#pragma once
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define NOINLINE __attribute__((noinline))
typedef _Float16 f16;
typedef __bf16 bf16;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
DEVICE inline int lane() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE inline int block() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE inline int thread() { return block() * 256 + lane(); }
