// K in slices: each layer of the grid leaves the product of its own slice, and a second kernel adds them in their order.
//
// A slice is a multiple of 16, or the tile at its end would take in the next one's K; otherwise as in tiles.hip.
#include "product.h"

extern "C" __global__ void __launch_bounds__(128) split_k(const f16 *A, const f16 *B, float *partial, int M, int N, int K,
                                                          int slice) {
  const int first = blockIdx.z * slice;
  const Gemm g = {A + first, B + (size_t)first * N, partial + (size_t)blockIdx.z * M * N, M, N,
                  K - first < slice ? K - first : slice, K, N, N};
  ahead<Waves<2, 2>, Padded<1>, Whole>(g);
}

// The slices of a tile one after the other in one workgroup, which adds them up itself, in the registers.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>>
__device__ void one_by_one(const Gemm &g, int slice) {
  TILES_IN_LDS(1);
  for (int first = 0; first < g.K; first += slice)
    for (int k = first; k < first + slice && k < g.K; k += Place::k) {
      next.fetch_a(g, row, k);
      next.fetch_b(g, k, column);
      next.store(a_lds[0], b_lds[0]);
      __syncthreads();  // stored
      part.multiply_tile(a_lds[0], b_lds[0]);
      __syncthreads();  // read
    }
  finish(g, part, row, column);
}
extern "C" __global__ void __launch_bounds__(128)
    slices_one_by_one(const f16 *A, const f16 *B, float *C, int M, int N, int K, int slice) {
  one_by_one<Waves<2, 2>, Padded<1>, Whole>({A, B, C, M, N, K, K, N, N}, slice);
}

extern "C" __global__ void add_slices(const float *partial, float *C, int elements, int slices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
  for (int s = 0; s < slices; ++s) sum += partial[(size_t)s * elements + i];
  C[i] = sum;
}
