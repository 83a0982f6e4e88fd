// 16x16x16 in other types, for one wave of 32 lanes: what a lane holds of A and B, what it multiplies them with, and in
// which registers the sums are. RDNA3 ISA guide, 7.9 "WMMA"; RDNA4 ISA guide, 7.12.
//
// A type says how many bits an element of A and B has, in what C is stored, and what one instruction does. Where an element
// of C lies is the same for all of them (fragment.h).
#pragma once
#include "../wmma/fragment.h"

typedef short i16x8 __attribute__((ext_vector_type(8)));
typedef short i16x16 __attribute__((ext_vector_type(16)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

#if defined(__GFX12__)
#define WMMA(NAME) __builtin_amdgcn_wmma_##NAME##_w32_gfx12
#define HOLDERS 2  // lanes l and l + 16 share a line: eight of K in a row in each
typedef i16x8 line16;
typedef i32x2 line8;
typedef int line4;
#else
#define WMMA(NAME) __builtin_amdgcn_wmma_##NAME##_w32
#define HOLDERS 1  // lanes l and l + 16 both hold all of it
typedef i16x16 line16;
typedef i32x4 line8;
typedef i32x2 line4;
#endif

// A lane's part of a line of 16 elements; the first element lies in the lowest bits.
template <int BITS>
struct __attribute__((aligned(2 * BITS / HOLDERS))) Line {
  unsigned words[BITS / 2 / HOLDERS];
};
#define AS(TYPE, LINE) __builtin_bit_cast(TYPE, LINE)

// Sums of TILES_M x TILES_N tiles, a register for each element.
template <class Type, int TILES_M, int TILES_N>
struct Sums {
  typename Type::Sum of[TILES_M][TILES_N] = {};
  __device__ void add(int i, int j, Line<Type::bits> a, Line<Type::bits> b) { of[i][j] = Type::multiply(a, b, of[i][j]); }
  __device__ typename Type::Result &at(int i, int j, int r) {
    return reinterpret_cast<typename Type::Result *>(&of[i][j])[r];
  }
};

struct Bf16 {
  static constexpr int bits = 16;
  typedef float Result;
  typedef f32x8 Sum;
  static __device__ Sum multiply(Line<16> a, Line<16> b, Sum c) {
    return WMMA(f32_16x16x16_bf16)(AS(line16, a), AS(line16, b), c);
  }
};

// Sums in 16 bits. RDNA4 packs two rows into a register; RDNA3 uses one half of each and leaves the other one alone, so that
// two tiles share the registers, and OPSEL says which half is whose.
#if defined(__GFX12__)
struct F16InF16 {
  static constexpr int bits = 16;
  typedef f16 Result;
  typedef f16x8 Sum;
  static __device__ Sum multiply(Line<16> a, Line<16> b, Sum c) {
    return WMMA(f16_16x16x16_f16)(AS(f16x8, a), AS(f16x8, b), c);
  }
};
struct Bf16InBf16 {
  static constexpr int bits = 16;
  typedef short Result;
  typedef i16x8 Sum;
  static __device__ Sum multiply(Line<16> a, Line<16> b, Sum c) {
    return WMMA(bf16_16x16x16_bf16)(AS(line16, a), AS(line16, b), c);
  }
};
#else
struct F16InF16 {
  static constexpr int bits = 16;
  typedef f16 Result;
  typedef f16x16 Sum;
  template <bool UPPER>
  static __device__ Sum multiply(Line<16> a, Line<16> b, Sum c) {
    return WMMA(f16_16x16x16_f16_tied)(AS(f16x16, a), AS(f16x16, b), c, UPPER);
  }
};
struct Bf16InBf16 {
  static constexpr int bits = 16;
  typedef short Result;
  typedef i16x16 Sum;
  template <bool UPPER>
  static __device__ Sum multiply(Line<16> a, Line<16> b, Sum c) {
    return WMMA(bf16_16x16x16_bf16_tied)(AS(i16x16, a), AS(i16x16, b), c, UPPER);
  }
};
template <class Type, int TILES_M, int TILES_N>
struct HalfSums {
  typename Type::Sum of[TILES_M][TILES_N / 2] = {};
  __device__ void add(int i, int j, Line<16> a, Line<16> b) {
    auto &both = of[i][j / 2];
    both = j % 2 ? Type::template multiply<true>(a, b, both) : Type::template multiply<false>(a, b, both);
  }
  __device__ typename Type::Result &at(int i, int j, int r) {
    return reinterpret_cast<typename Type::Result *>(&of[i][j / 2])[2 * r + j % 2];
  }
};
template <int TILES_M, int TILES_N>
struct Sums<F16InF16, TILES_M, TILES_N> : HalfSums<F16InF16, TILES_M, TILES_N> {};
template <int TILES_M, int TILES_N>
struct Sums<Bf16InBf16, TILES_M, TILES_N> : HalfSums<Bf16InBf16, TILES_M, TILES_N> {};
#endif

// Integers, each matrix signed or not; CLAMP: every instruction's sums stop at the ends of i32 and do not wrap.
template <bool A_SIGNED, bool B_SIGNED, bool CLAMP = false>
struct Bytes {
  static constexpr int bits = 8;
  typedef int Result;
  typedef i32x8 Sum;
  static __device__ Sum multiply(Line<8> a, Line<8> b, Sum c) {
    return WMMA(i32_16x16x16_iu8)(A_SIGNED, AS(line8, a), B_SIGNED, AS(line8, b), c, CLAMP);
  }
};
template <bool A_SIGNED, bool B_SIGNED, bool CLAMP = false>
struct Nibbles {
  static constexpr int bits = 4;
  typedef int Result;
  typedef i32x8 Sum;
  static __device__ Sum multiply(Line<4> a, Line<4> b, Sum c) {
    return WMMA(i32_16x16x16_iu4)(A_SIGNED, AS(line4, a), B_SIGNED, AS(line4, b), c, CLAMP);
  }
};

// OCP's E4M3 (fp8) and E5M2 (bf8), which only RDNA4 multiplies.
#define EIGHT_BIT_FLOATS(NAME, A_B)                                        \
  struct NAME {                                                            \
    static constexpr int bits = 8;                                         \
    typedef float Result;                                                  \
    typedef f32x8 Sum;                                                     \
    static __device__ Sum multiply(Line<8> a, Line<8> b, Sum c) {          \
      return WMMA(f32_16x16x16_##A_B)(AS(line8, a), AS(line8, b), c);      \
    }                                                                      \
  }
#if defined(__GFX12__)
EIGHT_BIT_FLOATS(Fp8Fp8, fp8_fp8);
EIGHT_BIT_FLOATS(Fp8Bf8, fp8_bf8);
EIGHT_BIT_FLOATS(Bf8Fp8, bf8_fp8);
EIGHT_BIT_FLOATS(Bf8Bf8, bf8_bf8);
#endif
