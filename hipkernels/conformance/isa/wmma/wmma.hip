// WMMA and SWMMAC of CDNA5 (gfx1250) on one tile each: one wave, every element's place written out.
//
// A is row-major, B column-major, so that both have lines of consecutive k; C and D are row-major. In every operand a lane
// holds runs of consecutive k of one line: lanes 0 to 15 the even runs of lines 0 to 15, lanes 16 to 31 the odd ones.
#include <hip/hip_runtime.h>

#if defined(__gfx1250__)

typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x32 __attribute__((ext_vector_type(32)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef __bf16 bf16x16 __attribute__((ext_vector_type(16)));
typedef __bf16 bf16x32 __attribute__((ext_vector_type(32)));

// A lane's word of a fragment whose runs have Run bytes; a line has 8 * Words bytes, half of them in each of two lanes.
template <int Run, int Words>
__device__ inline int word(const void *matrix, unsigned w, unsigned first_line = 0) {
  unsigned line = first_line + threadIdx.x % 16, half = threadIdx.x / 16, run = 4 * w / Run, place = 4 * w % Run;
  return *(const int *)((const char *)matrix + 8 * Words * line + Run * (2 * run + half) + place);
}

template <int Run, typename Fragment>
__device__ inline Fragment load(const void *matrix, unsigned first_line = 0) {
  constexpr unsigned words = sizeof(Fragment) / 4;
  typedef int Words __attribute__((ext_vector_type(words)));
  Words out;
  for (unsigned w = 0; w < words; ++w) out[w] = word<Run, words>(matrix, w, first_line);
  return __builtin_bit_cast(Fragment, out);
}

// Eight rows of one column.
template <typename Tile, typename Element> __device__ inline Tile load_c(const Element *C, unsigned first_row = 0) {
  unsigned column = threadIdx.x % 16, half = threadIdx.x / 16;
  Tile out;
  for (unsigned r = 0; r < 8; ++r) out[r] = C[16 * (first_row + 8 * half + r) + column];
  return out;
}

template <typename Tile, typename Element> __device__ inline void store(Element *D, Tile d, unsigned first_row = 0) {
  unsigned column = threadIdx.x % 16, half = threadIdx.x / 16;
  for (unsigned r = 0; r < 8; ++r) D[16 * (first_row + 8 * half + r) + column] = d[r];
}

#define WAVE extern "C" __global__ void __launch_bounds__(32)

WAVE f32_f32(const float *A, const float *B, float *C) {
  auto a = load<8, f32x2>(A), b = load<8, f32x2>(B);
  store<f32x8>(C, __builtin_amdgcn_wmma_f32_16x16x4_f32(false, a, false, b, (short)0, load_c<f32x8>(C), false, false));
}

#define HALVES(name, Element, Inputs, Tile, Addend, builtin)                                                      \
  WAVE name(const Element *A, const Element *B, Addend *C) {                                                      \
    auto a = load<16, Inputs>(A), b = load<16, Inputs>(B);                                                        \
    store<Tile>(C, builtin(false, a, false, b, (short)0, load_c<Tile>(C), false, false));                               \
  }
HALVES(f32_f16, _Float16, f16x16, f32x8, float, __builtin_amdgcn_wmma_f32_16x16x32_f16)
HALVES(f16_f16, _Float16, f16x16, f16x8, _Float16, __builtin_amdgcn_wmma_f16_16x16x32_f16)
HALVES(f32_bf16, __bf16, bf16x16, f32x8, float, __builtin_amdgcn_wmma_f32_16x16x32_bf16)
HALVES(bf16_bf16, __bf16, bf16x16, bf16x8, __bf16, __builtin_amdgcn_wmma_bf16_16x16x32_bf16)

// C in f32, D in bf16.
WAVE bf16f32_bf16(const __bf16 *A, const __bf16 *B, const float *C, __bf16 *D) {
  auto a = load<16, bf16x16>(A), b = load<16, bf16x16>(B);
  auto c = load_c<f32x8>(C);
  store<bf16x8>(D, __builtin_amdgcn_wmma_bf16f32_16x16x32_bf16(false, a, false, b, (short)0, c, false, false));
}

#define BYTES(d, k, Inputs, Tile, Addend, ab)                                                                     \
  WAVE d##_##k##_##ab(const void *A, const void *B, Addend *C) {                                                  \
    auto a = load<8, Inputs>(A), b = load<8, Inputs>(B);                                                          \
    store<Tile>(C, __builtin_amdgcn_wmma_##d##_16x16x##k##_##ab(a, b, (short)0, load_c<Tile>(C), false, false));        \
  }
#define PAIRS(d, k, Inputs, Tile, Addend)                                                                         \
  BYTES(d, k, Inputs, Tile, Addend, fp8_fp8)                                                                      \
  BYTES(d, k, Inputs, Tile, Addend, fp8_bf8)                                                                      \
  BYTES(d, k, Inputs, Tile, Addend, bf8_fp8)                                                                      \
  BYTES(d, k, Inputs, Tile, Addend, bf8_bf8)
PAIRS(f32, 64, i32x8, f32x8, float)
PAIRS(f16, 64, i32x8, f16x8, _Float16)
PAIRS(f32, 128, i32x16, f32x8, float)
PAIRS(f16, 128, i32x16, f16x8, _Float16)

// A has signs, B has none.
WAVE iu8(const void *A, const void *B, int *C) {
  auto a = load<8, i32x8>(A), b = load<8, i32x8>(B);
  store<i32x8>(C, __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, a, false, b, load_c<i32x8>(C), false, false));
}

// f8f6f4: runs of 16 bytes for 8 and 4 bits, of 24 for 6 bits; the other words of the operand are not read.
template <int Format> __device__ inline i32x16 load_small(const void *matrix) {
  constexpr int words = Format < 2 ? 16 : Format < 4 ? 12 : 8, run = words == 12 ? 24 : 16;
  i32x16 out = {};
  for (unsigned w = 0; w < words; ++w) out[w] = word<run, words>(matrix, w);
  return out;
}

template <int a, int b> __device__ inline void small(const void *A, const void *B, float *C) {
  auto x = load_small<a>(A), y = load_small<b>(B);
  store<f32x8>(C, __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(a, x, b, y, (short)0, load_c<f32x8>(C)));
}

// Scales of 32 elements: one dword a line, in the lanes of the row that the instruction names; the other lanes hold noise.
template <int a, int b, int row_a, int row_b, int format_a, int format_b>
__device__ inline void scaled(const void *A, const void *B, const int *SA, const int *SB, float *C) {
  auto x = load_small<a>(A), y = load_small<b>(B);
  unsigned line = threadIdx.x % 16, row = threadIdx.x / 16;
  int sa = row == row_a ? SA[line] : 0x01234567, sb = row == row_b ? SB[line] : 0x01234567;
  store<f32x8>(C, __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(a, x, b, y, (short)0, load_c<f32x8>(C), row_a, format_a, sa,
                                                            row_b, format_b, sb, false, false));
}

// Scales of 16 elements: two dwords a line.
template <int a, int b, int row_a, int row_b, int format_a, int format_b>
__device__ inline void scaled16(const void *A, const void *B, const long *SA, const long *SB, float *C) {
  auto x = load_small<a>(A), y = load_small<b>(B);
  unsigned line = threadIdx.x % 16, row = threadIdx.x / 16;
  long sa = row == row_a ? SA[line] : 0x0123456789ABCDEF, sb = row == row_b ? SB[line] : 0x0123456789ABCDEF;
  store<f32x8>(C, __builtin_amdgcn_wmma_scale16_f32_16x16x128_f8f6f4(a, x, b, y, (short)0, load_c<f32x8>(C), row_a, format_a, sa,
                                                              row_b, format_b, sb, false, false));
}

#define SMALL(a, b)                                                                                               \
  WAVE small_##a##_##b(const void *A, const void *B, float *C) { small<a, b>(A, B, C); }                          \
  WAVE scaled_##a##_##b(const void *A, const void *B, const int *SA, const int *SB, float *C) {                   \
    scaled<a, b, (a + b) & 1, a == b, 0, 0>(A, B, SA, SB, C);                                                     \
  }                                                                                                               \
  WAVE scaled16_##a##_##b(const void *A, const void *B, const long *SA, const long *SB, float *C) {               \
    scaled16<a, b, a == b, (a + b) & 1, 0, 0>(A, B, SA, SB, C);                                                   \
  }
#define EVERY(a) SMALL(a, 0) SMALL(a, 1) SMALL(a, 2) SMALL(a, 3) SMALL(a, 4)
EVERY(0)
EVERY(1)
EVERY(2)
EVERY(3)
EVERY(4)

// Scales with a mantissa (1: E5M3, 2: E4M3) go with FP4; beside FP8 and FP6 the other scales are E8M0.
#define MANTISSA(name, a, b, format_a, format_b)                                                                  \
  WAVE scaled_##name(const void *A, const void *B, const int *SA, const int *SB, float *C) {                      \
    scaled<a, b, 1, 0, format_a, format_b>(A, B, SA, SB, C);                                                      \
  }                                                                                                               \
  WAVE scaled16_##name(const void *A, const void *B, const long *SA, const long *SB, float *C) {                  \
    scaled16<a, b, 1, 0, format_a, format_b>(A, B, SA, SB, C);                                                    \
  }
MANTISSA(e5m3_e5m3, 4, 4, 1, 1)
MANTISSA(e4m3_e4m3, 4, 4, 2, 2)
MANTISSA(e8m0_e5m3, 0, 4, 0, 1)
MANTISSA(e4m3_e8m0, 4, 2, 2, 0)

// 32 rows of A: the second sixteen in the second half of the registers, of A as of C; the scales of A fill 32 lanes.
__device__ inline i32x16 load_rows(const void *A) {
  auto low = load<16, i32x8>(A), high = load<16, i32x8>(A, 16);
  i32x16 out;
  for (unsigned w = 0; w < 8; ++w) out[w] = low[w], out[8 + w] = high[w];
  return out;
}

__device__ inline f32x16 load_c32(const float *C) {
  auto low = load_c<f32x8>(C), high = load_c<f32x8>(C, 16);
  f32x16 out;
  for (unsigned r = 0; r < 8; ++r) out[r] = low[r], out[8 + r] = high[r];
  return out;
}

__device__ inline void store32(float *D, f32x16 d) {
  f32x8 low, high;
  for (unsigned r = 0; r < 8; ++r) low[r] = d[r], high[r] = d[8 + r];
  store<f32x8>(D, low);
  store<f32x8>(D, high, 16);
}

WAVE f4(const void *A, const void *B, float *C) {
  store32(C, __builtin_amdgcn_wmma_f32_32x16x128_f4(load_rows(A), load<16, i32x8>(B), (short)0, load_c32(C)));
}

#define SCALED4(name, row, format)                                                                                \
  WAVE scaled_##name(const void *A, const void *B, const int *SA, const int *SB, float *C) {                      \
    unsigned lane = threadIdx.x;                                                                                  \
    int sb = lane / 16 == row ? SB[lane % 16] : 0x01234567;                                                       \
    store32(C, __builtin_amdgcn_wmma_scale_f32_32x16x128_f4(load_rows(A), load<16, i32x8>(B), (short)0,           \
                                                            load_c32(C), 0, format, SA[lane], row, format, sb,    \
                                                            false, false));                                       \
  }                                                                                                               \
  WAVE scaled16_##name(const void *A, const void *B, const long *SA, const long *SB, float *C) {                  \
    unsigned lane = threadIdx.x;                                                                                  \
    long sb = lane / 16 == row ? SB[lane % 16] : 0x0123456789ABCDEF;                                              \
    store32(C, __builtin_amdgcn_wmma_scale16_f32_32x16x128_f4(load_rows(A), load<16, i32x8>(B), (short)0,         \
                                                              load_c32(C), 0, format, SA[lane], row, format, sb,  \
                                                              false, false));                                     \
  }
SCALED4(f4_e8m0, 0, 0)
SCALED4(f4_e5m3, 1, 1)
SCALED4(f4_e4m3, 1, 2)

// Sparse A of 16 bits: two of every four k are kept, and the indices of 16 kept elements lie in a lane, in the order of k.
#define SPARSE(name, Element, Kept, Dense, Tile, Addend, builtin)                                                 \
  WAVE name(const Element *A, const int *index, const Element *B, Addend *C) {                                    \
    unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;                                                    \
    auto a = load<16, Kept>(A);                                                                                   \
    auto b = load<32, Dense>(B);                                                                                  \
    store<Tile>(C, builtin(false, a, false, b, load_c<Tile>(C), index[2 * line + half], false, false));                 \
  }
SPARSE(sparse_f32_f16, _Float16, f16x16, f16x32, f32x8, float, __builtin_amdgcn_swmmac_f32_16x16x64_f16)
SPARSE(sparse_f16_f16, _Float16, f16x16, f16x32, f16x8, _Float16, __builtin_amdgcn_swmmac_f16_16x16x64_f16)
SPARSE(sparse_f32_bf16, __bf16, bf16x16, bf16x32, f32x8, float, __builtin_amdgcn_swmmac_f32_16x16x64_bf16)
SPARSE(sparse_bf16_bf16, __bf16, bf16x16, bf16x32, bf16x8, __bf16, __builtin_amdgcn_swmmac_bf16_16x16x64_bf16)

// Of 8 bits: the indices of kept elements 32 half to 32 half + 31 lie in a lane, first those of the runs that lanes 0 to
// 15 hold, then those of the runs that lanes 16 to 31 hold.
__device__ inline i32x2 load_index(const int *index) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  unsigned first = index[4 * line + 2 * half], second = index[4 * line + 2 * half + 1];
  return i32x2{(int)(first & 0xFFFF | second << 16), (int)(first >> 16 | second & 0xFFFF0000)};
}

// clang's builtins take 32 bits of indices, the instructions 64: hence assembly. The idle instructions keep the hazards of
// the manual (7.12.1) apart, which the compiler does not see in it.
#define SPARSE8(d, Tile, Addend, ab)                                                                              \
  WAVE sparse_##d##_##ab(const void *A, const int *index, const void *B, Addend *C) {                             \
    auto a = load<8, i32x8>(A);                                                                                   \
    auto b = load<16, i32x16>(B);                                                                                 \
    auto c = load_c<Tile>(C);                                                                                     \
    asm volatile("v_swmmac_" #d "_16x16x128_" #ab " %0, %1, %2, %3\n" IDLE                                        \
                 : "+v"(c) : "v"(a), "v"(b), "v"(load_index(index)));                                             \
    store<Tile>(C, c);                                                                                                  \
  }
#define IDLE "v_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop"
SPARSE8(f32, f32x8, float, fp8_fp8)
SPARSE8(f32, f32x8, float, bf8_fp8)
SPARSE8(f16, f16x8, _Float16, fp8_bf8)
SPARSE8(f16, f16x8, _Float16, bf8_bf8)

WAVE sparse_iu8(const void *A, const int *index, const void *B, int *C) {
  auto a = load<8, i32x8>(A);
  auto b = load<16, i32x16>(B);
  auto c = load_c<i32x8>(C);
  asm volatile("v_swmmac_i32_16x16x128_iu8 %0, %1, %2, %3 neg_lo:[1,0,0]\n" IDLE
               : "+v"(c) : "v"(a), "v"(b), "v"(load_index(index)));
  store<i32x8>(C, c);
}

// Transposed loads: A is column-major and B row-major, so that both have lines of 16 elements, one for each k. A load gives
// a lane Count elements of consecutive k; which line a lane loads, and which half of it, is what the lanes exchange.
typedef int i32x3 __attribute__((ext_vector_type(3)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef short i16x8 __attribute__((ext_vector_type(8)));
#define LDS __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))

template <int Bits> __device__ inline unsigned lane_half(unsigned lane) {  // of the lanes that receive what it loads
  return Bits > 6 ? lane / 16 : Bits == 6 ? lane / 4 % 2 : lane / 8 % 2;
}

template <int Bits> __device__ inline unsigned element(unsigned lane) {  // the number that it has there
  return Bits == 16 ? lane % 8
         : Bits == 8 ? lane % 4 + 4 * (lane / 8 % 2)
         : Bits == 6 ? lane % 4 + 4 * (lane / 8)
                     : lane % 8 + 8 * (lane / 16);
}

template <int Bits> __device__ inline unsigned place(unsigned k) {  // bytes from the start of the matrix
  unsigned lane = threadIdx.x, rows = Bits == 16 ? lane / 8 % 2 : Bits == 8 ? lane / 4 % 2 : 0;
  return 2 * Bits * k + Bits * rows;
}

#define LOADER(bits, Words, Element, form, from, Space)                                                           \
  template <> struct Loader<bits, Space##_space> {                                                                \
    static __device__ inline Words at(const char Space *matrix, unsigned k) {                                     \
      return __builtin_bit_cast(Words, __builtin_amdgcn_##from##_load_##form((Element Space *)(matrix + place<bits>(k)))); \
    }                                                                                                             \
  };
enum { LDS_space = 3, GLOBAL_space = 1 };
template <int Bits, int Space> struct Loader;
LOADER(16, i32x4, i16x8, tr16_b128_v8i16, ds, LDS)
LOADER(16, i32x4, i16x8, tr16_b128_v8i16, global, GLOBAL)
LOADER(8, i32x2, i32x2, tr8_b64_v2i32, ds, LDS)
LOADER(8, i32x2, i32x2, tr8_b64_v2i32, global, GLOBAL)
LOADER(6, i32x3, i32x3, tr6_b96_v3i32, ds, LDS)
LOADER(6, i32x3, i32x3, tr6_b96_v3i32, global, GLOBAL)
LOADER(4, i32x2, i32x2, tr4_b64_v2i32, ds, LDS)
LOADER(4, i32x2, i32x2, tr4_b64_v2i32, global, GLOBAL)

// The fragment of Loads loads. In the registers of a lane, runs of 8 k of both halves alternate for 16 and 8 bits, and
// runs of 32 for 6 and 4 bits.
template <int Bits, int Loads, int Space, typename Pointer> __device__ inline i32x16 fragment(Pointer matrix) {
  constexpr unsigned words = Bits == 16 ? 4 : Bits == 6 ? 3 : 2, count = 32 * words / Bits, run = Bits > 6 ? 8 : 32;
  unsigned half = lane_half<Bits>(threadIdx.x), number = element<Bits>(threadIdx.x);
  i32x16 out = {};
  for (unsigned n = 0; n < Loads; ++n) {
    unsigned first = count * n;
    auto part = Loader<Bits, Space>::at(matrix, 2 * run * (first / run) + run * half + first % run + number);
    for (unsigned w = 0; w < words; ++w) out[words * n + w] = part[w];
  }
  return out;
}

// Copies a matrix to the LDS.
template <int Bytes> __device__ inline const char LDS *staged(const void *matrix, int *tile) {
  for (unsigned i = threadIdx.x; i < Bytes / 4; i += 32) tile[i] = ((const int *)matrix)[i];
  __syncthreads();
  return (const char LDS *)tile;
}

template <typename Part> __device__ inline Part low(i32x16 all) {
  typedef int Words __attribute__((ext_vector_type(sizeof(Part) / 4)));
  Words out;
  for (unsigned w = 0; w < sizeof(Part) / 4; ++w) out[w] = all[w];
  return __builtin_bit_cast(Part, out);
}

__device__ inline f32x8 multiply16(i32x16 a, i32x16 b, f32x8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x32_f16(false, low<f16x16>(a), false, low<f16x16>(b), (short)0, c, false, false);
}

__device__ inline f32x8 multiply8(i32x16 a, i32x16 b, f32x8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(low<i32x8>(a), low<i32x8>(b), (short)0, c, false, false);
}

__device__ inline f32x8 multiply6(i32x16 a, i32x16 b, f32x8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(2, a, 2, b, (short)0, c);
}

__device__ inline f32x8 multiply4(i32x16 a, i32x16 b, f32x8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(4, a, 4, b, (short)0, c);
}

#define TRANSPOSED(bits, loads, k)                                                                                \
  WAVE lds_tr##bits(const void *A, const void *B, float *C) {                                                     \
    __shared__ __attribute__((aligned(16))) int left[bits * k / 2], right[bits * k / 2];                          \
    auto a = fragment<bits, loads, 3>(staged<2 * bits * k>(A, left));                                             \
    auto b = fragment<bits, loads, 3>(staged<2 * bits * k>(B, right));                                            \
    store<f32x8>(C, multiply##bits(a, b, load_c<f32x8>(C)));                                                      \
  }                                                                                                               \
  WAVE global_tr##bits(const void *A, const void *B, float *C) {                                                  \
    auto a = fragment<bits, loads, 1>((const char GLOBAL *)A), b = fragment<bits, loads, 1>((const char GLOBAL *)B); \
    store<f32x8>(C, multiply##bits(a, b, load_c<f32x8>(C)));                                                      \
  }
TRANSPOSED(16, 2, 32)
TRANSPOSED(8, 4, 64)
TRANSPOSED(6, 4, 128)
TRANSPOSED(4, 4, 128)
#endif
