// Calls: arguments in registers and on the stack, results by reference, recursion, pointers to functions, virtual ones.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct record { unsigned key; double value; unsigned char tag[12]; };

__device__ __attribute__((noinline)) record mix(record a, unsigned step) {
  a.key = a.key * 2654435761u + step;
  a.value = a.value * 0.5 + step;
  a.tag[step % 12] ^= a.key >> 24;
  return a;
}

// Structures by value, as argument and as result.
extern "C" __global__ void call_struct(const unsigned *in, const double *values, unsigned *keys, double *out) {
  unsigned i = global_index();
  record r = {in[i], values[i], {}};
  for (unsigned k = 0; k < 12; ++k) r.tag[k] = in[i] >> k;
  for (unsigned k = 0; k < 5; ++k) r = mix(r, k + in[i] % 8);
  keys[i] = r.key ^ r.tag[3] ^ (r.tag[11] << 8);
  out[i] = r.value;
}

// More arguments than registers hold: the last ones are on the stack.
__device__ __attribute__((noinline)) unsigned
many(unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned a4, unsigned a5, unsigned a6, unsigned a7,
     unsigned a8, unsigned a9, unsigned b0, unsigned b1, unsigned b2, unsigned b3, unsigned b4, unsigned b5,
     unsigned b6, unsigned b7, unsigned b8, unsigned b9, unsigned c0, unsigned c1, unsigned c2, unsigned c3,
     unsigned c4, unsigned c5, unsigned c6, unsigned c7, unsigned c8, unsigned c9, double d0, double d1,
     unsigned char e0, short e1) {
  unsigned a = a0 + 2 * a1 + 3 * a2 + 4 * a3 + 5 * a4 + 6 * a5 + 7 * a6 + 8 * a7 + 9 * a8 + 10 * a9;
  unsigned b = b0 ^ b1 << 1 ^ b2 << 2 ^ b3 << 3 ^ b4 << 4 ^ b5 << 5 ^ b6 << 6 ^ b7 << 7 ^ b8 << 8 ^ b9 << 9;
  unsigned c = c0 - c1 + c2 - c3 + c4 - c5 + c6 - c7 + c8 - c9;
  return a ^ b ^ c ^ (unsigned)(long long)(d0 - d1) ^ e0 << 16 ^ e1;
}
extern "C" __global__ void call_many(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), x = in[i];
  out[i] = many(x, x + 1, x ^ 2, x + 3, x ^ 4, x + 5, x ^ 6, x + 7, x ^ 8, x + 9, x * 3, x * 5, x * 7, x * 9, x * 11,
                x * 13, x * 15, x * 17, x * 19, x * 21, ~x, ~x + 1, ~x ^ 2, ~x + 3, ~x ^ 4, ~x + 5, ~x ^ 6, ~x + 7,
                ~x ^ 8, ~x + 9, (double)x, (double)(x >> 3), (unsigned char)(x >> 5), (short)(x >> 7));
}

// Recursion whose depth differs from lane to lane, and which calls itself twice.
__device__ __attribute__((noinline)) unsigned paths(unsigned right, unsigned down, unsigned blocked) {
  if (right == 0 || down == 0) return 1;
  if (blocked >> (right * 4 + down) % 32 & 1) return 0;
  return paths(right - 1, down, blocked) + paths(right, down - 1, blocked);
}
extern "C" __global__ void recursion(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), x = in[i];
  out[i] = paths(x % 5, (x >> 8) % 5, x & 0x20814000);
}

// Two functions that call each other.
__device__ unsigned odd_steps(unsigned x, unsigned steps);
__device__ __attribute__((noinline)) unsigned even_steps(unsigned x, unsigned steps) {
  if (x <= 1 || steps >= 40) return steps;
  return x % 2 ? odd_steps(x, steps) : even_steps(x / 2, steps + 1);
}
__device__ __attribute__((noinline)) unsigned odd_steps(unsigned x, unsigned steps) {
  return even_steps(3 * x + 1, steps + 1);
}
extern "C" __global__ void mutual_recursion(const unsigned *in, unsigned *out) {
  unsigned i = global_index();
  out[i] = even_steps(in[i] % 500, 0);
}

// Pointers to functions in a table; lanes of one wave call different ones.
__device__ __attribute__((noinline)) int plus(int a, int b) { return a + b; }
__device__ __attribute__((noinline)) int minus(int a, int b) { return a - b; }
__device__ __attribute__((noinline)) int times(int a, int b) { return a * b; }
__device__ __attribute__((noinline)) int shifted(int a, int b) { return a >> (b & 31); }
typedef int (*binary)(int, int);
__device__ const binary operations[4] = {plus, minus, times, shifted};

extern "C" __global__ void function_pointers(const int *in, const unsigned char *program, int *out, int length) {
  unsigned i = global_index();
  int x = in[i];
  for (int k = 0; k < length; ++k) x = operations[(program[k] + x) & 3](x, k - 3); // each lane its own
  for (int k = 0; k < length; ++k) x = operations[program[k] & 3](x, k + 1);       // one for the wave
  out[i] = x;
}

// Virtual functions of objects in private memory.
struct shape {
  int size;
  __device__ explicit shape(int s) : size(s) {}
  __device__ virtual int area() const { return size; }
  __device__ virtual int grown(int by) const { return size + by; }
};
struct square : shape {
  __device__ explicit square(int s) : shape(s) {}
  __device__ int area() const override { return size * size; }
};
struct strip : shape {
  int width;
  __device__ strip(int s, int w) : shape(s), width(w) {}
  __device__ int area() const override { return size * width; }
  __device__ int grown(int by) const override { return size + 2 * by * width; }
};
__device__ __attribute__((noinline)) int measure(const shape *s, int by) { return s->area() ^ s->grown(by); }

extern "C" __global__ void virtual_calls(const int *in, int *out) {
  unsigned i = global_index();
  int x = in[i];
  shape plain(x >> 3);
  square quad(x & 1023);
  strip flat(x >> 16, x & 15);
  const shape *all[3] = {&plain, &quad, &flat};
  out[i] = measure(all[(unsigned)x % 3], (int)i);
}
