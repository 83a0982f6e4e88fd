// Kernels that each do one thing wrong; the marked line is the one that a finding has to name.
#include <hip/hip_runtime.h>

typedef int four __attribute__((ext_vector_type(4)));

extern "C" __global__ void read_outside(int* out, const int* in, int n) {
    out[threadIdx.x] = in[threadIdx.x + n];  // bad: read_outside
}

extern "C" __global__ void write_outside(int* out, const int* in, int n) {
    out[(int)(blockIdx.x * 64 + threadIdx.x) - n] = 7;  // bad: write_outside
}

extern "C" __global__ void null_pointer(int* out, const int* in, int n) {
    out[threadIdx.x] = n;  // bad: null_pointer
}

extern "C" __global__ void misaligned_atomic(int* out, const int* in, int n) {
    atomicAdd((int*)((char*)out + n), 1);  // bad: misaligned_atomic
}

extern "C" __global__ void misaligned_lds(int* out, const int* in, int n) {
    __shared__ four space[65];
    ((volatile int*)space)[threadIdx.x] = 0;
    __syncthreads();
    *(volatile four*)((char*)(space + threadIdx.x) + n) = four{1, 2, 3, 4};  // bad: misaligned_lds
    __syncthreads();
    out[threadIdx.x] = ((volatile int*)space)[threadIdx.x];
}

extern "C" __global__ void misaligned_global(int* out, const int* in, int n) {
    out[threadIdx.x] = *(const int*)((const char*)in + threadIdx.x * n);  // bad: misaligned_global
}

extern "C" __global__ void misaligned_scalar(int* out, const int* __restrict__ in, int n) {
    out[threadIdx.x] = *(const int*)((const char*)in + n);  // bad: misaligned_scalar
}

extern "C" __global__ void lds_outside(int* out, const int* in, int n) {
    __shared__ int space[64];
    ((volatile int*)space)[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = ((volatile int*)space)[threadIdx.x + n];  // bad: lds_outside
}

extern "C" __global__ void jump_to_data(int* out, const int* in, int n) {
    out[threadIdx.x] = 1;
    ((void (*)())(out + n))();  // bad: jump_to_data
    out[threadIdx.x] = 2;
}

extern "C" __global__ void stack_overflow(int* out, const int* in, int n) {
    int own[16];
    for (int i = 0; i < 16; i++) own[i] = i;
    own[(threadIdx.x + n) & 4095] = in[threadIdx.x];  // bad: stack_overflow
    asm volatile("" ::"v"(own) : "memory");
    out[threadIdx.x] = own[n & 15];
}

__device__ __attribute__((noinline)) int deep(int n) {  // bad: recursion
    int own[256];
    own[n & 255] = n;
    asm volatile("" ::"v"(own) : "memory");
    return n == 0 ? 0 : own[n & 255] + deep(n - 1);
}

extern "C" __global__ void recursion(int* out, const int* in, int n) { out[threadIdx.x] = deep(n); }

extern "C" __global__ void endless(int* out, const int* in, int n) {
    while (*(volatile int*)out != n) {  // bad: endless
    }
}

extern "C" __global__ void two_barriers(int* out, const int* in, int n) {
    if (threadIdx.x < 64) {
        asm volatile("s_nop 1\n" BARRIER);
    } else {
        asm volatile("s_nop 2\n" BARRIER);  // bad: two_barriers
    }
    out[threadIdx.x] = 1;
}

extern "C" __global__ void never_arrives(int* out, const int* in, int n) {
    if (threadIdx.x < 64)
        while (*(volatile int*)out != n) {  // bad: never_arrives
        }
    __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void traps(int* out, const int* in, int n) {
    if (blockIdx.x == 1) __builtin_trap();  // bad: traps
    if (blockIdx.x == 0) out[threadIdx.x] = 1;
}

__device__ const int table[64] = {1, 2, 3, 4, 5, 6, 7, 8};

extern "C" __global__ void read_only(int* out, const int* in, int n) {
    int* place = const_cast<int*>(table) + threadIdx.x;
    asm volatile("" : "+v"(place));
    *(volatile int*)place = n;  // bad: read_only
    out[threadIdx.x] = *(volatile int*)place;
}
