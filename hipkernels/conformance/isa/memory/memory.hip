// Loads and stores of every width, by vector and by scalar instructions.
#include <hip/hip_runtime.h>

struct Triple {
    int x, y, z;
};
struct Record {  // 16 bytes, the last four of them unused
    double wide;
    short half;
    unsigned char byte;
    signed char small;
};

__constant__ int weights[8] = {3, -1, 4, 1, -5, 9, -2, 6};
__device__ unsigned scratchpad[64];

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// One to four dwords: global_load_dword, _dwordx2, _dwordx3, _dwordx4 and their stores.
extern "C" __global__ void widths(const int* __restrict__ one, const int2* __restrict__ two,
                                  const Triple* __restrict__ three, const int4* __restrict__ four,
                                  int* __restrict__ a, int2* __restrict__ b, Triple* __restrict__ c,
                                  int4* __restrict__ d, int n) {
    const int i = global_id();
    if (i < n) {
        const int j = n - 1 - i;
        const int4 v = four[i];
        const Triple t = three[i];
        a[j] = one[i] ^ v.x;
        b[j] = make_int2(two[i].y, two[i].x ^ v.y);
        c[j] = Triple{t.z, t.y ^ v.z, t.x};
        d[j] = make_int4(v.w, t.x, v.x, t.y);
    }
}

// Members of a structure: loads of 8, 16 and 64 bits at offsets from one address.
extern "C" __global__ void members(const Record* records, double* wide, int* rest, Record* back, int n) {
    const int i = global_id();
    if (i < n) {
        const Record r = records[i];
        wide[i] = -r.wide;
        rest[i] = r.half * 1000 + r.byte * 10 + r.small;
        back[i].wide = r.wide;
        back[i].half = short(r.half ^ r.byte);
        back[i].small = (signed char)(r.small + 1);
    }
}

// Addresses the same for all lanes go through the scalar cache: s_load_dword to s_load_dwordx8.
extern "C" __global__ void uniform_loads(const int* __restrict__ table, const int* __restrict__ x,
                                         int* __restrict__ out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned sum = x[i];
        for (int k = 0; k < 8; k++) {
            sum = sum * 31 + unsigned(table[blockIdx.x * 8 + k]);
        }
        out[i] = int(sum);
    }
}

// A constant table and a global variable of the code object, reached relative to the program counter.
extern "C" __global__ void variables(const unsigned* x, int* out, unsigned* seen, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = weights[x[i] & 7] * int(x[i] >> 28);
        if (i < 64) {
            scratchpad[i] = x[i] + 1;
            __threadfence();
            seen[i] = *(volatile unsigned*)&scratchpad[i];
        }
    }
}

// Strided and indirect: each lane an address of its own, 64 bits wide and with negative offsets.
extern "C" __global__ void gather_scatter(const int* x, const int* where, int* out, int n, long long shift) {
    const int i = global_id();
    if (i < n) {
        const int at = where[i];
        out[at] = x[at] - (x + n)[-1 - i];
        out[n + i] = (x + shift)[(long long)i * 3 % n - shift];
    }
}

// Streaming accesses carry cache hints: nt, slc or th.
extern "C" __global__ void streaming(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        const float v = __builtin_nontemporal_load(&x[i]);
        __builtin_nontemporal_store(v * 0.5f, &out[i]);
        volatile float* again = out + n;
        again[i] = v;
        again[i] = again[i] + 1.0f;
    }
}
