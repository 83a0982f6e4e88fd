// Orders of scales in memory, and how tiled.h brings them to the lanes: fetched to the LDS 4 bytes a lane, read as dwords, and
// one byte of a dword selected by the instruction.
#pragma once
#include "formats.h"

// What a kernel calls to move or multiply data has no lines of its own for the debugger, so that reports name the kernel's.
#define MOVES __device__ __attribute__((always_inline, nodebug)) inline

// 128 rows of a matrix from `first` on; what lies beyond reads as 0.
__device__ inline __amdgpu_buffer_rsrc_t rows_of(const fp8 *matrix, int first, int step, int bytes) {
  return __builtin_amdgcn_make_buffer_rsrc((void *)(matrix + (size_t)first * step), 0, 127 * step + bytes, 0x27000);
}
__device__ inline __amdgpu_buffer_rsrc_t scales_of(const fp8 *scales, int rows, int K) {
  return __builtin_amdgcn_make_buffer_rsrc((void *)scales, 0, rows * (K / 32), 0x27000);
}

// The scales of both matrices; the first row of the workgroup in each.
struct Scales {
  __amdgpu_buffer_rsrc_t a, b;
  int row, column, M, N, K;
};

MOVES void fetch_dwords(unsigned *to, __amdgpu_buffer_rsrc_t from, unsigned byte) {
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from, (mfmasim_lds_void *)to, 4, byte, 0, 0, 0);
}
MOVES void start_dword(unsigned &to, const unsigned *at) {
  asm volatile("ds_read_b32 %0, %1" : "=v"(to) : "v"(LDS_ADDRESS(at)) : "memory");
}

// A dword for each row and tile of K, whose bytes are the four blocks: 128 dwords, of A by waves 0 and 1, of B by 2 and 3.
// `Source` says where in memory the dword of a row and a tile is.
template <typename Source>
struct DwordOfRow {
  static constexpr int words = 128;
  static MOVES int slot(int t) { return t % 2; }
  static MOVES void fetch(unsigned (*a)[128], unsigned (*b)[128], const Scales &s, int t, unsigned wave, unsigned lane) {
    const unsigned row = wave % 2 * 64;
    if (wave < 2)
      fetch_dwords(a[slot(t)] + row, s.a, Source::byte(s.row + row + lane, t, s.M, s.K));
    else
      fetch_dwords(b[slot(t)] + row, s.b, Source::byte(s.column + row + lane, t, s.N, s.K));
  }
};
// [rows, K/32].
struct InRows {
  static MOVES unsigned byte(unsigned row, int t, int, int K) { return row * (K / 32) + 4 * t; }
};
// [K/128, rows]: HipKittens' order, before and after the dwords of 64 rows were packed for the lanes.
struct InTiles {
  static MOVES unsigned byte(unsigned row, int t, int rows, int) { return (t * rows + row) * 4; }
};

// Byte `block` of each of four dwords.
MOVES unsigned pack(unsigned w0, unsigned w1, unsigned w2, unsigned w3, unsigned block) {
  const unsigned low = __builtin_amdgcn_perm(w1, w0, block | (4 + block) << 8 | 0x0c0c0000);  // of tiles 0 and 1
  const unsigned high = __builtin_amdgcn_perm(w3, w2, block << 16 | (4 + block) << 24 | 0x0c0c);
  return low | high;
}

// Each lane reads the dwords of its rows, and packs the bytes that its instructions need into one.
template <typename Source>
struct Packed : DwordOfRow<Source> {
  template <typename S>
  struct Held {
    static constexpr int tiles = 64 / S::rows;
    unsigned row[tiles], packed;
    // The byte for tile i and step h of K.
    static constexpr int byte(int i, int h) { return tiles * h + i; }
    MOVES void start(const unsigned *scales, unsigned first, unsigned lane) {
#pragma unroll
      for (int i = 0; i < tiles; ++i) start_dword(row[i], scales + first + S::rows * i + lane % S::rows);
    }
    MOVES void arrived(int, unsigned lane) {
#pragma unroll
      for (int i = 0; i < tiles; ++i) asm volatile("" : "+v"(row[i]));
      const unsigned block = lane / S::rows;
      if constexpr (tiles == 4)
        packed = pack(row[0], row[1], row[2], row[3], block);
      else
        packed = pack(row[0], row[1], row[0] >> 16, row[1] >> 16, block);
    }
    MOVES int word(int) const { return packed; }
  };
};
typedef Packed<InRows> Rows;
typedef Packed<InTiles> HipKittensRows;

// Memory holds packed dwords, 64 for 64 rows: 16x16x128 alone.
struct HipKittensLanes : DwordOfRow<InTiles> {
  template <typename S>
  struct Held {
    unsigned own;
    static constexpr int byte(int i, int) { return i; }
    MOVES void start(const unsigned *scales, unsigned first, unsigned lane) { start_dword(own, scales + first + lane); }
    MOVES void arrived(int, unsigned) { asm volatile("" : "+v"(own)); }
    MOVES int word(int) const { return own; }
  };
};

// hipBLASLt's tiles of 32 rows and 8 blocks, 64 dwords each: for two tiles of K, so that every other one fetches them. A dword
// holds rows r and r + 16 of one block, and then of the fourth one after it. 16x16x128 alone; K is a multiple of 256.
struct HipBlasLt {
  static constexpr int words = 256;
  static MOVES int slot(int t) { return t / 2 % 2; }
  static MOVES void fetch(unsigned (*a)[256], unsigned (*b)[256], const Scales &s, int t, unsigned wave, unsigned lane) {
    if (t % 2) return;
    const unsigned across = s.K / 256, tile = t / 2;
    fetch_dwords(a[slot(t)] + wave * 64, s.a, (((s.row / 32 + wave) * across + tile) * 64 + lane) * 4);
    fetch_dwords(b[slot(t)] + wave * 64, s.b, (((s.column / 32 + wave) * across + tile) * 64 + lane) * 4);
  }
  template <typename S>
  struct Held {
    unsigned pair[2];
    static constexpr int byte(int i, int) { return i % 2; }
    MOVES void start(const unsigned *scales, unsigned first, unsigned lane) {
      start_dword(pair[0], scales + first * 2 + lane);
      start_dword(pair[1], scales + first * 2 + 64 + lane);
    }
    MOVES void arrived(int t, unsigned) {
      asm volatile("" : "+v"(pair[0]), "+v"(pair[1]));
      pair[0] >>= t % 2 * 16;
      pair[1] >>= t % 2 * 16;
    }
    MOVES int word(int i) const { return pair[i / 2]; }
  };
};
