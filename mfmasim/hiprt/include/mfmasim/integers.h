// Integer and bit functions, min and max.
#pragma once

#include <mfmasim/qualifiers.h>
#include <stdint.h>

MFMASIM_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
MFMASIM_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
MFMASIM_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
MFMASIM_DEVICE int __ffs(unsigned int x) { return __builtin_ffs((int)x); }
MFMASIM_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
MFMASIM_DEVICE int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
MFMASIM_DEVICE int __ffsll(unsigned long x) { return __builtin_ffsll((long long)x); }
MFMASIM_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
MFMASIM_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
MFMASIM_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
MFMASIM_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// The low 24 bits take part.
MFMASIM_DEVICE int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
MFMASIM_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
MFMASIM_DEVICE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
MFMASIM_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return (unsigned int)((unsigned long long)x * y >> 32);
}
MFMASIM_DEVICE long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
MFMASIM_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
MFMASIM_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
MFMASIM_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
MFMASIM_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) {
  return (unsigned int)(((unsigned long long)x + y) >> 1);
}
MFMASIM_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) {
  return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}
MFMASIM_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z;
}
MFMASIM_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}

// Four bytes picked out of eight by the low three bits of each nibble of the selector; x holds bytes 0 to 3.
MFMASIM_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  uint64_t both = (uint64_t)y << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned int)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}
// hi:lo shifted; the plain ones take the amount modulo 32, the c ones at most 32.
MFMASIM_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)((((uint64_t)hi << 32 | lo) << (shift & 31)) >> 32);
}
MFMASIM_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}
MFMASIM_DEVICE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
MFMASIM_DEVICE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Fields of bits: `width` of them from `offset` up, both taken modulo the word's size.
#define MFMASIM_FIELDS(suffix, U, last)                                                                     \
  MFMASIM_DEVICE U __bitextract_u##suffix(U x, unsigned int offset, unsigned int width) {                   \
    offset &= last, width &= last;                                                                          \
    return x >> offset & (((U)1 << width) - 1);                                                             \
  }                                                                                                         \
  MFMASIM_DEVICE U __bitinsert_u##suffix(U x, U field, unsigned int offset, unsigned int width) {           \
    offset &= last, width &= last;                                                                          \
    U mask = ((U)1 << width) - 1;                                                                           \
    return (x & ~(mask << offset)) | (field & mask) << offset;                                              \
  }
MFMASIM_FIELDS(32, unsigned int, 31)
MFMASIM_FIELDS(64, unsigned long long, 63)
#undef MFMASIM_FIELDS

// Place of the lowest set bit, -1 without one.
MFMASIM_DEVICE unsigned int __lastbit_u32_u32(unsigned int x) { return x ? __builtin_ctz(x) : ~0u; }
MFMASIM_DEVICE unsigned int __lastbit_u32_u64(unsigned long long x) { return x ? __builtin_ctzll(x) : ~0u; }
// Place of the set bit that is number |offset|, counted from `base` on: upwards, downwards for a negative offset; zero asks
// for the bit at the base. -1 without one.
MFMASIM_DEVICE int __fns64(unsigned long long mask, unsigned int base, int offset) {
  if (offset == 0) return mask >> base & 1 ? (int)base : -1;
  for (int place = (int)base; place >= 0 && place < 64; place += offset > 0 ? 1 : -1) {
    if (!(mask >> place & 1)) continue;
    offset += offset > 0 ? -1 : 1;
    if (offset == 0) return place;
  }
  return -1;
}
MFMASIM_DEVICE int __fns32(unsigned long long mask, unsigned int base, int offset) { return __fns64(mask, base, offset); }
MFMASIM_DEVICE int __fns(unsigned int mask, unsigned int base, int offset) { return __fns64(mask, base, offset); }

#define MFMASIM_MIN_MAX(T)                                                       \
  constexpr MFMASIM_MEMBER T min(const T a, const T b) { return a < b ? a : b; } \
  constexpr MFMASIM_MEMBER T max(const T a, const T b) { return a > b ? a : b; }
MFMASIM_MIN_MAX(int)
MFMASIM_MIN_MAX(unsigned int)
MFMASIM_MIN_MAX(long)
MFMASIM_MIN_MAX(unsigned long)
MFMASIM_MIN_MAX(long long)
MFMASIM_MIN_MAX(unsigned long long)
#undef MFMASIM_MIN_MAX

// Mixed signedness compares as unsigned, as in HIP.
#define MFMASIM_MIN_MAX(A, B, T)                                                   \
  constexpr MFMASIM_MEMBER T min(const A a, const B b) { return min((T)a, (T)b); } \
  constexpr MFMASIM_MEMBER T max(const A a, const B b) { return max((T)a, (T)b); }
MFMASIM_MIN_MAX(int, unsigned int, unsigned int)
MFMASIM_MIN_MAX(unsigned int, int, unsigned int)
MFMASIM_MIN_MAX(long, unsigned long, unsigned long)
MFMASIM_MIN_MAX(unsigned long, long, unsigned long)
MFMASIM_MIN_MAX(long long, unsigned long long, unsigned long long)
MFMASIM_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef MFMASIM_MIN_MAX
