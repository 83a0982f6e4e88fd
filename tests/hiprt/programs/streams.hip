// Order between streams, events, graphs and the host: each part is right, or lacks one call (second argument "wrong").
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>

enum { N = 1024, BYTES = 4 * N };

__global__ void fill(int *p, int value) { p[blockIdx.x * 64 + threadIdx.x] = value; }
__global__ void twice(int *q, const int *p) { q[blockIdx.x * 64 + threadIdx.x] = 2 * p[blockIdx.x * 64 + threadIdx.x]; }
__global__ void count(int *p) { atomicAdd(p, 1); }

int *a, *b, *pinned, *managed;
hipStream_t s, t;
hipEvent_t event;

static void events(bool right) {
  fill<<<16, 64, 0, s>>>(a, 21);
  (void)hipEventRecord(event, s);
  if (right) (void)hipStreamWaitEvent(t, event, 0);
  twice<<<16, 64, 0, t>>>(b, a); // the race
}

static void host(bool right) {
  (void)hipMemcpyAsync(pinned, a, BYTES, hipMemcpyDeviceToHost, t);
  if (right) (void)hipStreamSynchronize(t);
  printf("%d\n", pinned[5] > 0);
}

static void source(bool right) {
  (void)hipMemcpyAsync(a, pinned, BYTES, hipMemcpyHostToDevice, s);
  if (right) (void)hipEventRecord(event, s), (void)hipEventSynchronize(event);
  pinned[0] = 7;
}

static void shared(bool right) {
  fill<<<16, 64, 0, t>>>(managed, 3);
  if (right) (void)hipDeviceSynchronize();
  printf("%d\n", managed[1]);
}

static void freed(bool right) {
  int *p;
  (void)hipMallocAsync((void **)&p, BYTES, s);
  fill<<<16, 64, 0, s>>>(p, 1);
  (void)hipFreeAsync(p, right ? s : t);
}

static void null_stream(bool right) {
  hipStream_t other;
  (void)hipStreamCreateWithFlags(&other, right ? 0 : hipStreamNonBlocking);
  fill<<<16, 64>>>(a, 1);
  twice<<<16, 64, 0, other>>>(b, a);
}

static void halves(bool right) {
  fill<<<8, 64, 0, s>>>(a, 1);
  fill<<<8, 64, 0, t>>>(a + N / 2 - !right, 2);
}

static void graph(bool right) {
  hipGraph_t made;
  hipGraphExec_t ready;
  (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
  (void)hipEventRecord(event, s);
  (void)hipStreamWaitEvent(t, event, 0);
  fill<<<16, 64, 0, s>>>(a, 1);
  if (right) (void)hipEventRecord(event, s), (void)hipStreamWaitEvent(t, event, 0);
  twice<<<16, 64, 0, t>>>(b, a);
  (void)hipEventRecord(event, t);
  (void)hipStreamWaitEvent(s, event, 0);
  (void)hipStreamEndCapture(s, &made);
  (void)hipGraphInstantiate(&ready, made, nullptr, nullptr, 0);
  (void)hipGraphLaunch(ready, s);
  (void)hipGraphLaunch(ready, t);
}

static void after_graph(bool right) {
  hipGraph_t made;
  hipGraphExec_t ready;
  (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
  fill<<<16, 64, 0, s>>>(a, 1);
  (void)hipStreamEndCapture(s, &made);
  (void)hipGraphInstantiate(&ready, made, nullptr, nullptr, 0);
  (void)hipGraphLaunch(ready, s);
  twice<<<16, 64, 0, right ? s : t>>>(b, a);
}

static void atomics(bool right) {
  count<<<4, 64, 0, s>>>(a);
  if (right)
    count<<<4, 64, 0, t>>>(a);
  else
    fill<<<16, 64, 0, t>>>(a, 0);
}

static void told(void *) {}
static void callback(bool right) {
  fill<<<16, 64, 0, s>>>(a, 1);
  if (right) (void)hipLaunchHostFunc(s, told, nullptr);
  twice<<<16, 64, 0, t>>>(b, a);
}

static void pageable(bool right) {
  static int own[N];
  (void)hipMemcpyAsync(right ? own : pinned, a, BYTES, hipMemcpyDeviceToHost, s);
  fill<<<16, 64, 0, t>>>(a, 1);
}

static void launch(bool right) {
  fill<<<1, 2048>>>(a, 1);
  if (right) (void)hipGetLastError();
}

int main(int, char **words) {
  struct { const char *name; void (*run)(bool); } parts[] = {
      {"events", events}, {"host", host}, {"source", source}, {"shared", shared}, {"freed", freed},
      {"null", null_stream}, {"halves", halves}, {"graph", graph}, {"after_graph", after_graph}, {"atomics", atomics},
      {"callback", callback}, {"pageable", pageable}, {"launch", launch},
  };
  (void)hipMalloc((void **)&a, BYTES), (void)hipMalloc((void **)&b, BYTES);
  (void)hipHostMalloc((void **)&pinned, BYTES, 0), (void)hipMallocManaged((void **)&managed, BYTES);
  (void)hipStreamCreateWithFlags(&s, hipStreamNonBlocking), (void)hipStreamCreateWithFlags(&t, hipStreamNonBlocking);
  (void)hipEventCreate(&event);
  memset(pinned, 0, BYTES);
  (void)hipMemset(a, 1, BYTES);
  for (auto &part : parts)
    if (!strcmp(part.name, words[1])) part.run(!strcmp(words[2], "right"));
  (void)hipDeviceSynchronize();
  (void)hipFree(a), (void)hipFree(b), (void)hipFree(managed), (void)hipHostFree(pinned);
  return 0;
}
