// Cooperative groups: a reduction that does not know its group, tiles, coalesced lanes, the grid's numbering.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int group_sum(cg::thread_group group, int* temporary, int value) {
  int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    temporary[rank] = value;
    group.sync();
    if (rank < i) value += temporary[rank + i];
    group.sync();
  }
  return value;
}

__global__ void sums(const int* in, int* block_sum, int* tile_sums, int* static_sums) {
  __shared__ int workspace[256];
  cg::thread_block block = cg::this_thread_block();
  int value = in[block.thread_rank()];
  int sum = group_sum(block, workspace, value);
  if (block.thread_rank() == 0) *block_sum = sum;
  block.sync();
  cg::thread_group tile = cg::tiled_partition(block, 16);
  sum = group_sum(tile, workspace + block.thread_rank() / 16 * 16, value);
  if (tile.thread_rank() == 0) tile_sums[block.thread_rank() / 16] = sum;
  cg::thread_block_tile<32> wide = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(wide);
  for (unsigned offset = eight.size() / 2; offset > 0; offset /= 2) value += eight.shfl_down(value, offset);
  if (eight.thread_rank() == 0) static_sums[wide.meta_group_rank() * eight.meta_group_size() + eight.meta_group_rank()] = value;
}

__global__ void tiles(const int* in, unsigned* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = threadIdx.x, value = in[i];
  out[8 * i + 0] = tile.ballot(value & 1);
  out[8 * i + 1] = tile.any(value > 95) | tile.all(value > 2) << 1;
  out[8 * i + 2] = tile.shfl(value, 3) ^ tile.shfl_xor(value, 5) << 8;
  out[8 * i + 3] = cg::reduce(tile, value, cg::greater<int>());
  out[8 * i + 4] = tile.match_any(value & 3);
  auto part = cg::binary_partition(tile, value & 1);
  out[8 * i + 5] = part.size() << 8 | part.thread_rank();
  out[8 * i + 6] = tile.meta_group_rank() << 8 | tile.meta_group_size();
  out[8 * i + 7] = cg::reduce(part, value, cg::plus<int>());
}

__global__ void aggregated(const int* in, int* counter, int* out) {
  int i = threadIdx.x, value = in[i];
  if (value % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int place = 0;
    if (active.thread_rank() == 0) place = atomicAdd(counter, (int)active.size());
    place = active.shfl(place, 0) + active.thread_rank();
    out[place] = value + 1000 * (active.shfl_up(value, 1) == value) + 0 * active.ballot(1);
  }
}

__global__ void grid_numbers(unsigned long long* out, int* counts) {
  cg::grid_group grid = cg::this_grid();
  cg::multi_grid_group all = cg::this_multi_grid();
  cg::thread_block block = cg::this_thread_block();
  out[all.thread_rank()] = all.size() * all.num_grids() << 32 | block.thread_index().y << 16 | block.group_index().x << 8 | grid.is_valid();
  int count = __syncthreads_count(block.thread_rank() % 3 == 0);
  count = count << 2 | __syncthreads_and(block.thread_rank() < 1000) << 1 | __syncthreads_or(block.thread_rank() == 2000);
  if (cg::thread_rank(block) == 0) counts[grid.block_rank()] = count + 0 * cg::group_size(block);
  cg::sync(block);
}

// Every third lane is a member; tiles of four members; a tile of 16 lanes without coalescing.
__global__ void matches(const int* in, unsigned long long* out) {
  int i = threadIdx.x, value = in[i], first = 0, second = 0;
  unsigned long long* row = out + 6 * i;
  if (i % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads(), part = cg::tiled_partition(active, 4);
    row[0] = active.match_any(value);
    row[1] = active.match_all(value / 4, first) << 1 | first;
    row[2] = part.meta_group_rank() << 8 | part.meta_group_size();
    row[3] = part.match_any(value);
  }
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  row[4] = tile.match_all(value, first) << 1 | first;
  row[5] = tile.match_all(i / 16, second) << 1 | second;
}
