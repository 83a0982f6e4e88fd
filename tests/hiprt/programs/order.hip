// Order between streams, events, graphs and the host: each part is right, or lacks one call (second word "wrong").
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
enum { N = 1024, BYTES = 4 * N };
__global__ void fill(int *p, int value) { p[blockIdx.x * 64 + threadIdx.x] = value; }
__global__ void twice(int *q, const int *p) { q[blockIdx.x * 64 + threadIdx.x] = 2 * p[blockIdx.x * 64 + threadIdx.x]; }
int *a, *b, *c, *pinned, *pinned2, *managed;
hipStream_t s, t, u;
hipEvent_t e, f, ready[2], used[2];
#define V (void)  // errors are not what this is about
static void ring(bool right) {
  int *buffer[2] = {a, b};
  for (int k = 0; k < 4; ++k) {
    if (k > 1 && right) V hipStreamWaitEvent(s, used[k & 1], 0);
    V hipMemcpyAsync(buffer[k & 1], pinned, BYTES, hipMemcpyHostToDevice, s);
    V hipEventRecord(ready[k & 1], s); V hipStreamWaitEvent(t, ready[k & 1], 0);
    twice<<<16, 64, 0, t>>>(c, buffer[k & 1]);
    V hipEventRecord(used[k & 1], t);
  }
}
static void recorded_early(bool right) {
  if (!right) V hipEventRecord(e, s);
  fill<<<16, 64, 0, s>>>(a, 1);
  if (right) V hipEventRecord(e, s);
  V hipStreamWaitEvent(t, e, 0);
  twice<<<16, 64, 0, t>>>(b, a);
}
static void recorded_again(bool right) {
  fill<<<16, 64, 0, s>>>(a, 1);
  V hipEventRecord(e, s);
  if (!right) V hipEventRecord(e, u);
  V hipStreamWaitEvent(t, e, 0);
  twice<<<16, 64, 0, t>>>(b, a);
}
static void join(bool right) {
  V hipEventRecord(e, s); V hipStreamWaitEvent(t, e, 0); V hipStreamWaitEvent(u, e, 0);
  fill<<<16, 64, 0, t>>>(a, 1); fill<<<16, 64, 0, u>>>(b, 2);
  V hipEventRecord(ready[0], t); V hipStreamWaitEvent(s, ready[0], 0);
  V hipEventRecord(ready[1], u); if (right) V hipStreamWaitEvent(s, ready[1], 0);
  twice<<<16, 64, 0, s>>>(b, a);
}
static void cleared(bool right) {
  V hipMemsetAsync(a, 0, BYTES, s);
  if (right) V hipStreamSynchronize(s);
  twice<<<16, 64, 0, t>>>(b, a);
}
static void columns(bool right) {
  V hipMemcpy2DAsync(a, 256, pinned, 256, 128, 16, hipMemcpyHostToDevice, s);
  V hipMemcpy2DAsync((char *)a + (right ? 128 : 124), 256, pinned, 256, 128, 15, hipMemcpyHostToDevice, t);
}
static void source_of_a_copy(bool right) {
  V hipMemcpyAsync(b, a, BYTES, hipMemcpyDeviceToDevice, s);
  if (right) { V hipEventRecord(e, s); V hipStreamWaitEvent(t, e, 0); }
  fill<<<16, 64, 0, t>>>(a, 5);
}
static void plain_copy(bool right) {
  static int own[N];
  fill<<<16, 64, 0, s>>>(a, 5);
  if (right) V hipStreamSynchronize(s);
  V hipMemcpy(own, a, BYTES, hipMemcpyDeviceToHost);
}
static void mapped(bool right) {
  fill<<<16, 64, 0, s>>>(pinned, 5);
  if (right) V hipStreamSynchronize(s);
  printf("%d\n", pinned[3]);
}
static void edges(bool right) {
  hipGraph_t g; hipGraphExec_t x; hipGraphNode_t first, second;
  V hipGraphCreate(&g, 0);
  int value = 3; void *one[] = {&a, &value}, *two[] = {&b, &a};
  hipKernelNodeParams p = {}; p.func = (void *)fill; p.gridDim = dim3(16); p.blockDim = dim3(64); p.kernelParams = one;
  V hipGraphAddKernelNode(&first, g, nullptr, 0, &p);
  p.func = (void *)twice; p.kernelParams = two;
  V hipGraphAddKernelNode(&second, g, right ? &first : nullptr, right ? 1 : 0, &p);
  V hipGraphInstantiate(&x, g, nullptr, nullptr, 0); V hipGraphLaunch(x, s); V hipStreamSynchronize(s);
}
static void pool(bool right) {
  int *p, *q;
  V hipMallocAsync((void **)&p, BYTES, s); fill<<<16, 64, 0, s>>>(p, 1); V hipFreeAsync(p, s);
  V hipMallocAsync((void **)&q, BYTES, t); fill<<<16, 64, 0, right ? t : u>>>(q, 1); V hipFreeAsync(q, t);
}
static void destroyed(bool right) {
  hipStream_t w; V hipStreamCreateWithFlags(&w, hipStreamNonBlocking);
  V hipMemcpyAsync(pinned, a, BYTES, hipMemcpyDeviceToHost, w);
  if (right) V hipStreamSynchronize(w);
  V hipStreamDestroy(w);
  printf("%d\n", pinned[9] > 0);
}
static void early_event(bool right) {
  if (!right) V hipEventRecord(e, s);
  V hipMemcpyAsync(pinned, a, BYTES, hipMemcpyDeviceToHost, s);
  if (right) V hipEventRecord(e, s);
  V hipEventSynchronize(e);
  printf("%d\n", pinned[9] > 0);
}
static void other_device(bool right) {
  V hipMemcpyAsync(pinned, a, BYTES, hipMemcpyDeviceToHost, s);
  if (!right) V hipSetDevice(1);
  V hipDeviceSynchronize();
  V hipSetDevice(0);
  printf("%d\n", pinned[9] > 0);
}
static void two_copies(bool right) {
  V hipMemcpyAsync(a, pinned, BYTES, hipMemcpyHostToDevice, s);
  V hipMemcpyAsync(pinned, b, BYTES, hipMemcpyDeviceToHost, right ? s : t);
}
static void managed_between(bool right) {
  twice<<<16, 64, 0, s>>>(a, managed);
  if (right) V hipStreamSynchronize(s);
  managed[4] = 9;
}
static void query(bool right) {
  V hipMemcpyAsync(pinned, a, BYTES, hipMemcpyDeviceToHost, s);
  while (hipStreamQuery(right ? s : t) != hipSuccess) {}
  printf("%d\n", pinned[9] > 0);
}
static void graph_twice(bool right) {
  hipGraph_t g; hipGraphExec_t x;
  V hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
  twice<<<16, 64, 0, s>>>(b, a); V hipStreamEndCapture(s, &g); V hipGraphInstantiate(&x, g, nullptr, nullptr, 0);
  V hipGraphLaunch(x, s); if (right) V hipStreamSynchronize(s);
  V hipMemcpyAsync(a, pinned, BYTES, hipMemcpyHostToDevice, t);
}
static void blocking(bool right) {
  hipStream_t w; V hipStreamCreate(&w);
  fill<<<16, 64, 0, w>>>(a, 1);
  if (right) twice<<<16, 64>>>(b, a); else twice<<<16, 64, 0, s>>>(b, a);
}
int main(int, char **words) {
  struct { const char *name; void (*run)(bool); } parts[] = {
#define P(x) {#x, x},
  P(ring) P(recorded_early) P(recorded_again) P(join) P(cleared) P(columns) P(source_of_a_copy) P(plain_copy) P(mapped) P(edges) P(pool) P(destroyed) P(early_event) P(other_device) P(two_copies) P(managed_between) P(query) P(graph_twice) P(blocking)
  };
  V hipMalloc((void **)&a, BYTES), V hipMalloc((void **)&b, BYTES), V hipMalloc((void **)&c, BYTES);
  V hipHostMalloc((void **)&pinned, BYTES, 0), V hipHostMalloc((void **)&pinned2, BYTES, 0), V hipMallocManaged((void **)&managed, BYTES);
  V hipStreamCreateWithFlags(&s, hipStreamNonBlocking), V hipStreamCreateWithFlags(&t, hipStreamNonBlocking), V hipStreamCreateWithFlags(&u, hipStreamNonBlocking);
  V hipEventCreate(&e); V hipEventCreate(&f); for (int k = 0; k < 2; ++k) V hipEventCreate(&ready[k]), V hipEventCreate(&used[k]);
  memset(pinned, 0, BYTES); memset(managed, 0, BYTES); V hipMemset(a, 1, BYTES); V hipMemset(b, 1, BYTES);
  for (auto &part : parts) if (!strcmp(part.name, words[1])) part.run(!strcmp(words[2], "right"));
  V hipDeviceSynchronize();
  V hipFree(a), V hipFree(b), V hipFree(c), V hipFree(managed), V hipHostFree(pinned), V hipHostFree(pinned2);
  return 0;
}
