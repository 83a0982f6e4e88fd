"""Ranks in processes of their own: operations of a group, a kernel that writes to the memory of every other rank."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

__global__ void send(const int64_t* bases, const int* own, int rank, int ranks, int words) {
  int* to = reinterpret_cast<int*>(bases[blockIdx.x]);
  to[ranks + rank * words + threadIdx.x] = own[blockIdx.x * words + threadIdx.x];
  __syncthreads();
  if (!threadIdx.x) __hip_atomic_store(to + rank, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  const int* flag = reinterpret_cast<const int*>(bases[rank]) + blockIdx.x;
  while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM));
}

torch::Tensor handle(torch::Tensor heap) {
  auto made = torch::empty({64}, torch::kByte);
  TORCH_CHECK(!cudaIpcGetMemHandle((cudaIpcMemHandle_t*)made.data_ptr(), heap.data_ptr()));
  return made;
}
int64_t opened(torch::Tensor handle) {
  void* address;
  TORCH_CHECK(!cudaIpcOpenMemHandle(&address, *(cudaIpcMemHandle_t*)handle.data_ptr(), cudaIpcMemLazyEnablePeerAccess));
  return (int64_t)address;
}
void forget(int64_t address) { TORCH_CHECK(!cudaIpcCloseMemHandle((void*)address)); }
void exchange(torch::Tensor bases, torch::Tensor own, int64_t rank) {
  const int ranks = bases.size(0), words = own.size(1);
  send<<<ranks, words>>>(bases.data_ptr<int64_t>(), own.data_ptr<int>(), rank, ranks, words);
}
"""
DECLARED = """
torch::Tensor handle(torch::Tensor heap);
int64_t opened(torch::Tensor handle);
void forget(int64_t address);
void exchange(torch::Tensor bases, torch::Tensor own, int64_t rank);
"""
WORDS = 64


def rank_of(rank, ranks, folder, port):
    """What one process does."""
    module = load_inline(
        "inside_ranks", DECLARED, SOURCE, functions=["handle", "opened", "forget", "exchange"], build_directory=folder
    )
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device(f"cuda:{rank}"))
    torch.cuda.set_device(rank)
    own = (torch.arange(ranks * WORDS, dtype=torch.int32) + 10000 * rank).reshape(ranks, WORDS).cuda()
    assert own.device.index == rank
    expected = torch.empty_like(own)
    dist.all_to_all_single(expected, own)
    whole = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(whole, own)
    assert all(torch.equal(expected[k], whole[k][rank]) for k in range(ranks))
    total = own.sum()
    dist.all_reduce(total)
    assert total == sum(one.sum() for one in whole)
    scattered = torch.empty(WORDS, dtype=torch.int32, device="cuda")
    dist.reduce_scatter_tensor(scattered, own.view(-1))  # gloo asks for shapes that fit
    assert torch.equal(scattered, expected.sum(0, dtype=torch.int32))
    heap = torch.zeros(ranks * (WORDS + 1), dtype=torch.int32, device="cuda")
    handles = [None] * ranks
    dist.all_gather_object(handles, module.handle(heap))
    bases = [heap.data_ptr() if k == rank else module.opened(one) for k, one in enumerate(handles)]
    dist.barrier()
    module.exchange(torch.tensor(bases, device="cuda"), own, rank)
    torch.cuda.synchronize()
    assert torch.equal(heap[ranks:].reshape(ranks, WORDS), expected)
    dist.barrier()
    for k, base in enumerate(bases):
        if k != rank:
            module.forget(base)
    print(f"rank {rank} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(rank_of, (2, *sys.argv[1:3]), nprocs=2)
