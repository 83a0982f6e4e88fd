// Ranks in processes of their own, each with a device: every rank writes to all others' memory, and waits for them.
#include <hip/hip_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { MOST = 8, WORDS = 256 };

#define CHECK(call)                                                     \
  do {                                                                  \
    hipError_t code = (call);                                           \
    if (code != hipSuccess) {                                           \
      printf("%s: %s\n", #call, hipGetErrorName(code)), fflush(stdout); \
      _exit(3);                                                         \
    }                                                                   \
  } while (0)

struct Board {  // of the host
  hipIpcMemHandle_t handles[MOST];
  hipIpcEventHandle_t events[MOST];
  std::atomic<int> arrived[8];
};

static void meet(Board* board, int place, int ranks) {
  ++board->arrived[place];
  while (board->arrived[place] < ranks) usleep(1000);
}

struct Symmetric {
  int data[MOST][WORDS];  // from each rank
  int flags[MOST];
  unsigned count;
  unsigned long long large;
};

struct Peers {
  Symmetric* of[MOST];
};

// Sends and receives in one kernel: it ends only when all ranks run it.
__global__ void exchange(Peers peers, int rank, int* sums) {
  const int other = blockIdx.x;
  Symmetric* to = peers.of[other];
  for (int k = threadIdx.x; k < WORDS; k += blockDim.x) to->data[rank][k] = 1000 * rank + 100 * other + k;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd_system(&peers.of[0]->count, 1u);
    atomicAdd_system(&peers.of[0]->large, (1ull << 32) + 1);
    __hip_atomic_store(&to->flags[rank], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_load(&peers.of[rank]->flags[other], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM));
  }
  __syncthreads();
  int sum = 0;
  for (int k = threadIdx.x; k < WORDS; k += blockDim.x) sum += peers.of[rank]->data[other][k];
  atomicAdd(&sums[other], sum);
}

__global__ void beyond(Symmetric* other) { reinterpret_cast<int*>(other + 1)[threadIdx.x] = 1; }
__global__ void never(int* flag) {
  while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM));
}

static int run(Board* board, int rank, int ranks, const char* part) {
  int devices;
  CHECK(hipGetDeviceCount(&devices));
  CHECK(hipSetDevice(rank % devices));
  Symmetric* own;
  CHECK(hipMalloc(&own, sizeof *own));
  CHECK(hipMemset(own, 0, sizeof *own));
  CHECK(hipIpcGetMemHandle(&board->handles[rank], own));
  hipEvent_t event;
  CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
  CHECK(hipEventRecord(event, nullptr));
  CHECK(hipIpcGetEventHandle(&board->events[rank], event));
  meet(board, 0, ranks);
  Peers peers;
  for (int k = 0; k < ranks; ++k) {
    peers.of[k] = own;
    if (k == rank) continue;
    CHECK(hipIpcOpenMemHandle(reinterpret_cast<void**>(&peers.of[k]), board->handles[k], hipIpcMemLazyEnablePeerAccess));
    hipEvent_t opened;
    CHECK(hipIpcOpenEventHandle(&opened, board->events[k]));
    CHECK(hipStreamWaitEvent(nullptr, opened, 0));
    CHECK(hipEventDestroy(opened));
  }
  if (!strcmp(part, "beyond") && rank == 1) {
    beyond<<<1, 64>>>(peers.of[0]);
    printf("%s\n", hipGetErrorName(hipDeviceSynchronize())), fflush(stdout);
    meet(board, 1, ranks);
    return 0;
  }
  if (!strcmp(part, "never") && rank == 0) {  // rank 1 ends
    never<<<1, 64>>>(&peers.of[1]->flags[0]);
    printf("%s\n", hipGetErrorName(hipDeviceSynchronize())), fflush(stdout);
    return 0;
  }
  if (!strcmp(part, "arguments")) {
    if (rank == 0) {
      void* out;
      hipIpcMemHandle_t none{}, own_handle = board->handles[0];
      hipEvent_t plain;
      hipIpcEventHandle_t handle;
      CHECK(hipEventCreate(&plain));
      const hipError_t codes[] = {
          hipIpcGetMemHandle(&none, nullptr),           hipIpcGetMemHandle(&none, &out),
          hipIpcOpenMemHandle(&out, board->handles[1], 0), hipIpcOpenMemHandle(&out, none, 1),
          hipIpcOpenMemHandle(&out, own_handle, 1),     hipIpcCloseMemHandle(own),
          hipFree(peers.of[1]),                         hipIpcGetMemHandle(&none, peers.of[1]),
          hipIpcGetEventHandle(&handle, plain),
      };
      for (hipError_t code : codes) printf("%s\n", hipGetErrorName(code));
      void* again;  // the same address once more, until both are closed
      CHECK(hipIpcOpenMemHandle(&again, board->handles[1], hipIpcMemLazyEnablePeerAccess));
      CHECK(hipIpcCloseMemHandle(again));
      int word;
      CHECK(hipMemcpy(&word, peers.of[1], sizeof word, hipMemcpyDeviceToHost));
      CHECK(hipIpcCloseMemHandle(peers.of[1]));
      printf("%d %s\n", again == peers.of[1], hipGetErrorName(hipIpcCloseMemHandle(again))), fflush(stdout);
    }
    meet(board, 1, ranks);
    return 0;
  }
  if (strcmp(part, "right")) {
    if (strcmp(part, "never")) meet(board, 1, ranks);
    return 0;
  }
  int* sums;
  CHECK(hipMalloc(&sums, MOST * sizeof *sums));
  CHECK(hipMemset(sums, 0, MOST * sizeof *sums));
  exchange<<<ranks, 64>>>(peers, rank, sums);
  int host[MOST];
  CHECK(hipMemcpy(host, sums, sizeof host, hipMemcpyDeviceToHost));
  meet(board, 1, ranks);
  int wrong = 0;
  for (int k = 0; k < ranks; ++k) wrong += host[k] != WORDS * (1000 * k + 100 * rank) + WORDS * (WORDS - 1) / 2;
  Symmetric zero;
  CHECK(hipMemcpy(&zero, peers.of[0], sizeof zero, hipMemcpyDeviceToHost));
  const unsigned long long all = ranks * ranks;
  wrong += zero.count != all || zero.large != (all << 32) + all;
  meet(board, 2, ranks);
  for (int k = 0; k < ranks; ++k)
    if (k != rank) CHECK(hipIpcCloseMemHandle(peers.of[k]));
  CHECK(hipFree(own));
  printf("rank %d: %d wrong\n", rank, wrong), fflush(stdout);
  return wrong != 0;
}

int main(int argc, char** argv) {
  const char* part = argc > 1 ? argv[1] : "right";
  const int ranks = argc > 2 ? atoi(argv[2]) : 2;
  void* place = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* board = new (place) Board{};
  for (int rank = 1; rank < ranks; ++rank)
    if (!fork()) exit(run(board, rank, ranks, part));
  int bad = run(board, 0, ranks, part), status;
  while (wait(&status) > 0) bad |= !WIFEXITED(status) || WEXITSTATUS(status);
  return bad;
}
